"""Compute Spearman's rank correlation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def rank_correlation(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Return Spearman's rank correlation; ``None`` for too few or constant values.

    Examples
    --------
    >>> round(rank_correlation([1, 2, 3, 4], [8, 4, 2, 1]), 3)
    -1.0
    """
    if len(x) < 3 or np.isnan([x, y]).any() or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.asarray(np.corrcoef(_ranks(x), _ranks(y)))[0, 1])


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Return the rank of each value; equal values share the mean of theirs."""
    _, place, counts = np.unique(
        np.asarray(values, dtype=np.float64), return_inverse=True, return_counts=True
    )
    ranks: NDArray[np.float64] = np.cumsum(counts) - (counts - 1) / 2
    return ranks[place]
