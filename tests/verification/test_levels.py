"""The levels of the second implementation against SciPy, and against examples worked by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, wasserstein_distance

from sfumato.verification import levels
from sfumato.verification.documents import AttributeFacts
from sfumato.verification.levels import (
    DISTANCES,
    MODELS,
    KnownModel,
    entropies,
    jensen_shannon,
    largest_quotients,
    relative_entropies,
    total_variations,
)
from sfumato.verification.published_view import PublicView, SensitiveValues
from sfumato.verification.written_tables import FileColumn


def attribute_of(*groups: str, hierarchy: list[list[str]] | None = None) -> SensitiveValues:
    """Return a sensitive attribute with one letter for each record; a blank is a missing value."""
    return told_of("ill", groups, AttributeFacts(role="sensitive", hierarchy=hierarchy))


def told_of(name: str, groups: tuple[str, ...], facts: AttributeFacts) -> SensitiveValues:
    group_of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    cells = FileColumn.of(None if sign == " " else sign for sign in "".join(groups))
    return SensitiveValues.of(name, cells, group_of, facts, np.ones_like(group_of))


def seen_in_classes(sizes: Sequence[int], *attributes: SensitiveValues) -> PublicView:
    return PublicView(sum(sizes), ("age",), [np.arange(len(sizes))], np.array(sizes), attributes, False)


def level(model: str, *groups: str, hierarchy: list[list[str]] | None = None, **given: Any) -> float:
    attribute = attribute_of(*groups, hierarchy=hierarchy)
    return MODELS[model].level(seen_in_classes([len(group) for group in groups], attribute), given)


def shares(text: str, values: str) -> list[float]:
    return [text.count(value) / len(text) for value in values]


def test_the_smallest_class_counts() -> None:
    assert level("k-anonymity", "aaab", "ab", "abc") == 2


def test_the_group_with_fewest_values_counts() -> None:
    assert level("distinct-diversity", "abc", "aab", "abca") == 2
    assert level("distinct-diversity", "a ", "abc") == 2


def test_the_most_frequent_value_of_the_worst_group_counts() -> None:
    assert level("probabilistic-diversity", "aab", "abbb") == 4 / 3


def test_entropy_is_the_number_of_equally_frequent_values() -> None:
    assert level("entropy-diversity", "aabb", "abcd") == pytest.approx(2)
    # p = 3/4 and 1/4: exp H = (4/3)^(3/4) 4^(1/4) = 4 / 3^(3/4)
    assert level("entropy-diversity", "aaab") == pytest.approx(4 / 3**0.75)
    assert level("entropy-diversity", "aaa") == 1


@pytest.mark.parametrize(("start", "reached"), [(1, 0), (2, 1), (3, 3), (4, math.inf)])
def test_recursion_compares_the_commonest_value_with_the_rare_ones(start: int, reached: float) -> None:
    assert level("recursive-diversity", "abaacb", l=start) == reached
    assert level("recursive-diversity", "abc", "abaacb", l=start) == reached


@pytest.mark.parametrize("start", [0, 2.0, "2", True])
def test_recursion_begins_with_the_first_value(start: Any) -> None:
    with pytest.raises(ValueError, match="no value before its first"):
        level("recursive-diversity", "ab", l=start)


@pytest.mark.parametrize(
    ("model", "given"),
    [
        ("safety-order", {"d2": 1, "prefer": "l", "diversity": "entropy"}),
        ("safety-order", {"d2": 1, "prefer": "m", "diversity": "distinct"}),
        ("beta-likeness", {"variant": "strongest"}),
        ("delta-disclosure", {"base": math.e, "absent": "forbidden"}),
        ("t-closeness", {"distance": "far"}),
    ],
)
def test_no_level_is_computed_by_a_name_that_nobody_knows(model: str, given: dict[str, Any]) -> None:
    with pytest.raises(KeyError):
        level(model, "aab", "ab", **given)


@pytest.mark.parametrize("own", [0, -0.5, 1.5])
def test_an_alpha_is_a_share(own: float) -> None:
    with pytest.raises(ValueError, match="is no share"):
        level("alpha-k-anonymity", "aab", alpha=0.5, alphas={"b": 1, "a": own})
    assert level("alpha-k-anonymity", "aab", alpha=0.5, alphas={"a": 1}) == pytest.approx(1 / 3)


def test_no_logarithm_makes_a_loss_negative() -> None:
    with pytest.raises(ValueError, match="logarithms that fall"):
        level("delta-disclosure", "aab", "abb", base=0.5, absent="ignored")


def test_a_value_with_an_alpha_of_its_own_is_scaled() -> None:
    assert level("alpha-k-anonymity", "aab", alpha=0.5, alphas={}) == 2 / 3
    assert level("alpha-k-anonymity", "aab", alpha=0.5, alphas={"a": 0.25}) == pytest.approx(4 / 3)
    assert level("alpha-k-anonymity", "aab", alpha=0.5, alphas={"b": 0.1}) == pytest.approx(5 / 3)
    assert level("alpha-k-anonymity", "aab", alphas={"a": 0.5}) == pytest.approx(4 / 3)
    # a missing value is named by an empty text
    assert level("alpha-k-anonymity", "aa ", alpha=0.5, alphas={"": 0.1}) == pytest.approx(5 / 3)


@pytest.mark.parametrize(
    ("group", "wanted", "prefer", "reached"),
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
def test_the_order_of_safety(group: str, wanted: int, prefer: str, reached: float) -> None:
    assert level("safety-order", group, d2=wanted, prefer=prefer, diversity="probabilistic") == reached


def test_the_order_of_safety_by_distinct_values() -> None:
    assert level("safety-order", "aaab", d2=2, prefer="k", diversity="distinct") == 4
    assert level("safety-order", "aaab", d2=2, prefer="k", diversity="probabilistic") == 0


def test_beta_is_the_largest_gain() -> None:
    assert level("beta-likeness", "aa", "bb", variant="basic") == 1
    assert level("beta-likeness", "aab", "abb", variant="basic") == pytest.approx(1 / 3)
    assert level("beta-likeness", "ab", "aabb", variant="basic") == 0
    # in one group a gains 1/9, in the other b 1/3: 4 of 10 records are b
    assert level("beta-likeness", "aaaab", "aabbb", variant="basic") == pytest.approx(1 / 2)


def test_the_enhanced_bound_is_broken_where_a_frequent_value_becomes_certain() -> None:
    # -log(1/2) = 0.693
    assert level("beta-likeness", "aa", "bb", variant="enhanced") == math.inf
    assert level("beta-likeness", "aab", "abb", variant="enhanced") == pytest.approx(1 / 3)
    assert level("beta-likeness", "aaa", "aaaa", variant="enhanced") == 0


def test_delta_is_the_largest_factor_as_a_logarithm() -> None:
    given: dict[str, Any] = {"base": math.e, "absent": "violates"}
    # b has 1/3 instead of 1/2
    assert level("delta-disclosure", "aab", "abb", **given) == pytest.approx(math.log(1.5))
    assert level("delta-disclosure", "aab", "abb", **given | {"base": 2.0}) == pytest.approx(math.log2(1.5))
    assert level("delta-disclosure", "aa", "bb", **given) == math.inf
    assert level("delta-disclosure", "aa", "bb", **given | {"absent": "ignored"}) == pytest.approx(
        math.log(2)
    )
    assert level("delta-disclosure", "aab", "aabaab", **given) == 0


TABLES = [("aab", "abb"), ("aaa", "bcd", "ab"), ("abcd", "ddda"), ("aabb", "ccd", "d")]


@pytest.mark.parametrize("groups", TABLES)
def test_distances_are_those_of_scipy(groups: tuple[str, ...]) -> None:
    whole, attribute = "".join(groups), attribute_of(*groups)
    values = sorted(set(whole))
    prior = shares(whole, "".join(values))
    for place, group in enumerate(groups):
        own = shares(group, "".join(values))
        apart = sum(abs(p - q) for p, q in zip(own, prior, strict=True)) / 2
        assert total_variations(attribute)[place] == pytest.approx(apart)
        assert jensen_shannon(attribute)[place] == pytest.approx(jensenshannon(own, prior) ** 2)
        assert relative_entropies(attribute)[place] == pytest.approx(entropy(own, prior))
        assert entropies(attribute)[place] == pytest.approx(entropy(own))
        ratios = [abs(math.log(p / q)) for p, q in zip(own, prior, strict=True) if p]
        assert largest_quotients(attribute)[place] == pytest.approx(max(ratios))


@pytest.mark.parametrize("groups", TABLES)
def test_hellinger_s_distance_is_that_of_the_roots(groups: tuple[str, ...]) -> None:
    whole = "".join(groups)
    values = "".join(sorted(set(whole)))
    for place, group in enumerate(groups):
        pairs = zip(shares(group, values), shares(whole, values), strict=True)
        expected = math.sqrt(sum((math.sqrt(p) - math.sqrt(q)) ** 2 for p, q in pairs) / 2)
        assert DISTANCES["hellinger"](attribute_of(*groups))[place] == pytest.approx(expected)
    assert DISTANCES["kl"](attribute_of(*groups)) == pytest.approx(relative_entropies(attribute_of(*groups)))


def test_hellinger_s_distance_of_equal_distributions_is_0() -> None:
    # the shares of ten values may add up to a little less than 1, and a root would show it
    for text in ("abcdefghij", "aabcdefghij", "aaabbcdefg"):
        assert DISTANCES["hellinger"](attribute_of(text, text * 3, text * 7)) == pytest.approx(0, abs=1e-9)


def test_equal_distributions_are_exactly_at_distance_0() -> None:
    # a third of 30 is not a third of 3 in the last digit of a floating-point number
    attribute = attribute_of("abc", "abc" * 10, "abc" * 7)
    assert total_variations(attribute).tolist() == [0, 0, 0]
    assert largest_quotients(attribute).tolist() == [0, 0, 0]
    assert jensen_shannon(attribute) == pytest.approx([0, 0, 0], abs=1e-15)
    assert relative_entropies(attribute) == pytest.approx([0, 0, 0], abs=1e-15)


def test_divergences_are_never_below_0() -> None:
    for one, other in [("ab" * 3 + "c", 7), ("abcde" * 3 + "ff", 11), ("aaaabc", 13)]:
        attribute = attribute_of(one, one * other)
        assert (jensen_shannon(attribute) >= 0).all()
        assert (relative_entropies(attribute) >= 0).all()


@pytest.mark.parametrize("groups", [("112", "3"), ("1 2", "9"), ("19", "1199", "5"), ("2", "1")])
def test_ordered_values_are_as_far_apart_as_their_ranks(groups: tuple[str, ...]) -> None:
    assert level("t-closeness", *groups, distance="ordered") == pytest.approx(farthest_by_rank(groups))


def farthest_by_rank(groups: Sequence[str]) -> float:
    """Return how far the farthest group is from all records, by the ranks of the values."""
    whole = "".join(groups)
    # a missing value comes after all numbers
    ranks = {value: rank for rank, value in enumerate(sorted(set(whole), key=lambda v: (v == " ", v)))}
    distances = [
        wasserstein_distance([ranks[v] for v in group], [ranks[v] for v in whole]) for group in groups
    ]
    return float(max(distances)) / (len(ranks) - 1)


@pytest.mark.parametrize("cells", [1, 4, 8, 15, 99])
def test_groups_are_as_far_apart_in_whatever_parts_they_are_looked_at(
    cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(levels, "_CELLS", cells)
    groups = ("9", "112", "5 1", "19", "25")
    # whichever comes first, the farthest is found
    for first in range(len(groups)):
        turned = groups[first:] + groups[:first]
        assert level("t-closeness", *turned, distance="ordered") == pytest.approx(farthest_by_rank(groups))


def test_one_value_has_no_distance_to_itself() -> None:
    assert level("t-closeness", "11", "1", distance="ordered") == 0


def test_closeness_may_be_the_divergence_of_jensen_and_shannon() -> None:
    expected = jensenshannon([1, 0], [1 / 2, 1 / 2]) ** 2
    assert level("t-closeness", "aa", "bb", distance="js") == pytest.approx(expected)


def test_a_hierarchy_gives_the_order_of_categories() -> None:
    rows = [["c", "*"], ["a", "*"], ["b", "*"]]
    # in the order c, a, b: cumulated differences 2/3 and 1/3, divided by 2
    assert level("t-closeness", "c", "a", "b", hierarchy=rows, distance="ordered") == pytest.approx(1 / 2)
    assert level("t-closeness", "abc", "a", hierarchy=rows, distance="ordered") == pytest.approx(1 / 4)


def test_a_tree_counts_the_mean_over_its_levels() -> None:
    rows = [["f", "chest", "*"], ["c", "chest", "*"], ["u", "belly", "*"]]
    # f alone among three: 2/3 among the leaves, 1/3 among chest and belly
    assert level("t-closeness", "f", "cu", hierarchy=rows, distance="hierarchical") == pytest.approx(1 / 2)
    assert level("t-closeness", "u", "fc", hierarchy=rows, distance="hierarchical") == pytest.approx(2 / 3)
    # without a tree every value is as far from every other
    assert level("t-closeness", "f", "cu", distance="hierarchical") == pytest.approx(2 / 3)
    flat = [["f"], ["c"], ["u"]]
    assert level("t-closeness", "f", "cu", hierarchy=flat, distance="hierarchical") == pytest.approx(2 / 3)


def test_what_is_natural_is_the_order_of_numbers_alone() -> None:
    for kind, reached in (("numeric", 1 / 2), ("categorical", 2 / 3), (None, 2 / 3)):
        facts = AttributeFacts(role="sensitive", kind=kind)
        seen = seen_in_classes([1, 1, 1], told_of("pay", ("1", "2", "3"), facts))
        assert MODELS["t-closeness"].level(seen, {"distance": "natural"}) == pytest.approx(reached)


def test_the_worst_attribute_counts() -> None:
    good, bad = attribute_of("ab", "ab"), attribute_of("aa", "bb")
    for pair in ((good, bad), (bad, good)):
        seen = seen_in_classes([2, 2], *pair)
        assert MODELS["distinct-diversity"].level(seen, {}) == 1
        assert MODELS["t-closeness"].level(seen, {"distance": "equal"}) == 0.5


HIGHER = KnownModel("k", "higher", frozenset({"k"}), lambda *_: 0.0)
LOWER = KnownModel("t", "lower", frozenset({"t"}), lambda *_: 0.0)
STRICT = KnownModel("c", "lower", frozenset({"c"}), lambda *_: 0.0, strict=True)


@pytest.mark.parametrize(
    ("model", "level", "limit", "keeps"),
    [
        (HIGHER, 5, 5, True),
        (HIGHER, 6, 5, True),
        (HIGHER, 4, 5, False),
        (HIGHER, 1 - 5e-13, 1, True),
        (HIGHER, 1 - 2e-12, 1, False),
        (LOWER, 0.1 + 0.2, 0.3, True),
        (LOWER, 0.31, 0.3, False),
        (LOWER, 0.29, 0.3, True),
        # a tie is one in the last digits: of the limit, where it is large, of 1 where it is small
        (LOWER, 0.01 + 5e-13, 0.01, True),
        (LOWER, 0.01 + 2e-12, 0.01, False),
        (LOWER, 1e6 + 5e-7, 1e6, True),
        (LOWER, 1e6 + 2e-6, 1e6, False),
        (LOWER, -1e6 + 5e-7, -1e6, True),
        (LOWER, math.inf, 5, False),
        (LOWER, 5, math.inf, True),
        (HIGHER, math.inf, 5, True),
        (STRICT, 3, 3, False),
        (STRICT, 3 - 1e-12, 3, False),
        (STRICT, 3 - 1e-11, 3, True),
        (STRICT, 2, math.inf, True),
        (STRICT, 4, 3, False),
        # exactly at the end of the tie, where that can be written
        (HIGHER, 1e12 - 1, 1e12, True),
        (STRICT, 1e12 - 1, 1e12, False),
    ],
)
def test_a_limit_is_kept_up_to_the_last_digits(
    model: KnownModel, level: float, limit: float, keeps: bool
) -> None:
    assert model.keeps(level, limit) is keeps


def test_a_model_is_neither_strict_nor_by_the_prior_unless_it_says_so() -> None:
    model = KnownModel("k", "higher", frozenset({"k"}), lambda *_: 0.0)
    assert model.keeps(5, 5)
    assert not model.by_prior


def test_models_that_compare_with_the_whole_table_are_named_so() -> None:
    def changes(name: str, **given: Any) -> bool:
        """Return whether the level of one group depends on the records outside of it."""
        alone = {group: level(name, group, rest, **given) for group, rest in (("aab", "aab"),)}
        other = {group: level(name, group, rest, **given) for group, rest in (("aab", "bba"),)}
        return alone != other

    given: dict[str, dict[str, Any]] = {
        "alpha-k-anonymity": {"alpha": 0.5, "alphas": {}},
        "recursive-diversity": {"l": 2},
        "confidence-bound": {"common": 0.5},
        "safety-order": {"d2": 1, "prefer": "l", "diversity": "distinct"},
        "t-closeness": {"distance": "equal"},
        "beta-likeness": {"variant": "basic"},
        "delta-disclosure": {"base": math.e, "absent": "violates"},
    }
    for name, model in MODELS.items():
        assert model.by_prior is changes(name, **given.get(name, {})), name


# The parameter that is the limit, which levels are safer, the other parameters, whether a level at the limit
# fails, and whether it depends on the whole table.
DECLARED = {
    "k-anonymity": ("k", "higher", set(), False, False),
    "alpha-k-anonymity": ("alpha", "lower", {"k", "alphas"}, False, False),
    "distinct-diversity": ("l", "higher", set(), False, False),
    "probabilistic-diversity": ("l", "higher", set(), False, False),
    "entropy-diversity": ("l", "higher", set(), False, False),
    "recursive-diversity": ("c", "lower", {"l"}, True, False),
    "safety-order": ("d1", "higher", {"d2", "prefer", "diversity"}, False, False),
    "confidence-bound": ("share", "lower", {"common"}, False, True),
    "t-closeness": ("t", "lower", {"distance"}, False, True),
    "beta-likeness": ("beta", "lower", {"variant"}, False, True),
    "delta-disclosure": ("delta", "lower", {"base", "absent"}, True, True),
}


def test_what_is_known_of_a_model() -> None:
    assert {
        name: (known.limit, known.better, {*known.parameters} - {known.limit}, known.strict, known.by_prior)
        for name, known in MODELS.items()
    } == DECLARED
    assert all(known.limit in known.parameters for known in MODELS.values())
