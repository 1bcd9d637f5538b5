"""Border gain: against counting by hand, against brute force, and nothing where nothing is told."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import (
    Anatomy,
    Attribute,
    BorderGain,
    FullDomain,
    KAnonymity,
    Mondrian,
    Schema,
    SuppressQuasiIdentifiers,
    Table,
    datasets,
    measure,
    sanitize,
)
from sfumato.cells import ValueSets
from sfumato.measures.aware.border_gain import _Ends, _ends, with_both_ends
from sfumato.measures.reasons import NotApplicable


def one_attribute(ages: list[int]) -> tuple[Table, Schema]:
    return Table.from_arrow({"age": ages}), Schema((Attribute("age", "quasi-identifying"),))


def test_records_at_the_ends_are_counted_and_compared_with_the_table() -> None:
    table, schema = one_attribute([1, 2, 2, 3, 11, 11, 11, 12, 13])
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(4))), ["border-gain"])
    # [1, 4) has 2 of 4 at an end and [11, 14) 4 of 5, as has the whole table among these values
    assert taken.detail["at-an-end"] == pytest.approx(6 / 9)
    assert taken.baseline == pytest.approx(6 / 9)
    assert taken.value == 0


def test_guesses_are_counted_by_hand() -> None:
    table, schema = one_attribute([1, 2, 2, 3, 11, 11, 11, 12, 13])
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(4))), ["border-gain"])
    # by the shares alone 2 and 11 are guessed; who knows that 1 and 3 occur guesses one of these
    assert taken.detail["right-guesses-unaware"] == pytest.approx(5 / 9)
    assert taken.detail["right-guesses"] == pytest.approx(4 / 9)
    # of the rows 1, 2, 3, 11, 12, 13 every other one teaches that the first place is the commonest
    assert taken.detail["right-guesses-by-place"] == pytest.approx(4 / 9)
    assert taken.detail["right-guesses-evenly"] == pytest.approx(1 / 3)
    assert (taken.detail["share-wide"], taken.detail["mean"], taken.detail["gain"]) == (1, 0, {"age": 0})


def test_the_mean_weighs_attributes_by_the_records_in_wide_intervals() -> None:
    # of the ages every interval is wide, of the sizes none
    table = Table.from_arrow({"age": [1, 2, 3, 2, 3, 4], "sex": ["f"] * 3 + ["m"] * 3, "size": [7, 7, 8] * 2})
    schema = Schema(
        (
            Attribute("age", "quasi-identifying"),
            Attribute("sex", "quasi-identifying", weight=9),
            Attribute("size", "quasi-identifying"),
        )
    )
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(3))), ["border-gain"])
    assert taken.detail["attribute"] == "age"
    assert list(taken.detail["gain"]) == ["age"]
    assert taken.detail["mean"] == pytest.approx(4 / 6 - 3 / 5)


def test_where_intervals_overlap_the_ends_are_likelier_than_in_the_table() -> None:
    table = Table.from_arrow({"age": [1, 2, 3, 2, 3, 4], "sex": ["f"] * 3 + ["m"] * 3})
    sex = Attribute("sex", "quasi-identifying", weight=9)
    schema = Schema((Attribute("age", "quasi-identifying"), sex))
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(3))), ["border-gain"])
    # among 1, 2, 3 the table has 3 of 5 at an end, and so among 2, 3, 4
    assert taken.value == pytest.approx(4 / 6 - 3 / 5)


def test_what_is_told_of_an_attribute_is_a_sum_over_records() -> None:
    # one record of a class of six has the first value of {0, 1, 2}, two the last and three the one between;
    # four have the one between of {4, 5, 6}
    values, released = np.array([0, 2, 1, 5]), np.array([0, 0, 0, 1])
    shares = np.array([[0.2, 0.1], [0.3, 0.2], [0.5, 0.7]])
    places = (np.array([0, 4]), np.array([2, 6]), np.array([1, 5]))
    ends = _Ends(values, released, np.array([1, 2, 3, 4]), np.array([2, 2, 2, 2]), *places, shares)
    assert ends.at_an_end == pytest.approx(3 / 10)
    assert ends.expected == pytest.approx((6 * 0.5 + 4 * 0.3) / 10)
    assert ends.gain == -0.12
    # by the shares alone what lies between is guessed; of two records that are both ends none lies there
    assert ends.right_guesses() == pytest.approx((1 / 10, 7 / 10))
    # each half of the rows has the second place most often
    assert ends.by_place() == pytest.approx((7 / 10, 1 / 3))


def test_the_commonest_value_between_the_ends_is_found() -> None:
    members = np.array([3, 0, 1, 2, 5, 4, 6])
    sets = ValueSets(np.array([0, 4, 6, 7]), members, np.array([4, 2, 1]), 7)
    first, last, between = _ends(sets, np.array([9, 1, 2, 9, 1, 3, 5]))
    # of two values the commoner, of one itself
    assert [each.tolist() for each in (first, last, between)] == [[0, 4, 6], [3, 5, 6], [2, 5, 6]]


def test_what_is_not_known_cannot_be_compared() -> None:
    table, schema = one_attribute([1, 2, 2, 3, 11, 11, 11, 12, 13])
    release = sanitize(table, schema, Mondrian(KAnonymity(4)))
    unknown = replace(release.cells["age"], sets=None)
    for lacking in ({"original": None}, {"rows": None}, {"cells": {"age": unknown}}):
        with pytest.raises(NotApplicable, match="is known to stand for sets"):
            BorderGain().measure(replace(release, **lacking))


def test_where_no_interval_is_wide_nothing_is_told() -> None:
    table, schema = one_attribute([1, 2, 11, 12])
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(2))), ["border-gain"])
    assert (taken.value, taken.baseline, taken.detail["share-wide"], taken.detail["mean"]) == (0, 0, 0, 0)
    assert taken.detail["right-guesses-by-place"] == taken.detail["right-guesses-evenly"] == 0


def test_the_worst_attribute_is_named_beside_the_mean_of_all() -> None:
    # the ages overlap between the sexes, the sizes do not
    people = {"age": [1, 2, 3, 2, 3, 4], "sex": ["f"] * 3 + ["m"] * 3, "size": [1, 2, 3, 11, 12, 13]}
    attributes = [Attribute(name, "quasi-identifying", weight=w) for name, w in (("age", 1), ("sex", 9))]
    schema = Schema((*attributes, Attribute("size", "quasi-identifying")))
    (taken,) = measure(sanitize(Table.from_arrow(people), schema, Mondrian(KAnonymity(3))), ["border-gain"])
    assert taken.detail["gain"] == pytest.approx({"age": 4 / 6 - 3 / 5, "size": 0})
    assert taken.detail["attribute"] == "age"
    assert taken.value == pytest.approx(4 / 6 - 3 / 5)
    assert taken.detail["mean"] == pytest.approx((4 / 6 - 3 / 5) / 2)


def test_suppressing_tells_nothing_and_exact_values_have_no_ends() -> None:
    table, schema = datasets.adult("train")
    for how in (SuppressQuasiIdentifiers(), Anatomy(3)):
        (taken,) = measure(sanitize(table, schema, how), ["border-gain"])
        assert taken.value == 0


def test_levels_of_a_hierarchy_tell_little_by_their_ends() -> None:
    table, schema = datasets.adult("train")
    levels = {"age": 2, "education": 2, "workclass": 1, "marital-status": 1}
    how = FullDomain(levels, KAnonymity(1))
    assert measure(sanitize(table, schema, how), ["border-gain"])[0].value == 0


def test_tight_borders_are_seen_on_adult() -> None:
    table, schema = datasets.adult()
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(5))), ["border-gain"])
    assert taken.detail["attribute"] == "age"
    assert taken.detail["at-an-end"] == pytest.approx(0.517, abs=0.002)
    assert taken.value == pytest.approx(0.113, abs=0.002)
    assert taken.detail["right-guesses"] > taken.detail["right-guesses-unaware"]
    assert taken.detail["right-guesses-by-place"] > taken.detail["right-guesses-evenly"]


@given(st.lists(st.integers(1, 5), min_size=3, max_size=4), st.integers(2, 4))
def test_the_chances_given_both_ends_are_those_of_all_worlds(counts: list[int], n_records: int) -> None:
    shares = [Fraction(count, sum(counts)) for count in counts]
    chances = [Fraction(0)] * len(counts)
    for world in itertools.product(range(len(counts)), repeat=n_records):
        if {0, len(counts) - 1} <= set(world):
            chance = Fraction(1)
            for value in world:
                chance *= shares[value]
            chances[world[0]] += chance
    first, last, between = (np.array([float(shares[place])]) for place in (0, -1, 1))
    found = with_both_ends(first, last, between, np.array([n_records])).ravel()
    assert found == pytest.approx([float(chances[place]) for place in (0, -1, 1)], abs=1e-12)
