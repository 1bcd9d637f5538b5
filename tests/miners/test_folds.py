"""Folds: every record in one of them, evenly, by chance, and always in the same one."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.miners.folds import held_out

ROWS = st.lists(st.tuples(st.integers(1, 7), st.integers(0, 3)), min_size=1, max_size=30)


@given(ROWS, st.integers(2, 10), st.integers(0, 5))
def test_every_record_is_in_one_fold(rows: list[tuple[int, int]], folds: int, seed: int) -> None:
    weights, strata = np.array(rows).T
    held = held_out(weights, strata, folds, seed)
    assert held.shape == (len(rows), folds)
    assert held.min() >= 0
    assert held.sum(axis=1).tolist() == weights.tolist()
    assert (held_out(weights, strata, folds, seed) == held).all()


@given(ROWS, st.integers(2, 10))
def test_folds_and_strata_differ_by_one_record_at_most(rows: list[tuple[int, int]], folds: int) -> None:
    weights, strata = np.array(rows).T
    held = held_out(weights, strata, folds, 0)
    assert np.ptp(held.sum(axis=0)) <= 1
    for stratum in Counter(strata.tolist()):
        assert np.ptp(held[strata == stratum].sum(axis=0)) <= 1


def test_two_records_of_a_row_meet_in_a_fold_as_often_as_any_two() -> None:
    weights, strata = np.full(5000, 2), np.zeros(5000, dtype=np.int64)
    together = (held_out(weights, strata, 4, 0) == 2).any(axis=1).mean()
    assert together == pytest.approx(1 / 4, abs=0.02)


def test_another_seed_divides_otherwise() -> None:
    weights, strata = np.ones(100, dtype=np.int64), np.zeros(100, dtype=np.int64)
    assert (held_out(weights, strata, 5, 0) != held_out(weights, strata, 5, 1)).any()
