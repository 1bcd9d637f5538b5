"""Predicates are true of exactly the records that a loop over all of them finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.measures.attacks.distances import SeenRelease, sight
from sfumato.measures.attacks.predicates import (
    Crowd,
    Predicates,
    _bounded,
    at_random,
    learned,
    people_crowd,
    rare_values,
    released_crowd,
)

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
    how = sf.FullDomain({"age": level, "pay": level, "town": 0}, sf.KAnonymity(1))
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
    crowd = people_crowd(sight(sf.sanitize(table, bound.given or bound, sf.AsIs()), ("age",)), table)
    asked = Predicates(
        np.array([[-np.inf], [25.0], [35.0], [-np.inf]]), np.array([[35.0], [35.0], [50.0], [10.0]])
    )
    # u and v are at most 35, u and v have 30, w alone is above
    assert crowd.count(asked).tolist() == [2, 2, 1, 0]
