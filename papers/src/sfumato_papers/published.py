"""Read the published figures and their sources from one data file."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from sfumato_papers.exhibits import Cell, Direction


@dataclass(frozen=True)
class Published:
    """What a paper prints in one table or Figure.

    Parameters
    ----------
    title
        What it shows.
    source
        Paper, table or Figure, page.
    tolerance
        How far ours may lie from the figures.
    why
        Where that tolerance comes from.
    figures
        By row and column, each as it is printed.
    better
        By column, whether the larger or the smaller figure is the better one, where one is.
    ends
        Where the axes of a Figure end, x and y, which begin at 0.
    repeated
        The rows whose figures the paper prints elsewhere, too, where they are counted.
    """

    title: str
    source: str
    tolerance: float = 0.0
    why: str = ""
    figures: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    better: Mapping[str, Direction] = field(default_factory=dict)
    ends: tuple[float, float] | None = None
    repeated: tuple[str, ...] = ()

    def figure(self, row: str, column: str) -> str | None:
        """Return one figure as it is printed, if it is."""
        return self.figures.get(row, {}).get(column)

    def compare(
        self, row: str, column: str, ours: float | None, *, series: str = "", printed: str | None = None
    ) -> Cell:
        """Return one of our figures next to the published one, if there is one.

        Parameters
        ----------
        row, column
            Its place in the table.
        ours
            What came out here.
        series
            The name of the figures that belong to one trend.
        printed
            The row of the published figure, where that is another one.
        """
        where = row if printed is None else printed
        return Cell(
            row,
            column,
            ours,
            self.figure(where, column),
            self.tolerance,
            series,
            self.better.get(column),
            where in self.repeated,
        )


@cache
def published(paper: str, exhibit: str) -> Published:
    """Return what a paper prints in a table or Figure."""
    written: dict[str, Any] = _file()[paper][exhibit]
    lists: dict[str, Any] = {
        name: tuple(values) for name, values in written.items() if isinstance(values, list)
    }
    return Published(**(written | lists))


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads((files("sfumato_papers") / "published.toml").read_text(encoding="utf-8"))
