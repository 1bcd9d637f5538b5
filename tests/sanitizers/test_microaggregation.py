"""Tests of microaggregation: MDAV by hand, averages, and how many share what is released."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Schema, Table, sanitize
from sfumato.kernels.mdav import mdav
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers import Microaggregation
from sfumato.sanitizers.perturb.microaggregation import commonest_in

TREE = np.array([[[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]], dtype=np.int32)
"""Four values, two and two below a node, all below the root: one attribute, three levels."""


def mdav_by_hand(points: list[tuple[float, ...]], values: list[int], k: int) -> list[set[int]]:
    """Return the groups of records with numbers and a category as the paper describes them."""

    def distance(one: tuple[float, ...], other: tuple[float, ...]) -> float:
        *numbers, here = one
        *others, there = other
        climbed = next(level for level in range(3) if TREE[0, level, int(here)] == TREE[0, level, int(there)])
        return sum((a - b) ** 2 for a, b in zip(numbers, others, strict=True)) + (climbed / 2) ** 2

    def furthest(origin: tuple[float, ...], among: list[int]) -> int:
        return max(among, key=lambda i: (distance(points[i], origin), -i))

    def nearest(origin: int, among: list[int]) -> set[int]:
        return set(sorted(among, key=lambda i: (distance(points[i], points[origin]), i))[:k])

    def middle(among: list[int]) -> tuple[float, ...]:
        means = (float(np.mean([points[i][d] for i in among])) for d in range(len(points[0]) - 1))
        return (*means, int(np.bincount([values[i] for i in among]).argmax()))

    points = [(*point, value) for point, value in zip(points, values, strict=True)]
    left, groups = list(range(len(points))), []
    while len(left) >= 3 * k:
        first = furthest(middle(left), left)
        second = furthest(points[first], left)
        groups.append(nearest(first, left))
        left = [i for i in left if i not in groups[-1]]
        groups.append(nearest(second, left))
        left = [i for i in left if i not in groups[-1]]
    if len(left) >= 2 * k:
        groups.append(nearest(furthest(middle(left), left), left))
        left = [i for i in left if i not in groups[-1]]
    return [*groups, set(left)]


@given(st.integers(1, 4), st.integers(0, 10_000))
@settings(max_examples=60)
def test_the_groups_are_those_of_the_paper(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(int(rng.integers(k, 20)), 2))
    values = rng.integers(4, size=(len(points), 1), dtype=np.int32)
    group_of = mdav(points, values, TREE, np.array([2]), k)
    found = {frozenset(np.flatnonzero(group_of == g).tolist()) for g in np.unique(group_of)}
    by_hand = mdav_by_hand([tuple(p) for p in points.tolist()], values[:, 0].tolist(), k)
    assert found == {frozenset(group) for group in by_hand}


def test_categories_are_as_far_apart_as_their_hierarchy_says() -> None:
    hierarchy = Hierarchy.nested({"Europe": ["FR", "IT"], "Asia": ["JP", "KR"]})
    schema = Schema(
        (Attribute("land", "quasi-identifying", hierarchy=hierarchy), Attribute("ill", "sensitive"))
    )
    table = Table.from_arrow({"land": ["FR", "FR", "IT", "JP", "JP", "KR"], "ill": list("abcdef")})
    released = sanitize(table, schema, Microaggregation(3)).to_arrow()
    by_illness = dict(zip(released["ill"].to_pylist(), released["land"].to_pylist(), strict=True))
    assert by_illness == {"a": "FR", "b": "FR", "c": "FR", "d": "JP", "e": "JP", "f": "JP"}


def test_numbers_are_the_mean_of_their_group() -> None:
    table = Table.from_arrow({"age": [20, 22, 24, 60, 61, 65, None], "ill": list("abcdefg")})
    schema = Schema.of(age="quasi-identifying", ill="sensitive")
    released = sanitize(table, schema, Microaggregation(3)).to_arrow()
    by_illness = dict(zip(released["ill"].to_pylist(), released["age"].to_pylist(), strict=True))
    assert [by_illness[i] for i in "abc"] == [22] * 3
    assert [by_illness[i] for i in "def"] == [62] * 3


def test_the_mean_over_all_records_stays() -> None:
    rng = np.random.default_rng(0)
    table = Table.from_arrow({"pay": rng.normal(1_000, 200, 400).tolist(), "ill": ["x", "y"] * 200})
    schema = Schema.of(pay="quasi-identifying", ill="sensitive")
    release = sanitize(table, schema, Microaggregation(7))
    pay = np.array(release.to_arrow()["pay"].to_pylist())
    assert pay.mean() == pytest.approx(np.mean(table.to_arrow()["pay"].to_pylist()), abs=0.01)
    assert min(Counter(pay.tolist()).values()) >= 7
    assert "At least 7 records" in release.notes[0]


def test_where_somebody_has_several_records_people_are_counted() -> None:
    table = Table.from_arrow(
        {"who": [1, 1, 1, 2, 2, 3], "age": [20, 20, 20, 50, 50, 50], "ill": list("abcdef")}
    )
    schema = Schema(
        (
            Attribute("who", "identifying"),
            Attribute("age", "quasi-identifying"),
            Attribute("ill", "sensitive"),
        ),
        person="who",
    )
    (note,) = sanitize(table, schema, Microaggregation(3)).notes
    assert "At least 1 people" in note


def test_the_commonest_of_a_group_is_the_first_of_several() -> None:
    codes, groups = np.array([2, 1, 1, 0, 3, 3, 0]), np.array([0, 0, 0, 1, 1, 1, 1])
    assert commonest_in(codes, groups, 2, 4).tolist() == [1, 0]


def test_too_few_records_are_refused() -> None:
    table = Table.from_arrow({"age": [1, 2], "ill": ["x", "y"]})
    with pytest.raises(Infeasible, match="fewer than k = 5"):
        sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), Microaggregation(5))
    with pytest.raises(ParameterError, match="at least 1"):
        Microaggregation(0)
