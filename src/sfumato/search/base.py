"""What every search is, and how one that takes long says how far it has come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, runtime_checkable

import numpy as np

from sfumato.recipe import Recipe
from sfumato.schema import Schema
from sfumato.table import Table


@runtime_checkable
class Search(Protocol):
    """A frozen dataclass that proposes recipes for a bound table."""

    def propose(self, table: Table, schema: Schema, rng: np.random.Generator) -> Iterable[Recipe]:
        """Return the recipes to make and measure."""


def _silent(words: str) -> None:
    """Say nothing."""


_listener: ContextVar[Callable[[str], None]] = ContextVar("listener", default=_silent)


def tell(words: str) -> None:
    """Say, to whoever listens, how far a search has come."""
    _listener.get()(words)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Hear what the searches tell that propose inside.

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
