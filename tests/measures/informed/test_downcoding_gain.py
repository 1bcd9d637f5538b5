"""Downcoding with a known distribution: against every draw there can be, and releases on which it works."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Hierarchy, Schema, Table, measure, sanitize
from sfumato.measures import DowncodingGain
from sfumato.measures.informed import downcoding_gain
from sfumato.measures.informed.downcoding_gain import (
    _Recovered,
    _ReleasedClasses,
    _spans,
    chances_of_counts,
    likeliest,
    shares_in_cells,
)
from sfumato.models import KAnonymity
from sfumato.results.inapplicable import NotApplicable
from sfumato.sanitizers import Clustering, FullDomain, Mondrian, SuppressQuasiIdentifiers

Range = tuple[int, int]


@st.composite
def cells(draw: st.DrawFn) -> tuple[np.ndarray, int, list[Range]]:
    """Draw how common the values of a cell are, a number of records, and the ranges that one of came out."""
    n_values = draw(st.integers(2, 4))
    shares = np.array([draw(st.integers(1, 9)) for _ in range(n_values)], dtype=np.float64)
    every = list(itertools.combinations_with_replacement(range(n_values), 2))
    ranges = draw(st.lists(st.sampled_from(every), min_size=1, unique=True))
    return shares / shares.sum(), draw(st.integers(2, 4)), ranges


def worlds(shares: np.ndarray, n_records: int, ranges: list[Range]) -> list[tuple[Counter[int], float]]:
    """Return all draws whose smallest and largest value are one of the ranges, each with its chance."""
    found = [
        (Counter(draw), math.prod(shares[value] for value in draw))
        for draw in itertools.product(range(len(shares)), repeat=n_records)
        if (min(draw), max(draw)) in ranges
    ]
    total = sum(chance for _, chance in found)
    return [(draw, chance / total) for draw, chance in found]


def as_arrays(ranges: list[Range]) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.array(ranges).T
    return low, high


@settings(max_examples=40)
@given(cells())
def test_chances_are_those_of_all_draws(drawn: tuple[np.ndarray, int, list[Range]]) -> None:
    shares, n_records, ranges = drawn
    possible = worlds(shares, n_records, ranges)
    expected = [
        [sum(chance for draw, chance in possible if draw[value] >= j) for j in range(1, n_records + 1)]
        for value in range(len(shares))
    ]
    assert chances_of_counts(shares, n_records, as_arrays(ranges)) == pytest.approx(
        np.array(expected), abs=1e-9
    )


@settings(max_examples=25)
@given(cells())
def test_no_other_guess_recovers_more(drawn: tuple[np.ndarray, int, list[Range]]) -> None:
    shares, n_records, ranges = drawn
    possible = worlds(shares, n_records, ranges)

    def recovered(guess: Counter[int]) -> float:
        return sum(chance * (draw & guess).total() for draw, chance in possible)

    guessed = Counter(dict(enumerate(likeliest(shares, n_records, as_arrays(ranges)).tolist())))
    assert guessed.total() == n_records
    every = itertools.combinations_with_replacement(range(len(shares)), n_records)
    assert recovered(guessed) == pytest.approx(max(recovered(Counter(guess)) for guess in every))


def test_who_knows_nothing_of_the_recipe_takes_records_for_drawn_from_the_cell() -> None:
    shares = np.array([0.7, 0.2, 0.1])
    every = [(low, high) for low in range(3) for high in range(low, 3)]
    assert chances_of_counts(shares, 5, None) == pytest.approx(chances_of_counts(shares, 5, as_arrays(every)))


def test_what_the_distribution_rules_out_is_not_believed() -> None:
    shares, ends = np.array([1.0, 0.0]), (np.array([0]), np.array([1]))
    assert likeliest(shares, 3, ends).tolist() == likeliest(shares, 3, None).tolist() == [3, 0]
    assert chances_of_counts(shares, 3, ends).tolist() == [[1, 1, 1], [0, 0, 0]]


@pytest.mark.parametrize("shares", [[0.5, 0, 0.5], [0.7, 0.1, 0.2]])
def test_of_two_records_at_both_ends_one_is_at_each(shares: list[float]) -> None:
    # nobody may be between them, and the difference of two running sums may be a little off
    found = chances_of_counts(np.array(shares), 2, as_arrays([(0, 2)]))
    assert found == pytest.approx(np.array([[1, 0], [0, 0], [1, 0]]))


def test_how_rare_a_cell_is_makes_no_difference_within_it() -> None:
    # one in a hundred million has either value: two who differ have one each
    found = chances_of_counts(np.array([1e-8, 1e-8]), 2, as_arrays([(0, 1)]))
    assert found == pytest.approx(np.array([[1, 0], [1, 0]]))


def test_chances_are_no_more_than_certain_and_fall() -> None:
    rng = np.random.default_rng(5)
    for _ in range(40):
        shares = rng.random(6)
        found = chances_of_counts(shares / shares.sum(), 5, as_arrays([(0, 5), (1, 5)]))
        assert (found <= 1).all()
        assert (np.diff(found, axis=1) <= 0).all()


def test_of_values_that_are_equally_likely_the_first_are_guessed() -> None:
    assert likeliest(np.full(400, 1 / 400), 3, None).tolist() == [1, 1, 1] + [0] * 397


N_PAIRS = 40


def rare_siblings(common: int = 9) -> tuple[Table, Schema]:
    """Return places each of which has a rare neighbour: who is alone there is released with another."""
    tree = Hierarchy.nested({f"x{n}": [f"x{n}a", f"x{n}b"] for n in range(N_PAIRS)})
    schema = Schema((Attribute("place", "quasi-identifying", hierarchy=tree),))
    places = [f"x{n}{side}" for n in range(N_PAIRS) for side in ["a"] * common + ["b"]]
    return Table.from_arrow({"place": places}), schema


def test_everybody_is_recovered_where_pairs_must_be_of_two_kinds() -> None:
    (taken,) = measure(sanitize(*rare_siblings(), Clustering(KAnonymity(2)), seed=1), ["downcoding-gain"])
    # each pair is one of a kind and one of the other; who only knows what is common guesses the same twice
    assert taken.detail["recovered"] == 1
    assert taken.baseline == pytest.approx(0.5, abs=0.2)
    assert taken.value == taken.detail["recovered"] - taken.baseline


def test_larger_classes_tell_less() -> None:
    gains = [
        measure(sanitize(*rare_siblings(), Clustering(KAnonymity(k)), seed=1), ["downcoding-gain"])[0].value
        for k in (2, 5, 40)
    ]
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] < 0.1


def test_what_is_known_of_others_or_of_the_release_will_do(tmp_path: Path) -> None:
    table, schema = rare_siblings()
    release = sanitize(table, schema, Clustering(KAnonymity(2), borders="tight"), seed=1)
    place = table["place"]
    others = np.repeat(np.array(place.domain)[place.codes], table.weights)
    csv.write_csv(pa.table({"place": others}), tmp_path / "others.csv")
    known = [
        DowncodingGain(),
        DowncodingGain("release"),
        DowncodingGain(control=str(tmp_path / "others.csv")),
    ]
    first, *found = (each.measure(release)[0] for each in known)
    for taken in found:
        assert taken.detail["recovered"] == first.detail["recovered"] == 1
    assert found[1].value == first.value


def test_ends_that_are_certain_are_recovered_by_hand() -> None:
    people = {"age": [1, 2, 2, 3] + [2] * 12, "town": ["A"] * 4 + ["B"] * 12}
    schema = Schema((Attribute("age", "quasi-identifying"), Attribute("town", "quasi-identifying")))
    release = sanitize(Table.from_arrow(people), schema, Mondrian(KAnonymity(4)), seed=1)
    (taken,) = measure(release, ["downcoding-gain"])
    # 14 of 16 are 2 years old; in A somebody is 1 and somebody 3, and 2 is likeliest for the others
    assert (taken.baseline, taken.detail["recovered"]) == (0.5, 1.0)


def test_who_knows_of_the_ends_may_be_wrong_about_the_others() -> None:
    people = {"age": [1, 2, 3, 3] + [2] * 12, "town": ["A"] * 4 + ["B"] * 12}
    schema = Schema((Attribute("age", "quasi-identifying"), Attribute("town", "quasi-identifying")))
    release = sanitize(Table.from_arrow(people), schema, Mondrian(KAnonymity(4)), seed=1)
    (taken,) = measure(release, ["downcoding-gain"])
    # 13 of 16 are 2 years old, so that one guesses four times 2, and the other 1, 2, 2 and 3
    assert (taken.baseline, taken.detail["recovered"]) == (0.25, 0.75)


def test_a_round_interval_does_not_tell_the_ends() -> None:
    shares = np.array([4, 1, 14, 1, 4]) / 24
    tight = likeliest(shares[1:4], 4, as_arrays([(0, 2)]))
    # [0, 5) is released for every range that two steps of 1 do not cover
    grid = likeliest(shares, 4, as_arrays([(0, 2), (0, 3), (0, 4), (1, 3), (1, 4), (2, 4)]))
    assert tight.tolist() == [1, 2, 1]
    assert grid.tolist() == likeliest(shares, 4, None).tolist() == [1, 0, 2, 0, 1]


@pytest.mark.parametrize("how", [FullDomain({"place": 1}, KAnonymity(2)), SuppressQuasiIdentifiers()])
def test_one_level_for_all_is_no_smallest_cover(how: Any) -> None:
    assert measure(sanitize(*rare_siblings(), how), ["downcoding-gain"])[0].value == 0


THREE = {
    "age": [5] * 4 + [1, 2, 2, 3] + [7, 8, 8, 9] + [8] * 8 + [12] * 4 + [7, 8, 8, 9],
    "town": ["A"] * 4 + ["B"] * 4 + ["C"] * 4 + ["D"] * 8 + ["E"] * 4 + ["F"] * 4,
}


def test_every_class_of_every_cell_is_counted_by_hand() -> None:
    """Three of six towns have cells of three ages, two of these the same, and exact ones lie around them."""
    schema = Schema((Attribute("town", "quasi-identifying", weight=9), Attribute("age", "quasi-identifying")))
    release = sanitize(Table.from_arrow(THREE), schema, Mondrian(KAnonymity(4), borders="tight"), seed=1)
    assert release.classes.n_classes == 6
    (taken,) = DowncodingGain().measure(release)
    assert taken.detail["share-wide"] == 12 / 28
    # who knows of the ends finds all. Who does not guesses 1, 2, 2 and 3 of the first, since half of these
    # are 2, and is right; of 7, 8 and 9 twelve in sixteen are 8, so that 8 is guessed three times, and 7
    assert taken.detail["recovered"] == 1
    assert taken.baseline == (4 + 3 + 3) / 12


@pytest.mark.parametrize("names", [("age", "size"), ("size", "age")])
def test_the_attribute_that_tells_most_is_named(names: tuple[str, str]) -> None:
    # the ages are rare at their ends, the sizes are even
    people = {"size": [1, 2, 3, 1, 2, 3, 1, 2, 3], "age": [1, 2, 3] + [2] * 6, "town": list("AAABBBBBB")}
    town = Attribute("town", "quasi-identifying", weight=9)
    schema = Schema((town, *(Attribute(name, "quasi-identifying") for name in names)))
    release = sanitize(Table.from_arrow(people), schema, Mondrian(KAnonymity(3)), seed=1)
    (taken,) = DowncodingGain().measure(release)
    gains = taken.detail["gain"]
    assert set(gains) == {"age", "size"}
    # of 2, 2, 2 one is right, of 1, 2, 3 all are
    assert gains["age"] == pytest.approx(2 / 3)
    assert (taken.detail["attribute"], taken.value) == ("age", gains["age"])
    assert gains["size"] < gains["age"]


def test_a_gain_has_twelve_digits() -> None:
    assert _Recovered(2 / 3, 1 / 3, 3).gain == 0.333333333333
    assert _Recovered(1 / 3, 2 / 3, 3).gain == -0.333333333333


class TestClasses:
    """Four classes of one attribute: two of size 3 and one of size 2 in one cell, and one in another."""

    CLASSES = _ReleasedClasses(
        np.array([1, 1, 1, 0]),
        np.array([3, 2, 3, 3]),
        np.array([0, 0, 1, 2, 2, 3]),
        np.array([5, 7, 6, 5, 9, 6]),
        np.array([2, 1, 2, 1, 2, 3]),
    )

    def test_values_are_counted_class_by_class(self) -> None:
        # a value beyond the cell is not counted
        assert self.CLASSES.counts(1, 3, 5, 7).tolist() == [[2, 0, 1], [1, 0, 0]]
        assert self.CLASSES.counts(1, 2, 5, 7).tolist() == [[0, 2, 0]]
        assert self.CLASSES.counts(0, 3, 6, 7).tolist() == [[3, 0]]
        assert self.CLASSES.counts(1, 3, 6, 9).tolist() == [[0, 1, 0, 0], [0, 0, 0, 2]]
        assert self.CLASSES.counts(1, 3, 6, 9).dtype == np.int64

    def test_they_are_found_in_a_release(self) -> None:
        people = {"age": [1, 2, 2, 3, 11, 11, 12, 13], "town": ["A"] * 4 + ["B"] * 4}
        schema = Schema((Attribute("age", "quasi-identifying"), Attribute("town", "quasi-identifying")))
        release = sanitize(Table.from_arrow(people), schema, Mondrian(KAnonymity(4)), seed=1)
        found = _ReleasedClasses.of(release, "age")
        assert found.sizes.tolist() == [4, 4]
        assert found.cells.tolist() == [release.cells["age"].codes[0], release.cells["age"].codes[-1]]
        pairs = zip(found.class_of.tolist(), found.values.tolist(), found.amounts.tolist(), strict=True)
        assert list(pairs) == [(0, 0, 1), (0, 1, 2), (0, 2, 1), (1, 3, 2), (1, 4, 1), (1, 5, 1)]


def ages_in_one_class(ages: list[int]) -> Any:
    schema = Schema((Attribute("age", "quasi-identifying"),))
    return sanitize(Table.from_arrow({"age": ages}), schema, Mondrian(KAnonymity(len(ages))), seed=1)


def test_records_of_classes_that_are_too_large_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    release = ages_in_one_class([1, 2, 2, 3])
    assert DowncodingGain().measure(release)[0].detail["share-wide"] == 1
    for most, is_counted in ((4, True), (3, False)):
        monkeypatch.setattr(downcoding_gain, "_MOST_RECORDS", most)
        (taken,) = DowncodingGain().measure(release)
        assert bool(taken.detail) == is_counted
    assert (taken.value, taken.baseline) == (0, 0)


@pytest.mark.parametrize(("n_records", "is_counted"), [(200, True), (201, False)])
def test_classes_of_up_to_two_hundred_are_looked_at(n_records: int, is_counted: bool) -> None:
    (taken,) = DowncodingGain().measure(ages_in_one_class([1, *[2] * (n_records - 1)]))
    assert bool(taken.detail) == is_counted


def test_how_common_values_are_is_known_from_several_sides(tmp_path: Path) -> None:
    release = ages_in_one_class([1, 2, 2, 3])
    assert DowncodingGain()._shares(release, "age").tolist() == [0.25, 0.5, 0.25]
    csv.write_csv(pa.table({"age": [1, 1, 1, 3, 9]}), tmp_path / "others.csv")
    # three of 1 and one of 3 are known of, each counted once more; nobody here is 9
    known = DowncodingGain(control=str(tmp_path / "others.csv"))._shares(release, "age")
    assert known.tolist() == pytest.approx([4 / 7, 1 / 7, 2 / 7])
    assert shares_in_cells(release, "age").tolist() == pytest.approx([1 / 3] * 3)
    assert DowncodingGain("release")._shares(release, "age").tolist() == pytest.approx([1 / 3] * 3)
    exact = sanitize(
        Table.from_arrow({"age": [1, 1, 5, 5, 5, 5]}),
        Schema((Attribute("age", "quasi-identifying"),)),
        Mondrian(KAnonymity(2)),
    )
    # one record more is taken to be spread evenly, and one as that suggests
    one, other = shares_in_cells(exact, "age").tolist()
    assert one + other == pytest.approx(1)
    assert one == pytest.approx((2 + (2 + 1 / 2) / 7) / 7)


def test_shares_are_fitted_to_cells_in_twenty_rounds() -> None:
    """Three of [1, 3), three of 3 and four of [2, 4): the same in loops over cells and values."""
    people = {"age": [1, 2, 2, 3, 3, 3, 2, 3, 3, 2], "town": list("AAABBBCCCC")}
    schema = Schema((Attribute("town", "quasi-identifying", weight=9), Attribute("age", "quasi-identifying")))
    release = sanitize(Table.from_arrow(people), schema, Mondrian(KAnonymity(3)), seed=1)
    cells = {(0, 1): 3, (2,): 3, (1, 2): 4}
    assert set(release.cells["age"].labels) == {"[1, 3)", "3", "[2, 4)"}
    shares = [1 / 3] * 3
    for _ in range(20):
        spread = [0.0] * 3
        for values, n in cells.items():
            for value in values:
                spread[value] += n * shares[value] / sum(shares[each] for each in values)
        even = [(each + 1 / 3) / (10 + 1) for each in spread]
        shares = [(each + common) / (10 + 1) for each, common in zip(spread, even, strict=True)]
    assert shares_in_cells(release, "age").tolist() == pytest.approx(shares, rel=1e-9)


def test_the_gain_is_told_with_what_it_is_a_gain_of() -> None:
    people = {"age": [1, 2, 2, 3] + [2] * 12, "town": ["A"] * 4 + ["B"] * 12}
    schema = Schema((Attribute("age", "quasi-identifying"), Attribute("town", "quasi-identifying")))
    release = sanitize(Table.from_arrow(people), schema, Mondrian(KAnonymity(4)), seed=1)
    (taken,) = DowncodingGain().measure(release)
    assert (taken.value, taken.detail["attribute"], taken.detail["gain"]) == (0.5, "age", {"age": 0.5})
    # of sixteen people four are in a cell of several ages
    assert taken.detail["share-wide"] == 4 / 16
    for lacking in (with_unknown_rows(release), replace(release, recipe=None)):
        with pytest.raises(NotApplicable, match="it is not known how the release was made"):
            DowncodingGain().measure(lacking)
    with pytest.raises(NotApplicable, match="the original is needed"):
        DowncodingGain().measure(release.unlinked())


def test_what_the_cell_has_none_of_is_taken_for_even() -> None:
    assert chances_of_counts(np.zeros(2), 1, None).tolist() == [[0.5], [0.5]]
    assert DowncodingGain() == DowncodingGain("original", None)


def test_spans_add_up_to_the_ranges() -> None:
    first, last, signs = _spans(3, None)
    assert (first.tolist(), last.tolist(), signs.tolist()) == ([0], [2], [1])
    assert [each.tolist() for each in _spans(3, as_arrays([(0, 2)]))] == [
        [0, 0, 1, 1],
        [1, 2, 1, 2],
        [-1, 1, 1, -1],
    ]
    none = np.zeros(0, dtype=np.int64)
    assert [each.tolist() for each in _spans(2, (none, none))] == [[0], [1], [1]]
