"""Estimate each cell of an answer and its standard deviation under an interpretation of the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import numpy as np

from sfumato.kernels.weight_estimates import add_up
from sfumato.runtime.arrays import Booleans, Floats, Integers
from sfumato.workflow.query.cell_counts import AnswerCells, each_cell, in_cells
from sfumato.workflow.query.published_records import QueryLines

_MOST_NUMBERS = 50_000_000


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over records, for each cell of an answer.

    Parameters
    ----------
    totals
        The expected number of records, and the expected sum of the numbers that are added up.
    covariances
        How the two vary together under the reading: number with number, number with sum, sum with sum.
    """

    totals: Sequence[Floats] = field(repr=False)
    covariances: Sequence[Floats] = field(repr=False)

    def variance(self, mean: Floats) -> Floats:
        """Return the variance of the sum of the numbers, each reduced by a mean."""
        of_number, of_both, of_sum = self.covariances
        return np.maximum(of_sum - 2 * mean * of_both + mean**2 * of_number, 0.0)


def moments(holds: Booleans, sight: QueryLines, cells: AnswerCells, summed: int | None) -> Moments:
    """Add up independent records: the true value of one says nothing about the others.

    Parameters
    ----------
    holds
        Where the condition holds.
    sight
        The records as they are read.
    cells
        The cells of the answer.
    summed
        The axis of the attribute that is added up.
    """
    totals: list[Floats] = []
    covariances: list[Floats] = []
    parts = [in_cells(holds, lines, len(sight.amounts), cells) for lines in _powers(sight, summed)]
    for found in zip(*parts, strict=True):
        amounts = sight.amounts[found[0][0]]
        powers = [each for _, each in found]
        _add(totals, [np.tensordot(amounts, each, 1) for each in powers[: len(powers) // 2 + 1]])
        _add(covariances, [np.tensordot(amounts, each, 1) for each in _products(powers)])
    return Moments(*(_with_zero_sums([np.ravel(each) for each in sums]) for sums in (totals, covariances)))


def _powers(sight: QueryLines, summed: int | None) -> list[list[Floats]]:
    """Return the lines with the shares and, if numbers are summed, with the numbers and their squares."""
    n_powers = 1 if summed is None else 3
    return [
        [line[power if axis == summed else 0] for axis, line in enumerate(sight.lines)]
        for power in range(n_powers)
    ]


def _products(powers: Sequence[Floats]) -> list[Floats]:
    """Return the covariances of one record's count and sum."""
    first = powers[0] - powers[0] ** 2
    if len(powers) == 1:
        return [first]
    return [first, powers[1] - powers[0] * powers[1], powers[2] - powers[1] ** 2]


def _with_zero_sums(sums: list[Floats]) -> list[Floats]:
    """Give a count without a summed attribute sums of zero."""
    return sums if len(sums) > 1 else [sums[0], np.zeros_like(sums[0]), np.zeros_like(sums[0])]


def _add(sums: list[Floats], more: list[Floats]) -> None:
    sums[:] = more if not sums else [one + other for one, other in zip(sums, more, strict=True)]


def exchanged(holds: Booleans, sight: QueryLines, cells: AnswerCells, summed: int | None) -> Moments | None:
    """Add up the records if the sensitive values of each group are exchanged at random.

    What they are is not independent then: the values of a group are all given away. The variance is that of
    the sum over a random permutation (W. Hoeffding, "A combinatorial central limit theorem", 1951), and what
    the cells leave open beside. ``None`` where there is too much to look at.
    """
    n_lines = len(sight.amounts)
    if not 0 < n_lines * cells.n_cells <= _MOST_NUMBERS:
        return None
    deal = _RandomAssignment.of(sight)
    sums = [deal.sums(*found) for found in each_cell(holds, _powers(sight, summed), n_lines, cells)]
    totals, covariances = (
        [np.array(each) for each in zip(*side, strict=True)] for side in zip(*sums, strict=True)
    )
    return Moments(_with_zero_sums(totals), _with_zero_sums(covariances))


@dataclass(frozen=True, eq=False)
class _Parts:
    """Lines in parts, numbered consecutively within a group.

    Parameters
    ----------
    number
        The number of each line's part.
    sizes
        How many records the part of each line has.
    firsts
        The first number of each group, and how many there are.
    """

    number: Integers
    sizes: Floats
    firsts: Integers

    @classmethod
    def of(cls, number: Integers, amounts: Floats, starts: Integers) -> _Parts:
        n_parts = int(number.max()) + 1
        sizes = add_up(number, amounts, n_parts)[number]
        return cls(number, sizes, np.append(number[starts[:-1]], n_parts))

    def take(self, groups: Integers, starts: Integers) -> _Parts:
        """Return the lines of some groups, with their parts renumbered."""
        lines, firsts = _ranges(starts, groups), _starts(self.firsts, groups)
        lengths = starts[groups + 1] - starts[groups]
        number = self.number[lines] - np.repeat(self.firsts[groups] - firsts[:-1], lengths)
        return _Parts(number, self.sizes[lines], firsts)

    def means(self, amounts: Floats) -> Floats:
        """Return for each line the mean of its part."""
        return np.asarray(add_up(self.number, amounts, int(self.firsts[-1]))[self.number] / self.sizes)


def _starts(firsts: Integers, groups: Integers) -> Integers:
    """Return where each of some concatenated ranges begins, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(firsts[groups + 1] - firsts[groups])])


def _ranges(firsts: Integers, groups: Integers) -> Integers:
    """Concatenate some ranges."""
    starts = _starts(firsts, groups)
    return np.repeat(firsts[groups] - starts[:-1], np.diff(starts)) + np.arange(starts[-1])


@dataclass(frozen=True, eq=False)
class _RandomAssignment:
    """A random assignment of values: the lines of each unit, of each value in a group and of each group.

    Parameters
    ----------
    amounts
        How many records each line stands for.
    parts
        The lines by unit, by value and by group.
    weights
        The amounts, each times n / (n - 1) for a group of n records.
    starts
        Where the lines of each group begin, and where the last ones end.
    """

    amounts: Floats
    parts: Sequence[_Parts]
    weights: Floats
    starts: Integers

    @classmethod
    def of(cls, sight: QueryLines) -> _RandomAssignment:
        assert sight.unit_of is not None
        assert sight.value_of is not None
        assert sight.group_of is not None
        starts = np.searchsorted(sight.group_of, np.arange(int(sight.group_of[-1]) + 2))
        numbers = (sight.unit_of, sight.value_of, sight.group_of)
        parts = [_Parts.of(each, sight.amounts, starts) for each in numbers]
        sizes = parts[2].sizes
        weights = sight.amounts * np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 0.0)
        return cls(sight.amounts, parts, weights, starts)

    def sums(self, at: Integers, powers: Sequence[Floats]) -> tuple[list[float], list[float]]:
        """Return the totals of the records in one cell, and their covariances.

        Parameters
        ----------
        at, powers
            The lines that have something in the cell, and what they have.
        """
        deal, lines = self._relevant_groups(at)
        places = np.searchsorted(lines, at)
        every = [np.zeros(len(lines)) for _ in powers]
        for some, each in zip(every, powers, strict=True):
            some[places] = each
        totals = [_dot(deal.amounts, each) for each in every[: len(every) // 2 + 1]]
        return totals, deal.covariances(every)

    def _relevant_groups(self, at: Integers) -> tuple[_RandomAssignment, Integers]:
        """Leave out groups without some lines: they add nothing, and most cells have few groups."""
        own = self.parts[2].number[at]
        groups = own[np.flatnonzero(np.diff(own, prepend=-1))]
        lines = _ranges(self.starts, groups)
        parts = [each.take(groups, self.starts) for each in self.parts]
        return _RandomAssignment(
            self.amounts[lines], parts, self.weights[lines], _starts(self.starts, groups)
        ), lines

    def covariances(self, powers: Sequence[Floats]) -> list[float]:
        """Return the covariances of the count in one cell and, if numbers are summed, of their sum."""
        off = [self._minus_means(each) for each in powers[:2]]
        between = [_dot(self.weights * one, other) for one, other in combinations_with_replacement(off, 2)]
        within = [_dot(self.amounts, each) for each in _products(powers)]
        return [one + other for one, other in zip(between, within, strict=True)]

    def _minus_means(self, each: Floats) -> Floats:
        """Return each line minus the means of its unit and of its value, plus the mean of its group."""
        of_unit, of_value, of_group = (part.means(self.amounts * each) for part in self.parts)
        return np.asarray(each - of_unit - of_value + of_group)


def _dot(one: Floats, other: Floats) -> float:
    # BLAS would wake its threads for it, which cost more than they help
    return float(np.einsum("l,l->", one, other))
