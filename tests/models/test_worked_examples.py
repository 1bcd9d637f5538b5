"""Small groups worked by hand, one letter for each record: what every model scores, and what must be lost."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, wasserstein_distance

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveDomain, count_classes
from sfumato.data.hierarchy import Hierarchy
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    ProbabilisticDiversity,
    RecursiveDiversity,
    SafetyOrder,
    TCloseness,
)
from sfumato.models.bounds import capped_share, convex_share, lost_share
from sfumato.models.distances import jensen_shannon, ordered_distance, relative_entropy, total_variation
from sfumato.runtime.errors import ParameterError


def classes_of(
    *texts: str, prior: dict[str, float] | None = None, hierarchy: Hierarchy | None = None
) -> EquivalenceClasses:
    """Return classes with these letters, compared with the whole table unless another prior is given."""
    whole = "".join(texts)
    shares = prior or {value: whole.count(value) / len(whole) for value in sorted(set(whole))}
    values = list(shares)
    codes = np.array([values.index(sign) for sign in whole], dtype=np.int32)
    group = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    return count_classes(
        group,
        len(texts),
        np.ones(len(group), np.int64),
        {"ill": (codes, np.array(list(shares.values())))},
        {"ill": SensitiveDomain(tuple(values), hierarchy)},
    )


def scores(model: PrivacyModel, *texts: str, **given: Any) -> list[float]:
    return [float(score) for score in model.scores(classes_of(*texts, **given))]


def test_sizes_and_values() -> None:
    assert scores(KAnonymity(2), "aab", "a") == [3, 1]
    assert scores(DistinctDiversity(2), "aab", "abc", "aa") == [2, 3, 1]
    assert scores(ProbabilisticDiversity(2), "aab", "abbb", "ab") == [3 / 2, 4 / 3, 2]


def test_entropy() -> None:
    found = scores(EntropyDiversity(2), "aaab", "aabb", "aaaa", "abcd")
    assert found == pytest.approx([4 / 3**0.75, 2, 1, 4])
    assert found[2] == 1


@pytest.mark.parametrize(
    ("l", "expected"),
    [(1, [0, 0, 0]), (2, [1, 0.5, math.inf]), (3, [3, 1, math.inf]), (4, [math.inf, math.inf, math.inf])],
)
def test_recursion(l: int, expected: list[float]) -> None:  # noqa: E741
    # 3 2 1, 1 1 1, 2
    assert scores(RecursiveDiversity(3, l), "abaacb", "abc", "aa") == expected


def test_alpha() -> None:
    assert scores(AlphaKAnonymity(0.5, 2), "aab", "ab") == [2 / 3, 1 / 2]
    own = AlphaKAnonymity(0.5, 2, {"b": 0.1})
    assert scores(own, "aab", "aa") == pytest.approx([5 / 3, 1])
    # a missing value is named by an empty text
    missing = {"ill": SensitiveDomain(("a", None))}
    codes = {"ill": (np.array([0, 0, 1], np.int32), np.array([2 / 3, 1 / 3]))}
    classes = count_classes(np.zeros(3, np.int64), 1, np.ones(3, np.int64), codes, missing)
    assert AlphaKAnonymity(0.5, 2, {"": 0.1}).scores(classes) == pytest.approx([5 / 3])
    # of values that have no label nothing else is known
    nameless = count_classes(
        np.zeros(3, np.int64),
        1,
        np.ones(3, np.int64),
        {"ill": (np.array([0, 0, 1], np.int32), np.ones(2) / 2)},
    )
    assert AlphaKAnonymity(0.5, 2, {"b": 0.1}).scores(nameless).tolist() == [2 / 3]


@pytest.mark.parametrize(
    ("group", "d2", "prefer", "score"),
    [
        ("aab", 1, "l", 3),
        ("aab", 2, "l", 2.5),
        ("aab", 1, "k", 3),
        ("aab", 2, "k", 0),
        ("ab", 1, "k", math.inf),
        ("ab", 1, "l", 2),
        ("aabc", 2, "k", 4),
        ("aabbc", 2, "k", 5),
        ("aabbc", 3, "l", 4.5),
    ],
)
def test_the_order_of_safety(group: str, d2: int, prefer: Any, score: float) -> None:
    assert scores(SafetyOrder(5, d2, prefer), group) == [score]


def test_gains() -> None:
    assert scores(BetaLikeness(1), "aab", "abb") == pytest.approx([1 / 3, 1 / 3])
    assert scores(BetaLikeness(1), "aa", "bb", "ab") == [1, 1, 0]
    # -log(1/2) = 0.693: a gain of 1 is more, a third is less
    assert scores(BetaLikeness(1, "enhanced"), "aa", "bb", "ab") == [math.inf, math.inf, 0]
    assert scores(BetaLikeness(1, "enhanced"), "aab", "abb") == pytest.approx([1 / 3, 1 / 3])
    # a third of 30 is not a third of 3 in the last digit
    assert scores(BetaLikeness(1), "abc", "abc" * 10, "abc" * 7) == [0, 0, 0]


def test_a_gain_at_the_enhanced_bound_is_a_tie() -> None:
    # a prior p where half of a group is a gain of -log p: 1 / 2p - 1 = -log p
    p = brentq(lambda p: 0.5 / p - 1 + math.log(p), 0.1, 0.3, xtol=1e-16)
    found = scores(BetaLikeness(9, "enhanced"), "ab", prior={"a": p, "b": 1 - p})
    assert found == pytest.approx([0.5 / p - 1])
    rarer = p - 1e-9
    assert scores(BetaLikeness(9, "enhanced"), "ab", prior={"a": rarer, "b": 1 - rarer}) == [math.inf]


@pytest.mark.parametrize("model", [BetaLikeness(1), DeltaDisclosure(1)])
def test_a_prior_that_is_off_in_its_last_digit_is_the_same(model: PrivacyModel) -> None:
    off = {"a": np.nextafter(1 / 3, 0), "b": np.nextafter(1 / 3, 0), "c": 1 / 3}
    assert scores(model, "abc", "aabbcc", prior=off) == [0, 0]
    off = {"a": 1 / 3 - 1e-9, "b": 1 / 3, "c": 1 / 3}
    assert scores(model, "abc", prior=off) == pytest.approx([3e-9], rel=1e-3)


def test_quotients() -> None:
    # b has 1/3 instead of 1/2, a 2/3
    assert scores(DeltaDisclosure(1), "aab", "abb") == pytest.approx([math.log(1.5)] * 2)
    assert scores(DeltaDisclosure(1, base=2), "aab", "abb") == pytest.approx([math.log2(1.5)] * 2)
    assert scores(DeltaDisclosure(1), "aa", "bb", "ab") == [math.inf, math.inf, 0]
    ignored = DeltaDisclosure(1, absent="ignored")
    assert scores(ignored, "aa", "bb", "ab") == pytest.approx([math.log(2), math.log(2), 0])
    assert scores(DeltaDisclosure(1), "abc", "abc" * 10, "abc" * 7) == [0, 0, 0]
    assert DeltaDisclosure(1).is_monotone
    assert not ignored.is_monotone


def test_a_value_that_nobody_has_is_lacked_by_nobody() -> None:
    prior = {"a": 0.5, "b": 0.5, "c": 0.0}
    assert scores(DeltaDisclosure(1), "ab", "aab", prior=prior) == pytest.approx([0, math.log(1.5)])


DISTANCES: list[Any] = ["equal", "hierarchical", "js", "ordered"]
TABLES = [("aab", "abb"), ("aaa", "bcd", "ab"), ("abcd", "ddda"), ("aabb", "ccd", "d"), ("b", "a", "dcd")]


@pytest.mark.parametrize("texts", TABLES)
def test_distances_are_those_of_scipy(texts: tuple[str, ...]) -> None:
    whole = "".join(texts)
    values = sorted(set(whole))
    sensitive = classes_of(*texts).sensitive["ill"]
    own = [[text.count(value) / len(text) for value in values] for text in texts]
    prior = [whole.count(value) / len(whole) for value in values]
    ranks = {value: rank for rank, value in enumerate(values)}
    apart = [sum(abs(p - q) for p, q in zip(each, prior, strict=True)) / 2 for each in own]
    moved = [wasserstein_distance([ranks[v] for v in text], [ranks[v] for v in whole]) for text in texts]
    assert total_variation(sensitive) == pytest.approx(apart)
    assert jensen_shannon(sensitive) == pytest.approx([jensenshannon(each, prior) ** 2 for each in own])
    assert relative_entropy(sensitive) == pytest.approx([entropy(each, prior) for each in own])
    assert ordered_distance(sensitive) == pytest.approx([each / (len(values) - 1) for each in moved])


@pytest.mark.parametrize("distance", [total_variation, jensen_shannon, relative_entropy, ordered_distance])
def test_equal_distributions_are_exactly_at_distance_0(distance: Any) -> None:
    for text in ("abc", "aab", "abcdefg", "aaaaaab"):
        sensitive = classes_of(text, text * 10, text * 7, text * 49).sensitive["ill"]
        assert distance(sensitive).tolist() == [0, 0, 0, 0]


def test_what_is_all_but_impossible_is_as_far_as_divergence_goes() -> None:
    sensitive = classes_of("a", "b", prior={"a": 0.0, "b": 1.0}).sensitive["ill"]
    assert jensen_shannon(sensitive) == pytest.approx([math.log(2), 0])
    assert jensen_shannon(sensitive)[0] <= math.log(2)
    half = classes_of("ab", prior={"a": 0.0, "b": 1.0}).sensitive["ill"]
    assert jensen_shannon(half) == pytest.approx([jensenshannon([0.5, 0.5], [0, 1]) ** 2])


def test_one_value_has_no_order() -> None:
    assert ordered_distance(classes_of("a", "aa").sensitive["ill"]).tolist() == [0, 0]


def test_a_tree_counts_the_mean_over_its_levels() -> None:
    tree = Hierarchy.nested({"chest": ["c", "f"], "belly": ["u"]})
    order = dict.fromkeys((value for value in ("c", "f", "u")), 1 / 3)
    model = TCloseness(0.2, "hierarchical")
    # f alone among three: 2/3 among the leaves, 1/3 among chest and belly
    found = scores(model, "f", "u", "cfu", "cf", prior=order, hierarchy=tree)
    assert found == pytest.approx([1 / 2, 2 / 3, 0, 1 / 3])
    assert scores(model, "f", "u", prior=order) == pytest.approx([2 / 3, 2 / 3])
    # a tree of leaves alone, and one of the root alone
    bare = Hierarchy.of_rows([["c"], ["f"], ["u"]])
    for tree in (bare, bare.above(1)):
        assert scores(model, "f", "cu", prior=order, hierarchy=tree) == pytest.approx([2 / 3, 1 / 3])


def test_the_distance_is_the_one_that_is_asked_for() -> None:
    texts = ("aab", "bcc")
    found = {distance: scores(TCloseness(0.2, distance), *texts) for distance in ("equal", "ordered", "js")}
    assert found["equal"] == pytest.approx([1 / 3, 1 / 3])
    assert found["ordered"] == pytest.approx([1 / 3, 1 / 3])
    assert found["js"] == pytest.approx([jensenshannon([2, 1, 0], [2, 2, 2]) ** 2] * 2)


def test_what_is_natural_is_the_order_of_numbers_alone() -> None:
    model = TCloseness(0.2, "natural")
    # of three in order: 1 or 2 steps of 2, else all are equally far
    numbers, words = Hierarchy.flat([1, 2, 3]), Hierarchy.flat(["a", "b", "c"])
    assert scores(model, "a", "b", "c", hierarchy=numbers) == pytest.approx([1 / 2, 1 / 3, 1 / 2])
    assert scores(model, "a", "b", "c", hierarchy=words) == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    assert scores(model, "a", "b", "c") == pytest.approx([2 / 3, 2 / 3, 2 / 3])
    # a missing number has no place, but the others have
    some = Hierarchy.flat([1, 2, None])
    assert scores(model, "a", "b", "c", hierarchy=some) == pytest.approx([1 / 2, 1 / 3, 1 / 2])


def test_an_order_must_be_there_to_be_used() -> None:
    flat = Hierarchy.flat(["a", "b", "c"])
    unordered = replace(flat, is_ordered=False)
    for distance in DISTANCES:
        assert len(scores(TCloseness(0.2, distance), "aab", "bcc", hierarchy=flat)) == 2
    for distance in DISTANCES[:-1]:
        assert len(scores(TCloseness(0.2, distance), "aab", "bcc", hierarchy=unordered)) == 2
    with pytest.raises(ParameterError, match="the values of 'ill' have no order"):
        scores(TCloseness(0.2, "ordered"), "aab", "bcc", hierarchy=unordered)


# What every finer node must suppress


def test_a_convex_score_needs_the_mean_of_what_is_kept_and_lost() -> None:
    shares = convex_share(np.array([0.2, 0.5, 0.75, 1.0]), 0.5, 1.0)
    assert shares == pytest.approx([0, 0, 0.5, 1])
    # a tie loses nothing, neither at a small limit nor at a large one
    assert convex_share(np.array([0.1 + 5e-12, 0.1 + 9e-12]), 0.1, 1.0).tolist() == [0, 0]
    assert convex_share(np.array([100 + 5e-10]), 100.0, 200.0).tolist() == [0]
    assert convex_share(np.array([100 + 5e-9]), 100.0, 200.0)[0] > 0
    assert convex_share(np.array([-100 + 5e-10]), -100.0, 0.0).tolist() == [0]
    assert convex_share(np.array([0.1 + 1.5e-11]), 0.1, 1.0)[0] > 0


def test_a_cap_takes_what_is_above_it() -> None:
    def lost(cap: float, *texts: str) -> list[float]:
        return capped_share(classes_of(*texts), lambda s: np.full(len(s.values), cap)).tolist()

    # 3 of 4 are a: 2 must go until a has half of what is left
    assert lost(0.5, "aaab", "ab", "aaaa") == pytest.approx([0.5, 0, 1])
    # all three values are above a quarter: nothing is left
    assert lost(0.25, "abc") == pytest.approx([1])
    assert lost(0.3, "aaabbbcccd") == [0]
    assert lost(0.1 + 0.2, "aaabbbcccd") == [0]
    # what is above the cap in its last digits is a tie
    assert lost(0.5 - 1.2e-11, "ab") == [0]
    assert lost(0.5 - 1.6e-11, "ab")[0] > 0


def test_models_know_their_share() -> None:
    def lost(model: PrivacyModel, *texts: str, **given: Any) -> list[float]:
        return lost_share(model, classes_of(*texts, **given)).tolist()

    half = {"a": 0.5, "b": 0.5}
    assert lost(KAnonymity(3), "aab", "ab") == [0, 1]
    assert lost(DistinctDiversity(2), "aab", "aa") == [0, 1]
    assert lost(RecursiveDiversity(3, 2), "aab", "aa") == [0, 1]
    assert lost(ProbabilisticDiversity(2), "aaab", "ab") == pytest.approx([0.5, 0])
    assert lost(AlphaKAnonymity(0.5, 1), "aaab", "ab") == pytest.approx([0.5, 0])
    assert lost(AlphaKAnonymity(0.5, 1, {"b": 0.1}), "ab", "aa") == pytest.approx([0.4 / 0.9, 1])
    # (1 + 1/5) / 2 = 0.6 at most: of ten with nine a, 7.5 must go
    assert lost(BetaLikeness(0.2), "a" * 9 + "b", prior=half) == pytest.approx([0.75])
    # enhanced by -log(0.9) = 0.105: a share of at most 0.9948
    caps = 0.9 * (1 - math.log(0.9))
    assert lost(BetaLikeness(1.0), "aa", prior={"a": 0.9, "b": 0.1}) == [0]
    assert lost(BetaLikeness(0.2, "enhanced"), "aa", prior={"a": 0.9, "b": 0.1}) == pytest.approx([1])
    assert lost(BetaLikeness(0.2, "enhanced"), "a" * 999 + "b", prior={"a": 0.9, "b": 0.1}) == pytest.approx(
        [(0.999 - caps) / (1 - caps)]
    )
    # e^log(1.2) / 2 = 0.6
    for base in (math.e, 2.0):
        model = DeltaDisclosure(math.log(1.2, base), base=base)
        assert lost(model, "a" * 9 + "b", prior=half) == pytest.approx([0.75])
    assert lost(DeltaDisclosure(1e6), "ab", prior=half) == [0]
    # all distances end at 1, the divergence at log 2
    assert lost(TCloseness(0.2), "a", prior=half) == pytest.approx([(0.5 - 0.2) / (1 - 0.2)])
    apart = jensenshannon([1, 0], [0.5, 0.5]) ** 2
    assert lost(TCloseness(0.1, "js"), "a", prior=half) == pytest.approx(
        [(apart - 0.1) / (math.log(2) - 0.1)]
    )
    # 3 of 4: by the entropy less than by the values of a group that has but one
    some, none = lost(EntropyDiversity(1.9), "aaab", "aa")
    left = math.log(1.9) - math.log(4 / 3**0.75)
    assert (some, none) == pytest.approx((left / math.log(1.9), 1))
    assert lost(EntropyDiversity(2.0), "ab", "abc", "aa") == [0, 0, 1]
    assert lost(EntropyDiversity(2.5), "ab", "abc")[0] == 1


@pytest.mark.parametrize(
    ("model", "smallest"),
    [
        (KAnonymity(4), 4),
        (AlphaKAnonymity(0.5, 4), 4),
        (DistinctDiversity(3), 3),
        (ProbabilisticDiversity(2.5), 3),
        (EntropyDiversity(2.5), 3),
        (RecursiveDiversity(3, 2), 2),
        (TCloseness(0.2), 1),
    ],
)
def test_no_smaller_class_can_hold(model: PrivacyModel, smallest: int) -> None:
    assert model.smallest_class == smallest


def test_what_is_asked_for_unless_told_otherwise() -> None:
    """The defaults that the documentation names."""
    assert (KAnonymity().k, DistinctDiversity().l, RecursiveDiversity().c) == (5, 3, 3.0)
    assert (ProbabilisticDiversity().l, EntropyDiversity().l, RecursiveDiversity().l) == (3.0, 3.0, 3)
    assert (TCloseness().t, TCloseness().distance) == (0.2, "equal")
    assert (BetaLikeness().beta, BetaLikeness().variant) == (1.0, "basic")
    assert (DeltaDisclosure().delta, DeltaDisclosure().base) == (1.5, math.e)
    assert DeltaDisclosure().absent == "violates"
    assert (AlphaKAnonymity().alpha, AlphaKAnonymity().k, dict(AlphaKAnonymity().alphas)) == (0.5, 5, {})
    assert (SafetyOrder().d1, SafetyOrder().d2, SafetyOrder().prefer) == (5, 1, "l")
    assert AlphaKAnonymity(alphas={"x": 0.5}).named_values == ("x",)
