"""The sheet: stored candidates as columns, brought up to date by what was added, and which are efficient."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.interfaces.workbench.state.candidate_matrix import CandidateMatrices, CandidateMatrix
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.measurement import Measurement
from sfumato.results.pareto import Limit
from sfumato.results.policy import NO_LIMITS, Policy
from sfumato.results.recipients import NOBODY
from sfumato.workflow.store.store import Mark, Store

AXES = ("privacy-loss", "general-loss")


def candidate(name: str, *values: float | None, **facts: Any) -> Candidate:
    """A candidate with a privacy loss, a general loss and a k."""
    kinds = (
        ("privacy-loss", "privacy", "lower"),
        ("general-loss", "utility", "lower"),
        ("k-anonymity", "privacy", "higher"),
    )
    measured = tuple(
        Measurement(measure, value, axis, better)  # type: ignore[arg-type]
        for (measure, axis, better), value in zip(kinds, values, strict=False)
    )
    recipe = facts.pop("recipe", Recipe("mondrian", {"model": {"k-anonymity": {"k": len(name)}}}))
    return Candidate(name, recipe, measured, **facts)


def saved(store: Store, *candidates: Candidate, source: str = "s", asked: str = "all") -> None:
    for each in candidates:
        store.save(each, source, {asked: list(each.measurements)})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.sqlite"


def sheet_of(*candidates: Candidate, path: Path) -> CandidateMatrix:
    with Store(path) as store:
        saved(store, *candidates)
    return CandidateMatrices().of(path, "s")[0]


def test_there_is_a_sheet_before_there_is_a_store(path: Path) -> None:
    sheet, stamp = CandidateMatrices().of(path, "s")
    assert (sheet.candidates, sheet.columns, stamp) == ((), (), "0")
    assert not path.exists()


def test_only_what_was_added_is_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sheets, read = CandidateMatrices(), []
    real = Store.candidates

    def listed(store: Store, source: str, since: Mark | None = None) -> Any:
        found = real(store, source, since)
        read.append([each.id for each in found])
        return found

    monkeypatch.setattr(Store, "candidates", listed)
    with Store(path) as store:
        saved(store, candidate("a", 0.1, 0.9), candidate("b", 0.5, 0.5))
        first, stamp = sheets.of(path, "s")
        assert sheets.of(path, "s")[1] == stamp
        saved(
            store,
            candidate("c", 0.9, 0.1),
            candidate("d", infeasible="too few"),
            candidate("z", 0, 0),
            source="s",
        )
        second, later = sheets.of(path, "s")
    assert read == [["a", "b"], ["c", "d", "z"]]
    assert stamp != later
    assert [c.id for c in first.candidates] == ["a", "b"]
    assert [c.id for c in second.candidates] == ["a", "b", "c", "z"]
    assert [c.id for c in second.infeasible] == ["d"]


def test_a_candidate_that_is_measured_further_is_taken_in_anew(path: Path) -> None:
    sheets = CandidateMatrices()
    with Store(path) as store:
        saved(store, candidate("a", 0.1, 0.9))
        sheets.of(path, "s")
        taken = (Measurement("k-anonymity", 7.0, "privacy", "higher"),)
        more = Candidate("a", candidate("a").recipe, taken)
        saved(store, more, asked="k-anonymity")
        sheet, _ = sheets.of(path, "s")
    assert sheet.rows[0] == {"privacy-loss": 0.1, "general-loss": 0.9, "k-anonymity": 7.0}
    assert len(sheet.candidates) == 1


def test_another_store_in_its_place_is_another_sheet(path: Path) -> None:
    sheets = CandidateMatrices()
    with Store(path) as store:
        saved(store, candidate("a", 0.1, 0.9), candidate("b", 0.1, 0.9))
    sheets.of(path, "s")
    for each in path.parent.glob("people.sqlite*"):
        each.unlink()
    with Store(path) as store:
        saved(store, candidate("c", 0.1, 0.9))
    assert [c.id for c in sheets.of(path, "s")[0].candidates] == ["c"]


def test_candidates_of_other_data_are_not_shown(path: Path) -> None:
    with Store(path) as store:
        saved(store, candidate("a", 0.1, 0.9), source="other")
        saved(store, candidate("b", 0.1, 0.9))
    assert [c.id for c in CandidateMatrices().of(path, "s")[0].candidates] == ["b"]


values = st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0, math.inf]) | st.none()
rows = st.lists(st.tuples(values, values, values), max_size=12)


@given(rows)
def test_the_efficient_ones_and_the_knee_are_those_of_the_frontier(
    drawn: list[tuple[float | None, ...]],
) -> None:
    made = tuple(candidate(f"c{i}", *values) for i, values in enumerate(drawn))
    columns = {m.label: (m.axis, m.better) for c in made for m in c.measurements}
    from sfumato.interfaces.workbench.state.candidate_matrix import MeasureColumn

    sheet = CandidateMatrix(
        made,
        (),
        tuple(MeasureColumn(label, *facts) for label, facts in columns.items()),
        tuple({m.label: m.value for m in c.measurements if m.value is not None} for c in made),
        ("",) * len(made),
    )
    for axes in (AXES, (*AXES, "k-anonymity"), ("k-anonymity", "general-loss")):
        frontier = Frontier(made, axes)
        efficient = sheet.efficient(axes)
        assert {c.id for c, is_ in zip(made, efficient, strict=True) if is_} == {
            c.id for c in frontier.efficient()
        }
        assert sheet.knee(axes) == frontier.knee()
        assert int(sheet.comparable(axes).sum()) == len(frontier.comparable)


def test_what_breaks_the_policy_is_known_and_forgotten_with_it(path: Path) -> None:
    sheets = CandidateMatrices()
    with Store(path) as store:
        saved(store, candidate("a", 0.1, 0.9), candidate("b", 0.5, 0.5))
    sheet, _ = sheets.of(path, "s")
    broken = sheets.broken(path, "s", sheet, Policy(NOBODY, {"privacy-loss": Limit(at_most=0.2)}))
    assert list(broken) == ["b"]
    assert "must be at most 0.2" in broken["b"][0]
    assert replace(sheet, broken=broken).efficient(AXES).tolist() == [True, False]
    assert sheets.broken(path, "s", sheet, NO_LIMITS) == {}


def test_each_of_several_sensitive_attributes_has_a_column_after_the_worst(path: Path) -> None:
    of = {"income": 0.2, "disease": 0.6}
    taken = tuple(Measurement("privacy-loss", value, "privacy", "lower", name) for name, value in of.items())
    sheet = sheet_of(Candidate("a", Recipe("as-is"), taken), path=path)
    assert sheet.labels == ("privacy-loss", "privacy-loss of income", "privacy-loss of disease")
    assert [float(sheet.values(label)[0]) for label in sheet.labels] == [0.6, 0.2, 0.6]
    assert sheet.columns[1].title == "privacy loss of income"
