"""Explore: make and measure every candidate of a project, in parallel, one by one into the store."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato import __version__, registry
from sfumato.caching import kept_on
from sfumato.errors import Infeasible, ProjectError, UserError
from sfumato.frontier import Candidate
from sfumato.measures.base import Measurement, measure
from sfumato.progress import listening, speaking_of, tell
from sfumato.project.file import Project
from sfumato.recipe import Recipe
from sfumato.sanitizers.base import sanitize
from sfumato.schema import Schema
from sfumato.search.base import Search
from sfumato.search.sweep import Sweep
from sfumato.store import Store
from sfumato.table import Table

_MOMENT = 0.2
"""After how many seconds it is looked what the workers tell."""

Written = Any
"""A measure as a project file writes it: its name, or ``{name: parameters}``."""


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


@dataclass(frozen=True)
class _Task:
    id: str
    recipe: Recipe
    asked: tuple[tuple[str, Written], ...]


def source_of(table: Table, schema: Schema) -> str:
    """Return a hash of a bound table and schema, to know which candidates belong to them."""
    return hashlib.sha256(f"{table.fingerprint} {schema.fingerprint}".encode()).hexdigest()


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
        table, schema = project.read()
        chosen_seed = store.seed(seed)
        with listening(lambda words: progress(Progress(0, 0, 0, 0, 0.0, now=words))):
            every = _tasks(project, store, table, schema, chosen_seed)
        if not every:
            raise ProjectError(f"{project.path.name} has nothing to try; add a [[try]] block")
        source = source_of(table, schema)
        open_tasks = list(_open(every, store))
        state = Progress(0, len(open_tasks), len(every) - len(open_tasks), 0, 0.0)
        progress(state)
        began = time.monotonic()

        def hear(words: str) -> None:
            progress(replace(state, elapsed=time.monotonic() - began, now=words))

        with (
            listening(hear),
            kept_on(store),
            closing(
                _finished(open_tasks, table, schema, store.path, workers or os.cpu_count() or 1)
            ) as finished,
        ):
            for candidate, taken in finished:
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


def _tasks(project: Project, store: Store, table: Table, schema: Schema, seed: int) -> list[_Task]:
    """Return one task for each different recipe that the searches propose."""
    asked = tuple((json.dumps(written, sort_keys=True), written) for written in project.measures)
    source = source_of(table, schema)
    tasks: dict[str, _Task] = {}
    for search in project.searches:
        for recipe in _proposed(search, store, table, schema, seed, source):
            seeded = replace(recipe, seed=seed)
            identity = store.identity(seeded, source)
            tasks.setdefault(identity, _Task(identity, seeded, asked))
    return list(tasks.values())


def _proposed(
    search: Search, store: Store, table: Table, schema: Schema, seed: int, source: str
) -> list[Recipe]:
    """Return what a search proposes, from the store if it ran before."""
    described = json.dumps([*registry.describe(search), source, __version__], sort_keys=True)
    digest = hashlib.sha256(described.encode())
    recipes = store.proposals(digest.hexdigest())
    if not recipes:
        # the same search has the same luck, wherever it stands in the project
        rng = np.random.default_rng([seed, *digest.digest()[:8]])
        recipes = list(search.propose(table, schema, rng))
        if not isinstance(search, Sweep):
            store.keep_proposals(digest.hexdigest(), recipes)
    return recipes


def _open(tasks: Iterable[_Task], store: Store) -> Iterator[_Task]:
    """Leave out what is stored: whole candidates, and the measures that a candidate already has."""
    measured, infeasible = store.measured(), store.infeasible()
    for task in tasks:
        missing = tuple(pair for pair in task.asked if pair[0] not in measured.get(task.id, set()))
        if missing and task.id not in infeasible:
            yield replace(task, asked=missing)


_Result = tuple[Candidate, dict[str, list[Measurement]]]


def _finished(
    tasks: list[_Task], table: Table, schema: Schema, store: Path, workers: int
) -> Generator[_Result]:
    """Yield the candidates as they are finished.

    The first of every sanitizer is made here, so that its kernels are compiled (and cached) once and
    not by every worker at the same time; and so are the figures of the original, which all compare with.
    """
    first = {task.recipe.sanitizer: task for task in reversed(tasks)}
    rest = [task for task in tasks if first[task.recipe.sanitizer] is not task]
    for task in (*reversed(first.values()), *(rest if workers == 1 else rest[:0])):
        yield _make(task, table, schema)
    if workers == 1 or not rest:
        return
    with _pool(min(workers, len(rest)), table, schema, store) as (pool, heard):
        with _interrupts_held_back():
            waiting = {pool.submit(_work, task) for task in rest}
        while waiting:
            done, waiting = wait(waiting, _MOMENT, FIRST_COMPLETED)
            while not heard.empty():
                tell(heard.get())
            for future in done:
                yield future.result()


def _make(task: _Task, table: Table, schema: Schema) -> _Result:
    with speaking_of(str(task.recipe)):
        return _made(task, table, schema)


def _made(task: _Task, table: Table, schema: Schema) -> _Result:
    began = time.perf_counter()
    try:
        release = sanitize(table, schema, task.recipe)
    except Infeasible as reason:
        return Candidate(task.id, task.recipe, (), str(reason), time.perf_counter() - began), {}
    taken = {key: measure(release, [written]) for key, written in task.asked}
    measurements = tuple(m for each in taken.values() for m in each)
    return Candidate(task.id, task.recipe, measurements, None, time.perf_counter() - began), taken


_Words = Any
"""A queue of texts between processes."""


@dataclass(frozen=True, eq=False)
class _Worker:
    """What a worker works with: the bound table, the store for its figures, and the parent's ear."""

    table: Table
    schema: Schema
    store: Store
    heard: _Words


_worker: _Worker | None = None


def _work(task: _Task) -> _Result:
    assert _worker is not None
    with listening(_worker.heard.put), kept_on(_worker.store):
        return _make(task, _worker.table, _worker.schema)


def _start_worker(pickled: bytes, store: Path, heard: _Words) -> None:
    """Prepare a worker: Ctrl-C is the parent's business, and nobody outlives the parent."""
    from threadpoolctl import threadpool_limits

    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # there are as many workers as processors: threads of linear algebra would only get in each other's way
    threadpool_limits(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    table, schema = pickle.loads(pickled)
    _worker = _Worker(table, schema, Store(store, create=False), heard)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Hold Ctrl-C back while workers are started.

    The workers inherit the blocked signal, so that they never see one themselves. Another thread of
    this process may still catch one; it is remembered and raised again at the end, when every worker
    that was started is known.
    """
    arrived: list[int] = []
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.signal(signal.SIGINT, lambda number, _: arrived.append(number)) if is_main else None
    blocked = _block_interrupts()
    try:
        yield
    finally:
        if blocked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if is_main:
            signal.signal(signal.SIGINT, handler)
        for number in arrived[:1]:
            signal.raise_signal(number)


def _block_interrupts() -> set[int | signal.Signals] | None:
    """Block Ctrl-C in this thread where the system can, and return what was blocked before."""
    if not hasattr(signal, "pthread_sigmask"):
        return None
    return signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


@contextmanager
def _pool(
    workers: int, table: Table, schema: Schema, store: Path
) -> Iterator[tuple[ProcessPoolExecutor, _Words]]:
    """Give a pool of workers that is ended at once when the work is broken off, and what they tell."""
    context = multiprocessing.get_context("spawn")
    heard = context.SimpleQueue()
    given = (pickle.dumps((table, schema)), store, heard)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=given)
    try:
        yield pool, heard
    except BrokenProcessPool:
        raise UserError(
            "a worker was ended from outside, perhaps for lack of memory; what was stored is kept, "
            "go on with fewer --workers"
        ) from None
    except BaseException:
        # the pool's own way to do this comes with Python 3.14
        for process in list((pool._processes or {}).values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        heard.close()
