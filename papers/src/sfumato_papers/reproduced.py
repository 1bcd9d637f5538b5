"""Find which published figures are reproduced, under which interpretation, and which under none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sfumato.results.measurement import json_value
from sfumato_papers.exhibits import Cell, Exhibit, Verdict

REPRODUCED: tuple[Verdict, ...] = ("same", "within tolerance", "better")
"""The verdicts on a figure that is reproduced; "same trend" reproduces its order only."""


@dataclass(frozen=True)
class BestMatch:
    """A published figure and the best verdict on ours under any interpretation of the paper.

    Parameters
    ----------
    exhibit, cell
        The figure.
    """

    exhibit: Exhibit
    cell: Cell

    @property
    def verdict(self) -> Verdict:
        """The best under any interpretation."""
        return self.exhibit.best(self.cell)[0]

    @property
    def interpretation(self) -> str:
        """The interpretation that leads to it, as ``diversity=distinct``; empty where that is ours."""
        return self.exhibit.best(self.cell)[1]

    @property
    def ours(self) -> float | None:
        """The figure under that interpretation."""
        figures = (other.ours for other in self.cell.interpretations if other.switch == self.interpretation)
        return next(figures) if self.interpretation else self.cell.ours

    @property
    def is_reproduced(self) -> bool:
        """Whether the figure comes out under some interpretation."""
        return self.verdict in REPRODUCED

    @property
    def tried(self) -> tuple[str, ...]:
        """The interpretations that lead to another figure than ours."""
        return tuple(other.switch for other in self.cell.interpretations)

    @property
    def nearest(self) -> tuple[float | None, str]:
        """The figure nearest to the published one, and its interpretation (none where it is ours)."""
        others = ((other.ours, other.switch) for other in self.cell.interpretations)
        known = [(ours, switch) for ours, switch in [(self.cell.nearest, ""), *others] if ours is not None]
        return min(known, key=lambda pair: abs(pair[0] - (self.cell.figure or 0.0)), default=(None, ""))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        nearest, interpretation = self.nearest
        return {
            "exhibit": self.exhibit.key,
            "row": self.cell.row,
            "column": self.cell.column,
            "published": self.cell.published,
            "tolerance": self.cell.tolerance,
            "ours": json_value(self.cell.ours),
            "verdict": self.verdict,
            "interpretation": self.interpretation,
            "reproduced": json_value(self.ours) if self.is_reproduced else None,
            "nearest": json_value(nearest),
            "nearest-interpretation": interpretation,
            "tried": list(self.tried),
        }


def best_matches(exhibits: Iterable[Exhibit]) -> list[BestMatch]:
    """Return the best match of every published figure; a figure that a paper prints twice counts once."""
    return [
        BestMatch(exhibit, cell)
        for exhibit in exhibits
        for cell in exhibit.cells
        if cell.published is not None and not cell.is_repeated
    ]


def not_reproduced(exhibits: Iterable[Exhibit]) -> list[BestMatch]:
    """Return the published figures that no interpretation reproduces."""
    return [match for match in best_matches(exhibits) if not match.is_reproduced]


def reproduced_otherwise(exhibits: Iterable[Exhibit]) -> list[BestMatch]:
    """Return the published figures that only another interpretation than ours reproduces."""
    return [
        match
        for match in best_matches(exhibits)
        if match.is_reproduced and match.exhibit.verdict(match.cell) not in REPRODUCED
    ]
