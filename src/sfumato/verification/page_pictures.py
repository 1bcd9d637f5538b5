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

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.page_markup import Element
from sfumato.verification.page_statements import CLASS_SIZES
from sfumato.verification.renderings import has_numerals, shows

Point = tuple[float, float]

# A place is written with two decimals.
_NEAR = 0.011
_TEXT_NEAR = 12.0
_MOST_EXACT = 400
_FEWEST = 100
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_COMMANDS = re.compile(rf"([MLHV])({_NUMBER})(?: ({_NUMBER}))?|(Z)")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_FAINTEST_LINE = 600  # the sum of red, green and blue; white has 765
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
class _Panel:
    """Two axes: the values at their ends, and the positions of these values."""

    x: tuple[float, float]
    y: tuple[float, float]
    across: tuple[float, float]
    up: tuple[float, float]

    @classmethod
    def of(cls, group: Element) -> _Panel:
        given = group.attributes
        if (given["data-x-scale"], given["data-y-scale"]) != ("log", "linear"):
            raise VerificationFailed("its axes are others")
        names = ("data-x-domain", "data-y-domain", "data-x-range", "data-y-range")
        panel = cls(*(_two(given[name]) for name in names))
        if not (0 < panel.x[0] < panel.x[1] and panel.y[0] < panel.y[1]):
            raise VerificationFailed("its axes have no length")
        if not (panel.across[0] < panel.across[1] and panel.up[0] > panel.up[1]):
            raise VerificationFailed("its axes are turned round")
        return panel

    def place(self, x: float, y: float) -> Point:
        part = math.log(x / self.x[0]) / math.log(self.x[1] / self.x[0])
        share = (y - self.y[0]) / (self.y[1] - self.y[0])
        return (
            self.across[0] + part * (self.across[1] - self.across[0]),
            self.up[0] + share * (self.up[1] - self.up[0]),
        )

    def is_inside(self, point: Point) -> bool:
        x, y = point
        return self.across[0] + 1 < x < self.across[1] - 1 and self.up[1] + 1 < y < self.up[0] - 1


def _check_picture(svg: Element, steps: Mapping[int, float]) -> None:
    parts = [child for child in svg.children if isinstance(child, Element)]
    ground, *panels = parts
    width, height = _two(svg.attributes["viewBox"].removeprefix("0 0 ").replace(" ", ","))
    box = {"width": f"{width:g}", "height": f"{height:g}", "fill": "#ffffff"}
    if ground.tag != "rect" or ground.attributes != box or ground.children:
        raise VerificationFailed("its ground is another one")
    if len(panels) != 1 or panels[0].tag != "g" or svg.attributes.get("fill") != "#1b2733":
        raise VerificationFailed("it has not one panel")
    panel = _Panel.of(panels[0])
    if not (panel.across[0] >= 0 and panel.across[1] <= width and panel.up[1] >= 0 and panel.up[0] <= height):
        raise VerificationFailed("its panel is not in it")
    if (panel.across[1] - panel.across[0]) < width / 2 or (panel.up[0] - panel.up[1]) < height / 2:
        raise VerificationFailed("its panel is small")
    shapes = [child for child in panels[0].children if isinstance(child, Element)]
    if any(shape.children and shape.tag != "text" for shape in shapes):
        raise VerificationFailed("a shape holds others")
    lines = [shape for shape in shapes if "data-claim" in shape.attributes]
    if len(lines) != 1 or lines[0].attributes["data-claim"] != CLASS_SIZES:
        raise VerificationFailed("it has not one line")
    points = _points(lines[0], steps)
    corners = _steps(panel, points)
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
    points = [_two(pair) for pair in line.attributes["data-points"].split(" ")]
    sizes = [x for x, _ in points]
    is_right = all(x in steps and math.isclose(steps[int(x)], y, rel_tol=1e-9) for x, y in points)
    ends = sorted(steps)
    is_whole = len(points) == len(steps) if len(steps) <= _MOST_EXACT else len(points) >= _FEWEST
    if (
        not is_right
        or not is_whole
        or sizes != sorted(set(sizes))
        or [sizes[0], sizes[-1]] != [ends[0], ends[-1]]
    ):
        raise VerificationFailed("its line shows other sizes")
    return points


def _steps(panel: _Panel, points: list[Point]) -> list[Point]:
    """Return the corners of the line: up at each size, level until the next."""
    places = [panel.place(*point) for point in points]
    corners, height = [(places[0][0], panel.up[0])], panel.up[0]
    for x, y in places:
        corners += [(x, height), (x, y)]
        height = y
    return [*corners, (panel.across[1], height)]


def _check_line(line: Element, corners: list[Point]) -> None:
    look = line.attributes
    odd = set(look) - {"d", "fill", "stroke", "stroke-width", "data-claim", "data-points"}
    if (
        odd
        or look["fill"] != "none"
        or not _is_strong(look["stroke"])
        or not 0.5 <= float(look["stroke-width"]) <= 5
    ):
        raise VerificationFailed("its line can hardly be seen")
    if not _are_near(_corners(look["d"]), corners):
        raise VerificationFailed("its line is not where its sizes belong")


def _check_area(area: Element, corners: list[Point], panel: _Panel) -> None:
    look = area.attributes
    if set(look) != {"d", "fill", "opacity"} or float(look["opacity"]) > _DENSEST_AREA:
        raise VerificationFailed("an area covers its line")
    if not _are_near(_corners(look["d"].removesuffix("Z")), [*corners, (panel.across[1], panel.up[0])]):
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
        is_upright = x == other_x and {y, other_y} == set(panel.up)
        is_level = y == other_y and {x, other_x} == set(panel.across)
        middle = (x + other_x) / 2, (y + other_y) / 2
        short = math.dist(*corners) <= _TEXT_NEAR and not panel.is_inside(middle)
        if not (is_upright or is_level or short):
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
    if text.attributes.get("text-anchor") == "middle" and y > panel.up[0]:
        values: Iterator[float] = _values(
            panel.x, (x - panel.across[0]) / (panel.across[1] - panel.across[0]), log=True
        )
    elif text.attributes.get("text-anchor") == "end" and x < panel.across[0]:
        middle = y - 0.36 * 9.5
        values = _values(panel.y, (middle - panel.up[0]) / (panel.up[1] - panel.up[0]), log=False)
    else:
        raise VerificationFailed("a figure is at no axis")
    if not any(shows(text.text, value) for value in values):
        raise VerificationFailed("a label of an axis is not at its value")


def _values(ends: tuple[float, float], part: float, *, log: bool) -> Iterator[float]:
    """Yield the round values near a position on an axis: those with three digits."""
    value = ends[0] * (ends[1] / ends[0]) ** part if log else ends[0] + part * (ends[1] - ends[0])
    for digits in range(1, 5):
        rounded = float(f"{value:.{digits}g}")
        if abs(rounded - value) <= 0.003 * abs(value) + 1e-4 * (ends[1] - ends[0]) * (not log):
            yield rounded
    if abs(value) < 1e-3 * (ends[1] - ends[0]):
        yield 0.0


def _corners(drawn: str) -> list[Point]:
    """Return the corners of a path of straight lines."""
    found: list[Point] = []
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
            found.append((first, found[-1][1]))
        elif letter == "V":
            found.append((found[-1][0], first))
        else:
            found.append((first, float(second)))
    return found


def _are_near(drawn: list[Point], wanted: list[Point]) -> bool:
    return len(drawn) == len(wanted) and all(
        math.dist(place, other) <= 2 * _NEAR for place, other in zip(drawn, wanted, strict=True)
    )


def _is_strong(colour: str) -> bool:
    if not _COLOUR.fullmatch(colour):
        return False
    return sum(int(colour[at : at + 2], 16) for at in (1, 3, 5)) <= _FAINTEST_LINE


def _two(pair: str) -> Point:
    first, second = pair.split(",")
    found = float(first), float(second)
    if not all(map(math.isfinite, found)):
        raise VerificationFailed("it has a place that is no number")
    return found
