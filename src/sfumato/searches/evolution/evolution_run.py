"""Run an evolution, and improve what it found until no single step improves it further."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np

from sfumato.registry.declarations import AtLeast, Probability
from sfumato.registry.methods import check_bounds
from sfumato.runtime.arrays import Booleans, Floats, Integers
from sfumato.runtime.errors import Infeasible
from sfumato.runtime.machine import processors
from sfumato.runtime.progress import check_stop
from sfumato.searches.evolution.nondominated_archive import Archive
from sfumato.searches.evolution.problems import Evaluation, Problem
from sfumato.searches.evolution.space import Genes, Space

Tell = Callable[[str], None]
"""Told now and then, in words, how far a search has come."""

_BATCH = 2000


@dataclass(frozen=True)
class Settings:
    """How long to search, and how.

    Parameters
    ----------
    population
        How many individuals a generation has.
    generations
        How many generations there are.
    crossover
        The probability that two parents are crossed.
    mutation
        The probability that a gene of a child changes.

    Examples
    --------
    >>> Settings().population
    200
    """

    population: Annotated[int, AtLeast(4)] = 200
    generations: Annotated[int, AtLeast(1)] = 250
    crossover: Probability = 0.9
    mutation: Probability = 0.1

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass
class Judge:
    """Evaluate every individual once, and keep the non-dominated ones.

    Parameters
    ----------
    space, problem
        What is searched, and for what.
    archive
        The non-dominated solutions so far.
    n_asked, n_evaluated
        How many individuals were asked about, and how many of them were new.
    """

    space: Space
    problem: Problem
    archive: Archive = field(init=False)
    n_asked: int = 0
    n_evaluated: int = 0
    _known: dict[bytes, tuple[Floats, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problem = self.problem
        self.archive = Archive.empty(self.space.n_genes, problem.n_objectives, len(problem.traits))

    def judge(self, genes: Genes) -> tuple[Floats, Floats]:
        """Return the objectives by which each individual is selected, and its violation."""
        self.explore(genes)
        evaluated = [self._known[key] for key in self._keys(genes)]
        return np.stack([objectives for objectives, _ in evaluated]), np.array(
            [worse for _, worse in evaluated]
        )

    def knows(self, genes: Genes) -> Booleans:
        """Return for each individual whether it was judged before."""
        return np.array([key in self._known for key in self._keys(genes)], dtype=np.bool_)

    def _keys(self, genes: Genes) -> list[bytes]:
        """Return what tells each individual from all others, in as few bytes as its genes need."""
        narrow = np.min_scalar_type(int(self.space.highest.max(initial=0)))
        return [row.tobytes() for row in np.ascontiguousarray(genes, dtype=narrow)]

    def explore(self, genes: Genes) -> None:
        """Evaluate the individuals that are new, and let the archive have what they stand for."""
        keys = self._keys(genes)
        first = {key: place for place, key in reversed(list(enumerate(keys)))}
        new = {key: place for key, place in first.items() if key not in self._known}
        self.n_asked += len(keys)
        self.n_evaluated += len(new)
        if not new:
            return
        places = np.array(sorted(new.values()))
        batches = [genes[batch] for batch in np.split(places, range(_BATCH, len(places), _BATCH))]
        if len(batches) == 1 or not self.problem.is_counted:
            self._take_all(batches, map(self.problem.evaluate, batches))
        else:
            with ThreadPoolExecutor(processors()) as pool:
                self._take_all(batches, pool.map(self.problem.evaluate, batches))

    def _take_all(self, batches: Iterable[Genes], evaluations: Iterable[Evaluation]) -> None:
        for genes, evaluation in zip(batches, evaluations, strict=True):
            self._take(genes, evaluation)

    def _take(self, genes: Genes, evaluation: Evaluation) -> None:
        nothing = np.full(self.problem.n_objectives, np.inf)
        for key, place, worse in zip(self._keys(genes), evaluation.main, evaluation.violations, strict=True):
            objectives = evaluation.objectives[place].copy() if place >= 0 else nothing
            self._known[key] = objectives, float(worse)
        self.archive = self.archive.joined(genes[evaluation.owner], evaluation.objectives, evaluation.traits)


def evolve(
    space: Space,
    problem: Problem,
    settings: Settings | None = None,
    *,
    seed: int = 0,
    tell: Tell = lambda _: None,
) -> Judge:
    """Search by NSGA-II, with an archive of everything non-dominated that was ever seen.

    A longer run with the same seed has seen everything that a shorter one has, so that its front is never
    worse.

    Parameters
    ----------
    space, problem
        What to search, and for what.
    settings
        How long, and how.
    seed
        Equal seeds give equal fronts.
    tell
        Told ten times how far the search has come.

    References
    ----------
    K. Deb et al., "A fast and elitist multiobjective genetic algorithm: NSGA-II", 2002.
    """
    from sfumato.searches.evolution.nsga2 import generations

    chosen = settings or Settings()
    judge = Judge(space, problem)
    if space.n_genes == 0:
        judge.explore(space.sample(np.random.default_rng(seed), 1))
        return _checked(judge)
    for number in generations(judge, chosen, seed):
        check_stop()
        if number % max(chosen.generations // 10, 1) == 0:
            tell(f"generation {number} of {chosen.generations}, {len(judge.archive)} solutions")
    return _checked(judge)


def _checked(judge: Judge) -> Judge:
    if not len(judge.archive):
        raise Infeasible(
            "the evolution found no release that keeps all limits; allow more suppression or weaker limits"
        )
    return judge


def improve(
    judge: Judge, most: int | None = None, *, budget: int = 0, tell: Tell = lambda _: None
) -> Archive:
    """Follow single steps from the archive's solutions until none leads to one that dominates its start.

    Parameters
    ----------
    judge
        What a search has found. Everything that is tried on the way goes into its archive.
    most
        How many solutions to improve to the end, far apart from each other; by default all, which takes
        long where the front is not small.
    budget
        How many individuals to try first, one step away from solutions all along the front.
    tell
        Told now and then how far the improvement has come.

    Returns
    -------
    Archive
        The improved solutions: nothing seen dominates one, and everything one step away was seen.
    """
    tell(f"improving {len(judge.archive)} solutions")
    settled: set[bytes] = set()
    _explore_around(judge, settled, budget)
    targets = judge.archive if most is None else judge.archive.take(judge.archive.spread(most))
    while True:
        if most is None:
            targets = judge.archive
        moved = [_better(judge.archive, targets, row) for row in range(len(targets))]
        targets = Archive(*(np.stack(part) for part in zip(*moved, strict=True)))
        unsettled = [genes for genes in targets.genes if genes.tobytes() not in settled]
        if not unsettled:
            empty = Archive.empty(judge.space.n_genes, targets.objectives.shape[1], targets.traits.shape[1])
            return empty.joined(targets.genes, targets.objectives, targets.traits).sorted()
        check_stop()
        tell(f"improving {len(targets)} solutions, {len(unsettled)} can perhaps be improved further")
        _settle(judge, settled, unsettled[:_BATCH])


def _explore_around(judge: Judge, settled: set[bytes], budget: int) -> None:
    """Try what lies around solutions all along the front, until the budget is spent or nothing is new."""
    end = judge.n_evaluated + budget
    while judge.n_evaluated < end:
        unsettled = [genes for genes in judge.archive.sorted().genes if genes.tobytes() not in settled]
        if not unsettled:
            return
        check_stop()
        affordable = 1 + (end - judge.n_evaluated) // max(2 * judge.space.n_genes, 1)
        places = np.linspace(0, len(unsettled) - 1, min(len(unsettled), affordable, _BATCH)).astype(int)
        _settle(judge, settled, [unsettled[place] for place in dict.fromkeys(places.tolist())])


def _settle(judge: Judge, settled: set[bytes], rows: list[Genes]) -> None:
    settled.update(genes.tobytes() for genes in rows)
    judge.explore(np.concatenate([judge.space.neighbours(genes) for genes in rows]))


def _better(archive: Archive, targets: Archive, row: int) -> tuple[Genes, Floats, Floats]:
    """Return a solution of the archive that dominates this one, or this one if there is none."""
    dominating: Integers = np.flatnonzero(archive.dominates(targets.objectives[row]))
    if not len(dominating):
        return targets.genes[row], targets.objectives[row], targets.traits[row]
    one = int(dominating[0])
    return archive.genes[one], archive.objectives[one], archive.traits[one]
