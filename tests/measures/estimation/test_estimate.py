"""Estimates, against the joint distribution added up record by record."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.measures.utility.estimation import estimate as module
from sfumato.measures.utility.estimation.estimate import Estimate, Mixtures, Spread
from sfumato.measures.utility.estimation.subpopulations import AttributeNodes, Populations

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


def frozen_as(arrays: dict[str, Any], expected: dict[str, Any]) -> None:
    """Every array has its type, whatever was given, and cannot be written to."""
    for name, dtype in expected.items():
        assert arrays[name].dtype == dtype, name
        assert not arrays[name].flags.writeable, name


# two units: the first is 0 or 1 (three times as likely), the second is 2; both with the first mixture
SPREAD = Spread([1, 0], [0, 1, 3], [2, 0, 1], [2, 1, 3], 3)  # type: ignore[arg-type]
MIXTURES = Mixtures([0, 2, 3], [0, 2, 1], [1, 3, 5], 3)  # type: ignore[arg-type]


class TestByHand:
    def test_arrays_are_of_one_type_and_read_only(self) -> None:
        types = {"label_of": np.int32, "starts": np.int64, "codes": np.int32, "masses": np.float64}
        frozen_as(vars(SPREAD), types)
        frozen_as(vars(MIXTURES), {"starts": np.int64, "values": np.int32, "counts": np.float64})
        estimate = Estimate([4, 6], (SPREAD,), [0, 1], MIXTURES)  # type: ignore[arg-type]
        frozen_as(vars(estimate), {"weights": np.float64, "mixture_of": np.int64})
        assert not any(each.flags.writeable for each in (estimate.labels, estimate.overall, SPREAD.totals))

    def test_lists_become_arrays_and_numbers_of_another_type_are_converted(self) -> None:
        spread = Spread([1, 0], [0, 1, 3], [2, 0, 1], [2, 1, 3], 3)  # type: ignore[arg-type]
        frozen_as(
            vars(spread), {"label_of": np.int32, "starts": np.int64, "codes": np.int32, "masses": np.float64}
        )
        mixtures = Mixtures([0, 2, 3], [0, 2, 1], [1, 3, 5], 3)  # type: ignore[arg-type]
        frozen_as(vars(mixtures), {"starts": np.int64, "values": np.int32, "counts": np.float64})
        assert mixtures.first_values == (0, 3)

    def test_labels_have_masses(self) -> None:
        assert (SPREAD.n_labels, SPREAD.totals.tolist()) == (2, [2, 4])
        assert SPREAD.take(np.array([1, 1, 0])).label_of.tolist() == [0, 0, 1]
        exact = Spread.of_codes(np.array([2, 0]), 3)
        assert exact.label_of.tolist() == [2, 0]
        assert [exact.starts.tolist(), exact.codes.tolist(), exact.masses.tolist()] == [
            [0, 1, 2, 3],
            [0, 1, 2],
            [1, 1, 1],
        ]

    def test_one_more_label_may_be_anything(self) -> None:
        more = SPREAD.with_anything()
        assert more.label_of.tolist() == [1, 0, 2]
        assert more.starts.tolist() == [0, 1, 3, 6]
        assert (more.codes.tolist(), more.masses.tolist()) == ([2, 0, 1, 0, 1, 2], [2, 1, 3, 1, 1, 1])
        assert more.n_codes == 3

    def test_mixtures_of_several_attributes_stand_beside_one_another(self) -> None:
        other = Mixtures(np.array([0, 1, 3]), np.array([1, 0, 1]), np.array([4.0, 2, 3]), 2)
        both = Mixtures.beside([MIXTURES, other])
        # the values of the second attribute are numbered from 3
        assert both.starts.tolist() == [0, 3, 6]
        assert both.values.tolist() == [0, 2, 4, 1, 3, 4]
        assert both.counts.tolist() == [1, 3, 4, 5, 2, 3]
        assert (both.n_values, both.first_values, MIXTURES.first_values) == (5, (0, 3, 5), (0, 3))
        assert both.totals.tolist() == MIXTURES.totals.tolist() == [4, 5]

    def test_each_unit_has_the_values_of_its_mixture(self) -> None:
        estimate = Estimate(
            np.array([8, 4, 10]), (SPREAD.take(np.array([0, 1, 1])),), np.array([0, 0, 1]), MIXTURES
        )
        units, places, amounts = estimate.entries
        assert units.tolist() == [0, 0, 1, 1, 2]
        assert places.tolist() == [0, 1, 0, 1, 2]
        assert amounts.tolist() == [2, 6, 1, 3, 10]
        assert estimate.overall.tolist() == [3, 10, 9]
        assert estimate.n_units == 3

    def test_suppressed_records_are_one_more_unit_with_a_mixture_of_its_own(self) -> None:
        estimate = Estimate(np.array([4.0, 5.0]), (SPREAD,), np.array([0, 1]), MIXTURES)
        more = estimate.with_suppressed(2)
        assert (more.weights.tolist(), more.mixture_of.tolist()) == ([4, 5, 2], [0, 1, 2])
        assert more.spreads[0].label_of.tolist() == [1, 0, 2]
        mixtures = more.mixtures
        assert (mixtures.starts.tolist(), mixtures.values.tolist()) == ([0, 2, 3, 6], [0, 2, 1, 0, 1, 2])
        # one, five and three have each value, and so has a third of one more
        assert mixtures.counts.tolist() == pytest.approx([1, 3, 5, 4 / 3, 16 / 3, 10 / 3])
        assert (mixtures.n_values, mixtures.first_values) == (3, (0, 3))

    def test_labels_of_all_attributes_stand_behind_one_another(self) -> None:
        other = Spread.of_codes(np.array([1, 0]), 2)
        estimate = Estimate(np.ones(2), (SPREAD, other), np.array([0, 0]), MIXTURES)
        starts, firsts, codes, masses, totals, runs = estimate.all_labels
        assert (starts.tolist(), firsts.tolist()) == ([0, 1, 3, 4, 5], [0, 2, 4])
        assert (codes.tolist(), masses.tolist(), totals.tolist()) == (
            [2, 0, 1, 0, 1],
            [2, 1, 3, 1, 1],
            [2, 4, 1, 1],
        )
        assert len(runs) == 4
        assert estimate.labels.tolist() == [[1, 0], [1, 0]]

    def test_values_of_the_first_attribute_stand_before_those_of_the_second_in_every_mixture(self) -> None:
        starts, values = np.arange(0, 61, 20), np.tile(np.arange(20), 3)
        first, second = (Mixtures(starts, values, np.arange(begin, begin + 60), 20) for begin in (1.0, 101.0))
        both = Mixtures.beside([first, second])
        assert both.values.tolist() == list(range(40)) * 3
        assert both.counts.tolist() == [
            begin + 20 * mixture + value for mixture in range(3) for begin in (1, 101) for value in range(20)
        ]

    def test_nodes_know_which_labels_reach_into_them(self) -> None:
        other = Spread.of_codes(np.array([1, 0]), 3)
        estimate = Estimate(np.ones(2), (SPREAD, other), np.array([0, 0]), MIXTURES)
        sets = [[np.array([0]), np.array([0, 2])], [np.array([1, 2])]]
        nodes = AttributeNodes.of([[each.astype(np.int32) for each in of] for of in sets], [3, 3])
        starts, labels, shares, n_labels = estimate.shares_in(nodes)
        assert (starts.tolist(), labels.tolist()) == ([0, 1, 3, 5], [1, 0, 1, 1, 2])
        assert shares.tolist() == [0.25, 1, 0.25, 1, 1]
        # the first attribute has two labels, the second three
        assert n_labels == 3

    @pytest.mark.parametrize(("n_values", "most"), [(2, 65_536), (8192, 32)])
    def test_a_block_has_131072_numbers_or_32_lines(self, n_values: int, most: int) -> None:
        mixtures = Mixtures(np.array([0, 1]), np.array([1]), np.array([1.0]), n_values)
        estimate = Estimate(np.array([7.0]), (Spread.of_codes(np.array([0]), 1),), np.array([0]), mixtures)
        nodes = AttributeNodes.of([[np.array([0], dtype=np.int32)]], [1])
        ones = np.ones(most + 1, dtype=np.int64)
        found = list(estimate.in_populations(Populations(nodes, ones, 0 * ones, ones)))
        assert [len(each) for each in found] == [most, 1]
        assert all((each[:, 1] == 7).all() for each in found)

    @pytest.mark.parametrize(
        ("block", "least", "sizes"), [(1 << 17, 32, [5]), (6, 1, [2, 2, 1]), (6, 3, [3, 2])]
    )
    def test_populations_are_counted_in_blocks_of_any_size(
        self, block: int, least: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "_BLOCK", block)
        monkeypatch.setattr(module, "_LEAST_LINES", least)
        other = Spread.of_codes(np.array([1, 0]), 2)
        estimate = Estimate(np.array([8.0, 5.0]), (SPREAD, other), np.array([0, 1]), MIXTURES)
        sets = [[np.array([0]), np.array([0, 2])], [np.array([0]), np.array([1])]]
        nodes = AttributeNodes.of([[each.astype(np.int32) for each in of] for of in sets], [3, 2])
        # 0; 0 and the second code of the other; 0 or 2; that and the first; the second
        depths, last = np.array([1, 2, 1, 2, 1]), np.array([0, 3, 1, 2, 3])
        found = list(estimate.in_populations(Populations(nodes, depths, last, depths)))
        assert [len(each) for each in found] == sizes
        # of the eight a quarter is 0, and has the second code; the five are 2 with the first
        eight, five = np.array([0.25, 0, 0.75]), np.array([0, 1.0, 0])
        expected = [2 * eight, 2 * eight, 2 * eight + 5 * five, 5 * five, 8 * eight]
        assert np.concatenate(found) == pytest.approx(np.array(expected))
