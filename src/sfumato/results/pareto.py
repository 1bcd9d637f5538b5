"""Pareto dominance over candidates as columns of numbers.

The one place where dominance, the front, the knee and limits are computed; the library's frontier, the
workbench's sheet and the profile of a lattice are three faces of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sfumato.registry.declarations import Better
from sfumato.runtime.arrays import Booleans, Floats, Integers

# A gain this small over a straight line is rounding.
_ROUNDING = 1e-9
# A value this near to a limit is a tie, as in a model: 0.1 + 0.2 must keep a limit of 0.3.
_TIE = 1e-12


@dataclass(frozen=True)
class Limit:
    """What a measure must keep."""

    at_most: float = math.inf
    at_least: float = -math.inf

    def allows(self, value: float | None) -> bool:
        """Return whether a value keeps the limit; a measure that does not apply keeps none."""
        return value is not None and bool(self.allowed(np.array(value)))

    def allowed(self, values: Floats) -> Booleans:
        """Return which of many values keep the limit; NaN stands for a measure that does not apply."""
        return (self.at_least - _TIE <= values) & (values <= self.at_most + _TIE)

    def __str__(self) -> str:
        ends = [f"at least {self.at_least:.15g}"] if self.at_least > -math.inf else []
        ends += [f"at most {self.at_most:.15g}"] if self.at_most < math.inf else []
        return " and ".join(ends)


@dataclass(frozen=True, eq=False)
class Columns:
    """One array of values for each label, one entry for each candidate.

    Parameters
    ----------
    values
        The arrays by label; NaN where a measure does not apply.
    better
        By label whether ``lower`` or ``higher`` is better; ``lower`` for one that is not named.
    names
        What decides between candidates with equal values: the lower name comes first. By default the
        earlier row does.

    Examples
    --------
    >>> loss, k = np.array([0.1, 0.4, 0.4]), np.array([2.0, 5.0, 3.0])
    >>> Columns({"loss": loss, "k": k}, {"k": "higher"}).front(["loss", "k"]).tolist()
    [0, 1]
    """

    values: Mapping[str, Floats]
    better: Mapping[str, Better]
    names: Sequence[str] = field(default=(), repr=False)

    def without(self, rows: Booleans) -> Columns:
        """Return the columns with no value for some candidates, so that nothing is compared with them."""
        return replace(self, values={axis: np.where(rows, np.nan, v) for axis, v in self.values.items()})

    def signs(self, axes: Iterable[str]) -> Floats:
        """Return what turns each axis so that lower is better."""
        return np.array([-1.0 if self.better.get(axis) == "higher" else 1.0 for axis in axes])

    def points(self, axes: Sequence[str]) -> Floats:
        """Return one row for each candidate along some axes, turned so that lower is better."""
        if not axes:  # nothing tells the candidates apart
            return np.empty((self._n_rows, 0))
        return np.stack([self.values[axis] for axis in axes], axis=1) * self.signs(axes)

    @property
    def _n_rows(self) -> int:
        return len(next(iter(self.values.values()), self.names))

    def comparable(self, axes: Sequence[str]) -> Booleans:
        """Return which candidates have a value on every axis."""
        return np.logical_not(np.isnan(self.points(axes)).any(axis=1))

    def efficient(self, axes: Sequence[str]) -> Booleans:
        """Return which candidates have a value on every axis and are dominated by none."""
        return self.comparable(axes) & ~dominated(self.points(axes))

    def front(self, axes: Sequence[str]) -> Integers:
        """Return the rows of the efficient candidates, the best on the first axis first."""
        return front(self.points(axes), np.array(self.names) if self.names else None)

    def dominating(self, row: int, axes: Sequence[str]) -> Integers:
        """Return the rows that dominate one of them."""
        points = self.points(axes)
        better = (points <= points[row]).all(axis=1) & (points < points[row]).any(axis=1)
        return np.flatnonzero(better)

    def knee(self, axes: Sequence[str]) -> int | None:
        """Return the efficient row farthest from the line between the two ends of the front.

        The first two axes are scaled to the front first. ``None`` when the front has no inner point.
        """
        points = self.points(axes)
        front = [row for row in self.front(axes) if np.isfinite(points[row]).all()]
        drawn = points[front, :2]
        span = np.ptp(drawn, axis=0) if front else np.zeros(2)
        if len(front) < 3 or len(axes) < 2 or (span == 0).any():
            return None
        # on the unit square the line runs from (0, 1) to (1, 0), and the gain is how far below it lies
        gain = 1 - ((drawn - drawn.min(axis=0)) / span).sum(axis=1)
        return int(front[int(gain.argmax())]) if gain.max() > _ROUNDING else None

    def within(self, limits: Mapping[str, Limit]) -> Booleans:
        """Return which candidates keep all limits; a measure that does not apply keeps none."""
        kept = np.ones(self._n_rows, dtype=np.bool_)
        for label, limit in limits.items():
            kept &= limit.allowed(self.values[label])
        return kept


def front(points: Floats, names: npt.NDArray[np.str_] | None = None) -> Integers:
    """Return the rows that no other dominates, sorted by the first axis, then by the next; lower is better.

    Equal rows are in the order of their names, or else in their own.
    """
    rows = np.flatnonzero(~np.isnan(points).any(axis=1) & ~dominated(points))
    ties = rows if names is None else np.unique(names[rows], return_inverse=True)[1]
    return rows[np.lexsort((ties, *points[rows].T[::-1]))]


def dominated(points: Floats) -> Booleans:
    """Return for each row whether another is nowhere worse and somewhere better; lower is better.

    A row with NaN is not compared. Along two axes it takes n log n steps.

    Examples
    --------
    >>> dominated(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    array([False, False,  True])
    """
    beaten = np.zeros(len(points), dtype=np.bool_)
    compared = np.flatnonzero(~np.isnan(points).any(axis=1))
    if len(compared):
        along = {0: _never, 1: _above_lowest, 2: _below_staircase}.get(points.shape[1], _by_moocore)
        beaten[compared] = along(points[compared])
    return beaten


def _never(points: Floats) -> Booleans:
    return np.zeros(len(points), dtype=np.bool_)


def _above_lowest(points: Floats) -> Booleans:
    above: Booleans = points[:, 0] > points[:, 0].min()
    return above


def _below_staircase(points: Floats) -> Booleans:
    """Compare along two axes: after sorting, with the lowest point of each step and of all steps before."""
    order = np.lexsort((points[:, 1], points[:, 0]))
    x, y = points[order].T
    begins = np.concatenate([[True], x[1:] != x[:-1]])
    step = np.cumsum(begins) - 1
    lowest = y[begins]
    before = np.minimum.accumulate(lowest)[step - 1]
    beaten = np.zeros(len(points), dtype=np.bool_)
    beaten[order] = (lowest[step] < y) | ((step > 0) & (before <= y))
    return beaten


def _by_moocore(points: Floats) -> Booleans:
    import moocore

    # ranks instead of numbers: infinity is one like any other
    ranks = [np.unique(column, return_inverse=True)[1] for column in points.T]
    kept = moocore.is_nondominated(np.stack(ranks, axis=1).astype(np.float64), keep_weakly=True)
    return np.logical_not(kept)
