"""Records: the published cells as a stranger reads them, counted."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sfumato.errors import VerificationFailed
from sfumato.verifying.documents import AttributeFacts, LayoutFacts
from sfumato.verifying.folder import opened

Value = str | None
Row = tuple[Value, ...]

WHOLE, PEOPLE, VALUES = "data", "quasi-identifiers", "sensitive"
# A Parquet file that would grow to more than this many times its CSV twin is not unpacked.
_MOST_GROWTH, _SMALL = 64, 16 << 20


@dataclass(frozen=True)
class WrittenTable:
    """A published table: every cell as it is written, a missing one ``None``."""

    names: tuple[str, ...]
    cells: Mapping[str, list[Value]] = field(repr=False)
    n_rows: int

    def rows(self, names: Sequence[str]) -> Iterator[Row]:
        """Return the cells of some columns, row by row."""
        return zip(*(self.cells[name] for name in names), strict=True) if names else iter([()] * self.n_rows)


@dataclass(frozen=True)
class SensitiveValues:
    """One sensitive attribute: how often each value occurs in each group, and among all released records.

    Parameters
    ----------
    name
        The attribute.
    groups
        For each group the number of its records with each value.
    facts
        What the manifest says of its values.
    """

    name: str
    groups: tuple[Counter[Value], ...]
    facts: AttributeFacts

    @cached_property
    def overall(self) -> Counter[Value]:
        """How often each value occurs among all released records."""
        return sum_of(self.groups)

    @cached_property
    def n_records(self) -> int:
        """The number of released records."""
        return self.overall.total()

    @cached_property
    def prior(self) -> dict[Value, float]:
        """The share of each value among the released records: all that a reader can compare with."""
        return {value: count / self.n_records for value, count in self.overall.items()}

    @cached_property
    def ordered(self) -> list[Value]:
        """The values in their order: as the hierarchy lists them, else as numbers, a missing one last."""
        if self.facts.hierarchy is not None:
            return [_leaf(row) for row in self.facts.hierarchy]
        return sorted(self.overall, key=lambda value: (value is None, float(value or 0)))

    @cached_property
    def levels(self) -> list[dict[Value, Value]]:
        """For each level below the root, the node above each value; of a flat attribute the values."""
        if self.facts.hierarchy is None:
            return [{value: value for value in self.overall}]
        return [
            {_leaf(row): row[level] for row in self.facts.hierarchy}
            for level in range(max(len(self.facts.hierarchy[0]) - 1, 1))
        ]

    @property
    def is_withheld(self) -> bool:
        """Whether every released value is ``*``."""
        return set(self.overall) == {"*"}


@dataclass(frozen=True)
class PublicView:
    """What an adversary sees of a release.

    Parameters
    ----------
    n_original
        How many records the original has, by the publisher's word.
    names
        The quasi-identifiers.
    classes
        For each combination of released quasi-identifiers the number of its records.
    sensitive
        The sensitive attributes over the groups: the classes, unless the release has groups of its own.
    has_groups
        Whether sensitive values are told for groups rather than for classes.
    together
        For each class the records with each combination of sensitive values, where the classes tell them.
    people
        For each class the pseudonyms of its people, where they are published.
    """

    n_original: int
    names: tuple[str, ...]
    classes: Mapping[Row, int]
    sensitive: tuple[SensitiveValues, ...]
    has_groups: bool
    together: Mapping[Row, Counter[Row]] = field(repr=False)
    people: Mapping[Row, set[Value]] | None = field(default=None, repr=False)

    @cached_property
    def sizes(self) -> list[int]:
        """The sizes of the classes."""
        return list(self.classes.values())

    @cached_property
    def n_records(self) -> int:
        """The number of released records."""
        return sum(self.sizes)

    @property
    def n_suppressed(self) -> int:
        """The number of records that were left out."""
        return self.n_original - self.n_records


def sum_of(counters: Iterable[Counter[Any]]) -> Counter[Any]:
    """Add up how often things occur."""
    total: Counter[Any] = Counter()
    for counter in counters:
        total.update(counter)
    return total


def _leaf(row: Sequence[str]) -> Value:
    """Return the value that a row of a hierarchy begins with; an empty one is missing."""
    return row[0] or None


def table_names(layout: LayoutFacts) -> tuple[str, ...]:
    """Return the names of the published tables."""
    return (WHOLE,) if layout.form == "one-table" else (PEOPLE, VALUES)


def read_csv(folder: Path, name: str) -> WrittenTable:
    """Read a published CSV file: comma, UTF-8, double quotes, an empty field missing."""
    with opened(folder, f"{name}.csv") as file, io.TextIOWrapper(file, "utf-8", newline="") as text:
        limit_of_others = csv.field_size_limit(sys.maxsize)
        try:
            return _columns(csv.reader(text, strict=True), name)
        except (csv.Error, UnicodeDecodeError):
            raise VerificationFailed(f"{name}.csv is not the CSV that `publish` writes") from None
        finally:
            csv.field_size_limit(limit_of_others)


def _columns(lines: Iterator[list[str]], name: str) -> WrittenTable:
    header = tuple(next(lines, []))
    if not header or len(set(header)) < len(header):
        raise VerificationFailed(f"{name}.csv has no header of different names")
    cells: list[list[Value]] = [[] for _ in header]
    known: dict[str, Value] = {"": None}
    for line in lines:
        # an empty line is a record of one missing cell
        record = line or [""]
        if len(record) != len(header):
            raise VerificationFailed(f"{name}.csv has a record with more or fewer cells than its header")
        for column, cell in zip(cells, record, strict=True):
            column.append(known.setdefault(cell, cell))
    if not cells[0]:
        raise VerificationFailed(f"{name}.csv has no record")
    return WrittenTable(header, dict(zip(header, cells, strict=True)), len(cells[0]))


def differs_from_parquet(folder: Path, name: str, written: WrittenTable) -> str:
    """Say how a Parquet file differs from its CSV twin, whatever the order of the records; or nothing."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with opened(folder, f"{name}.parquet") as file:
        try:
            parquet = pq.ParquetFile(file)
            if tuple(parquet.schema_arrow.names) != written.names:
                return "they have other columns"
            if parquet.metadata.num_rows != written.n_rows:
                return "they have another number of records"
            if _unpacked(parquet) > _MOST_GROWTH * os.fstat(file.fileno()).st_size + _SMALL:
                return "the Parquet file would unpack to far more than its size"
            typed = parquet.read(use_threads=False)
        except (pa.ArrowException, OSError, ValueError):
            return "the Parquet file cannot be read"
    return _differs(typed, written)


def parquet_types(folder: Path, name: str) -> list[tuple[str, str]]:
    """Return the columns of a Parquet file with the types that a data package gives them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def kind(arrow_type: pa.DataType) -> str:
        return (
            "integer"
            if pa.types.is_integer(arrow_type)
            else "number"
            if pa.types.is_floating(arrow_type)
            else "string"
        )

    with opened(folder, f"{name}.parquet") as file:
        try:
            return [(field.name, kind(field.type)) for field in pq.read_schema(file)]
        except (pa.ArrowException, OSError, ValueError):
            raise VerificationFailed(f"{name}.parquet cannot be read") from None


def _unpacked(parquet: Any) -> int:
    groups = parquet.metadata.num_row_groups
    return sum(parquet.metadata.row_group(group).total_byte_size for group in range(groups))


def _differs(typed: Any, written: WrittenTable) -> str:
    columns, texts = [], []
    for name, column in zip(written.names, typed.columns, strict=True):
        values = column.to_pylist()
        kinds = {type(value) for value in values if value is not None}
        if not kinds <= {str} and kinds not in ({int}, {float}):
            return f"the column {name!r} is of a type that `publish` does not write"
        read = int if kinds == {int} else float if kinds == {float} else str
        try:
            texts.append([None if cell is None else read(cell) for cell in written.cells[name]])
        except ValueError:
            return "they hold other records"
        columns.append(values)
    same = Counter(zip(*columns, strict=True)) == Counter(zip(*texts, strict=True))
    return "" if same else "they hold other records"


def published(tables: Mapping[str, WrittenTable], layout: LayoutFacts) -> PublicView:
    """Take the published tables as what an adversary sees."""
    _check_layout(layout)
    people = tables[table_names(layout)[0]]
    roles = {name: facts.role for name, facts in layout.attributes.items()}
    names = tuple(name for name, role in roles.items() if role == "quasi-identifying")
    told = tuple(name for name, role in roles.items() if role == "sensitive")
    two = layout.form == "two-tables"
    beside = {column for column in (layout.group, layout.person) if column}
    expected = {name for name in roles if not (two and name in told)} | beside
    if set(people.names) != expected:
        raise VerificationFailed("the published columns are not those that the manifest names")
    if people.n_rows > layout.n_original:
        raise VerificationFailed("there are more records than the manifest says that the original has")
    together = _together(people, names, () if two else told)
    groups = _groups(tables, layout, told) if layout.group else list(together.values())
    return PublicView(
        n_original=layout.n_original,
        names=names,
        classes={row: counted.total() for row, counted in together.items()},
        sensitive=tuple(
            SensitiveValues(
                name, tuple(_only(group, place) for group in groups), _facts(layout, name, groups, place)
            )
            for place, name in enumerate(told)
        ),
        has_groups=layout.group is not None,
        together=together,
        people=_people(people, names, layout.person) if layout.person else None,
    )


def _people(written: WrittenTable, names: Sequence[str], column: str) -> dict[Row, set[Value]]:
    """Return the pseudonyms of each class."""
    found: defaultdict[Row, set[Value]] = defaultdict(set)
    for row, person in zip(written.rows(names), written.cells[column], strict=True):
        found[row].add(person)
    return dict(found)


def _together(people: WrittenTable, names: Sequence[str], told: Sequence[str]) -> dict[Row, Counter[Row]]:
    found: defaultdict[Row, Counter[Row]] = defaultdict(Counter)
    for row, values in zip(people.rows(names), people.rows(told), strict=True):
        found[row][values] += 1
    return dict(found)


def _groups(
    tables: Mapping[str, WrittenTable], layout: LayoutFacts, told: Sequence[str]
) -> list[Counter[Row]]:
    """Count the sensitive values of each group: in the one table, or as the second one tells them."""
    assert layout.group is not None
    if layout.form == "one-table":
        return list(_together(tables[WHOLE], [layout.group], told).values())
    people, values = tables[PEOPLE], tables[VALUES]
    count = "count"
    while count in told:
        count += "_"
    if sorted(values.names) != sorted([layout.group, *told, count]):
        raise VerificationFailed("the two tables do not have the columns that the manifest names")
    groups: defaultdict[Value, Counter[Row]] = defaultdict(Counter)
    for (group, how_many), row in zip(values.rows([layout.group, count]), values.rows(told), strict=True):
        groups[group][row] += _count(how_many, people.n_rows)
    sizes = Counter(people.cells[layout.group])
    if {group: counted.total() for group, counted in groups.items()} != dict(sizes):
        raise VerificationFailed("the two tables do not have the same number of records in every group")
    return list(groups.values())


def _count(written: Value, most: int) -> int:
    if (
        written is None
        or not (written.isascii() and written.isdecimal())
        or not 0 < int(written[:20]) <= most
    ):
        raise VerificationFailed("a count in the table of sensitive values is not a number of records")
    return int(written)


def _only(group: Counter[Row], place: int) -> Counter[Value]:
    counted: Counter[Value] = Counter()
    for row, count in group.items():
        counted[row[place]] += count
    return counted


def _facts(layout: LayoutFacts, name: str, groups: Sequence[Counter[Row]], place: int) -> AttributeFacts:
    """Return what the manifest says of a sensitive attribute, if it can be true of the published values."""
    facts = layout.attributes[name]
    values = {row[place] for group in groups for row in group}
    if facts.hierarchy is not None and {_leaf(row) for row in facts.hierarchy} != values:
        raise VerificationFailed(
            f"the hierarchy of {name!r} in the manifest is not over the published values"
        )
    return facts


def _check_layout(layout: LayoutFacts) -> None:
    if layout.form == "two-tables" and layout.group is None:
        raise VerificationFailed("two tables without a group that joins them")
    if layout.person in layout.attributes or (layout.person is not None and layout.person == layout.group):
        raise VerificationFailed("the column of pseudonyms is also an attribute")
    if layout.group in layout.attributes:
        raise VerificationFailed("the column of the groups is named as an attribute, too")
    for name, facts in layout.attributes.items():
        rows = facts.hierarchy or []
        if facts.role != "sensitive" and (facts.kind is not None or facts.hierarchy is not None):
            raise VerificationFailed(
                f"the manifest says of {name!r} what `publish` says of sensitive attributes only"
            )
        if len({len(row) for row in rows}) > 1 or len({row[0] for row in rows if row}) < len(rows):
            raise VerificationFailed(
                f"the hierarchy of {name!r} in the manifest is not one row for each value"
            )
        if facts.hierarchy is not None and (not rows or not _is_tree(rows)):
            raise VerificationFailed(f"the hierarchy of {name!r} in the manifest is no tree")


def _is_tree(rows: Sequence[Sequence[Value]]) -> bool:
    """Return whether equal nodes of a level have equal nodes above them, up to one root."""
    above: dict[tuple[int, Value], Value] = {}
    for row in rows:
        for level in range(len(row) - 1):
            if above.setdefault((level, row[level]), row[level + 1]) != row[level + 1]:
                return False
    return len({row[-1] for row in rows}) == 1 or len(rows[0]) == 1
