"""The function `read`, which makes a table from a file, a database or a data frame."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import cast

from sfumato.data.table import Records, Table, counted
from sfumato.reading.database_connections import Connection, queried


def read(
    source: str | Path | Records | Connection,
    *,
    table: str | None = None,
    query: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    missing_values: Iterable[str] = (),
) -> Table:
    """Read a table about people.

    Parameters
    ----------
    source
        A CSV, Parquet or Feather file, a folder or a pattern such as ``2024-*.csv``, a SQLite or DuckDB file,
        ``postgresql://user@host/database``; or data in memory: a pandas or Polars frame, a DuckDB
        relation, an Arrow table, a mapping of columns, a connection to any database. The columns of a CSV
        file are read as text, so that leading zeros survive; the schema says which are numbers.
    table, query
        The table or query to read from a database, not both; a connection takes a query.
    separator, encoding, quote
        How a CSV file is written, if this should not be detected.
    missing_values
        Spellings of a missing value in addition to the empty field.

    Examples
    --------
    >>> read({"age": [31, 42, 31], "sex": ["f", "m", "f"]})
    <Table of 3 records, 2 of them different: age, sex>
    >>> import sqlite3
    >>> with sqlite3.connect(":memory:") as connection:
    ...     read(connection, query="SELECT 31 AS age, 'f' AS sex UNION ALL SELECT 42, 'm'")
    <Table of 2 records, 2 of them different: age, sex>
    >>> connection.close()
    """
    if isinstance(source, Table):
        return source
    if isinstance(source, (str, Path)):
        import pyarrow as pa

        from sfumato.reading.sources import source_at

        place = source_at(
            source, table=table, query=query, separator=separator, encoding=encoding, quote=quote
        )
        read_in = Table.from_arrow(place.read(), missing_values=missing_values)
        # the text of all records is gone, and Arrow would keep its place
        pa.default_memory_pool().release_unused()
        return read_in
    if query is not None:
        return counted(queried(cast(Connection, source), query), missing_values=missing_values)
    return Table.from_arrow(cast(Records, source), missing_values=missing_values)
