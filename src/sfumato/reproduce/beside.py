"""Beside: our figures beside those that a paper prints, under the title and source of the data file."""

from __future__ import annotations

from collections.abc import Iterable

from sfumato.reproduce.exhibits import Cell, Chart, Claim, Exhibit
from sfumato.reproduce.published import published

NOT_COMPUTED = "not computed in this run"


def cell(paper: str, key: str, row: str, column: str, ours: float | None, series: str = "") -> Cell:
    """Return one of our figures beside the published one, if there is one."""
    known = published(paper, key)
    return Cell(row, column, ours, known.figure(row, column), known.tolerance, series)


def found_or_open(is_found: bool, *, quick: bool) -> bool | None:
    """Return whether a release was found; that a short search misses one does not show that there is none."""
    return True if is_found else None if quick else False


def exhibit(
    paper: str,
    key: str,
    cells: Iterable[Cell] = (),
    *,
    claims: Iterable[Claim] = (),
    charts: Iterable[Chart] = (),
    notes: Iterable[str] = (),
) -> Exhibit:
    """Return an exhibit with what the data file says of it; the reason of its tolerance is the last note."""
    known = published(paper, key)
    said = (*notes, *([known.why] if known.why else []))
    return Exhibit(key, known.title, known.source, tuple(cells), tuple(claims), tuple(charts), notes=said)
