"""What a privacy model says of a class before it is known how the class falls apart at a finer node."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeGuard, TypeVar

import numpy as np

from sfumato.arrays import Floats
from sfumato.classes import EquivalenceClasses, SensitiveCounts
from sfumato.models.anonymity import AlphaKAnonymity, KAnonymity
from sfumato.models.base import PrivacyModel, worst_attribute
from sfumato.models.closeness import TCloseness
from sfumato.models.disclosure import BetaLikeness, DeltaDisclosure
from sfumato.models.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    ProbabilisticDiversity,
    RecursiveDiversity,
)

# A model lets a score this near to its limit pass, and so do the bounds here.
_TIE = 1e-11

_Model = TypeVar("_Model", bound=PrivacyModel)


def lost_share(part: PrivacyModel, classes: EquivalenceClasses) -> Floats:
    """Return for each class the share of its records that every finer node must suppress, at least.

    At a finer node the class falls into parts, some kept and some suppressed, and its distribution is
    the mean of theirs. Three rules follow; of a model that is not named here nothing is known.

    What a class lacks, its parts lack: records, or different values. Then all of it is lost.

    If the score is convex in the distribution, at most ``limit`` in every kept part and at most
    ``worst`` in any other, then the score of the class is at most the mean of the two.

    If a value has at most the share ``cap`` in every kept part, then also in all kept parts together,
    and so for several values at once.

    Examples
    --------
    >>> from sfumato import ProbabilisticDiversity
    >>> from sfumato.classes import count_classes
    >>> prior = np.array([0.5, 0.5])
    >>> values = np.array([0, 0, 0, 1], dtype=np.int32)
    >>> four = count_classes(np.zeros(4, np.int64), 1, np.ones(4, np.int64), {"illness": (values, prior)})
    >>> lost_share(ProbabilisticDiversity(2.0), four).round(6)
    array([0.5])
    """
    if is_exactly(part, KAnonymity) or is_exactly(part, DistinctDiversity):
        return _lacking(part, classes)
    if is_exactly(part, RecursiveDiversity):
        return _lacking(_distinct(part.l), classes)
    if is_exactly(part, EntropyDiversity):
        shares = _convex_share(-np.log(part.scores(classes)), -math.log(part.l), 0.0)
        return np.maximum(shares, _lacking(_distinct(part.l), classes))
    if is_exactly(part, TCloseness):
        return _convex_share(part.scores(classes), part.t, math.log(2) if part.distance == "js" else 1.0)
    caps = _caps(part)
    if caps is None:
        return np.zeros(classes.n_classes)
    return worst_attribute(classes, "lower", lambda sensitive: _capped_share(sensitive, caps(sensitive)))


def _lacking(part: PrivacyModel, classes: EquivalenceClasses) -> Floats:
    return (~part.keeps_limit(classes)).astype(np.float64)


def _distinct(least: float) -> DistinctDiversity:
    return DistinctDiversity(math.ceil(least - 1e-9))


def _convex_share(scores: Floats, limit: float, worst: float) -> Floats:
    highest = limit + _TIE * max(1.0, abs(limit))
    return np.maximum(scores - highest, 0.0) / max(worst - highest, 1e-300)


def _caps(part: PrivacyModel) -> Callable[[SensitiveCounts], Floats] | None:
    """Return what gives the largest share of each value in a class where a model holds, if it caps shares."""
    if is_exactly(part, ProbabilisticDiversity):
        return lambda sensitive: np.full(len(sensitive.values), 1 / part.l)
    if is_exactly(part, DeltaDisclosure):
        ratio = math.exp(min(part.delta * math.log(part.base), 700.0))
        return lambda sensitive: ratio * sensitive.priors
    if is_exactly(part, BetaLikeness) and part.variant == "basic":
        return lambda sensitive: (1 + part.beta) * sensitive.priors
    if is_exactly(part, BetaLikeness):
        return lambda sensitive: (1 + np.minimum(part.beta, -np.log(sensitive.priors))) * sensitive.priors
    if is_exactly(part, AlphaKAnonymity):
        return lambda sensitive: _alphas(part, sensitive)[sensitive.values]
    return None


def _alphas(part: AlphaKAnonymity, sensitive: SensitiveCounts) -> Floats:
    return np.array([part.alphas.get(label or "", part.alpha) for label in sensitive.domain.labels])


def _capped_share(sensitive: SensitiveCounts, caps: Floats) -> Floats:
    highest = caps * (1 + _TIE) + _TIE
    over = sensitive.shares > highest
    excess: Floats = sensitive.total(np.where(over, sensitive.shares - highest, 0.0))
    return excess / np.maximum(1 - sensitive.total(np.where(over, highest, 0.0)), 1e-300)


def is_exactly(part: PrivacyModel, kind: type[_Model]) -> TypeGuard[_Model]:
    """Return whether a model is of exactly this class: a derived one may score otherwise."""
    return type(part) is kind
