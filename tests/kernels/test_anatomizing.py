"""Anatomy's grouping, on every small table of counts and on large skewed ones."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.anatomy import diverse_groups


def grouped(counts: list[int], size: int) -> list[Counter[int]]:
    """Return the values of each group."""
    starts, group_of = diverse_groups(np.array(counts, dtype=np.int64), size, sum(counts))
    assert starts.tolist() == [0, *itertools.accumulate(counts)]
    assert len(group_of) == sum(counts)
    assert group_of.min() >= 0, "a record has no group"
    groups = [Counter[int]() for _ in range(group_of.max() + 1)]
    for value, (start, end) in enumerate(itertools.pairwise(starts.tolist())):
        for group in group_of[start:end].tolist():
            groups[group][value] += 1
    return groups


def check(counts: list[int], size: int) -> None:
    groups = grouped(counts, size)
    assert all(len(group) >= size for group in groups), "a group has too few values"
    assert all(max(group.values()) == 1 for group in groups), "a value stands twice in a group"
    assert len(groups) == sum(counts) // size
    assert sum(groups, Counter()) == Counter({value: n for value, n in enumerate(counts) if n})


def eligible(counts: list[int], size: int) -> bool:
    return 0 < max(counts) * size <= sum(counts)


@pytest.mark.parametrize("size", [2, 3, 4, 5])
def test_every_table_of_up_to_five_values_is_grouped(size: int) -> None:
    tried = 0
    for counts in itertools.product(range(5), repeat=5):
        if eligible(list(counts), size):
            check(list(counts), size)
            tried += 1
    assert tried > 0


@given(counts=st.lists(st.integers(0, 60), min_size=2, max_size=12), size=st.integers(2, 6))
@settings(max_examples=150)
def test_larger_tables_at_the_very_limit_too(counts: list[int], size: int) -> None:
    # make the largest count exactly what is allowed: max * size == the sum, or the next possible
    others = sorted(counts)[:-1]
    largest = sum(others) // (size - 1)
    whole = [*others, largest]
    if eligible(whole, size):
        check(whole, size)


@pytest.mark.parametrize("size", [2, 3, 7])
def test_as_many_values_as_a_group_must_have_and_all_equally_frequent(size: int) -> None:
    groups = grouped([5] * size, size)
    assert [len(group) for group in groups] == [size] * 5


def test_left_over_records_go_where_their_value_is_not_yet() -> None:
    # 3 + 3 + 1 records in groups of 2: three groups, and one record is left over
    groups = grouped([3, 3, 1], 2)
    assert sorted(len(group) for group in groups) == [2, 2, 3]


def test_one_group_takes_all_when_there_are_few() -> None:
    assert [len(group) for group in grouped([1, 1, 1, 1, 1], 3)] == [5]


def test_the_same_counts_give_the_same_groups() -> None:
    counts = np.array([7, 5, 5, 3, 2, 1])
    first, again = (diverse_groups(counts, 3, 23) for _ in range(2))
    assert first[1].tolist() == again[1].tolist()
    assert counts.tolist() == [7, 5, 5, 3, 2, 1]


def test_half_a_million_skewed_records() -> None:
    rng = np.random.default_rng(4)
    counts = np.sort(rng.zipf(1.6, 40).clip(1, 40_000)) + 1000
    counts[-1] = counts[:-1].sum() // 3
    size = int(counts.sum() // counts.max())
    check(counts.tolist(), size)
