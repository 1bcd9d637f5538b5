"""Tests of top-coding: what becomes of large numbers, what it costs, and the usual bound."""

from __future__ import annotations

import pytest

from sfumato import Attribute, Hierarchy, Schema, Table, measure, sanitize
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import TopCoding

SCHEMA = Schema.of(age="quasi-identifying", town="quasi-identifying", ill="sensitive")


def aged(*ages: int | None) -> Table:
    return Table.from_arrow({"age": list(ages), "town": ["A"] * len(ages), "ill": ["x"] * len(ages)})


def test_ages_from_the_bound_on_are_one_and_others_as_they_are() -> None:
    release = sanitize(aged(30, 89, 90, 95, 101, None), SCHEMA, TopCoding({"age": 90}))
    assert release.type == "people"
    written = [record["age"] for record in release.to_arrow().to_pylist()]
    assert sorted(written, key=str) == ["30", "89", ">=90", ">=90", ">=90", None]


def test_the_bound_is_told_and_not_the_smallest_number_above_it() -> None:
    release = sanitize(aged(30, 97, 98), SCHEMA, TopCoding({"age": 90}))
    assert {record["age"] for record in release.to_arrow().to_pylist()} == {"30", ">=90"}


def test_numbers_below_the_bound_cost_nothing_and_those_above_as_many_leaves_as_there_are() -> None:
    ages = Hierarchy.flat([str(age) for age in range(101)])
    schema = Schema((Attribute("age", "quasi-identifying", "numeric", ages), *SCHEMA.attributes[1:]))
    release = sanitize(aged(30, 40, 95, 99), schema, TopCoding({"age": 91}))
    lost = release.information_lost("age")
    assert lost == pytest.approx(2 * (10 - 1) / (101 - 1) / 4)


def test_a_bound_that_nobody_reaches_changes_nothing() -> None:
    release = sanitize(aged(30, 40), SCHEMA, TopCoding({"age": 90}))
    assert measure(release, ["general-loss"])[0].value == 0


def test_the_usual_bound_is_reached_by_half_a_percent_at_most() -> None:
    release = sanitize(aged(*(list(range(20, 70)) * 20), 91, 93, 95), SCHEMA, TopCoding())
    written = [record["age"] for record in release.to_arrow().to_pylist()]
    assert written.count(">=91") == 3


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ParameterError, match="no numeric attribute 'town'"):
        sanitize(aged(30), SCHEMA, TopCoding({"town": 3}))
