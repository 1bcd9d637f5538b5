"""Predictions: out of fold, for every record, the same every time, and as good as they should be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from sklearn.naive_bayes import MultinomialNB
from tests.unknown_rows import with_unknown_rows

from sfumato import Intervals, Schema, Table, sanitize
from sfumato.data.schema import Attribute
from sfumato.miners import (
    FoldsDone,
    NaiveBayes,
    RandomForest,
    accuracy,
    original_view,
    predict,
    predict_from_all,
    true_codes,
)
from sfumato.miners.cross_validation import forget
from sfumato.miners.folds import held_out
from sfumato.models import KAnonymity
from sfumato.registry import methods
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.origin import Origin
from sfumato.results.released_column import Cells, ValueSets
from sfumato.runtime.errors import DataError, ParameterError
from sfumato.sanitizers import Anatomy, FullDomain, Laplace, SuppressSensitive

Bound = tuple[Table, Schema]

CLASSIFIERS = [name for name, cls in methods.registered("miner").items() if cls.predicts == "category"]
REGRESSORS = [name for name, cls in methods.registered("miner").items() if cls.predicts == "number"]


def made(n_records: int, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "a": rng.choice(["p", "q", "r"], n_records),
        "b": rng.choice(["x", "y"], n_records),
        "c": rng.choice(["p", "q", "r"], n_records),
        "n": rng.integers(0, 40, n_records),
    }


def view_of(columns: dict[str, Any]) -> LinkedRelease:
    roles: dict[str, Any] = {name: "quasi-identifying" for name in columns if name != "target"}
    return original_view(Table.from_arrow(columns), Schema.of(roles | {"target": "sensitive"}))


@pytest.fixture(scope="module")
def independent() -> LinkedRelease:
    columns = made(1200)
    return view_of({**columns, "target": np.random.default_rng(9).choice(["u", "v", "w"], 1200)})


@pytest.fixture(scope="module")
def determined() -> LinkedRelease:
    columns = made(1200)
    return view_of({**columns, "target": np.where(columns["b"] == "x", columns["a"], columns["c"])})


def test_the_reference_set_is_large_enough() -> None:
    assert len(CLASSIFIERS) >= 15
    assert len(REGRESSORS) >= 8


@pytest.mark.parametrize("miner", CLASSIFIERS)
def test_no_miner_learns_what_cannot_be_learned(miner: str, independent: LinkedRelease) -> None:
    found = predict(independent, "target", miner, folds=3)
    assert found.finished
    assert accuracy(independent, found) == pytest.approx(1 / 3, abs=4 * np.sqrt(2 / 9 / 1200))


@pytest.mark.parametrize("miner", ["decision-tree", "gradient-boosting"])
def test_a_tree_learns_a_function_of_the_other_attributes_entirely(
    miner: str, determined: LinkedRelease
) -> None:
    assert accuracy(determined, predict(determined, "target", miner, folds=3)) == 1.0


@pytest.mark.parametrize("miner", sorted(set(CLASSIFIERS) - {"majority"}))
def test_every_miner_learns_something_of_a_function(miner: str, determined: LinkedRelease) -> None:
    assert accuracy(determined, predict(determined, "target", miner, folds=3)) > 0.45


@pytest.mark.parametrize("miner", REGRESSORS)
def test_regressors_learn_a_number(miner: str) -> None:
    columns = made(600)
    view = view_of({**columns, "target": 3 * columns["n"] + 10 * (columns["b"] == "x")})
    found = predict(view, "target", miner, folds=3)
    true = np.array(found.domain, dtype=float)[true_codes(view, "target")[found.rows]]
    spread = np.sqrt(np.average((true - np.average(true, weights=found.weights)) ** 2, weights=found.weights))
    error = np.sqrt(np.average((true - found.predicted) ** 2, weights=found.weights))
    assert error < (1.1 if miner == "mean-number" else 0.7) * spread
    if miner == "linear-regression":
        assert error < 1e-3 * spread


def test_every_record_has_one_prediction(determined: LinkedRelease) -> None:
    found = predict(determined, "target", "majority", folds=4)
    assert np.bincount(found.rows, found.weights).tolist() == determined.weights.tolist()
    assert (np.diff(found.rows) >= 0).all()


def test_a_record_is_predicted_without_itself() -> None:
    table = Table.from_arrow({"key": [f"k{i}" for i in range(30)], "target": ["u", "v"] * 15})
    view = original_view(table, Schema.of(key="quasi-identifying", target="sensitive"))
    found = predict(view, "target", "random-tree", folds=30)
    assert accuracy(view, found) < 0.6


def test_weighted_rows_are_as_good_as_records() -> None:
    """Compare with scikit-learn on records written out one by one, fold by fold."""
    columns = made(500)
    view = view_of({**columns, "target": np.where(np.arange(500) % 4 == 0, "u", columns["a"])})
    found = predict(view, "target", NaiveBayes(), folds=5, features=["a", "b"])
    codes = true_codes(view, "target")
    a, b = (np.eye(n)[view.cells[name].codes] for name, n in (("a", 3), ("b", 2)))
    features = np.concatenate([a, b], axis=1)
    held = held_out(view.weights, codes, 5, 0)
    rows = np.arange(view.n_rows)
    counts: dict[tuple[int, int], int] = {}
    for fold in range(5):
        inside, outside = rows.repeat(held[:, fold]), rows.repeat(view.weights - held[:, fold])
        predicted = MultinomialNB().fit(features[outside], codes[outside]).predict(features[inside])
        for row, code in zip(inside, predicted, strict=True):
            counts[int(row), int(code)] = counts.get((int(row), int(code)), 0) + 1
    ours: dict[tuple[int, int], int] = {}
    for row, weight, code in zip(found.rows, found.weights, found.predicted, strict=True):
        ours[int(row), int(code)] = ours.get((int(row), int(code)), 0) + int(weight)
    assert ours == counts


def test_the_same_again_and_from_memory(determined: LinkedRelease) -> None:
    first = predict(determined, "target", "random-tree", folds=3)
    assert predict(determined, "target", "random-tree", folds=3) is first
    forget()
    again = predict(determined, "target", "random-tree", folds=3, workers=2)
    assert again is not first
    assert again.predicted.tolist() == first.predicted.tolist()
    other = predict(determined, "target", "random-tree", folds=3, seed=1)
    assert other.predicted.tolist() != first.predicted.tolist()


def test_progress_is_told_fold_by_fold(determined: LinkedRelease) -> None:
    told: list[FoldsDone] = []
    forget()
    predict(determined, "target", "majority", folds=4, progress=told.append)
    assert [(each.miner, each.done, each.folds) for each in told] == [
        ("majority", n, 4) for n in (1, 2, 3, 4)
    ]


def generalized(bound: Bound) -> LinkedRelease:
    return sanitize(*bound, FullDomain({"n": 1}, KAnonymity(1)))


def numbered() -> Bound:
    columns = made(600)
    schema = Schema(
        (
            *(Attribute(name, "quasi-identifying") for name in ("a", "b", "c")),
            Attribute("n", "quasi-identifying", "numeric", Intervals((10,))),
            Attribute("target", "sensitive"),
        )
    )
    table = Table.from_arrow({**columns, "target": np.where(columns["n"] < 20, "low", "high")})
    return table, schema.with_assumed_public_part(table)


def test_generalised_cells_stay_usable() -> None:
    release = generalized(numbered())
    assert accuracy(release, predict(release, "target", "decision-tree", folds=3)) == 1.0


def test_a_generalised_target_is_learned_from_sets_or_from_the_truth() -> None:
    release = generalized(numbered())
    by_set = predict(release, "n", "decision-tree", folds=3)
    by_truth = predict(release, "n", "decision-tree", folds=3, label="true")
    assert by_set.domain == by_truth.domain == tuple(range(40))
    assert by_set.predicted.tolist() != by_truth.predicted.tolist()


def test_a_miner_that_sees_labels_learns_nothing_from_a_set_about_its_values() -> None:
    """Half of the people are told exactly, and show what the letters mean; the others as a set of two."""
    letters, n = ["a", "b", "c", "d"], 400
    true = np.array(letters)[np.arange(n) % 4]
    table = Table.from_arrow({"letter": true, "target": np.where(np.isin(true, ["a", "b"]), "u", "v")})
    view = original_view(table, Schema.of(letter="quasi-identifying", target="sensitive"))
    members = np.array([0, 1, 2, 3, 0, 1, 2, 3], dtype=np.int32)
    sets = ValueSets(np.array([0, 1, 2, 3, 4, 6, 8]), members, np.array([1, 1, 1, 1, 2, 2]), 4)
    codes = true_codes(view, "letter")
    blurred = Cells(codes, (*letters, "ab", "cd"), tuple(letters), sets)
    wide = np.array([4, 4, 5, 5], dtype=np.int32)[codes]
    rows = np.arange(view.n_rows)
    both = replace(
        view,
        cells={
            "letter": replace(blurred, codes=np.concatenate([codes, wide])),
            "target": replace(view.cells["target"], codes=np.concatenate([view.cells["target"].codes] * 2)),
        },
        origin=Origin(view.origin.table, np.concatenate([rows, rows])),
        weights=np.concatenate([view.weights, view.weights]),
    )
    trained = np.concatenate([view.weights, 0 * view.weights])
    right = {}
    for cells in ("shares", "labels"):
        found = predict_from_all(both, "target", "naive-bayes", trained, cells=cast(Any, cells))
        right[cells] = (found.predicted == true_codes(both, "target"))[len(rows) :]
    assert right["shares"].all()
    assert right["labels"].mean() == 0.5


def test_what_is_withheld_cannot_be_learned() -> None:
    columns = made(600)
    table = Table.from_arrow({**columns, "target": columns["a"]})
    roles: dict[str, Any] = dict.fromkeys("abcn", "quasi-identifying")
    release = sanitize(table, Schema.of(roles | {"target": "sensitive"}), SuppressSensitive())
    assert accuracy(release, predict(release, "target", "naive-bayes", folds=3)) < 0.45


def test_groups_are_learned_as_distributions() -> None:
    columns = made(600)
    roles: dict[str, Any] = dict.fromkeys("abcn", "quasi-identifying") | {"target": "sensitive"}
    release = sanitize(Table.from_arrow({**columns, "target": columns["a"]}), Schema.of(roles), Anatomy(2))
    # the release tells of every record two values, one of them true: the rest is learned from the others
    assert accuracy(release, predict(release, "target", "naive-bayes", folds=3)) > 0.9


def test_noisy_numbers_can_be_learned_and_learned_from() -> None:
    release = sanitize(*numbered(), Laplace(5.0, ("n",)))
    assert accuracy(release, predict(release, "target", "decision-tree", folds=3)) > 0.7
    assert predict(release, "n", "regression-tree", folds=3).finished


def test_without_features_the_commonest_value_is_predicted(determined: LinkedRelease) -> None:
    found = predict(determined, "target", "logistic-regression", folds=3, features=[])
    majority = predict(determined, "target", "majority", folds=3)
    assert found.predicted.tolist() == majority.predicted.tolist()


def test_fewer_records_than_folds(hospital: Bound) -> None:
    assert predict(original_view(*hospital), "diagnosis", "decision-tree", folds=50).folds == 12


@pytest.mark.parametrize(
    ("target", "miner", "options", "message"),
    [
        ("diagnosi", "majority", {}, "no attribute 'diagnosi'; did you mean 'diagnosis'"),
        ("diagnosis", "majority", {"features": ["agee"]}, "no attribute 'agee'; did you mean 'age'"),
        ("diagnosis", "majoriti", {}, "no miner 'majoriti'; did you mean 'majority'"),
        ("diagnosis", "mean-number", {}, "mean-number predicts numbers, but 'diagnosis' is categorical"),
        ("diagnosis", "majority", {"folds": 1}, "folds must be at least 2"),
    ],
)
def test_what_cannot_be_asked(
    target: str, miner: str, options: dict[str, Any], message: str, hospital: Bound
) -> None:
    with pytest.raises(ParameterError, match=message):
        predict(original_view(*hospital), target, miner, **options)


def test_one_record_is_not_enough() -> None:
    table = Table.from_arrow({"age": [1], "sex": ["f"]})
    with pytest.raises(DataError, match="at least two records"):
        predict(original_view(table, Schema.of(age="insensitive", sex="sensitive")), "sex", "majority")


def test_the_truth_needs_the_original(hospital: Bound) -> None:
    view = original_view(*hospital)
    unknown = view.unlinked()
    assert true_codes(unknown, "diagnosis").tolist() == true_codes(view, "diagnosis").tolist()
    withheld = with_unknown_rows(sanitize(*hospital, SuppressSensitive()))
    with pytest.raises(DataError, match="true values of 'diagnosis'"):
        true_codes(withheld, "diagnosis")


def test_who_has_seen_a_record_knows_it_by_heart() -> None:
    table = Table.from_arrow({"key": [f"k{i}" for i in range(60)], "target": ["u", "v", "w"] * 20})
    view = original_view(table, Schema.of(key="quasi-identifying", target="sensitive"))
    trained = np.where(np.arange(60) < 40, view.weights, 0)
    found = predict_from_all(view, "target", "random-tree", trained)
    right = found.predicted == true_codes(view, "target")
    assert found.rows.tolist() == list(range(60))
    assert right[:40].all()
    assert right[40:].mean() < 0.7


def test_outsiders_do_not_change_what_is_learned(determined: LinkedRelease) -> None:
    some = np.where(np.arange(determined.n_rows) % 2 == 0, determined.weights, 0)
    first = predict_from_all(determined, "target", "decision-tree", some)
    assert predict_from_all(determined, "target", "decision-tree", some) is first
    codes = determined.cells["target"].codes.copy()
    codes[some == 0] = 0
    other = replace(determined.cells["target"], codes=codes)
    changed = replace(determined, cells={**determined.cells, "target": other})
    assert predict_from_all(changed, "target", "decision-tree", some).predicted.tolist() == (
        first.predicted.tolist()
    )


def test_a_miner_may_be_named_with_parameters(determined: LinkedRelease) -> None:
    found = predict(determined, "target", "random-forest trees=2 smallest-leaf=1", folds=2)
    assert found.finished
    assert found.miner == "random-forest trees=2 smallest-leaf=1"
    assert predict(determined, "target", RandomForest(2, 1), folds=2) is found
