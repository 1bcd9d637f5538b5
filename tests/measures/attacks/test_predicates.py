"""Predicates are true of exactly the records that a loop over all of them finds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.measures.attacks import predicates
from sfumato.measures.attacks.predicates import (
    Crowd,
    Predicates,
    _bounded,
    _medians,
    at_random,
    learned,
    people_crowd,
    rare_values,
    released_crowd,
)
from sfumato.measures.attacks.record_distances import SeenRelease, sight
from sfumato.results.origin import Origin
from sfumato.results.released_column import Cells, ValueSets

SCHEMA = sf.Schema(
    (
        sf.Attribute("age", "quasi-identifying", "numeric", sf.Intervals((5, 10))),
        sf.Attribute("pay", "quasi-identifying", "numeric", sf.Intervals((10,))),
        sf.Attribute("town", "quasi-identifying"),
        sf.Attribute("ill", "sensitive"),
    )
)
NAMES = ("age", "pay", "town")


def people(n: int = 40) -> dict[str, list[Any]]:
    rng = np.random.default_rng(1)
    ages = [None if n == 7 else int(age) for n, age in enumerate(rng.integers(20, 60, n))]
    towns = [f"town {place}" for place in rng.integers(0, 4, n)]
    return {"age": ages, "pay": rng.integers(0, 90, n).tolist(), "town": towns, "ill": ["a", "b"] * (n // 2)}


def seen(level: int = 0) -> SeenRelease:
    how = sf.sanitizers.FullDomain({"age": level, "pay": level, "town": 0}, sf.models.KAnonymity(1))
    return sight(sf.sanitize(pa.table(people()), SCHEMA, how), NAMES)


def counted(crowd: Crowd, predicates: Predicates) -> list[int]:
    """Count in a loop: a record satisfies a predicate if its whole set does, a missing number none."""
    return [
        sum(
            int(weight)
            for low, high, weight in zip(crowd.low, crowd.high, crowd.weights, strict=True)
            if all(
                (least == -np.inf and most == np.inf) or (a >= least and b <= most)
                for a, b, least, most in zip(low, high, each_least, each_most, strict=True)
            )
        )
        for each_least, each_most in zip(predicates.least, predicates.most, strict=True)
    ]


def n_asked(predicates: Predicates) -> list[int]:
    asked = np.isfinite(predicates.least) | np.isfinite(predicates.most)
    return asked.sum(axis=1).tolist()


def different(predicates: Predicates) -> int:
    return len({*zip(map(tuple, predicates.least), map(tuple, predicates.most), strict=True)})


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("n_attributes", [1, 2, 3])
def test_what_is_learned_is_true_of_one_released_record(level: int, n_attributes: int) -> None:
    release = seen(level)
    found = learned(release, n_attributes, 30, np.random.default_rng(0))
    assert 0 < len(found) <= 30
    assert set(counted(released_crowd(release), found)) == {1}
    assert set(n_asked(found)) == {n_attributes}
    assert different(found) == len(found)


def test_no_more_is_learned_than_there_is() -> None:
    # of one attribute there are few predicates that one record satisfies
    found = learned(seen(1), 1, 10_000, np.random.default_rng(0))
    assert 0 < len(found) < 40


@pytest.mark.parametrize("level", [0, 1])
def test_rare_values_are_those_of_one_released_record_and_the_ends(level: int) -> None:
    release = seen(level)
    crowd = released_crowd(release)
    found = rare_values(release, 1000, np.random.default_rng(0))
    assert set(counted(crowd, found)) == {1}
    assert set(n_asked(found)) == {1}
    assert different(found) == len(found)
    # by hand: the ranges of each attribute that one record has, and beyond them the first and the last
    expected = 0
    for place in range(3):
        ends = {(a, b) for a, b in zip(crowd.low[:, place], crowd.high[:, place], strict=True) if a == a}
        asked = {
            *ends,
            *([(max(a for a, _ in ends), np.inf), (-np.inf, min(b for _, b in ends))] * (place < 2)),
        }
        for least, most in asked:
            low, high = crowd.low[:, place], crowd.high[:, place]
            expected += int(crowd.weights[(low >= least) & (high <= most)].sum()) == 1
    assert len(found) == expected
    assert len(rare_values(release, 3, np.random.default_rng(0))) == 3


def test_what_is_drawn_at_random_is_asked_of_as_many_attributes() -> None:
    found = at_random(seen(), 2, 50, np.random.default_rng(0))
    assert len(found) == 50
    # of a missing age nothing can be asked
    assert set(n_asked(found)) <= {1, 2}
    assert n_asked(found).count(2) > 40
    values = [set(people()[name]) for name in ("age", "pay")]
    for place, known in enumerate(values):
        ends = np.concatenate([found.least[:, place], found.most[:, place]])
        assert set(ends[np.isfinite(ends)].tolist()) <= known


def test_a_number_is_asked_to_be_as_rare_as_it_is_or_rarer() -> None:
    low, high = np.array([[5.0, 2.0, 3.0, 1.0, 4.0]]), np.array([[5.0, 2.0, 3.0, 6.0, 4.0]])
    medians = np.array([3.0, 3.0, 3.0, 3.0, np.nan])
    # above the median, below it, at it, a set, a category
    found = _bounded(low, high, np.ones((1, 5), dtype=np.bool_), medians)
    assert found.least.tolist() == [[5, -np.inf, -np.inf, 1, 4]]
    assert found.most.tolist() == [[np.inf, 2, 3, 6, 4]]
    nothing = _bounded(low, high, np.zeros((1, 5), dtype=np.bool_), medians)
    assert nothing.least.tolist() == [[-np.inf] * 5]
    assert nothing.most.tolist() == [[np.inf] * 5]


def test_people_who_look_alike_are_counted_together() -> None:
    release, table = seen(), sf.Table.from_arrow(people())
    crowd = people_crowd(release, table)
    assert crowd.weights.sum() == 40
    predicates = at_random(release, 2, 60, np.random.default_rng(3))
    expected = counted(crowd, predicates)
    assert crowd.count(predicates).tolist() == expected
    assert crowd.singled_out(predicates).tolist() == [count == 1 for count in expected]


def test_somebody_with_several_records_counts_once() -> None:
    columns = {"who": ["u", "u", "v", "w"], "age": [20, 30, 30, 40], "ill": ["a", "b", "a", "b"]}
    attributes = (
        sf.Attribute("who", "identifying"),
        sf.Attribute("age", "quasi-identifying", "numeric"),
        sf.Attribute("ill", "sensitive"),
    )
    schema = sf.Schema(attributes, person="who")
    table, bound = schema.bind(sf.Table.from_arrow(columns))
    crowd = people_crowd(
        sight(sf.sanitize(table, bound.given or bound, sf.sanitizers.AsIs()), ("age",)), table
    )
    asked = Predicates(
        np.array([[-np.inf], [25.0], [35.0], [-np.inf]]), np.array([[35.0], [35.0], [50.0], [10.0]])
    )
    # u and v are at most 35, u and v have 30, w alone is above
    assert crowd.count(asked).tolist() == [2, 2, 1, 0]


def medians() -> list[float]:
    """Return the least age and the least pay that half of those known reach."""
    return [
        float(known[(len(known) - 1) // 2])
        for name in ("age", "pay")
        for known in [sorted(value for value in people()[name] if value is not None)]
    ]


def test_numbers_have_a_median_and_categories_none() -> None:
    release = seen()
    found = _medians(release, released_crowd(release)).tolist()
    assert found == pytest.approx([*medians(), np.nan], nan_ok=True)


def test_numbers_that_are_made_up_are_asked_to_be_as_rare_or_rarer_too() -> None:
    found = at_random(seen(), 3, 200, np.random.default_rng(0))
    for place, median in enumerate(medians()):
        least, most = found.least[:, place], found.most[:, place]
        above, below = np.isfinite(least), np.isfinite(most)
        assert not (above & below).any()
        assert (least[above] > median).all()
        assert (most[below] <= median).all()
        assert min(above.sum(), below.sum()) > 50


def test_a_category_that_one_record_has_is_asked_for_once() -> None:
    schema = sf.Schema.of(town="quasi-identifying", ill="sensitive")
    table = pa.table({"town": ["A", "A", "B"], "ill": ["a", "b", "a"]})
    found = rare_values(
        sight(sf.sanitize(table, schema, sf.sanitizers.AsIs()), ("town",)), 9, np.random.default_rng(0)
    )
    assert (found.least.tolist(), found.most.tolist()) == ([[1]], [[1]])


def test_the_extremes_of_sets_are_the_last_to_begin_and_the_first_to_end() -> None:
    schema = sf.Schema((sf.Attribute("age", "quasi-identifying", "numeric"),))
    plain = sf.sanitize(pa.table({"age": [20, 21, 22, 23]}), schema, sf.sanitizers.AsIs())
    sets = ValueSets(np.array([0, 2, 4]), np.array([0, 2, 1, 3]), np.array([2, 2]), 4)
    ages = Cells(np.array([0, 1]), ("20-22", "21-23"), plain.cells["age"].domain, sets)
    two = replace(
        plain,
        cells={"age": ages},
        weights=np.array([1, 1]),
        origin=Origin(plain.origin.table, np.array([0, 1])),
    )
    found = rare_values(sight(two, ("age",)), 9, np.random.default_rng(0))
    asked = {(a, b) for a, b in zip(found.least.ravel().tolist(), found.most.ravel().tolist(), strict=True)}
    assert asked == {(20, 22), (21, 23), (21, np.inf), (-np.inf, 22)}


def test_people_who_differ_in_nothing_that_is_known_are_one_row() -> None:
    table = sf.Table.from_arrow(
        {**people(4), "age": [20, 20, 30, 30], "pay": [1, 1, 2, 3], "town": ["x"] * 4}
    )
    release = sight(sf.sanitize(pa.table(people()), SCHEMA, sf.sanitizers.AsIs()), ("age", "pay"))
    crowd = people_crowd(release, table)
    assert (crowd.weights.tolist(), crowd.low.tolist()) == ([2, 1, 1], [[20, 1], [30, 2], [30, 3]])


class TestBatches:
    """How many batches are drawn when each brings so many new predicates."""

    def n_batches(self, monkeypatch: pytest.MonkeyPatch, brings: list[int], n_wanted: int = 10_000) -> int:
        left, asked = iter(brings), []

        def with_more(found: Predicates, crowd: Crowd, candidates: Predicates) -> Predicates:
            asked.append(len(candidates))
            more = np.zeros((len(found) + next(left, 0), 3))
            return Predicates(more, more)

        monkeypatch.setattr(predicates, "_with_more", with_more)
        learned(seen(), 1, n_wanted, np.random.default_rng(0))
        assert set(asked) == {4096}
        return len(asked)

    def test_three_in_vain_are_the_last(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.n_batches(monkeypatch, [4, 4, 4]) == 3
        # more than four of four thousand are not in vain
        assert self.n_batches(monkeypatch, [5, 4, 4, 5, 4, 4, 4]) == 7

    def test_enough_are_enough(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.n_batches(monkeypatch, [5, 5, 5, 5], n_wanted=10) == 2
        assert self.n_batches(monkeypatch, [50] * 100) == 60

    def test_records_are_drawn_as_often_as_there_are(self, monkeypatch: pytest.MonkeyPatch) -> None:
        schema = sf.Schema.of(town="quasi-identifying", ill="sensitive")
        table = pa.table({"town": ["A"] * 99 + ["B"], "ill": ["a"] * 100})
        drawn: list[int] = []
        of_rows = predicates._of_rows

        def noted(crowd: Crowd, rows: Any, *facts: Any) -> Predicates:
            drawn.extend(rows)
            return of_rows(crowd, rows, *facts)

        monkeypatch.setattr(predicates, "_of_rows", noted)
        found = learned(
            sight(sf.sanitize(table, schema, sf.sanitizers.AsIs()), ("town",)), 1, 9, np.random.default_rng(0)
        )
        assert len(found) == 1
        assert np.mean(drawn) == pytest.approx(0.01, abs=0.01)
