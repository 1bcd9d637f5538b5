"""The main job without a project file: what may be tried and measured, what is kept, what is told."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest

from sfumato import Attribute, Recipe, Release, Schema, measure, sanitize
from sfumato.measures import GeneralLoss
from sfumato.models import KAnonymity, TCloseness
from sfumato.reading import datasets
from sfumato.registry.declarations import Axis, Better
from sfumato.results.frontier import Frontier, one_for_each_recipe
from sfumato.results.measurement import LevelReached, Measure, Measurement
from sfumato.runtime.errors import ParameterError, StoreError
from sfumato.sanitizers import AsIs, Mondrian
from sfumato.searches import Lattice, Sweep
from sfumato.workflow.explore.explore_project import Progress
from sfumato.workflow.explore.library import explore
from sfumato.workflow.store.store import Store

MEASURES = ["k-anonymity", "general-loss"]
TABLE, SCHEMA = datasets.hospital()


def recipes(frontier: Frontier) -> list[str]:
    return [str(candidate.recipe) for candidate in one_for_each_recipe(frontier.candidates)]


class TestTried:
    def test_are_sanitizers_recipes_searches_and_blocks(self) -> None:
        candidates: list[Any] = [
            AsIs(),
            Recipe("mondrian", {"model": {"k-anonymity": {"k": 2}}}),
            Sweep("mondrian", {"model": {"k-anonymity": {"k": [3, 4]}}}),
            Lattice(KAnonymity(3), suppression=0.25),
            {"sanitizer": "mondrian", "model": {"k-anonymity": {"k": [5, 6]}}},
            {"search": "lattice", "model": {"k-anonymity": {"k": 6}}},
        ]
        found = explore(TABLE, SCHEMA, candidates, MEASURES, policy="none")
        assert sorted(recipes(found)) == [
            "as-is",
            "full-domain k=3 levels={age:3,sex:0,zip:2} suppression=0.25",
            "full-domain k=6 levels={age:3,sex:1,zip:2}",
            "mondrian k=2",
            "mondrian k=3",
            "mondrian k=4",
            "mondrian k=5",
            "mondrian k=6",
        ]

    def test_twice_are_made_once(self) -> None:
        written = {"sanitizer": "mondrian", "model": {"k-anonymity": {"k": 3}}}
        candidates: list[Any] = [Mondrian(KAnonymity(3)), Recipe.of(Mondrian(KAnonymity(3)), seed=7), written]
        assert len(explore(TABLE, SCHEMA, candidates, MEASURES, policy="none").candidates) == 1

    def test_have_the_values_that_their_releases_have(self) -> None:
        found = explore(TABLE, SCHEMA, [Mondrian(KAnonymity(k)) for k in (2, 3, 5)], MEASURES, policy="none")
        for candidate in found.candidates:
            again = measure(sanitize(TABLE, SCHEMA, candidate.recipe), MEASURES)
            assert [m.value for m in candidate.measurements] == [m.value for m in again]

    @pytest.mark.parametrize(
        ("given", "problem"),
        [
            (3, "candidate 2 is not a sanitizer"),
            ({"sanitizer": "mondrain"}, r"\[\[candidates\]\] number 2: no sanitizer 'mondrain'; did you"),
            ({"k": 3}, "give a sanitizer or a search by its name"),
        ],
    )
    def test_that_are_nothing_to_try_are_refused(self, given: object, problem: str) -> None:
        with pytest.raises(ParameterError, match=problem):
            explore(TABLE, SCHEMA, [AsIs(), given], MEASURES, policy="none")  # type: ignore[list-item]

    def test_that_cannot_be_made_are_told_with_the_reason(self) -> None:
        found = explore(TABLE, SCHEMA, [Mondrian(KAnonymity(k)) for k in (3, 13)], MEASURES, policy="none")
        assert recipes(found) == ["mondrian k=3"]
        (refused,) = found.infeasible
        assert str(refused.recipe) == "mondrian k=13"
        assert "k-anonymity with k = 13 cannot hold" in str(refused.infeasible)

    def test_may_all_fail(self) -> None:
        found = explore(TABLE, SCHEMA, [Mondrian(KAnonymity(13))], MEASURES, policy="none")
        assert (found.candidates, len(found.infeasible), found.efficient()) == ((), 1, ())


@dataclass(frozen=True)
class Records(Measure):
    """A measure that nobody registered."""

    axis: ClassVar[Axis] = "utility"
    better: ClassVar[Better] = "higher"

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        return (self.measurement(float(release.n_records)),)


class TestMeasures:
    def test_are_by_default_those_of_a_project_file(self) -> None:
        found = explore(TABLE, SCHEMA, [AsIs()], policy="none")
        assert found.axes == ("privacy-loss", "utility-loss")
        assert {m.label for m in found.candidates[0].measurements} >= {"weighted-k", "discernibility"}

    def test_without_a_sensitive_attribute_speak_of_no_such(self) -> None:
        schema = Schema((Attribute("a", "quasi-identifying"),))
        found = explore(pl.DataFrame({"a": ["x", "x", "y"]}), schema, [AsIs()], policy="none")
        assert found.axes == ("reidentification-risk", "general-loss")

    def test_may_be_instances_also_of_a_model_or_of_a_class_that_is_not_registered(self) -> None:
        asked: list[Any] = [LevelReached(TCloseness(distance="js")), GeneralLoss(), Records()]
        found = explore(TABLE, SCHEMA, [AsIs()], asked, policy="none")
        assert found.axes == ("t-closeness distance=js", "general-loss")
        assert found.candidates[0].value("records") == 12

    def test_of_both_sides_are_needed(self) -> None:
        with pytest.raises(ParameterError, match="needs a measure of utility"):
            explore(TABLE, SCHEMA, [AsIs()], ["k-anonymity"], policy="none")


class TestStore:
    CANDIDATES: ClassVar = [Mondrian(KAnonymity(k)) for k in (2, 3)]

    def test_is_none_by_default(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        explore(TABLE, SCHEMA, self.CANDIDATES, MEASURES, policy="none")
        assert not list(tmp_path.iterdir())

    def test_goes_on_where_it_stopped(self, tmp_path: Path) -> None:
        heard: list[Progress] = []
        first = explore(
            TABLE, SCHEMA, self.CANDIDATES, MEASURES, store=tmp_path / "kept.sqlite", policy="none"
        )
        more = [*self.CANDIDATES, Mondrian(KAnonymity(4))]
        second = explore(
            TABLE,
            SCHEMA,
            more,
            MEASURES,
            store=str(tmp_path / "kept.sqlite"),
            progress=heard.append,
            policy="none",
        )
        assert second.candidates[:2] == first.candidates
        assert (heard[-1].known, heard[-1].done) == (2, 1)

    def test_may_be_open(self, tmp_path: Path) -> None:
        with Store(tmp_path / "kept.sqlite") as store:
            explore(TABLE, SCHEMA, self.CANDIDATES, MEASURES, store=store, policy="none")
            assert store.mark().candidates == 2, "it is still open"

    def test_takes_an_instance_and_a_name_for_the_same_measure(self, tmp_path: Path) -> None:
        heard: list[Progress] = []
        place = tmp_path / "kept.sqlite"
        explore(TABLE, SCHEMA, self.CANDIDATES, MEASURES, store=place, policy="none")
        asked: list[Any] = [LevelReached(KAnonymity()), {"general-loss": {}}]
        explore(TABLE, SCHEMA, self.CANDIDATES, asked, store=place, progress=heard.append, policy="none")
        assert heard[-1].total == 0

    def test_that_is_being_explored_is_refused(self, tmp_path: Path) -> None:
        with Store(tmp_path / "kept.sqlite") as store, store.exclusive(), pytest.raises(StoreError):
            explore(TABLE, SCHEMA, self.CANDIDATES, MEASURES, store=store.path, policy="none")


def test_two_workers_find_the_same_without_a_store() -> None:
    candidates = [Mondrian(KAnonymity(k)) for k in (2, 3, 4, 13)]
    alone, together = (
        explore(TABLE, SCHEMA, candidates, MEASURES, seed=1, workers=n, policy="none") for n in (1, 2)
    )
    assert {str(c.recipe): c.measurements for c in together.candidates} == {
        str(c.recipe): c.measurements for c in alone.candidates
    }
    assert len(together.infeasible) == 1
