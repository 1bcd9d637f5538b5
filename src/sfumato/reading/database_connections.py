"""Fetch the records of a query through a DB-API or ADBC connection."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sfumato.data.table import text
from sfumato.reading.base import check_columns
from sfumato.runtime.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


class Connection(Protocol):
    """A DB-API (PEP 249) connection, or an ADBC connection, which returns Arrow tables."""

    def cursor(self) -> Any:
        """Return a cursor, which runs queries and fetches records."""


def queried(connection: Connection, query: str) -> pa.Table:
    """Return all records of a query.

    Parameters
    ----------
    connection
        The connection; it is left open.
    query
        The query, whose columns must have different names.
    """
    reason = ""
    try:
        cursor = connection.cursor()
        try:
            cursor.execute(query)
            table = _fetched(cursor)
        finally:
            cursor.close()
    except Exception as error:
        reason = type(error).__name__
    # raised out here: what a database says shows the value that it stumbled over
    if reason:
        raise DataError(f"the connection does not answer the query ({reason}); ask it in its own words first")
    check_columns(Path("the query"), table.schema)
    return table


def _fetched(cursor: Any) -> pa.Table:
    """Return all records that a cursor has."""
    import pyarrow as pa

    if hasattr(cursor, "fetch_arrow_table"):
        return cursor.fetch_arrow_table()
    names = [facts[0] for facts in cursor.description]
    rows = cursor.fetchall()
    columns: Sequence[Sequence[Any]] = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    arrays = []
    for values in columns:
        try:
            arrays.append(pa.array(values))
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
            # values of several types become text
            known = (type(None), str, int, float)
            texts = [text(value) if isinstance(value, known) else str(value) for value in values]
            arrays.append(pa.array(texts, pa.string()))
    return pa.Table.from_arrays(arrays, names)
