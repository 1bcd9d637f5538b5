"""Draw charts of exhibits in the paper's axes: our points filled, the published ones hollow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from sfumato.results import formatting
from sfumato.workflow.report.charts.drawing import Drawing
from sfumato.workflow.report.charts.panels import Axis, Panel
from sfumato.workflow.report.charts.scales import Scale
from sfumato.workflow.report.charts.svg import COLOURS, INK, MARKERS, PAPER, Marker, Point, Style, text_width
from sfumato_papers.exhibits import Chart, Series

_DASHES = ("", "6 2", "2 1.5", "7 2 1.5 2", "1 1")
_WIDTH_OF_BARS = 0.84
_HEIGHT = 190
_MOST_TICKS = 6
_MOST_ROOM = 420.0
"""Words on the x axis that together are wider are written at an angle."""


@dataclass(frozen=True)
class _Look:
    colour: str
    shape: str
    dashes: str


@lru_cache(maxsize=128)
def chart_svg(chart: Chart) -> str:
    """Draw a chart as an SVG element, once for the page and its own file."""
    names = ", ".join(series.label for series in chart.series)
    drawing = Drawing(f"{chart.title}: {chart.y_label} against {chart.x_label} for {names}")
    words = _words(chart)
    drawn = [series for series in chart.series if any(_known(series, words))]
    if not drawn:
        empty = Axis(Scale(0, 1), chart.x_label), Axis(Scale(0, 1), chart.y_label)
        drawing.add_panel(*empty, _HEIGHT).write_empty("not computed in this run")
        return drawing.svg()
    panel = drawing.add_panel(_x_axis(chart, words, drawn), _y_axis(chart, words, drawn), _HEIGHT)
    looks = _looks(chart.series)
    for series in drawn:
        if chart.shape == "bars":
            _draw_bars(drawing, panel, chart, series, words, looks[series.name])
        else:
            _draw_marks(drawing, panel, chart, series, words, looks[series.name])
    if chart.shape == "bars":
        panel.draw_line([(panel.x.scale.low, 0), (panel.x.scale.high, 0)], Style(stroke=INK, width=0.6))
    return drawing.svg()


def _x_axis(chart: Chart, words: Mapping[str, int], drawn: Sequence[Series]) -> Axis:
    """Return the axis to the right: the words evenly spaced, or numbers."""
    if words:
        ticks = [(float(place), word) for word, place in words.items()]
        is_tilted = sum(map(text_width, words)) > _MOST_ROOM
        span = Scale(-0.5, len(words) - 0.5)
        return Axis(span, chart.x_label, ticks, has_grid=False, is_tilted=is_tilted)
    values = [x for series in drawn for x, _ in _known(series, words)]
    scale = _scale(values, chart.ends[0] if chart.ends else None, log=chart.log_x)
    return Axis.of(scale, chart.x_label, formatting.number, _MOST_TICKS)


def _y_axis(chart: Chart, words: Mapping[str, int], drawn: Sequence[Series]) -> Axis:
    values = [y for series in drawn for _, y in _known(series, words)]
    values += [end for series in drawn for _, *ends in _spread(series, words) for end in ends]
    if chart.shape == "bars":
        values.append(0.0)
    scale = _scale(values, chart.ends[1] if chart.ends else None)
    return Axis.of(scale, chart.y_label, formatting.number, _MOST_TICKS)


def _scale(values: Sequence[float], end: float | None, *, log: bool = False) -> Scale:
    """Return the paper's axis, or a longer one where ours lie beyond it."""
    if end is not None:
        return Scale(0.0, max(end, *values))
    return Scale.around([value for value in values if value > 0] if log else values, log=log)


def _draw_marks(
    drawing: Drawing, panel: Panel, chart: Chart, series: Series, words: Mapping[str, int], look: _Look
) -> None:
    """Draw points, joined by lines where they are a curve."""
    points = [(x, y) for x, y in _known(series, words) if x > 0 or not panel.x.scale.log]
    line = Style(stroke=look.colour, width=1.2, dashes=look.dashes)
    is_joined = chart.shape == "lines" and not series.published
    if is_joined:
        panel.draw_line(points, line)
    for place, low, high in _spread(series, words):
        panel.draw_line([(place, low), (place, high)], Style(stroke=look.colour, opacity=0.75))
    fill = PAPER if series.published else look.colour
    marker = Marker(look.shape, 3 if chart.shape == "lines" else 2.4, Style(fill, look.colour))
    panel.draw_points(points, marker)
    drawing.explain(series.label, line=line if is_joined else None, marker=marker)


def _draw_bars(
    drawing: Drawing, panel: Panel, chart: Chart, series: Series, words: Mapping[str, int], look: _Look
) -> None:
    """Draw the bars of a series next to those of the others, the published ones hollow."""
    width = _WIDTH_OF_BARS / len(chart.series)
    aside = (chart.series.index(series) - (len(chart.series) - 1) / 2) * width
    style = Style(PAPER if series.published else look.colour, look.colour)
    for x, y in _known(series, words):
        panel.draw_bar((x + aside - 0.46 * width, 0), (x + aside + 0.46 * width, y), style)
    for place, low, high in _spread(series, words):
        panel.draw_line([(place + aside, low), (place + aside, high)], Style(stroke=INK, opacity=0.75))
    drawing.explain(series.label, marker=Marker("bar", 4, style))


def _spread(series: Series, words: Mapping[str, int]) -> Iterator[tuple[float, float, float]]:
    """Yield the interval of the median over the seeds around each point that has one."""
    for x, ends in zip(series.x, series.spread, strict=False):
        if ends is not None:
            yield _place(x, words), *ends


def _known(series: Series, words: Mapping[str, int]) -> Iterator[Point]:
    for x, y in zip(series.x, series.y, strict=True):
        place = _place(x, words)
        if y is not None and math.isfinite(y) and math.isfinite(place):
            yield place, y


def _place(x: float | str, words: Mapping[str, int]) -> float:
    return float(words.get(str(x), x))


def _words(chart: Chart) -> dict[str, int]:
    """Return the place of every word on the x axis, in the order of their first appearance."""
    if chart.shape != "bars" and not any(isinstance(x, str) for series in chart.series for x in series.x):
        return {}
    words = dict.fromkeys(str(x) for series in chart.series for x in series.x)
    return {word: place for place, word in enumerate(words)}


def _looks(series: Sequence[Series]) -> dict[str, _Look]:
    """Give each curve a colour, a mark and dashes; the paper's points share those of ours."""
    return {
        name: _Look(
            COLOURS[i % len(COLOURS)],
            MARKERS[(i + i // len(COLOURS)) % len(MARKERS)],
            _DASHES[i % len(_DASHES)],
        )
        for i, name in enumerate(dict.fromkeys(each.name for each in series))
    }
