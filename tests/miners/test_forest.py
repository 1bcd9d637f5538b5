"""The forest draws records and looks at as many columns as it says, and can be told so by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from sfumato.measures import Scenario, User
from sfumato.miners import RandomForest
from sfumato.miners.forest import Forest
from sfumato.registry import methods
from sfumato.runtime.errors import ParameterError

RNG = np.random.default_rng(1)
FEATURES = RNG.integers(0, 3, (400, 9)).astype(float)
LABELS = (FEATURES[:, 0] + FEATURES[:, 1] > 2).astype(int) ^ (RNG.random(400) < 0.1)
WEIGHTS = RNG.integers(1, 6, 400).astype(float)


def grown(**facts: Any) -> Forest:
    return RandomForest(**facts).estimator(0).fit(FEATURES, LABELS, WEIGHTS)


def test_every_tree_is_grown_on_as_many_records_as_there_are() -> None:
    for tree in grown(trees=5)._grown:
        assert tree.tree_.weighted_n_node_samples[0] == WEIGHTS.sum()


@pytest.mark.parametrize(
    ("features", "expected"), [("root", math.floor(math.sqrt(9))), ("log2", math.floor(math.log2(9) + 1))]
)
def test_a_split_looks_at_so_many_columns(features: str, expected: int) -> None:
    assert {tree.max_features_ for tree in grown(trees=3, features=features)._grown} == {expected}


@pytest.mark.parametrize("smallest", [1, 2, 30])
def test_no_leaf_is_smaller_than_allowed(smallest: int) -> None:
    for tree in grown(trees=5, smallest_leaf=smallest)._grown:
        leaves = tree.tree_.children_left < 0
        assert tree.tree_.weighted_n_node_samples[leaves].min() >= smallest


def test_the_trees_vote_with_their_probabilities() -> None:
    forest = grown(trees=7, smallest_leaf=20)
    for row, predicted in zip(FEATURES[:50], forest.predict(FEATURES[:50]), strict=True):
        votes = sum(tree.predict_proba(row[None])[0] for tree in forest._grown)
        assert votes[predicted] == max(votes)


def test_a_tree_that_never_saw_a_label_does_not_vote_for_it() -> None:
    labels = np.zeros(400, dtype=int)
    labels[0], labels[1] = 3, 7
    forest = Forest(5, 1, "root", 0).fit(FEATURES, labels, np.ones(400))
    assert set(forest.predict(FEATURES)) <= {0, 3, 7}


def test_it_is_as_good_as_scikit_learn_s_on_records_one_by_one() -> None:
    times = WEIGHTS.astype(int)
    train, test = np.arange(400) % 2 == 0, np.arange(400) % 2 == 1
    ours = RandomForest(smallest_leaf=1).estimator(0).fit(FEATURES[train], LABELS[train], WEIGHTS[train])
    theirs = RandomForestClassifier(50, criterion="entropy", random_state=0).fit(
        FEATURES[train].repeat(times[train], axis=0), LABELS[train].repeat(times[train])
    )
    shares = [np.mean(each.predict(FEATURES[test]) == LABELS[test]) for each in (ours, theirs)]
    assert shares[0] == pytest.approx(shares[1], abs=0.04)
    assert shares[0] > 0.75


def test_shares_of_records_are_weights_too() -> None:
    forest = Forest(3, 2, "root", 0).fit(FEATURES, LABELS, WEIGHTS / 7)
    assert forest._grown[0].tree_.weighted_n_node_samples[0] == round(WEIGHTS.sum() / 7)


def test_a_miner_is_named_with_its_parameters() -> None:
    label = "random-forest trees=10 smallest-leaf=1 features=log2"
    miner = methods.build_miner(label)
    assert miner == RandomForest(10, 1, "log2")
    assert methods.label_of(miner) == label
    assert methods.label_of(methods.build_miner("random-forest trees=50")) == "random-forest"
    assert Scenario.of(Scenario(user=User(miners=(label,))).to_dict()).user.miners == (label,)


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("random-forest trees=0", "trees must be above 0"),
        ("random-forest smallest-leaf=0", "smallest-leaf must be above 0"),
        ("random-forest features=all", "no features 'all'"),
        ("random-forest tree=3", "has no parameter 'tree'; did you mean 'trees'"),
        ("random-forest trees", "miner 'random-forest': its parameters are written parameter=value"),
        ("random-forst trees=3", "no miner 'random-forst'; did you mean 'random-forest'"),
    ],
)
def test_what_is_wrong_in_a_label_is_said(label: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        methods.build_miner(label)
