"""Survey weights, households and the population in the project file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sfumato import Release, measure, sanitize
from sfumato.results.measurement import build_measure
from sfumato.runtime.errors import ProjectError, SchemaError
from sfumato.sanitizers import AsIs
from sfumato.workflow.project.project_file import Project

PEOPLE = "home,age,sex,ill,perwt\n" + "".join(
    f"{n // 2},{20 + n % 5},{'fm'[n % 2]},{'xyz'[n % 3]},{100 + n}\n" for n in range(12)
)
ATTRIBUTES = """
[attributes.age]
role = "quasi-identifying"
[attributes.sex]
role = "quasi-identifying"
[attributes.ill]
role = "sensitive"
"""
ROLES = """
[attributes.home]
role = "identifying"
[attributes.perwt]
role = "withheld"
"""
SURVEY = 'weight = "perwt"\nhousehold = "home"\n'
POPULATION = "\n[population]\n"


@pytest.fixture
def load(tmp_path: Path) -> Any:
    """Return a function that loads a project with this in [data] and this after the attributes."""
    (tmp_path / "people.csv").write_text(PEOPLE, encoding="utf-8")
    (tmp_path / "everybody.csv").write_text(
        "age,sex\n" + "".join(f"{20 + n % 5},{'fm'[n % 2]}\n" for n in range(500)), encoding="utf-8"
    )

    def loaded(data: str = "", more: str = "") -> Project:
        place = tmp_path / "people.toml"
        place.write_text(f'[data]\npath = "people.csv"\n{data}{ATTRIBUTES}{more}', encoding="utf-8")
        return Project.load(place)

    return loaded


def as_it_is(project: Project) -> Release:
    table, schema = project.read()
    return sanitize(table, schema, AsIs())


def labels(project: Project) -> list[str]:
    return [build_measure(written).label for written in project.privacy]


def test_weight_and_household_need_no_role_and_are_not_released(load: Any) -> None:
    table, schema = load(SURVEY).read()
    assert (schema.survey_weight, schema.household) == ("perwt", "home")
    assert schema.withheld == ("perwt", "home")
    assert table.survey_weights.sum() == sum(100 + n for n in range(12))
    assert sanitize(table, schema, AsIs()).to_arrow().column_names == ["age", "sex", "ill"]


def test_a_weight_with_a_role_is_released(load: Any) -> None:
    role = '[attributes.perwt]\nrole = "insensitive"\n'
    table, schema = load(SURVEY, role).read()
    assert "perwt" in sanitize(table, schema, AsIs()).to_arrow().column_names
    assert table.survey_weights.sum() == 1266


def test_what_follows_from_them_is_measured_by_default(load: Any) -> None:
    plain = labels(load(more=ROLES))
    assert labels(load(SURVEY)) == [*plain, "journalist-risk", "population-uniqueness", "household-risk"]
    sized = load(more=f"{ROLES}{POPULATION}size = 5000\n")
    told = ["journalist-risk population-size=5000", "population-uniqueness population-size=5000"]
    assert labels(sized) == [*plain, *told]


def test_the_size_is_given_to_every_measure_that_asks_for_it_and_names_none(load: Any) -> None:
    asked = '[measure]\nprivacy = ["k-map", { journalist-risk = { population-size = 70 } }, "k-anonymity"]\n'
    limit = "[policy]\nindividual-risk = { at-most = 0.5 }\n"
    project = load(more=f"{ROLES}{POPULATION}size = 5000\n{asked}{limit}")
    assert labels(project) == [
        "k-map population-size=5000",
        "journalist-risk population-size=70",
        "k-anonymity",
    ]
    assert project.measures[-1] == {"individual-risk": {"population-size": 5000}}
    release = as_it_is(project)
    assert all(taken.value is not None for taken in measure(release, project.measures))


def test_a_population_table_lies_beside_the_project(load: Any) -> None:
    asked = '[measure]\nprivacy = ["k-map", "individual-risk"]\n'
    project = load(more=f'{ROLES}{POPULATION}path = "everybody.csv"\n{asked}')
    assert project.privacy[0] == {"k-map": {"population": str(project.path.parent / "everybody.csv")}}
    assert project.privacy[1] == "individual-risk"
    assert measure(as_it_is(project), project.privacy[:1])[0].value == 50


@pytest.mark.parametrize(
    ("data", "population", "reason"),
    [
        ("", 'size = 9\npath = "everybody.csv"', "population: give size or path, not both"),
        (SURVEY, "size = 9000", "population.size: data.weight tells the size already"),
        ("", "size = 0", "population.size: must be at least 1, not 0"),
        ("", "sise = 9", "unknown key 'population.sise'; did you mean 'size'"),
    ],
)
def test_a_contradiction_is_refused_in_one_line(load: Any, data: str, population: str, reason: str) -> None:
    with pytest.raises(ProjectError, match=reason):
        load(data, f"{POPULATION}{population}\n" if data else f"{ROLES}{POPULATION}{population}\n")


def test_a_column_that_is_not_there_is_refused_when_the_data_is_read(load: Any) -> None:
    with pytest.raises(SchemaError, match="weight: no column 'perwgt' in the data; did you mean 'perwt'"):
        load('weight = "perwgt"\n', ROLES).read()
