"""Tasks: from the plan of a project to the candidates that are to be made, searches run where needed."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sfumato.registry import methods
from sfumato.registry.method_extras import missing_extra, require_extras
from sfumato.registry.plugin_errors import blamed_on, failed, named
from sfumato.registry.recipe import Recipe
from sfumato.results.measurement import Measure, build_measure
from sfumato.results.policy import NO_LIMITS, Policy, evidence_of
from sfumato.runtime.caching import kept_on
from sfumato.runtime.errors import MethodFailed, Stopped
from sfumato.runtime.pool import Limits, Lost
from sfumato.runtime.progress import never, stoppable
from sfumato.searches.base import Search
from sfumato.searches.sweep import MOST_CANDIDATES, Sweep
from sfumato.workflow.explore.candidate_workers import Task, Written
from sfumato.workflow.explore.original_workers import Original, WorkInputs, done_by_workers
from sfumato.workflow.store.provenance import asked_key, source_of, version_of
from sfumato.workflow.store.store import Store

PlanEntry = Search | Recipe
"""An entry of a plan: a search that proposes recipes, or one recipe."""


@dataclass(frozen=True, eq=False)
class ExplorationInputs:
    """The table, schema, measures and store that an exploration works with.

    Parameters
    ----------
    store
        Where candidates are kept.
    original
        The bound table.
    seed
        The seed of every recipe.
    asked
        The measures, each with the key under which the store keeps it.
    policy
        The policy, whose measures depend on how a candidate is judged.
    tries_attacks
        Whether some candidates are judged by attacks.
    plugin_limits
        What a search of a plug-in may use in a process of its own; ``None`` where all work is done here.
    """

    store: Store
    original: Original
    seed: int
    asked: tuple[tuple[str, Written | Measure], ...]
    policy: Policy = NO_LIMITS
    tries_attacks: bool = False
    plugin_limits: Limits | None = None

    @property
    def source(self) -> str:
        """A hash that identifies the candidates of this table and schema."""
        return source_of(self.original.table, self.original.schema)

    def task(self, recipe: Recipe) -> Task:
        """Return the task of a recipe with the exploration's seed."""
        seeded = replace(recipe, seed=self.seed)
        of_policy = self.policy.measures_of(recipe, is_compared=self.tries_attacks)
        needed = with_keys(each for each in of_policy if missing_extra(build_measure(each)) is None)
        asked = dict(self.asked) | {key: written for key, written in needed if key not in dict(self.asked)}
        return Task(self.store.identity(seeded, self.source), seeded, tuple(asked.items()))


def tried_by(entries: Iterable[PlanEntry]) -> list[str]:
    """Return the sanitizers that a plan names; a search need not say which it will try."""
    names: list[str] = []
    for entry in entries:
        names += [entry.sanitizer] if isinstance(entry, Recipe) else getattr(entry, "sanitizers", ())
    return names


def tries_attacks(entries: Iterable[PlanEntry]) -> bool:
    """Return whether attacks judge some of the releases that a plan names."""
    usable = [entry for entry in entries if missing_extra_of(entry) is None]
    return any(evidence_of(Recipe(name)) == "attacks" for name in tried_by(usable))


def missing_extra_of(entry: PlanEntry) -> str | None:
    """Return an extra that an entry needs and that is not installed."""
    return missing_extra(methods.find("sanitizer", entry.sanitizer) if isinstance(entry, Recipe) else entry)


def measures_by_extras(
    measures: Iterable[Written | Measure], axes: tuple[str, str]
) -> tuple[list[Written | Measure], dict[str, str]]:
    """Return the measures whose extras are installed, and the extra that each of the others needs.

    There is no frontier without the measures of its axes, so these are refused.
    """
    usable: list[Written | Measure] = []
    unusable: dict[str, str] = {}
    for written in measures:
        asked = written if isinstance(written, Measure) else build_measure(written)
        if asked.label in axes:
            require_extras(asked)
        extra = missing_extra(asked)
        if extra is None:
            usable.append(written)
        else:
            unusable[str(asked.label)] = extra
    return usable, unusable


def with_keys(measures: Iterable[Written | Measure]) -> tuple[tuple[str, Written | Measure], ...]:
    """Return measures with their keys in the store."""
    return tuple((asked_key(each), each) for each in measures)


def listed(search: Search, inputs: ExplorationInputs) -> Sequence[Recipe] | None:
    """Return the proposals of a search if they are known; ``None`` if it must run first."""
    if isinstance(search, Sweep):
        return search.recipes()
    return inputs.store.proposals(_digest(search, inputs.source)) or None


def is_quick(search: Search) -> bool:
    """Return whether a search declares that it takes seconds, so that it can run at once."""
    return getattr(type(search), "is_quick", False)


def searched(search: Search, inputs: ExplorationInputs, stop: Callable[[], bool] = never) -> list[Recipe]:
    """Run a search and store its proposals; raise `Stopped` if it was to end early."""
    digest = _digest(search, inputs.source)
    # a search draws the same numbers wherever it stands in the project
    piece = (search, [inputs.seed, *bytes.fromhex(digest)[:8]])
    with kept_on(None), stoppable(stop):
        if inputs.plugin_limits is None or not methods.is_plugged_in(type(search)):
            recipes = propose(piece, WorkInputs(inputs.original.table, inputs.original.schema))
        else:
            recipes = _proposals_of_worker(piece, inputs.original, inputs.plugin_limits, stop)
    inputs.store.keep_proposals(digest, recipes)
    return recipes


def _digest(search: Search, source: str) -> str:
    facts = [methods.name_of(type(search)), methods.changed_parameters(search), version_of(type(search))]
    return hashlib.sha256(json.dumps([*facts, source], sort_keys=True).encode()).hexdigest()


def _proposals_of_worker(
    piece: tuple[Search, list[int]], original: Original, limits: Limits, stop: Callable[[], bool]
) -> list[Recipe]:
    """Run the search of a plug-in in a process of its own."""
    for _, found in done_by_workers(propose, iter([piece]), original, 1, limits, stop):
        if isinstance(found, Lost):
            raise MethodFailed(found.reason)
        return list(found)
    raise Stopped("the search was stopped")


def propose(piece: tuple[Search, list[int]], inputs: WorkInputs) -> list[Recipe]:
    """Return the proposals of a search, and refuse anything but recipes.

    Parameters
    ----------
    piece
        The search, and the seeds of what it does at random.
    inputs
        The original.
    """
    search, seeds = piece
    inputs.at(named(type(search)))
    with blamed_on(search):
        proposed = search.propose(inputs.table, inputs.schema, np.random.default_rng(seeds))
        recipes = list(itertools.islice(proposed, MOST_CANDIDATES + 1))
    if not all(isinstance(recipe, Recipe) for recipe in recipes):
        raise failed(type(search), "proposes something else than recipes")
    if len(recipes) > MOST_CANDIDATES:
        raise failed(type(search), f"proposes more than {MOST_CANDIDATES:,} candidates")
    return recipes


def still_open(tasks: Iterable[Task], store: Store) -> list[Task]:
    """Drop what the store holds in its current version: whole candidates, or single measures of one.

    The first of several recipes that make one release brings the missing measurements.
    """
    every = list(tasks)
    measured, infeasible, aliases = store.measured(), store.infeasible(), store.aliases()
    outdated = store.outdated({task.id: task.recipe for task in every})
    for identity in outdated:
        measured.pop(identity, None)
    wanted = {}
    for task in every:
        missing = tuple(pair for pair in task.asked if pair[0] not in measured.get(task.id, set()))
        if missing and (task.id in outdated or task.id not in infeasible):
            wanted[task.id] = replace(task, asked=missing)
    twice = {alias for alias, first in aliases.items() if first in wanted and alias not in outdated}
    return [task for task in wanted.values() if task.id not in twice]
