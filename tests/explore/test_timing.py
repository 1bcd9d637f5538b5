"""What a candidate takes is timed without the loading of code."""

from __future__ import annotations

import pytest

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.reading.datasets import hospital
from sfumato.registry.recipe import Recipe
from sfumato.results.release import Release
from sfumato.sanitizers.base import sanitize
from sfumato.workflow.explore import candidate_workers
from sfumato.workflow.explore.candidate_workers import MAKING, Task
from sfumato.workflow.explore.original_workers import WorkInputs


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
    found = candidate_workers.make(
        Task("a", Recipe("as-is").normalized(), ()), WorkInputs(*schema.bind(table))
    )
    assert made == [table.n_rows // 2, table.n_rows]
    assert found.seconds[MAKING] == 1.0
