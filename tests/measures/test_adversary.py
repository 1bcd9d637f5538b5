"""What an adversary gains, against brute force over the written records."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy

from sfumato import Schema, Table, measure, sanitize
from sfumato.measures import AccuracyGain, DisclosureQuotient, InformationGain, KnowledgeGain, PrivacyLoss
from sfumato.models import DeltaDisclosure, KAnonymity, ProbabilisticDiversity
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.people_groups import groups_of, records_of_group
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import (
    Anatomy,
    AsIs,
    Bucketize,
    FullDomain,
    Mondrian,
    SuppressQuasiIdentifiers,
    SuppressSensitive,
)

Bound = tuple[Table, Schema]


MEASURES = ("privacy-loss", "knowledge-gain", "accuracy-gain", "disclosure-quotient", "information-gain")


def releases(bound: Bound) -> list[LinkedRelease]:
    """Return releases with and without suppressed records."""
    table, schema = bound
    made = [
        sanitize(table, schema, AsIs()),
        sanitize(table, schema, Mondrian(KAnonymity(min(2, table.n_records)))),
        sanitize(table, schema, Mondrian(KAnonymity(min(3, table.n_records)), "relaxed")),
    ]
    if made[0].classes.sizes.max() >= 2:
        made.append(sanitize(table, schema, FullDomain({}, KAnonymity(2), suppression=1.0)))
    return made


def beliefs(
    release: LinkedRelease, table: Table, name: str
) -> tuple[list[dict[Any, float]], dict[Any, float]]:
    """Return for each released record the distribution of its class, and the prior of all originals."""
    everybody = Counter(table.to_arrow()[name].to_pylist())
    classes: dict[tuple[Any, ...], Counter[Any]] = {}
    together = release.schema.quasi_identifiers if release.group_of is None else (release.group_column,)
    for record in release.to_arrow().to_pylist():
        classes.setdefault(tuple(record[q] for q in together), Counter())[record[name]] += 1
    prior = {value: count / everybody.total() for value, count in everybody.items()}
    each = [
        {value: counts[value] / counts.total() for value in everybody}
        for counts in classes.values()
        for _ in range(counts.total())
    ]
    return each, prior


def divergence(p: dict[Any, float], q: dict[Any, float]) -> float:
    return float(jensenshannon(list(p.values()), list(q.values())) ** 2)


def variation(p: dict[Any, float], q: dict[Any, float]) -> float:
    return sum(abs(p[value] - q[value]) for value in q) / 2


def cases(tiny_tables: st.SearchStrategy[Bound], data: st.DataObject) -> Any:
    """Yield every release of a random table with each sensitive attribute and what is known by hand."""
    bound = data.draw(tiny_tables)
    for release in releases(bound):
        for name in bound[1].sensitive:
            yield release, name, *beliefs(release, bound[0], name)


def taken(release: LinkedRelease, what: Any, name: str) -> Any:
    (found,) = [m for m in measure(release, [what]) if m.attribute == name]
    return found


@given(data=st.data())
@settings(max_examples=30)
def test_privacy_loss_is_the_worst_divergence_of_a_person(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    for release, name, each, prior in cases(tiny_tables, data):
        losses = sorted(divergence(belief, prior) for belief in each)
        found = taken(release, PrivacyLoss(), name)
        assert found.value == pytest.approx(losses[-1], abs=1e-9)
        assert found.detail["mean"] == pytest.approx(sum(losses) / len(losses), abs=1e-9)
        assert found.detail["share-at-risk"] == sum(loss > 0.1 for loss in losses) / len(losses)
        # the smallest loss that at least 95 of 100 records do not exceed
        assert found.detail["percentile-95"] == pytest.approx(
            losses[-(-95 * len(losses) // 100) - 1], abs=1e-9
        )


@given(data=st.data())
@settings(max_examples=30)
def test_knowledge_gain_is_the_mean_distance_of_a_person(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    for release, name, each, prior in cases(tiny_tables, data):
        distances = [variation(belief, prior) for belief in each]
        found = taken(release, KnowledgeGain(), name)
        assert found.value == pytest.approx(sum(distances) / len(distances), abs=1e-12)
        assert found.detail["worst"] == pytest.approx(max(distances), abs=1e-12)


@given(data=st.data())
@settings(max_examples=30)
def test_accuracy_gain_is_that_of_guessing_the_commonest_value(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    for release, name, each, prior in cases(tiny_tables, data):
        accuracy = sum(max(belief.values()) for belief in each) / len(each)
        found = taken(release, AccuracyGain(), name)
        assert found.value == pytest.approx(accuracy - max(prior.values()), abs=1e-12)
        assert found.baseline == pytest.approx(max(prior.values()), abs=1e-12)
        assert found.detail["accuracy"] == pytest.approx(accuracy, abs=1e-12)


@given(data=st.data())
@settings(max_examples=30)
@pytest.mark.parametrize("how", [SuppressQuasiIdentifiers(), SuppressSensitive()], ids=str)
def test_the_trivial_sanitizations_give_the_adversary_exactly_nothing(
    how: Any, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    release = sanitize(*data.draw(tiny_tables), how)
    found = measure(release, MEASURES)
    assert [m.value for m in found] == [0.0] * len(found)
    told = ("accuracy", "entropy", "remaining-entropy")
    assert not any(value for m in found for key, value in m.detail.items() if key not in told)


def test_the_95th_percentile_counts_records_not_classes() -> None:
    # 95 of 100 records are in one class like the whole, five are alone
    table = Table.from_arrow(
        {"age": [0] * 95 + [1, 2, 3, 4, 5], "ill": ["a", "b"] * 47 + ["a"] + ["a", "b", "a", "b", "a"]}
    )
    release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
    found = taken(release, PrivacyLoss(), "ill")
    assert found.detail["percentile-95"] < 0.001
    assert found.value > 0.2


def test_a_person_in_a_class_of_one_is_known_for_certain() -> None:
    table = Table.from_arrow({"age": [1, 2, 3, 4], "ill": ["a", "a", "a", "b"]})
    release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
    assert taken(release, AccuracyGain(), "ill").value == 0.25
    assert taken(release, KnowledgeGain(), "ill").value == pytest.approx((3 * 0.25 + 0.75) / 4)
    # JS((0, 1), (3/4, 1/4)), with the middle (3/8, 5/8)
    by_hand = (math.log(8 / 5) + 3 / 4 * math.log(2) + 1 / 4 * math.log(2 / 5)) / 2
    assert taken(release, PrivacyLoss(), "ill").value == pytest.approx(by_hand)


def test_accuracy_may_fall_when_the_commonest_value_is_suppressed() -> None:
    table = Table.from_arrow({"age": [1, 2, 3, 9, 9, 9, 9], "ill": [*"aaa", *"abcd"]})
    schema = Schema.of(age="quasi-identifying", ill="sensitive")
    release = sanitize(table, schema, FullDomain({}, KAnonymity(2), suppression=0.5))
    assert taken(release, AccuracyGain(), "ill").value == pytest.approx(1 / 4 - 4 / 7)


def test_two_sensitive_attributes_are_measured_apart() -> None:
    table = Table.from_arrow({"age": [1, 2], "ill": ["a", "b"], "job": ["x", "x"]})
    schema = Schema.of(age="quasi-identifying", ill="sensitive", job="sensitive")
    found = measure(sanitize(table, schema, AsIs()), ["knowledge-gain"])
    assert {m.attribute: m.value for m in found} == {"ill": 0.5, "job": 0.0}


def test_without_a_sensitive_attribute_there_is_nothing_to_gain() -> None:
    release = sanitize(Table.from_arrow({"age": [1, 2]}), Schema.of(age="quasi-identifying"), AsIs())
    for found in measure(release, MEASURES):
        assert not found.applicable
        assert found.detail["reason"] == "the release has no sensitive attribute"


def quotient(belief: dict[Any, float], prior: dict[Any, float]) -> float:
    return max(abs(math.log(belief[s] / prior[s])) if belief[s] else math.inf for s in prior)


@given(data=st.data())
@settings(max_examples=30)
def test_the_quotient_is_the_largest_factor_between_a_group_and_the_prior(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    for release, name, each, prior in cases(tiny_tables, data):
        found = taken(release, DisclosureQuotient(), name)
        assert found.value == pytest.approx(max(quotient(belief, prior) for belief in each), abs=1e-9)
        seen = [{s: p for s, p in belief.items() if p} for belief in each]
        finite = max(quotient(belief, {s: prior[s] for s in belief}) for belief in seen)
        assert found.detail["largest-finite"] == pytest.approx(finite, abs=1e-9)
        lacking = sum(0 in belief.values() for belief in each)
        assert found.detail["share-ruled-out"] == lacking / len(each)


@given(data=st.data())
@settings(max_examples=30)
def test_information_gain_is_the_mean_relative_entropy(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    for release, name, each, prior in cases(tiny_tables, data):
        found = taken(release, InformationGain(), name)
        p = list(prior.values())
        by_scipy = sum(float(entropy(list(belief.values()), p)) for belief in each) / len(each)
        assert found.value == pytest.approx(by_scipy, abs=1e-9)
        assert found.value >= 0
        assert found.detail["entropy"] == pytest.approx(float(entropy(p)), abs=1e-9)
        remaining = sum(float(entropy(list(belief.values()))) for belief in each) / len(each)
        assert found.detail["remaining-entropy"] == pytest.approx(remaining, abs=1e-9)
        if not release.n_suppressed:
            assert found.value == pytest.approx(float(entropy(p)) - remaining, abs=1e-9)


@given(data=st.data(), delta=st.sampled_from([0.2, 0.5, 1.0, 2.0]))
@settings(max_examples=40)
def test_brickell_s_lemma_1_the_gain_is_below_delta(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject, delta: float
) -> None:
    table, schema = data.draw(tiny_tables)
    made = [*releases((table, schema)), sanitize(table, schema, Mondrian(DeltaDisclosure(delta)))]
    for release in made:
        for quotients, gain in zip(*(measure(release, [name]) for name in MEASURES[3:]), strict=True):
            assert gain.value <= quotients.value + 1e-12
            if quotients.value < delta:
                assert gain.value < delta


def test_suppressed_records_do_not_break_the_lemma() -> None:
    # of 450 a's all are kept, of 50 rare values with 9 records each only one record
    rare = [f"rare {place}" for place in range(50)]
    table = Table.from_arrow({"age": [0] * 500 + list(range(1, 401)), "ill": ["a"] * 450 + rare * 9})
    schema = Schema.of(age="quasi-identifying", ill="sensitive")
    release = sanitize(table, schema, FullDomain({}, KAnonymity(500), suppression=1.0))
    gain, largest = taken(release, InformationGain(), "ill"), taken(release, DisclosureQuotient(), "ill")
    assert largest.value == pytest.approx(math.log(5))
    assert 0 < gain.value < largest.value
    assert gain.detail["entropy"] - gain.detail["remaining-entropy"] > largest.value


def test_a_value_that_a_group_lacks_makes_the_quotient_infinite() -> None:
    table = Table.from_arrow({"age": [1, 1, 1, 1, 2, 2], "ill": [*"aabb", *"aa"]})
    release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
    found = taken(release, DisclosureQuotient(), "ill")
    assert found.value == math.inf
    assert found.to_dict()["value"] == "Infinity"
    assert found.detail["share-ruled-out"] == pytest.approx(2 / 6)
    # b has a half of the first class and a third of the table
    assert found.detail["largest-finite"] == pytest.approx(math.log(3 / 2))


def test_one_value_for_all_cannot_be_learned() -> None:
    table = Table.from_arrow({"age": [1, 2, 3], "ill": ["flu"] * 3})
    release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
    assert [m.value for m in measure(release, MEASURES)] == [0.0] * 5


@pytest.mark.parametrize("how", [Bucketize(ProbabilisticDiversity(2)), Anatomy(2)], ids=str)
def test_groups_count_where_sensitive_values_are_exchanged(how: Any, hospital: Bound) -> None:
    release = sanitize(*hospital, how)
    each, prior = beliefs(release, hospital[0], "diagnosis")
    assert release.classes.n_classes > release.groups.n_classes
    losses = [divergence(belief, prior) for belief in each]
    assert taken(release, PrivacyLoss(), "diagnosis").value == pytest.approx(max(losses))
    gains = [float(entropy(list(belief.values()), list(prior.values()))) for belief in each]
    assert taken(release, InformationGain(), "diagnosis").value == pytest.approx(sum(gains) / len(gains))


def test_the_threshold_is_the_caller_s() -> None:
    table = Table.from_arrow({"age": [0] * 4 + [1] * 2, "ill": [*"aabb", *"ab"]})
    release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
    assert taken(release, PrivacyLoss(), "ill").detail["share-at-risk"] == 0
    table = Table.from_arrow({"age": [0] * 8 + [1] * 2, "ill": [*"aaaabbbb", *"aa"]})
    release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
    assert taken(release, PrivacyLoss(0.1), "ill").detail["share-at-risk"] == 0.2
    assert taken(release, PrivacyLoss(0.3), "ill").detail["share-at-risk"] == 0
    with pytest.raises(ParameterError, match="threshold must be at least 0"):
        PrivacyLoss(-0.1)


class TestCoinFlips:
    """Brickell and Shmatikov, section 7: a made-up table with perfect privacy and perfect utility."""

    @pytest.fixture
    def coins(self) -> Bound:
        flips = [(r1, r2, r3) for r1 in (0, 1) for r2 in (0, 1) for r3 in (0, 1)]
        table = Table.from_arrow(
            {
                "a1": [r1 for r1, _, _ in flips],
                "a2": [r2 for _, r2, _ in flips],
                "a3": [f"{r2}{r3}" for _, r2, r3 in flips],
                "a4": [r1 ^ r3 for r1, _, r3 in flips],
                "a5": [r1 ^ r2 for r1, r2, _ in flips],
            }
        )
        roles: Any = {"a1": "quasi-identifying", "a2": "quasi-identifying", "a3": "sensitive"}
        return table, Schema.of(roles, a4="insensitive", a5="insensitive")

    def test_withholding_a2_is_perfectly_private(self, coins: Bound) -> None:
        as_is = sanitize(*coins, AsIs())
        # half of a3 can be predicted from a2
        assert taken(as_is, AccuracyGain(), "a3").value == pytest.approx(1 / 4)
        assert taken(as_is, InformationGain(), "a3").value == pytest.approx(math.log(2))
        assert taken(as_is, DisclosureQuotient(), "a3").value == math.inf
        release = sanitize(*coins, FullDomain({"a2": 1}, KAnonymity(1)))
        assert [m.value for m in measure(release, MEASURES)] == [0.0] * 5

    def test_and_a_researcher_still_learns_a4_and_a5_exactly(self, coins: Bound) -> None:
        release = sanitize(*coins, FullDomain({"a2": 1}, KAnonymity(1)))
        told: dict[Any, set[Any]] = {}
        for record in release.to_arrow().to_pylist():
            told.setdefault((record["a1"], record["a3"]), set()).add((record["a4"], record["a5"]))
        assert all(len(values) == 1 for values in told.values())

    def test_which_withholding_all_quasi_identifiers_destroys(self, coins: Bound) -> None:
        release = sanitize(*coins, SuppressQuasiIdentifiers())
        pairs = [(r["a3"], r["a4"], r["a5"]) for r in release.to_arrow().to_pylist()]
        for place in (1, 2):
            for value in {pair[0] for pair in pairs}:
                assert Counter(pair[place] for pair in pairs if pair[0] == value) == {0: 1, 1: 1}


def root_distance(p: dict[Any, float], q: dict[Any, float]) -> float:
    return math.sqrt(sum((math.sqrt(p[value]) - math.sqrt(q[value])) ** 2 for value in q) / 2)


def relative(p: dict[Any, float], q: dict[Any, float]) -> float:
    return float(entropy(list(p.values()), list(q.values())))


@pytest.mark.parametrize(
    ("distance", "between"),
    [("js", divergence), ("equal", variation), ("kl", relative), ("hellinger", root_distance)],
)
def test_privacy_loss_by_any_distance_is_the_largest_over_the_records(distance: Any, between: Any) -> None:
    table = Table.from_arrow(
        {"age": [1, 1, 2, 2, 2, 3, 3, 4], "ill": ["a", "b", "a", "a", "c", "b", "b", "c"]}
    )
    schema = Schema.of({"age": "quasi-identifying", "ill": "sensitive"})
    for release in releases((table, schema)):
        each, prior = beliefs(release, table, "ill")
        expected = [between(belief, prior) for belief in each]
        (found,) = measure(release, [PrivacyLoss(distance=distance)])
        assert found.value == pytest.approx(max(expected), abs=1e-7)
        assert found.detail["mean"] == pytest.approx(sum(expected) / len(expected), abs=1e-7)


def test_privacy_loss_in_order_needs_an_order() -> None:
    table = Table.from_arrow({"age": [1, 2, 3], "ill": ["b", "a", "c"]})
    release = sanitize(table, Schema.of({"age": "quasi-identifying", "ill": "sensitive"}), AsIs())
    with pytest.raises(ParameterError, match="'ill' have no order"):
        measure(release, [PrivacyLoss(distance="ordered")])
    (natural,) = measure(release, [PrivacyLoss(distance="natural")])
    assert natural.value == pytest.approx(2 / 3)


class TestSixPeopleByHand:
    """Four of six people have a: two of the four of one age, and both of the other age."""

    @pytest.fixture
    def release(self) -> LinkedRelease:
        table = Table.from_arrow({"age": [1, 1, 1, 1, 2, 2], "ill": [*"aabb", *"aa"]})
        return sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())

    def test_every_gain(self, release: LinkedRelease) -> None:
        _, knowledge, accuracy, quotients, information = measure(release, MEASURES)
        assert knowledge.value == pytest.approx(4 / 6 * 1 / 6 + 2 / 6 * 1 / 3)
        assert knowledge.detail == {"worst": pytest.approx(1 / 3)}
        assert accuracy.value == pytest.approx(0)
        assert accuracy.baseline == pytest.approx(2 / 3)
        assert accuracy.detail == {"accuracy": pytest.approx(2 / 3)}
        assert quotients.value == math.inf
        assert quotients.detail == {
            "largest-finite": pytest.approx(math.log(3 / 2)),
            "share-ruled-out": pytest.approx(1 / 3),
        }
        half = (math.log(3 / 4) + math.log(3 / 2)) / 2
        assert information.value == pytest.approx(4 / 6 * half + 2 / 6 * math.log(3 / 2))
        whole = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
        assert information.detail == {
            "entropy": pytest.approx(whole),
            "remaining-entropy": pytest.approx(4 / 6 * math.log(2)),
        }

    def test_privacy_loss_and_who_is_above_the_threshold(self, release: LinkedRelease) -> None:
        found = taken(release, PrivacyLoss(), "ill")
        two, four = (float(jensenshannon([2 / 3, 1 / 3], each) ** 2) for each in ([1, 0], [0.5, 0.5]))
        assert found.value == pytest.approx(two)
        assert found.detail == {
            "mean": pytest.approx((2 * two + 4 * four) / 6),
            "percentile-95": pytest.approx(two),
            "share-at-risk": pytest.approx(2 / 6),
        }
        for threshold, share in ((0.0, 1), (found.value - 1e-9, 2 / 6), (found.value, 0)):
            at_risk = taken(release, PrivacyLoss(threshold), "ill").detail["share-at-risk"]
            assert at_risk == pytest.approx(share)
        with pytest.raises(ParameterError, match="threshold must be at least 0"):
            PrivacyLoss(math.nan)

    def test_a_value_that_nobody_has_is_no_surprise(self, release: LinkedRelease) -> None:
        (older,) = [each for each in groups_of(release, "age", 1) if each.name == "2"]
        (found,) = measure(records_of_group(release, older), ["information-gain"])
        assert (found.value, found.detail) == (0, {"entropy": 0.0, "remaining-entropy": 0.0})


def test_the_quotient_is_that_of_the_group_that_differs_most() -> None:
    table = Table.from_arrow({"age": [1] * 4 + [2] * 2 + [3] * 2, "ill": [*"aaab", *"ab", *"ab"]})
    release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
    # b has a quarter of the first class, a half of the others and three eighths of the table
    assert taken(release, DisclosureQuotient(), "ill").value == pytest.approx(math.log(3 / 2))


def test_ninety_four_of_a_hundred_records_are_too_few_for_the_95th_percentile() -> None:
    table = Table.from_arrow({"age": [0] * 94 + [1] * 6, "ill": ["a", "b"] * 47 + ["a"] * 6})
    release = sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), AsIs())
    found = taken(release, PrivacyLoss(), "ill")
    assert found.detail["percentile-95"] == found.value > 0.1
