"""Draw the share of records in small classes as a curve."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from sfumato.results import formatting
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.report.charts.chart_labels import readable
from sfumato.workflow.report.charts.drawing import WIDTH, Drawing
from sfumato.workflow.report.charts.panels import Axis, Panel
from sfumato.workflow.report.charts.scales import Scale
from sfumato.workflow.report.charts.svg import COLOURS, Point, Style

Sizes = Sequence[int] | Integers
"""The number of records of each class."""
_MOST_STEPS = 400
_DASHES = ("", "6 2", "2 1.5", "7 2 1.5 2", "1 1", "4 1 1 1 1 1")
_X_TITLE = "class size (records that look alike; log scale)"
_Y_TITLE = "share of records in\nclasses of at most this size"


def class_sizes_chart(sizes: Sizes, *, width: int = WIDTH) -> str:
    """Draw the share of records in classes of at most each size.

    Parameters
    ----------
    sizes
        The number of records of each class.
    width
        The width of the picture.
    """
    steps = class_size_steps(sizes)
    drawing = Drawing("Cumulative class sizes", width)
    panel = _panel(drawing, [steps], 165)
    if steps:
        panel.fill_steps(steps, Style(fill=COLOURS[0], opacity=0.12))
        panel.draw_steps(steps, Style(stroke=COLOURS[0], width=1.6), data={"claim": "class-sizes"})
    return drawing.svg()


def class_size_curves(releases: Mapping[str, Sizes]) -> str:
    """Draw the curves of several releases; a curve that rises later protects more people better.

    Parameters
    ----------
    releases
        For each release its name and the number of records of each class.

    References
    ----------
    R. Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques using
    multi-objective optimization", 2011,
    figure 6.
    """
    if len(releases) > len(_DASHES):
        raise ParameterError(f"at most {len(_DASHES)} releases can be told apart in one picture")
    curves = {name: class_size_steps(sizes) for name, sizes in releases.items()}
    drawing = Drawing(f"Cumulative class sizes of {len(curves)} releases")
    panel = _panel(drawing, [*curves.values()], 195)
    if all(curves.values()):
        for (name, steps), colour, dashes in zip(curves.items(), COLOURS, _DASHES, strict=False):
            style = Style(stroke=colour, width=1.8, dashes=dashes)
            panel.draw_steps(steps, style)
            drawing.explain(readable(name), line=style)
    return drawing.svg()


def class_size_steps(sizes: Sizes) -> list[Point]:
    """Return the class sizes that occur, each with the share of records in classes up to this size.

    Of many sizes about 400 are kept, evenly spaced on a log scale, and always the smallest and the largest.
    """
    values, counts = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    reached = np.cumsum(values * counts)
    steps = [
        (size, records / int(reached[-1]))
        for size, records in zip(values.tolist(), reached.tolist(), strict=True)
    ]
    if len(steps) <= _MOST_STEPS:
        return steps
    # a whole number, so that the same steps are kept on every machine
    finest = math.ceil(_MOST_STEPS / math.log(steps[-1][0] / steps[0][0]))
    kept = steps[:1]
    for step in steps[1:]:
        if finest * (step[0] - kept[-1][0]) >= kept[-1][0] or step is steps[-1]:
            kept.append(step)
    return kept


def _panel(drawing: Drawing, curves: Sequence[Sequence[Point]], height: int) -> Panel:
    """Add a panel that fits all curves, and name releases without records."""
    shares = Axis.of(Scale(0, 1.04), _Y_TITLE, formatting.share, 6)
    if not all(curves):
        panel = drawing.add_panel(Axis(Scale(0, 1), _X_TITLE), shares, height)
        panel.write_empty("no records")
        return panel
    low, high = min(steps[0][0] for steps in curves), max(steps[-1][0] for steps in curves)
    span = Scale(low / 1.25, high * 1.25, log=True).part(-0.05, 1.05)
    sizes = Axis.of(span, _X_TITLE, formatting.number, 5)
    if high < 10 * low:
        sizes = Axis(span, _X_TITLE, [(size, formatting.number(size)) for size in sorted({low, high})])
    return drawing.add_panel(sizes, shares, height)
