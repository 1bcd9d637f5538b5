"""Derive what each published label may represent, from the labels and the folder alone."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sfumato.data.hierarchy import ROOT, Label
from sfumato.data.kinds import Kind
from sfumato.data.ordered_ranges import OR_MISSING, TO, by_letters, in_order, is_between
from sfumato.data.table import (
    text,
)
from sfumato.results.label_parsing import interval_ends, set_parts
from sfumato.runtime.numerals import (
    number,
)
from sfumato.workflow.query.query_language import Span

MOST_NUMBERS = 4_096
"""Whole numbers of a larger range than this are not told apart one by one."""

_MASK = re.compile(r"(?P<head>[^*]+)\*+|\*+(?P<tail>[^*]+)")
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_DAY_FIRST = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
_QUARTER = re.compile(r"([0-9]{4})-?Q([1-4])")
_DECADE = re.compile(r"([0-9]{3})0s")


@dataclass(frozen=True)
class Meant:
    """What one label may represent.

    Parameters
    ----------
    spans
        Numbers.
    values
        Categories by name.
    patterns
        Labels of which only the value itself tells whether it is meant: ``130*``, ``A00 to B99``, ``*``.
    missing
        Whether it may be the missing value.
    line
        The kind by which ``2026-W07 to 2026-W12`` is read, where the values are no numbers and no categories.
    """

    spans: tuple[Span, ...] = ()
    values: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    missing: bool = False
    line: Kind | None = None

    @property
    def is_one_value(self) -> bool:
        """Whether it represents a single value."""
        n_values = len(self.spans) + len(self.values) + self.missing
        return n_values == 1 and not self.patterns and all(span.low == span.high for span in self.spans)

    @property
    def is_open(self) -> bool:
        """Whether it may be a category that no label names, or that no pattern alone names."""
        return any(pattern not in self.values for pattern in self.patterns)

    def may_be(self, value: str) -> bool:
        """Return whether it may be a category."""
        return value in self.values or any(_fits(pattern, value, self.line) for pattern in self.patterns)


@dataclass(frozen=True, eq=False)
class Wording:
    """The labels of one attribute, and the folder's facts about them.

    Parameters
    ----------
    labels
        The labels; ``None`` is a missing value.
    branches
        What each branch of a hierarchy stands for.
    whole
        Whether all numbers are whole.
    line
        Their kind, where they are no numbers and no categories.

    Examples
    --------
    >>> ages = Wording(("[20, 30)", "35", "*"), whole=True)
    >>> ages.is_numeric, ages.range
    (True, (20, 35))
    """

    labels: tuple[Label, ...]
    branches: Mapping[str, Sequence[Label]] = field(default_factory=dict)
    whole: bool = False
    line: Kind | None = None

    @property
    def is_told(self) -> bool:
        """Whether any label is informative."""
        return any(label != ROOT for label in self.labels)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether every informative label consists of numbers."""
        telling = [label for label in self.labels if label not in (None, ROOT)]
        return bool(telling) and all(self._numbers(label) is not None for label in telling)

    @cached_property
    def meanings(self) -> tuple[Meant, ...]:
        """What each label may represent."""
        if self.is_numeric:
            return tuple(map(self._numeric, self.labels))
        return _with_own_names(tuple(map(self._category, self.labels)), self.line)

    @property
    def is_exact(self) -> bool:
        """Whether every label is one value."""
        return all(meant.is_one_value for meant in self.meanings)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The categories that the release names, in numeric, chronological or alphabetical order."""
        named = {value for meant in self.meanings for value in meant.values}
        by_name = sorted(named, key=lambda value: (by_letters(value), value))
        return tuple(value for value in map(text, in_order(by_name)) if value is not None)

    @cached_property
    def has_missing(self) -> bool:
        """Whether a label names the missing value."""
        pairs = zip(self.labels, self.meanings, strict=True)
        return any(meant.missing for label, meant in pairs if label != ROOT)

    @cached_property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest number that a reader assumes.

        An interval without an end reaches as far as other labels do; where none goes beyond it, as far as
        half of the intervals are wide.
        """
        spans = [span for meant in self.meanings for span in meant.spans]
        ends = [end for span in spans for end in (span.low, span.high) if math.isfinite(end)]
        widths = [span.high - span.low for span in spans if 0 < span.high - span.low < math.inf]
        width = float(np.median(widths)) if widths else 0.0
        low, high = min(ends), max(ends)
        goes_below = any(span.low == -math.inf and span.high == low for span in spans)
        goes_beyond = any(span.high == math.inf and span.low == high for span in spans)
        low, high = low - width * goes_below, high + width * goes_beyond
        return (math.floor(low), math.ceil(high)) if self.whole else (low, high)

    @property
    def can_be_told_apart(self) -> bool:
        """Whether every value can be considered separately."""
        if not self.is_numeric or self.is_exact:
            return True
        return self.whole and self.range[1] - self.range[0] < MOST_NUMBERS

    def _numeric(self, label: Label) -> Meant:
        if label == ROOT:
            return Meant((Span(-math.inf, math.inf, False, False),), missing=True)
        found = self._numbers(label)
        assert found is not None
        return found

    def _numbers(self, label: Label) -> Meant | None:
        """Return the numbers of a label; ``None`` if it contains anything else."""
        if label is None:
            return Meant(missing=True)
        if label in self.branches:
            return _if_all([self._numbers(leaf) for leaf in self.branches[label]])
        if label.endswith(OR_MISSING):
            return _if_all([self._numbers(label.removesuffix(OR_MISSING)), Meant(missing=True)])
        if label.startswith("{"):
            return _if_all([self._numbers(part) for part in set_parts(label.strip("{}"))])
        value, ends = number(label), interval_ends(label)
        if value is not None:
            return Meant((Span(float(value), float(value)),))
        if ends is None:
            return None
        (low, with_low), (high, with_high) = ends
        span = Span(float(low), float(high), with_low, with_high)
        return Meant((_whole_ends(span) if self.whole else span,))

    def _category(self, label: Label) -> Meant:
        if label is None:
            return Meant(missing=True)
        if label == ROOT:
            return Meant(patterns=(ROOT,), missing=True)
        if label in self.branches:
            leaves = tuple(leaf for leaf in self.branches[label] if leaf is not None)
            return Meant(values=leaves, missing=None in self.branches[label])
        if label.endswith(OR_MISSING):
            return _all_of([self._category(label.removesuffix(OR_MISSING)), Meant(missing=True)])
        parts = set_parts(label[1:-1]) if label.startswith("{") and label.endswith("}") else []
        if parts:
            return _all_of([self._category(part) for part in parts])
        is_pattern = _MASK.fullmatch(label) or TO in label or (self._times > 1 and _time(label))
        if is_pattern or (self.line is not None and label.startswith(("<=", ">="))):
            return Meant(patterns=(label,), line=self.line)
        return Meant(values=(label,))

    @cached_property
    def _times(self) -> int:
        """The number of granularities of times: if there are days too, a month represents several of them."""
        times = [_time(label) for label in self.labels if label is not None]
        return len({len(str(span[1] - span[0])) for span in times if span is not None})


def _with_own_names(meanings: tuple[Meant, ...], line: Kind | None) -> tuple[Meant, ...]:
    """Treat a pattern that contains no known value, such as ``130*``, as a category of its own."""
    named = {value for meant in meanings for value in meant.values}
    patterns = {pattern for meant in meanings for pattern in meant.patterns} - {ROOT}
    own = {
        each
        for each in patterns
        if not any(_fits(each, other, line) for other in named | patterns if other != each)
    }
    return tuple(
        replace(meant, values=(*meant.values, *(each for each in meant.patterns if each in own)))
        for meant in meanings
    )


def _if_all(parts: Sequence[Meant | None]) -> Meant | None:
    known = [part for part in parts if part is not None]
    return _all_of(known) if known and len(known) == len(parts) else None


def _all_of(parts: Sequence[Meant]) -> Meant:
    return Meant(
        tuple(dict.fromkeys(span for part in parts for span in part.spans)),
        tuple(dict.fromkeys(value for part in parts for value in part.values)),
        tuple(dict.fromkeys(pattern for part in parts for pattern in part.patterns)),
        any(part.missing for part in parts),
        next((part.line for part in parts if part.line is not None), None),
    )


def _whole_ends(span: Span) -> Span:
    """Return the smallest and the largest whole number of a span."""
    low, high = span.low, span.high
    if math.isfinite(low):
        low = math.ceil(low) + (not span.with_low and low == math.ceil(low))
    if math.isfinite(high):
        high = math.floor(high) - (not span.with_high and high == math.floor(high))
    return Span(float(low), float(high))


def _fits(pattern: str, value: str, line: Kind | None) -> bool:
    """Return whether a pattern may mean a value; if that is unknown, it may."""
    if pattern == ROOT:
        return True
    if mask := _MASK.fullmatch(pattern):
        return value.startswith(mask["head"] or "") and value.endswith(mask["tail"] or "")
    if line is not None:
        interval, place = interval_ends(pattern, line), line.position(value)
        return interval is None or place is None or interval[0][0] <= place <= interval[1][0]
    first, _, last = pattern.partition(TO)
    ends, time = (_time(first), _time(last or first)), _time(value)
    if ends[0] and ends[1]:
        return time is None or (ends[0][0] <= time[0] and time[1] <= ends[1][1])
    return "*" in pattern or is_between(value, first, last)


def _time(label: str) -> tuple[int, int] | None:
    """Return the first and the last day of a time, with 31 days in every month."""
    if found := _DATE.fullmatch(label):
        year, month, day = (int(part) if part else 0 for part in found.groups())
        first, last = (month or 1, day or 1), (month or 12, day or 31)
        return _day(year, *first), _day(year, *last)
    if found := _DAY_FIRST.fullmatch(label):
        day, month, year = map(int, found.groups())
        return _day(year, month, day), _day(year, month, day)
    if found := _QUARTER.fullmatch(label):
        year, quarter = map(int, found.groups())
        return _day(year, 3 * quarter - 2, 1), _day(year, 3 * quarter, 31)
    if found := _DECADE.fullmatch(label):
        return _day(10 * int(found[1]), 1, 1), _day(10 * int(found[1]) + 9, 12, 31)
    return None


def _day(year: int, month: int, day: int) -> int:
    return (12 * year + month) * 31 + day
