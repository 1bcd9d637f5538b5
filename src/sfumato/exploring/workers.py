"""Workers: make and measure candidates here or in several processes, each told as soon as it is finished."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Generator, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sfumato.caching import kept_on
from sfumato.errors import Infeasible, UserError
from sfumato.frontier import Candidate
from sfumato.measures.base import Measure, Measurement, measure
from sfumato.progress import listening, speaking_of, tell
from sfumato.recipe import Recipe
from sfumato.sanitizers.base import sanitize
from sfumato.schema import Schema
from sfumato.store.base import Store
from sfumato.table import Table

_MOMENT = 0.2
"""After how many seconds it is looked what the workers tell."""

Written = str | Mapping[str, Any]
"""A measure as a project file writes it: its name, or ``{name: parameters}``."""


@dataclass(frozen=True)
class Task:
    """A candidate to make, and what to measure of it.

    Parameters
    ----------
    id
        The candidate's name.
    recipe
        How it is made.
    asked
        The measures, each with the key under which the store keeps it.
    """

    id: str
    recipe: Recipe
    asked: tuple[tuple[str, Written | Measure], ...]


Result = tuple[Candidate, dict[str, list[Measurement]]]
"""A candidate, and its measurements by the key of the measure that was asked for."""


def finished(tasks: list[Task], table: Table, schema: Schema, store: Path, workers: int) -> Generator[Result]:
    """Yield the candidates as they are finished.

    The first of every sanitizer is made here, so that its kernels are compiled (and cached) once and
    not by every worker at the same time; and so are the sums of the original, which all compare with.
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


def _make(task: Task, table: Table, schema: Schema) -> Result:
    with speaking_of(str(task.recipe)):
        return _made(task, table, schema)


def _made(task: Task, table: Table, schema: Schema) -> Result:
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
    """What a worker works with: the bound table, the store for its sums, and the parent's ear."""

    table: Table
    schema: Schema
    store: Store
    heard: _Words


_worker: _Worker | None = None


def _work(task: Task) -> Result:
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
            "a worker was killed, perhaps for lack of memory; what was stored is kept, "
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
