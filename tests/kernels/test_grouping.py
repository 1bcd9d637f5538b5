"""Numbering and counting against Python's dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.row_groups import (
    first_row_of_group,
    number_rows,
    rows_by_group,
    sum_by_group,
    value_counts,
)


def numbers_by_dictionary(columns: list[np.ndarray], n_rows: int) -> list[int]:
    """Number equal rows in the order in which they first occur, by a dictionary of tuples."""
    places: dict[tuple[int, ...], int] = {}
    rows = list(zip(*(column.tolist() for column in columns), strict=True)) if columns else [()] * n_rows
    return [places.setdefault(row, len(places)) for row in rows]


@st.composite
def coded_columns(draw: st.DrawFn) -> tuple[list[np.ndarray], list[int], int]:
    """Draw columns of codes with small and with very large cardinalities."""
    n_rows = draw(st.integers(0, 30))
    cardinalities = draw(st.lists(st.sampled_from([1, 2, 3, 1000, 2**20, 2**31 - 1]), max_size=6))
    columns = []
    for cardinality in cardinalities:
        few = draw(st.lists(st.integers(0, cardinality - 1), min_size=1, max_size=4))
        codes = draw(st.lists(st.sampled_from(few), min_size=n_rows, max_size=n_rows))
        columns.append(np.array(codes, dtype=np.int32))
    return columns, cardinalities, n_rows


@pytest.mark.parametrize("n_different", [2**16 - 1, 2**16, 2**16 + 1, 250_000])
def test_very_many_different_rows_are_numbered_as_few_are(n_different: int) -> None:
    rng = np.random.default_rng(n_different)
    key = rng.permutation(n_different) * 9_999_999
    rows = np.concatenate([rng.integers(0, n_different, 5_000), np.arange(n_different)])
    columns = [key[rows] // 2**31, key[rows] % 2**31]
    numbers, found = number_rows(columns, [2**31, 2**31], len(rows))
    assert found == n_different
    assert numbers.tolist() == numbers_by_dictionary(columns, len(rows))


@given(coded_columns())
def test_equal_rows_get_equal_numbers_in_the_order_of_their_first_occurrence(drawn) -> None:
    columns, cardinalities, n_rows = drawn
    numbers, n_distinct = number_rows(columns, cardinalities, n_rows)
    expected = numbers_by_dictionary(columns, n_rows)
    assert numbers.tolist() == expected
    assert n_distinct == len(set(expected))


@pytest.mark.parametrize(
    ("n_columns", "cardinality"),
    # with powers of two a key that overflows would forget its first columns
    [
        (2, 2**31 - 1),
        (3, 2**31 - 1),
        (12, 2**31 - 1),
        (200, 50),
        (62, 2),
        (63, 2),
        (100, 2),
        (8, 2**16),
        (5, 2**30),
    ],
)
def test_keys_beyond_64_bits_are_numbered_like_a_dictionary_does(n_columns: int, cardinality: int) -> None:
    rng = np.random.default_rng(7)
    distinct = rng.integers(0, cardinality, size=(150, n_columns), dtype=np.int32)
    # rows that differ in one place only, at either end of the key
    distinct[1], distinct[2] = distinct[0], distinct[0]
    distinct[1, 0], distinct[2, -1] = (distinct[0, 0] + 1) % cardinality, (distinct[0, -1] + 1) % cardinality
    rows = distinct[rng.integers(0, len(distinct), size=2000)]
    columns = [np.ascontiguousarray(rows[:, column]) for column in range(n_columns)]
    numbers, n_distinct = number_rows(columns, [cardinality] * n_columns, len(rows))
    expected = numbers_by_dictionary(columns, len(rows))
    assert numbers.tolist() == expected
    assert n_distinct == len(set(expected))


def test_many_rows_with_sparse_keys_are_numbered_like_a_dictionary_does() -> None:
    rng = np.random.default_rng(8)
    columns = [rng.integers(0, 40_000, size=50_000, dtype=np.int32) for _ in range(2)]
    numbers, n_distinct = number_rows(columns, [40_000, 40_000], 50_000)
    expected = numbers_by_dictionary(columns, 50_000)
    assert numbers.tolist() == expected
    assert n_distinct == max(expected) + 1


def test_without_columns_all_rows_are_equal() -> None:
    numbers, n_distinct = number_rows([], [], 3)
    assert numbers.tolist() == [0, 0, 0]
    assert n_distinct == 1


grouped_rows = st.integers(1, 6).flatmap(
    lambda n_groups: st.tuples(
        st.just(n_groups),
        st.lists(st.tuples(st.integers(0, n_groups - 1), st.integers(0, 4), st.integers(1, 9)), max_size=40),
    )
)


def arrays(rows: list[tuple[int, int, int]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    group, value, weight = zip(*rows, strict=True) if rows else ((), (), ())
    return np.array(group, np.int64), np.array(value, np.int32), np.array(weight, np.int64)


@given(grouped_rows)
def test_the_values_of_each_group_are_counted_like_a_counter_does(drawn) -> None:
    n_groups, rows = drawn
    expected: dict[int, Counter[int]] = defaultdict(Counter)
    for group, value, weight in rows:
        expected[group][value] += weight
    group, values, weights = arrays(rows)
    starts, found, counts = value_counts(group, n_groups, values, 5, weights)
    assert len(starts) == n_groups + 1
    for index in range(n_groups):
        entries = slice(starts[index], starts[index + 1])
        assert found[entries].tolist() == sorted(expected[index])
        assert dict(zip(found[entries].tolist(), counts[entries].tolist(), strict=True)) == expected[index]


@given(grouped_rows)
def test_weights_add_up_by_group(drawn) -> None:
    n_groups, rows = drawn
    group, _, weights = arrays(rows)
    expected = [sum(weight for place, _, weight in rows if place == index) for index in range(n_groups)]
    assert sum_by_group(group, n_groups, weights).tolist() == expected


@given(grouped_rows)
def test_rows_by_group_are_stable_and_complete(drawn) -> None:
    n_groups, rows = drawn
    group, _, _ = arrays(rows)
    order, starts = rows_by_group(group, n_groups)
    for index in range(n_groups):
        members = [row for row, (place, _, _) in enumerate(rows) if place == index]
        assert order[starts[index] : starts[index + 1]].tolist() == members
        assert first_row_of_group(group, n_groups)[index] == (members[0] if members else -1)


def test_rows_that_stand_for_no_record_are_counted_without_harm() -> None:
    zeros = np.zeros(1000, np.int64)
    starts, values, counts = value_counts(zeros, 1, zeros.astype(np.int32), 1, zeros)
    assert (starts.tolist(), values.tolist(), counts.tolist()) == ([0, 1], [0], [0])


def test_sums_do_not_overflow_32_bits() -> None:
    weights = np.full(4, 2**31, np.int64)
    assert sum_by_group(np.zeros(4, np.int64), 1, weights).tolist() == [2**33]
