"""Intervals over an ordered domain, named by their first and last values.

There are three such orders: that of numbers, that of time, and that of numbered names, in which ``Ward 9``
comes before ``Ward 10``. The alphabet is none of them: nobody can tell which planets ``Alderaan to Tatooine``
are. The order in which somebody happened to list categories is none either: a reader of the published file
does not have the list.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.data.kinds import Value
from sfumato.data.table import text
from sfumato.runtime.arrays import Booleans, Integers
from sfumato.runtime.numerals import number

TO = " to "
OR_MISSING = " or missing"

FEWEST = 3
"""So many neighbours are named by their ends: fewer are sooner read one by one."""

# More words than this are put in the order of their letters, so that the records' order does not show.
_FEW_WORDS = 20
# Longer beginnings than this are names, which must agree: Ward 9, Ward 10, but A00, B99.
_LONGEST_CODE = 2

Key = Any
"""Where a label stands in an order; keys of one order can be compared."""

_STARTS_LIKE_A_NUMBER = tuple("0123456789+-.")
_TIME = r"(?:[ T]([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}(?:\.[0-9]+)?))?Z?)?"
_YEAR_FIRST = re.compile(rf"(?P<y>[0-9]{{4}})([./-])(?P<m>[0-9]{{1,2}})\2(?P<d>[0-9]{{1,2}}){_TIME}")
_DAY_FIRST = re.compile(rf"(?P<d>[0-9]{{1,2}})([./-])(?P<m>[0-9]{{1,2}})\2(?P<y>[0-9]{{4}}){_TIME}")
_MONTH_FIRST = re.compile(rf"(?P<m>[0-9]{{1,2}})([./-])(?P<d>[0-9]{{1,2}})\2(?P<y>[0-9]{{4}}){_TIME}")
_MONTH = re.compile(r"(?P<y>[0-9]{4})[./-](?P<m>[0-9]{2})")
_MONTH_YEAR = re.compile(r"(?P<m>[0-9]{1,2})[./-](?P<y>[0-9]{4})")
_QUARTER = re.compile(r"(?P<y>[0-9]{4})-?Q(?P<m>[1-4])")
_DECADE = re.compile(r"(?P<y>[0-9]{4})s")
_THOUSANDS = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,2}(?:([.,' ])[0-9]{3}(?:\1[0-9]{3})*)?)")
_DIGITS = re.compile(r"([0-9]+)")
_NUMBERED = re.compile(r"([^0-9*]+)[0-9][0-9.]*\**")


@dataclass(frozen=True, eq=False)
class KnownOrder:
    """The labels of one level along an order that everybody knows.

    Parameters
    ----------
    keys
        Where each label stands; ``None`` for one that the order does not know, as *unknown* among years.

    Examples
    --------
    >>> years = scale_of(["1990", "1991", "1995", "2003", "unknown"])
    >>> years.holds(0, 2), years.holds(3, 4)
    (True, False)
    """

    keys: tuple[Key | None, ...] = field(repr=False)

    @cached_property
    def known(self) -> list[Key]:
        """Where the labels stand that the order knows, ascending."""
        return [key for key in self.keys if key is not None]

    @cached_property
    def _is_unknown(self) -> Booleans:
        return np.array([key is None for key in self.keys])

    def holds(self, first: int, last: int) -> bool:
        """Return whether the labels from one to another, and no others, stand between the two."""
        if first >= last or self._is_unknown[first : last + 1].any():
            return False
        low = bisect.bisect_left(self.known, self.keys[first])
        return bisect.bisect_right(self.known, self.keys[last]) - low == last - first + 1

    def runs(self, places: Integers) -> list[range]:
        """Return ascending places as runs of neighbours; those that the order does not know stand alone."""
        alone = self._is_unknown[places]
        ends = np.flatnonzero((np.diff(places) > 1) | alone[1:] | alone[:-1])
        firsts, lasts = places[[0, *(ends + 1)]], places[[*ends, -1]]
        return [range(first, last + 1) for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)]


def scale_of(labels: Sequence[str | None]) -> KnownOrder:
    """Return the order in which labels stand; where they stand in none, it knows none of them."""
    present = [label for label in labels if label is not None]
    for keys in _orders(present):
        known = [key for key in keys if key is not None]
        if all(one <= other for one, other in itertools.pairwise(known)):
            key_of = dict(zip(present, keys, strict=True))
            return KnownOrder(tuple(None if label is None else key_of[label] for label in labels))
    return KnownOrder((None,) * len(labels))


def in_order(values: Iterable[Value]) -> list[Value]:
    """Return categories in the order of numbers, time or numbered names, or, if they are many, of letters.

    Few words stay as they are given. A missing value comes last.

    Examples
    --------
    >>> in_order(["2003", "unknown", "1990", "999"]), in_order(["02.01.2020", "01.12.2019"])
    (['999', '1990', '2003', 'unknown'], ['01.12.2019', '02.01.2020'])
    """
    written = {text(value): value for value in values}
    labels = [label for label in written if label is not None]
    orders = _orders(labels)
    if orders or len(labels) > _FEW_WORDS:
        keys = orders[0] if orders else [None] * len(labels)
        by_key = [
            (key is None, 0 if key is None else key, by_letters(label), label)
            for key, label in zip(keys, labels, strict=True)
        ]
        labels = [label for *_, label in sorted(by_key)]
    return [*(written[label] for label in labels), *([None] if None in written else [])]


def is_between(value: str, first: str, last: str) -> bool:
    """Return whether a label may lie between two others, in some order that everybody knows or by letters.

    Examples
    --------
    >>> is_between("1995", "1990", "2003"), is_between("Ward 10", "Ward 2", "Ward 9")
    (True, False)
    """
    labels = [first, value, last]
    orders = [
        [key for key in keys if key is not None]
        for keys in _orders(labels) or [[by_letters(label) for label in labels]]
    ]
    return any(len(keys) == 3 and keys[0] <= keys[1] <= keys[2] for keys in orders)


def _orders(labels: Sequence[str]) -> list[list[Key | None]]:
    """Return the orders in which labels may stand: more than one where days and months look alike.

    It is that of numbers, time or numbered names where it knows most labels, and the others have no digit
    that could be taken for one.
    """
    readers: Sequence[Callable[[str], Key | None]] = (_numbered(labels),)
    if 2 * sum(label.startswith(_STARTS_LIKE_A_NUMBER) for label in labels) > len(labels):
        readers = (*_number_readers(labels), *_TIMES)
    readings = [[read(label) for label in labels] for read in readers]
    n_known = [len(labels) - keys.count(None) for keys in readings]
    if 2 * max(n_known) <= len(labels):
        return []
    best = [keys for keys, known in zip(readings, n_known, strict=True) if known == max(n_known)]
    if any(key is None and _DIGITS.search(label) for key, label in zip(best[0], labels, strict=True)):
        return []
    return best


def _numbered(labels: Sequence[str]) -> Callable[[str], Key | None]:
    """Return how numbered names are read: all begin alike, or with the letter or two of a code."""
    matches = {label: _NUMBERED.fullmatch(label) for label in labels}
    beginnings = {match[1].casefold() for match in matches.values() if match}
    is_known = len(beginnings) == 1 or max(map(len, beginnings), default=0) <= _LONGEST_CODE
    return lambda label: by_letters(label) if is_known and matches[label] else None


def _number_readers(labels: Sequence[str]) -> list[Callable[[str], Key | None]]:
    """Return how numbers may be written; a mark before every three digits counts thousands."""
    if all(_THOUSANDS.fullmatch(label) for label in labels if _DIGITS.search(label)):
        return [lambda label: number(re.sub(r"[.,' ]", "", label)) if _THOUSANDS.fullmatch(label) else None]
    return [number, lambda label: number(label, ",")]


def _time_reader(pattern: re.Pattern[str]) -> Callable[[str], Key | None]:
    def read(label: str) -> Key | None:
        match = pattern.fullmatch(label)
        if match is None:
            return None
        parts = {"m": "1", "d": "1"} | match.groupdict()
        month, day = int(parts["m"]), int(parts["d"])
        clock = [float(part or 0) for part in match.groups()[-3:]] if "d" in pattern.groupindex else []
        return (int(parts["y"]), month, day, *clock) if 1 <= month <= 12 and 1 <= day <= 31 else None

    return read


_TIMES = tuple(
    map(_time_reader, (_YEAR_FIRST, _DAY_FIRST, _MONTH_FIRST, _MONTH, _MONTH_YEAR, _QUARTER, _DECADE))
)


def by_letters(label: str) -> Key:
    """Return where a word stands: small and large letters alike, numbers in it by their size."""
    parts: list[Any] = _DIGITS.split(label.casefold())
    # every second part is digits, which stand for a number unless a decimal mark precedes them
    for place in range(1, len(parts), 2):
        is_fraction = parts[place - 1].endswith((".", ","))
        whole = parts[place].lstrip("0")
        parts[place] = (0, parts[place]) if is_fraction else (len(whole), whole)
    return tuple(parts)
