"""Workers: make and measure candidates here or in several processes, each told as soon as it is finished."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from sfumato import registry
from sfumato.errors import Infeasible, MethodFailed
from sfumato.exploring.apart import Limits, Lost, Original, done_apart
from sfumato.faults import named
from sfumato.frontier import Candidate
from sfumato.measures.base import LevelReached, Measure, Measurement, measure
from sfumato.progress import speaking_of
from sfumato.recipe import Recipe
from sfumato.sanitizers.base import sanitize
from sfumato.schema import Schema
from sfumato.table import Table

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


Result = tuple[Candidate, dict[str, list[Measurement]]]
"""A candidate, and its measurements by the key of the measure that was asked for."""


def finished(tasks: list[Task], original: Original, workers: int, limits: Limits) -> Generator[Result]:
    """Yield the candidates as they are finished.

    The first of every sanitizer is made here, so that its kernels are compiled (and cached) once and
    not by every worker at the same time; and so are the sums of the original, which all compare with.
    What somebody else wrote is not: it may take the process with it. Nor is anything where limits are given.
    """
    here = tasks if workers == 1 and not limits.given else _first_of_each(tasks, limits)
    for task in here:
        yield make(task, original.table, original.schema)
    made = {task.id for task in here}
    rest = [task for task in tasks if task.id not in made]
    if not rest:
        return
    with closing(done_apart(make, rest, original, min(workers, len(rest)), limits)) as results:
        for task, result in results:
            yield _failed(task, result.reason) if isinstance(result, Lost) else result


def _first_of_each(tasks: list[Task], limits: Limits) -> list[Task]:
    first = {task.recipe.sanitizer: task for task in reversed(tasks)}
    return [] if limits.given else [task for task in reversed(first.values()) if not _is_plugged_in(task)]


def _is_plugged_in(task: Task) -> bool:
    """Return whether a task uses anything that somebody else wrote."""
    sanitizer = task.recipe.build()
    used = [sanitizer, *_parts(sanitizer)]
    for _, asked in task.asked:
        measured = asked if isinstance(asked, Measure) else registry.build_measure(asked)
        used += [measured, *_parts(measured)]
    return any(registry.is_plugged_in(type(each)) for each in used)


def _parts(method: object) -> tuple[Any, ...]:
    model = getattr(method, "model", None)
    return getattr(model, "parts", ())


def _nobody(method: str) -> None:
    """Say to nobody which method is at work."""


def make(task: Task, table: Table, schema: Schema, at: Callable[[str], None] = _nobody) -> Result:
    """Make and measure a candidate.

    Parameters
    ----------
    at
        Told which method is at work.
    """
    began = time.perf_counter()
    try:
        with speaking_of(str(task.recipe)):
            taken = _taken(task, table, schema, at)
    except MethodFailed as reason:
        return _failed(task, str(reason), time.perf_counter() - began)
    except Infeasible as reason:
        return Candidate(task.id, task.recipe, (), str(reason), time.perf_counter() - began), {}
    measurements = tuple(m for each in taken.values() for m in each)
    return Candidate(task.id, task.recipe, measurements, None, time.perf_counter() - began), taken


def _taken(
    task: Task, table: Table, schema: Schema, at: Callable[[str], None]
) -> dict[str, list[Measurement]]:
    at(named(type(task.recipe.build())))
    release = sanitize(table, schema, task.recipe)
    taken = {}
    for key, written in task.asked:
        asked = written if isinstance(written, Measure) else registry.build_measure(written)
        at(named(type(asked.model if isinstance(asked, LevelReached) else asked)))
        taken[key] = measure(release, [written])
    return taken


def _failed(task: Task, reason: str, seconds: float = 0.0) -> Result:
    return Candidate(task.id, task.recipe, (), reason, seconds, failed=True), {}
