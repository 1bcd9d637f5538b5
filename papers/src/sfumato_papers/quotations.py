"""Said: what the papers say that is not a figure, in their words, from one data file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Said:
    """A sentence of a paper.

    Parameters
    ----------
    words
        The paper's.
    source
        Where they stand.
    repeated
        Whether the paper says it elsewhere, too, where it is counted.
    """

    words: str
    source: str
    repeated: bool = False


@cache
def said(paper: str, key: str) -> Said:
    """Return what a paper says.

    Examples
    --------
    >>> said("li", "closeness-better").words
    't-closeness performs better than other privacy requirements'
    """
    return Said(**sayings()[paper][key])


@cache
def sayings() -> dict[str, dict[str, Any]]:
    """Return all that the papers say, by paper and key."""
    return tomllib.loads((files("sfumato_papers") / "said.toml").read_text(encoding="utf-8"))
