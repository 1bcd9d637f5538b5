"""Draw candidates over every pair of three or more axes."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import TYPE_CHECKING

from sfumato.results.frontier import Candidate, Frontier
from sfumato.results.pareto import Limit
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.report.charts.frontier_chart import frontier_chart
from sfumato.workflow.report.charts.matplotlib_svg import FAINT, draw_panels
from sfumato.workflow.report.charts.scatter import (
    MeasureScale,
    Plane,
    cross_out,
    draw_candidates,
    draw_legend,
    draw_limits,
    draw_ring,
    say_empty,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_AXES = 5
"""More panels than these give would be too small to read."""
_HEIGHT = {3: 5.6, 4: 6.6, 5: 7.4}


def frontier_picture(
    frontier: Frontier, *, chosen: Candidate | None = None, limits: Mapping[str, Limit] = {}
) -> str:
    """Draw a frontier: three to five axes as a scatter matrix, otherwise the first two as one plot."""
    draw = scatter_matrix if 3 <= len(frontier.axes) <= MOST_AXES else frontier_chart
    return draw(frontier, chosen=chosen, limits=limits)


def scatter_matrix(
    frontier: Frontier, *, chosen: Candidate | None = None, limits: Mapping[str, Limit] = {}
) -> str:
    """Draw all comparable candidates on every pair of axes; filled if efficient on all axes.

    Parameters
    ----------
    frontier
        The candidates, seen along three to five axes.
    chosen
        The candidate to ring.
    limits
        What a policy requires; drawn where it speaks of an axis.

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
    scales = [MeasureScale.of(name, frontier, limits.get(name, Limit())) for name in frontier.axes]

    def draw(plate: Figure) -> None:
        panels = plate.subplots(n_axes - 1, n_axes - 1, sharex="col", sharey="row", squeeze=False)
        for row, column in itertools.product(range(n_axes - 1), repeat=2):
            axes = panels[row, column]
            if column > row:
                axes.set_axis_off()
                continue
            plane = Plane(frontier, scales[column], scales[row + 1])
            _draw_panel(axes, plane, limits, chosen)
            axes.set_xlabel(_label(plane.x) if row == n_axes - 2 else "")
            axes.set_ylabel(_label(plane.y) if column == 0 else "")
        corner = panels[-1, 0]
        corner.scatter([], [], s=26, facecolors="white", edgecolors=FAINT, label="hollow: not efficient")
        draw_legend(*panels.flat)

    names = ", ".join(scale.title for scale in scales)
    description = (
        f"{len(frontier.comparable)} candidate releases, {len(frontier.efficient())} of them efficient, "
        f"over every pair of {names}"
    )
    return draw_panels("matrix", description, _HEIGHT[n_axes], draw)


def _draw_panel(axes: Axes, plane: Plane, limits: Mapping[str, Limit], chosen: Candidate | None) -> None:
    plane.prepare(axes, ticks_at_most=4)
    if not plane.frontier.comparable:
        say_empty(axes, "nothing to compare")
        return
    draw_limits(axes, plane, limits)
    draw_candidates(axes, plane, size=0.6)
    cross_out(axes, plane, size=0.6)
    ringed = next((c for c in plane.frontier.comparable if chosen is not None and c.id == chosen.id), None)
    if ringed is not None:
        draw_ring(axes, plane.point(ringed), 100, "-", "chosen")


def _label(scale: MeasureScale) -> str:
    """Return an axis label in two lines, because panels are small."""
    return scale.label.replace(" (", "\n(", 1) if len(scale.title) < len(scale.label) else scale.label
