"""Add up how long parts of the work took, and estimate the usual time."""

from __future__ import annotations

from dataclasses import dataclass

MAKING = ""
"""The part of a candidate's cost that is making its release; every other part is a measure."""


@dataclass(frozen=True)
class Cost:
    """How long one part of the work took with one method.

    Parameters
    ----------
    times
        How often it was done.
    seconds
        How long it took, all times together.
    longest
        How long it took at most.

    Examples
    --------
    >>> Cost().plus(9.0).plus(1.0).plus(2.0).usual
    1.5
    """

    times: int = 0
    seconds: float = 0.0
    longest: float = 0.0

    def plus(self, seconds: float) -> Cost:
        """Return the cost with one more time added."""
        return Cost(self.times + 1, self.seconds + seconds, max(self.longest, seconds))

    def scaled(self, factor: float) -> Cost:
        """Return the cost for a table that is ``factor`` times as large."""
        return Cost(self.times, self.seconds * factor, self.longest * factor)

    @property
    def usual(self) -> float:
        """The mean of all times except the longest, which includes loading code for the others."""
        return self.seconds if self.times == 1 else (self.seconds - self.longest) / (self.times - 1)
