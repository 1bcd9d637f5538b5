"""Generalization hierarchies: trees that merge values level by level, up to the root ``*``."""

from __future__ import annotations

import bisect
import csv
import datetime
import io
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from sfumato.data.kinds import CATEGORICAL, NUMERIC, Kind, Value
from sfumato.data.ordered_ranges import TO, KnownOrder, in_order, scale_of
from sfumato.data.table import text
from sfumato.runtime.arrays import Codes, Integers, freeze_fields, sealed
from sfumato.runtime.errors import HierarchyError
from sfumato.runtime.files import why_unreadable
from sfumato.runtime.numerals import number

ROOT = "*"
Label = str | None
"""The label of a node; ``None`` only for a missing value that stands for itself."""

NestedMapping = Mapping[str, "NestedMapping"] | Sequence[str]
DateUnit = Literal["month", "quarter", "year", "decade"]


class HierarchySource(Protocol):
    """Anything that gives a hierarchy once the values of the attribute are known."""

    def build(self, values: tuple[Value, ...], kind: Kind) -> Hierarchy:
        """Return the hierarchy over these values."""


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Levels 0 (the value itself) to ``height`` (one root), each a partition coarser than the one below.

    Parameters
    ----------
    values
        The values at the bottom, in order.
    node_of
        For each level and each value the number of its node.
    labels
        For each level the labels of its nodes.
    sizes
        For each level how many leaves lie below each node, those that do not occur in the data included.
    is_ordered
        Whether the order of the values means something; that in which categories were first seen does not.
    leaves
        All leaves, where some do not occur in the data; else the values are all that there are.
    kind
        What sort of values they are, once the hierarchy is built over those of a column.

    Examples
    --------
    >>> hierarchy = Hierarchy.nested({"Europe": ["France", "Italy"], "Asia": ["Japan"]})
    >>> hierarchy.height, hierarchy.labels[1]
    (2, ('Europe', 'Asia'))
    """

    values: tuple[Value, ...] = field(repr=False)
    node_of: Codes = field(repr=False)
    labels: tuple[tuple[Label, ...], ...] = field(repr=False)
    sizes: tuple[Integers, ...] = field(repr=False)
    is_ordered: bool = field(default=True, repr=False)
    leaves: tuple[Value, ...] = field(default=(), repr=False)
    kind: Kind = field(default=CATEGORICAL, repr=False)

    def __post_init__(self) -> None:
        freeze_fields(self, node_of=np.int32, sizes=np.int64)

    @property
    def height(self) -> int:
        """The level of the root."""
        return len(self.labels) - 1

    @property
    def n_leaves(self) -> int:
        """How many leaves there are, those that do not occur in the data included."""
        return int(self.sizes[-1][0])

    @property
    def has_order(self) -> bool:
        """Whether distances along the order of the values mean something: two values have but one."""
        return self.is_ordered or len(self.values) <= 2

    @cached_property
    def joins(self) -> Codes:
        """For each value the lowest level on which it shares a node with the value before it (first: 0).

        Between two neighbours in order this is where the hierarchy puts its boundary: the higher the
        level, the deeper the divide.
        """
        together = self.node_of[:, 1:] == self.node_of[:, :-1]
        return sealed(np.concatenate([[0], together.argmax(axis=0)]).astype(np.int32))

    @cached_property
    def line(self) -> Kind:
        """The kind by which leaves have a place on a line: their own if it has an order, else as numbers."""
        return self.kind if self.kind.is_ordered else NUMERIC

    @cached_property
    def leaf_numbers(self) -> tuple[int | float, ...]:
        """Where the leaves stand on their line, ascending, those that do not occur in the data included."""
        places = map(self.line.position, self.leaves or self.values)
        return tuple(sorted(place for place in places if place is not None))

    @cached_property
    def leaf_places(self) -> tuple[int, ...]:
        """For each value on the line its place among the leaves that are; a missing one comes last."""
        last = len(self.leaf_numbers)
        places = map(self.line.position, self.values)
        return tuple(
            last if place is None else bisect.bisect_left(self.leaf_numbers, place) for place in places
        )

    @cached_property
    def nodes_named(self) -> Mapping[Label, Sequence[tuple[int, int]]]:
        """For each label its nodes (level, number), the lowest first."""
        nodes: dict[Label, list[tuple[int, int]]] = {}
        for level, labels in enumerate(self.labels):
            for node, label in enumerate(labels):
                nodes.setdefault(label, []).append((level, node))
        return nodes

    @cached_property
    def scales(self) -> tuple[KnownOrder, ...]:
        """For each level the order that everybody knows in which its nodes stand, if they do."""
        return tuple(scale_of(labels) for labels in self.labels)

    def range_named(self, label: str) -> tuple[int, int, int] | None:
        """Return level, first and last node of ``first to last``; none if it could be read in two ways.

        Examples
        --------
        >>> Hierarchy.flat(["1990", "1995", "2003"]).range_named("1990 to 1995")
        (0, 0, 1)
        """
        first, to, last = label.partition(TO)
        if not to or TO in last or label in self.nodes_named:
            return None
        ends = dict(self.nodes_named.get(last, ()))
        ranges = [
            (level, node, ends[level])
            for level, node in self.nodes_named.get(first, ())
            if level in ends and self.scales[level].holds(node, ends[level])
        ]
        return ranges[0] if len(ranges) == 1 else None

    def first_values(self, level: int) -> Codes:
        """Return for each node of a level the first of its values."""
        return np.unique(self.node_of[level], return_index=True)[1].astype(np.int32)

    def above(self, level: int) -> Hierarchy:
        """Return what is left of the hierarchy when the nodes of a level are its values."""
        nodes = self.node_of[level:, self.first_values(level)]
        return Hierarchy(
            self.labels[level],
            nodes,
            self.labels[level:],
            self.sizes[level:],
            self.is_ordered,
            self.leaves or self.values,
            self.kind,
        )

    @classmethod
    def of_levels(cls, values: Sequence[Value], levels: Sequence[Sequence[Label]]) -> Hierarchy:
        """Build from the label of every value on every level above 0; a root is added where it lacks."""
        columns: list[Sequence[Label]] = [[text(value) for value in values], *levels]
        if not levels or len(set(columns[-1])) > 1:
            columns.append([ROOT] * len(values))
        # the leaves of a node must be neighbours; otherwise they stay in the given order
        order = np.lexsort([_number_labels(column)[0] for column in columns]).tolist()
        columns = [[column[row] for row in order] for column in columns]
        numbered = [_number_labels(column) for column in columns]
        node_of = np.array([codes for codes, _ in numbered], dtype=np.int32)
        for level, (below, above) in enumerate(itertools.pairwise(node_of.tolist())):
            n_torn = len(set(zip(below, above, strict=True))) - len(set(below))
            if n_torn:
                raise HierarchyError(
                    f"not a tree: {n_torn} node(s) of level {level} have more than one parent on level "
                    f"{level + 1}; give each node one parent"
                )
        sizes = [np.bincount(codes) for codes, _ in numbered[:-1]]
        labels = [labels for _, labels in numbered[:-1]]
        return cls(
            tuple(values[row] for row in order),
            node_of,
            (*labels, (ROOT,)),
            (*sizes, np.array([len(values)])),
            kind=_kind_of(values),
        )

    @classmethod
    def flat(cls, values: Sequence[Value]) -> Hierarchy:
        """Build the two-level hierarchy of a value and the root."""
        texts = tuple(map(text, values))
        if not texts or len(set(texts)) < len(texts):
            return cls.of_levels(values, [[ROOT] * len(values)])
        # no two values are written alike: each is a node of its own, where it stands
        node_of = np.zeros((2, len(texts)), dtype=np.int32)
        node_of[0] = np.arange(len(texts))
        sizes = (np.ones(len(texts), dtype=np.int64), np.array([len(texts)]))
        return cls(tuple(values), node_of, (texts, (ROOT,)), sizes, kind=_kind_of(values))

    @classmethod
    def nested(cls, mapping: NestedMapping) -> Hierarchy:
        """Build from ``{"Europe": ["France", "Italy"], "Asia": {"East": ["Japan"]}}``.

        A leaf that lies less deep than others stands for itself on the levels between.
        """
        paths = list(_paths(mapping, ()))
        if not paths:
            raise HierarchyError("the nested mapping has no values; list at least one")
        depth = max(len(path) for path in paths)
        leaves = [path[-1] for path in paths]
        if len(set(leaves)) < len(leaves):
            raise HierarchyError("a value stands in two branches; a value has one place in a hierarchy")
        padded = [path[:-1] + (path[-1],) * (depth - len(path) + 1) for path in paths]
        levels = [[path[depth - 1 - level] for path in padded] for level in range(1, depth)]
        return cls.of_levels(leaves, [*levels, [ROOT] * len(leaves)])

    @classmethod
    def read(cls, path: str | Path, *, separator: str = ";") -> Hierarchy:
        """Read a hierarchy in ARX's format: ``value;level1;level2;…``, no header, one row for each value."""
        place = Path(path)
        trouble = why_unreadable(place)
        if trouble:
            raise HierarchyError(f"the hierarchy {place.name or path} {trouble}")
        try:
            # a carriage return inside a value is a part of it
            written = io.StringIO(place.read_bytes().decode("utf-8-sig"), newline="")
            rows = [row for row in csv.reader(written, delimiter=separator) if row]
        except OSError as error:
            reason = error.strerror or "unreadable"
            raise HierarchyError(f"cannot read the hierarchy {place.name}: {reason}") from None
        except UnicodeDecodeError:
            raise HierarchyError(f"the hierarchy {place.name} is not UTF-8; save it as UTF-8") from None
        except csv.Error:
            raise HierarchyError(f"the hierarchy {place.name} is not a CSV file; save it as one") from None
        return cls.of_rows(rows, place.name)

    @classmethod
    def of_rows(cls, rows: Sequence[Sequence[str]], source: str = "the hierarchy") -> Hierarchy:
        """Build from rows of ``value, level 1, level 2, …``."""
        if not rows:
            raise HierarchyError(f"{source} is empty; write one row 'value;level1;…;*' for each value")
        for position, row in enumerate(rows, start=1):
            if len(row) != len(rows[0]):
                raise HierarchyError(
                    f"row {position} of {source} has {len(row)} levels where row 1 has {len(rows[0])}; "
                    "give every row the same number"
                )
        leaves: list[Value] = [cell.strip() or None for cell in (row[0] for row in rows)]
        if len(set(leaves)) < len(leaves):
            raise HierarchyError(f"a value has two rows in {source}; keep one")
        levels: list[list[Label]] = [
            [row[level].strip() or None for row in rows] for level in range(1, len(rows[0]))
        ]
        try:
            return cls.of_levels(leaves, levels)
        except HierarchyError as error:
            raise HierarchyError(f"{source}: {error}") from None

    def rows(self) -> list[list[str]]:
        """Return the rows of ARX's format: value, level 1, …, root."""
        return [
            [self.labels[level][self.node_of[level, value]] or "" for level in range(self.height + 1)]
            for value in range(len(self.values))
        ]

    def build(self, values: tuple[Value, ...], kind: Kind) -> Hierarchy:
        """Return the part of this hierarchy above the values that occur, ordered as domains are.

        Categories come in the order of the leaves, numbers ascending. A missing value that the
        hierarchy does not place becomes a branch of its own below the root.
        """
        place = {text(value): position for position, value in enumerate(self.values)}
        present = [value for value in values if value is not None or None in place]
        lacking = sum(text(value) not in place for value in present)
        if lacking:
            raise HierarchyError(f"{lacking} of its {len(values)} values are not in the hierarchy; add them")
        if not kind.is_ordered:
            present.sort(key=lambda value: place[text(value)])
        rows = np.array([place[text(value)] for value in present], dtype=np.int64)
        part = replace(self._restricted(tuple(present), rows), kind=kind)
        return part._with_missing() if len(present) < len(values) else part

    def _restricted(self, values: tuple[Value, ...], rows: Integers) -> Hierarchy:
        node_of, labels, sizes = [], [], []
        for level in range(self.height):
            codes, nodes = _first_seen(self.node_of[level, rows])
            node_of.append(codes)
            labels.append(tuple(self.labels[level][node] for node in nodes))
            sizes.append(self.sizes[level][nodes])
        node_of.append(np.zeros(len(rows), dtype=np.int32))
        return Hierarchy(
            values,
            np.array(node_of, dtype=np.int32),
            (*labels, (ROOT,)),
            (*sizes, self.sizes[-1]),
            self.is_ordered,
            self.leaves or self.values,
        )

    def _with_missing(self) -> Hierarchy:
        """Append the missing value: itself on every level but the root."""
        own = [[len(labels)] for labels in self.labels[:-1]] + [[0]]
        node_of = np.concatenate([self.node_of, np.array(own, dtype=np.int32)], axis=1)
        labels = tuple((*labels, None) for labels in self.labels[:-1])
        sizes = tuple(np.append(sizes, 1) for sizes in self.sizes[:-1])
        sizes = (*sizes, self.sizes[-1] + 1)
        leaves = (*(self.leaves or self.values), None)
        labels = (*labels, (ROOT,))
        return Hierarchy((*self.values, None), node_of, labels, sizes, self.is_ordered, leaves, self.kind)


@dataclass(frozen=True)
class Intervals:
    """Intervals of growing width, aligned at multiples of the width: ``[20, 30)``, ``[20, 40)``, …."""

    widths: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.widths or not all(0 < width < math.inf for width in self.widths):
            raise HierarchyError("interval widths must be positive; give for example intervals = [5, 10, 20]")
        for narrow, wide in zip(self.widths, self.widths[1:], strict=False):
            if wide <= narrow or _exact(wide) % _exact(narrow):
                raise HierarchyError(
                    f"interval width {text(wide)} is not a multiple of {text(narrow)}; "
                    "each width must be a multiple of the one before"
                )

    def build(self, values: tuple[Value, ...], kind: Kind) -> Hierarchy:
        """Return the hierarchy over these numbers, or over other values that stand at whole places."""
        present = [value for value in values if value is not None]
        places = [kind.position(value) for value in present]
        numbers = [place for place in places if place is not None]
        if not kind.can_round or len(numbers) < len(present):
            raise HierarchyError('intervals need numbers; set kind = "numeric" or take another hierarchy')
        levels = [_intervals(numbers, width, kind) for width in self.widths]
        return Hierarchy.of_levels(present, [*levels, [ROOT] * len(present)]).build(values, kind)


@dataclass(frozen=True)
class Prefixes:
    """The first so many characters, fewer on each level: ZIP codes, ICD chapters, ISO dates."""

    lengths: tuple[int, ...]

    def __post_init__(self) -> None:
        falling = all(long > short for long, short in zip(self.lengths, self.lengths[1:], strict=False))
        if not self.lengths or not falling or min(self.lengths) < 1:
            raise HierarchyError(
                "prefix lengths must fall and stay above 0; give for example prefixes = [4, 3, 2]"
            )

    def build(self, values: tuple[Value, ...], kind: Kind) -> Hierarchy:
        """Return the hierarchy over these values as they are written; text in the order of its letters."""
        written = sorted(text(value) or "" for value in values if value is not None)
        levels: list[list[Label]] = []
        for length in self.lengths:
            cut = {value[:length] for value in written if len(value) > length}
            levels.append([f"{value[:length]}*" if value[:length] in cut else value for value in written])
        return Hierarchy.of_levels(written, [*levels, [ROOT] * len(written)]).build(values, kind)


@dataclass(frozen=True)
class Dates:
    """Months, quarters, years, decades of dates written ``2026-11-15`` or in a given format."""

    units: tuple[DateUnit, ...] = ("month", "year")
    format: str = "%Y-%m-%d"

    _ORDER = ("month", "quarter", "year", "decade")
    _LONGEST = 100

    def __post_init__(self) -> None:
        if not self.units or tuple(self.units) != tuple(unit for unit in self._ORDER if unit in self.units):
            raise HierarchyError(f"date units must come in this order, each once: {', '.join(self._ORDER)}")
        if len(self.format) > self._LONGEST:
            raise HierarchyError(
                f"the date format has {len(self.format):,} signs, more than {self._LONGEST}; "
                "write it like %Y-%m-%d"
            )

    def build(self, values: tuple[Value, ...], kind: Kind) -> Hierarchy:
        """Return the hierarchy over these dates, those that are text in the order of time."""
        present = [value for value in values if value is not None]
        dated = [(_date(text(value) or "", self.format), value) for value in present]
        unread = sum(date is None for date, _ in dated)
        if unread:
            raise HierarchyError(
                f"{unread} of its {len(values)} values are not dates of the format {self.format}; "
                "give the right format or another hierarchy"
            )
        dated.sort(key=lambda pair: pair[0] or datetime.date.min)
        levels = [[_date_label(date, unit) for date, _ in dated if date] for unit in self.units]
        return Hierarchy.of_levels([value for _, value in dated], [*levels, [ROOT] * len(dated)]).build(
            values, kind
        )


@dataclass(frozen=True)
class Nested:
    """Groups of values by name, and groups of groups: ``{"Europe": ["FR", "IT"], "Asia": ["JP"]}``."""

    groups: NestedMapping

    def build(self, values: tuple[Value, ...], kind: Kind) -> Hierarchy:
        """Return the hierarchy over these values, each of which stands in a group."""
        return Hierarchy.nested(self.groups).build(values, kind)


@dataclass(frozen=True)
class Flat:
    """The value or nothing: what an attribute without a hierarchy has."""

    def build(self, values: tuple[Value, ...], kind: Kind) -> Hierarchy:
        """Return the two-level hierarchy over these values, in the order of numbers or of time."""
        if kind.is_ordered:
            return replace(Hierarchy.flat(values), kind=kind)
        return replace(Hierarchy.flat(in_order(values)), is_ordered=False, kind=kind)


def interval_label(low: int | float, high: int | float, *, closed: bool = False) -> str:
    """Return ``[low, high)``, or ``[low, high]`` when closed.

    Examples
    --------
    >>> interval_label(20, 30)
    '[20, 30)'
    """
    return f"[{text(low)}, {text(high)}{']' if closed else ')'}"


def range_label(first: Value, last: Value) -> Label:
    """Return ``2026-W07 to 2026-W12``, or the value itself where both are the same.

    Examples
    --------
    >>> range_label("2026-W07", "2026-W12"), range_label("S", "S")
    ('2026-W07 to 2026-W12', 'S')
    """
    return text(first) if first == last else f"{text(first)}{TO}{text(last)}"


def set_label(labels: Iterable[Label]) -> str:
    """Return ``{a, b}``; what contains a comma, brace or quote is quoted, a missing value is ``missing``.

    Examples
    --------
    >>> set_label(["State-gov", "Private, other", None])
    '{State-gov, "Private, other", missing}'
    """
    return "{" + ", ".join(_quoted(label) for label in labels) + "}"


def _quoted(label: Label) -> str:
    if label is None:
        return "missing"
    if label != "missing" and not any(sign in label for sign in ',{}"'):
        return label
    # the comma of an interval separates no labels
    ends = label[1:-1].split(",")
    has_brackets = label.startswith("[") and label.endswith((")", "]", "["))
    is_interval = has_brackets and len(ends) == 2 and all(number(end) is not None for end in ends)
    return label if is_interval else '"' + label.replace('"', '""') + '"'


def _intervals(numbers: Sequence[int | float], width: float, kind: Kind) -> list[Label]:
    step = _exact(width)
    places = [_place(value, width, step) for value in numbers]
    labels: dict[int, Label] = {}
    for place in set(places):
        ends = (place * step, (place + 1) * step)
        low, high = (int(end) if end.denominator == 1 else float(end) for end in ends)
        if kind.at is None:
            labels[place] = interval_label(low, high)
        else:
            labels[place] = range_label(kind.at(math.ceil(low)), kind.at(math.ceil(high) - 1))
    return [labels[place] for place in places]


def _place(value: int | float, width: float, step: int | Fraction) -> int:
    """Return how many widths lie below a number, by fractions where rounding could matter."""
    if isinstance(value, float) and width < 2**53:
        quotient = value / width
        if abs(quotient) < 2**30 and abs(quotient - round(quotient)) > 1e-6:
            return math.floor(quotient)
    return int(_exact(value) // step)


def _exact(value: int | float) -> int | Fraction:
    """Return a number as it is written: 0.3 is three times 0.1, which it is not in binary."""
    return value if isinstance(value, int) else Fraction(str(value))


def _date(written: str, format_: str) -> datetime.date | None:
    try:
        return datetime.datetime.strptime(written, format_).date()
    except (ValueError, re.error):  # a format that names a part twice is no pattern
        return None


def _date_label(date: datetime.date, unit: str) -> str:
    if unit == "month":
        return f"{date.year:04}-{date.month:02}"
    if unit == "quarter":
        return f"{date.year:04}-Q{(date.month + 2) // 3}"
    return f"{date.year:04}" if unit == "year" else f"{date.year // 10 * 10:04}s"


def _paths(mapping: NestedMapping, above: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    if isinstance(mapping, Mapping):
        for label, below in mapping.items():
            yield from _paths(below, (*above, str(label)))
    elif not isinstance(mapping, (list, tuple)) or not all(isinstance(leaf, str) for leaf in mapping):
        raise HierarchyError(
            'a nested mapping ends in lists of text, for example Europe = ["France", "Italy"]'
        )
    else:
        yield from ((*above, leaf) for leaf in mapping)


def _kind_of(values: Iterable[Value]) -> Kind:
    """Return the kind of values that nobody described: numbers, or else categories."""
    present = [value for value in values if value is not None]
    return NUMERIC if present and not any(isinstance(value, str) for value in present) else CATEGORICAL


def _number_labels(column: Sequence[Label]) -> tuple[list[int], tuple[Label, ...]]:
    places: dict[Label, int] = {}
    codes = [places.setdefault(label, len(places)) for label in column]
    return codes, tuple(places)


def _first_seen(nodes: Codes) -> tuple[Codes, Integers]:
    """Number the nodes anew in the order in which they occur; also return the old numbers."""
    old, first, inverse = np.unique(nodes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    new = np.empty(len(old), dtype=np.int32)
    new[order] = np.arange(len(old), dtype=np.int32)
    return new[inverse], old[order].astype(np.int64)
