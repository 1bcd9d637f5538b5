"""What decision trees tell of records: beside scikit-learn's own cross-validation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sfumato import AsIs, Propensity, Schema, Table, TransferLoss, sanitize
from sfumato.measures.fidelity.records import SingleValues
from sfumato.measures.reasons import NotApplicable

SCHEMA = Schema.of(x="quasi-identifying", town="quasi-identifying", ill="sensitive")
RELEASE = sanitize(
    Table.from_arrow({"x": [1, 2, 3], "town": ["A", "B", "A"], "ill": ["u", "u", "v"]}), SCHEMA, AsIs()
)


def records(x: Any, town: Any, ill: Any = None) -> SingleValues:
    """Return records with a number, whose codes say nothing, and one or two categories."""
    codes = {"x": np.zeros(len(x), dtype=np.int32), "town": np.asarray(town)}
    if ill is not None:
        codes["ill"] = np.asarray(ill)
    return SingleValues(codes, {"x": np.asarray(x, dtype=np.float64)}, {})


def propensity(true: SingleValues, made: SingleValues, seed: int = 0) -> float:
    (found,) = Propensity(seed).compared(RELEASE, true, made)
    assert found.value is not None
    return found.value


def by_scikit_learn(true: SingleValues, made: SingleValues, least: int, seed: int) -> float:
    from sklearn.model_selection import StratifiedKFold, cross_val_predict
    from sklearn.tree import DecisionTreeClassifier

    known = [
        [*row] for each in (true, made) for row in zip(each.numbers["x"], each.codes["town"], strict=True)
    ]
    is_made = np.array([0] * true.n_records + [1] * made.n_records)
    tree = DecisionTreeClassifier(min_samples_leaf=least, random_state=seed)
    parts = StratifiedKFold(3, shuffle=True, random_state=seed)
    told = cross_val_predict(tree, known, is_made, cv=parts, method="predict_proba")[:, 1]
    share = is_made.mean()
    return float(np.mean((told - share) ** 2) / (share * (1 - share)))


@pytest.mark.parametrize(("n_true", "n_made", "least", "seed"), [(300, 150, 50, 0), (9_900, 6_000, 53, 4)])
def test_propensity_is_what_a_tree_says_of_records_that_it_has_not_seen(
    n_true: int, n_made: int, least: int, seed: int
) -> None:
    # of 15,900 records 10,600 are learned from: a leaf has one in 200 of them
    rng = np.random.default_rng(1)
    true = records(rng.normal(size=n_true), rng.integers(0, 3, n_true))
    made = records(rng.normal(size=n_made) + 0.5, rng.integers(0, 4, n_made))
    expected = by_scikit_learn(true, made, least, seed)
    assert 0.02 < expected < 0.5
    assert propensity(true, made, seed) == pytest.approx(expected)


def test_propensity_is_0_where_only_the_parts_differ_in_size() -> None:
    # 1000 records of each cannot be divided by three: the tree answers with the share of its own part
    same = records([1.0] * 1000, [0] * 1000)
    assert 0 < by_scikit_learn(same, same, 50, 0) < 1e-6
    assert propensity(same, same) == 0
    # a difference of one in a hundred is more than that
    other = records([1.0] * 1000, [0] * 490 + [1] * 510)
    same = records([1.0] * 1000, [0] * 500 + [1] * 500)
    expected = by_scikit_learn(same, other, 50, 0)
    assert 1e-6 < expected < 5e-4
    assert propensity(same, other) == pytest.approx(expected)


def test_propensity_is_1_where_every_record_is_told() -> None:
    # rounding would make it a little more
    assert propensity(records([0.0] * 75, [0] * 75), records([1.0] * 76, [0] * 76)) == 1


def test_propensity_asks_for_a_record_in_each_part() -> None:
    three, two = records([1.0, 1, 1], [0, 0, 0]), records([1.0, 1], [0, 0])
    assert propensity(three, three) == 0
    for pair in ((three, two), (two, three)):
        with pytest.raises(NotApplicable, match="into 3 parts, and has too few"):
            propensity(*pair)


@pytest.mark.parametrize(("n_records", "least"), [(12, 1), (599, 2), (20_000, 50)])
def test_transfer_loss_is_the_difference_in_accuracy_about_the_original(n_records: int, least: int) -> None:
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(n_records)
    true, made = (
        records(rng.permutation(n_records), rng.integers(0, 2, n_records), rng.integers(0, 3, n_records))
        for _ in range(2)
    )
    asked = np.column_stack([true.numbers["x"], true.codes["town"]])
    right = []
    for each in (true, made):
        tree = DecisionTreeClassifier(min_samples_leaf=least, random_state=0)
        tree.fit(np.column_stack([each.numbers["x"], each.codes["town"]]), each.codes["ill"])
        right.append(float(np.mean(tree.predict(asked) == true.codes["ill"])))
    found = TransferLoss().of_target(RELEASE, true, made, "ill")
    assert found.detail == {"accuracy": right[1], "maximum": right[0]}
    assert found.value == pytest.approx(right[0] - right[1])
    commonest = max(np.mean(true.codes["ill"] == value) for value in range(3))
    assert found.baseline == pytest.approx(right[0] - commonest)
    assert found.attribute == "ill"
    assert TransferLoss().of_target(RELEASE, true, made, "town").attribute is None
