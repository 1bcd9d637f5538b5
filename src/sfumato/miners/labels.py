"""The training label of each released row for a target attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.data.kinds import NUMERIC, Value
from sfumato.miners.base import Predicts
from sfumato.miners.knowledge import Numbers, Shares, as_numbers, numbers_of, published, single
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Codes, Floats, Integers
from sfumato.runtime.errors import DataError

Label = Literal["released", "true"]


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of the released rows, as distributions.

    Parameters
    ----------
    kind_of
        The kind of each row: rows of one kind are labelled alike.
    shares
        For each kind the shares of the values that the label may be.
    numbers
        The number behind each value, where numbers are predicted.
    seed
        Decides which values are drawn where a miner cannot take them all.
    """

    kind_of: Integers
    shares: Shares
    numbers: Floats | None
    seed: int

    @property
    def likeliest(self) -> Integers:
        """The likeliest value of each row."""
        return self.shares.likeliest[self.kind_of]


def target_domain(release: Release, target: str) -> tuple[Value, ...]:
    """Return the values that are predicted: the original's where it is known."""
    cells = release.cells[target]
    if isinstance(release, LinkedRelease):
        return release.origin.table[target].domain
    return cells.domain or cells.labels


def true_codes(release: Release, target: str) -> Codes:
    """Return for each released row the code of its original value in the `target_domain`.

    If the original row is not known, a value that was released exactly is the true one.
    """
    if isinstance(release, LinkedRelease) and release.origin.linked_rows is not None:
        return release.origin.table[target].codes[release.origin.linked_rows]
    cells = release.cells[target]
    exchanged = release.group_of is not None and target in release.schema.sensitive
    if exchanged or cells.sets is None or not cells.sets.exact:
        raise DataError(f"the true values of {target!r} are not known; give the original with the release")
    return cells.sets.members[cells.codes]


def labels_of(release: Release, target: str, predicts: Predicts, label: Label, seed: int) -> Labels:
    """Return the training labels of a miner.

    A released set is a label of every value in it, each with the same share. A value that is published only
    for its group is a label of all values of the group, each with its share in the group.
    """
    cells, domain = release.cells[target], target_domain(release, target)
    if label == "true":
        kind_of: Integers = true_codes(release, target).astype(np.int64)
        shares = single(np.arange(len(domain)))
    else:
        kind_of, shares = published(release, target)
    if predicts == "category":
        if label == "released":
            shares = _spread(shares, _members(release, target, cells))
        return Labels(kind_of, shares, None, seed)
    if label == "released":
        numbers = numbers_of(cells, release.schema.kind(target))
    else:
        exact = as_numbers(domain)
        numbers = None if exact is None else Numbers(exact, np.zeros(len(exact)))
    if numbers is None:
        raise DataError(f"the released values of {target!r} are no numbers; predict a category instead")
    # each kind is labelled with the mean of its numbers, without the missing ones
    known = ~np.isnan(numbers.middle)
    certain = shares.mean(known.astype(np.float64))
    total = shares.mean(np.where(known, numbers.middle, 0.0))
    has_label = certain > 0
    values, index = np.unique(total[has_label] / certain[has_label], return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(has_label)])
    return Labels(kind_of, Shares(starts, index.astype(np.int64), np.ones(len(index))), values, seed)


def _members(release: Release, target: str, cells: Cells) -> Shares:
    """Return for each released value the original values that it may stand for, all equally likely."""
    if cells.sets is not None:
        sizes = np.diff(cells.sets.starts)
        return Shares(cells.sets.starts, cells.sets.members.astype(np.int64), np.repeat(1 / sizes, sizes))
    if not isinstance(release, LinkedRelease):
        return single(np.arange(len(cells.labels)))
    noisy, exact = numbers_of(cells, NUMERIC), as_numbers(release.origin.table[target].domain)
    if noisy is None or exact is None:
        raise DataError(f"the released values of {target!r} cannot be compared with the original ones")
    return single(_nearest(noisy.middle, exact))


def _nearest(noisy: Floats, exact: Floats) -> Integers:
    """Return the position of the nearest exact number; a missing value is nearest to a missing one."""
    present = np.flatnonzero(~np.isnan(exact))
    if not len(present):
        return np.zeros(len(noisy), dtype=np.int64)
    ordered = present[np.argsort(exact[present])]
    above = np.clip(np.searchsorted(exact[ordered], noisy), 1, max(len(ordered) - 1, 1))
    below = ordered[above - 1]
    above = ordered[np.minimum(above, len(ordered) - 1)]
    nearest = np.where(np.abs(noisy - exact[below]) <= np.abs(exact[above] - noisy), below, above)
    missing = np.flatnonzero(np.isnan(exact))
    return np.where(np.isnan(noisy) & (len(missing) > 0), missing[0] if len(missing) else 0, nearest)


def _spread(shares: Shares, members: Shares) -> Shares:
    """Replace each released value by the original values that it may stand for."""
    sizes = np.diff(members.starts)[shares.values]
    kinds = np.repeat(np.arange(len(shares.starts) - 1), np.diff(shares.starts))
    place = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    entry = np.repeat(members.starts[:-1][shares.values], sizes) + place
    starts = np.concatenate([[0], np.cumsum(np.bincount(kinds, sizes, minlength=len(shares.starts) - 1))])
    return Shares(
        starts.astype(np.int64),
        members.values[entry],
        np.repeat(shares.shares, sizes) * members.shares[entry],
    )
