"""Run work on the original in separate processes: candidates, searches and plug-in methods.

`sfumato.runtime` starts and ends the processes; this module defines what each of them does with the
original.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.kernels.compilation import notify_when_compiling
from sfumato.runtime.caching import kept_on
from sfumato.runtime.errors import MethodFailed
from sfumato.runtime.pool import UNLIMITED, Limits, Lost, Reporter, run_in_workers
from sfumato.runtime.progress import listening, never, tell
from sfumato.workflow.store.store import IN_MEMORY, Store

_PRELOAD = "sfumato.workflow.explore.preload"


@dataclass(frozen=True, eq=False)
class Original:
    """The bound table, and the store for its sums, that every piece of work starts from."""

    table: Table
    schema: Schema
    store: Path


def _ignore(method: str) -> None:
    """Ignore the name of the method at work."""


@dataclass(frozen=True, eq=False)
class WorkInputs:
    """What a piece of work is done with.

    Parameters
    ----------
    table, schema
        The original, bound.
    store
        Where measurements of equal releases are looked up.
    at
        Told which method is at work: it is named if the process dies.
    """

    table: Table
    schema: Schema
    store: Store | None = None
    at: Callable[[str], None] = _ignore


Work = Callable[[Any, WorkInputs], Any]
"""Do a piece of work."""


def done_by_workers(
    work: Work,
    pieces: Iterator[Any],
    original: Original,
    n_workers: int,
    limits: Limits,
    stop: Callable[[], bool] = never,
    meanwhile: Iterable[tuple[Any, Any]] = (),
) -> Generator[tuple[Any, Any]]:
    """Yield each piece with its result; see `run_in_workers`."""
    return run_in_workers(
        partial(_opened, work, original),
        pieces,
        n_workers,
        limits,
        preload=_PRELOAD,
        stop=stop,
        meanwhile=meanwhile,
        listener=tell,
    )


def done_by_worker(work: Work, piece: Any, table: Table, schema: Schema) -> Any:
    """Return the result of one piece of work in a process of its own; `MethodFailed` if it crashes."""
    original = Original(table, schema, IN_MEMORY)
    ((_, result),) = done_by_workers(work, iter([piece]), original, 1, UNLIMITED)
    if isinstance(result, Lost):
        raise MethodFailed(result.reason)
    return result


@contextmanager
def _opened(work: Work, original: Original, reporter: Reporter) -> Iterator[Callable[[Any], Any]]:
    """Prepare a worker: open the store, and forward its messages to the parent."""
    from threadpoolctl import threadpool_limits

    # there are as many workers as processors: threads of linear algebra would only get in each other's way
    threadpool_limits(1)
    notify_when_compiling(reporter.pause)
    with Store(original.store, create=False) as store, kept_on(store), listening(reporter.say):
        inputs = WorkInputs(original.table, original.schema, store, reporter.is_at)
        yield lambda piece: work(piece, inputs)
