"""Estimates, against the joint distribution added up record by record."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.measures.estimation.estimate import Estimate, Mixtures, Spread
from sfumato.measures.estimation.populations import AttributeNodes

CODES = (3, 4, 2)
VALUES = 3


@st.composite
def estimates(draw: st.DrawFn) -> Estimate:
    """Draw a few units over three attributes, with masses that are not even."""
    n_units = draw(st.integers(1, 6))
    masses = st.sampled_from([0.0, 0.5, 1.0, 3.0])

    def spread(n_codes: int) -> Spread:
        sets = draw(
            st.lists(
                st.lists(
                    st.tuples(st.integers(0, n_codes - 1), masses), min_size=1, unique_by=lambda p: p[0]
                ),
                min_size=1,
                max_size=4,
            )
        )
        sets = [[(code, mass if any(m for _, m in each) else 1.0) for code, mass in each] for each in sets]
        labels = draw(st.lists(st.integers(0, len(sets) - 1), min_size=n_units, max_size=n_units))
        return Spread(
            np.array(labels),
            np.cumsum([0] + [len(each) for each in sets]),
            np.array([code for each in sets for code, _ in each]),
            np.array([mass for each in sets for _, mass in each]),
            n_codes,
        )

    mixture_of = np.sort(draw(st.lists(st.integers(0, 2), min_size=n_units, max_size=n_units)))
    shares = draw(st.lists(st.lists(st.integers(1, 5), min_size=3, max_size=3), min_size=3, max_size=3))
    mixtures = Mixtures(np.array([0, 3, 6, 9]), np.tile([0, 1, 2], 3), np.ravel(shares).astype(float), VALUES)
    weights = draw(st.lists(st.integers(1, 9), min_size=n_units, max_size=n_units))
    return Estimate(np.array(weights), tuple(map(spread, CODES)), mixture_of, mixtures)


def joint(estimate: Estimate) -> Any:
    """Return the estimated number of records for every combination of codes and value."""
    total = np.zeros((*CODES, VALUES))
    for unit, weight in enumerate(estimate.weights):
        factors = []
        for spread, n_codes in zip(estimate.spreads, CODES, strict=True):
            factor = np.zeros(n_codes)
            label = spread.label_of[unit]
            for place in range(spread.starts[label], spread.starts[label + 1]):
                factor[spread.codes[place]] += spread.masses[place]
            factors.append(factor / factor.sum())
        mixture = estimate.mixtures.counts.reshape(3, VALUES)[estimate.mixture_of[unit]]
        factors.append(mixture / mixture.sum())
        total += weight * reduce(np.multiply.outer, factors)
    return total


@given(estimate=estimates())
@settings(max_examples=60)
def test_every_combination_gets_what_the_units_put_on_it(estimate: Estimate) -> None:
    expected = joint(estimate)
    rows = np.array(list(np.ndindex(*CODES, VALUES)), dtype=np.int32)
    shuffled = np.random.default_rng(0).permutation(rows)
    found = estimate.on_rows(np.ascontiguousarray(shuffled[:, :-1].T), shuffled[:, -1])
    assert found == pytest.approx(expected[tuple(shuffled.T)], abs=1e-12)
    assert estimate.overall == pytest.approx(expected.sum(axis=(0, 1, 2)))


@given(estimate=estimates(), n_suppressed=st.integers(1, 20))
@settings(max_examples=30)
def test_suppressed_records_may_be_anything(estimate: Estimate, n_suppressed: int) -> None:
    rows = np.array(list(np.ndindex(*CODES, VALUES)), dtype=np.int32)
    found = estimate.with_suppressed(n_suppressed).on_rows(np.ascontiguousarray(rows[:, :-1].T), rows[:, -1])
    values = estimate.overall + 1 / VALUES
    anything = n_suppressed / np.prod(CODES) * values / values.sum()
    assert found == pytest.approx((joint(estimate) + anything)[tuple(rows.T)], abs=1e-12)
    assert found.min() > 0


@given(estimate=estimates())
@settings(max_examples=30)
def test_a_label_that_lies_in_a_node_lies_in_it_exactly(estimate: Estimate) -> None:
    whole = AttributeNodes.of([[np.arange(n_codes, dtype=np.int32)] for n_codes in CODES], list(CODES))
    starts, labels, shares, _ = estimate.shares_in(whole)
    assert np.diff(starts).tolist() == [spread.n_labels for spread in estimate.spreads]
    assert (shares == 1.0).all()
    assert labels.tolist() == [label for spread in estimate.spreads for label in range(spread.n_labels)]
