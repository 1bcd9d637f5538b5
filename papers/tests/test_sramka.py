from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from sfumato import Candidate, Project, Recipe
from sfumato.measures.scenarios.scenario import weights_of
from sfumato.reading.datasets import adult_records
from sfumato.results import Measurement
from sfumato_papers.exhibits import Cell, Claim, Exhibit
from sfumato_papers.experiments import Experiment, Exploration, Explorations, run
from sfumato_papers.settings import Setting
from sfumato_papers.sramka import rerun as sramka
from sfumato_papers.sramka.interpretations import DRAWN, OF_ANONYMITY, OF_NOISE
from sfumato_papers.sramka.people import table_2
from sfumato_papers.sramka.releases import clustered_releases, noisy_releases

EXPERIMENTS = {experiment.name: experiment for experiment in sramka.PAPER.experiments}
SHARED = ("workclass", "marital-status", "occupation", "race", "sex", "native-country", "salary")
DATA = {"anonymity": ("age", "education", *SHARED), "noise": ("age", "education-num", *SHARED)}


def explored(experiment: Experiment, folder: Path) -> Exploration:
    return run(experiment.under(quick=True), folder, workers=1, progress=lambda _: None)


def unexplored(name: str, folder: Path) -> Exploration:
    return Exploration(Project.load(EXPERIMENTS[name].under(quick=False).written(folder)), ())


def tiny(document: Any) -> None:
    """Keep what the paper's own reduction keeps, with small k and one miner for each purpose."""
    EXPERIMENTS["sramka-noise"].reduce(document)
    for block in document["candidates"]:
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
    return {exhibit.key: exhibit for exhibit in sramka.exhibits(Explorations(found, quick=True))}


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
    found = Explorations({name: unexplored(name, folder) for name in EXPERIMENTS}, quick=True)
    for exhibit in sramka.exhibits(found):
        assert not exhibit.cells
        assert [claim.holds for claim in exhibit.claims] == [None] * len(exhibit.claims)


def test_the_people_of_scenario_c_are_the_same_in_both_halves(tmp_path):
    one, other = (selected(unexplored(f"sramka-{name}", tmp_path)) for name in DATA)
    assert one == other == pytest.approx(0.05 * 45_222, rel=0.1)


def selected(each: Exploration) -> float:
    """Return how many people the weights of scenario C choose."""
    (written,) = [
        given["anti-utility"]["scenario"]["adversary"]["weights"]
        for given in each.project.privacy
        if not isinstance(given, str)
        if given.get("anti-utility", {}).get("scenario", {}).get("name") == "C"
    ]
    return float(weights_of(written, each.table) @ each.table.weights)


def candidate(
    sanitizer: str, worst: float, miner: str = "majority of released values", **parameters: Any
) -> Candidate:
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
                    "worst-miner": miner,
                    "told-anyway": 0.0,
                    "miners": {miner: worst},
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
    noisy = (candidate("seeded-laplace", 700.0, epsilon=0.5, ranges={"age": 82}),)
    every = Exploration(noise.project, (*made, *noisy))
    explored = Explorations({"sramka-noise": noise}, quick=True)
    found = table_2(explored, clustered_releases(every), noisy_releases(every))
    falls, less = (
        next(claim for claim in found.claims if start in claim.text)
        for start in ("The larger k", "k-anonymity tells an adversary less")
    )
    assert falls.holds is holds
    assert less.holds is (max(people) < 700)
    assert found.verdict(cell(found, "k = 2", "A worst")) == ("same trend" if holds else "differs")


def documents(switch: str) -> dict[str, Any]:
    setting = Setting(interpretations=(switch,))
    return {name: each.under(setting, quick=False).document() for name, each in EXPERIMENTS.items()}


def test_every_interpretation_but_ours_changes_some_experiment_or_needs_none() -> None:
    ours = {name: each.under(quick=False).document() for name, each in EXPERIMENTS.items()}
    switches = [a.switch(r) for a in sramka.PAPER.ambiguities for r in a.interpretations if r is not a.ours]
    assert [switch for switch in switches if documents(switch) == ours] == [DRAWN]
    for each in EXPERIMENTS.values():
        assert set(each.switches) <= set(switches)


@pytest.mark.parametrize("switch", [*OF_ANONYMITY, *OF_NOISE])
def test_every_interpretation_is_a_project_that_can_be_loaded(switch: str, tmp_path: Path) -> None:
    for each in EXPERIMENTS.values():
        variant = each.under(Setting(interpretations=(switch,)), quick=False)
        assert Project.load(variant.written(written_few(tmp_path, 0))).privacy


def test_interpretations_change_what_they_speak_of() -> None:
    scenarios = documents("cells=shares")["sramka-anonymity"]["scenarios"]
    assert {each["cells"] for each in scenarios.values()} == {"shares"}
    for document in documents("training=others").values():
        assert {each["adversary"]["trained-on"] for each in document["scenarios"].values()} == {"others"}
    assert "lowest-level" not in documents("lowest-ages=exact")["sramka-anonymity"]["attributes"]["age"]
    assert documents("age-widths=own")["sramka-anonymity"]["attributes"]["age"]["kind"] == "numeric"


def test_intervals_of_fifty_years_hold_every_age_once() -> None:
    tree = documents("age-widths=fifty")["sramka-anonymity"]["attributes"]["age"]["hierarchy"][
        "tree"
    ].unwrap()
    assert list(tree) == ["0-49", "50-99"]
    ages = [
        (int(age), low, high)
        for wide, tens in tree.items()
        for ten, fives in tens.items()
        for five, each in fives.items()
        for age in each
        for label in (wide, ten, five)
        for low, high in [map(int, label.split("-"))]
    ]
    assert all(low <= age <= high for age, low, high in ages)
    assert sorted(age for age, _, _ in ages) == sorted([*range(17, 100)] * 3)


def test_people_of_average_age_are_the_same_in_both_halves(tmp_path: Path) -> None:
    setting = Setting(interpretations=("celebrities=average",))
    variants = [each.under(setting, quick=False) for each in EXPERIMENTS.values()]
    one, other = (selected(Exploration(Project.load(each.written(tmp_path)), ())) for each in variants)
    assert one == other == pytest.approx(0.05 * 45_222, rel=0.1)


def made_up(
    tmp_path: Path, noisy: dict[float, float], *interpretations: str, miner: str = "mean-number"
) -> Exhibit:
    """Return table 2 of releases with noise that so many people are learned from."""
    noise = unexplored("sramka-noise", written_few(tmp_path, 0))
    made = tuple(
        candidate("seeded-laplace", worst, miner, epsilon=epsilon, ranges={"age": 82})
        for epsilon, worst in noisy.items()
    )
    found = Explorations(
        {"sramka-noise": noise}, quick=True, setting=Setting(interpretations=interpretations)
    )
    return table_2(found, {}, noisy_releases(Exploration(noise.project, made)))


def claim(exhibit: Exhibit, words: str) -> Claim:
    (found,) = [each for each in exhibit.claims if words in each.text]
    return found


def test_drawn_people_are_a_share_of_everybody(tmp_path: Path) -> None:
    found = made_up(tmp_path, {0.5: 4522.2}, DRAWN)
    assert cell(found, "epsilon = 0.5", "C worst").ours == pytest.approx(226.1)
    assert cell(found, "epsilon = 0.5", "A worst").ours == 4522.2
    assert "drawn at random" in " ".join(found.notes)


@pytest.mark.parametrize(("last", "holds"), [(43_000.0, True), (30_000.0, False)])
def test_whether_epsilon_matters_is_judged_by_the_figures(tmp_path: Path, last: float, holds: bool) -> None:
    assert claim(made_up(tmp_path, {0.5: 40_000.0, 0.01: last}), "epsilon hardly matters").holds is holds


def test_the_paper_s_worst_miner_stands_beside_ours_where_we_have_it(tmp_path: Path) -> None:
    found = made_up(tmp_path, {0.5: 40_000.0, 0.05: 41_000.0})
    zero = cell(found, "epsilon = 0.5", "A ZeroR")
    assert (zero.ours, zero.published, zero.is_repeated) == (40_000.0, "44383", True)
    assert not [each for each in found.cells if (each.row, each.column) == ("epsilon = 0.05", "A ZeroR")]
    assert claim(found, "says the same of everybody").holds is True
    other = made_up(tmp_path, {0.5: 40_000.0}, miner="regression-tree")
    assert claim(other, "says the same of everybody").holds is False
    assert "epsilon = 0.5 regression-tree (ZeroR)" in " ".join(other.notes)


@pytest.mark.parametrize(("released", "holds"), [(36_700.0, True), (36_100.0, False)])
def test_whether_the_forest_gains_is_judged_from_k_10_on(released: float, holds: bool) -> None:
    def measured(count: float) -> Measurement:
        sums = {"random-forest trees=10": {"original": 36_172.0, "released": count}}
        return Measurement("good-utility", 0.0, "utility", "lower", detail={"miners": sums})

    good = {"k = 2": measured(36_000.0), "k = 10": measured(released), "epsilon = 0.5": measured(1.0)}
    assert sramka.forest_claim(good).holds is holds
