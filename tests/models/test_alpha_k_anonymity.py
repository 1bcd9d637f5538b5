"""(alpha, k)-anonymity: k speaks of classes, alpha of groups, and both must hold."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Recipe, Release, Schema, Table, measure, sanitize
from sfumato.models import AlphaKAnonymity, DistinctDiversity, KAnonymity, ProbabilisticDiversity, TCloseness
from sfumato.results.release import failing_rows, holds
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers import AsIs, Bucketize, FullDomain, Mondrian

Bound = tuple[Table, Schema]
Pairs = list[tuple[int, Any]]

SCHEMA = Schema.of(age="quasi-identifying", ill="sensitive")
PAIRS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["a", "b", "c", None])), min_size=0, max_size=6
).map(lambda pairs: [*pairs, (0, "a"), (1, "b")])


def table_of(pairs: Pairs) -> Table:
    return Table.from_arrow({"age": [age for age, _ in pairs], "ill": [ill for _, ill in pairs]})


def classes_by_hand(release: Release) -> list[Counter[Any]]:
    classes: dict[Any, Counter[Any]] = {}
    for record in release.to_arrow().to_pylist():
        key = tuple(record[name] for name in release.schema.quasi_identifiers)
        classes.setdefault(key, Counter())[record[release.schema.sensitive[0]]] += 1
    return list(classes.values())


def holds_by_hand(classes: list[Counter[Any]], model: AlphaKAnonymity) -> bool:
    return all(
        counts.total() >= model.k
        and all(
            count <= model.alphas.get(value, model.alpha) * counts.total() + 1e-9
            for value, count in counts.items()
        )
        for counts in classes
    )


@st.composite
def models(draw: st.DrawFn) -> AlphaKAnonymity:
    shares = st.sampled_from([0.25, 1 / 3, 0.5, 2 / 3, 0.75, 1.0])
    own = draw(st.dictionaries(st.sampled_from("ab"), shares))
    return AlphaKAnonymity(draw(shares), draw(st.integers(1, 5)), own)


@given(pairs=PAIRS, model=models())
@settings(max_examples=150)
def test_holds_as_defined_with_limits_for_single_values(pairs: Pairs, model: AlphaKAnonymity) -> None:
    release = sanitize(table_of(pairs), SCHEMA, AsIs())
    assert holds(release, model) is holds_by_hand(classes_by_hand(release), model)


@given(pairs=PAIRS, model=models(), variant=st.sampled_from(["strict", "relaxed"]))
@settings(max_examples=150)
def test_mondrian_really_keeps_both(pairs: Pairs, model: AlphaKAnonymity, variant: Any) -> None:
    everybody = Counter(ill for _, ill in pairs)
    if not holds_by_hand([everybody], model):
        with pytest.raises(Infeasible):
            sanitize(table_of(pairs), SCHEMA, Mondrian(model, variant))
        return
    release = sanitize(table_of(pairs), SCHEMA, Mondrian(model, variant))
    assert release.n_records == len(pairs)
    assert holds_by_hand(classes_by_hand(release), model)


@given(pairs=PAIRS, model=models())
@settings(max_examples=60)
def test_suppression_takes_small_classes_and_those_with_a_frequent_value(
    pairs: Pairs, model: AlphaKAnonymity
) -> None:
    good = [
        counts
        for counts in classes_by_hand(sanitize(table_of(pairs), SCHEMA, AsIs()))
        if holds_by_hand([counts], model)
    ]
    how = FullDomain({}, model, suppression=1.0)
    if not good:
        with pytest.raises(Infeasible):
            sanitize(table_of(pairs), SCHEMA, how)
        return
    left = classes_by_hand(sanitize(table_of(pairs), SCHEMA, how))
    assert Counter(frozenset(counts.items()) for counts in left) == Counter(
        frozenset(counts.items()) for counts in good
    )


class TestClassesAndGroups:
    def buckets(self) -> Release:
        """Return eight people, all different, in groups of four with equal shares of a and b."""
        table = table_of([(age, "ab"[age % 2]) for age in range(8)])
        return sanitize(table, SCHEMA, Bucketize(ProbabilisticDiversity(2)))

    def test_k_is_judged_by_the_classes_and_alpha_by_the_groups(self) -> None:
        release = self.buckets()
        assert release.classes.n_classes == 8
        assert release.groups.n_classes < 8
        assert not holds(release, AlphaKAnonymity(0.5, 2))
        assert holds(release, AlphaKAnonymity(0.5, 1))
        assert not holds(release, AlphaKAnonymity(0.49, 1))
        assert failing_rows(release, AlphaKAnonymity(0.5, 2)).all()

    def test_the_level_is_the_largest_share_of_a_group(self) -> None:
        (taken,) = measure(self.buckets(), ["alpha-k-anonymity"])
        assert taken.value == 0.5
        assert taken.better == "lower"

    def test_bucketize_refuses_it_because_of_its_k(self) -> None:
        with pytest.raises(ParameterError, match="k-anonymity cannot hold"):
            sanitize(table_of([(1, "a"), (2, "b")]), SCHEMA, Bucketize(AlphaKAnonymity(0.5, 1)))


class TestConjunctions:
    def test_another_k_beside_it_counts_as_well(self) -> None:
        release = sanitize(table_of([(1, "a"), (1, "b"), (1, "c")]), SCHEMA, AsIs())
        both = KAnonymity(3) & AlphaKAnonymity(0.5, 2)
        assert sorted(part.limit for part in both.parts) == [0.5, 2, 3]
        assert holds(release, both)
        assert not holds(release, KAnonymity(4) & AlphaKAnonymity(0.5, 2))
        assert not holds(release, KAnonymity(2) & AlphaKAnonymity(0.5, 4))

    def test_it_stands_once(self) -> None:
        with pytest.raises(ParameterError, match="stands twice"):
            AlphaKAnonymity(0.5) & AlphaKAnonymity(0.4)

    def test_the_larger_k_holds_on_adult(self, adult: Bound) -> None:
        model = AlphaKAnonymity(0.5, 12) & KAnonymity(30) & TCloseness(0.5) & DistinctDiversity(4)
        classes = classes_by_hand(sanitize(*adult, Mondrian(model)))
        assert min(counts.total() for counts in classes) >= 30
        assert all(max(counts.values()) <= 0.5 * counts.total() for counts in classes)
        assert all(len(counts) >= 4 for counts in classes)


class TestParameters:
    def test_a_recipe_keeps_the_limits_of_single_values(self) -> None:
        how = Mondrian(AlphaKAnonymity(0.5, 3, {"HIV": 0.1, "flu": 1.0}) & DistinctDiversity(2))
        assert Recipe.from_json(Recipe.of(how).to_json()).build() == how

    def test_a_value_of_its_own_limit_ignores_the_common_one(self) -> None:
        release = sanitize(table_of([(1, "a"), (1, "a"), (1, "a"), (1, "b")]), SCHEMA, AsIs())
        assert not holds(release, AlphaKAnonymity(0.5, 1))
        assert holds(release, AlphaKAnonymity(0.5, 1, {"a": 0.75}))
        assert not holds(release, AlphaKAnonymity(0.5, 1, {"a": 0.75, "b": 0.2}))

    def test_a_value_that_nobody_has_is_refused_or_a_slip_would_go_unnoticed(self) -> None:
        table = table_of([(1, "HIV"), (1, "flu"), (2, "flu"), (2, None)])
        model = AlphaKAnonymity(1.0, 1, {"hiv": 0.1})
        for how in (Mondrian(model), FullDomain({}, model, suppression=0.5)):
            with pytest.raises(ParameterError, match="no sensitive attribute has the value 'hiv'"):
                sanitize(table, SCHEMA, how)
        # a missing value is named by nothing
        assert sanitize(table, SCHEMA, Mondrian(AlphaKAnonymity(1.0, 1, {"": 0.5}))).n_records == 4

    def test_an_own_limit_is_a_tie_like_any_other(self) -> None:
        release = sanitize(table_of([(1, "a")] + [(1, "b")] * 9), SCHEMA, AsIs())
        assert holds(release, AlphaKAnonymity(0.9, 1, {"a": 0.1}))
        assert holds(release, AlphaKAnonymity(0.3, 1, {"a": 0.1, "b": 0.9}))
        assert not holds(release, AlphaKAnonymity(0.9, 1, {"a": 0.0999}))

    @pytest.mark.parametrize("k", [0, -1])
    def test_k_is_at_least_one(self, k: int) -> None:
        with pytest.raises(ParameterError, match="k must be at least 1"):
            AlphaKAnonymity(0.5, k)

    @pytest.mark.parametrize("alpha", [0.0, 1.0000001, math.nan, math.inf])
    def test_alpha_is_a_share(self, alpha: float) -> None:
        with pytest.raises(ParameterError, match="alpha must be a share"):
            AlphaKAnonymity(alpha)
