"""Keep every method at or above the lowest level that an attribute's description names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.data.hierarchy import Hierarchy, Label
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.released_column import Cells, ValueSets, exact_node, interval_cover, merged_cells, named
from sfumato.runtime.arrays import Codes, Integers
from sfumato.runtime.errors import Infeasible


def merge_below_lowest(table: Table, schema: Schema) -> Table:
    """Replace all values below one node of an attribute's lowest level by the first of them.

    No method can then distinguish values that must not be distinguished in the release. Rows stay the same.
    """
    floored = _floored(schema)
    if not floored:
        return table
    columns = dict(table.columns)
    for name in floored:
        hierarchy, lowest = schema.hierarchy(name), schema[name].lowest_level
        first = hierarchy.first_values(lowest)[hierarchy.node_of[lowest]]
        columns[name] = replace(table[name], codes=first[table[name].codes])
    return replace(table, columns=columns)


def widen_to_lowest(release: LinkedRelease, table: Table) -> LinkedRelease:
    """Widen every released value to whole nodes of its attribute's lowest level, and relabel it.

    Parameters
    ----------
    release
        The release that a method made from the table that `merge_below_lowest` returned.
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
                f"{name!r} has lowest-level = {attribute.lowest_level}, which a noisy number cannot be on; "
                "leave the attribute or its lowest-level out"
            )
        hierarchy = release.schema.hierarchy(name)
        cells[name] = _widened(cells[name], table[name], hierarchy, attribute.lowest_level)
    return replace(release, cells=cells, origin=replace(release.origin, table=table))


def _floored(schema: Schema) -> list[str]:
    return [name for name in schema.quasi_identifiers if schema[name].lowest_level]


def _widened(cells: Cells, column: Column, hierarchy: Hierarchy, lowest: int) -> Cells:
    assert cells.sets is not None
    used, codes = np.unique(cells.codes, return_inverse=True)
    floor = _LowestLevel.of(column, hierarchy, lowest)
    starts = cells.sets.starts
    covers = [
        floor.cover(cells.labels[code], cells.sets.members[starts[code] : starts[code + 1]]) for code in used
    ]
    members = [values for _, values, _ in covers]
    sets = ValueSets(
        np.cumsum([0, *map(len, members)]),
        np.concatenate(members),
        np.array([size for _, _, size in covers]),
        hierarchy.n_leaves,
    )
    labels = tuple(label for label, _, _ in covers)
    return merged_cells(codes.astype(np.int32), labels, cells.domain, sets)


@dataclass(frozen=True)
class _LowestLevel:
    """The lowest level of an attribute.

    Parameters
    ----------
    first
        The first value of each of its nodes, with the end appended; those of a node are neighbours.
    n_values
        For each level of the hierarchy how many values each node has.
    """

    column: Column
    hierarchy: Hierarchy
    lowest: int
    first: Integers
    n_values: Sequence[Integers]

    @classmethod
    def of(cls, column: Column, hierarchy: Hierarchy, lowest: int) -> _LowestLevel:
        first = np.append(hierarchy.first_values(lowest), len(hierarchy.values))
        return cls(column, hierarchy, lowest, first, [np.bincount(level) for level in hierarchy.node_of])

    def cover(self, label: Label, members: Codes) -> tuple[Label, Integers, int]:
        """Cover values by whole nodes: label, all values of these, number of leaves."""
        hierarchy, lowest = self.hierarchy, self.lowest
        touched = np.unique(hierarchy.node_of[lowest][members])
        values = np.concatenate([np.arange(self.first[node], self.first[node + 1]) for node in touched])
        low, high = int(values[0]), int(values[-1])
        level = self._level_of(label, values)
        if level is None and len(touched) == 1:
            level = lowest
        if level is None and high - low + 1 == len(values):
            if self.column.kind.is_ordered:
                label, _, _, size = interval_cover(self.column, hierarchy, low, high)
                return label, values, size
            level, _ = exact_node(hierarchy, low, high) or (None, 0)
        if level is not None:
            node = hierarchy.node_of[level, low]
            return hierarchy.labels[level][node], values, int(hierarchy.sizes[level][node])
        label, level, nodes = named(hierarchy, lowest, touched)
        values = np.flatnonzero(np.isin(hierarchy.node_of[level], nodes))
        return label, values, int(hierarchy.sizes[level][nodes].sum())

    def _level_of(self, label: Label, values: Integers) -> int | None:
        """Return the level on which a node of this name has exactly these values, if there is one."""
        for level in range(self.lowest, self.hierarchy.height + 1):
            nodes = self.hierarchy.node_of[level]
            node = nodes[values[0]]
            is_named = self.hierarchy.labels[level][node] == label
            if is_named and self.n_values[level][node] == len(values) and (nodes[values] == node).all():
                return level
        return None
