"""Models that bound how much more (or less) likely a value is in a group than in the whole table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.models.base import PrivacyModel, worst_attribute
from sfumato.models.bounds import capped_share
from sfumato.registry.declarations import Above, AtLeast, Better, Words
from sfumato.registry.methods import register
from sfumato.runtime.arrays import Booleans, Floats

_TIE = 1e-12


@register
@dataclass(frozen=True)
class DeltaDisclosure(PrivacyModel):
    """No value is much more or much less frequent in a group than in the whole table.

    ``|log(p(E, s) / p(T, s))| < delta`` for every value s of the table, strictly.

    Parameters
    ----------
    delta
        The bound.
    base
        The base of the logarithm, e by default; ARX uses 2.
    absent
        How a value that a group lacks counts: it ``violates`` (the ratio is 0, its logarithm infinite: the
        paper's definition), or it is ``ignored``, as in ARX and pyCANON.

    References
    ----------
    J. Brickell, V. Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized
    data publishing", 2008, definition 1.

    Examples
    --------
    >>> DeltaDisclosure(1.5, base=2.0, absent="ignored").limit
    1.5
    """

    delta: Annotated[float, Above(0)] = 1.5
    base: Annotated[float, Above(1)] = math.e
    absent: Literal["violates", "ignored"] = "violates"

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "lower"
    strict: ClassVar[bool] = True
    parameter: ClassVar[str] = "delta"
    plain: ClassVar[str] = "sensitive values about as common as in the whole table"
    words: ClassVar[Words] = Words(
        "delta-disclosure privacy",
        "The largest factor, as a logarithm, by which a group makes a sensitive value more or less likely.",
        "0: every group looks like the whole table. ∞: some value is ruled out in some group.",
        "0 to ∞",
        ends=("shares as in the whole table", "a share changes beyond measure"),
    )

    @property
    def is_monotone(self) -> bool:
        """Whether an absent value violates.

        Ignored, a value can become rarer by merging with a group that lacks it than in any group before.
        """
        return self.absent == "violates"

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return the largest |log(p(E, s) / p(T, s))| of each group."""

        def score(sensitive: SensitiveCounts) -> Floats:
            worst = largest_quotients(sensitive) / math.log(self.base)
            return worst if self.absent == "ignored" else np.where(lacks_values(sensitive), np.inf, worst)

        return worst_attribute(classes, self.better, score)

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: what is too frequent."""
        ratio = math.exp(min(self.delta * math.log(self.base), 700.0))
        return capped_share(classes, lambda sensitive: ratio * sensitive.priors)


@register
@dataclass(frozen=True)
class BetaLikeness(PrivacyModel):
    """No value gains more than beta in relative frequency inside a group.

    ``(p(E, s) - p(T, s)) / p(T, s) <= beta`` for every value that gains.

    Parameters
    ----------
    beta
        The bound.
    variant
        ``basic``, or ``enhanced``: then no value may gain more than ``-log p(T, s)`` either, so that
        a frequent value cannot become certain.

    References
    ----------
    J. Cao, P. Karras, "Publishing microdata with a robust privacy guarantee", 2012.

    Examples
    --------
    >>> BetaLikeness(1.0, "enhanced")
    BetaLikeness(beta=1.0, variant='enhanced')
    """

    beta: Annotated[float, AtLeast(0)] = 1.0
    variant: Literal["basic", "enhanced"] = "basic"

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "lower"
    parameter: ClassVar[str] = "beta"
    plain: ClassVar[str] = "no sensitive value much more common than in the whole table"
    words: ClassVar[Words] = Words(
        "beta-likeness",
        "The largest relative increase of a sensitive value's share in any group over its share in the "
        "whole table.",
        "0: no value becomes more likely. 1: some value becomes twice as likely.",
        "0 to ∞",
        ends=("no value is more common than in the whole table", "a rare value is certain"),
    )

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return the largest gain of each group; infinite where the enhanced bound is broken."""

        def score(sensitive: SensitiveCounts) -> Floats:
            gains = np.maximum(sensitive.shares / sensitive.priors - 1, 0.0)
            gains = np.where(gains < _TIE, 0.0, gains)
            if self.variant == "enhanced":
                gains = np.where(gains > -np.log(sensitive.priors) + _TIE, np.inf, gains)
            worst: Floats = sensitive.largest(gains)
            return worst

        return worst_attribute(classes, self.better, score)

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: what has gained too much."""

        def caps(sensitive: SensitiveCounts) -> Floats:
            gains = self.beta if self.variant == "basic" else np.minimum(self.beta, -np.log(sensitive.priors))
            return np.asarray((1 + gains) * sensitive.priors)

        return capped_share(classes, caps)


def largest_quotients(sensitive: SensitiveCounts) -> Floats:
    """Return for each group the largest |log(p(E, s) / p(T, s))| over the values that occur in it."""
    quotients = np.abs(np.log(sensitive.shares / sensitive.priors))
    largest: Floats = sensitive.largest(np.where(quotients < _TIE, 0.0, quotients))
    return largest


def lacks_values(sensitive: SensitiveCounts) -> Booleans:
    """Return for each group whether some value of the table does not occur in it."""
    lacks: Booleans = np.diff(sensitive.starts) < np.count_nonzero(sensitive.prior)
    return lacks
