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
        How the two vary together under the interpretation: number with number, number with sum, sum with sum.
    """

    totals: Sequence[Floats] = field(repr=False)
    covariances: Sequence[Floats] = field(repr=False)

    def variance(self, mean: Floats) -> Floats:
        """Return the variance of the sum of the numbers' differences from a mean."""
        of_number, of_both, of_sum = self.covariances
        return np.maximum(of_sum - 2 * mean * of_both + mean**2 * of_number, 0.0)


def moments(holds: Booleans, records: QueryLines, cells: AnswerCells, summed: int | None) -> Moments:
    """Add up independent records: the true value of one says nothing about the others.

    Parameters
    ----------
    holds
        Where the condition holds.
    records
        The records with their estimated shares.
    cells
        The cells of the answer.
    summed
        The axis of the attribute that is summed.
    """
    totals: list[Floats] = []
    covariances: list[Floats] = []
    parts = [in_cells(holds, lines, len(records.amounts), cells) for lines in _powers(records, summed)]
    for chunks in zip(*parts, strict=True):
        amounts = records.amounts[chunks[0][0]]
        powers = [shares for _, shares in chunks]
        for sums, shares in ((totals, powers[: len(powers) // 2 + 1]), (covariances, _products(powers))):
            more = [np.tensordot(amounts, share, 1) for share in shares]
            sums[:] = [old + new for old, new in zip(sums, more, strict=True)] if sums else more
    return Moments(
        *(_with_zero_sums([np.ravel(figures) for figures in sums]) for sums in (totals, covariances))
    )


def _powers(records: QueryLines, summed: int | None) -> list[list[Floats]]:
    """Return the lines with the shares and, if numbers are summed, with the numbers and their squares."""
    n_powers = 1 if summed is None else 3
    return [
        [line[power if axis == summed else 0] for axis, line in enumerate(records.lines)]
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


def exchanged(holds: Booleans, records: QueryLines, cells: AnswerCells, summed: int | None) -> Moments | None:
    """Add up the records if the sensitive values of each group are exchanged at random.

    The values are not independent then: each value of a group goes to exactly one record. The variance is
    that of the sum over a random permutation (W. Hoeffding, "A combinatorial central limit theorem", 1951),
    plus the variance within the cells. ``None`` if the computation would be too large.
    """
    n_lines = len(records.amounts)
    if not 0 < n_lines * cells.n_cells <= _MOST_NUMBERS:
        return None
    assignment = _RandomAssignment.of(records)
    pairs = [assignment.sums(*lines) for lines in each_cell(holds, _powers(records, summed), n_lines, cells)]
    totals, covariances = (
        [np.array(figures) for figures in zip(*side, strict=True)] for side in zip(*pairs, strict=True)
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
    """A random assignment of values to units within groups.

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
    def of(cls, records: QueryLines) -> _RandomAssignment:
        assert records.unit_of is not None
        assert records.value_of is not None
        assert records.group_of is not None
        starts = np.searchsorted(records.group_of, np.arange(int(records.group_of[-1]) + 2))
        numbers = (records.unit_of, records.value_of, records.group_of)
        parts = [_Parts.of(number, records.amounts, starts) for number in numbers]
        sizes = parts[2].sizes
        weights = records.amounts * np.where(sizes > 1, sizes / np.maximum(sizes - 1, 1), 0.0)
        return cls(records.amounts, parts, weights, starts)

    def sums(self, at: Integers, powers: Sequence[Floats]) -> tuple[list[float], list[float]]:
        """Return the totals of the records in one cell, and their covariances.

        Parameters
        ----------
        at, powers
            The lines with an amount in the cell, and their amounts.
        """
        # only groups with such lines: others add nothing, and most cells have few groups
        group = self.parts[2].number[at]
        groups = group[np.flatnonzero(np.diff(group, prepend=-1))]
        lines = _ranges(self.starts, groups)
        parts = [part.take(groups, self.starts) for part in self.parts]
        amounts, weights = self.amounts[lines], self.weights[lines]
        all_powers = [np.zeros(len(lines)) for _ in powers]
        deviations = []
        for full, own in zip(all_powers, powers, strict=True):
            full[np.searchsorted(lines, at)] = own
        for full in all_powers[:2]:
            of_unit, of_value, of_group = (part.means(amounts * full) for part in parts)
            deviations.append(full - of_unit - of_value + of_group)
        between = [_dot(weights * one, other) for one, other in combinations_with_replacement(deviations, 2)]
        within = [_dot(amounts, product) for product in _products(all_powers)]
        totals = [_dot(amounts, full) for full in all_powers[: len(powers) // 2 + 1]]
        return totals, [one + other for one, other in zip(between, within, strict=True)]


def _dot(one: Floats, other: Floats) -> float:
    # BLAS would start threads for it, which costs more time than they save
    return float(np.einsum("l,l->", one, other))
