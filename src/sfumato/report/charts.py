"""Charts: inline SVG for the report, the same bytes for the same numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.arrays import Integers
from sfumato.frontier import Candidate, Frontier, Limit
from sfumato.models.base import Better
from sfumato.report import words
from sfumato.report.labels import readable, write_labels
from sfumato.report.svg import FAINT, INK, draw_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's palette, which the colour-blind can tell apart; its yellow is too pale on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "D", "P", "p", "h")
FORBIDDEN = "#8a1538"
TRIVIAL = {
    "as-is": "published as it is",
    "suppress-quasi-identifiers": "quasi-identifiers withheld",
    "suppress-sensitive": "sensitive attributes withheld",
}
_MOST_BARS = 40
_MOST_INFINITE = 6
_MOST_STEPS = 400


def frontier_chart(
    frontier: Frontier, *, chosen: Candidate | None = None, limits: Mapping[str, Limit] = {}
) -> str:
    """Draw all comparable candidates over the first two axes, and the line of the efficient ones.

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
    plane = _Plane.of(frontier, limits)

    def draw(axes: Axes) -> None:
        plane.prepare(axes)
        if not frontier.comparable:
            _say_empty(axes, "no candidate can be compared")
            return
        _draw_limits(axes, plane, limits)
        _draw_line(axes, plane)
        _draw_candidates(axes, plane)
        _draw_marked(axes, plane, chosen)

    description = (
        f"{len(frontier.comparable)} candidate releases, {len(frontier.efficient())} of them efficient: "
        f"{plane.x.title} to the right, {plane.y.title} upwards"
    )
    return draw_svg("frontier", description, 5.0, draw)


def class_sizes_chart(sizes: Sequence[int] | Integers) -> str:
    """Draw which share of the records lies in classes of at most each size.

    Parameters
    ----------
    sizes
        The number of records of each class.
    """
    values, counts = np.unique(np.asarray(sizes, dtype=np.int64), return_counts=True)
    reached = np.cumsum(values * counts) / max(int(values @ counts), 1)
    if len(values) > _MOST_STEPS:
        seen = np.searchsorted(values, np.geomspace(values[0], values[-1], _MOST_STEPS).round(6))
        drawn = np.unique(np.append(seen.clip(0, len(values) - 1), len(values) - 1))
        values, reached = values[drawn], reached[drawn]

    def draw(axes: Axes) -> None:
        axes.set_xscale("log")
        axes.set_xlabel("class size (records that look alike; log scale)")
        axes.set_ylabel("share of records in\nclasses of at most this size")
        axes.set_ylim(0, 1.04)
        axes.yaxis.set_major_formatter(_ticks(words.share))
        axes.xaxis.set_major_formatter(_ticks(words.number))
        axes.xaxis.set_minor_formatter(lambda *_: "")
        if not len(values):
            _say_empty(axes, "no records")
            return
        low, high = float(values[0]), float(values[-1])
        axes.set_xlim(low / (high / low) ** 0.06 / 1.25, high * (high / low) ** 0.06 * 1.25)
        if high / low < 10:
            axes.set_xticks(sorted({low, high}))
            axes.tick_params(which="minor", length=0)
        x = np.concatenate([[values[0]], values, [high * 1e3]])
        y = np.concatenate([[0.0], reached, [1.0]])
        axes.fill_between(x, y, step="post", color=COLOURS[0], alpha=0.12, linewidth=0)
        axes.step(x, y, where="post", color=COLOURS[0], linewidth=1.6)
        axes.grid(axis="both")

    smallest = int(values[0]) if len(values) else 0
    return draw_svg(
        "classes", f"Cumulative class sizes; the smallest class has {smallest} records", 2.9, draw
    )


def attribute_losses_chart(losses: Mapping[str, float]) -> str:
    """Draw for each attribute which share of its information is lost, the largest loss first.

    Parameters
    ----------
    losses
        The loss of each attribute, between 0 and 1.
    """
    ranked = sorted(losses.items(), key=lambda pair: -pair[1])
    shown, n_more = ranked[:_MOST_BARS], max(len(ranked) - _MOST_BARS, 0)

    def draw(axes: Axes) -> None:
        if not shown:
            _say_empty(axes, "no attributes")
            return
        values = [loss for _, loss in shown]
        places = range(len(shown))
        axes.barh(places, [1.0] * len(shown), color="#eef1f4", height=0.62)
        axes.barh(places, values, color=COLOURS[0], height=0.62)
        for place, value in zip(places, values, strict=True):
            axes.text(1.015, place, words.share(round(value, 3)), va="center", color=INK)
        axes.set_yticks(places, [readable(name) for name, _ in shown])
        axes.set_xlim(0, 1.0)
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.xaxis.set_major_formatter(_ticks(words.share))
        more = f" ({n_more} attributes with smaller losses are not drawn)" if n_more else ""
        axes.set_xlabel(f"information lost{more}")
        axes.tick_params(axis="y", length=0)
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)

    height = 0.75 + 0.30 * max(len(shown), 1)
    return draw_svg("losses", f"Information lost in each of {len(losses)} attributes", height, draw)


@dataclass(frozen=True)
class _Scale:
    """One axis: where values go, infinite ones to the border."""

    measure: str
    better: Better
    low: float
    high: float
    log: bool
    whole: bool

    @classmethod
    def of(cls, measure: str, frontier: Frontier, limit: Limit) -> _Scale:
        better = frontier.better(measure)
        values = [candidate.value(measure) or 0.0 for candidate in frontier.comparable]
        ends = (limit.at_least, limit.at_most)
        finite = [value for value in (*values, *ends) if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        log = low > 0 and high / low >= 100
        whole = all(value == round(value) for value in finite) and high - low > 4
        if low == high:
            low, high = (low - abs(low) / 2, high + abs(high) / 2) if low else (0.0, 1.0)
        far_low, far_high = (0.16 if end in values else 0.06 for end in (-math.inf, math.inf))
        if log:
            ratio = high / low
            return cls(measure, better, low / ratio**far_low, high * ratio**far_high, log, whole)
        span = high - low
        return cls(measure, better, low - far_low * span, high + far_high * span, log, whole)

    @property
    def title(self) -> str:
        return readable(words.measure_words(self.measure).title)

    @property
    def label(self) -> str:
        return f"{self.title} ({words.direction(self.better)}{', log scale' if self.log else ''})"

    def printed(self, value: float) -> str:
        return words.value_of(self.measure, value)

    def place(self, value: float) -> float:
        """Return where a value is drawn: itself, or just inside the border when it is infinite."""
        return self.at(0.96 if value > 0 else 0.04) if math.isinf(value) else value

    def at(self, fraction: float) -> float:
        if self.log:
            return float(self.low * (self.high / self.low) ** fraction)
        return self.low + fraction * (self.high - self.low)


@dataclass(frozen=True)
class _Plane:
    """The two axes and what is drawn on them."""

    frontier: Frontier
    x: _Scale
    y: _Scale

    @classmethod
    def of(cls, frontier: Frontier, limits: Mapping[str, Limit]) -> _Plane:
        first, second = frontier.axes[:2]
        sides = {m.measure: m.axis for c in frontier.candidates for m in c.measurements}
        if sides.get(first) == "utility" and sides.get(second) == "privacy":
            first, second = second, first
        x, y = (_Scale.of(name, frontier, limits.get(name, Limit())) for name in (second, first))
        return cls(frontier, x, y)

    def values(self, candidate: Candidate) -> tuple[float, float]:
        return candidate.value(self.x.measure) or 0.0, candidate.value(self.y.measure) or 0.0

    def point(self, candidate: Candidate) -> tuple[float, float]:
        x, y = self.values(candidate)
        return self.x.place(x), self.y.place(y)

    def prepare(self, axes: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        axes.set(xlabel=self.x.label, ylabel=self.y.label)
        axes.set(xscale="log" if self.x.log else "linear", yscale="log" if self.y.log else "linear")
        axes.set(xlim=(self.x.low, self.x.high), ylim=(self.y.low, self.y.high))
        for axis, scale in ((axes.xaxis, self.x), (axes.yaxis, self.y)):
            if scale.whole and not scale.log:
                axis.set_major_locator(MaxNLocator(integer=True))
            axis.set_major_formatter(_ticks(scale.printed))
            axis.set_minor_formatter(lambda *_: "")
        axes.grid(axis="both")


def _ticks(printed: Callable[[float], str]) -> Callable[[float, Any], str]:
    """Print the places of ticks, which are not quite the numbers that they should be."""
    return lambda value, _: printed(float(f"{value:.9g}"))


def _say_empty(axes: Axes, text: str) -> None:
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=FAINT)


def _draw_limits(axes: Axes, plane: _Plane, limits: Mapping[str, Limit]) -> None:
    """Draw each end of a limit as a dashed line and shade the side that it forbids."""
    for scale, line, shade in ((plane.x, axes.axvline, axes.axvspan), (plane.y, axes.axhline, axes.axhspan)):
        limit = limits.get(scale.measure, Limit())
        for end, border in ((limit.at_most, scale.high), (limit.at_least, scale.low)):
            if math.isfinite(end):
                line(end, color=FORBIDDEN, linestyle=(0, (5, 3)), label="policy limit", zorder=1.5)
                shade(end, border, color=FORBIDDEN, alpha=0.06, linewidth=0, zorder=0.5)


def _draw_line(axes: Axes, plane: _Plane) -> None:
    x, y = zip(*_corners(plane), strict=True)
    axes.plot(x, y, color=FAINT, linewidth=1.3, label="efficient line", zorder=2)


def _corners(plane: _Plane) -> list[tuple[float, float]]:
    """Return the efficient line: from the best x on, keep y until the next point's x, then go to its y."""
    flat = Frontier(plane.frontier.comparable, (plane.x.measure, plane.y.measure))
    points = [plane.point(candidate) for candidate in flat.efficient()]
    steps = [((next_x, y), (next_x, next_y)) for (_, y), (next_x, next_y) in itertools.pairwise(points)]
    return [points[0], *(corner for step in steps for corner in step)]


def _draw_candidates(axes: Axes, plane: _Plane) -> None:
    """Draw every candidate: filled when efficient, an arrow at the border when infinite."""
    efficient = {candidate.id for candidate in plane.frontier.efficient()}
    for name, colour, marker in _families(plane.frontier.comparable):
        axes.scatter([], [], s=34, marker=marker, color=colour, linewidths=1.2, label=name)
        alike: dict[tuple[str, bool], list[tuple[float, float]]] = {}
        for candidate in plane.frontier.comparable:
            if _family(candidate) == name:
                key = _arrow(*plane.values(candidate)) or marker, candidate.id in efficient
                alike.setdefault(key, []).append(plane.point(candidate))
        for (shape, is_efficient), points in alike.items():
            x, y = zip(*points, strict=True)
            axes.scatter(
                x,
                y,
                s=38 if is_efficient else 26,
                marker=shape,
                facecolors=colour if is_efficient else "white",
                edgecolors=colour,
                linewidths=1.2,
                zorder=4 if is_efficient else 3,
            )


def _arrow(x: float, y: float) -> str | None:
    if math.isinf(y):
        return "^" if y > 0 else "v"
    return (">" if x > 0 else "<") if math.isinf(x) else None


def _family(candidate: Candidate) -> str:
    return "trivial" if candidate.recipe.sanitizer in TRIVIAL else readable(candidate.recipe.sanitizer)


def _families(candidates: Iterable[Candidate]) -> list[tuple[str, str, str]]:
    """Give each sanitizer a colour and a shape of its own, the trivial ones black crosses."""
    names = sorted({_family(candidate) for candidate in candidates} - {"trivial"})
    given = [
        (name, COLOURS[i % len(COLOURS)], MARKERS[(i + i // len(COLOURS)) % len(MARKERS)])
        for i, name in enumerate(names)
    ]
    trivial = any(_family(candidate) == "trivial" for candidate in candidates)
    return [*given, ("trivial", INK, "X")] if trivial else given


def _draw_marked(axes: Axes, plane: _Plane, chosen: Candidate | None) -> None:
    """Ring the chosen candidate and the knee, and write names beside them and beside the two ends."""
    comparable = plane.frontier.comparable
    knee = plane.frontier.knee()
    ringed = next((c for c in comparable if chosen is not None and c.id == chosen.id), None)
    labels = [(c, TRIVIAL[c.recipe.sanitizer]) for c in comparable if c.recipe.sanitizer in TRIVIAL]
    if ringed is not None:
        _draw_ring(axes, plane.point(ringed), 190, "-", "chosen")
        also = " (the knee)" if knee is not None and knee.id == ringed.id else ""
        labels.append((ringed, f"chosen: {readable(ringed.id)}{also}"))
    if knee is not None:
        _draw_ring(axes, plane.point(knee), 110, ":", "knee")
        if ringed is None or knee.id != ringed.id:
            labels.append((knee, f"knee: {readable(knee.id)}"))
    named = {candidate.id for candidate, _ in labels}
    infinite = [c for c in comparable if c.id not in named and any(map(math.isinf, plane.values(c)))]
    _draw_legend(axes)
    written = [*labels, *((c, "∞") for c in infinite[:_MOST_INFINITE])]
    write_labels(
        axes,
        [(plane.point(candidate), text) for candidate, text in written],
        points=[plane.point(candidate) for candidate in comparable],
        line=_corners(plane),
    )


def _draw_ring(axes: Axes, point: tuple[float, float], size: float, line: str, label: str) -> None:
    axes.scatter(*point, s=size, facecolors="none", edgecolors=INK, linestyle=line, label=label, zorder=5)


def _draw_legend(axes: Axes) -> None:
    handles, names = axes.get_legend_handles_labels()
    each = dict(zip(names, handles, strict=True))
    figure: Any = axes.figure
    figure.legend(each.values(), each.keys(), loc="outside lower center", ncols=4, frameon=False)
