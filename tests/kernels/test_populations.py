"""The search for large conjunctions against trying out all of them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.frequent_conjunctions import large_conjunctions
from sfumato.measures.utility.estimation.subpopulations import AttributeNodes, alike_in
from sfumato.runtime.arrays import Integers

N_CODES = [3, 4, 2]


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[list[Any]], Any, Any, int]:
    """Draw any sets of codes as nodes, rows with weights, and a least weight."""
    sets = [
        [
            np.array(sorted(codes), dtype=np.int32)
            for codes in draw(st.sets(st.frozensets(st.integers(0, n - 1), min_size=1), max_size=4))
        ]
        for n in N_CODES
    ]
    row = st.tuples(*(st.integers(0, n - 1) for n in N_CODES), st.integers(1, 4))
    rows = np.array(draw(st.lists(row, min_size=1, max_size=12)))
    return sets, rows[:, :3].T.astype(np.int32), rows[:, 3], draw(st.integers(1, 12))


def search(
    sets: Any,
    rows: Any,
    weights: Any,
    least: int,
    most_nodes: int = 3,
    limit: int = 10**6,
    counts: Any = None,
) -> Any:
    nodes = AttributeNodes.of(sets, N_CODES)
    return large_conjunctions(
        np.ascontiguousarray(rows),
        weights,
        np.ones_like(weights) if counts is None else counts,
        least,
        nodes.first_code,
        nodes.node_starts,
        nodes.nodes_of_code,
        nodes.code_starts,
        nodes.codes_of_node,
        most_nodes,
        limit,
        10**9,
    )


@given(case=cases())
@settings(max_examples=80)
def test_all_large_conjunctions_are_found_in_depth_first_order(case: Any) -> None:
    sets, rows, weights, least = case
    if not any(sets):
        return
    numbers = np.cumsum([0] + [len(each) for each in sets])
    expected = {}
    choices = [range(-1, len(each)) for each in sets]
    for chosen in itertools.product(*choices):
        inside = np.ones(rows.shape[1], dtype=np.bool_)
        for attribute, place in enumerate(chosen):
            if place >= 0:
                inside &= np.isin(rows[attribute], sets[attribute][place])
        support = int(weights[inside].sum())
        nodes = tuple(int(numbers[a]) + place for a, place in enumerate(chosen) if place >= 0)
        if nodes and support >= least:
            expected[nodes] = support
    found = {}
    begun: tuple[int, ...] = ()
    for depth, node, support in zip(*search(sets, rows, weights, least)[:3], strict=True):
        begun = (*begun[: depth - 1], int(node))
        assert len(begun) == depth
        assert begun not in found
        found[begun] = int(support)
    assert found == expected


@given(case=cases(), limit=st.integers(0, 5))
@settings(max_examples=30)
def test_the_search_stops_at_the_limit(case: Any, limit: int) -> None:
    sets, rows, weights, least = case
    if not any(sets):
        return
    every, _, _, _, is_complete = search(sets, rows, weights, least)
    some, _, _, _, is_all = search(sets, rows, weights, least, limit=limit)
    assert some.tolist() == every[:limit].tolist()
    assert is_complete
    assert is_all == (len(every) <= limit)


@given(case=cases(), most_nodes=st.integers(1, 3))
@settings(max_examples=30)
def test_conjunctions_of_more_nodes_are_left_out_and_the_rest_keeps_its_order(
    case: Any, most_nodes: int
) -> None:
    sets, rows, weights, least = case
    if not any(sets):
        return
    depths, nodes, supports, _, _ = search(sets, rows, weights, least)
    short = depths <= most_nodes
    found = search(sets, rows, weights, least, most_nodes)
    for every, some in zip((depths, nodes, supports), found[:3], strict=True):
        assert some.tolist() == every[short].tolist()
    assert found[3] == added_up(sets, rows, depths[short].tolist(), nodes[short].tolist())


@given(case=cases())
@settings(max_examples=40)
def test_rows_in_the_same_nodes_can_be_put_together(case: Any) -> None:
    sets, rows, weights, least = case
    if not any(sets):
        return
    row_of, few = alike_in(AttributeNodes.of(sets, N_CODES), list(rows))
    counts = np.bincount(row_of)
    together = search(sets, few, np.bincount(row_of, weights).astype(np.int64), least, counts=counts)
    for every, found in zip(search(sets, rows, weights, least), together, strict=True):
        assert np.array_equal(every, found)


def added_up(sets: Any, rows: Any, depths: list[int], nodes: list[int]) -> int:
    """Return how many rows what each conjunction was begun with has, added up."""
    every = [(attribute, codes) for attribute, each in enumerate(sets) for codes in each]
    inside = [np.ones(rows.shape[1], dtype=np.bool_)]
    work = 0
    for depth, node in zip(depths, nodes, strict=True):
        attribute, codes = every[node]
        inside = [*inside[:depth], inside[depth - 1] & np.isin(rows[attribute], codes)]
        work += int(inside[depth - 1].sum())
    return work


def test_more_conjunctions_than_the_first_arrays_hold() -> None:
    sets: list[list[Integers]] = [[np.array([code], dtype=np.int32) for code in range(40)] for _ in range(2)]
    rows = np.array(list(np.ndindex(40, 40)), dtype=np.int32).T
    nodes = AttributeNodes.of(sets, [40, 40])
    found = large_conjunctions(
        np.ascontiguousarray(rows),
        np.ones(1600, dtype=np.int64),
        np.ones(1600, dtype=np.int64),
        1,
        nodes.first_code,
        nodes.node_starts,
        nodes.nodes_of_code,
        nodes.code_starts,
        nodes.codes_of_node,
        2,
        10**6,
        10**9,
    )
    assert len(found[0]) == 40 + 40 + 1600
    assert sorted(found[2].tolist()) == [1] * 1600 + [40] * 80
