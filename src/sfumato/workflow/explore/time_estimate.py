"""Estimate the remaining time from what every method and measure has cost so far."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, median
from types import MappingProxyType

from sfumato.registry import methods
from sfumato.registry.declarations import own
from sfumato.workflow.explore.candidate_workers import Task, has_parameters
from sfumato.workflow.store.costs import MAKING, Cost

Part = tuple[str, str]
"""A sanitizer, and a measure or `MAKING`."""

_ENOUGH_TIMES = 2
"""After so many times in this run the costs of earlier runs are not asked any more."""
_USUALLY_REFINED = 35
"""So many candidates are tried in gaps of a frontier before nothing improves, as a rule: mostly 15 to 60."""
_NO_SECONDS: Mapping[str, float] = MappingProxyType({})


def usually_refined(n_rows: int) -> int:
    """Return the usual number of candidates for gaps; a table with few rows has few gaps.

    Examples
    --------
    >>> usually_refined(10), usually_refined(45222)
    (10, 35)
    """
    return min(_USUALLY_REFINED, n_rows)


@dataclass(frozen=True)
class Costs:
    """The costs of making and measuring, by method.

    Parameters
    ----------
    before
        What they cost in earlier runs.
    now
        What they cost in this one; `note` adds to it.
    longest
        After how many seconds a candidate is given up.

    Examples
    --------
    >>> costs = Costs({("mondrian", ""): Cost().plus(1.0), ("mondrian", "k-anonymity"): Cost().plus(0.5)})
    >>> costs.of("mondrian", ["k-anonymity"]), costs.of("clustering", [])
    (1.5, 1.0)
    """

    before: Mapping[Part, Cost] = field(default_factory=dict)
    now: dict[Part, Cost] = field(default_factory=dict)
    longest: float = math.inf

    def note(self, sanitizer: str, seconds: Mapping[str, float]) -> None:
        """Add the cost of one candidate, by part."""
        for part, taken in seconds.items():
            self.now[sanitizer, part] = self.now.get((sanitizer, part), Cost()).plus(taken)

    def of(self, sanitizer: str, asked: Iterable[str]) -> float | None:
        """Return the seconds for making and measuring; ``None`` if nothing was ever made.

        A method that was never tried is taken to cost what the others do, or so many times that as it is
        known to take.
        """
        making = self._seconds_of_making(sanitizer)
        if making is None:
            return None
        return min(making + sum(self._part(sanitizer, each) or 0.0 for each in asked), self.longest)

    def of_all(
        self, tasks: Iterable[Task], workers: int = 1, ages: Mapping[str, float] = _NO_SECONDS
    ) -> float | None:
        """Return the seconds for many tasks on several workers; at least those of the longest task.

        Parameters
        ----------
        tasks, workers
            What is to be done, and by how many.
        ages
            Since how many seconds some are at work, by their names. One that took longer than is usual is
            taken to be halfway.
        """
        alike = Counter(
            (task.recipe.sanitizer, tuple(key for key, _ in task.asked), ages.get(task.id, 0.0))
            for task in tasks
        )
        costs = [(self.of(sanitizer, asked), age, n) for (sanitizer, asked, age), n in alike.items()]
        left = [(max(cost, 2 * age) - age, n) for cost, age, n in costs if cost is not None]
        if len(left) < len(costs):
            return None
        longest = max((each for each, _ in left), default=0.0)
        return max(sum(each * n for each, n in left) / workers, longest)

    def of_refining(
        self, sanitizers: Iterable[str], asked: Iterable[str], n_refined: int, workers: int = 1
    ) -> float | None:
        """Return the seconds for ``n_refined`` candidates in gaps on several workers.

        Parameters
        ----------
        sanitizers
            The methods of those between which there are gaps, one for each.
        asked, n_refined, workers
            What is measured, of how many, and by how many at once.
        """
        keys = tuple(asked)
        each = [self.of(sanitizer, keys) for sanitizer in sanitizers if has_parameters(sanitizer)]
        known = [cost for cost in each if cost is not None]
        if len(known) < len(each):
            return None
        return n_refined * fmean(known) / workers if known else 0.0

    def has(self, sanitizer: str) -> bool:
        """Return whether this method was ever timed."""
        return (sanitizer, MAKING) in self.before or (sanitizer, MAKING) in self.now

    def is_telling(self) -> bool:
        """Return whether the cost of any method with parameters is known, so that others follow."""
        return any(part == MAKING and has_parameters(name) for name, part in {*self.before, *self.now})

    def _seconds_of_making(self, sanitizer: str) -> float | None:
        """Return the seconds for making: as timed, or as other methods take, scaled by weight."""
        own = self._usual_seconds((sanitizer, MAKING))
        if own is not None:
            return own
        timed = {name for name, part in {*self.before, *self.now} if part == MAKING}
        # what has nothing to choose is soon made, so its time is mostly that of loading
        telling = {name for name in timed if has_parameters(name)} or timed
        units = [(self._usual_seconds((name, MAKING)) or 0.0) / _weight(name) for name in telling]
        return median(units) * _weight(sanitizer) if units else None

    def _part(self, sanitizer: str, part: str) -> float | None:
        own = self._usual_seconds((sanitizer, part))
        if own is not None:
            return own
        others = [self._usual_seconds(each) for each in {*self.before, *self.now} if each[1] == part]
        known = [cost for cost in others if cost is not None]
        return fmean(known) if known else None

    def _usual_seconds(self, part: Part) -> float | None:
        now, before = self.now.get(part), self.before.get(part)
        if now is not None and (now.times >= _ENOUGH_TIMES or before is None):
            return now.usual
        return None if before is None else before.usual

    def shares(self) -> dict[str, float]:
        """Return each measure's share of the time of this run."""
        whole = sum(cost.seconds for cost in self.now.values())
        taken: dict[str, float] = {}
        for (_, part), cost in self.now.items():
            if part != MAKING:
                taken[part] = taken.get(part, 0.0) + cost.seconds
        return {part: seconds / whole for part, seconds in taken.items()} if whole else {}


def _weight(sanitizer: str) -> float:
    """Return how many times as long as Mondrian a method usually takes; 1 if it does not declare it."""
    return own(methods.find("sanitizer", sanitizer), "times_mondrian") or 1.0
