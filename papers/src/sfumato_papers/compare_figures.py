"""Build cells, bars and exhibits that show our figures next to the published ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sfumato_papers.exhibits import Cell, Chart, Claim, Exhibit, Series
from sfumato_papers.published import published

NOT_COMPUTED = "not computed in this run"


def cell(paper: str, key: str, row: str, column: str, ours: float | None, series: str = "") -> Cell:
    """Return one of our figures next to the published one, if there is one."""
    return published(paper, key).compare(row, column, ours, series=series)


def printed_series(paper: str, key: str, name: str, rows: Sequence[str], column: str) -> Series:
    """Return the figures that a paper prints in a column, row by row, as points of a chart."""
    figures = [published(paper, key).figure(row, column) for row in rows]
    return Series(name, tuple(rows), tuple(float(f) if f else None for f in figures), published=True)


def compared_bars(
    paper: str, key: str, column: str, ours: Mapping[str, float], *, title: str, name: str, y_label: str
) -> Chart:
    """Draw our figures, by row, and those that the paper prints in a column as bars side by side."""
    own = Series(name, tuple(ours), tuple(ours.values()))
    printed = printed_series(paper, key, name, tuple(ours), column)
    return Chart(title, "release", y_label, (own, printed), "bars")


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
    of_adult: bool = True,
) -> Exhibit:
    """Return an exhibit with what the data file says of it; the reason of its tolerance is the last note."""
    known = published(paper, key)
    all_notes = (*notes, *([known.why] if known.why else []))
    return Exhibit(
        key,
        known.title,
        known.source,
        tuple(cells),
        tuple(claims),
        tuple(charts),
        notes=all_notes,
        of_adult=of_adult,
    )


def not_empty(series: Iterable[Series]) -> tuple[Series, ...]:
    """Leave out the curves of which nothing was measured."""
    return tuple(line for line in series if line.x)
