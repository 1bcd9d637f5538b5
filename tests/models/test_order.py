"""The order of the paper's equations 8 and 9: which classes come before (d1, d2)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.equivalence_classes import EquivalenceClasses, count_classes
from sfumato.models import SafetyOrder
from sfumato.runtime.errors import ParameterError

CLASSES = st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3).filter(any), min_size=1, max_size=6)


def classes_of(counts: list[list[int]]) -> EquivalenceClasses:
    sizes = [sum(each) for each in counts]
    values = [value for each in counts for value, count in enumerate(each) for _ in range(count)]
    class_of = np.repeat(np.arange(len(counts)), sizes)
    prior = np.bincount(values, minlength=3) / len(values)
    return count_classes(
        class_of,
        len(counts),
        np.ones(len(values), dtype=np.int64),
        {"s": (np.array(values, np.int32), prior)},
    )


@pytest.mark.parametrize("prefer", ["k", "l"])
@pytest.mark.parametrize("diversity_is", ["probabilistic", "distinct"])
@given(counts=CLASSES, d1=st.integers(1, 9), d2=st.integers(1, 4))
def test_classes_stay_from_the_pair_on(
    prefer: Any, diversity_is: Any, counts: list[list[int]], d1: int, d2: int
) -> None:
    kept = SafetyOrder(d1, d2, prefer, diversity_is).keeps_limit(classes_of(counts))
    for stays, each in zip(kept, counts, strict=True):
        size, diversity = sum(each), sum(each) // max(each)
        if diversity_is == "distinct":
            diversity = sum(count > 0 for count in each)
        pair, limit = ((size, diversity), (d1, d2)) if prefer == "l" else ((diversity, size), (d2, d1))
        assert stays == (pair >= limit)


def test_it_is_not_safety() -> None:
    """Ten records with one and the same value stay: larger than d1, whatever their diversity."""
    assert SafetyOrder(3, 3).keeps_limit(classes_of([[10, 0, 0], [1, 1, 1]])).all()


@pytest.mark.parametrize("wrong", [{"d1": 0}, {"d2": 0}])
def test_it_refuses_what_makes_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="must be at least 1"):
        SafetyOrder(**wrong)
