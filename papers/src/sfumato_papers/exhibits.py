"""Data types of an exhibit (a table or figure of a paper), and the verdicts on its figures and claims."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any, Literal

from sfumato.results.measurement import json_value
from sfumato_papers.quotations import Quotation

Verdict = Literal["same", "within tolerance", "better", "same trend", "differs", "no figure published"]
VERDICTS: tuple[Verdict, ...] = (
    "same",
    "within tolerance",
    "better",
    "same trend",
    "differs",
    "no figure published",
)
"""The verdicts on figures, the best first."""
Direction = Literal["larger", "smaller"]
Conclusion = Literal[
    "holds",
    "says nothing",
    "depends on the interpretation",
    "depends on chance",
    "does not hold",
    "nothing to destroy",
    "open",
]
CONCLUSIONS: tuple[Conclusion, ...] = (
    "holds",
    "says nothing",
    "depends on the interpretation",
    "depends on chance",
    "does not hold",
    "nothing to destroy",
    "open",
)
"""The verdicts on conclusions."""
Shape = Literal["lines", "bars", "points"]
_CONCORDANT = 0.9
_EXACT = 9
_UNSURE = 0.05


@dataclass(frozen=True)
class Cell:
    """One figure: ours, and the published one if there is one.

    Parameters
    ----------
    row, column
        Its place in the table.
    ours
        Our figure; ``None`` if it was not computed or does not apply.
    published
        The paper's figure as it is printed: its digits say how exactly it is known.
    tolerance
        How far ours may lie from it, for a stated reason, and still be called the same result.
    series
        The name of the figures that belong to one trend, in the order of the exhibit; by default the column.
    better
        Which side of the published figure is the better one, where one is.
    is_repeated
        Whether the paper prints the figure elsewhere, too, and it is counted there.
    spread
        Our figure with each seed; ours is then their median.
    interpretations
        Our figures under the other interpretations of the paper.
    control
        Our figure on the control, where the values to be learned are dealt out at random.
    """

    row: str
    column: str
    ours: float | None
    published: str | None = None
    tolerance: float = 0.0
    series: str = ""
    better: Direction | None = None
    is_repeated: bool = False
    spread: tuple[float, ...] = ()
    interpretations: tuple[AlternativeFigure, ...] = ()
    control: float | None = None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95% confidence interval of the median over the seeds, if there are several."""
        return median_interval(self.spread) if len(self.spread) > 1 else None

    @property
    def nearest(self) -> float | None:
        """The figure of the interval that is nearest to the published one; ours without an interval."""
        if self.interval is None or self.figure is None:
            return self.ours
        return min(max(self.figure, self.interval[0]), self.interval[1])

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
class AlternativeFigure:
    """Our figure under another interpretation of the paper.

    Parameters
    ----------
    switch
        The interpretation, as ``diversity=distinct``.
    ours
        Our figure.
    verdict
        How it compares with the published figure.
    """

    switch: str
    ours: float | None
    verdict: Verdict


@dataclass(frozen=True)
class Trial:
    """Whether a conclusion holds in some other setting.

    Parameters
    ----------
    of
        The setting: an interpretation, as ``diversity=distinct``, or a seed.
    holds, evidence
        As in a claim.
    """

    of: str
    holds: bool | None
    evidence: str


@dataclass(frozen=True)
class Claim:
    """A sentence that is not a figure, and whether it holds here: of a paper, or a test of ours.

    Parameters
    ----------
    text
        What is concluded, in our words, with the limits that we set.
    holds
        Whether it is so here; ``None`` when this run did not compute what it needs.
    evidence
        The figures that say so.
    quotation
        What the paper says, in its words; a test of ours has none.
    is_moot
        Whether the table as it is gives nothing that a release could destroy.
    seeds, interpretations
        The outcome with each seed, and under the other interpretations of the paper.
    control
        The outcome on the control, where the values to be learned are dealt out at random.
    """

    text: str
    holds: bool | None
    evidence: str
    quotation: Quotation | None = None
    is_moot: bool = False
    seeds: tuple[Trial, ...] = ()
    interpretations: tuple[Trial, ...] = ()
    control: Trial | None = None

    @property
    def is_ours(self) -> bool:
        """Whether it is a test of ours, and not what a paper says."""
        return self.quotation is None

    @property
    def is_repeated(self) -> bool:
        """Whether the paper says it elsewhere, too, and it is counted there."""
        return self.quotation is not None and self.quotation.repeated

    @property
    def conclusion(self) -> Conclusion:
        """The verdict on the sentence over all settings."""
        by_seed = _known(trial.holds for trial in self.seeds) or _known([self.holds])
        by_interpretation = {*by_seed, *_known(trial.holds for trial in self.interpretations)}
        if not by_interpretation:
            return "nothing to destroy" if self.is_moot else "open"
        if by_interpretation == {False}:
            return "does not hold"
        if by_seed == {True, False}:
            return "depends on chance"
        if by_interpretation == {True, False}:
            return "depends on the interpretation"
        return "says nothing" if self.control is not None and self.control.holds else "holds"


def _known(answers: Iterable[bool | None]) -> set[bool]:
    return {answer for answer in answers if answer is not None}


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
    spread
        Around each point, where its median over the seeds lies.
    """

    name: str
    x: tuple[float | str, ...]
    y: tuple[float | None, ...]
    published: bool = False
    spread: tuple[tuple[float, float] | None, ...] = ()

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
    log_x
        Whether the axis to the right is logarithmic.
    ends
        Where the paper's axes end, x and y, if it draws them from 0: ours reach at least as far.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    shape: Shape = "lines"
    log_x: bool = False
    ends: tuple[float, float] | None = None


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
    of_adult
        Whether it is computed from Adult. A table that the paper itself made up has no control: what is dealt
        out at random is not in it.
    """

    key: str
    title: str
    source: str
    cells: tuple[Cell, ...] = ()
    claims: tuple[Claim, ...] = ()
    charts: tuple[Chart, ...] = ()
    frontiers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    of_adult: bool = True

    def verdict(self, cell: Cell) -> Verdict:
        """Return how one of the cells compares with the published figure."""
        if cell.figure is None:
            return "no figure published"
        if cell.nearest is None or cell.ours is None:
            return "differs"
        if round(cell.nearest, cell.decimals) == round(cell.figure, cell.decimals):
            return "same"
        if abs(cell.nearest - cell.figure) <= cell.tolerance * (1 + 1e-9):
            return "within tolerance"
        if cell.better and (cell.ours > cell.figure) == (cell.better == "larger"):
            return "better"
        return "same trend" if self._keeps_trend(cell) else "differs"

    def best(self, cell: Cell) -> tuple[Verdict, str]:
        """Return the best verdict under any interpretation, and that interpretation (none if it is ours)."""
        every = [
            (self.verdict(cell), ""),
            *((figure.verdict, figure.switch) for figure in cell.interpretations),
        ]
        return min(every, key=lambda pair: VERDICTS.index(pair[0]))

    def _keeps_trend(self, cell: Cell) -> bool:
        """Return whether the figures of the cell's series are in the paper's order."""
        known = [
            (other.ours, other.figure)
            for other in self.cells
            if other.trend == cell.trend and other.ours is not None and other.figure is not None
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
                    "repeated": cell.is_repeated,
                    "seeds": [json_value(value) for value in cell.spread],
                    "interval": cell.interval and [json_value(value) for value in cell.interval],
                    "interpretations": {
                        figure.switch: {"ours": json_value(figure.ours), "verdict": figure.verdict}
                        for figure in cell.interpretations
                    },
                    "control": json_value(cell.control),
                }
                for cell in self.cells
            ],
            "claims": [
                {
                    "text": claim.text,
                    "of": "sfumato" if claim.is_ours else "paper",
                    "words": claim.quotation and claim.quotation.words,
                    "source": claim.quotation and claim.quotation.source,
                    "repeated": claim.is_repeated,
                    "conclusion": claim.conclusion,
                    "holds": claim.holds,
                    "evidence": claim.evidence,
                    "seeds": {trial.of: trial.holds for trial in claim.seeds},
                    "interpretations": {
                        trial.of: {"holds": trial.holds, "evidence": trial.evidence}
                        for trial in claim.interpretations
                    },
                    "control": claim.control
                    and {"holds": claim.control.holds, "evidence": claim.control.evidence},
                }
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


def counted(exhibits: Iterable[Exhibit], *, by_any_interpretation: bool = False) -> dict[Verdict, int]:
    """Return how often each verdict was given; a figure that a paper repeats counts once.

    Parameters
    ----------
    exhibits
        Where to count.
    by_any_interpretation
        Whether to take the best verdict that some interpretation of the paper leads to.
    """
    counts = Counter(
        exhibit.best(cell)[0] if by_any_interpretation else exhibit.verdict(cell)
        for exhibit in exhibits
        for cell in exhibit.cells
        if not cell.is_repeated
    )
    return {verdict: counts[verdict] for verdict in VERDICTS}


def concluded(exhibits: Iterable[Exhibit], *, ours: bool = False) -> dict[Conclusion, int]:
    """Return how often each conclusion was reached; a sentence that a paper repeats counts once.

    Parameters
    ----------
    exhibits
        Where to count.
    ours
        Whether to count the tests of ours, and not what the papers say.
    """
    counts = Counter(
        claim.conclusion
        for exhibit in exhibits
        for claim in exhibit.claims
        if claim.is_ours == ours and not claim.is_repeated
    )
    return {conclusion: counts[conclusion] for conclusion in CONCLUSIONS}


def median_interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95% confidence interval of a median, whatever the distribution.

    Between the r-th smallest and the r-th largest of n values the median lies but for twice the chance of
    fewer than r heads in n throws. Fewer than six values cannot give 95%: then it is their range.

    Examples
    --------
    >>> median_interval([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    (2, 9)
    >>> median_interval([3, 1])
    (1, 3)
    """
    ordered, n = sorted(values), len(values)
    below, rank = 0.0, 0
    while rank < n // 2:
        below += comb(n, rank) / 2**n
        if 2 * below > _UNSURE:
            break
        rank += 1
    place = max(rank - 1, 0)
    return ordered[place], ordered[n - 1 - place]
