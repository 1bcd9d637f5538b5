"""Cache costly results: the last few in memory, sums also on a shelf that outlives the process.

Neither cache changes what is computed, only whether it is computed again: a key holds everything that a
result depends on, and a store drops its sums when a method's version changes.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

Result = TypeVar("Result")

_KEPT = 16


class Memory(Generic[Result]):
    """The last few results; the least recently used is forgotten.

    A key names everything that a result depends on, tables by their fingerprints: binding makes a new
    object of the same table every time.

    Examples
    --------
    >>> memory: Memory[int] = Memory(2)
    >>> for number in (1, 2, 3):
    ...     memory.keep(number, number**2)
    >>> memory.recall(1), memory.recall(3)
    (None, 9)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._results: OrderedDict[Hashable, Result] = OrderedDict()
        self._lock = threading.Lock()

    def recall(self, key: Hashable) -> Result | None:
        """Return what was kept for this key, if it is still known."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
            return self._results.get(key)

    def keep(self, key: Hashable, result: Result) -> None:
        """Keep a result."""
        with self._lock:
            self._results[key] = result
            while len(self._results) > self._most:
                self._results.popitem(last=False)

    def forget(self) -> None:
        """Forget everything."""
        with self._lock:
            self._results.clear()


_memory: Memory[object] = Memory(_KEPT)


def remembered(key: Hashable, make: Callable[[], Result]) -> Result:
    """Return what was made for this key before, or make it; a result is never ``None``.

    Examples
    --------
    >>> remembered(("three", 3), lambda: [3]) is remembered(("three", 3), list)
    True
    """
    known = _memory.recall(key)
    if known is not None:
        return known  # type: ignore[return-value]
    value = make()
    _memory.keep(key, value)
    return value


def forget() -> None:
    """Forget everything."""
    _memory.forget()


class Shelf(Protocol):
    """A place for sums: what is put there is added up over many records and speaks of no single one."""

    def sums(self, key: str) -> Any | None:
        """Return the sums of this key, if they are there."""

    def keep_sums(self, key: str, sums: Any) -> None:
        """Keep sums, as plain data."""


_shelf: ContextVar[Shelf | None] = ContextVar("shelf", default=None)


@contextmanager
def kept_on(shelf: Shelf | None) -> Iterator[None]:
    """Keep the sums that are made inside on a shelf, and take from it those it has; ``None`` is no shelf."""
    token = _shelf.set(shelf)
    try:
        yield
    finally:
        _shelf.reset(token)


def kept(key: Sequence[object] | None, make: Callable[[], Any]) -> Any:
    """Return the sums of this key from the shelf, or make them and put them there.

    Parameters
    ----------
    key
        The kind of the sums and everything that they depend on: texts, numbers, arrays. ``None`` where
        that cannot be written down, as with functions; then they are made every time.
    make
        Makes the sums, as plain data; ``None`` is not kept.

    Examples
    --------
    >>> class Board(dict):
    ...     sums, keep_sums = dict.get, dict.__setitem__
    >>> with kept_on(Board()):
    ...     kept(["sum", 3], lambda: 6), kept(["sum", 3], lambda: 7)
    (6, 6)
    """
    shelf = _shelf.get()
    if shelf is None or key is None:
        return make()
    name = _hashed(key)
    sums = shelf.sums(name)
    if sums is None:
        sums = make()
        if sums is not None:
            shelf.keep_sums(name, sums)
    return sums


def _hashed(key: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(key, default=_digest).encode()).hexdigest()


def _digest(part: object) -> str:
    if not isinstance(part, np.ndarray):
        raise TypeError(f"a key cannot hold a {type(part).__name__}")
    array = np.ascontiguousarray(part)
    return f"{array.dtype.str} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
