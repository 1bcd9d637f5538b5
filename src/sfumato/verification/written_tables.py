"""Tables: the published files as a reader sees them, some records at a time, equal rows put together."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.folder import opened

Value = str | None
Integers = npt.NDArray[np.integer[Any]]

# A Parquet file that would grow to more than this many times its CSV twin is not unpacked.
_MOST_GROWTH, _SMALL = 64, 16 << 20
# So many bytes of text are taken at a time, and so many are looked at together.
_PART, _BLOCK = 1 << 24, 1 << 18
# So many records of a Parquet file are taken at a time, and so many of a file that is read line by line.
_ROWS, _LINES = 1 << 20, 1 << 16
# Below so many rows equal ones need not be put together yet.
_FEW = 1 << 22
_LARGEST_KEY = 2**62
# The first bits of a key times this odd number tell its bucket.
_SPREADS, _BITS = np.uint64(0x9E3779B97F4A7C15), 6
_COMMA, _LINE_END, _QUOTE = b',\n"'
_QUOTED = re.compile(rb'"((?:[^"]|"")*)"')


@dataclass(frozen=True)
class FileColumn:
    """A published column: every distinct cell as it is written, and the cell of each row."""

    values: tuple[Value, ...]
    codes: Integers = field(repr=False)

    @classmethod
    def of(cls, cells: Iterable[Value]) -> FileColumn:
        """Number the cells."""
        number: dict[Value, int] = {}
        codes = [number.setdefault(cell, len(number)) for cell in cells]
        return cls(tuple(number), np.array(codes, dtype=np.int64))


@dataclass(frozen=True)
class WrittenTable:
    """A published table: rows with cells as they are written, ``None`` for a missing one.

    Parameters
    ----------
    columns
        The cells.
    counts
        How many records each row stands for.
    """

    columns: Mapping[str, FileColumn]
    counts: Integers = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.columns)

    @property
    def n_rows(self) -> int:
        """The number of rows; equal rows of a small table may not be merged."""
        return len(self.counts)

    @property
    def n_records(self) -> int:
        """The number of records."""
        return int(self.counts.sum())

    def occurrences(self, name: str) -> Integers:
        """Return how many records have each value of a column."""
        column = self.columns[name]
        return summed(column.codes, self.counts, len(column.values))


@dataclass(frozen=True)
class _CountedRows:
    """Some rows by the codes of their cells, and how many records each represents."""

    columns: list[Integers]
    counts: Integers


def summed(places: Integers, counts: Integers, n_places: int) -> Integers:
    """Add up the counts of each position."""
    if (counts == 1).all():
        return np.bincount(places, minlength=n_places)
    return np.bincount(places, counts, n_places).astype(np.int64)


def numbered(columns: Sequence[Integers], n_rows: int) -> tuple[Integers, int]:
    """Give equal rows equal numbers, 0, 1, 2, … in order of first occurrence."""
    number: Integers = np.zeros(n_rows, dtype=np.int64)
    n_different = 1
    for codes in columns:
        span = int(codes.max(initial=0)) + 1
        if n_different * span > _LARGEST_KEY:
            number, n_different = _first_seen(number)
        number *= span
        number += codes
        n_different *= span
    return _first_seen(number)


def _first_seen(keys: Integers) -> tuple[Integers, int]:
    """Number equal keys; many keys in buckets, as one hash table for all would need far more memory."""
    if len(keys) > _FEW:
        return _first_seen_by_bucket(keys)
    number, different = _encoded(keys)
    return number.astype(np.int64), len(different)


def _encoded(keys: Integers) -> tuple[Integers, Integers]:
    """Return the number of each key, in order of first occurrence, and the distinct keys."""
    import pyarrow as pa

    encoded = pa.array(keys).dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary.to_numpy()


def _first_seen_by_bucket(keys: Integers) -> tuple[Integers, int]:
    bucket_of = ((keys.view(np.uint64) * _SPREADS) >> np.uint64(64 - _BITS)).astype(np.uint8)
    rows = np.argsort(bucket_of, kind="stable")
    ends = np.cumsum(np.bincount(bucket_of, minlength=1 << _BITS))
    del bucket_of
    # for each row the first one that has its key; rows of a bucket are in their order
    first_of = np.empty(len(keys), dtype=np.int64)
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        own = rows[begin:end]
        number, different = _encoded(keys[own])
        first_of[own] = own[first_rows(number, len(different))][number]
    del rows
    is_first = first_of == np.arange(len(keys))
    number_of = np.cumsum(is_first) - 1
    return number_of[first_of], int(is_first.sum())


def first_rows(number: Integers, n_different: int) -> Integers:
    """Return the first row that has each number."""
    first = np.zeros(n_different, dtype=np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return first


def _put_together(parts: Iterable[list[Integers]]) -> _CountedRows | None:
    """Merge equal rows of all parts, in order of first occurrence; ``None`` without a part.

    Rows are merged whenever there are twice as many as after the last time, and never if they are few.
    """
    held: list[_CountedRows] = []
    n_held, most, are_few = 0, _FEW, True
    for columns in parts:
        held.append(_CountedRows(columns, np.ones(len(columns[0]), dtype=np.int64)))
        n_held += len(columns[0])
        if n_held > most:
            held = [_merged(_joined(held))]
            n_held, are_few = len(held[0].counts), False
            most = max(2 * n_held, _FEW)
    if not held:
        return None
    return _joined(held) if are_few else _merged(_joined(held))


def _joined(parts: Sequence[_CountedRows]) -> _CountedRows:
    """Concatenate rows; the parts lose their columns, so that no cell is in memory twice."""
    if len(parts) == 1:
        return parts[0]
    columns = [np.concatenate([part.columns.pop() for part in parts]) for _ in range(len(parts[0].columns))]
    return _CountedRows(columns[::-1], np.concatenate([part.counts for part in parts]))


def _merged(rows: _CountedRows) -> _CountedRows:
    columns, counts = rows.columns, rows.counts
    number, n_different = numbered(columns, len(counts))
    if n_different == len(counts):
        return rows
    first = first_rows(number, n_different)
    return _CountedRows([codes[first] for codes in columns], summed(number, counts, n_different))


# CSV


def read_tables(folder: Path, names: Iterable[str]) -> dict[str, WrittenTable]:
    """Read published CSV files by the names of their tables."""
    return {name: read_csv(folder, name) for name in names}


def read_csv(folder: Path, name: str) -> WrittenTable:
    """Read a published CSV file: comma, UTF-8, double quotes, an empty field missing."""
    limit_of_others = csv.field_size_limit(sys.maxsize)
    try:
        with opened(folder, f"{name}.csv") as file:
            return _part_by_part(file) or _line_by_line(file, name)
    except (csv.Error, UnicodeDecodeError):
        raise VerificationFailed(f"{name}.csv is not the CSV that `publish` writes") from None
    finally:
        csv.field_size_limit(limit_of_others)


class _CloserLook(Exception):
    """Raised if something is not written as it should be."""


def _part_by_part(file: BinaryIO) -> WrittenTable | None:
    """Read a well-formed file; ``None`` if something in it needs a closer look."""
    known = _KnownCells()
    try:
        rows = _put_together(filter(len, map(known.columns_of, _parts(file))))
    except _CloserLook:
        return None
    return None if rows is None else _table(known.header, known.values, rows)


def _table(header: Iterable[str], values: Iterable[Iterable[Value]], rows: _CountedRows) -> WrittenTable:
    for codes in rows.columns:
        # whoever takes them for a release need not copy what nobody can change
        codes.setflags(write=False)
    columns = zip(header, values, rows.columns, strict=True)
    return WrittenTable({name: FileColumn(tuple(own), codes) for name, own, codes in columns}, rows.counts)


@dataclass(frozen=True)
class _FilePart:
    """Some whole records of a file: their bytes, and the ends of their cells."""

    written: bytes
    ends: Integers

    @property
    def letters(self) -> npt.NDArray[np.uint8]:
        """The bytes one by one."""
        return np.frombuffer(self.written, dtype=np.uint8)


def _parts(file: BinaryIO) -> Iterator[_FilePart]:
    """Cut a file at ends of records."""
    left = b""
    while more := file.read(max(_PART, len(left))):
        left += more
        letters = np.frombuffer(left, dtype=np.uint8)
        ends = _cell_ends(letters)
        lines = np.flatnonzero(letters[ends] == _LINE_END)
        if len(lines):
            ends = ends[: lines[-1] + 1]
            yield _FilePart(left, ends)
            left = left[ends[-1] + 1 :]
    if left:
        raise _CloserLook


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
    """Return the value of a cell, given with the character that ends it."""
    quoted = _QUOTED.fullmatch(written, endpos=len(written) - 1)
    if quoted is not None:
        return quoted[1].replace(b'""', b'"').decode() or None
    return _UNSURE if b'"' in written or b"\r" in written else written[:-1].decode() or None


@dataclass
class _KnownCells:
    """The cells of the parts of a file that were read so far.

    Parameters
    ----------
    header
        The names of the columns.
    written
        The different cells with the signs that end them, as an Arrow array.
    says
        For each of them the number of what it says.
    numbers
        What the cells say, numbered.
    codes
        For each column the code of everything that is numbered, -1 where none of its cells says it.
    n_codes
        How many codes each column has.
    """

    header: list[str] = field(default_factory=list)
    written: Any = None
    says: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    numbers: dict[Value, int] = field(default_factory=dict)
    codes: list[Integers] = field(default_factory=list)
    n_codes: list[int] = field(default_factory=list)

    @property
    def values(self) -> Iterator[list[Value]]:
        """The values of the codes of each column."""
        said = list(self.numbers)
        for codes in self.codes:
            present = np.flatnonzero(codes >= 0)
            yield [said[number] for number in present[np.argsort(codes[present])].tolist()]

    def columns_of(self, part: _FilePart) -> list[Integers]:
        """Return the codes of each column; none if the part is only the header."""
        import pyarrow as pa

        bounds = np.append(np.int64(0), part.ends + 1)
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(part.written)]
        cells = pa.Array.from_buffers(pa.large_binary(), len(part.ends), buffers)
        is_last = part.letters[part.ends] == _LINE_END
        n_header = 0 if self.header else int(is_last.argmax()) + 1
        if n_header:
            self._begin([_cell(each) for each in cells[:n_header].to_pylist()])
        width = len(self.header)
        if len(cells) % width or (is_last.reshape(-1, width) != (np.arange(width) == width - 1)).any():
            raise _CloserLook
        if len(cells) == n_header:
            return []
        numbers = self._numbers_of(cells[n_header:]).reshape(-1, width)
        return [self._codes_of(place, numbers[:, place]) for place in range(width)]

    def _begin(self, names: Sequence[Value]) -> None:
        self.header = [name for name in dict.fromkeys(names) if name]
        if len(self.header) < len(names) or _UNSURE in names:
            raise _CloserLook
        self.codes = [np.empty(0, dtype=np.int32) for _ in names]
        self.n_codes = [0 for _ in names]

    def _numbers_of(self, cells: Any) -> Integers:
        """Return the number of the value of each cell."""
        import pyarrow as pa

        encoded = cells.dictionary_encode()
        before = encoded.dictionary[:0] if self.written is None else self.written
        # the cells that were known keep their places, and new ones follow
        joined = pa.concat_arrays([before, encoded.dictionary]).dictionary_encode()
        fresh = [_cell(each) for each in joined.dictionary[len(before) :].to_pylist()]
        if _UNSURE in fresh:
            raise _CloserLook
        said = [self.numbers.setdefault(each, len(self.numbers)) for each in fresh]
        self.written = joined.dictionary
        self.says = np.append(self.says, np.array(said, dtype=np.int32))
        return self.says[joined.indices.to_numpy()[len(before) :]][encoded.indices.to_numpy()]

    def _codes_of(self, place: int, numbers: Integers) -> Integers:
        """Return the codes of a column, with new ones for new values."""
        n_fresh = len(self.numbers) - len(self.codes[place])
        code_of = np.append(self.codes[place], np.full(n_fresh, -1, dtype=np.int32))
        is_there = np.zeros(len(code_of), dtype=np.bool_)
        is_there[numbers] = True
        fresh = np.flatnonzero(is_there & (code_of < 0))
        code_of[fresh] = self.n_codes[place] + np.arange(len(fresh))
        self.codes[place] = code_of
        self.n_codes[place] += len(fresh)
        return code_of[numbers]


def _line_by_line(file: BinaryIO, name: str) -> WrittenTable:
    """Read a file with the standard library, which also finds what is wrong with it."""
    file.seek(0)
    text = io.TextIOWrapper(file, "utf-8", newline="")
    try:
        lines = csv.reader(text, strict=True)
        header = tuple(next(lines, []))
        if not header or len(set(header)) < len(header):
            raise VerificationFailed(f"{name}.csv has no header of different names")
        numbers: list[dict[Value, int]] = [{} for _ in header]
        rows = _put_together(_numbered_lines(_records(lines, len(header), name), numbers))
    finally:
        text.detach()
    if rows is None:
        raise VerificationFailed(f"{name}.csv has no record")
    return _table(header, numbers, rows)


def _records(lines: Iterator[list[str]], n_columns: int, name: str) -> Iterator[list[str]]:
    for line in lines:
        # an empty line is a record of one missing cell
        record = line or [""]
        if len(record) != n_columns:
            raise VerificationFailed(f"{name}.csv has a record with more or fewer cells than its header")
        yield record


def _numbered_lines(
    records: Iterator[list[str]], numbers: Sequence[dict[Value, int]]
) -> Iterator[list[Integers]]:
    """Number the cells of each column, in batches."""
    while some := list(islice(records, _LINES)):
        yield [
            np.array([number.setdefault(cell or None, len(number)) for cell in cells], dtype=np.int32)
            for number, cells in zip(numbers, zip(*some, strict=True), strict=True)
        ]


# Parquet


def differs_from_parquet(folder: Path, name: str, written: WrittenTable) -> str:
    """Return how a Parquet file differs from its CSV twin, in any order of records; empty if it does not."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with opened(folder, f"{name}.parquet") as file:
        try:
            parquet = pq.ParquetFile(file)
            if tuple(parquet.schema_arrow.names) != written.names:
                return "they have other columns"
            if parquet.metadata.num_rows != written.n_records:
                return "they have another number of records"
            if unpacks_too_far(parquet, os.fstat(file.fileno()).st_size):
                return "the Parquet file would unpack to far more than its size"
            return differs(parquet_batches(file, parquet.schema_arrow), parquet.schema_arrow, written)
        except (pa.ArrowException, OSError, ValueError, IndexError):
            return "the Parquet file cannot be read"


def parquet_batches(file: BinaryIO, schema: Any) -> Iterator[Any]:
    """Read the records of a Parquet file in batches, equal texts once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = [each.name for each in schema if pa.types.is_string(each.type)]
    yield from pq.ParquetFile(file, read_dictionary=texts).iter_batches(_ROWS, use_threads=False)


def parquet_types(folder: Path, file_name: str) -> list[tuple[str, str]]:
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

    with opened(folder, file_name) as file:
        try:
            return [(field.name, kind(field.type)) for field in pq.read_schema(file)]
        except (pa.ArrowException, OSError, ValueError, IndexError):
            raise VerificationFailed(f"{file_name} cannot be read") from None


def unpacks_too_far(parquet: Any, n_bytes: int) -> bool:
    """Return whether a Parquet file of this size would unpack to far more."""
    groups = parquet.metadata.num_row_groups
    unpacked = sum(parquet.metadata.row_group(group).total_byte_size for group in range(groups))
    return bool(unpacked > _MOST_GROWTH * n_bytes + _SMALL)


class _OtherRecords(Exception):
    """Raised if a Parquet file has a value that its CSV twin lacks."""


def differs(parts: Iterable[Any], schema: Any, written: WrittenTable) -> str:
    """Return how records of another file differ from the CSV file, in any order; empty if they do not.

    Parameters
    ----------
    parts
        The records of the other file, some at a time, with the columns of the CSV file in their order.
    schema
        Their types.
    written
        What the CSV file has.
    """
    other = "they hold other records"
    kinds = {field.name: _kind(field.type) for field in schema}
    for name, kind in kinds.items():
        if kind is None:
            return f"the column {name!r} is of a type that `publish` does not write"
    try:
        said = [_Said.of(written.columns[name].values, kind) for name, kind in kinds.items() if kind]
    except (ValueError, OverflowError):
        return other
    try:
        typed = _put_together(_places(part, said) for part in parts)
    except _OtherRecords:
        return other
    cells = zip(said, written.columns.values(), strict=True)
    texts = _CountedRows([each.place_of[column.codes] for each, column in cells], written.counts)
    return "" if typed is not None and _hold_the_same(typed, texts) else other


def _places(part: Any, said: Sequence[_Said]) -> list[Integers]:
    return [each.places(column) for each, column in zip(said, part.columns, strict=True)]


def _kind(arrow_type: Any) -> type | None:
    """Return the type of the values of a column, if `publish` writes such."""
    import pyarrow as pa

    types = pa.types
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return str
    return int if types.is_integer(arrow_type) else float if types.is_floating(arrow_type) else None


@dataclass(frozen=True)
class _Said:
    """The values of a CSV column, in the type of its Parquet twin.

    Parameters
    ----------
    different
        The different values that they say, as an Arrow array; a missing one is none of them.
    place_of
        For each cell the place of its value, after the last for a missing one.
    """

    different: Any
    place_of: Integers

    @classmethod
    def of(cls, cells: Sequence[Value], kind: type) -> _Said:
        """Parse the cells; a cell that is not such a value is an error.

        Two cells with the same number have two positions, of which the Parquet file can have only one:
        otherwise a number in two notations would count as two values.
        """
        import pyarrow as pa

        arrow = {str: pa.large_string(), int: pa.int64(), float: pa.float64()}[kind]
        said = {cell: kind(cell) for cell in cells if cell is not None}
        places: dict[Value, int] = {cell: place for place, cell in enumerate(said)}
        place_of = np.array([places.get(cell, len(said)) for cell in cells], dtype=np.int32)
        return cls(pa.array(list(said.values()), type=arrow), place_of)

    def places(self, column: Any) -> Integers:
        """Return the positions of the values of a Parquet column among those of the CSV file."""
        import pyarrow as pa
        import pyarrow.compute as pc

        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        values = encoded.dictionary.cast(self.different.type)
        found = pc.index_in(values, self.different).fill_null(-1).to_numpy()
        places = encoded.indices.fill_null(len(values)).to_numpy()
        place_of = np.append(found, np.int32(len(self.different)))[places]
        if (place_of < 0).any():
            raise _OtherRecords
        return place_of


def _hold_the_same(some: _CountedRows, others: _CountedRows) -> bool:
    """Return whether two tables have the same records, each equally often, in any order."""
    pairs = [*zip(some.columns, others.columns, strict=True), (some.counts, others.counts)]
    if all(np.array_equal(one, other) for one, other in pairs):
        return True
    n_some = len(some.counts)
    both = [np.concatenate(pair) for pair in zip(some.columns, others.columns, strict=True)]
    number, n_different = numbered(both, n_some + len(others.counts))
    mine, theirs = number[:n_some], number[n_some:]
    return np.array_equal(summed(mine, some.counts, n_different), summed(theirs, others.counts, n_different))
