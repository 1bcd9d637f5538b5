"""The layout of a store's file: its tables, and how a file of an earlier layout becomes one of today."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sfumato.errors import SfumatoError, StoreError
from sfumato.recipe import Recipe
from sfumato.store.provenance import asked_key

LAYOUT = 2
"""The layout of today, which stands in the file as SQLite's ``user_version``; 0 before there were layouts."""

_TABLES = (
    "create table if not exists fact (name text primary key, value text not null)",
    """create table if not exists candidate (
    id text primary key,
    source text not null,          -- hash of the data and the schema that it was made from
    recipe text not null,          -- with the seed: the owner's secret
    infeasible text,
    seconds real not null,
    made text not null,
    versions text not null default '{}',    -- of the method and its models, where not the first
    release text,                  -- keyed hash of what is released; null where it was never taken
    explored real not null default 0        -- seconds of exploring, all runs together, when it was stored
)""",
    """create table if not exists alias (
    id text primary key,           -- of another recipe that makes the same release
    candidate text not null references candidate (id) on delete cascade,
    recipe text not null,
    versions text not null
)""",
    """create table if not exists measurement (
    candidate text not null references candidate (id) on delete cascade,
    asked text not null,           -- the measure with its parameters that are not at their defaults
    position integer not null,
    facts text not null,
    version integer not null default 1,     -- of the measure
    primary key (candidate, asked, position)
)""",
    """create table if not exists proposal (
    search text not null,          -- hash of the search, its version and the data that it ran with
    position integer not null,
    recipe text not null,
    primary key (search, position)
)""",
    """create table if not exists figure (
    key text primary key,          -- hash of all that the sums depend on
    facts text not null            -- added up over many records
)""",
    """create table if not exists decision (
    candidate text not null,       -- its id when it was published
    folder text not null,
    facts text not null
)""",
    """create table if not exists reading (
    file text not null,            -- the data file
    described text not null,       -- hash of how the project reads it and what its attributes are
    state text not null,           -- its size and times when it was read
    source text not null,          -- what was read
    primary key (file, described)
)""",
    """create table if not exists cost (
    source text not null,
    sanitizer text not null,
    part text not null,            -- the measure, or nothing for making the release
    n_rows integer not null,       -- of the table
    times integer not null,
    seconds real not null,         -- all times together
    longest real not null,
    primary key (source, sanitizer, part)
)""",
    # what was published under a former name is still found by it
    "create table if not exists renamed (former text primary key, id text not null)",
)


def identity_of(secret: bytes, recipe: Recipe, source: str) -> str:
    """Return the short name of a candidate, keyed with a store's secret."""
    return hmac.new(secret, f"{recipe.key} {source}".encode(), hashlib.sha256).hexdigest()[:10]


def prepare(connection: sqlite3.Connection, name: str) -> None:
    """Make the tables of a new file, bring an earlier layout up to date, refuse a later one.

    Parameters
    ----------
    connection
        The file; what is changed is changed in one transaction.
    name
        The file's name, for an error.
    """
    if _layout(connection) == LAYOUT:
        return
    if _layout(connection) > LAYOUT:
        raise StoreError(
            f"the store {name} was written by a later version of sfumato; "
            "upgrade sfumato, or move the store away and explore again"
        )
    with _transaction(connection):
        # somebody else may have done it meanwhile
        if _layout(connection) < LAYOUT:
            _bring_up_to_date(connection)


def _layout(connection: sqlite3.Connection) -> int:
    return int(connection.execute("pragma user_version").fetchone()[0])


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("begin immediate")
    try:
        yield
        connection.commit()
    except (ValueError, KeyError, TypeError, AttributeError, SfumatoError):
        # what a parser says may show what it stumbled over
        raise sqlite3.DatabaseError("what it holds cannot be understood") from None
    finally:
        if connection.in_transaction:
            connection.rollback()


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    is_old = _has_table(connection, "candidate")
    if not is_old and connection.execute("select 1 from sqlite_master").fetchone() is not None:
        raise sqlite3.DatabaseError("it belongs to another program")
    before = _layout(connection)
    for table in _TABLES:
        connection.execute(table)
    if is_old and before < 2:
        connection.execute("alter table candidate add column release text")
        connection.execute("alter table candidate add column explored real not null default 0")
    if is_old and before < 1:
        connection.execute("pragma defer_foreign_keys = on")
        connection.execute("alter table candidate add column versions text not null default '{}'")
        connection.execute("alter table measurement add column version integer not null default 1")
        _rename_candidates(connection, _secret(connection))
        _rename_measures(connection)
    connection.execute(f"pragma user_version = {LAYOUT}")


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    found = connection.execute("select 1 from sqlite_master where type = 'table' and name = ?", (name,))
    return found.fetchone() is not None


def _secret(connection: sqlite3.Connection) -> bytes:
    connection.execute("insert or ignore into fact values ('secret', ?)", (secrets.token_hex(32),))
    (written,) = connection.execute("select value from fact where name = 'secret'").fetchone()
    return bytes.fromhex(written)


def _rename_candidates(connection: sqlite3.Connection, secret: bytes) -> None:
    """Name candidates by a keyed hash in which parameters at their defaults have no part."""
    every = connection.execute("select id, source, recipe from candidate order by rowid").fetchall()
    for former, source, recipe in every:
        identity = identity_of(secret, Recipe.from_json(recipe), source)
        if identity == former:
            continue
        connection.execute("update or ignore candidate set id = ? where id = ?", (identity, former))
        connection.execute(
            "update or ignore measurement set candidate = ? where candidate = ?", (identity, former)
        )
        connection.execute("delete from measurement where candidate = ?", (former,))
        connection.execute("delete from candidate where id = ?", (former,))
        connection.execute("insert or replace into renamed values (?, ?)", (former, identity))


def _rename_measures(connection: sqlite3.Connection) -> None:
    for (former,) in connection.execute("select distinct asked from measurement").fetchall():
        key = _key_today(former)
        connection.execute("update or ignore measurement set asked = ? where asked = ?", (key, former))
        connection.execute("delete from measurement where asked = ? and asked != ?", (former, key))


def _key_today(asked: str) -> str:
    """Return the key of a measure as it is written today; one that is not known any more keeps its key."""
    try:
        return asked_key(json.loads(asked))
    except (ValueError, SfumatoError):
        return asked
