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
"""Above this number of amounts per group and place, the sums are computed again for each cell."""
_MOST_COLUMNS = 6
"""Above this number of kinds of sensitive values, the bounds ignore how many of each a group has."""


@dataclass(frozen=True, eq=False)
class Bounds:
    """The smallest and the largest possible value of each cell of an answer; NaN if there is none."""

    least: Floats = field(repr=False)
    most: Floats = field(repr=False)


def count_bounds(holds: Booleans, records: QueryLines, cells: AnswerCells) -> Bounds:
    """Bound the number of records in each cell; every record counts or not independently of the others.

    Parameters
    ----------
    holds
        Where the condition holds.
    records
        The records and the regions that each may be in.
    cells
        The cells of the answer.
    """
    least, most = np.zeros(cells.n_cells), np.zeros(cells.n_cells)
    for part, certain, possible in _certain_and_possible(holds, records, cells):
        least += records.amounts[part] @ certain.reshape(len(certain), -1)
        most += records.amounts[part] @ possible.reshape(len(possible), -1)
    return Bounds(least, most)


def _certain_and_possible(
    holds: Booleans, records: QueryLines, cells: AnswerCells
) -> Iterator[tuple[slice, Booleans, Booleans]]:
    """Yield for chunks of lines whether they certainly count, and whether they may count, in each cell."""
    lines = [line[0] for line in records.lines]
    n_combinations = np.ones(len(records.amounts))
    for line in lines:
        n_combinations = n_combinations * line.sum(axis=1)
    for part, n_counting in in_cells(holds, lines, len(records.amounts), cells):
        n_all = n_combinations[part].reshape(-1, *(1 for _ in cells.axes))
        yield part, n_counting == n_all, n_counting > 0


def number_bounds(
    holds: Booleans, records: QueryLines, cells: AnswerCells, summed: int, *, averaged: bool
) -> Bounds:
    """Bound the sum or the mean of the records' numbers in each cell.

    Every record is independent of the others: it counts or not, and has any number that it may have.

    Parameters
    ----------
    holds, records, cells
        As in `count_bounds`.
    summed
        The axis of the attribute that is summed.
    averaged
        Whether the query asks for the mean.
    """
    certain = np.concatenate(
        [part.reshape(len(part), -1).T for _, part, _ in _certain_and_possible(holds, records, cells)], 1
    )
    lines = [line[0] for line in records.lines]
    least, most = records.lines[summed][1].T, records.lines[summed][2].T
    if summed in cells.axes:  # each cell has the numbers of one region alone
        region = cells.region_along(summed)
        numbers, least, most = cells, least[region, np.newaxis], most[region, np.newaxis]
    else:
        numbers = cells.along(summed, holds.shape[summed])
    counts = all_in_cells(holds, lines, len(records.amounts), numbers)
    possible = counts.reshape(cells.n_cells, -1, len(records.amounts)) > 0
    lowest = np.where(possible, least, np.inf).min(axis=1)
    highest = np.where(possible, most, -np.inf).max(axis=1)
    largest = _largest_mean if averaged else _largest_sum
    pairs = [
        (
            -largest(records.amounts, certain[cell], -lowest[cell]),
            largest(records.amounts, certain[cell], highest[cell]),
        )
        for cell in range(cells.n_cells)
    ]
    least, most = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return Bounds(least, most)


def _largest_sum(amounts: Floats, certain: Booleans, numbers: Floats) -> float:
    """Return the largest sum: all certain records, and the possible ones with a positive number."""
    counts = certain | (numbers > 0)
    return float(amounts[counts] @ numbers[counts]) if counts.any() else 0.0


def _largest_mean(amounts: Floats, certain: Booleans, numbers: Floats) -> float:
    """Return the largest mean: all certain records, then the largest possible ones while they raise it."""
    others = np.flatnonzero((numbers > -np.inf) & ~certain)
    others = others[np.argsort(-numbers[others], kind="stable")]
    if not certain.any():
        return float(numbers[others[0]]) if len(others) else np.nan
    order = np.concatenate([np.flatnonzero(certain), others])
    with np.errstate(invalid="ignore"):
        means = np.cumsum(amounts[order] * numbers[order]) / np.cumsum(amounts[order])
    means = means[np.count_nonzero(certain) - 1 :]
    return float(np.nan if np.isnan(means).any() else means.max())


def group_bounds(
    holds: Booleans, records: QueryLines, cells: AnswerCells, sensitive: Sequence[int]
) -> Bounds | None:
    """Bound the number of records in each cell if sensitive values are published per group.

    Every record of a group gets exactly one of the group's values. The largest number of records that can
    count is therefore the largest flow from records to values, which is the smallest cut between them.

    Parameters
    ----------
    holds, records, cells
        As in `count_bounds`; the lines are every record of a group with every value of it.
    sensitive
        The axes of the sensitive attributes.

    Returns
    -------
    ``None`` if the query distinguishes too many kinds of sensitive values.
    """
    assert records.unit_of is not None
    assert records.value_of is not None
    outside = [axis for axis in range(holds.ndim) if axis not in sensitive]
    units = _GroupAmounts.of(records, records.unit_of, outside)
    values = _GroupAmounts.of(records, records.value_of, sensitive)
    pairs = []
    for cell in itertools.product(*cells.regions):
        here = np.zeros(holds.shape, dtype=np.bool_)
        place: list[slice | int] = [slice(None)] * holds.ndim
        for axis, region in zip(cells.axes, cell, strict=True):
            place[axis] = region
        here[tuple(place)] = holds[tuple(place)]
        table = np.transpose(here, [*outside, *sensitive]).reshape(units.regions.shape[1], -1)
        pair = _flow_bounds(units, values, table)
        if pair is None:
            return None
        pairs.append(pair)
    least, most = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return Bounds(least, most)


def _flow_bounds(units: _GroupAmounts, values: _GroupAmounts, holds: Booleans) -> tuple[float, float] | None:
    """Return the bounds of one cell; ``None`` if there are too many kinds of values."""
    may_hold, may_fail = _share_a_column(values.regions, holds), _share_a_column(values.regions, ~holds)
    kinds, kind_of = _unique_lines(np.hstack([may_hold, may_fail]))
    if len(kinds) > _MOST_COLUMNS:
        return None
    may_hold = _share_a_column(units.regions, may_hold[kinds])
    may_fail = _share_a_column(units.regions, may_fail[kinds])
    fits, fit_of = _unique_lines(np.hstack([may_hold, may_fail]))
    # only groups with both a unit and a value that may count; no record of another group does
    has_unit = units.has_any(np.asarray(may_hold.any(axis=1)))
    has_value = values.has_any(np.asarray(may_hold.any(axis=0))[kind_of])
    groups = np.flatnonzero(has_unit & has_value)
    weights = units.among(groups, fit_of, len(fits))
    counts = values.among(groups, kind_of, len(kinds))
    failing = _largest_flow(may_fail[fits], weights, counts)
    return float(weights.sum() - failing), _largest_flow(may_hold[fits], weights, counts)


@dataclass(frozen=True, eq=False)
class _GroupAmounts:
    """The number of records of each group in each place: a joint region of some attributes.

    Parameters
    ----------
    regions
        The regions of each place, which may be several.
    place_of, group_of, amounts
        The place and group of each unit, or of each value of a group, and its number of records.
    n_groups
        The number of groups.
    """

    regions: Booleans
    place_of: Integers
    group_of: Integers
    amounts: Floats
    n_groups: int

    @classmethod
    def of(cls, records: QueryLines, number_of: Integers, axes: Sequence[int]) -> _GroupAmounts:
        assert records.group_of is not None
        first = first_row_of_group(number_of, int(number_of.max()) + 1)
        regions, place_of = _joint_regions([records.lines[axis][0][first] for axis in axes])
        amounts = add_up(number_of, records.amounts, len(first))
        n_groups = int(records.group_of.max()) + 1
        return cls(regions, place_of, records.group_of[first], amounts, n_groups)

    @cached_property
    def _table(self) -> Floats | None:
        """One row for each place, one column for each group; ``None`` if that is too large to keep."""
        n_places = len(self.regions)
        if self.n_groups * n_places > _MOST_AMOUNTS:
            return None
        return self._sums(np.arange(n_places), n_places)

    def _sums(self, part_of: Integers, n_parts: int) -> Floats:
        place = part_of[self.place_of] * self.n_groups + self.group_of
        return add_up(place, self.amounts, n_parts * self.n_groups).reshape(n_parts, self.n_groups)

    def has_any(self, places: Booleans) -> Booleans:
        """Return for each group whether it has records in any of these places."""
        has_records = np.zeros(self.n_groups, dtype=np.bool_)
        has_records[self.group_of[places[self.place_of]]] = True
        return has_records

    def among(self, groups: Integers, part_of: Integers, n_parts: int) -> Floats:
        """Return the numbers of records of some groups in each part of the places, one row for each part."""
        if self._table is None:
            return self._sums(part_of, n_parts)[:, groups]
        places = (np.flatnonzero(part_of == part) for part in range(n_parts))
        return np.stack([self._table[np.ix_(rows, groups)].sum(axis=0) for rows in places])


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
        still_fits = fits[:, ~is_cut].any(axis=1)
        smallest = np.minimum(smallest, counts[is_cut].sum(axis=0) + weights[still_fits].sum(axis=0))
    return float(smallest.sum())


def _unique_lines(lines: Booleans) -> tuple[Integers, Integers]:
    """Return the first of each set of equal lines, and for each line the number of its set."""
    packed = np.packbits(lines, axis=1)
    number_of, n_different = number_rows(list(packed.T), [256] * packed.shape[1], len(packed))
    return first_row_of_group(number_of, n_different), number_of


def _joint_regions(lines: Sequence[Floats]) -> tuple[Booleans, Integers]:
    """Return the distinct joint regions of lines over all attributes, and the index of each line's."""
    first, number_of = _unique_lines(np.concatenate([line > 0 for line in lines], axis=1))
    joint = np.ones((len(first), 1), dtype=np.bool_)
    for line in lines:
        joint = (joint[:, :, np.newaxis] & (line[first] > 0)[:, np.newaxis]).reshape(len(first), -1)
    return joint, number_of


def _share_a_column(lines: Booleans, table: Booleans) -> Booleans:
    """Return for each line and each row of a table whether they have a column in common."""
    return np.asarray(lines.astype(np.float32) @ table.astype(np.float32).T > 0)
