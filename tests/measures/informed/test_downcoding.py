"""Downcoding: everything is found where classes are pairs, nothing where no smallest cover was released."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Hierarchy, Release, Schema, Table, measure, sanitize
from sfumato.measures import Downcoding
from sfumato.measures.informed import covers
from sfumato.measures.informed.covers import CoveredRanges, covered_ranges
from sfumato.measures.informed.downcoding import _n_ends, _Placed, _ruled_out, _Whereabouts
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.released_column import Cells, ValueSets
from sfumato.sanitizers import Clustering, FullDomain, LocalRecoding, Mondrian, SuppressQuasiIdentifiers
from sfumato.sanitizers.generalize.from_clusters import PointSpace
from sfumato.sanitizers.generalize.interval_bounds import Borders

BORDERS: tuple[Borders, ...] = ("tight", "grid")


def binary(depth: int, name: str = "") -> Any:
    """Return a tree with two children below every node."""
    if depth == 1:
        return [f"{name}0", f"{name}1"]
    return {f"{name}{side}*": binary(depth - 1, f"{name}{side}") for side in "01"}


@pytest.fixture(scope="module")
def pairs() -> tuple[Table, Schema]:
    """Clusters of two records each, in sibling leaves of a binary tree."""
    leaves = [format(number, "06b") for number in range(64)]
    attributes = (
        Attribute("leaf", "quasi-identifying", hierarchy=Hierarchy.nested(binary(6))),
        Attribute("illness", "sensitive"),
    )
    return Table.from_arrow({"leaf": leaves, "illness": ["x", "y"] * 32}), Schema(attributes)


@pytest.mark.parametrize("method", [Clustering, LocalRecoding])
def test_pairs_below_nodes_with_two_children_are_recovered_whole(
    pairs: tuple[Table, Schema], method: Any
) -> None:
    (taken,) = measure(sanitize(*pairs, method(KAnonymity(2)), seed=1), ["downcoding"])
    assert taken.value == 1
    assert taken.detail["exactly"] == 1
    assert taken.detail["false"] == 0


def test_the_two_ends_of_every_class_are_found_by_hand() -> None:
    ages = Table.from_arrow({"age": [1, 2, 2, 3, 11, 11, 11, 12, 13]})
    schema = Schema((Attribute("age", "quasi-identifying"),))
    (taken,) = measure(sanitize(ages, schema, Mondrian(KAnonymity(4))), ["downcoding"])
    # of [1, 4) and [11, 14) somebody is at each end: four of nine, on one of three values
    assert taken.value == taken.detail["exactly"] == 4 / 9
    assert taken.detail["smaller"] == pytest.approx(2 / 3)
    assert taken.detail["false"] == 0


def test_a_node_with_three_children_leaves_its_ends_to_two() -> None:
    tree = Hierarchy.nested({"x": ["a", "b", "c"], "y": ["d", "e", "f"]})
    schema = Schema((Attribute("place", "quasi-identifying", hierarchy=tree),))
    places = Table.from_arrow({"place": list("abcdef")})
    (taken,) = measure(sanitize(places, schema, Clustering(KAnonymity(3)), seed=1), ["downcoding"])
    # the first of those below x is a or b, the last b or c: two of three in smaller cells, and none exactly
    assert taken.value == pytest.approx(4 / 6)
    assert taken.detail["exactly"] == taken.detail["false"] == 0
    assert taken.detail["smaller"] == pytest.approx(1 / 3)


def test_fewer_are_found_where_k_grows(pairs: tuple[Table, Schema]) -> None:
    found = [
        measure(sanitize(*pairs, Clustering(KAnonymity(k)), seed=1), ["downcoding"])[0].value
        for k in (2, 4, 8, 16)
    ]
    assert found == sorted(found, reverse=True)
    assert found[-1] == 2 / 16


def test_one_level_for_all_is_no_smallest_cover(pairs: tuple[Table, Schema]) -> None:
    for how in (FullDomain({"leaf": 1}, KAnonymity(2)), SuppressQuasiIdentifiers()):
        assert measure(sanitize(*pairs, how), ["downcoding"])[0].value == 0


@pytest.mark.parametrize("method", [Mondrian, LocalRecoding, Clustering])
@pytest.mark.parametrize("borders", BORDERS)
def test_what_is_concluded_is_true(method: Any, borders: str) -> None:
    rng = np.random.default_rng(3)
    table = Table.from_arrow(
        {
            "age": rng.integers(18, 80, 300).tolist(),
            "town": [f"t{place}" for place in rng.integers(0, 9, 300)],
            "illness": ["x", "y"] * 150,
        }
    )
    roles = ("quasi-identifying", "quasi-identifying", "sensitive")
    names = ("age", "town", "illness")
    schema = Schema(tuple(Attribute(n, r) for n, r in zip(names, roles, strict=True)))  # type: ignore[arg-type]
    (taken,) = measure(
        sanitize(table, schema, method(KAnonymity(3), borders=borders), seed=1), ["downcoding"]
    )
    assert taken.detail["false"] == 0
    assert taken.value > 0


def test_a_grid_gives_away_fewer_exact_values_than_tight_borders() -> None:
    table, schema = datasets.adult("train")
    exact = {}
    for borders in BORDERS:
        release = sanitize(table, schema, Mondrian(KAnonymity(5), borders=borders))
        exact[borders] = measure(release, ["downcoding"])[0].detail
    assert exact["grid"]["exactly"] < 0.75 * exact["tight"]["exactly"]
    assert exact["grid"]["smaller"] < 0.8 * exact["tight"]["smaller"]


def test_a_recipe_that_did_not_make_the_release_leads_to_false_conclusions() -> None:
    table, schema = datasets.hospital()
    tight, grid = (sanitize(table, schema, Mondrian(KAnonymity(4), borders=b)) for b in BORDERS)
    mistaken = replace(grid, recipe=tight.recipe)
    assert measure(mistaken, ["downcoding"])[0].detail["false"] > 0


def covered(starts: list[int], low: list[int], high: list[int]) -> CoveredRanges:
    return CoveredRanges(np.array(starts), np.array(low), np.array(high))


def test_where_the_smallest_and_the_largest_can_be_is_known_of_each_released_value() -> None:
    sets = ValueSets(np.array([0, 3, 5]), np.array([0, 1, 2, 3, 4]), np.array([3, 2]), 5)
    cells = Cells(np.array([0, 1]), ("x", "y"), (10, 11, 12, 13, 14), sets)
    # the first is released for ranges from 0 or 1 to 1 or 2, of the second nothing is known
    told = _Whereabouts.of(cells, covered([0, 2, 2], [0, 1], [1, 2]))
    assert [each.tolist() for each in told.lowest] == [[0, 3], [1, 4]]
    assert [each.tolist() for each in told.highest] == [[1, 3], [2, 4]]
    nothing = _Whereabouts.of(cells, covered([0, 0, 0], [], []))
    assert [each.tolist() for each in (*nothing.lowest, *nothing.highest)] == [[0, 3], [2, 4]] * 2


def test_one_range_says_where_both_ends_are() -> None:
    sets = ValueSets(np.array([0, 3]), np.array([0, 1, 2]), np.array([3]), 3)
    told = _Whereabouts.of(Cells(np.array([0]), ("x",), (10, 11, 12), sets), covered([0, 1], [0], [2]))
    assert [each.tolist() for each in (*told.lowest, *told.highest)] == [[0], [0], [2], [2]]


def test_ends_of_ranges_are_counted_once() -> None:
    assert _n_ends(covered([0, 2, 2, 3], [0, 1, 4], [1, 2, 4])).tolist() == [3, 0, 1]
    assert _n_ends(covered([0, 2, 2], [0, 1], [1, 2])).tolist() == [3, 0]


def mistaken(people: dict[str, list[int]]) -> Release:
    """Return the ages of each town on a grid, with a recipe that says that their borders are tight."""
    towns = [town for town, ages in people.items() for _ in ages]
    table = Table.from_arrow({"age": [age for ages in people.values() for age in ages], "town": towns})
    schema = Schema((Attribute("age", "quasi-identifying"), Attribute("town", "quasi-identifying", weight=9)))
    tight, grid = (sanitize(table, schema, Mondrian(KAnonymity(3), borders=b)) for b in BORDERS)
    assert grid.classes.n_classes == len(people)
    return replace(grid, recipe=tight.recipe)


def test_false_conclusions_place_nobody() -> None:
    # all are released as [0, 5), and only the second town has somebody of 1 and somebody of 4 years
    release = mistaken({"A": [2, 3, 4], "B": [1, 3, 4], "C": [1, 2, 3]})
    (taken,) = measure(release, ["downcoding"])
    assert taken.detail["false"] == pytest.approx(2 / 3)
    assert taken.value == taken.detail["exactly"] == pytest.approx(2 / 9)
    assert taken.detail["smaller"] == 0.75
    found = _Placed.of(release, "age", dict(covered_ranges(release))["age"])
    facts = ("concludes", "holds", "n", "n_exact", "smaller", "width", "at_ends")
    assert {fact: getattr(found, fact).tolist() for fact in facts} == {
        "concludes": [True] * 3,
        "holds": [False, True, False],
        "n": [0, 2, 0],
        "n_exact": [0, 2, 0],
        "smaller": [0, 0.75, 0],
        "width": [4] * 3,
        "at_ends": [2] * 3,
    }


def test_one_false_conclusion_is_all_that_is_false() -> None:
    # that somebody of the first town is 1 is wrong, and of the second nothing is concluded
    (taken,) = measure(mistaken({"A": [2, 3, 4], "B": [1, 1, 1]}), ["downcoding"])
    assert (taken.value, taken.detail["false"], taken.detail["smaller"]) == (0, 1, 0)


def test_of_classes_whose_covers_are_not_known_nothing_is_concluded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(covers, "_MOST_VALUES", 1)
    schema = Schema((Attribute("town", "quasi-identifying"),))
    release = sanitize(Table.from_arrow({"town": list("abcd")}), schema, Mondrian(KAnonymity(2)))
    assert release.classes.sizes.tolist() == [2, 2]
    (taken,) = measure(release, ["downcoding"])
    assert (taken.value, set(taken.detail.values())) == (0, {0})


def test_the_mean_is_over_the_classes_that_are_placed() -> None:
    # of [1, 4) two ends are found, on one of three values; of those of 9 years nothing has to be
    schema = Schema((Attribute("age", "quasi-identifying"),))
    ages = Table.from_arrow({"age": [1, 2, 3, 9, 9, 9]})
    (taken,) = measure(sanitize(ages, schema, Mondrian(KAnonymity(3))), ["downcoding"])
    assert taken.value == pytest.approx(2 / 6)
    assert taken.detail["smaller"] == pytest.approx(2 / 3)


def placed(n: list[int], width: list[int], at_ends: list[int]) -> _Placed:
    some = np.array(n)
    return _Placed(some > 0, some > 0, some, some, some / 2, np.array(width), np.array(at_ends))


def test_combinations_are_ruled_out_in_classes_of_two() -> None:
    first, second = placed([2, 0, 2], [4, 1, 4], [2, 1, 2]), placed([0, 0, 0], [2, 1, 2], [2, 1, 2])
    # of the first class half of eight combinations, of the second there is one, the third is too large
    assert _ruled_out([first, second], np.array([2, 2, 3])) == pytest.approx(0.5 * 2 / 5)
    assert _ruled_out([placed([0], [1], [1])], np.array([2])) == 0
    # of a cell of two values nothing is ruled out, but its records count
    assert _ruled_out([placed([2, 2], [2, 4], [2, 2])], np.array([2, 2])) == pytest.approx(0.5 * 2 / 4)


def test_what_cannot_be_known_or_says_nothing() -> None:
    table, schema = datasets.hospital()
    release = sanitize(table, schema, Mondrian(KAnonymity(4)))
    for lacking in (with_unknown_rows(release), replace(release, recipe=None)):
        with pytest.raises(NotApplicable, match="it is not known how the release was made"):
            Downcoding().measure(lacking)
    with pytest.raises(NotApplicable, match="the original is needed"):
        Downcoding().measure(release.unlinked())
    (taken,) = Downcoding().measure(sanitize(table, schema, SuppressQuasiIdentifiers()))
    assert taken.detail == {"exactly": 0, "false": 0, "smaller": 0, "ruled-out": 0}


def test_an_attribute_that_tells_more_counts_in_each_class() -> None:
    ages = [1, 2, 3, 11, 12, 13]
    people = {"age": ages, "town": ["a", "a", "a", "b", "b", "c"]}
    schema = Schema((Attribute("age", "quasi-identifying"), Attribute("town", "quasi-identifying")))
    (taken,) = measure(sanitize(Table.from_arrow(people), schema, Mondrian(KAnonymity(3))), ["downcoding"])
    # two of each three by their ages, on one of three values; the towns would add nothing to that
    assert taken.value == taken.detail["exactly"] == 4 / 6
    assert taken.detail["smaller"] == pytest.approx(2 / 3)
    assert (taken.detail["ruled-out"], taken.detail["false"]) == (0, 0)


def test_exact_values_place_nobody_in_a_smaller_cell() -> None:
    schema = Schema((Attribute("age", "quasi-identifying"),))
    (taken,) = measure(
        sanitize(Table.from_arrow({"age": [1, 1, 5, 5]}), schema, Mondrian(KAnonymity(2))), ["downcoding"]
    )
    assert taken.value == 0
    assert set(taken.detail.values()) == {0.0}


TINY = [(1, "a"), (2, "b"), (7, "c"), (9, "d"), (4, "a"), (6, "b")]


@pytest.mark.parametrize("borders", BORDERS)
@pytest.mark.parametrize("k", [2, 3])
def test_combinations_are_ruled_out_that_no_class_with_this_cell_has(borders: Borders, k: int) -> None:
    schema = Schema((Attribute("age", "quasi-identifying"), Attribute("town", "quasi-identifying")))
    table, schema = schema.bind(
        Table.from_arrow(dict(zip(("age", "town"), zip(*TINY, strict=True), strict=True)))
    )
    release = sanitize(table, schema, Clustering(KAnonymity(k), borders=borders), seed=1)
    space = PointSpace.of(table, schema, KAnonymity(1), sets=False, borders=borders)
    every = list(itertools.product(*(range(len(table[name].domain)) for name in ("age", "town"))))
    worlds = np.array(list(itertools.combinations_with_replacement(every, k)), dtype=np.int32)
    covered = space.cells(worlds.min(axis=1), worlds.max(axis=1)).values()
    covers = [[each.labels[code] for code in each.codes] for each in covered]
    possible: dict[tuple[Any, ...], set[tuple[int, ...]]] = {}
    for world, cover in zip(worlds.tolist(), zip(*covers, strict=True), strict=True):
        possible.setdefault(cover, set()).update(map(tuple, world))

    rows = [int(np.flatnonzero(release.classes.class_of == n)[0]) for n in range(release.classes.n_classes)]
    shares, sizes = [], []
    for row, size in zip(rows, release.classes.sizes.tolist(), strict=True):
        cells = [(each, int(each.codes[row])) for each in (release.cells["age"], release.cells["town"])]
        n_all = math.prod(int(np.diff(each.sets.starts)[code]) for each, code in cells)
        if n_all > 1:
            n_possible = len(possible[tuple(each.labels[code] for each, code in cells)])
            shares.append(1 - n_possible / n_all if size == k else 0.0)
            sizes.append(size)
    (taken,) = measure(release, ["downcoding"])
    assert taken.detail["ruled-out"] == pytest.approx(np.average(shares, weights=sizes))
    assert (taken.detail["ruled-out"] > 0) == (k == 2 and borders == "tight")
