from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from sfumato.datasets import adult_records
from sfumato.frontier import Candidate
from sfumato.measures.base import Measurement
from sfumato.measures.scenario.scenario import weights_of
from sfumato.project.file import Project
from sfumato.recipe import Recipe
from sfumato.reproduce.exhibits import Cell, Exhibit
from sfumato.reproduce.experiments import Experiment, Explored, Found, run
from sfumato.reproduce.sramka import rerun as sramka
from sfumato.reproduce.sramka.people import table_2
from sfumato.reproduce.sramka.releases import clustered_releases, noisy_releases

EXPERIMENTS = {experiment.name: experiment for experiment in sramka.PAPER.experiments}
SHARED = ("workclass", "marital-status", "occupation", "race", "sex", "native-country", "salary")
DATA = {"anonymity": ("age", "education", *SHARED), "noise": ("age", "education-num", *SHARED)}


def explored(experiment: Experiment, folder: Path) -> Explored:
    return run(experiment, folder, quick=True, workers=1, progress=lambda _: None)


def unexplored(name: str, folder: Path) -> Explored:
    return Explored(Project.load(EXPERIMENTS[name].written(folder, quick=False)), ())


def tiny(document: Any) -> None:
    """Keep what the paper's own reduction keeps, with small k and one miner for each purpose."""
    EXPERIMENTS["sramka-noise"].reduce(document)
    for block in document["try"]:
        if "model" in block:
            block["model"]["k-anonymity"]["k"] = [2, 10]
    for scenario in document["scenarios"].values():
        scenario["folds"] = 2
        scenario["adversary"]["miners"] = ["majority", "naive-bayes", "mean-number"]
        if "user" in scenario:
            scenario["user"]["miners"] = ["naive-bayes", "decision-tree"]


def written_few(folder: Path, first: int) -> Path:
    """Write some of the records where the experiments would write all of them."""
    folder.mkdir(exist_ok=True)
    for name, columns in DATA.items():
        few = adult_records("complete", columns).slice(first, 300)
        pyarrow.csv.write_csv(few, folder / f"sramka-{name}.csv")
    return folder


def exhibits_of(folder: Path) -> dict[str, Exhibit]:
    found = {name: explored(replace(each, reduce=tiny), folder) for name, each in EXPERIMENTS.items()}
    return {exhibit.key: exhibit for exhibit in sramka.exhibits(Found(found, quick=True))}


@pytest.fixture(scope="module")
def exhibits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exhibit]:
    return exhibits_of(written_few(tmp_path_factory.mktemp("sramka") / "one", 0))


def cell(exhibit: Exhibit, row: str, column: str) -> Cell:
    (found,) = [each for each in exhibit.cells if (each.row, each.column) == (row, column)]
    return found


def test_every_table_of_the_paper_is_there(exhibits):
    assert list(exhibits) == ["table-1", "table-2", "table-3"]
    assert all(each.cells and each.claims and each.charts and each.notes for each in exhibits.values())


def test_rows_are_the_releases_the_weakest_first(exhibits):
    assert exhibits["table-1"].rows == [
        "original, numbers", "original, categories", "k = 2", "k = 10", "epsilon = 0.5", "epsilon = 0.01"
    ]  # fmt: skip
    assert exhibits["table-2"].rows == ["k = 2", "k = 10", "epsilon = 0.5", "epsilon = 0.01"]
    assert exhibits["table-3"].rows == ["k = 2", "k = 10"]


def test_published_figures_stand_beside_ours(exhibits):
    assert cell(exhibits["table-1"], "k = 2", "naive-bayes").published == "36,642"
    assert cell(exhibits["table-1"], "epsilon = 0.5", "decline").published == "1.87"
    assert cell(exhibits["table-2"], "k = 10", "C worst").published == "199"
    assert cell(exhibits["table-2"], "epsilon = 0.01", "B average").published == "104.5"
    assert cell(exhibits["table-3"], "k = 10", "A_know with predictions").published == "0.2357"


def test_averages_are_not_above_the_worst(exhibits):
    table = exhibits["table-2"]
    for row in table.rows:
        for scenario in "ABC":
            average, worst = (cell(table, row, f"{scenario} {which}").ours for which in ("average", "worst"))
            assert 0 <= average <= worst <= 300


def test_the_chart_of_scenario_a_has_every_miner(exhibits):
    clustered, noisy = exhibits["table-2"].charts
    assert {series.label for series in clustered.series} == {"majority", "naive-bayes", "worst (published)"}
    assert {series.label for series in noisy.series} == {"mean-number", "worst (published)"}
    assert noisy.series[0].x == ("epsilon = 0.5", "epsilon = 0.01")


def test_other_data_give_other_figures(exhibits, tmp_path):
    other = exhibits_of(written_few(tmp_path, 5000))
    for key, exhibit in exhibits.items():
        ours, theirs = ([each.ours for each in one.cells] for one in (exhibit, other[key]))
        assert ours != theirs


def test_what_was_not_run_is_left_out_and_claims_nothing(tmp_path):
    folder = written_few(tmp_path, 0)
    found = Found({name: unexplored(name, folder) for name in EXPERIMENTS}, quick=True)
    for exhibit in sramka.exhibits(found):
        assert not exhibit.cells
        assert [claim.holds for claim in exhibit.claims] == [None] * len(exhibit.claims)


def test_the_people_of_scenario_c_are_the_same_in_both_halves(tmp_path):
    one, other = (selected(unexplored(f"sramka-{name}", tmp_path)) for name in DATA)
    assert one == other == pytest.approx(0.05 * 45_222, rel=0.1)


def selected(each: Explored) -> float:
    """Return how many people the weights of scenario C choose."""
    (written,) = [
        given["anti-utility"]["scenario"]["adversary"]["weights"]
        for given in each.project.privacy
        if not isinstance(given, str)
        if given.get("anti-utility", {}).get("scenario", {}).get("name") == "C"
    ]
    return float(weights_of(written, each.table) @ each.table.weights)


def candidate(sanitizer: str, worst: float, **parameters: Any) -> Candidate:
    return Candidate(
        f"{sanitizer} {parameters}",
        Recipe(sanitizer, parameters),
        tuple(
            Measurement(
                "anti-utility",
                worst / 45_222,
                "privacy",
                "lower",
                detail={
                    "worst-sum": worst,
                    "average-sum": worst / 2,
                    "worst-miner": "majority of released values",
                    "told-anyway": 0.0,
                    "miners": {"majority of released values": worst},
                },
                parameters={"scenario": scenario},
            )
            for scenario in "ABC"
        ),
    )


@pytest.mark.parametrize(("people", "holds"), [((600.0, 300.0, 100.0), True), ((600.0, 900.0, 100.0), False)])
def test_conclusions_are_judged_by_the_figures(tmp_path, people, holds):
    noise = unexplored("sramka-noise", written_few(tmp_path, 0))
    made = tuple(
        candidate("clustering", worst, model={"k-anonymity": {"k": k}})
        for k, worst in zip((2, 10, 50), people, strict=True)
    )
    noisy = (candidate("laplace", 700.0, epsilon=0.5, ranges={"age": 82}),)
    every = Explored(noise.project, (*made, *noisy))
    found = table_2(noise, clustered_releases(every), noisy_releases(every), {})
    falls, less = (
        next(claim for claim in found.claims if start in claim.text)
        for start in ("The larger k", "k-anonymity tells an adversary less")
    )
    assert falls.holds is holds
    assert less.holds is (max(people) < 700)
    assert found.verdict(cell(found, "k = 2", "A worst")) == ("same trend" if holds else "differs")
