"""Guess: a first idea of every attribute's role, kind and hierarchy, for a person to confirm.

A guess errs on the side of caution: what is not known to be harmless is treated as knowable by others.
Only names, shapes and counts are looked at, and no value ever appears in a reason.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.hierarchy import HierarchySource, Intervals, Prefixes
from sfumato.reading import shapes, vocabulary
from sfumato.reading.shapes import decimal_mark, likely_missing_values
from sfumato.schema import Role
from sfumato.table import Column, Kind, Table, text

__all__ = ["Guess", "decimal_mark", "guess", "likely_missing_values"]


@dataclass(frozen=True)
class Guess:
    """What a column probably is, and why.

    Parameters
    ----------
    name, role, kind, hierarchy
        As in :class:`~sfumato.schema.Attribute`.
    reason
        One sentence for the person who confirms it; it shows no record's value.
    n_distinct
        How many different values occur, missing ones left out.
    n_missing
        How many records lack a value.
    kind_in_table
        The kind that the table gives the column where the project file does not say another.
    """

    name: str
    role: Role
    kind: Kind
    hierarchy: HierarchySource | None
    reason: str
    n_distinct: int
    n_missing: int
    kind_in_table: Kind = "categorical"


def guess(table: Table) -> tuple[Guess, ...]:
    """Guess what every column is.

    The spellings of `likely_missing_values` count as missing and the mark of `decimal_mark` as the
    decimal one, so hand both to `sfumato.reading.new_project.project_text` as well.

    Examples
    --------
    >>> table = Table.from_arrow({"age": ["31", "42", "57"], "diagnosis": ["E11.9", "I10", "E11.9"]})
    >>> [(column.role, column.kind) for column in guess(table)]
    [('quasi-identifying', 'numeric'), ('sensitive', 'categorical')]
    """
    missing = frozenset(likely_missing_values(table))
    decimal = shapes.decimal_mark_without(table, missing)
    evidence = (_Evidence.of(name, column, table, missing, decimal) for name, column in table.columns.items())
    return tuple(_guess(found) for found in evidence)


# What a column is made of


@dataclass(frozen=True)
class _Evidence:
    """The name and the values of one column, each distinct value once, missing ones left out."""

    name: str
    kind_in_table: Kind
    values: tuple[str, ...]
    counts: Integers
    n_missing: int
    decimal: str

    @classmethod
    def of(cls, name: str, column: Column, table: Table, missing: frozenset[str], decimal: str) -> _Evidence:
        counts = np.bincount(column.codes, weights=table.weights, minlength=len(column.domain)).astype(int)
        pairs = zip(column.domain, counts.tolist(), strict=True)
        n_records = {
            text(value) or "": n for value, n in pairs if n and value is not None and value not in missing
        }
        n_missing = table.n_records - sum(n_records.values())
        return cls(
            name, column.kind, tuple(n_records), np.array([*n_records.values()], int), n_missing, decimal
        )

    @cached_property
    def words(self) -> str:
        return vocabulary.folded(self.name)

    @cached_property
    def topic(self) -> vocabulary.Topic | None:
        """What the name says that the column is about."""
        return vocabulary.topic_of(self.words)

    @cached_property
    def numbers(self) -> Floats | None:
        """The values as numbers, or ``None`` where they are not numbers but texts or codes."""
        if self.kind_in_table == "numeric":
            return np.array([float(value) for value in self.values])
        return shapes.as_numbers(self.values, self.decimal)

    @cached_property
    def dates(self) -> shapes.DateFormat | None:
        """How the values are written as dates, or ``None`` where they are not dates."""
        return shapes.as_dates(self.values)

    @cached_property
    def is_icd(self) -> bool:
        """Whether these are codes of the classification of diseases, recognised by their dots."""
        return self.looks_like(shapes.ICD) and any("." in value for value in self.values[:1000])

    @cached_property
    def has_fixed_width(self) -> bool:
        return len({len(value) for value in self.values}) == 1

    @property
    def n_distinct(self) -> int:
        return len(self.values)

    @cached_property
    def n_present(self) -> int:
        return int(self.counts.sum())

    @property
    def is_constant(self) -> bool:
        return self.n_distinct + (self.n_missing > 0) == 1 < self.n_present + self.n_missing

    @property
    def is_nearly_unique(self) -> bool:
        return self.n_distinct >= 0.9 * self.n_present

    @property
    def is_widely_shared(self) -> bool:
        return self.n_present >= 20 * self.n_distinct

    def looks_like(self, pattern: re.Pattern[str]) -> bool:
        """Whether most of the first thousand values have this shape."""
        sample = self.values[:1000]
        return bool(sample) and sum(map(bool, map(pattern.fullmatch, sample))) >= 0.8 * len(sample)

    def all_like(self, pattern: re.Pattern[str]) -> bool:
        return bool(self.values) and all(map(pattern.fullmatch, self.values))


# What name and values tell together

_POINTS = "so it points at one person"
_UNKNOWN = "unknown to us, so treated as knowable by others"


def _guess(column: _Evidence) -> Guess:
    role, reason = _role(column)
    kind, hierarchy = _kind_and_hierarchy(column)
    generalizes = role in ("quasi-identifying", "sensitive")
    note = column.dates.note if column.dates and generalizes else ""
    return Guess(
        name=column.name,
        role=role,
        kind=kind,
        hierarchy=hierarchy if generalizes else None,
        reason=f"{reason}{note}.",
        n_distinct=column.n_distinct,
        n_missing=column.n_missing,
        kind_in_table=column.kind_in_table,
    )


def _role(column: _Evidence) -> tuple[Role, str]:
    topic = column.topic
    if topic and topic.role == "identifying":
        return "identifying", f"Named like {topic.what}, {_POINTS}"
    if column.is_constant:
        return "insensitive", "The same in every record, so it tells nobody apart"
    pointing = _points_by_shape(column) or _points_by_name(column) or _points_by_uniqueness(column)
    if pointing:
        return "identifying", f"{pointing}, {_POINTS}"
    if topic and topic.role == "sensitive" and not column.dates:
        return "sensitive", f"Named like {topic.what}, which others should not learn"
    if topic and topic.role == "quasi-identifying":
        return "quasi-identifying", f"Named like {topic.what}, which others may know"
    return _role_by_values(column)


def _points_by_shape(column: _Evidence) -> str:
    written_like = (what for shape, what in shapes.PERSONAL if column.looks_like(shape))
    return next((f"Written like {what}" for what in written_like), "")


def _points_by_name(column: _Evidence) -> str:
    """Return the reason to take a column for identifying by words that also occur in other names."""
    if column.dates:
        return ""
    if vocabulary.IDENTIFIER.search(column.words):
        repeats = column.topic is None and column.n_distinct > 2 and not column.is_widely_shared
        return "Named like an identifier" if column.is_nearly_unique or repeats else ""
    if column.topic:
        return ""
    if column.numbers is None and vocabulary.NAME.search(column.words):
        return "Named like a person's name"
    if column.numbers is None and vocabulary.FREE_TEXT.search(column.words):
        return "Named like free text, which may name people"
    if column.n_distinct >= 10 and column.is_nearly_unique and vocabulary.NUMBERED.search(column.words):
        return "Named like a running number or a code, with one of its own for nearly every record"
    return ""


def _points_by_uniqueness(column: _Evidence) -> str:
    """Return the reason to take values for identifying that (nearly) every record has for itself alone."""
    if column.topic or column.dates or column.is_icd or not column.is_nearly_unique:
        return ""
    if column.numbers is not None:
        return "A number of its own for every record" if _is_numbering(column, column.numbers) else ""
    if column.all_like(shapes.THOUSANDS):
        return ""
    if column.looks_like(shapes.PHONE):
        return "Written like a phone or account number of its own for nearly every record"
    return "A text of its own for nearly every record" if column.n_distinct >= 10 else ""


def _is_numbering(column: _Evidence, numbers: Floats) -> bool:
    """Whether records are numbered, without a gap or with many digits; a measurement is not like that."""
    if column.n_distinct < 20 or column.n_distinct < column.n_present:
        return False
    span = float(numbers.max()) - float(numbers.min())
    has_no_gap = bool((numbers % 1 == 0).all()) and span + 1 == len(numbers)
    return has_no_gap or (column.has_fixed_width and column.all_like(shapes.LONG_NUMBER))


def _role_by_values(column: _Evidence) -> tuple[Role, str]:
    if column.dates:
        return "quasi-identifying", "Dates, which others may know"
    if column.is_icd:
        return "sensitive", "Written like ICD codes of diagnoses, which others should not learn"
    if column.numbers is not None:
        return "quasi-identifying", f"Numbers {_UNKNOWN}"
    if column.all_like(shapes.THOUSANDS):
        return "quasi-identifying", f"Numbers with marks that cannot be read as they are, {_UNKNOWN}"
    if column.n_distinct <= 20:
        return "quasi-identifying", f"A few categories {_UNKNOWN}"
    return "quasi-identifying", f"Texts or codes that records share, {_UNKNOWN}"


# Kinds and hierarchies


def _kind_and_hierarchy(column: _Evidence) -> tuple[Kind, HierarchySource | None]:
    if column.dates:
        return "categorical", column.dates.hierarchy
    if column.topic is vocabulary.POSTCODE or _is_code_of_place(column):
        width = max(map(len, column.values), default=0)
        lengths = tuple(range(min(width - 1, 5), 1, -1))
        return "categorical", Prefixes(lengths) if lengths else None
    if column.numbers is not None:
        return "numeric", _intervals(column, column.numbers)
    if column.all_like(shapes.ICD) and (column.is_icd or "icd" in column.words):
        return "categorical", Prefixes((3, 1) if max(map(len, column.values)) > 3 else (1,))
    return "categorical", None


def _is_code_of_place(column: _Evidence) -> bool:
    """Whether these are four to six digits each, which the name or the leading zeros show to be a code."""
    is_code = column.topic is vocabulary.PLACE or (column.topic is None and column.numbers is None)
    return is_code and column.has_fixed_width and column.all_like(shapes.CODE_OF_PLACE)


def _intervals(column: _Evidence, numbers: Floats) -> Intervals | None:
    """Return widths that double from about a sixteenth of the range in which nearly all records lie."""
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)
    span, whole = high - low, bool((numbers % 1 == 0).all())
    if not 1e-9 * max(1.0, abs(low), abs(high)) < span < 1e15:
        return None  # one value, or a range in which widths could not be written in a few digits
    is_age = column.topic is vocabulary.AGE and whole and 10 < span < 150
    if column.n_distinct < 8 and not is_age:
        return None
    narrowest = 5.0 if is_age else _rounded_width(_central_span(numbers, column.counts) / 16)
    doubled = (max(narrowest, float(whole)) * 2**step for step in range(5))
    widths = [_short(width) for width in doubled if width < span and (width >= 2 or not whole)][:4]
    return Intervals(tuple(widths)) if widths else None


def _central_span(numbers: Floats, counts: Integers) -> float:
    """Return the range of the records but for two in a hundred at either end, which may be outliers."""
    order = np.argsort(numbers)
    below = np.cumsum(counts[order])
    low, high = numbers[order][np.searchsorted(below, (0.02 * below[-1], 0.98 * below[-1]))]
    return float(high - low or numbers.max() - numbers.min())


def _rounded_width(width: float) -> float:
    """Return the nearest of 1, 2, 5, 10, 20, 50, … and their fractions.

    Examples
    --------
    >>> [_rounded_width(width) for width in (0.06, 1.2, 3.4, 6.1, 92_000.0)]
    [0.05, 1.0, 5.0, 5.0, 100000.0]
    """
    power = math.floor(math.log10(width))
    candidates = (float(f"{factor}e{power}") for factor in (1, 2, 5, 10))
    return min(candidates, key=lambda candidate: abs(math.log(candidate / width)))


def _short(width: float) -> float:
    return int(width) if width.is_integer() else float(f"{width:.12g}")
