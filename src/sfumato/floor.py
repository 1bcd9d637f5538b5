"""The floor: no method releases an attribute below the level that its description names."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.arrays import Codes, Integers
from sfumato.cells import Cells, ValueSets, exact_node, merged_cells, number_cover
from sfumato.errors import Infeasible
from sfumato.hierarchy import Hierarchy, Label, set_label
from sfumato.release import Release
from sfumato.schema import Schema
from sfumato.table import Column, Table


def onto_floor(table: Table, schema: Schema) -> Table:
    """Give all values below one node of an attribute's lowest level the first of them.

    What may not be told apart in the end, no method tells apart; the rows stay the rows.
    """
    floored = _floored(schema)
    if not floored:
        return table
    columns = dict(table.columns)
    for name in floored:
        nodes = schema.hierarchy(name).node_of[schema[name].lowest_level]
        first = np.unique(nodes, return_index=True)[1].astype(np.int32)
        columns[name] = replace(table[name], codes=first[nodes][table[name].codes])
    return Table(columns, table.weights)


def above_floor(release: Release, table: Table) -> Release:
    """Widen every released value to whole nodes of its attribute's lowest level, and name it so.

    Parameters
    ----------
    release
        What a method made of the table that `onto_floor` gave it.
    table
        The original.
    """
    floored = _floored(release.schema)
    if not floored:
        return release
    cells = dict(release.cells)
    for name in floored:
        attribute = release.schema[name]
        if cells[name].sets is None:
            raise Infeasible(
                f"{name!r} has lowest-level = {attribute.lowest_level}, which a number with noise is not on; "
                "leave the attribute or its lowest-level out"
            )
        column = Column(np.zeros(0, dtype=np.int32), cells[name].domain, attribute.kind or "categorical")
        cells[name] = _widened(cells[name], column, release.schema.hierarchy(name), attribute.lowest_level)
    return replace(release, cells=cells, original=table)


def _floored(schema: Schema) -> list[str]:
    return [name for name in schema.quasi_identifiers if schema[name].lowest_level]


def _widened(cells: Cells, column: Column, hierarchy: Hierarchy, lowest: int) -> Cells:
    assert cells.sets is not None
    members = np.split(cells.sets.members, cells.sets.starts[1:-1])
    covers = [
        _cover(column, hierarchy, lowest, label, each)
        for label, each in zip(cells.labels, members, strict=True)
    ]
    starts = np.concatenate([[0], np.cumsum([len(values) for _, values, _ in covers])])
    sizes = np.array([size for _, _, size in covers])
    sets = ValueSets(starts, np.concatenate([values for _, values, _ in covers]), sizes, hierarchy.n_leaves)
    return merged_cells(cells.codes, tuple(label for label, _, _ in covers), cells.domain, sets)


def _cover(
    column: Column, hierarchy: Hierarchy, lowest: int, label: Label, members: Codes
) -> tuple[Label, Integers, int]:
    """Cover values by whole nodes of the lowest level: label, all their values, number of leaves."""
    nodes = hierarchy.node_of[lowest]
    touched = np.unique(nodes[members])
    values = np.flatnonzero(np.isin(nodes, touched))
    low, high = int(values[0]), int(values[-1])
    level = _level_of(hierarchy, lowest, label, values)
    if level is None and len(touched) == 1:
        level = lowest
    if level is None and high - low + 1 == len(values):
        if column.kind == "numeric":
            label, _, _, size = number_cover(column, hierarchy, low, high)
            return label, values, size
        level, _ = exact_node(hierarchy, low, high) or (None, 0)
    if level is not None:
        node = hierarchy.node_of[level, low]
        return hierarchy.labels[level][node], values, int(hierarchy.sizes[level][node])
    leaves = int(hierarchy.sizes[lowest][touched].sum())
    return set_label(hierarchy.labels[lowest][node] for node in touched), values, leaves


def _level_of(hierarchy: Hierarchy, lowest: int, label: Label, values: Integers) -> int | None:
    """Return the level on which a node of this name has exactly these values, if there is one."""
    for level in range(lowest, hierarchy.height + 1):
        nodes = hierarchy.node_of[level]
        node = nodes[values[0]]
        same = (nodes[values] == node).all() and np.count_nonzero(nodes == node) == len(values)
        if same and hierarchy.labels[level][node] == label:
            return level
    return None
