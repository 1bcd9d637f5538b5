"""Workload utility: nothing gained by a trivial release, everything by one that keeps what matters."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import numpy as np
import pytest
from scipy.stats import norm
from tests.unknown_rows import with_unknown_rows

from sfumato import Schema, Table, measure, sanitize
from sfumato.measures import WorkloadUtility
from sfumato.measures.utility import workload
from sfumato.measures.utility.workload import trivial_features
from sfumato.miners import accuracy, predict
from sfumato.models import KAnonymity
from sfumato.reading import datasets
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease, link
from sfumato.results.measurement import build_measure
from sfumato.results.release import Release
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import (
    Anatomy,
    AsIs,
    Clustering,
    FullDomain,
    Mondrian,
    SuppressQuasiIdentifiers,
    SuppressSensitive,
)

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
    assert build_measure(asked.label) == asked


def test_a_miner_that_does_not_finish_is_named(needing_both: Bound, gate: Any) -> None:
    release = sanitize(*needing_both, AsIs())
    taken = gain(release, target="target", miners=("endless",), time_limit=0.001, seed=5)
    assert taken.value is None
    assert taken.detail["reason"] == "no miner finished; give them more time"


def test_a_release_that_does_not_know_its_original_is_not_judged(hospital: Bound) -> None:
    release = sanitize(*hospital, AsIs()).unlinked()
    assert gain(release).detail["reason"] == (
        "the original is needed, and the release was read from files alone"
    )


def test_without_its_rows_a_release_is_judged_by_a_target_that_was_released_exactly(hospital: Bound) -> None:
    release = sanitize(*hospital, Mondrian(KAnonymity(3)))
    assert gain(with_unknown_rows(release)) == gain(release)
    withheld = with_unknown_rows(sanitize(*hospital, SuppressSensitive()))
    exchanged = with_unknown_rows(sanitize(*hospital, Anatomy(2)))
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


def test_parameters_at_the_ends_of_their_ranges_are_allowed() -> None:
    assert (WorkloadUtility(folds=2).folds, WorkloadUtility(time_limit=0.5).time_limit) == (2, 0.5)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"target": "age", "miners": ("mean-number",)}, "mean-number predicts numbers; choose miners"),
        ({"miners": ("decision-three",)}, "did you mean 'decision-tree'"),
        ({"target": "diagnose"}, "did you mean 'diagnosis'"),
    ],
)
def test_names_are_checked(parameters: dict[str, Any], message: str, hospital: Bound) -> None:
    with pytest.raises(ParameterError, match=message):
        WorkloadUtility(**parameters).measure(sanitize(*hospital, AsIs()))


class TestWithoutMiners:
    """Accuracies are given, so that what is made of them can be worked by hand."""

    SCHEMA = Schema.of(q="quasi-identifying", s="sensitive", target="insensitive")
    # six records are original, and the one that is alone with its q is left out
    TABLE: ClassVar[dict[str, list[str]]] = {
        "q": list("aaabbc"),
        "s": list("xyxyxy"),
        "target": list("mnmnmn"),
    }
    ON_RELEASE: ClassVar[dict[str, float | None]] = {"one-rule": 0.6, "majority": 0.5}
    ON_ORIGINAL: ClassVar[dict[tuple[str, ...] | None, dict[str, float | None]]] = {
        None: {"one-rule": 0.7, "majority": 0.9},
        ("s", "target"): {"one-rule": 0.2, "majority": 0.3},
        ("q", "target"): {"one-rule": 0.4, "majority": 0.1},
    }

    def release(self) -> LinkedRelease:
        how = FullDomain({}, KAnonymity(2), suppression=0.5)
        return sanitize(Table.from_arrow(self.TABLE), self.SCHEMA, how)

    def taken(
        self, patch: pytest.MonkeyPatch, release: LinkedRelease, target: str = "target", **changed: Any
    ) -> Any:
        asked: list[dict[str, Any]] = []
        on_release = {**self.ON_RELEASE, **changed}

        def predicted(view: LinkedRelease, name: str, miner: str, **settings: Any) -> Any:
            asked.append({"name": name, **settings})
            whole = on_release if view is release else self.ON_ORIGINAL.get(settings["features"])
            share = self.ON_ORIGINAL["s", "target"][miner] if whole is None else whole[miner]
            return SimpleNamespace(share=share, finished=share is not None)

        patch.setattr(workload, "predict", predicted)
        patch.setattr(workload, "accuracy", lambda _, found: found.share)
        how = WorkloadUtility(target, ("majority", "one-rule"), 3, 4, 9.0, "labels")
        (taken,) = measure(release, [how])
        settings = {"folds": 3, "seed": 4, "time_limit": 9.0, "cells": "labels"}
        assert all(each.items() >= settings.items() for each in asked)
        return taken

    def test_the_best_miners_are_compared(self, monkeypatch: pytest.MonkeyPatch) -> None:
        taken = self.taken(monkeypatch, self.release())
        assert taken.detail == {
            "accuracy": 0.6,
            "maximum": 0.9,
            "miner": "one-rule",
            "accuracy-of-majority": 0.5,
            "accuracy-of-one-rule": 0.6,
            "baseline-miner": "one-rule",
            "baseline-withholds": "sensitive attributes",
            "records": 5,
            # x and y are as common; guesses are right for two of three and one of two
            "accuracy-gain": pytest.approx(3 / 5 - 3 / 6),
        }
        assert (taken.value, taken.baseline, taken.attribute) == (pytest.approx(0.2), 0.4, None)
        radius = norm.ppf(0.975) * math.sqrt(0.6 * 0.4 / 5 + 0.4 * 0.6 / 6)
        assert taken.interval == pytest.approx((0.2 - radius, 0.2 + radius))

    def test_who_did_not_finish_on_the_release_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        taken = self.taken(monkeypatch, self.release(), **{"one-rule": None})
        assert (taken.detail["miner"], taken.detail["unfinished"]) == ("majority", "one-rule")
        assert "accuracy-of-one-rule" not in taken.detail
        nobody = self.taken(monkeypatch, self.release(), **{"one-rule": None, "majority": None})
        assert nobody.detail["reason"] == "no miner finished; give them more time"

    def test_the_best_miner_is_the_one_that_is_right_most_often(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        taken = self.taken(monkeypatch, self.release(), majority=0.65)
        assert (taken.detail["miner"], taken.detail["accuracy"]) == ("majority", 0.65)

    def test_all_who_did_not_finish_are_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(WorkloadUtility, "_accuracies", lambda *_: {"one-rule": 0.5})
        how = WorkloadUtility("target", ("majority", "one-rule", "decision-tree"))
        (taken,) = measure(self.release(), [how])
        assert taken.detail["unfinished"] == "majority, decision-tree"

    def test_the_adversary_gains_most_from_one_of_the_sensitive_attributes(self) -> None:
        columns = {"q": list("aabb"), "s": list("xxyy"), "t": list("uvuv")}
        schema = Schema.of(q="quasi-identifying", s="sensitive", t="sensitive")
        release = sanitize(Table.from_arrow(columns), schema, AsIs())
        # whoever knows q knows s, which one in two guesses without it, and no more of t
        assert workload._adversary(release) == {"accuracy-gain": 0.5}

    def test_a_trivial_release_that_nobody_learned_from_is_not_the_better_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        nobody: dict[str, float | None] = {"one-rule": None, "majority": None}
        monkeypatch.setitem(self.ON_ORIGINAL, ("q", "target"), nobody)
        taken = self.taken(monkeypatch, self.release())
        assert (taken.detail["baseline-withholds"], taken.baseline) == ("quasi-identifiers", 0.3)
        monkeypatch.setitem(self.ON_ORIGINAL, ("s", "target"), nobody)
        taken = self.taken(monkeypatch, self.release())
        assert taken.detail["reason"] == "no miner finished; give them more time"

    def test_without_its_rows_a_release_tells_no_truth_about_a_target_that_it_withholds(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        withheld = sanitize(Table.from_arrow(self.TABLE), self.SCHEMA, SuppressSensitive())
        assert self.taken(monkeypatch, withheld, "s").value is not None
        unknown = self.taken(monkeypatch, with_unknown_rows(withheld), "s")
        assert "true values of 's' are not known" in unknown.detail["reason"]

    def test_a_sensitive_target_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        taken = self.taken(monkeypatch, self.release(), "s")
        assert (taken.attribute, taken.detail["baseline-withholds"]) == ("s", "quasi-identifiers")

    def test_of_changed_records_no_adversary_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        perturbed = replace(self.release(), type="perturbed")
        assert "accuracy-gain" not in self.taken(monkeypatch, perturbed).detail

    def test_without_another_side_no_trivial_release_is_left(self, monkeypatch: pytest.MonkeyPatch) -> None:
        columns = {name: self.TABLE[name] for name in ("q", "target")}
        schema = Schema.of(q="quasi-identifying", target="insensitive")
        release = sanitize(Table.from_arrow(columns), schema, AsIs())
        assert self.taken(monkeypatch, release).detail["baseline-withholds"] == "quasi-identifiers"
        assert "accuracy-gain" not in self.taken(monkeypatch, release).detail
        alone = self.taken(monkeypatch, release, "q")
        assert alone.detail["reason"] == "no trivial release leaves 'q' to be learned"

    @pytest.mark.parametrize(("n_released", "n_original"), [(1, 5), (5, 1)])
    def test_both_tables_need_two_records(self, n_released: int, n_original: int) -> None:
        schema = Schema.of(q="quasi-identifying", target="insensitive")
        released, original = (
            sanitize(Table.from_arrow({n: self.TABLE[n][:n_rows] for n in ("q", "target")}), schema, AsIs())
            for n_rows in (n_released, n_original)
        )
        with pytest.raises(NotApplicable, match="at least two records"):
            WorkloadUtility().measure(link(released.unlinked(), original.origin))

    def test_of_one_record_nothing_is_learned(self) -> None:
        for n, reason in ((1, "at least two records"), (2, "name a target")):
            columns = {name: self.TABLE[name][:n] for name in ("q", "target")}
            schema = Schema.of(q="quasi-identifying", target="insensitive")
            assert reason in gain(sanitize(Table.from_arrow(columns), schema, AsIs())).detail["reason"]
