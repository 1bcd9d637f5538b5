"""Estimators that scikit-learn lacks, or has without weights: Bayes, one rule, neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from sfumato.runtime.arrays import Floats, Integers


class OneDependence:
    """Averaged one-dependence estimators: naive Bayes once for each column that the others may depend on.

    Parameters
    ----------
    smoothing
        With how many records of the average kind each estimate is mixed.
    """

    def __init__(self, smoothing: float) -> None:
        self.smoothing = smoothing

    def fit(self, features: Floats, labels: Integers, sample_weight: Floats) -> OneDependence:
        """Count how often columns occur together under each label."""
        self._classes, index = np.unique(labels, return_inverse=True)
        usual = sample_weight @ features / sample_weight.sum()
        self._alone, self._given = [], []
        for label in range(len(self._classes)):
            mine = features[index == label].astype(np.float64)
            weighted = mine * sample_weight[index == label, None]
            alone, together = weighted.sum(axis=0), weighted.T @ mine
            share = (alone + self.smoothing * usual) / (sample_weight.sum() + self.smoothing)
            given = (together + self.smoothing * usual) / (alone[:, None] + self.smoothing)
            self._alone.append(np.log(np.maximum(share, 1e-300)))
            self._given.append(np.log(np.maximum(given, 1e-300)))
        return self

    def predict(self, features: Floats) -> Integers:
        """Return the likeliest label of each pattern."""
        scores = []
        for alone, given in zip(self._alone, self._given, strict=True):
            # the logarithm of the mean joint probability, with every present column once as the parent
            with np.errstate(divide="ignore"):
                joint = features @ given.T + alone + np.log(features)
            largest = joint.max(axis=1)
            scores.append(largest + np.log(np.exp(joint - largest[:, None]).sum(axis=1)))
        return self._classes[np.argmax(np.column_stack(scores), axis=1)]


class BestRule:
    """The one attribute that predicts the label best by itself."""

    def fit(self, features: Floats, labels: Integers, sample_weight: Floats) -> BestRule:
        """Take the attribute with the fewest errors; a value that was not seen gets the commonest label."""
        self._classes, index = np.unique(labels, return_inverse=True)
        totals = np.bincount(index, sample_weight)
        best = -1.0
        for column in range(features.shape[1]):
            values, code = np.unique(features[:, column], return_inverse=True)
            cell = code * len(totals) + index
            counts = np.bincount(cell, sample_weight, len(values) * len(totals)).reshape(len(values), -1)
            right = float(counts.max(axis=1).sum())
            if right > best:
                best, self._column, self._values = right, column, values
                self._answers = self._classes[counts.argmax(axis=1)]
        self._else = self._classes[totals.argmax()]
        return self

    def predict(self, features: Floats) -> Integers:
        """Return the commonest label of each pattern's value."""
        values = features[:, self._column]
        place = np.minimum(np.searchsorted(self._values, values), len(self._values) - 1)
        return np.where(self._values[place] == values, self._answers[place], self._else)


class Neighbours:
    """The nearest patterns decide, until so many records have voted.

    Parameters
    ----------
    k
        How many records vote.
    averages
        Whether the vote is a mean instead of a majority.
    """

    def __init__(self, k: int, averages: bool) -> None:
        self.k = k
        self.averages = averages

    def fit(self, features: Floats, labels: Any, sample_weight: Floats) -> Neighbours:
        """Remember the examples, every column brought to the same range."""
        from sklearn.neighbors import NearestNeighbors

        self._least, width = features.min(axis=0), np.ptp(features, axis=0)
        self._width = np.where(width > 0, width, 1.0)
        n_examples = min(self.k, len(features))
        self._index = NearestNeighbors(n_neighbors=n_examples).fit(self._scaled(features))
        self._labels, self._weights = labels, sample_weight
        return self

    def predict(self, features: Floats) -> Any:
        """Return the commonest label, or the mean, of the nearest records."""
        nearest = self._index.kneighbors(self._scaled(features), return_distance=False)
        weights = self._weights[nearest]
        before = np.cumsum(weights, axis=1) - weights
        votes = np.clip(self.k - before, 0.0, weights)
        if self.averages:
            return (votes * self._labels[nearest]).sum(axis=1) / votes.sum(axis=1)
        classes, index = np.unique(self._labels, return_inverse=True)
        counts = np.zeros((len(features), len(classes)))
        for place in range(nearest.shape[1]):
            counts[np.arange(len(features)), index[nearest[:, place]]] += votes[:, place]
        return classes[counts.argmax(axis=1)]

    def _scaled(self, features: Floats) -> Floats:
        return (features - self._least) / self._width
