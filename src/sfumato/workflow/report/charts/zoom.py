"""Magnify the steepest part of a frontier in an inset."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from sfumato.results.frontier import Candidate, Frontier
from sfumato.results.pareto import Limit
from sfumato.workflow.report.charts.chart_labels import readable, write_labels
from sfumato.workflow.report.charts.matplotlib_svg import INK
from sfumato.workflow.report.charts.scatter import (
    TRIVIAL,
    Plane,
    corners,
    cross_out,
    draw_candidates,
    draw_limits,
    draw_line,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A stretch is worth a picture of its own when it is this narrow, has so many candidates, and the front
# falls or rises by so much in it.
_WIDTH = 0.25
_FEWEST = 4
_LEAST_FALL = 0.3
_MARGIN = 0.2
_MOST_LABELS = 10


def steepest_stretch(plane: Plane) -> Plane | None:
    """Return the quarter of a plot in which the frontier is steepest, if candidates are crowded there.

    Magnified, it shows the flat regions in which much is gained for little.

    References
    ----------
    R. Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques using
    multi-objective optimization", 2011,
    figure 7.
    """
    places = sorted((_fractions(plane, candidate) for candidate in efficient_in(plane)), key=lambda p: p[0])
    best: list[tuple[float, float]] = []
    for first, (start, _) in enumerate(places):
        part = [place for place in places[first:] if place[0] - start <= _WIDTH]
        if len(part) >= _FEWEST and _steepness(part) > _steepness(best):
            best = part
    if _steepness(best) < _LEAST_FALL or len(best) == len(places):
        return None
    (left, right), (low, high) = (_with_margin(*(place[axis] for place in best)) for axis in (0, 1))
    # what is infinite is drawn at a border, where it would seem to be near here
    finite = [c for c in plane.frontier.comparable if all(map(math.isfinite, plane.values(c)))]
    shown = replace(plane.frontier, candidates=tuple(finite))
    return Plane(shown, plane.x.between(left, right), plane.y.between(low, high))


def efficient_in(plane: Plane) -> list[Candidate]:
    """Return the candidates that are efficient on the two axes of a plot, with finite values."""
    flat = Frontier(plane.frontier.comparable, (plane.x.measure, plane.y.measure))
    return [c for c in flat.efficient() if all(map(math.isfinite, plane.values(c)))]


def draw_stretch(whole: Axes, part: Axes, stretch: Plane, limits: Mapping[str, Limit]) -> None:
    """Outline a part of the whole picture and draw it magnified in an inset."""
    x, y = stretch.x, stretch.y
    frame = [(x.low, y.low), (x.high, y.low), (x.high, y.high), (x.low, y.high), (x.low, y.low)]
    whole.plot(*zip(*frame, strict=True), color=INK, linewidth=0.7, linestyle=(0, (1, 2)), zorder=1.8)
    stretch.prepare(part)
    part.set(xlabel=x.title, ylabel=y.title)
    part.set_title("the steepest stretch, magnified", fontsize="medium", loc="left")
    draw_limits(part, stretch, limits)
    draw_line(part, stretch)
    draw_candidates(part, stretch)
    cross_out(part, stretch)
    inside = [
        c for c in efficient_in(stretch) if _is_inside(stretch, c) and c.recipe.sanitizer not in TRIVIAL
    ]
    named = {stretch.point(c): readable(c.id) for c in inside if c.recipe.sanitizer not in TRIVIAL}
    write_labels(
        part,
        [*named.items()][:_MOST_LABELS],
        points=[stretch.point(c) for c in stretch.frontier.comparable],
        line=corners(stretch),
    )


def _fractions(plane: Plane, candidate: Candidate) -> tuple[float, float]:
    x, y = plane.values(candidate)
    return plane.x.fraction(x), plane.y.fraction(y)


def _steepness(places: list[tuple[float, float]]) -> float:
    heights = [height for _, height in places]
    return max(heights) - min(heights) if heights else 0.0


def _with_margin(*places: float) -> tuple[float, float]:
    """Return both ends with a margin."""
    low, high = min(places), max(places)
    margin = max(_MARGIN * (high - low), 0.02)
    return low - margin, high + margin


def _is_inside(plane: Plane, candidate: Candidate) -> bool:
    return all(0 <= fraction <= 1 for fraction in _fractions(plane, candidate))
