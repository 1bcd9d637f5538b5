"""The group that does worst, by hand on small tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato import Schema, Table, measure, sanitize
from sfumato.measures import (
    GeneralLoss,
    GoodUtility,
    JournalistRisk,
    LevelReached,
    Measurement,
    Precision,
    PrivacyLoss,
    Scenario,
    WorstGroupLoss,
    WorstGroupRisk,
)
from sfumato.measures.grouped import (
    worst_for_each,
)
from sfumato.models import KAnonymity
from sfumato.results.linked_release import LinkedRelease, synthetic_release
from sfumato.results.measurement import (
    compares,
    measure_group,
)
from sfumato.results.people_groups import groups_of
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs, Mondrian
from sfumato.sanitizers.perturb.changed_records import with_codes

PEOPLE: dict[str, list[Any]] = {
    "age": [20, 21, 22, 23, 24, 60, 70],
    "town": list("AAAAABB"),
    "ill": list("xyxyxxx"),
}
SCHEMA = Schema.of(age="quasi-identifying", town="quasi-identifying", ill="sensitive")


def release(how: object) -> LinkedRelease:
    return sanitize(Table.from_arrow(PEOPLE), SCHEMA, how)  # type: ignore[arg-type]


def test_the_loss_of_a_group_is_that_of_its_own_records() -> None:
    made = release(Mondrian(KAnonymity(2)))
    (found,) = measure(
        made, [{"worst-group-loss": {"attribute": "town", "of": "general-loss", "smallest": 1}}]
    )
    cells = [made.cells[name] for name in SCHEMA.quasi_identifiers]
    lost = np.mean([cell.sets.losses[cell.codes] for cell in cells if cell.sets is not None], axis=0)
    towns = np.array([PEOPLE["town"][row] for row in made.origin.rows])
    by_town = {town: float(lost[towns == town].mean()) for town in "AB"}
    assert found.detail["group"] == max(by_town, key=lambda town: by_town[town])
    assert (found.value, found.detail["best"]) == pytest.approx(
        (max(by_town.values()), min(by_town.values()))
    )


def test_risk_is_that_of_whole_classes() -> None:
    made = release(Mondrian(KAnonymity(2)))
    (risk,) = measure(
        made, [{"worst-group-risk": {"attribute": "town", "of": "reidentification-risk", "smallest": 1}}]
    )
    by_town = [
        max(
            1 / made.classes.sizes[made.classes.class_of[row]]
            for row in range(made.n_rows)
            if town == PEOPLE["town"][made.origin.rows[row]]
        )
        for town in "AB"
    ]
    assert (risk.value, risk.detail["best"]) == (max(by_town), min(by_town))


def test_small_groups_are_left_out() -> None:
    (found,) = measure(
        release(Mondrian(KAnonymity(2))),
        [{"worst-group-loss": {"attribute": "town", "of": "general-loss", "smallest": 3}}],
    )
    assert (found.detail["group"], list(found.detail["groups"])) == ("A", ["A"])
    (none,) = measure(release(AsIs()), ["worst-group-loss"])
    assert none.value is None
    assert none.detail["reason"] == "no value of 'age' has 100 records; take a smaller number with smallest"


def test_a_measure_that_applies_to_no_group_says_why() -> None:
    made = release(Mondrian(KAnonymity(2)))
    (alone,) = measure(made, ["household-risk"])
    (found,) = measure(
        made, [{"worst-group-risk": {"attribute": "town", "of": "household-risk", "smallest": 1}}]
    )
    assert found.value is None
    assert found.detail["reason"] == (
        f"household-risk says nothing of any group of 'town': {alone.detail['reason']}"
    )


def test_synthetic_records_are_grouped_by_what_they_say() -> None:
    table, schema = SCHEMA.bind(Table.from_arrow(PEOPLE))
    cells = {name: with_codes(table[name], np.tile(table[name].codes, 2)) for name in schema.released}
    (found,) = measure(
        synthetic_release(table, schema, cells), [{"worst-group-loss": {"attribute": "town", "smallest": 1}}]
    )
    assert found.value == 0.0


def test_the_worst_group_has_the_least_where_higher_is_better() -> None:
    made = release(Mondrian(KAnonymity(2)))
    (found,) = measure(
        made, [{"worst-group-risk": {"attribute": "town", "of": "k-anonymity", "smallest": 1}}]
    )
    assert found.better == "higher"
    assert found.value == min(found.detail["groups"].values()) == made.classes.sizes.min()
    assert found.detail["best"] == max(found.detail["groups"].values())


@pytest.mark.parametrize("of", ["k-anonymity", "privacy-loss", "worst-group-loss"])
def test_only_losses_have_a_group_that_loses_most(of: str) -> None:
    with pytest.raises(ParameterError, match="no measure of utility"):
        measure(release(AsIs()), [{"worst-group-loss": {"of": of}}])


def test_an_unknown_attribute_is_named() -> None:
    with pytest.raises(ParameterError, match=r"'twon'.*did you mean 'town'"):
        measure(release(AsIs()), [{"worst-group-risk": {"attribute": "twon"}}])


def test_the_first_quasi_identifier_makes_the_groups_where_none_is_named() -> None:
    (found,) = measure(release(AsIs()), [{"worst-group-loss": {"of": "general-loss", "smallest": 1}}])
    assert list(found.detail["groups"]) == [str(age) for age in PEOPLE["age"]]
    nobody = sanitize(Table.from_arrow({"ill": list("xy")}), Schema.of(ill="sensitive"), AsIs())
    (none,) = measure(nobody, ["worst-group-loss"])
    assert none.detail["reason"].startswith("the release has no quasi-identifier; name the attribute")


def test_where_the_measure_applies_to_no_group_the_reason_says_so() -> None:
    made = sanitize(Table.from_arrow({"age": [1, 2]}), Schema.of(age="quasi-identifying"), AsIs())
    (none,) = measure(made, [{"worst-group-risk": {"smallest": 1}}])
    assert none.detail["reason"] == (
        "privacy-loss says nothing of any group of 'age': the release has no sensitive attribute"
    )


def test_groups_have_at_least_one_record() -> None:
    with pytest.raises(ParameterError, match="smallest must be at least 1, not 0"):
        WorstGroupLoss("town", smallest=0)


def test_of_one_group_alone_a_comparison_says_nothing() -> None:
    made = release(AsIs())
    (group,) = groups_of(made, "town", 5)
    (taken,) = measure_group(made, group, [WorstGroupLoss("town", "general-loss", 1)])
    assert taken.detail["reason"] == "it compares groups, and says nothing of one alone"


def test_each_measure_has_its_worst_group_by_its_side_and_label() -> None:
    asked = [
        GeneralLoss(),
        Precision(),
        PrivacyLoss(distance="hellinger"),
        LevelReached(KAnonymity()),
        JournalistRisk("folder/people.csv"),
        GoodUtility(Scenario(folds=3)),
        WorstGroupLoss("town", "general-loss"),
    ]
    found = list(worst_for_each(asked, "town"))
    # a label does not show where a file lies, nor what a scenario is; and groups are not compared twice
    assert [(type(each), each.of, each.attribute) for each in found] == [
        (WorstGroupLoss, "general-loss", "town"),
        (WorstGroupLoss, "precision", "town"),
        (WorstGroupRisk, "privacy-loss distance=hellinger", "town"),
        (WorstGroupRisk, "k-anonymity", "town"),
    ]
    assert [each.direction for each in found] == ["lower", "higher", "lower", "higher"]
    assert [each.smallest for each in found] == [100] * 4


def test_what_a_measurement_compares_is_told_by_its_parameters() -> None:
    made = release(AsIs())
    asked: list[Any] = [
        WorstGroupRisk("town", "k-anonymity", 1),
        WorstGroupLoss(),
        GeneralLoss(),
        "k-anonymity",
    ]
    assert [compares(found) for found in measure(made, asked)] == [
        ("town", "k-anonymity"),
        ("", "utility-loss"),
        None,
        None,
    ]
    assert compares(Measurement("worst-group-risk", 0.1, "privacy", "lower")) == ("", "privacy-loss")
