"""Draw the measures of each group of people as bars."""

from __future__ import annotations

import math

from sfumato.measures.grouped import Grouped
from sfumato.results import formatting
from sfumato.results.measurement import worst_value
from sfumato.workflow.report.charts.chart_labels import readable
from sfumato.workflow.report.charts.drawing import Drawing
from sfumato.workflow.report.charts.frontier_chart import add_bars, draw_bar
from sfumato.workflow.report.charts.panels import Axis
from sfumato.workflow.report.charts.scales import Scale
from sfumato.workflow.report.charts.svg import COLOURS, INK, Style

_MOST_GROUPS = 40
_MOST_TICKS = 6


def groups_chart(grouped: Grouped) -> str:
    """Draw a panel for each measure: a bar for each group, filled for the worst, and a line for everyone.

    Parameters
    ----------
    grouped
        What was measured of each group; of many groups the largest are drawn.
    """
    names = sorted(grouped.groups, key=lambda name: -grouped.sizes[name])[:_MOST_GROUPS]
    drawing = Drawing(
        f"{formatting.joined(grouped.labels)} for each of {len(names)} groups of {grouped.attribute}"
    )
    for label in grouped.labels:
        _draw_measure(drawing, grouped, label, names)
    return drawing.svg()


def _draw_measure(drawing: Drawing, grouped: Grouped, label: str, names: list[str]) -> None:
    values = grouped.values(label)
    shown = {name: value for name in names if (value := values[name]) is not None}
    if not shown:
        panel = add_bars(drawing, Axis(Scale(0, 1), has_line=False), [])
        panel.write_empty(f"{label} does not apply to any group")
        return
    worst, whole = grouped.worst(label), worst_value(grouped.everybody, label)
    better = next(each.better for each in grouped.everybody if each.label == label)
    finite = [value for value in (0.0, *shown.values(), whole or 0.0) if math.isfinite(value)]
    scale = Scale.around(finite, margin=0.0)
    title = f"{formatting.measure_words(label).title} ({formatting.direction(better)}; dashed: everybody)"
    x = Axis.of(scale, title, lambda value: formatting.value_of(label, value), _MOST_TICKS)
    panel = add_bars(drawing, x, [f"{readable(name)} ({grouped.sizes[name]:,})" for name in shown])
    for row, (name, value) in enumerate(shown.items()):
        end = min(max(value, scale.low), scale.high)
        colour = COLOURS[1] if name == worst else COLOURS[0]
        draw_bar(panel, row, end, colour, formatting.value_of(label, value), end=max(end, 0.0))
    if whole is not None:
        panel.draw_line([(whole, -0.5), (whole, len(shown) - 0.5)], Style(stroke=INK, dashes="5 3"))
