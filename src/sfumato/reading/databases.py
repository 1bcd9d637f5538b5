"""Read a table or a query from a DuckDB or SQLite file, or from PostgreSQL.

Databases are opened read-only. Their error messages may repeat a value, and an address may contain a
password, so neither is ever passed on.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol
from urllib.parse import parse_qs, quote, urlsplit

from sfumato.data.table import text
from sfumato.reading.arrow_files import check_columns
from sfumato.reading.dialect import require_file
from sfumato.runtime.errors import DataError, UserError

if TYPE_CHECKING:
    import pyarrow as pa

POSTGRES = ("postgresql", "postgres")
"""How the address of a PostgreSQL server begins."""
SUFFIXES = (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db")
"""How the names of database files end."""
_SECRETS = {"password", "sslpassword"}
_ROWS_AT_ONCE = 1 << 16
_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"


class Database(Protocol):
    """A database that answers queries."""

    @property
    def name(self) -> str:
        """The name of the database in messages."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The local files of the database, if it has any."""

    lists_schemas: ClassVar[bool]
    """Whether a table is listed with the schema that it lies in."""

    def tables(self) -> list[str]:
        """Return the names of its tables."""

    def columns(self, query: str) -> pa.Schema:
        """Return the columns of a query and their types."""

    def records(self, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the records of a query in batches, with these types."""


def is_database(path: str) -> bool:
    """Return whether a path names a database rather than a file of records."""
    return is_address(path) or path.lower().endswith(SUFFIXES)


def is_address(path: str) -> bool:
    """Return whether a database is named by the address of its server.

    Examples
    --------
    >>> is_address("postgresql://steward@host/shop"), is_address("shop.sqlite")
    (True, False)
    """
    return path.partition("://")[0] in POSTGRES


def database_at(path: str) -> Database:
    """Return the database at a path or an address such as ``postgresql://host/shop``."""
    if is_address(path):
        return Postgres(_without_password(path))
    place = Path(path)
    require_file(place)
    with place.open("rb") as file:
        head = file.read(16)
    if head == _SQLITE:
        return Sqlite(place)
    if head[8:12] == _DUCKDB:
        return DuckDBFile(place)
    raise DataError(f"{place.name} is neither a SQLite nor a DuckDB file; check the path")


def _without_password(address: str) -> str:
    try:
        parts = urlsplit(address)
        secret = parts.password is not None or not _SECRETS.isdisjoint(parse_qs(parts.query, True))
        # a slash in a password ends the host: what follows would be told as the name of the database
        is_address = secret or ((parts.port is None or parts.port > 0) and "@" not in parts.path)
    except ValueError:
        secret, is_address = False, False
    if not is_address:
        raise DataError(
            "path: this is no address of a PostgreSQL server; write postgresql://user@host/database"
        )
    if secret:
        raise DataError(
            "path: the address holds a password; leave it out, and set the environment variable PGPASSWORD "
            "or name a service file"
        )
    return address


# One source, whichever the database


@dataclass(frozen=True)
class SqlQuery:
    """The records of a table or of a query.

    Records come in the order in which the database returns them, which is stable as long as nothing is
    written to it.
    """

    database: Database
    query: str

    @property
    def label(self) -> str:
        """The name of the source in messages."""
        return self.database.name

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the database."""
        return self.database.files

    @property
    def parquet(self) -> tuple[Path, ...]:
        """No file."""
        return ()

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        schema = self.database.columns(self.query)
        check_columns(Path(self.label), schema)
        return schema

    def read(self) -> pa.Table:
        """Return all records."""
        import pyarrow as pa

        names = self.schema.names
        return pa.Table.from_batches(self.batches(names), self.schema)

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns, some at a time."""
        import pyarrow as pa

        query = f"SELECT {', '.join(map(quoted, names))} FROM ({self.query}) AS source"
        n_records, keeps_types = 0, True
        try:
            for batch in self.database.records(query, pa.schema([self.schema.field(name) for name in names])):
                n_records += batch.num_rows
                yield batch
        except pa.ArrowException:
            keeps_types = False
        # raised out here: what Arrow says shows the value that it stumbled over
        if not keeps_types:
            raise changed_types(self.label)
        if not n_records:
            raise DataError(f"{self.label} has no records; name another table or query")


def sql_query(database: Database, table: str | None, query: str | None) -> SqlQuery:
    """Return the records of a table or a query; exactly one must be named."""
    if query is not None and table is None:
        # the line ends where a comment may stand in it
        return SqlQuery(database, query.strip().rstrip(";") + "\n")
    if table is not None and query is None:
        return SqlQuery(database, f"SELECT * FROM {_place(database, table)}")
    if table is not None:
        raise DataError(f"{database.name}: give a table or a query, not both")
    names = ", ".join(database.tables())
    raise DataError(f'{database.name} is a database; name the table, as table = "..." ({names})')


def _place(database: Database, table: str) -> str:
    """Return a table's name in SQL: with its schema before a dot, unless the dot is part of the name."""
    is_one_name = "." in table and not database.lists_schemas and table in database.tables()
    return quoted(table) if is_one_name else ".".join(map(quoted, table.split(".")))


def changed_types(label: str) -> DataError:
    """Refuse a source whose values no longer have the types that it reported before."""
    return DataError(f"{label} was changed while it was read; read it again")


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _cast(answer: Iterator[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the records that come after the column types in a stream, cast to these types."""
    import pyarrow as pa

    next(answer)
    for batch in answer:
        yield from pa.Table.from_batches([batch]).cast(schema).to_batches()


def _stored(kind: pa.DataType) -> pa.DataType:
    return getattr(kind, "storage_type", kind)


def _query_error(name: str, sign: str = "") -> DataError:
    code = f" (SQLSTATE {sign})" if sign else ""
    return DataError(f"{name} does not answer the query{code}; check the names of table and columns in it")


@dataclass(frozen=True)
class _DatabaseFile:
    """A database in a file, which may have a journal file next to it with another ending."""

    path: Path

    journal_suffix: ClassVar[str]
    lists_schemas: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """The name of the database in messages."""
        return self.path.name

    @property
    def files(self) -> tuple[Path, ...]:
        """The file and its journal, if it has one."""
        journal = self.path.with_name(f"{self.path.name}{self.journal_suffix}")
        return (self.path, journal) if journal.exists() else (self.path,)


# SQLite


@dataclass(frozen=True)
class Sqlite(_DatabaseFile):
    """A SQLite file."""

    journal_suffix: ClassVar[str] = "-wal"

    def tables(self) -> list[str]:
        """Return the names of its tables."""
        listing = "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name"
        return [name for rows in self._answer(listing) for (name,) in rows]

    def columns(self, query: str) -> pa.Schema:
        """Return the columns of a query with one type each, which SQLite does not enforce on the values."""
        import pyarrow as pa

        (names,) = next(self._answer(f"SELECT * FROM ({query}) LIMIT 0", with_names=True))
        kinds = ", ".join(f"typeof({quoted(name)})" for name in names)
        type_rows = [row for rows in self._answer(f"SELECT DISTINCT {kinds} FROM ({query})") for row in rows]
        columns = zip(*type_rows, strict=True) if type_rows else [()] * len(names)
        types = [self._type(name, {*kinds} - {"null"}) for name, kinds in zip(names, columns, strict=True)]
        return pa.schema(list(zip(names, types, strict=True)))

    def records(self, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the records of a query."""
        for rows in self._answer(query):
            yield _batch(rows, schema)

    def _answer(self, query: str, *, with_names: bool = False) -> Iterator[list[Any]]:
        """Yield the rows of a query in batches, after the column names if these are wanted."""
        address = f"file:{quote(str(self.path.absolute()))}?mode=ro"
        try:
            # an engine may read from one of its own threads, but never from two at once
            with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as connection:
                rows = connection.execute(query)
                if with_names:
                    yield [[facts[0] for facts in rows.description]]
                while batch := rows.fetchmany(_ROWS_AT_ONCE):
                    yield batch
            is_answered = True
        except sqlite3.Error:
            is_answered = False
        if not is_answered:
            raise _query_error(self.name)

    def _type(self, column: str, kinds: set[str]) -> pa.DataType:
        import pyarrow as pa

        if "blob" in kinds:
            raise DataError(f"{self.name}: column {column!r} holds bytes; leave it out of the query")
        if not kinds:
            return pa.null()
        if kinds == {"integer"}:
            return pa.int64()
        return pa.string() if "text" in kinds else pa.float64()


def _batch(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch:
    """Turn rows of numbers and texts into columns; numbers in a text column become text."""
    import pyarrow as pa

    columns = [
        [_converted(value, field.type) for value in values]
        for values, field in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _converted(value: Any, kind: pa.DataType) -> Any:
    import pyarrow as pa

    if pa.types.is_string(kind):
        return text(value)
    return float(value) if value is not None and pa.types.is_floating(kind) else value


# DuckDB


@dataclass(frozen=True)
class DuckDBFile(_DatabaseFile):
    """A DuckDB file."""

    journal_suffix: ClassVar[str] = ".wal"

    def tables(self) -> list[str]:
        """Return the names of its tables."""
        _, *batches = self._answer("SELECT table_name FROM information_schema.tables ORDER BY ALL")
        return [str(name) for batch in batches for name in batch.column(0).to_pylist()]

    def columns(self, query: str) -> pa.Schema:
        """Return the columns of a query and their types."""
        return next(self._answer(f"SELECT * FROM ({query}) AS source LIMIT 0"))

    def records(self, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the records of a query, which may read no other file and nothing from the network."""
        return _cast(self._answer(query), schema)

    def _answer(self, query: str) -> Iterator[Any]:
        """Yield the columns of a query, then its records in batches."""
        import pyarrow as pa

        duckdb = self._duckdb()
        try:
            with duckdb.connect(str(self.path), read_only=True) as connection:
                for setting in self._settings:
                    connection.execute(setting)
                reader = pa.RecordBatchReader.from_stream(connection.sql(query))
                yield reader.schema
                yield from reader
            is_answered = True
        except (duckdb.Error, pa.ArrowException, OSError):
            is_answered = False
        if not is_answered:
            raise _query_error(self.name)

    _settings: ClassVar[tuple[str, ...]] = (
        "SET enable_progress_bar = false",
        "SET enable_external_access = false",
        "SET lock_configuration = true",
    )

    @staticmethod
    def _duckdb() -> Any:
        try:
            import duckdb
        except ImportError:
            raise UserError("DuckDB files need the package duckdb: pip install 'sfumato[duckdb]'") from None
        return duckdb


# PostgreSQL


@dataclass(frozen=True)
class Postgres:
    """A PostgreSQL server; the password comes from the environment or from a service file."""

    address: str

    lists_schemas: ClassVar[bool] = True
    _settings: ClassVar[tuple[str, ...]] = (
        "SET default_transaction_read_only = on",
        # so that the records come in the same order each time
        "SET synchronize_seqscans = off",
        "SET max_parallel_workers_per_gather = 0",
    )

    @property
    def name(self) -> str:
        """The name of the database in messages."""
        return urlsplit(self.address).path.strip("/") or os.environ.get("PGDATABASE", "the database")

    @property
    def files(self) -> tuple[Path, ...]:
        """No local file."""
        return ()

    def tables(self) -> list[str]:
        """Return the names of its tables."""
        listing = (
            "SELECT table_schema || '.' || table_name FROM information_schema.tables "
            "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1"
        )
        _, *batches = self._answer(listing)
        return [str(name) for batch in batches for name in batch.column(0).to_pylist()]

    def columns(self, query: str) -> pa.Schema:
        """Return the columns of a query and their types; types that Arrow lacks become text."""
        import pyarrow as pa

        schema = next(self._answer(f"SELECT * FROM ({query}) AS source LIMIT 0"))
        return pa.schema([(field.name, _stored(field.type)) for field in schema])

    def records(self, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """Yield the records of a query."""
        return _cast(self._answer(query), schema)

    def _answer(self, query: str) -> Iterator[Any]:
        """Yield the columns of a query, then its records in batches."""
        import pyarrow as pa

        manager, connection = self._connected()
        try:
            with connection, connection.cursor() as cursor:
                for setting in self._settings:
                    cursor.execute(setting)
                cursor.execute(query)
                reader = cursor.fetch_record_batch()
                yield reader.schema
                yield from reader
            sign = None
        except manager.Error as error:
            sign = error.sqlstate or ""
        except (pa.ArrowException, OSError):
            sign = ""
        if sign is not None:
            raise _query_error(self.name, sign)

    def _connected(self) -> tuple[Any, Any]:
        manager, connect = self._driver()
        try:
            return manager, connect(self.address)
        except manager.Error:
            pass
        raise DataError(
            f"the server of {self.name} does not let us in; check host, port, user and database in the "
            "address, and the password in PGPASSWORD or the service file"
        )

    @staticmethod
    def _driver() -> tuple[Any, Any]:
        try:
            import adbc_driver_manager
            from adbc_driver_postgresql import dbapi
        except ImportError:
            raise UserError(
                "PostgreSQL needs the package adbc-driver-postgresql: pip install 'sfumato[postgres]'"
            ) from None
        return adbc_driver_manager, dbapi.connect
