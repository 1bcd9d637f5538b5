"""Records: the published cells as a stranger reads them, counted."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.errors import VerificationFailed
from sfumato.verifying.documents import AttributeFacts, LayoutFacts
from sfumato.verifying.folder import opened

Value = str | None
Integers = npt.NDArray[np.integer[Any]]
Floats = npt.NDArray[np.float64]

WHOLE, PEOPLE, VALUES = "data", "quasi-identifiers", "sensitive"
# A Parquet file that would grow to more than this many times its CSV twin is not unpacked.
_MOST_GROWTH, _SMALL = 64, 16 << 20
# So many bytes are looked at together.
_BLOCK = 1 << 20
_LARGEST_KEY = 2**62
_COMMA, _LINE_END, _QUOTE = b',\n"'
_QUOTED = re.compile(rb'"((?:[^"]|"")*)"')


@dataclass(frozen=True)
class FileColumn:
    """A published column: every different cell once as it is written, and which of them each record has."""

    values: tuple[Value, ...]
    codes: Integers = field(repr=False)

    @classmethod
    def of(cls, cells: Iterable[Value]) -> FileColumn:
        """Number the cells."""
        number: dict[Value, int] = {}
        codes = [number.setdefault(cell, len(number)) for cell in cells]
        return cls(tuple(number), np.array(codes, dtype=np.int64))

    @property
    def counts(self) -> Integers:
        """How often each value occurs."""
        return np.bincount(self.codes, minlength=len(self.values))


@dataclass(frozen=True)
class WrittenTable:
    """A published table: every cell as it is written, a missing one ``None``."""

    columns: Mapping[str, FileColumn]
    n_rows: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)


@dataclass(frozen=True)
class SensitiveValues:
    """One sensitive attribute: how often each value occurs in each group.

    Parameters
    ----------
    name
        The attribute.
    values
        The values that occur.
    group_of, value_of, counts
        So many records of a group have a value, by its place; group after group, no group without a record.
    facts
        What the manifest says of its values.
    """

    name: str
    values: tuple[Value, ...]
    group_of: Integers = field(repr=False)
    value_of: Integers = field(repr=False)
    counts: Integers = field(repr=False)
    facts: AttributeFacts

    @classmethod
    def of(
        cls,
        name: str,
        column: FileColumn,
        group_of: Integers,
        facts: AttributeFacts,
        weights: Integers | None = None,
    ) -> SensitiveValues:
        """Count the values of a column in each group; a row is one record, or as many as it weighs."""
        told = counted(group_of, column.codes, len(column.values), weights)
        return cls(name, column.values, *told, facts)

    @cached_property
    def starts(self) -> Integers:
        """Where what is told of each group begins."""
        return np.searchsorted(self.group_of, np.arange(int(self.group_of[-1]) + 1))

    @cached_property
    def sizes(self) -> Integers:
        """The number of records of each group."""
        return self.total(self.counts)

    @cached_property
    def n_different(self) -> Integers:
        """How many values occur in each group."""
        return np.diff(np.append(self.starts, len(self.counts)))

    @cached_property
    def shares(self) -> Floats:
        """For each value of each group its share of the records there."""
        return self.counts / self.sizes[self.group_of]

    @cached_property
    def priors(self) -> Floats:
        """For each value of each group its share of all released records."""
        return self.prior[self.value_of]

    def total(self, told: Any) -> Any:
        """Add up what is told of the values of each group."""
        return np.add.reduceat(told, self.starts)

    def largest(self, told: Any) -> Any:
        """Return the largest of what is told of the values of each group."""
        return np.maximum.reduceat(told, self.starts)

    @cached_property
    def overall(self) -> Integers:
        """How often each value occurs among all released records."""
        return np.bincount(self.value_of, self.counts, len(self.values)).astype(np.int64)

    @cached_property
    def n_records(self) -> int:
        """The number of released records."""
        return int(self.counts.sum())

    @cached_property
    def prior(self) -> Floats:
        """The share of each value among the released records: all that a reader can compare with."""
        return self.overall / self.n_records

    @cached_property
    def ordered(self) -> list[Value]:
        """The values in their order: as the hierarchy lists them, else as numbers, a missing one last."""
        if self.facts.hierarchy is not None:
            return [_leaf(row) for row in self.facts.hierarchy]
        return sorted(self.values, key=lambda value: (value is None, float(value or 0)))

    @cached_property
    def levels(self) -> list[dict[Value, Value]]:
        """For each level below the root, the node above each value; of a flat attribute the values."""
        if self.facts.hierarchy is None:
            return [{value: value for value in self.values}]
        return [
            {_leaf(row): row[level] for row in self.facts.hierarchy}
            for level in range(max(len(self.facts.hierarchy[0]) - 1, 1))
        ]

    @property
    def is_withheld(self) -> bool:
        """Whether every released value is ``*``."""
        return self.values == ("*",)

    def counted_by(self, group_of: Integers, node_of: Integers, nodes: tuple[Value, ...]) -> SensitiveValues:
        """Put groups together, and values: which group each group becomes part of, and which node a value."""
        told = counted(group_of[self.group_of], node_of[self.value_of], len(nodes), self.counts)
        return SensitiveValues(self.name, nodes, *told, self.facts)


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
        For each quasi-identifier the number of the released value of each class.
    sizes
        How many records each class has.
    sensitive
        The sensitive attributes over the groups: the classes, unless the release has groups of its own.
    has_groups
        Whether sensitive values are told for groups rather than for classes.
    people, n_people
        How many pseudonyms each class has, and how many there are, where they are published.
    kind
        What the rows stand for, by the publisher's word: ``people``, ``perturbed`` or ``synthetic``.
    """

    n_original: int
    names: tuple[str, ...]
    classes: Sequence[Integers] = field(repr=False)
    sizes: Integers = field(repr=False)
    sensitive: tuple[SensitiveValues, ...]
    has_groups: bool
    people: Integers | None = field(default=None, repr=False)
    n_people: int | None = None
    kind: str = "people"

    @cached_property
    def n_records(self) -> int:
        """The number of released records."""
        return int(self.sizes.sum())

    @property
    def n_suppressed(self) -> int:
        """The number of records that were left out; of made-up ones none was."""
        return 0 if self.kind == "synthetic" else self.n_original - self.n_records


def numbered(columns: Sequence[Integers], n_rows: int) -> tuple[Integers, int]:
    """Give equal rows equal numbers, 0, 1, 2, … in the order in which they first occur."""
    number: Integers = np.zeros(n_rows, dtype=np.int64)
    n_different = 1
    for codes in columns:
        span = int(codes.max(initial=0)) + 1
        if n_different * span > _LARGEST_KEY:
            number, n_different = _first_seen(number)
        number, n_different = number * span + codes, n_different * span
    return _first_seen(number)


def _first_seen(keys: Integers) -> tuple[Integers, int]:
    import pyarrow as pa

    encoded = pa.array(keys).dictionary_encode()
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def counted(
    group_of: Integers, codes: Integers, n_values: int, weights: Integers | None = None
) -> tuple[Integers, Integers, Integers]:
    """Count the values of each group: for each value that occurs in a group both, and how often it does."""
    keys = group_of * n_values + codes
    if weights is None:
        found, counts = np.unique(keys, return_counts=True)
    else:
        found, place = np.unique(keys, return_inverse=True)
        counts = np.bincount(place, weights).astype(np.int64)
    return found // n_values, found % n_values, counts


def _leaf(row: Sequence[str]) -> Value:
    """Return the value that a row of a hierarchy begins with; an empty one is missing."""
    return row[0] or None


def table_names(layout: LayoutFacts) -> tuple[str, ...]:
    """Return the names of the published tables."""
    return (WHOLE,) if layout.form == "one-table" else (PEOPLE, VALUES)


def read_csv(folder: Path, name: str) -> WrittenTable:
    """Read a published CSV file: comma, UTF-8, double quotes, an empty field missing."""
    with opened(folder, f"{name}.csv") as file:
        written = file.read()
    limit_of_others = csv.field_size_limit(sys.maxsize)
    try:
        return _all_at_once(written) or _line_by_line(written, name)
    except (csv.Error, UnicodeDecodeError):
        raise VerificationFailed(f"{name}.csv is not the CSV that `publish` writes") from None
    finally:
        csv.field_size_limit(limit_of_others)


def _all_at_once(written: bytes) -> WrittenTable | None:
    """Read a file that is written as it should be; ``None`` where something in it asks for a closer look."""
    import pyarrow as pa

    letters = np.frombuffer(written, dtype=np.uint8)
    ends = _cell_ends(letters)
    is_last = letters[ends] == _LINE_END
    n_columns = int(is_last.argmax()) + 1 if is_last.any() else 0
    if not n_columns or ends[-1] + 1 != len(letters) or len(ends) % n_columns or len(ends) == n_columns:
        return None
    if (is_last.reshape(-1, n_columns) != (np.arange(n_columns) == n_columns - 1)).any():
        return None
    kind = pa.binary() if len(letters) < 2**31 else pa.large_binary()
    bounds = np.zeros(len(ends) + 1, dtype=np.int32 if kind == pa.binary() else np.int64)
    np.add(ends, 1, out=bounds[1:], casting="same_kind")
    cells = pa.Array.from_buffers(kind, len(ends), [None, pa.py_buffer(bounds), pa.py_buffer(written)])
    header = [_cell(each) for each in cells[:n_columns].to_pylist()]
    encoded = cells[n_columns:].dictionary_encode()
    values = [_cell(each) for each in encoded.dictionary.to_pylist()]
    if _UNSURE in values or not all(header) or len(set(header)) < n_columns:
        return None
    places = encoded.indices.to_numpy().reshape(-1, n_columns)
    columns = {str(name): _column(values, places[:, place]) for place, name in enumerate(header)}
    return WrittenTable(columns, len(places))


def _cell_ends(letters: npt.NDArray[np.uint8]) -> Integers:
    """Return where a comma or a line end outside of quotes ends a cell."""
    found, inside = [], np.uint8(0)
    for first in range(0, len(letters), _BLOCK):
        block = letters[first : first + _BLOCK]
        is_quote = block == _QUOTE
        signs = np.flatnonzero((block == _COMMA) | (block == _LINE_END) | is_quote)
        quotes = is_quote[signs]
        # what follows an odd number of quotes is inside
        n_quotes = np.cumsum(quotes, dtype=np.uint8) + inside
        found.append(signs[(n_quotes % 2 == 0) & ~quotes] + first)
        inside = n_quotes[-1] % 2 if len(n_quotes) else inside
    return np.concatenate([np.empty(0, dtype=np.int64), *found])


_UNSURE = "\0?"
"""In place of a cell that is not written as it should be."""


def _cell(written: bytes) -> Value:
    """Take a cell with the sign that ends it as what it says."""
    quoted = _QUOTED.fullmatch(written, endpos=len(written) - 1)
    if quoted is not None:
        return quoted[1].replace(b'""', b'"').decode() or None
    return _UNSURE if b'"' in written or b"\r" in written else written[:-1].decode() or None


def _column(values: Sequence[Value], places: npt.NDArray[Any]) -> FileColumn:
    """Keep of all values those of one column."""
    present = np.flatnonzero(np.bincount(places, minlength=len(values)))
    own = FileColumn.of(values[place] for place in present.tolist())
    code_of = np.zeros(len(values), dtype=np.int32)
    code_of[present] = own.codes
    return FileColumn(own.values, code_of[places])


def _line_by_line(written: bytes, name: str) -> WrittenTable:
    """Read a file as the standard library does, which also knows what is wrong with it."""
    with io.TextIOWrapper(io.BytesIO(written), "utf-8", newline="") as text:
        lines = csv.reader(text, strict=True)
        header = tuple(next(lines, []))
        if not header or len(set(header)) < len(header):
            raise VerificationFailed(f"{name}.csv has no header of different names")
        records = list(_records(lines, len(header), name))
    if not records:
        raise VerificationFailed(f"{name}.csv has no record")
    columns = zip(*records, strict=True)
    cells = {
        of: FileColumn.of(cell or None for cell in column) for of, column in zip(header, columns, strict=True)
    }
    return WrittenTable(cells, len(records))


def _records(lines: Iterator[list[str]], n_columns: int, name: str) -> Iterator[list[str]]:
    for line in lines:
        # an empty line is a record of one missing cell
        record = line or [""]
        if len(record) != n_columns:
            raise VerificationFailed(f"{name}.csv has a record with more or fewer cells than its header")
        yield record


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
            texts = [each.name for each in parquet.schema_arrow if pa.types.is_string(each.type)]
            typed = pq.ParquetFile(file, read_dictionary=texts).read(use_threads=False)
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
    texts, columns = [], []
    for name, column in zip(written.names, typed.columns, strict=True):
        values, places = _distinct(column)
        kinds = {type(value) for value in values if value is not None}
        if not kinds <= {str} and kinds not in ({int}, {float}):
            return f"the column {name!r} is of a type that `publish` does not write"
        read = int if kinds == {int} else float if kinds == {float} else str
        cells = written.columns[name]
        try:
            said = [None if cell is None else read(cell) for cell in cells.values]
        except ValueError:
            return "they hold other records"
        known: dict[Any, int] = {}
        number = np.array([known.setdefault(value, len(known)) for value in said], dtype=np.int64)
        texts.append(number[cells.codes])
        columns.append(np.array([known.get(value, -1) for value in values], dtype=np.int64)[places])
    if any((column < 0).any() for column in columns):
        return "they hold other records"
    return "" if _hold_the_same(columns, texts, written.n_rows) else "they hold other records"


def _distinct(column: Any) -> tuple[list[Any], Integers]:
    """Return the different values of an Arrow column, and which of them each record has."""
    import pyarrow as pa

    is_encoded = pa.types.is_dictionary(column.type)
    chunks = column.unify_dictionaries().chunks if is_encoded else column.dictionary_encode().chunks
    values = chunks[0].dictionary.to_pylist() if chunks else []
    places = [chunk.indices.fill_null(len(values)).to_numpy(zero_copy_only=False) for chunk in chunks]
    return [*values, None], np.concatenate([np.empty(0, dtype=np.int64), *places])


def _hold_the_same(some: Sequence[Integers], others: Sequence[Integers], n_rows: int) -> bool:
    """Return whether two tables have the same rows, each as often, in whatever order."""
    if all(np.array_equal(one, other) for one, other in zip(some, others, strict=True)):
        return True
    both = [np.concatenate(pair) for pair in zip(some, others, strict=True)]
    number, n_different = numbered(both, 2 * n_rows)
    mine, theirs = number[:n_rows], number[n_rows:]
    return np.array_equal(
        np.bincount(mine, minlength=n_different), np.bincount(theirs, minlength=n_different)
    )


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
    if people.n_rows > layout.n_original and layout.kind != "synthetic":
        raise VerificationFailed("there are more records than the manifest says that the original has")
    columns = [people.columns[name].codes for name in names]
    class_of, n_classes = numbered(columns, people.n_rows)
    first = np.zeros(n_classes, dtype=np.int64)
    first[class_of[::-1]] = np.arange(people.n_rows)[::-1]
    groups = _Groups(people, class_of) if layout.group is None else _groups(tables, layout, told)
    return PublicView(
        n_original=layout.n_original,
        names=names,
        classes=[codes[first] for codes in columns],
        sizes=np.bincount(class_of, minlength=n_classes),
        sensitive=tuple(_told(groups, name, layout) for name in told),
        has_groups=layout.group is not None,
        people=_people(people.columns[layout.person], class_of) if layout.person else None,
        n_people=len(people.columns[layout.person].values) if layout.person else None,
        kind=layout.kind,
    )


@dataclass(frozen=True)
class _Groups:
    """The table that tells the values of groups, the group of each of its rows, and its number of records."""

    table: WrittenTable
    group_of: Integers
    weights: Integers | None = None


def _told(groups: _Groups, name: str, layout: LayoutFacts) -> SensitiveValues:
    column, facts = groups.table.columns[name], layout.attributes[name]
    if facts.hierarchy is not None and {_leaf(row) for row in facts.hierarchy} != set(column.values):
        raise VerificationFailed(
            f"the hierarchy of {name!r} in the manifest is not over the published values"
        )
    return SensitiveValues.of(name, column, groups.group_of, facts, groups.weights)


def _people(column: FileColumn, class_of: Integers) -> Integers:
    """Return how many different pseudonyms each class has."""
    in_class, _, _ = counted(class_of, column.codes, len(column.values))
    return np.bincount(in_class)


def _groups(tables: Mapping[str, WrittenTable], layout: LayoutFacts, told: Sequence[str]) -> _Groups:
    """Count the sensitive values of each group: in the one table, or as the second one tells them."""
    assert layout.group is not None
    if layout.form == "one-table":
        return _Groups(tables[WHOLE], tables[WHOLE].columns[layout.group].codes)
    people, values = tables[PEOPLE], tables[VALUES]
    count = "count"
    while count in told:
        count += "_"
    if sorted(values.names) != sorted([layout.group, *told, count]):
        raise VerificationFailed("the two tables do not have the columns that the manifest names")
    how_many, groups = values.columns[count], values.columns[layout.group]
    counts = [_count(written, people.n_rows) for written in how_many.values]
    weights = np.array(counts, dtype=np.int64)[how_many.codes]
    sizes = np.bincount(groups.codes, weights).astype(np.int64).tolist()
    members = people.columns[layout.group]
    if dict(zip(groups.values, sizes, strict=True)) != dict(
        zip(members.values, members.counts.tolist(), strict=True)
    ):
        raise VerificationFailed("the two tables do not have the same number of records in every group")
    return _Groups(values, groups.codes, weights)


def _count(written: Value, most: int) -> int:
    if (
        written is None
        or not (written.isascii() and written.isdecimal())
        or not 0 < int(written[:20]) <= most
    ):
        raise VerificationFailed("a count in the table of sensitive values is not a number of records")
    return int(written)


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
