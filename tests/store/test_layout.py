"""The store's layout: a file of another layout is refused with advice, and left alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sfumato.runtime.errors import StoreError
from sfumato.workflow.store.store import Store
from sfumato.workflow.store.store_layout import LAYOUT


def everything(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


@pytest.mark.parametrize(
    ("layout", "said"),
    [
        (
            LAYOUT + 1,
            "was written by a later version of sfumato; "
            "upgrade sfumato, or move the store away and explore again",
        ),
        (LAYOUT - 1, "was written by an earlier version of sfumato; move the store away and explore again"),
        (1, "was written by an earlier version of sfumato; move the store away and explore again"),
    ],
)
def test_another_one_is_refused_with_advice_and_left_alone(tmp_path: Path, layout: int, said: str) -> None:
    path = tmp_path / "people.sqlite"
    Store(path).close()
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"pragma user_version = {layout}")
    before = everything(path)
    with pytest.raises(StoreError) as caught:
        Store(path)
    assert str(caught.value) == f"the store people.sqlite {said}"
    assert everything(path) == before


def test_a_new_store_has_the_layout_of_today(tmp_path: Path) -> None:
    Store(tmp_path / "new.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "new.sqlite")) as connection:
        assert connection.execute("pragma user_version").fetchall() == [(LAYOUT,)]


def test_nothing_of_a_connection_stays_in_the_file(tmp_path: Path) -> None:
    """A view or trigger in the file would be run by whatever program opens it next."""
    Store(tmp_path / "new.sqlite").close()
    with closing(sqlite3.connect(tmp_path / "new.sqlite")) as connection:
        kinds = connection.execute("select distinct type from sqlite_master").fetchall()
    assert set(kinds) == {("table",), ("index",)}
