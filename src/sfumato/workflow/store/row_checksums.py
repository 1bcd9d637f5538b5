"""Keep a checksum in every row of a store, so that no changed figure is read as true.

The checksum is a hash of all columns of the row, keyed with the secret of the store. It detects disk faults,
careless edits, and rows that were copied from another store. It does not detect a row that was removed or
restored to an earlier state. It does not stop someone who may write the file and knows sfumato: the
secret is in the same file.

Triggers write the checksum when sfumato inserts or updates a row, and a view ``sound_TABLE`` shows the rows
of a table whose checksum fits. Both are temporary: they belong to this connection and not to the file. A
program that edits the file by itself therefore leaves the old checksum in place.
"""

from __future__ import annotations

import hashlib
import sqlite3

_DIGEST_SIZE = 16


def guard(connection: sqlite3.Connection, secret: bytes) -> None:
    """Write checksums from now on, and create a view of sound rows for each table.

    Parameters
    ----------
    connection
        A store; each of its tables has a column ``checksum``.
    secret
        The key.
    """

    def row_checksum(row: bytes) -> str:
        return hashlib.blake2b(row, key=secret, digest_size=_DIGEST_SIZE).hexdigest()

    connection.create_function("row_checksum", 1, row_checksum, deterministic=True)
    # the folder of the store may be on a medium that is only read
    connection.execute("pragma temp_store = memory")
    for table, columns in _tables(connection).items():
        computed = _expression(table, columns)
        connection.execute(
            f"create temp view sound_{table} as "
            f"select rowid, {', '.join(columns)} from main.{table} where checksum is {computed}"
        )
        for event in ("insert", "update"):
            connection.execute(
                f"create temp trigger checksum_after_{event}_{table} after {event} on main.{table} begin "
                f"update {table} set checksum = {computed} where rowid = new.rowid; end"
            )


def unsound(connection: sqlite3.Connection, table: str, columns: str) -> list[tuple[object, ...]]:
    """Return these columns of the rows whose checksum does not fit."""
    return connection.execute(
        f"select {columns} from {table} where rowid not in (select rowid from sound_{table})"
    ).fetchall()


def discard_unsound(connection: sqlite3.Connection, table: str) -> None:
    """Remove the rows of a table whose checksum does not fit."""
    connection.execute(f"delete from {table} where rowid not in (select rowid from sound_{table})")


def _tables(connection: sqlite3.Connection) -> dict[str, list[str]]:
    names = connection.execute("select name from main.sqlite_master where type = 'table'").fetchall()
    return {
        name: [
            column
            for (column,) in connection.execute("select name from pragma_table_info(?)", (name,))
            if column != "checksum"
        ]
        for (name,) in names
        if not name.startswith("sqlite_")
    }


def _expression(table: str, columns: list[str]) -> str:
    """Return what computes the checksum of a row in SQL.

    ``quote`` keeps values of different types and neighbouring columns apart, and writes every digit of a
    number. The cast hands over bytes, because a fault can leave a text that is no UTF-8.
    """
    row = " || ',' || ".join(["'" + table + "'", *(f"quote({column})" for column in columns)])
    return f"row_checksum(cast({row} as blob))"
