"""What a privacy model says of a class before it is known how the class falls apart at a finer node.

At a finer node the class falls into parts, some kept and some suppressed, and its distribution is the
mean of theirs. A model declares in ``lost_share(classes)`` what follows from that; three rules serve most.
Where somebody has records in several parts their distributions have no such mean, and only models that say
so (``of_people``) know anything.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.models.base import PrivacyModel, worst_attribute
from sfumato.registry.declarations import own
from sfumato.registry.plugin_errors import blamed_on
from sfumato.runtime.arrays import Floats

# A model lets a score this near to its limit pass, and so do the bounds here.
_TIE = 1e-11


def lost_share(part: PrivacyModel, classes: EquivalenceClasses) -> Floats:
    """Return for each class the share of its records that every finer node must suppress, at least.

    Of a model that declares no ``lost_share`` of its own nothing is known; a derived one may score
    otherwise, so that it must declare it again.

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
    """Return 1 where a model fails: what a class lacks (records, different values) its parts lack too."""
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
    return worst_attribute(classes, "lower", lambda sensitive: _capped(sensitive, caps(sensitive)))


def _capped(sensitive: SensitiveCounts, caps: Floats) -> Floats:
    highest = caps * (1 + _TIE) + _TIE
    over = sensitive.shares > highest
    excess: Floats = sensitive.total(np.where(over, sensitive.shares - highest, 0.0))
    return excess / np.maximum(1 - sensitive.total(np.where(over, highest, 0.0)), 1e-300)
