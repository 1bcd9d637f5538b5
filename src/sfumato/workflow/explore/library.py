"""Explore a table from Python, without a project file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry.declarations import Axis
from sfumato.registry.recipe import Recipe
from sfumato.results.frontier import Frontier, only_made
from sfumato.results.measurement import Measure, build_measure
from sfumato.results.policy import Policy, PolicyLike
from sfumato.runtime.errors import ParameterError, ProjectError
from sfumato.runtime.pool import Limits
from sfumato.sanitizers.base import Sanitizer
from sfumato.searches.base import KnowsPolicy, Search
from sfumato.workflow.explore.candidate_tasks import PlanEntry, tried_by
from sfumato.workflow.explore.explore_project import Progress, fill
from sfumato.workflow.project.default_axes_and_measures import default_measures
from sfumato.workflow.project.project_file import search_of, unnamed
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import IN_MEMORY, Store


def explore(
    table: Any,
    schema: Schema,
    candidates: Iterable[Sanitizer | Recipe | Search | Mapping[str, Any]],
    measures: Iterable[str | Mapping[str, Any] | Measure] | None = None,
    *,
    policy: PolicyLike = None,
    store: str | Path | Store | None = None,
    seed: int | None = None,
    workers: int | None = None,
    memory: int | None = None,
    time_limit: float | None = None,
    budget: float | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Frontier:
    """Make and measure candidates, and return them with their frontier.

    Parameters
    ----------
    table
        The original: a `Table`, or anything that `Table.from_arrow` takes, such as a pandas or Polars
        frame. It is not changed.
    schema
        What each attribute is.
    candidates
        Sanitizers with their parameters, recipes, searches (`Sweep`, `Lattice`, `Evolution`), or what a
        ``[[candidates]]`` block of a project file says. The seed of a recipe gives way to that of the
        exploration.
    measures
        What to measure, by name or as a `Measure`; the first of each side is an axis of the frontier. By
        default what a project file measures that names nothing.
    policy
        Who gets the release: ``public``, ``public-great-harm``, ``contract``, ``protected-place`` or
        ``none``; or limits by measure, or a `Policy`. Only candidates that keep it are efficient. Without
        it the limits for the public apply, and a warning says so.
    store
        A store, or its file, to go on where an earlier exploration stopped; the frontier then has every
        candidate that was made from this table and schema. By default nothing is kept.
    seed
        The seed of what methods do at random; by default the system draws it.
    workers
        How many processes work, by default this one alone. A script that asks for more begins its work
        under ``if __name__ == "__main__"``, also where one of the two following is given.
    memory, time_limit
        How many bytes of memory and how many seconds one candidate may use, in a process of its own: beyond
        that it is given up. By default what the machine has, and as long as it takes.
    budget
        After how many seconds to stop; with a store the next exploration goes on there. With more than one
        process what is at work then is given up, else it is finished first. Any budget left over is spent
        filling gaps in the frontier, with parameters between those of two neighbours. By default all that
        is listed is made, and nothing else.
    progress
        Called after every candidate.

    Returns
    -------
    Frontier
        All candidates; those that could not be made are its ``infeasible``. If a method fails, sfumato warns
        once, and tries again when the exploration goes on.

    Examples
    --------
    >>> from sfumato import datasets
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> from sfumato.searches import Sweep
    >>> table, schema = datasets.hospital()
    >>> candidates = [Mondrian(KAnonymity(3)), Sweep("mondrian", {"model": {"k-anonymity": {"k": [6, 20]}}})]
    >>> frontier = explore(table, schema, candidates, ["k-anonymity", "general-loss"], policy="none")
    >>> [str(candidate.recipe) for candidate in frontier.efficient()]
    ['mondrian k=6', 'mondrian k=3']
    >>> [str(candidate.recipe) for candidate in frontier.infeasible]
    ['mondrian k=20']
    """
    original = table if isinstance(table, Table) else Table.from_arrow(table)
    bound_table, bound_schema = schema.bind(original)
    kept = Policy.of(policy, bound_schema)
    plan = [_plan_entry(given, position) for position, given in enumerate(candidates, start=1)]
    plan = [entry.within(kept) if isinstance(entry, KnowsPolicy) else entry for entry in plan]
    if measures is None:
        sides = default_measures(bound_schema, tried=tried_by(plan))
        measures = [measure for side in sides for measure in side]
    asked = [each if isinstance(each, Measure) else build_measure(each) for each in measures]
    asked += [build_measure(name) for name in unnamed(kept.limits, asked)]
    axes = _first_of_side(asked, "privacy"), _first_of_side(asked, "utility")
    with ExitStack() as closing:
        if not isinstance(store, Store):
            store = closing.enter_context(Store(IN_MEMORY if store is None else Path(store)))
        closing.enter_context(store.exclusive())
        fill(
            store,
            bound_table,
            bound_schema,
            plan,
            asked,
            policy=kept,
            axes=axes,
            seed=seed,
            workers=workers or 1,
            limits=Limits(memory, time_limit),
            budget=budget,
            progress=progress,
        )
        made = store.candidates(source_of(bound_table, bound_schema))
    infeasible = tuple(c for c in made if c.infeasible is not None)
    return Frontier(only_made(made), axes, infeasible, kept)


def _plan_entry(given: Any, position: int) -> PlanEntry:
    if isinstance(given, (Recipe, Search)):
        return given
    if isinstance(given, Sanitizer):
        return Recipe.of(given)
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"candidate {position} is not a sanitizer, recipe, search or [[candidates]] block"
        )
    try:
        return search_of(dict(given), position)
    except ProjectError as error:
        raise ParameterError(str(error)) from None


def _first_of_side(asked: Sequence[Measure], side: Axis) -> str:
    labels = [each.label for each in asked if each.axis == side]
    if not labels:
        raise ParameterError(f"a frontier needs a measure of {side}; `sfumato methods` lists them")
    return labels[0]
