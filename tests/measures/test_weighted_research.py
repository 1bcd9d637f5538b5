"""What researchers count with survey weights: a record of weight w is as good as w records."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Intervals, Schema, Table, measure, sanitize
from sfumato.measures import KLDivergence, QueryError, UtilityLoss
from sfumato.measures.utility.estimation.reconstruction import uniform_estimate
from sfumato.models import KAnonymity
from sfumato.results.linked_release import LinkedRelease
from sfumato.sanitizers import Anatomy, AsIs, FullDomain, SuppressQuasiIdentifiers

Records = list[tuple[int, str, str, int]]
records = st.lists(
    st.tuples(st.integers(0, 9), st.sampled_from("fm"), st.sampled_from("xyz"), st.integers(1, 6)),
    min_size=4,
    max_size=25,
)
ATTRIBUTES = (
    Attribute("age", "quasi-identifying", "numeric", Intervals((2, 4))),
    Attribute("sex", "quasi-identifying"),
    Attribute("ill", "sensitive"),
)
ASKED: list[Any] = [
    UtilityLoss(minimum_support=0.01),
    QueryError(queries=30, dimensions=1, selectivity=0.5),
    KLDivergence(),
    KLDivergence(sensitive=False),
    KLDivergence(reconstruction="maximum-entropy"),
]


def weighted(sample: Records, how: Any) -> LinkedRelease:
    ages, sexes, ills, weights = zip(*sample, strict=True)
    table = Table.from_arrow({"age": ages, "sex": sexes, "ill": ills, "w": weights})
    return sanitize(table, Schema(ATTRIBUTES, survey_weight="w"), how)


def repeated(sample: Records, how: Any) -> LinkedRelease:
    ages, sexes, ills = zip(*((a, s, i) for a, s, i, weight in sample for _ in range(weight)), strict=True)
    return sanitize(Table.from_arrow({"age": ages, "sex": sexes, "ill": ills}), Schema(ATTRIBUTES), how)


@given(records, st.sampled_from([{}, {"age": 1}, {"age": 2, "sex": 1}, {"sex": 1}]))
@settings(max_examples=40)
def test_a_weight_counts_as_so_many_records(sample: Records, levels: dict[str, int]) -> None:
    """A recoding of whole domains is the same for both; a population that is large for one may not be so."""
    pair = [make(sample, FullDomain(levels, KAnonymity(1))) for make in (weighted, repeated)]
    few, many = ([m.value for m in measure(release, ASKED[1:])] for release in pair)
    assert few == [pytest.approx(value, abs=1e-9) for value in many]
    one, other = (uniform_estimate(release, "ill") for release in pair)
    assert one.overall.tolist() == pytest.approx(other.overall.tolist())


@given(records)
@settings(max_examples=40)
def test_publishing_as_is_loses_nothing(sample: Records) -> None:
    assert {m.value for m in measure(weighted(sample, AsIs()), ASKED)} <= {0.0, None}


@given(records)
@settings(max_examples=25)
def test_withholding_all_quasi_identifiers_loses_what_the_baseline_says(sample: Records) -> None:
    for taken in measure(weighted(sample, SuppressQuasiIdentifiers()), ASKED[:3]):
        assert taken.value == pytest.approx(taken.baseline, abs=1e-9)


def test_utility_loss_weighs_the_people_of_a_population() -> None:
    sample: Records = [(1, "f", "x", 9), (1, "m", "y", 1), (6, "f", "y", 5), (6, "m", "x", 5)]
    even: Records = [(age, sex, ill, 1) for age, sex, ill, _ in sample]
    how = FullDomain({"age": 3}, KAnonymity(1))
    few, many, unweighted = (
        measure(release, [UtilityLoss()])[0].value
        for release in (weighted(sample, how), repeated(sample, how), repeated(even, how))
    )
    assert few == pytest.approx(many)
    assert few != pytest.approx(unweighted)


def test_sensitive_values_that_are_exchanged_are_counted_with_their_weights() -> None:
    sample: Records = [(1, "f", "x", 9), (1, "m", "y", 1), (6, "f", "y", 5), (6, "m", "x", 5)]
    release = weighted(sample, Anatomy(2))
    estimate = uniform_estimate(release, "ill")
    assert estimate.weights.sum() == 20
    assert sorted(estimate.overall.tolist()) == pytest.approx([6.0, 14.0])


def test_a_release_that_does_not_know_its_records_is_counted_by_records() -> None:
    sample: Records = [(1, "f", "x", 9), (1, "f", "y", 1), (6, "f", "y", 5), (6, "m", "x", 5)]
    known = weighted(sample, SuppressQuasiIdentifiers())
    even = repeated([(age, sex, ill, 1) for age, sex, ill, _ in sample], SuppressQuasiIdentifiers())
    for asked in (ASKED[0], ASKED[2]):
        by_weight, unknown, counted = (
            measure(release, [asked])[0].value for release in (known, with_unknown_rows(known), even)
        )
        assert unknown == pytest.approx(counted)
        assert unknown != pytest.approx(by_weight)
