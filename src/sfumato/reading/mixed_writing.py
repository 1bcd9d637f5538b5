"""Find columns of a CSV file that mix several notations, and report them without showing a value."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


class MixedWriting(UserWarning):
    """Something that a file writes in several ways; the message says what was found and assumed."""


_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)


def report(words: str) -> None:
    """Warn of mixed notations, or add the warning to the list of an enclosing `collected`."""
    sentences = _collected.get()
    if sentences is None:
        warnings.warn(words, MixedWriting, stacklevel=2)
    elif words not in sentences:
        sentences.append(words)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the reports from inside, each sentence once, where a warning would go unseen."""
    sentences: list[str] = []
    token = _collected.set(sentences)
    try:
        yield sentences
    finally:
        _collected.reset(token)


# Encodings


@dataclass(frozen=True)
class MixedLines:
    """How many lines are beyond ASCII, in UTF-8 and otherwise, and the first line of each sort."""

    n_utf8: int
    first_utf8: int
    n_other: int
    first_other: int

    def __str__(self) -> str:
        lines = "line" if self.n_utf8 == 1 else "lines"
        return (
            f"{self.n_utf8:,} {lines} in UTF-8 (the first is line {self.first_utf8:,}) and "
            f"{self.n_other:,} in another encoding (the first is line {self.first_other:,})"
        )


def mixed_lines(lines: Iterable[bytes]) -> MixedLines | None:
    """Inspect the lines beyond ASCII; return ``None`` if all of them use the same encoding.

    Examples
    --------
    >>> str(mixed_lines([b"name", "Zoë".encode(), "Zoë".encode("latin-1")]))
    '1 line in UTF-8 (the first is line 2) and 1 in another encoding (the first is line 3)'
    """
    counts, first = [0, 0], [0, 0]
    for number, line in enumerate(lines, start=1):
        if not line.isascii():
            try:
                line.decode("utf-8")
                is_other = False
            except UnicodeDecodeError:
                is_other = True
            counts[is_other] += 1
            first[is_other] = first[is_other] or number
    return MixedLines(counts[0], first[0], counts[1], first[1]) if all(counts) else None


# Numbers

_SAMPLE = 1_000
_MOSTLY = 0.8
_LIKE_A_NUMBER = re.compile(r"[+-]?[0-9][0-9.,'\u2019 \u00a0\u202f]*")
_GROUPS = {
    ".": re.compile(r"[+-]?[0-9]{1,3}(?:(?:\.[0-9]{3})+(,)[0-9]+|(?:\.[0-9]{3}){2,})"),
    ",": re.compile(r"[+-]?[0-9]{1,3}(?:(?:,[0-9]{3})+(\.)[0-9]+|(?:,[0-9]{3}){2,})"),
    "'": re.compile(r"[+-]?[0-9]{1,3}(?:['\u2019][0-9]{3})+(?:([.,])[0-9]+)?"),
    " ": re.compile(r"[+-]?[0-9]{1,3}(?:[ \u00a0\u202f][0-9]{3})+(?:([.,])[0-9]+)?"),
}
"""Numbers that can only have this mark between their thousands; what is caught is the decimal mark."""
_DECIMALS = re.compile(r"[+-]?[0-9]+([.,])(?:[0-9]{1,2}|[0-9]{4,})")
"""Numbers with a mark that cannot stand between thousands, since no three digits follow."""


def mixed_numbers(columns: Mapping[str, pa.DictionaryArray]) -> Iterator[str]:
    """Describe each column of texts whose numbers have different marks: which marks, and how often.

    Parameters
    ----------
    columns
        The texts of all records by column.
    """
    by_thousands: dict[str, tuple[str, str]] = {}
    for name, column in columns.items():
        ways = _ways(column.dictionary)
        thousands, decimals = ({way[side] for way in ways.values()} - {""} for side in (0, 1))
        if len(thousands) > 1 or len(decimals) > 1:
            counts = _notation_counts(column, ways)
            yield f"column {name!r} writes numbers in more than one way: {counts}; {_TEXT}"
        elif thousands:
            way = max(ways.values())
            by_thousands.setdefault(way[0], (name, _pattern(*way)))
    if len(by_thousands) > 1:
        examples = " and ".join(f"{name!r} as {pattern}" for name, pattern in by_thousands.values())
        yield f"columns write numbers in different ways, {examples}; one is assumed, and the others are text"


_TEXT = "its values are taken for text, not for numbers, until they are written alike"


def _notation_counts(column: pa.DictionaryArray, ways: Mapping[int, tuple[str, str]]) -> str:
    """Say how many records use each notation, and which record is the first."""
    number = {way: place for place, way in enumerate(dict.fromkeys(ways.values()))}
    way_of = np.full(len(column.dictionary) + 1, -1)
    way_of[list(ways)] = [number[way] for way in ways.values()]
    of_records = way_of[np.asarray(column.indices.fill_null(len(column.dictionary)))]
    return ", ".join(
        f"{np.count_nonzero(of_records == place):,} as {_pattern(*way)} "
        f"(the first in record {int(np.argmax(of_records == place)) + 1:,})"
        for way, place in number.items()
    )


def _ways(texts: pa.Array) -> dict[int, tuple[str, str]]:
    """Return the marks between thousands and of decimals for the texts that show them."""
    from pyarrow import compute

    sample = [value for value in texts[:_SAMPLE].to_pylist() if value]
    n_numbers = sum(map(bool, map(_LIKE_A_NUMBER.fullmatch, sample)))
    if not sample or n_numbers < _MOSTLY * len(sample):
        return {}
    # nearly all columns of numbers have one of the marks, and need no more checks
    marks = (r"\.", ",", "['\u2019]", r"[ \x{00a0}\x{202f}]")
    if sum(bool(compute.any(compute.match_substring_regex(texts, mark)).as_py()) for mark in marks) < 2:
        return {}
    places = enumerate(texts.to_pylist())
    return {place: way for place, value in places if value and (way := _way(value)) is not None}


def _way(value: str) -> tuple[str, str] | None:
    for mark, shape in _GROUPS.items():
        match = shape.fullmatch(value)
        if match is not None:
            return mark, match[1] or ""
    match = _DECIMALS.fullmatch(value)
    return None if match is None else ("", match[1])


def _pattern(thousands: str, decimal: str) -> str:
    """Write a notation with nines, which reveal no value."""
    return ("9" if not thousands else f"9{thousands}999") + (f"{decimal}9" if decimal else "")
