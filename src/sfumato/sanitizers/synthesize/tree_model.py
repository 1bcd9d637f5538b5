"""Tree-structured models: fit them to noisy counts, and draw records from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.runtime.arrays import Floats, Integers

Edge = tuple[int, int]
_ROUNDS = 500


@dataclass(frozen=True, eq=False)
class Counted:
    """Noisy counts with the variance of each of them."""

    counts: Floats
    variance: float


@dataclass(frozen=True, eq=False)
class TreeModel:
    """How many records have each value, and each pair of values along a tree (or several trees).

    Parameters
    ----------
    marginals
        For each attribute how many records have each value.
    joints
        For each edge of the tree how many records have each pair of values.
    """

    marginals: tuple[Floats, ...]
    joints: Mapping[Edge, Floats]

    def drawn(self, n_records: int, rng: np.random.Generator) -> tuple[Integers, ...]:
        """Draw records: for each attribute the value of each record.

        Numbers of records are rounded up or down at random, not drawn one by one, so a value has as many
        records as the model expects, give or take one.
        """
        values: dict[int, Integers] = {}
        for place, parent in self._from_the_roots():
            if parent is None:
                everyone = np.zeros(n_records, dtype=np.int64)
                values[place] = distribute(self.marginals[place][None], everyone, rng)
            else:
                is_forward = (parent, place) in self.joints
                joint = self.joints[parent, place] if is_forward else self.joints[place, parent].T
                values[place] = distribute(joint, values[parent], rng)
        return tuple(values[place] for place in range(len(self.marginals)))

    def _from_the_roots(self) -> Iterator[tuple[int, int | None]]:
        """Yield every attribute after its parent in its tree; a root has none."""
        neighbours: dict[int, list[int]] = {place: [] for place in range(len(self.marginals))}
        for one, other in self.joints:
            neighbours[one].append(other)
            neighbours[other].append(one)
        visited: set[int] = set()
        for root in neighbours:
            waiting: list[tuple[int, int | None]] = [] if root in visited else [(root, None)]
            while waiting:
                place, parent = waiting.pop()
                visited.add(place)
                yield place, parent
                waiting += [(child, place) for child in neighbours[place] if child != parent]


def distribute(expected: Floats, groups: Integers, rng: np.random.Generator) -> Integers:
    """Give the records of each group values in the proportions of the group's row, in random order."""
    sizes = np.bincount(groups, minlength=len(expected))
    sums = expected.sum(axis=1, keepdims=True)
    even = np.full_like(expected, 1 / expected.shape[1])
    shares = np.divide(expected, sums, out=even, where=sums > 0)
    ends = np.cumsum(shares, axis=1) * sizes[:, None]
    ends[:, -1] = sizes
    steps = np.floor(ends + rng.random((len(ends), 1)))
    counts = np.diff(steps, axis=1, prepend=0).astype(np.int64)
    dealt = np.empty(len(groups), dtype=np.int64)
    values = np.tile(np.arange(expected.shape[1]), len(expected))
    dealt[np.lexsort((rng.random(len(groups)), groups))] = np.repeat(values, counts.ravel())
    return dealt


def fit_tree(total: float, single: Sequence[Counted], pairs: Mapping[Edge, Counted]) -> TreeModel:
    """Fit a consistent tree to noisy counts.

    The count of a value is estimated by its own measurement and by every pair that contains it, weighted by
    precision. Pairs are then moved as little as possible (least squares) so that they are not negative and
    add up to the counts of their values.

    Parameters
    ----------
    total
        The number of records.
    single
        The noisy counts of the values of each attribute.
    pairs
        The noisy counts of pairs of values along each edge of a tree.
    """
    marginals = tuple(
        project_to_simplex(_estimated_counts(total, place, of_values, pairs), total)
        for place, of_values in enumerate(single)
    )
    joints = {
        (one, other): fit_to_margins(_scaled(joint.counts, total), marginals[one], marginals[other])
        for (one, other), joint in pairs.items()
    }
    return TreeModel(marginals, joints)


def _estimated_counts(total: float, place: int, of_values: Counted, pairs: Mapping[Edge, Counted]) -> Floats:
    """Average an attribute's own counts and those of its pairs, each weighted by its precision."""
    estimates = [of_values]
    for edge, pair in pairs.items():
        if place in edge:
            across = 1 - edge.index(place)
            summed = pair.counts.sum(axis=across)
            estimates.append(Counted(summed, pair.variance * pair.counts.shape[across]))
    weights = [1 / estimate.variance for estimate in estimates]
    scaled = [_scaled(estimate.counts, total) for estimate in estimates]
    mean: Floats = np.average(scaled, axis=0, weights=weights)
    return mean


def _scaled(counts: Floats, total: float) -> Floats:
    """Scale counts up to the total, as some records may have undisclosed values."""
    return counts * (total / max(float(counts.sum()), total / 2))


def project_to_simplex(counts: Floats, total: float) -> Floats:
    """Return the nearest non-negative counts with this sum (least squares).

    Examples
    --------
    >>> project_to_simplex(np.array([8.0, 4.0, -3.0]), 10.0).tolist()
    [7.0, 3.0, 0.0]
    """
    falling = np.sort(counts)[::-1]
    excess = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    shift = excess[np.flatnonzero(falling > excess)[-1]]
    return np.maximum(counts - shift, 0.0)


def fit_to_margins(counts: Floats, rows: Floats, columns: Floats) -> Floats:
    """Return the nearest non-negative table with these sums (least squares, Dykstra's method)."""
    n_rows, n_columns = counts.shape
    near, kept_back = counts.copy(), np.zeros_like(counts)
    for _ in range(_ROUNDS):
        over_rows = (near.sum(axis=1) - rows) / n_columns
        over_columns = (near.sum(axis=0) - columns) / n_rows
        summing = near - over_rows[:, None] - over_columns + over_rows.mean()
        near = np.maximum(summing + kept_back, 0.0)
        kept_back += summing - near
        if np.abs(near - summing).max() < 1e-3:
            break
    return near
