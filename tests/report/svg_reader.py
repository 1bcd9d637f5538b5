"""Reads pictures as a program does that checks them: by what their panels and marks declare."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
Point = tuple[float, float]


@dataclass(frozen=True)
class ReadPanel:
    """A panel, of which only the declared mapping of its axes is used."""

    group: ElementTree.Element

    def place(self, x: float, y: float) -> Point:
        """Return where a value must be drawn."""
        return self._along("x", x), self._along("y", y)

    def ends(self, side: str) -> Point:
        """Return the two ends of an axis in pixels."""
        first, last = (float(end) for end in self.group.attrib[f"data-{side}-range"].split(","))
        return first, last

    def domain(self, side: str) -> Point:
        """Return the values at the two ends of an axis."""
        low, high = (float(end) for end in self.group.attrib[f"data-{side}-domain"].split(","))
        return low, high

    def marks(self, **wanted: str) -> list[ElementTree.Element]:
        """Return what is drawn in it with all these attributes, whether its own or those of its group."""
        found = []
        for group in self.group.iter(f"{SVG}g"):
            for mark in group:
                looks = {**(group.attrib if group is not self.group else {}), **mark.attrib}
                if mark.tag != group.tag and all(
                    looks.get(name.replace("_", "-")) == value for name, value in wanted.items()
                ):
                    found.append(mark)
        return found

    def _along(self, side: str, value: float) -> float:
        (low, high), (first, last) = self.domain(side), self.ends(side)
        scale = self.group.attrib[f"data-{side}-scale"]
        if scale == "log":
            low, high, value = math.log(low), math.log(high), math.log(value)
        elif scale != "linear":
            root, origin = (
                {"square-root": 2, "fourth-root": 4}[scale],
                float(self.group.attrib[f"data-{side}-origin"]),
            )
            low, high, value = (
                math.copysign(abs(v - origin) ** (1 / root), v - origin) for v in (low, high, value)
            )
        return first + (value - low) / (high - low) * (last - first)


def parsed(svg: str) -> ElementTree.Element:
    """Return the root of a picture."""
    assert svg.startswith("<svg ")
    return ElementTree.fromstring(svg)


def panels(svg: str) -> list[ReadPanel]:
    """Return the panels of a picture, from top to bottom."""
    return [ReadPanel(group) for group in parsed(svg).iter(f"{SVG}g") if "data-x-scale" in group.attrib]


def texts(svg: str) -> list[str]:
    """Return all texts of a picture."""
    return [element.text or "" for element in parsed(svg).iter(f"{SVG}text")]


def corners(path: ElementTree.Element) -> list[Point]:
    """Return the corners of a path, y downwards as SVG has it."""
    found: list[Point] = []
    for command, numbers in re.findall(r"([MLHV])([^MLHVZ]*)", path.attrib["d"]):
        given = [float(number) for number in numbers.split()]
        x, y = found[-1] if found else (math.nan, math.nan)
        found.append({"H": (given[0], y), "V": (x, given[0])}.get(command, (given[0], given[-1])))
    return found


def place_of(mark: ElementTree.Element) -> Point:
    """Return where a point is drawn."""
    x, y = re.fullmatch(r"translate\((\S+) (\S+)\)", mark.attrib["transform"]).groups()
    return float(x), float(y)


def points_of(mark: ElementTree.Element) -> list[Point]:
    """Return the values that a line says it shows."""
    pairs = (pair.split(",") for pair in mark.attrib["data-points"].split())
    return [(float(x), float(y)) for x, y in pairs]
