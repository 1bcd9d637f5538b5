"""What each column adds to what tells people apart, against brute force."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.schema import Role, Schema
from sfumato.data.table import Table
from sfumato.measures.identity.uniqueness import singling_out

NAMES = ("a", "b", "c", "d")
ROLES: dict[str, Role] = {"a": "quasi-identifying", "b": "quasi-identifying", "c": "quasi-identifying"}


def unique_in(rows: list[tuple[Any, ...]], places: tuple[int, ...]) -> set[int]:
    """Return which records no other looks like in these columns."""
    counted = Counter(tuple(row[place] for place in places) for row in rows)
    return {n for n, row in enumerate(rows) if counted[tuple(row[place] for place in places)] == 1}


def minimal(rows: list[tuple[Any, ...]], places: tuple[int, ...]) -> set[int]:
    parts = [part for size in range(1, len(places)) for part in combinations(places, size)]
    return unique_in(rows, places) - set().union(*(unique_in(rows, part) for part in parts))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=2, max_size=14))
def test_it_is_what_counting_by_hand_gives(rows: list[tuple[int, ...]]) -> None:
    table = Table.from_arrow({name: [row[place] for row in rows] for place, name in enumerate(NAMES)})
    found = singling_out(table, Schema.of({**ROLES, "d": "withheld"}))
    known = (0, 1, 2)
    assert found.unique == pytest.approx(len(unique_in(rows, known)) / len(rows))
    told = {each.name: each for each in found.columns}
    for place in known:
        rest = tuple(other for other in known if other != place)
        assert told[NAMES[place]].unique == pytest.approx(len(unique_in(rows, rest)) / len(rows))
    assert told["d"].unique == pytest.approx(len(unique_in(rows, (*known, 3))) / len(rows))
    for place, name in enumerate(NAMES):
        pairs = [(one[place], other[place]) for one, other in combinations(rows, 2)]
        assert told[name].separation == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))
        assert told[name].distinction == pytest.approx(len({row[place] for row in rows}) / len(rows))
    by_hand = {
        tuple(NAMES[place] for place in subset): len(minimal(rows, subset))
        for size in (1, 2, 3)
        for subset in combinations(known, size)
    }
    counted = {each.columns: each.n_people for each in found.sets}
    assert counted == {subset: n for subset, n in by_hand.items() if n}


def test_sets_of_few_columns_count_more() -> None:
    """SUDA's score of a set of m out of n columns is (n - m)(n - m - 1)… as far as sets were looked at."""
    table = Table.from_arrow(
        {"a": [1, 2, 2, 2, 2], "b": [1, 1, 1, 2, 2], "c": [1, 1, 2, 1, 2], "d": [1] * 5, "e": [1] * 5}
    )
    found = singling_out(table, Schema.of(dict.fromkeys("abcde", "quasi-identifying")))
    counted = {each.columns: each.n_people for each in found.sets}
    assert counted == {("a",): 1, ("b", "c"): 3, ("a", "b", "c"): 1}
    one, two, three = 1 * 4 * 3 * 2, 3 * 3 * 2, 1 * 2
    total = one + two + three
    parts = {"a": one + three, "b": two + three, "c": two + three, "d": 0, "e": 0}
    assert {each.name: each.part for each in found.columns} == pytest.approx(
        {name: score / total for name, score in parts.items()}
    )


def test_an_identifying_column_is_left_out_and_without_a_quasi_identifier_nobody_is_unique() -> None:
    table = Table.from_arrow({"name": ["x", "y"], "ill": ["a", "b"]})
    found = singling_out(table, Schema.of(name="identifying", ill="sensitive"))
    assert (found.unique, found.sets) == (0.0, ())
    assert [(each.name, each.unique, each.part) for each in found.columns] == [("ill", 1.0, None)]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), min_size=2, max_size=14))
def test_somebody_is_unique_whom_nobody_else_looks_like(rows: list[tuple[int, ...]]) -> None:
    """With whose the records are in the last column: a person's second record makes them no less unique."""
    table = Table.from_arrow({name: [row[place] for row in rows] for place, name in enumerate(NAMES)})
    schema = replace(Schema.of({**ROLES, "d": "identifying"}), person="d")
    found = singling_out(table, schema)

    def alone(places: tuple[int, ...]) -> set[int]:
        seen = [tuple(row[place] for place in places) for row in rows]
        return {
            n
            for n, row in enumerate(rows)
            if all(other[3] == row[3] for other, look in zip(rows, seen, strict=True) if look == seen[n])
        }

    people = {row[3] for row in rows}
    assert found.counts_people
    assert found.unique == pytest.approx(len({rows[n][3] for n in alone((0, 1, 2))}) / len(people))
    by_hand = {}
    for subset in [part for size in (1, 2, 3) for part in combinations((0, 1, 2), size)]:
        parts = [part for size in range(1, len(subset)) for part in combinations(subset, size)]
        minimal = alone(subset) - set().union(*(alone(part) for part in parts))
        by_hand[tuple(NAMES[place] for place in subset)] = len({rows[n][3] for n in minimal})
    assert {each.columns: each.n_people for each in found.sets} == {s: n for s, n in by_hand.items() if n}
