"""Bound what every finer node must suppress of a class, before the class is split there.

At a finer node the class is split into parts, some kept and some suppressed, and its distribution is the mean
of theirs. A model declares the consequence in ``lost_share(classes)``; most models use one of three rules. If
a person has records in several parts, the distributions have no such mean, and only models that declare
``of_people`` have a bound.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.models.base import PrivacyModel, worst_attribute
from sfumato.registry.declarations import own
from sfumato.registry.plugin_errors import blamed_on
from sfumato.runtime.arrays import Floats

# a model accepts a score this close to its limit, and so do the bounds here
_TIE = 1e-11


def lost_share(part: PrivacyModel, classes: EquivalenceClasses) -> Floats:
    """Return for each class the share of its records that every finer node must suppress, at least.

    A model without a ``lost_share`` of its own has no bound. A derived model may have other scores, so it
    must declare ``lost_share`` again.

    Examples
    --------
    >>> from sfumato.models import ProbabilisticDiversity
    >>> from sfumato.data.equivalence_classes import count_classes
    >>> prior = np.array([0.5, 0.5])
    >>> values = np.array([0, 0, 0, 1], dtype=np.int32)
    >>> four = count_classes(np.zeros(4, np.int64), 1, np.ones(4, np.int64), {"illness": (values, prior)})
    >>> lost_share(ProbabilisticDiversity(2.0), four).round(6)
    array([0.5])
    """
    rule = own(type(part), "lost_share")
    if rule is None or (classes.persons is not None and not own(type(part), "of_people")):
        return np.zeros(classes.n_classes)
    with blamed_on(part):
        return np.asarray(rule(part, classes))


def lacking(part: PrivacyModel, classes: EquivalenceClasses) -> Floats:
    """Return 1 for a failing class: if it lacks records or different values, so do its parts."""
    return (~part.keeps_limit(classes)).astype(np.float64)


def convex_share(scores: Floats, limit: float, worst: float) -> Floats:
    """Return the share that is lost when the score is convex in the distribution and must stay low.

    If it is at most ``limit`` in every kept part and at most ``worst`` in any other, then the score of the
    class is at most the mean of the two.
    """
    highest = limit + _TIE * max(1.0, abs(limit))
    return np.maximum(scores - highest, 0.0) / max(worst - highest, 1e-300)


def capped_share(classes: EquivalenceClasses, caps: Callable[[SensitiveCounts], Floats]) -> Floats:
    """Return the share that is lost when no value may have more than its cap of a class.

    If a value has at most the share ``cap`` in every kept part, then also in all kept parts together, and
    so for several values at once.

    Parameters
    ----------
    classes
        The classes.
    caps
        Gives for each value of each class, as `SensitiveCounts` lists them, its largest share.
    """

    def lost(sensitive: SensitiveCounts) -> Floats:
        highest = caps(sensitive) * (1 + _TIE) + _TIE
        over = sensitive.shares > highest
        excess: Floats = sensitive.total(np.where(over, sensitive.shares - highest, 0.0))
        return excess / np.maximum(1 - sensitive.total(np.where(over, highest, 0.0)), 1e-300)

    return worst_attribute(classes, "lower", lost)
