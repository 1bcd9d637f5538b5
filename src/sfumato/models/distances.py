"""Distances between the sensitive distribution of each group and the prior.

All are computed from the values that occur in a group alone: what an absent value contributes is
known from the prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.runtime.arrays import Floats
from sfumato.runtime.errors import ParameterError

DistanceName = Literal["js", "equal", "ordered", "hierarchical", "natural", "kl", "hellinger"]

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
    present = share * np.log(share / middle) + prior * _log_ratio(prior, middle)
    absent = np.maximum(1.0 - sensitive.total(prior), 0.0) * math.log(2)
    return _rounded(np.minimum((sensitive.total(present) + absent) / 2, math.log(2)))


def relative_entropy(sensitive: SensitiveCounts) -> Floats:
    """Return KL(p(E, ·), p(T, ·)) = Σ_s p(E, s) log(p(E, s) / p(T, s)).

    In this direction a value that is absent from a group costs nothing. In the other one it would cost
    infinitely much, which is as much as `disclosure-quotient` says.
    """
    return _rounded(sensitive.total(sensitive.shares * np.log(sensitive.shares / sensitive.priors)))


def hellinger(sensitive: SensitiveCounts) -> Floats:
    """Return √(½ Σ_s (√p(E, s) - √p(T, s))²) in [0, 1]."""
    present = sensitive.total((np.sqrt(sensitive.shares) - np.sqrt(sensitive.priors)) ** 2)
    # a root makes much of the last digit
    absent = _rounded(np.maximum(1.0 - sensitive.total(sensitive.priors), 0.0))
    return _rounded(np.sqrt(np.minimum((present + absent) / 2, 1.0)))


def ordered_distance(sensitive: SensitiveCounts) -> Floats:
    """Return the earth mover's distance when values are as far apart as they are in order.

    The sum over all values of |P(E, ·) - P(T, ·)|, the distributions cumulated, divided by m - 1.
    Between two values that occur in a group its cumulated share stands still, so every such stretch
    is summed at once from prefix sums of the prior.
    """
    n_values = len(sensitive.prior)
    if n_values < 2:
        return np.zeros(len(sensitive.starts) - 1)
    cumulated = np.cumsum(sensitive.prior)
    before = np.concatenate([[0.0], np.cumsum(cumulated)])
    reached = sensitive.reached
    first = sensitive.values.astype(np.int64)
    last = np.append(first[1:], 0)
    last[sensitive.starts[1:] - 1] = n_values - 1
    crossing = np.clip(np.searchsorted(cumulated, reached), first, last)
    above = reached * (crossing - first) - (before[crossing] - before[first])
    below = before[last] - before[crossing] - reached * (last - crossing)
    start = before[first[sensitive.starts[:-1]]]
    return _rounded((sensitive.total(above + below) + start) / (n_values - 1))


def natural_distance(sensitive: SensitiveCounts) -> Floats:
    """Return the earth mover's distance of values in order, of categories as equally far apart."""
    hierarchy = sensitive.domain.hierarchy
    is_ordered = hierarchy is not None and hierarchy.kind.is_ordered
    return ordered_distance(sensitive) if is_ordered else total_variation(sensitive)


def hierarchical_distance(sensitive: SensitiveCounts) -> Floats:
    """Return the earth mover's distance when values are as far apart as their lowest common node is high.

    On a tree with levels this is the mean over the levels below the root of the total variation
    between the distributions of the nodes.
    """
    hierarchy = sensitive.domain.hierarchy
    if hierarchy is None or hierarchy.height < 1:
        return total_variation(sensitive)
    group = np.repeat(np.arange(len(sensitive.starts) - 1), np.diff(sensitive.starts))
    distance = np.zeros(len(sensitive.starts) - 1)
    for level in range(hierarchy.height):
        nodes = hierarchy.node_of[level].astype(np.int64)
        n_nodes = len(hierarchy.labels[level])
        node_prior = np.bincount(nodes, weights=sensitive.prior, minlength=n_nodes)
        pairs, entry = np.unique(group * n_nodes + nodes[sensitive.values], return_inverse=True)
        share = np.bincount(entry, weights=sensitive.shares)
        excess = np.maximum(share - node_prior[pairs % n_nodes], 0.0)
        distance += np.bincount(pairs // n_nodes, weights=excess, minlength=len(distance))
    return _rounded(distance / hierarchy.height)


DISTANCES: Mapping[str, Callable[[SensitiveCounts], Floats]] = {
    "js": jensen_shannon,
    "equal": total_variation,
    "ordered": ordered_distance,
    "hierarchical": hierarchical_distance,
    "natural": natural_distance,
    "kl": relative_entropy,
    "hellinger": hellinger,
}
"""What each name of a distance stands for."""


def require_order(classes: EquivalenceClasses, method: str) -> None:
    """Raise `ParameterError` where categories have no order but that in which they were first seen."""
    for name, counts in classes.sensitive.items():
        hierarchy = counts.domain.hierarchy
        if hierarchy is not None and not hierarchy.has_order:
            raise ParameterError(
                f"{method}: the values of {name!r} have no order; give it a hierarchy that lists them in "
                "order, kind = 'numeric', or another distance"
            )


def _rounded(distances: Floats) -> Floats:
    return np.where(distances < _ROUNDING, 0.0, distances)


def _log_ratio(above: Floats, below: Floats) -> Floats:
    return np.log(np.where(above > 0, above, below) / below)
