"""Compute bounds on the answer to a query that hold for every table the release may represent.

A record certainly counts if the condition holds for every value that its cells may represent, and possibly
counts if it holds for some of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.kernels.row_groups import first_row_of_group, number_rows
from sfumato.kernels.weight_estimates import add_up
from sfumato.runtime.arrays import Booleans, Floats, Integers
from sfumato.workflow.query.cell_counts import AnswerCells, all_in_cells, in_cells
from sfumato.workflow.query.published_records import QueryLines

_MOST_AMOUNTS = 10_000_000
"""Where there are more amounts of places in groups than this, they are added up anew for each cell."""
_MOST_COLUMNS = 6
"""If a query distinguishes more kinds of sensitive values, the bounds ignore how many of each a group has."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """The least and the greatest value of each cell of an answer; NaN if there is none."""

    least: Floats = field(repr=False)
    most: Floats = field(repr=False)


def of_counts(holds: Booleans, sight: QueryLines, cells: AnswerCells) -> Bounds:
    """Return the least and the greatest number of records, each record by itself.

    Parameters
    ----------
    holds
        Where the condition holds.
    sight
        The records, with where they may lie.
    cells
        The cells of the answer.
    """
    least, most = np.zeros(cells.n_cells), np.zeros(cells.n_cells)
    for part, certain, can in _certain(holds, sight, cells):
        least += sight.amounts[part] @ certain.reshape(len(certain), -1)
        most += sight.amounts[part] @ can.reshape(len(can), -1)
    return Bounds(least, most)


def _certain(
    holds: Booleans, sight: QueryLines, cells: AnswerCells
) -> Iterator[tuple[slice, Booleans, Booleans]]:
    """Yield for chunks of lines whether they certainly count, and whether they may count, in each cell."""
    lines = [line[0] for line in sight.lines]
    n_ways = np.ones(len(sight.amounts))
    for line in lines:
        n_ways = n_ways * line.sum(axis=1)
    for part, found in in_cells(holds, lines, len(sight.amounts), cells):
        ways = n_ways[part].reshape(-1, *(1 for _ in cells.axes))
        yield part, found == ways, found > 0


def of_numbers(
    holds: Booleans, sight: QueryLines, cells: AnswerCells, summed: int, *, averaged: bool
) -> Bounds:
    """Return the least and the greatest sum, or mean, of the numbers of the records.

    Each record by itself may count or not, where it may, and have any number that it may have.

    Parameters
    ----------
    holds, sight, cells
        As in `of_counts`.
    summed
        The axis of the attribute whose numbers are added up.
    averaged
        Whether the mean is asked for.
    """
    certain = np.concatenate(
        [each.reshape(len(each), -1).T for _, each, _ in _certain(holds, sight, cells)], 1
    )
    lines = [line[0] for line in sight.lines]
    least, most = sight.lines[summed][1].T, sight.lines[summed][2].T
    if summed in cells.axes:  # each cell has the numbers of one region alone
        own = cells.region_along(summed)
        numbers, least, most = cells, least[own, np.newaxis], most[own, np.newaxis]
    else:
        numbers = cells.along(summed, holds.shape[summed])
    found = all_in_cells(holds, lines, len(sight.amounts), numbers)
    can = found.reshape(cells.n_cells, -1, len(sight.amounts)) > 0
    lowest = np.where(can, least, np.inf).min(axis=1)
    highest = np.where(can, most, -np.inf).max(axis=1)
    largest = _largest_mean if averaged else _largest_sum
    pairs = [
        (
            -largest(sight.amounts, certain[cell], -lowest[cell]),
            largest(sight.amounts, certain[cell], highest[cell]),
        )
        for cell in range(cells.n_cells)
    ]
    least, most = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return Bounds(least, most)


def _largest_sum(amounts: Floats, certain: Booleans, numbers: Floats) -> float:
    """Return the largest sum: of the certain records, and of the others those that increase it."""
    may_count = numbers > -np.inf
    taken = certain | (may_count & (numbers > 0))
    return float(amounts[taken] @ numbers[taken]) if taken.any() else 0.0


def _largest_mean(amounts: Floats, certain: Booleans, numbers: Floats) -> float:
    """Return the largest mean: others are added, the largest first, while they raise it."""
    may_count = numbers > -np.inf
    others = np.flatnonzero(may_count & ~certain)
    others = others[np.argsort(-numbers[others], kind="stable")]
    if not certain.any():
        return float(numbers[others[0]]) if len(others) else np.nan
    order = np.concatenate([np.flatnonzero(certain), others])
    with np.errstate(invalid="ignore"):
        means = np.cumsum(amounts[order] * numbers[order]) / np.cumsum(amounts[order])
    reached = means[np.count_nonzero(certain) - 1 :]
    return float(np.nan if np.isnan(reached).any() else reached.max())


def of_groups(
    holds: Booleans, sight: QueryLines, cells: AnswerCells, sensitive: Sequence[int]
) -> Bounds | None:
    """Return the least and the greatest number of records if sensitive values are given per group.

    The values of a group are given to its records, each to one: as many records can be made to count as the
    largest flow from records to values has, which is the smallest cut between them.

    Parameters
    ----------
    holds, sight, cells
        As in `of_counts`; the lines are every record of a group with every value of it.
    sensitive
        The axes of the sensitive attributes.

    Returns
    -------
    ``None`` where the sensitive values are of too many kinds to the query.
    """
    groups = _Exchange.of(sight, len(holds.shape), sensitive)
    bounds = []
    for cell in itertools.product(*cells.regions):
        here = np.zeros(holds.shape, dtype=np.bool_)
        place: list[slice | int] = [slice(None)] * holds.ndim
        for axis, region in zip(cells.axes, cell, strict=True):
            place[axis] = region
        here[tuple(place)] = holds[tuple(place)]
        found = groups.bounds(here)
        if found is None:
            return None
        bounds.append(found)
    least, most = np.array(bounds, dtype=np.float64).reshape(-1, 2).T
    return Bounds(least, most)


@dataclass(frozen=True, eq=False)
class _Exchange:
    """Records and sensitive values of groups, each with the regions where they may be.

    Parameters
    ----------
    units, values
        Where units, and values of groups, may lie in the regions of their attributes together; those that
        may lie in the same once.
    unit_of, value_of
        Which of these each unit, and each value of a group, is.
    weights, counts
        How many records each is.
    group_of_unit, group_of_value
        Their groups.
    outside, inside
        The axes of the attributes of the units, and of the values.
    """

    units: Booleans
    values: Booleans
    unit_of: Integers
    value_of: Integers
    weights: Floats
    counts: Floats
    group_of_unit: Integers
    group_of_value: Integers
    outside: Sequence[int]
    inside: Sequence[int]

    @classmethod
    def of(cls, sight: QueryLines, n_axes: int, inside: Sequence[int]) -> _Exchange:
        """Separate the lines of groups into records and values."""
        assert sight.unit_of is not None
        assert sight.value_of is not None
        assert sight.group_of is not None
        outside = [axis for axis in range(n_axes) if axis not in inside]
        first_unit, first_value = (
            first_row_of_group(number, int(number.max()) + 1) for number in (sight.unit_of, sight.value_of)
        )
        units, unit_of = _joint_regions([sight.lines[axis][0][first_unit] for axis in outside])
        values, value_of = _joint_regions([sight.lines[axis][0][first_value] for axis in inside])
        return cls(
            units,
            values,
            unit_of,
            value_of,
            add_up(sight.unit_of, sight.amounts, len(first_unit)),
            add_up(sight.value_of, sight.amounts, len(first_value)),
            sight.group_of[first_unit],
            sight.group_of[first_value],
            outside,
            inside,
        )

    def bounds(self, holds: Booleans) -> tuple[float, float] | None:
        """Return the least and the greatest value of one cell."""
        size = int(np.prod([holds.shape[axis] for axis in self.outside]))
        table = np.transpose(holds, [*self.outside, *self.inside]).reshape(size, -1)
        may_hold, may_fail = _share_a_column(self.values, table), _share_a_column(self.values, ~table)
        kinds, kind_of = _unique_lines(np.hstack([may_hold, may_fail]))
        if len(kinds) > _MOST_COLUMNS:
            return None
        may_hold, may_fail = (
            _share_a_column(self.units, may_hold[kinds]),
            _share_a_column(self.units, may_fail[kinds]),
        )
        fits, fit_of = _unique_lines(np.hstack([may_hold, may_fail]))
        groups = self._groups_that_may_count(may_hold, kind_of)
        weights = self._weights.among(groups, fit_of, len(fits))
        counts = self._counts.among(groups, kind_of, len(kinds))
        failing = _largest_flow(may_fail[fits], weights, counts)
        return float(weights.sum() - failing), _largest_flow(may_hold[fits], weights, counts)

    def _groups_that_may_count(self, fits: Booleans, kind_of: Integers) -> Integers:
        """Return the groups with a record that may count; in the others none does."""
        has_unit = self._weights.is_of(np.asarray(fits.any(axis=1)))
        return np.flatnonzero(has_unit & self._counts.is_of(np.asarray(fits.any(axis=0))[kind_of]))

    @cached_property
    def _weights(self) -> _Tally:
        return _Tally(self.group_of_unit, self.unit_of, self.weights, self._n_groups, len(self.units))

    @cached_property
    def _counts(self) -> _Tally:
        return _Tally(self.group_of_value, self.value_of, self.counts, self._n_groups, len(self.values))

    @cached_property
    def _n_groups(self) -> int:
        return int(self.group_of_unit.max()) + 1


@dataclass(frozen=True, eq=False)
class _Tally:
    """The number of records of each group in each place."""

    group_of: Integers
    place_of: Integers
    amounts: Floats
    n_groups: int
    n_places: int

    @cached_property
    def _table(self) -> Floats | None:
        """One row for each place, one column for each group; ``None`` if that is too large to keep."""
        if self.n_groups * self.n_places > _MOST_AMOUNTS:
            return None
        return self._added(np.arange(self.n_places), self.n_places)

    def _added(self, part_of: Integers, n_parts: int) -> Floats:
        place = part_of[self.place_of] * self.n_groups + self.group_of
        return add_up(place, self.amounts, n_parts * self.n_groups).reshape(n_parts, self.n_groups)

    def is_of(self, places: Booleans) -> Booleans:
        """Return for each group whether it has something in one of these places."""
        found = np.zeros(self.n_groups, dtype=np.bool_)
        found[self.group_of[places[self.place_of]]] = True
        return found

    def among(self, groups: Integers, part_of: Integers, n_parts: int) -> Floats:
        """Return the numbers of records of some groups in each part of the places, one row for each part."""
        if self._table is None:
            return self._added(part_of, n_parts)[:, groups]
        places = (np.flatnonzero(part_of == part) for part in range(n_parts))
        return np.stack([self._table[np.ix_(each, groups)].sum(axis=0) for each in places])


def _largest_flow(fits: Booleans, weights: Floats, counts: Floats) -> float:
    """Return the number of records that can get fitting values.

    In each group this is a maximum flow from records to values: a kind of records has as much as `weights`
    says, a kind of values takes up what `counts` says, and they are connected where `fits` holds. A maximum
    flow equals a minimum cut. For each choice of values to cut, the cheapest cut adds exactly the records
    that fit a value which is not cut, so trying all choices finds the minimum for all groups at once. This
    takes 2 to the number of kinds of values steps, which `_MOST_COLUMNS` bounds.
    """
    smallest = np.full(counts.shape[1], np.inf)
    for cut in itertools.product((False, True), repeat=len(counts)):
        is_cut = np.array(cut)
        taken = fits[:, ~is_cut].any(axis=1)
        smallest = np.minimum(smallest, counts[is_cut].sum(axis=0) + weights[taken].sum(axis=0))
    return float(smallest.sum())


def _unique_lines(lines: Booleans) -> tuple[Integers, Integers]:
    """Return the first of each set of equal lines, and for each line the number of its set."""
    packed = np.packbits(lines, axis=1)
    number_of, n_different = number_rows(list(packed.T), [256] * packed.shape[1], len(packed))
    return first_row_of_group(number_of, n_different), number_of


def _joint_regions(lines: Sequence[Floats]) -> tuple[Booleans, Integers]:
    """Return the distinct joint regions of lines over all attributes, and the index of each line's."""
    first, number_of = _unique_lines(np.concatenate([line > 0 for line in lines], axis=1))
    found = np.ones((len(first), 1), dtype=np.bool_)
    for line in lines:
        found = (found[:, :, np.newaxis] & (line[first] > 0)[:, np.newaxis]).reshape(len(first), -1)
    return found, number_of


def _share_a_column(lines: Booleans, table: Booleans) -> Booleans:
    """Return for each line and each row of a table whether they have a column in common."""
    return np.asarray(lines.astype(np.float32) @ table.astype(np.float32).T > 0)
