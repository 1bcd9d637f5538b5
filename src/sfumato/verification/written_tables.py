"""Read published CSV files, and compare Parquet files with them; equal rows are counted together.

A file is read in parts of 16 MiB. Cells are numbered as they are written, and the rows of all parts are
merged whenever there are twice as many as after the last merge. So memory depends on the number of distinct
rows, and time on the number of bytes. A well-formed file is split into cells by NumPy and numbered by Arrow.
Any other is read once more line by line with the standard library, which also finds what is wrong with it.
"""

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
from sfumato.verification.folder import open_file

Value = str | None
Integers = npt.NDArray[np.integer[Any]]

# A Parquet file is not unpacked if it would grow to more than this many times its size and this many bytes.
_MAX_GROWTH, _SMALL_FILE = 64, 16 << 20
# How many bytes of a CSV file are read at a time, and in how many of them ends of cells are sought at once.
_PART_BYTES, _BLOCK_BYTES = 1 << 24, 1 << 18
# How many records are read at a time, of a Parquet file and line by line of a CSV file.
_BATCH_RECORDS, _BATCH_LINES = 1 << 20, 1 << 16
# Fewer rows are not merged.
_FEW_ROWS = 1 << 22
_LARGEST_KEY = 2**62
# A key times this odd number, the golden ratio's, spreads over all bits; the first of them are its bucket.
_MULTIPLIER, _BUCKET_BITS = np.uint64(0x9E3779B97F4A7C15), 6
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

    def occurrences(self, name: str) -> dict[Value, int]:
        """Return how many records have each value of a column."""
        column = self.columns[name]
        counts = sum_counts(column.codes, self.counts, len(column.values))
        return dict(zip(column.values, counts.tolist(), strict=True))


Tables = Mapping[str, WrittenTable]
"""Published tables by name: the records, then the sensitive values if they have a table of their own."""


def column_of(tables: Tables, name: str) -> FileColumn | None:
    """Return a published column, from the table that has it."""
    return next((table.columns[name] for table in tables.values() if name in table.columns), None)


def cell_counts(tables: Tables, name: str) -> dict[Value, int] | None:
    """Return how many records have each cell of an attribute; ``None`` if a second table counts them."""
    table = next(iter(tables.values()))
    return table.occurrences(name) if name in table.columns else None


@dataclass(frozen=True)
class _CountedRows:
    """Some rows by the codes of their cells, and how many records each represents."""

    columns: list[Integers]
    counts: Integers


def sum_counts(codes: Integers, counts: Integers, n_codes: int) -> Integers:
    """Add up the counts of each code."""
    if (counts == 1).all():
        return np.bincount(codes, minlength=n_codes)
    return np.bincount(codes, counts, n_codes).astype(np.int64)


def number_rows(columns: Sequence[Integers], n_rows: int) -> tuple[Integers, int]:
    """Give equal rows equal numbers, 0, 1, 2, … in order of first occurrence."""
    number: Integers = np.zeros(n_rows, dtype=np.int64)
    n_distinct = 1
    for codes in columns:
        span = int(codes.max(initial=0)) + 1
        if n_distinct * span > _LARGEST_KEY:
            number, n_distinct = _number_keys(number)
        number *= span
        number += codes
        n_distinct *= span
    return _number_keys(number)


def _number_keys(keys: Integers) -> tuple[Integers, int]:
    """Give equal keys equal numbers, in order of first occurrence.

    Many keys are numbered bucket by bucket, as one hash table for all would need far more memory.
    """
    if len(keys) <= _FEW_ROWS:
        number, distinct = _encode(keys)
        return number.astype(np.int64), len(distinct)
    bucket_of = ((keys.view(np.uint64) * _MULTIPLIER) >> np.uint64(64 - _BUCKET_BITS)).astype(np.uint8)
    rows = np.argsort(bucket_of, kind="stable")
    ends = np.cumsum(np.bincount(bucket_of, minlength=1 << _BUCKET_BITS))
    del bucket_of
    # for each row the first one that has its key; rows of a bucket are in their order
    first_of = np.empty(len(keys), dtype=np.int64)
    for begin, end in zip([0, *ends[:-1]], ends, strict=True):
        in_bucket = rows[begin:end]
        number, distinct = _encode(keys[in_bucket])
        first_of[in_bucket] = in_bucket[first_rows(number, len(distinct))][number]
    del rows
    is_first = first_of == np.arange(len(keys))
    return (np.cumsum(is_first) - 1)[first_of], int(is_first.sum())


def _encode(keys: Integers) -> tuple[Integers, Integers]:
    """Return the number of each key, in order of first occurrence, and the distinct keys."""
    import pyarrow as pa

    encoded = pa.array(keys).dictionary_encode()
    return encoded.indices.to_numpy(), encoded.dictionary.to_numpy()


def first_rows(number: Integers, n_distinct: int) -> Integers:
    """Return the first row that has each number."""
    first = np.zeros(n_distinct, dtype=np.int64)
    first[number[::-1]] = np.arange(len(number))[::-1]
    return first


def _merge_parts(parts: Iterable[list[Integers]]) -> _CountedRows | None:
    """Merge equal rows of all parts, in order of first occurrence; ``None`` without a part.

    Rows are merged whenever there are twice as many as after the last time, and never if they are few.
    """
    rows: list[_CountedRows] = []
    n_rows, limit, are_few = 0, _FEW_ROWS, True
    for columns in parts:
        rows.append(_CountedRows(columns, np.ones(len(columns[0]), dtype=np.int64)))
        n_rows += len(columns[0])
        if n_rows > limit:
            rows = [_merge(_concatenate(rows))]
            n_rows, are_few = len(rows[0].counts), False
            limit = max(2 * n_rows, _FEW_ROWS)
    if not rows:
        return None
    return _concatenate(rows) if are_few else _merge(_concatenate(rows))


def _concatenate(parts: Sequence[_CountedRows]) -> _CountedRows:
    """Concatenate rows; the parts lose their columns, so that no cell is in memory twice."""
    if len(parts) == 1:
        return parts[0]
    columns = [np.concatenate([part.columns.pop() for part in parts]) for _ in range(len(parts[0].columns))]
    return _CountedRows(columns[::-1], np.concatenate([part.counts for part in parts]))


def _merge(rows: _CountedRows) -> _CountedRows:
    number, n_distinct = number_rows(rows.columns, len(rows.counts))
    if n_distinct == len(rows.counts):
        return rows
    first = first_rows(number, n_distinct)
    columns = [codes[first] for codes in rows.columns]
    return _CountedRows(columns, sum_counts(number, rows.counts, n_distinct))


# CSV


def read_tables(folder: Path, names: Iterable[str]) -> dict[str, WrittenTable]:
    """Read published CSV files by the names of their tables."""
    return {name: read_csv(folder, name) for name in names}


def read_csv(folder: Path, name: str) -> WrittenTable:
    """Read a published CSV file: comma, UTF-8, double quotes, an empty field missing."""
    limit_of_others = csv.field_size_limit(sys.maxsize)
    try:
        with open_file(folder, f"{name}.csv") as file:
            return _read_parts(file) or _read_lines(file, name)
    except (csv.Error, UnicodeDecodeError):
        raise VerificationFailed(f"{name}.csv is not the CSV that `publish` writes") from None
    finally:
        csv.field_size_limit(limit_of_others)


class _Malformed(Exception):
    """Raised if something is not written as `publish` writes it, so that it must be read line by line."""


def _read_parts(file: BinaryIO) -> WrittenTable | None:
    """Read a well-formed file; ``None`` if something in it is malformed."""
    cells = _CellNumbers()
    try:
        rows = _merge_parts(filter(len, map(cells.columns_of, _file_parts(file))))
    except _Malformed:
        return None
    return None if rows is None else _table(cells.header, cells.values, rows)


def _table(header: Iterable[str], values: Iterable[Iterable[Value]], rows: _CountedRows) -> WrittenTable:
    for codes in rows.columns:
        # a release made of these columns need not copy what nobody can change
        codes.setflags(write=False)
    columns = zip(header, values, rows.columns, strict=True)
    return WrittenTable(
        {name: FileColumn(tuple(cells), codes) for name, cells, codes in columns}, rows.counts
    )


@dataclass(frozen=True)
class _FilePart:
    """Some whole records of a file: their bytes, and the ends of their cells."""

    written: bytes
    ends: Integers

    @property
    def letters(self) -> npt.NDArray[np.uint8]:
        """The bytes one by one."""
        return np.frombuffer(self.written, dtype=np.uint8)


def _file_parts(file: BinaryIO) -> Iterator[_FilePart]:
    """Cut a file at ends of records."""
    pending = b""
    while more := file.read(max(_PART_BYTES, len(pending))):
        pending += more
        letters = np.frombuffer(pending, dtype=np.uint8)
        ends = _cell_ends(letters)
        lines = np.flatnonzero(letters[ends] == _LINE_END)
        if len(lines):
            ends = ends[: lines[-1] + 1]
            yield _FilePart(pending, ends)
            pending = pending[ends[-1] + 1 :]
    if pending:
        raise _Malformed


def _cell_ends(letters: npt.NDArray[np.uint8]) -> Integers:
    """Return where a comma or a line end outside of quotes ends a cell."""
    ends, is_inside = [np.empty(0, dtype=np.int64)], np.uint8(0)
    for first in range(0, len(letters), _BLOCK_BYTES):
        block = letters[first : first + _BLOCK_BYTES]
        is_quote = block == _QUOTE
        signs = np.flatnonzero((block == _COMMA) | (block == _LINE_END) | is_quote)
        quotes = is_quote[signs]
        # a sign after an odd number of quotes is inside of quotes
        n_quotes = np.cumsum(quotes, dtype=np.uint8) + is_inside
        ends.append(signs[(n_quotes % 2 == 0) & ~quotes] + first)
        is_inside = n_quotes[-1] % 2 if len(n_quotes) else is_inside
    return np.concatenate(ends)


# In place of a cell that is not written as `publish` writes it.
_MALFORMED_CELL = "\0?"


def _parse_cell(written: bytes) -> Value:
    """Return the value of a cell, given with the character that ends it."""
    quoted = _QUOTED.fullmatch(written, endpos=len(written) - 1)
    if quoted is not None:
        return quoted[1].replace(b'""', b'"').decode() or None
    return _MALFORMED_CELL if b'"' in written or b"\r" in written else written[:-1].decode() or None


@dataclass
class _CellNumbers:
    """The distinct cells of the parts of a file that were read so far, and their numbers.

    Parameters
    ----------
    header
        The names of the columns.
    written
        The distinct cells with the signs that end them, as an Arrow array.
    number_of
        For each of them the number of its value.
    numbers
        The values, numbered.
    codes
        For each column the code of every numbered value, -1 if none of its cells has it.
    n_codes
        How many codes each column has.
    """

    header: list[str] = field(default_factory=list)
    written: Any = None
    number_of: Integers = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    numbers: dict[Value, int] = field(default_factory=dict)
    codes: list[Integers] = field(default_factory=list)
    n_codes: list[int] = field(default_factory=list)

    @property
    def values(self) -> Iterator[list[Value]]:
        """The values of the codes of each column."""
        values = list(self.numbers)
        for codes in self.codes:
            present = np.flatnonzero(codes >= 0)
            yield [values[number] for number in present[np.argsort(codes[present])].tolist()]

    def columns_of(self, part: _FilePart) -> list[Integers]:
        """Return the codes of each column; none if the part is only the header."""
        import pyarrow as pa

        bounds = np.append(np.int64(0), part.ends + 1)
        buffers = [None, pa.py_buffer(bounds), pa.py_buffer(part.written)]
        cells = pa.Array.from_buffers(pa.large_binary(), len(part.ends), buffers)
        is_last = part.letters[part.ends] == _LINE_END
        n_header = 0 if self.header else int(is_last.argmax()) + 1
        if n_header:
            names = [_parse_cell(cell) for cell in cells[:n_header].to_pylist()]
            self.header = [name for name in dict.fromkeys(names) if name]
            if len(self.header) < len(names) or _MALFORMED_CELL in names:
                raise _Malformed
            self.codes = [np.empty(0, dtype=np.int32) for _ in names]
            self.n_codes = [0 for _ in names]
        width = len(self.header)
        if len(cells) % width or (is_last.reshape(-1, width) != (np.arange(width) == width - 1)).any():
            raise _Malformed
        if len(cells) == n_header:
            return []
        numbers = self._numbers_of(cells[n_header:]).reshape(-1, width)
        return [self._codes_of(column, numbers[:, column]) for column in range(width)]

    def _numbers_of(self, cells: Any) -> Integers:
        """Return the number of the value of each cell."""
        import pyarrow as pa

        encoded = cells.dictionary_encode()
        earlier = encoded.dictionary[:0] if self.written is None else self.written
        # earlier cells keep their positions, and new ones follow
        joined = pa.concat_arrays([earlier, encoded.dictionary]).dictionary_encode()
        fresh = [_parse_cell(cell) for cell in joined.dictionary[len(earlier) :].to_pylist()]
        if _MALFORMED_CELL in fresh:
            raise _Malformed
        numbers = [self.numbers.setdefault(value, len(self.numbers)) for value in fresh]
        self.written = joined.dictionary
        self.number_of = np.append(self.number_of, np.array(numbers, dtype=np.int32))
        return self.number_of[joined.indices.to_numpy()[len(earlier) :]][encoded.indices.to_numpy()]

    def _codes_of(self, column: int, numbers: Integers) -> Integers:
        """Return the codes of a column, with new ones for new values."""
        n_fresh = len(self.numbers) - len(self.codes[column])
        code_of = np.append(self.codes[column], np.full(n_fresh, -1, dtype=np.int32))
        occurs = np.zeros(len(code_of), dtype=np.bool_)
        occurs[numbers] = True
        fresh = np.flatnonzero(occurs & (code_of < 0))
        code_of[fresh] = self.n_codes[column] + np.arange(len(fresh))
        self.codes[column] = code_of
        self.n_codes[column] += len(fresh)
        return code_of[numbers]


def _read_lines(file: BinaryIO, name: str) -> WrittenTable:
    """Read a file with the standard library, which also finds what is wrong with it."""
    file.seek(0)
    text = io.TextIOWrapper(file, "utf-8", newline="")
    try:
        lines = csv.reader(text, strict=True)
        header = tuple(next(lines, []))
        if not header or len(set(header)) < len(header):
            raise VerificationFailed(f"{name}.csv has no header of different names")
        numbers: list[dict[Value, int]] = [{} for _ in header]
        rows = _merge_parts(_number_lines(lines, numbers, name))
    finally:
        text.detach()
    if rows is None:
        raise VerificationFailed(f"{name}.csv has no record")
    return _table(header, numbers, rows)


def _number_lines(
    lines: Iterator[list[str]], numbers: Sequence[dict[Value, int]], name: str
) -> Iterator[list[Integers]]:
    """Number the cells of each column, in batches."""
    # an empty line is a record of one missing cell
    while records := [line or [""] for line in islice(lines, _BATCH_LINES)]:
        if any(len(record) != len(numbers) for record in records):
            raise VerificationFailed(f"{name}.csv has a record with more or fewer cells than its header")
        yield [
            np.array([number.setdefault(cell or None, len(number)) for cell in cells], dtype=np.int32)
            for number, cells in zip(numbers, zip(*records, strict=True), strict=True)
        ]


# Parquet


def differs_from_parquet(folder: Path, name: str, written: WrittenTable) -> str:
    """Return how a Parquet file differs from its CSV twin, in any order of records; empty if it does not."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_file(folder, f"{name}.parquet") as file:
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

    texts = [column.name for column in schema if pa.types.is_string(column.type)]
    yield from pq.ParquetFile(file, read_dictionary=texts).iter_batches(_BATCH_RECORDS, use_threads=False)


def parquet_types(folder: Path, file_name: str) -> list[tuple[str, str]]:
    """Return the columns of a Parquet file with the types that a data package gives them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    words: dict[type | None, str] = {int: "integer", float: "number", str: "string", None: "string"}
    with open_file(folder, file_name) as file:
        try:
            return [(column.name, words[_python_type(column.type)]) for column in pq.read_schema(file)]
        except (pa.ArrowException, OSError, ValueError, IndexError):
            raise VerificationFailed(f"{file_name} cannot be read") from None


def unpacks_too_far(parquet: Any, n_bytes: int) -> bool:
    """Return whether a Parquet file of this size would unpack to far more."""
    groups = parquet.metadata.num_row_groups
    unpacked = sum(parquet.metadata.row_group(group).total_byte_size for group in range(groups))
    return bool(unpacked > _MAX_GROWTH * n_bytes + _SMALL_FILE)


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
    types = {column.name: _python_type(column.type) for column in schema}
    for name, python_type in types.items():
        if python_type is None:
            return f"the column {name!r} is of a type that `publish` does not write"
    other = "they hold other records"
    try:
        typed = [_TypedCells.of(written.columns[name].values, kind) for name, kind in types.items() if kind]
    except (ValueError, OverflowError):
        return other
    try:
        rows = _merge_parts(
            [cells.places(column) for cells, column in zip(typed, part.columns, strict=True)]
            for part in parts
        )
    except _OtherRecords:
        return other
    columns = zip(typed, written.columns.values(), strict=True)
    expected = _CountedRows([cells.place_of[column.codes] for cells, column in columns], written.counts)
    return "" if rows is not None and _have_equal_records(rows, expected) else other


def _python_type(arrow_type: Any) -> type | None:
    """Return the type of the values of a column, if `publish` writes such."""
    import pyarrow as pa

    types = pa.types
    if types.is_string(arrow_type) or types.is_large_string(arrow_type):
        return str
    return int if types.is_integer(arrow_type) else float if types.is_floating(arrow_type) else None


@dataclass(frozen=True)
class _TypedCells:
    """The values of a CSV column, in the type of its Parquet twin.

    Parameters
    ----------
    values
        The values of the cells, as an Arrow array; a missing one is none of them.
    place_of
        For each cell the position of its value, after the last for a missing one.
    """

    values: Any
    place_of: Integers

    @classmethod
    def of(cls, cells: Sequence[Value], python_type: type) -> _TypedCells:
        """Parse the cells; a cell that is not such a value is an error.

        Two cells with the same number have two positions, of which the Parquet file can have only one:
        otherwise a number in two notations would count as two values.
        """
        import pyarrow as pa

        arrow = {str: pa.large_string(), int: pa.int64(), float: pa.float64()}[python_type]
        parsed = {cell: python_type(cell) for cell in cells if cell is not None}
        places: dict[Value, int] = {cell: place for place, cell in enumerate(parsed)}
        place_of = np.array([places.get(cell, len(parsed)) for cell in cells], dtype=np.int32)
        return cls(pa.array(list(parsed.values()), type=arrow), place_of)

    def places(self, column: Any) -> Integers:
        """Return the positions of the values of a Parquet column among those of the CSV file."""
        import pyarrow as pa
        import pyarrow.compute as pc

        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        dictionary = encoded.dictionary.cast(self.values.type)
        positions = pc.index_in(dictionary, self.values).fill_null(-1).to_numpy()
        indices = encoded.indices.fill_null(len(dictionary)).to_numpy()
        places = np.append(positions, np.int32(len(self.values)))[indices]
        if (places < 0).any():
            raise _OtherRecords
        return places


def _have_equal_records(some: _CountedRows, others: _CountedRows) -> bool:
    """Return whether two tables have the same records, each equally often, in any order."""
    pairs = [*zip(some.columns, others.columns, strict=True), (some.counts, others.counts)]
    if all(np.array_equal(one, other) for one, other in pairs):
        return True
    n_some = len(some.counts)
    both = [np.concatenate(pair) for pair in zip(some.columns, others.columns, strict=True)]
    number, n_distinct = number_rows(both, n_some + len(others.counts))
    counts = sum_counts(number[:n_some], some.counts, n_distinct)
    return np.array_equal(counts, sum_counts(number[n_some:], others.counts, n_distinct))
