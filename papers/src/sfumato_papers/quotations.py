"""Read the sentences that are quoted from the papers from one data file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Quotation:
    """A sentence of a paper.

    Parameters
    ----------
    words
        The words of the paper.
    source
        Section and page.
    repeated
        Whether it is a repetition, which is not counted again.
    """

    words: str
    source: str
    repeated: bool = False


@cache
def quotation(paper: str, key: str) -> Quotation:
    """Return a sentence of a paper.

    Examples
    --------
    >>> quotation("li", "closeness-better").words
    't-closeness performs better than other privacy requirements'
    """
    return Quotation(**quotations()[paper][key])


@cache
def quotations() -> dict[str, dict[str, Any]]:
    """Return all quoted sentences, by paper and key."""
    return tomllib.loads((files("sfumato_papers") / "quotations.toml").read_text(encoding="utf-8"))
