"""NSGA-II over arrays, with the same random draws and decisions as pymoo.

A generation of pymoo is a list of objects whose attributes are looked up one by one, which took longer than
counting classes. The tests run both, with the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sfumato.runtime.arrays import Booleans, Floats, Integers
from sfumato.searches.evolution.evolution_run import Judge, Settings
from sfumato.searches.evolution.space import Genes


@dataclass(frozen=True, eq=False)
class Generation:
    """Some individuals, one row for each.

    Parameters
    ----------
    genes
        What they are.
    objectives, violations
        What the judge said of them.
    crowding
        How far each is from its neighbours in its front; not a number where it is in none.
    """

    genes: Genes
    objectives: Floats
    violations: Floats
    crowding: Floats

    @classmethod
    def judged(cls, judge: Judge, genes: Genes) -> Generation:
        """Let the judge look at some individuals."""
        objectives, violations = judge.judge(genes)
        # an infinite loss is one like any other, but NSGA-II measures distances
        finite = np.nan_to_num(objectives, posinf=1e30, neginf=-1e30)
        return cls(genes, finite, violations, np.full(len(genes), np.nan))

    def __len__(self) -> int:
        return len(self.genes)

    def take(self, rows: Integers) -> Generation:
        """Return the population of these individuals."""
        return Generation(self.genes[rows], self.objectives[rows], self.violations[rows], self.crowding[rows])

    def joined(self, other: Generation) -> Generation:
        """Return both populations as one."""
        return Generation(
            np.concatenate([self.genes, other.genes]),
            np.concatenate([self.objectives, other.objectives]),
            np.concatenate([self.violations, other.violations]),
            np.concatenate([self.crowding, other.crowding]),
        )


def generations(judge: Judge, settings: Settings, seed: int) -> Iterator[int]:
    """Run generation after generation, yielding the number of each when it is done."""
    rng = np.random.default_rng(seed)
    first = Generation.judged(judge, judge.space.sample(rng, settings.population))
    population = survivors(first, len(first), rng)
    yield 1
    for number in range(2, settings.generations + 1):
        born = Generation.judged(judge, _children(judge, population, settings, rng))
        population = survivors(population.joined(born), settings.population, rng)
        yield number


def _children(judge: Judge, population: Generation, settings: Settings, rng: np.random.Generator) -> Genes:
    """Return the children of parents that won a tournament: crossed, mutated, and new where that is easy."""
    n_pairs = -(-settings.population // 2)
    # everybody fights once before anybody fights again
    rounds = -(-4 * n_pairs // len(population))
    fighters = np.concatenate([rng.permutation(len(population)) for _ in range(rounds)])
    parents = population.genes[winners(population, fighters[: 4 * n_pairs].reshape(-1, 2), rng)]
    one, other = parents[0::2], parents[1::2]
    is_crossed = (rng.random(n_pairs) < settings.crossover)[:, np.newaxis]
    if is_crossed.any():
        first, second = judge.space.cross(rng, one, other)
        one, other = np.where(is_crossed, first, one), np.where(is_crossed, second, other)
    children = judge.space.mutate(rng, np.concatenate([one, other]), settings.mutation)
    _step_aside(judge, children, rng)
    # pymoo draws here who is mutated at all: everybody
    rng.random(len(children))
    return children[: settings.population]


def _step_aside(judge: Judge, children: Genes, rng: np.random.Generator) -> None:
    """Let a child that was seen before take one step, to spare the room for a new one."""
    for row in np.flatnonzero(judge.knows(children)):
        around = judge.space.neighbours(children[row])
        if len(around):
            children[row] = around[rng.integers(len(around))]


def winners(population: Generation, pairs: Integers, rng: np.random.Generator) -> Integers:
    """Return who wins each of some pairs: who violates less, then who dominates, then who is less crowded."""
    violations, objectives, crowding = population.violations, population.objectives, population.crowding
    one, other = pairs.T
    ahead = (objectives[one] < objectives[other]).any(axis=1)
    behind = (objectives[other] < objectives[one]).any(axis=1)
    wins = np.where(ahead == behind, _sign(crowding[one], crowding[other]), np.where(ahead, 1, -1))
    is_broken = (violations[one] > 0) | (violations[other] > 0)
    wins = np.where(is_broken, _sign(violations[other], violations[one]), wins)
    winner = np.where(wins > 0, one, other)
    tied = np.flatnonzero(wins == 0)
    winner[tied] = pairs[tied, rng.integers(2, size=len(tied))]
    return winner


def _sign(some: Floats, others: Floats) -> Integers:
    """Return 1 where the first is larger, -1 where the second is, else 0: also of two infinite ones."""
    return (some > others).astype(np.int64) - (some < others)


def survivors(population: Generation, n: int, rng: np.random.Generator) -> Generation:
    """Return so many individuals, front after front; of the last front those that are least crowded.

    If too few keep their limits, those follow that violate them least.
    """
    allowed: Booleans = population.violations <= 0
    kept, broken = np.flatnonzero(allowed), np.flatnonzero(~allowed)
    ranked = _by_front(population.take(kept), min(n, len(kept)), rng)
    nearest = broken[np.argsort(population.violations[broken])][: n - len(ranked)]
    return ranked.joined(population.take(nearest))


def _by_front(population: Generation, n: int, rng: np.random.Generator) -> Generation:
    import moocore

    if not n:
        return population.take(np.zeros(0, dtype=np.int64))
    ranks = moocore.pareto_rank(population.objectives)
    crowding = np.empty(len(population))
    chosen: list[Integers] = []
    room, rank = n, 0
    while room:
        front = np.flatnonzero(ranks == rank)
        crowding[front] = crowding_distance(population.objectives[front])
        if len(front) > room:
            order = rng.permutation(len(front))
            order = order[np.argsort(crowding[front][order])][::-1]
            front = front[order[:room]]
        chosen.append(front)
        room, rank = room - len(front), rank + 1
    survived = np.concatenate(chosen)
    return Generation(
        population.genes[survived],
        population.objectives[survived],
        population.violations[survived],
        crowding[survived],
    )


def crowding_distance(objectives: Floats) -> Floats:
    """Return how far each point of a front is from its neighbours, the ends infinitely far.

    References
    ----------
    K. Deb et al., "A fast and elitist multiobjective genetic algorithm: NSGA-II", 2002, section III-B.

    Examples
    --------
    >>> crowding_distance(np.array([[0.0, 4.0], [1.0, 2.0], [3.0, 1.0], [4.0, 0.0]])).tolist()
    [inf, 0.75, 0.625, inf]
    """
    n_points, n_objectives = objectives.shape
    if n_points <= 2:
        return np.full(n_points, np.inf)
    order = np.argsort(objectives, axis=0, kind="mergesort")
    columns = np.arange(n_objectives)
    along = objectives[order, columns]
    width = along[-1] - along[0]
    width[width == 0] = np.nan
    gaps = np.diff(along, axis=0, prepend=-np.inf, append=np.inf) / width
    gaps[np.isnan(gaps)] = 0.0
    distances = np.empty_like(along)
    distances[order, columns] = gaps[:-1] + gaps[1:]
    return distances.sum(axis=1) / n_objectives
