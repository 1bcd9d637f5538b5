"""A plug-in for tests: its candidates and its search wait at a gate that the test holds, its miner for ever.

So an exploration is in the middle for as long as a test wants it to be, on a fast machine and on a slow one.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np

from sfumato import Recipe, Schema, Table
from sfumato.models import KAnonymity
from sfumato.registry.methods import register
from sfumato.results import LinkedRelease
from sfumato.runtime import progress
from sfumato.sanitizers import Mondrian
from sfumato.searches import Evolution

_LONGEST = 600.0
"""How many seconds a process waits, longer than any test does: where the tests were killed, none stays."""


@dataclass(frozen=True)
class Gate:
    """A folder in which every file is a pass, a process that waits, or the word that the gate is open."""

    folder: Path

    def let_through(self, n_candidates: int) -> None:
        """Let so many more candidates through."""
        for _ in range(n_candidates):
            (self.folder / f"pass-{uuid4().hex}").touch()

    def open(self) -> None:
        """Let all candidates through from now on."""
        (self.folder / "open").touch()

    def waiting(self) -> list[int]:
        """Return the processes that found no pass left, those that ended meanwhile too."""
        return [int(path.name.partition("-")[2]) for path in self.folder.glob("waiting-*")]

    def first_waiting(self, patience: float) -> int:
        """Return a process that waits, as soon as one does."""
        ends = time.monotonic() + patience
        while not self.waiting():
            if time.monotonic() > ends:
                raise TimeoutError("nobody came to the gate")
            time.sleep(0.02)
        return self.waiting()[0]

    def enter(self) -> None:
        """Wait for a pass, and use it up."""
        mark = self.folder / f"waiting-{os.getpid()}"
        ends = time.monotonic() + _LONGEST
        while not self._has_passed():
            if time.monotonic() > ends:
                raise TimeoutError("nobody opened the gate")
            mark.touch()
            time.sleep(0.01)
        mark.unlink(missing_ok=True)

    def _has_passed(self) -> bool:
        if (self.folder / "open").exists():
            return True
        for each in self.folder.glob("pass-*"):
            try:
                each.unlink()
            except FileNotFoundError:  # another process took it
                continue
            return True
        return False


@register
@dataclass(frozen=True)
class Gated:
    """Mondrian, begun when the gate lets the candidate through.

    Parameters
    ----------
    gate
        The gate's folder.
    k
        The size of the smallest class.
    """

    gate: str
    k: int

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Wait, then make the release."""
        Gate(Path(self.gate)).enter()
        return Mondrian(KAnonymity(self.k)).sanitize(table, schema, rng)


@register
@dataclass(frozen=True)
class GatedEvolution:
    """Evolution that waits at the gate whenever it has said how far it has come.

    Parameters
    ----------
    gate
        The gate's folder.
    """

    gate: str

    def propose(self, table: Table, schema: Schema, rng: np.random.Generator) -> list[Recipe]:
        """Search, and wait."""
        say = progress._listener.get()

        def wait(words: str) -> None:
            say(words)
            Gate(Path(self.gate)).enter()

        with progress.listening(wait):
            return list(Evolution(population=20, generations=10).propose(table, schema, rng))


@register
@dataclass(frozen=True)
class Endless:
    """A miner that has not learned anything when a test gives it up."""

    predicts: ClassVar[str] = "category"

    def estimator(self, seed: int) -> Endless:
        """Return what learns."""
        return self

    def fit(self, features: Any, labels: Any) -> None:
        """Learn for longer than any test waits."""
        time.sleep(_LONGEST)
