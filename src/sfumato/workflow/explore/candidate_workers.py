"""Make and measure candidates, here or in several processes, and yield each as soon as it is finished."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import Any

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.models.distances import distance_named
from sfumato.registry import methods
from sfumato.registry.plugin_errors import named
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.linked_release import LinkedRelease, link
from sfumato.results.measurement import LevelReached, Measure, Measurement, build_measure, measure
from sfumato.results.origin import Origin
from sfumato.results.release import Release
from sfumato.runtime.arrays import Integers
from sfumato.runtime.caching import kept_on
from sfumato.runtime.errors import Infeasible, MethodFailed, SfumatoError
from sfumato.runtime.pool import Limits, Lost
from sfumato.runtime.progress import listening, speaking_of
from sfumato.sanitizers.base import RareValues, sanitize
from sfumato.workflow.explore.original_workers import (
    Original,
    WorkInputs,
    done_by_worker,
    done_by_workers,
)
from sfumato.workflow.explore.release_fingerprint import fingerprint_of
from sfumato.workflow.store.store import Store

MAKING = ""
"""The part of a candidate's time that is making its release; every other part is a measure."""
_FEW = 100
"""On how many rows a method is tried before it is timed."""
_SMALL = 500
"""A table of so many rows is small: no method of sfumato takes long with it."""
_AT_FIRST, _LONGER = 2.0, 10.0
"""For how many seconds candidates are made here before processes are started, and of a small table."""
_WARM_UP_SECONDS = 1.0
"""After so many seconds no further measure is warmed up: loading code is not what takes so long."""
_loaded: set[str] = set()
"""The sanitizers that this process has warmed up; it decides on what counts as a cost, never on a result."""

Written = str | Mapping[str, Any]
"""A measure as a project file writes it: its name, or ``{name: parameters}``."""


@dataclass(frozen=True)
class Task:
    """A candidate to make, and what to measure of it.

    Parameters
    ----------
    id
        The candidate's name.
    recipe
        How it is made.
    asked
        The measures, each with the key under which the store keeps it.
    """

    id: str
    recipe: Recipe
    asked: tuple[tuple[str, Written | Measure], ...]


@dataclass(frozen=True)
class Finished:
    """The outcome of a task.

    Parameters
    ----------
    candidate
        The candidate, with what was measured of it.
    taken
        Its measurements, by the key of the measure that was asked for.
    fingerprint
        That of its release, to recognise an equal one.
    seconds
        How long making it took and how long each measure, by key.
    """

    candidate: Candidate
    taken: Mapping[str, list[Measurement]] = field(default_factory=dict)
    fingerprint: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)


def finished(
    tasks: Iterator[Task | None],
    original: Original,
    store: Store,
    workers: int,
    limits: Limits,
    ends: float = math.inf,
    *,
    at_once: bool = True,
) -> Generator[Finished]:
    """Yield the candidates as they are finished.

    The first candidate of every sanitizer is made in this process: its kernels are compiled and cached
    once, not by every worker at the same time, and so are the sums of the original that all candidates need.
    Plug-ins never run here, as they may crash the process, and nothing does if the user gave limits. If
    patience is the only limit, the first candidates of methods without parameters are made here while the
    workers start; of a small table, which is never slow, more than these.

    Parameters
    ----------
    tasks
        The tasks, asked for one by one; ``None`` if there is none until another one is finished.
    original, store
        The original, and its store, where what is made here looks up measurements of equal releases.
    workers, limits
        How many processes work, and what one candidate may use.
    ends
        When to end, by the monotonic clock: no task begins after it. Other processes are then stopped, and a
        task in this process is finished.
    at_once
        Whether to start processes as soon as there is a task for them. Otherwise further candidates are made
        in this process for as long as it takes to start others; for longer if the table is small.
    """
    inputs = WorkInputs(original.table, original.schema, store)
    alone = workers == 1 and not limits.need_watching
    is_small = original.table.n_rows <= _SMALL
    watched = limits.given or (limits.need_watching and (at_once or not is_small))
    later: list[Task] = []
    here: list[Task] = []
    if not watched:
        at_first = math.inf if alone else 0.0 if at_once else _LONGER if is_small else _AT_FIRST
        yield from _make_here(tasks, inputs, ends, at_first, later)
    if alone:
        return
    while watched and not limits.given and (task := next(tasks, None)) is not None:
        if has_parameters(task.recipe.sanitizer) or _is_plugged_in(task):
            later.append(task)
            break
        here.append(task)
    rest = itertools.chain(later, tasks)

    def is_over() -> bool:
        return monotonic() >= ends

    meanwhile = ((task, make(task, inputs)) for task in here if not is_over())
    with closing(done_by_workers(make, rest, original, workers, limits, is_over, meanwhile)) as results:
        for task, result in results:
            lost = isinstance(result, Lost)
            yield _failed(task, result.reason, result.seconds) if lost else result


def _make_here(
    tasks: Iterator[Task | None], inputs: WorkInputs, ends: float, at_first: float, later: list[Task]
) -> Generator[Finished]:
    """Make the first candidate of every method here, others for a while; add to ``later`` what is left."""
    took: dict[str, float] = {}
    while monotonic() < ends and (task := next(tasks, None)) is not None:
        method, began = task.recipe.sanitizer, monotonic()
        if at_first < math.inf and (_is_plugged_in(task) or took.get(method, 0.0) > at_first):
            later.append(task)
            if method in took:
                return
            continue
        result = make(task, inputs)
        at_first -= monotonic() - began if method in took else 0.0
        took[method] = monotonic() - began
        yield result


def has_parameters(sanitizer: str) -> bool:
    """Return whether a method has parameters; publishing everything or nothing has none."""
    return bool(methods.parameters_of(methods.look_up("sanitizer", sanitizer)))


def _is_plugged_in(task: Task) -> bool:
    """Return whether a task uses a plug-in."""
    return uses_plugin(task.recipe, [asked for _, asked in task.asked])


def uses_plugin(recipe: Recipe, measures: Iterable[Written | Measure]) -> bool:
    """Return whether a recipe or a measure uses a plug-in."""
    sanitizer = recipe.build()
    used = [sanitizer, *_parts(sanitizer)]
    for asked in measures:
        measured = asked if isinstance(asked, Measure) else build_measure(asked)
        used += [measured, *_parts(measured)]
    return any(methods.is_plugged_in(type(each)) or _has_plugged_in_distance(each) for each in used)


def _has_plugged_in_distance(method: Any) -> bool:
    if methods.named_in(type(method)).get("distance") != "distance":
        return False
    return not methods.is_ours(distance_named(method.distance).module)


def made_and_measured(
    table: Table, schema: Schema, recipe: Recipe, measures: Sequence[Written | Measure]
) -> tuple[LinkedRelease, tuple[Measurement, ...]]:
    """Make and measure one release; if a plug-in takes part, in a process that may crash."""
    bound, piece = schema.bind(table), (recipe.seeded(), tuple(measures))
    if not uses_plugin(recipe, measures):
        return _made_and_measured(piece, WorkInputs(*bound))
    release, rows, measurements = done_by_worker(_unlinked_and_measured, piece, *bound)
    return link(release, Origin(bound[0], rows)), measurements


def _unlinked_and_measured(
    piece: tuple[Recipe, Sequence[Written | Measure]], inputs: WorkInputs
) -> tuple[Release, Integers | None, tuple[Measurement, ...]]:
    """Do the work in a worker, which sends no copy of the original back."""
    release, measurements = _made_and_measured(piece, inputs)
    return release.unlinked(), release.origin.linked_rows, measurements


def _made_and_measured(
    piece: tuple[Recipe, Sequence[Written | Measure]], inputs: WorkInputs
) -> tuple[LinkedRelease, tuple[Measurement, ...]]:
    recipe, measures = piece
    inputs.at(named(type(recipe.build())))
    release = sanitize(inputs.table, inputs.schema, recipe)
    taken: list[Measurement] = []
    for written in measures:
        asked = written if isinstance(written, Measure) else build_measure(written)
        inputs.at(named(type(asked)))
        taken += measure(release, [asked])
    return release, tuple(taken)


def _parts(method: object) -> tuple[Any, ...]:
    model = getattr(method, "model", None)
    return getattr(model, "parts", ())


def make(task: Task, inputs: WorkInputs) -> Finished:
    """Make and measure a candidate; reuse the measurements of an equal release in the store."""
    if task.recipe.sanitizer not in _loaded:
        _loaded.add(task.recipe.sanitizer)
        _warm_up(task, inputs.table, inputs.schema)
    watch = _Stopwatch()
    try:
        with speaking_of(str(task.recipe)), warnings.catch_warnings():
            # of the candidate that is published, `publish` warns
            warnings.simplefilter("ignore", RareValues)
            taken, fingerprint = _make_and_measure(task, inputs, watch)
    except MethodFailed as reason:
        return _failed(task, str(reason), watch.whole)
    except Infeasible as reason:
        candidate = Candidate(task.id, task.recipe, (), str(reason), watch.whole)
        return Finished(candidate, seconds={MAKING: watch.whole})
    measurements = tuple(m for each in taken.values() for m in each)
    candidate = Candidate(task.id, task.recipe, measurements, None, watch.whole)
    return Finished(candidate, taken, fingerprint, watch.laps)


def _warm_up(task: Task, table: Table, schema: Schema) -> None:
    """Make and measure a candidate of a few rows, so that loading code does not count as its cost.

    They are never all rows: measures remember results, and those of the candidate would then take no time.
    """
    if _is_plugged_in(task):
        return
    ends = monotonic() + _WARM_UP_SECONDS
    with kept_on(None), listening(lambda _: None), suppress(SfumatoError), warnings.catch_warnings():
        warnings.simplefilter("ignore", RareValues)
        release = sanitize(few_rows(table, min(_FEW, max(table.n_rows // 2, 1))), schema, task.recipe)
        for _, written in task.asked:
            if monotonic() < ends:
                measure(release, [written])


def few_rows(table: Table, n_rows: int) -> Table:
    """Return rows from all over a table, with full domains so that the schema fits."""
    rows = np.unique(np.linspace(0, table.n_rows - 1, min(n_rows, table.n_rows)).astype(np.int64))
    return table.part(rows, table.weights[rows])


class _Stopwatch:
    """A stopwatch for the parts of some work."""

    def __init__(self) -> None:
        self.began = self.lap = perf_counter()
        self.laps: dict[str, float] = {}

    def stop(self, part: str) -> None:
        now = perf_counter()
        self.laps[part], self.lap = now - self.lap, now

    @property
    def whole(self) -> float:
        return perf_counter() - self.began


def _make_and_measure(
    task: Task, inputs: WorkInputs, watch: _Stopwatch
) -> tuple[dict[str, list[Measurement]], str]:
    inputs.at(named(type(task.recipe.build())))
    release = sanitize(inputs.table, inputs.schema, task.recipe)
    fingerprint = fingerprint_of(release)
    keys = [key for key, _ in task.asked]
    before = {} if inputs.store is None else inputs.store.taken_of(fingerprint, keys)
    watch.stop(MAKING)
    taken = {}
    for key, written in task.asked:
        if key in before:
            taken[key] = before[key]
            continue
        asked = written if isinstance(written, Measure) else build_measure(written)
        inputs.at(named(type(asked.model if isinstance(asked, LevelReached) else asked)))
        taken[key] = measure(release, [written])
        watch.stop(key)
    return taken, fingerprint


def _failed(task: Task, reason: str, seconds: float = 0.0) -> Finished:
    candidate = Candidate(task.id, task.recipe, (), reason, seconds, failed=True)
    return Finished(candidate, seconds={MAKING: seconds})
