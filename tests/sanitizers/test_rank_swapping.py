"""Tests of rank swapping: values stay, ranks move no further than they may, dependences fade."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Schema, Table, sanitize
from sfumato.kernels.rank_swaps import draw_swaps
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import RankSwapping

SCHEMA = Schema.of(age="quasi-identifying", pay="quasi-identifying", ill="sensitive")


@given(st.integers(1, 60), st.integers(0, 20), st.integers(0, 1_000))
def test_places_are_swapped_in_pairs_within_reach(n: int, reach: int, seed: int) -> None:
    partner = draw_swaps(n, reach, np.random.default_rng(seed).random(n))
    assert (partner[partner] == np.arange(n)).all()
    assert np.abs(partner - np.arange(n)).max() <= reach
    alone = np.flatnonzero(partner == np.arange(n))
    # who stays alone had nobody left within reach
    assert all(b - a > reach for a, b in itertools.pairwise(alone))


def test_every_distance_within_reach_occurs() -> None:
    partner = draw_swaps(5_000, 4, np.random.default_rng(0).random(5_000))
    assert set(np.abs(partner - np.arange(5_000))) >= {1, 2, 3, 4}


def test_values_stay_and_their_dependence_fades_with_the_reach() -> None:
    rng = np.random.default_rng(0)
    age = rng.integers(20, 80, 2_000)
    pay = age * 10 + rng.integers(0, 100, 2_000)
    table = Table.from_arrow({"age": age.tolist(), "pay": pay.tolist(), "ill": ["x", "y"] * 1_000})
    correlations = []
    for reach in (0.0, 0.05, 0.5):
        made = sanitize(table, SCHEMA, RankSwapping(reach), seed=0).to_arrow().to_pandas()
        assert sorted(made["age"]) == sorted(age)
        assert sorted(made["pay"]) == sorted(pay)
        correlations.append(made["age"].corr(made["pay"]))
    assert correlations[0] > correlations[1] > 0.9 > correlations[2]


def test_a_reach_that_is_no_share_is_refused() -> None:
    with pytest.raises(ParameterError, match="reach"):
        RankSwapping(5)
