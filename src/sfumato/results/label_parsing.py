"""Parse released labels, whichever program wrote them, into the values they stand for."""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.data.hierarchy import ROOT, Hierarchy, Label
from sfumato.data.kinds import NUMERIC, Kind
from sfumato.data.ordered_ranges import OR_MISSING, TO
from sfumato.data.table import Column, text
from sfumato.results.released_column import ValueSets, exact_node
from sfumato.runtime.arrays import Codes
from sfumato.runtime.numerals import (
    number,
)

READ = (
    "original values, labels of the hierarchy, *, [20, 30), 20-29, >=80, 1990 to 2023, {a, b}, a or missing "
    "and 130**"
)
"""The spellings that are read, for messages."""

# what R, pandas and databases write for a value that is not there
_MISSING = frozenset(("NA", "<NA>", "N/A", "#N/A", "NaN", "nan", "None", "NULL", "null", "?"))
_N = r"[+-]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[iI]nf(?:inity)?|∞)"
_BETWEEN = r"\s*[,;-]\s*"
_BRACKETS = re.compile(rf"([\[\](])\s*({_N}){_BETWEEN}({_N})\s*([\])\[])")
_RANGE = re.compile(rf"({_N})\s*(?:-|\bto\b)\s*({_N})")
_BOUND = re.compile(rf"(>=|≥|>|<=|≤|<)\s*({_N})")
_OR_MORE = re.compile(rf"({_N})\s*\+")
_DASHES = str.maketrans("\u2013\u2014\u2212", "---")
_STARS = re.compile(r"\*+")
_MASK = re.compile(r"(?P<head>[^*]+)\*+|\*+(?P<tail>[^*]+)")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}.*")
_MONTH_OR_YEAR = re.compile(r"[0-9]{4}(?:-[0-9]{2})?")
_PART = re.compile(
    r'\s*+(?:"(?P<quoted>(?:[^"]|"")*)"'
    rf"|(?P<interval>[\[\](]\s*{_N}{_BETWEEN}{_N}\s*[\])\[])"
    r'|(?P<plain>[^,"{}]*[^,"{}\s]))\s*(?:,|$)'
)


@dataclass(frozen=True, eq=False)
class Meaning:
    """The original values (domain codes, ascending) that a label may stand for, and its leaves."""

    codes: Codes
    leaves: int


@dataclass(frozen=True, eq=False)
class Readings:
    """What the labels of one column mean.

    Parameters
    ----------
    meanings
        One for each label; ``None`` where a label cannot be read or no original value fits.
    level
        The level of the hierarchy on which all labels stand, if there is one.
    n_doubtful
        How many labels are those of two nodes that cover different values.
    """

    meanings: tuple[Meaning | None, ...]
    level: int | None
    n_doubtful: int

    def sets(self, n_leaves: int) -> ValueSets:
        """Return the meanings as sets; all labels must have been read."""
        known = [meaning for meaning in self.meanings if meaning is not None]
        starts = np.concatenate([[0], np.cumsum([len(meaning.codes) for meaning in known])])
        members = np.concatenate([meaning.codes for meaning in known])
        return ValueSets(starts, members, np.array([meaning.leaves for meaning in known]), n_leaves)


@dataclass(frozen=True, eq=False)
class Spellings:
    """The ways in which the values of one attribute, and sets of them, are written.

    A label of the hierarchy, an original value among them, is taken as such before it is taken as a
    pattern: ``20-29`` is a node where the hierarchy has one of that name, else the numbers from 20 to
    29.

    Parameters
    ----------
    column, hierarchy
        The attribute in the bound original.
    decimal, thousands
        The decimal mark beside the point, and the mark between thousands.

    Examples
    --------
    >>> ages = Column(np.arange(4), (19, 25, 29, 30), NUMERIC)
    >>> spellings = Spellings(ages, Hierarchy.flat(ages.domain))
    >>> read = spellings.read(["[20, 30[", "20 - 29", ">=25", "{19, 30}", "old"])
    >>> [meaning and meaning.codes.tolist() for meaning in read.meanings]
    [[1, 2], [1, 2], [1, 2, 3], [0, 3], None]
    """

    column: Column = field(repr=False)
    hierarchy: Hierarchy = field(repr=False)
    decimal: str = "."
    thousands: str = ""

    def plain(self, label: Label) -> Label:
        """Return the label as it is compared: ``39.0`` as ``39``, ``*****`` as ``*``, ``NA`` as missing."""
        if label is None or label in self._nodes:
            return label
        if _STARS.fullmatch(label):
            return ROOT
        if label in _MISSING:
            return None
        value = self.number(label)
        return label if value not in self._code_of_number else self._texts[self._code_of_number[value]]

    def number(self, label: str) -> int | float | None:
        """Return the number that a label is, or the place of the value that it means, if it is one."""
        if not self.hierarchy.line.is_number:
            return self.hierarchy.line.position(label)
        value = number(label)
        if self.decimal == "." and not self.thousands:
            return value
        as_in_the_data = number(label, self.decimal, self.thousands)
        return as_in_the_data if value is None or as_in_the_data in self._code_of_number else value

    def read(self, labels: Sequence[Label]) -> Readings:
        """Return what labels of one column mean; they are plain."""
        generalized = [label for label in labels if label != ROOT]
        level = self._level(generalized)
        all_nodes = all(label in self._nodes for label in generalized)
        meanings = tuple(self._meanings(labels, level, counts=not all_nodes))
        doubtful = sum(self._is_doubtful(label) for label in generalized)
        return Readings(meanings, level, doubtful)

    # Labels of the hierarchy

    @cached_property
    def _nodes(self) -> Mapping[Label, Sequence[tuple[int, int]]]:
        """For each label its nodes (level, number), the lowest first; the root apart."""
        return {**self.hierarchy.nodes_named, ROOT: [(self.hierarchy.height, 0)]}

    @cached_property
    def _members(self) -> list[list[Codes]]:
        """For each level and node the codes below it."""
        return [
            np.split(np.argsort(nodes, kind="stable").astype(np.int32), np.cumsum(np.bincount(nodes))[:-1])
            for nodes in self.hierarchy.node_of
        ]

    def _level(self, labels: Iterable[Label]) -> int | None:
        """Return the lowest level on which all of the labels stand."""
        levels = [{level for level, _ in self._nodes.get(label, ())} for label in labels]
        return min(set.intersection(*levels), default=None) if levels else None

    def _is_doubtful(self, label: Label) -> bool:
        nodes = [self._node(*place) for place in self._nodes.get(label, ())]
        return any(
            node.leaves != nodes[0].leaves or not np.array_equal(node.codes, nodes[0].codes)
            for node in nodes[1:]
        )

    def _node(self, level: int, node: int) -> Meaning:
        return Meaning(self._members[level][node], int(self.hierarchy.sizes[level][node]))

    def _meanings(self, labels: Sequence[Label], level: int | None, *, counts: bool) -> list[Meaning | None]:
        """Return the meaning of each label.

        An interval beside some that are no nodes counts the leaves between its ends, as these do.
        """
        if not counts or not self.column.kind.is_ordered:
            return [self._meaning(label, level) for label in labels]
        return [self._interval(label) or self._meaning(label, level) for label in labels]

    def _meaning(self, label: Label, level: int | None) -> Meaning | None:
        nodes = self._nodes.get(label, [])
        if not nodes:
            return None if label is None else self._pattern(label)
        chosen = [place for place in nodes if place[0] == level]
        # without a common level a reader cannot tell which node is meant, so all of them are
        return _union([self._node(*place) for place in chosen or nodes], add=False)

    # Patterns

    @cached_property
    def _texts(self) -> tuple[Label, ...]:
        return tuple(text(value) for value in self.column.domain)

    @cached_property
    def _numbers(self) -> tuple[list[int | float], list[int]]:
        """Where the domain stands, ascending, and the codes; nothing where some value stands nowhere."""
        place = self.hierarchy.line.position
        placed = [(place(label), code) for code, label in enumerate(self._texts) if label is not None]
        pairs = sorted((value, code) for value, code in placed if value is not None)
        return ([], []) if len(pairs) < len(placed) else ([v for v, _ in pairs], [c for _, c in pairs])

    @cached_property
    def _code_of_number(self) -> dict[int | float | None, int]:
        """The code of each number that is written once only."""
        values, codes = self._numbers
        unique = len(set(values)) == len(values)
        return dict(zip(values, codes, strict=True)) if unique else {}

    def _pattern(self, label: str) -> Meaning | None:
        meaning = self._set(label) or self._or_missing(label) or self._range(label) or self._interval(label)
        if meaning is None and self.decimal != ".":
            meaning = self._interval(label.replace(self.decimal, "."))
        return meaning or self._masked(label) or self._list(label)

    def _covering(self, codes: Sequence[int], n_fitting: int) -> Meaning | None:
        """Return the meaning of these codes: so many leaves fit, or those of the node that they are."""
        if not codes:
            return None
        low, high, leaves = codes[0], codes[-1], max(n_fitting, len(codes))
        if not self.column.kind.is_ordered and high - low + 1 == len(codes):
            node = exact_node(self.hierarchy, low, high)
            leaves = leaves if node is None else int(self.hierarchy.sizes[node[0]][node[1]])
        return Meaning(np.array(codes, dtype=np.int32), leaves)

    def _interval(self, label: Label) -> Meaning | None:
        """Return the values, and count the leaves, between the ends that are written."""
        ends = interval_ends(label or "", self.hierarchy.line)
        if ends is None:
            return None
        values, codes = self._numbers
        n_fitting = len(self.hierarchy.leaf_numbers[_between(self.hierarchy.leaf_numbers, ends)])
        return self._covering(sorted(codes[_between(values, ends)]), n_fitting)

    def _masked(self, label: str) -> Meaning | None:
        """Return the meaning of ``130**``, ``**053`` and, where the values are days, ``2026-11``."""
        if _MASK.fullmatch(label) is None:
            days = self._of_days(label)
            return self._covering(days, len(days))
        is_numeric = self.column.kind.is_number
        leaves = [text(leaf) for leaf in self.hierarchy.leaves]
        return self._covering(
            _fitting(label, self._texts, is_numeric), len(_fitting(label, leaves, is_numeric))
        )

    def _of_days(self, label: str) -> list[int]:
        if _MONTH_OR_YEAR.fullmatch(label) is None:
            return []
        days = [(code, value) for code, value in enumerate(self._texts) if value is not None]
        if not all(_DAY.fullmatch(value) for _, value in days):
            return []
        return [code for code, value in days if value.startswith(f"{label}-")]

    def _set(self, label: str) -> Meaning | None:
        """Return the meaning of ``{a, "b, c", [20, 30), missing}``."""
        if not (label.startswith("{") and label.endswith("}")):
            return None
        return self._all_of(set_parts(label[1:-1]))

    def _or_missing(self, label: str) -> Meaning | None:
        """Return the meaning of ``[20, 30) or missing``."""
        known = label.removesuffix(OR_MISSING)
        return self._all_of([known, None]) if known != label else None

    def _range(self, label: str) -> Meaning | None:
        """Return the meaning of ``1990 to 2023``, where both are nodes of one level that is in order."""
        named = self.hierarchy.range_named(label) if self.hierarchy.line.is_number else None
        if named is None:
            return None
        level, first, last = named
        return _union([self._node(level, node) for node in range(first, last + 1)], add=True)

    def _list(self, label: str) -> Meaning | None:
        """Return the meaning of ``a,b``: a set without its braces."""
        parts = set_parts(label)
        return self._all_of(parts) if len(parts) > 1 else None

    def _all_of(self, parts: Sequence[Label]) -> Meaning | None:
        labels = [self.plain(part) for part in parts]
        level = self._level(labels)
        meanings = self._meanings(labels, level, counts=True)
        known = [meaning for meaning in meanings if meaning is not None]
        if not known or len(known) < len(meanings):
            return None
        together = _union(known, add=True)
        whole = len(together.codes) == len(self.column.domain)
        return Meaning(together.codes, self.hierarchy.n_leaves) if whole else together


def _between(values: Sequence[int | float], ends: tuple[_End, _End]) -> slice:
    """Return where the ascending values lie that are between the ends."""
    (low, with_low), (high, with_high) = ends
    return slice(
        (bisect.bisect_left if with_low else bisect.bisect_right)(values, low),
        (bisect.bisect_right if with_high else bisect.bisect_left)(values, high),
    )


def _fitting(label: str, values: Sequence[Label], is_numeric: bool) -> list[int]:
    """Return the places of the values that fit a mask.

    As many stars as signs are hidden where there are such values; else a star is any end.
    """
    head, _, tail = label.partition("*")
    tail = tail.lstrip("*")
    fitting = [
        (place, value)
        for place, value in enumerate(values)
        if value is not None and value.startswith(head) and value.endswith(tail)
    ]
    as_long = [place for place, value in fitting if len(value) == len(label)]
    counts_signs = label.count("*") > 1 or is_numeric
    return as_long if counts_signs and as_long else [place for place, _ in fitting]


def _union(meanings: Sequence[Meaning], *, add: bool) -> Meaning:
    """Put meanings together; the leaves of siblings add up, those of nodes within each other do not."""
    if len(meanings) == 1:
        return meanings[0]
    codes = np.unique(np.concatenate([meaning.codes for meaning in meanings]))
    leaves = [meaning.leaves for meaning in meanings]
    apart = add and len(codes) == sum(len(meaning.codes) for meaning in meanings)
    return Meaning(codes, sum(leaves) if apart else max(*leaves, len(codes)))


def set_parts(inside: str) -> list[Label]:
    """Return the labels of a set as `sfumato.data.hierarchy.set_label` joins them; none if it did not."""
    members: list[Label] = []
    place = 0
    while place < len(inside):
        part = _PART.match(inside, place)
        if part is None:
            return []
        quoted = part["quoted"]
        label = quoted.replace('""', '"') if quoted is not None else part["interval"] or part["plain"]
        members.append(None if label == "missing" and quoted is None else label)
        place = part.end()
    return members


_End = tuple[int | float, bool]


def interval_ends(written: str, line: Kind = NUMERIC) -> tuple[_End, _End] | None:
    """Return both ends of an interval along a line, each with whether it belongs to it.

    Examples
    --------
    >>> interval_ends("[20, 30)"), interval_ends("20-29"), interval_ends("young")
    (((20, True), (30, False)), ((20, True), (29, True)), None)
    """
    if not line.is_number:
        return _ends_in_order(written, line)
    label = written.translate(_DASHES)
    if match := _BRACKETS.fullmatch(label):
        left, low, high, right = match.groups()
        return (_value(low), left == "["), (_value(high), right == "]")
    if match := _RANGE.fullmatch(label):
        return (_value(match[1]), True), (_value(match[2]), True)
    if match := _OR_MORE.fullmatch(label):
        return (_value(match[1]), True), (math.inf, True)
    if match := _BOUND.fullmatch(label):
        sign, end = match[1], (_value(match[2]), match[1] in (">=", "≥", "<=", "≤"))
        return (end, (math.inf, True)) if sign in (">=", "≥", ">") else ((-math.inf, True), end)
    return None


def _ends_in_order(label: str, line: Kind) -> tuple[_End, _End] | None:
    """Read ``2026-W07 to 2026-W12``, ``<=2026-W07`` and ``>=2026-W12``."""
    if label.startswith(("<=", ">=")):
        end = line.position(label[2:])
        if end is None:
            return None
        return ((-math.inf, True), (end, True)) if label[0] == "<" else ((end, True), (math.inf, True))
    first, to, last = label.partition(TO)
    low, high = line.position(first), line.position(last)
    return None if not to or low is None or high is None else ((low, True), (high, True))


def _value(written: str) -> int | float:
    value = number(written)
    return value if value is not None else float(written.replace("∞", "inf"))
