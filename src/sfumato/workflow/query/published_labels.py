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
from sfumato.data.table import text
from sfumato.results.label_parsing import interval_ends, set_parts
from sfumato.runtime.numerals import number
from sfumato.workflow.query.query_language import Span

MOST_NUMBERS = 4_096
"""A larger range of whole numbers is not split into its numbers."""

_MASK = re.compile(r"(?P<head>[^*]+)\*+|\*+(?P<tail>[^*]+)")
_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2}))?)?")
_DAY_FIRST = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})")
_QUARTER = re.compile(r"([0-9]{4})-?Q([1-4])")
_DECADE = re.compile(r"([0-9]{3})0s")


@dataclass(frozen=True)
class LabelMeaning:
    """The values that one label may represent.

    Parameters
    ----------
    spans
        Numbers.
    values
        Categories by name.
    patterns
        Labels that have to be compared with a value to know whether they include it, for example ``130*``,
        ``A00 to B99`` and ``*``.
    missing
        Whether it may be the missing value.
    kind
        The kind of values in a label such as ``2026-W07 to 2026-W12``, if they are neither numbers nor
        categories.
    """

    spans: tuple[Span, ...] = ()
    values: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    missing: bool = False
    kind: Kind | None = None

    @property
    def is_one_value(self) -> bool:
        """Whether it represents a single value."""
        n_values = len(self.spans) + len(self.values) + self.missing
        return n_values == 1 and not self.patterns and all(span.low == span.high for span in self.spans)

    @property
    def is_open(self) -> bool:
        """Whether it may be a category that no label names."""
        return any(pattern not in self.values for pattern in self.patterns)

    def may_be(self, value: str) -> bool:
        """Return whether it may be a category."""
        return value in self.values or any(_fits(pattern, value, self.kind) for pattern in self.patterns)


@dataclass(frozen=True, eq=False)
class PublishedLabels:
    """The labels of one attribute, and the folder's facts about them.

    Parameters
    ----------
    labels
        The labels; ``None`` is a missing value.
    branches
        The values below each published branch of a hierarchy.
    whole
        Whether all numbers are whole.
    kind
        The kind of the values, if they are neither numbers nor categories.

    Examples
    --------
    >>> ages = PublishedLabels(("[20, 30)", "35", "*"), whole=True)
    >>> ages.is_numeric, ages.range
    (True, (20, 35))
    """

    labels: tuple[Label, ...]
    branches: Mapping[str, Sequence[Label]] = field(default_factory=dict)
    whole: bool = False
    kind: Kind | None = None

    @property
    def is_informative(self) -> bool:
        """Whether any label is informative."""
        return any(label != ROOT for label in self.labels)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether every informative label consists of numbers."""
        informative = [label for label in self.labels if label not in (None, ROOT)]
        return bool(informative) and all(self._numbers(label) is not None for label in informative)

    @cached_property
    def meanings(self) -> tuple[LabelMeaning, ...]:
        """What each label may represent."""
        if self.is_numeric:
            everything = LabelMeaning((Span(-math.inf, math.inf, False, False),), missing=True)
            numbers = (everything if label == ROOT else self._numbers(label) for label in self.labels)
            return tuple(meaning for meaning in numbers if meaning is not None)  # none is None here
        meanings = [self._category(label) for label in self.labels]
        # a pattern that contains no known value, such as `130*`, is also a category of its own
        named = {value for meaning in meanings for value in meaning.values}
        patterns = {pattern for meaning in meanings for pattern in meaning.patterns} - {ROOT}
        categories = {
            pattern
            for pattern in patterns
            if not any(_fits(pattern, other, self.kind) for other in named | patterns if other != pattern)
        }
        return tuple(
            replace(meaning, values=(*meaning.values, *(p for p in meaning.patterns if p in categories)))
            for meaning in meanings
        )

    @property
    def is_exact(self) -> bool:
        """Whether every label is one value."""
        return all(meaning.is_one_value for meaning in self.meanings)

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The categories that the release names, in numeric, chronological or alphabetical order."""
        named = {value for meaning in self.meanings for value in meaning.values}
        by_name = sorted(named, key=lambda value: (by_letters(value), value))
        return tuple(value for value in map(text, in_order(by_name)) if value is not None)

    @cached_property
    def has_missing(self) -> bool:
        """Whether a label names the missing value."""
        pairs = zip(self.labels, self.meanings, strict=True)
        return any(meaning.missing for label, meaning in pairs if label != ROOT)

    @cached_property
    def range(self) -> tuple[float, float]:
        """The smallest and the largest number that a reader assumes.

        An open interval reaches as far as the other labels do. If no label goes beyond it, it reaches as far
        as half of the intervals are wide.
        """
        spans = [span for meaning in self.meanings for span in meaning.spans]
        ends = [end for span in spans for end in (span.low, span.high) if math.isfinite(end)]
        widths = [span.high - span.low for span in spans if 0 < span.high - span.low < math.inf]
        width = float(np.median(widths)) if widths else 0.0
        low, high = min(ends), max(ends)
        goes_below = any(span.low == -math.inf and span.high == low for span in spans)
        goes_beyond = any(span.high == math.inf and span.low == high for span in spans)
        low, high = low - width * goes_below, high + width * goes_beyond
        return (math.floor(low), math.ceil(high)) if self.whole else (low, high)

    @property
    def is_separable(self) -> bool:
        """Whether every value can be considered separately."""
        if not self.is_numeric or self.is_exact:
            return True
        return self.whole and self.range[1] - self.range[0] < MOST_NUMBERS

    def _numbers(self, label: Label) -> LabelMeaning | None:
        """Return the numbers of a label; ``None`` if it contains anything else."""
        if label is None:
            return LabelMeaning(missing=True)
        if label in self.branches:
            return _if_all([self._numbers(leaf) for leaf in self.branches[label]])
        if label.endswith(OR_MISSING):
            return _if_all([self._numbers(label.removesuffix(OR_MISSING)), LabelMeaning(missing=True)])
        if label.startswith("{"):
            return _if_all([self._numbers(part) for part in set_parts(label.strip("{}"))])
        value, ends = number(label), interval_ends(label)
        if value is not None:
            return LabelMeaning((Span(float(value), float(value)),))
        if ends is None:
            return None
        (low, with_low), (high, with_high) = ((float(end), is_inside) for end, is_inside in ends)
        if not self.whole:
            return LabelMeaning((Span(low, high, with_low, with_high),))
        if math.isfinite(low):
            low = math.ceil(low) + (not with_low and low == math.ceil(low))
        if math.isfinite(high):
            high = math.floor(high) - (not with_high and high == math.floor(high))
        return LabelMeaning((Span(float(low), float(high)),))

    def _category(self, label: Label) -> LabelMeaning:
        if label is None:
            return LabelMeaning(missing=True)
        if label == ROOT:
            return LabelMeaning(patterns=(ROOT,), missing=True)
        if label in self.branches:
            leaves = tuple(leaf for leaf in self.branches[label] if leaf is not None)
            return LabelMeaning(values=leaves, missing=None in self.branches[label])
        if label.endswith(OR_MISSING):
            return _all_of([self._category(label.removesuffix(OR_MISSING)), LabelMeaning(missing=True)])
        parts = set_parts(label[1:-1]) if label.startswith("{") and label.endswith("}") else []
        if parts:
            return _all_of([self._category(part) for part in parts])
        is_pattern = _MASK.fullmatch(label) or TO in label or (self._times > 1 and _time(label))
        if is_pattern or (self.kind is not None and label.startswith(("<=", ">="))):
            return LabelMeaning(patterns=(label,), kind=self.kind)
        return LabelMeaning(values=(label,))

    @cached_property
    def _times(self) -> int:
        """The number of granularities of times: if the labels also have days, a month represents several."""
        times = [_time(label) for label in self.labels if label is not None]
        return len({len(str(span[1] - span[0])) for span in times if span is not None})


def _if_all(parts: Sequence[LabelMeaning | None]) -> LabelMeaning | None:
    known = [part for part in parts if part is not None]
    return _all_of(known) if known and len(known) == len(parts) else None


def _all_of(parts: Sequence[LabelMeaning]) -> LabelMeaning:
    return LabelMeaning(
        tuple(dict.fromkeys(span for part in parts for span in part.spans)),
        tuple(dict.fromkeys(value for part in parts for value in part.values)),
        tuple(dict.fromkeys(pattern for part in parts for pattern in part.patterns)),
        any(part.missing for part in parts),
        next((part.kind for part in parts if part.kind is not None), None),
    )


def _fits(pattern: str, value: str, kind: Kind | None) -> bool:
    """Return whether a pattern may represent a value; if that is unknown, it may."""
    if pattern == ROOT:
        return True
    if mask := _MASK.fullmatch(pattern):
        return value.startswith(mask["head"] or "") and value.endswith(mask["tail"] or "")
    if kind is not None:
        interval, place = interval_ends(pattern, kind), kind.position(value)
        return interval is None or place is None or interval[0][0] <= place <= interval[1][0]
    first, _, last = pattern.partition(TO)
    ends, time = (_time(first), _time(last or first)), _time(value)
    if ends[0] and ends[1]:
        return time is None or (ends[0][0] <= time[0] and time[1] <= ends[1][1])
    return "*" in pattern or is_between(value, first, last)


def _time(label: str) -> tuple[int, int] | None:
    """Return the first and the last day of a time, with 31 days in every month."""
    if match := _DATE.fullmatch(label):
        year, month, day = (int(part) if part else 0 for part in match.groups())
        first, last = (month or 1, day or 1), (month or 12, day or 31)
        return _day(year, *first), _day(year, *last)
    if match := _DAY_FIRST.fullmatch(label):
        day, month, year = map(int, match.groups())
        return _day(year, month, day), _day(year, month, day)
    if match := _QUARTER.fullmatch(label):
        year, quarter = map(int, match.groups())
        return _day(year, 3 * quarter - 2, 1), _day(year, 3 * quarter, 31)
    if match := _DECADE.fullmatch(label):
        return _day(10 * int(match[1]), 1, 1), _day(10 * int(match[1]) + 9, 12, 31)
    return None


def _day(year: int, month: int, day: int) -> int:
    return (12 * year + month) * 31 + day
