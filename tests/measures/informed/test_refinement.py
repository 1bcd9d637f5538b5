"""Combinatorial refinement: against all tables that a small state-by-state recoding releases alike."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.measures.informed.refinement_lp import Refined, ReleasedClass, State, Values, refine

# four values in two pairs; the second attribute has two values
LEVELS = [np.array([[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]), np.array([[0, 1], [0, 0]])]
STATES: list[State] = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]
VALUES = [*itertools.product(range(4), range(2))]


def cell_of(values: Values, state: State) -> Values:
    return tuple(int(LEVELS[i][level][values[i]]) for i, level in enumerate(state))


def released(records: list[Values], k: int) -> list[ReleasedClass]:
    """Go from state to state and release every class of k records that are left."""
    left, classes = list(records), []
    for place, state in enumerate(STATES):
        sizes = Counter(cell_of(values, state) for values in left)
        classes += [ReleasedClass(place, cell, n) for cell, n in sorted(sizes.items()) if n >= k]
        left = [values for values in left if sizes[cell_of(values, state)] < k]
    return classes


def owners(records: list[Values], k: int) -> list[tuple[ReleasedClass, Values]]:
    classes = released(records, k)
    found = []
    for values in records:
        fits = [each for each in classes if cell_of(values, STATES[each.state]) == each.cell]
        found += [(min(fits, key=lambda each: each.state), values)] if fits else []
    return found


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(VALUES), min_size=4, max_size=7), st.integers(2, 3))
def test_what_was_there_is_always_possible(records: list[Values], k: int) -> None:
    classes = released(records, k)
    found = refine(classes, STATES, LEVELS, k)
    possible = dict(zip(classes, found.possible, strict=True))
    for of, values in owners(records, k):
        assert values in possible[of]


@settings(max_examples=15, deadline=None)
@given(st.lists(st.sampled_from(VALUES), min_size=4, max_size=5))
def test_no_more_is_ruled_out_than_all_tables_with_this_release_rule_out(records: list[Values]) -> None:
    classes = released(records, 2)
    n_released = sum(each.size for each in classes)
    seen: dict[ReleasedClass, set[Values]] = {each: set() for each in classes}
    for world in itertools.combinations_with_replacement(VALUES, n_released):
        if released(list(world), 2) == classes:
            for of, values in owners(list(world), 2):
                seen[of].add(values)
    found = refine(classes, STATES, LEVELS, 2)
    for each, possible in zip(classes, found.possible, strict=True):
        assert seen[each] <= set(possible)


def test_records_that_were_left_over_cannot_have_been_together() -> None:
    # two records below the first pair: two of one value would have gone at the first state
    records: list[Values] = [(0, 0), (1, 0), (2, 0), (2, 0)]
    classes = released(records, 2)
    assert [each.size for each in classes] == [2, 2]
    found = refine(classes, STATES, LEVELS, 2)
    by_state = {
        each.state: (possible, most)
        for each, possible, most in zip(classes, found.possible, found.most, strict=True)
    }
    assert by_state[0][0] == ((2, 0),)
    assert by_state[1] == (((0, 0), (1, 0)), (1, 1))


def test_values_are_ruled_out_that_others_who_are_left_would_have_completed() -> None:
    # at the last state three are left: one of each of three pairs, none of which had two
    records: list[Values] = [(0, 0), (1, 1), (2, 0)]
    classes = released(records, 3)
    assert [each.state for each in classes] == [5]
    (most,) = refine(classes, STATES, LEVELS, 3).most
    assert set(most) == {2}


def test_what_no_record_can_have_is_not_possible() -> None:
    found = Refined((((0,), (1,), (2,)), ((3,),)), ((0, 2, 1), (4,)))
    assert found.possible == (((1,), (2,)), ((3,),))


def test_no_more_than_all_and_no_fewer_than_none_have_a_combination() -> None:
    levels = [np.array([[0, 1], [0, 0]])]
    # one record is one or the other, though two of each would have been too few to release
    assert refine([ReleasedClass(1, (0,), 1)], [(0,), (1,)], levels, 3).most == ((1, 1),)
    # five records of which no two are alike cannot be of two kinds
    assert refine([ReleasedClass(1, (0,), 5)], [(0,), (1,)], levels, 2).most == ((0, 0),)
