"""Draw candidates over every pair of three or more axes."""

from __future__ import annotations

from dataclasses import replace

from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.report.charts.drawing import MARGIN, WIDTH, Drawing
from sfumato.workflow.report.charts.frontier_chart import (
    draw_candidates,
    draw_chosen,
    draw_limits,
    explain,
    frontier_chart,
)
from sfumato.workflow.report.charts.panels import Axis, Frame, Panel
from sfumato.workflow.report.charts.plane import Plane, planes
from sfumato.workflow.report.charts.svg import FAINT, PAPER, Marker, Style

MOST_AXES = 5
"""More panels than these give would be too small to read."""
_HEIGHTS = {3: 165, 4: 130, 5: 110}
_MOST_TICKS = 4
_GAP = 12


def frontier_picture(frontier: Frontier, *, chosen: Candidate | None = None) -> str:
    """Draw a frontier: three to five axes as a scatter matrix, otherwise the first two as one plot."""
    draw = scatter_matrix if 3 <= len(frontier.axes) <= MOST_AXES else frontier_chart
    return draw(frontier, chosen=chosen)


def scatter_matrix(frontier: Frontier, *, chosen: Candidate | None = None) -> str:
    """Draw all comparable candidates on every pair of axes; filled if efficient on all axes.

    Parameters
    ----------
    frontier
        The candidates, seen along three to five axes.
    chosen
        The candidate to ring.

    References
    ----------
    R. Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques using
    multi-objective optimization", 2011,
    figure 8.

    Returns
    -------
    str
        An SVG element.
    """
    n_axes = len(frontier.axes)
    if not 3 <= n_axes <= MOST_AXES:
        raise ParameterError(f"a matrix has three to {MOST_AXES} axes, not {n_axes}")
    pairs = [(x, y) for row, y in enumerate(frontier.axes) for x in frontier.axes[:row]]
    drawn = planes(frontier, pairs, chosen)
    names = ", ".join([drawn[0].x.title, *(plane.y.title for plane in drawn if plane.x is drawn[0].x)])
    drawing = Drawing(
        f"{len(frontier.comparable)} candidate releases, {len(drawn[0].efficient)} of them efficient, "
        f"over every pair of {names}"
    )
    left = MARGIN + max(plane.y.axis(_MOST_TICKS, 0).width for plane in drawn)
    across = (WIDTH - MARGIN - left + _GAP) / (n_axes - 1)
    for plane in drawn:
        row, column = frontier.axes.index(plane.y.measure) - 1, frontier.axes.index(plane.x.measure)
        x, y = plane.x.axis(_MOST_TICKS, 0), plane.y.axis(_MOST_TICKS, 0)
        start, top = left + column * across, MARGIN + row * (_HEIGHTS[n_axes] + _GAP)
        frame = Frame(start, top, start + across - _GAP, top + _HEIGHTS[n_axes])
        shown = x if row == n_axes - 2 else _bare(x), y if column == 0 else _bare(y)
        _draw_panel(drawing.place_panel(frame, *shown), plane)
    if frontier.comparable:
        explain(drawing, drawn)
        drawing.explain("hollow: not efficient", marker=Marker("o", 3.2, Style(PAPER, FAINT, 1.2)))
    return drawing.svg()


def _draw_panel(panel: Panel, plane: Plane) -> None:
    if not plane.comparable:
        panel.write_empty("nothing to compare")
        return
    draw_limits(panel, plane)
    draw_candidates(panel, plane, size=0.7)
    draw_chosen(panel, plane, size=0.7)


def _bare(axis: Axis) -> Axis:
    """Return an axis whose labels are those of another panel."""
    return replace(axis, title="", ticks=[(value, "") for value, _ in axis.ticks])
