"""Open a source of records: one file, several files with the same columns, or a database.

A source knows its columns before it reads any record. It returns the records at once or in batches, always in
the same order, so that an engine that works in batches builds the same table as one that reads everything.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

from sfumato.reading.arrow_files import (
    SUFFIXES,
    CsvFile,
    NoRecords,
    check_columns,
    damaged,
    format_of,
    read_arrow,
    read_encoded,
)
from sfumato.reading.databases import POSTGRES, database_at, is_database, sql_query
from sfumato.reading.dialect import require_file
from sfumato.runtime.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

STANDARD_INPUT = "-"
"""The path of an Arrow stream on standard input."""
_PATTERN = ("*", "?", "[")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/.*", re.IGNORECASE | re.DOTALL)
_ROWS_AT_ONCE = 1 << 17
_ENCODED_AT_ONCE, _BYTES_AT_ONCE = 1 << 19, 1 << 28
"""Of records with texts as dictionaries so many are read at once, and fewer where they are long."""

T = TypeVar("T")


class Source(Protocol):
    """Records that can be read at once or in batches."""

    @property
    def label(self) -> str:
        """The name of the source in messages."""

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the source, in their order."""

    @property
    def parquet(self) -> tuple[Path, ...]:
        """The files, if all are Parquet and an engine may read them directly."""

    def read(self) -> pa.Table:
        """Return all records."""

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns in batches."""


def source_at(
    path: str | Path,
    *,
    table: str | None = None,
    query: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
) -> Source:
    """Return the source that a path names: a file, a folder, a pattern such as ``2024-*.csv``, or a database.

    The files of a folder or a pattern are read in the order of their names and must have the same columns.
    Names that begin with a dot or an underscore are skipped, as in Spark. Subfolders are skipped too, unless
    the pattern asks for them, as ``folder/**/*.parquet`` does; ``./*.csv`` names files in the current folder.

    Parameters
    ----------
    path
        A file, folder or pattern; a SQLite or DuckDB file; ``postgresql://user@host/database``; or ``-``, an
        Arrow stream on standard input.
    table, query
        The table or query to read from a database, not both.
    separator, encoding, quote
        How CSV files are written, if this should not be detected.
    """
    _refuse_elsewhere(str(path))
    if str(path) == STANDARD_INPUT:
        return ArrowOnInput()
    if is_database(str(path)):
        return sql_query(database_at(str(path)), table, query)
    if table is not None or query is not None:
        raise DataError(f"{Path(path).name} is no database; leave out table and query")
    files = _files_at(Path(path))
    formats = {format_of(file) for file in files}
    if len(formats) > 1:
        raise DataError(
            f"{Path(path).name} holds files of more than one format ({', '.join(sorted(formats))}); "
            "name those of one with a pattern such as folder/*.parquet"
        )
    if formats == {"csv"}:
        return CsvFiles(files, separator, encoding, quote)
    return ParquetFiles(files) if formats == {"parquet"} else WholeFiles(files)


def _refuse_elsewhere(path: str) -> None:
    """Refuse network addresses, and show only the scheme: an address may hold a password."""
    address = _ADDRESS.fullmatch(path)
    if address is None or is_database(path) or os.path.exists(path):
        return
    if address[1].lower() in POSTGRES:
        raise DataError(
            "this is no address of a PostgreSQL server; write postgresql://user@host/database, in small "
            "letters and as path in [data]"
        )
    raise DataError(
        f"paths that begin with {address[1]}:// are not read: nothing here opens the network for a file; "
        "copy or mount the files and give their path"
    )


def _files_at(path: Path) -> tuple[Path, ...]:
    if _is_folder(path):
        files = tuple(file for file in _listed(path, "*") if file.name.lower().endswith(SUFFIXES))
    elif any(sign in str(path) for sign in _PATTERN) and not os.path.exists(path):
        fixed = next(place for place in path.parents if not any(sign in str(place) for sign in _PATTERN))
        files = _listed(fixed, str(path.relative_to(fixed)))
    else:
        return (path,)
    if not files:
        raise DataError(f"{path.name or path} holds no file that can be read; check the path")
    return files


def _is_folder(path: Path) -> bool:
    """Whether this is a folder with a name: an empty path does not mean the current folder."""
    try:
        return path.name not in ("", "..") and path.is_dir()
    except (OSError, ValueError):
        return False


def _listed(folder: Path, pattern: str) -> tuple[Path, ...]:
    """Return the files that match in the order of their names, without hidden ones."""
    try:
        files = [path for path in folder.glob(pattern) if path.is_file()]
    except (OSError, ValueError, NotImplementedError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no pattern"
        raise DataError(f"{folder.name or folder} cannot be listed: {reason}; check the path") from None
    return tuple(
        sorted(
            path
            for path in files
            if not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
        )
    )


@dataclass(frozen=True)
class CsvFiles:
    """CSV files with the same columns, read as text; if there are several, some may have no records."""

    files: tuple[Path, ...]
    separator: str | None = None
    encoding: str | None = None
    quote: str | None = None

    @property
    def label(self) -> str:
        """The name of the source in messages."""
        return _label(self.files)

    @property
    def parquet(self) -> tuple[Path, ...]:
        """No file."""
        return ()

    @cached_property
    def _opened(self) -> tuple[CsvFile, ...]:
        opened = _with_records(
            lambda path: CsvFile.opened(path, self.separator, self.encoding, self.quote), self.files
        )
        for file in opened[1:]:
            _require_same_names(opened[0].path, opened[0].names, file.path, file.names)
        return tuple(opened)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns, all of them text."""
        import pyarrow as pa

        return pa.schema([(name, pa.string()) for name in self._opened[0].names])

    def read(self) -> pa.Table:
        """Return all records."""
        dialect = {"separator": self.separator, "encoding": self.encoding, "quote": self.quote}
        if len(self.files) > 1:
            _ = self._opened
        return _concatenated(_with_records(lambda path: read_arrow(path, **dialect), self.files))

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns, without blanks around texts."""
        some, empty = False, None
        for file in self._opened:
            try:
                for batch in file.batches(names):
                    some = True
                    yield _without_blanks(batch)
            except NoRecords as error:
                empty = error
        if not some and empty is not None:
            raise empty


def _with_records(read: Callable[[Path], T], files: Sequence[Path]) -> list[T]:
    """Read the files that have records; if none has, raise the error of the last one."""
    contents, empty = [], None
    for path in files:
        try:
            contents.append(read(path))
        except NoRecords as error:
            empty = error
    if not contents and empty is not None:
        raise empty
    return contents


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files with the same columns and types.

    Names of folders such as ``year=2024`` do not become columns.
    """

    files: tuple[Path, ...]

    @property
    def label(self) -> str:
        """The name of the source in messages."""
        return _label(self.files)

    @property
    def parquet(self) -> tuple[Path, ...]:
        """The files."""
        return self.files

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns and their types; dictionary-encoded text counts as plain text."""
        first = _parquet_schema(self.files[0])
        for path in self.files[1:]:
            _require_same_columns(self.files[0], first, path, _parquet_schema(path))
        return first

    def read(self) -> pa.Table:
        """Return all records; if there are several files, as a cluster writes them, some may be empty."""
        return self._read(read_arrow)

    def read_encoded(self, names: Sequence[str] | None = None) -> pa.Table:
        """Return all records with these columns, texts as dictionaries, ready to be numbered."""
        return self._read(lambda path: read_encoded(path, names))

    @cached_property
    def n_records(self) -> int:
        """How many records the files declare."""
        _ = self.schema
        return sum(map(_n_parquet, self.files))

    def _read(self, read_one: Callable[[Path], pa.Table]) -> pa.Table:
        if len(self.files) == 1:
            return read_one(self.files[0])
        _ = self.schema
        files = [path for path in self.files if _n_parquet(path)] or self.files[:1]
        return _concatenated([read_one(path) for path in files])

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        wanted = pa.schema([self.schema.field(name) for name in names])
        for path in self.files:
            try:
                with pq.ParquetFile(path) as file:
                    for batch in file.iter_batches(_ROWS_AT_ONCE, columns=list(names)):
                        yield from pa.Table.from_batches([batch]).select(names).cast(wanted).to_batches()
                is_whole = True
            except (pa.ArrowException, OSError, UnicodeError):
                is_whole = False
            if not is_whole:
                raise damaged(path)

    def encoded_batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns, texts as dictionaries; each batch has its own."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        for path in self.files:
            try:
                with pq.ParquetFile(path, read_dictionary=list(names)) as file:
                    for batch in file.iter_batches(_n_at_once(file.metadata), columns=list(names)):
                        batch.validate(full=True)
                        yield batch.select(list(names))
                is_whole = True
            except (pa.ArrowException, OSError, UnicodeError, KeyError):
                is_whole = False
            if not is_whole:
                raise damaged(path)


def _n_at_once(metadata: pq.FileMetaData) -> int:
    """Return how many records of a file to read at once."""
    n_bytes = sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))
    return max(1, min(_ENCODED_AT_ONCE, _BYTES_AT_ONCE * metadata.num_rows // max(n_bytes, 1)))


@dataclass(frozen=True)
class WholeFiles:
    """Files that can only be read as a whole: Feather, Arrow, Excel."""

    files: tuple[Path, ...]

    @property
    def label(self) -> str:
        """The name of the source in messages."""
        return _label(self.files)

    @property
    def parquet(self) -> tuple[Path, ...]:
        """No file."""
        return ()

    @cached_property
    def _records(self) -> pa.Table:
        tables = [read_arrow(path) for path in self.files]
        first = _plain(tables[0].schema)
        for path, table in zip(self.files[1:], tables[1:], strict=True):
            _require_same_columns(self.files[0], first, path, _plain(table.schema))
        return _concatenated(tables)

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return _plain(self._records.schema)

    def read(self) -> pa.Table:
        """Return all records."""
        return self._records

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns."""
        import pyarrow as pa

        wanted = pa.schema([self.schema.field(name) for name in names])
        yield from self._records.select(names).cast(wanted).to_batches(_ROWS_AT_ONCE)


@dataclass(frozen=True)
class ArrowOnInput:
    """An Arrow stream on standard input, read once and kept until the program ends."""

    label = "standard input"
    files: ClassVar[tuple[Path, ...]] = ()
    parquet: ClassVar[tuple[Path, ...]] = ()

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return _plain(_on_input().schema)

    def read(self) -> pa.Table:
        """Return all records."""
        return _on_input()

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns."""
        import pyarrow as pa

        wanted = pa.schema([self.schema.field(name) for name in names])
        yield from _on_input().select(names).cast(wanted).to_batches(_ROWS_AT_ONCE)


@cache
def _on_input() -> pa.Table:
    import pyarrow as pa

    if sys.stdin.isatty():
        raise DataError("standard input is a terminal; pipe an Arrow stream into it")
    try:
        with pa.ipc.open_stream(sys.stdin.buffer) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeError):
        table = None
    if table is None:
        raise DataError(
            "standard input is no Arrow stream, or ends too early; write one with Arrow's IPC format"
        )
    check_columns(Path("standard input"), table.schema)
    if table.num_rows == 0:
        raise DataError("standard input has no records; write some into the stream")
    return table


def state_of(files: Sequence[Path]) -> tuple[str, float]:
    """Return names, sizes and times of files as text, and the latest time; empty if one is missing."""
    try:
        states = [(path, path.stat()) for path in files]
    except (OSError, ValueError):
        return "", 0.0
    # one file is told as it always was, so that what a store knows of it stays known
    names = [f"{path} " if len(files) > 1 else "" for path in files]
    facts = [f"{s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}" for _, s in states]
    summary = "\n".join(name + fact for name, fact in zip(names, facts, strict=True))
    return summary, max((s.st_mtime for _, s in states), default=0.0)


def _label(files: Sequence[Path]) -> str:
    return files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1:,} more"


def _parquet_schema(path: Path) -> pa.Schema:
    import pyarrow as pa
    import pyarrow.parquet as pq

    require_file(path)
    try:
        schema = _plain(pq.read_schema(path))
        "".join(schema.names)
    except (pa.ArrowException, OSError, UnicodeError):
        schema = None
    if schema is None:
        raise damaged(path)
    check_columns(path, schema)
    return schema


def _n_parquet(path: Path) -> int:
    """Return the number of records of a file whose columns are readable."""
    import pyarrow.parquet as pq

    return int(pq.read_metadata(path).num_rows)


def _plain(schema: pa.Schema) -> pa.Schema:
    """Return the columns with the types of their values, regardless of their encoding."""
    import pyarrow as pa

    def plain(kind: pa.DataType) -> pa.DataType:
        if pa.types.is_dictionary(kind):
            return plain(kind.value_type)
        is_text = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        return pa.string() if is_text else kind

    return pa.schema([(field.name, plain(field.type)) for field in schema])


def _require_same_names(first: Path, names: Sequence[str], other: Path, other_names: Sequence[str]) -> None:
    different = sorted({*names} ^ {*other_names})
    if different:
        raise DataError(
            f"{other.name} has other columns than {first.name} ({different[0]!r} is in one of them only); "
            "read files of the same columns together"
        )


def _require_same_columns(first: Path, schema: pa.Schema, other: Path, other_schema: pa.Schema) -> None:
    _require_same_names(first, schema.names, other, other_schema.names)
    for field in schema:
        other_type = other_schema.field(field.name).type
        if other_type != field.type:
            raise DataError(
                f"column {field.name!r} has the type {other_type} in {other.name} and "
                f"{field.type} in {first.name}; write it with one type"
            )


def _concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    """Concatenate the records of all tables, in the first one's order of columns."""
    import pyarrow as pa

    ordered = [table.select(tables[0].column_names) for table in tables]
    if any(table.schema != ordered[0].schema for table in ordered):
        ordered = [table.cast(_plain(ordered[0].schema)) for table in ordered]
    return pa.concat_tables(ordered)


def _without_blanks(batch: pa.RecordBatch) -> pa.RecordBatch:
    import pyarrow as pa
    from pyarrow import compute

    trimmed = [compute.utf8_trim_whitespace(column) for column in batch.columns]
    nothing = pa.scalar(None, pa.string())
    texts = [compute.if_else(compute.equal(column, ""), nothing, column) for column in trimmed]
    return pa.record_batch(texts, names=batch.schema.names)
