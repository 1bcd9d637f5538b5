"""Exploration: what the store of a project holds. Heavy modules are imported when they are used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from sfumato.errors import ParameterError, StoreError

if TYPE_CHECKING:
    from sfumato.frontier import Candidate, Frontier
    from sfumato.project.file import Project
    from sfumato.release import Release
    from sfumato.schema import Schema
    from sfumato.store import Store
    from sfumato.table import Table


def source_hash(table: Table, schema: Schema) -> str:
    """Return what tells candidates of this data and schema from others."""
    from sfumato.exploring.run import source_of

    return source_of(table, schema)


def frontier_of(
    project: Project, store: Store, table: Table, schema: Schema, axes: Iterable[str] = ()
) -> tuple[Frontier, tuple[Candidate, ...]]:
    """Return the frontier of all stored candidates, and those that could not be made."""
    from sfumato.choosing.question import label_of
    from sfumato.frontier import Frontier, only_made

    candidates = store.candidates(source_hash(table, schema))
    made = only_made(candidates)
    every = [m for candidate in made for m in candidate.measurements]
    chosen = tuple(label_of(axis, every) if every else axis for axis in axes) or project.axes
    if len(chosen) < 2:
        raise ParameterError("a frontier has two axes or more; give --axis twice")
    infeasible = tuple(c for c in candidates if c.infeasible is not None)
    return Frontier(made, chosen, infeasible), infeasible


def remade(candidate: Candidate, table: Table, schema: Schema) -> Release:
    """Make the release of a candidate once more."""
    from sfumato.sanitizers import sanitize

    if candidate.infeasible is not None:
        raise StoreError(f"candidate {candidate.id} could not be made: {candidate.infeasible}")
    return sanitize(table, schema, candidate.recipe)
