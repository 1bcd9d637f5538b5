"""Make and measure every candidate of a project in parallel, and store each as it is finished."""

from __future__ import annotations

import hashlib
import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from time import monotonic
from typing import Any

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry import methods
from sfumato.registry.method_extras import LeftOut, left_out
from sfumato.registry.plugin_errors import MethodFails
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Alias, Candidate
from sfumato.results.formatting import recipe_name
from sfumato.results.frontier import Frontier, only_made
from sfumato.results.measurement import Measure, build_measure
from sfumato.results.policy import Policy
from sfumato.runtime import machine
from sfumato.runtime.caching import kept_on
from sfumato.runtime.errors import MethodFailed, ProjectError, Stopped, UserError
from sfumato.runtime.pool import UNLIMITED, Limits
from sfumato.runtime.progress import listening, never
from sfumato.searches.base import Search
from sfumato.workflow.explore.candidate_tasks import (
    ExplorationInputs,
    PlanEntry,
    is_quick,
    listed,
    measures_by_extras,
    missing_extra_of,
    searched,
    still_open,
    tries_attacks,
    with_keys,
)
from sfumato.workflow.explore.candidate_workers import MAKING, Finished, Task, Written, finished
from sfumato.workflow.explore.gap_filling import SMALL, between_neighbours
from sfumato.workflow.explore.original_workers import Original
from sfumato.workflow.explore.schedule import MethodCosts, in_order
from sfumato.workflow.explore.stored_results import DataRead, read_noted
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.provenance import all_versions
from sfumato.workflow.store.store import Store

_SHARE_PER_CANDIDATE = 1 / 3
"""The default share of a budget that one candidate may use, but at least `_MIN_TASK_SECONDS`."""
_MIN_TASK_SECONDS = 10.0
"""So many seconds are never too long for a candidate. In a whole run this short, no measure was slow."""
_MAX_FRUITLESS_REFINEMENTS = 20
"""After so many candidates in gaps that add next to nothing, no further gap is filled."""


@dataclass(frozen=True)
class Progress:
    """How far an exploration has come.

    Parameters
    ----------
    done, total
        Candidates of this run that are finished, and all of them.
    known
        Candidates that an earlier run had stored.
    infeasible
        Candidates of this run that could not be made.
    elapsed
        Seconds since the start.
    latest
        The recipe that was finished last, in words.
    now
        What is being searched or measured, in words, where that takes long.
    within
        The seconds that are left of the budget, if there is one.
    equal
        Candidates of this run that are the same release as another.
    refined
        Candidates of this run that the plan does not list: they were tried in gaps of the frontier.
    is_spent
        Whether the budget ended the run.
    slow, slow_share
        The measure that took more than half of the time, if one did, and which share that was.
    """

    done: int
    total: int
    known: int
    infeasible: int
    elapsed: float
    latest: str = ""
    now: str = ""
    within: float | None = None
    equal: int = 0
    refined: int = 0
    is_spent: bool = False
    slow: str = ""
    slow_share: float = 0.0


def explore(
    project: Project,
    store: Store,
    *,
    seed: int | None = None,
    workers: int | None = None,
    limits: Limits = UNLIMITED,
    budget: float | None = None,
    progress: Callable[[Progress], None] = lambda _: None,
    stop: Callable[[], bool] = never,
    read: DataRead | None = None,
) -> Progress:
    """Make and measure all candidates of a project that the store lacks.

    If a method fails, sfumato warns once, by the kind of its exception; everything else goes on, and the next
    exploration tries again.

    Parameters
    ----------
    project
        What to try and to measure.
    store
        Where every finished candidate is written at once.
    seed
        The seed of a new store; by default one is drawn.
    workers
        How many processes work; by default as many as there are processors, started when more than a moment's
        work is left. Where there are two or more, a plug-in that ends or kills its process loses only what it
        was working on.
    limits
        What one candidate may use, or one search of a plug-in. Where any are given, processes of their own do
        the work, even if it is only one.
    budget
        After how many seconds to stop: nothing more is begun, and what is at work is given up, to be made
        by the next exploration. Any budget left over is spent filling gaps in the frontier. One
        candidate may use a third of the budget, unless the limits say otherwise. By default all that the
        project lists is made, and nothing else.
    progress
        Called after every candidate, and in between by whatever takes long: then ``now`` says how far that
        has come.
    stop
        Asked after every candidate and between the rounds of a search whether to end early. What is at work
        then is given up.
    read
        The data, where it was read already.
    """
    if budget is not None:
        limits = replace(limits, patience=max(budget * _SHARE_PER_CANDIDATE, _MIN_TASK_SECONDS))
    with store.exclusive():
        began = monotonic()
        table, schema = read_noted(project, store, read)
        state = fill(
            store,
            table,
            schema,
            project.searches,
            project.measures,
            policy=project.policy,
            axes=project.axes,
            seed=seed,
            workers=workers,
            limits=limits,
            budget=budget,
            progress=progress,
            stop=stop,
            began=began,
        )
    if not (state.total + state.known or state.is_spent or stop()):
        raise ProjectError(f"{project.path.name} has no candidates; add a [[candidates]] block")
    return state


def fill(
    store: Store,
    table: Table,
    schema: Schema,
    entries: Sequence[PlanEntry],
    measures: Sequence[Written | Measure],
    *,
    policy: Policy,
    axes: tuple[str, str],
    seed: int | None,
    workers: int | None,
    limits: Limits,
    budget: float | None,
    progress: Callable[[Progress], None],
    stop: Callable[[], bool] = never,
    began: float | None = None,
) -> Progress:
    """Make and measure everything in the plan that the store lacks; the caller holds the store's lock.

    Parameters
    ----------
    store
        Where every finished candidate is written at once.
    table, schema
        The original, bound.
    entries
        Searches and recipes; the seed of a recipe gives way to that of the store.
    measures
        What to measure of each candidate.
    policy
        What a release must keep; what decides that is measured, too.
    axes
        The frontier whose gaps are filled with what is left of a budget.
    seed, workers, limits, budget, progress, stop
        As in `explore`.
    began
        When the exploration began, by the monotonic clock; by default now.
    """
    began = monotonic() if began is None else began
    at_once = workers is not None
    workers = workers or machine.processors()
    limits_of_plugins = None if workers == 1 and not limits.need_watching else limits
    original = Original(table, schema, store.path)
    attacks = tries_attacks(entries)
    usable, unusable = measures_by_extras(measures, axes)
    if attacks:
        unusable |= measures_by_extras(policy.measures("attacks"), axes)[1]
    inputs = ExplorationInputs(
        store, original, store.seed(seed), with_keys(usable), policy, attacks, limits_of_plugins
    )
    if attacks and policy.measures("attacks"):
        # an attack that fails on the original as well proves nothing
        entries = [Recipe("as-is"), *entries]
    ends = math.inf if budget is None else began + budget
    store.discard_changed()
    store.keep_sums_of(all_versions())
    run = _ExplorationRun(inputs, axes, began, ends, progress, stop, unusable)
    with listening(run.report_words), kept_on(store), suppress(Stopped):
        tasks = run.tasks(entries)
        # the candidates are counted even where the budget is spent on reading
        first = next(tasks, None)
        every = itertools.chain([] if first is None else [first], tasks)
        with closing(finished(every, original, store, workers, limits, ends, at_once=at_once)) as results:
            for result in results:
                run.store_result(result)
                if stop():
                    break
    if run.left_out:
        warnings.warn(left_out(run.left_out), LeftOut, stacklevel=3)
    return run.ended()


class _ExplorationRun:
    """The state of an exploration: what to do next, and the outcomes so far.

    Parameters
    ----------
    inputs
        The table, schema, measures and store.
    axes
        The frontier whose gaps are filled.
    began, ends
        When it began and when it ends, by the monotonic clock.
    progress
        Told how far it has come.
    stop
        Asked whether to end early.
    left_out
        The extra that each method needs which is left out, by name.
    """

    def __init__(
        self,
        inputs: ExplorationInputs,
        axes: tuple[str, str],
        began: float,
        ends: float,
        progress: Callable[[Progress], None],
        stop: Callable[[], bool],
        left_out: dict[str, str],
    ) -> None:
        self.inputs, self.axes, self.left_out = inputs, axes, left_out
        self.began, self.ends, self.progress, self.stop = began, ends, progress, stop
        self.state = Progress(0, 0, 0, 0, 0.0)
        self.faults: set[str | None] = set()
        self.costs = MethodCosts()
        for candidate in inputs.store.candidates(inputs.source):
            self.costs.add(candidate.recipe.sanitizer, candidate.seconds)
        self.seconds: dict[str, float] = {}
        self.explored = inputs.store.seconds_explored(inputs.source)
        self.ids: set[str] = set()
        self.made: dict[str, Candidate] = {}
        self.n_given = 0

    def tasks(self, entries: Sequence[PlanEntry]) -> Iterator[Task | None]:
        """Yield what is listed, then what searches propose, then what may fill a gap; ``None`` is a pause."""
        lists: list[Sequence[Recipe]] = [[e.normalized() for e in entries if isinstance(e, Recipe)]]
        searches: list[Search] = []
        for entry in entries:
            if isinstance(entry, Recipe):
                continue
            recipes = listed(entry, self.inputs)
            if recipes is None and not is_quick(entry):
                searches.append(entry)
            else:
                lists.append(self._search_results(entry) if recipes is None else recipes)
        yield from self._in_order([*lists, self.inputs.store.proposals(self._gap_key)])
        for search in searches:
            while self._is_waiting:
                yield None
            yield from self._in_order([self._search_results(search)])
        if not self.ids and self.faults:
            raise MethodFailed(f"nothing is left to try: {next(iter(self.faults))}")
        if not self.ids and self.left_out:
            raise UserError(f"nothing is left to try: {left_out(self.left_out)}")
        if self.ends < math.inf:
            yield from self._gap_candidates()

    def _in_order(self, lists: Iterable[Sequence[Recipe]]) -> Iterator[Task]:
        """Yield the open tasks of several entries; those that were given up before come last."""
        tasks: list[list[Task]] = []
        for listed_recipes in lists:
            recipes = [recipe for recipe in listed_recipes if self._is_usable(recipe)]
            unseen = {task.id: task for task in map(self.inputs.task, recipes) if task.id not in self.ids}
            self.ids |= unseen.keys()
            tasks.append(list(unseen.values()))
        every = [task for each in tasks for task in each]
        if not every:
            return
        wanted = {task.id: task for task in still_open(every, self.inputs.store)}
        self._report(total=self.state.total + len(wanted), known=self.state.known + len(every) - len(wanted))
        given_up = self.inputs.store.given_up()
        for late in (False, True):
            chosen = [
                [wanted[task.id] for task in each if task.id in wanted and (task.id in given_up) == late]
                for each in tasks
            ]
            for task in in_order(chosen, self.costs):
                self.n_given += 1
                yield task

    def _is_usable(self, entry: PlanEntry) -> bool:
        """Return whether the extras of an entry are installed; note it if they are not."""
        extra = missing_extra_of(entry)
        if extra is not None:
            name = entry.sanitizer if isinstance(entry, Recipe) else methods.name_of(type(entry))
            self.left_out[name] = extra
        return extra is None

    @property
    def _is_waiting(self) -> bool:
        """Return whether a task was handed out and has not come back."""
        return self.n_given > self.state.done

    def _search_results(self, search: Search) -> list[Recipe]:
        if not self._is_usable(search):
            return []
        try:
            return searched(search, self.inputs, lambda: self.stop() or monotonic() >= self.ends)
        except MethodFailed as reason:
            self._warn_once(str(reason), str(reason))
            return []

    def _warn_once(self, message: str, reason: str | None) -> None:
        if reason not in self.faults:
            self.faults.add(reason)
            warnings.warn(message, MethodFails, stacklevel=3)

    @property
    def _gap_key(self) -> str:
        """Return the store's key for the candidates that were tried in gaps."""
        return hashlib.sha256(f"refinement {self.inputs.source}".encode()).hexdigest()

    def _gap_candidates(self) -> Iterator[Task | None]:
        """Yield candidates for gaps until nothing is left to try or they add next to nothing."""
        store, source = self.inputs.store, self.inputs.source
        while self._is_waiting:
            yield None
        stored = store.candidates(source)
        self.made = {candidate.id: candidate for candidate in only_made(stored)}
        self.ids |= {candidate.id for candidate in stored} | store.aliases().keys()
        tried = store.proposals(self._gap_key)
        pace = _GapFillingPace()

        def is_known(recipe: Recipe) -> bool:
            return self.inputs.task(recipe).id in self.ids

        while pace.is_worth_it(frontier := Frontier(tuple(self.made.values()), self.axes), self.state.done):
            recipe = next(between_neighbours(frontier, is_known), None)
            if recipe is None and not self._is_waiting:
                return
            if recipe is None:
                yield None
                continue
            task = self.inputs.task(recipe)
            tried.append(task.recipe)
            store.keep_proposals(self._gap_key, tried)
            self.ids.add(task.id)
            self._report(total=self.state.total + 1, refined=self.state.refined + 1)
            self.n_given += 1
            yield task

    def store_result(self, result: Finished) -> None:
        """Store a finished candidate and report the progress."""
        candidate, inputs = result.candidate, self.inputs
        self.costs.add(candidate.recipe.sanitizer, candidate.seconds)
        for part, seconds in result.seconds.items():
            self.seconds[part] = self.seconds.get(part, 0.0) + seconds
        if candidate.failed:
            name = recipe_name(candidate.recipe)
            self._warn_once(f"{name} could not be made: {candidate.infeasible}", candidate.infeasible)
        holder = candidate.id
        # measurements that are stored already are worth more than the news that a measure fails
        if not candidate.failed or candidate.id not in inputs.store.measured():
            holder = self._store(result)
        self._report(
            done=self.state.done + 1,
            infeasible=self.state.infeasible + (candidate.infeasible is not None),
            equal=self.state.equal + (holder != candidate.id),
            latest=str(candidate.recipe),
            **self._slow_measure(),
        )

    def _slow_measure(self) -> dict[str, Any]:
        """Return the measure that takes more than half of the time, with its share, if there is one."""
        key, seconds = max(self.seconds.items(), key=lambda pair: pair[1])
        share = seconds / (sum(self.seconds.values()) or 1.0)
        if key == MAKING or share <= 0.5 or self.state.elapsed < _MIN_TASK_SECONDS:
            return {"slow": "", "slow_share": 0.0}
        written = dict(self.inputs.asked)[key]
        asked = written if isinstance(written, Measure) else build_measure(written)
        return {"slow": asked.label, "slow_share": share}

    def _store(self, result: Finished) -> str:
        candidate, inputs = result.candidate, self.inputs
        holder = inputs.store.save(
            candidate,
            inputs.source,
            dict(result.taken),
            release=result.fingerprint,
            explored=self.explored + monotonic() - self.began,
        )
        if candidate.infeasible is None and holder == candidate.id:
            self.made[holder] = candidate
        elif holder in self.made:
            alias = Alias(candidate.id, candidate.recipe)
            self.made[holder] = replace(self.made[holder], also=(*self.made[holder].also, alias))
        return holder

    def report_words(self, words: str) -> None:
        """Report which search or measure is at work."""
        self.progress(replace(self.state, now=words, **self._times()))

    def _report(self, **changed: Any) -> None:
        """Report the progress."""
        self.state = replace(self.state, **changed)
        self.state = replace(self.state, **self._times())
        self.progress(self.state)

    def _times(self) -> dict[str, Any]:
        now = monotonic()
        within = None if self.ends == math.inf else max(self.ends - now, 0.0)
        return {"elapsed": now - self.began, "within": within}

    def ended(self) -> Progress:
        """Return the final progress, and report if the budget ended the exploration."""
        if monotonic() >= self.ends:
            self._report(is_spent=True)
        return self.state


class _GapFillingPace:
    """Whether filling gaps still makes the frontier grow."""

    def __init__(self) -> None:
        self.reference: tuple[float, ...] | None = None
        self.volumes: dict[int, float] = {}

    def is_worth_it(self, frontier: Frontier, n_done: int) -> bool:
        """Return whether the last candidates added anything, or are too few to judge.

        Parameters
        ----------
        frontier
            All candidates.
        n_done
            How many were finished.
        """
        if len(frontier.efficient()) < 2:
            return False
        volume, reference = frontier.hypervolume(self.reference)
        self.reference = reference
        self.volumes[n_done] = volume
        before = self.volumes.get(n_done - _MAX_FRUITLESS_REFINEMENTS)
        return before is None or volume > before * (1 + SMALL)
