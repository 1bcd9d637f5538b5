"""Distinct, entropy and recursive diversity: ties, orders, and the papers' and peers' examples."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Release, Schema, Table, sanitize
from sfumato.models import (
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    ProbabilisticDiversity,
    RecursiveDiversity,
)
from sfumato.results.release import holds
from sfumato.runtime.errors import Infeasible
from sfumato.sanitizers import AsIs, FullDomain, Mondrian

Bound = tuple[Table, Schema]

SCHEMA = Schema.of(age="quasi-identifying", ill="sensitive")


def release_of(*classes: list[int]) -> Release:
    """Return a release of classes with these counts of the values v0, v1, …."""
    pairs = [
        (age, f"v{value}")
        for age, counts in enumerate(classes)
        for value, count in enumerate(counts)
        for _ in range(count)
    ]
    table = Table.from_arrow({"age": [age for age, _ in pairs], "ill": [ill for _, ill in pairs]})
    return sanitize(table, SCHEMA, AsIs())


COUNTS = st.lists(st.integers(0, 4), min_size=1, max_size=5).filter(any)


class TestDistinct:
    @given(classes=st.lists(COUNTS, min_size=1, max_size=3))
    @settings(max_examples=60)
    def test_counts_the_values_of_the_poorest_class(self, classes: list[list[int]]) -> None:
        release = release_of(*classes)
        least = min(sum(count > 0 for count in counts) for counts in classes)
        assert DistinctDiversity().level(release.groups) == least
        assert holds(release, DistinctDiversity(least))
        assert not holds(release, DistinctDiversity(least + 1))

    def test_how_often_a_value_occurs_does_not_matter(self) -> None:
        assert holds(release_of([1000, 1, 1]), DistinctDiversity(3))
        assert not holds(release_of([1000, 1, 1]), ProbabilisticDiversity(1.01))

    def test_more_values_than_there_are_is_infeasible_and_says_how_many_there_are(self) -> None:
        table = Table.from_arrow({"age": [1, 2, 3], "ill": ["a", "b", "b"]})
        with pytest.raises(Infeasible, match="l is 2, the largest possible") as caught:
            sanitize(table, SCHEMA, Mondrian(DistinctDiversity(3)))
        assert caught.value.reached == 2


class TestEntropy:
    @pytest.mark.parametrize("n_values", [1, 2, 3, 5, 6, 7, 10, 11, 13, 49, 97, 200, 1000, 3000])
    @pytest.mark.parametrize("each", [1, 3])
    def test_equally_frequent_values_are_a_tie_at_their_number_however_many(
        self, n_values: int, each: int
    ) -> None:
        release = release_of([each] * n_values)
        assert holds(release, EntropyDiversity(float(n_values)))
        assert not holds(release, EntropyDiversity(n_values * (1 + 1e-9)))

    @given(counts=COUNTS)
    def test_is_never_above_the_number_of_values_nor_below_one_over_the_largest_share(
        self, counts: list[int]
    ) -> None:
        groups = release_of(counts).groups
        entropy, distinct, probabilistic = (
            model.level(groups)
            for model in (EntropyDiversity(), DistinctDiversity(), ProbabilisticDiversity())
        )
        assert probabilistic - 1e-12 <= entropy <= distinct + 1e-12

    def test_the_whole_table_bounds_what_can_be_reached(self) -> None:
        # Machanavajjhala et al. 2006: the entropy of the whole table must be at least log l
        table = Table.from_arrow({"age": [1, 1, 2, 2], "ill": list("aaab")})
        reached = math.exp(-(0.75 * math.log(0.75) + 0.25 * math.log(0.25)))
        with pytest.raises(Infeasible) as caught:
            sanitize(table, SCHEMA, Mondrian(EntropyDiversity(2.0)))
        assert caught.value.reached == pytest.approx(reached)

    def test_one_value_has_the_diversity_one_exactly(self) -> None:
        assert EntropyDiversity().level(release_of([7]).groups) == 1
        assert holds(release_of([7]), EntropyDiversity(1.0))


class TestRecursive:
    @given(counts=COUNTS, l=st.integers(1, 6))
    @settings(max_examples=100)
    def test_the_score_is_the_smallest_c_that_does_not_hold(self, counts: list[int], l: int) -> None:  # noqa: E741
        release = release_of(counts)
        falling = sorted(filter(None, counts), reverse=True)
        rare = sum(falling[l - 1 :])
        level = RecursiveDiversity(1.0, l).level(release.groups)
        if l == 1:
            assert level == 0
            assert holds(release, RecursiveDiversity(1e-9, 1))
        elif not rare:
            assert level == math.inf
            assert not holds(release, RecursiveDiversity(1e300, l))
        else:
            c = Fraction(falling[0], rare)
            assert level == float(c)
            assert not holds(release, RecursiveDiversity(float(c), l))
            assert holds(release, RecursiveDiversity(float(c) + 1e-6, l))

    def test_the_order_of_the_values_does_not_matter(self) -> None:
        orders = [list(counts) for counts in itertools.permutations([5, 2, 2, 1])]
        for l, level in [(2, 1.0), (3, 5 / 3), (4, 5.0), (5, math.inf)]:  # noqa: E741
            scores = RecursiveDiversity(1.0, l).scores(release_of(*orders).groups)
            assert scores.tolist() == [level] * len(orders)

    def test_a_tie_in_decimals_fails(self) -> None:
        # 11 < 1.1 * 10 does not hold, whatever 1.1 is in binary
        assert not holds(release_of([11, 10]), RecursiveDiversity(1.1, 2))
        assert holds(release_of([11, 10]), RecursiveDiversity(1.1001, 2))
        assert not holds(release_of([3, 10]), RecursiveDiversity(10 / 3, 2))

    def test_every_class_is_sorted_by_itself(self) -> None:
        # the most frequent value of one class is the rarest of the other
        release = release_of([9, 1, 1], [1, 1, 9], [1, 9, 1])
        assert RecursiveDiversity(1.0, 2).scores(release.groups).tolist() == [4.5] * 3
        assert RecursiveDiversity(1.0, 3).scores(release.groups).tolist() == [9.0] * 3

    def test_brickell_s_choice_on_adult(self, adult: Bound) -> None:
        release = sanitize(*adult, Mondrian(KAnonymity(5) & RecursiveDiversity(3.0, 5)))
        counts = release.groups.sensitive["occupation"]
        assert release.classes.n_classes > 100
        for start, end in itertools.pairwise(counts.starts.tolist()):
            falling = sorted(counts.counts[start:end].tolist(), reverse=True)
            assert falling[0] < 3 * sum(falling[4:])

    def test_it_is_harder_with_a_larger_l_and_a_smaller_c(self) -> None:
        groups = release_of([5, 4, 3, 2, 1], [6, 1, 1, 1, 1]).groups
        levels = [RecursiveDiversity(1.0, l).level(groups) for l in range(1, 6)]  # noqa: E741
        assert levels == sorted(levels)


@pytest.mark.parametrize(
    "model",
    [DistinctDiversity(2), EntropyDiversity(1.8), RecursiveDiversity(2.0, 2), ProbabilisticDiversity(1.5)],
    ids=str,
)
class TestEveryDiversity:
    def test_a_suppressed_class_is_gone_with_its_values(self, model: PrivacyModel) -> None:
        table = Table.from_arrow({"age": [1, 1, 1, 1, 2, 2, 2, 2], "ill": [*"aabb", *"cccc"]})
        release = sanitize(table, SCHEMA, FullDomain({}, model, suppression=0.5))
        assert release.n_suppressed == 4
        assert "c" not in release.to_arrow()["ill"].to_pylist()
        assert holds(release, model)

    def test_a_class_of_missing_values_is_not_diverse(self, model: PrivacyModel) -> None:
        table = Table.from_arrow({"age": [1, 1, 1, 2, 2, 2], "ill": [None, None, None, "a", "b", "c"]})
        assert not holds(sanitize(table, SCHEMA, AsIs()), model)

    def test_mondrian_keeps_it_on_adult(self, adult: Bound, model: PrivacyModel) -> None:
        release = sanitize(*adult, Mondrian(model))
        assert release.classes.n_classes > 100
        assert np.all(model.keeps_limit(release.groups))
