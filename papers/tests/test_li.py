"""Li and Li 2009, rerun: exact facts on all records, exhibits on a few hundred, claims on made-up curves."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from sfumato import Candidate, Project, Recipe
from sfumato.reading import datasets
from sfumato.reading.datasets import adult_records
from sfumato.results import Measurement
from sfumato.searches import Sweep
from sfumato_papers.exhibits import Claim, Exhibit
from sfumato_papers.experiments import Exploration, Explorations, run
from sfumato_papers.li import rerun as li
from sfumato_papers.li.curves import (
    DELTA,
    STRICT_DELTA,
    K,
    L,
    Point,
    T,
    curves,
    drawn_points,
    lies_below,
    pairs_of,
)
from sfumato_papers.li.queries import figure_3b
from sfumato_papers.published import published

EXPERIMENTS = {experiment.name: experiment for experiment in li.PAPER.experiments}
COLUMNS = (*datasets.QUASI_IDENTIFIERS, "occupation")


def tiny(document: Any) -> None:
    """Ask few questions about few releases."""
    EXPERIMENTS["li"].reduce(document)
    smaller = {"k": [5, 40], "l": [2.0, 3.0], "t": [0.1, 0.3], "delta": [1.0, 2.0]}
    for block in document["candidates"]:
        for parameters in block.get("model", {}).values():
            for name in smaller.keys() & parameters.keys():
                if isinstance(parameters[name], list):
                    parameters[name] = smaller[name]
        if "smallest-group" in block:
            block["smallest-group"] = [5, 40]
    for each in document["measure"]["utility"]:
        if "query-error" in each:
            each["query-error"]["queries"] = 40


def few(folder: Path, first: int) -> Path:
    folder.mkdir()
    pyarrow.csv.write_csv(adult_records("complete", COLUMNS).slice(first, 400), folder / "li.csv")
    return folder


def exhibits_of(folder: Path) -> dict[str, Exhibit]:
    found = {
        name: run(
            replace(each, reduce=tiny).under(quick=True),
            folder,
            workers=1,
            progress=lambda _: None,
        )
        for name, each in EXPERIMENTS.items()
    }
    return {exhibit.key: exhibit for exhibit in li.exhibits(Explorations(found, quick=True))}


@pytest.fixture(scope="module")
def exhibits(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exhibit]:
    return exhibits_of(few(tmp_path_factory.mktemp("li") / "first", 0))


@pytest.fixture(scope="module")
def unexplored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Exhibit]:
    """All records, and no release at all."""
    folder = tmp_path_factory.mktemp("whole")
    found = {
        name: Exploration(Project.load(each.under(quick=False).written(folder)), ())
        for name, each in EXPERIMENTS.items()
    }
    return {exhibit.key: exhibit for exhibit in li.exhibits(Explorations(found, quick=False))}


def recipes_of(project: Project) -> list[Recipe]:
    return [recipe for each in project.searches if isinstance(each, Sweep) for recipe in each.recipes()]


def verdicts(exhibit: Exhibit) -> dict[str, str]:
    return {cell.row: exhibit.verdict(cell) for cell in exhibit.cells}


def candidate(sanitizer: str, model: dict[str, Any], privacy: float, utility: float) -> Candidate:
    taken = (
        Measurement("privacy-loss", privacy, "privacy", "lower"),
        Measurement("utility-loss", utility, "utility", "lower"),
    )
    return Candidate(f"{sanitizer} {model}", Recipe(sanitizer, {"model": model}), taken)


def curve(requirement: str, *losses: tuple[float, float]) -> tuple[Point, ...]:
    return tuple(
        Point(requirement, place + 1.0, candidate("mondrian", {requirement: place}, *pair))
        for place, pair in enumerate(losses)
    )


class TestExactFacts:
    def test_the_counts_of_the_data_are_the_same_but_for_a_value_that_nobody_has(
        self, unexplored: dict[str, Exhibit]
    ) -> None:
        found = verdicts(unexplored["table-1"])
        assert found.pop("workclass") == "differs"
        assert set(found.values()) == {"same"}
        assert "records" in found

    def test_the_distribution_of_occupation(self, unexplored: dict[str, Exhibit]) -> None:
        exhibit = unexplored["distribution"]
        assert len(exhibit.cells) == 14
        assert set(verdicts(exhibit).values()) <= {"same", "within tolerance"}

    def test_a_revealed_occupation(self, unexplored: dict[str, Exhibit]) -> None:
        losses = {c.row: c.ours for c in unexplored["interpretation"].cells if c.column == "privacy loss"}
        assert losses["Armed-Forces is revealed"] == pytest.approx(0.692, abs=5e-4)
        assert losses["Craft-repair is revealed"] == pytest.approx(0.488, abs=5e-4)

    def test_without_releases_nothing_is_claimed(self, unexplored: dict[str, Exhibit]) -> None:
        claims = [claim for exhibit in unexplored.values() for claim in exhibit.claims]
        assert claims
        assert all(claim.holds is None for claim in claims)


class TestProjects:
    @pytest.fixture
    def project(self, tmp_path: Path) -> Project:
        few(tmp_path / "here", 0)
        return Project.load(EXPERIMENTS["li"].under(quick=False).written(tmp_path / "here"))

    def test_every_requirement_has_eight_parameters_and_every_one_is_bucketized(
        self, project: Project
    ) -> None:
        made = [Candidate(str(recipe), recipe) for recipe in recipes_of(project)]
        generalized, bucketized = curves(made, "mondrian"), curves(made, "bucketize")
        for name in (K, L, T, DELTA):
            limits = [point.limit for point in drawn_points(generalized[name])]
            assert len(limits) == 8
            assert limits == [point.limit for point in bucketized[name]]

    def test_a_quick_look_keeps_the_release_whose_figures_are_printed(self, tmp_path: Path) -> None:
        largest: dict[str, dict[str, Any]] = {
            "li": {"model": {"k-anonymity": {"k": 5000}}},
            "li-queries": {"smallest-group": 5000},
        }
        for experiment in EXPERIMENTS.values():
            few(tmp_path / experiment.name, 0)
            project = Project.load(experiment.under(quick=True).written(tmp_path / experiment.name))
            assert any(largest[experiment.name].items() <= r.parameters.items() for r in recipes_of(project))

    def test_queries_are_put_to_the_bucketizations_whose_losses_are_drawn(self, tmp_path: Path) -> None:
        few(tmp_path / "here", 0)
        losses, queries = (
            [str(r) for r in recipes_of(Project.load(each.under(quick=False).written(tmp_path / "here")))]
            for each in EXPERIMENTS.values()
        )
        assert queries
        assert queries == [recipe for recipe in losses if recipe.startswith("bucketize")]


class TestFewRecords:
    def test_all_exhibits_are_there(self, exhibits: dict[str, Exhibit]) -> None:
        keys = ["table-1", "distribution", "interpretation", "figure-2a", "figure-2b", "frontier"]
        assert list(exhibits) == [*keys, "figure-3a", "figure-3b", "figure-3c"]

    def test_the_trivial_releases_lose_all_of_one_and_nothing_of_the_other(
        self, exhibits: dict[str, Exhibit]
    ) -> None:
        ours = {(c.row, c.column): c.ours for c in exhibits["interpretation"].cells}
        assert ours["all quasi-identifiers removed", "privacy loss"] == 0
        assert ours["the original", "utility loss"] == 0

    def test_points_that_could_not_be_made_are_left_out(self, exhibits: dict[str, Exhibit]) -> None:
        assert {c.row for c in exhibits["figure-2a"].cells} >= {"k = 5", "k = 40", "t = 0.1"}
        assert "k = 5000" not in {c.row for c in exhibits["figure-2a"].cells}

    def test_both_methods_publish_the_same_parts(self, exhibits: dict[str, Exhibit]) -> None:
        assert len(exhibits["figure-2b"].cells) == 12
        assert "same privacy loss in 4 of them" in exhibits["figure-2b"].claims[0].evidence

    def test_other_records_give_other_figures(self, exhibits: dict[str, Exhibit], tmp_path: Path) -> None:
        others = exhibits_of(few(tmp_path / "others", 20_000))
        for key in ("distribution", "interpretation", "figure-2a", "figure-2b", "figure-3a", "figure-3b"):
            assert [c.ours for c in exhibits[key].cells] != [c.ours for c in others[key].cells]


class TestCurves:
    LOW = ((0.1, 0.02), (0.3, 0.0))

    def test_a_curve_is_compared_between_its_points(self) -> None:
        upper = curve(K, (0.05, 0.5), (0.2, 0.011), (0.2, 0.009), (0.4, 0.001))
        assert lies_below(curve(T, *self.LOW), upper, "utility-loss") == (2, 3)

    def test_nothing_lies_below_nothing(self) -> None:
        assert lies_below((), curve(K, (0.1, 0.1)), "utility-loss") == (0, 0)

    def test_releases_of_the_same_parameter_are_pairs(self) -> None:
        generalized = {L: curve(L, (0.1, 0.2), (0.2, 0.1)), T: ()}
        bucketized = {L: curve(L, (0.1, 0.1)), T: curve(T, (0.1, 0.1))}
        assert [(a.limit, b.limit) for a, b in pairs_of(generalized, bucketized)] == [(1, 1)]

    @pytest.mark.parametrize(("utility", "holds"), [(0.03, True), (0.005, False)])
    def test_whether_closeness_does_best_depends_on_the_figures(self, utility: float, holds: bool) -> None:
        drawn = {name: curve(name, (0.2, utility)) for name in (K, L, DELTA)}
        claims = {
            c.text: c for c in li._figure_2a({**drawn, T: curve(T, *self.LOW), STRICT_DELTA: ()}).claims
        }
        assert claims["t-closeness does better than the other three requirements."].holds is holds


class TestQueries:
    def claim(self, errors: list[float], width: float) -> Claim:
        labels: tuple[dict[str, float], ...] = (
            {"selectivity": 0.03},
            {},
            {"selectivity": 0.07},
            {"selectivity": 0.1},
        )
        taken = tuple(
            Measurement(
                "query-error",
                error,
                "utility",
                "lower",
                interval=(error - width, error + width),
                parameters={"dimensions": 4, **more},
            )
            for error, more in zip(errors, labels, strict=True)
        )
        privacy = Measurement("privacy-loss", 0.1, "privacy", "lower")
        release = Candidate("one", Recipe("bucketize", {}), (privacy, *taken))
        return figure_3b((Point(T, 0.1, release),)).claims[0]

    def test_errors_that_fall(self) -> None:
        assert self.claim([0.2, 0.1, 0.05, 0.01], 0.001).holds is True

    def test_an_error_that_rises(self) -> None:
        claim = self.claim([0.1, 0.2, 0.05, 0.01], 0.001)
        assert claim.holds is False
        assert "falls 2 of 3 times" in claim.evidence
        assert "rises 1 times" in claim.evidence

    def test_the_axis_of_the_paper(self) -> None:
        assert published("li", "figure-3b").figures["axis"] == {"end in per cent": "20"}
