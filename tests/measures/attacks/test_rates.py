"""Rates of success, and risks made of them."""

from __future__ import annotations

import math

import pytest

from sfumato.measures.attacks.success_rates import advantage, rate, risk


def test_the_interval_of_a_rate_is_wilsons() -> None:
    # the two shares that lie 1.96 standard errors of their own from 3 of 20
    found = rate(3, 20)
    for end in (found.middle - found.reach, found.middle + found.reach):
        assert abs(0.15 - end) == pytest.approx(1.959964 * math.sqrt(end * (1 - end) / 20), rel=1e-5)


def test_risks_are_those_of_anonymeter() -> None:
    # EvaluationResults(n_attacks=100, n_success=60, n_baseline=0, n_control=20).risk().ci of Anonymeter 1.1.0
    found = risk(rate(60, 100), rate(20, 100))
    assert (found.low, found.high) == pytest.approx((0.35854706553904275, 0.6180067392894522), rel=1e-9)


def test_what_also_succeeds_with_outsiders_is_no_risk() -> None:
    assert risk(rate(1000, 1000), rate(1000, 1000)).value == 0
    assert risk(rate(10, 100), rate(30, 100)).value == 0
    assert risk(rate(100, 100), rate(0, 100)).value == 1


def test_whoever_says_the_same_of_everybody_has_no_advantage() -> None:
    found = advantage(rate(100, 100), rate(100, 100))
    assert found.value == found.low == 0
    assert advantage(rate(100, 100), rate(98, 100)).value == pytest.approx(0.02)


def test_without_tries_anything_may_be_true() -> None:
    found = risk(rate(0, 0), rate(0, 0))
    assert (found.value, found.low, found.high) == (0, 0, 1)


def test_the_interval_of_an_advantage_comes_from_those_of_both_rates() -> None:
    inside, outside = rate(60, 100), rate(20, 100)
    found = advantage(inside, outside)
    middle, reach = inside.middle - outside.middle, math.hypot(inside.reach, outside.reach)
    assert (found.value, found.low, found.high) == pytest.approx((0.4, middle - reach, middle + reach))
    assert 0 < found.low < found.value < found.high < 1
    # it holds the value, and lies from 0 to 1
    sure = advantage(rate(1, 1), rate(0, 1000))
    assert sure.value == sure.high == 1
    assert advantage(rate(3, 3), rate(0, 3)).high == 1
    none = advantage(rate(10, 100), rate(30, 100))
    assert (none.value, none.low, none.high) == (0, 0, 0)
