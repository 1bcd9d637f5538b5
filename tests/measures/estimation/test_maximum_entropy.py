"""Reading a release by all that it says: what stays, what is exact, and that it helps on Adult."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Intervals, Schema, Table, sanitize
from sfumato.kernels.distribution_fit import fit_codes, fit_values
from sfumato.measures import KLDivergence, QueryError, UtilityLoss
from sfumato.measures.utility.estimation import maximum_entropy
from sfumato.measures.utility.estimation.estimate import Estimate, Mixtures, Spread
from sfumato.measures.utility.estimation.maximum_entropy import maximum_entropy_estimate
from sfumato.measures.utility.estimation.reconstruction import true_estimate, uniform_estimate
from sfumato.models import DistinctDiversity, KAnonymity, ProbabilisticDiversity, TCloseness
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.errors import Infeasible
from sfumato.sanitizers import (
    Anatomy,
    AsIs,
    Bucketize,
    CellSuppression,
    FullDomain,
    Mondrian,
    SuppressQuasiIdentifiers,
)

Bound = tuple[Table, Schema]


def releases(bound: Bound) -> list[LinkedRelease]:
    table, schema = bound
    k = min(2, table.n_records)
    ways: list[Any] = [
        AsIs(),
        SuppressQuasiIdentifiers(),
        Mondrian(KAnonymity(k)),
        CellSuppression(KAnonymity(k)),
        Bucketize(DistinctDiversity(2)),
    ]
    made = []
    for how in ways:
        try:
            made.append(sanitize(table, schema, how))
        except Infeasible:
            continue
    return made


def joint(estimate: Estimate) -> Any:
    """Return the estimated number of records of every combination."""
    shape = (*(spread.n_codes for spread in estimate.spreads), estimate.mixtures.n_values)
    places = np.array(list(np.ndindex(*shape)), dtype=np.int32)
    return estimate.on_rows(np.ascontiguousarray(places[:, :-1].T), places[:, -1]).reshape(shape)


@given(data=st.data())
@settings(max_examples=25)
def test_classes_and_groups_keep_their_counts(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    bound = data.draw(tiny_tables)
    name = bound[1].sensitive[0]
    for release in releases(bound):
        uniform = uniform_estimate(release, name)
        found = maximum_entropy_estimate(uniform)
        assert found.weights.min() >= 0
        assert found.weights.sum() == pytest.approx(release.n_records)
        assert found.overall == pytest.approx(uniform.overall, abs=1e-6)
        if release.group_of is None:
            estimated = joint(found)
            for box, counts in boxes_of_classes(release, name):
                inside = estimated[np.ix_(*box)].reshape(-1, len(counts)).sum(axis=0)
                assert (inside >= counts - 1e-9).all()
        else:
            # quasi-identifiers are exact: as many records of each combination as are released
            assert joint(found).sum(axis=-1) == pytest.approx(joint(uniform).sum(axis=-1), abs=1e-6)


def boxes_of_classes(release: LinkedRelease, name: str) -> Any:
    """Yield for each class the codes that its cells may stand for, and how often each value occurs."""
    for number in range(release.classes.n_classes):
        rows = np.flatnonzero(release.classes.class_of == number)
        box = []
        for attribute in release.schema.quasi_identifiers:
            cells = release.cells[attribute]
            assert cells.sets is not None
            label = cells.codes[rows[0]]
            box.append(cells.sets.members[cells.sets.starts[label] : cells.sets.starts[label + 1]])
        counts = np.zeros(len(release.origin.table[name].domain))
        np.add.at(counts, release.cells[name].codes[rows], release.weights[rows])
        yield box, counts


@given(data=st.data())
@settings(max_examples=25)
def test_exact_releases_are_read_exactly_and_withheld_ones_evenly(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    table, schema = data.draw(tiny_tables)
    name = schema.sensitive[0]
    truth = joint(true_estimate(table, schema, name))
    as_is = maximum_entropy_estimate(uniform_estimate(sanitize(table, schema, AsIs()), name))
    assert (joint(as_is) == truth).all()
    withheld = uniform_estimate(sanitize(table, schema, SuppressQuasiIdentifiers()), name)
    assert joint(maximum_entropy_estimate(withheld)) == pytest.approx(joint(withheld), abs=1e-9)


def test_a_full_domain_recoding_says_nothing_beyond_its_cells(adult: Bound) -> None:
    levels = {"age": 2, "workclass": 1, "education": 2, "marital-status": 1, "race": 1}
    release = sanitize(*adult, FullDomain(levels, KAnonymity(5), suppression=0.1))
    for measured in (UtilityLoss, QueryError):
        (uniform,) = measured().measure(release)
        (refined,) = measured(reconstruction="maximum-entropy").measure(release)
        assert refined.value == pytest.approx(uniform.value, rel=1e-9)


def one_attribute(sets: list[list[int]], values: list[int], weights: list[int], n_codes: int) -> Estimate:
    """Build the reading of classes with one value each."""
    n_values = max(values) + 1
    order = np.argsort(values, kind="stable")
    spread = Spread(
        order,
        np.cumsum([0] + [len(each) for each in sets]),
        np.concatenate(sets),
        np.ones(sum(map(len, sets))),
        n_codes,
    )
    mixtures = Mixtures(np.arange(len(sets) + 1), np.array(values)[order], np.ones(len(sets)), n_values)
    return Estimate(np.array(weights)[order], (spread,), np.arange(len(sets)), mixtures)


class TestByHand:
    def test_a_coarse_cell_follows_the_finer_ones(self) -> None:
        # of the exact records three quarters have code 0: so have those of which nothing is known
        estimate = one_attribute([[0], [1], [0, 1]], [0, 0, 0], [300_000, 100_000, 40_000], 2)
        found = joint(maximum_entropy_estimate(estimate))[:, 0]
        assert found == pytest.approx([330_000, 110_000], rel=1e-4)

    def test_overlapping_cells_are_told_apart(self) -> None:
        # hardly any record is exactly 0 or 2, so those of {0, 1} and of {1, 2} must be where both meet
        estimate = one_attribute([[0, 1], [1, 2], [0], [2]], [0] * 4, [400_000, 600_000, 100, 100], 3)
        found = joint(maximum_entropy_estimate(estimate))[:, 0]
        assert found[1] > 0.95 * 1_000_000

    def test_sensitive_values_have_distributions_of_their_own(self) -> None:
        sets = [[0], [1], [0, 1], [0], [1], [0, 1]]
        estimate = one_attribute(
            sets, [0, 0, 0, 1, 1, 1], [900_000, 100_000, 1000, 100_000, 900_000, 1000], 2
        )
        found = joint(maximum_entropy_estimate(estimate))
        assert found[:, 0] == pytest.approx([900_900, 100_100], rel=1e-3)
        assert found[:, 1] == pytest.approx([100_100, 900_900], rel=1e-3)

    def test_an_attribute_that_needs_too_much_is_not_told_apart(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(maximum_entropy, "_LARGEST", 1)
        sets = [[0], [1], [0, 1], [0], [1], [0, 1]]
        estimate = one_attribute(
            sets, [0, 0, 0, 1, 1, 1], [900_000, 100_000, 1000, 100_000, 900_000, 1000], 2
        )
        found = joint(maximum_entropy_estimate(estimate))
        assert found[:, 0] == pytest.approx([900_500, 100_500], rel=1e-3)

    @pytest.mark.parametrize(("largest", "first"), [(8, 900_900), (7, 900_500)])
    def test_so_many_numbers_are_not_too_much(
        self, largest: int, first: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        # each of two values is seen with sets of 1, 1 and 2 codes
        monkeypatch.setattr(maximum_entropy, "_LARGEST", largest)
        sets = [[0], [1], [0, 1], [0], [1], [0, 1]]
        weights = [900_000, 100_000, 1000, 100_000, 900_000, 1000]
        found = joint(maximum_entropy_estimate(one_attribute(sets, [0, 0, 0, 1, 1, 1], weights, 2)))
        assert found[0, 0] == pytest.approx(first, abs=20)

    def test_a_coarse_attribute_is_read_beside_an_exact_one(self) -> None:
        coarse = one_attribute([[0], [1], [0, 1]], [0, 0, 0], [300_000, 100_000, 40_000], 2)
        exact = Spread.of_codes(np.zeros(3, dtype=np.int32), 1)
        both = Estimate(coarse.weights, (*coarse.spreads, exact), coarse.mixture_of, coarse.mixtures)
        found = joint(maximum_entropy_estimate(both))[:, 0, 0]
        assert found == pytest.approx([330_000, 110_000], rel=1e-4)

    def test_a_class_of_twenty_five_is_followed_by_half(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[Any] = []

        def fitted(*facts: Any) -> Any:
            asked.append(facts)
            return fit_codes(*facts)

        monkeypatch.setattr(maximum_entropy, "fit_codes", fitted)
        maximum_entropy_estimate(one_attribute([[0], [1], [0, 1]], [0, 0, 0], [25, 75, 225], 2))
        (facts,) = asked
        amounts, followed = (dict(zip(facts[2].tolist(), each.tolist(), strict=True)) for each in facts[4:6])
        assert amounts == {0: 25, 1: 75, 2: 225}
        assert followed == pytest.approx({0: 12.5, 1: 56.25, 2: 202.5})
        # rounds, and the records of doubt
        assert facts[-3:] == (20, 100.0, 50.0)

    def test_groups_are_fitted_in_as_many_rounds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        asked: list[Any] = []

        def fitted(*facts: Any) -> Any:
            asked.append(facts)
            return fit_values(*facts)

        monkeypatch.setattr(maximum_entropy, "fit_values", fitted)
        spread = Spread(np.array([0, 1, 0]), np.array([0, 1, 2]), np.array([0, 1]), np.ones(2), 2)
        mixtures = Mixtures(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([6.0, 2.0, 4.0]), 2)
        estimate = Estimate(np.array([4, 4, 4]), (spread,), np.array([0, 0, 1]), mixtures)
        maximum_entropy_estimate(estimate)
        (facts,) = asked
        labels, firsts, of_profile, profile_of, weights, starts, values, places, amounts, totals, prior = (
            facts[:11]
        )
        assert firsts.tolist() == [0, 2]
        assert (labels.tolist(), of_profile.tolist(), profile_of.tolist()) == ([[0, 1]], [8, 4], [0, 1, 0])
        assert (weights.tolist(), starts.tolist()) == ([4, 4, 4], [0, 2, 4, 5])
        assert (values.tolist(), places.tolist()) == ([0, 1, 0, 1, 1], [0, 1, 0, 1, 2])
        assert (amounts.tolist(), totals.tolist()) == ([3, 1, 3, 1, 4], [6, 2, 4])
        assert (prior.tolist(), facts[11:]) == ([0.5, 0.5], (20, 100.0))

    def test_units_with_the_same_exact_values_are_one(self) -> None:
        spread = Spread.of_codes(np.array([1, 0, 1]), 2)
        mixtures = Mixtures(np.arange(4), np.array([0, 1, 2]), np.ones(3), 3)
        found = maximum_entropy_estimate(Estimate(np.array([4, 5, 6]), (spread,), np.arange(3), mixtures))
        assert (found.n_units, found.weights.tolist(), found.mixture_of.tolist()) == (2, [10, 5], [0, 1])
        assert found.spreads[0].label_of.tolist() == [1, 0]
        assert (found.mixtures.values.tolist(), found.mixtures.counts.tolist()) == ([0, 2, 1], [4, 6, 5])
        assert found.mixtures.starts.tolist() == [0, 2, 3]

    def test_units_with_the_same_exact_values_and_the_same_value_are_one_entry(self) -> None:
        spread = Spread.of_codes(np.array([0, 0, 1]), 2)
        mixtures = Mixtures(np.arange(4), np.array([1, 1, 0]), np.ones(3), 2)
        found = maximum_entropy_estimate(Estimate(np.array([4, 5, 6]), (spread,), np.arange(3), mixtures))
        assert (found.weights.tolist(), found.mixtures.starts.tolist()) == ([9, 6], [0, 1, 2])
        assert (found.mixtures.values.tolist(), found.mixtures.counts.tolist()) == ([1, 0], [9, 6])

    @pytest.mark.parametrize(
        ("mixture_of", "mixtures"),
        [
            # one value in a group of two units; two values, every unit a group
            ([0, 0], Mixtures(np.array([0, 1]), np.array([0]), np.array([8.0]), 1)),
            ([0, 1], Mixtures(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.array([1.0, 2, 2, 3]), 2)),
        ],
    )
    def test_where_every_unit_is_known_nothing_is_divided(
        self, mixture_of: list[int], mixtures: Mixtures, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def divided(*facts: Any) -> Any:
            pytest.fail("there is nothing to divide")

        monkeypatch.setattr(maximum_entropy, "fit_values", divided)
        spread = Spread.of_codes(np.array([1, 0]), 2)
        estimate = Estimate(np.array([3, 5]), (spread,), np.array(mixture_of), mixtures)
        assert (joint(maximum_entropy_estimate(estimate)) == joint(estimate)).all()

    def test_units_stand_by_their_values_and_else_as_before(self) -> None:
        n = 60
        spread = Spread(np.zeros(n, dtype=np.int32), np.array([0, 2]), np.array([0, 1]), np.ones(2), 2)
        mixtures = Mixtures(np.arange(n + 1), np.arange(n) % 2, np.ones(n), 2)
        found = maximum_entropy_estimate(Estimate(np.arange(1.0, n + 1), (spread,), np.arange(n), mixtures))
        assert found.weights.tolist() == [*range(1, n, 2), *range(2, n + 1, 2)]
        assert found.mixture_of.tolist() == [0] * 30 + [1] * 30
        assert (found.mixtures.starts.tolist(), found.mixtures.values.tolist()) == ([0, 1, 2], [0, 1])
        assert found.mixtures.counts.tolist() == [1, 1]

    def test_cells_that_are_all_coarse_are_told_apart(self) -> None:
        # where both cells meet, one value explains every record
        estimate = one_attribute([[0, 1], [1, 2]], [0, 0], [400_000, 600_000], 3)
        assert joint(maximum_entropy_estimate(estimate))[1, 0] > 0.95 * 1_000_000

    def test_an_exact_attribute_stays_as_it_is_beside_a_coarse_one(self) -> None:
        coarse = one_attribute([[0], [1], [0, 1]], [0, 0, 0], [30, 10, 40], 2)
        exact = Spread(np.array([2, 0, 2]), np.arange(4), np.array([2, 1, 0]), np.array([1.0, 2, 3]), 3)
        both = Estimate(coarse.weights, (*coarse.spreads, exact), coarse.mixture_of, coarse.mixtures)
        _, found = maximum_entropy_estimate(both).spreads
        assert (found.label_of.tolist(), found.starts.tolist()) == ([2, 0, 2], [0, 1, 2, 3])
        assert (found.codes.tolist(), found.masses.tolist()) == ([2, 1, 0], [1, 2, 3])

    def test_groups_that_differ_tell_who_has_what(self) -> None:
        # one group of mostly a with mostly x, one of mostly b with mostly y: a goes with x in both
        labels = np.array([0, 1, 0, 1])
        spread = Spread(labels, np.array([0, 1, 2]), np.array([0, 1]), np.ones(2), 2)
        counts = np.array([9000.0, 1000.0, 1000.0, 9000.0])
        mixtures = Mixtures(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), counts, 2)
        weights = np.array([9000, 1000, 1000, 9000])
        estimate = Estimate(weights, (spread,), np.array([0, 0, 1, 1]), mixtures)
        uniform, found = joint(estimate), joint(maximum_entropy_estimate(estimate))
        assert uniform[0, 0] == pytest.approx(8200)
        assert found[0, 0] > 9500
        assert found.sum(axis=0) == pytest.approx([10_000, 10_000])
        assert found.sum(axis=1) == pytest.approx([10_000, 10_000])

    def test_groups_that_are_alike_tell_nothing(self) -> None:
        labels = np.array([0, 1, 0, 1])
        spread = Spread(labels, np.array([0, 1, 2]), np.array([0, 1]), np.ones(2), 2)
        mixtures = Mixtures(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.array([6.0, 4.0, 6.0, 4.0]), 2)
        estimate = Estimate(np.array([5, 5, 5, 5]), (spread,), np.array([0, 0, 1, 1]), mixtures)
        assert joint(maximum_entropy_estimate(estimate)) == pytest.approx(joint(estimate))


IMPROVED: dict[str, tuple[Any, float]] = {
    "mondrian k=10": (Mondrian(KAnonymity(10)), 0.5),
    "mondrian k=50": (Mondrian(KAnonymity(50), borders="tight"), 0.25),
    "mondrian relaxed k=10": (Mondrian(KAnonymity(10), variant="relaxed"), 0.35),
    "mondrian l=3": (Mondrian(ProbabilisticDiversity(3)), 0.35),
    "mondrian js=0.1": (Mondrian(TCloseness(0.1, "js")), 0.6),
    "cell suppression k=5": (CellSuppression(KAnonymity(5)), 0.85),
    "bucketize l=3": (Bucketize(ProbabilisticDiversity(3)), 0.25),
    "bucketize js=0.1": (Bucketize(TCloseness(0.1, "js")), 0.3),
    "anatomy l=3": (Anatomy(3), 0.6),
}


@pytest.mark.thorough("its first release", but=2)
@pytest.mark.parametrize("name", IMPROVED)
def test_it_estimates_adult_better(name: str, adult: Bound) -> None:
    how, factor = IMPROVED[name]
    release = sanitize(*adult, how)
    for measured, most in ((UtilityLoss, factor), (QueryError, 0.75)):
        (uniform,) = measured().measure(release)
        (refined,) = measured(reconstruction="maximum-entropy").measure(release)
        assert uniform.value is not None
        assert refined.value is not None
        assert refined.value < most * uniform.value


def test_redundant_attributes_are_not_counted_twice() -> None:
    # education-num repeats education: a model that took both for evidence would believe too much
    from sfumato.reading import datasets

    names = ("age", "education", "education-num", "marital-status", "relationship", "sex")
    release = sanitize(*datasets.adult("train", quasi_identifiers=names), Bucketize(TCloseness(0.1, "js")))
    (uniform,) = UtilityLoss().measure(release)
    (refined,) = UtilityLoss(reconstruction="maximum-entropy").measure(release)
    assert uniform.value is not None
    assert refined.value is not None
    assert refined.value < 0.5 * uniform.value


def test_where_the_uniform_assumption_is_the_truth_little_is_spoilt() -> None:
    # even and independent values in small classes: nothing can be learned, but much could be imagined
    rng = np.random.default_rng(0)
    n = 5000
    people = {f"q{place}": rng.integers(0, 30, n) for place in range(4)} | {
        "s": rng.choice(list("abcdef"), n)
    }
    numbers = [
        Attribute(f"q{place}", "quasi-identifying", "numeric", Intervals((5, 10))) for place in range(4)
    ]
    schema = Schema((*numbers, Attribute("s", "sensitive")))
    release = sanitize(Table.from_arrow(people), schema, Mondrian(KAnonymity(10), borders="tight"))
    for measured, most in ((UtilityLoss, 1.2), (KLDivergence, 1.05)):
        (uniform,) = measured().measure(release)
        (refined,) = measured(reconstruction="maximum-entropy").measure(release)
        assert uniform.value is not None
        assert refined.value is not None
        assert refined.value < most * uniform.value
