"""The pictures beyond the plane: curves of several releases, and the matrix."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from sfumato.measures import Measurement
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.results.recipients import NOBODY
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.report.charts.class_size_curves import class_size_curves
from sfumato.workflow.report.charts.frontier_chart import AGAINST
from sfumato.workflow.report.charts.scatter_matrix import frontier_picture, scatter_matrix
from sfumato.workflow.report.charts.svg import COLOURS

from .svg_reader import corners, panels, texts

NAMES = ("privacy-loss", "general-loss", "suppression-loss", "query-error", "kl-divergence", "utility-loss")


def candidate(identity: str, *values: float | None) -> Candidate:
    measurements = tuple(
        Measurement(name, value, "privacy" if name == "privacy-loss" else "utility", "lower")
        for name, value in zip(NAMES, values, strict=False)
    )
    return Candidate(identity, Recipe("mondrian"), measurements)


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


def limited(limits: dict[str, Limit]) -> Frontier:
    return replace(THREE, policy=Policy(NOBODY, limits))


class TestMatrix:
    def test_every_pair_of_axes_has_its_panel(self) -> None:
        shown = texts(scatter_matrix(THREE))
        assert shown.count("privacy loss") == 1
        assert shown.count("general loss") == 2
        assert shown.count("suppression loss") == 1
        assert {"mondrian", "hollow: not efficient"} <= set(shown)

    def test_chosen_and_limits_are_drawn(self) -> None:
        svg = scatter_matrix(limited({"general-loss": Limit(at_most=0.2)}), chosen=THREE.candidates[2])
        assert {"chosen", "policy limit"} <= set(texts(svg))

    def test_what_is_against_the_policy_is_grey_in_every_panel(self) -> None:
        svg = scatter_matrix(limited({"privacy-loss": Limit(at_most=0.35)}))
        assert "against the policy" in texts(svg)
        for panel in panels(svg):
            assert len(panel.marks(stroke=AGAINST)) == 2 * 2, "two candidates, each grey and crossed out"

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
