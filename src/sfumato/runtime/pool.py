"""A pool of worker processes with limits of memory and time.

A worker that dies or takes too much loses its own piece of work and nothing else: the others go on, and
another worker takes its place. What sfumato raises on purpose in a worker is raised here.

The parent enforces the limits. Every 0.1 s it looks how long each worker has been at its piece, and how much
memory it holds. A limit inside the worker would not do: a compiled kernel hears nothing until it returns, and
one that lacks memory would fail at a random place instead of ending.
"""

from __future__ import annotations

import queue
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any, Literal

from sfumato.runtime import machine
from sfumato.runtime.errors import MethodFailed, ParameterError, SfumatoError, UserError
from sfumato.runtime.messages import Garbled, pickled
from sfumato.runtime.processes import (
    PATIENCE,
    Child,
    Ended,
    Inbox,
    ParentProcess,
    Started,
    interrupts_held_back,
    start,
)
from sfumato.runtime.progress import never

_MOMENT = 0.1
"""After how many seconds the limits are looked at."""
_OFTEN = 5
"""How many looks in a row must find that a worker has no memory, until it is taken to have ended."""
_GIGABYTE = 1e9
_KILLED = 9


@dataclass(frozen=True)
class Limits:
    """What one piece of work may use; beyond that its worker is stopped.

    Parameters
    ----------
    memory
        Bytes of memory. By default the workers that use more than their share of the machine's memory are
        stopped once all together use too much.
    seconds
        How long it may take; by default as long as it does.
    patience
        How long it may take where the user gave no limit.
    """

    memory: int | None = None
    seconds: float | None = None
    patience: float | None = None

    def __post_init__(self) -> None:
        if self.memory is not None and not machine.can_be_watched():
            raise ParameterError(
                "this system does not tell how much memory a process uses; leave --memory out"
            )

    @property
    def given(self) -> bool:
        """Whether the user gave any."""
        return self.memory is not None or self.seconds is not None

    @property
    def need_watching(self) -> bool:
        """Whether anything may be stopped."""
        return self.given or self.patience is not None

    @property
    def longest(self) -> float | None:
        """After how many seconds a piece of work is stopped."""
        return self.patience if self.seconds is None else self.seconds


UNLIMITED = Limits()
"""The user gave no limits."""


@dataclass(frozen=True)
class Lost:
    """The result of a piece of work that was not finished.

    Parameters
    ----------
    reason
        Why, and what to do.
    seconds
        After how long.
    """

    reason: str
    seconds: float = 0.0


@dataclass(frozen=True)
class _Report:
    """What a worker says, beside the exceptions of ours that it raises."""

    kind: Literal["ready", "says", "is at", "pauses", "did"]
    content: Any = None


class Reporter:
    """What a worker tells its parent while it works."""

    def __init__(self, parent: ParentProcess) -> None:
        self._parent = parent

    def say(self, words: str) -> None:
        """Say how far the work has come."""
        self._parent.send(_Report("says", words))

    def is_at(self, method: str) -> None:
        """Say which method is at work: it is named if the worker dies."""
        self._parent.send(_Report("is at", method))

    def pause(self, begins: bool) -> None:
        """Stop the clock of this piece of work, or let it go on."""
        self._parent.send(_Report("pauses", begins))


Prepare = Callable[[Reporter], AbstractContextManager[Callable[[Any], Any]]]
"""Make a worker ready, once; what comes of it does one piece after the other. It is pickled."""


def _silent(words: str) -> None:
    """Say nothing."""


def run_in_workers(
    prepare: Prepare,
    pieces: Iterator[Any],
    n_workers: int,
    limits: Limits = UNLIMITED,
    *,
    preload: str = "",
    stop: Callable[[], bool] = never,
    meanwhile: Iterable[tuple[Any, Any]] = (),
    listener: Callable[[str], None] = _silent,
) -> Generator[tuple[Any, Any]]:
    """Yield each piece with its result, as it is finished; `Lost` where its worker was.

    When it is broken off, all workers are ended at once.

    Parameters
    ----------
    prepare
        Makes a worker ready.
    pieces
        What to do. A piece is asked for when a worker is free; ``None`` says that there is nothing to do
        until something is finished.
    n_workers, limits
        How many processes work, and what one piece may use.
    preload
        A module that all workers import.
    stop
        Asked several times a second whether to break off.
    meanwhile
        Pieces with results that are computed here while the workers start, which takes seconds.
    listener
        Told what workers say.
    """
    pending: deque[Any] = deque()
    workers: dict[Child, _Worker] = {}
    inbox: Inbox = queue.SimpleQueue()
    prepared = b""
    try:
        while not stop():
            n_busy = sum(worker.is_busy for worker in workers.values())
            while len(pending) + n_busy < n_workers and (piece := next(pieces, None)) is not None:
                pending.append(piece)
            if pending or n_busy:
                prepared = prepared or pickled(prepare)
                _fill(workers, min(n_workers, len(pending) + n_busy), preload, inbox)
            was_idle = not pending and not n_busy and not meanwhile
            yield from meanwhile
            meanwhile = ()
            if was_idle:
                return
            for worker in workers.values():
                if worker.is_idle and pending:
                    worker.give(pending.popleft())
            for child, message in _heard(inbox):
                if child in workers:
                    yield from workers[child].take_in(message, prepared, listener)
            _stop_beyond(list(workers.values()), limits)
            workers = {child: worker for child, worker in workers.items() if not child.has_ended}
    finally:
        with interrupts_held_back():  # a second Ctrl-C would leave some at work
            for worker in workers.values():
                if worker.is_idle:
                    worker.child.dismiss()
                else:
                    worker.child.kill()
        for worker in workers.values():
            worker.child.end(PATIENCE if worker.is_idle else 0.0)


def _fill(workers: dict[Child, _Worker], wanted: int, preload: str, inbox: Inbox) -> None:
    """Start as many workers as are missing."""
    if len(workers) < wanted:
        with interrupts_held_back():
            for _ in range(wanted - len(workers)):
                child = start(_serve, preload=preload, runs_main=True, inbox=inbox)
                workers[child] = _Worker(child)


def _heard(inbox: Inbox) -> Iterator[tuple[Child, Any]]:
    """Yield what workers have said, if anything comes in a moment."""
    seconds = _MOMENT
    with suppress(queue.Empty):
        while True:
            yield inbox.get(timeout=seconds)
            seconds = 0.0


def _stop_beyond(workers: list[_Worker], limits: Limits) -> None:
    """Stop the workers that use more than allowed."""
    now = time.monotonic()
    for worker in workers:
        # what is compiled once on a machine is not the fault of the piece that comes first
        is_at_work = worker.is_busy and worker.paused_since is None
        if is_at_work and limits.longest is not None and now - worker.began > limits.longest:
            worker.stop(f"it took longer than {limits.longest:g} seconds; give it more with --time-limit")
    if not machine.can_be_watched():
        return
    used = {worker: machine.used_by(worker.child.pid) for worker in workers if worker.child.pid}
    for worker, held in used.items():
        worker.notice(held)
    share = machine.SHARE * machine.memory() / len(workers) if workers else 0.0
    allowed = share if limits.memory is None else float(limits.memory)
    if limits.memory is None and sum(used.values()) <= share * len(workers):
        return
    for worker, held in used.items():
        if worker.is_busy and held > allowed:
            worker.stop(
                f"it used more than {allowed / _GIGABYTE:.3g} GB of memory; go on with fewer --workers or "
                "more --memory"
            )


class _Worker:
    """One process of the pool: the piece that it was given, and how far it has come."""

    def __init__(self, child: Child) -> None:
        self.child = child
        self.is_ready = False
        self.piece: Any = None
        self.method = self.stopped = ""
        self.began = 0.0
        self.paused_since: float | None = None
        self.n_without_memory = 0

    @property
    def is_busy(self) -> bool:
        return self.piece is not None

    @property
    def is_idle(self) -> bool:
        return self.is_ready and not self.is_busy and not self.stopped

    def give(self, piece: Any) -> None:
        self.piece, self.method, self.began = piece, "", time.monotonic()
        self.child.send(piece)

    def take_in(
        self, message: Any, prepared: bytes, listener: Callable[[str], None]
    ) -> Iterator[tuple[Any, Any]]:
        """Take in what it said; yield its piece with the result if it is finished or lost."""
        if self.child.has_ended:
            return
        match message:
            case Started():
                # only now: a process that dies at its start must not be waited for
                self.child.send_pickled(prepared)
            case _Report("ready"):
                self.is_ready = True
            case _Report("says", words):
                listener(words)
            case _Report("is at", method):
                self.method = method
            case _Report("pauses", begins):
                self._pause(begins)
            case _Report("did", result):
                yield self._take_piece(), result
            case SfumatoError():
                raise message
            case Garbled() if self.is_busy:
                yield self._take_piece(), Lost(f"it raises {message.kind}")
            case Ended():
                self.child.end()
                if not self.is_ready:
                    raise UserError(
                        "a worker was killed before it began, perhaps for lack of memory; what was stored is "
                        "kept, go on with fewer --workers"
                    )
                if self.is_busy:
                    at = f"{self.method} was given up: " if self.method else ""
                    reason = f"{at}{self.stopped or _ending(self.child.exit_code)}"
                    yield self._take_piece(), Lost(reason, time.monotonic() - self.began)

    def _take_piece(self) -> Any:
        piece, self.piece = self.piece, None
        return piece

    def _pause(self, begins: bool) -> None:
        now = time.monotonic()
        if self.paused_since is not None:
            self.began += now - self.paused_since
        self.paused_since = now if begins else None

    def stop(self, reason: str) -> None:
        """Kill it; that it was lost, and why, is heard next."""
        if not self.stopped:
            self.stopped = reason
            self.child.kill()

    def notice(self, held: int) -> None:
        """Notice that it has ended though something that it started holds its pipe open: it has no memory."""
        self.n_without_memory = 0 if held else self.n_without_memory + 1
        if self.n_without_memory == _OFTEN:
            self.child.give_up()


def _ending(code: int | None) -> str:
    if code is None:
        return "its process ended, perhaps for lack of memory; go on with fewer --workers"
    if code == -_KILLED:
        return "its process was killed (signal 9), perhaps for lack of memory; go on with fewer --workers"
    if code < 0:
        return f"its process crashed (signal {-code}); leave the method out or repair it"
    return f"its process ended by itself, with code {code}; leave the method out or repair it"


def _serve(parent: ParentProcess) -> None:
    """Do one piece of work after the other."""
    with suppress(EOFError, OSError):
        prepare: Prepare = parent.receive()
        with prepare(Reporter(parent)) as work:
            parent.send(_Report("ready"))
            while True:
                _answer(parent, work)


def _answer(parent: ParentProcess, work: Callable[[Any], Any]) -> None:
    """Do the next piece of work; `EOFError` where there is none any more."""
    try:
        piece = parent.receive()
    except Garbled as error:
        parent.send(_Report("did", Lost(f"it raises {error.kind}")))
        return
    try:
        parent.send(_Report("did", work(piece)))
    except MethodFailed as error:
        parent.send(_Report("did", Lost(str(error))))
    except SfumatoError as error:
        parent.send(error)
    except Exception as error:
        # its words may show a value
        parent.send(_Report("did", Lost(f"it raises {type(error).__name__}")))
