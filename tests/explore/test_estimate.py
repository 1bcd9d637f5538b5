"""Estimates: from what each method and each measure cost, not from a mean over everything."""

from __future__ import annotations

import pytest

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.reading.datasets import hospital
from sfumato.registry.recipe import Recipe
from sfumato.results.release import Release
from sfumato.sanitizers import CellSuppression, LocalRecoding
from sfumato.sanitizers.base import sanitize
from sfumato.workflow.explore import candidate_workers
from sfumato.workflow.explore.candidate_workers import Task
from sfumato.workflow.explore.time_estimate import Costs
from sfumato.workflow.store.costs import MAKING, Cost
from sfumato.workflow.store.store import IN_MEMORY, Store


def task(sanitizer: str, *asked: str) -> Task:
    return Task(sanitizer, Recipe(sanitizer), tuple((key, key) for key in asked))


def test_what_is_loaded_is_not_taken_for_the_cost_of_a_small_table(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    clock = 0.0

    def slow_at_first(table: Table, schema: Schema, recipe: Recipe) -> Release:
        nonlocal clock
        clock += 1.0 if made else 30.0
        made.append(table.n_rows)
        return sanitize(table, schema, recipe)

    monkeypatch.setattr(candidate_workers, "perf_counter", lambda: clock)
    monkeypatch.setattr(candidate_workers, "_loaded", set())
    monkeypatch.setattr(candidate_workers, "sanitize", slow_at_first)
    table, schema = hospital()
    found = candidate_workers.make(Task("a", Recipe("as-is").normalized(), ()), *schema.bind(table))
    assert made == [table.n_rows // 2, table.n_rows]
    assert found.seconds[MAKING] == 1.0


def test_the_longest_time_is_taken_for_loading_and_left_out() -> None:
    assert Cost().plus(5.0).usual == 5.0
    assert Cost().plus(5.0).plus(1.0).plus(2.0).usual == 1.5


def test_methods_are_weighed_by_how_many_of_each_are_left() -> None:
    costs = Costs()
    for _ in range(3):
        costs.note("mondrian", {MAKING: 1.0, "loss": 0.5})
        costs.note("clustering", {MAKING: 10.0, "loss": 0.5})
    open_tasks = [task("mondrian", "loss")] * 7 + [task("clustering", "loss")] + [task("mondrian")]
    assert costs.of_all(open_tasks) == pytest.approx(7 * 1.5 + 10.5 + 1.0)


def test_a_method_that_was_never_tried_costs_what_the_others_do() -> None:
    costs = Costs({("mondrian", MAKING): Cost(1, 2.0, 2.0), ("clustering", MAKING): Cost(1, 4.0, 4.0)})
    assert costs.of("anatomy", []) == 3.0
    assert not costs.has("anatomy")
    assert costs.is_telling()
    assert Costs().of("anatomy", []) is None
    assert Costs().of_all([task("anatomy")]) is None


def test_a_method_that_takes_more_effort_costs_more() -> None:
    costs = Costs({("mondrian", MAKING): Cost(1, 2.0, 2.0), ("as-is", MAKING): Cost(1, 50.0, 50.0)})
    assert costs.of("local-recoding", []) == 2.0 * LocalRecoding.times_mondrian
    costs.note("cell-suppression", {MAKING: 6.0 * CellSuppression.times_mondrian})
    assert costs.of("local-recoding", []) == 4.0 * LocalRecoding.times_mondrian, "halfway between both"


def test_what_has_nothing_to_choose_tells_nothing_of_others() -> None:
    costs = Costs({("as-is", MAKING): Cost(1, 1.0, 1.0)})
    assert not costs.is_telling()
    costs.note("mondrian", {MAKING: 1.0})
    assert costs.is_telling()


def test_nothing_takes_longer_than_until_it_is_given_up() -> None:
    costs = Costs({("mondrian", MAKING): Cost(1, 30.0, 30.0)}, longest=40.0)
    assert costs.of_all([task("mondrian"), task("local-recoding")]) == 70.0


def test_several_at_once_take_no_less_than_the_one_that_takes_longest() -> None:
    costs = Costs({("mondrian", MAKING): Cost(1, 1.0, 1.0), ("clustering", MAKING): Cost(1, 9.0, 9.0)})
    tasks = [task("mondrian")] * 3 + [task("clustering")]
    assert costs.of_all(tasks, workers=1) == 12.0
    assert costs.of_all(tasks, workers=4) == 9.0


def test_what_is_at_work_takes_what_is_left_of_its_usual_time_or_as_long_again() -> None:
    costs = Costs({("mondrian", MAKING): Cost(1, 5.0, 5.0)})
    assert costs.of_all([task("mondrian")], ages={"mondrian": 2.0}) == 3.0
    assert costs.of_all([task("mondrian")], ages={"mondrian": 20.0}) == 20.0


def test_refining_costs_what_the_methods_of_the_front_do() -> None:
    costs = Costs({("mondrian", MAKING): Cost(1, 2.0, 2.0), ("clustering", MAKING): Cost(1, 8.0, 8.0)})
    costs.note("as-is", {MAKING: 100.0})
    front = ["as-is", "mondrian", "mondrian", "clustering"]
    assert costs.of_refining(front, [], 10, workers=2) == pytest.approx(10 * 4.0 / 2)
    assert costs.of_refining(["as-is"], [], 10) == 0.0, "nothing lies between"


def test_this_run_counts_more_than_earlier_ones_as_soon_as_it_knows() -> None:
    costs = Costs({("mondrian", MAKING): Cost(2, 2.0, 1.0)})
    costs.note("mondrian", {MAKING: 30.0})
    assert costs.of("mondrian", []) == 1.0
    costs.note("mondrian", {MAKING: 5.0})
    assert costs.of("mondrian", []) == 5.0


def test_the_share_of_a_measure_is_that_of_the_whole_run() -> None:
    costs = Costs({("mondrian", "slow"): Cost(1, 1000.0, 1000.0)})
    costs.note("mondrian", {MAKING: 1.0, "slow": 8.0})
    costs.note("anatomy", {MAKING: 1.0, "quick": 0.0})
    assert costs.shares() == {"slow": 0.8, "quick": 0.0}


class TestStored:
    def test_are_added_up(self) -> None:
        with Store(IN_MEMORY) as store:
            for seconds in (4.0, 1.0, 2.0):
                store.keep_costs("source", 100, "mondrian", {MAKING: seconds})
            assert store.costs("source", 100) == {("mondrian", MAKING): Cost(3, 7.0, 4.0)}

    def test_of_another_table_are_taken_in_proportion_to_its_rows(self) -> None:
        with Store(IN_MEMORY) as store:
            store.keep_costs("other", 100, "mondrian", {MAKING: 1.0})
            store.keep_costs("other", 100, "anatomy", {MAKING: 1.0})
            store.keep_costs("source", 300, "anatomy", {MAKING: 9.0})
            assert store.costs("source", 300) == {
                ("mondrian", MAKING): Cost(1, 3.0, 3.0),
                ("anatomy", MAKING): Cost(1, 9.0, 9.0),
            }
