"""Draw candidates between two axes with matplotlib."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sfumato.registry.declarations import Better
from sfumato.results import formatting
from sfumato.results.frontier import Candidate, Frontier
from sfumato.results.pareto import Limit
from sfumato.workflow.report.charts.chart_labels import readable
from sfumato.workflow.report.charts.matplotlib_svg import FAINT, INK
from sfumato.workflow.report.charts.svg import COLOURS, MARKERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORBIDDEN = "#8a1538"
TRIVIAL = {
    "as-is": "published as it is",
    "suppress-quasi-identifiers": "quasi-identifiers withheld",
    "suppress-sensitive": "sensitive attributes withheld",
}


@dataclass(frozen=True)
class MeasureScale:
    """One axis of a scatter plot; infinite values are drawn at the border."""

    measure: str
    better: Better
    low: float
    high: float
    log: bool
    whole: bool

    @classmethod
    def of(cls, measure: str, frontier: Frontier, limit: Limit) -> MeasureScale:
        """Make an axis that fits all candidates and the limit."""
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
        """The measure's name in running text."""
        return readable(formatting.measure_words(self.measure).title)

    @property
    def label(self) -> str:
        """The text next to the axis."""
        return f"{self.title} ({formatting.direction(self.better)}{', log scale' if self.log else ''})"

    def printed(self, value: float) -> str:
        """Print a value in the measure's unit."""
        return formatting.value_of(self.measure, value)

    def place(self, value: float) -> float:
        """Return where a value is drawn: at itself, or just inside the border if it is infinite."""
        return self.at(0.96 if value > 0 else 0.04) if math.isinf(value) else value

    def at(self, fraction: float) -> float:
        """Return the value at a fraction of the axis."""
        if self.log:
            return float(self.low * (self.high / self.low) ** fraction)
        return self.low + fraction * (self.high - self.low)

    def fraction(self, value: float) -> float:
        """Return the position of a value as a fraction of the axis."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def between(self, low: float, high: float) -> MeasureScale:
        """Return the part of the axis between two fractions."""
        return replace(self, low=self.at(low), high=self.at(high))


@dataclass(frozen=True)
class Plane:
    """The two axes and the candidates on them."""

    frontier: Frontier
    x: MeasureScale
    y: MeasureScale

    @classmethod
    def of(cls, frontier: Frontier, limits: Mapping[str, Limit]) -> Plane:
        """Use the first two axes of a frontier: privacy upwards, utility to the right."""
        first, second = frontier.axes[:2]
        every = [m for c in frontier.candidates for m in c.measurements]
        sides = {name: m.axis for m in every for name in (m.label, m.measure)}
        if sides.get(first) == "utility" and sides.get(second) == "privacy":
            first, second = second, first
        x, y = (MeasureScale.of(name, frontier, limits.get(name, Limit())) for name in (second, first))
        return cls(frontier, x, y)

    def values(self, candidate: Candidate) -> tuple[float, float]:
        """Return the two values of a candidate."""
        return candidate.value(self.x.measure) or 0.0, candidate.value(self.y.measure) or 0.0

    def point(self, candidate: Candidate) -> tuple[float, float]:
        """Return where a candidate is drawn."""
        x, y = self.values(candidate)
        return self.x.place(x), self.y.place(y)

    def prepare(self, axes: Axes, *, ticks_at_most: int = 0) -> None:
        """Set labels, scales, limits and ticks of the axes."""
        from matplotlib.ticker import LogLocator, MaxNLocator

        axes.set(xlabel=self.x.label, ylabel=self.y.label)
        axes.set(xscale="log" if self.x.log else "linear", yscale="log" if self.y.log else "linear")
        axes.set(xlim=(self.x.low, self.x.high), ylim=(self.y.low, self.y.high))
        for axis, scale in ((axes.xaxis, self.x), (axes.yaxis, self.y)):
            if ticks_at_most and scale.log:
                axis.set_major_locator(LogLocator(numticks=ticks_at_most))
            elif not scale.log and (scale.whole or ticks_at_most):
                axis.set_major_locator(MaxNLocator(ticks_at_most or "auto", integer=scale.whole))
            axis.set_major_formatter(ticks(scale.printed))
            axis.set_minor_formatter(lambda *_: "")
        axes.grid(axis="both")


def ticks(printed: Callable[[float], str]) -> Callable[[float, Any], str]:
    """Print tick positions, which are only nearly the intended numbers."""
    return lambda value, _: printed(float(f"{value:.9g}"))


def say_empty(axes: Axes, text: str) -> None:
    """State that there is nothing to draw."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", color=FAINT)


def draw_limits(axes: Axes, plane: Plane, limits: Mapping[str, Limit]) -> None:
    """Draw each end of a limit as a dashed line and shade the side that it forbids."""
    for scale, line, shade in ((plane.x, axes.axvline, axes.axvspan), (plane.y, axes.axhline, axes.axhspan)):
        limit = limits.get(scale.measure, Limit())
        for end, border in ((limit.at_most, scale.high), (limit.at_least, scale.low)):
            if math.isfinite(end):
                line(end, color=FORBIDDEN, linestyle=(0, (5, 3)), label="policy limit", zorder=1.5)
                shade(end, border, color=FORBIDDEN, alpha=0.06, linewidth=0, zorder=0.5)


def draw_line(axes: Axes, plane: Plane) -> None:
    """Draw the steps between the efficient candidates."""
    line = corners(plane)
    if not line:  # nothing keeps the policy
        return
    x, y = zip(*line, strict=True)
    axes.plot(x, y, color=FAINT, linewidth=1.3, label="efficient line", zorder=2)


def corners(plane: Plane) -> list[tuple[float, float]]:
    """Return the efficient line: from the best x on, keep y until the next point's x, then move to its y."""
    flat = replace(
        plane.frontier, candidates=plane.frontier.comparable, axes=(plane.x.measure, plane.y.measure)
    )
    points = [plane.point(candidate) for candidate in flat.efficient()]
    steps = [((next_x, y), (next_x, next_y)) for (_, y), (next_x, next_y) in itertools.pairwise(points)]
    return [*points[:1], *(corner for step in steps for corner in step)]


def draw_candidates(axes: Axes, plane: Plane, *, size: float = 1.0) -> None:
    """Draw every candidate: filled when efficient, an arrow at the border when infinite."""
    efficient = {candidate.id for candidate in plane.frontier.efficient()}
    for name, colour, marker in families(plane.frontier.comparable):
        axes.scatter([], [], s=34, marker=marker, color=colour, linewidths=1.2, label=name)
        alike: dict[tuple[str, bool], list[tuple[float, float]]] = {}
        for candidate in plane.frontier.comparable:
            if family(candidate) == name:
                key = _arrow(*plane.values(candidate)) or marker, candidate.id in efficient
                alike.setdefault(key, []).append(plane.point(candidate))
        for (shape, is_efficient), points in alike.items():
            x, y = zip(*points, strict=True)
            axes.scatter(
                x,
                y,
                s=size * (38 if is_efficient else 26),
                marker=shape,
                facecolors=colour if is_efficient else "white",
                edgecolors=colour,
                linewidths=1.2,
                zorder=4 if is_efficient else 3,
            )


def cross_out(axes: Axes, plane: Plane, *, size: float = 1.0) -> None:
    """Cross out the candidates that break the policy, whichever axes are drawn."""
    frontier = plane.frontier
    broken = [plane.point(candidate) for candidate in frontier.comparable if candidate.id in frontier.broken]
    if broken:
        x, y = zip(*broken, strict=True)
        label = "crossed out: breaks the policy"
        axes.scatter(x, y, s=size * 60, marker="x", color=FORBIDDEN, linewidths=1.1, label=label, zorder=4.5)


def _arrow(x: float, y: float) -> str | None:
    if math.isinf(y):
        return "^" if y > 0 else "v"
    return (">" if x > 0 else "<") if math.isinf(x) else None


def family(candidate: Candidate) -> str:
    """Return the legend group of a candidate: its sanitizer, or one of the trivial releases."""
    return "trivial" if candidate.recipe.sanitizer in TRIVIAL else readable(candidate.recipe.sanitizer)


def families(candidates: Iterable[Candidate]) -> list[tuple[str, str, str]]:
    """Give each sanitizer a colour and a shape of its own, the trivial ones black crosses."""
    names = sorted({family(candidate) for candidate in candidates} - {"trivial"})
    given = [
        (name, COLOURS[i % len(COLOURS)], MARKERS[(i + i // len(COLOURS)) % len(MARKERS)])
        for i, name in enumerate(names)
    ]
    trivial = any(family(candidate) == "trivial" for candidate in candidates)
    return [*given, ("trivial", INK, "X")] if trivial else given


def draw_legend(axes: Axes, *more: Axes, columns: int = 4) -> None:
    """Explain the signs of all panels below the picture, each once."""
    each: dict[str, Any] = {}
    for panel in (axes, *more):
        for handle, name in zip(*panel.get_legend_handles_labels(), strict=True):
            each.setdefault(name, handle)
    plate: Any = axes.figure
    plate.legend(each.values(), each.keys(), loc="outside lower center", ncols=columns, frameon=False)


def draw_ring(axes: Axes, point: tuple[float, float], size: float, line: str, label: str) -> None:
    """Ring a point."""
    axes.scatter(*point, s=size, facecolors="none", edgecolors=INK, linestyle=line, label=label, zorder=5)
