"""Our own estimators against brute force and against scikit-learn on repeated records."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import MinMaxScaler

from sfumato.miners.simple_estimators import BestRule, Neighbours, OneDependence


def drawn(seed: int, n_rows: int = 60) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return one-hot features of two attributes, labels and weights."""
    rng = np.random.default_rng(seed)
    attributes = rng.integers(0, 3, (n_rows, 2))
    features = np.concatenate([np.eye(3)[attributes[:, 0]], np.eye(3)[attributes[:, 1]]], axis=1)
    return features, (attributes.sum(axis=1) + rng.integers(0, 2, n_rows)) % 3, rng.integers(1, 4, n_rows)


def test_one_dependence_is_averaged_over_all_parents() -> None:
    features, labels, weights = drawn(0)
    total = weights.sum()
    usual = weights @ features / total

    def joint(line: np.ndarray, label: int) -> float:
        mine = labels == label
        present = np.flatnonzero(line)
        summed = 0.0
        for parent in present:
            alone = weights[mine & (features[:, parent] == 1)].sum()
            product = (alone + usual[parent]) / (total + 1)
            for child in present:
                both = weights[mine & (features[:, parent] == 1) & (features[:, child] == 1)].sum()
                product *= (both + usual[child]) / (alone + 1)
            summed += product
        return summed

    found = OneDependence(1.0).fit(features, labels, weights.astype(float)).predict(features)
    expected = [max(range(3), key=lambda label: joint(line, label)) for line in features]
    assert found.tolist() == expected


def test_a_column_that_is_absent_everywhere_does_no_harm() -> None:
    features, labels, weights = drawn(1)
    padded = np.concatenate([features, np.zeros((len(features), 1))], axis=1)
    found = OneDependence(1.0).fit(features, labels, weights.astype(float)).predict(features)
    assert (OneDependence(1.0).fit(padded, labels, weights.astype(float)).predict(padded) == found).all()


def test_one_rule_takes_the_attribute_with_the_fewest_errors() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 4, (80, 3)).astype(float)
    labels = np.where(rng.random(80) < 0.9, codes[:, 1] % 2, 0).astype(int)
    weights = rng.integers(1, 4, 80)
    best = -math.inf
    for column in range(3):
        answers = {
            value: max(
                (0, 1), key=lambda label: weights[(codes[:, column] == value) & (labels == label)].sum()
            )
            for value in range(4)
        }
        right = sum(weights[row] for row in range(80) if answers[int(codes[row, column])] == labels[row])
        if right > best:
            best, expected = right, [answers[int(value)] for value in codes[:, column]]
    rule = BestRule().fit(codes, labels, weights.astype(float))
    assert rule.predict(codes).tolist() == expected


def test_a_value_that_was_not_seen_gets_the_commonest_label() -> None:
    rule = BestRule().fit(np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1]), np.ones(3))
    assert rule.predict(np.array([[0.0], [7.0], [-1.0]])).tolist() == [0, 1, 1]


@pytest.mark.parametrize("k", [1, 3, 7])
def test_neighbours_vote_as_if_every_record_stood_by_itself(k: int) -> None:
    rng = np.random.default_rng(k)
    features, weights = rng.random((120, 2)), rng.integers(1, 4, 120)
    labels, numbers = rng.integers(0, 2, 120), rng.random(120)
    asked = rng.random((40, 2))
    scaler = MinMaxScaler().fit(features)
    repeated = scaler.transform(features).repeat(weights, 0)
    majority = KNeighborsClassifier(k).fit(repeated, labels.repeat(weights))
    found = Neighbours(k, averages=False).fit(features, labels, weights.astype(float)).predict(asked)
    assert (found == majority.predict(scaler.transform(asked))).all()
    mean = KNeighborsRegressor(k).fit(repeated, numbers.repeat(weights))
    averaged = Neighbours(k, averages=True).fit(features, numbers, weights.astype(float)).predict(asked)
    # where the last neighbour has more records than may vote, any of them is the same
    assert averaged == pytest.approx(mean.predict(scaler.transform(asked)))
