"""Open a source of records: one file, several files with the same columns, or a database.

A source knows its columns before it reads any record. It returns the records at once or in batches, always in
the same order, so that an engine that works in batches builds the same table as one that reads everything.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sfumato.reading.base import Format, Source, every_suffix, format_of
from sfumato.reading.databases import POSTGRES, database_at, is_database, sql_query
from sfumato.reading.dialect import StatedDialect
from sfumato.runtime.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

STANDARD_INPUT = "-"
"""The path of an Arrow stream on standard input."""
ROWS_AT_ONCE = 1 << 17
"""How many records a batch has."""
_PATTERN = ("*", "?", "[")
_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/.*", re.IGNORECASE | re.DOTALL)


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
        from sfumato.reading.arrow_files import ArrowOnInput

        return ArrowOnInput()
    if is_database(str(path)):
        return sql_query(database_at(str(path)), table, query)
    if table is not None or query is not None:
        raise DataError(f"{Path(path).name} is no database; leave out table and query")
    files = _files_at(Path(path))
    formats = {known.name: known for known in map(format_of, files)}
    if len(formats) > 1:
        raise DataError(
            f"{Path(path).name} holds files of more than one format ({', '.join(sorted(formats))}); "
            "name those of one with a pattern such as folder/*.parquet"
        )
    (known,) = formats.values()
    if known.source is None:
        return WholeFiles(known, files)
    return known.source(files, StatedDialect(separator, encoding, quote))


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
        suffixes = every_suffix()
        files = tuple(file for file in _listed(path, "*") if file.name.lower().endswith(suffixes))
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
class WholeFiles:
    """Files of a format that can only be read as a whole."""

    format: Format
    files: tuple[Path, ...]

    parquet: ClassVar[tuple[Path, ...]] = ()

    @property
    def label(self) -> str:
        """The name of the source in messages."""
        return label_of(self.files)

    @cached_property
    def _records(self) -> pa.Table:
        tables = [self.format.records(path) for path in self.files]
        first = plain_types(tables[0].schema)
        for path, table in zip(self.files[1:], tables[1:], strict=True):
            require_same_columns(self.files[0], first, path, plain_types(table.schema))
        return concatenated(tables)

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return plain_types(self._records.schema)

    def read(self) -> pa.Table:
        """Return all records."""
        return self._records

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns."""
        return plain_batches(self._records, names)


def state_of(files: Sequence[Path]) -> tuple[str, float]:
    """Return names, sizes and times of files as text, and the latest time; empty if one is missing."""
    try:
        states = [(path, path.stat()) for path in files]
    except (OSError, ValueError):
        return "", 0.0
    # the state of a single file does not name it: stores keep this form
    names = [f"{path} " if len(files) > 1 else "" for path in files]
    facts = [f"{s.st_size} {s.st_mtime_ns} {s.st_ctime_ns}" for _, s in states]
    summary = "\n".join(name + fact for name, fact in zip(names, facts, strict=True))
    return summary, max((s.st_mtime for _, s in states), default=0.0)


def label_of(files: Sequence[Path]) -> str:
    """Return what messages call some files."""
    return files[0].name if len(files) == 1 else f"{files[0].name} and {len(files) - 1:,} more"


def plain_types(schema: pa.Schema) -> pa.Schema:
    """Return the columns with the types of their values, regardless of their encoding."""
    import pyarrow as pa

    def plain(kind: pa.DataType) -> pa.DataType:
        if pa.types.is_dictionary(kind):
            return plain(kind.value_type)
        is_text = pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        return pa.string() if is_text else kind

    return pa.schema([(field.name, plain(field.type)) for field in schema])


def plain_batches(table: pa.Table, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield columns of a table in batches, with the types of their values."""
    selected = table.select(names)
    yield from selected.cast(plain_types(selected.schema)).to_batches(ROWS_AT_ONCE)


def require_same_names(first: Path, names: Sequence[str], other: Path, other_names: Sequence[str]) -> None:
    """Refuse files whose columns have other names."""
    different = sorted({*names} ^ {*other_names})
    if different:
        raise DataError(
            f"{other.name} has other columns than {first.name} ({different[0]!r} is in one of them only); "
            "read files of the same columns together"
        )


def require_same_columns(first: Path, schema: pa.Schema, other: Path, other_schema: pa.Schema) -> None:
    """Refuse files whose columns have other names or types."""
    require_same_names(first, schema.names, other, other_schema.names)
    for field in schema:
        other_type = other_schema.field(field.name).type
        if other_type != field.type:
            raise DataError(
                f"column {field.name!r} has the type {other_type} in {other.name} and "
                f"{field.type} in {first.name}; write it with one type"
            )


def concatenated(tables: Sequence[pa.Table]) -> pa.Table:
    """Concatenate the records of all tables, in the first one's order of columns."""
    import pyarrow as pa

    ordered = [table.select(tables[0].column_names) for table in tables]
    if any(table.schema != ordered[0].schema for table in ordered):
        ordered = [table.cast(plain_types(ordered[0].schema)) for table in ordered]
    return pa.concat_tables(ordered)


def validated(table: pa.Table) -> pa.Table:
    """Return a table whose contents were looked through: Arrow would look beyond the end of a damaged one."""
    table.validate(full=True)
    "".join(table.column_names)  # the names are decoded only when they are asked for
    return table
