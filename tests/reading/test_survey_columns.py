"""Survey weights and household numbers are recognised by their names and values."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from sfumato import Project, Table, inspect
from sfumato.reading.role_guess import Guess, guess
from sfumato.workflow.project.new_project import start_project

RNG = np.random.default_rng(3)
N = 200
SURVEY = RNG.lognormal(5, 1, N).round(2)
KILOGRAMS = RNG.normal(75, 15, N).round(1)
GRAMS = RNG.normal(3300, 500, N).round()


def guessed(name: str, values: object) -> Guess:
    table = Table.from_arrow({"age": RNG.integers(18, 90, N), name: values})
    return next(each for each in guess(table) if each.name == name)


@pytest.mark.parametrize(
    "name",
    [
        "perwt",
        "HHWT",
        "fnlwgt",
        "survey_weight",
        "SamplingWeight",
        "finalWt",
        "factor_expansion",
        "pondération",
    ],
)
def test_a_column_named_like_survey_weights_is_withheld_and_told(name: str) -> None:
    found = guessed(name, SURVEY)
    assert (found.role, found.tells, found.hierarchy) == ("withheld", "weight", None)


@pytest.mark.parametrize("name", ["weight", "Gewicht", "poids", "peso", "wt"])
def test_a_weight_is_that_of_a_body_unless_it_is_very_large_and_uneven(name: str) -> None:
    assert guessed(name, 100 * SURVEY).tells == "weight"
    assert guessed(name, KILOGRAMS).tells == ""
    assert guessed(name, GRAMS).tells == ""


@pytest.mark.parametrize("values", [np.append(SURVEY[1:], 0), np.append(SURVEY[1:], -3), SURVEY / 1e6])
def test_what_cannot_be_survey_weights_is_not_told(values: object) -> None:
    assert guessed("perwt", values).tells == ""


def test_weights_that_some_records_lack_are_not_told() -> None:
    assert guessed("perwt", [None, *SURVEY[1:]]).tells == ""


@pytest.mark.parametrize("name", ["hhid", "household_id", "HaushaltNr", "hogar_id", "family_no", "id_menage"])
def test_a_column_that_numbers_households_is_identifying_and_told(name: str) -> None:
    found = guessed(name, 1000 + np.arange(N) // 3)
    assert (found.role, found.tells) == ("identifying", "household")


@pytest.mark.parametrize("members", [1, 20])
def test_a_number_of_everybodys_own_or_of_many_is_no_household(members: int) -> None:
    assert guessed("household_id", 1000 + np.arange(N) // members).tells == ""


@pytest.mark.parametrize("name", ["household_size", "household_income", "family", "id"])
def test_other_facts_of_a_household_do_not_number_it(name: str) -> None:
    assert guessed(name, 1000 + np.arange(N) // 3).tells != "household"


def test_a_new_project_names_them_and_can_be_read(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    rows = zip(RNG.integers(18, 90, N), SURVEY, np.arange(N) // 3, strict=True)
    data.write_text("age,perwt,hhid\n" + "".join(f"{a},{w},{h}\n" for a, w, h in rows), encoding="utf-8")
    start_project(data, tmp_path / "people.toml")
    written = tomllib.loads((tmp_path / "people.toml").read_text(encoding="utf-8"))
    assert (written["data"]["weight"], written["data"]["household"]) == ("perwt", "hhid")
    table, _ = Project.load(tmp_path / "people.toml").read()
    assert table.survey_weights is not None
    assert table.survey_weights.sum() == pytest.approx(float(SURVEY.sum()))
    assert table.households is not None
    assert len(set(table.households.household_of.tolist())) == 67


def test_an_inspection_of_the_file_knows_them(tmp_path: Path) -> None:
    records = {"age": RNG.integers(18, 90, N), "perwt": SURVEY, "hhid": np.arange(N) // 3}
    found = inspect(Table.from_arrow(records))
    assert (found.schema.survey_weight, found.schema.household) == ("perwt", "hhid")
