"""Recognize numbers, dates, codes and spellings of a missing value in columns of text."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sfumato.data.hierarchy import Dates, HierarchySource, Prefixes
from sfumato.data.schema import THOUSANDS as THOUSANDS_MARKS
from sfumato.data.table import Column, Table
from sfumato.runtime.arrays import Floats

# Codes

ICD = re.compile(r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?[-+*!\u2020]?")
"""A code of the international classification of diseases, with or without its dot."""
CODE_OF_PLACE = re.compile(r"[0-9]{4,6}")
"""A postcode or the official code of a municipality."""
TWO_OR_THREE_DIGITS = re.compile(r"[0-9]{2,3}")
"""An age that may begin with zeros."""
LONG_NUMBER = re.compile(r"[0-9]{9,}")
"""A number with so many digits that it rather names than counts."""
PHONE = re.compile(r"[+(]?[0-9][0-9 ()/.\-]{5,18}[0-9]")
"""A phone number, or an account number written in groups."""
PERSONAL = (
    (re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+"), "an e-mail address"),
    (re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"), "a universally unique identifier"),
    (re.compile(r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,3})?"), "an account number"),
)
"""What points at a person by its shape alone, and what it is called."""

# Numbers

_NUMBER = {
    mark: re.compile(
        rf"[+-]?(?:(?:0|[1-9][0-9]*)(?:[{mark}][0-9]*(?:[eE][0-9]+)?)?|[{mark}][0-9]+)(?:[eE][+-][0-9]+)?"
    )
    for mark in ".,"
}
_GROUPED = {mark: re.compile(rf"[+-]?[1-9][0-9]{{0,2}}[{mark}][0-9]{{3}}") for mark in ".,"}
_LARGEST_EXACT = 2**53
THOUSANDS = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,2})(?:[.,'\u00a0\u202f][0-9]{3})*(?:[.,][0-9]+)?")
"""A number that may have marks between its thousands, whichever mark is the decimal one."""


def as_numbers(values: Sequence[str], decimal: str, thousands: str = "") -> Floats | None:
    """Return the numbers that `runtime.numerals.number` reads, but no codes such as ``0171`` and ``1E5``."""
    if not values:
        return None
    if not all(map(_NUMBER[decimal].fullmatch, values)):
        return _in_thousands(values, decimal, thousands) if thousands else None
    numbers = np.array([float(value.replace(decimal, ".")) for value in values])
    return numbers if np.abs(numbers).max() < _LARGEST_EXACT else None


def _in_thousands(values: Sequence[str], decimal: str, thousands: str) -> Floats | None:
    """Return numbers, at least one of which has marks between its thousands."""
    shape = re.compile(
        rf"[+-]?(?:0|[1-9][0-9]{{0,2}}(?:{re.escape(thousands)}[0-9]{{3}})+|[1-9][0-9]*)(?:{re.escape(decimal)}[0-9]+)?"
    )
    if not all(map(shape.fullmatch, values)):
        return None
    # digits in groups that are all equally long rather number people than count anything
    if thousands not in ".," and len({len(value) for value in values}) == 1:
        return None
    numbers = np.array([float(v.replace(thousands, "").replace(decimal, ".")) for v in values])
    return numbers if np.abs(numbers).max() < _LARGEST_EXACT else None


def thousands_mark(table: Table, decimal: str, missing: frozenset[str]) -> str:
    """Return the mark that text columns have between the thousands of their numbers, if they have one.

    Examples
    --------
    >>> thousands_mark(Table.from_arrow({"fee": ["1.250,50", "80"]}), ",", frozenset())
    '.'
    """
    columns = [_texts(column, missing) for column in table.columns.values()]
    unread = [values for values in columns if values and as_numbers(values, decimal) is None]
    marks = [mark for mark in THOUSANDS_MARKS if mark != decimal]
    counts = {mark: sum(_in_thousands(v, decimal, mark) is not None for v in unread) for mark in marks}
    best = max(marks, key=counts.__getitem__)
    return best if counts[best] else ""


def decimal_mark(table: Table) -> str:
    """Return ``,`` when text columns hold numbers with decimal commas rather than points, else ``.``.

    Examples
    --------
    >>> decimal_mark(Table.from_arrow({"weight": ["71,5", "80"]}))
    ','
    >>> decimal_mark(Table.from_arrow({"salary": ["1,200", "31,500"]}))
    '.'
    """
    return decimal_mark_without(table, frozenset(likely_missing_values(table)))


def decimal_mark_without(table: Table, missing: frozenset[str]) -> str:
    """Return the decimal mark of all values except these spellings of a missing value."""
    columns = [_texts(column, missing) for column in table.columns.values()]
    commas = sum(_has_decimals(values, ",") for values in columns)
    return "," if commas and commas >= sum(_has_decimals(values, ".") for values in columns) else "."


def _has_decimals(values: Sequence[str], mark: str) -> bool:
    """Whether these are numbers whose mark is decimal, not a mark between thousands."""
    if not all(map(_NUMBER[mark].fullmatch, values)):
        return any(
            any(mark in value and other in value for value in values)
            and _in_thousands(values, mark, other) is not None
            for other in THOUSANDS_MARKS
            if other != mark
        )
    marked = [value for value in values if mark in value]
    return not all(map(_GROUPED[mark].fullmatch, marked))


def _texts(column: Column, without: frozenset[str]) -> list[str]:
    return [value for value in column.domain if isinstance(value, str) and value not in without]


# Dates

_YEAR_FIRST = re.compile(r"([0-9]{4})([-/.])([0-9]{1,2})\2([0-9]{1,2})")
_YEAR_LAST = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})\2([0-9]{4})")
_COMPACT = re.compile(r"((?:18|19|20)[0-9]{2})()([0-9]{2})([0-9]{2})")
_WITH_TIME = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})([T ])(?:[01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?(\.[0-9]+)?"
    r"(Z|[+-](?:0[0-9]|1[0-4]):?[0-5][0-9])?"
)
_DATE_SHAPES = (_YEAR_FIRST, _YEAR_LAST, _COMPACT, _WITH_TIME)
_MIXED = "; the dates are written in more than one format"
_ISO_PREFIXES = Prefixes((10, 7, 4))


@dataclass(frozen=True)
class DateFormat:
    """The hierarchy that a date format allows, and a note about it for the person who confirms it."""

    hierarchy: HierarchySource | None
    note: str = ""


def as_dates(values: Sequence[str]) -> DateFormat | None:
    """Return how the values are written as dates, or ``None`` where they are not dates."""
    for shape in _DATE_SHAPES:
        matches = _all_matches(shape, values)
        if matches:
            return _format_with_time(matches) if shape is _WITH_TIME else _format_of_days(shape, matches)
    if not values or not all(any(shape.fullmatch(value) for shape in _DATE_SHAPES) for value in values):
        return None
    is_iso = all(re.match(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])", value) for value in values)
    return DateFormat(_ISO_PREFIXES if is_iso else None, _MIXED)


def _all_matches(shape: re.Pattern[str], values: Sequence[str]) -> list[re.Match[str]]:
    """Return the match of every value, or nothing as soon as one does not match."""
    matches = []
    for value in values:
        match = shape.fullmatch(value)
        if match is None:
            return []
        matches.append(match)
    return matches


def _format_of_days(shape: re.Pattern[str], matches: list[re.Match[str]]) -> DateFormat | None:
    separators = {match[2] for match in matches}
    if len(separators) > 1:
        return DateFormat(None, _MIXED)
    mark, parts = separators.pop(), {(int(match[1]), int(match[3]), int(match[4])) for match in matches}
    if shape is not _YEAR_LAST:
        return DateFormat(Dates(format=f"%Y{mark}%m{mark}%d")) if _exist(parts) else None
    day_first = _exist({(year, month, day) for day, month, year in parts})
    month_first = _exist({(year, month, day) for month, day, year in parts})
    if not day_first:
        return DateFormat(Dates(format=f"%m{mark}%d{mark}%Y")) if month_first else None
    doubtful = month_first and mark != "."
    note = "; day and month cannot be told apart, so check the format" if doubtful else ""
    return DateFormat(Dates(format=f"%d{mark}%m{mark}%Y"), note)


def _format_with_time(matches: list[re.Match[str]]) -> DateFormat | None:
    if not _exist({(int(match[1]), int(match[2]), int(match[3])) for match in matches}):
        return None
    structures = {(match[4], bool(match[5]), bool(match[6]), bool(match[7])) for match in matches}
    if len(structures) > 1 or any(match[6] and (len(match[6]) > 7 or not match[5]) for match in matches):
        return DateFormat(_ISO_PREFIXES)
    ((mark, seconds, fraction, zone),) = structures
    time = "%H:%M" + ":%S" * seconds + ".%f" * fraction + "%z" * zone
    return DateFormat(Dates(format=f"%Y-%m-%d{mark}{time}"))


def _exist(days: Iterable[tuple[int, int, int]]) -> bool:
    try:
        for year, month, day in days:
            datetime.date(year, month, day)
    except ValueError:
        return False
    return True


# Missing values

_MISSING_BESIDE_NUMBERS = ("NA", "na", "None", "none", "-", "--", "\u2013")
_MISSING_ANYWHERE = ("?", "N/A", "n/a", "#N/A", "NULL", "null", "(null)", "<NA>", "NaN", "nan", ".", "*")
_SPELLINGS = _MISSING_ANYWHERE + _MISSING_BESIDE_NUMBERS
_MISSING = frozenset(_SPELLINGS)
_DIGITS = re.compile(r"[0-9]+")
_FLAG = re.compile(r"[01jnymfwtd]|yes|no|ja|nein|oui|non|s[i\u00ed]|true|false|(?:fe)?male", re.IGNORECASE)


def likely_missing_values(table: Table) -> tuple[str, ...]:
    """Return the spellings of a missing value that occur, such as ``?``; the empty field is not one of them.

    A spelling that is also a word (``None``, ``NA``, ``-``) counts only in a column whose other values are
    all numbers, dates, codes or yes and no. Any other word without a digit (``k.A.``) counts if several
    records have it in a column of numbers or dates and it is not a value elsewhere.

    Examples
    --------
    >>> likely_missing_values(Table.from_arrow({"age": ["31", "NA"], "allergy": ["None", "nuts"]}))
    ('NA',)
    """
    looking_missing: set[str] = set()
    words: dict[str, None] = {}
    elsewhere: set[str] = set()
    for column in table.columns.values():
        spelled = _MISSING.intersection(column.domain)
        doubtful = spelled.intersection(_MISSING_BESIDE_NUMBERS)
        if doubtful and not _is_regular(_texts(column, spelled)):
            spelled -= doubtful
        looking_missing |= spelled
        odd = _odd_words(column, table, spelled)
        words |= dict.fromkeys(odd)
        if not odd:
            elsewhere.update(_texts(column, spelled))
    anywhere = tuple(spelling for spelling in _SPELLINGS if spelling in looking_missing)
    return anywhere + tuple(word for word in words if word not in elsewhere and word not in anywhere)


_MOST_WORDS, _FEWEST_REGULAR = 3, 10


def _odd_words(column: Column, table: Table, without: frozenset[str]) -> list[str]:
    """Return the few words in a column that otherwise holds numbers or dates, if records share them."""
    values = _texts(column, without)
    odd = [value for value in values if value and len(value) <= 20 and not any(map(str.isdigit, value))]
    regular = len(values) - len(odd)
    if not 1 <= len(odd) <= _MOST_WORDS or regular < _FEWEST_REGULAR:
        return []
    rest = _texts(column, without.union(odd))
    pairs = [(decimal, mark) for decimal in ".," for mark in ("", *THOUSANDS_MARKS) if mark != decimal]
    if as_dates(rest) is None and all(as_numbers(rest, *marks) is None for marks in pairs):
        return []
    counts = np.bincount(column.codes, weights=table.weights, minlength=len(column.domain))
    return [word for word in odd if counts[column.domain.index(word)] > 1]


def _is_regular(values: Sequence[str]) -> bool:
    """Whether all are numbers, dates, codes of digits, ICD codes, e-mail addresses, or yes and no."""
    if not values:
        return False
    shapes = (_FLAG, _DIGITS, ICD, THOUSANDS, *(shape for shape, _ in PERSONAL))
    return (
        any(all(map(shape.fullmatch, values)) for shape in shapes)
        or any(as_numbers(values, mark) is not None for mark in ".,")
        or as_dates(values) is not None
    )
