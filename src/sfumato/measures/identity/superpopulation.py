"""Superpopulation models: estimate population uniques from the class sizes of a sample.

Each estimator assumes that the population was drawn from a model, fits the model to the sizes of the sample's
classes, and estimates how many classes of the population have one person.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeVar

import numpy as np

from sfumato.runtime.arrays import Floats, Integers, freeze_fields

Number = TypeVar("Number", float, Floats)
Estimator = Literal["dankar", "pitman", "zayatz", "slide-negative-binomial"]
_SMALL_FRACTION = 0.1
_STEPS = 55
_LARGE = 10
_GRID = 400


class NoEstimate(Exception):
    """Raised if a model cannot be fitted to the classes; the message says why."""


@dataclass(frozen=True, eq=False)
class SampledClasses:
    """The class sizes of a sample, and the size of the population.

    Parameters
    ----------
    sizes, counts
        The different sizes, ascending, and how many classes have each.
    n_population
        The number of people in the population.
    """

    sizes: Integers = field(repr=False)
    counts: Integers = field(repr=False)
    n_population: int

    def __post_init__(self) -> None:
        freeze_fields(self, sizes=np.int64, counts=np.int64)

    @classmethod
    def of(cls, class_sizes: Integers, n_population: int) -> SampledClasses:
        """Count how many classes have each size."""
        sizes, counts = np.unique(class_sizes, return_counts=True)
        return cls(sizes, counts, n_population)

    @property
    def n_records(self) -> int:
        """The size of the sample."""
        return int(self.sizes @ self.counts)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.counts.sum())

    @property
    def fraction(self) -> float:
        """The share of the population that is in the sample."""
        return self.n_records / self.n_population

    def of_size(self, size: int) -> int:
        """Return how many classes have this size."""
        return int(self.counts[self.sizes == size].sum())


def population_uniques(sample: SampledClasses, estimator: Estimator) -> tuple[float, str]:
    """Return the estimated number of population uniques, and the model used.

    If nobody is unique in the sample, the estimate is 0. If the sample is the population, nothing is
    estimated.

    References
    ----------
    F. Dankar, K. El Emam, A. Neisa, T. Roffey, "Estimating the re-identification risk of clinical data
    sets", 2012: the choice among the others.

    Examples
    --------
    >>> sample = SampledClasses.of(np.array([1] * 40 + [2] * 20 + [5] * 10), 1300)
    >>> round(population_uniques(sample, "zayatz")[0]), population_uniques(sample, "dankar")[1]
    (147, 'zayatz')
    """
    uniques = sample.of_size(1)
    if not uniques or sample.fraction >= 1:
        return float(uniques), "none needed"
    if estimator != "dankar":
        return _MODELS[estimator](sample), estimator
    # Dankar et al.: Pitman's estimate for small samples, and the smaller of the others for large ones
    is_small = sample.fraction <= _SMALL_FRACTION
    name = "pitman" if is_small else "slide-negative-binomial"
    by_zayatz = (zayatz(sample), "zayatz")
    try:
        other = (_MODELS[name](sample), name)
    except NoEstimate:
        return by_zayatz
    return other if is_small else min(other, by_zayatz)


def zayatz(sample: SampledClasses) -> float:
    """Estimate by the chance that a sample unique is a population unique, with classes as in the sample.

    References
    ----------
    L. Zayatz, "Estimation of the percent of unique population elements on a microdata file using the
    sample", 1991.
    """
    n_others = sample.n_population - sample.n_records
    # the chance that a class of each size shows one person in the sample, over that of a class of one
    chances = [
        math.exp(
            math.log(size)
            + math.lgamma(sample.n_population - size + 1)
            - math.lgamma(sample.n_population)
            + math.lgamma(n_others + 1)
            - math.lgamma(n_others - size + 2)
        )
        if size <= n_others + 1
        else 0.0
        for size in sample.sizes.tolist()
    ]
    uniques = sample.of_size(1)
    return uniques / sample.fraction * uniques / float(sample.counts @ np.array(chances))


def pitman(sample: SampledClasses) -> float:
    """Estimate by Pitman's sampling formula with maximum-likelihood parameters.

    The number is the model's expectation, N Γ(t+1) Γ(N+t+a-1) / (Γ(t+a) Γ(N+t)) with the parameters t and a;
    the paper's N^a Γ(t+1) / Γ(t+a) is what it comes to where the population is large beside t.

    References
    ----------
    N. Hoshino, "Applying Pitman's sampling formula to microdata disclosure risk assessment", 2001.
    """
    theta, alpha = fitted_pitman(sample)
    n = sample.n_population
    logarithm = math.lgamma(theta + 1) - math.lgamma(theta + alpha)
    return n * math.exp(logarithm + math.lgamma(n + theta + alpha - 1) - math.lgamma(n + theta))


def fitted_pitman(sample: SampledClasses) -> tuple[float, float]:
    """Return the maximum-likelihood parameters theta and alpha of Pitman's formula.

    Alpha lies between 0 and 1, and theta above -alpha.
    """
    n, u = sample.n_records, sample.n_classes
    shared = sample.sizes > 1
    sizes, counts = sample.sizes[shared].astype(np.float64), sample.counts[shared]
    if not len(sizes):
        raise NoEstimate("Pitman's model needs classes of several sizes")

    def theta_of(alpha: float) -> float:
        def slope(logarithm: float) -> float:
            theta = math.exp(logarithm) - alpha
            return _harmonic(theta, alpha, u) - _harmonic(theta, 1.0, n)

        return math.exp(_root(slope, -30.0, math.log(n) + 20.0)) - alpha

    def slope(alpha: float) -> float:
        theta = theta_of(alpha)
        within = float(counts @ (_digammas(sizes - alpha) - _digamma(1 - alpha)))
        return (u - 1 - theta * _harmonic(theta, alpha, u)) / alpha - within

    alpha = _root(slope, 1e-6, 1 - 1e-6)
    return theta_of(alpha), alpha


def slide_negative_binomial(sample: SampledClasses) -> float:
    """Estimate by class sizes that are one plus a negative binomial number.

    Their parameters are those with which as many classes of one and of two are to be expected in the sample
    as there are; how many classes the population has is Haas and Stokes' estimate.

    References
    ----------
    G. Chen, S. Keller-McNulty, "Estimation of identification disclosure risk in microdata", 1998;
    P. Haas, L. Stokes, "Estimating the number of classes in a finite population", 1998, their third
    estimator after Shlosser.
    """
    n_classes, alpha, beta = fitted_slide(sample)
    return n_classes * beta**alpha


def fitted_slide(sample: SampledClasses) -> tuple[float, float, float]:
    """Return the number of classes of the population, and alpha and beta of their sizes less one."""
    singles, pairs = sample.of_size(1), sample.of_size(2)
    if not pairs:
        raise NoEstimate("the slide negative binomial model needs classes of two")
    n_classes, fraction = population_classes_by_shlosser(sample), sample.fraction

    def alpha_of(beta: float) -> float:
        """Return with which alpha pairs and singles are in the ratio that they have."""
        unseen = (1 - fraction) * (1 - beta)
        seen = 1 - unseen
        wanted = 2 * pairs / singles * seen / (fraction * (1 - beta))
        linear = 2 - unseen - wanted * unseen
        return (math.sqrt(linear**2 + 4 * unseen * wanted * seen) - linear) / (2 * unseen)

    def too_many(beta: float) -> float:
        """Return how far more classes of one are expected than there are, as a logarithm."""
        alpha, unseen = alpha_of(beta), (1 - fraction) * (1 - beta)
        expected = math.log(n_classes * fraction) + alpha * math.log(beta / (1 - unseen))
        return expected + math.log1p(alpha * unseen / (1 - unseen)) - math.log(singles)

    beta = _root_nearest_one(too_many)
    return n_classes, alpha_of(beta), beta


def population_classes_by_shlosser(sample: SampledClasses) -> float:
    """Return Haas and Stokes' estimate of how many classes the population has."""
    q, sizes, counts = sample.fraction, sample.sizes.astype(np.float64), sample.counts
    missed = (1 - q) ** sizes @ counts
    single = sizes * q * (1 - q) ** (sizes - 1) @ counts
    ratio = (sizes * q**2 * (1 - q**2) ** (sizes - 1) @ counts) / (
        ((1 - q**2) ** sizes - (1 - q) ** sizes) @ counts
    )
    return sample.n_classes + sample.of_size(1) * float(ratio * (missed / single) ** 2)


_MODELS: dict[str, Callable[[SampledClasses], float]] = {
    "pitman": pitman,
    "zayatz": zayatz,
    "slide-negative-binomial": slide_negative_binomial,
}


def _harmonic(theta: float, alpha: float, n: int) -> float:
    """Return the sum of 1 / (theta + i alpha) for i from 1 to n - 1."""
    return (_digamma(theta / alpha + n) - _digamma(theta / alpha + 1)) / alpha


def _digamma(x: float) -> float:
    """Return the derivative of the logarithm of the gamma function at a positive number."""
    shift = 0.0
    while x < _LARGE:
        shift -= 1 / x
        x += 1
    return shift + math.log(x) - _below_logarithm(x)


def _digammas(x: Floats) -> Floats:
    """Return the digamma function of many positive numbers."""
    shift = sum((1 / (x + step) for step in range(_LARGE)), np.zeros(len(x)))
    return np.log(x + _LARGE) - _below_logarithm(x + _LARGE) - shift


def _below_logarithm(x: Number) -> Number:
    """Return how far the digamma function of a number of 10 or more is below its logarithm."""
    inverse = 1 / (x * x)
    series = 1 / 12 - inverse * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse / 132)))
    return 0.5 / x + inverse * series


def _root(slope: Callable[[float], float], low: float, high: float) -> float:
    """Return the zero of a falling function, by bisection."""
    if slope(low) <= 0 or slope(high) >= 0:
        raise NoEstimate("the likelihood has no maximum, as where nearly all or nearly no classes are of one")
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return (low + high) / 2


def _root_nearest_one(function: Callable[[float], float]) -> float:
    """Return the largest number below one at which a function is zero or changes its sign."""
    places = [1 / (1 + math.exp(-step / 20)) for step in range(_GRID, -_GRID, -1)]
    for high, low in itertools.pairwise(places):
        at_high, at_low = function(high), function(low)
        if at_high == 0:
            return high
        if at_high * at_low < 0:
            return _root(function if at_high < 0 else lambda place: -function(place), low, high)
    raise NoEstimate("no slide negative binomial model has so many classes of one and of two")
