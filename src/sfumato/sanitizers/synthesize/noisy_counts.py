"""Noisy counts with privacy accounting, by OpenDP in zero-concentrated differential privacy.

All noise comes from OpenDP's cryptographic source, never from a seed. Budgets are given as rho.
"""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sfumato.runtime.arrays import Floats, Integers
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers.opendp import opendp

_RHOS = [10 ** (place / 1000) for place in range(-9000, 2001)]
"""The budgets to choose from; beyond the last one there is hardly any noise, and the accountant overflows."""
_ROUNDING_MARGIN = 1 + 1e-9
"""Extra noise, so that rounding never spends more than the budget."""


@functools.cache
def rho_of(epsilon: float, delta: float) -> float:
    """Return the largest rho whose curve, by OpenDP's accountant, lies within (epsilon, delta).

    Examples
    --------
    >>> 0.02 < rho_of(1.0, 1e-6) < 0.03
    True
    """
    n_enough = bisect.bisect_left(_RHOS, True, key=lambda rho: epsilon_of(rho, delta) > epsilon)
    if not n_enough:
        raise ParameterError(
            f"epsilon = {epsilon:g} leaves nothing to tell with delta = {delta:g}; give more"
        )
    return _RHOS[n_enough - 1]


def epsilon_of(rho: float, delta: float) -> float:
    """Return the epsilon that a rho gives together with a delta, by OpenDP's accountant."""
    dp = opendp()
    noise = dp.m.make_gaussian(dp.atom_domain(T=int), dp.absolute_distance(T=float), scale=_scale(rho, 1))
    return float(dp.c.make_zCDP_to_approxDP(noise).map(1.0).epsilon(delta))


def with_noise(counts: Integers, rho: float, sensitivity: int) -> Floats:
    """Return counts with Gaussian noise of whole numbers.

    Parameters
    ----------
    counts
        How many records have each value.
    rho
        What may be spent.
    sensitivity
        How many records one person may have, which is how much one person changes the counts.
    """
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)
    noise = dp.m.make_gaussian(*space, scale=_scale(rho, sensitivity))
    _check_spent(noise.map(float(sensitivity)), rho)
    return np.array(noise(counts.ravel().tolist()), dtype=np.float64).reshape(counts.shape)


def frequent_with_noise(
    counts: Integers, rho: float, delta: float, sensitivity: int
) -> tuple[Integers, Floats]:
    """Return the values that enough people have, with noisy counts, for a domain that is secret.

    A value whose noisy count stays below a threshold is not disclosed; delta bounds the probability that a
    value of a single person reaches it.

    Parameters
    ----------
    counts
        How many records have each value that occurs.
    rho, delta
        What may be spent.
    sensitivity
        How many records one person may have.
    """
    dp = opendp()
    space = (
        dp.map_domain(dp.atom_domain(T=int), dp.atom_domain(T=int)),
        dp.l02inf_distance(dp.absolute_distance(T=int)),
    )
    scale, one_person = _scale(rho, sensitivity), (sensitivity,) * 3

    def release_above(threshold: int) -> Any:
        return dp.m.make_gaussian_threshold(*space, scale=scale, threshold=threshold)

    most = sensitivity + 2 + math.ceil(scale * (1 + math.sqrt(2 * math.log(2 * sensitivity / delta))))
    thresholds = range(sensitivity + 1, most)
    threshold = thresholds[
        bisect.bisect_left(thresholds, True, key=lambda at: release_above(at).map(one_person)[1] <= delta)
    ]
    _check_spent(release_above(threshold).map(one_person)[0], rho)
    noisy = release_above(threshold)({value: int(count) for value, count in enumerate(counts) if count})
    values = np.array(sorted(noisy), dtype=np.int64)
    return values, np.array([noisy[value] for value in values.tolist()], dtype=np.float64)


def noisy_largest(scores: Sequence[int], rho: float, sensitivity: int) -> int:
    """Return the index of a large score, by the exponential mechanism (with Gumbel noise)."""
    dp = opendp()
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    choice = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=_scale(rho, sensitivity))
    _check_spent(choice.map(sensitivity), rho)
    return int(choice(list(scores)))


def variance_of(rho: float, sensitivity: int) -> float:
    """Return the variance of counts that spend a given rho."""
    return sensitivity**2 / (2 * rho)


def _scale(rho: float, sensitivity: int) -> float:
    """Return the noise scale for a rho: both mechanisms spend (sensitivity / scale)^2 / 2."""
    return sensitivity / math.sqrt(2 * rho) * _ROUNDING_MARGIN


def _check_spent(spent: float, rho: float) -> None:
    if spent > rho:
        raise ParameterError(f"a measurement would spend rho = {spent:g} where {rho:g} is left; ask for less")
