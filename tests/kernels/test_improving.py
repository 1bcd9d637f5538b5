"""Improving a partition: nothing is lost, what is kept up to date is right, steps can be undone."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from sfumato.kernels.greedy_clusters import Covers
from sfumato.kernels.partition_improvement import (
    MoveJournal,
    Partition,
    fill_partition,
    improve,
    note_neighbours,
    note_neighbours_of_neighbours,
    undo_failed_steps,
)

N_ROWS, N_CODES = 120, 9


def intervals(n_columns: int) -> Covers:
    """Columns of numbers: a cover costs its width."""
    prices = np.tile(np.arange(N_CODES) / (N_CODES - 1), n_columns)
    columns = np.array([[column * N_CODES, -1, -1] for column in range(n_columns)])
    return Covers(prices, columns, np.zeros(0, dtype=np.int64))


def cost(codes: np.ndarray) -> float:
    return float((codes.max(axis=0) - codes.min(axis=0)).sum() / (N_CODES - 1))


def codes_of(classes: Partition) -> np.ndarray:
    """Return the codes without those that have the other sign."""
    return classes.codes[:, : classes.codes.shape[1] // 2]


def total(classes: Partition) -> float:
    return sum(
        cost(codes_of(classes)[classes.class_of == place]) * classes.weights[classes.class_of == place].sum()
        for place in np.unique(classes.class_of)
    )


def partition(seed: int, n_parts: int = 15) -> tuple[Partition, np.random.Generator]:
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, N_CODES, (N_ROWS, 3)).astype(np.int32)
    covers = intervals(3)
    neighbours = np.full((N_ROWS, 10), -1, dtype=np.int32)
    distances = np.full((N_ROWS, 10), np.inf)
    note_neighbours(codes, rng.permutation(N_ROWS), N_ROWS, neighbours, distances, *covers)
    class_of = np.arange(N_ROWS) % n_parts
    integers = [np.zeros(N_ROWS, dtype=np.int64) for _ in range(4)]
    weights = rng.integers(1, 3, N_ROWS)
    arrays: Any = [*covers, np.hstack([codes, -codes]), weights, neighbours, class_of, *integers]
    arrays += [np.zeros((N_ROWS, 6), dtype=np.int32), np.zeros(N_ROWS)]
    arrays += [np.zeros((N_ROWS, 6, 3), dtype=np.int32), np.arange(N_ROWS)]
    classes = Partition(*arrays)
    fill_partition(classes)
    return classes, rng


def journal() -> MoveJournal:
    return MoveJournal(*np.zeros((4, 2 * N_ROWS), dtype=np.int64))


def unlocked() -> np.ndarray:
    return np.zeros(N_ROWS, dtype=np.bool_)


def check(classes: Partition) -> None:
    """What is kept up to date step by step equals what is worked out anew."""
    seen: Counter[int] = Counter()
    for place in range(N_ROWS):
        rows = []
        row = classes.first[place]
        while row >= 0:
            rows.append(int(row))
            row = classes.following[row]
        seen.update(rows)
        assert all(classes.class_of[row] == place for row in rows)
        assert classes.sizes[place] == classes.weights[rows].sum()
        if rows:
            codes = classes.codes[rows]
            assert (classes.lowest[place] == codes.min(axis=0)).all()
            assert classes.costs[place] == pytest.approx(cost(codes_of(classes)[rows]))
            at_lowest, following, at_following = classes.ends[place].T
            assert (at_lowest == (codes == codes.min(axis=0)).sum(axis=0)).all()
            for end in np.flatnonzero(at_following):
                higher = codes[:, end][codes[:, end] > codes[:, end].min()]
                assert (following[end], at_following[end]) == (higher.min(), (higher == higher.min()).sum())
    assert seen == Counter(range(N_ROWS))


def test_neighbours_are_the_nearest_rows_that_were_met() -> None:
    classes, _ = partition(0)
    for row in range(N_ROWS):
        near = classes.neighbours[row]
        distances = sorted(cost(codes_of(classes)[[row, other]]) for other in range(N_ROWS) if other != row)
        assert len(set(near.tolist())) == len(near)
        assert row not in near
        assert [cost(codes_of(classes)[[row, other]]) for other in near] == pytest.approx(
            distances[: len(near)]
        )


def test_friends_of_friends_are_found() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, N_CODES, (N_ROWS, 2)).astype(np.int32)
    neighbours = np.full((N_ROWS, 8), -1, dtype=np.int32)
    distances = np.full((N_ROWS, 8), np.inf)
    note_neighbours(codes, rng.permutation(N_ROWS), 6, neighbours, distances, *intervals(2))
    before = distances.copy()
    note_neighbours_of_neighbours(codes, 0, N_ROWS, neighbours.copy(), neighbours, distances, *intervals(2))
    assert (distances <= before).all()
    assert distances.sum() < before.sum()
    for row in range(N_ROWS):
        assert [cost(codes[[row, other]]) for other in neighbours[row]] == pytest.approx(distances[row])


@pytest.mark.parametrize("temperature", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(5))
def test_steps_lose_no_row_and_keep_every_class_large_enough(seed: int, temperature: float) -> None:
    classes, rng = partition(seed)
    improve(classes, journal(), unlocked(), False, 4, 2_000, temperature, rng)
    check(classes)
    sizes = classes.sizes[classes.sizes > 0]
    assert sizes.min() >= 4


@pytest.mark.parametrize("seed", range(5))
def test_without_warmth_the_loss_only_falls(seed: int) -> None:
    classes, rng = partition(seed)
    losses = [total(classes)]
    for _ in range(20):
        improve(classes, journal(), unlocked(), False, 4, 100, 0.0, rng)
        losses.append(total(classes))
    assert (np.diff(losses) <= 1e-9).all()
    assert losses[-1] < 0.5 * losses[0]


def test_locked_classes_do_not_change() -> None:
    classes, rng = partition(3)
    locked = unlocked()
    locked[:6] = True
    before = [np.flatnonzero(classes.class_of == place).tolist() for place in range(6)]
    improve(classes, journal(), locked, False, 4, 2_000, 0.0, rng)
    assert [np.flatnonzero(classes.class_of == place).tolist() for place in range(6)] == before
    check(classes)


@pytest.mark.parametrize("seed", range(5))
def test_a_wave_changes_a_class_once_and_every_step_can_be_taken_back(seed: int) -> None:
    classes, rng = partition(seed)
    before = classes.class_of.copy()
    steps = journal()
    n_moves = improve(classes, steps, unlocked(), True, 4, 300, 0.0, rng)
    assert n_moves
    step_of: dict[int, set[int]] = {}
    for entry in range(n_moves):
        for place in (steps.origins[entry], steps.targets[entry]):
            step_of.setdefault(int(place), set()).add(int(steps.steps[entry]))
    assert all(len(its_steps) == 1 for its_steps in step_of.values())
    after = classes.class_of.copy()

    undo_failed_steps(classes, steps, n_moves, unlocked())
    assert (classes.class_of == after).all()

    first = steps.steps[0]
    fails = unlocked()
    fails[steps.targets[0]] = True
    undo_failed_steps(classes, steps, n_moves, fails)
    its_rows = steps.rows[:n_moves][steps.steps[:n_moves] == first]
    assert (classes.class_of[its_rows] == before[its_rows]).all()
    others = np.setdiff1d(np.arange(N_ROWS), its_rows)
    assert (classes.class_of[others] == after[others]).all()
    check(classes)


def test_a_class_that_costs_nothing_is_left_alone() -> None:
    classes, rng = partition(0)
    classes.codes[:] = np.repeat([4, -4], 3)
    fill_partition(classes)
    before = classes.class_of.copy()
    assert improve(classes, journal(), unlocked(), False, 4, 500, 0.0, rng) == 0
    assert (classes.class_of == before).all()
