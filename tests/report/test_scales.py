"""Scales: where values go, and the round values on them."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato.workflow.report.charts.scales import Scale

finite = st.floats(-1e12, 1e12)
positive = st.floats(1e-12, 1e12)


@st.composite
def scales(draw: st.DrawFn) -> Scale:
    kind = draw(st.sampled_from(["linear", "log", "root"]))
    values = draw(st.lists(positive if kind == "log" else finite, min_size=1))
    scale = Scale.around(values, log=kind == "log")
    if kind != "root":
        return scale
    origin = draw(st.sampled_from(scale.ends))
    return replace(scale, root=draw(st.sampled_from([2, 4])), origin=origin)


@given(scales(), st.floats(0, 1))
def test_a_fraction_leads_to_a_value_and_back(scale: Scale, fraction: float) -> None:
    value = scale.at(fraction)
    assert scale.fraction(value) == pytest.approx(fraction, abs=1e-4)
    assert scale.fraction(scale.low) == pytest.approx(0, abs=1e-12)
    assert scale.fraction(scale.high) == pytest.approx(1)


@given(scales(), st.floats(0, 1), st.floats(0, 1))
def test_larger_values_lie_farther_along(scale: Scale, one: float, other: float) -> None:
    small, large = sorted((scale.at(one), scale.at(other)))
    assert scale.fraction(small) <= scale.fraction(large) + 1e-9


@given(st.lists(finite, min_size=1), st.booleans())
def test_a_scale_around_values_holds_them_all(values: list[float], log: bool) -> None:
    chosen = [abs(value) + 1e-6 for value in values] if log else values
    scale = Scale.around(chosen, log=log)
    assert scale.low < scale.high
    assert all(scale.low <= value <= scale.high for value in chosen)


@given(scales(), st.integers(2, 12), st.booleans())
def test_ticks_are_few_in_order_evenly_spaced_and_inside(scale: Scale, most: int, whole: bool) -> None:
    ticks = scale.ticks(most, whole=whole)
    assert len(ticks) <= most
    assert ticks == sorted(set(ticks))
    slack = 1e-6 * (scale.high - scale.low)
    assert all(scale.low - slack <= tick <= scale.high + slack for tick in ticks)
    if not scale.kind:
        steps = [later - earlier for earlier, later in pairwise(ticks)]
        assert all(step == pytest.approx(steps[0], rel=1e-6) for step in steps)
        if whole:
            assert all(tick == round(tick) for tick in ticks)


def test_a_short_axis_has_no_whole_tick_outside() -> None:
    assert Scale(4.0609e-117, 1.39877e-116).ticks(2, whole=True) == []


@given(scales(), st.integers(4, 12))
def test_an_axis_has_at_least_one_tick(scale: Scale, most: int) -> None:
    assert scale.ticks(most)


@pytest.mark.parametrize(
    ("scale", "most", "ticks"),
    [
        (Scale(0, 1.04), 6, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (Scale(0, 0.3), 4, [0, 0.1, 0.2, 0.3]),
        (Scale(-0.04, 0.73), 9, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]),
        (Scale(-250, 1030), 5, [0, 500, 1000]),
        (Scale(0.98, 1.02), 5, [0.98, 0.99, 1, 1.01, 1.02]),
        (Scale(1.5, 70_000, log=True), 5, [10, 100, 1000, 10_000]),
        (Scale(1, 1e9, log=True), 5, [1, 100, 10_000, 1e6, 1e8]),
        (Scale(1.8, 60, log=True), 5, [2, 5, 10, 20, 50]),
        (Scale(23, 41, log=True), 5, [25, 30, 35, 40]),
        (Scale(0.0008, 0.2, log=True), 4, [0.001, 0.01, 0.1]),
        (Scale(0, 1, root=2), 6, [0, 0.1, 0.2, 0.4, 0.6, 1]),
        (Scale(0, 1, root=4), 6, [0, 0.01, 0.05, 0.15, 0.4, 1]),
        (Scale(0, 1, root=2, origin=1), 6, [0.2, 0.5, 0.7, 0.8, 0.95, 1]),
        (Scale(0, 300, root=2), 5, [0, 40, 100, 150, 300]),
    ],
)
def test_ticks_are_round(scale: Scale, most: int, ticks: list[float]) -> None:
    assert scale.ticks(most) == ticks


def test_ticks_are_the_numbers_that_they_are_printed_as() -> None:
    assert [str(tick) for tick in Scale(0, 0.75).ticks(8)][:8] == [f"0.{n}" for n in range(8)]


def test_small_ticks_lie_between_powers_of_ten() -> None:
    assert Scale(0.5, 30, log=True).small_ticks() == [
        *(n / 10 for n in range(5, 10)),
        *map(float, range(2, 10)),
        20.0,
        30.0,
    ]
    assert Scale(2, 15, log=True).small_ticks() == []
    assert Scale(0, 100).small_ticks() == []


def test_the_ends_have_no_more_digits_than_a_reader_needs() -> None:
    assert Scale.around([0.1 + 0.2, 0.7]).ends == (0.28, 0.72)
    log = Scale.around([3, 1000], log=True)
    assert log.low == pytest.approx(3 / (1000 / 3) ** 0.05)
    assert len(repr(log.low)) <= len("2.243764732")


def test_values_that_hardly_differ_and_single_ones_have_room() -> None:
    for values in ([5.0], [0.0], [-2.0], [1.0, 1.0 + 1e-13]):
        scale = Scale.around(values)
        assert all(0.05 < scale.fraction(value) < 0.95 or value == 0 for value in values)
    assert Scale.around([1e5], log=True).fraction(1e5) == pytest.approx(0.5, abs=0.2)


@given(scales(), st.floats(0, 0.4), st.floats(0.6, 1))
def test_a_part_of_a_scale_magnifies_it(scale: Scale, start: float, end: float) -> None:
    part = scale.part(start, end)
    assume(part.low < part.high)
    middle = scale.at((start + end) / 2)
    assert part.fraction(middle) == pytest.approx(0.5, abs=1e-3)
    assert part.log == scale.log
    assert not math.isnan(part.low)


CROWDED = [0, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.008, 0.009, 0.01, 0.1, 0.3, 0.5, 0.7, 1]


@pytest.mark.parametrize("is_turned", [False, True])
def test_values_that_crowd_near_an_end_are_spread(is_turned: bool) -> None:
    values = [1 - value for value in CROWDED] if is_turned else CROWDED
    linear = Scale(0, 1)
    spread = linear.spread(values)
    assert linear.crowding(values) > 0.6
    assert spread.crowding(values) < 0.5
    assert spread.root > 1
    assert spread.origin == float(is_turned)
    assert spread.ends == linear.ends


@pytest.mark.parametrize("values", [[0, 0.25, 0.5, 0.75, 1], [0.0, 0.001, 0.002, 1], [0.5] * 9, []])
def test_an_even_few_or_equal_values_keep_their_linear_scale(values: list[float]) -> None:
    assert Scale(0, 1).spread(values).root == 1


@given(st.lists(st.floats(0, 1), max_size=30))
def test_spreading_never_makes_a_crowd_denser(values: list[float]) -> None:
    assert Scale(0, 1).spread(values).crowding(values) <= Scale(0, 1).crowding(values)


def test_the_crowding_is_the_largest_share_in_a_tenth_of_the_axis() -> None:
    assert Scale(0, 10).crowding([0, 0.4, 0.9, 1.5, 5]) == 0.6
    assert Scale(0, 10).crowding([]) == 0
