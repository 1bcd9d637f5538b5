"""The lattice of all full-domain recodings, and the profile of every node of it.

A node is one level of its hierarchy for each quasi-identifier. It is *finer* than another when none
of its levels is higher; then each of its classes lies within one class of the other.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Booleans, Codes, Floats, Integers, frozen, sealed
from sfumato.cells import level_cells
from sfumato.classes import EquivalenceClasses, SensitiveCounts, count_classes
from sfumato.distances import jensen_shannon, total_variation
from sfumato.errors import ParameterError, suggestion
from sfumato.kernels.grouping import first_row_of_group, number_rows, sum_by_group
from sfumato.kernels.lattice import FIGURES, count_cells, describe_sizes, node_keys, walk
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import Better, PrivacyModel
from sfumato.models.closeness import TCloseness
from sfumato.models.disclosure import BetaLikeness, DeltaDisclosure
from sfumato.models.diversity import DistinctDiversity, EntropyDiversity, ProbabilisticDiversity
from sfumato.recipe import Recipe
from sfumato.sanitizers.base import whole_table
from sfumato.sanitizers.full_domain import FullDomain
from sfumato.schema import Schema
from sfumato.table import Column, Table

Levels = tuple[int, ...]
"""One level for each quasi-identifier, in the order of the schema."""

_LARGEST_KEY = 2**62


@dataclass(frozen=True)
class Rows:
    """Distinct rows with weights: those of a table, or one for each class of a node.

    Parameters
    ----------
    cells
        For each row and quasi-identifier the number of its value; the values of all quasi-identifiers
        are numbered through.
    weights
        The number of records of each row.
    sensitive
        For each sensitive attribute that is looked at the codes of the rows.
    n_values
        How many values all quasi-identifiers have.
    """

    cells: Codes
    weights: Integers
    sensitive: Mapping[str, Codes]
    n_values: int

    @cached_property
    def value_counts(self) -> Integers:
        """How many records have each value."""
        one_class, wanted = np.zeros(len(self.weights), dtype=np.int64), np.ones(1, dtype=np.bool_)
        return count_cells(self.cells, one_class, wanted, self.weights, self.n_values)


@dataclass(frozen=True)
class Lattice:
    """Where every value of a table stands on every level of its hierarchy.

    Parameters
    ----------
    names, heights
        The quasi-identifiers and the highest level of each.
    rows
        The distinct rows of the table.
    first_value, first_level
        The numbers of each attribute's first value and of its level 0, with the end appended: the
        levels of all attributes are numbered through, like the values.
    nodes, n_nodes
        For each level the node of each value of its attribute, and how many nodes there are.
    losses
        For each level and each value the loss of a cell, times the attribute's share in general loss.
    everybody
        All records as one class: the priors, and what the sensitive codes mean.
    """

    names: tuple[str, ...]
    heights: Levels
    rows: Rows = field(repr=False)
    first_value: tuple[int, ...]
    first_level: tuple[int, ...]
    nodes: tuple[Codes, ...] = field(repr=False)
    n_nodes: tuple[int, ...]
    losses: Floats = field(repr=False)
    everybody: EquivalenceClasses = field(repr=False)

    @classmethod
    def of(cls, table: Table, schema: Schema, sensitive: Sequence[str]) -> Lattice:
        """Return the lattice of a bound table, with these sensitive attributes in its rows."""
        names = schema.require("quasi-identifying", "a lattice")
        kept = table.select((*names, *sensitive))
        heights = tuple(schema.hierarchy(name).height for name in names)
        first_value = (0, *itertools.accumulate(len(table[name].domain) for name in names))
        cells = [kept[name].codes + np.int32(first) for name, first in zip(names, first_value, strict=False)]
        released = [
            _level(table[name], schema, name, level)
            for name, height in zip(names, heights, strict=True)
            for level in range(height + 1)
        ]
        return cls(
            names=names,
            heights=heights,
            rows=Rows(
                np.stack(cells, axis=1), kept.weights, {name: kept[name].codes for name in sensitive}, first_value[-1]
            ),
            first_value=first_value,
            first_level=(0, *itertools.accumulate(height + 1 for height in heights)),
            nodes=tuple(nodes for nodes, _, _ in released),
            n_nodes=tuple(n_nodes for _, n_nodes, _ in released),
            losses=_placed(schema, names, heights, first_value, [losses for _, _, losses in released]),
            everybody=whole_table(table, schema),
        )

    @cached_property
    def n_records(self) -> int:
        """The number of records."""
        return int(self.rows.weights.sum())

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

    def keys(self, rows: Rows, levels: Sequence[int]) -> tuple[list[Integers], list[int]]:
        """Return a key for each row that is the same within a class, in as many words as it takes, and their spans."""
        keys, spans = [], []
        parts, span = np.zeros(self.first_value[-1], dtype=np.int64), 1
        for (values, _), number in zip(self.spans(), self.numbers(levels), strict=True):
            if span * self.n_nodes[number] >= _LARGEST_KEY:
                keys.append(node_keys(rows.cells, parts))
                spans.append(span)
                parts, span = np.zeros_like(parts), 1
            parts[values] = self.nodes[number].astype(np.int64) * span
            span *= self.n_nodes[number]
        return [*keys, node_keys(rows.cells, parts)], [*spans, span]

    def classes(self, rows: Rows, levels: Sequence[int]) -> tuple[Integers, int]:
        """Return the class of each row at a node, and how many classes there are."""
        return number_rows(*self.keys(rows, levels), len(rows.weights))

    def rolled_up(self, rows: Rows, levels: Sequence[int]) -> Rows:
        """Return one row for each class of a node (and sensitive value in it): enough for all coarser nodes."""
        keys, spans = self.keys(rows, levels)
        keys += [codes.astype(np.int64) for codes in rows.sensitive.values()]
        spans += [len(self.everybody.sensitive[name].prior) for name in rows.sensitive]
        group_of, n_groups = number_rows(keys, spans, len(rows.weights))
        first = first_row_of_group(group_of, n_groups)
        return Rows(
            rows.cells[first],
            sum_by_group(group_of, n_groups, rows.weights),
            {name: codes[first] for name, codes in rows.sensitive.items()},
            rows.n_values,
        )

    def counted(self, rows: Rows, class_of: Integers, n_classes: int) -> EquivalenceClasses:
        """Count the records and sensitive values of each class of rows."""
        facts = self.everybody.sensitive
        return count_classes(
            class_of,
            n_classes,
            rows.weights,
            {name: (codes, facts[name].prior) for name, codes in rows.sensitive.items()},
            {name: facts[name].domain for name in rows.sensitive},
        )


def _level(column: Column, schema: Schema, name: str, level: int) -> tuple[Codes, int, Floats]:
    """Return the released value of each value on a level, how many there are, and the loss of each."""
    every = np.arange(len(column.domain))
    # through the cells of a release: what is judged here is what would be published
    released = level_cells(Column(every, column.domain, column.kind), schema.hierarchy(name), level, every)
    assert released.sets is not None
    return released.codes, len(released.labels), released.sets.losses[released.codes]


def _placed(
    schema: Schema, names: Sequence[str], heights: Levels, first_value: Sequence[int], losses: Sequence[Floats]
) -> Floats:
    """Put the losses of all levels into one matrix of levels and values, each times its attribute's share."""
    weights = np.array([schema[name].weight for name in names])
    shares = weights / max(weights.sum(), 1e-300)
    placed = np.zeros((len(losses), first_value[-1]))
    owners = np.repeat(np.arange(len(names)), np.array(heights) + 1)
    for number, owner in enumerate(owners):
        placed[number, first_value[owner] : first_value[owner + 1]] = shares[owner] * losses[number]
    return placed
