"""k-anonymity and (alpha, k)-anonymity against brute force over the written records."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Release, Schema, Table, sanitize
from sfumato.models import AlphaKAnonymity, KAnonymity
from sfumato.results.release import failing_rows, holds
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers import AsIs, FullDomain, Mondrian

Bound = tuple[Table, Schema]
Record = dict[str, Any]


def classes_by_hand(release: Release) -> list[list[Record]]:
    classes: dict[tuple[Any, ...], list[Record]] = {}
    for record in release.to_arrow().to_pylist():
        key = tuple(record[name] for name in release.schema.quasi_identifiers)
        classes.setdefault(key, []).append(record)
    return list(classes.values())


class TestKAnonymity:
    @given(data=st.data())
    @settings(max_examples=40)
    def test_the_score_is_the_number_of_records_of_the_class(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
    ) -> None:
        release = sanitize(*data.draw(tiny_tables), AsIs())
        sizes = [len(members) for members in classes_by_hand(release)]
        assert sorted(KAnonymity().scores(release.classes).tolist()) == sorted(sizes)
        assert KAnonymity().level(release.classes) == min(sizes)

    @given(data=st.data(), k=st.integers(1, 8))
    @settings(max_examples=40)
    def test_holds_when_no_class_is_smaller(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, k: int
    ) -> None:
        release = sanitize(*data.draw(tiny_tables), AsIs())
        sizes = [len(members) for members in classes_by_hand(release)]
        assert holds(release, KAnonymity(k)) is (min(sizes) >= k)
        failing = sum(size for size in sizes if size < k)
        assert int(release.weights[failing_rows(release, KAnonymity(k))].sum()) == failing

    def test_records_count_not_distinct_rows(self) -> None:
        table = Table.from_arrow({"age": [1] * 7 + [2] * 3})
        assert table.n_rows == 2
        release = sanitize(table, Schema.of(age="quasi-identifying"), AsIs())
        assert KAnonymity().level(release.classes) == 3

    def test_exactly_k_is_enough(self) -> None:
        release = sanitize(Table.from_arrow({"age": [1, 1, 1]}), Schema.of(age="quasi-identifying"), AsIs())
        assert holds(release, KAnonymity(3))
        assert not holds(release, KAnonymity(4))

    def test_suppressed_records_are_no_class(self) -> None:
        table = Table.from_arrow({"age": [1, 2, 3, 4, 5, 5]})
        release = sanitize(
            table, Schema.of(age="quasi-identifying"), FullDomain({}, KAnonymity(2), suppression=0.7)
        )
        assert release.classes.sizes.tolist() == [2]
        assert KAnonymity().level(release.classes) == 2

    @pytest.mark.parametrize("k", [0, -3])
    def test_k_is_at_least_one(self, k: int) -> None:
        with pytest.raises(ParameterError, match=f"k must be at least 1, not {k}"):
            KAnonymity(k)

    def test_a_model_stands_once_in_a_requirement(self) -> None:
        with pytest.raises(ParameterError, match="stands twice"):
            KAnonymity(2) & KAnonymity(3)


class TestAlphaKAnonymity:
    @given(data=st.data(), k=st.integers(1, 4), alpha=st.sampled_from([0.25, 0.5, 2 / 3, 1.0]))
    @settings(max_examples=40)
    def test_needs_large_classes_and_no_frequent_value(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, k: int, alpha: float
    ) -> None:
        table, schema = data.draw(tiny_tables)
        release = sanitize(table, schema, AsIs())
        expected = all(
            len(members) >= k
            and all(
                max(Counter(r[name] for r in members).values()) <= alpha * len(members) + 1e-9
                for name in schema.sensitive
            )
            for members in classes_by_hand(release)
        )
        assert holds(release, AlphaKAnonymity(alpha, k)) is expected

    @given(data=st.data(), own=st.sampled_from([0.25, 0.5, 1.0]))
    @settings(max_examples=40)
    def test_a_value_may_have_a_limit_of_its_own(
        self, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, own: float
    ) -> None:
        table, schema = data.draw(tiny_tables)
        release = sanitize(table, schema, AsIs())
        expected = all(
            count <= (own if str(value) == "a" else 0.75) * len(members) + 1e-9
            for members in classes_by_hand(release)
            for name in schema.sensitive
            for value, count in Counter(record[name] for record in members).items()
        )
        assert holds(release, AlphaKAnonymity(0.75, 1, {"a": own})) is expected

    def test_exactly_alpha_is_allowed(self) -> None:
        table = Table.from_arrow({"age": [1] * 10, "ill": ["a"] * 3 + ["b"] * 3 + ["c"] * 3 + ["d"]})
        release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
        assert holds(release, AlphaKAnonymity(0.1 + 0.2, 10))
        assert holds(release, AlphaKAnonymity(0.3, 10))
        assert not holds(release, AlphaKAnonymity(0.29, 10))
        assert not holds(release, AlphaKAnonymity(0.3, 11))

    def test_mondrian_keeps_both_halves_of_it(self, adult: Bound) -> None:
        release = sanitize(*adult, Mondrian(AlphaKAnonymity(0.4, 25)))
        counts = release.classes.sensitive["occupation"]
        assert release.classes.sizes.min() >= 25
        assert (counts.largest(counts.counts) <= 0.4 * counts.sizes).all()
        assert release.classes.n_classes > 100

    def test_more_records_than_there_are_is_infeasible(self, hospital: Bound) -> None:
        with pytest.raises(Infeasible, match="k is 12, the largest possible"):
            sanitize(*hospital, Mondrian(AlphaKAnonymity(1.0, 13)))

    @pytest.mark.parametrize("alpha", [0.0, -0.5, 1.5, float("nan")])
    def test_alpha_is_a_share(self, alpha: float) -> None:
        with pytest.raises(ParameterError, match="alpha must be a share"):
            AlphaKAnonymity(alpha)
        with pytest.raises(ParameterError, match=r"alphas\.flu must be a share"):
            AlphaKAnonymity(0.5, alphas={"flu": alpha})
