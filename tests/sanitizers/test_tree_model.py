"""Tests of the tree-shaped model: near its counts, without contradiction, and drawn evenly."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from sfumato.sanitizers.synthesize.tree_model import (
    Counted,
    TreeModel,
    fit_to_margins,
    fit_tree,
    project_to_simplex,
)

NUMBERS = st.floats(-50, 100)


@given(st.lists(NUMBERS, min_size=1, max_size=8), st.floats(1, 200))
def test_counts_are_moved_as_little_as_possible_to_their_sum(counts: list[float], total: float) -> None:
    near = project_to_simplex(np.array(counts), total)
    assert near.min() >= 0
    assert near.sum() == pytest.approx(total)
    # of a nearest point: whoever gave some of its records to another value would lie further away
    gaps = np.array(counts) - near
    for place in np.flatnonzero(near > 1e-9):
        assert gaps[place] >= gaps.max() - 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_a_table_is_moved_as_little_as_possible_to_its_sums(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noisy = rng.normal(3, 6, (3, 4))
    rows, columns = (
        project_to_simplex(rng.normal(10, 4, 3), 30.0),
        project_to_simplex(rng.normal(8, 4, 4), 30.0),
    )
    best = minimize(
        lambda x: ((x - noisy.ravel()) ** 2).sum(),
        np.outer(rows, columns).ravel() / 30,
        bounds=[(0, None)] * 12,
        constraints=[
            {"type": "eq", "fun": lambda x: x.reshape(3, 4).sum(axis=1) - rows},
            {"type": "eq", "fun": lambda x: x.reshape(3, 4).sum(axis=0)[:-1] - columns[:-1]},
        ],
    )
    assert fit_to_margins(noisy, rows, columns).ravel() == pytest.approx(best.x, abs=0.02)


def test_exact_counts_are_fitted_exactly_and_drawn_to_the_record() -> None:
    rng = np.random.default_rng(0)
    one = rng.integers(0, 4, 5_000)
    other = (one + rng.integers(0, 2, 5_000)) % 4
    third = (other * 2 + (rng.random(5_000) < 0.2)) % 3
    columns, pairs = (one, other, third), ((0, 1), (1, 2))
    joints = {(a, b): counts(columns[a], columns[b]) for a, b in pairs}
    single = [Counted(np.bincount(each).astype(float), 1.0) for each in columns]
    model = fit_tree(5_000.0, single, {edge: Counted(found, 1.0) for edge, found in joints.items()})
    drawn = model.drawn(5_000, rng)
    for (a, b), expected in joints.items():
        assert np.abs(model.joints[a, b] - expected).max() < 1e-6
        assert np.abs(counts(drawn[a], drawn[b]) - expected).max() <= 1
    # what the tree does not tell is drawn independently, given what it tells
    given_middle = [counts(drawn[0][drawn[1] == value], drawn[2][drawn[1] == value]) for value in range(4)]
    for found in given_middle:
        expected = np.outer(found.sum(axis=1), found.sum(axis=0)) / found.sum()
        assert ((found - expected) ** 2 / np.maximum(expected, 1)).sum() < 30


def counts(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    found = np.zeros((4, 4 if other.max() > 2 else 3))
    np.add.at(found, (one, other), 1)
    return found


def test_trees_apart_are_drawn_independently() -> None:
    model = TreeModel((np.array([6.0, 2.0]), np.array([4.0, 4.0])), {})
    first, second = model.drawn(800, np.random.default_rng(3))
    assert np.bincount(first).tolist() == [600, 200]
    assert 60 < (second[first == 1] == 0).sum() < 140
