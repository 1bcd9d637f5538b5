"""Every measure for each group of people: by hand, and as the whole where the group is everybody."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pytest

from sfumato import Attribute, Schema, Table, measure, measure_by, sanitize
from sfumato.measures import Adversary, Inference, Membership, Scenario, User
from sfumato.models import KAnonymity
from sfumato.registry import methods
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.measurement import measure_group
from sfumato.results.people_groups import groups_of
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs, Laplace, Mondrian, SuppressQuasiIdentifiers

PEOPLE: dict[str, list[Any]] = {
    "age": [20, 21, 22, 23, 24, 60, 70],
    "town": list("AAAAABB"),
    "land": ["X"] * 7,
    "ill": list("xyxyxxx"),
}
SCHEMA = Schema.of(age="quasi-identifying", town="quasi-identifying", land="insensitive", ill="sensitive")
NAMES = [*methods.registered("measure"), *methods.registered("model")]
SCENARIO = Scenario(
    user=User(miners=("naive-bayes",)),
    adversary=Adversary(miners=("naive-bayes", "linear-regression")),
    folds=3,
)


TWO = Mondrian(KAnonymity(2))


def release(how: object) -> LinkedRelease:
    return sanitize(Table.from_arrow(PEOPLE), SCHEMA, how, seed=1)  # type: ignore[arg-type]


def cheap(name: str) -> Any:
    cls = methods.registered("measure").get(name)
    return cls(scenario=SCENARIO) if cls and "scenario" in methods.parameters_of(cls) else name


@pytest.mark.parametrize("name", NAMES)
def test_a_group_of_everybody_has_what_the_whole_has_or_a_reason(name: str) -> None:
    made = release(TWO)
    (everybody,) = groups_of(made, "land", 1)
    for taken, whole in zip(
        measure_group(made, everybody, [cheap(name)]), measure(made, [cheap(name)]), strict=True
    ):
        if taken.value is not None:
            assert taken.value == whole.value
        else:
            assert taken.detail["reason"]


@pytest.mark.parametrize("name", NAMES)
def test_every_measure_has_a_figure_or_a_reason_for_each_group(name: str) -> None:
    made = release(TWO)
    for group in groups_of(made, "town", 1):
        for taken in measure_group(made, group, [cheap(name)]):
            assert taken.value is not None or taken.detail["reason"]


def test_figures_stand_side_by_side_with_the_worst_group_named() -> None:
    found = measure_by(release(TWO), ["reidentification-risk", "k-anonymity"], "town", smallest=1)
    assert dict(found.sizes) == {"A": 5, "B": 2}
    risks, levels = found.values("reidentification-risk"), found.values("k-anonymity")
    assert risks == {name: 1 / level for name, level in levels.items()}
    assert found.worst("reidentification-risk") == found.worst("k-anonymity")
    assert found.to_arrow().column_names == ["town", "records", "reidentification-risk", "k-anonymity"]
    assert json.loads(json.dumps(found.to_dict()))["worst"]["k-anonymity"] == found.worst("k-anonymity")


def test_the_picture_has_every_group_and_every_measure() -> None:
    found = measure_by(release(TWO), ["reidentification-risk", "general-loss"], "town", smallest=1)
    drawn = found.plot().svg
    for text in ("A (5)", "B (2)", "re-identification risk", "general"):
        assert text in re.sub(r"&[a-z]+;", "", drawn), text


def test_small_groups_are_counted_and_left_out() -> None:
    found = measure_by(release(AsIs()), ["general-loss"], "town", smallest=3)
    assert (list(found.groups), found.n_left_out) == (["A"], 2)
    with pytest.raises(ParameterError, match="no value of 'town' has 100 records"):
        measure_by(release(AsIs()), ["general-loss"], "town")
    with pytest.raises(ParameterError, match=r"'twon'.*did you mean 'town'"):
        measure_by(release(AsIs()), ["general-loss"], "twon")


def test_the_worst_group_has_the_highest_risk_and_the_lowest_level() -> None:
    columns = {"age": [30, 30, 30, 40, 50, 50], "town": list("AAABCC")}
    schema = Schema.of(age="quasi-identifying", town="quasi-identifying")
    made = sanitize(Table.from_arrow(columns), schema, AsIs())
    found = measure_by(made, ["reidentification-risk", "k-anonymity"], "town", smallest=1)
    assert found.values("reidentification-risk") == {"A": 1 / 3, "B": 1.0, "C": 1 / 2}
    assert found.values("k-anonymity") == {"A": 3.0, "B": 1.0, "C": 2.0}
    assert [found.worst(label) for label in found.labels] == ["B", "B"]


def test_by_default_a_group_has_a_hundred_records() -> None:
    columns = {"age": [30] * 199, "town": ["A"] * 100 + ["B"] * 99}
    schema = Schema.of(age="quasi-identifying", town="quasi-identifying")
    found = measure_by(sanitize(Table.from_arrow(columns), schema, AsIs()), ["k-anonymity"], "town")
    assert (dict(found.sizes), found.n_left_out) == ({"A": 100}, 99)


def crowd() -> tuple[Table, Schema]:
    """Return people of whom half live in a village where everybody is alone, half in a city of twins."""
    rng = np.random.default_rng(0)
    n = 600
    village = {"height": rng.integers(0, 10**6, n).tolist(), "place": ["village"] * n}
    city = {"height": [0] * n, "place": ["city"] * n}
    columns: dict[str, list[Any]] = {name: village[name] + city[name] for name in village}
    columns["ill"] = [f"i{number}" for number in rng.integers(0, 6, 2 * n)]
    attributes = (
        Attribute("height", "quasi-identifying", "numeric"),
        Attribute("place", "quasi-identifying"),
        Attribute("ill", "sensitive"),
    )
    table = Table.from_arrow(columns)
    return table, Schema(attributes).with_assumed_public_part(table)


@pytest.mark.parametrize("attack", [Inference(miners=()), Membership()])
def test_an_attack_is_tried_on_the_people_of_the_group(attack: Any) -> None:
    found = measure_by(sanitize(*crowd(), AsIs(), seed=1), [attack], "place")
    risks = found.values(attack.label)
    assert risks["village"] is not None
    assert risks["city"] is not None
    assert risks["village"] > 0.8
    assert risks["city"] < 0.1
    assert found.worst(attack.label) == "village"


def test_nobody_is_worse_off_where_quasi_identifiers_are_withheld() -> None:
    found = measure_by(
        sanitize(*crowd(), SuppressQuasiIdentifiers(), seed=1), [Inference(miners=())], "place"
    )
    assert all(value < 0.1 for value in found.values(found.labels[0]).values())


def test_a_promise_is_the_same_to_every_group() -> None:
    found = measure_by(sanitize(*crowd(), Laplace(2.0), seed=1), ["epsilon"], "place")
    assert len(set(found.values("epsilon").values())) == 1


def candidates(*ks: int) -> tuple[Candidate, ...]:
    risk = {"worst-group-risk": {"attribute": "town", "of": "reidentification-risk", "smallest": 1}}
    loss = {"worst-group-loss": {"attribute": "town", "of": "general-loss", "smallest": 1}}
    asked: list[Any] = ["reidentification-risk", "general-loss", risk, loss]
    return tuple(
        Candidate(
            str(k), Recipe("mondrian", {"k": k}), tuple(measure(release(Mondrian(KAnonymity(k))), asked))
        )
        for k in ks
    )


def test_the_frontier_of_the_worst_off_is_that_of_their_figures() -> None:
    made = candidates(2, 3, 7)
    frontier = Frontier(made, ("reidentification-risk", "general-loss"))
    worst = frontier.worst_of("town")
    assert len(worst.axes) == 2
    for candidate in made:
        by_town = measure_by(
            release(Mondrian(KAnonymity(int(candidate.id)))), list(frontier.axes), "town", smallest=1
        )
        for axis, own in zip(frontier.axes, worst.axes, strict=True):
            assert candidate.value(own) == max(by_town.values(axis).values())


def test_what_was_not_measured_by_an_attribute_says_how_to() -> None:
    frontier = Frontier(candidates(2), ("reidentification-risk", "general-loss"))
    with pytest.raises(ParameterError, match=r"not measured by 'age'.*by = \['age'\]"):
        frontier.worst_of("age")
    with pytest.raises(ParameterError, match="did you mean 'town'"):
        frontier.worst_of("twon")


def test_what_is_found_is_told_as_plain_data_and_as_a_table() -> None:
    asked: list[Any] = ["k-anonymity", "privacy-loss", {"privacy-loss": {"threshold": 0.5}}]
    found = measure_by(release(AsIs()), asked, "town", smallest=2)
    # everybody is alone with an age, and of seven people two are ill with y, both in A
    rare = (math.log(14 / 9) + 2 / 7 * math.log(4 / 9) + 5 / 7 * math.log(2)) / 2
    common = (math.log(14 / 12) + 5 / 7 * math.log(10 / 12) + 2 / 7 * math.log(2)) / 2
    labels = ["k-anonymity", "privacy-loss", "privacy-loss threshold=0.5"]
    told = {
        town: dict(zip(labels, (1.0, loss, loss), strict=True))
        for town, loss in (("A", pytest.approx(rare)), ("B", pytest.approx(common)))
    }
    assert found.to_dict() == {
        "attribute": "town",
        "left-out": 0,
        "groups": [
            {"group": "A", "records": 5, "values": told["A"]},
            {"group": "B", "records": 2, "values": told["B"]},
        ],
        "worst": dict.fromkeys(labels, "A"),
    }
    written = found.to_pandas()
    assert list(written.columns) == ["town", "records", *labels]
    assert written.iloc[1].to_dict() == {"town": "B", "records": 2, **told["B"]}


def test_where_a_measure_applies_to_nobody_no_group_does_worst() -> None:
    found = measure_by(release(AsIs()), ["household-risk"], "town", smallest=2)
    assert found.values("household-risk") == {"A": None, "B": None}
    assert found.worst("household-risk") is None


def test_what_cannot_be_measured_by_a_column_says_why() -> None:
    with pytest.raises(ParameterError, match="smallest must be at least 1, not 0"):
        measure_by(release(AsIs()), ["general-loss"], "town", smallest=0)
    unknown = release(AsIs()).unlinked()
    with pytest.raises(ParameterError, match="nothing can be measured by 'town': the original is needed"):
        measure_by(unknown, ["general-loss"], "town")
