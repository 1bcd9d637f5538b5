"""The pictures beyond the plane: curves of several releases, the matrix, the magnified stretch."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from sfumato.measures import Measurement
from sfumato.registry.recipe import Recipe
from sfumato.results.frontier import Candidate, Frontier
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.results.recipients import NOBODY
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.report.charts.class_size_curves import class_size_curves
from sfumato.workflow.report.charts.frontier_chart import frontier_chart
from sfumato.workflow.report.charts.scatter import Plane
from sfumato.workflow.report.charts.scatter_matrix import frontier_picture, scatter_matrix
from sfumato.workflow.report.charts.svg import COLOURS
from sfumato.workflow.report.charts.zoom import efficient_in, steepest_stretch

from .svg_reader import corners, panels

SVG = "{http://www.w3.org/2000/svg}"
NAMES = ("privacy-loss", "general-loss", "suppression-loss", "query-error", "kl-divergence", "utility-loss")


def candidate(identity: str, *values: float | None) -> Candidate:
    measurements = tuple(
        Measurement(name, value, "privacy" if name == "privacy-loss" else "utility", "lower")
        for name, value in zip(NAMES, values, strict=False)
    )
    return Candidate(identity, Recipe("mondrian"), measurements)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def steps_of(svg: str, colour: str) -> list[tuple[float, float]]:
    """Return the corners of the longest line in a colour."""
    (panel,) = panels(svg)
    return max(map(corners, panel.marks(stroke=colour)), key=len)


class TestCurves:
    def test_every_release_has_its_curve_and_name(self) -> None:
        svg = class_size_curves({"fine": [2, 2, 3], "coarse": [7]})
        assert {"fine", "coarse", "share of records in"} <= set(texts(svg))
        for colour in COLOURS[:2]:
            for (x, y), (next_x, next_y) in zip(
                steps_of(svg, colour), steps_of(svg, colour)[1:], strict=False
            ):
                assert next_x >= x
                assert next_y <= y

    def test_the_same_numbers_give_the_same_bytes(self) -> None:
        sizes = {"a": np.arange(1, 2000), "b": np.arange(5, 900)}
        assert class_size_curves(sizes) == class_size_curves(sizes)
        assert len(class_size_curves(sizes)) < 60_000

    def test_names_are_text_and_nothing_else(self) -> None:
        svg = class_size_curves({"<script>x</script>": [1, 2], "$x^2$": [3]})
        assert "<script>" not in svg
        assert {"<script>x</script>", "$x^2$"} <= set(texts(svg))

    def test_no_records_and_too_many_releases(self) -> None:
        assert "no records" in texts(class_size_curves({"a": [], "b": [2]}))
        with pytest.raises(ParameterError, match="at most 6"):
            class_size_curves({str(place): [1] for place in range(7)})


THREE = Frontier(
    tuple(candidate(str(i), 0.1 * i, 0.5 - 0.1 * i, abs(0.2 - 0.1 * i), 0.3, 0.1 * i) for i in range(6)),
    NAMES[:3],
)


class TestMatrix:
    def test_every_pair_of_axes_has_its_panel(self) -> None:
        shown = texts(scatter_matrix(THREE))
        assert shown.count("privacy loss") == 1
        assert shown.count("general loss") == 2
        assert shown.count("suppression loss") == 1
        assert {"mondrian", "hollow: not efficient"} <= set(shown)

    def test_chosen_and_limits_are_drawn(self) -> None:
        svg = scatter_matrix(THREE, chosen=THREE.candidates[2], limits={"general-loss": Limit(at_most=0.2)})
        assert {"chosen", "policy limit"} <= set(texts(svg))

    def test_what_breaks_the_policy_is_crossed_out_in_every_panel(self) -> None:
        limits = {"privacy-loss": Limit(at_most=0.35)}
        svg = scatter_matrix(replace(THREE, policy=Policy(NOBODY, limits)), limits=limits)
        assert "crossed out: breaks the policy" in texts(svg)
        assert svg.count("<use") - scatter_matrix(THREE).count("<use") >= 3 * 2

    def test_the_same_numbers_give_the_same_bytes(self) -> None:
        assert scatter_matrix(THREE) == scatter_matrix(THREE)

    def test_nothing_to_compare_and_infinite_values(self) -> None:
        empty = Frontier((candidate("a", None, 1.0, 2.0),), NAMES[:3])
        assert texts(scatter_matrix(empty)).count("nothing to compare") == 3
        endless = Frontier((candidate("a", math.inf, 0.1, 0.2), candidate("b", 0.1, 0.2, 0.1)), NAMES[:3])
        assert "nan" not in scatter_matrix(endless)

    @pytest.mark.parametrize("n_axes", [2, 3, 4, 5, 6])
    def test_the_picture_fits_the_number_of_axes(self, n_axes: int) -> None:
        values = [(0.1, 0.9, 0.2, 0.3, 0.4, 0.5), (0.9, 0.1, 0.3, 0.2, 0.5, 0.4)]
        frontier = Frontier(tuple(candidate(str(v), *v) for v in values), NAMES[:n_axes])
        is_matrix = "over every pair" in frontier_picture(frontier)
        assert is_matrix == (3 <= n_axes <= 5)
        if not is_matrix:
            with pytest.raises(ParameterError, match="three to 5 axes"):
                scatter_matrix(frontier)


def front(*points: tuple[float, float]) -> Frontier:
    return Frontier(tuple(candidate(str(place), *point) for place, point in enumerate(points)), NAMES[:2])


CROWDED = front(
    (0.9, 0.0), (0.7, 0.01), (0.5, 0.02), (0.35, 0.03), (0.3, 0.04), (0.2, 0.5), (0.1, 0.8), (0.0, 1.0)
)


class TestStretch:
    def test_the_steepest_part_is_found(self) -> None:
        plane = Plane.of(CROWDED, {})
        stretch = steepest_stretch(plane)
        assert stretch is not None
        inside = {
            c.id
            for c in efficient_in(plane)
            for x, y in [plane.values(c)]
            if stretch.x.low <= x <= stretch.x.high and stretch.y.low <= y <= stretch.y.high
        }
        assert inside == {"0", "1", "2", "3", "4"}

    def test_it_is_drawn_below_with_the_names_of_its_candidates(self) -> None:
        shown = texts(frontier_chart(CROWDED))
        assert "the steepest stretch, magnified" in shown
        assert {"0", "1", "2", "3", "4"} <= set(shown)
        assert frontier_chart(CROWDED) == frontier_chart(CROWDED)

    def test_an_infinite_value_is_not_drawn_as_if_it_were_near(self) -> None:
        endless = Frontier((*CROWDED.candidates, candidate("far", math.inf, -0.01)), CROWDED.axes)
        stretch = steepest_stretch(Plane.of(endless, {}))
        assert stretch is not None
        assert "far" not in {c.id for c in stretch.frontier.candidates}

    @pytest.mark.parametrize(
        "even",
        [
            front((0.9, 0.0), (0.5, 0.5), (0.0, 1.0)),
            front(*((1 - i / 9, i / 9) for i in range(10))),
            front((0.5, 0.5)),
            front((0.5, math.inf), (math.inf, 0.5), (0.6, 0.6)),
            front((1.0, 0.1), (0.8, 0.1), (0.5, 0.1), (0.2, 0.1)),
        ],
        ids=["few", "straight", "one", "infinite", "one-line"],
    )
    def test_an_even_front_is_not_magnified(self, even: Any) -> None:
        assert steepest_stretch(Plane.of(even, {})) is None
        assert "magnified" not in frontier_chart(even)
