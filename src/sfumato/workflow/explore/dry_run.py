"""Forecast an exploration: how many candidates it would make, how long it takes and how much memory."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter, process_time

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry.recipe import Recipe
from sfumato.runtime import machine
from sfumato.searches.base import Search
from sfumato.workflow.explore.candidate_tasks import (
    ExplorationInputs,
    is_quick,
    listed,
    propose,
    still_open,
    with_keys,
)
from sfumato.workflow.explore.candidate_workers import Task, few_rows, make
from sfumato.workflow.explore.original_workers import Original
from sfumato.workflow.explore.schedule import in_order
from sfumato.workflow.explore.time_estimate import Costs, usually_refined
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.store import Store

_SMALLEST, _STEP = 250, 4
"""How many rows the smallest sample of a new method has, and how many times as many the next one."""
_LONG, _TELLING = 1.0, 0.15
"""How many seconds the last sample takes: so many at least, or so many and a fifth of it the one before."""
_SAMPLES = 3
"""So many samples tell what grows with the rows and what does not."""
_PATIENCE = 10.0
"""After how many seconds of work no further method is tried."""
_START_SECONDS = 4.0
"""How many seconds reading, loading and starting processes take on an ordinary machine that is free."""
_LARGEST_EXPONENT = 2.0
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
    """Return what an exploration would do, without writing anything.

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
    ground = ExplorationInputs(store, Original(table, schema, store.path), 0, with_keys(project.measures))
    entries = [_listed(each, ground) for each in project.searches]
    lines = [[ground.task(recipe) for recipe in recipes] for recipes in entries if recipes is not None]
    every = {task.id: task for line in lines for task in line}
    wanted = still_open(every.values(), store)
    costs = Costs(store.costs(ground.source, table.n_rows))
    sampled = _sampled(in_order([wanted], costs), costs, table, schema)
    start = _START_SECONDS * _slowness(perf_counter() - began[0], process_time() - began[1])
    gaps = {task.recipe.sanitizer for task in every.values()}, usually_refined(table.n_rows)
    return Forecast(
        n_open=len(wanted),
        n_known=len(every) - len(wanted),
        n_searches=entries.count(None),
        seconds=_total_seconds(wanted, gaps, costs, workers, budget, start),
        n_sampled=sampled,
        memory=machine.used_by(os.getpid()) * (workers + (workers > 1)),
    )


def _slowness(clock: float, work: float) -> float:
    """Return the slowdown compared with a free machine, from how long a known piece of work took.

    Examples
    --------
    >>> _slowness(6.0, 2.0), _slowness(1.0, 1.5)
    (3.0, 1.0)
    """
    return max(clock / work, 1.0) if work else 1.0


def _total_seconds(
    wanted: Sequence[Task],
    gaps: tuple[Iterable[str], int],
    costs: Costs,
    workers: int,
    budget: float | None,
    start: float,
) -> float | None:
    """Return the time of candidates, and within a budget of those in gaps: of which methods, how many."""
    planned = costs.of_all(wanted, workers)
    if planned is None or (budget is None and not wanted):
        return planned
    if budget is None:
        return start + planned
    keys = [key for key, _ in (wanted[0].asked if wanted else ())]
    more = costs.of_refining(gaps[0], keys, gaps[1], workers)
    return None if more is None else min(start + planned + more, budget)


def _listed(search: Search, ground: ExplorationInputs) -> Sequence[Recipe] | None:
    """Return the proposals of a search if they are known or the search is quick."""
    known = listed(search, ground)
    if known is not None or not is_quick(search):
        return known
    return propose((search, [ground.seed]), ground.original.table, ground.original.schema)


def _sampled(tasks: Iterable[Task], costs: Costs, table: Table, schema: Schema) -> int:
    """Time one candidate of each method without a known cost on samples, and note it; return their number."""
    ends = process_time() + _PATIENCE
    n_sampled = 0
    for task in tasks:
        if costs.has(task.recipe.sanitizer) or process_time() > ends:
            continue
        if not n_sampled:
            # the first one sums up what the others compare with
            _expected_cost(task, table, schema)
        costs.note(task.recipe.sanitizer, _expected_cost(task, table, schema))
        n_sampled += 1
    return n_sampled


def _expected_cost(task: Task, table: Table, schema: Schema) -> dict[str, float]:
    """Return the expected cost of a candidate, by part, from growing samples until one is informative."""
    sizes, taken = [min(_SMALLEST, table.n_rows)], list[float]()
    while True:
        parts = make(task, few_rows(table, sizes[-1]), schema).seconds
        taken.append(sum(parts.values()))
        if sizes[-1] == table.n_rows or (len(taken) >= _SAMPLES and _is_informative(*taken[-2:])):
            break
        sizes.append(min(_STEP * sizes[-1], table.n_rows))
    factor = _growth(sizes, taken, table.n_rows)
    return {part: factor * seconds for part, seconds in parts.items()}


def _is_informative(before: float, last: float) -> bool:
    """Return whether two samples took long enough to show how the time grows."""
    return last >= _LONG or (last >= _TELLING and before >= _TELLING / 5)


def _growth(sizes: Sequence[int], taken: Sequence[float], n_rows: int) -> float:
    """Return how many times longer the table takes than the largest sample, from how the samples differ.

    What is the same for every size, as summing up a domain, does not grow: the time is a constant and a power
    of the rows, and the last three samples tell both.

    Examples
    --------
    >>> sizes = (250, 1000, 4000)
    >>> [round(_growth(sizes, [c + 1e-6 * n for n in sizes], 8000), 3) for c in (0.0, 0.004)]
    [2.0, 1.5]
    """
    if sizes[-1] == n_rows or len(sizes) < _SAMPLES or not taken[-1]:
        return n_rows / sizes[-1]
    _, middle, high = sizes[-_SAMPLES:]
    before, last = (max(b - a, 1e-9) for a, b in pairwise(taken[-_SAMPLES:]))
    power = min(max(math.log(last / before) / math.log(high / middle), 1.0), _LARGEST_EXPONENT)
    more = (n_rows**power - high**power) / (high**power - middle**power)
    return 1.0 + more * last / taken[-1]
