"""Write the HTML page, without scripts, that shows every exhibit of the papers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import jinja2

import sfumato
from sfumato.results import formatting
from sfumato.workflow.report.markup import html_templates, inline_picture
from sfumato_papers.exhibits import (
    CONCLUSIONS,
    VERDICTS,
    Cell,
    Conclusion,
    Exhibit,
    Verdict,
    concluded,
    counted,
)
from sfumato_papers.paper import Paper
from sfumato_papers.pictures import chart_svg
from sfumato_papers.reproduced import BestMatch, best_matches, not_reproduced, reproduced_otherwise

_MOST_DIGITS = 5
_MEANS = 1 / 50


def reproduction_html(
    papers: Mapping[Paper, tuple[Exhibit, ...]],
    *,
    quick: bool,
    n_seeds: int = 1,
    has_interpretations: bool = True,
    has_control: bool = True,
) -> str:
    """Write the page.

    Parameters
    ----------
    papers
        The exhibits of each paper.
    quick
        Whether the grids were reduced.
    n_seeds
        How often all that happens by chance was repeated.
    has_interpretations, has_control
        Whether the papers were also rerun under every other interpretation, and with a control.
    """
    every = [exhibit for exhibits in papers.values() for exhibit in exhibits]
    return _template().render(
        papers=[(paper, exhibits, _summary(exhibits)) for paper, exhibits in papers.items()],
        all=_summary(every),
        verdicts=VERDICTS,
        conclusions=CONCLUSIONS,
        quick=quick,
        n_seeds=n_seeds,
        has_interpretations=has_interpretations,
        has_control=has_control,
        version=sfumato.__version__,
    )


@dataclass(frozen=True)
class _Summary:
    """The numbers of verdicts and conclusions."""

    verdicts: Mapping[Verdict, int]
    conclusions: Mapping[Conclusion, int]
    tests: Mapping[Conclusion, int]
    by_other_interpretations: int
    reproduced_otherwise: Sequence[BestMatch]
    not_reproduced: Sequence[BestMatch]


def _summary(exhibits: Sequence[Exhibit]) -> _Summary:
    """Count the verdicts, each under its best interpretation."""
    return _Summary(
        counted(exhibits, by_any_interpretation=True),
        concluded(exhibits),
        concluded(exhibits, ours=True),
        sum(bool(match.interpretation) for match in best_matches(exhibits)),
        reproduced_otherwise(exhibits),
        not_reproduced(exhibits),
    )


def printed(cell: Cell, value: float | None) -> str:
    """Print one of our figures with one more digit than the paper's, but none below its tolerance."""
    if value is None:
        return "n/a"
    if abs(value) >= 1000 or (cell.decimals == 0 and value == round(value)):
        return _with_minus(f"{value:,.0f}")
    if cell.published is None:
        return formatting.number(value)
    return _with_minus(f"{value:,.{_decimals(cell, value)}f}")


def _decimals(cell: Cell, value: float) -> int:
    """Return how many decimals to print: none smaller than a fiftieth of the tolerance."""
    before_the_point = len(f"{abs(value):.0f}") if abs(value) >= 1 else 0
    most = min(cell.decimals + 1, _MOST_DIGITS - before_the_point)
    return min(most, max(math.ceil(-math.log10(_MEANS * cell.tolerance)), 0)) if cell.tolerance else most


def spread_words(cell: Cell) -> str:
    """Return the interval of a figure over the seeds in words, if it varies."""
    if cell.interval is None or printed(cell, cell.interval[0]) == printed(cell, cell.interval[1]):
        return ""
    return f"{printed(cell, cell.interval[0])} to {printed(cell, cell.interval[1])}"


def _with_minus(figure: str) -> str:
    return figure.replace("-", "\N{MINUS SIGN}")


def _difference(cell: Cell) -> str:
    shown = printed(cell, cell.difference)
    return f"+{shown}" if cell.difference is not None and cell.difference > 0 else shown


@cache
def _template() -> jinja2.Template:
    environment = html_templates("sfumato_papers", "sfumato.workflow.report")
    environment.filters["chart"] = lambda chart: inline_picture(chart_svg(chart))
    environment.filters["picture"] = inline_picture
    environment.globals["printed"] = printed
    environment.globals["difference"] = _difference
    environment.globals["spread"] = spread_words
    environment.globals["split"] = _split
    return environment.get_template("reproduction.html.j2")


@dataclass(frozen=True)
class _Part:
    """Some rows of an exhibit's table, with the columns that they need."""

    exhibit: Exhibit
    rows: tuple[str, ...]

    @property
    def cells(self) -> list[Cell]:
        """Their cells, in the order of the exhibit."""
        return [cell for cell in self.exhibit.cells if cell.row in self.rows]

    @property
    def columns(self) -> list[str]:
        """The columns in which they have a figure."""
        return list(dict.fromkeys(cell.column for cell in self.cells))

    @property
    def grid(self) -> list[tuple[str, list[Cell | None]]]:
        """The cells by row, in the order of the columns."""
        cells = {(cell.row, cell.column): cell for cell in self.cells}
        return [(row, [cells.get((row, column)) for column in self.columns]) for row in self.rows]

    @property
    def is_list(self) -> bool:
        """Whether all its figures are in one column, next to published ones."""
        return len(self.columns) == 1 and any(cell.published is not None for cell in self.cells)


def _split(exhibit: Exhibit) -> tuple[_Part | None, _Part | None]:
    """Return the rows that are shown, and those that are folded because a chart shows their figures.

    Where there is a chart, rows without any published figure are folded.
    """
    compared = {cell.row for cell in exhibit.cells if cell.published is not None}
    shown = tuple(row for row in exhibit.rows if row in compared or not exhibit.charts)
    folded = tuple(row for row in exhibit.rows if row not in shown)
    return (
        _Part(exhibit, shown) if shown else None,
        _Part(exhibit, folded) if folded else None,
    )
