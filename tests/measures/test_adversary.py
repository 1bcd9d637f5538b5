"""What an adversary gains, against brute force over the written records."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from sfumato import (
    AccuracyGain,
    AsIs,
    FullDomain,
    KAnonymity,
    KnowledgeGain,
    Mondrian,
    PrivacyLoss,
    Release,
    Schema,
    SuppressQuasiIdentifiers,
    SuppressSensitive,
    Table,
    measure,
    sanitize,
)

Bound = tuple[Table, Schema]


def releases(bound: Bound) -> list[Release]:
    """Return releases with and without suppressed records."""
    table, schema = bound
    made = [
        sanitize(table, schema, AsIs()),
        sanitize(table, schema, Mondrian(KAnonymity(min(2, table.n_records)))),
    ]
    if made[0].classes.sizes.max() >= 2:
        made.append(sanitize(table, schema, FullDomain({}, KAnonymity(2), suppression=1.0)))
    return made


def beliefs(release: Release, table: Table, name: str) -> tuple[list[dict[Any, float]], dict[Any, float]]:
    """Return for each released record the distribution of its class, and the prior of all originals."""
    everybody = Counter(table.to_arrow()[name].to_pylist())
    classes: dict[tuple[Any, ...], Counter[Any]] = {}
    for record in release.to_arrow().to_pylist():
        classes.setdefault(tuple(record[q] for q in release.schema.quasi_identifiers), Counter())[
            record[name]
        ] += 1
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


def taken(release: Release, what: Any, name: str) -> Any:
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
    found = measure(release, ["privacy-loss", "knowledge-gain", "accuracy-gain"])
    assert [m.value for m in found] == [0.0] * len(found)
    assert not any(value for m in found for key, value in m.detail.items() if key != "accuracy")


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
    for found in measure(release, ["privacy-loss", "knowledge-gain", "accuracy-gain"]):
        assert not found.applicable
        assert found.detail["reason"] == "the release has no sensitive attribute"
