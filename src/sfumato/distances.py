"""Distances between the sensitive distribution of each group and the prior.

All are computed from the values that occur in a group alone: what an absent value contributes is
known from the prior.
"""

from __future__ import annotations

import math

import numpy as np

from sfumato.arrays import Floats
from sfumato.classes import SensitiveCounts

# Equal distributions, computed in two ways, may differ in the last digit: they have distance 0.
_ROUNDING = 1e-13


def total_variation(sensitive: SensitiveCounts) -> Floats:
    """Return ½ Σ_s |p(E, s) - p(T, s)|: the sum of the excesses, since both sides add up to 1."""
    excess = np.maximum(sensitive.shares - sensitive.priors, 0.0)
    return _rounded(sensitive.total(excess))


def jensen_shannon(sensitive: SensitiveCounts) -> Floats:
    """Return JS(p(E, ·), p(T, ·)) in [0, log 2]."""
    share, prior = sensitive.shares, sensitive.priors
    middle = (share + prior) / 2
    present = share * np.log(share / middle) + np.where(prior > 0, prior * _log_ratio(prior, middle), 0.0)
    absent = np.maximum(1.0 - sensitive.total(prior), 0.0) * math.log(2)
    return _rounded(np.minimum((sensitive.total(present) + absent) / 2, math.log(2)))


def _rounded(distances: Floats) -> Floats:
    return np.where(distances < _ROUNDING, 0.0, distances)


def _log_ratio(above: Floats, below: Floats) -> Floats:
    return np.log(np.where(above > 0, above, below) / below)
