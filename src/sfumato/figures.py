"""Figures: costly results that are kept from one run to the next, where somebody offers a place."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np


class Shelf(Protocol):
    """A place for figures. What is put there is added up over many records and speaks of no single one."""

    def figure(self, key: str) -> Any | None:
        """Return the figure of this key, if there is one."""

    def keep_figure(self, key: str, figure: Any) -> None:
        """Keep a figure, as plain data."""


_shelf: ContextVar[Shelf | None] = ContextVar("shelf", default=None)


@contextmanager
def kept_on(shelf: Shelf) -> Iterator[None]:
    """Keep the figures that are made inside on a shelf, and take from it those that it has."""
    token = _shelf.set(shelf)
    try:
        yield
    finally:
        _shelf.reset(token)


def kept(key: Sequence[object] | None, make: Callable[[], Any]) -> Any:
    """Return the figure of this key from the shelf, or make it and put it there.

    Parameters
    ----------
    key
        The kind of the figure and everything that it depends on: texts, numbers, arrays. ``None`` where
        that cannot be written down, as with functions; then it is made every time.
    make
        Makes the figure, as plain data; ``None`` is not kept.

    Examples
    --------
    >>> class Board(dict):
    ...     figure, keep_figure = dict.get, dict.__setitem__
    >>> with kept_on(Board()):
    ...     kept(["sum", 3], lambda: 6), kept(["sum", 3], lambda: 7)
    (6, 6)
    """
    shelf = _shelf.get()
    if shelf is None or key is None:
        return make()
    name = _hashed(key)
    found = shelf.figure(name)
    if found is None:
        found = make()
        if found is not None:
            shelf.keep_figure(name, found)
    return found


def _hashed(key: Sequence[object]) -> str:
    return hashlib.sha256(json.dumps(key, default=_digest).encode()).hexdigest()


def _digest(part: object) -> str:
    if not isinstance(part, np.ndarray):
        raise TypeError(f"a key cannot hold a {type(part).__name__}")
    array = np.ascontiguousarray(part)
    return f"{array.dtype.str} {array.shape} {hashlib.sha256(array.tobytes()).hexdigest()}"
