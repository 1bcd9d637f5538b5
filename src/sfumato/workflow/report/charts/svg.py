"""Write SVG elements whose bytes depend only on the drawing.

A published page is compared byte by byte, so no library draws here: fonts, locales and versions of
dependencies would change the bytes. Styles are presentation attributes because pages forbid inline styles,
and no element has an id because the pictures of one page would clash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape

INK, FAINT, RULE, PAPER = "#1b2733", "#5c6b7a", "#d5dbe1", "#ffffff"
"""The colours of text, of axes, of the grid and of the ground."""
# Okabe and Ito's palette, which the colour-blind can tell apart, less its yellow, too pale on white, and two
# of Tol's.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#332288", "#999933")
MARKERS = ("o", "s", "D", "P", "p", "h", "v", "^")
"""The shapes of points, by the letters that other plotting libraries use; there are also ``< > X x``."""
SIZE = 9.5
"""The height of letters in pixels."""
FONTS = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif"

Point = tuple[float, float]
"""A place: in pixels, y downwards, or in the units of two axes."""

Attributes = Mapping[str, str | float]

_ARM = ((-1, -1), (-1, -3), (1, -3))
_PLUS = [*_ARM, *((-y, x) for x, y in _ARM), *((-x, -y) for x, y in _ARM), *((y, -x) for x, y in _ARM)]
# Corners around the point, for a radius of 1. Written out rather than computed: sine and cosine may differ in
# their last digit between machines.
_SHAPES: dict[str, tuple[Point, ...]] = {
    "s": ((-0.86, -0.86), (0.86, -0.86), (0.86, 0.86), (-0.86, 0.86)),
    "D": ((0, -1.2), (1.2, 0), (0, 1.2), (-1.2, 0)),
    "P": tuple((x * 0.36, y * 0.36) for x, y in _PLUS),
    "p": ((0, -1.1), (1.05, -0.34), (0.65, 0.89), (-0.65, 0.89), (-1.05, -0.34)),
    "h": ((0, -1.05), (0.91, -0.53), (0.91, 0.53), (0, 1.05), (-0.91, 0.53), (-0.91, -0.53)),
    "v": ((0, 1.15), (-1, -0.7), (1, -0.7)),
    "^": ((0, -1.15), (1, 0.7), (-1, 0.7)),
    ">": ((1.15, 0), (-0.7, 1), (-0.7, -1)),
    "<": ((-1.15, 0), (0.7, 1), (0.7, -1)),
    "X": tuple(((x - y) * 0.27, (x + y) * 0.27) for x, y in _PLUS),
    "bar": ((-1.6, -0.7), (1.6, -0.7), (1.6, 0.7), (-1.6, 0.7)),
}

# The widths of DejaVu Sans, the widest of the fonts that browsers choose here: a label that has room in it
# has room in the others.
_GROUPS = {
    0.34: " .,:;|!'ijlIJ/\\",
    0.42: '()[]frt-"',
    0.56: "*_`?szcL",
    0.75: "GOQDNHU&",
    0.86: "#+<=>^~Mw\u2212\u2264\u2265\u221e",  # minus, at most, at least, infinity
    1.0: "%mW@\u2026\ufffd",  # ellipsis, replacement sign
}
_WIDTHS = {sign: width for width, signs in _GROUPS.items() for sign in signs}
_OTHER_LETTERS, _CAPITALS, _IDEOGRAPHS = 0.64, 0.69, 1.05
_FIRST_IDEOGRAPH = "\u1100"

# what no XML document may contain, not even as a reference
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def element(tag: str, attributes: Attributes, *children: str) -> str:
    """Return an element with these attributes in this order; children are markup already.

    Examples
    --------
    >>> element("g", {"fill": "none"}, element("line", {"x1": 1 / 3, "aria-label": 'a "b"'}))
    '<g fill="none"><line x1="0.33" aria-label="a &quot;b&quot;"/></g>'
    """
    written = "".join(f' {name}="{_attribute(value)}"' for name, value in attributes.items())
    return f"<{tag}{written}>{''.join(children)}</{tag}>" if children else f"<{tag}{written}/>"


def escaped(text: str) -> str:
    """Escape text, and replace characters that XML cannot contain."""
    return escape(_FORBIDDEN.sub("�", text))


def decimal(value: float) -> str:
    """Write a coordinate with at most two decimals.

    Examples
    --------
    >>> decimal(12.0), decimal(1 / 3), decimal(-0.001)
    ('12', '0.33', '0')
    """
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def _attribute(value: str | float) -> str:
    if not isinstance(value, str):
        return decimal(value)
    # a parser would turn these into spaces
    return escaped(value).replace("\n", "&#10;").replace("\t", "&#9;").replace("\r", "&#13;")


def text_width(text: str, size: float = SIZE) -> float:
    """Return an upper bound of the width of a text, by a fixed table of widths."""
    return size * sum(map(_width, text))


def _width(sign: str) -> float:
    if sign in _WIDTHS:
        return _WIDTHS[sign]
    if "A" <= sign <= "Z":
        return _CAPITALS
    return _OTHER_LETTERS if sign < _FIRST_IDEOGRAPH else _IDEOGRAPHS


@dataclass(frozen=True)
class Style:
    """How a shape is drawn: fill, outline, dashes in SVG's syntax, and opacity."""

    fill: str = "none"
    stroke: str = "none"
    width: float = 1.0
    dashes: str = ""
    opacity: float = 1.0

    @property
    def attributes(self) -> dict[str, str | float]:
        """The presentation attributes."""
        found: dict[str, str | float] = {"fill": self.fill}
        if self.stroke != "none":
            found |= {"stroke": self.stroke, "stroke-width": self.width}
        if self.dashes:
            found["stroke-dasharray"] = self.dashes
        if self.opacity != 1:
            found["opacity"] = self.opacity
        return found


@dataclass(frozen=True)
class Marker:
    """How a point is drawn: a shape, its radius and its style."""

    shape: str
    radius: float
    style: Style

    def draw(self, point: Point, title: str = "") -> str:
        """Draw the point at this position, in the style of its group, with a tooltip if it has a title."""
        place = f"translate({decimal(point[0])} {decimal(point[1])})"
        tooltip = [element("title", {}, escaped(title))] if title else []
        return element("path", {"transform": place, "d": self.outline}, *tooltip)

    @property
    def outline(self) -> str:
        """The path data of the shape around the origin."""
        radius = self.radius
        if self.shape == "o":
            arc = f"a{decimal(radius)} {decimal(radius)} 0 1 0"
            return f"M{decimal(-radius)} 0{arc} {decimal(2 * radius)} 0{arc} {decimal(-2 * radius)} 0Z"
        if self.shape == "x":
            ends = decimal(radius), decimal(-radius)
            return "M{1} {1}L{0} {0}M{1} {0}L{0} {1}".format(*ends)
        return path([(radius * x, radius * y) for x, y in _SHAPES[self.shape]]) + "Z"


@dataclass(frozen=True)
class Label:
    """A line of text: its anchor, position and style.

    A halo keeps text apart from what it is written upon.
    """

    text: str
    point: Point
    anchor: str = "start"
    colour: str = ""
    turn: float = 0.0
    has_halo: bool = False

    def draw(self) -> str:
        """Write the text, centred vertically on its point."""
        x, y = self.point
        attributes: dict[str, str | float] = {"x": x, "y": y + 0.36 * SIZE}
        if self.turn:
            attributes["transform"] = f"rotate({decimal(self.turn)} {decimal(x)} {decimal(y)})"
        if self.anchor != "start":
            attributes["text-anchor"] = self.anchor
        if self.colour:
            attributes["fill"] = self.colour
        if self.has_halo:
            attributes |= {"stroke": PAPER, "stroke-width": 3, "paint-order": "stroke"}
        return element("text", attributes, escaped(self.text))


def path(corners: Iterable[Point]) -> str:
    """Return the path data through these corners."""
    return "M" + "L".join(f"{decimal(x)} {decimal(y)}" for x, y in corners)


def data_attributes(data: Attributes) -> Attributes:
    """Return the attributes that tell a script what a mark represents."""
    return {f"data-{name}": value for name, value in data.items()}
