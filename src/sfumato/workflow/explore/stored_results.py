"""Read a project's candidates for its current data from the store; read the data only if necessary."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato import __version__
from sfumato.runtime.errors import DataError, ParameterError, StoreError
from sfumato.workflow.store.provenance import source_of

if TYPE_CHECKING:
    from sfumato.data.schema import Schema
    from sfumato.data.table import Table
    from sfumato.results.candidate import Candidate
    from sfumato.results.frontier import Frontier
    from sfumato.results.linked_release import LinkedRelease
    from sfumato.workflow.project.project_file import Project
    from sfumato.workflow.store.store import Store

_UNSETTLED_SECONDS = 2.0
"""A file that was written less than so many seconds ago may change again without a trace in its times."""


def source_now(project: Project, store: Store) -> str:
    """Return the `source_of` of a project's data, which is read only if it has changed."""
    place = str(project.data_path.absolute())
    known = store.source_read(place, _digest_of_description(project), _state_of_files(project)[0])
    return source_of(*read_noted(project, store)) if known is None else known


@dataclass(frozen=True)
class DataRead:
    """The data of a project after binding, and the state of its files before reading."""

    table: Table
    schema: Schema
    state: tuple[str, float]

    @classmethod
    def of(cls, project: Project) -> DataRead:
        """Read the data."""
        state = _state_of_files(project)
        return cls(*project.read(), state)


def read_noted(project: Project, store: Store, read: DataRead | None = None) -> tuple[Table, Schema]:
    """Read the data of a project unless ``read`` has it, and store which source it was."""
    read = read or DataRead.of(project)
    before, written = read.state
    if before and _state_of_files(project) == read.state and time.time() - written > _UNSETTLED_SECONDS:
        place = str(project.data_path.absolute())
        store.keep_source(place, _digest_of_description(project), before, source_of(read.table, read.schema))
    return read.table, read.schema


def _state_of_files(project: Project) -> tuple[str, float]:
    """Return sizes and times of a project's data files, and the latest time; empty if a file is missing."""
    from sfumato.reading.sources import state_of

    try:
        return state_of(project.source().files)
    except DataError:
        return "", 0.0


def _digest_of_description(project: Project) -> str:
    """Return a hash of how a project reads its data and what it says of the attributes."""
    facts = f"{__version__} {project.data!r} {project.schema.fingerprint}"
    return hashlib.sha256(facts.encode()).hexdigest()


def frontier_of(
    project: Project, store: Store, table: Table, schema: Schema, axes: Iterable[str] = ()
) -> tuple[Frontier, tuple[Candidate, ...]]:
    """Return the frontier of all candidates of a table, and those that could not be made."""
    found = stored_frontier(project, store, source_of(table, schema), axes)
    return found, found.infeasible


def stored_frontier(project: Project, store: Store, source: str, axes: Iterable[str] = ()) -> Frontier:
    """Return the frontier of all stored candidates that were made from this source."""
    from sfumato.results.frontier import Frontier, only_made
    from sfumato.results.measure_lookup import (
        label_of,
    )

    candidates = store.candidates(source)
    made = only_made(candidates)
    every = [m for candidate in made for m in candidate.measurements]
    chosen = tuple(label_of(axis, every) if every else axis for axis in axes) or project.axes
    if len(chosen) < 2:
        raise ParameterError("a frontier has two axes or more; give --axis twice")
    infeasible = tuple(c for c in candidates if c.infeasible is not None)
    return Frontier(made, chosen, infeasible, project.policy)


def remade(candidate: Candidate, table: Table, schema: Schema) -> LinkedRelease:
    """Make the release of a candidate again."""
    from sfumato.sanitizers import sanitize

    if candidate.infeasible is not None:
        raise StoreError(f"candidate {candidate.id} could not be made: {candidate.infeasible}")
    return sanitize(table, schema, candidate.recipe)
