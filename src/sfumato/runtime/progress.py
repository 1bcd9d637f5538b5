"""Let long work report how far it has come, and ask whether it should stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sfumato.runtime.errors import Stopped

Listener = Callable[[str], None]


def _silent(words: str) -> None:
    """Say nothing."""


def never() -> bool:
    """Ask for no stop."""
    return False


_listener: ContextVar[Listener] = ContextVar("listener", default=_silent)
_stop: ContextVar[Callable[[], bool]] = ContextVar("stop", default=never)


def tell(words: str) -> None:
    """Say, to whoever listens, how far something has come. No record's value belongs in it."""
    _listener.get()(words)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Hear what is told inside.

    Examples
    --------
    >>> with listening(print):
    ...     tell("generation 25 of 250")
    generation 25 of 250
    """
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def speaking_of(subject: str) -> Iterator[None]:
    """Put before all that is told inside what it speaks of.

    Examples
    --------
    >>> with listening(print), speaking_of("anti-utility"):
    ...     tell("naive-bayes, fold 3 of 10")
    anti-utility: naive-bayes, fold 3 of 10
    """
    outer = _listener.get()
    with listening(lambda words: outer(f"{subject}: {words}")):
        yield


@contextmanager
def stoppable(stop: Callable[[], bool]) -> Iterator[None]:
    """Let the work inside ask by ``stop`` whether it should end.

    Examples
    --------
    >>> with stoppable(lambda: True):
    ...     check_stop()
    Traceback (most recent call last):
    ...
    sfumato.runtime.errors.Stopped: stopped before it was finished
    """
    token = _stop.set(stop)
    try:
        yield
    finally:
        _stop.reset(token)


def check_stop() -> None:
    """Raise `Stopped` if the work should end; long work calls this between its rounds."""
    if _stop.get()():
        raise Stopped("stopped before it was finished")
