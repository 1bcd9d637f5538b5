"""Explore: make and measure every candidate of a project, in parallel, one by one into the store."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato import registry
from sfumato.caching import kept_on
from sfumato.errors import MethodFailed, ProjectError
from sfumato.exploring.apart import UNLIMITED, Limits, Lost, Original, done_apart
from sfumato.exploring.stored import read_noted
from sfumato.exploring.workers import Task, Written, finished
from sfumato.faults import MethodFails, blamed_on, failed, named
from sfumato.measures.base import Measure
from sfumato.progress import listening
from sfumato.project.file import Project
from sfumato.recipe import Recipe
from sfumato.schema import Schema
from sfumato.search.base import Search
from sfumato.search.sweep import MOST_CANDIDATES, Sweep
from sfumato.store.base import Store
from sfumato.store.provenance import all_versions, asked_key, source_of, version_of
from sfumato.table import Table

Try = Search | Recipe
"""What to try: a search that proposes recipes, or one recipe."""


@dataclass(frozen=True)
class Progress:
    """How far an exploration has come.

    Parameters
    ----------
    done, total
        Candidates of this run that are finished, and all of them.
    known
        Candidates that an earlier run had stored.
    infeasible
        Candidates of this run that could not be made.
    elapsed
        Seconds since the start.
    latest
        The recipe that was finished last, in words.
    now
        What is being searched or measured, in words, where that takes long.
    """

    done: int
    total: int
    known: int
    infeasible: int
    elapsed: float
    latest: str = ""
    now: str = ""

    @property
    def remaining(self) -> float | None:
        """The seconds that are left, estimated from those that were needed so far."""
        return self.elapsed / self.done * (self.total - self.done) if self.done else None


def explore(
    project: Project,
    store: Store,
    *,
    seed: int | None = None,
    workers: int | None = None,
    limits: Limits = UNLIMITED,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Make and measure all candidates of a project that the store does not hold yet.

    A method that fails is told as a warning, once, by the kind of its exception; everything else goes on, and
    the next exploration tries again what it left unmade.

    Parameters
    ----------
    project
        What to try and to measure.
    store
        Where every finished candidate is written at once.
    seed
        The seed of a new store; by default one is drawn.
    workers
        How many processes work; by default as many as there are processors. Where there are two or more, a
        plug-in that ends or kills its process loses only what it was working on.
    limits
        What one candidate may use, or one search of a plug-in. Where any are given, processes of their own do
        the work, even if it is only one.
    progress
        Called after every candidate, and in between by whatever takes long: then ``now`` says how far that
        has come. While a search is at work ``total`` is 0.
    """
    with store.exclusive():
        table, schema = read_noted(project, store)
        state = fill(
            store,
            table,
            schema,
            project.searches,
            project.measures,
            seed=seed,
            workers=workers or os.cpu_count() or 1,
            limits=limits,
            progress=progress,
        )
    if not state.total + state.known:
        raise ProjectError(f"{project.path.name} has nothing to try; add a [[try]] block")
    return state


def fill(
    store: Store,
    table: Table,
    schema: Schema,
    tries: Sequence[Try],
    measures: Sequence[Written | Measure],
    *,
    seed: int | None,
    workers: int,
    limits: Limits,
    progress: Callable[[Progress], None],
) -> Progress:
    """Make and measure what is tried and the store does not hold yet; who calls holds the store.

    Parameters
    ----------
    store
        Where every finished candidate is written at once.
    table, schema
        The original, bound.
    tries
        Searches and recipes; the seed of a recipe gives way to that of the store.
    measures
        What to measure of each candidate.
    seed, workers, limits, progress
        As in `explore`.
    """
    chosen_seed, source = store.seed(seed), source_of(table, schema)
    original = Original(table, schema, store.path)
    told = _Told()
    with listening(lambda words: progress(Progress(0, 0, 0, 0, 0.0, now=words))):
        apart = None if workers == 1 and not limits.given else limits
        every = _tasks(tries, measures, store, original, chosen_seed, apart, told)
    open_tasks = _open(every, store)
    store.keep_sums_of(all_versions())
    state = Progress(0, len(open_tasks), len(every) - len(open_tasks), 0, 0.0)
    progress(state)
    began = time.monotonic()

    def hear(words: str) -> None:
        progress(replace(state, elapsed=time.monotonic() - began, now=words))

    with (
        listening(hear),
        kept_on(store),
        closing(finished(open_tasks, original, workers, limits)) as results,
    ):
        for candidate, taken in results:
            if candidate.failed:
                told.tell(
                    f"{candidate.recipe} could not be made: {candidate.infeasible}", candidate.infeasible
                )
            # what was measured of it before is worth more than the news that a measure fails
            if not candidate.failed or candidate.id not in store.measured():
                store.save(candidate, source, taken)
            state = replace(
                state,
                done=state.done + 1,
                infeasible=state.infeasible + (candidate.infeasible is not None),
                elapsed=time.monotonic() - began,
                latest=str(candidate.recipe),
            )
            progress(state)
    return state


@dataclass(frozen=True)
class _Told:
    """Which faults were told; the same one is told once."""

    reasons: set[str | None] = field(default_factory=set)

    def tell(self, words: str, reason: str | None) -> None:
        """Warn of a fault that was not told yet."""
        if reason not in self.reasons:
            self.reasons.add(reason)
            warnings.warn(words, MethodFails, stacklevel=3)


def _tasks(
    tries: Iterable[Try],
    measures: Iterable[Written | Measure],
    store: Store,
    original: Original,
    seed: int,
    apart: Limits | None,
    told: _Told,
) -> list[Task]:
    """Return one task for each different recipe that is given or that the searches propose."""
    asked = tuple((asked_key(each), each) for each in measures)
    source = source_of(original.table, original.schema)
    tasks: dict[str, Task] = {}
    for each in tries:
        try:
            recipes = _recipes(each, store, original, seed, source, apart)
        except MethodFailed as reason:
            told.tell(str(reason), str(reason))
            continue
        for recipe in recipes:
            seeded = replace(recipe, seed=seed)
            identity = store.identity(seeded, source)
            tasks.setdefault(identity, Task(identity, seeded, asked))
    if not tasks and told.reasons:
        raise MethodFailed(f"nothing is left to try: {next(iter(told.reasons))}")
    return list(tasks.values())


def _recipes(
    tried: Try, store: Store, original: Original, seed: int, source: str, apart: Limits | None
) -> Sequence[Recipe]:
    if isinstance(tried, Recipe):
        return [tried.normalized()]
    return tried.recipes() if isinstance(tried, Sweep) else _kept(tried, store, original, seed, source, apart)


def _kept(
    search: Search, store: Store, original: Original, seed: int, source: str, apart: Limits | None
) -> list[Recipe]:
    """Return what a search proposes, from the store if it ran before."""
    facts = [registry.name_of(type(search)), registry.changed_parameters(search), version_of(type(search))]
    digest = hashlib.sha256(json.dumps([*facts, source], sort_keys=True).encode())
    recipes = store.proposals(digest.hexdigest()) or store.proposals(_former_digest(search, source))
    if not recipes:
        # the same search has the same luck, wherever it stands in the project, and the luck that it had
        # before: figures that were published come out again
        luck = bytes.fromhex(_former_digest(search, source)) or digest.digest()
        recipes = _proposed(search, original, [seed, *luck[:8]], apart)
        store.keep_proposals(digest.hexdigest(), recipes)
    return recipes


def _proposed(search: Search, original: Original, luck: list[int], apart: Limits | None) -> list[Recipe]:
    """Run a search; one that somebody else wrote in a process of its own, where there are any."""
    piece = (search, luck)
    if apart is None or not registry.is_plugged_in(type(search)):
        return propose(piece, original.table, original.schema)
    ((_, found),) = done_apart(propose, [piece], original, 1, apart)
    if isinstance(found, Lost):
        raise MethodFailed(found.reason)
    return list(found)


def propose(
    piece: tuple[Search, list[int]],
    table: Table,
    schema: Schema,
    at: Callable[[str], None] = lambda _: None,
) -> list[Recipe]:
    """Return what a search proposes, if it is recipes.

    Parameters
    ----------
    piece
        The search, and the numbers that its luck comes from.
    at
        Told which method is at work.
    """
    search, luck = piece
    at(named(type(search)))
    with blamed_on(search):
        proposed = search.propose(table, schema, np.random.default_rng(luck))
        recipes = list(itertools.islice(proposed, MOST_CANDIDATES + 1))
    if not all(isinstance(recipe, Recipe) for recipe in recipes):
        raise failed(type(search), "proposes something else than recipes")
    if len(recipes) > MOST_CANDIDATES:
        raise failed(type(search), f"proposes more than {MOST_CANDIDATES:,} candidates")
    return recipes


def _former_digest(search: Search, source: str) -> str:
    """Return the name that sfumato 0.1.0 gave to what a search proposed, while that is its first version."""
    described = [*registry.describe(search), source, "0.1.0"]
    known = version_of(type(search)) == 1
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest() if known else ""


def _open(tasks: list[Task], store: Store) -> list[Task]:
    """Leave out what is stored and of today: whole candidates, and measures that a candidate already has."""
    measured, infeasible = store.measured(), store.infeasible()
    outdated = store.outdated({task.id: task.recipe for task in tasks})
    for identity in outdated:
        measured.pop(identity, None)
    wanted = []
    for task in tasks:
        missing = tuple(pair for pair in task.asked if pair[0] not in measured.get(task.id, set()))
        if missing and (task.id in outdated or task.id not in infeasible):
            wanted.append(replace(task, asked=missing))
    return wanted
