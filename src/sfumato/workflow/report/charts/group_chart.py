"""Draw the measures of each group of people as bars."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.measures.grouped import Grouped
from sfumato.results import formatting
from sfumato.results.measurement import worst_value
from sfumato.workflow.report.charts.chart_labels import readable
from sfumato.workflow.report.charts.matplotlib_svg import FAINT, INK, draw_panels
from sfumato.workflow.report.charts.scatter import say_empty, ticks
from sfumato.workflow.report.charts.svg import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_GROUPS = 40


def groups_chart(found: Grouped) -> str:
    """Draw a panel for each measure: a bar for each group, filled for the worst, and a line for everyone.

    Parameters
    ----------
    found
        What was measured of each group; of many groups the largest are drawn.
    """
    names = sorted(found.groups, key=lambda name: -found.sizes[name])[:_MOST_GROUPS]

    def draw(plate: Figure) -> None:
        axes = plate.subplots(len(found.labels), 1, squeeze=False)
        for panel, label in zip(axes[:, 0], found.labels, strict=True):
            _draw_measure(panel, found, label, names)

    description = f"{formatting.joined(found.labels)} for each of {len(names)} groups of {found.attribute}"
    return draw_panels("groups", description, len(found.labels) * (0.8 + 0.28 * len(names)), draw)


def _draw_measure(axes: Axes, found: Grouped, label: str, names: list[str]) -> None:
    values = found.values(label)
    drawn = {name: value for name in names if (value := values[name]) is not None}
    if not drawn:
        say_empty(axes, f"{label} does not apply to any group")
        return
    worst, unit = found.worst(label), formatting.measure_words(label)
    places = range(len(drawn))
    colours = [COLOURS[1] if name == worst else COLOURS[0] for name in drawn]
    axes.barh(places, list(drawn.values()), color=colours, height=0.62)
    for place, value in zip(places, drawn.values(), strict=True):
        axes.annotate(
            formatting.value_of(label, value), (value, place), (4, 0), textcoords="offset points", va="center"
        )
    axes.set_yticks(places, [f"{readable(name)} ({found.sizes[name]:,})" for name in drawn])
    axes.set_ylim(len(drawn) - 0.5, -0.5)
    axes.margins(x=0.12)
    axes.xaxis.set_major_formatter(ticks(lambda value: formatting.value_of(label, value)))
    whole = worst_value(found.everybody, label)
    if whole is not None:
        axes.axvline(whole, color=INK, linewidth=1.0, linestyle="--")
    better = next(each.better for each in found.everybody if each.label == label)
    axes.set_xlabel(f"{unit.title} ({formatting.direction(better)}; dashed: everybody)", color=INK)
    axes.tick_params(axis="y", length=0, labelcolor=FAINT)
    axes.spines["left"].set_visible(False)
