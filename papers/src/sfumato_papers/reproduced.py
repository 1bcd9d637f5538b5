"""Which published figures come out here, under which interpretation, and which under none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sfumato.results.measurement import json_value
from sfumato_papers.exhibits import Cell, Exhibit, Verdict

REACHED: tuple[Verdict, ...] = ("same", "within tolerance", "better")
"""The verdicts on a figure that is reached; of one that keeps the trend alone only the order is."""


@dataclass(frozen=True)
class Reach:
    """How near one comes to a published figure under any reading of the paper.

    Parameters
    ----------
    exhibit, cell
        The figure.
    """

    exhibit: Exhibit
    cell: Cell

    @property
    def verdict(self) -> Verdict:
        """The best under any reading."""
        return self.exhibit.best(self.cell)[0]

    @property
    def reading(self) -> str:
        """The reading that leads to it, as ``diversity=distinct``; empty where that is ours."""
        return self.exhibit.best(self.cell)[1]

    @property
    def ours(self) -> float | None:
        """The figure under that reading."""
        found = (other.ours for other in self.cell.readings if other.switch == self.reading)
        return next(found) if self.reading else self.cell.ours

    @property
    def is_reached(self) -> bool:
        """Whether the figure comes out under some reading."""
        return self.verdict in REACHED

    @property
    def tried(self) -> tuple[str, ...]:
        """The readings that lead to another figure than ours."""
        return tuple(other.switch for other in self.cell.readings)

    @property
    def nearest(self) -> tuple[float | None, str]:
        """The figure that lies nearest to the published one, and its reading; ours where none is nearer."""
        every = [(self.cell.nearest, ""), *((other.ours, other.switch) for other in self.cell.readings)]
        known = [(ours, switch) for ours, switch in every if ours is not None]
        return min(known, key=lambda pair: abs(pair[0] - (self.cell.figure or 0.0)), default=(None, ""))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        nearest, reading = self.nearest
        return {
            "exhibit": self.exhibit.key,
            "row": self.cell.row,
            "column": self.cell.column,
            "published": self.cell.published,
            "tolerance": self.cell.tolerance,
            "ours": json_value(self.cell.ours),
            "verdict": self.verdict,
            "reading": self.reading,
            "reached": json_value(self.ours) if self.is_reached else None,
            "nearest": json_value(nearest),
            "nearest-reading": reading,
            "tried": list(self.tried),
        }


def reaches(exhibits: Iterable[Exhibit]) -> list[Reach]:
    """Return every published figure with how near one comes to it; what a paper prints twice, once."""
    return [
        Reach(exhibit, cell)
        for exhibit in exhibits
        for cell in exhibit.cells
        if cell.published is not None and not cell.is_repeated
    ]


def unreached(exhibits: Iterable[Exhibit]) -> list[Reach]:
    """Return the published figures that come out under no reading."""
    return [each for each in reaches(exhibits) if not each.is_reached]


def reached_otherwise(exhibits: Iterable[Exhibit]) -> list[Reach]:
    """Return the published figures that come out under another reading than ours alone."""
    return [
        each
        for each in reaches(exhibits)
        if each.is_reached and each.exhibit.verdict(each.cell) not in REACHED
    ]
