"""Border gain: against counting by hand, against brute force, and nothing where nothing is told."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Schema, Table, measure, sanitize
from sfumato.data.kinds import NUMERIC
from sfumato.data.table import Column
from sfumato.measures import BorderGain
from sfumato.measures.informed.border_gain import _Ends, _ends, with_both_ends
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.registry import methods
from sfumato.registry.method_extras import missing_extra
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.origin import Origin
from sfumato.results.released_column import Cells, ValueSets
from sfumato.runtime.errors import Infeasible, UserError
from sfumato.sanitizers import Anatomy, AsIs, FullDomain, Mondrian, SuppressQuasiIdentifiers


def one_attribute(ages: list[int]) -> tuple[Table, Schema]:
    return Table.from_arrow({"age": ages}), Schema((Attribute("age", "quasi-identifying"),))


def test_records_at_the_ends_are_counted_and_compared_with_the_table() -> None:
    table, schema = one_attribute([1, 2, 2, 3, 11, 11, 11, 12, 13])
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(4), borders="tight")), ["border-gain"])
    # [1, 4) has 2 of 4 at an end and [11, 14) 4 of 5, as has the whole table among these values
    assert taken.detail["at-an-end"] == pytest.approx(6 / 9)
    assert taken.baseline == pytest.approx(6 / 9)
    assert taken.value == 0


def test_guesses_are_counted_by_hand() -> None:
    table, schema = one_attribute([1, 2, 2, 3, 11, 11, 11, 12, 13])
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(4), borders="tight")), ["border-gain"])
    # by the shares alone 2 and 11 are guessed; who knows that 1 and 3 occur guesses one of these
    assert taken.detail["right-guesses-uninformed"] == pytest.approx(5 / 9)
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
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(3), borders="tight")), ["border-gain"])
    assert taken.detail["attribute"] == "age"
    assert list(taken.detail["gain"]) == ["age"]
    assert taken.detail["mean"] == pytest.approx(4 / 6 - 3 / 5)


def test_where_intervals_overlap_the_ends_are_likelier_than_in_the_table() -> None:
    table = Table.from_arrow({"age": [1, 2, 3, 2, 3, 4], "sex": ["f"] * 3 + ["m"] * 3})
    sex = Attribute("sex", "quasi-identifying", weight=9)
    schema = Schema((Attribute("age", "quasi-identifying"), sex))
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(3), borders="tight")), ["border-gain"])
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


def test_one_record_is_all_that_there_is() -> None:
    places = (np.array([0]), np.array([2]), np.array([1]))
    shares = np.array([[0.2], [0.3], [0.5]])
    ends = _Ends(np.array([0]), np.array([0]), np.array([1]), np.array([1]), *places, shares)
    assert (ends.at_an_end, ends.expected, ends.gain) == (1, 0.5, 0.5)
    table, schema = one_attribute([1, 2, 2, 3])
    release = sanitize(table, schema, Mondrian(KAnonymity(4), borders="tight"))
    first = replace(
        release,
        origin=Origin(release.origin.table, release.origin.rows[:1]),
        weights=release.weights[:1],
        cells={"age": release.cells["age"].take(np.array([0]))},
    )
    (taken,) = BorderGain().measure(first)
    # of the whole table half are at an end
    assert (taken.value, taken.detail["mean"], taken.detail["share-wide"]) == (0.5, 0.5, 1)


def test_a_gain_has_twelve_digits() -> None:
    ones, places = np.ones(3, dtype=np.int64), (np.array([0]), np.array([2]), np.array([1]))
    ends = _Ends(np.array([0, 1, 1]), np.zeros(3, dtype=np.int64), ones, ones, *places, np.zeros((3, 1)))
    assert ends.gain == 0.333333333333


def test_places_are_learned_from_the_other_half_by_hand() -> None:
    """Two widths: of intervals of three values the first place, of four the last, but in one half alone."""
    values, released = np.array([0, 0, 1, 0, 6, 6, 6, 5]), np.array([0, 0, 0, 0, 1, 1, 1, 1])
    weights = np.array([2, 1, 4, 5, 1, 3, 2, 9])
    places = (np.array([0, 3]), np.array([2, 6]), np.array([1, 4]))
    ends = _Ends(values, released, weights, weights, *places, np.zeros((3, 2)))
    # rows 0 and 2 teach that the second place is commoner (4 of 6), rows 1 and 3 the first (6 of 6); rows 4
    # and 6 the last (3 of 3), rows 5 and 7 the third (9 of 12)
    right = {0: 2, 2: 0, 1: 0, 3: 0, 4: 0, 6: 0, 5: 3, 7: 0}
    assert ends.by_place() == pytest.approx((sum(right.values()) / 27, (12 / 3 + 15 / 4) / 27))


def test_the_commonest_value_between_the_ends_is_found() -> None:
    members = np.array([3, 0, 1, 2, 5, 4, 6])
    sets = ValueSets(np.array([0, 4, 6, 7]), members, np.array([4, 2, 1]), 7)
    first, last, between = _ends(sets, np.array([9, 1, 2, 9, 1, 3, 5]))
    # of two values the commoner, of one itself
    assert [each.tolist() for each in (first, last, between)] == [[0, 4, 6], [3, 5, 6], [2, 5, 6]]
    # of three the one in the middle, however rare
    three = ValueSets(np.array([0, 3]), np.arange(3), np.array([3]), 3)
    assert [each.tolist() for each in _ends(three, np.array([9, 1, 9]))] == [[0], [2], [1]]


def test_values_that_nobody_has_are_no_share_of_anything() -> None:
    # of 1, 2 and 3 only 1 occurs, once; and a second label stands for 9, which nobody has
    original = Table({"age": Column(np.array([0]), (1, 2, 3, 9), NUMERIC)}, np.array([1]))
    sets = ValueSets(np.array([0, 3, 4]), np.arange(4), np.array([3, 1]), 4)
    cells = Cells(np.array([0]), ("[1, 4)", "9"), (1, 2, 3, 9), sets)
    table, schema = one_attribute([1])
    release = replace(
        sanitize(table, schema, AsIs()), origin=Origin(original, np.array([0])), cells={"age": cells}
    )
    with np.errstate(all="raise"):
        (taken,) = BorderGain().measure(release)
    assert (taken.detail["at-an-end"], taken.baseline, taken.value) == (1, 1, 0)


def test_guesses_are_the_likeliest_of_all_worlds_with_both_ends() -> None:
    """Four values in proportion to small counts: the first, the last, one between, and another one."""
    rng = np.random.default_rng(2)
    counts, sizes = rng.integers(1, 9, (60, 4)), rng.integers(3, 5, 60)
    believed = np.zeros((60, 4))
    for row, (of_row, size) in enumerate(zip(counts.tolist(), sizes.tolist(), strict=True)):
        for world in itertools.product(range(4), repeat=size):
            if {0, 1} <= set(world):
                believed[row, world[0]] += math.prod(of_row[value] for value in world)
    values = rng.integers(0, 3, 60)
    places = (np.full(60, 0), np.full(60, 1), np.full(60, 2))
    shares = (counts / counts.sum(axis=1, keepdims=True))[:, :3].T
    ends = _Ends(values, np.arange(60), np.ones(60, dtype=np.int64), sizes, *places, shares)
    informed, uninformed = (each[:, :3].argmax(axis=1) == values for each in (believed, counts))
    assert ends.right_guesses() == pytest.approx((informed.mean(), uninformed.mean()))


def test_what_is_not_known_cannot_be_compared() -> None:
    table, schema = one_attribute([1, 2, 2, 3, 11, 11, 11, 12, 13])
    release = sanitize(table, schema, Mondrian(KAnonymity(4), borders="tight"))
    unknown = replace(release.cells["age"], sets=None)
    for lacking in (release.unlinked(), with_unknown_rows(release), replace(release, cells={"age": unknown})):
        with pytest.raises(NotApplicable, match="is known to stand for sets"):
            BorderGain().measure(lacking)


def test_where_no_interval_is_wide_nothing_is_told() -> None:
    table, schema = one_attribute([1, 2, 11, 12])
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(2), borders="tight")), ["border-gain"])
    assert (taken.value, taken.baseline, taken.detail["share-wide"], taken.detail["mean"]) == (0, 0, 0, 0)
    assert taken.detail["right-guesses-by-place"] == taken.detail["right-guesses-evenly"] == 0


def test_the_worst_attribute_is_named_beside_the_mean_of_all() -> None:
    # the ages overlap between the sexes, the sizes do not
    people = {"age": [1, 2, 3, 2, 3, 4], "sex": ["f"] * 3 + ["m"] * 3, "size": [1, 2, 3, 11, 12, 13]}
    attributes = [Attribute(name, "quasi-identifying", weight=w) for name, w in (("age", 1), ("sex", 9))]
    schema = Schema((*attributes, Attribute("size", "quasi-identifying")))
    (taken,) = measure(
        sanitize(Table.from_arrow(people), schema, Mondrian(KAnonymity(3), borders="tight")), ["border-gain"]
    )
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
    (taken,) = measure(sanitize(table, schema, Mondrian(KAnonymity(5), borders="tight")), ["border-gain"])
    assert taken.detail["attribute"] == "age"
    assert taken.detail["at-an-end"] == pytest.approx(0.517, abs=0.002)
    assert taken.value == pytest.approx(0.113, abs=0.002)
    assert taken.detail["right-guesses"] > taken.detail["right-guesses-uninformed"]
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


TOLD_APART = Schema(
    (Attribute("age", "quasi-identifying", "numeric"), Attribute("town", "quasi-identifying"))
)


@pytest.mark.parametrize("name", methods.registered("sanitizer"))
def test_whoever_releases_tight_intervals_offers_a_grid_and_nobody_else_does(name: str) -> None:
    how = methods.registered("sanitizer")[name]
    if getattr(how, "release_type", "people") != "people" or missing_extra(how):
        return
    rng = np.random.default_rng(0)
    ages, towns = rng.integers(20, 60, 300), rng.integers(0, 8, 300)
    table = Table.from_arrow({"age": ages.tolist(), "town": [f"town {i}" for i in towns]})
    given: dict[str, Any] = {"model": KAnonymity(3)} if "model" in how.__dataclass_fields__ else {}
    borders = {"borders": "tight"} if "borders" in how.__dataclass_fields__ else {}
    try:
        release = sanitize(table, TOLD_APART, how(**given | borders), seed=1)
    except (
        Infeasible,
        UserError,
    ):  # it needs a sensitive attribute, or levels: what it releases are values or nodes then
        assert not borders
        return
    told = measure(release, ["border-gain"])[0].value or 0.0
    if not borders:
        assert told < 0.05
        return
    (rounded,) = measure(sanitize(table, TOLD_APART, how(**given), seed=1), ["border-gain"])
    # sets of towns have a block of one or two for every range, on a grid too
    assert told > 0.1 > rounded.detail["gain"]["age"]
