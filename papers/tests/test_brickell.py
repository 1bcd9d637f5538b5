from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from sfumato import Candidate, Recipe
from sfumato.reading.datasets import adult_records
from sfumato.results import Measurement
from sfumato_papers.brickell import rerun as brickell
from sfumato_papers.brickell.artificial import artificial
from sfumato_papers.brickell.gains import learning_another, learning_the_same
from sfumato_papers.brickell.releases import rows
from sfumato_papers.exhibits import Cell, Exhibit
from sfumato_papers.experiments import Experiment, Exploration, Explorations, run
from sfumato_papers.settings import Setting

NAMES = (
    "age",
    "workclass",
    "education",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
    "salary",
)
EXPERIMENTS = {experiment.name: experiment for experiment in brickell.PAPER.experiments}


def explored(experiment: Experiment, folder: Path) -> Exploration:
    return run(experiment.under(quick=True), folder, workers=1, progress=lambda _: None)


def tiny(document: Any) -> None:
    """Keep what the paper's own reduction keeps, with limits that a few records can meet and one miner."""
    EXPERIMENTS["brickell-occupation"].reduce(document)
    for block in document["candidates"]:
        for name, given in block.get("model", {}).items():
            given.update({"k-anonymity": {"k": [5, 20]}, "delta-disclosure": {"delta": [9.0]}}.get(name, {}))
            given.update({"recursive-diversity": {"l": [2, 15]}, "t-closeness": {"t": [0.5]}}.get(name, {}))
    for each in document["measure"]["utility"]:
        if "workload-utility" in each:
            each["workload-utility"].update({"folds": 2, "miners": ["naive-bayes", "majority"]})


def written_few(folder: Path, first: int, n_records: int = 400) -> Path:
    """Write some of the records where the experiments would write all of them."""
    folder.mkdir(exist_ok=True)
    pyarrow.csv.write_csv(adult_records("complete", NAMES).slice(first, n_records), folder / "brickell.csv")
    return folder


def exhibits_of(folder: Path) -> dict[str, Exhibit]:
    found = {name: explored(replace(each, reduce=tiny), folder) for name, each in EXPERIMENTS.items()}
    return {exhibit.key: exhibit for exhibit in brickell.exhibits(Explorations(found, quick=True))}


@pytest.fixture(scope="module")
def exhibits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exhibit]:
    return exhibits_of(written_few(tmp_path_factory.mktemp("brickell") / "one", 0))


@pytest.fixture(scope="module")
def occupation(tmp_path_factory: pytest.TempPathFactory) -> Exploration:
    """The data set Occupation, all records, nothing mined."""

    def without_miners(document: Any) -> None:
        document["measure"]["utility"] = ["general-loss"]

    experiment = replace(EXPERIMENTS["brickell-occupation"], reduce=without_miners)
    return explored(experiment, tmp_path_factory.mktemp("occupation"))


@pytest.fixture(scope="module")
def table_3(occupation: Exploration) -> Exhibit:
    return brickell._table_3(occupation, occupation, "marital-status")


def cell(exhibit: Exhibit, row: str, column: str) -> Cell:
    (found,) = [each for each in exhibit.cells if (each.row, each.column) == (row, column)]
    return found


def test_every_table_and_figure_of_the_paper_is_there(exhibits):
    assert list(exhibits) == [
        "table-1",
        "table-2",
        "figure-1",
        "figure-2",
        "figure-3",
        "figure-4",
        "table-3",
        "artificial",
    ]
    assert all(exhibit.cells and exhibit.source for exhibit in exhibits.values())
    assert all(exhibit.claims for key, exhibit in exhibits.items() if key != "table-1")
    assert all(exhibits[f"figure-{number}"].charts for number in range(1, 5))


def test_the_intact_row_of_table_3_is_the_published_one_and_the_suppressed_one_is_0(table_3):
    assert table_3.verdict(cell(table_3, "intact", "accuracy-gain")) == "same"
    assert table_3.verdict(cell(table_3, "intact", "knowledge-gain")) == "same"
    assert cell(table_3, "suppressed", "accuracy-gain").ours == 0
    assert cell(table_3, "suppressed", "knowledge-gain").ours == 0


def test_table_3_has_every_published_row_and_stands_in_its_order(table_3):
    assert table_3.rows[0] == "intact"
    assert table_3.rows[-1] == "suppressed"
    assert table_3.rows[1:8] == ["k = 10", "k = 100", "k = 1000", "l = 2", "l = 5", "l = 10", "l = 15"]
    assert table_3.rows[8:14] == ["t = 0.4", "t = 0.3", "t = 0.2", "delta = 1.2", "delta = 1", "delta = 0.8"]
    assert not [each for each in table_3.cells if table_3.verdict(each) in ("differs", "no figure published")]
    (order,) = [claim for claim in table_3.claims if "order of size" in claim.text]
    assert order.holds


def test_the_row_of_k_100_is_within_reach(table_3):
    assert cell(table_3, "k = 100", "accuracy-gain").ours == pytest.approx(0.09, abs=0.005)
    assert cell(table_3, "k = 100", "knowledge-gain").ours == pytest.approx(0.224, abs=0.01)


def test_a_model_that_cannot_hold_leaves_the_trivial_release(occupation, table_3):
    (row,) = [row for row in rows(occupation, "marital-status") if row.label == "l = 15"]
    assert row.is_substitute
    assert row.candidate.recipe.sanitizer == "suppress-quasi-identifiers"
    assert cell(table_3, "l = 15", "knowledge-gain").ours == 0
    assert any(note.startswith("l = 15") for note in table_3.notes)


@pytest.mark.parametrize(("name", "key"), [("occupation", "figure-2"), ("marital", "figure-1")])
def test_the_adversarys_baseline_is_the_published_one(name, key, tmp_path):
    def nothing_else(document: Any) -> None:
        del document["candidates"][1:]
        document["measure"]["utility"] = ["general-loss"]

    whole = explored(replace(EXPERIMENTS[f"brickell-{name}"], reduce=nothing_else), tmp_path)
    found = learning_the_same(key, whole, "salary")
    assert whole.table.n_records == 45_222
    assert found.verdict(cell(found, "trivial release", "adversary")) == "same"


def test_what_was_not_run_is_left_out_and_claims_nothing(tmp_path):
    def only_one(document: Any) -> None:
        del document["candidates"][:-1]
        document["measure"]["utility"] = ["general-loss"]

    folder = written_few(tmp_path, 0)
    found = {name: explored(replace(EXPERIMENTS[name], reduce=only_one), folder) for name in EXPERIMENTS}
    for exhibit in brickell.exhibits(Explorations(found, quick=True))[:-1]:
        assert all(each.ours is not None for each in exhibit.cells)
        assert [claim.holds for claim in exhibit.claims] == [None] * len(exhibit.claims)


def test_other_data_give_other_figures(exhibits, tmp_path):
    other = exhibits_of(written_few(tmp_path, 5000))
    for key, exhibit in list(exhibits.items())[:-1]:
        ours, theirs = ([each.ours for each in one.cells] for one in (exhibit, other[key]))
        assert ours != theirs


def test_gains_are_those_of_the_candidates(exhibits):
    shown = exhibits["figure-4"]
    (chart,) = shown.charts
    adversary = next(series for series in chart.series if series.name == "adversary")
    assert chart.shape == "bars"
    assert adversary.x[0] == "intact"
    assert dict(zip(adversary.x, adversary.y, strict=True))["suppressed"] == 0
    assert {series.name for series in chart.series} == {"adversary", "naive-bayes", "majority"}


def candidate(sanitizer: str, gain: float, researcher: float, **parameters: Any) -> Candidate:
    radius = 0.001
    return Candidate(
        f"{sanitizer} {parameters}",
        Recipe(sanitizer, parameters),
        (
            Measurement("accuracy-gain", gain, "privacy", "lower", attribute="occupation"),
            Measurement(
                "workload-utility",
                researcher,
                "utility",
                "higher",
                interval=(researcher - radius, researcher + radius),
                baseline=0.6,
                detail={"accuracy": 0.6 + researcher, "accuracy-of-decision-tree": 0.6 + researcher},
                parameters={"target": "marital-status"},
            ),
        ),
    )


@pytest.mark.parametrize(("left", "holds"), [(0.001, True), (0.019, False)])
def test_the_conclusion_is_judged_by_the_figures(occupation, left, holds):
    model = {"k-anonymity": {"k": 100}}
    made = (
        candidate("as-is", 0.1, 0.02),
        candidate("mondrian", 0.04, left, model=model, target="marital-status"),
        candidate("suppress-quasi-identifiers", 0.0, 0.0),
    )
    found = learning_another("figure-4", Exploration(occupation.project, made), "marital-status")
    (claim,) = [claim for claim in found.claims if claim.text.startswith("Even modest")]
    assert claim.holds is holds
    (ahead,) = [claim for claim in found.claims if claim.text.startswith("Every sanitized")]
    assert ahead.holds is True
    assert f"smallest lead is {100 * (0.04 - left):.2f} points at k = 100" in ahead.evidence
    (no_better,) = [claim for claim in found.claims if claim.text.startswith("No sanitized")]
    assert no_better.holds is holds


def test_a_release_that_was_made_twice_counts_once(occupation):
    model = {"k-anonymity": {"k": 100}}
    twice = tuple(
        candidate("mondrian", gain, 0.0, model=model, target="marital-status", variant=variant)
        for gain, variant in ((0.5, "old"), (0.25, "new"))
    )
    (row,) = rows(Exploration(occupation.project, twice), "marital-status")
    assert row.gain("accuracy-gain") == 0.25


def test_the_artificial_table_is_as_the_paper_says_but_for_what_its_own_attributes_tell():
    found = artificial()
    verdicts = {(c.row, c.column): found.verdict(c) for c in found.cells if c.published is not None}
    differing = {place for place, verdict in verdicts.items() if verdict != "same"}
    assert differing == {("a1 and a2 suppressed", "a4"), ("a1 and a2 suppressed", "a5")}
    assert [claim.holds for claim in found.claims] == [True, False]


def test_table_3_is_read_by_the_attribute_that_is_kept(tmp_path):
    found = {
        name: explored(replace(each, reduce=tiny), written_few(tmp_path / "here", 0))
        for name, each in EXPERIMENTS.items()
    }
    tables = {}
    for switch in ((), ("target=occupation",), ("target=none",)):
        shown = brickell.exhibits(Explorations(found, quick=True, setting=Setting(interpretations=switch)))
        (tables[switch],) = (each for each in shown if each.key == "table-3")
    figures = [[c.ours for c in each.cells] for each in tables.values()]
    assert figures[0] != figures[1] != figures[2] != figures[0]
    assert len({len(each) for each in figures}) == 1
