"""Explore: make and measure every candidate of a project, in parallel, one by one into the store."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import numpy as np

from sfumato import registry
from sfumato.caching import kept_on
from sfumato.errors import ProjectError
from sfumato.exploring.stored import read_noted
from sfumato.exploring.workers import Task, Written, finished
from sfumato.measures.base import Measure
from sfumato.progress import listening
from sfumato.project.file import Project
from sfumato.recipe import Recipe
from sfumato.schema import Schema
from sfumato.search.base import Search
from sfumato.search.sweep import Sweep
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
    progress: Callable[[Progress], None] = lambda _: None,
) -> Progress:
    """Make and measure all candidates of a project that the store does not hold yet.

    Parameters
    ----------
    project
        What to try and to measure.
    store
        Where every finished candidate is written at once.
    seed
        The seed of a new store; by default one is drawn.
    workers
        How many processes work; by default as many as there are processors.
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
    seed, workers, progress
        As in `explore`.
    """
    chosen_seed, source = store.seed(seed), source_of(table, schema)
    with listening(lambda words: progress(Progress(0, 0, 0, 0, 0.0, now=words))):
        every = _tasks(tries, measures, store, table, schema, chosen_seed)
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
        closing(finished(open_tasks, table, schema, store.path, workers)) as results,
    ):
        for candidate, taken in results:
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


def _tasks(
    tries: Iterable[Try],
    measures: Iterable[Written | Measure],
    store: Store,
    table: Table,
    schema: Schema,
    seed: int,
) -> list[Task]:
    """Return one task for each different recipe that is given or that the searches propose."""
    asked = tuple((asked_key(each), each) for each in measures)
    source = source_of(table, schema)
    tasks: dict[str, Task] = {}
    for each in tries:
        for recipe in _recipes(each, store, table, schema, seed, source):
            seeded = replace(recipe, seed=seed)
            identity = store.identity(seeded, source)
            tasks.setdefault(identity, Task(identity, seeded, asked))
    return list(tasks.values())


def _recipes(
    tried: Try, store: Store, table: Table, schema: Schema, seed: int, source: str
) -> Sequence[Recipe]:
    if isinstance(tried, Recipe):
        return [tried.normalized()]
    return (
        tried.recipes() if isinstance(tried, Sweep) else _proposed(tried, store, table, schema, seed, source)
    )


def _proposed(
    search: Search, store: Store, table: Table, schema: Schema, seed: int, source: str
) -> list[Recipe]:
    """Return what a search proposes, from the store if it ran before."""
    facts = [registry.name_of(type(search)), registry.changed_parameters(search), version_of(type(search))]
    digest = hashlib.sha256(json.dumps([*facts, source], sort_keys=True).encode())
    recipes = store.proposals(digest.hexdigest()) or store.proposals(_former_digest(search, source))
    if not recipes:
        # the same search has the same luck, wherever it stands in the project, and the luck that it had
        # before: figures that were published come out again
        luck = bytes.fromhex(_former_digest(search, source)) or digest.digest()
        rng = np.random.default_rng([seed, *luck[:8]])
        recipes = list(search.propose(table, schema, rng))
        store.keep_proposals(digest.hexdigest(), recipes)
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
