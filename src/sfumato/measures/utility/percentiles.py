"""Percentiles over records of a figure that all records of a class share, and widths of intervals."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from sfumato.runtime.arrays import Floats, Integers

NORMAL_95 = NormalDist().inv_cdf(0.975)
"""An interval of 95 percent reaches so many standard errors to either side of a mean."""


def percentile(figures: Floats | Integers, sizes: Integers, percent: int) -> float:
    """Return the smallest figure that at least so many percent of the records do not exceed.

    Parameters
    ----------
    figures, sizes
        For each class its figure and the number of its records.
    percent
        How many of 100 records.

    Examples
    --------
    >>> percentile(np.array([0.5, 0.1]), np.array([5, 95]), 95)
    0.1
    """
    order = np.argsort(figures)
    reached = np.cumsum(sizes[order])
    # in integers, so that 95 of 100 records are 95 percent of them
    place = np.searchsorted(100 * reached, percent * int(reached[-1]))
    return float(figures[order[place]])
