"""Dewri and others 2011, rerun: the worked example, a small search, and what the formula promises."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from sfumato import Candidate, Project, Recipe
from sfumato.reading.datasets import adult_records
from sfumato.results import Measurement
from sfumato_papers.dewri import rerun as dewri
from sfumato_papers.dewri.questions import questions
from sfumato_papers.dewri.safety import figure_10, figure_11
from sfumato_papers.dewri.solutions import (
    ANY,
    FORMULA,
    GUARANTEE,
    ZERO,
    Solution,
    flattest,
    front,
    growth,
    solutions,
    some,
)
from sfumato_papers.exhibits import Exhibit
from sfumato_papers.experiments import Exploration, Explorations, run
from sfumato_papers.ranks import rank_correlation

EXPERIMENTS = {experiment.name: experiment for experiment in dewri.PAPER.experiments}
COLUMNS = (
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


def tiny(document: Any) -> None:
    for block in document["candidates"]:
        block.update({"population": 12, "generations": 4, "most": 8})


def few(folder: Path, first: int) -> Path:
    folder.mkdir()
    pyarrow.csv.write_csv(adult_records("train", COLUMNS).slice(first, 400), folder / "dewri.csv")
    return folder


def explored(folder: Path) -> dict[str, Exploration]:
    return {
        name: run(replace(each, reduce=tiny).under(quick=True), folder, workers=1, progress=lambda _: None)
        for name, each in EXPERIMENTS.items()
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exploration]:
    return explored(few(tmp_path_factory.mktemp("dewri") / "first", 0))


@pytest.fixture(scope="module")
def exhibits(found: dict[str, Exploration]) -> dict[str, Exhibit]:
    return {exhibit.key: exhibit for exhibit in dewri.exhibits(Explorations(found, quick=True))}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project.load(EXPERIMENTS["dewri"].under(quick=False).written(tmp_path_factory.mktemp("whole")))


def release(model: dict[str, Any], suppression: float, **figures: float) -> Candidate:
    """Make up a release with these figures: k, l, weighted-k and losses as shares."""
    names = {
        "k": "k-anonymity",
        "l": "probabilistic-diversity",
        "weighted": "weighted-k",
        "loss": "total-loss",
    }
    given = {"k": 1.0, "l": 1.0, "weighted": 1.0, "loss": 0.0} | figures
    taken = [Measurement(names[n], v, "privacy", "higher") for n, v in given.items() if n != "loss"]
    losses = {"total-loss": given["loss"], "general-loss": given["loss"], "suppression-loss": 0.0}
    taken += [Measurement(n, v, "utility", "lower") for n, v in losses.items()]
    recipe = Recipe("cut", {"model": model, "suppression": suppression, "cuts": {}, "number": str(figures)})
    return Candidate(f"{model} {figures}", recipe, tuple(taken))


def by_formula(pair: tuple[int, int], prefer: str = "l", **figures: float) -> Candidate:
    return release({"safety-order": {"d1": pair[0], "d2": pair[1], "prefer": prefer}}, 0.1, **figures)


def guaranteed(**figures: float) -> Candidate:
    return release({"k-anonymity": {"k": 1}, "probabilistic-diversity": {"l": 1.0}}, 0.1, **figures)


class TestWorkedExample:
    def test_the_figures_are_exact_but_for_the_diversity_of_the_first(
        self, exhibits: dict[str, Exhibit]
    ) -> None:
        exhibit = exhibits["table-2"]
        verdicts = {(c.row, c.column): exhibit.verdict(c) for c in exhibit.cells}
        assert verdicts.pop(("T1", "l")) == "differs"
        assert len(verdicts) == 5
        assert set(verdicts.values()) == {"same"}

    def test_weighted_k_is_a_fraction(self, exhibits: dict[str, Exhibit]) -> None:
        ours = {c.row: c.ours for c in exhibits["table-2"].cells if c.column == "weighted-k"}
        assert ours == {"T1": pytest.approx(29 / 7), "T2": pytest.approx(17 / 7)}

    def test_all_records_of_the_training_file_are_read(self, project: Project) -> None:
        exhibit = dewri._data(Exploration(project, ()))
        assert exhibit.cells[0].ours == 30_162
        assert exhibit.verdict(exhibit.cells[0]) == "same"


class TestFewRecords:
    def test_all_exhibits_are_there(self, exhibits: dict[str, Exhibit]) -> None:
        figures = [f"figure-{number}" for number in range(6, 12)]
        assert list(exhibits) == ["data", "table-2", *figures, "questions"]

    def test_every_problem_was_solved(self, found: dict[str, Exploration]) -> None:
        assert all(solutions(found["dewri"], name) for name in (ZERO, ANY, some(0.1), some(0.01)))
        assert all(solutions(found["dewri-safety"], name) for name in (GUARANTEE, *FORMULA.values()))

    def test_what_is_left_out_keeps_its_limit(self, found: dict[str, Exploration]) -> None:
        assert all(s.suppression == 0 for s in solutions(found["dewri"], ZERO))
        assert all(s.suppression <= 10 for s in solutions(found["dewri"], some(0.1)))
        assert all(s.suppression <= 1 for s in solutions(found["dewri"], some(0.01)))

    def test_a_quick_look_says_so(self, exhibits: dict[str, Exhibit]) -> None:
        assert "fewer generations" in exhibits["figure-7"].notes[-1]
        assert "fewer generations" not in "".join(exhibits["table-2"].notes)

    def test_other_records_give_other_figures(
        self, found: dict[str, Exploration], exhibits: dict[str, Exhibit], tmp_path: Path
    ) -> None:
        others = dewri.exhibits(Explorations(explored(few(tmp_path / "others", 9_000)), quick=True))
        for other in others:
            if other.key in ("figure-6", "figure-7", "figure-8"):
                assert other.charts != exhibits[other.key].charts

    def test_without_releases_nothing_is_claimed(self, project: Project) -> None:
        nothing = Exploration(project, ())
        found = Explorations({"dewri": nothing, "dewri-safety": nothing}, quick=False)
        claims = [c for e in dewri.exhibits(found) if e.key != "table-2" for c in e.claims]
        assert claims
        assert all(claim.holds is None for claim in claims)


class TestTheFormula:
    def explored(self, project: Project, *candidates: Candidate) -> Exploration:
        return Exploration(project, candidates)

    @pytest.mark.parametrize(("diversity", "holds"), [(4.0, True), (3.999, False)])
    def test_its_promise_is_compared_with_what_the_release_has(
        self, project: Project, diversity: float, holds: bool
    ) -> None:
        found = self.explored(project, by_formula((20, 4), k=20, l=diversity, loss=0.19))
        (promise,) = [c for c in figure_11(found, quick=False).claims if "d1-anonymous" in c.text]
        assert promise.holds is holds

    def test_its_pair_and_the_true_one_stand_side_by_side(self, project: Project) -> None:
        found = self.explored(
            project, by_formula((20, 4), k=21, l=1.2, loss=0.19), guaranteed(k=30, l=4.5, loss=0.48)
        )
        exhibit = figure_11(found, quick=False)
        ours = {c.column: c.ours for c in exhibit.cells if c.row == "(20, 4)"}
        assert list(ours.values()) == [19, 21, 1, 48]
        claim = exhibit.claims[0]
        assert claim.holds is False
        assert "(20, 4) at 19.0%, truly a (21, 1)-safe release" in claim.evidence
        assert "costs 48.0%" in claim.evidence

    def test_a_pair_is_had_where_the_guaranteed_form_has_it(self, project: Project) -> None:
        found = self.explored(
            project, by_formula((20, 4), k=21, l=1.2, loss=0.19), guaranteed(k=20, l=4, loss=0.2)
        )
        assert figure_11(found, quick=False).claims[0].holds is True

    def test_what_a_short_search_misses_stays_open(self, project: Project) -> None:
        found = self.explored(
            project, by_formula((20, 4), k=21, l=1.2, loss=0.19), guaranteed(k=20, l=4, loss=0.3)
        )
        assert figure_11(found, quick=False).claims[0].holds is False
        assert figure_11(found, quick=True).claims[0].holds is None

    def test_choices_are_counted_for_both_orders(self, project: Project) -> None:
        pairs = [((5, 1), "k"), ((6, 1), "k"), ((5, 1), "l"), ((5, 2), "l"), ((5, 3), "l")]
        found = self.explored(project, *(by_formula(pair, prefer, loss=0.2) for pair, prefer in pairs))
        first, second, *_ = figure_10(found, quick=False).claims
        assert first.holds is True
        assert second.holds is True
        assert second.evidence == "3 values of l instead of 1"


class TestQuestions:
    def test_each_is_put_to_its_own_problem(self, project: Project) -> None:
        k = {"k-anonymity": {"k": 1}}
        whole = Exploration(
            project,
            (release(k, 0.0, weighted=2600.0, loss=0.21), release(k, 0.1, k=15.0, loss=0.24)),
        )
        safety = Exploration(project, (guaranteed(k=40, l=2, loss=0.19), guaranteed(k=20, l=4, loss=0.4)))
        exhibit = questions(whole, safety, quick=False)
        assert [c.ours for c in exhibit.cells] == [2600, 15, 15, 40, 2]
        assert [c.holds for c in exhibit.claims] == [True, True, False, False, True]
        assert "had at a loss of 40.0%" in exhibit.claims[3].evidence


class TestSolutions:
    def solution(self, k: float, loss: float) -> Solution:
        return Solution.of(release({"k-anonymity": {"k": 1}}, 0.1, k=k, loss=loss / 100))

    def test_the_front_gains_with_every_step(self) -> None:
        pairs = [(5, 10), (3, 12), (9, 11), (9, 15), (20, 16)]
        best = front([self.solution(*pair) for pair in pairs], lambda s: s.k)
        assert [s.k for s in best] == [5, 9, 20]

    def test_the_flattest_stretch_of_a_plot(self) -> None:
        plot = [self.solution(*pair) for pair in [(10, 20), (11, 30), (60, 32), (110, 40)]]
        ratio, start, end = flattest(plot)
        assert (start.k, end.k) == (11, 60)
        assert ratio == pytest.approx((49 / 100) / (2 / 20))
        assert growth(plot, 2) == pytest.approx(60 / 11)
        assert growth(plot, 1) == 1

    def test_rank_correlation(self) -> None:
        assert rank_correlation([1, 2, 3, 4], [8, 4, 2, 1]) == pytest.approx(-1)
        assert rank_correlation([1, 1, 2], [5, 5, 9]) == pytest.approx(1)
        assert rank_correlation([1, 2], [1, 2]) is None
