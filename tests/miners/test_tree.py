"""The pruned tree: C4.5's estimate of errors as Quinlan's program computes it, and pruning from below."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta
from sklearn.tree import DecisionTreeClassifier

from sfumato.miners.c45_tree import PrunedTree, by_chance, expected_errors, pruned


def added_errors(n: float, e: float, confidence: float) -> float:
    """Return what Quinlan's program adds to the observed errors, written out case by case."""
    if e < 1:
        none = n * (1 - math.pow(confidence, 1 / n))
        return none if e == 0 else none + e * (added_errors(n, 1, confidence) + 1 - none) - e
    if e + 0.5 >= n:
        return max(n - e, 0)
    z = NormalDist().inv_cdf(1 - confidence)
    f = (e + 0.5) / n
    r = f + z * z / (2 * n) + z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
    return r / (1 + z * z / n) * n - e


@given(st.floats(1, 500), st.floats(0, 1), st.floats(0.01, 0.5))
def test_the_estimate_is_that_of_c45(n_records: float, share: float, confidence: float) -> None:
    errors = share * n_records
    found = expected_errors(np.array([n_records]), np.array([errors]), confidence)[0]
    assert found == pytest.approx(errors + added_errors(n_records, errors, confidence))


@pytest.mark.parametrize(("n_records", "errors"), [(6, 0), (16, 1), (100, 10), (1000, 200)])
def test_the_estimate_is_near_the_exact_limit_of_the_binomial(n_records: int, errors: int) -> None:
    found = expected_errors(np.array([float(n_records)]), np.array([float(errors)]), 0.25)[0]
    exact = beta.ppf(0.75, errors + 1, n_records - errors) * n_records
    assert found == pytest.approx(exact, rel=0.05)


def test_quinlan_s_example_of_a_leaf_without_errors() -> None:
    found = expected_errors(np.array([6.0, 9.0, 1.0]), np.zeros(3), 0.25)
    assert (found / [6, 9, 1]).round(3).tolist() == [0.206, 0.143, 0.75]


def pruned_recursively(
    tree: Any, counts: np.ndarray, is_chance: np.ndarray, node: int
) -> tuple[float, dict[int, int]]:
    """Return the estimated errors of a subtree after pruning, and the leaf that each node belongs to."""
    n, e = counts[node].sum(), counts[node].sum() - counts[node].max()
    as_leaf = e + added_errors(n, e, 0.25)
    if tree.children_left[node] < 0:
        return as_leaf, {node: node}
    left, right = (
        pruned_recursively(tree, counts, is_chance, side[node])
        for side in (tree.children_left, tree.children_right)
    )
    if is_chance[node] or as_leaf <= left[0] + right[0] + 0.1:
        return as_leaf, dict.fromkeys([node, *left[1], *right[1]], node)
    return left[0] + right[0], {node: node, **left[1], **right[1]}


@given(st.integers(0, 10_000))
def test_pruning_from_below_is_pruning_by_recursion(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, labels = rng.integers(0, 4, (40, 3)).astype(float), rng.integers(0, 3, 40)
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(features, labels).tree_
    counts = tree.value[:, 0, :] * tree.weighted_n_node_samples[:, None]
    is_chance = rng.random(tree.node_count) < 0.1
    expected = pruned_recursively(tree, counts, is_chance, 0)[1]
    found = pruned(tree.children_left, tree.children_right, counts, 0.25, is_chance)
    assert found.tolist() == [expected[node] for node in range(tree.node_count)]


def entropy(labels: list[int], weights: list[float]) -> float:
    """Return the information in weighted labels, in bits."""
    total = sum(weights)
    shares = [sum(w for x, w in zip(labels, weights, strict=True) if x == y) / total for y in set(labels)]
    return -total * sum(share * math.log2(share) for share in shares)


@given(st.integers(0, 10_000))
def test_a_split_is_due_to_chance_when_it_gains_less_than_naming_its_place_costs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    features, labels = rng.integers(0, 12, (40, 3)).astype(float), rng.integers(0, 3, 40)
    weights = rng.integers(1, 4, 40).astype(float)
    grown = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(features, labels, weights)
    tree, found = grown.tree_, by_chance(grown, features)
    in_node = {0: list(range(40))}
    for node in range(tree.node_count):
        if tree.children_left[node] < 0:
            assert not found[node]
            continue
        rows = in_node[node]
        values = [features[row, tree.feature[node]] for row in rows]
        sides = [
            [row for row, value in zip(rows, values, strict=True) if (value > tree.threshold[node]) == right]
            for right in (False, True)
        ]
        in_node[tree.children_left[node]], in_node[tree.children_right[node]] = sides
        whole, *parts = (
            entropy([int(labels[r]) for r in own], [weights[r] for r in own]) for own in (rows, *sides)
        )
        charge = math.log2(len(set(values)) - 1)
        if abs(whole - sum(parts) - charge) > 1e-9:
            assert found[node] == (whole - sum(parts) < charge)


def test_numbers_that_tell_nothing_do_not_mislead() -> None:
    """What one value in two tells is found also beside numbers of which every record has its own."""
    rng = np.random.default_rng(2)
    features = np.column_stack([rng.integers(0, 2, 2000), rng.random((2000, 4))])
    labels = np.where(rng.random(2000) < 0.8, features[:, 0], 1 - features[:, 0]).astype(int)
    tree = PrunedTree(0.25, 2, 0).fit(features, labels, np.ones(2000))
    assert tree.n_leaves <= 4
    assert (tree.predict(features) == features[:, 0]).mean() > 0.99


def test_noise_is_pruned_and_signal_is_kept() -> None:
    rng = np.random.default_rng(0)
    features = rng.random((500, 3))
    weights = np.ones(500)
    flags = rng.integers(0, 2, (500, 12)).astype(float)
    noise = PrunedTree(0.25, 2, 0).fit(flags, rng.integers(0, 2, 500), weights)
    unpruned = PrunedTree(0.5, 1, 0).fit(flags, rng.integers(0, 2, 500), weights)
    signal = PrunedTree(0.25, 2, 0).fit(features, (features[:, 1] > 0.5).astype(int), weights)
    assert noise.n_leaves < unpruned.n_leaves
    assert signal.n_leaves == 2


def test_a_weight_is_as_good_as_so_many_records() -> None:
    rng = np.random.default_rng(1)
    features, labels = rng.integers(0, 5, (200, 4)).astype(float), rng.integers(0, 3, 200)
    weights = rng.integers(1, 5, 200)
    weighed = PrunedTree(0.25, 2, 0).fit(features, labels, weights.astype(float))
    repeated = PrunedTree(0.25, 2, 0).fit(
        features.repeat(weights, 0), labels.repeat(weights), np.ones(weights.sum())
    )
    assert (weighed.predict(features) == repeated.predict(features)).mean() > 0.97
