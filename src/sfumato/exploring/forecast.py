"""Forecast: how many candidates an exploration would make, how long that takes and how much memory."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter, process_time

from sfumato.exploring import memory
from sfumato.exploring.apart import Original
from sfumato.exploring.estimate import USUALLY_REFINED, Costs
from sfumato.exploring.order import in_order
from sfumato.exploring.tasks import Ground, is_quick, listed, propose, still_open, with_keys
from sfumato.exploring.workers import Finished, Task, few_rows, make
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
"""After how many seconds of work no further method is tried."""
_START = 4.0
"""How many seconds reading, loading and starting processes take on an ordinary machine that is free."""
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
        How long it would take, if that can be said; with a budget, what is tried in gaps of the frontier too.
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


def forecast(project: Project, store: Store, workers: int, budget: float | None = None) -> Forecast:
    """Return what an exploration would do; nothing is written.

    Parameters
    ----------
    project
        What to try and to measure.
    store
        What is known already.
    workers
        How many processes would work.
    budget
        After how many seconds it would stop.
    """
    began = perf_counter(), process_time()
    table, schema = project.read()
    ground = Ground(store, Original(table, schema, store.path), 0, with_keys(project.measures))
    tries = [_listed(each, ground) for each in project.searches]
    lines = [[ground.task(recipe) for recipe in recipes] for recipes in tries if recipes is not None]
    every = {task.id: task for line in lines for task in line}
    wanted = still_open(every.values(), store)
    costs = Costs(store.costs(ground.source, table.n_rows))
    sampled = _sampled(in_order([wanted], costs), costs, table, schema)
    start = _START * _slowness(perf_counter() - began[0], process_time() - began[1])
    methods = {task.recipe.sanitizer for task in every.values()}
    return Forecast(
        n_open=len(wanted),
        n_known=len(every) - len(wanted),
        n_searches=tries.count(None),
        seconds=_seconds(wanted, methods, costs, workers, budget, start),
        n_sampled=sampled,
        memory=memory.used_by(os.getpid()) * (workers + (workers > 1)),
    )


def _slowness(clock: float, work: float) -> float:
    """Return how many times as long as on a free machine something takes, from how long work took.

    Examples
    --------
    >>> _slowness(6.0, 2.0), _slowness(1.0, 1.5)
    (3.0, 1.0)
    """
    return max(clock / work, 1.0) if work else 1.0


def _seconds(
    wanted: Sequence[Task],
    sanitizers: Iterable[str],
    costs: Costs,
    workers: int,
    budget: float | None,
    start: float,
) -> float | None:
    """Return how long candidates take, and with a budget those in gaps, every method as often as others."""
    planned = costs.of_all(wanted, workers)
    if planned is None or (budget is None and not wanted):
        return planned
    if budget is None:
        return start + planned
    keys = [key for key, _ in (wanted[0].asked if wanted else ())]
    more = costs.of_refining(sanitizers, keys, USUALLY_REFINED, workers)
    return None if more is None else min(start + planned + more, budget)


def _listed(search: Search, ground: Ground) -> Sequence[Recipe] | None:
    """Return what a search proposes, if that is known or soon found."""
    known = listed(search, ground)
    if known is not None or not is_quick(search):
        return known
    return propose((search, [ground.seed]), ground.original.table, ground.original.schema)


def _sampled(tasks: Iterable[Task], costs: Costs, table: Table, schema: Schema) -> int:
    """Try one candidate of each method that was never timed, and note what it would cost; count them."""
    ends = process_time() + _PATIENCE
    n_sampled = 0
    small, large = (few_rows(table, n_rows) for n_rows in (_SMALL, _LARGE))
    for task in tasks:
        if costs.has(task.recipe.sanitizer) or process_time() > ends:
            continue
        if not n_sampled:
            # the first one sums up what the others compare with
            make(task, small, schema), make(task, large, schema)
        low, high = (make(task, part, schema) for part in (small, large))
        factor = _growth(low, high, small.n_rows, large.n_rows, table.n_rows)
        costs.note(task.recipe.sanitizer, {part: factor * taken for part, taken in high.seconds.items()})
        n_sampled += 1
    return n_sampled


def _growth(low: Finished, high: Finished, n_low: int, n_high: int, n_rows: int) -> float:
    """Return by which factor the table takes longer than the larger sample, from how both samples differ."""
    if n_low == n_high or not low.seconds.get(MAKING):
        return n_rows / n_high
    ratio = sum(high.seconds.values()) / sum(low.seconds.values())
    power = min(max(math.log(ratio) / math.log(n_high / n_low), 0.0), _STEEPEST)
    return float((n_rows / n_high) ** power)
