"""Remembered: the last few costly results about a table, by what they were computed from."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

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
    made = make()
    _memory.keep(key, made)
    return made


def forget() -> None:
    """Forget everything."""
    _memory.forget()
