"""What all models share: limits and their ties, levels, and several models at once."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, ClassVar

import numpy as np
import pytest

from sfumato.data.equivalence_classes import EquivalenceClasses, count_classes
from sfumato.models import (
    AlphaKAnonymity,
    BetaLikeness,
    ConfidenceBound,
    Conjunction,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    PrivacyModel,
    ProbabilisticDiversity,
    RecursiveDiversity,
    SafetyOrder,
    TCloseness,
    all_of,
)
from sfumato.models.base import worst_attribute
from sfumato.registry.declarations import Better
from sfumato.runtime.arrays import Floats
from sfumato.runtime.errors import ParameterError


@dataclasses.dataclass(frozen=True)
class Higher(PrivacyModel):
    """A model with scores that are given."""

    at: float
    given: tuple[float, ...]

    guards: ClassVar = "identity"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"
    parameter: ClassVar[str] = "at"

    def scores(self, classes: EquivalenceClasses) -> Floats:
        return np.array(self.given)


class Lower(Higher):
    """The same, where low scores are safe."""

    better: ClassVar[Better] = "lower"


class Strict(Lower):
    """And where the limit itself fails."""

    strict: ClassVar[bool] = True


def classes_of(*texts: str, other: tuple[str, ...] = ()) -> EquivalenceClasses:
    """Return classes with one letter for each record's value; ``other`` is a second attribute."""

    def column(groups: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
        whole = "".join(groups)
        values = sorted(set(whole))
        prior = np.array([whole.count(value) / len(whole) for value in values])
        return np.array([values.index(sign) for sign in whole], dtype=np.int32), prior

    group = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
    columns = {"ill": column(texts)} | ({"job": column(other)} if other else {})
    return count_classes(group, len(texts), np.ones(len(group), np.int64), columns)


ANY = classes_of("ab")


@pytest.mark.parametrize(
    ("model", "limit", "score", "keeps"),
    [
        (Higher, 5, 5, True),
        (Higher, 5, 6, True),
        (Higher, 5, 4, False),
        (Higher, 1, 1 - 5e-13, True),
        (Higher, 1, 1 - 2e-12, False),
        (Lower, 0.3, 0.1 + 0.2, True),
        (Lower, 0.3, 0.31, False),
        (Lower, 0.3, 0.29, True),
        # a tie is one in the last digits: of the limit, where it is large, of 1 where it is small
        (Lower, 0.01, 0.01 + 5e-13, True),
        (Lower, 0.01, 0.01 + 1.5e-12, False),
        (Lower, 1e6, 1e6 + 5e-7, True),
        (Lower, 1e6, 1e6 + 2e-6, False),
        (Lower, 5, math.inf, False),
        (Lower, math.inf, 5, True),
        (Lower, math.inf, 1e300, True),
        (Higher, 5, math.inf, True),
        (Strict, 3, 3, False),
        (Strict, 3, 3 - 1e-12, False),
        (Strict, 3, 3 - 1e-11, True),
        (Strict, math.inf, 2, True),
        (Strict, 3, 4, False),
        # exactly at the end of the tie, where that can be written
        (Higher, 1e12, 1e12 - 1, True),
        (Strict, 1e12, 1e12 - 1, False),
    ],
)
def test_a_limit_is_kept_up_to_the_last_digits(
    model: type[Higher], limit: float, score: float, keeps: bool
) -> None:
    assert model(limit, (score,)).keeps_limit(ANY).tolist() == [keeps]


def test_the_level_is_the_worst_score() -> None:
    assert Higher(2, (3, 1, 2)).level(ANY) == 1
    assert Lower(2, (3, 1, 2)).level(ANY) == 3


def test_a_single_model_is_its_own_only_part() -> None:
    model = Higher(2.0, (1.0, 3.0))
    assert (model.parts, model.written, model.limit) == ((model,), (model,), 2.0)
    assert (model.smallest_class, model.named_values) == (1, ())
    assert model.satisfied(ANY).tolist() == [False, True]
    assert not Higher.asks_only_size
    assert not Higher.strict


class TestSeveral:
    def test_all_must_hold(self) -> None:
        both = all_of([KAnonymity(3), DistinctDiversity(2)])
        assert isinstance(both, Conjunction)
        classes = classes_of("aab", "aaa", "ab", "a")
        assert both.satisfied(classes).tolist() == [True, False, False, False]
        assert both.scores(classes).tolist() == [2, 1, 1, 0]
        assert both.scores(classes).dtype == np.float64
        assert both.keeps_limit(classes).tolist() == [True, False, False, False]
        assert both.limit == 2

    def test_their_order_does_not_matter_and_sizes_come_first(self) -> None:
        models = [TCloseness(0.2), DistinctDiversity(2), KAnonymity(3)]
        expected = (KAnonymity(3), DistinctDiversity(2), TCloseness(0.2))
        assert all_of(models).written == all_of(models[::-1]).written == expected
        assert (models[0] & models[1] & models[2]) == all_of(models)

    def test_the_parts_are_single_models(self) -> None:
        both = AlphaKAnonymity(0.5, k=4) & DistinctDiversity(2)
        assert both.parts == (KAnonymity(4), AlphaKAnonymity(0.5, k=4), DistinctDiversity(2))
        assert both.limit == 3
        # the class of two lacks size, the one of four a second value
        assert both.satisfied(classes_of("ab", "aaaa", "aabb")).tolist() == [False, False, True]

    def test_the_largest_of_the_smallest_classes_counts(self) -> None:
        assert (KAnonymity(3) & ProbabilisticDiversity(4.5)).smallest_class == 5
        assert (KAnonymity(7) & ProbabilisticDiversity(4.5)).smallest_class == 7

    def test_one_model_stays_itself(self) -> None:
        assert all_of([KAnonymity(3)]) == KAnonymity(3)

    def test_the_same_model_twice_is_refused(self) -> None:
        with pytest.raises(ParameterError, match="stands twice"):
            all_of([KAnonymity(3), DistinctDiversity(2), KAnonymity(4)])


def test_the_worst_attribute_counts() -> None:
    classes = classes_of("ab", "cc", "abc", other=("xx", "yx", "xyz"))

    def size(counts: object) -> Floats:
        return np.diff(counts.starts).astype(np.float64)  # type: ignore[attr-defined]

    assert worst_attribute(classes, "higher", size).tolist() == [1, 1, 3]
    assert worst_attribute(classes, "lower", size).tolist() == [2, 2, 3]


def test_without_a_sensitive_attribute_a_model_says_what_is_missing() -> None:
    classes = count_classes(np.zeros(2, np.int64), 1, np.ones(2, np.int64), {})
    with pytest.raises(ParameterError, match="needs a sensitive attribute"):
        DistinctDiversity(2).scores(classes)
    assert KAnonymity(2).scores(classes).tolist() == [2]


def test_what_the_models_declare() -> None:
    """The facts that searches rely on, as the papers have them; merging groups never makes them less safe."""
    size, values, apart = ("identity", "higher"), ("attribute", "higher"), ("attribute", "lower")
    declared: list[tuple[PrivacyModel, tuple[Any, ...]]] = [
        (KAnonymity(), (*size, False, "k", True)),
        (DistinctDiversity(), (*values, False, "l", False)),
        (ProbabilisticDiversity(), (*values, False, "l", False)),
        (EntropyDiversity(), (*values, False, "l", False)),
        (SafetyOrder(), (*values, False, "d1", False)),
        (RecursiveDiversity(), (*apart, True, "c", False)),
        (AlphaKAnonymity(), (*apart, False, "alpha", False)),
        (ConfidenceBound(), (*apart, False, "share", False)),
        (TCloseness(), (*apart, False, "t", False)),
        (BetaLikeness(), (*apart, False, "beta", False)),
        (DeltaDisclosure(), (*apart, True, "delta", False)),
    ]
    for model, facts in declared:
        found = (model.guards, model.better, model.strict, model.parameter, model.asks_only_size)
        assert found == facts, model
        assert model.is_monotone
        assert type(model).monotone
    assert Conjunction((KAnonymity(),)).better == "higher"


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (KAnonymity, {"k": 1}),
        (DistinctDiversity, {"l": 1}),
        (ProbabilisticDiversity, {"l": 1.0}),
        (EntropyDiversity, {"l": 1.0}),
        (RecursiveDiversity, {"c": 0.001}),
        (RecursiveDiversity, {"l": 1}),
        (SafetyOrder, {"d1": 1, "d2": 1}),
        (AlphaKAnonymity, {"alpha": 1.0, "k": 1}),
        (AlphaKAnonymity, {"alpha": 0.001, "alphas": {"x": 1.0}}),
        (ConfidenceBound, {"share": 0.001, "common": 1.0}),
        (TCloseness, {"t": 0.0}),
        (BetaLikeness, {"beta": 0.0}),
        (DeltaDisclosure, {"delta": 0.001, "base": 1.001}),
    ],
)
def test_the_least_that_makes_sense_is_allowed(model: Any, given: dict[str, Any]) -> None:
    for name, value in given.items():
        assert getattr(model(**given), name) == value


@pytest.mark.parametrize(
    ("model", "given"),
    [
        (KAnonymity, {"k": 0}),
        (DistinctDiversity, {"l": 0}),
        (ProbabilisticDiversity, {"l": 0.999}),
        (ProbabilisticDiversity, {"l": math.nan}),
        (EntropyDiversity, {"l": 0.999}),
        (EntropyDiversity, {"l": math.nan}),
        (RecursiveDiversity, {"c": 0.0}),
        (RecursiveDiversity, {"c": math.nan}),
        (RecursiveDiversity, {"l": 0}),
        (RecursiveDiversity, {"l": 1.5}),
        (DistinctDiversity, {"l": 2.5}),
        (SafetyOrder, {"d1": 0}),
        (SafetyOrder, {"d2": 0}),
        (AlphaKAnonymity, {"alpha": 0.0}),
        (ConfidenceBound, {"share": 0.0}),
        (ConfidenceBound, {"common": 1.001}),
        (AlphaKAnonymity, {"alpha": 1.001}),
        (AlphaKAnonymity, {"alpha": math.nan}),
        (AlphaKAnonymity, {"alphas": {"x": 0.0}}),
        (AlphaKAnonymity, {"alphas": {"x": 0.5, "y": 1.001}}),
        (AlphaKAnonymity, {"k": 0}),
        (TCloseness, {"t": -0.001}),
        (TCloseness, {"t": math.nan}),
        (BetaLikeness, {"beta": -0.001}),
        (BetaLikeness, {"beta": math.nan}),
        (DeltaDisclosure, {"delta": 0.0}),
        (DeltaDisclosure, {"delta": math.nan}),
        (DeltaDisclosure, {"base": 1.0}),
        (DeltaDisclosure, {"base": math.nan}),
    ],
)
def test_less_is_refused_by_its_name(model: Any, given: dict[str, Any]) -> None:
    name = r"alphas\.\w" if "alphas" in given else next(iter(given))
    with pytest.raises(ParameterError, match=f"^{name} must be "):
        model(**given)
