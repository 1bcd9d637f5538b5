"""The first class that takes a row, against looking at every class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.first_match import first_covering_class


def _first_by_looking(columns: np.ndarray, labels_of: list[list[set[int]]], classes: np.ndarray) -> list[int]:
    found = []
    for row in columns.T:
        takes = (
            number
            for number, labels in enumerate(classes)
            if all(
                label in labels_of[place][value]
                for place, (label, value) in enumerate(zip(labels, row, strict=True))
            )
        )
        found.append(next(takes, -1))
    return found


def _given(
    columns: np.ndarray, labels_of: list[list[set[int]]], classes: np.ndarray, n_labels: int
) -> list[int]:
    flat = [sorted(labels) for each in labels_of for labels in each]
    starts = np.cumsum([0, *map(len, flat)])
    first_value = np.cumsum([0, *map(len, labels_of)])[:-1]
    labels = np.array([label for each in flat for label in each], dtype=np.int64)
    found: list[int] = first_covering_class(columns, first_value, starts, labels, classes, n_labels).tolist()
    return found


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 200))
def test_a_row_is_taken_by_the_first_class_that_stands_for_all_its_values(
    seed: int, n_columns: int, n_classes: int
) -> None:
    rng = np.random.default_rng(seed)
    n_values, n_each = 5, 4
    labels_of = [
        [{c * n_each + label for label in range(n_each) if rng.random() < 0.4} for _ in range(n_values)]
        for c in range(n_columns)
    ]
    classes = np.stack(
        [c * n_each + rng.integers(0, n_each, n_classes) for c in range(n_columns)], axis=1
    ).astype(np.int64)
    columns = rng.integers(0, n_values, (n_columns, 50)).astype(np.int64)
    expected = _first_by_looking(columns, labels_of, classes)
    assert _given(columns, labels_of, classes, n_columns * n_each) == expected


@pytest.mark.parametrize("taking", [0, 63, 64, 4095, 4096, 9_999])
def test_the_class_may_stand_in_any_batch(taking: int) -> None:
    classes = np.zeros((10_000, 1), dtype=np.int64)
    classes[taking] = 1
    assert _given(np.zeros((1, 3), dtype=np.int64), [[{1}]], classes, 2) == [taking] * 3
