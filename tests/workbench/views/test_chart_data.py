"""The pictures of the explore page as data: places, limits and words, all computed by the library."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.report.svg_reader import panels, place_of

from sfumato.interfaces.workbench.state.candidate_matrix import CandidateMatrix
from sfumato.interfaces.workbench.views.chart_data import (
    MAGNIFIED,
    chart_data,
    parallel_data,
    plane_data,
)
from sfumato.results.frontier import Frontier
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.results.recipients import NOBODY
from sfumato.workflow.report.charts.plane import MeasureAxis, Plane, measure_axes

from ..state.test_sheet import AXES, candidate, sheet_of

SIZE = (800, 500)


@pytest.fixture
def sheet(tmp_path: Path) -> CandidateMatrix:
    return sheet_of(
        candidate("a", 0.9, 0.0, 1.0),
        candidate("b", 0.1, 0.2, 3.0),
        candidate("c", 0.4, 0.1, 2.0),
        candidate("d", 0.6, 0.3, 2.0),
        candidate("e", 0.0, None, 9.0),
        candidate("f", math.inf, 0.05, 1.0),
        path=tmp_path / "people.sqlite",
    )


def measures(frontier: Frontier, limits: dict[str, Limit]) -> list[MeasureAxis]:
    limited = replace(frontier, policy=Policy(NOBODY, limits))
    return [*measure_axes(limited, frontier.axes, frontier).values()]


def data(sheet: CandidateMatrix, *more: str, limits: dict[str, Limit] | None = None) -> dict[str, Any]:
    usual = Frontier(sheet.candidates, AXES)
    plane = Plane.of(replace(usual, policy=Policy(NOBODY, limits or {})), usual=usual)
    return plane_data(plane, sheet, SIZE, *more)


def test_every_candidate_has_its_place_in_the_picture(sheet: CandidateMatrix) -> None:
    found = data(sheet)
    (panel,) = panels(found["svg"])
    drawn = {place_of(mark) for mark in panel.marks(data_family="mondrian")}
    assert [place is None for place in found["places"]] == [False, False, False, False, True, False]
    assert {tuple(place) for place in found["places"] if place} == drawn
    left, top, right, bottom = found["frame"]
    assert (left, right) == panel.ends("x")
    assert (bottom, top) == panel.ends("y")
    assert right < SIZE[0] / MAGNIFIED


def test_the_words_are_those_of_the_library(sheet: CandidateMatrix) -> None:
    frontier = Frontier(sheet.candidates, AXES)
    broken = replace(sheet, broken={"c": ("too much",)})
    found = chart_data(broken, broken.knee(AXES), measures(frontier, {}))
    assert found["figures"][1] == ["privacy loss 0.1", "general loss 20%"]
    assert found["figures"][4][1] == "general loss not applicable"
    assert found["broken"] == ["", "", "too much", "", "", ""]
    assert [found["ids"][row] for row in found["front"]] == ["b", "a"]
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_a_limit_can_be_put_at_each_value_and_beyond_the_worst(sheet: CandidateMatrix) -> None:
    found = data(sheet, limits={"general-loss": Limit(at_most=0.15)})
    across, up = found["limits"]
    (panel,) = panels(found["svg"])
    assert (across["sign"], across["at"], up["at"]) == ("<=", "0.15", "")
    assert [text for _, _, text in across["stops"]] == ["0%", "5%", "10%", "15%", "20%", "30%"]
    for place, value, _ in across["stops"]:
        assert place == pytest.approx(panel.place(float(value), 0.1)[0], abs=0.01)
    for place, value, _ in up["stops"]:
        assert place == pytest.approx(panel.place(0.1, float(value))[1], abs=0.01)
    assert across["none"] == panel.ends("x")[1]
    assert up["none"] == panel.ends("y")[1]


def test_a_part_is_magnified_and_never_more_than_the_whole_is_shown(sheet: CandidateMatrix) -> None:
    whole = data(sheet)
    part = data(sheet, "", "0.25,0.75,0.1,0.6")
    assert whole["window"] == ""
    again = data(sheet, part["window"])
    assert again == part
    assert sum(place is not None for place in part["places"]) < 5
    back = data(sheet, part["window"], "-9,9,-9,9")
    assert (back["window"], back["places"]) == ("", whole["places"])
    for nonsense in ("x", "1,2,3", "3,2,1,0", "nan,1,0,1", "0,inf,0,1"):
        assert data(sheet, nonsense, nonsense)["window"] == ""


def test_limits_that_are_tried_move_no_axis(tmp_path: Path) -> None:
    losses = [0, 0.001, 0.002, 0.004, 0.006, 0.008, 0.01, 0.3, 0.6, 1]
    crowded = sheet_of(
        *(candidate(f"c{i}", 0.9 - i / 12, loss) for i, loss in enumerate(losses)),
        path=tmp_path / "crowded.sqlite",
    )
    ends = (0.2, 0.9)
    strict, free = (data(crowded, limits={"privacy-loss": Limit(at_most=end)})["places"] for end in ends)
    assert strict == free


def test_better_is_higher_on_every_upright_axis(sheet: CandidateMatrix) -> None:
    frontier = Frontier(sheet.candidates, (*AXES, "k-anonymity"))
    axes = measures(frontier, {"k-anonymity": Limit(at_least=2)})
    found = parallel_data(sheet, axes)
    assert json.dumps(found, allow_nan=False)
    loss, k = found["places"][0], found["places"][2]
    assert loss[1] > loss[2] > loss[0] > loss[5]
    assert k[1] > k[2] > k[0]
    assert found["places"][1][4] is None
    ((start, end),) = found["axes"][2]["forbidden"]
    assert start == k[2] > end
    assert [value for _, value in found["axes"][0]["stops"]] == [0.9, 0.6, 0.4, 0.1, 0.0]
