"""Selection over arrays decides as pymoo does, one pair after the other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pymoo.algorithms.moo.nsga2 import binary_tournament
from pymoo.core.population import Population

from sfumato.search.evolution.nsga2 import winners


def algorithm(seed: int) -> Any:
    return SimpleNamespace(
        tournament_type="comp_by_dom_and_crowding", random_state=np.random.default_rng(seed)
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_winners_and_the_draws_are_those_of_pymoo(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 30
    # few different figures, so that there are ties in everything
    population = Population.new(
        X=rng.integers(0, 3, (n, 2)),
        F=rng.integers(0, 3, (n, 2)).astype(float),
        G=rng.integers(-1, 2, (n, 1)).astype(float),
        H=np.empty((n, 0)),
    )
    population.set("crowding", rng.choice([0.0, 1.0, np.inf], n))
    population.set("rank", np.zeros(n, dtype=int))
    pairs = rng.integers(0, n, (200, 2))
    ours, theirs = algorithm(seed), algorithm(seed)
    assert winners(population, pairs, ours).tolist() == binary_tournament(population, pairs, theirs).tolist()
    assert ours.random_state.integers(1 << 60) == theirs.random_state.integers(1 << 60)
