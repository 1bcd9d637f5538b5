"""Apart: work in processes that are watched; one that dies takes only its own piece of work with it."""

from __future__ import annotations

import atexit
import math
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import connection, forkserver, resource_tracker
from pathlib import Path
from typing import Any

from sfumato.caching import kept_on
from sfumato.errors import MethodFailed, ParameterError, SfumatoError, UserError
from sfumato.kernels.compiling import tell_of_compiling
from sfumato.progress import listening, tell
from sfumato.runtime import machine
from sfumato.schema import Schema
from sfumato.store.base import Store
from sfumato.table import Table

_MOMENT = 0.1
"""After how many seconds it is looked how much memory the workers use."""
_PATIENCE = 5.0
"""How many seconds a worker has to end when there is nothing more to do."""
_GIGABYTE = 1e9


@dataclass(frozen=True)
class Limits:
    """What one piece of work may use; beyond that its process is stopped.

    Parameters
    ----------
    memory
        Bytes of memory. Where nothing is said, those who use more than their share of the machine's memory
        are stopped once all together use too much.
    seconds
        How long it may take; by default as long as it does.
    patience
        How long it may take where nobody said anything.
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
        """Whether anything is said."""
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
"""Nothing is said."""


@dataclass(frozen=True)
class Lost:
    """What became of a piece of work that was not finished.

    Parameters
    ----------
    reason
        Why, and what to do.
    seconds
        After how long.
    """

    reason: str
    seconds: float = 0.0


@dataclass(frozen=True, eq=False)
class Original:
    """What every piece of work begins with: the bound table, and the store for its sums."""

    table: Table
    schema: Schema
    store: Path


Work = Callable[[Any, Table, Schema, Callable[[str], None]], Any]
"""Do a piece of work with the original; say by the last argument which method is at work."""


def done_apart(
    work: Work,
    pieces: Iterator[Any],
    original: Original,
    n_processes: int,
    limits: Limits,
    ends: float = math.inf,
    meanwhile: Iterable[tuple[Any, Any]] = (),
) -> Generator[tuple[Any, Any]]:
    """Yield each piece with what came of it, as it is finished; `Lost` where its process was.

    What sfumato raises on purpose is raised here. When it is broken off, all processes are ended at once.

    Parameters
    ----------
    work, pieces
        What to do with each piece. A piece is asked for when somebody is free to work at it; one that is
        ``None`` says that there is nothing to do until something is finished.
    original, n_processes, limits
        What every piece begins with, how many processes work, and what one piece may use.
    ends
        When to break off, by the monotonic clock.
    meanwhile
        What is done here, and what came of it, while the processes start, which takes seconds.
    """
    waiting: deque[Any] = deque()
    crew: list[_Hand] = []
    written = b""
    try:
        while time.monotonic() < ends:
            n_busy = sum(hand.is_busy for hand in crew)
            while len(waiting) + n_busy < n_processes and (piece := next(pieces, None)) is not None:
                waiting.append(piece)
            if waiting or n_busy:
                written = written or pickle.dumps((work, original))
                _fill(crew, min(n_processes, len(waiting) + n_busy), written)
            was_idle = not waiting and not n_busy and not meanwhile
            yield from meanwhile
            meanwhile = ()
            if was_idle:
                return
            for hand in crew:
                if hand.is_ready and not hand.is_busy and waiting:
                    hand.give(waiting.popleft())
            connection.wait([end for hand in crew for end in hand.ends], _MOMENT)
            for hand in crew:
                yield from hand.heard()
            _stop_beyond(crew, limits)
            crew = [hand for hand in crew if not hand.has_ended]
    finally:
        for hand in crew:
            hand.dismiss()
        for hand in crew:
            hand.end()


def _fill(crew: list[_Hand], wanted: int, written: bytes) -> None:
    """Start as many processes as are missing."""
    if len(crew) < wanted:
        if os.name == "posix":
            # it would let Ctrl-C through again when it is started
            resource_tracker.ensure_running()
        with _interrupts_held_back():
            crew += [_Hand(written) for _ in range(wanted - len(crew))]


def _stop_beyond(crew: list[_Hand], limits: Limits) -> None:
    """Stop whoever uses more than allowed."""
    now = time.monotonic()
    for hand in crew:
        # what is compiled once on a machine is not the fault of whoever comes first
        is_at_work = hand.is_busy and hand.compiles_since is None
        if is_at_work and limits.longest is not None and now - hand.began > limits.longest:
            hand.stop(f"it took longer than {limits.longest:g} seconds; give it more with --time-limit")
    if not machine.can_be_watched():
        return
    used = {hand: machine.used_by(hand.process.pid or 0) for hand in crew}
    share = machine.SHARE * machine.memory() / len(crew) if crew else 0.0
    allowed = share if limits.memory is None else float(limits.memory)
    if limits.memory is None and sum(used.values()) <= share * len(crew):
        return
    for hand, held in used.items():
        if hand.is_busy and held > allowed:
            hand.stop(
                f"it used more than {allowed / _GIGABYTE:.3g} GB of memory; go on with fewer --workers or "
                "more --memory"
            )


def _context() -> Any:
    """Return how processes are started: forked from one that has imported what all need, where that is safe.

    Elsewhere than on Linux a system's own libraries may not bear it.
    """
    if not sys.platform.startswith("linux"):
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["sfumato.exploring.prelude"])
    atexit.unregister(_wait_for_server)
    atexit.register(_wait_for_server, os.getpid())
    return context


def _wait_for_server(process: int) -> None:
    """Let the process from which workers are forked end before this one, which then answers for its time."""
    if os.getpid() == process:  # and not in a copy of it that somebody forked
        forkserver._forkserver._stop()  # type: ignore[attr-defined]


class _Hand:
    """One process: what it was given, what it said last, and how it ended."""

    def __init__(self, written: bytes) -> None:
        context = _context()
        self.connection, other = context.Pipe()
        # what it works with is sent when it is there: one that dies at its start must not be waited for
        self.written = written
        self.process = context.Process(target=_serve, args=(other, dict(os.environ)))
        self.process.start()
        other.close()
        self.is_ready = self.has_ended = False
        self.piece: Any = None
        self.at = self.stopped = ""
        self.began = 0.0
        self.compiles_since: float | None = None

    @property
    def is_busy(self) -> bool:
        return self.piece is not None

    @property
    def ends(self) -> list[Any]:
        """What becomes readable when it says something or ends."""
        return [self.connection, self.process.sentinel]

    def give(self, piece: Any) -> None:
        self.piece, self.at, self.began = piece, "", time.monotonic()
        self._send(pickle.dumps(piece))

    def _send(self, written: bytes) -> None:
        # one that has just died is noticed when it is heard
        with suppress(OSError):
            self.connection.send_bytes(written)

    def heard(self) -> Iterator[tuple[Any, Any]]:
        """Yield what came of its piece of work, if it is finished or lost."""
        while not self.has_ended:
            try:
                if not self.connection.poll():
                    if self.process.is_alive():
                        return
                    raise EOFError
                kind, said = pickle.loads(self.connection.recv_bytes())
            except (EOFError, OSError, pickle.UnpicklingError, AttributeError, ImportError, IndexError):
                self.end()
                yield from self._lost()
                return
            yield from self._taken_in(kind, said)

    def _taken_in(self, kind: str, said: Any) -> Iterator[tuple[Any, Any]]:
        if kind == "begins":
            self._send(self.written)
        elif kind == "ready":
            self.is_ready = True
        elif kind == "says":
            tell(said)
        elif kind == "is at":
            self.at = said
        elif kind == "compiles":
            self._compiles(said)
        elif kind == "raises":
            raise said
        else:
            piece, self.piece = self.piece, None
            yield piece, said

    def _compiles(self, begins: bool) -> None:
        """Stop the clock while kernels are compiled."""
        now = time.monotonic()
        if self.compiles_since is not None:
            self.began += now - self.compiles_since
        self.compiles_since = now if begins else None

    def _lost(self) -> Iterator[tuple[Any, Lost]]:
        if not self.is_ready:
            raise UserError(
                "a worker was killed before it began, perhaps for lack of memory; what was stored is kept, "
                "go on with fewer --workers"
            )
        if self.is_busy:
            at = f"{self.at} was given up: " if self.at else ""
            reason = f"{at}{self.stopped or _ending(self.process.exitcode)}"
            yield self.piece, Lost(reason, time.monotonic() - self.began)

    def stop(self, reason: str) -> None:
        """Kill it; that it was lost, and why, is heard next."""
        if not self.stopped:
            self.stopped = reason
            self.process.kill()

    def dismiss(self) -> None:
        """Let it go if it waits for work, else kill it."""
        if self.is_ready and not self.is_busy:
            self.connection.close()
            self.process.join(_PATIENCE)
        self.process.kill()

    def end(self) -> None:
        self.has_ended = True
        self.process.kill()
        self.process.join()
        self.connection.close()


def _ending(code: int | None) -> str:
    if code is not None and code < 0:
        return (
            f"its process was killed (signal {-code}), perhaps for lack of memory; go on with fewer --workers"
        )
    return f"its process ended by itself, with code {code}; leave the method out or repair it"


@dataclass(frozen=True, eq=False)
class _Mouth:
    """What a worker speaks with."""

    connection: Any
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def say(self, kind: str, said: Any) -> None:
        written = pickle.dumps((kind, said))
        with self._lock:
            self.connection.send_bytes(written)


def _serve(ear: Any, environment: dict[str, str]) -> None:
    """Do one piece of work after the other; Ctrl-C is the parent's business, and nobody outlives it."""
    from threadpoolctl import threadpool_limits

    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # there are as many workers as processors: threads of linear algebra would only get in each other's way
    threadpool_limits(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    mouth = _Mouth(ear)
    tell_of_compiling(lambda begins: mouth.say("compiles", begins))
    mouth.say("begins", None)
    work, original = pickle.loads(ear.recv_bytes())
    with Store(original.store, create=False) as opened, kept_on(opened):
        mouth.say("ready", None)
        with listening(lambda words: mouth.say("says", words)), suppress(EOFError, OSError):
            while True:
                _answer(mouth, ear.recv_bytes(), work, original)


def _answer(mouth: _Mouth, written: bytes, work: Work, original: Original) -> None:
    def say_at(method: str) -> None:
        mouth.say("is at", method)

    try:
        mouth.say("did", work(pickle.loads(written), original.table, original.schema, say_at))
    except MethodFailed as error:
        mouth.say("did", Lost(str(error)))
    except SfumatoError as error:
        mouth.say("raises", error)
    except Exception as error:
        # its words may show a value
        mouth.say("did", Lost(f"it raises {type(error).__name__}"))


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
