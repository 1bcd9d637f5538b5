"""A random forest that draws records, not rows, so that merging equal records does not change it."""

from __future__ import annotations

from math import isqrt
from typing import Literal

import numpy as np

from sfumato.runtime.arrays import Floats, Integers

Features = Literal["root", "log2"]


class Forest:
    """Unpruned trees, grown by entropy on as many records as there are, drawn with replacement.

    scikit-learn's own forest draws as many as there are rows, however many records a row stands for.

    Parameters
    ----------
    trees
        How many trees.
    smallest_leaf
        The fewest records of a leaf.
    features
        How many columns are looked at for each split.
    seed
        Decides on the records and the columns.
    """

    def __init__(self, trees: int, smallest_leaf: int, features: Features, seed: int) -> None:
        self.trees = trees
        self.smallest_leaf = smallest_leaf
        self.features = features
        self.seed = seed

    def fit(self, features: Floats, labels: Integers, sample_weight: Floats) -> Forest:
        """Grow the trees."""
        from sklearn.tree import DecisionTreeClassifier

        rng = np.random.default_rng(self.seed)
        total = sample_weight.sum()
        n_records = max(round(float(total)), 1)
        self._classes = np.unique(labels)
        n_columns = features.shape[1]
        self._grown = []
        for _ in range(self.trees):
            drawn = rng.multinomial(n_records, sample_weight / total)
            least = self.smallest_leaf / drawn.sum() if self.smallest_leaf > 1 else 0.0
            tree = DecisionTreeClassifier(
                criterion="entropy",
                max_features=isqrt(n_columns) if self.features == "root" else n_columns.bit_length(),
                min_weight_fraction_leaf=min(least, 0.5),
                random_state=int(rng.integers(2**31)),
            )
            inside = drawn > 0
            weights = drawn[inside].astype(np.float64)
            self._grown.append(tree.fit(features[inside], labels[inside], sample_weight=weights))
        return self

    def predict(self, features: Floats) -> Integers:
        """Return the label with the largest mean probability."""
        beliefs = np.zeros((len(features), len(self._classes)))
        for tree in self._grown:
            beliefs[:, np.searchsorted(self._classes, tree.classes_)] += tree.predict_proba(features)
        return self._classes[beliefs.argmax(axis=1)]
