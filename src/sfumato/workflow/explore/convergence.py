"""Track how the hypervolume of the frontier grew during an exploration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.results.frontier import Frontier


@dataclass(frozen=True)
class Growth:
    """The hypervolume of a frontier over time.

    Parameters
    ----------
    steps
        After how many seconds of exploring the front grew, and its hypervolume then.

    Examples
    --------
    >>> grown = Growth(((2.0, 0.5), (7.0, 0.9), (30.0, 1.0)))
    >>> grown.shares[0], grown.reached(0.8)
    ((2.0, 0.5), 7.0)
    """

    steps: tuple[tuple[float, float], ...]

    @property
    def shares(self) -> tuple[tuple[float, float], ...]:
        """The share of the last hypervolume that was reached after each number of seconds."""
        return tuple((seconds, volume / self.steps[-1][1]) for seconds, volume in self.steps)

    def reached(self, share: float) -> float:
        """Return the seconds after which a share of the last hypervolume was reached."""
        return next(seconds for seconds, so_far in self.shares if so_far >= share)


def growth_of(frontier: Frontier, explored: Mapping[str, float]) -> Growth:
    """Return how a frontier grew; the worst value of all candidates on each axis bounds the hypervolume.

    Parameters
    ----------
    frontier
        All candidates.
    explored
        For each candidate after how many seconds of exploring it was there.
    """
    import moocore

    if len(frontier.efficient()) < 2:
        return Growth(())
    signs = np.array([-1.0 if frontier.better(axis) == "higher" else 1.0 for axis in frontier.axes])
    reference = np.array(frontier.hypervolume()[1]) * signs
    steps: list[tuple[float, float]] = []
    front = np.empty((0, len(signs)))
    for candidate in sorted(frontier.comparable, key=lambda c: explored.get(c.id, 0.0)):
        point = np.array([candidate.value(axis) for axis in frontier.axes], dtype=np.float64) * signs
        if not np.isfinite(point).all() or (front <= point).all(axis=1).any():
            continue
        front = np.vstack([front[~(point <= front).all(axis=1)], point])
        volume = float(moocore.hypervolume(front, ref=reference))
        if volume > (steps[-1][1] if steps else 0.0):
            steps.append((explored.get(candidate.id, 0.0), volume))
    return Growth(tuple(steps))
