"""Read a table or a query from a DuckDB or SQLite file, or from PostgreSQL.

Databases are opened read-only. Their error messages may repeat a value, and an address may contain a
password, so neither is ever passed on.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import parse_qs, quote, urlsplit

from sfumato.data.table import text
from sfumato.reading.base import check_columns
from sfumato.reading.dialect import require_file
from sfumato.runtime.errors import DataError
from sfumato.runtime.extras import require

if TYPE_CHECKING:
    import pyarrow as pa

POSTGRES = ("postgresql", "postgres")
"""How the address of a PostgreSQL server begins."""
SUFFIXES = (".duckdb", ".ddb", ".sqlite", ".sqlite3", ".db")
"""How the names of database files end."""
_SECRETS = {"password", "sslpassword"}
_ROWS_AT_ONCE = 1 << 16
_SQLITE, _DUCKDB = b"SQLite format 3\0", b"DUCK"
_DUCKDB_SETTINGS = (
    "SET enable_progress_bar = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
_POSTGRES_SETTINGS = (
    "SET default_transaction_read_only = on",
    # so that the records come in the same order each time
    "SET synchronize_seqscans = off",
    "SET max_parallel_workers_per_gather = 0",
)


@dataclass(frozen=True)
class Database:
    """A database that answers queries.

    Parameters
    ----------
    name
        The name of the database in messages.
    columns
        Returns the columns of a query and their types.
    records
        Yields the records of a query in batches, with these types.
    listing
        The query that lists the names of its tables.
    lists_schemas
        Whether a table is listed with the schema that it lies in.
    path, journal_suffix
        The file, and how the name of its journal, which may lie next to it, ends; none for a server.
    """

    name: str
    columns: Callable[[str], pa.Schema]
    records: Callable[[str, pa.Schema], Iterator[pa.RecordBatch]]
    listing: str
    lists_schemas: bool = False
    path: Path | None = None
    journal_suffix: str = ""

    @property
    def files(self) -> tuple[Path, ...]:
        """The local files of the database, if it has any."""
        if self.path is None:
            return ()
        journal = self.path.with_name(f"{self.path.name}{self.journal_suffix}")
        return (self.path, journal) if journal.exists() else (self.path,)

    def tables(self) -> list[str]:
        """Return the names of its tables."""
        import pyarrow as pa

        answer = self.records(self.listing, pa.schema([("name", pa.string())]))
        return [name for batch in answer for name in batch.column(0).to_pylist()]


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
        return _postgres(_without_password(path))
    place = Path(path)
    require_file(place)
    with place.open("rb") as file:
        head = file.read(16)
    if head == _SQLITE:
        return _sqlite_file(place)
    if head[8:12] == _DUCKDB:
        return _duckdb_file(place)
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

    parquet: ClassVar[tuple[Path, ...]] = ()

    @property
    def label(self) -> str:
        """The name of the source in messages."""
        return self.database.name

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of the database."""
        return self.database.files

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
        answer = self.database.records(query, pa.schema([self.schema.field(name) for name in names]))
        n_records = 0
        for batch in _guarded(answer, pa.ArrowException, lambda _: changed_types(self.label)):
            n_records += batch.num_rows
            yield batch
        if not n_records:
            raise DataError(f"{self.label} has no records; name another table or query")


def sql_query(database: Database, table: str | None, query: str | None) -> SqlQuery:
    """Return the records of a table or a query; exactly one must be named."""
    if query is not None and table is None:
        # the line ends where a comment may stand in it
        return SqlQuery(database, query.strip().rstrip(";") + "\n")
    if table is not None and query is None:
        # a dot comes after the schema, unless it is part of the name
        is_one_name = "." in table and not database.lists_schemas and table in database.tables()
        name = quoted(table) if is_one_name else ".".join(map(quoted, table.split(".")))
        return SqlQuery(database, f"SELECT * FROM {name}")
    if table is not None:
        raise DataError(f"{database.name}: give a table or a query, not both")
    names = ", ".join(database.tables())
    raise DataError(f'{database.name} is a database; name the table, as table = "..." ({names})')


def changed_types(label: str) -> DataError:
    """Refuse a source whose values no longer have the types that it reported before."""
    return DataError(f"{label} was changed while it was read; read it again")


def quoted(name: str) -> str:
    """Return a name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def _guarded(answer: Iterator[Any], errors: Any, refusal: Callable[[Any], DataError]) -> Iterator[Any]:
    """Yield an answer; an error, whose words may show a value, becomes a refusal without a trace of it."""
    try:
        yield from answer
    except errors as error:
        refused = refusal(error)
    else:
        return
    # raised out here, so that the error is not its context
    raise refused


def _query_error(name: str, sign: str = "") -> DataError:
    code = f" (SQLSTATE {sign})" if sign else ""
    return DataError(f"{name} does not answer the query{code}; check the names of table and columns in it")


def _columns(answer: Callable[[str], Iterator[Any]], query: str) -> pa.Schema:
    """Return the columns of a query; types that Arrow lacks are those in which it stores them."""
    import pyarrow as pa

    schema = next(answer(f"SELECT * FROM ({query}) AS source LIMIT 0"))
    return pa.schema([(field.name, getattr(field.type, "storage_type", field.type)) for field in schema])


def _records(
    answer: Callable[[str], Iterator[Any]], query: str, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield the records of a query, cast to these types."""
    import pyarrow as pa

    batches = answer(query)
    next(batches)
    for batch in batches:
        yield from pa.Table.from_batches([batch]).cast(schema).to_batches()


# SQLite


def _sqlite_file(path: Path) -> Database:
    return Database(
        path.name,
        partial(_sqlite_columns, path),
        partial(_sqlite_records, path),
        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name",
        path=path,
        journal_suffix="-wal",
    )


def _sqlite_columns(path: Path, query: str) -> pa.Schema:
    """Return the columns of a query with one type each, which SQLite does not enforce on the values."""
    import pyarrow as pa

    (names,) = next(_sqlite_answer(path, f"SELECT * FROM ({query}) LIMIT 0", with_names=True))
    kinds = ", ".join(f"typeof({quoted(name)})" for name in names)
    listing = _sqlite_answer(path, f"SELECT DISTINCT {kinds} FROM ({query})")
    type_rows = [row for rows in listing for row in rows]
    columns = zip(*type_rows, strict=True) if type_rows else [()] * len(names)

    def arrow_type(name: str, kinds: set[str]) -> pa.DataType:
        if "blob" in kinds:
            raise DataError(f"{path.name}: column {name!r} holds bytes; leave it out of the query")
        if kinds <= {"integer"}:
            return pa.int64() if kinds else pa.null()
        return pa.string() if "text" in kinds else pa.float64()

    return pa.schema(
        [(name, arrow_type(name, {*column} - {"null"})) for name, column in zip(names, columns, strict=True)]
    )


def _sqlite_records(path: Path, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the records of a query; numbers in a column of texts become texts."""
    import pyarrow as pa

    def column(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
        if pa.types.is_string(kind):
            return pa.array(map(text, values), kind)
        if pa.types.is_floating(kind):
            return pa.array([None if value is None else float(value) for value in values], kind)
        return pa.array(values, kind)

    for rows in _sqlite_answer(path, query):
        columns = zip(zip(*rows, strict=True), schema.types, strict=True)
        yield pa.record_batch([column(values, kind) for values, kind in columns], schema=schema)


def _sqlite_answer(path: Path, query: str, *, with_names: bool = False) -> Iterator[list[Any]]:
    """Yield the rows of a query in batches, after the column names if these are wanted."""

    def answer() -> Iterator[list[Any]]:
        address = f"file:{quote(str(path.absolute()))}?mode=ro"
        # an engine may read from one of its own threads, but never from two at once
        with closing(sqlite3.connect(address, uri=True, check_same_thread=False)) as connection:
            rows = connection.execute(query)
            if with_names:
                yield [[facts[0] for facts in rows.description]]
            while batch := rows.fetchmany(_ROWS_AT_ONCE):
                yield batch

    return _guarded(answer(), sqlite3.Error, lambda _: _query_error(path.name))


# DuckDB


def _duckdb_file(path: Path) -> Database:
    answer = partial(_duckdb_answer, path)
    return Database(
        path.name,
        partial(_columns, answer),
        partial(_records, answer),
        "SELECT table_name AS name FROM information_schema.tables ORDER BY ALL",
        path=path,
        journal_suffix=".wal",
    )


def _duckdb_answer(path: Path, query: str) -> Iterator[Any]:
    """Yield the columns of a query, then its records; it may read no other file and not use the network."""
    require("duckdb", "DuckDB files need")
    import duckdb
    import pyarrow as pa

    def answer() -> Iterator[Any]:
        with duckdb.connect(str(path), read_only=True) as connection:
            for setting in _DUCKDB_SETTINGS:
                connection.execute(setting)
            reader = pa.RecordBatchReader.from_stream(connection.sql(query))
            yield reader.schema
            yield from reader

    errors = (duckdb.Error, pa.ArrowException, OSError)
    return _guarded(answer(), errors, lambda _: _query_error(path.name))


# PostgreSQL


def _postgres(address: str) -> Database:
    """Return a PostgreSQL server; the password comes from the environment or from a service file."""
    name = urlsplit(address).path.strip("/") or os.environ.get("PGDATABASE", "the database")
    answer = partial(_postgres_answer, name, address)
    return Database(
        name,
        partial(_columns, answer),
        partial(_records, answer),
        "SELECT table_schema || '.' || table_name AS name FROM information_schema.tables "
        "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1",
        lists_schemas=True,
    )


def _postgres_answer(name: str, address: str, query: str) -> Iterator[Any]:
    """Yield the columns of a query, then its records in batches."""
    require("postgres", "PostgreSQL needs")
    import adbc_driver_manager
    import pyarrow as pa
    from adbc_driver_postgresql import dbapi

    def answer() -> Iterator[Any]:
        connection = None
        with suppress(adbc_driver_manager.Error):
            connection = dbapi.connect(address)
        if connection is None:
            raise DataError(
                f"the server of {name} does not let us in; check host, port, user and database in the "
                "address, and the password in PGPASSWORD or the service file"
            )
        with connection, connection.cursor() as cursor:
            for setting in _POSTGRES_SETTINGS:
                cursor.execute(setting)
            cursor.execute(query)
            reader = cursor.fetch_record_batch()
            yield reader.schema
            yield from reader

    errors = (adbc_driver_manager.Error, pa.ArrowException, OSError)
    return _guarded(answer(), errors, lambda error: _query_error(name, getattr(error, "sqlstate", "") or ""))
