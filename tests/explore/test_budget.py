"""A budget: it ends an exploration cleanly, the next one goes on, and what is left of it fills gaps."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sfumato import Recipe
from sfumato.reading import datasets
from sfumato.results.frontier import Frontier, one_for_each_recipe
from sfumato.runtime.progress import check_stop, tell
from sfumato.searches import Evolution, Sweep
from sfumato.workflow.explore import candidate_workers as workers_module
from sfumato.workflow.explore import explore_project as run_module
from sfumato.workflow.explore.convergence import growth_of
from sfumato.workflow.explore.explore_project import Progress
from sfumato.workflow.explore.library import explore
from sfumato.workflow.store.store import Store

TABLE, SCHEMA = datasets.adult("train", quasi_identifiers=("age", "sex"))
MEASURES = ["privacy-loss", "general-loss"]
KS = [2, 5, 10, 20, 50, 100, 200, 500]
SWEEP = Sweep("mondrian", {"model": {"k-anonymity": {"k": KS}}})


class Clock:
    """A clock that only moves when somebody moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (run_module, workers_module):
        monkeypatch.setattr(module, "monotonic", clock)
    return clock


def ticking(clock: Clock, states: list[Progress]) -> Callable[[Progress], None]:
    """Let every candidate take ten seconds."""

    def listen(state: Progress) -> None:
        if states and state.done > states[-1].done:
            clock.now += 10.0
        states.append(state)

    return listen


def explored(
    clock: Clock, store: Path, candidates: Sequence[Any] = (SWEEP,), **given: Any
) -> tuple[Frontier, list[Progress]]:
    states: list[Progress] = []
    heard = ticking(clock, states)
    given.setdefault("policy", "none")
    return explore(TABLE, SCHEMA, candidates, MEASURES, store=store, seed=1, progress=heard, **given), states


def recipes(found: Frontier) -> set[str]:
    return {str(each.recipe) for each in one_for_each_recipe(found.candidates)}


def test_ends_the_run_when_it_is_spent_and_says_so(clock: Clock, tmp_path: Path) -> None:
    found, states = explored(clock, tmp_path / "s", budget=30.0)
    assert (states[-1].done, states[-1].total, states[-1].is_spent) == (3, 8, True)
    assert recipes(found) == {"mondrian k=50", "mondrian k=2", "mondrian k=500"}, "the middle and both ends"


def test_a_second_run_goes_on_where_the_first_stopped(clock: Clock, tmp_path: Path) -> None:
    explored(clock, tmp_path / "s", budget=30.0)
    found, states = explored(clock, tmp_path / "s")
    assert (states[-1].known, states[-1].done, states[-1].is_spent) == (3, 5, False)
    assert recipes(found) == {f"mondrian k={k}" for k in KS}


def test_without_one_nothing_is_tried_that_is_not_listed(clock: Clock, tmp_path: Path) -> None:
    _, states = explored(clock, tmp_path / "s")
    assert (states[-1].done, states[-1].refined) == (8, 0)


def test_what_is_left_of_it_goes_between_the_listed_ones(clock: Clock, tmp_path: Path) -> None:
    found, states = explored(clock, tmp_path / "s", budget=120.0)
    assert (states[-1].done, states[-1].refined, states[-1].is_spent) == (12, 4, True)
    more = [candidate.recipe for candidate in one_for_each_recipe(found.candidates)]
    added = {recipe.parameters["model"]["k-anonymity"]["k"] for recipe in more} - set(KS)
    assert len(added) == 4
    assert all(KS[0] < k < KS[-1] for k in added)


def test_refined_candidates_stay_and_are_not_tried_twice(clock: Clock, tmp_path: Path) -> None:
    before, _ = explored(clock, tmp_path / "s", budget=120.0)
    same, states = explored(clock, tmp_path / "s")
    assert recipes(same) == recipes(before)
    assert (states[-1].done, states[-1].known) == (0, 12)
    more, states = explored(clock, tmp_path / "s", budget=20.0)
    assert states[-1].refined == 2
    assert len(recipes(more)) == 14


def test_refined_candidates_are_measured_further_like_all_others(clock: Clock, tmp_path: Path) -> None:
    explored(clock, tmp_path / "s", budget=120.0)
    measures = [*MEASURES, "k-anonymity"]
    found = explore(TABLE, SCHEMA, [SWEEP], measures, store=tmp_path / "s", policy="none")
    assert all(candidate.value("k-anonymity") is not None for candidate in found.candidates)


def test_ends_by_itself_when_no_gap_is_left(clock: Clock, tmp_path: Path) -> None:
    few = Sweep("mondrian", {"model": {"k-anonymity": {"k": [2, 6]}}})
    _, states = explored(clock, tmp_path / "s", [few], budget=1e9)
    assert not states[-1].is_spent
    assert states[-1].refined <= 3, "only k = 3, 4 and 5 lie between"


def test_progress_says_how_much_of_it_is_left(clock: Clock, tmp_path: Path) -> None:
    _, states = explored(clock, tmp_path / "s", budget=30.0)
    assert all(state.within == max(30.0 - state.elapsed, 0.0) for state in states)


def test_a_search_runs_after_what_is_listed_and_is_broken_off_when_it_is_spent(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def propose(*_: object) -> list[Recipe]:
        for generation in range(100):
            clock.now += 10.0
            tell(f"generation {generation}")
            check_stop()
        raise AssertionError("nobody stopped it")

    monkeypatch.setattr(Evolution, "propose", propose)
    found, states = explored(clock, tmp_path / "s", [Evolution(), SWEEP], budget=200.0)
    assert recipes(found) == {f"mondrian k={k}" for k in KS}
    assert states[-1].is_spent
    assert clock.now <= 210.0


def test_with_processes_of_their_own_what_is_at_work_is_given_up_and_no_process_stays(
    tmp_path: Path, gate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = time.monotonic

    def clock() -> float:
        """Let the budget be spent as soon as a worker has begun."""
        return real() + (1e9 if gate.waiting() else 0.0)

    monkeypatch.setattr(time, "monotonic", clock)
    for module in (run_module, workers_module):
        monkeypatch.setattr(module, "monotonic", clock)
    states: list[Progress] = []
    sweep = Sweep("gated", {"gate": [str(gate.folder)], "k": KS})
    given: dict[str, Any] = {"store": tmp_path / "s", "budget": 1e6, "workers": 2, "progress": states.append}
    given["policy"] = "none"
    explore(TABLE, SCHEMA, [sweep], MEASURES, **given)
    assert gate.waiting()
    assert (states[-1].done, states[-1].is_spent) == (0, True)
    assert multiprocessing.active_children() == []


def test_the_hypervolume_never_falls_and_ends_at_that_of_the_frontier(clock: Clock, tmp_path: Path) -> None:
    found, _ = explored(clock, tmp_path / "s", budget=120.0)
    with Store(tmp_path / "s") as store:
        (source,) = store.sources()
        growth = growth_of(found, store.explored_after(source))
    volumes = [volume for _, volume in growth.steps]
    assert volumes == sorted(volumes)
    assert volumes[-1] == pytest.approx(found.hypervolume()[0])
    seconds = [after for after, _ in growth.steps]
    assert seconds == sorted(seconds)
    assert all(np.isin(seconds, 10.0 * np.arange(12)))
    assert growth.reached(1.0) == seconds[-1]


def test_a_measure_that_takes_most_of_the_time_is_named(
    clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lap = [0.0]

    def watch() -> float:
        lap[0] += 1.0
        return lap[0]

    monkeypatch.setattr(workers_module, "perf_counter", watch)
    _, states = explored(clock, tmp_path / "s")
    assert {state.slow for state in states} == {""}, "all parts take the same time"
    measure = vars(workers_module)["measure"]

    def slow(release: Any, measures: Any) -> Any:
        lap[0] += 8.0 * (measures[0].name == "general-loss")
        return measure(release, measures)

    monkeypatch.setattr(workers_module, "measure", slow)
    _, states = explored(clock, tmp_path / "t")
    assert states[1].slow == "", "a short run has no slow measure"
    assert states[-1].slow == "general-loss"
    assert states[-1].slow_share == pytest.approx(9 / 11)
