"""Figures that are fair to all types of release: against brute force, SciPy and scikit-learn."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Release, Schema, Table, measure, sanitize
from sfumato.measures import Measurement
from sfumato.measures.utility.fidelity.association import association
from sfumato.measures.utility.fidelity.single_values import SingleValues, original_records, released_records
from sfumato.models import KAnonymity
from sfumato.results.linked_release import synthetic_release
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import Anatomy, AsIs, Laplace, Mondrian, SuppressQuasiIdentifiers
from sfumato.sanitizers.perturb.changed_records import with_codes

Bound = tuple[Table, Schema]
FAITHFUL = ["propensity", "correlation-difference", "regression-loss", "transfer-loss"]


def people(n_records: int = 600, seed: int = 0) -> Bound:
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n_records)
    town = rng.integers(0, 4, n_records)
    ill = (rng.random(n_records) < age / 80).astype(int) + (town == 3)
    table = Table.from_arrow(
        {"age": age, "town": np.array(list("ABCD"))[town], "ill": np.array(list("xyz"))[ill]}
    )
    schema = Schema.of(age="quasi-identifying", town="quasi-identifying", ill="sensitive")
    return schema.with_assumed_public_part(table).bind(table)


def taken(release: Release, asked: Any) -> Measurement:
    (found,) = measure(release, [asked])
    return found


def value(release: Release, asked: Any) -> float:
    found = taken(release, asked).value
    assert found is not None
    return found


def independent(bound: Bound, n_records: int = 600) -> Release:
    """Return synthetic records of which every attribute is drawn by itself."""
    table, schema = bound
    rng = np.random.default_rng(5)
    return synthetic_release(
        table,
        schema,
        {
            n: with_codes(table[n], rng.choice(table[n].codes, n_records, p=table.weights / table.n_records))
            for n in schema.released
        },
    )


class TestSingleValues:
    def test_what_is_drawn_lies_in_the_released_set(self) -> None:
        table, schema = people()
        release = sanitize(table, schema, Mondrian(KAnonymity(20)))
        drawn = released_records(release, schema.released, 0)
        rows = np.repeat(np.arange(release.n_rows), release.weights)
        for name in schema.quasi_identifiers:
            cells = release.cells[name]
            assert cells.sets is not None
            assert cells.sets.contain(cells.codes[rows], drawn.codes[name]).all()

    def test_values_of_a_set_are_equally_likely(self) -> None:
        table, schema = people(4000)
        release = sanitize(table, schema, SuppressQuasiIdentifiers())
        counts = np.bincount(released_records(release, ["town"], 0).codes["town"])
        assert counts.tolist() == pytest.approx([1000] * 4, rel=0.15)

    def test_sensitive_values_stay_in_their_groups(self) -> None:
        bound = people()
        release = sanitize(*bound, Anatomy(2))
        drawn = released_records(release, ["ill"], 3).codes["ill"]
        rows = np.repeat(np.arange(release.n_rows), release.weights)
        assert release.group_of is not None
        told = Counter(zip(release.group_of[rows], release.cells["ill"].codes[rows], strict=True))
        assert Counter(zip(release.group_of[rows], drawn, strict=True)) == told

    def test_changed_numbers_stay_what_they_are(self) -> None:
        bound = people()
        release = sanitize(*bound, Laplace(0.1, ("age",)))
        drawn = released_records(release, ["age"], 0).numbers["age"]
        rows = np.repeat(np.arange(release.n_rows), release.weights)
        assert drawn.tolist() == [
            float(release.cells["age"].labels[code] or "nan") for code in release.cells["age"].codes[rows]
        ]


class TestKMarginal:
    def test_it_is_nist_s_formula(self) -> None:
        bound = people()
        release = independent(bound, 400)
        true, made = (
            reader(release, bound[1].released, 0) for reader in (original_records, released_records)
        )
        apart = []
        for pair in itertools.combinations(bound[1].released, 2):
            shares = [
                {
                    key: n / side.n_records
                    for key, n in Counter(zip(*(side.codes[x] for x in pair), strict=True)).items()
                }
                for side in (true, made)
            ]
            apart.append(
                sum(abs(shares[0].get(k, 0) - shares[1].get(k, 0)) for k in {*shares[0], *shares[1]})
            )
        score = value(release, {"k-marginal": {"attributes": 2, "bins": 1000}})
        assert score == pytest.approx(500 * (2 - np.mean(apart)))

    def test_numbers_are_cut_at_quantiles(self) -> None:
        bound = people()
        release = independent(bound)
        coarse, fine = (value(release, {"k-marginal": {"attributes": 1, "bins": n}}) for n in (2, 100))
        assert coarse > fine

    def test_too_few_attributes_do_not_apply(self) -> None:
        found = taken(sanitize(*people(), AsIs()), {"k-marginal": {"attributes": 4}})
        assert "4 attributes" in found.detail["reason"]

    @pytest.mark.parametrize("name", ["attributes", "marginals", "bins"])
    def test_parameters_are_checked(self, name: str) -> None:
        with pytest.raises(ParameterError, match=name):
            measure(sanitize(*people(), AsIs()), [{"k-marginal": {name: 0}}])


class TestAssociation:
    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 1000))
    def test_agrees_with_scipy(self, seed: int) -> None:
        from scipy import stats

        rng = np.random.default_rng(seed)
        first, second = rng.integers(0, 3, 60), rng.integers(0, 4, 60)
        number = rng.normal(size=60) + first
        records = SingleValues(
            {"a": first, "b": second, "x": first, "y": second}, {"x": number, "y": number**2}, {}
        )
        counts = np.zeros((3, 4))
        np.add.at(counts, (first, second), 1)
        counts = counts[counts.sum(axis=1) > 0][:, counts.sum(axis=0) > 0]
        assert association(records, "a", "b") == pytest.approx(
            stats.contingency.association(counts.astype(int))
        )
        assert association(records, "x", "y") == pytest.approx(stats.pearsonr(number, number**2).statistic)
        f = stats.f_oneway(*(number[first == code] for code in np.unique(first))).statistic
        n_groups = len(np.unique(first))
        ratio = f * (n_groups - 1) / (f * (n_groups - 1) + 60 - n_groups)
        assert association(records, "a", "x") == pytest.approx(np.sqrt(ratio))


class TestRegression:
    def test_coefficients_are_those_of_scikit_learn(self) -> None:
        from sklearn.linear_model import LinearRegression

        from sfumato.measures.utility.fidelity.regression import _Design

        records = original_records(sanitize(*people(), AsIs()), ("age", "town", "ill"), 0)
        design = _Design.of(records, ["age", "town"], "ill")
        age = records.numbers["age"]
        columns = [(age - age.mean()) / age.std()]
        columns += [records.codes["town"] == code for code in design.categories["town"]]
        outcome = records.codes["ill"] == design.commonest
        fitted = LinearRegression().fit(np.column_stack(columns), outcome)
        found = design.fitted(records).value
        assert found[1:] == pytest.approx(fitted.coef_, abs=1e-5)

    def test_an_unknown_target_is_named_with_a_near_miss(self) -> None:
        with pytest.raises(ParameterError, match=r"'towm'.*did you mean 'town'"):
            measure(sanitize(*people(), AsIs()), [{"regression-loss": {"target": "towm"}}])


class TestAllOfThem:
    @pytest.mark.parametrize("name", FAITHFUL)
    def test_the_original_itself_loses_next_to_nothing(self, name: str) -> None:
        assert value(sanitize(*people(), AsIs()), name) <= 0.03

    @pytest.mark.parametrize("name", FAITHFUL)
    def test_more_is_lost_when_everything_is_withheld_than_with_k_5(self, name: str) -> None:
        bound = people()
        fine, nothing = (
            sanitize(*bound, how) for how in (Mondrian(KAnonymity(5)), SuppressQuasiIdentifiers())
        )
        assert value(fine, name) < value(nothing, name)

    @pytest.mark.parametrize("name", ["correlation-difference", "transfer-loss", "k-marginal"])
    def test_records_without_correlations_reach_the_baseline(self, name: str) -> None:
        found = taken(independent(people(4000), 4000), name)
        assert found.value == pytest.approx(found.baseline, rel=0.35)

    @pytest.mark.parametrize("name", [*FAITHFUL, "k-marginal"])
    def test_they_are_repeatable(self, name: str) -> None:
        release = sanitize(*people(), Mondrian(KAnonymity(10)))
        assert taken(release, name) == taken(release, name)

    def test_a_tree_tells_what_is_far_off(self) -> None:
        assert value(sanitize(*people(), Laplace(0.01, ("age",))), "propensity") > 0.5
