"""A forecast: how many candidates, how long, how much memory; and nothing is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from sfumato import Attribute, Recipe, Schema, Table
from sfumato.reading.datasets.demo_project import write_demo
from sfumato.results.frontier import Candidate
from sfumato.workflow.explore import dry_run as forecast_module
from sfumato.workflow.explore.candidate_workers import Finished, Task
from sfumato.workflow.explore.dry_run import Forecast, forecast
from sfumato.workflow.explore.explore_project import explore
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.store.costs import MAKING
from sfumato.workflow.store.store import IN_MEMORY, Store

CANDIDATES = """
[[candidates]]
sanitizer = "as-is"

[[candidates]]
sanitizer = "mondrian"
model = { k-anonymity = { k = [5, 50] } }
"""
SEARCH = '[[candidates]]\nsearch = "lattice"\n'
MEASURES = '[measure]\nprivacy = ["privacy-loss"]\nutility = ["general-loss"]\n'


@pytest.fixture
def project(tmp_path: Path) -> Project:
    path = write_demo(tmp_path)
    path.write_text(path.read_text().split("[[candidates]]")[0] + CANDIDATES + SEARCH + MEASURES)
    return Project.load(path)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_counts_what_would_be_made_and_tries_methods_on_a_sample(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast_module, "_PATIENCE", 1e9)
    before = contents(project.path.parent)
    with Store(IN_MEMORY) as store:
        found = forecast(project, store, workers=2)
    assert (found.n_open, found.n_known, found.n_searches, found.n_sampled) == (3, 0, 1, 2)
    assert found.seconds is not None
    assert found.seconds > 0
    assert found.memory > 10_000_000
    assert contents(project.path.parent) == before, "nothing is written"


def test_takes_what_methods_cost_before_where_that_is_known(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast_module, "_slowness", lambda clock, work: 3.0)
    with Store(tmp_path / "kept.sqlite") as store:
        table, _ = project.read()
        for sanitizer, seconds in {"as-is": 10.0, "mondrian": 100.0}.items():
            for _ in range(2):
                store.keep_costs("another table", 2 * table.n_rows, sanitizer, {MAKING: seconds})
        found = forecast(project, store, workers=2)
    assert found.n_sampled == 0
    # half the rows, so half the time, by two at once, and four seconds to start, thrice as long when busy
    assert found.seconds == pytest.approx(3 * 4.0 + (5.0 + 2 * 50.0) / 2)


def test_with_a_budget_counts_what_is_tried_in_gaps_but_never_exceeds_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast_module, "_slowness", lambda clock, work: 1.0)
    with Store(tmp_path / "kept.sqlite") as store:
        table, _ = project.read()
        for sanitizer, seconds in {"as-is": 1.0, "mondrian": 3.0}.items():
            store.keep_costs("another table", table.n_rows, sanitizer, {MAKING: seconds})
        found, short = (forecast(project, store, workers=1, budget=b) for b in (1000.0, 60.0))
    # one of as-is and two of mondrian; 35 more between those of mondrian, none of as-is
    assert found.seconds == pytest.approx(4.0 + 1.0 + (2 + 35) * 3.0)
    assert short.seconds == 60.0


def test_of_what_was_explored_is_nothing(project: Project) -> None:
    with Store(project.store_path) as store:
        explore(project, store, workers=1)
        found = forecast(project, store, workers=1)
    assert (found.n_open, found.seconds, found.n_searches) == (0, 0, 0)
    assert isinstance(found, Forecast)


def test_counts_what_a_quick_search_proposes(project: Project) -> None:
    text = project.path.read_text()
    project.path.write_text(text.replace(SEARCH, '[[candidates]]\nsearch = "suited"\n'))
    with Store(IN_MEMORY) as store:
        found = forecast(Project.load(project.path), store, workers=2)
    assert found.n_searches == 0
    assert found.n_open > 20


@pytest.mark.parametrize(
    "seconds",
    [
        pytest.param(lambda n_rows: 1e-7 * n_rows**1.5, id="a power of the rows"),
        # what 250 and 1,000 rows take tells nothing of 100,000
        pytest.param(lambda n_rows: 0.02 + max(0, n_rows - 2000) * 1e-4, id="little until there are many"),
    ],
)
def test_samples_grow_until_one_tells_how_the_time_grows(
    seconds: Callable[[int], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []

    def timed(task: Task, table: Table, schema: Schema) -> Finished:
        tried.append(table.n_rows)
        return Finished(Candidate("", task.recipe, ()), seconds={MAKING: seconds(table.n_rows)})

    monkeypatch.setattr(forecast_module, "make", timed)
    table, schema = Schema((Attribute("age", "quasi-identifying"),)).bind(
        Table.from_arrow(pa.table({"age": list(range(100_000))}))
    )
    found = forecast_module._expected_cost(Task("", Recipe("mondrian"), ()), table, schema)
    assert 0.5 < found[MAKING] / seconds(100_000) < 2
    assert tried == sorted(set(tried)), "every sample is larger than the one before"
    assert max(map(seconds, tried[:-1])) < 1
