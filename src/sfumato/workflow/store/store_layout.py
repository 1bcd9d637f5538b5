"""Create the tables of a store's file, and refuse a file with another layout."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import sqlite3

from sfumato.registry.recipe import Recipe
from sfumato.runtime.errors import StoreError
from sfumato.workflow.store.row_checksums import guard

LAYOUT = 3
"""The layout of today, which stands in the file as SQLite's ``user_version``."""

_TABLES = (
    "create table fact (name text primary key, value text not null, checksum text)",
    """create table candidate (
    id text primary key,
    source text not null,          -- hash of the data and the schema that it was made from
    recipe text not null,          -- with the seed: the owner's secret
    infeasible text,
    seconds real not null,
    made text not null,
    versions text not null,        -- of the method and its models, where not the first
    release text,                  -- keyed hash of what is released; null where it was never taken
    explored real not null,        -- seconds of exploring, all runs together, when it was stored
    checksum text
)""",
    # looked up for every candidate that is stored
    "create index candidate_by_release on candidate (release)",
    """create table alias (
    id text primary key,           -- of another recipe that makes the same release
    candidate text not null references candidate (id) on delete cascade,
    recipe text not null,
    versions text not null,
    checksum text
)""",
    # one row for all attributes that a measure speaks of: if one were lost, the worst would look better
    """create table measurement (
    candidate text not null references candidate (id) on delete cascade,
    asked text not null,           -- the measure with its parameters that are not at their defaults
    facts text not null,           -- a list, of one measurement for each attribute
    version integer not null,      -- of the measure
    checksum text,
    primary key (candidate, asked)
)""",
    """create table proposal (
    search text primary key,       -- hash of the search, its version and the data that it ran with
    recipes text not null,
    checksum text
)""",
    """create table figure (
    key text primary key,          -- hash of all that the sums depend on
    facts text not null,           -- added up over many records
    checksum text
)""",
    """create table decision (
    candidate text not null,       -- its id when it was published
    folder text not null,
    facts text not null,
    checksum text
)""",
    """create table reading (
    file text not null,            -- the data file
    described text not null,       -- hash of how the project reads it and what its attributes are
    state text not null,           -- its size and times when it was read
    source text not null,          -- what was read
    checksum text,
    primary key (file, described)
)""",
)


def identity_of(secret: bytes, recipe: Recipe, source: str) -> str:
    """Return the short name of a candidate, keyed with a store's secret."""
    return hmac.new(secret, f"{recipe.key} {source}".encode(), hashlib.sha256).hexdigest()[:10]


def prepare(connection: sqlite3.Connection, name: str) -> bytes:
    """Create the tables of a new file, or refuse another layout; return the store's secret.

    Parameters
    ----------
    connection
        The file; what is changed is changed in one transaction.
    name
        The file's name, for an error.
    """
    if _layout(connection) == 0:
        connection.execute("begin immediate")
        try:
            # another process may have made the tables meanwhile
            if _layout(connection) == 0:
                _make(connection)
            connection.commit()
        finally:
            if connection.in_transaction:
                connection.rollback()
    if (found := _layout(connection)) != LAYOUT:
        when, remedy = ("a later", "upgrade sfumato, or ") if found > LAYOUT else ("an earlier", "")
        raise StoreError(
            f"the store {name} was written by {when} version of sfumato; "
            f"{remedy}move the store away and explore again"
        )
    return _guarded(connection)


def _layout(connection: sqlite3.Connection) -> int:
    return int(connection.execute("pragma user_version").fetchone()[0])


def _make(connection: sqlite3.Connection) -> None:
    if connection.execute("select 1 from sqlite_master").fetchone() is not None:
        raise sqlite3.DatabaseError("it belongs to another program, or to an early version of sfumato")
    for table in _TABLES:
        connection.execute(table)
    secret = secrets.token_bytes(32)
    guard(connection, secret)
    connection.execute("insert into fact (name, value) values ('secret', ?)", (secret.hex(),))
    connection.execute(f"pragma user_version = {LAYOUT}")


def _guarded(connection: sqlite3.Connection) -> bytes:
    """Set up this connection's checksums and return the secret. The secret's own row is keyed with it too."""
    found = connection.execute("select value from fact where name = 'secret'").fetchone()
    try:
        secret = bytes.fromhex(found[0])
        if connection.execute("select 1 from temp.sqlite_master").fetchone() is None:
            guard(connection, secret)
        if connection.execute("select 1 from sound_fact where name = 'secret'").fetchone() is not None:
            return secret
    except (TypeError, ValueError):
        pass
    raise sqlite3.DatabaseError("the secret in it was changed outside of sfumato")
