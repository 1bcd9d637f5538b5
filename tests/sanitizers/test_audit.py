"""The audit of differential privacy finds every planted fault, and no fault where there is none."""

from __future__ import annotations

import pytest
from tools.audit_dp import DELTA, FAULTS, audited, detectable, found_at, is_refused, of_count, of_rare_value

# The runs after which each fault is found at the latest; halved noise shows in the tails alone.
ENOUGH = {
    "noise scale halved": 50_000,
    "sensitivity 1 for 2": 20_000,
    "wholeness read from the data": 20,
    "delta dropped": 20,
}


@pytest.mark.parametrize("name", [name for name, runs in ENOUGH.items() if runs < 1_000])
def test_a_gross_fault_is_found_at_once(name: str) -> None:
    found = found_at(name, ENOUGH[name])
    assert found is not None


@pytest.mark.thorough("test_a_gross_fault_is_found_at_once")
@pytest.mark.parametrize("name", [name for name, runs in ENOUGH.items() if runs >= 1_000])
def test_a_small_fault_is_found_by_many_runs(name: str) -> None:
    assert found_at(name, ENOUGH[name]) is not None


def test_every_fault_is_looked_for() -> None:
    assert set(ENOUGH) == set(FAULTS)


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_what_is_claimed_is_not_contradicted(epsilon: float) -> None:
    for sample in (of_count(epsilon), of_rare_value(epsilon)):
        assert audited(sample, 1_000) <= epsilon


def test_a_contradiction_of_the_public_part_is_refused() -> None:
    assert is_refused()


def test_few_runs_cannot_find_a_large_epsilon() -> None:
    # by hand: of 10 runs all against none, each end at 97.5%
    assert detectable(20, 0.0) == pytest.approx(0.808, abs=0.001)
    assert detectable(20, DELTA) < detectable(2_000, DELTA)
