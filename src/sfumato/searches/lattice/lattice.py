"""The lattice of all full-domain recodings of a table.

A node is one level of its hierarchy for each quasi-identifier, counted from the lowest on which that may be
released. It is *finer* than another when none of its levels is higher; then each of its classes lies
within one class of the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts, count_sensitive
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Schema
from sfumato.data.table import Column, People, Table
from sfumato.kernels.lattice_nodes import count_cells, count_values, node_keys
from sfumato.kernels.people_counts import people_in_order
from sfumato.kernels.row_groups import number_rows
from sfumato.results.released_column import level_cells
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers, sealed
from sfumato.sanitizers.base import whole_table

Levels = tuple[int, ...]
"""One level for each quasi-identifier, in the order of the schema."""

_LARGEST_KEY = 2**62
_ROUNDING = 1e-12


@dataclass(frozen=True)
class GeneralizationLattice:
    """The distinct rows of a table, and where every value stands on every level of its hierarchy.

    The values of all quasi-identifiers are numbered through, and so are the levels of all.

    Parameters
    ----------
    names, lowest, heights
        The quasi-identifiers, the lowest level of each, and how many levels lie above it.
    cells, weights
        For each row and quasi-identifier the number of its value, and for each row its records.
    sensitive
        For each sensitive attribute that is looked at the codes of the rows.
    first_value, first_level
        The numbers of each attribute's first value and of its level 0, with the end appended.
    nodes, n_nodes
        For each level the node of each value of its attribute, and how many nodes there are.
    losses
        For each level the loss of a cell with each value, times the attribute's share in general loss.
    everybody
        All records as one class: the priors, and what the sensitive codes mean.
    people
        Whose each row is, where somebody has several records.
    """

    names: tuple[str, ...]
    lowest: Levels
    heights: Levels
    cells: Codes = field(repr=False)
    weights: Integers = field(repr=False)
    sensitive: Mapping[str, Codes] = field(repr=False)
    first_value: tuple[int, ...]
    first_level: tuple[int, ...]
    nodes: tuple[Codes, ...] = field(repr=False)
    n_nodes: tuple[int, ...]
    losses: tuple[Floats, ...] = field(repr=False)
    everybody: EquivalenceClasses = field(repr=False)
    people: People | None = field(repr=False)

    @classmethod
    def of(cls, table: Table, schema: Schema, sensitive: Sequence[str]) -> GeneralizationLattice:
        """Return the lattice of a bound table, with these sensitive attributes in its rows."""
        names = schema.require("quasi-identifying", "a lattice")
        rows = table.select((*names, *sensitive))
        lowest = tuple(schema[name].lowest_level for name in names)
        heights = tuple(
            schema.hierarchy(name).height - level for name, level in zip(names, lowest, strict=True)
        )
        first_value = (0, *itertools.accumulate(len(table[name].domain) for name in names))
        cells = [rows[name].codes + np.int32(first) for name, first in zip(names, first_value, strict=False)]
        weights = np.array([schema[name].weight for name in names])
        shares = weights / max(weights.sum(), 1e-300)
        released = [
            _released(table[name], schema.hierarchy(name), first + level, share)
            for name, first, height, share in zip(names, lowest, heights, shares, strict=True)
            for level in range(height + 1)
        ]
        return cls(
            names=names,
            lowest=lowest,
            heights=heights,
            cells=np.stack(cells, axis=1),
            weights=rows.weights,
            sensitive={name: rows[name].codes for name in sensitive},
            first_value=first_value,
            first_level=(0, *itertools.accumulate(height + 1 for height in heights)),
            nodes=tuple(nodes for nodes, _, _ in released),
            n_nodes=tuple(n_nodes for _, n_nodes, _ in released),
            losses=tuple(losses for _, _, losses in released),
            everybody=whole_table(table, schema),
            people=rows.people(),
        )

    @cached_property
    def n_records(self) -> int:
        """The number of records."""
        return int(self.weights.sum())

    @property
    def size(self) -> int:
        """The number of nodes."""
        return math.prod(height + 1 for height in self.heights)

    def spans(self) -> Iterator[tuple[slice, range]]:
        """Yield for each attribute the numbers of its values and of its levels."""
        levels = itertools.pairwise(self.first_level)
        for values, numbers in zip(itertools.pairwise(self.first_value), levels, strict=True):
            yield slice(*values), range(*numbers)

    def numbers(self, levels: Sequence[int]) -> list[int]:
        """Return the numbers of these levels."""
        return [first + level for first, level in zip(self.first_level, levels, strict=False)]

    def named(self, levels: Sequence[int]) -> dict[str, int]:
        """Return the level of each quasi-identifier in its hierarchy."""
        return {
            name: first + level for name, first, level in zip(self.names, self.lowest, levels, strict=True)
        }

    @cached_property
    def nested(self) -> tuple[bool, ...]:
        """For each level whether it joins nodes of the level below, and no cell loses less than there.

        Two nodes that are released under one label are one node, and may be two again above.
        """
        return tuple(
            number == numbers[0] or self._is_coarser(number)
            for _, numbers in self.spans()
            for number in numbers
        )

    def _is_coarser(self, number: int) -> bool:
        below, above = self.nodes[number - 1], self.nodes[number]
        joined = np.zeros(self.n_nodes[number - 1], dtype=np.int32)
        joined[below] = above
        dearer = self.losses[number] >= self.losses[number - 1] - _ROUNDING
        return bool((joined[below] == above).all() and dearer.all())

    @cached_property
    def value_counts(self) -> Integers:
        """How many records have each value."""
        return self.counted_cells(np.zeros(len(self.weights), dtype=np.int64), np.ones(1, dtype=np.bool_))

    def counted_cells(self, class_of: Integers, wanted: Booleans) -> Integers:
        """Return how many records of the wanted classes have each value."""
        return count_cells(self.cells, class_of, wanted, self.weights, self.first_value[-1])

    def level_losses(self, counts: Integers) -> Floats:
        """Return for each level its part of general loss, when each value occurs so many times."""
        losses, values, starts = self._each_loss
        return np.add.reduceat(losses * counts[values], starts) / self.n_records

    @cached_property
    def _each_loss(self) -> tuple[Floats, Integers, Integers]:
        """The losses of all levels in one row, the number of each one's value, and each level's start."""
        values = [np.arange(values.start, values.stop) for values, numbers in self.spans() for _ in numbers]
        lengths = np.array([len(losses) for losses in self.losses])
        return np.concatenate(self.losses), np.concatenate(values), np.cumsum(lengths) - lengths

    def row_losses(self, levels: Sequence[int], rows: Integers) -> Floats:
        """Return the general loss of a record of each of these rows at a node."""
        by_value = np.concatenate([self.losses[number] for number in self.numbers(levels)])
        losses: Floats = by_value[self.cells[rows]].sum(axis=1)
        return losses

    def classes(self, levels: Sequence[int]) -> tuple[Integers, int]:
        """Return the class of each row at a node, and how many classes there are."""
        keys, spans = [], []
        parts, span = np.zeros(self.first_value[-1], dtype=np.int64), 1
        for (values, _), number in zip(self.spans(), self.numbers(levels), strict=True):
            if span * self.n_nodes[number] >= _LARGEST_KEY:
                keys.append(node_keys(self.cells, parts))
                spans.append(span)
                parts, span = np.zeros_like(parts), 1
            parts[values] = self.nodes[number].astype(np.int64) * span
            span *= self.n_nodes[number]
        return number_rows([*keys, node_keys(self.cells, parts)], [*spans, span], len(self.weights))

    def n_sensitive_values(self, name: str | None) -> int:
        """Return how many values a sensitive attribute has; none without a name."""
        return 0 if name is None else len(self.everybody.sensitive[name].prior)

    @cached_property
    def by_value(self) -> dict[str, Integers]:
        """For each sensitive attribute the rows in the order of its values."""
        return {name: np.argsort(codes, kind="stable") for name, codes in self.sensitive.items()}

    @cached_property
    def by_person(self) -> Integers:
        """The rows in the order of their people."""
        assert self.people is not None
        return np.argsort(self.people.person_of, kind="stable")

    def count_people(self, class_of: Integers, sizes: Integers) -> Integers:
        """Return how many people classes of these sizes have; rows of a negative class are left out."""
        if self.people is None:
            return sizes
        return people_in_order(self.by_person, class_of, len(sizes), self.people.person_of)

    def counted(self, group: Integers, sizes: Integers) -> EquivalenceClasses:
        """Count the sensitive values of groups of rows; rows of a negative group are left out."""
        sensitive = {}
        for name, codes in self.sensitive.items():
            facts, order = self.everybody.sensitive[name], self.by_value[name]
            if self.people is not None:
                sensitive[name] = count_sensitive(
                    group, len(sizes), self.weights, codes, facts.prior, facts.domain, self.people
                )
                continue
            starts, values, counts = map(sealed, count_values(order, group, len(sizes), codes, self.weights))
            sensitive[name] = SensitiveCounts(starts, values, counts, facts.prior, facts.domain)
        persons = None if self.people is None else self.count_people(group, sizes)
        return EquivalenceClasses(sealed(group[group >= 0]), sizes, sensitive, persons)


def _released(column: Column, hierarchy: Hierarchy, level: int, share: float) -> tuple[Codes, int, Floats]:
    """Return the released value of each value on a level, how many there are, and the loss of each."""
    every = np.arange(len(column.domain))
    # through the cells of a release: what is judged here is what would be published
    cells = level_cells(Column(every, column.domain, column.kind), hierarchy, level, every)
    assert cells.sets is not None
    return cells.codes, len(cells.labels), share * cells.sets.losses[cells.codes]
