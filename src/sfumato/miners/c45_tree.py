"""A decision tree like C4.5: grown by entropy, and pruned by an estimate of its errors."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from sfumato.runtime.arrays import Booleans, Floats, Integers


class PrunedTree:
    """A classification tree that is cut back by C4.5's pessimistic estimate of its errors.

    Parameters
    ----------
    confidence
        The confidence of the upper limit of the errors; lower prunes more.
    smallest
        The fewest records of a leaf.
    seed
        Decides between equally good splits.
    """

    def __init__(self, confidence: float, smallest: float, seed: int) -> None:
        self.confidence = confidence
        self.smallest = smallest
        self.seed = seed

    def fit(self, features: Floats, labels: Integers, sample_weight: Floats) -> PrunedTree:
        """Grow the tree and prune it."""
        from sklearn.tree import DecisionTreeClassifier

        grown = DecisionTreeClassifier(
            criterion="entropy",
            min_weight_fraction_leaf=min(self.smallest / sample_weight.sum(), 0.5),
            random_state=self.seed,
        ).fit(features, labels, sample_weight=sample_weight)
        tree = grown.tree_
        counts = tree.value[:, 0, :] * tree.weighted_n_node_samples[:, None]
        self._grown: Any = grown
        is_chance = by_chance(grown, features)
        self._leaf_of = pruned(tree.children_left, tree.children_right, counts, self.confidence, is_chance)
        self._label_of_leaf = grown.classes_[counts.argmax(axis=1)]
        return self

    @property
    def n_leaves(self) -> int:
        """The number of leaves after pruning."""
        tree = self._grown.tree_
        return len(np.unique(self._leaf_of[tree.children_left < 0]))

    def predict(self, features: Floats) -> Integers:
        """Return the most frequent label of the leaf that each pattern falls into."""
        return self._label_of_leaf[self._leaf_of[self._grown.apply(features)]]


def by_chance(grown: Any, features: Floats) -> Booleans:
    """Return for each node whether its split gains less than the choice of its place is worth.

    References
    ----------
    J. R. Quinlan, "Improved use of continuous attributes in C4.5", 1996, section 3.
    """
    tree = grown.tree_
    path = grown.decision_path(features)
    nodes, rows = path.indices, np.repeat(np.arange(len(features)), np.diff(path.indptr))
    has_split = tree.children_left[nodes] >= 0
    rows, nodes = rows[has_split], nodes[has_split]
    # the tree compares single-precision numbers
    values = features[rows, tree.feature[nodes]].astype(np.float32)
    order = np.lexsort((values, nodes))
    differs = (np.diff(values[order]) != 0) & (np.diff(nodes[order]) == 0)
    n_places = np.bincount(nodes[order][1:][differs], minlength=tree.node_count)
    weighted = tree.impurity * tree.weighted_n_node_samples
    gain = weighted - weighted[tree.children_left] - weighted[tree.children_right]
    return (tree.children_left >= 0) & (gain < np.log2(np.maximum(n_places, 1)))


def pruned(
    left: Integers, right: Integers, counts: Floats, confidence: float, is_chance: Booleans
) -> Integers:
    """Return for each node the leaf of the pruned tree that it belongs to.

    From below, a node becomes a leaf when its split is due to chance, or when that adds at most 0.1 to the
    estimated errors of its subtree.

    Parameters
    ----------
    left, right
        The children of each node, with larger numbers than the node; -1 at a leaf.
    counts
        The training weight of each label in each node.
    is_chance
        Whether the split of each node is due to chance.
    """
    estimated = expected_errors(counts.sum(axis=1), counts.sum(axis=1) - counts.max(axis=1), confidence)
    is_leaf: Booleans = (left < 0) | is_chance
    as_leaf = estimated.tolist()
    for node in range(len(left) - 1, -1, -1):
        if not is_leaf[node]:
            below = estimated[left[node]] + estimated[right[node]]
            is_leaf[node] = as_leaf[node] <= below + 0.1
            estimated[node] = as_leaf[node] if is_leaf[node] else below
    leaf_of = np.arange(len(left))
    for node in range(len(left)):
        if left[node] >= 0 and (is_leaf[node] or leaf_of[node] != node):
            leaf_of[left[node]] = leaf_of[right[node]] = leaf_of[node]
    return leaf_of


def expected_errors(n_records: Floats, errors: Floats, confidence: float) -> Floats:
    """Return C4.5's pessimistic estimate of the errors of a leaf: an upper limit of its error rate.

    References
    ----------
    J. R. Quinlan, "C4.5: programs for machine learning", 1993, chapter 4; for fewer than one error the
    estimate is interpolated, as Quinlan's program does.
    """
    none = n_records * (1 - confidence ** (1 / n_records))
    few = none + errors * (_upper(n_records, np.ones_like(errors), confidence) - none)
    return np.where(errors < 1, few, _upper(n_records, errors, confidence))


def _upper(n_records: Floats, errors: Floats, confidence: float) -> Floats:
    z = NormalDist().inv_cdf(1 - confidence)
    rate = np.minimum((errors + 0.5) / n_records, 1.0)
    spread = z * np.sqrt(rate / n_records - rate**2 / n_records + z**2 / (4 * n_records**2))
    limit = (rate + z**2 / (2 * n_records) + spread) / (1 + z**2 / n_records)
    return np.where(errors + 0.5 >= n_records, np.maximum(n_records, errors), limit * n_records)
