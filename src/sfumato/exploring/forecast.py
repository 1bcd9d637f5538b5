"""Forecast: how many candidates an exploration would make, how long that takes and how much memory."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import monotonic

import numpy as np

from sfumato.exploring import memory
from sfumato.exploring.apart import Original
from sfumato.exploring.estimate import Costs
from sfumato.exploring.order import in_order
from sfumato.exploring.tasks import Ground, is_quick, listed, propose, still_open, with_keys
from sfumato.exploring.workers import Finished, Task, make
from sfumato.project.file import Project
from sfumato.recipe import Recipe
from sfumato.schema import Schema
from sfumato.search.base import Search
from sfumato.store.base import Store
from sfumato.store.costs import MAKING
from sfumato.table import Table

_SMALL, _LARGE = 250, 1000
"""How many rows the samples have on which methods are tried that were never timed."""
_PATIENCE = 10.0
"""After how many seconds no further method is tried."""
_STEEPEST = 2.0
"""By which power of the rows the time grows at most."""


@dataclass(frozen=True)
class Forecast:
    """What an exploration would do.

    Parameters
    ----------
    n_open, n_known
        The candidates that it would make, and those that are stored.
    n_searches
        The searches that it would run and that take long, whose candidates are not counted.
    seconds
        How long it would take, if that can be said.
    n_sampled
        How many methods were never timed, so that they were tried on a sample of the rows.
    memory
        How many bytes of memory its processes would use together.
    """

    n_open: int
    n_known: int
    n_searches: int
    seconds: float | None
    n_sampled: int
    memory: int


def forecast(project: Project, store: Store, workers: int) -> Forecast:
    """Return what an exploration would do; nothing is written.

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
    ground = Ground(store, Original(table, schema, store.path), 0, with_keys(project.measures))
    tries = [_listed(each, ground) for each in project.searches]
    lines = [[ground.task(recipe) for recipe in recipes] for recipes in tries if recipes is not None]
    every = {task.id: task for line in lines for task in line}
    wanted = still_open(every.values(), store)
    costs = Costs(store.costs(ground.source, table.n_rows))
    sampled = _sampled(in_order([wanted], costs), costs, table, schema)
    whole = costs.of_all(wanted)
    return Forecast(
        n_open=len(wanted),
        n_known=len(every) - len(wanted),
        n_searches=tries.count(None),
        seconds=None if whole is None else whole / max(min(workers, len(wanted)), 1),
        n_sampled=sampled,
        memory=memory.used_by(os.getpid()) * (workers + (workers > 1)),
    )


def _listed(search: Search, ground: Ground) -> Sequence[Recipe] | None:
    """Return what a search proposes, if that is known or soon found."""
    known = listed(search, ground)
    if known is not None or not is_quick(search):
        return known
    return propose((search, [ground.seed]), ground.original.table, ground.original.schema)


def _sampled(tasks: Iterable[Task], costs: Costs, table: Table, schema: Schema) -> int:
    """Try one candidate of each method that was never timed, and note what it would cost; count them."""
    ends = monotonic() + _PATIENCE
    n_sampled = 0
    for task in tasks:
        if costs.has(task.recipe.sanitizer) or monotonic() > ends:
            continue
        small, large = (_part(table, n_rows) for n_rows in (_SMALL, _LARGE))
        # the first one loads what the others find loaded
        _, low, high = (make(task, part, schema) for part in (small, small, large))
        factor = _growth(low, high, small.n_rows, large.n_rows, table.n_rows)
        costs.note(task.recipe.sanitizer, {part: factor * taken for part, taken in high.seconds.items()})
        n_sampled += 1
    return n_sampled


def _part(table: Table, n_rows: int) -> Table:
    """Return rows from all over a table; the domains stay, so that the schema fits."""
    rows = np.unique(np.linspace(0, table.n_rows - 1, min(n_rows, table.n_rows)).astype(np.int64))
    return table.part(rows, table.weights[rows])


def _growth(low: Finished, high: Finished, n_low: int, n_high: int, n_rows: int) -> float:
    """Return by which factor the table takes longer than the larger sample, from how both samples differ."""
    if n_low == n_high or not low.seconds.get(MAKING):
        return n_rows / n_high
    ratio = sum(high.seconds.values()) / sum(low.seconds.values())
    power = min(max(math.log(ratio) / math.log(n_high / n_low), 0.0), _STEEPEST)
    return float((n_rows / n_high) ** power)
