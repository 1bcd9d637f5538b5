"""Estimates: what a reading of a release gives for each cell of an answer, and how far it may be off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import numpy as np

from sfumato.arrays import Booleans, Floats, Integers
from sfumato.kernels.estimating import add_up
from sfumato.receiving.counting import AnswerCells, each_cell, in_cells
from sfumato.receiving.records import QueryLines

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
        """Return the variance of the sum of the numbers, each less a mean."""
        of_number, of_both, of_sum = self.covariances
        return np.maximum(of_sum - 2 * mean * of_both + mean**2 * of_number, 0.0)


def moments(holds: Booleans, sight: QueryLines, cells: AnswerCells, summed: int | None) -> Moments:
    """Add up the records, each by itself: what it is in truth is taken to say nothing of the others.

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
    return Moments(*(_both([np.ravel(each) for each in sums]) for sums in (totals, covariances)))


def _powers(sight: QueryLines, summed: int | None) -> list[list[Floats]]:
    """Return the lines with the shares, and where numbers are added up with them and their squares."""
    n_powers = 1 if summed is None else 3
    return [
        [line[power if axis == summed else 0] for axis, line in enumerate(sight.lines)]
        for power in range(n_powers)
    ]


def _products(powers: Sequence[Floats]) -> list[Floats]:
    """Return the covariances of one record's number and sum."""
    first = powers[0] - powers[0] ** 2
    if len(powers) == 1:
        return [first]
    return [first, powers[1] - powers[0] * powers[1], powers[2] - powers[1] ** 2]


def _both(sums: list[Floats]) -> list[Floats]:
    """Give a count that nothing is added up with sums of nothing."""
    return sums if len(sums) > 1 else [sums[0], np.zeros_like(sums[0]), np.zeros_like(sums[0])]


def _add(sums: list[Floats], more: list[Floats]) -> None:
    sums[:] = more if not sums else [one + other for one, other in zip(sums, more, strict=True)]


def exchanged(holds: Booleans, sight: QueryLines, cells: AnswerCells, summed: int | None) -> Moments | None:
    """Add up the records when the sensitive values of each group are exchanged at random.

    What they are is not independent then: the values of a group are all given away. The variance is that of
    the sum over a random permutation (W. Hoeffding, "A combinatorial central limit theorem", 1951), and what
    the cells leave open beside. ``None`` where there is too much to look at.
    """
    n_lines = len(sight.amounts)
    if not 0 < n_lines * cells.n_cells <= _MOST_NUMBERS:
        return None
    deal = _Deal.of(sight)
    parts = [each_cell(holds, lines, n_lines, cells) for lines in _powers(sight, summed)]
    sums = [deal.sums(powers) for powers in zip(*parts, strict=True)]
    totals, covariances = (
        [np.array(each) for each in zip(*side, strict=True)] for side in zip(*sums, strict=True)
    )
    return Moments(_both(totals), _both(covariances))


@dataclass(frozen=True, eq=False)
class _Deal:
    """How values are dealt out: the lines of each unit, of each value of a group and of each group.

    Parameters
    ----------
    amounts
        How many records each line stands for.
    parts
        Three numberings of the lines, by unit, value and group; with the amount of each part.
    weights
        The amounts, each times n / (n - 1) for a group of n records.
    """

    amounts: Floats
    parts: Sequence[tuple[Integers, Floats]]
    weights: Floats

    @classmethod
    def of(cls, sight: QueryLines) -> _Deal:
        assert sight.unit_of is not None
        assert sight.value_of is not None
        assert sight.group_of is not None
        numbers = (sight.unit_of, sight.value_of, sight.group_of)
        parts = [(each, add_up(each, sight.amounts, int(each.max()) + 1)) for each in numbers]
        sizes = parts[2][1][sight.group_of]
        weights = sight.amounts * np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 0.0)
        return cls(sight.amounts, parts, weights)

    def sums(self, powers: Sequence[Floats]) -> tuple[list[float], list[float]]:
        """Return the totals of the records in one cell, and their covariances."""
        totals = [_dot(self.amounts, each) for each in powers[: len(powers) // 2 + 1]]
        return totals, self.covariances(powers)

    def covariances(self, powers: Sequence[Floats]) -> list[float]:
        """Return how the number of the records in one cell varies, and where they are added up their sum."""
        off = [self._off_means(each) for each in powers[:2]]
        between = [_dot(self.weights * one, other) for one, other in combinations_with_replacement(off, 2)]
        within = [_dot(self.amounts, each) for each in _products(powers)]
        return [one + other for one, other in zip(between, within, strict=True)]

    def _off_means(self, each: Floats) -> Floats:
        """Return each line less the mean of its unit, less the mean of its value, plus that of its group."""
        of_unit, of_value, of_group = (
            (add_up(number, self.amounts * each, len(sizes)) / sizes)[number] for number, sizes in self.parts
        )
        return np.asarray(each - of_unit - of_value + of_group)


def _dot(one: Floats, other: Floats) -> float:
    # BLAS would wake its threads for it, which cost more than they help
    return float(np.einsum("l,l->", one, other))
