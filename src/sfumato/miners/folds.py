"""Divide records into folds for cross-validation."""

from __future__ import annotations

import numpy as np

from sfumato.runtime.arrays import Integers


def held_out(weights: Integers, strata: Integers, folds: int, seed: int) -> Integers:
    """Return for each row how many of its records lie in each fold.

    The records are shuffled within their stratum and dealt out like cards, one stratum after the other: folds
    differ by one record at most, and so do the parts of a stratum. Each record is dealt by itself. If the
    records of a row were spread evenly instead, every record would have its duplicate in the training data,
    and a miner would seem to learn what cannot be learned.

    Parameters
    ----------
    weights
        The number of records of each row.
    strata
        The property that is spread evenly, usually the label.

    Examples
    --------
    >>> held_out(np.array([1, 4, 1]), np.array([0, 1, 1]), 3, seed=0).sum(axis=0).tolist()
    [2, 2, 2]
    """
    rng = np.random.default_rng(seed)
    held = np.zeros((len(weights), folds), dtype=np.int64)
    order = np.argsort(strata, kind="stable")
    n_dealt = 0
    for rows in np.split(order, np.flatnonzero(np.diff(strata[order])) + 1):
        remaining = weights[rows].astype(np.int64)
        n_after = n_dealt + int(remaining.sum())
        for fold in range(folds):
            share = _dealt(n_after, fold, folds) - _dealt(n_dealt, fold, folds)
            drawn = rng.multivariate_hypergeometric(remaining, share, method="marginals")
            held[rows, fold] = drawn
            remaining -= drawn
        n_dealt = n_after
    return held


def _dealt(n_cards: int, fold: int, folds: int) -> int:
    """Return how many of the first cards have gone to a fold."""
    return (n_cards + folds - 1 - fold) // folds
