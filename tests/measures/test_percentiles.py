"""Percentiles over records, against sorting them all."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sfumato.measures.utility.percentiles import percentile


@given(
    classes=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30)), min_size=1, max_size=8),
    percent=st.integers(1, 100),
)
def test_is_the_smallest_figure_that_so_many_records_do_not_exceed(
    classes: list[tuple[int, int]], percent: int
) -> None:
    every = sorted(figure for figure, size in classes for _ in range(size))
    expected = every[-(-percent * len(every) // 100) - 1]
    figures, sizes = (np.array(column) for column in zip(*classes, strict=True))
    assert percentile(figures, sizes, percent) == expected


def test_a_share_just_below_is_not_enough() -> None:
    assert percentile(np.array([0.1, 0.5]), np.array([949, 51]), 95) == 0.5
    assert percentile(np.array([0.1, 0.5]), np.array([950, 50]), 95) == 0.1
