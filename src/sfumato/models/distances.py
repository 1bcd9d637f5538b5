"""Distances between the sensitive distribution of each group and the prior.

The built-in ones look only at the values that occur in a group: the contribution of an absent value follows
from the prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.registry import methods
from sfumato.registry.methods import register
from sfumato.runtime.arrays import Floats
from sfumato.runtime.errors import MethodFailed, ParameterError, suggestion

# equal distributions, computed in two ways, may differ in the last digit: they have distance 0
_ROUNDING = 1e-13


@dataclass(frozen=True)
class Distance:
    """A distance between the sensitive distribution of a group and the prior, that of the whole table.

    Parameters
    ----------
    name
        The name for models and measures.
    between
        Returns the distance of each group.
    convex
        Whether the distance of a mean of distributions is at most the mean of their distances, as of every
        f-divergence. Searches then bound what all finer nodes must suppress.
    monotone
        Whether the distance of a mean of distributions is at most the largest of their distances, as of every
        increasing function of a convex distance. Merged groups then stay within a limit that each keeps, so
        searches continue only from nodes that keep it. If this is false, they miss the best node.
    largest
        A number that no distance exceeds; infinite if there is none.
    needs_order
        Whether the values must have an order.

    Examples
    --------
    >>> def chi_square(sensitive):
    ...     return sensitive.total(sensitive.shares**2 / sensitive.priors) - 1
    >>> Distance("chi-square", chi_square, convex=True).is_monotone
    True
    """

    name: str
    between: Callable[[SensitiveCounts], Floats]
    convex: bool = False
    monotone: bool = False
    largest: float = math.inf
    needs_order: bool = False

    homes: ClassVar[tuple[str, ...]] = ("sfumato.models.distances",)

    @property
    def names(self) -> tuple[str, ...]:
        """Its name."""
        return (self.name,)

    @property
    def module(self) -> str:
        """The module that computes it."""
        return self.between.__module__

    @property
    def is_monotone(self) -> bool:
        """Whether merging groups never raises the largest distance."""
        return self.convex or self.monotone

    def of(self, sensitive: SensitiveCounts) -> Floats:
        """Return the distance of each group; the result of a plug-in is checked."""
        if methods.is_ours(self.module):
            return self.between(sensitive)
        n_groups = len(sensitive.starts) - 1
        try:
            distances = np.asarray(self.between(sensitive), dtype=np.float64)
        except Exception as error:
            # the text of a plug-in's exception may show a value
            raise self._failed(f"raises {type(error).__name__}") from error
        if distances.shape != (n_groups,):
            raise self._failed(f"returns not one number for each of {n_groups:,} groups")
        if not (distances >= 0).all():
            raise self._failed("returns numbers below 0, or none")
        return distances

    def _failed(self, does: str) -> MethodFailed:
        return MethodFailed(f"the distance {self.name!r} {does}; repair or uninstall its plug-in")


def distance_named(name: str) -> Distance:
    """Return the distance of this name.

    Examples
    --------
    >>> distance_named("js").largest
    0.6931471805599453
    """
    known = methods.instance_named(Distance, name)
    if known is None:
        names = distance_names()
        hint = suggestion(name, names) or f"; allowed are {', '.join(names)}"
        raise ParameterError(f"no distance {name!r}{hint}")
    return known


def distance_names() -> tuple[str, ...]:
    """Return the names of all distances."""
    return tuple(known.name for known in methods.instances(Distance))


def total_variation(sensitive: SensitiveCounts) -> Floats:
    """Return ½ Σ_s |p(E, s) - p(T, s)|: the sum of the excesses, since both sides add up to 1."""
    excess = np.maximum(sensitive.shares - sensitive.priors, 0.0)
    return _rounded(sensitive.total(excess))


def jensen_shannon(sensitive: SensitiveCounts) -> Floats:
    """Return JS(p(E, ·), p(T, ·)) in [0, log 2]."""
    share, prior = sensitive.shares, sensitive.priors
    middle = (share + prior) / 2
    present = share * np.log(share / middle) + prior * np.log(np.where(prior > 0, prior, middle) / middle)
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


for _distance in (
    Distance("equal", total_variation, convex=True, largest=1.0),
    Distance("ordered", ordered_distance, convex=True, largest=1.0, needs_order=True),
    Distance("hierarchical", hierarchical_distance, convex=True, largest=1.0),
    Distance("natural", natural_distance, convex=True, largest=1.0),
    Distance("js", jensen_shannon, convex=True, largest=math.log(2)),
    Distance("kl", relative_entropy, convex=True),
    # a root of a convex distance
    Distance("hellinger", hellinger, monotone=True, largest=1.0),
):
    register(_distance)
