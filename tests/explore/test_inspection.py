"""What a table looks like, and how risky it is as it stands."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.reading import datasets
from sfumato.workflow.inspect.inspected_columns import inspect

HOSPITAL = datasets.FOLDER / "hospital.csv"


def test_roles_are_guessed_for_a_data_file() -> None:
    roles = {each["name"]: each["role"] for each in inspect(HOSPITAL).to_dict()["attributes"]}
    assert roles["name"] == "identifying"
    assert roles["zip"] == roles["age"] == roles["sex"] == "quasi-identifying"
    assert roles["diagnosis"] == "sensitive"


def test_the_risk_is_that_of_the_classes_of_equal_quasi_identifiers(tmp_path: Path) -> None:
    rows = ["a,b,c", *(f"{i % 5},{i % 2},x" for i in range(9)), "7,1,y"]
    (tmp_path / "t.csv").write_text("\n".join(rows), "utf-8")
    (tmp_path / "t.toml").write_text(
        '[data]\npath = "t.csv"\n[attributes]\na = { role = "quasi-identifying" }\n'
        'b = { role = "quasi-identifying" }\nc = { role = "insensitive" }\n',
        "utf-8",
    )
    sizes = Counter(row.rsplit(",", 1)[0] for row in rows[1:])
    risk = inspect(tmp_path / "t.toml").to_dict()["risk"]
    assert risk["unique-records"] == sum(size == 1 for size in sizes.values())
    assert risk["smallest-class"] == min(sizes.values())
    assert risk["average-risk"] == len(sizes) / 10


def test_a_table_without_quasi_identifiers_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n2\n", "utf-8")
    (tmp_path / "t.toml").write_text('[data]\npath = "t.csv"\n[attributes.a]\nrole = "sensitive"\n', "utf-8")
    (sentence,) = inspect(tmp_path / "t.toml").to_dict()["risk"]["sentences"]
    assert "nobody could be recognised" in sentence


def test_no_value_is_shown() -> None:
    shown = json.dumps(inspect(HOSPITAL).to_dict())
    for row in HOSPITAL.read_text("utf-8").splitlines()[1:]:
        name, zip_code, _, _, diagnosis = row.split(",")
        assert name not in shown
        assert zip_code not in shown
        assert diagnosis not in shown


def test_missing_values_are_counted_by_record(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("age,illness\n31,a\n?,a\n?,a\n40,\n", "utf-8")
    found = {each["name"]: each for each in inspect(tmp_path / "t.csv").to_dict()["attributes"]}
    assert found["age"]["missing"] == 2
    assert found["age"]["kind"] == "numeric"
    assert found["illness"]["missing"] == 1


def test_a_table_in_memory_is_inspected_with_the_schema_given_or_guessed() -> None:
    table, schema = sf.datasets.hospital()
    given, guessed = sf.inspect(table, schema), sf.inspect(table)
    assert given.risk == guessed.risk
    assert [each.role for each in given.attributes] == [each.role for each in schema.attributes]
    assert guessed == sf.inspect(HOSPITAL)
    assert {name: role_of(guessed, name) for name in ("name", "zip", "diagnosis")} == {
        "name": "identifying",
        "zip": "quasi-identifying",
        "diagnosis": "sensitive",
    }


def role_of(found: sf.results.Inspection, name: str) -> str:
    return next(each.role for each in found.attributes if each.name == name)


def test_what_was_guessed_can_be_used_at_once() -> None:
    found = sf.inspect(HOSPITAL)
    release = sf.sanitize(found.table, found.schema, sf.sanitizers.Mondrian(sf.models.KAnonymity(3)))
    assert release.classes.sizes.min() >= 3


def test_spellings_of_missing_values_are_found_in_memory_as_in_a_file(tmp_path: Path) -> None:
    columns = {"age": ["31", "42", "NA", "57"], "town": ["Bonn", "?", "Bonn", "Ulm"]}
    rows = "\n".join(",".join(row) for row in zip(*columns.values(), strict=True))
    (tmp_path / "t.csv").write_text(f"age,town\n{rows}\n")
    found = sf.inspect(columns)
    assert found == sf.inspect(tmp_path / "t.csv")
    assert [each.n_missing for each in found.attributes] == [1, 1]


def test_the_risk_is_that_of_a_count_by_hand() -> None:
    schema = sf.Schema.of(age="quasi-identifying", sex="quasi-identifying")
    found = sf.inspect({"age": [1, 1, 1, 2, 2, 3], "sex": list("ffffff")}, schema)
    assert found.risk is not None
    assert (found.n_records, found.n_rows) == (6, 3)
    assert (found.risk.n_unique, found.risk.smallest_class, found.risk.median_class) == (1, 1, 2)
    assert found.risk.average == pytest.approx(3 / 6)
    assert found.risk.worst == 1.0
    assert repr(found) == "<Inspection of 6 records, 3 of them different; 1 unique in age, sex>"


def test_where_nobody_can_be_recognised_there_is_no_risk() -> None:
    found = sf.inspect({"ill": ["a", "b"]}, sf.Schema.of(ill="sensitive"))
    assert found.risk is None
    assert "no attribute is quasi-identifying" in repr(found)


VISITS: dict[str, list[Any]] = {
    "patient": [f"p{n // 3}" for n in range(90)],
    "born": [str(1930 + n // 3) for n in range(90)],
    "town": ["ABCDEFGHIJKLMNOPQRST"[n // 3 * 7 % 20] for n in range(90)],
    "sex": ["fm"[n // 3 % 2] for n in range(90)],
    "illness": ["xyz"[n % 3] for n in range(90)],
}


def test_people_are_counted_where_somebody_has_several_records() -> None:
    found = inspect(VISITS)
    assert (found.n_records, found.n_people) == (90, 30)
    assert found.schema.person == "patient"
    assert found.risk is not None
    assert (found.risk.n_unique, found.risk.smallest_class) == (30, 1)
    assert "90 records are those of 30 people (patient)" in found.sentences[0]
    assert "30 of 30 people (100.0%) would be unique" in found.sentences[1]
    assert found.to_dict()["people"] == 30


def test_records_that_agree_more_than_by_chance_are_asked_about() -> None:
    without = {name: values for name, values in VISITS.items() if name != "patient"}
    found = inspect(without)
    assert found.schema.person is None
    assert any("100% of the records agree with another one" in warning for warning in found.warnings)
    assert not any("agree with another one" in warning for warning in inspect(VISITS).warnings)


def test_nobody_is_asked_where_chance_explains_it() -> None:
    table, schema = datasets.adult(quasi_identifiers=("age", "sex", "race"), sensitive=("occupation",))
    assert not any("agree with another one" in warning for warning in inspect(table, schema).warnings)
