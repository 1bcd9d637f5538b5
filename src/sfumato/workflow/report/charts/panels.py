"""Draw points, lines, steps and bars between two axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sfumato.workflow.report.charts.scales import Scale
from sfumato.workflow.report.charts.svg import (
    FAINT,
    RULE,
    Attributes,
    Label,
    Marker,
    Point,
    Style,
    data_attributes,
    decimal,
    element,
    path,
    text_width,
)

LINE = 12.5
"""The distance between two lines of text."""
_TICK = 3.5
_GAP = 2 * _TICK
_TILT = -30.0
_GRID, _EDGE = Style(stroke=RULE, width=0.6), Style(stroke=FAINT, width=0.8)


@dataclass(frozen=True)
class Axis:
    """One axis of a panel.

    Parameters
    ----------
    scale
        Where values go.
    title
        What stands next to it, in one or more lines.
    ticks
        Values with their labels.
    has_grid, has_line
        Whether lines run through the panel at the ticks, and whether the axis itself is drawn.
    is_tilted
        Whether the labels below a panel are written at an angle, for lack of room.
    padding
        The room between the labels and the title of an upright axis.
    """

    scale: Scale
    title: str = ""
    ticks: Sequence[tuple[float, str]] = ()
    has_grid: bool = True
    has_line: bool = True
    is_tilted: bool = False
    padding: float = 0.0

    @classmethod
    def of(
        cls, scale: Scale, title: str, printed: Callable[[float], str], most: int, *, whole: bool = False
    ) -> Axis:
        """Return an axis with at most ``most`` ticks, at round values."""
        return cls(scale, title, [(value, printed(value)) for value in scale.ticks(most, whole=whole)])

    @property
    def lines(self) -> list[str]:
        """The lines of the title."""
        return self.title.split("\n") if self.title else []

    @property
    def width(self) -> float:
        """The width of the axis to the left of its panel."""
        return self._widest + _GAP + self.padding + LINE * len(self.lines)

    @property
    def height(self) -> float:
        """The height of the axis below its panel."""
        labels = (0.5 * self._widest if self.is_tilted else 0) + LINE if self.ticks else 0
        return _TICK + labels + LINE * len(self.lines)

    @property
    def _widest(self) -> float:
        return max((text_width(text) for _, text in self.ticks), default=0.0)


@dataclass(frozen=True)
class Frame:
    """A rectangle in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> Point:
        """The point in its middle."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def contains(self, point: Point) -> bool:
        """Return whether a point is inside or on the border."""
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom

    def clipped(self, start: Point, end: Point) -> tuple[Point, Point] | None:
        """Return the part of a straight line inside, by Liang and Barsky's method."""
        (x, y), (dx, dy) = start, (end[0] - start[0], end[1] - start[1])
        first, last = 0.0, 1.0
        sides = ((-dx, x - self.left), (dx, self.right - x), (-dy, y - self.top), (dy, self.bottom - y))
        for step, gap in sides:
            if step == 0 and gap < 0:
                return None
            if step < 0:
                first = max(first, gap / step)
            elif step > 0:
                last = min(last, gap / step)
        if first > last:
            return None
        # an end that is kept is the same number as the start of the next part
        return (x + first * dx, y + first * dy), end if last == 1 else (x + last * dx, y + last * dy)


@dataclass(frozen=True)
class Panel:
    """Two axes and the shapes between them, in drawing order.

    Everything that stands for data may carry attributes by which a program finds it. The panel says how
    values become places, so that the program can compute where a point must be.
    """

    frame: Frame
    x: Axis
    y: Axis
    parts: list[str] = field(default_factory=list)

    def place(self, point: Point) -> Point:
        """Return the position of a point in pixels."""
        return self._across(point[0]), self._up(point[1])

    def draw_points(
        self, points: Sequence[Point], marker: Marker, titles: Sequence[str] = (), family: str = ""
    ) -> None:
        """Draw points of a family with one style, each with its tooltip; those outside are omitted."""
        drawn = [
            marker.draw(place, title)
            for place, title in zip(map(self.place, points), titles or [""] * len(points), strict=True)
            if self.frame.contains(place)
        ]
        if drawn:
            about = data_attributes({"family": family} if family else {})
            self.parts.append(element("g", {**marker.style.attributes, **about}, *drawn))

    def draw_line(self, points: Sequence[Point], style: Style, data: Mapping[str, str | float] = {}) -> None:
        """Draw a line through points, clipped to the panel."""
        pieces = (self.frame.clipped(*ends) for ends in pairwise(map(self.place, points)))
        inside: list[list[Point]] = [[]]
        for piece in filter(None, pieces):
            if inside[-1][-1:] != [piece[0]]:
                inside.append([piece[0]])
            inside[-1].append(piece[1])
        if inside[1:]:
            self._draw_path("".join(map(path, inside[1:])), style, {**data, "points": _listed(points)})

    def draw_steps(self, points: Sequence[Point], style: Style, data: Mapping[str, str | float] = {}) -> None:
        """Draw a step line from the ground up at the first point; each height lasts until the next point."""
        self._draw_path(self._steps(points), style, {**data, "points": _listed(points)})

    def fill_steps(self, points: Sequence[Point], style: Style) -> None:
        """Fill the area below such a line."""
        self._draw_path(f"{self._steps(points)}V{decimal(self.frame.bottom)}Z", style, {})

    def draw_bar(
        self, corner: Point, opposite: Point, style: Style, data: Mapping[str, str | float] = {}
    ) -> None:
        """Draw a rectangle between two opposite corners, clipped to the panel."""
        frame = self.frame
        (left, right), (top, bottom) = map(sorted, zip(self.place(corner), self.place(opposite), strict=True))
        left, top = max(left, frame.left), max(top, frame.top)
        width, height = min(right, frame.right) - left, min(bottom, frame.bottom) - top
        if width >= 0 and height >= 0:
            sides = {"x": left, "y": top, "width": width, "height": height}
            self.parts.append(element("rect", {**sides, **style.attributes, **data_attributes(data)}))

    def write(self, label: Label) -> None:
        """Write a text."""
        self.parts.append(label.draw())

    def write_empty(self, text: str) -> None:
        """State that there is nothing to draw."""
        self.write(Label(text, self.frame.middle, "middle", FAINT))

    def markup(self) -> str:
        """Return the panel as a group that states how values map to positions."""
        facts: dict[str, str | float] = {}
        frame = self.frame
        for name, axis, ends in (
            ("x", self.x, (frame.left, frame.right)),
            ("y", self.y, (frame.bottom, frame.top)),
        ):
            facts[f"{name}-scale"] = axis.scale.kind or "linear"
            if axis.scale.root > 1:
                facts[f"{name}-origin"] = repr(axis.scale.origin)
            facts[f"{name}-domain"] = f"{axis.scale.low!r},{axis.scale.high!r}"
            facts[f"{name}-range"] = ",".join(map(decimal, ends))
        return element(
            "g", data_attributes(facts), *self._grid(), *self._below(), *self._beside(), *self.parts
        )

    def _across(self, value: float) -> float:
        return self.frame.left + self.x.scale.fraction(value) * (self.frame.right - self.frame.left)

    def _up(self, value: float) -> float:
        return self.frame.bottom - self.y.scale.fraction(value) * (self.frame.bottom - self.frame.top)

    def _draw_path(self, drawn: str, style: Style, data: Attributes) -> None:
        self.parts.append(element("path", {"d": drawn, **style.attributes, **data_attributes(data)}))

    def _steps(self, points: Sequence[Point]) -> str:
        places = [*map(self.place, points)]
        steps = "".join(f"H{decimal(x)}V{decimal(y)}" for x, y in places)
        return f"M{decimal(places[0][0])} {decimal(self.frame.bottom)}{steps}H{decimal(self.frame.right)}"

    def _grid(self) -> Iterator[str]:
        frame = self.frame
        lines = [
            *(path([(x, frame.bottom), (x, frame.top)]) for x in self._places(self.x, self._across)),
            *(path([(frame.left, y), (frame.right, y)]) for y in self._places(self.y, self._up)),
        ]
        if lines:
            yield element("path", {"d": "".join(lines), **_GRID.attributes})

    def _places(self, axis: Axis, place: Callable[[float], float]) -> list[float]:
        return [place(value) for value, _ in axis.ticks] if axis.has_grid else []

    def _below(self) -> Iterator[str]:
        """Draw the x-axis with its ticks and title."""
        left, bottom, axis = self.frame.left, self.frame.bottom, self.x
        if axis.has_line:
            drawn = [path([(left, bottom), (self.frame.right, bottom)])]
            drawn += [path([(x, bottom), (x, bottom + length)]) for x, length in _ticks(axis, self._across)]
            yield element("path", {"d": "".join(drawn), **_EDGE.attributes})
        height, free = bottom + _TICK + 0.6 * LINE, -math.inf
        for value, text in axis.ticks:
            x, half = self._across(value), text_width(text) / 2
            if not text:
                continue
            if axis.is_tilted:
                yield Label(text, (x + 3, height), "end", turn=_TILT).draw()
            elif x - half >= free:  # a label that has no room next to the last one is left out
                free = x + half + _TICK
                yield Label(text, (x, height), "middle").draw()
        for number, line in enumerate(reversed(axis.lines)):
            place = self.frame.middle[0], bottom + axis.height - (number + 0.4) * LINE
            yield Label(line, place, "middle").draw()

    def _beside(self) -> Iterator[str]:
        """Draw the y-axis with its ticks and title."""
        left, bottom, axis = self.frame.left, self.frame.bottom, self.y
        if axis.has_line:
            drawn = [path([(left, bottom), (left, self.frame.top)])]
            drawn += [path([(left, y), (left - length, y)]) for y, length in _ticks(axis, self._up)]
            yield element("path", {"d": "".join(drawn), **_EDGE.attributes})
        for value, text in axis.ticks:
            if text:
                yield Label(text, (left - _GAP, self._up(value)), "end").draw()
        for number, line in enumerate(axis.lines):
            place = left - axis.width + (number + 0.4) * LINE, self.frame.middle[1]
            yield Label(line, place, "middle", turn=-90.0).draw()


def _ticks(axis: Axis, place: Callable[[float], float]) -> Iterator[tuple[float, float]]:
    """Yield the position and length of each tick."""
    yield from ((place(value), _TICK) for value, _ in axis.ticks)
    yield from ((place(value), _TICK / 2) for value in axis.scale.small_ticks())


def _listed(points: Iterable[Point]) -> str:
    """Write points in the form that scripts read."""
    return " ".join(f"{x:.10g},{y:.10g}" for x, y in points)
