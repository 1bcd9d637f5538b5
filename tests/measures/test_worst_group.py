"""The group that does worst, by hand on small tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato import AsIs, KAnonymity, Mondrian, Release, Schema, Table, measure, sanitize
from sfumato.errors import ParameterError
from sfumato.release import made_up
from sfumato.sanitizers.changed_records import with_codes

PEOPLE: dict[str, list[Any]] = {
    "age": [20, 21, 22, 23, 24, 60, 70],
    "town": list("AAAAABB"),
    "ill": list("xyxyxxx"),
}
SCHEMA = Schema.of(age="quasi-identifying", town="quasi-identifying", ill="sensitive")


def release(how: object) -> Release:
    return sanitize(Table.from_arrow(PEOPLE), SCHEMA, how)  # type: ignore[arg-type]


def test_the_loss_of_a_group_is_that_of_its_own_records() -> None:
    made = release(Mondrian(KAnonymity(2)))
    (found,) = measure(
        made, [{"worst-group-loss": {"attribute": "town", "of": "general-loss", "smallest": 1}}]
    )
    cells = [made.cells[name] for name in SCHEMA.quasi_identifiers]
    lost = np.mean([cell.sets.losses[cell.codes] for cell in cells if cell.sets is not None], axis=0)
    assert made.rows is not None
    towns = np.array([PEOPLE["town"][row] for row in made.rows])
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
    assert made.rows is not None
    by_town = [
        max(
            1 / made.classes.sizes[made.classes.class_of[row]]
            for row in range(made.n_rows)
            if town == PEOPLE["town"][made.rows[row]]
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
        made_up(table, schema, cells), [{"worst-group-loss": {"attribute": "town", "smallest": 1}}]
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
