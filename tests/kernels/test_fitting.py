"""The fitting kernels against plain loops, and against what must add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.kernels.distribution_fit import fit_codes, fit_values

SETS = [[0, 1, 2], [1, 2], [2, 3], [3], [0, 1, 2, 3]]
STARTS = np.cumsum([0] + [len(each) for each in SETS])
CODES = np.concatenate([np.array(each, dtype=np.int32) for each in SETS])


def fit_codes_by_hand(seen: Any, follow: float, rounds: int, towards_all: float, towards_even: float) -> Any:
    """Seen is an amount for each set and value, follow the share that is not spread evenly."""
    n_codes, n_values = 4, seen.shape[1]
    shares = np.ones((n_codes, n_values))
    for _ in range(rounds):
        spread = np.zeros((n_codes, n_values))
        for label, members in enumerate(SETS):
            for value in range(n_values):
                part = shares[members, value] / shares[members, value].sum()
                even = 1 / len(members)
                spread[members, value] += seen[label, value] * (follow * part + (1 - follow) * even)
        common = (spread.sum(axis=1) + towards_even / n_codes) / (spread.sum() + towards_even)
        shares = spread + towards_all * common[:, None]
        shares /= shares.sum(axis=0)
    return shares


@given(
    seen=st.lists(st.lists(st.integers(0, 50), min_size=2, max_size=2), min_size=5, max_size=5),
    follow=st.sampled_from([0.0, 0.3, 1.0]),
    rounds=st.integers(1, 6),
    towards=st.tuples(st.sampled_from([1.0, 100.0]), st.sampled_from([1.0, 50.0])),
)
@settings(max_examples=40)
def test_codes_are_fitted_as_by_hand(
    seen: Any, follow: float, rounds: int, towards: tuple[float, float]
) -> None:
    amounts = np.array(seen, dtype=np.float64)
    pairs = np.array(list(np.ndindex(5, 2)), dtype=np.int64)
    seen_once = amounts.ravel()
    found = fit_codes(
        STARTS, CODES, pairs[:, 0], pairs[:, 1], seen_once, follow * seen_once, 4, 2, rounds, *towards
    )
    assert found == pytest.approx(fit_codes_by_hand(amounts, follow, rounds, *towards))
    assert found.sum(axis=0) == pytest.approx(1)
    assert found.min() > 0


def test_many_exact_records_are_believed() -> None:
    exact = [np.array([label], dtype=np.int32) for label in range(3)]
    starts = np.arange(4)
    amounts = np.array([1e6, 2e6, 5e6])
    labels, values = np.arange(3), np.zeros(3, dtype=np.int64)
    found = fit_codes(starts, np.concatenate(exact), labels, values, amounts, amounts, 3, 1, 20, 100.0, 50.0)
    assert found[:, 0] == pytest.approx(amounts / amounts.sum(), rel=1e-4)


@st.composite
def groups(draw: st.DrawFn) -> dict[str, Any]:
    """Draw groups of a few units with two attributes, and the values of each group."""
    units: list[tuple[int, int, int, int]] = []
    counts = []
    for group in range(draw(st.integers(1, 4))):
        members = draw(
            st.lists(
                st.tuples(st.integers(0, 2), st.integers(0, 1), st.integers(1, 5)), min_size=1, max_size=4
            )
        )
        units += [(group, *member) for member in members]
        size = sum(member[2] for member in members)
        drawn = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
        counts.append(np.bincount(drawn, minlength=3))
    group_of, first, second, weights = map(np.array, zip(*units, strict=True))
    return {"group": group_of, "labels": [first, second], "weights": weights, "counts": np.array(counts)}


@given(drawn=groups(), rounds=st.integers(0, 8))
@settings(max_examples=60)
def test_units_and_groups_add_up(drawn: dict[str, Any], rounds: int) -> None:
    group_of, counts, weights = drawn["group"], drawn["counts"], drawn["weights"].astype(np.float64)
    entries = [
        (unit, int(value)) for unit, group in enumerate(group_of) for value in np.flatnonzero(counts[group])
    ]
    unit_of, values = np.array(entries, dtype=np.int64).T
    targets = group_of[unit_of] * 3 + values
    sizes = counts.sum(axis=1)
    guess = weights[unit_of] * counts[group_of[unit_of], values] / sizes[group_of[unit_of]]
    sums = np.bincount(targets, guess, minlength=counts.size).astype(np.float64)
    prior = counts.sum(axis=0) / counts.sum()
    profiles, profile_of = np.unique(np.array(drawn["labels"], dtype=np.int32), axis=1, return_inverse=True)
    found = fit_values(
        np.ascontiguousarray(profiles),
        np.array([0, 3, 5]),
        np.bincount(profile_of.ravel(), weights).astype(np.float64),
        profile_of.ravel(),
        weights,
        np.searchsorted(unit_of, np.arange(len(weights) + 1)),
        values.astype(np.int32),
        targets,
        guess,
        sums,
        prior,
        rounds,
        5.0,
    )
    assert np.bincount(unit_of, found) == pytest.approx(weights, rel=1e-6)
    assert np.bincount(targets, found, minlength=counts.size) == pytest.approx(counts.ravel(), rel=1e-6)
    assert found.min() > 0
    if len(counts) == 1 and rounds:
        # one group alone says nothing about who has what
        assert found == pytest.approx(guess, rel=1e-6)
