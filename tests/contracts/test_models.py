"""What every registered privacy model must do, whatever it is."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from sfumato.data.equivalence_classes import EquivalenceClasses, count_classes
from sfumato.measures import LevelReached
from sfumato.models import PrivacyModel
from sfumato.models.base import build_model
from sfumato.models.distances import distance_names
from sfumato.registry import methods
from sfumato.runtime.errors import UserError

MODELS = methods.registered("model")


def variants() -> Iterator[PrivacyModel]:
    """Yield every model with its defaults, and with every value of every choice that it offers."""
    for cls in MODELS.values():
        yield cls()
        for name, hint in get_type_hints(cls).items():
            if name in {field.name for field in dataclasses.fields(cls)} and get_origin(hint) is Literal:
                yield from (cls(**{name: value}) for value in get_args(hint) if value != getattr(cls(), name))
        for name, what in methods.named_in(cls).items():
            if what == "distance":
                yield from (
                    cls(**{name: value}) for value in distance_names() if value != getattr(cls(), name)
                )


VARIANTS = list(variants())
EVERY_MODEL = pytest.mark.parametrize("model", VARIANTS, ids=str)


def each_model() -> Iterator[PrivacyModel]:
    """Yield the models one after the other, and name each: if it fails, Hypothesis says which it was.

    What is drawn is drawn for all of them, since to draw takes longer than to judge.
    """
    for model in VARIANTS:
        note(str(model))
        yield model


@st.composite
def histograms(draw: st.DrawFn) -> np.ndarray[Any, Any]:
    """Draw the counts of up to 5 values in up to 5 classes, none of them empty."""
    n_values = draw(st.integers(1, 5))
    row = st.lists(st.integers(0, 6), min_size=n_values, max_size=n_values).filter(any)
    return np.array(draw(st.lists(row, min_size=1, max_size=5)))


def classes_of(*counts: np.ndarray[Any, Any]) -> EquivalenceClasses:
    """Return classes with these counts, one matrix for each sensitive attribute, equal row sums."""
    n_classes = len(counts[0])
    place = [np.nonzero(matrix) for matrix in counts]
    sizes = counts[0].sum(axis=1)
    class_of = np.repeat(np.arange(n_classes), sizes)
    sensitive = {
        f"s{index}": (
            np.repeat(place[index][1], matrix[place[index]]).astype(np.int32),
            matrix.sum(axis=0) / matrix.sum(),
        )
        for index, matrix in enumerate(counts)
    }
    return count_classes(class_of, n_classes, np.ones(len(class_of), dtype=np.int64), sensitive)


def merged(counts: np.ndarray[Any, Any], first: int, second: int) -> np.ndarray[Any, Any]:
    together = np.delete(counts, [first, second], axis=0)
    return np.vstack([together, counts[first] + counts[second]])


def reversed_within_rows(counts: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return counts[:, ::-1].copy()


@given(counts=histograms())
@settings(max_examples=60)
def test_one_score_for_each_class_never_nan(counts: np.ndarray[Any, Any]) -> None:
    classes = classes_of(counts)
    for model in each_model():
        scores = model.scores(classes)
        assert scores.shape == (classes.n_classes,)
        assert scores.dtype == np.float64
        assert not np.isnan(scores).any()


@given(counts=histograms().filter(lambda counts: len(counts) > 1), data=st.data())
@settings(max_examples=60)
def test_merging_two_classes_never_lowers_the_safety(
    counts: np.ndarray[Any, Any], data: st.DataObject
) -> None:
    first, second = sorted(data.draw(st.permutations(range(len(counts))))[:2])
    apart, together = classes_of(counts), classes_of(merged(counts, first, second))
    for model in (each for each in each_model() if each.is_monotone):
        before = model.scores(apart)[[first, second]]
        after = model.scores(together)[-1]
        if model.better == "higher":
            assert after >= before.min() - 1e-12
        else:
            assert after <= before.max() + 1e-12


@given(counts=histograms().filter(lambda counts: len(counts) > 1))
@settings(max_examples=60)
def test_if_all_classes_hold_so_does_a_merged_one(counts: np.ndarray[Any, Any]) -> None:
    apart, together = classes_of(counts), classes_of(merged(counts, 0, 1))
    for model in (each for each in each_model() if each.is_monotone):
        if model.satisfied(apart).all():
            assert model.satisfied(together).all()


@given(counts=histograms())
@settings(max_examples=60)
def test_the_order_of_the_classes_does_not_matter(counts: np.ndarray[Any, Any]) -> None:
    forward, backward = classes_of(counts), classes_of(counts[::-1])
    for model in each_model():
        np.testing.assert_array_equal(model.scores(forward), model.scores(backward)[::-1])


@given(counts=histograms())
@settings(max_examples=60)
def test_of_two_sensitive_attributes_the_less_safe_one_counts(counts: np.ndarray[Any, Any]) -> None:
    other = reversed_within_rows(counts)
    other[:, 0] += other[:, 1:].sum(axis=1)
    other[:, 1:] = 0  # everybody has the same value
    one, same, both = classes_of(counts), classes_of(other), classes_of(counts, other)
    for model in each_model():
        each = [model.scores(classes) for classes in (one, same)]
        worst = np.minimum(*each) if model.better == "higher" else np.maximum(*each)
        np.testing.assert_array_equal(model.scores(both), worst)


@given(counts=histograms())
@settings(max_examples=60)
def test_the_level_is_the_worst_score_and_says_whether_the_limit_is_kept(
    counts: np.ndarray[Any, Any],
) -> None:
    classes = classes_of(counts)
    for model in each_model():
        scores = model.scores(classes)
        level = model.level(classes)
        assert level == (min(scores) if model.better == "higher" else max(scores))
        reaches = {
            ("higher", False): level >= model.limit - 1e-9,
            ("higher", True): level > model.limit,
            ("lower", False): level <= model.limit + 1e-9,
            ("lower", True): level < model.limit,
        }
        if abs(level - model.limit) > 1e-9 or not model.strict:
            assert bool(model.keeps_limit(classes).all()) is reaches[model.better, model.strict]


@EVERY_MODEL
def test_a_model_declares_its_facts(model: PrivacyModel) -> None:
    assert model.guards in ("identity", "attribute")
    assert model.better in ("lower", "higher")
    assert isinstance(model.monotone, bool)
    assert isinstance(model.strict, bool)
    assert model.parameter in {field.name for field in dataclasses.fields(model)}  # type: ignore[arg-type]
    assert model.limit == getattr(model, model.parameter)
    assert model in model.parts
    assert model.written == (model,)
    assert LevelReached(model).name == methods.name_of(type(model))


@EVERY_MODEL
def test_a_model_survives_json(model: PrivacyModel) -> None:
    name, parameters = methods.describe(model)
    read = json.loads(json.dumps({name: parameters}))
    assert build_model(read) == model


@EVERY_MODEL
def test_a_model_of_sensitive_values_refuses_a_table_without_any(model: PrivacyModel) -> None:
    nothing = count_classes(np.zeros(3, dtype=np.int64), 1, np.ones(3, dtype=np.int64), {})
    if model.guards == "identity" and not np.isnan(model.scores(nothing)).any():
        return
    with pytest.raises(UserError, match="sensitive"):
        model.scores(nothing)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("wrong", [float("nan"), -1])
def test_a_limit_that_makes_no_sense_is_refused(name: str, wrong: float) -> None:
    with pytest.raises(UserError, match=MODELS[name].parameter):
        methods.build("model", name, {MODELS[name].parameter: wrong})
