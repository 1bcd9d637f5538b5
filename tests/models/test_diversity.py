"""The diversity models against brute force over the written records."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sfumato import Release, Schema, Table, sanitize
from sfumato.models import (
    ConfidenceBound,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    ProbabilisticDiversity,
    RecursiveDiversity,
)
from sfumato.results.release import holds
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import AsIs

Bound = tuple[Table, Schema]


def counts_by_hand(release: Release) -> list[list[Counter[Any]]]:
    """Return for each class the counts of each sensitive attribute."""
    classes: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record in release.to_arrow().to_pylist():
        key = tuple(record[name] for name in release.schema.quasi_identifiers)
        classes.setdefault(key, []).append(record)
    names = release.schema.sensitive
    return [[Counter(record[name] for record in members) for name in names] for members in classes.values()]


def one_class(*illness: str | None) -> Release:
    table = Table.from_arrow({"age": [1] * len(illness), "ill": list(illness)})
    return sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())


def recursive_by_hand(counts: Counter[Any], c: float, l: int) -> bool:  # noqa: E741
    falling = sorted(counts.values(), reverse=True)
    return l == 1 or falling[0] < Fraction(c) * sum(falling[l - 1 :])


class TestProbabilistic:
    @given(data=st.data())
    @settings(max_examples=40)
    def test_the_score_is_one_over_the_largest_share_of_the_worst_attribute(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
    ) -> None:
        release = sanitize(*data.draw(tiny_tables), AsIs())
        expected = [
            float(min(Fraction(counts.total(), max(counts.values())) for counts in attributes))
            for attributes in counts_by_hand(release)
        ]
        assert sorted(ProbabilisticDiversity().scores(release.groups).tolist()) == sorted(expected)

    @pytest.mark.parametrize("n_values", [2, 3, 5, 6, 7, 10, 49])
    def test_a_share_of_exactly_one_over_l_is_allowed(self, n_values: int) -> None:
        release = one_class(*(f"v{number}" for number in range(n_values) for _ in range(3)))
        assert holds(release, ProbabilisticDiversity(n_values))
        assert not holds(release, ProbabilisticDiversity(n_values + 1e-6))

    @pytest.mark.parametrize(
        ("l", "count", "size"), [(1.1, 10, 11), (1.2, 5, 6), (3.3, 10, 33), (10 / 3, 3, 10)]
    )
    def test_ties_at_real_valued_l_hold(self, l: float, count: int, size: int) -> None:  # noqa: E741
        others = [f"v{number}" for number in range(size - count)]
        assert holds(one_class(*["most"] * count, *others), ProbabilisticDiversity(l))
        assert not holds(one_class(*["most"] * (count + 1), *others[1:]), ProbabilisticDiversity(l))

    def test_missing_values_are_one_value(self) -> None:
        assert ProbabilisticDiversity().level(one_class(None, None, None, "a").groups) == pytest.approx(4 / 3)

    def test_every_sensitive_attribute_must_be_diverse(self) -> None:
        table = Table.from_arrow({"age": [1, 1], "ill": ["a", "b"], "job": ["x", "x"]})
        schema = Schema.of(age="quasi-identifying", ill="sensitive", job="sensitive")
        assert not holds(sanitize(table, schema, AsIs()), ProbabilisticDiversity(2))


class TestDistinct:
    @given(data=st.data())
    @settings(max_examples=40)
    def test_the_score_is_the_number_of_values(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
    ) -> None:
        release = sanitize(*data.draw(tiny_tables), AsIs())
        expected = [min(len(counts) for counts in attributes) for attributes in counts_by_hand(release)]
        assert sorted(DistinctDiversity().scores(release.groups).tolist()) == sorted(expected)

    def test_exactly_l_values_are_enough(self) -> None:
        release = one_class("a", "b", "c", "c")
        assert holds(release, DistinctDiversity(3))
        assert not holds(release, DistinctDiversity(4))


class TestEntropy:
    @given(data=st.data())
    @settings(max_examples=40)
    def test_the_score_is_the_exponential_of_the_entropy(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
    ) -> None:
        release = sanitize(*data.draw(tiny_tables), AsIs())
        expected = [
            min(math.exp(stats.entropy(list(counts.values()))) for counts in attributes)
            for attributes in counts_by_hand(release)
        ]
        assert sorted(EntropyDiversity().scores(release.groups)) == pytest.approx(sorted(expected), rel=1e-12)

    @pytest.mark.parametrize("n_values", [1, 2, 3, 6, 7, 12, 49])
    def test_equally_frequent_values_hold_at_their_number(self, n_values: int) -> None:
        release = one_class(*(f"v{number}" for number in range(n_values) for _ in range(3)))
        assert holds(release, EntropyDiversity(n_values))
        assert not holds(release, EntropyDiversity(n_values + 1e-6))

    def test_is_not_cut_down_to_a_whole_number(self) -> None:
        level = EntropyDiversity().level(one_class("a", "a", "b").groups)
        assert level == pytest.approx(3 / 2 ** (2 / 3))


class TestRecursive:
    @given(data=st.data(), c=st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0]), l=st.integers(1, 4))
    @settings(max_examples=40)
    def test_holds_as_defined(
        self,
        tiny_tables: st.SearchStrategy[Bound],
        data: st.DataObject,
        c: float,
        l: int,  # noqa: E741
    ) -> None:
        release = sanitize(*data.draw(tiny_tables), AsIs())
        expected = all(
            recursive_by_hand(counts, c, l) for attributes in counts_by_hand(release) for counts in attributes
        )
        assert holds(release, RecursiveDiversity(c, l)) is expected

    def test_the_most_frequent_value_comes_first(self) -> None:
        # sorted the other way round, c = 1 would be enough
        release = one_class(*"aaaaaaaaa", "b", "c")
        assert not holds(release, RecursiveDiversity(9, 3))
        assert holds(release, RecursiveDiversity(9.001, 3))

    def test_a_tie_fails(self) -> None:
        assert not holds(one_class("a", "a", "b", "b"), RecursiveDiversity(1, 2))
        assert holds(one_class("a", "a", "b", "b"), RecursiveDiversity(1.01, 2))
        assert not holds(one_class(*"aaa", "b"), RecursiveDiversity(3, 2))

    def test_too_few_values_fail_whatever_c_is(self) -> None:
        assert not holds(one_class("a", "b"), RecursiveDiversity(1e9, 3))
        assert RecursiveDiversity(3, 3).level(one_class("a", "b").groups) == math.inf

    def test_l_of_one_always_holds(self) -> None:
        assert holds(one_class("a", "a", "a"), RecursiveDiversity(0.1, 1))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: ProbabilisticDiversity(0.5), "l must be at least 1, not 0.5"),
        (lambda: ProbabilisticDiversity(math.nan), "l must be at least 1"),
        (lambda: EntropyDiversity(0.99), "l must be at least 1, not 0.99"),
        (lambda: DistinctDiversity(0), "l must be at least 1, not 0"),
        (lambda: RecursiveDiversity(0.0, 2), "c must be above 0, not 0"),
        (lambda: RecursiveDiversity(3.0, 0), "l must be at least 1, not 0"),
    ],
    ids=["probabilistic", "nan", "entropy", "distinct", "c", "recursive"],
)
def test_parameters_that_make_no_sense_are_refused(wrong: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        wrong()


@pytest.mark.parametrize(
    "model", [ProbabilisticDiversity(1), DistinctDiversity(1), EntropyDiversity(1)], ids=str
)
def test_l_of_one_asks_for_nothing(model: PrivacyModel) -> None:
    assert holds(one_class("a", "a"), model)


def test_several_models_must_all_hold() -> None:
    release = one_class("a", "a", "b", "b")
    assert holds(release, KAnonymity(4) & ProbabilisticDiversity(2) & DistinctDiversity(2))
    assert not holds(release, KAnonymity(5) & ProbabilisticDiversity(2))
    assert not holds(release, KAnonymity(4) & ProbabilisticDiversity(2.1))


class TestConfidenceBound:
    def test_a_class_passes_up_to_the_share(self) -> None:
        assert holds(one_class(*"a" * 9, "b"), ConfidenceBound())
        assert not holds(one_class(*"a" * 10, "b"), ConfidenceBound(common=0.95))

    def test_a_value_that_nearly_everybody_has_is_exempt(self) -> None:
        assert holds(one_class(*"a" * 19, "b"), ConfidenceBound())
        assert ConfidenceBound().level(one_class(*"a" * 19, "b").groups) == pytest.approx(0.05)

    def test_a_class_with_one_value_never_passes(self) -> None:
        assert not holds(one_class("a", "a", "a"), ConfidenceBound())
        assert ConfidenceBound().level(one_class("a", "a", "a").groups) == 1.0
