"""Describe candidates between two axes: the points, the efficient line, the knee and what the policy forbids.

Every picture of a frontier is drawn from this description: those of the reports and of notebooks, and the
workbench's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from sfumato.registry.declarations import Better
from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.pareto import Limit
from sfumato.workflow.report.charts.chart_labels import readable
from sfumato.workflow.report.charts.panels import Axis
from sfumato.workflow.report.charts.scales import Scale
from sfumato.workflow.report.charts.svg import COLOURS, INK, MARKERS, Point, text_width

TRIVIAL = {
    "as-is": "published as it is",
    "suppress-quasi-identifiers": "quasi-identifiers withheld",
    "suppress-sensitive": "sensitive attributes withheld",
}
_MARGIN, _MARGIN_OF_INFINITE = 0.06, 0.16


@dataclass(frozen=True)
class MeasureAxis:
    """One axis of a plane: a measure and its scale; infinite values are drawn just inside the border."""

    measure: str
    better: Better
    scale: Scale
    whole: bool
    limit: Limit

    @classmethod
    def of(
        cls, measure: str, frontier: Frontier, limit: Limit, efficient: Iterable[Candidate]
    ) -> MeasureAxis:
        """Make an axis that fits all candidates and the limit, and spreads the efficient ones."""
        values = [candidate.value(measure) or 0.0 for candidate in frontier.comparable]
        ends = (limit.at_least, limit.at_most)
        finite = [value for value in (*values, *ends) if math.isfinite(value)] or [0.0, 1.0]
        low, high = min(finite), max(finite)
        whole = all(value == round(value) for value in finite) and high - low > 4
        if low == high:
            low, high = (low - abs(low) / 2, high + abs(high) / 2) if low else (0.0, 1.0)
        scale = Scale(low, high, log=low > 0 and high / low >= 100)
        if not scale.log:
            crowd = (candidate.value(measure) or 0.0 for candidate in efficient)
            scale = scale.spread([value for value in crowd if math.isfinite(value)])
        before, after = (_MARGIN_OF_INFINITE if end in values else _MARGIN for end in (-math.inf, math.inf))
        return cls(measure, frontier.better(measure), scale.part(-before, 1 + after), whole, limit)

    @property
    def title(self) -> str:
        """The measure's name in running text."""
        return readable(formatting.measure_words(self.measure).title)

    @property
    def label(self) -> str:
        """The text next to the axis."""
        kind = f", {self.scale.kind} scale" if self.scale.kind else ""
        return f"{self.title} ({formatting.direction(self.better)}{kind})"

    def printed(self, value: float) -> str:
        """Print a value in the measure's unit."""
        return formatting.value_of(self.measure, value)

    def place(self, value: float) -> float:
        """Return where a value is drawn: at itself, or just inside the border if it is infinite."""
        return self.scale.at(0.96 if value > 0 else 0.04) if math.isinf(value) else value

    def axis(self, most: int, length: float) -> Axis:
        """Return the axis of a panel with at most so many ticks, its label in two lines if it is too long."""
        is_long = text_width(self.label) > length
        title = self.label.replace(" (", "\n(", 1) if is_long else self.label
        return replace(Axis.of(self.scale, title, self.printed, most, whole=self.whole), padding=4.0)

    @property
    def forbidden(self) -> Iterator[tuple[float, float]]:
        """The ends of the limit, each with the border of the side that it forbids."""
        for end, border in ((self.limit.at_most, self.scale.high), (self.limit.at_least, self.scale.low)):
            if math.isfinite(end):
                yield end, border


@dataclass(frozen=True)
class Family:
    """The candidates of one method, with their colour and shape."""

    name: str
    colour: str
    shape: str


@dataclass(frozen=True)
class Plane:
    """All candidates between two axes.

    Parameters
    ----------
    frontier
        The candidates.
    x, y
        The axes.
    chosen
        The candidate to ring.
    """

    frontier: Frontier
    x: MeasureAxis
    y: MeasureAxis
    chosen: Candidate | None = None

    @classmethod
    def of(cls, frontier: Frontier, chosen: Candidate | None = None, usual: Frontier | None = None) -> Plane:
        """Use the first two axes of a frontier: privacy upwards, utility to the right; see `planes`."""
        first, second = frontier.axes[:2]
        every = [m for c in frontier.candidates for m in c.measurements]
        sides = {name: m.axis for m in every for name in (m.label, m.measure)}
        if sides.get(first) == "utility" and sides.get(second) == "privacy":
            first, second = second, first
        return planes(frontier, [(second, first)], chosen, usual)[0]

    @property
    def comparable(self) -> tuple[Candidate, ...]:
        """The candidates that are drawn."""
        return self.frontier.comparable

    @cached_property
    def families(self) -> dict[str, Family]:
        """The families by name, in the order of the legend."""
        return families(self.comparable)

    @cached_property
    def efficient(self) -> frozenset[str]:
        """The ids of the efficient candidates, on all axes of the frontier."""
        return frozenset(candidate.id for candidate in self.frontier.efficient())

    @property
    def broken(self) -> Mapping[str, tuple[str, ...]]:
        """For each candidate against the policy its id, and in words the limits that it misses."""
        return self.frontier.broken

    @property
    def knee(self) -> Candidate | None:
        """The knee of the candidates that keep the policy."""
        return self.frontier.knee()

    def on(self, x: Scale, y: Scale) -> Plane:
        """Return the same candidates on other scales."""
        return replace(self, x=replace(self.x, scale=x), y=replace(self.y, scale=y))

    def values(self, candidate: Candidate) -> Point:
        """Return the two values of a candidate."""
        return candidate.value(self.x.measure) or 0.0, candidate.value(self.y.measure) or 0.0

    def point(self, candidate: Candidate) -> Point:
        """Return where a candidate is drawn."""
        x, y = self.values(candidate)
        return self.x.place(x), self.y.place(y)

    def shape(self, candidate: Candidate) -> str:
        """Return the shape of a candidate: its family's, or an arrow at the border if it is infinite."""
        x, y = self.values(candidate)
        if math.isinf(y):
            return "^" if y > 0 else "v"
        if math.isinf(x):
            return ">" if x > 0 else "<"
        return self.families[family(candidate)].shape

    @cached_property
    def line(self) -> list[Point]:
        """The efficient line: from the best x on, keep y until the next point's x, then move to its y."""
        axes = self.x.measure, self.y.measure
        flat = replace(self.frontier, candidates=self.frontier.comparable, axes=axes)
        points = [self.point(candidate) for candidate in flat.efficient()]
        steps = [((next_x, y), (next_x, next_y)) for (_, y), (next_x, next_y) in itertools.pairwise(points)]
        return [*points[:1], *(corner for step in steps for corner in step)]

    @property
    def description(self) -> str:
        """The picture in a sentence."""
        against = f", {len(self.broken)} against the policy" if self.broken else ""
        return (
            f"{len(self.comparable)} candidate releases, {len(self.efficient)} of them efficient{against}: "
            f"{self.x.title} to the right, {self.y.title} upwards"
        )


def planes(
    frontier: Frontier,
    pairs: Sequence[tuple[str, str]],
    chosen: Candidate | None = None,
    usual: Frontier | None = None,
) -> list[Plane]:
    """Describe a frontier on pairs of its axes, the one to the right first.

    Parameters
    ----------
    frontier
        The candidates and their policy.
    pairs
        The measures to the right and upwards.
    chosen
        The candidate to ring.
    usual
        The frontier whose efficient candidates are spread on the axes, by default the same. Its scales stay
        while somebody tries limits out.
    """
    axes = measure_axes(frontier, [*itertools.chain(*pairs)], usual)
    return [Plane(frontier, axes[x], axes[y], chosen) for x, y in pairs]


def measure_axes(
    frontier: Frontier, names: Iterable[str], usual: Frontier | None = None
) -> dict[str, MeasureAxis]:
    """Return an axis for each measure, on which efficient candidates are spread; see `planes`."""
    efficient, limits = (usual or frontier).efficient(), frontier.policy.limits_by_measure
    return {name: MeasureAxis.of(name, frontier, limits.get(name, Limit()), efficient) for name in names}


def family(candidate: Candidate) -> str:
    """Return the name of a candidate's family: its sanitizer, or that of the trivial releases."""
    return "trivial" if candidate.recipe.sanitizer in TRIVIAL else readable(candidate.recipe.sanitizer)


def families(candidates: Iterable[Candidate]) -> dict[str, Family]:
    """Give each sanitizer a colour and a shape of its own, the trivial ones black crosses."""
    names = {family(candidate) for candidate in candidates}
    found = {
        name: Family(name, COLOURS[i % len(COLOURS)], MARKERS[(i + i // len(COLOURS)) % len(MARKERS)])
        for i, name in enumerate(sorted(names - {"trivial"}))
    }
    return found | ({"trivial": Family("trivial", INK, "X")} if "trivial" in names else {})
