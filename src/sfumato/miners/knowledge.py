"""Derive the released values of one attribute, as numbers and as shares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sfumato.data.kinds import Kind, Value
from sfumato.kernels.row_groups import number_rows, value_counts
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Floats, Integers
from sfumato.runtime.numerals import number


@dataclass(frozen=True, eq=False)
class Shares:
    """For each of several kinds of rows a distribution over values, sparsely.

    Kind ``i`` owns the entries from ``starts[i]`` up to ``starts[i + 1]``; their shares add up to 1.
    """

    starts: Integers
    values: Integers
    shares: Floats

    @property
    def likeliest(self) -> Integers:
        """The value with the largest share of each kind, the first of several; -1 for a kind without any."""
        kinds = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        order = np.lexsort((np.arange(len(kinds)), -self.shares, kinds))
        filled = np.diff(self.starts) > 0
        likeliest = np.full(len(filled), -1, dtype=np.int64)
        likeliest[filled] = self.values[order[self.starts[:-1][filled]]]
        return likeliest

    def mean(self, of_value: Floats) -> Floats:
        """Return for each kind the mean of what its values stand for, one number or one line each."""
        shares = self.shares if of_value.ndim == 1 else self.shares[:, None]
        return np.add.reduceat(of_value[self.values] * shares, self.starts[:-1])


def single(values: Integers) -> Shares:
    """Return one kind for each value, of that value alone."""
    return Shares(np.arange(len(values) + 1), values, np.ones(len(values)))


def published(release: Release, name: str) -> tuple[Integers, Shares]:
    """Return the kind of each released row, and for each kind the shares of the released values.

    If a release has groups, a sensitive value is known only as the distribution in its group: the kinds are
    the groups. Otherwise each released value is a kind.
    """
    cells = release.cells[name]
    if release.group_of is None or name not in release.schema.sensitive:
        return cells.codes.astype(np.int64), single(np.arange(len(cells.labels)))
    group_of, n_groups = number_rows([release.group_of], [int(release.group_of.max()) + 1], release.n_rows)
    starts, values, counts = value_counts(group_of, n_groups, cells.codes, len(cells.labels), release.weights)
    sizes = np.add.reduceat(counts, starts[:-1])
    return group_of, Shares(starts, values.astype(np.int64), counts / np.repeat(sizes, np.diff(starts)))


@dataclass(frozen=True, eq=False)
class Numbers:
    """The released values of a numeric attribute as numbers.

    Parameters
    ----------
    middle
        The middle of each released set; for the whole domain (``*``) the mean of the domain's numbers; a
        noisy number as it is; NaN for a missing value.
    width
        The distance between the ends of each released set.
    """

    middle: Floats
    width: Floats


def numbers_of(cells: Cells, kind: Kind) -> Numbers | None:
    """Return the released values as numbers; ``None`` if some are no numbers."""
    if cells.sets is None:
        plain = cells.domain or tuple(None if label is None else number(label) for label in cells.labels)
        if any(value is None and label is not None for value, label in zip(plain, cells.labels, strict=True)):
            return None
        known = as_numbers(plain)
        return None if known is None else Numbers(known, np.zeros(len(known)))
    known = kind.numbers(cells.domain)
    if known is None:
        return None
    members, starts = known[cells.sets.members], cells.sets.starts[:-1]
    low = np.fmin.reduceat(members, starts)
    high = np.fmax.reduceat(members, starts)
    middle = (low + high) / 2
    if not np.isnan(known).all():
        whole = np.diff(cells.sets.starts) == len(known)
        middle[whole] = np.nanmean(known)
    return Numbers(middle, high - low)


def as_numbers(values: tuple[Value, ...]) -> Floats | None:
    """Return the values as numbers, missing ones as NaN; ``None`` if some are no numbers."""
    if any(isinstance(value, str) for value in values):
        return None
    return np.array([np.nan if value is None else float(value) for value in values])
