"""Count what an exploration would do, without making or writing anything."""

from __future__ import annotations

import os
from dataclasses import dataclass

from sfumato.runtime import machine
from sfumato.workflow.explore.candidate_tasks import (
    ExplorationInputs,
    is_quick,
    listed,
    measures_by_extras,
    missing_extra_of,
    propose,
    still_open,
    tries_attacks,
    with_keys,
)
from sfumato.workflow.explore.original_workers import Original, WorkInputs
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.store import Store


@dataclass(frozen=True)
class DryRun:
    """What an exploration would do.

    Parameters
    ----------
    n_open, n_known
        The candidates that it would make, and those that are stored.
    n_searches
        The searches that it would run and that take long, whose candidates are not counted.
    memory
        How many bytes of memory its processes would use together.
    """

    n_open: int
    n_known: int
    n_searches: int
    memory: int


def dry_run(project: Project, store: Store, workers: int) -> DryRun:
    """Return what an exploration would do.

    Parameters
    ----------
    project
        What to try and to measure.
    store
        What is known already.
    workers
        How many processes would work.
    """
    table, schema = project.read()
    measures, _ = measures_by_extras(project.measures, project.axes)
    inputs = ExplorationInputs(
        store,
        Original(table, schema, store.path),
        0,
        with_keys(measures),
        project.policy,
        tries_attacks(project.searches),
    )
    every, n_searches = {}, 0
    for search in project.searches:
        recipes = listed(search, inputs)
        if recipes is None and is_quick(search):
            recipes = propose((search, [inputs.seed]), WorkInputs(table, schema))
        n_searches += recipes is None
        usable = [recipe for recipe in recipes or () if missing_extra_of(recipe) is None]
        every.update({task.id: task for task in map(inputs.task, usable)})
    n_open = len(still_open(every.values(), store))
    memory = machine.used_by(os.getpid()) * (workers + (workers > 1))
    return DryRun(n_open, len(every) - n_open, n_searches, memory)
