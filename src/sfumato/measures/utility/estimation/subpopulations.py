"""The large subpopulations that the quasi-identifiers of a table describe, found once per table."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.kernels.frequent_conjunctions import large_conjunctions
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.runtime.arrays import Codes, Integers, freeze_fields
from sfumato.runtime.caching import remembered

MOST_POPULATIONS = 1_000_000
"""More populations than this are not looked at: with each release that would take minutes."""

MOST_WORK = 600_000_000
"""Nor are populations for which more rows and sensitive values would be looked at with each release."""


@dataclass(frozen=True, eq=False)
class AttributeNodes:
    """The relevant nodes of all quasi-identifiers' hierarchies, in one numbering.

    A node is a set of values of one attribute. Nodes with the same values count once, and one with all
    values is none.

    Parameters
    ----------
    attribute_of
        The attribute (by its position) of each node.
    code_starts, codes_of_node
        The codes of each node.
    first_code
        Where the codes of each attribute begin when those of all attributes stand behind one another.
    node_starts, nodes_of_code
        The nodes that contain each code.
    """

    attribute_of: Codes
    code_starts: Integers
    codes_of_node: Codes
    first_code: Integers
    node_starts: Integers
    nodes_of_code: Codes

    def __post_init__(self) -> None:
        freeze_fields(self, attribute_of=np.int32, codes_of_node=np.int32, nodes_of_code=np.int32)
        freeze_fields(self, code_starts=np.int64, first_code=np.int64, node_starts=np.int64)

    def __len__(self) -> int:
        return len(self.attribute_of)

    def codes(self, node: int) -> Codes:
        """Return the codes of a node."""
        return self.codes_of_node[self.code_starts[node] : self.code_starts[node + 1]]

    def alike(self, attribute: int) -> tuple[Codes, Codes]:
        """Number the codes of an attribute by the nodes that they are in; also return one code per number."""
        place: dict[bytes, int] = {}
        starts = self.node_starts[self.first_code[attribute] : self.first_code[attribute + 1] + 1].tolist()
        number = [
            place.setdefault(self.nodes_of_code[first:end].tobytes(), len(place))
            for first, end in itertools.pairwise(starts)
        ]
        return np.array(number, dtype=np.int32), np.unique(number, return_index=True)[1].astype(np.int32)

    @classmethod
    def single_codes(cls, n_codes: list[int]) -> AttributeNodes:
        """Return every code of every attribute as a node."""
        every = np.arange(sum(n_codes))
        ends = np.append(every, len(every))
        codes = np.concatenate([np.arange(number) for number in n_codes])
        attribute_of = np.repeat(np.arange(len(n_codes)), n_codes)
        return cls(attribute_of, ends, codes, np.cumsum([0, *n_codes]), ends, every)

    @classmethod
    def of(cls, sets: list[list[Codes]], n_codes: list[int]) -> AttributeNodes:
        """Number the nodes, given the codes of each node and the number of codes, per attribute."""
        every = [codes for of_attribute in sets for codes in of_attribute]
        attribute_of = np.repeat(np.arange(len(sets)), [len(of_attribute) for of_attribute in sets])
        sizes = np.array([len(codes) for codes in every], dtype=np.int64)
        codes_of_node = np.concatenate([np.empty(0, dtype=np.int32), *every])
        first_code = np.concatenate([[0], np.cumsum(n_codes)]).astype(np.int64)
        placed = first_code[np.repeat(attribute_of, sizes)] + codes_of_node
        order = np.argsort(placed, kind="stable")
        counts = np.bincount(placed, minlength=int(first_code[-1]))
        return cls(
            attribute_of=attribute_of,
            code_starts=np.concatenate([[0], np.cumsum(sizes)]),
            codes_of_node=codes_of_node,
            first_code=first_code,
            node_starts=np.concatenate([[0], np.cumsum(counts)]),
            nodes_of_code=np.repeat(np.arange(len(every)), sizes)[order],
        )


@dataclass(frozen=True, eq=False)
class Populations:
    """The conjunctions of nodes, at most one for each quasi-identifier, that enough records satisfy.

    All of them, or all of a few quasi-identifiers, where those of more would be too many to look at.

    Parameters
    ----------
    nodes
        The nodes that are large enough by themselves.
    depths, last_nodes
        For each population how many nodes it has, and the last of them. They stand in depth-first
        order: the other nodes are those of the nearest population before it with one node less.
    supports
        The number of records of each population.
    most_attributes
        How many quasi-identifiers a population may speak of; ``None`` where it may speak of all.
    """

    nodes: AttributeNodes
    depths: Codes
    last_nodes: Codes
    supports: Integers
    most_attributes: int | None = None

    def __post_init__(self) -> None:
        freeze_fields(self, depths=np.int16, last_nodes=np.int32, supports=np.int64)

    def __len__(self) -> int:
        return len(self.depths)

    def conjunction(self, place: int) -> tuple[int, ...]:
        """Return the nodes of one population: its last one, and those of the populations that it extends."""
        depth, nodes = int(self.depths[place]), [int(self.last_nodes[place])]
        while depth > 1:
            place -= 1
            if self.depths[place] == depth - 1:
                depth -= 1
                nodes.insert(0, int(self.last_nodes[place]))
        return tuple(nodes)


def large_populations(table: Table, schema: Schema, minimum_support: float) -> Populations:
    """Return the populations of a bound table with at least this share of its records.

    If there are more than `MOST_POPULATIONS` of them, or they need more than `MOST_WORK`, only combinations
    of fewer quasi-identifiers count. Populations of one quasi-identifier always count. Found once for each
    table, its hierarchies and the share.

    Examples
    --------
    >>> from sfumato import datasets
    >>> table, schema = datasets.hospital()
    >>> table, schema = schema.bind(table)
    >>> found = large_populations(table, schema, 0.5)
    >>> len(found), found.supports.tolist()
    (6, [6, 6, 6, 6, 9, 7])
    """
    key = ("populations", table.fingerprint, schema.fingerprint, minimum_support)
    return remembered(key, lambda: _find(table, schema, minimum_support))


def distinct_nodes(hierarchy: Hierarchy) -> list[Codes]:
    """Return the distinct sets of values of the nodes below the root."""
    sets: list[Codes] = []
    n_values = len(hierarchy.values)
    for level in range(hierarchy.height):
        members = hierarchy.node_of[level].astype(np.int64)
        sizes = np.bincount(members)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        order = np.argsort(members, kind="stable").astype(np.int32)
        # a node is new where it puts at least two nodes of the level below together
        new = sizes < n_values
        if level:
            below = hierarchy.node_of[level - 1]
            lowest = np.empty_like(sizes)
            lowest[members] = below
            highest = lowest.copy()
            np.minimum.at(lowest, members, below)
            np.maximum.at(highest, members, below)
            new &= lowest < highest
        sets += [order[starts[node] : starts[node + 1]] for node in np.flatnonzero(new)]
    return sets


def _find(table: Table, schema: Schema, minimum_support: float) -> Populations:
    columns = [table[name] for name in schema.quasi_identifiers]
    least = math.ceil(Fraction(str(minimum_support)) * table.n_records)
    sets = []
    for name, column in zip(schema.quasi_identifiers, columns, strict=True):
        on_code = sum_by_group(column.codes, len(column.domain), table.weights)
        nodes_of = distinct_nodes(schema.hierarchy(name))
        sets.append([codes for codes in nodes_of if on_code[codes].sum() >= least])
    nodes = AttributeNodes.of(sets, [len(column.domain) for column in columns])
    if not len(nodes):
        none = np.empty(0, dtype=np.int64)
        return Populations(nodes, none, none, none)
    values = [len(table[name].domain) for name in schema.sensitive]
    row_of, few = alike_in(nodes, [column.codes for column in columns])
    weights = sum_by_group(row_of, few.shape[1], table.weights)
    return _within_reach(nodes, _Rows(few, weights, _different(columns, row_of)), least, values)


def _different(columns: Sequence[Column], group_of: Integers) -> Integers:
    """Return how many distinct rows each group has."""
    codes, sizes = [column.codes for column in columns], [len(column.domain) for column in columns]
    number, n_different = number_rows(codes, sizes, len(group_of))
    return np.bincount(group_of[first_row_of_group(number, n_different)])


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows in different nodes: their codes, their weights, and how many distinct rows each represents."""

    codes: Codes
    weights: Integers
    counts: Integers


def alike_in(nodes: AttributeNodes, codes: Sequence[Codes]) -> tuple[Integers, Codes]:
    """Merge rows that are in the same nodes.

    Parameters
    ----------
    codes
        For each attribute the codes of the rows.

    Returns
    -------
    The number of each row, and for each attribute the codes of one row of each number.
    """
    numbers, values = zip(*(nodes.alike(attribute) for attribute in range(len(codes))), strict=True)
    kinds = (number[of_rows] for number, of_rows in zip(numbers, codes, strict=True))
    row_of, n_rows = number_rows(kinds, [len(labels) for labels in values], len(codes[0]))
    first = first_row_of_group(row_of, n_rows)
    chosen = zip(values, numbers, codes, strict=True)
    return row_of, np.array([kind_codes[number[of_rows[first]]] for kind_codes, number, of_rows in chosen])


def _within_reach(nodes: AttributeNodes, rows: _Rows, least: int, n_values: list[int]) -> Populations:
    """Return all large conjunctions, or those of as many attributes as is feasible."""
    every = _of_up_to(len(rows.codes), nodes, rows, least, n_values)
    if every is not None:
        return every
    populations = _of_up_to(1, nodes, rows, least, n_values, always=True)
    for most_attributes in range(2, len(rows.codes)):
        more = _of_up_to(most_attributes, nodes, rows, least, n_values)
        if more is None:
            break
        populations = more
    assert populations is not None
    return populations


def _of_up_to(
    most_attributes: int,
    nodes: AttributeNodes,
    rows: _Rows,
    least: int,
    n_values: list[int],
    *,
    always: bool = False,
) -> Populations | None:
    """Return the large conjunctions of up to this many attributes, or ``None`` if there are too many."""
    unlimited = np.iinfo(np.int64).max
    # each row that is looked at adds to each sensitive attribute, each population has all their values
    depths, last_nodes, supports, work, is_complete = large_conjunctions(
        rows.codes,
        rows.weights,
        rows.counts,
        least,
        nodes.first_code,
        nodes.node_starts,
        nodes.nodes_of_code,
        nodes.code_starts,
        nodes.codes_of_node,
        most_attributes,
        unlimited if always else MOST_POPULATIONS,
        unlimited if always else MOST_WORK // (1 + len(n_values)),
    )
    needed = work * (1 + len(n_values)) + len(depths) * sum(n_values)
    if not is_complete or (needed > MOST_WORK and not always):
        return None
    limit = most_attributes if most_attributes < len(rows.codes) else None
    return Populations(nodes, depths, last_nodes, supports, limit)
