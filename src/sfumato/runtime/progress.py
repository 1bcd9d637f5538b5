"""Report the progress of long work to a listener."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str], None]


def _silent(words: str) -> None:
    """Say nothing."""


_listener: ContextVar[Listener] = ContextVar("listener", default=_silent)


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
