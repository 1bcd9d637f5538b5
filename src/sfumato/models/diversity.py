"""Models that ask for different sensitive values in every group."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.models.base import PrivacyModel, worst_attribute
from sfumato.models.bounds import capped_share, convex_share, lacking
from sfumato.registry.declarations import Above, AtLeast, AtMost, Better, PositiveShare, RecordCount, Words
from sfumato.registry.methods import register
from sfumato.runtime.arrays import Floats


@register
@dataclass(frozen=True)
class ProbabilisticDiversity(PrivacyModel):
    """No sensitive value has a share above 1/l in any group.

    Parameters
    ----------
    l
        Real-valued, at least 1. This is the l of Li & Li and of Dewri et al.

    References
    ----------
    A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006; N. Li, T. Li, "On the
    tradeoff between privacy and utility in data publishing", 2009.

    Examples
    --------
    >>> ProbabilisticDiversity(2.5).limit
    2.5
    """

    l: Annotated[float, AtLeast(1), AtMost(10**12)] = 3.0  # noqa: E741 - the papers' letter

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"
    parameter: ClassVar[str] = "l"
    plain: ClassVar[str] = "no sensitive value shared by more than one in {l}"
    words: ClassVar[Words] = Words(
        "probabilistic l-diversity",
        "One over the largest share that one sensitive value has in any group.",
        "1: some group gives its sensitive value away. 4: no value has more than a quarter of any group.",
        "1 to the number of sensitive values",
        sentence="no sensitive value has a share above 1/{} in any group",
        ends=("all values equally common in every group", "one value in a group"),
    )

    @property
    def smallest_class(self) -> int:
        """It takes l records to have l different values."""
        return math.ceil(self.l)

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return 1 / max p(E, s) for each group."""

        def score(sensitive: SensitiveCounts) -> Floats:
            # one division of integers: a group with exactly 1/l must score exactly l
            largest: Floats = sensitive.sizes / sensitive.largest(sensitive.counts)
            return largest

        return worst_attribute(classes, self.better, score)

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: what is above 1/l."""
        return capped_share(classes, lambda sensitive: np.full(len(sensitive.values), 1 / self.l))


@register
@dataclass(frozen=True)
class DistinctDiversity(PrivacyModel):
    """Every group has at least l different sensitive values.

    If people have several records, the values that one person alone has in a group count as one. No group
    counts more values than people.

    Parameters
    ----------
    l
        The smallest number of different values (the p of p-sensitive k-anonymity).

    References
    ----------
    A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006.

    Examples
    --------
    >>> DistinctDiversity(3).monotone
    True
    """

    l: RecordCount = 3  # noqa: E741 - the papers' letter

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"
    parameter: ClassVar[str] = "l"
    of_people: ClassVar[bool] = True
    plain: ClassVar[str] = "at least {l} sensitive values in every class"
    words: ClassVar[Words] = Words(
        "distinct l-diversity",
        "The number of different sensitive values in the group that has fewest.",
        "1: some group gives its sensitive value away.",
        "1 to the number of sensitive values",
        ends=("all values in every group", "one value in a group"),
    )

    @property
    def smallest_class(self) -> int:
        """It takes l records to have l different values."""
        return math.ceil(self.l)

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return the number of different values of each group; those of one person alone are one."""
        return worst_attribute(classes, self.better, lambda s: s.n_different.astype(np.float64))

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: all, where it has too few values."""
        return lacking(self, classes)


@register
@dataclass(frozen=True)
class EntropyDiversity(PrivacyModel):
    """The entropy of the sensitive values of every group is at least log l.

    If people have several records, the share of a value is that of the people who have it at all. A group
    counts no more values than `DistinctDiversity` does.

    Parameters
    ----------
    l
        Real-valued, at least 1: the number of equally frequent values with that entropy.

    References
    ----------
    A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006, definition 4.1.

    Examples
    --------
    >>> EntropyDiversity(2.5).limit
    2.5
    """

    l: Annotated[float, AtLeast(1), AtMost(10**12)] = 3.0  # noqa: E741 - the papers' letter

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"
    parameter: ClassVar[str] = "l"
    plain: ClassVar[str] = "varied sensitive values in every class"
    words: ClassVar[Words] = Words(
        "entropy l-diversity",
        "The number of equally frequent sensitive values that would be as uncertain as the least uncertain"
        " group.",
        "1: some group gives its sensitive value away.",
        "1 to the number of sensitive values",
        ends=("all values equally common in every group", "one value in a group"),
    )

    @property
    def smallest_class(self) -> int:
        """It takes l records to have l different values."""
        return math.ceil(self.l)

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return exp H(E) of each group."""

        def score(sensitive: SensitiveCounts) -> Floats:
            entropies = sensitive.total(-sensitive.having * np.log(sensitive.having))
            return np.minimum(np.exp(np.maximum(entropies, 0.0)), sensitive.n_different)

        return worst_attribute(classes, self.better, score)

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: by its entropy and its values."""
        shares = convex_share(-np.log(self.scores(classes)), -math.log(self.l), 0.0)
        return np.maximum(shares, lacking(DistinctDiversity(math.ceil(self.l - 1e-9)), classes))


@register
@dataclass(frozen=True)
class RecursiveDiversity(PrivacyModel):
    """The most frequent value of a group is less than c times as frequent as the rare ones together.

    ``r_1 < c (r_l + … + r_m)``, strictly, with the counts r sorted from the most frequent to the rarest.
    (c, 1)-diversity always holds. If people have several records, r counts the people who have a value at
    all, and the sum the people who for certain have none of the l - 1 commonest.

    Parameters
    ----------
    c
        The factor; Brickell & Shmatikov use 3.
    l
        Where the rare values begin.

    References
    ----------
    A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006, definition 4.3.

    Examples
    --------
    >>> RecursiveDiversity(c=3, l=2).strict
    True
    """

    c: Annotated[float, Above(0)] = 3.0
    l: RecordCount = 3  # noqa: E741 - the papers' letter

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "lower"
    strict: ClassVar[bool] = True
    parameter: ClassVar[str] = "c"
    plain: ClassVar[str] = "no sensitive value dominates a class"
    words: ClassVar[Words] = Words(
        "recursive (c, l)-diversity",
        "Whether in every group the commonest sensitive value is rarer than c times the values from the "
        "l-th on.",
        ends=("the commonest value is rare", "one value in a group"),
    )

    @property
    def smallest_class(self) -> int:
        """It takes l records to have l different values."""
        return math.ceil(self.l)

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return r_1 / (r_l + … + r_m) of each group; infinite when there is no l-th value."""

        def score(sensitive: SensitiveCounts) -> Floats:
            if self.l == 1:
                return np.zeros(len(sensitive.starts) - 1)
            group = np.repeat(np.arange(len(sensitive.starts) - 1), np.diff(sensitive.starts))
            order = np.lexsort((-sensitive.counts, group))
            rank = np.arange(len(order)) - np.repeat(sensitive.starts[:-1], np.diff(sensitive.starts))
            common = sensitive.total(np.where(rank < self.l - 1, sensitive.counts[order], 0))
            rare = np.maximum(sensitive.sizes - common, 0)
            largest = sensitive.largest(sensitive.counts)
            return np.divide(largest, rare, out=np.full(len(rare), np.inf), where=rare > 0)

        return worst_attribute(classes, self.better, score)

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: all, where it has fewer than l values."""
        return lacking(DistinctDiversity(self.l), classes)


@register
@dataclass(frozen=True)
class ConfidenceBound(PrivacyModel):
    """No group lets an adversary infer a sensitive value with more than a given confidence.

    The largest share of a sensitive value in a group is bounded. Values that are more common than ``common``
    in the whole table are exempt, since everybody expects them. A group in which all people have the same
    value never passes, whichever value it is.

    Parameters
    ----------
    share
        The largest share of a value in a group.
    common
        A value with a larger share of the whole table is exempt.

    References
    ----------
    K. Wang, B. C. M. Fung, P. S. Yu, "Handicapping attacker's confidence: an alternative to
    k-anonymization", 2007, for the bound; the exemption is sfumato's.

    Examples
    --------
    >>> ConfidenceBound().share
    0.9
    """

    share: PositiveShare = 0.9
    common: PositiveShare = 0.9

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "lower"
    parameter: ClassVar[str] = "share"
    plain: ClassVar[str] = "no sensitive value certain"
    words: ClassVar[Words] = Words(
        "confidence bound",
        "The largest share of people in a group with the same sensitive value. Values that nearly everybody "
        "in the table has are not counted, unless the whole group has them.",
        "100%: in some group, everybody has the same sensitive value. 50%: no value is shared by more than "
        "half of a group.",
        "0% to 100%",
        "share",
        sentence="no sensitive value is shared by more than {} of a group",
        ends=("no value is common in a group", "everybody in a group has the same value"),
    )

    @property
    def smallest_class(self) -> int:
        """A single person always shares their value with the whole group."""
        return 1 if self.share >= 1 else 2

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return the largest share of a value that is not exempt; 1 where a group has a single value."""

        def score(sensitive: SensitiveCounts) -> Floats:
            shares = np.where(sensitive.priors > self.common, 0.0, sensitive.having)
            return np.where(sensitive.n_different == 1, 1.0, sensitive.largest(shares))

        return worst_attribute(classes, self.better, score)

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: what is above the bound."""

        def caps(sensitive: SensitiveCounts) -> Floats:
            return np.where(sensitive.priors > self.common, 1.0, self.share)

        return capped_share(classes, caps)
