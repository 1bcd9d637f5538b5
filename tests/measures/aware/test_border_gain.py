"""Border gain: against counting by hand, against brute force, and nothing where nothing is told."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import (
    Anatomy,
    Attribute,
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
from sfumato.measures.aware.border_gain import with_both_ends


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
