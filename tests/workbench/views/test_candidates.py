"""What an address asks to see of the candidates, and the rows that it gets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.datastructures import QueryParams

from sfumato.interfaces.workbench.state.candidate_matrix import CandidateMatrix
from sfumato.interfaces.workbench.views.candidate_rows import (
    ROWS,
    View,
    candidate_rows,
    knee_words,
    usual_axes,
)
from sfumato.registry.recipe import Recipe
from sfumato.results.pareto import Limit
from sfumato.runtime.errors import ParameterError

from ..state.test_sheet import AXES, candidate, sheet_of


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.sqlite"


@pytest.fixture
def sheet(path: Path) -> CandidateMatrix:
    return sheet_of(
        candidate("as-is", 0.9, 0.0, 1.0, recipe=Recipe("as-is")),
        candidate("b", 0.1, 0.2, 3.0),
        candidate("c", 0.5, 0.1, 2.0),
        candidate("d", 0.6, 0.3, 2.0),
        candidate("e", 0.0, None, 9.0, recipe=Recipe("laplace")),
        candidate("f", infeasible="too few records"),
        path=path,
    )


def view(sheet: CandidateMatrix, query: str) -> View:
    return View.of(QueryParams(query), sheet, AXES)


def listed(sheet: CandidateMatrix, query: str) -> list[str]:
    return [row["id"] for row in candidate_rows(sheet, view(sheet, query), AXES)[0]]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["b", "c", "as-is"]),
        ("show=all", ["e", "b", "c", "d", "as-is"]),
        ("show=all&sort=general-loss", ["as-is", "c", "b", "d", "e"]),
        ("show=all&sort=general-loss&order=descending", ["d", "b", "c", "as-is", "e"]),
        ("show=all&sanitizer=laplace", ["e"]),
        ("axis=k-anonymity&axis=general-loss", ["b", "c", "as-is"]),
        ("show=all&sort=nonsense", ["e", "b", "c", "d", "as-is"]),
        ("sanitizer=nobody", []),
        ("page=7", []),
        ("page=x&show=all", ["e", "b", "c", "d", "as-is"]),
    ],
)
def test_a_list_is_what_the_address_asks_for(sheet: CandidateMatrix, query: str, ids: list[str]) -> None:
    assert listed(sheet, query) == ids


def test_an_address_survives_its_own_question(sheet: CandidateMatrix) -> None:
    asked = view(
        sheet,
        "axis=k-anonymity&axis=general-loss&show=all&sanitizer=mondrian&policy=met&sort=recipe&order=descending&id=b",
    )
    assert view(sheet, asked.query()[1:]) == asked
    several = view(sheet, "axis=privacy-loss&axis=general-loss&axis=k-anonymity")
    assert several.parallel
    assert view(sheet, several.query()[1:]) == several


def test_axes_that_nobody_measured_are_refused(sheet: CandidateMatrix) -> None:
    with pytest.raises(ParameterError, match="did you mean 'privacy-loss'"):
        view(sheet, "axis=privacy-los&axis=general-loss")


def test_usual_axes_fall_back_on_what_was_measured(sheet: CandidateMatrix) -> None:
    assert usual_axes(sheet, ("t-closeness", "general-loss"))[:2] == ("privacy-loss", "general-loss")
    assert view(sheet, "view=parallel").axes == ("privacy-loss", "k-anonymity", "general-loss")


def test_long_lists_come_in_pages(path: Path) -> None:
    many = sheet_of(*(candidate(f"c{i:04}", i / 300, 1 - i / 300) for i in range(300)), path=path)
    shown, n_rows = candidate_rows(many, view(many, "page=5"), AXES)
    assert (len(shown), n_rows) == (ROWS, 300)
    assert shown[0]["id"] == "c0200"


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["b", "as-is"]),
        ("show=all", ["e", "b", "as-is", "d", "c"]),
        ("show=all&policy=met", ["e", "b", "d", "as-is"]),
    ],
)
def test_what_is_against_the_policy_is_not_efficient_and_comes_last(
    sheet: CandidateMatrix, query: str, ids: list[str]
) -> None:
    assert sorted(listed(replace(sheet, broken={"c": ("no",)}), query)) == sorted(ids)
    shown, _ = candidate_rows(replace(sheet, broken={"c": ("no",)}), view(sheet, "show=all"), AXES)
    assert {row["id"]: row["broken"] for row in shown if row["broken"]} == {"c": ("no",)}


def test_limits_of_an_address_are_read_and_written(sheet: CandidateMatrix) -> None:
    tried = view(sheet, "limit=general-loss%3C%3D0.25&limit=k-anonymity%3E%3D2&limit=privacy-loss%3C%3D")
    assert tried.limits == {
        "general-loss": Limit(at_most=0.25),
        "k-anonymity": Limit(at_least=2),
        "privacy-loss": Limit(),
    }
    assert view(sheet, tried.query()[1:]) == tried
    for wrong in ("nonsense<=1", "general-loss", "general-loss<=soon"):
        with pytest.raises(ParameterError, match="limit"):
            view(sheet, str(QueryParams({"limit": wrong})))


def test_the_knee_is_of_the_two_measures_shown_or_next_to_several_of_the_projects(
    path: Path,
) -> None:
    sheet = sheet_of(
        candidate("a", 0.9, 0.0, 1.0),
        candidate("b", 0.1, 0.2, 3.0),
        candidate("c", 0.3, 0.1, 2.0),
        path=path,
    )
    two = view(sheet, "axis=k-anonymity&axis=general-loss")
    several = view(sheet, "axis=k-anonymity&axis=general-loss&axis=privacy-loss")
    assert two.knee_axes(sheet, AXES) == ("k-anonymity", "general-loss")
    assert several.knee_axes(sheet, AXES) == AXES
    assert knee_words(AXES) == "knee of privacy loss and general loss"
    (knee,) = (row for row in candidate_rows(sheet, several, AXES)[0] if knee_words(AXES) in row["marks"])
    assert knee["id"] == "c"
