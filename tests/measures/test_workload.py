"""Workload utility: nothing gained by a trivial release, everything by one that keeps what matters."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from sfumato import (
    Anatomy,
    AsIs,
    Clustering,
    FullDomain,
    KAnonymity,
    Mondrian,
    Release,
    Schema,
    SuppressQuasiIdentifiers,
    SuppressSensitive,
    Table,
    WorkloadUtility,
    datasets,
    measure,
    registry,
    sanitize,
)
from sfumato.errors import ParameterError
from sfumato.measures.workload import trivial_features
from sfumato.miners import accuracy, predict

Bound = tuple[Table, Schema]


@pytest.fixture(scope="module")
def needing_both() -> Bound:
    """A neutral attribute that is a function of a quasi-identifier and the sensitive attribute."""
    rng = np.random.default_rng(0)
    q, s = rng.integers(0, 2, 400), rng.integers(0, 3, 400)
    columns = {"q": q.astype(str), "noise": rng.integers(0, 9, 400).astype(str), "s": s.astype(str)}
    target = np.where(q == 1, s, 0).astype(str)
    roles: dict[str, Any] = {
        "q": "quasi-identifying",
        "noise": "quasi-identifying",
        "s": "sensitive",
        "target": "insensitive",
    }
    return Schema.of(roles).bind(Table.from_arrow({**columns, "target": target}))


def gain(release: Release, **parameters: Any) -> Any:
    (taken,) = measure(release, [WorkloadUtility(**{"folds": 4, **parameters})])
    return taken


def test_a_release_that_keeps_both_sides_gains_what_a_trivial_one_lacks(needing_both: Bound) -> None:
    taken = gain(sanitize(*needing_both, AsIs()), target="target")
    assert taken.attribute is None
    assert taken.detail["accuracy"] == taken.detail["maximum"] == 1.0
    assert taken.value == pytest.approx(1 - taken.baseline)
    assert 0.6 < taken.baseline < 0.75
    assert taken.interval[0] < taken.value < taken.interval[1]
    assert taken.parameters == {"target": "target", "folds": 4}


@pytest.mark.parametrize("how", [SuppressQuasiIdentifiers(), SuppressSensitive()])
def test_a_trivial_release_gains_nothing(how: Any, needing_both: Bound) -> None:
    taken = gain(sanitize(*needing_both, how), target="target")
    assert taken.value <= 0
    assert taken.detail["maximum"] == 1.0


def test_the_baseline_is_the_better_of_the_two_trivial_releases(needing_both: Bound) -> None:
    trivial = {
        "quasi-identifiers": gain(sanitize(*needing_both, SuppressQuasiIdentifiers()), target="target"),
        "sensitive attributes": gain(sanitize(*needing_both, SuppressSensitive()), target="target"),
    }
    best = max(taken.detail["accuracy"] for taken in trivial.values())
    for taken in trivial.values():
        assert taken.baseline == best
        assert trivial[taken.detail["baseline-withholds"]].detail["accuracy"] == best


def test_what_is_withheld_is_not_learned_from(needing_both: Bound) -> None:
    schema = needing_both[1]
    assert dict(trivial_features(schema, "target")) == {
        "quasi-identifiers": ("s", "target"),
        "sensitive attributes": ("q", "noise", "target"),
    }
    assert list(dict(trivial_features(schema, "s"))) == ["quasi-identifiers"]
    assert list(dict(trivial_features(schema, "q"))) == ["sensitive attributes"]


@pytest.mark.parametrize("cells", ["shares", "labels"])
def test_miners_see_cells_as_they_are_told_to(cells: Any) -> None:
    table, schema = datasets.adult(quasi_identifiers=("age", "education", "race"), sensitive=("salary",))
    release = sanitize(table.part(np.arange(300), table.weights[:300]), schema, Clustering(KAnonymity(4)))
    right = {
        how: accuracy(release, predict(release, "salary", "naive-bayes", folds=4, cells=how))
        for how in (cast(Any, "shares"), cast(Any, "labels"))
    }
    taken = gain(release, miners=("naive-bayes",), cells=cells)
    assert right["shares"] != right["labels"]
    assert taken.detail["accuracy"] == right[cells]


def test_an_independent_target_gains_nothing() -> None:
    rng = np.random.default_rng(1)
    columns = {name: rng.integers(0, 3, 1500).astype(str) for name in ("q", "s", "target")}
    schema = Schema.of(q="quasi-identifying", s="sensitive", target="insensitive")
    taken = gain(sanitize(Table.from_arrow(columns), schema, AsIs()), target="target")
    assert taken.interval[0] <= 0 <= taken.interval[1] or abs(taken.value) < 0.03


def test_by_default_every_sensitive_attribute_is_learned(hospital: Bound) -> None:
    taken = gain(sanitize(*hospital, AsIs()))
    assert taken.attribute == "diagnosis"
    assert taken.detail["baseline-withholds"] == "quasi-identifiers"
    assert taken.detail["accuracy-gain"] > 0
    assert taken.detail["records"] == 12


def test_suppressed_records_are_not_predicted(hospital: Bound) -> None:
    release = sanitize(*hospital, FullDomain({"zip": 1, "age": 1}, KAnonymity(2), suppression=1.0))
    assert release.n_suppressed
    assert gain(release).detail["records"] == release.n_records


def test_the_best_miner_counts_and_all_are_told(needing_both: Bound) -> None:
    taken = gain(sanitize(*needing_both, AsIs()), target="target", miners=("majority", "decision-tree"))
    assert taken.detail["miner"] == "decision-tree"
    assert taken.detail["accuracy-of-majority"] < taken.detail["accuracy-of-decision-tree"] == 1.0


def test_its_label_is_read_back() -> None:
    asked = WorkloadUtility("target", ("majority", "one-rule"), folds=3)
    assert asked.label == "workload-utility target=target miners=majority,one-rule folds=3"
    assert registry.build_measure(asked.label) == asked


def test_a_miner_that_does_not_finish_is_named(needing_both: Bound) -> None:
    release = sanitize(*needing_both, AsIs())
    taken = gain(release, target="target", miners=("random-forest",), time_limit=0.001, seed=5)
    assert taken.value is None
    assert taken.detail["reason"] == "no miner finished; give them more time"


def test_a_release_that_does_not_know_its_original_is_not_judged(hospital: Bound) -> None:
    release = replace(sanitize(*hospital, AsIs()), original=None, rows=None)
    assert gain(release).detail["reason"] == "the original is not known"


def test_without_its_rows_a_release_is_judged_by_a_target_that_was_released_exactly(hospital: Bound) -> None:
    release = sanitize(*hospital, Mondrian(KAnonymity(3)))
    assert gain(replace(release, rows=None)) == gain(release)
    withheld = replace(sanitize(*hospital, SuppressSensitive()), rows=None)
    exchanged = replace(sanitize(*hospital, Anatomy(2)), rows=None)
    for hidden in (withheld, exchanged):
        assert "true values of 'diagnosis' are not known" in gain(hidden).detail["reason"]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"miners": ()}, "at least one"),
        ({"folds": 1}, "folds must be at least 2"),
        ({"time_limit": 0}, "time-limit must be above 0"),
        ({"cells": "names"}, "cells cannot be 'names'; allowed are shares, labels"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        WorkloadUtility(**parameters)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"miners": ("mean-number",)}, "mean-number predicts numbers"),
        ({"miners": ("decision-three",)}, "did you mean 'decision-tree'"),
        ({"target": "diagnose"}, "did you mean 'diagnosis'"),
    ],
)
def test_names_are_checked(parameters: dict[str, Any], message: str, hospital: Bound) -> None:
    with pytest.raises(ParameterError, match=message):
        WorkloadUtility(**parameters).measure(sanitize(*hospital, AsIs()))
