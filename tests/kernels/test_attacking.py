"""The kernels of attacks against loops over everything."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.kernels.nearest_records import count_within, densities, draw_nearest, nearest_rows, nearest_votes


@pytest.fixture(params=range(5))
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def compared(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return distances of people from labels, rows of labels, and how far each row is from each person."""
    far = rng.choice([0.0, 0.25, 1.0], (7, 9)).astype(np.float32)
    rows = np.stack([rng.integers(0, 4, 20), rng.integers(4, 9, 20)], axis=1).astype(np.int32)
    return far, rows, far[:, rows].sum(axis=2)


def test_the_nearest_row_is_the_first_of_those_at_the_least_distance(rng: np.random.Generator) -> None:
    far, rows, distances = compared(rng)
    least, first = nearest_rows(far, rows)
    assert least.tolist() == distances.min(axis=1).tolist()
    assert first.tolist() == distances.argmin(axis=1).tolist()


def test_votes_add_up_what_all_nearest_rows_give(rng: np.random.Generator) -> None:
    far, rows, distances = compared(rng)
    given = rng.random((len(rows), 3)) * (rng.random((len(rows), 3)) < 0.5)
    row, value = np.nonzero(given)
    starts = np.searchsorted(row, np.arange(len(rows) + 1))
    votes = nearest_votes(far, rows, starts, value, given[row, value], 3)
    nearest = distances == distances.min(axis=1, keepdims=True)
    assert np.allclose(votes, nearest @ given)


def test_the_records_drawn_are_the_nearest_ones_and_all_of_these_are_drawn(rng: np.random.Generator) -> None:
    far, rows, distances = compared(rng)
    weights = rng.integers(1, 4, len(rows))
    first_record = np.concatenate([[0], np.cumsum(weights)])
    of_record = np.repeat(distances, weights, axis=1)
    seen: list[set[int]] = [set() for _ in far]
    for _ in range(200):
        drawn = draw_nearest(far, rows, first_record, rng.random((len(far), 1)))
        for person, record in enumerate(drawn[:, 0].tolist()):
            seen[person].add(record)
    for person, records in enumerate(seen):
        assert records == set(np.flatnonzero(of_record[person] == of_record[person].min()).tolist())


def test_several_nearest_records_are_as_near_as_any_so_many_can_be(rng: np.random.Generator) -> None:
    far, rows, distances = compared(rng)
    drawn = draw_nearest(far, rows, np.arange(len(rows) + 1), rng.random((len(far), 5)))
    for person, records in enumerate(drawn.tolist()):
        assert len(set(records)) == 5
        assert np.allclose(np.sort(distances[person, records]), np.sort(distances[person])[:5])


def test_densities_fade_with_distance(rng: np.random.Generator) -> None:
    far, rows, distances = compared(rng)
    weights = rng.random(len(rows))
    assert np.allclose(densities(far, rows, weights, 0.5), np.exp(-distances / 0.5) @ weights)


def test_counting_stops_at_enough_and_counts_a_person_once(rng: np.random.Generator) -> None:
    at = rng.integers(0, 4, (30, 3)).astype(np.float64)
    people = np.sort(rng.integers(0, 10, 30))
    least = np.where(rng.random((8, 3)) < 0.5, rng.integers(0, 4, (8, 3)), -np.inf)
    most = np.where(rng.random((8, 3)) < 0.5, 2.0, np.inf)
    orders = np.argsort(at.T, axis=1)
    ones, nobody = np.ones(30, dtype=np.int64), np.empty(0, dtype=np.int64)
    fits = ((at[None] >= least[:, None]) & (at[None] <= most[:, None])).all(axis=2)
    assert count_within(at, at, ones, nobody, orders, least, most, 100).tolist() == fits.sum(axis=1).tolist()
    own = [len(set(people[line].tolist())) for line in np.atleast_2d(fits)]
    assert count_within(at, at, ones, people, orders, least, most, 100).tolist() == own
    assert (
        count_within(at, at, ones, nobody, orders, least, most, 2).tolist()
        == np.minimum(fits.sum(1), 2).tolist()
    )
