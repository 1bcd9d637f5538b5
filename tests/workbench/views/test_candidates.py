"""What an address asks to see of the candidates, and the rows that it gets."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from starlette.datastructures import QueryParams

from sfumato.interfaces.workbench.state.candidate_matrix import CandidateMatrices, CandidateMatrix
from sfumato.interfaces.workbench.views.candidate_rows import (
    ROWS,
    View,
    candidate_rows,
    plain_data,
    usual_axes,
)
from sfumato.registry.recipe import Recipe
from sfumato.results.pareto import Limit
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.store.store import Store

from ..state.test_sheet import AXES, candidate, saved, sheet_of


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
    against = replace(sheet, broken={**sheet.broken, "c": ("no",)})
    return [row["id"] for row in candidate_rows(against, view(sheet, query))[0]]


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("", ["b", "as-is"]),
        ("show=all", ["e", "b", "c", "d", "as-is"]),
        ("show=all&sort=general-loss", ["as-is", "c", "b", "d", "e"]),
        ("show=all&sort=general-loss&order=descending", ["d", "b", "c", "as-is", "e"]),
        ("show=all&sanitizer=laplace", ["e"]),
        ("show=all&policy=met", ["e", "b", "d", "as-is"]),
        ("axis=k-anonymity&axis=general-loss", ["b", "as-is"]),
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
    shown, n_rows = candidate_rows(many, view(many, "page=5"))
    assert (len(shown), n_rows) == (ROWS, 300)
    assert shown[0]["id"] == "c0200"


def test_the_chart_gets_plain_numbers(sheet: CandidateMatrix, path: Path) -> None:
    with Store(path) as store:
        saved(store, candidate("g", math.inf, 0.4, 1.0))
    grown, _ = CandidateMatrices().of(path, "s")
    grown = replace(grown, broken={**grown.broken, "d": ("no",)})
    facts = plain_data(grown, {"general-loss": Limit(at_most=0.25)})
    by_label = {measure["label"]: measure for measure in facts["measures"]}
    assert by_label["privacy-loss"]["values"][-1] == "Infinity"
    assert by_label["general-loss"]["values"][4] is None
    assert by_label["general-loss"]["limit"] == {"most": 0.25}
    assert by_label["privacy-loss"]["limit"] is None
    assert facts["keeps"] == [1, 1, 1, 0, 1, 1]
    assert facts["ends"] == {"0": "published as it is"}
    assert [facts["families"][i]["name"] for i in facts["family"]][:2] == ["trivial", "mondrian"]
    assert np.shape(by_label["k-anonymity"]["values"]) == (6,)
