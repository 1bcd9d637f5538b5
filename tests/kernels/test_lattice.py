"""Groups of generalized rows against Python's dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.kernels.lattice_nodes import (
    Groups,
    count_cells,
    count_values,
    describe_sizes,
    node_keys,
    roll_up,
)

N_VALUES = 4
WIDTH = 8


@st.composite
def rows(
    draw: st.DrawFn,
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Draw rows of two attributes with the values 0-2 and 3-7, with classes, sensitive values and weights."""
    row = st.tuples(
        st.integers(0, 2), st.integers(3, 7), st.integers(0, 3), st.integers(0, 3), st.integers(1, 9)
    )
    drawn = np.array(draw(st.lists(row, min_size=1, max_size=40)))
    return drawn[:, :2].astype(np.int32), drawn[:, 2], drawn[:, 3].astype(np.int32), drawn[:, 4]


@given(rows())
def test_keys_add_up_the_parts_of_the_cells(drawn: Any) -> None:
    cells = drawn[0]
    parts = np.array([1, 2, 3, 10, 20, 30, 40, 50])
    assert node_keys(cells, parts).tolist() == [parts[a] + parts[b] for a, b in cells.tolist()]


@given(rows(), st.lists(st.booleans(), min_size=4, max_size=4))
def test_cells_of_the_wanted_classes_are_counted(drawn: Any, wanted: list[bool]) -> None:
    cells, class_of, _, weights = drawn
    expected: Counter[int] = Counter()
    for row, index, weight in zip(cells.tolist(), class_of.tolist(), weights.tolist(), strict=True):
        expected.update(dict.fromkeys(row, weight) if wanted[index] else {})
    found = count_cells(cells, class_of, np.array(wanted), weights, 8)
    assert found.tolist() == [expected[value] for value in range(8)]


@given(rows())
def test_the_values_of_groups_are_counted_in_order_without_those_left_out(drawn: Any) -> None:
    _, class_of, values, weights = drawn
    group = class_of - 1
    expected: dict[int, Counter[int]] = defaultdict(Counter)
    for index, value, weight in zip(group.tolist(), values.tolist(), weights.tolist(), strict=True):
        expected[index][value] += weight
    order = np.argsort(values, kind="stable")
    starts, found, counts = count_values(order, group, 3, values, weights)
    for index in range(3):
        entries = slice(starts[index], starts[index + 1])
        assert found[entries].tolist() == sorted(expected[index])
        assert dict(zip(found[entries].tolist(), counts[entries].tolist(), strict=True)) == expected[index]
    assert starts[-1] == len(found) == len(counts)


def empty_groups(size: int) -> Groups:
    # filled with rubbish: what is not written must not be read
    return Groups(
        np.full(size, 99),
        np.full(size, 99),
        np.full(size, 99.0),
        np.full(size, 3, dtype=np.int32),
        np.full((size, WIDTH), 99, dtype=np.int32),
    )


def grouped(
    keys: np.ndarray[Any, Any], values: np.ndarray[Any, Any], weights: np.ndarray[Any, Any]
) -> Groups:
    """Group rows by their keys, the loss of a group being its key's second field."""
    distinct = list(dict.fromkeys(keys.tolist()))
    groups = empty_groups(len(distinct))
    for place, key in enumerate(distinct):
        rows = keys == key
        counts = np.bincount(values[rows], weights[rows], minlength=WIDTH).astype(np.int32)
        only = np.flatnonzero(counts)
        groups.keys[place], groups.counts[place], groups.losses[place] = key, counts.sum(), key >> 2
        groups.pure[place] = only[0] if len(only) == 1 else -1
        if len(only) > 1:
            groups.histograms[place] = counts
    return groups


def contents(groups: Groups, size: int) -> dict[int, tuple[int, float, list[int]]]:
    found = {}
    for place in range(size):
        row = groups.histograms[place].tolist()
        if groups.pure[place] >= 0:
            row = [0] * WIDTH
            row[groups.pure[place]] = int(groups.counts[place])
        found[int(groups.keys[place])] = (int(groups.counts[place]), float(groups.losses[place]), row)
    return found


@given(rows(), st.lists(st.integers(0, 7), min_size=8, max_size=8))
def test_rolling_up_is_grouping_by_the_new_keys(drawn: Any, parent: list[int]) -> None:
    cells, _, values, weights = drawn
    # the second attribute lies in the bits above the first two
    keys = cells[:, 0] | cells[:, 1].astype(np.int64) << 2
    groups = grouped(keys, values, weights)
    old = np.arange(8)
    steps = (old ^ np.array(parent)) << 2
    into = empty_groups(len(groups.keys))
    slots = np.full(16 + 4 * len(groups.keys), 7, dtype=np.int32)
    size = roll_up(groups, 2, 7, steps, (np.array(parent) - old).astype(np.float64), slots, into)
    new_keys = cells[:, 0] | np.array(parent)[cells[:, 1]] << 2
    expected = grouped(new_keys, values, weights)
    assert size == len(expected.keys)
    assert contents(into, size) == contents(expected, size)


@given(st.lists(st.tuples(st.integers(1, 12), st.integers(0, 5)), min_size=1, max_size=30))
def test_sizes_are_described(groups: list[tuple[int, int]]) -> None:
    sizes, losses = (np.array(column) for column in zip(*groups, strict=True))
    small, small_losses = np.zeros(8, dtype=np.int64), np.zeros(8)
    smallest, squares = describe_sizes(sizes, losses.astype(np.float64), small, small_losses)
    assert (smallest, squares) == (sizes.min(), (sizes**2).sum())
    for size in range(8):
        assert small[size] == (sizes == size).sum()
        assert small_losses[size] == (sizes * losses)[sizes == size].sum()
