"""Estimates: what a reading of a release gives for each cell of an answer, and how far it may be off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations_with_replacement

import numpy as np

from sfumato.arrays import Booleans, Floats, Integers
from sfumato.kernels.estimating import add_up
from sfumato.receiving.counting import all_in_cells, in_cells
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


def moments(holds: Booleans, sight: QueryLines, kept: Sequence[int], summed: int | None) -> Moments:
    """Add up the records, each by itself: what it is in truth is taken to say nothing of the others.

    Parameters
    ----------
    holds
        Where the condition holds.
    sight
        The records as they are read.
    kept
        The axes of the attributes that the answer is told apart by.
    summed
        The axis of the attribute that is added up.
    """
    totals: list[Floats] = []
    covariances: list[Floats] = []
    parts = [in_cells(holds, lines, len(sight.amounts), kept) for lines in _powers(sight, summed)]
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


def exchanged(holds: Booleans, sight: QueryLines, kept: Sequence[int], summed: int | None) -> Moments | None:
    """Add up the records when the sensitive values of each group are exchanged at random.

    What they are is not independent then: the values of a group are all given away. The variance is that of
    the sum over a random permutation (W. Hoeffding, "A combinatorial central limit theorem", 1951), and what
    the cells leave open beside. ``None`` where there is too much to look at.
    """
    n_lines = len(sight.amounts)
    n_cells = int(np.prod([holds.shape[axis] for axis in kept]))
    if n_lines * n_cells > _MOST_NUMBERS:
        return None
    powers = [all_in_cells(holds, lines, n_lines, kept) for lines in _powers(sight, summed)]
    totals = [sight.amounts @ each for each in powers]
    off = [_off_means(sight, each) for each in powers[:2]]
    sizes = add_up(sight.group_of, sight.amounts, int(sight.group_of.max()) + 1)[sight.group_of]  # type: ignore[union-attr,arg-type]
    weights = sight.amounts * np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 0.0)
    pairs = combinations_with_replacement(off, 2)
    between = [weights @ (one * other) for one, other in pairs]
    within = [sight.amounts @ each for each in _products(powers)]
    return Moments(_both(totals), _both([one + other for one, other in zip(between, within, strict=True)]))


def _off_means(sight: QueryLines, each: Floats) -> Floats:
    """Return each line less the mean of its record, the mean of its value, plus that of its group."""
    return (
        each
        - _mean(sight, sight.unit_of, each)
        - _mean(sight, sight.value_of, each)
        + _mean(sight, sight.group_of, each)
    )


def _mean(sight: QueryLines, number: Integers | None, each: Floats) -> Floats:
    assert number is not None
    n_parts = int(number.max()) + 1
    sums = np.stack([add_up(number, sight.amounts * column, n_parts) for column in each.T], axis=1)
    return np.asarray((sums / add_up(number, sight.amounts, n_parts)[:, np.newaxis])[number])
