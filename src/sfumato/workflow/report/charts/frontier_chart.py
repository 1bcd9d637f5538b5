"""Draw the frontier and the losses of attributes as inline SVG, with the same bytes for the same numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sfumato.results import formatting
from sfumato.results.frontier import Candidate, Frontier
from sfumato.results.pareto import Limit
from sfumato.workflow.report.charts.chart_labels import readable, write_labels
from sfumato.workflow.report.charts.matplotlib_svg import INK, draw_panels, draw_svg
from sfumato.workflow.report.charts.scatter import (
    TRIVIAL,
    Plane,
    corners,
    cross_out,
    draw_candidates,
    draw_legend,
    draw_limits,
    draw_line,
    draw_ring,
    say_empty,
    ticks,
)
from sfumato.workflow.report.charts.svg import COLOURS
from sfumato.workflow.report.charts.zoom import draw_stretch, steepest_stretch

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_BARS = 40
_MOST_INFINITE = 6


def frontier_chart(
    frontier: Frontier, *, chosen: Candidate | None = None, limits: Mapping[str, Limit] = {}
) -> str:
    """Draw all comparable candidates on the first two axes, and the line of the efficient ones.

    Parameters
    ----------
    frontier
        The candidates; the privacy measure is drawn upwards, the utility measure to the right.
    chosen
        The candidate to ring.
    limits
        What a policy requires; drawn where it speaks of one of the two axes.

    Returns
    -------
    str
        An SVG element.
    """
    plane = Plane.of(frontier, limits)
    stretch = steepest_stretch(plane) if frontier.comparable else None

    def draw(plate: Figure) -> None:
        axes = plate.add_subplot() if stretch is None else plate.add_subplot(5, 1, (1, 3))
        plane.prepare(axes)
        if not frontier.comparable:
            say_empty(axes, "no candidate can be compared")
            return
        draw_limits(axes, plane, limits)
        draw_line(axes, plane)
        draw_candidates(axes, plane)
        cross_out(axes, plane)
        below = None if stretch is None else plate.add_subplot(5, 1, (4, 5))
        _draw_marked(axes, plane, chosen)
        if stretch is not None and below is not None:
            draw_stretch(axes, below, stretch, limits)

    description = (
        f"{len(frontier.comparable)} candidate releases, {len(frontier.efficient())} of them efficient: "
        f"{plane.x.title} to the right, {plane.y.title} upwards"
        f"{'; below, the steepest stretch' if stretch else ''}"
    )
    return draw_panels("frontier", description, 8.0 if stretch else 5.0, draw)


def attribute_losses_chart(losses: Mapping[str, float]) -> str:
    """Draw the share of information that each attribute loses, the largest loss first.

    Parameters
    ----------
    losses
        The loss of each attribute, between 0 and 1.
    """
    ranked = sorted(losses.items(), key=lambda pair: -pair[1])
    shown, n_more = ranked[:_MOST_BARS], max(len(ranked) - _MOST_BARS, 0)

    def draw(axes: Axes) -> None:
        if not shown:
            say_empty(axes, "no attributes")
            return
        values = [loss for _, loss in shown]
        places = range(len(shown))
        axes.barh(places, [1.0] * len(shown), color="#eef1f4", height=0.62)
        axes.barh(places, values, color=COLOURS[0], height=0.62)
        for place, value in zip(places, values, strict=True):
            axes.text(1.015, place, formatting.share(round(value, 3)), va="center", color=INK)
        axes.set_yticks(places, [readable(name) for name, _ in shown])
        axes.set_xlim(0, 1.0)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.xaxis.set_major_formatter(ticks(formatting.share))
        more = f" ({n_more} attributes with smaller losses are not drawn)" if n_more else ""
        axes.set_xlabel(f"information lost{more}")
        axes.tick_params(axis="y", length=0)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)

    height = 0.75 + 0.30 * max(len(shown), 1)
    return draw_svg("losses", f"Information lost in each of {len(losses)} attributes", height, draw)


def _draw_marked(axes: Axes, plane: Plane, chosen: Candidate | None) -> None:
    """Ring the chosen candidate and the knee, and label them and the two ends."""
    comparable = plane.frontier.comparable
    knee = plane.frontier.knee()
    ringed = next((c for c in comparable if chosen is not None and c.id == chosen.id), None)
    labels = [(c, TRIVIAL[c.recipe.sanitizer]) for c in comparable if c.recipe.sanitizer in TRIVIAL]
    if ringed is not None:
        draw_ring(axes, plane.point(ringed), 190, "-", "chosen")
        also = " (the knee)" if knee is not None and knee.id == ringed.id else ""
        labels.append((ringed, f"chosen: {readable(ringed.id)}{also}"))
    if knee is not None:
        draw_ring(axes, plane.point(knee), 110, ":", "knee")
        if ringed is None or knee.id != ringed.id:
            labels.append((knee, f"knee: {readable(knee.id)}"))
    named = {candidate.id for candidate, _ in labels}
    infinite = [c for c in comparable if c.id not in named and any(map(math.isinf, plane.values(c)))]
    draw_legend(axes)
    written = [*labels, *((c, "∞") for c in infinite[:_MOST_INFINITE])]
    write_labels(
        axes,
        [(plane.point(candidate), text) for candidate, text in written],
        points=[plane.point(candidate) for candidate in comparable],
        line=corners(plane),
    )
