"""Page: every table and figure of the papers on one HTML page without scripts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import jinja2

import sfumato
from sfumato import words
from sfumato.markup import html_templates, inline_picture
from sfumato.reproduce.exhibits import VERDICTS, Cell, Exhibit, counted
from sfumato.reproduce.paper import Paper
from sfumato.reproduce.pictures import chart_svg


def reproduction_html(papers: Mapping[Paper, tuple[Exhibit, ...]], *, quick: bool) -> str:
    """Write the page.

    Parameters
    ----------
    papers
        The exhibits of each paper.
    quick
        Whether the grids were reduced.
    """
    every = [exhibit for exhibits in papers.values() for exhibit in exhibits]
    return _template().render(
        papers=[(paper, exhibits, counted(exhibits)) for paper, exhibits in papers.items()],
        counts=counted(every),
        claims=[claim for exhibit in every for claim in exhibit.claims],
        verdicts=VERDICTS,
        quick=quick,
        version=sfumato.__version__,
    )


def printed(cell: Cell, value: float | None) -> str:
    """Print one of our figures with one digit more than the paper's, where it has any."""
    if value is None:
        return "n/a"
    if abs(value) >= 1000 or (cell.decimals == 0 and value == round(value)):
        return f"{value:,.0f}"
    if cell.published is None:
        return words.number(value)
    return f"{value:,.{min(cell.decimals + 1, 6)}f}"


def _difference(cell: Cell) -> str:
    shown = printed(cell, cell.difference)
    return f"+{shown}" if cell.difference is not None and cell.difference > 0 else shown


@cache
def _template() -> jinja2.Template:
    environment = html_templates("sfumato.reproduce", "sfumato.report")
    environment.filters["chart"] = lambda chart: inline_picture(chart_svg(chart))
    environment.filters["picture"] = inline_picture
    environment.globals["printed"] = printed
    environment.globals["difference"] = _difference
    environment.globals["grid"] = _grid
    return environment.get_template("reproduction.html.j2")


def _grid(exhibit: Exhibit) -> list[tuple[str, list[Cell | None]]]:
    """Return the cells of an exhibit by row, in the order of the columns."""
    cells = {(cell.row, cell.column): cell for cell in exhibit.cells}
    return [(row, [cells.get((row, column)) for column in exhibit.columns]) for row in exhibit.rows]
