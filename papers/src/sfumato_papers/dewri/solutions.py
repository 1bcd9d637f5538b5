"""Sort the releases of our search by the four problems of Dewri and others 2011."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato import Candidate
from sfumato_papers.exhibits import Series
from sfumato_papers.experiments import Exploration

ZERO, ANY, GUARANTEE = "zero suppression", "any suppression", "k-l-safety with guarantee"
FORMULA = {"k": "k-l-safety by the formula, k preferred", "l": "k-l-safety by the formula, l preferred"}
_DRAWN = 500
"""How many solutions a curve shows at most; figures and answers are read from all of them."""
_WIDE = 0.1
"""The share of the range of k that a stretch of the front covers at least."""


def some(eta: float) -> str:
    """Return the name of the problem with a limit on suppression."""
    return f"suppression up to {eta:.0%}"


@dataclass(frozen=True)
class Solution:
    """A release that solves one of the problems.

    Parameters
    ----------
    candidate
        The release.
    problem
        The problem for which it was found.
    pair
        What the paper's formula calls it, (d1, d2); ``None`` in the other problems.
    k, l, weighted_k
        What the release has: measured on the records that are kept; l in whole numbers.
    loss, general, suppression
        What it loses, in per cent.
    """

    candidate: Candidate
    problem: str
    pair: tuple[int, int] | None
    k: float
    l: float  # noqa: E741 - the paper's letter
    weighted_k: float
    loss: float
    general: float
    suppression: float

    @classmethod
    def of(cls, candidate: Candidate) -> Solution:
        """Read a solution from what was measured."""
        model = candidate.recipe.parameters["model"]
        order = model.get("safety-order")
        return cls(
            candidate,
            _problem(candidate),
            (order["d1"], order["d2"]) if order else None,
            _value(candidate, "k-anonymity"),
            _whole(_value(candidate, diversity_of(model))),
            _value(candidate, "weighted-k"),
            *(100 * _value(candidate, name) for name in ("total-loss", "general-loss", "suppression-loss")),
        )

    @property
    def is_as_promised(self) -> bool:
        """Whether the release has the k and l that the formula calls it by."""
        return self.pair is None or (self.k >= self.pair[0] and self.l >= self.pair[1])


def diversity_of(model: Mapping[str, Any]) -> str:
    """Return the measure of what l is in a model."""
    distinct = "distinct-diversity" in model or model.get("safety-order", {}).get("diversity") == "distinct"
    return "distinct-diversity" if distinct else "probabilistic-diversity"


def _value(candidate: Candidate, measure: str) -> float:
    value = candidate.value(measure)
    return float("nan") if value is None else value


def _whole(diversity: float) -> float:
    """Cut off what is beyond a whole number; the last digit of a division is not trusted."""
    return float(np.floor(diversity + 1e-9))


def _problem(candidate: Candidate) -> str:
    parameters = candidate.recipe.parameters
    model, share = parameters["model"], float(parameters["suppression"])
    if "safety-order" in model:
        return FORMULA[model["safety-order"]["prefer"]]
    if diversity_of(model) in model:
        return GUARANTEE
    return ZERO if share == 0 else ANY if share == 1 else some(share)


def solutions(explored: Exploration, problem: str) -> list[Solution]:
    """Return the solutions of a problem, the smallest loss first."""
    solved = [Solution.of(c) for c in explored.made if c.recipe.sanitizer == "cut"]
    return sorted((s for s in solved if s.problem == problem), key=lambda s: s.loss)


def cheapest(some_solutions: Iterable[Solution], enough: Callable[[Solution], bool]) -> Solution | None:
    """Return the solution with the least loss among those that are good enough."""
    return min((s for s in some_solutions if enough(s)), key=lambda s: s.loss, default=None)


def within(some_solutions: Iterable[Solution], loss: float) -> list[Solution]:
    """Return the solutions that lose at most so many per cent."""
    return [s for s in some_solutions if s.loss <= loss]


def front(some_solutions: Iterable[Solution], of: Callable[[Solution], float]) -> list[Solution]:
    """Return the solutions that gain something with every further loss."""
    best, kept = -np.inf, []
    for solution in sorted(some_solutions, key=lambda s: (s.loss, -of(s))):
        if of(solution) > best:
            best = of(solution)
            kept.append(solution)
    return kept


def flattest(plot: Sequence[Solution]) -> tuple[float, Solution, Solution]:
    """Return the flattest stretch that covers a tenth of the range of k, and how flat it is."""
    ks, losses = [s.k for s in plot], [s.loss for s in plot]
    wide, high = max(ks) - min(ks), max(losses) - min(losses)
    pairs = [
        ((b.k - a.k) / wide / ((b.loss - a.loss) / high), a, b)
        for a in plot
        for b in plot
        if b.k - a.k >= _WIDE * wide and b.loss > a.loss
    ]
    return max(pairs, key=lambda pair: pair[0])


def growth(best: Sequence[Solution], loss: float) -> float:
    """Return the largest factor by which k grows along a front within so many points of loss."""
    return max((b.k / a.k for a in best for b in best if 0 < b.loss - a.loss <= loss), default=1.0)


def points(
    name: str,
    some_solutions: Iterable[Solution],
    x: Callable[[Solution], float],
    y: Callable[[Solution], float],
) -> Series:
    """Draw solutions in two of their figures; of a long front some hundred that lie evenly along it."""
    pairs = sorted((x(s), y(s)) for s in some_solutions)
    pairs = pairs[:: -(-len(pairs) // _DRAWN) or 1]
    return Series(name, tuple(a for a, _ in pairs), tuple(b for _, b in pairs))
