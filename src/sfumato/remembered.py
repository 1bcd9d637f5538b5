"""Remembered: the last few costly results about a table, by what they were computed from."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TypeVar

_KEPT = 16
_results: OrderedDict[Hashable, object] = OrderedDict()
_lock = threading.Lock()

Result = TypeVar("Result")


def remembered(key: Hashable, make: Callable[[], Result]) -> Result:
    """Return what was made for this key before, or make it; the least recently used is forgotten.

    The key names the kind of the result and everything it depends on, tables by their fingerprints:
    binding makes a new object of the same table every time.

    Examples
    --------
    >>> remembered(("three", 3), lambda: [3]) is remembered(("three", 3), list)
    True
    """
    with _lock:
        if key in _results:
            _results.move_to_end(key)
            return _results[key]  # type: ignore[return-value]
    made = make()
    with _lock:
        _results[key] = made
        while len(_results) > _KEPT:
            _results.popitem(last=False)
    return made


def forget() -> None:
    """Forget everything."""
    with _lock:
        _results.clear()
