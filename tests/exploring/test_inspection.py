"""What a table looks like, and how risky it is as it stands."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from sfumato import datasets
from sfumato.exploring.inspection import inspect

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
