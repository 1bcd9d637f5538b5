"""A text shows a value as far as it is printed, and no other value."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.results import formatting
from sfumato.verification.renderings import (
    same_value,
    shows,
    shows_limit,
    shows_parts,
    shows_recipe,
    shows_time,
)


@given(st.floats(-1e18, 1e18, allow_nan=False) | st.integers(-(10**12), 10**12), st.sampled_from([4, 6]))
def test_a_printed_number_shows_its_value(value: float, digits: int) -> None:
    assert shows(formatting.number(value, digits), value)


@given(st.floats(0, 1e6), st.sampled_from([3, 6]))
def test_a_printed_share_shows_its_value(value: float, digits: int) -> None:
    assert shows(formatting.share(value, digits), value)


@given(st.floats(0.001, 1e6), st.floats(1.011, 3))
def test_a_number_that_differs_by_more_than_a_hundredth_is_another(value: float, factor: float) -> None:
    for printed in (formatting.number(value), formatting.share(value), formatting.number(value, 6)):
        assert not shows(printed, value * factor)
        assert not shows(printed, -value * factor)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", 8.4),
        ("9", 8),
        ("8.0001", 8),
        ("80%", 8),
        ("1,23", 123),
        ("12,34,567", 1234567),
        ("8 ", 8),
        ("+8", 8),
        ("0x8", 8),
        ("\u0668", 8),
        ("8", "9"),
        ("8", None),
        ("met", False),
        ("100%", 0.9996),
        (">99.9%", 0.99),
        ("\u221e", 1e300),
        ("", 0),
        ("nan", math.nan),
        ("0.5", 0.54),
        ("1e3", 1006.0),
    ],
)
def test_no_other_text_shows_it(text: str, value: object) -> None:
    assert not shows(text, value)


def test_infinity_is_a_sign() -> None:
    assert shows("\u221e", "Infinity")
    assert shows("\u2212\u221e", "-Infinity")
    assert not shows("\u221e", "-Infinity")


def test_a_limit_has_the_words_before_it() -> None:
    assert shows_limit("at least 5", 5) == "at least"
    assert shows_limit("below 5%", 0.05) == "below"
    assert shows_limit("5", 5) is None
    assert shows_limit("at least 6", 5) is None


def test_a_time_is_shown_to_the_minute() -> None:
    when = "2026-11-19T13:15:07+00:00"
    assert shows_time("2026-11-19 13:15 UTC", when)
    assert shows_time(when, when)
    assert not shows_time("2026-11-19 13:16 UTC", when)
    assert shows_time("soon", "soon")


def test_parts_stand_in_their_order() -> None:
    value = {"smallest": 3, "by": {"10 to 20": 4, "rest": 5}}
    assert shows_parts("smallest 3, 10 to 20 4, rest 5", value)
    assert not shows_parts("smallest 4, 10 to 20 3, rest 5", value)
    assert not shows_parts("smallest 3, 10 to 30 4", value)


def test_a_recipe_in_words_has_every_number_by_its_name() -> None:
    recipe = {
        "sanitizer": "mondrian",
        "parameters": {"model": {"k-anonymity": {"k": 5}}, "levels": {"zip": 2}},
    }
    assert shows_recipe("mondrian with k-anonymity (k\u00a0=\u00a05); levels zip 2", recipe)
    for forged in (
        "mondrian with k-anonymity (k = 2); levels zip 5",
        "mondrian, differentially private",
        "mondrian 5",
    ):
        assert not shows_recipe(forged, recipe)


def test_fractions_are_equal_up_to_rounding_and_nothing_else() -> None:
    assert same_value(0.1 + 0.2, 0.3)
    assert not same_value(0.31, 0.3)
    assert not same_value(True, 1)
    assert not same_value("8", 8)
