"""Exhibits: a table or a Figure of a paper, the published figures beside ours, and the verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, Literal

from sfumato.measures.base import json_value

Verdict = Literal["same", "within tolerance", "same trend", "differs", "no figure published"]
VERDICTS: tuple[Verdict, ...] = (
    "same",
    "within tolerance",
    "same trend",
    "differs",
    "no figure published",
)
Shape = Literal["lines", "bars", "points"]
_CONCORDANT = 0.9
_EXACT = 9


@dataclass(frozen=True)
class Cell:
    """One figure: ours, and the published one if there is one.

    Parameters
    ----------
    row, column
        Its place in the table.
    ours
        What came out here; ``None`` when it was not computed or does not apply.
    published
        The paper's figure as it is printed: its digits say how exactly it is known.
    tolerance
        How far ours may lie from it, for a stated reason, and still be called the same result.
    series
        The name of the figures that belong to one trend, in the order of the exhibit; by default the column.
    """

    row: str
    column: str
    ours: float | None
    published: str | None = None
    tolerance: float = 0.0
    series: str = ""

    @property
    def figure(self) -> float | None:
        """The published figure as a number."""
        return None if self.published is None else float(Fraction(self.published.replace(",", "")))

    @property
    def difference(self) -> float | None:
        """Ours less the published one."""
        return None if self.ours is None or self.figure is None else self.ours - self.figure

    @property
    def decimals(self) -> int:
        """The digits after the point that are printed; a fraction as 29/7 is exact."""
        if self.published and "/" in self.published:
            return _EXACT
        return len((self.published or "0.0000").partition(".")[2])

    @property
    def trend(self) -> tuple[str, ...]:
        """What it is compared along: figures of different series have no order."""
        return (self.series,) if self.series else ("", self.column)


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper that is not a figure, and whether it holds here.

    Parameters
    ----------
    text
        What the paper concludes, in our words.
    holds
        Whether it is so here; ``None`` when this run did not compute what it needs.
    evidence
        The figures that say so.
    """

    text: str
    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class Series:
    """Points of one curve, or the bars of one colour.

    Parameters
    ----------
    name
        What is drawn; the paper's points of the same name share its colour and mark.
    x, y
        The points; x may be words, for bars.
    published
        Whether these are the paper's points: they are drawn hollow.
    """

    name: str
    x: tuple[float | str, ...]
    y: tuple[float | None, ...]
    published: bool = False

    @property
    def label(self) -> str:
        """What the legend says."""
        return f"{self.name} (published)" if self.published else self.name


@dataclass(frozen=True)
class Chart:
    """A chart in the paper's axes.

    Parameters
    ----------
    title, x_label, y_label
        The words on it.
    series
        What is drawn.
    shape
        Lines with marks, bars side by side, or points alone.
    log_x, log_y
        Whether an axis is logarithmic.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    shape: Shape = "lines"
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Exhibit:
    """A table or a Figure of a paper, rerun.

    Parameters
    ----------
    key
        Its name in the data file, as ``table-2``.
    title
        What it shows.
    source
        Paper, table or Figure, page.
    cells
        The figures, in the order of the table.
    claims
        What the paper says of them.
    charts
        The pictures, in the paper's axes.
    frontiers
        The efficient frontiers of what was explored, each drawn as an SVG element.
    notes
        How ours were computed, and why they differ where they do.
    """

    key: str
    title: str
    source: str
    cells: tuple[Cell, ...] = ()
    claims: tuple[Claim, ...] = ()
    charts: tuple[Chart, ...] = ()
    frontiers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def verdict(self, cell: Cell) -> Verdict:
        """Return how one of the cells compares with the published figure."""
        if cell.figure is None:
            return "no figure published"
        if cell.ours is None or cell.difference is None:
            return "differs"
        if round(cell.ours, cell.decimals) == round(cell.figure, cell.decimals):
            return "same"
        if abs(cell.difference) <= cell.tolerance * (1 + 1e-9):
            return "within tolerance"
        return "same trend" if self._keeps_trend(cell) else "differs"

    def _keeps_trend(self, cell: Cell) -> bool:
        """Return whether the figures of the cell's series stand in the paper's order."""
        known = [
            (each.ours, each.figure)
            for each in self.cells
            if each.trend == cell.trend and each.ours is not None and each.figure is not None
        ]
        pairs = [(a, b) for a, b in combinations(known, 2) if a[1] != b[1]]
        kept = [(a[0] - b[0]) * (a[1] - b[1]) > 0 for a, b in pairs]
        return len(known) > 2 and sum(kept) >= _CONCORDANT * len(kept) > 0

    @property
    def rows(self) -> list[str]:
        """The rows of the table."""
        return list(dict.fromkeys(cell.row for cell in self.cells))

    @property
    def columns(self) -> list[str]:
        """The columns of the table."""
        return list(dict.fromkeys(cell.column for cell in self.cells))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "key": self.key,
            "title": self.title,
            "source": self.source,
            "cells": [
                {
                    "row": cell.row,
                    "column": cell.column,
                    "published": cell.published,
                    "ours": json_value(cell.ours),
                    "difference": json_value(cell.difference),
                    "tolerance": cell.tolerance,
                    "verdict": self.verdict(cell),
                }
                for cell in self.cells
            ],
            "claims": [
                {"text": claim.text, "holds": claim.holds, "evidence": claim.evidence}
                for claim in self.claims
            ],
            "charts": [
                {
                    "title": chart.title,
                    "x": chart.x_label,
                    "y": chart.y_label,
                    "series": [
                        {
                            "name": series.name,
                            "published": series.published,
                            "x": list(series.x),
                            "y": [json_value(y) for y in series.y],
                        }
                        for series in chart.series
                    ],
                }
                for chart in self.charts
            ],
            "notes": list(self.notes),
        }


def counted(exhibits: Iterable[Exhibit]) -> dict[Verdict, int]:
    """Return how often each verdict was given."""
    counts = Counter(exhibit.verdict(cell) for exhibit in exhibits for cell in exhibit.cells)
    return {verdict: counts[verdict] for verdict in VERDICTS}
