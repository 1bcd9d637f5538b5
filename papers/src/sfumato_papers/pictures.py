"""Draw charts of exhibits in the paper's axes: our points filled, the published ones hollow."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from sfumato.results import formatting
from sfumato.workflow.report.charts.matplotlib_svg import draw_svg
from sfumato.workflow.report.charts.scatter import draw_legend, say_empty, ticks
from sfumato.workflow.report.charts.svg import COLOURS, MARKERS
from sfumato_papers.exhibits import Chart, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)), (0, (1, 1)))
_WIDTH_OF_BARS = 0.84
_LINE = 90
"""Letters that three names side by side in the legend may have."""
_MOST_STEPS = 6
"""How many steps the papers' axes have at most."""
_DECADES = 2
"""Up to how many decades a logarithmic axis has room for 2 and 5 as well."""


@lru_cache(maxsize=128)
def chart_svg(chart: Chart) -> str:
    """Draw a chart as an SVG element, once for the page and its own file."""

    def draw(axes: Axes) -> None:
        axes.set(xlabel=chart.x_label, ylabel=chart.y_label)
        if not any(_known(series) for series in chart.series):
            say_empty(axes, "not computed in this run")
            return
        (_draw_bars if chart.shape == "bars" else _draw_marks)(axes, chart)
        axes.yaxis.set_major_formatter(ticks(formatting.number))
        if chart.log_y:
            axes.set_yscale("log")
        if chart.ends:
            _reach_at_least(axes, *chart.ends)
        axes.grid(axis="y")
        longest = sorted(len(series.label) for series in chart.series)[-3:]
        draw_legend(axes, columns=3 if sum(longest) <= _LINE else 2)

    names = ", ".join(series.label for series in chart.series)
    return draw_svg(
        chart.title, f"{chart.title}: {chart.y_label} against {chart.x_label} for {names}", 3.4, draw
    )


def _draw_marks(axes: Axes, chart: Chart) -> None:
    """Draw points, joined by lines where they are a curve; words on the x axis are evenly spaced."""
    words_on_x = any(isinstance(x, str) for series in chart.series for x in series.x)
    places = _places(chart.series) if words_on_x else {}
    looks = _looks(chart.series)
    for series in chart.series:
        points = [(places.get(str(x), x), y) for x, y in _known(series)]
        if not points:
            continue
        colour, marker, dashes = looks[series.name]
        x, y = zip(*points, strict=True)
        joined = chart.shape == "lines" and not series.published
        axes.plot(
            x,
            y,
            color=colour,
            marker=marker,
            markersize=5.5 if chart.shape == "lines" else 4,
            markerfacecolor="white" if series.published else colour,
            linestyle=dashes if joined else "none",
            label=series.label,
        )
        _draw_spread(axes, series, [places.get(str(x), x) for x in series.x], colour)
    if places:
        _name_ticks(axes, list(places))
    elif chart.log_x:
        _space_by_ratio(axes)
    if not places:
        axes.xaxis.set_major_formatter(ticks(formatting.number))


def _space_by_ratio(axes: Axes) -> None:
    """Make the x axis logarithmic, with more numbers on it where it is short."""
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    if high < low * 10**_DECADES:
        from matplotlib.ticker import LogLocator

        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_minor_formatter(lambda *_: "")


def _reach_at_least(axes: Axes, x_end: float, y_end: float) -> None:
    """Draw the paper's axes, and farther where ours lie beyond them."""
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(0, max(x_end, axes.get_xlim()[1]))
    axes.set_ylim(0, max(y_end, axes.get_ylim()[1]))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(_MOST_STEPS, steps=[1, 2, 5, 10]))


def _draw_bars(axes: Axes, chart: Chart) -> None:
    """Draw the bars of all series side by side, the published ones hollow."""
    places = _places(chart.series)
    width = _WIDTH_OF_BARS / len(chart.series)
    looks = _looks(chart.series)
    for position, series in enumerate(chart.series):
        points = [(places[str(x)], y) for x, y in _known(series)]
        if not points:
            continue
        colour, _, _ = looks[series.name]
        x, heights = np.array(points, dtype=np.float64).T
        aside = (position - (len(chart.series) - 1) / 2) * width
        axes.bar(
            x + aside,
            heights,
            width * 0.92,
            facecolor="white" if series.published else colour,
            edgecolor=colour,
            linewidth=1.0,
            label=series.label,
        )
        _draw_spread(axes, series, [places[str(x)] + aside for x in series.x], "black")
    axes.axhline(0, color="black", linewidth=0.6)
    _name_ticks(axes, list(places))


def _draw_spread(axes: Axes, series: Series, places: Sequence[float | str], colour: str) -> None:
    """Draw the interval of the median over the seeds around each point that has one."""
    around = [
        (place, *spread) for place, spread in zip(places, series.spread, strict=False) if spread is not None
    ]
    if around:
        x, low, high = zip(*around, strict=True)
        axes.vlines(x, low, high, colors=colour, linewidth=1.1, alpha=0.75)


def _known(series: Series) -> list[tuple[float | str, float]]:
    return [(x, y) for x, y in zip(series.x, series.y, strict=True) if y is not None and np.isfinite(y)]


def _places(series: Sequence[Series]) -> dict[str, int]:
    """Return the place of every word on the x axis, in the order of their first appearance."""
    names = dict.fromkeys(str(x) for line in series for x in line.x)
    return {name: place for place, name in enumerate(names)}


def _looks(series: Sequence[Series]) -> dict[str, tuple[str, str, object]]:
    """Give each curve a colour, a mark and dashes; the paper's points share those of ours."""
    names = dict.fromkeys(line.name for line in series)
    return {
        name: (
            COLOURS[i % len(COLOURS)],
            MARKERS[(i + i // len(COLOURS)) % len(MARKERS)],
            _DASHES[i % len(_DASHES)],
        )
        for i, name in enumerate(names)
    }


def _name_ticks(axes: Axes, names: Sequence[str]) -> None:
    axes.set_xticks(range(len(names)))
    crowded = sum(map(len, names)) > 60
    axes.set_xticklabels(
        names, rotation=30 if crowded else 0, ha="right" if crowded else "center", rotation_mode="anchor"
    )
    axes.tick_params(axis="x", length=0)
