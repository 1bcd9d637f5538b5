"""Survey weights and households: read when a schema is bound, kept with the rows, and not released."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Attribute, Schema, Table, sanitize
from sfumato.models import KAnonymity
from sfumato.runtime.errors import SchemaError
from sfumato.sanitizers import AsIs, Mondrian

AGES = [31, 42, 31, 42, 57]
WEIGHTS = [120.5, 80, 9.5, 80, 200]
HOMES = ["a", "a", "b", None, None]


def schema(**facts: Any) -> Schema:
    return Schema((Attribute("age", "quasi-identifying"),), **facts)


def table(**columns: Any) -> Table:
    return Table.from_arrow({"age": AGES, **columns})


def test_equal_rows_stand_for_the_sum_of_their_weights() -> None:
    bound, _ = schema(survey_weight="w").bind(table(w=WEIGHTS))
    assert bound.names == ("age",)
    assert bound.survey_weights is not None
    ages = [bound["age"].domain[code] for code in bound["age"].codes]
    assert dict(zip(ages, bound.survey_weights, strict=True)) == {31: 130.0, 42: 160.0, 57: 200.0}


def test_weights_may_be_text_with_the_marks_of_the_file() -> None:
    marks = schema(survey_weight="w", decimal=",", thousands=".")
    bound, _ = marks.bind(table(w=["1.200,5", "80", "9,5", "80", "200"]))
    assert bound.survey_weights is not None
    assert bound.survey_weights.sum() == 1570.0


def test_every_member_stays_in_its_household_and_who_has_none_lives_alone() -> None:
    bound, _ = schema(household="home").bind(table(home=HOMES))
    assert bound.households is not None
    ages = np.array(bound["age"].domain)[bound["age"].codes[bound.households.row_of]]
    homes: dict[int, list[int]] = {}
    for age, home in zip(ages.tolist(), bound.households.household_of.tolist(), strict=True):
        homes.setdefault(home, []).append(age)
    assert sorted(map(sorted, homes.values())) == [[31], [31, 42], [42], [57]]


def test_binding_again_changes_nothing() -> None:
    once = schema(survey_weight="w", household="home").bind(table(w=WEIGHTS, home=HOMES))
    twice = once[1].bind(once[0])
    assert (once[0].fingerprint, once[1].fingerprint) == (twice[0].fingerprint, twice[1].fingerprint)


def test_other_weights_or_households_make_another_table_to_measures() -> None:
    known = schema(survey_weight="w", household="home")
    prints = {
        known.bind(table(w=weights, home=homes))[0].fingerprint
        for weights in (WEIGHTS, [80.0, 80, 9.5, 80, 200])
        for homes in (HOMES, ["a", "b", "a", None, None])
    }
    assert len(prints) == 4
    assert schema().bind(table())[0].fingerprint not in prints


@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ([1.0, 2, 3, None, 5], "1 of 5 records have none above 0"),
        ([1.0, 0, 3, 0, 5], "2 of 5 records have none above 0"),
        ([1.0, -2, 3, 1, 5], "1 of 5 records have none above 0"),
        (["1", "2", "3", "many", "?"], "2 of 5 records have none above 0"),
        ([0.5, 0.5, 0.5, 0.5, 1.0], "add up to 3 people, fewer than the 5 records; multiply them"),
    ],
)
def test_a_weight_that_is_none_is_refused_without_showing_it(weights: list[Any], reason: str) -> None:
    with pytest.raises(SchemaError, match=f"^weight 'w': .*{reason}") as refused:
        schema(survey_weight="w").bind(table(w=weights))
    assert "many" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_weights_that_add_up_to_the_records_are_taken() -> None:
    assert schema(survey_weight="w").bind(table(w=[0.5, 1.5, 1, 0.7, 1.3]))[0].n_records == 5


@pytest.mark.parametrize(("what", "key"), [("weight", "survey_weight"), ("household", "household")])
def test_a_column_that_is_not_there_is_named_with_the_nearest(what: str, key: str) -> None:
    with pytest.raises(SchemaError, match=f"{what}: no column 'agee' in the data; did you mean 'age'"):
        schema(**{key: "agee"}).bind(table())


def test_one_column_cannot_be_both() -> None:
    with pytest.raises(SchemaError, match="'w' cannot be both the weight and the household"):
        schema(survey_weight="w", household="w")


def test_the_columns_are_released_only_with_a_role() -> None:
    silent = schema(survey_weight="w", household="home")
    told = replace(silent, attributes=(*silent.attributes, Attribute("w", "insensitive")))
    records = table(w=WEIGHTS, home=HOMES)
    assert sanitize(records, silent, AsIs()).to_arrow().column_names == ["age"]
    assert sanitize(records, told, AsIs()).to_arrow().column_names == ["age", "w"]
    with pytest.raises(SchemaError, match="column 'home' of the data has no role"):
        schema(survey_weight="w").bind(records)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 50)), min_size=3, max_size=20), st.data())
def test_a_release_stands_for_as_many_people_as_its_records(
    people: list[tuple[int, int]], data: st.DataObject
) -> None:
    records = Table.from_arrow({"age": [age for age, _ in people], "w": [float(w) for _, w in people]})
    release = sanitize(records, schema(survey_weight="w"), Mondrian(KAnonymity(2), variant="relaxed"))
    assert release.survey_weights is not None
    assert release.survey_weights.sum() == pytest.approx(sum(weight for _, weight in people))
    rows = data.draw(st.lists(st.integers(0, release.origin.table.n_rows - 1), min_size=1, unique=True))
    part = release.origin.table.take(np.array(rows))
    assert part.survey_weights is not None
    assert part.survey_weights.tolist() == [release.origin.table.survey_weights[row] for row in rows]


def test_some_of_the_records_of_a_row_stand_for_their_share_and_some_of_the_members_stay() -> None:
    bound, _ = schema(survey_weight="w", household="home").bind(table(w=WEIGHTS, home=HOMES))
    part = bound.part(np.array([1, 0]), np.array([1, 2]))
    assert part.n_records == 3
    assert part.survey_weights is not None
    assert part.survey_weights.tolist() == [80.0, 130.0]
    assert part.households is not None
    assert part.households.row_of.tolist() == [1, 0, 1]
    assert len(set(part.households.household_of.tolist())) == 2
