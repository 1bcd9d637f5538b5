"""What a class says of its parts, against random ways to take it apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveDomain, count_classes
from sfumato.data.hierarchy import Hierarchy
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    ConfidenceBound,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    ProbabilisticDiversity,
    RecursiveDiversity,
    TCloseness,
)
from sfumato.models.bounds import lost_share

MODELS: tuple[PrivacyModel, ...] = (
    KAnonymity(3),
    DistinctDiversity(3),
    ProbabilisticDiversity(1.3),
    ProbabilisticDiversity(2.5),
    EntropyDiversity(1.0),
    EntropyDiversity(2.5),
    RecursiveDiversity(1.5, 2),
    AlphaKAnonymity(0.4, k=1),
    ConfidenceBound(0.6, 0.3),
    ConfidenceBound(0.75, 0.75),
    AlphaKAnonymity(0.6, k=1, alphas={"a": 0.2}),
    *(
        TCloseness(t, distance)
        for t in (0.0, 0.15, 0.4)
        for distance in ("equal", "ordered", "hierarchical", "natural", "js")
    ),
    DeltaDisclosure(0.7, absent="ignored"),
    DeltaDisclosure(0.7),
    BetaLikeness(0.5),
    BetaLikeness(0.5, "enhanced"),
)
LABELS = ("a", "b", "c", "d")
TREE = Hierarchy.nested({"u": ["a", "b"], "v": ["c", "d"]})


def classes_of(counts: np.ndarray[Any, Any], prior: np.ndarray[Any, Any]) -> EquivalenceClasses:
    """Return classes with these counts of the four values."""
    group, value = np.nonzero(counts)
    return count_classes(
        group,
        len(counts),
        counts[group, value],
        {"illness": (value.astype(np.int32), prior)},
        {"illness": SensitiveDomain(LABELS, TREE)},
    )


@st.composite
def parts_of_a_class(draw: st.DrawFn) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Draw the counts of the parts of one class, none empty, and how often the values occur outside of it."""
    row = st.lists(st.integers(0, 8), min_size=4, max_size=4).filter(any)
    parts = np.array(draw(st.lists(row, min_size=1, max_size=6)))
    outside = np.array(draw(st.lists(st.integers(0, 40), min_size=4, max_size=4)))
    return parts, np.maximum(outside, (parts.sum(axis=0) == 0).astype(int))


# What is drawn is drawn for all models: to draw takes longer than to judge.
@given(drawn=parts_of_a_class())
@settings(max_examples=150)
def test_no_way_to_take_a_class_apart_saves_more_than_is_said(drawn: Any) -> None:
    parts, outside = drawn
    total = parts.sum(axis=0) + outside
    prior = total / total.sum()
    whole, apart = classes_of(parts.sum(axis=0, keepdims=True), prior), classes_of(parts, prior)
    for model in MODELS:
        note(str(model))
        share = lost_share(model, whole)[0]
        assert 0 <= share <= 1 + 1e-9
        kept = model.satisfied(apart)
        n_lost = int(parts.sum(axis=1)[~kept].sum())
        assert n_lost >= share * parts.sum() - 1e-6


@given(drawn=parts_of_a_class())
@settings(max_examples=150)
def test_nothing_is_lost_of_a_class_that_holds(drawn: Any) -> None:
    parts, outside = drawn
    total = parts.sum(axis=0) + outside
    classes = classes_of(parts, total / total.sum())
    for model in MODELS:
        note(str(model))
        assert (lost_share(model, classes)[model.satisfied(classes)] == 0).all()


def test_the_share_is_the_least_possible_where_that_is_easily_seen() -> None:
    prior = np.array([0.25, 0.25, 0.25, 0.25])
    three_to_one = classes_of(np.array([[30, 10, 0, 0]]), prior)
    # 20 of the 30 go, then half of the rest has each value
    assert lost_share(ProbabilisticDiversity(2.0), three_to_one)[0] == pytest.approx(0.5)
    assert lost_share(DistinctDiversity(3), three_to_one)[0] == 1
    assert lost_share(KAnonymity(41), three_to_one)[0] == 1
    assert lost_share(KAnonymity(40), three_to_one)[0] == 0


def test_of_a_model_that_is_not_known_nothing_is_said() -> None:
    class Stricter(ProbabilisticDiversity):
        pass

    classes = classes_of(np.array([[5, 0, 0, 0]]), np.full(4, 0.25))
    assert lost_share(ProbabilisticDiversity(2.0), classes)[0] > 0
    assert lost_share(Stricter(2.0), classes)[0] == 0


def test_of_two_sensitive_attributes_the_one_that_loses_more_counts() -> None:
    values = np.array([0, 0, 0, 1], dtype=np.int32)
    others = np.array([0, 1, 0, 1], dtype=np.int32)
    prior = np.array([0.5, 0.5])
    ones = np.ones(4, dtype=np.int64)
    both = count_classes(np.zeros(4, np.int64), 1, ones, {"s": (values, prior), "o": (others, prior)})
    assert lost_share(ProbabilisticDiversity(2.0), both)[0] == pytest.approx(0.5)
