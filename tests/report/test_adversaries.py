"""Adversaries: each measure speaks against one of them, and scenarios are told in words."""

from __future__ import annotations

import pytest

from sfumato.measures import Measurement
from sfumato.measures.scenarios.scenario import Adversary, Scenario, User
from sfumato.registry import methods
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.workflow.report.adversaries import Against, measures_against, scenario_rows

SCENARIO = Scenario(
    "early-detection",
    User("diagnosis", weights="if(age > 55, 10, 1)", error="distance", miners=("naive-bayes",)),
    Adversary(("age", "zip"), reduction="nearer", c=50, miners=("decision-tree", "random-forest")),
)


def candidate(*measures: str, scenario: Scenario | None = None) -> Candidate:
    given = {} if scenario is None else {"scenario": scenario.to_dict()}
    taken = tuple(Measurement(name, 0.1, "privacy", "lower", parameters=given) for name in measures)
    return Candidate("one", Recipe("as-is"), taken)


def who(against: Against) -> str:
    """Return the adversary by the title in the report; the prosecutor and the inquirer are in every one."""
    always = {"identity": "The prosecutor", "attribute": "The inquirer"}
    return against.attacker.title if against.attacker else always[against.guards]


def test_every_privacy_measure_and_model_speaks_against_somebody() -> None:
    names = [
        name for name, cls in methods.registered("measure").items() if getattr(cls, "axis", "") == "privacy"
    ]
    for name in (*names, *methods.registered("model")):
        found = measures_against([candidate(name)])
        assert {"The prosecutor", "The inquirer"} <= set(map(who, found))
        assert [who(each) for each in found if each.measures], name


def test_every_privacy_measure_says_what_it_guards() -> None:
    for name, cls in methods.registered("measure").items():
        assert hasattr(cls, "guards") == (cls.axis == "privacy"), name


@pytest.mark.parametrize(
    ("measure", "adversary"),
    [
        ("reidentification-risk", "The prosecutor"),
        ("weighted-k", "The prosecutor"),
        ("quasi-identifier-contribution", "The prosecutor"),
        ("k-anonymity", "The prosecutor"),
        ("journalist-risk", "The journalist"),
        ("marketer-risk", "The marketer"),
        ("privacy-loss", "The inquirer"),
        ("t-closeness", "The inquirer"),
        ("not-installed-here", "The inquirer"),
        ("auxiliary-gain", "The holder of a list"),
        ("border-gain", "The reader of the recipe"),
        ("downcoding", "The reader of the recipe"),
        ("anti-utility", "The data miner"),
        ("nearer-knowledge-gain", "The data miner"),
        ("nearer-accuracy-gain", "The data miner"),
    ],
)
def test_measures_are_sorted_by_adversary(measure: str, adversary: str) -> None:
    assert [who(each) for each in measures_against([candidate(measure)]) if each.measures] == [adversary]


def test_those_who_look_for_a_record_come_before_those_who_look_for_a_value() -> None:
    found = measures_against(
        [candidate("anti-utility", "marketer-risk", "journalist-risk", "auxiliary-gain")]
    )
    assert list(map(who, found)) == [
        "The prosecutor",
        "The journalist",
        "The marketer",
        "The inquirer",
        "The data miner",
        "The holder of a list",
    ]


def test_an_adversary_is_told_with_the_scenarios_of_the_own_measures() -> None:
    measured = candidate("anti-utility", "journalist-risk", scenario=SCENARIO)
    assert [
        [row["name"] for row in each.scenarios] for each in measures_against([measured]) if each.measures
    ] == [
        ["early-detection"],
        ["early-detection"],
    ]
    (told,) = [each for each in measures_against([candidate("anti-utility")]) if each.measures]
    assert told.scenarios == ()


def test_a_scenario_is_told_in_words() -> None:
    (row,) = scenario_rows([candidate("anti-utility", scenario=SCENARIO)] * 2)
    assert row["name"] == "early-detection"
    assert row["targets"] == ("diagnosis",)
    assert row["attacked"] == ("age", "zip")
    assert row["user"] == (
        "by naive-bayes; a prediction counts by how near it comes; a record counts if(age > 55, 10, 1)"
    )
    assert row["adversary"] == (
        "by decision-tree and random-forest; a prediction counts when it is nearer to the truth than the "
        "released value by at least 50%"
    )


def test_without_scenarios_none_is_told() -> None:
    assert scenario_rows([candidate("privacy-loss")]) == []
