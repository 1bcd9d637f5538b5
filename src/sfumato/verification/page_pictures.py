"""Compare the picture of the class sizes with the cells: its line, its axes, and that nothing else is drawn.

The panel declares how values map to positions. Each point of the line must be at the position of its values,
and each label of an axis at the position of its value. Apart from the line and the area under it, a picture
may have only straight lines from edge to edge (the grid) and lines outside of the panel (its axes): nothing
that a reader could take for another curve.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.page_markup import Element
from sfumato.verification.page_statements import CLASS_SIZES
from sfumato.verification.renderings import has_numerals, shows

Point = tuple[float, float]

# How far a corner may be from its place: places are written with two decimals.
_ROUNDING = 0.022
_LONGEST_TICK = 12.0
# The line has a point for every size if these are at most so many, else at least so many points.
_MAX_SIZES, _MIN_POINTS = 400, 100
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_COMMANDS = re.compile(rf"([MLHV])({_NUMBER})(?: ({_NUMBER}))?|(Z)")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_LIGHTEST_LINE = 600  # the sum of red, green and blue; white has 765
_DENSEST_AREA = 0.3


def picture_problem(svg: Element, steps: Mapping[int, float]) -> str:
    """Return the first difference between a picture and the class sizes; empty if there is none."""
    try:
        _check_picture(svg, steps)
    except VerificationFailed as error:
        return f"the picture of the class sizes: {error}"
    except (ValueError, KeyError, IndexError, OverflowError, ZeroDivisionError):
        return "the picture of the class sizes is damaged"
    return ""


@dataclass(frozen=True)
class _Axis:
    """An axis: the values at its ends, and the positions of these values."""

    first: float
    last: float
    begin: float
    end: float
    is_log: bool

    @classmethod
    def of(cls, panel: Element, name: str) -> _Axis:
        is_log = name == "x"
        if panel.attributes[f"data-{name}-scale"] != ("log" if is_log else "linear"):
            raise VerificationFailed("its axes are others")
        domain, positions = (_pair(panel.attributes[f"data-{name}-{what}"]) for what in ("domain", "range"))
        if not domain[0] < domain[1] or (is_log and domain[0] <= 0):
            raise VerificationFailed("its axes have no length")
        # positions are counted from the top left
        if not (positions[0] < positions[1] if name == "x" else positions[0] > positions[1]):
            raise VerificationFailed("its axes are turned round")
        return cls(*domain, *positions, is_log=is_log)

    @property
    def length(self) -> float:
        return abs(self.end - self.begin)

    def position(self, value: float) -> float:
        if self.is_log:
            share = math.log(value / self.first) / math.log(self.last / self.first)
        else:
            share = (value - self.first) / (self.last - self.first)
        return self.begin + share * (self.end - self.begin)

    def values_near(self, position: float) -> Iterator[float]:
        """Yield the round values near a position: those with up to four digits."""
        share, span = (position - self.begin) / (self.end - self.begin), self.last - self.first
        value = self.first * (self.last / self.first) ** share if self.is_log else self.first + share * span
        slack = 0.0 if self.is_log else 1e-4 * span
        for digits in range(1, 5):
            rounded = float(f"{value:.{digits}g}")
            if abs(rounded - value) <= 0.003 * abs(value) + slack:
                yield rounded
        if abs(value) < 1e-3 * span:
            yield 0.0

    def is_inside(self, position: float) -> bool:
        return min(self.begin, self.end) + 1 < position < max(self.begin, self.end) - 1


class _Panel(NamedTuple):
    x: _Axis
    y: _Axis


def _check_picture(svg: Element, steps: Mapping[int, float]) -> None:
    ground, *panels = svg.elements
    width, height = _pair(svg.attributes["viewBox"].removeprefix("0 0 ").replace(" ", ","))
    box = {"width": f"{width:g}", "height": f"{height:g}", "fill": "#ffffff"}
    if ground.tag != "rect" or ground.attributes != box or ground.children:
        raise VerificationFailed("its ground is another one")
    if len(panels) != 1 or panels[0].tag != "g" or svg.attributes.get("fill") != "#1b2733":
        raise VerificationFailed("it has not one panel")
    panel = _Panel(_Axis.of(panels[0], "x"), _Axis.of(panels[0], "y"))
    if not (panel.x.begin >= 0 and panel.x.end <= width and panel.y.end >= 0 and panel.y.begin <= height):
        raise VerificationFailed("its panel is not in it")
    if panel.x.length < width / 2 or panel.y.length < height / 2:
        raise VerificationFailed("its panel is small")
    shapes = panels[0].elements
    if any(shape.children and shape.tag != "text" for shape in shapes):
        raise VerificationFailed("a shape holds others")
    lines = [shape for shape in shapes if "data-claim" in shape.attributes]
    if len(lines) != 1 or lines[0].attributes["data-claim"] != CLASS_SIZES:
        raise VerificationFailed("it has not one line")
    corners = _expected_corners(panel, _points(lines[0], steps))
    for shape in shapes:
        if shape.tag == "text":
            _check_text(shape, panel, (width, height))
        elif shape.tag != "path":
            raise VerificationFailed("it has a shape that is no line")
        elif shape is lines[0]:
            _check_line(shape, corners)
        elif shape.attributes.get("fill", "none") != "none":
            _check_area(shape, corners, panel)
        else:
            _check_grid(shape, panel)


def _points(line: Element, steps: Mapping[int, float]) -> list[Point]:
    """Return the values that the line claims to show, if the cells give the same."""
    points = [_pair(pair) for pair in line.attributes["data-points"].split(" ")]
    sizes = [size for size, _ in points]
    are_right = all(x in steps and math.isclose(steps[int(x)], y, rel_tol=1e-9) for x, y in points)
    is_whole = len(points) == len(steps) if len(steps) <= _MAX_SIZES else len(points) >= _MIN_POINTS
    in_order = sizes == sorted(set(sizes)) and (sizes[0], sizes[-1]) == (min(steps), max(steps))
    if not (are_right and is_whole and in_order):
        raise VerificationFailed("its line shows other sizes")
    return points


def _expected_corners(panel: _Panel, points: list[Point]) -> list[Point]:
    """Return the corners of the line: up at each size, level until the next."""
    height = panel.y.begin
    corners = [(panel.x.position(points[0][0]), height)]
    for size, share in points:
        x, y = panel.x.position(size), panel.y.position(share)
        corners += [(x, height), (x, y)]
        height = y
    return [*corners, (panel.x.end, height)]


def _check_line(line: Element, corners: list[Point]) -> None:
    style = line.attributes
    odd = set(style) - {"d", "fill", "stroke", "stroke-width", "data-claim", "data-points"}
    is_thin = not 0.5 <= float(style["stroke-width"]) <= 5
    if odd or style["fill"] != "none" or not _is_dark(style["stroke"]) or is_thin:
        raise VerificationFailed("its line can hardly be seen")
    if not _are_near(_corners(style["d"]), corners):
        raise VerificationFailed("its line is not where its sizes belong")


def _check_area(area: Element, corners: list[Point], panel: _Panel) -> None:
    style = area.attributes
    if set(style) != {"d", "fill", "opacity"} or float(style["opacity"]) > _DENSEST_AREA:
        raise VerificationFailed("an area covers its line")
    if not _are_near(_corners(style["d"].removesuffix("Z")), [*corners, (panel.x.end, panel.y.begin)]):
        raise VerificationFailed("an area is not that under its line")


def _check_grid(path: Element, panel: _Panel) -> None:
    """Check that a line without a mark crosses the whole panel, or is outside of it."""
    if "opacity" in path.attributes or float(path.attributes.get("stroke-width", 1)) > 1:
        raise VerificationFailed("a line of the grid is thick")
    for piece in re.findall(r"M[^M]*", path.attributes["d"]):
        corners = _corners(piece)
        if len(corners) != 2 or not re.fullmatch(rf"M{_NUMBER} {_NUMBER}L{_NUMBER} {_NUMBER}", piece):
            raise VerificationFailed("a line of the grid is bent")
        (x, y), (other_x, other_y) = corners
        is_upright = x == other_x and {y, other_y} == {panel.y.begin, panel.y.end}
        is_level = y == other_y and {x, other_x} == {panel.x.begin, panel.x.end}
        is_inside = panel.x.is_inside((x + other_x) / 2) and panel.y.is_inside((y + other_y) / 2)
        is_tick = math.dist(*corners) <= _LONGEST_TICK and not is_inside
        if not (is_upright or is_level or is_tick):
            raise VerificationFailed("a line is drawn that is none of the grid")


def _check_text(text: Element, panel: _Panel, size: Point) -> None:
    """Check that a text with numerals is the label of an axis, at its value."""
    if set(text.attributes) - {"x", "y", "text-anchor", "transform"} or any(
        not isinstance(child, str) for child in text.children
    ):
        raise VerificationFailed("a text is written in another way")
    x, y = float(text.attributes["x"]), float(text.attributes["y"])
    if not (0 <= x <= size[0] and 0 <= y <= size[1]):
        raise VerificationFailed("a text is not in it")
    if not has_numerals(text.text):
        return
    if "transform" in text.attributes:
        raise VerificationFailed("a figure is turned")
    if text.attributes.get("text-anchor") == "middle" and y > panel.y.begin:
        values = panel.x.values_near(x)
    elif text.attributes.get("text-anchor") == "end" and x < panel.x.begin:
        # the middle of the digits, above the line that they are written on
        values = panel.y.values_near(y - 0.36 * 9.5)
    else:
        raise VerificationFailed("a figure is at no axis")
    if not any(shows(text.text, value) for value in values):
        raise VerificationFailed("a label of an axis is not at its value")


def _corners(drawn: str) -> list[Point]:
    """Return the corners of a path of straight lines."""
    corners: list[Point] = []
    place = 0
    while place < len(drawn):
        command = _COMMANDS.match(drawn, place)
        if command is None or command[1] is None:
            raise VerificationFailed("a path is written in another way")
        place = command.end()
        letter, first, second = command[1], float(command[2]), command[3]
        if (second is None) != (letter in "HV"):
            raise VerificationFailed("a path is written in another way")
        if letter == "H":
            corners.append((first, corners[-1][1]))
        elif letter == "V":
            corners.append((corners[-1][0], first))
        else:
            corners.append((first, float(second)))
    return corners


def _are_near(drawn: list[Point], wanted: list[Point]) -> bool:
    return len(drawn) == len(wanted) and all(
        math.dist(place, other) <= _ROUNDING for place, other in zip(drawn, wanted, strict=True)
    )


def _is_dark(colour: str) -> bool:
    if not _COLOUR.fullmatch(colour):
        return False
    return sum(int(colour[at : at + 2], 16) for at in (1, 3, 5)) <= _LIGHTEST_LINE


def _pair(text: str) -> Point:
    first, second = map(float, text.split(","))
    if not (math.isfinite(first) and math.isfinite(second)):
        raise VerificationFailed("it has a place that is no number")
    return first, second
