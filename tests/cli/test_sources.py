"""A project file for a folder, a pattern and a database is written as for a file, and can be explored."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from sfumato.interfaces.cli import run
from sfumato.workflow.project.project_file import Project

PEOPLE = "age,sex,diagnosis\n31,f,E11.9\n42,m,I10\n57,f,E11.9\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people").mkdir()
    for name in ("a", "b"):
        (tmp_path / "people" / f"{name}.csv").write_text(PEOPLE)
    with sqlite3.connect(tmp_path / "shop.db") as connection:
        connection.execute("CREATE TABLE people (age INTEGER, sex TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [(31, "f"), (42, "m"), (42, "m")])
    connection.close()
    return tmp_path


@pytest.mark.parametrize(
    ("given", "n_records"),
    [
        (["people"], 6),
        (["people/b*.csv", "-o", "people.toml"], 3),
        (["shop.db", "-o", "people.toml", "--table", "people"], 3),
        (["shop.db", "-o", "people.toml", "--query", "SELECT * FROM people WHERE age > 40"], 2),
    ],
)
def test_new_writes_what_explore_reads(place: Path, given: list[str], n_records: int) -> None:
    assert run(["new", *given]) == 0
    table, _ = Project.load(place / "people.toml").read()
    assert table.n_records == n_records


def test_a_database_without_a_table_is_told_which_there_are(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["new", "shop.db"]) == 1
    assert "(people)" in capsys.readouterr().err
    assert not (place / "shop.toml").exists()


def test_brackets_in_the_name_of_a_file_are_shown(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "people [red].csv").write_text(PEOPLE)
    assert run(["new", "people [red].csv"]) == 0
    assert "3 records of people [red].csv" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "n_records"),
    [(["--table", "people"], 3), (["--query", "SELECT * FROM people WHERE age > 40"], 2)],
)
def test_inspect_looks_into_a_database(
    place: Path, capsys: pytest.CaptureFixture[str], given: list[str], n_records: int
) -> None:
    assert run(["inspect", "shop.db", *given]) == 0
    assert f"{n_records} records" in capsys.readouterr().out
