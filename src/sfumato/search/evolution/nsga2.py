"""NSGA-II by pymoo, with our own individuals; imported only when a search runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.crossover import Crossover
from pymoo.core.mutation import Mutation
from pymoo.core.problem import Problem
from pymoo.core.sampling import Sampling
from pymoo.operators.selection.tournament import TournamentSelection

from sfumato.arrays import Floats, Integers
from sfumato.search.evolution.run import Judge, Settings
from sfumato.search.evolution.space import Genes, Space


class _PymooProblem(Problem):  # type: ignore[misc]
    def __init__(self, judge: Judge) -> None:
        space = judge.space
        super().__init__(
            n_var=space.n_genes,
            n_obj=judge.problem.n_objectives,
            n_ieq_constr=1,
            xl=np.zeros(space.n_genes),
            xu=space.highest,
            vtype=int,
        )
        self.judge = judge

    def _evaluate(self, x: Genes, out: dict[str, Any], *args: Any, **more: Any) -> None:
        objectives, violations = self.judge.judge(x)
        # an infinite loss is one like any other, but NSGA-II measures distances
        out["F"] = np.nan_to_num(objectives, posinf=1e30, neginf=-1e30)
        out["G"] = violations[:, np.newaxis]


class _Sampling(Sampling):  # type: ignore[misc]
    def __init__(self, space: Space) -> None:
        super().__init__()
        self.space = space

    def _do(
        self, problem: Any, n_samples: int, *args: Any, random_state: np.random.Generator, **more: Any
    ) -> Genes:
        return self.space.sample(random_state, n_samples)


class _Crossover(Crossover):  # type: ignore[misc]
    def __init__(self, space: Space, rate: float) -> None:
        super().__init__(2, 2, prob=rate)
        self.space = space

    def _do(
        self, problem: Any, x: Genes, *args: Any, random_state: np.random.Generator, **more: Any
    ) -> Genes:
        return np.stack(self.space.cross(random_state, x[0], x[1]))


class _Mutation(Mutation):  # type: ignore[misc]
    """The space's mutation; a child that was seen before takes one step, to spare the room for a new one."""

    def __init__(self, judge: Judge, rate: float) -> None:
        super().__init__()
        self.judge = judge
        self.rate = rate

    def _do(
        self, problem: Any, x: Genes, *args: Any, random_state: np.random.Generator, **more: Any
    ) -> Genes:
        genes = self.judge.space.mutate(random_state, x, self.rate)
        for row, one in enumerate(genes):
            around = self.judge.space.neighbours(one) if self.judge.knows(one) else ()
            if len(around):
                genes[row] = around[random_state.integers(len(around))]
        return genes


def winners(population: Any, pairs: Integers, algorithm: Any, **more: Any) -> Integers:
    """Return who wins each of some pairs: who violates less, then who dominates, then who is less crowded.

    These are pymoo's rules, and its draws where all is equal, for all pairs at once.
    """
    violations, objectives = population.get("CV")[:, 0], population.get("F")
    crowding = population.get("crowding").astype(np.float64)
    one, other = pairs.T
    ahead = (objectives[one] < objectives[other]).any(axis=1)
    behind = (objectives[other] < objectives[one]).any(axis=1)
    wins = np.where(ahead == behind, _sign(crowding[one], crowding[other]), np.where(ahead, 1, -1))
    is_broken = (violations[one] > 0) | (violations[other] > 0)
    wins = np.where(is_broken, _sign(violations[other], violations[one]), wins)
    found = np.where(wins > 0, one, other)
    for place in np.flatnonzero(wins == 0):
        found[place] = algorithm.random_state.choice(pairs[place])
    return found[:, np.newaxis]


def _sign(some: Floats, others: Floats) -> Integers:
    """Return 1 where the first is larger, -1 where the second is, else 0: also of two infinite ones."""
    return (some > others).astype(np.int64) - (some < others)


def generations(judge: Judge, settings: Settings, seed: int) -> Iterator[int]:
    """Run generation after generation, yielding the number of each when it is done."""
    algorithm = NSGA2(
        pop_size=settings.population,
        sampling=_Sampling(judge.space),
        selection=TournamentSelection(func_comp=winners),
        crossover=_Crossover(judge.space, settings.crossover),
        mutation=_Mutation(judge, settings.mutation),
        eliminate_duplicates=False,
    )
    algorithm.setup(
        _PymooProblem(judge), termination=("n_gen", settings.generations), seed=seed, verbose=False
    )
    while algorithm.has_next():
        algorithm.next()
        yield int(algorithm.n_gen) - 1
