"""Columns: dominance by brute force and by moocore, the front, the knee and limits."""

from __future__ import annotations

import math

import moocore
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.results.pareto import Columns, Limit, dominated, front

# few different values, so that ties on one axis and on all of them are common
SMALL = st.integers(0, 4).map(float)
ANY = st.floats(allow_nan=False) | SMALL
EXTENDED = st.sampled_from([-math.inf, -0.0, 0.0, 1.0, math.inf])
POINTS = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[SMALL] * width), max_size=25))


def beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    pairs = list(zip(one, other, strict=True))
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


class TestDominated:
    @given(POINTS)
    def test_is_what_comparing_every_pair_finds(self, points: list[tuple[float, ...]]) -> None:
        expected = [any(beats(other, point) for other in points) for point in points]
        assert (
            dominated(np.array(points).reshape(len(points), len(points[0]) if points else 2)).tolist()
            == expected
        )

    @given(POINTS.filter(bool))
    def test_agrees_with_moocore(self, points: list[tuple[float, ...]]) -> None:
        array = np.array(points)
        assert (~dominated(array)).tolist() == moocore.is_nondominated(array, keep_weakly=True).tolist()

    @given(st.lists(st.tuples(EXTENDED, EXTENDED), max_size=12))
    def test_infinite_values_compare_like_others(self, points: list[tuple[float, float]]) -> None:
        expected = [any(beats(other, point) for other in points) for point in points]
        assert dominated(np.array(points).reshape(len(points), 2)).tolist() == expected

    def test_leaves_the_points_alone(self) -> None:
        points = np.array([[0.0, 1.0], [1.0, 1.0]])
        points.flags.writeable = False
        assert dominated(points).tolist() == [False, True]

    @given(st.lists(st.tuples(ANY, ANY), max_size=25))
    def test_along_two_axes_is_what_comparing_every_pair_finds(
        self, points: list[tuple[float, float]]
    ) -> None:
        expected = [any(beats(other, point) for other in points) for point in points]
        assert dominated(np.array(points).reshape(len(points), 2)).tolist() == expected

    @given(st.lists(st.tuples(*[EXTENDED | st.just(math.nan)] * 3), max_size=12), st.integers(1, 3))
    def test_rows_with_a_missing_value_are_not_compared(
        self, drawn: list[tuple[float, ...]], width: int
    ) -> None:
        points = [point[:width] for point in drawn]
        expected = [any(beats(other, point) for other in points) for point in points]
        assert dominated(np.array(points).reshape(len(points), width)).tolist() == expected

    @pytest.mark.parametrize("width", [2, 3])
    def test_agrees_with_moocore_on_many_points(self, width: int) -> None:
        points = np.random.default_rng(width).integers(0, 3000, (20_000, width)).astype(np.float64)
        assert (~dominated(points)).tolist() == moocore.is_nondominated(points, keep_weakly=True).tolist()

    def test_of_a_million_points_is_soon_known(self) -> None:
        # comparing every pair would take half a day
        points = np.random.default_rng(0).random((1_000_000, 2))
        points[:, 1] -= points[:, 0]
        assert 1000 < (~dominated(points)).sum() < 10_000


class TestFront:
    def test_is_sorted_and_takes_equal_rows_by_name(self) -> None:
        points = np.array([[1.0, 1.0], [0.0, 2.0], [1.0, 1.0], [2.0, 2.0]])
        assert front(points).tolist() == [1, 0, 2]
        assert front(points, np.array(["z", "y", "a", "b"])).tolist() == [1, 2, 0]

    def test_of_nothing_is_empty(self) -> None:
        assert front(np.zeros((0, 2))).tolist() == []
        assert front(np.zeros((0, 2)), np.array([], dtype=np.str_)).tolist() == []


def test_limits_allow_a_tie_and_nothing_that_does_not_apply() -> None:
    columns = Columns({"loss": np.array([0.1 + 0.2, 0.31, math.nan, -math.inf])}, {})
    assert columns.within({"loss": Limit(at_most=0.3)}).tolist() == [True, False, False, True]
    assert columns.within({"loss": Limit(at_most=0.3, at_least=0)}).tolist() == [True, False, False, False]
    assert columns.within({}).all()


def test_higher_is_better_where_it_is_said() -> None:
    columns = Columns({"k": np.array([2.0, 5.0, 5.0]), "loss": np.array([0.0, 0.4, 0.5])}, {"k": "higher"})
    assert columns.front(["k", "loss"]).tolist() == [1, 0]
    assert columns.dominating(2, ["k", "loss"]).tolist() == [1]
    assert columns.efficient(["k", "loss"]).tolist() == [True, True, False]


def test_along_no_axis_nothing_tells_candidates_apart() -> None:
    columns = Columns({}, {}, ["b", "a", "c"])
    assert columns.comparable([]).tolist() == [True] * 3
    assert columns.front([]).tolist() == [1, 0, 2]
    assert columns.knee([]) is None
    assert columns.dominating(0, []).tolist() == []
    assert columns.within({}).tolist() == [True] * 3
