"""Build the curves of Li and Li 2009: releases of one requirement, ordered by its parameter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato import Candidate, Recipe
from sfumato_papers.compare_figures import NOT_COMPUTED, cell
from sfumato_papers.exhibits import Cell, Series

PRIVACY, UTILITY = "privacy-loss", "utility-loss"

K, L, T, DELTA = "k-anonymity", "l-diversity", "t-closeness", "semantic privacy"
STRICT_DELTA = "semantic privacy, absent values read otherwise"
_LETTERS = {K: "k", L: "l", T: "t", DELTA: "delta", STRICT_DELTA: "delta"}
SMALLEST_DELTA = 1.0
"""The paper draws no smaller one."""


@dataclass(frozen=True)
class Point:
    """One release on a curve.

    Parameters
    ----------
    requirement
        What it satisfies, as the paper calls it.
    limit
        The parameter.
    candidate
        The release.
    """

    requirement: str
    limit: float
    candidate: Candidate

    @property
    def label(self) -> str:
        """The parameter in words, as ``k = 5000``."""
        return f"{_LETTERS[self.requirement]} = {self.limit:g}"

    def value(self, measure: str) -> float:
        """Return a measure of the release; not a number where it was not measured."""
        value = self.candidate.value(measure)
        return float("nan") if value is None else value


Curve = tuple[Point, ...]


Absent = Literal["ignored", "violates"]
"""Whether a value that a class lacks breaks semantic privacy; `STRICT_DELTA` is the other interpretation."""


def curves(candidates: Iterable[Candidate], sanitizer: str, absent: Absent = "ignored") -> dict[str, Curve]:
    """Return the points of each requirement, the smallest parameter first."""
    by_requirement: dict[str, list[Point]] = {name: [] for name in _LETTERS}
    for candidate in candidates:
        if candidate.recipe.sanitizer == sanitizer and (need := requirement_of(candidate.recipe, absent)):
            by_requirement[need[0]].append(Point(*need, candidate))
    return {name: tuple(sorted(points, key=lambda p: p.limit)) for name, points in by_requirement.items()}


def requirement_of(recipe: Recipe, absent: Absent = "ignored") -> tuple[str, float] | None:
    """Return the requirement of a recipe and its parameter; groups of k records stand for k-anonymity."""
    if recipe.parameters.get("smallest-group", 1) > 1:
        return K, float(recipe.parameters["smallest-group"])
    match recipe.parameters.get("model"):
        case {"k-anonymity": {"k": limit}}:
            return K, float(limit)
        case {"probabilistic-diversity": {"l": limit}}:
            return L, float(limit)
        case {"t-closeness": {"t": limit, "distance": "js"}}:
            return T, float(limit)
        case {"delta-disclosure": {"delta": limit, **rest}}:
            return DELTA if rest.get("absent", "violates") == absent else STRICT_DELTA, float(limit)
    return None


def drawn_points(points: Curve) -> Curve:
    """Return the points that the paper draws."""
    return tuple(p for p in points if "delta" not in p.label or p.limit >= SMALLEST_DELTA)


def lies_below(lower: Curve, upper: Curve, measure: str) -> tuple[int, int]:
    """Return over how many points of a curve another one passes below, and how many it passes at all.

    The lower curve is drawn straight from point to point. Where it ends on the right its last point
    counts on, which has less of both losses; on the left of its first point nothing is compared.
    """
    known = sorted((p.value(PRIVACY), p.value(measure)) for p in lower)
    if not known:
        return 0, 0
    x, y = np.array(known).T
    compared = [p for p in upper if p.value(PRIVACY) >= x[0]]
    below = [np.interp(p.value(PRIVACY), x, y) < p.value(measure) for p in compared]
    return sum(map(bool, below)), len(compared)


def beats_all(best: str, drawn: Mapping[str, Curve], measure: str) -> tuple[bool | None, str]:
    """Return whether one requirement's curve passes below every point of the others, and in words where."""
    counts = {
        name: lies_below(drawn[best], points, measure) for name, points in drawn.items() if name != best
    }
    if not all(compared for _, compared in counts.values()):
        return None, NOT_COMPUTED
    words = [f"{below} of {compared} points of {name}" for name, (below, compared) in counts.items()]
    left_out = sum(len(points) for name, points in drawn.items() if name != best)
    left_out -= sum(compared for _, compared in counts.values())
    evidence = f"below {', '.join(words)}" + (f"; {left_out} lie left of its beginning" if left_out else "")
    return all(below == compared for below, compared in counts.values()), evidence


Pairs = list[tuple[Point, Point]]


def pairs_of(generalized: Mapping[str, Curve], bucketized: Mapping[str, Curve]) -> Pairs:
    """Return the releases of both methods with the same l or t."""
    return [
        (one, other)
        for name in (L, T)
        for one in generalized[name]
        for other in bucketized[name]
        if one.limit == other.limit
    ]


def bucketization_wins(pairs: Pairs) -> bool | None:
    """Return whether the second of every pair has the smaller utility loss."""
    return all(other.value(UTILITY) < one.value(UTILITY) for one, other in pairs) if pairs else None


def wins(pairs: Pairs) -> str:
    """Return in words in how many pairs the second has the smaller utility loss."""
    return f"{sum(other.value(UTILITY) < one.value(UTILITY) for one, other in pairs)} of {len(pairs)}"


def point_cells(
    key: str, points: Sequence[Point], columns: Mapping[str, str], scale: float = 1
) -> list[Cell]:
    """Return one row for each point, without what was not measured."""
    return [
        cell("li", key, point.label, column, scale * value)
        for point in points
        for column, measure in columns.items()
        for value in [point.value(measure)]
        if not np.isnan(value)
    ]


def series_of(name: str, points: Sequence[Point], measure: str, scale: float = 1) -> Series:
    """Draw a curve from the smallest privacy loss to the largest."""
    ordered = sorted((p for p in points if not np.isnan(p.value(measure))), key=lambda p: p.value(PRIVACY))
    return Series(
        name, tuple(p.value(PRIVACY) for p in ordered), tuple(scale * p.value(measure) for p in ordered)
    )
