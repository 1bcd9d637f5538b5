"""The starting project: a file that says what was guessed, tries the usual, and can be read back."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.table import Table
from sfumato.reading.datasets import FOLDER
from sfumato.reading.read_table import read
from sfumato.reading.role_guess import decimal_mark, guess, likely_missing_values
from sfumato.workflow.project.new_project import project_text, start_project
from sfumato.workflow.project.project_file import Project

SECRET = "SECRETVALUE"
PEOPLE = Table.from_arrow(
    {
        "Vorname": ["Jürgen", "Zoë", "Ägidius", "李"],
        "Geburtsdatum": ["03.07.1961", "24.12.1958", "09.09.1984", "?"],
        "PLZ": ["01067", "01069", "80331", "00199"],
        "Gewicht": ["71,5", "?", "63,25", "88,0"],
        "Diagnose": ["E11.9", "I10", "E11.9", "J45.0"],
        "Stadt.Teil": ["Süd", "Nord", "Süd", "Nord"],
        "Land": ["DE", "DE", "DE", "DE"],
    }
)


def written(table: Table, **options: Any) -> str:
    options = {"missing_values": likely_missing_values(table), "decimal": decimal_mark(table)} | options
    return project_text("people.csv", guess(table), **options)


def test_the_project_file_says_what_to_read() -> None:
    table = Table.from_arrow({"age": ["31,5", "?", "57"], "diagnosis": ["flu", "gout", "flu"]})
    text = project_text(
        'C:\\data "x"\n.csv',
        guess(table),
        missing_values=["?"],
        decimal=",",
        dialect={"separator": "\t", "encoding": "cp1252"},
    )
    assert tomllib.loads(text)["data"] == {
        "path": 'C:\\data "x"\n.csv',
        "separator": "\t",
        "encoding": "cp1252",
        "missing": "category",
        "missing-values": ["?"],
        "decimal": ",",
    }
    assert tomllib.loads(project_text("a.csv", guess(table)))["data"] == {
        "path": "a.csv",
        "missing": "category",
    }


def test_the_project_file_gives_every_column_its_guess() -> None:
    attributes = tomllib.loads(written(PEOPLE))["attributes"]
    assert list(attributes) == list(PEOPLE.names)
    assert attributes["PLZ"] == {
        "role": "quasi-identifying",
        "kind": "categorical",
        "hierarchy": {"prefixes": [4, 3, 2]},
    }
    assert attributes["Vorname"] == {"role": "identifying"}
    assert attributes["Gewicht"] == {
        "role": "quasi-identifying",
        "kind": "numeric",
        "public": {"whole": False, "bounds": [0, 100]},
    }
    assert attributes["Geburtsdatum"]["hierarchy"] == {"dates": ["month", "year"], "format": "%d.%m.%Y"}
    ages = tomllib.loads(written(Table.from_arrow({"age": [20, 50, 80]})))["attributes"]["age"]
    assert ages == {
        "public": {"whole": True, "bounds": [0, 100]},
        "role": "quasi-identifying",
        "kind": "numeric",
        "hierarchy": {"intervals": [5, 10, 20, 40]},
    }


def test_every_reason_stands_above_its_attribute() -> None:
    text = written(PEOPLE)
    for column in guess(PEOPLE):
        assert f"# {column.reason}\n[attributes." in text
        assert column.reason.endswith(".")


def test_the_header_tells_what_to_do_next() -> None:
    text = written(Table.from_arrow({"age": [20, 50]}))
    comments = " ".join(line for line in text.splitlines() if line.startswith("#"))
    for words in ("Confirm the roles", "sfumato explore FILE", "Who gets the release", "at-most = 0.2"):
        assert words in comments
    assert tomllib.loads(text)["policy"] == {}


@pytest.mark.parametrize(
    "name",
    [
        "a.b",
        "with space",
        'quo"te',
        "new\nline",
        "",
        "ключ",
        "tab\t",
        "\x7f\x00",
        "back\\slash",
        "#",
        "a-b_1",
    ],
)
def test_any_column_name_survives(name: str) -> None:
    table = Table.from_arrow({name: ["a", "b"], "other": ["c", "d"]})
    assert list(tomllib.loads(written(table))["attributes"]) == [name, "other"]


def test_postcodes_that_a_file_holds_as_numbers_are_called_categorical() -> None:
    project = tomllib.loads(written(Table.from_arrow({"zip": [2139, 10115, 80331], "age": [31, 42, 57]})))
    assert project["attributes"]["zip"]["kind"] == "categorical"


def test_marks_in_numbers_are_written_down() -> None:
    table = Table.from_arrow({"fee": ["1.250,50", "80"]})
    data = tomllib.loads(written(table, decimal=",", thousands="."))["data"]
    assert (data["decimal"], data["thousands"]) == (",", ".")


def test_groups_of_codes_are_written_as_a_tree() -> None:
    table = Table.from_arrow({"home": ["DE", "FR", "JP"], "row": ["a", "b", "c"]})
    home = tomllib.loads(written(table))["attributes"]["home"]
    assert home["hierarchy"] == {"tree": {"Europe": ["DE", "FR"], "Asia": ["JP"]}}


def test_what_suits_the_roles_is_tried_and_the_file_tells_how_to_add_to_it() -> None:
    text = written(read(FOLDER / "hospital.csv"))
    assert tomllib.loads(text)["candidates"] == [{"search": "suited"}]
    assert "[[candidates]] blocks of your own" in text


def test_what_is_measured_is_told_in_a_comment_that_can_be_taken_into_use(tmp_path: Path) -> None:
    for column in ({"age": [20, 50] * 4}, {"age": [20, 50] * 4, "salary": [1, 2, 3, 4] * 2}):
        text = written(Table.from_arrow(column))
        used = re.sub(r"^# (?=\[measure\]|privacy = |utility = )", "", text, flags=re.MULTILINE)
        place = tmp_path / "people.toml"
        assert Project.parse(used, place).measures == Project.parse(text, place).measures
        assert "measure" in tomllib.loads(used)


def test_a_missing_role_is_told() -> None:
    text = written(Table.from_arrow({"age": list(range(20, 40)) * 2}))
    assert "# No sensitive attribute was found." in text
    assert "No quasi-identifying" not in text
    text = written(Table.from_arrow({"name": ["a", "b"], "salary": [1, 2]}))
    assert "# No quasi-identifying attribute was found" in text
    assert "No sensitive" not in text


# Any table

VALUES = st.one_of(
    st.none(),
    st.text(max_size=6),
    st.sampled_from(["1", "2.5", "2,5", "007", "?", "NA", "E11.9", "2024-01-31", "01/02/2003", "-"]),
)
NAMES = st.one_of(
    st.text(max_size=8), st.sampled_from(["age", "id", "name", "zip", "date", "salary", "icd", "city"])
)


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(
        NAMES.filter(lambda name: not name.startswith("__index")),
        st.lists(VALUES, min_size=5, max_size=5),
        min_size=1,
        max_size=4,
    )
)
def test_any_table_of_text_gives_a_project_file_with_exactly_its_columns(
    columns: dict[str, list[str | None]],
) -> None:
    table = Table.from_arrow({name: pa.array(values, pa.string()) for name, values in columns.items()})
    project = tomllib.loads(written(table))
    assert list(project["attributes"]) == list(table.names)
    assert project["data"].get("missing-values", []) == list(likely_missing_values(table))
    assert {attribute["role"] for attribute in project["attributes"].values()} == {
        g.role for g in guess(table)
    }


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(NAMES, st.sampled_from(["", " 1", "@b.org", ".5", "-01-31"])),
        unique_by=lambda c: c[0],
        min_size=1,
    )
)
def test_no_value_of_a_record_appears_in_the_file(columns: list[tuple[str, str]]) -> None:
    values = {name: [f"{SECRET}{ending}", f"X{SECRET}{ending}", SECRET] for name, ending in columns}
    assert SECRET not in written(Table.from_arrow(values))


def test_a_project_with_several_records_of_people_counts_them(tmp_path: Path) -> None:
    visits = (f"p{n // 3},{20 + n // 3},{'AB'[n % 2]},flu" for n in range(60))
    lines = ["patient_id,age,town,diagnosis", *visits]
    (tmp_path / "visits.csv").write_text("\n".join(lines), "utf-8")
    start_project(tmp_path / "visits.csv", tmp_path / "visits.toml")
    project = Project.load(tmp_path / "visits.toml")
    assert project.data.person == project.schema.person == "patient_id"
    assert "trace-risk" in project.privacy
    assert project.read()[0].n_people == 20
