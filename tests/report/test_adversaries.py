"""Adversaries: each measure speaks against one of them, and scenarios are told in words."""

from __future__ import annotations

import pytest

from sfumato import registry
from sfumato.frontier import Candidate
from sfumato.measures import Measurement
from sfumato.measures.scenario.scenario import Adversary, Scenario, User
from sfumato.recipe import Recipe
from sfumato.report.adversaries import ADVERSARIES, measures_against, scenario_rows

SCENARIO = Scenario(
    "early-detection",
    User("diagnosis", weights="if(age > 55, 10, 1)", error="distance", miners=("naive-bayes",)),
    Adversary(("age", "zip"), reduction="nearer", c=50, miners=("decision-tree", "random-forest")),
)


def candidate(*measures: str, scenario: Scenario | None = None) -> Candidate:
    given = {} if scenario is None else {"scenario": scenario.to_dict()}
    taken = tuple(Measurement(name, 0.1, "privacy", "lower", parameters=given) for name in measures)
    return Candidate("one", Recipe("as-is"), taken)


def test_every_privacy_measure_and_model_speaks_against_somebody() -> None:
    names = [
        name for name, cls in registry.registered("measure").items() if getattr(cls, "axis", "") == "privacy"
    ]
    for name in (*names, *registry.registered("model")):
        found = measures_against([candidate(name)])
        assert list(found) == list(ADVERSARIES)
        assert [who for who, said in found.items() if said], name


@pytest.mark.parametrize(
    ("measure", "who"),
    [
        ("reidentification-risk", "prosecutor"),
        ("k-anonymity", "prosecutor"),
        ("journalist-risk", "journalist"),
        ("marketer-risk", "marketer"),
        ("privacy-loss", "inquirer"),
        ("t-closeness", "inquirer"),
        ("auxiliary-gain", "list-holder"),
        ("anti-utility", "miner"),
    ],
)
def test_measures_are_sorted_by_adversary(measure: str, who: str) -> None:
    assert [each for each, said in measures_against([candidate(measure)]).items() if said] == [who]


def test_a_scenario_is_told_in_words() -> None:
    (row,) = scenario_rows([candidate("anti-utility", scenario=SCENARIO)] * 2)
    assert row["name"] == "early-detection"
    assert row["target"] == "diagnosis"
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
