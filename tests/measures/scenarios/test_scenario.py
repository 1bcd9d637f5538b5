"""What users and adversaries may want, and one line for everything that they may not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from sfumato import Table
from sfumato.measures import Adversary, AntiUtility, GoodUtility, Scenario, User
from sfumato.measures.scenarios.expressions import Type
from sfumato.measures.scenarios.scenario import weights_of
from sfumato.registry import methods
from sfumato.results.measurement import build_measure
from sfumato.runtime.errors import ParameterError, ProjectError
from sfumato.workflow.project.project_file import Project

PEOPLE = Table.from_arrow({"age": [31, 60, 70], "sex": ["f", "f", "m"]})
TYPES: dict[str, Type] = {"age": "number", "sex": "text"}
PROJECT = """
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifying"
kind = "numeric"
[attributes.sex]
role = "quasi-identifying"
[attributes.ill]
role = "sensitive"
[attributes.name]
role = "identifying"
"""


def test_weights_are_a_formula_a_number_or_a_function() -> None:
    assert weights_of("if(sex = 'f' and age > 55, 10, 1)", PEOPLE).tolist() == [1, 10, 1]
    assert weights_of(2, PEOPLE).tolist() == [2, 2, 2]
    assert weights_of(2, PEOPLE).dtype == np.float64
    assert weights_of(lambda table: np.arange(table.n_rows), PEOPLE).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "weights",
    [
        "age - 50",
        lambda table: -1.0,
        lambda table: np.full(3, np.nan),
        lambda table: np.array([1, 1, np.inf]),
    ],
)
def test_a_weight_is_never_negative(weights: Any) -> None:
    with pytest.raises(ParameterError, match="negative or no number"):
        weights_of(weights, PEOPLE)


def test_a_scenario_survives_json() -> None:
    scenario = Scenario(
        "celebrities",
        User("ill", weights="age > 55", error="predicted >= true"),
        Adversary(("age", "sex"), "sex = 'f'", "nearer", 50),
        folds=5,
    )
    assert Scenario.of(json.loads(json.dumps(scenario.to_dict()))) == scenario
    name, parameters = methods.describe(AntiUtility(scenario))
    assert methods.build("measure", name, json.loads(json.dumps(parameters))) == AntiUtility(scenario)
    assert AntiUtility(scenario).label == "anti-utility scenario=celebrities"
    assert AntiUtility().label == "anti-utility"


def test_what_is_wanted_unless_something_is_said() -> None:
    assert User() == User(None, 1.0, "equal", ("naive-bayes", "decision-tree", "random-forest"))
    miners = ("naive-bayes", "decision-tree", "random-forest", "linear-regression", "regression-tree")
    assert Adversary() == Adversary((), 1.0, "exact", 0.0, miners, "both", True, "others", ())
    assert Scenario() == Scenario("", User(), Adversary(), 10, 0, 600.0, 0.2, "shares")


def test_lists_become_tuples() -> None:
    user = User(["ill"], miners=["majority"])  # type: ignore[arg-type]
    assert (user.target, user.targets, user.miners) == (("ill",), ("ill",), ("majority",))
    assert (User("ill").targets, User().targets) == (("ill",), ())
    adversary = Adversary(["age"], miners=["majority"], knows=["sex"])  # type: ignore[arg-type]
    assert (adversary.attributes, adversary.miners, adversary.knows) == (("age",), ("majority",), ("sex",))


def test_every_end_of_what_is_allowed_is_allowed() -> None:
    for c in (0, 100):
        assert Adversary(c=c).c == c
    for control in (0, 0.5):
        assert Scenario(control=control).control == control
    assert (Scenario(folds=2).folds, Scenario(seed=0).seed) == (2, 0)
    assert Scenario(time_limit=0.5).time_limit == 0.5
    assert (User(weights=0).weights, Adversary(weights=0.5).weights) == (0, 0.5)
    assert weights_of(0, PEOPLE).tolist() == [0, 0, 0]
    for of in ("values", "released", "both"):
        assert Adversary(guesses=cast(Any, of)).guesses == of
    for error in ("equal", "distance", "predicted", "predicted = 'x'", lambda predicted, true: true):
        assert User(error=error).error == error
    for reduction in ("nearer", "exact", "distance", "released"):
        assert Adversary(reduction=reduction).reduction == reduction


def test_a_scenario_is_plain_data_with_all_that_it_says() -> None:
    written = Scenario("s", User("ill"), Adversary(("age",)), 5).to_dict()
    assert (written["name"], written["folds"], written["control"]) == ("s", 5, 0.2)
    assert written["user"]["target"] == "ill"
    assert written["adversary"]["attributes"] == ["age"]
    assert Scenario.of({"user": User("ill")}) == Scenario(user=User("ill"))


def test_a_scenario_that_fits_the_table_passes() -> None:
    everything = Scenario(
        user=User("sex", "age > 5", "predicted = true"),
        adversary=Adversary(("age",), "sex = 'f'", "predicted < released", knows=("sex",)),
    )
    everything.check(TYPES)
    Scenario(user=User("age", error="predicted < true")).check(TYPES)


def test_a_scenario_with_functions_cannot_be_written_down() -> None:
    scenario = Scenario(user=User(error=lambda predicted, true: predicted == true))
    with pytest.raises(ParameterError, match="cannot be written down"):
        scenario.to_dict()
    assert GoodUtility(scenario).label == "good-utility scenario=unnamed"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: User(weights="age >"), "cannot be read at the end"),
        (lambda: User(weights=-1), "a weight must be 0 or more"),
        (lambda: User(error="equall"), "no function 'equall'; did you mean 'equal'"),
        (lambda: User(error="nearer"), "no function 'nearer'; there are equal, distance, or a formula"),
        (lambda: User(error="predicted = truth"), "no attribute 'truth'; did you mean 'true'"),
        (lambda: User(error="predicted = released"), "no attribute 'released'"),
        (lambda: User(miners=()), "at least one miner"),
        (lambda: Adversary(c=101), "c must be a percentage between 0 and 100"),
        (lambda: Adversary(reduction="near"), "did you mean 'nearer'"),
        (lambda: Adversary(guesses=cast(Any, "all")), "guesses cannot be 'all'"),
        (lambda: Adversary(miners=()), "at least one miner"),
        (lambda: Adversary(trained_on=cast(Any, "some")), "trained-on cannot be 'some'"),
        (lambda: Scenario(cells=cast(Any, "codes")), "cells cannot be 'codes'; allowed are shares, labels"),
        (lambda: Adversary(c=-1), "c must be a percentage between 0 and 100"),
        (lambda: Adversary(weights="age >"), "cannot be read at the end"),
        (lambda: Adversary(weights=float("inf")), "a weight must be 0 or more"),
        (lambda: User(weights=float("nan")), "a weight must be 0 or more"),
        (lambda: Adversary(reduction="predicted = truth"), "no attribute 'truth'; did you mean 'true'"),
        (lambda: Adversary(reduction="equall"), "no function 'equall'; there are nearer, exact, distance"),
        (lambda: Scenario(adversary=cast(Any, "me")), "are tables"),
        (lambda: Scenario(seed=-1), "seed must be at least 0"),
        (lambda: Scenario(control=0.51), "control must be a share between 0 and 0.5"),
        (lambda: Scenario.of({"x": 1}), "a scenario has no 'x'; it has name, user, adversary"),
        (lambda: Scenario.of({"user": "me"}), "are tables"),
        (
            lambda: Scenario(user=User("x")).check(TYPES),
            "no attribute 'x' that is released; there are age, sex",
        ),
        (lambda: Scenario(adversary=Adversary(weights="sex > 3")).check(TYPES), "needs numbers"),
        (lambda: Scenario(adversary=Adversary(("sex",), reduction="true > 1")).check(TYPES), "needs numbers"),
        (lambda: Scenario(folds=1), "folds must be at least 2"),
        (lambda: Scenario(time_limit=0), "time-limit must be above 0"),
        (lambda: Scenario(control=-0.1), "control must be a share between 0 and 0.5"),
        (lambda: Scenario(user=cast(Any, "me")), "are tables"),
        (lambda: Scenario.of({"userr": {}}), "did you mean 'user'"),
        (lambda: Scenario.of({"user": {"target": "ill", "weight": 1}}), "did you mean 'weights'"),
        (lambda: Scenario.of({"adversary": {"c": "much"}}), "c must be a number, not str"),
        (lambda: GoodUtility("celebrities"), "describe it in the project file"),
        (lambda: Scenario(user=User("il")).check(TYPES), "no attribute 'il'"),
        (lambda: Scenario(adversary=Adversary(("agee",))).check(TYPES), "did you mean 'age'"),
        (lambda: Scenario(user=User(weights="sex > 3")).check(TYPES), "needs numbers"),
        (lambda: Scenario(user=User("sex", error="predicted < true")).check(TYPES), "needs numbers"),
        (
            lambda: Scenario(adversary=Adversary(("age",), reduction="released = 'x'")).check(TYPES),
            "a text is compared with a number",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()


def project(tmp_path: Path, more: str) -> Project:
    (tmp_path / "people.toml").write_text(PROJECT + more, "utf-8")
    return Project.load(tmp_path / "people.toml")


def test_a_project_file_describes_scenarios_and_measures_in_them(tmp_path: Path) -> None:
    found = project(
        tmp_path,
        """
        [scenarios.early]
        folds = 5
        control = 0.1
        cells = "labels"
        [scenarios.early.user]
        target = "ill"
        weights = 'if(sex = "f" and age > 55, 10, 1)'
        miners = ["naive-bayes", "random-forest trees=10"]
        [scenarios.early.adversary]
        attributes = ["age"]
        weights = 2
        reduction = "nearer"
        c = 50
        trained-on = "all"
        [measure]
        privacy = ["anti-utility scenario=early", "k-anonymity"]
        utility = [{ good-utility = { scenario = "early" } }]
        [policy]
        "anti-utility scenario=early" = { at-most = 0.1 }
        """,
    )
    expected = Scenario(
        "early",
        User("ill", 'if(sex = "f" and age > 55, 10, 1)', miners=("naive-bayes", "random-forest trees=10")),
        Adversary(("age",), 2.0, "nearer", 50.0, trained_on="all"),
        folds=5,
        control=0.1,
        cells="labels",
    )
    assert build_measure(found.utility[0]) == GoodUtility(expected)
    assert build_measure(found.privacy[0]) == AntiUtility(expected)
    assert found.axes == ("anti-utility scenario=early", "good-utility scenario=early")
    assert len(found.measures) == 3


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("[scenarios.a]\nuserr = {}", "unknown key 'scenarios.a.userr'; did you mean 'user'"),
        ("[scenarios.a.user]\nweight = 1", "unknown key 'scenarios.a.user.weight'; did you mean 'weights'"),
        ("[scenarios.a.user]\nweights = true", "scenarios.a.user.weights"),
        ("[scenarios.a.user]\nweights = 'agee > 5'", "scenarios.a: no attribute 'agee'; did you mean 'age'"),
        ("[scenarios.a.user]\nweights = 'name = 1'", "scenarios.a: no attribute 'name'"),
        ("[scenarios.a.user]\nweights = \"age = 'x'\"", "scenarios.a: a text is compared with a number"),
        ("[scenarios.a.user]\ntarget = 'name'", "no attribute 'name' that is released"),
        ("[scenarios.a.user]\nminers = ['naive-bayess']", "did you mean 'naive-bayes'"),
        ("[scenarios.a.user]\nminers = ['random-forest tree=5']", "did you mean 'trees'"),
        ("[scenarios.a.user]\nminers = []", "at least one miner"),
        ("[scenarios.a]\ncontrol = 0.6", "scenarios.a: control must be a share between 0 and 0.5"),
        ("[scenarios.a.adversary]\nguesses = 'all'", "scenarios.a.adversary.guesses: cannot be 'all'"),
        ("[scenarios.a.adversary]\ntrained-on = 'me'", "scenarios.a.adversary.trained-on: cannot be 'me'"),
        ("[scenarios.a]\ncells = 'both'", "scenarios.a.cells: cannot be 'both'"),
        ("[scenarios.a.adversary]\nc = -1", "c must be a percentage between 0 and 100"),
        ("[measure]\nprivacy = ['anti-utility scenario=a']", "measure.privacy: no scenario 'a'"),
        (
            "[scenarios.early]\n[measure]\nutility = [{ good-utility = { scenario = 'earl' } }]",
            "measure.utility: no scenario 'earl'; did you mean 'early'",
        ),
    ],
)
def test_a_scenario_of_a_project_file_is_checked_when_it_is_read(
    tmp_path: Path, more: str, words: str
) -> None:
    with pytest.raises(ProjectError, match=words) as caught:
        project(tmp_path, more)
    assert "\n" not in str(caught.value)
