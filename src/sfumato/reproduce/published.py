"""Published: the figures that the papers print, from one data file with their sources."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any


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
    """

    title: str
    source: str
    tolerance: float = 0.0
    why: str = ""
    figures: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def figure(self, row: str, column: str) -> str | None:
        """Return one figure as it is printed, if it is."""
        return self.figures.get(row, {}).get(column)


@cache
def published(paper: str, exhibit: str) -> Published:
    """Return what a paper prints in a table or Figure."""
    return Published(**_file()[paper][exhibit])


@cache
def _file() -> dict[str, Any]:
    return tomllib.loads((files("sfumato.reproduce") / "published.toml").read_text(encoding="utf-8"))
