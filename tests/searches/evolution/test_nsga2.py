"""Generations over arrays are those of pymoo, draw by draw."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pymoo.algorithms.moo.nsga2 import NSGA2, binary_tournament
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.population import Population as PymooPopulation
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling
from pymoo.operators.survival.rank_and_crowding import RankAndCrowding
from pymoo.operators.survival.rank_and_crowding.metrics import calc_crowding_distance

from sfumato.searches.evolution.evolution_run import Judge, Settings
from sfumato.searches.evolution.nsga2 import Generation, crowding_distance, generations, survivors, winners
from sfumato.searches.evolution.problems import Evaluation

N_GENES = 6


class _Bits:
    """All strings of a few bits."""

    n_genes = N_GENES
    highest = np.ones(N_GENES, dtype=np.int64)

    def sample(self, rng: Any, n: int) -> Any:
        return rng.integers(0, 2, (n, N_GENES), dtype=np.int8)

    def cross(self, rng: Any, one: Any, other: Any) -> Any:
        tail = np.arange(N_GENES) >= rng.integers(N_GENES, size=(len(one), 1))
        return np.where(tail, other, one), np.where(tail, one, other)

    def mutate(self, rng: Any, genes: Any, rate: float) -> Any:
        return genes ^ (rng.random(genes.shape) < rate).astype(np.int8)

    def neighbours(self, genes: Any) -> Any:
        return genes ^ np.eye(N_GENES, dtype=np.int8)

    def recipe(self, genes: Any, model: Any, suppression: float) -> Any:
        raise NotImplementedError


class _Rugged:
    """Objectives with many ties, some of them infinite; some strings are not allowed."""

    traits = ("ones",)
    is_counted = False

    def __init__(self, n_objectives: int, forbidden: float) -> None:
        rng = np.random.default_rng(5)
        self.n_objectives = n_objectives
        self.values = rng.integers(0, 4, (2**N_GENES, n_objectives)).astype(float)
        self.values[rng.random(self.values.shape) < 0.05] = np.inf
        self.violations = np.where(rng.random(2**N_GENES) < forbidden, rng.integers(1, 3, 2**N_GENES), 0)

    def evaluate(self, genes: Any) -> Evaluation:
        places = genes.astype(np.int64) @ (1 << np.arange(N_GENES))
        owner = np.arange(len(genes))
        ones = genes.sum(axis=1, keepdims=True).astype(float)
        return Evaluation(owner, self.values[places], ones, owner, self.violations[places].astype(float))

    def recipe(self, genes: Any, traits: Any) -> Any:
        raise NotImplementedError


def by_pymoo(judge: Judge, settings: Settings, seed: int) -> list[Any]:
    """Let pymoo run, with the same operators, and return the genes of every generation."""
    space = judge.space

    class Task(Problem):  # type: ignore[misc]
        def _evaluate(self, x: Any, out: Any, *args: Any, **more: Any) -> None:
            objectives, violations = judge.judge(x)
            out["F"] = np.nan_to_num(objectives, posinf=1e30, neginf=-1e30)
            out["G"] = violations[:, np.newaxis]

    class Draw(Sampling):  # type: ignore[misc]
        def _do(self, problem: Any, n: int, *args: Any, random_state: Any, **more: Any) -> Any:
            return space.sample(random_state, n)

    class Cross(Crossover):  # type: ignore[misc]
        def _do(self, problem: Any, x: Any, *args: Any, random_state: Any, **more: Any) -> Any:
            return np.stack(space.cross(random_state, x[0], x[1]))

    class Change(Mutation):  # type: ignore[misc]
        def _do(self, problem: Any, x: Any, *args: Any, random_state: Any, **more: Any) -> Any:
            genes = space.mutate(random_state, x, settings.mutation)
            for row, is_known in enumerate(judge.knows(genes)):
                if is_known:
                    around = space.neighbours(genes[row])
                    genes[row] = around[random_state.integers(len(around))]
            return genes

    algorithm = NSGA2(
        settings.population,
        sampling=Draw(),
        crossover=Cross(2, 2, prob=settings.crossover),
        mutation=Change(),
        eliminate_duplicates=False,
    )
    task = Task(N_GENES, judge.problem.n_objectives, 1, xl=np.zeros(N_GENES), xu=space.highest, vtype=int)
    algorithm.setup(task, termination=("n_gen", settings.generations), seed=seed, verbose=False)
    seen = []
    while algorithm.has_next():
        algorithm.next()
        seen.append(algorithm.pop.get("X"))
    return seen


@pytest.mark.parametrize("forbidden", [0.0, 0.5])
@pytest.mark.parametrize(("n_objectives", "population"), [(2, 8), (3, 13)])
def test_every_generation_sees_what_pymoo_sees(n_objectives: int, population: int, forbidden: float) -> None:
    settings = Settings(population, 8, 0.8, 0.2)
    ours, theirs = (Judge(_Bits(), _Rugged(n_objectives, forbidden)) for _ in range(2))
    assert list(generations(ours, settings, 3)) == list(range(1, 9))
    by_pymoo(theirs, settings, 3)
    assert list(ours._known) == list(theirs._known)
    assert ours.n_asked == theirs.n_asked
    np.testing.assert_array_equal(ours.archive.genes, theirs.archive.genes)


def crowd(seed: int, n: int = 30) -> tuple[Generation, Any]:
    """Draw a population with few different figures and many ties: ours and pymoo's."""
    rng = np.random.default_rng(seed)
    genes = rng.integers(0, 3, (n, 2))
    objectives = rng.integers(0, 3, (n, 2)).astype(float)
    violations = rng.integers(-1, 2, n).clip(0).astype(float)
    crowding = rng.choice([0.0, 1.0, np.inf], n)
    theirs = PymooPopulation.new(X=genes, F=objectives, G=violations[:, np.newaxis], H=np.empty((n, 0)))
    theirs.set("crowding", crowding)
    theirs.set("rank", np.zeros(n, dtype=int))
    return Generation(genes, objectives, violations, crowding), theirs


@pytest.mark.parametrize("seed", range(20))
def test_the_winners_and_the_draws_are_those_of_pymoo(seed: int) -> None:
    population, theirs = crowd(seed)
    pairs = np.random.default_rng(seed).integers(0, len(population), (200, 2))
    one, other = np.random.default_rng(seed), np.random.default_rng(seed)
    algorithm = SimpleNamespace(tournament_type="comp_by_dom_and_crowding", random_state=other)
    assert (
        winners(population, pairs, one).tolist() == binary_tournament(theirs, pairs, algorithm)[:, 0].tolist()
    )
    assert one.integers(1 << 60) == other.integers(1 << 60)


@pytest.mark.parametrize("n", [3, 11, 30])
def test_those_survive_who_survive_with_pymoo(n: int) -> None:
    population, theirs = crowd(n)
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    task = SimpleNamespace(has_constraints=lambda: True)
    wanted = RankAndCrowding().do(task, theirs, n_survive=n, random_state=other)
    found = survivors(population, n, one)
    np.testing.assert_array_equal(found.genes, wanted.get("X"))
    allowed = found.violations <= 0
    np.testing.assert_array_equal(found.crowding[allowed], wanted.get("crowding")[allowed].astype(float))
    assert one.integers(1 << 60) == other.integers(1 << 60)


@pytest.mark.parametrize("n_objectives", [2, 3])
def test_crowding_is_that_of_pymoo(n_objectives: int) -> None:
    points = np.random.default_rng(0).integers(0, 6, (25, n_objectives)).astype(float)
    points[:, -1] = 1.0
    np.testing.assert_array_equal(crowding_distance(points), calc_crowding_distance(points))


def test_one_or_two_points_are_not_crowded() -> None:
    assert crowding_distance(np.zeros((2, 2))).tolist() == [np.inf, np.inf]
