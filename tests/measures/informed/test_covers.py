"""Which ranges of values are released as each released value, against every class that there can be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sfumato import Attribute, Hierarchy, Schema, Table, sanitize
from sfumato.measures.informed import covers
from sfumato.measures.informed.covers import CoveredRanges, covered_ranges, ends, is_covering
from sfumato.models import KAnonymity
from sfumato.results.linked_release import LinkedRelease
from sfumato.sanitizers import AsIs, Clustering, FullDomain, LocalRecoding, Mondrian

TREE = Hierarchy.nested({"x": ["a", "b", "c"], "y": ["d", "e"]})
SCHEMA = Schema(
    (
        Attribute("age", "quasi-identifying", "numeric"),
        Attribute("place", "quasi-identifying", hierarchy=TREE),
    )
)


def release(how: Any, schema: Schema = SCHEMA) -> LinkedRelease:
    people = {"age": [1, 2, 5, 7, 11, 12, 13, 20], "place": list("aabbcdde")}
    return sanitize(Table.from_arrow(people), schema, how, seed=1)


def ranges_of(made: LinkedRelease, name: str) -> dict[Any, set[tuple[Any, Any]]]:
    """Return for each released value the smallest and the largest value of each range."""
    domain, found = made.origin.table[name].domain, dict(covered_ranges(made))[name]
    return {
        label: {(domain[a], domain[b]) for a, b in zip(*found[code], strict=True)}
        for code, label in enumerate(made.cells[name].labels)
    }


def test_ranges_are_sorted_by_what_is_released_for_them() -> None:
    found = CoveredRanges.of(np.array([2, 0, 2]), np.array([5, 6, 7]), np.array([8, 9, 9]), 3)
    assert found.starts.tolist() == [0, 1, 1, 3]
    assert [[each.tolist() for each in found[code]] for code in range(3)] == [
        [[6], [9]],
        [[], []],
        [[5, 7], [8, 9]],
    ]


@pytest.mark.parametrize(
    "how",
    [
        Mondrian(KAnonymity(3), borders="tight"),
        Clustering(KAnonymity(3), borders="tight"),
        LocalRecoding(KAnonymity(3), borders="tight"),
    ],
)
def test_a_tight_interval_ends_at_two_values_of_its_class(how: Any) -> None:
    made = release(how)
    assert is_covering(made)
    cells = made.cells["age"]
    domain = made.origin.table["age"].domain
    expected = {
        label: {(domain[first], domain[last])}
        for label, first, last in zip(cells.labels, *ends(cells), strict=True)
    }
    assert ranges_of(made, "age") == expected
    assert len(expected) > 1


def test_a_node_is_released_for_every_class_that_reaches_below_two_of_its_children() -> None:
    found = ranges_of(release(Clustering(KAnonymity(4))), "place")
    every = {
        "x": {("a", "b"), ("a", "c"), ("b", "c")},
        "y": {("d", "e")},
        "*": {(low, high) for low in "abc" for high in "de"},
        **{leaf: {(leaf, leaf)} for leaf in "abcde"},
    }
    assert found == {label: every[label] for label in found}
    assert {"x", "y", "*"} & set(found)


@pytest.mark.parametrize("how", [Mondrian(KAnonymity(3)), LocalRecoding(KAnonymity(3), cells="sets")])
def test_a_set_is_released_for_the_classes_that_begin_and_end_with_it(how: Any) -> None:
    flat = Schema((SCHEMA["age"], Attribute("place", "quasi-identifying")))
    made = release(how, flat)
    sets, domain = made.cells["place"].sets, made.cells["place"].domain
    assert sets is not None
    found = ranges_of(made, "place")
    for code, label in enumerate(made.cells["place"].labels):
        members = [domain[member] for member in sets.members[sets.starts[code] : sets.starts[code + 1]]]
        assert found[label] == {(members[0], members[-1])}


def test_a_round_interval_is_released_for_several_ranges() -> None:
    made = release(Mondrian(KAnonymity(3), borders="grid"))
    cells = made.cells["age"]
    for code, (label, found) in enumerate(ranges_of(made, "age").items()):
        first, last = (each[code] for each in ends(cells))
        inside = made.origin.table["age"].domain[first : last + 1]
        assert found, label
        assert {end for pair in found for end in pair} <= set(inside)
    assert any(len(found) > 1 for found in ranges_of(made, "age").values())


def test_of_too_many_values_and_of_a_free_attribute_any_range_may_be_released(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = release(Mondrian(KAnonymity(3)))
    assert all(ranges_of(made, "place").values())
    monkeypatch.setattr(covers, "_MOST_VALUES", 5)
    assert all(ranges_of(made, "place").values())
    monkeypatch.setattr(covers, "_MOST_VALUES", 4)
    assert not any(ranges_of(made, "place").values())
    assert set(ranges_of(made, "place")) == set(made.cells["place"].labels)
    monkeypatch.undo()
    assert made.recipe is not None
    free = replace(made.recipe, parameters={**made.recipe.parameters, "free": ("place",)})
    assert not any(ranges_of(replace(made, recipe=free), "place").values())


def test_fewer_people_than_attributes_have_ranges_of_each() -> None:
    names = ("a", "b", "c")
    schema = Schema.of(dict.fromkeys(names, "quasi-identifying"))
    made = sanitize(Table.from_arrow({name: ["x", "y"] for name in names}), schema, Mondrian(KAnonymity(2)))
    for name in names:
        (found,) = ranges_of(made, name).values()
        assert found == {("x", "y")}


def test_only_a_recipe_with_borders_says_how_covers_are_made() -> None:
    assert not is_covering(release(AsIs()))
    assert not is_covering(release(FullDomain({"age": 0}, KAnonymity(1))))
    assert not is_covering(replace(release(Mondrian(KAnonymity(3))), recipe=None))
