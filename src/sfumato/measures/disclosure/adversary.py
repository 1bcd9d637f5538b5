"""What an adversary learns about sensitive attributes, beyond their distribution in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from sfumato.data.equivalence_classes import SensitiveCounts
from sfumato.measures.utility.percentiles import percentile
from sfumato.models.belief_change import lacks_values, largest_quotients
from sfumato.models.distances import distance_named, relative_entropy, require_order, total_variation
from sfumato.registry.declarations import AtLeast, Detail, DistanceName, Words
from sfumato.registry.methods import register
from sfumato.results.measurement import Measurement, SensitiveMeasure
from sfumato.results.release import Release


@register
@dataclass(frozen=True)
class PrivacyLoss(SensitiveMeasure):
    """How far the release moves the adversary's belief about a person, in the worst case.

    The distance between the prior and the distribution in a person's group, by default the
    Jensen-Shannon divergence, in [0, log 2]; the largest over all persons. The detail has the mean, the
    95th percentile and the share of the records with a loss above the threshold.

    Parameters
    ----------
    threshold
        The loss above which a record counts as at risk. A Jensen-Shannon divergence of 0.1 turns an even
        chance into nine in ten.
    distance
        ``js``, the Jensen-Shannon divergence; the earth mover's distance when all values are ``equal``-ly
        far apart (= total variation), as far apart as they are ``ordered``, as their lowest common node
        is high in the ``hierarchical`` tree, or ``natural``, ordered for numbers and equal for everything
        else; ``kl``, the relative entropy of a person's group to the prior, to which a value that the
        group lacks adds nothing; ``hellinger``; or the distance of a plug-in.

    References
    ----------
    N. Li, T. Li, "On the tradeoff between privacy and utility in data publishing", 2009, section 4.1.

    Examples
    --------
    >>> PrivacyLoss(threshold=0.05).name
    'privacy-loss'
    >>> PrivacyLoss(distance="hellinger").label
    'privacy-loss distance=hellinger'
    """

    threshold: Annotated[float, AtLeast(0)] = 0.1
    distance: DistanceName = "js"

    words: ClassVar[Words] = Words(
        "privacy loss",
        "How far the release moves what an adversary believes about a person's sensitive value, for the "
        "person for whom it moves most (distance between the distribution in the whole table and that in "
        "the person's group: the Jensen-Shannon divergence unless another one is named).",
        "0: the release tells nothing about anybody that the whole table does not tell. 0.693: it gives a "
        "rare value away with certainty.",
        "0 to 0.693 (log 2); 0 to 1 with total variation, an earth mover's distance or Hellinger; with kl "
        "up to the logarithm of one over the share of the rarest value",
        sentence="the group of a person changes what can be believed about a sensitive value by at most {}, "
        "where 0 is not at all and, unless another distance is named, 0.693 is certainty",
        details={
            "percentile-95": Detail("95th percentile"),
            "share-at-risk": Detail("records above the threshold", "share"),
        },
        ends=("groups reveal no more than the whole table", "a rare value is certain"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        distance_named(self.distance)

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return one measurement for each sensitive attribute."""
        if distance_named(self.distance).needs_order:
            require_order(release.groups, self.label)
        return super().measure(release)

    def of_counts(self, sensitive: SensitiveCounts, release: Release) -> tuple[float, dict[str, Any]]:
        """Return the largest distance of a group."""
        losses, sizes = distance_named(self.distance).of(sensitive), sensitive.sizes
        n_records = int(sizes.sum())
        detail = {
            "mean": float(losses @ sizes / n_records),
            "percentile-95": percentile(losses, sizes, 95),
            "share-at-risk": int(sizes[losses > self.threshold].sum()) / n_records,
        }
        return float(losses.max()), {"detail": detail}


@register
@dataclass(frozen=True)
class KnowledgeGain(SensitiveMeasure):
    """The adversary's gain in knowledge: the mean distance between a person's group and the prior.

    A_know = Σ_E |E|/n · ½ Σ_s |p(T, s) - p(E, s)|, in [0, 1], over the released records.

    References
    ----------
    J. Brickell, V. Shmatikov, "The cost of privacy", 2008, section 4.4.

    Examples
    --------
    >>> KnowledgeGain().better
    'lower'
    """

    words: ClassVar[Words] = Words(
        "knowledge gain",
        "How far, on average over the records, the sensitive distribution in a person's group lies from "
        "that of the whole table (total variation distance).",
        "0: nothing is learned about anybody. Near 1: groups give rare values away.",
        "0 to 1",
        sentence="what an adversary believes moves by {} on average, on a scale from 0 to 1",
        ends=("beliefs stay as they were", "everybody's value is certain"),
    )

    def of_counts(self, sensitive: SensitiveCounts, release: Release) -> tuple[float, dict[str, Any]]:
        """Return the mean total variation distance, weighted by the sizes of the groups."""
        distances = total_variation(sensitive)
        gain = float(distances @ sensitive.sizes / sensitive.sizes.sum())
        return gain, {"detail": {"worst": float(distances.max())}}


@register
@dataclass(frozen=True)
class AccuracyGain(SensitiveMeasure):
    """How much more often an adversary guesses right with the release than without it.

    A_acc = Σ_E |E|/n · max_s p(E, s) - max_s p(T, s), over the released records; the baseline is the share
    of right guesses from the prior alone. It is below 0 only if the most common value was more frequent
    among the suppressed records than among the others.

    References
    ----------
    J. Brickell, V. Shmatikov, "The cost of privacy", 2008, section 4.4.

    Examples
    --------
    >>> AccuracyGain().needs
    'release'
    """

    words: ClassVar[Words] = Words(
        "accuracy gain",
        "How much more often an adversary who knows all quasi-identifiers guesses the sensitive value "
        "right with the release than with the whole table's distribution alone.",
        "0%: the release does not help. 30%: of 100 guesses 30 more are right.",
        "up to 100%; below 0% only when the records left out differ from the others",
        "share",
        sentence="an adversary's guesses at the sensitive value are right more often by {} of all guesses",
        baseline="right guesses without the release",
        details={
            "accuracy": Detail("right guesses with the release"),
        },
        ends=("no guess is right more often", "every guess is right because of the release"),
    )

    def of_counts(self, sensitive: SensitiveCounts, release: Release) -> tuple[float, dict[str, Any]]:
        """Return the share of right guesses in the groups beyond that from the prior."""
        right = sensitive.largest(sensitive.contributions).sum()
        accuracy = float(right) / int(sensitive.sizes.sum())
        baseline = float(sensitive.prior.max())
        return accuracy - baseline, {"baseline": baseline, "detail": {"accuracy": accuracy}}


@register
@dataclass(frozen=True)
class DisclosureQuotient(SensitiveMeasure):
    """The largest factor by which a group makes a value more or less likely, as a natural logarithm.

    A_quot = max over E and s of |log(p(E, s) / p(T, s))|. It is infinite as soon as one group lacks
    one value of the table: the adversary then rules that value out. The detail has the largest
    quotient of the values that do occur, and the share of the records in groups that lack a value.

    References
    ----------
    J. Brickell, V. Shmatikov, "The cost of privacy", 2008, section 4.1 and definition 1.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> release = sanitize(*datasets.hospital(), AsIs())
    >>> measure(release, [DisclosureQuotient()])[0].value
    inf
    """

    words: ClassVar[Words] = Words(
        "disclosure quotient",
        "The largest factor, as a natural logarithm, by which any group makes any sensitive value more or "
        "less likely than the whole table does.",
        "0: no group differs. 0.69: some value is twice or half as likely. ∞: some value is ruled out in "
        "some group.",
        "0 to ∞",
        details={
            "largest-finite": Detail("largest of the values that occur"),
            "share-ruled-out": Detail("records for whom a value is ruled out", "share"),
        },
        ends=("no value is more probable than before", "a rare value is certain"),
    )

    def of_counts(self, sensitive: SensitiveCounts, release: Release) -> tuple[float, dict[str, Any]]:
        """Return the largest quotient of a group."""
        largest, lacks = float(largest_quotients(sensitive).max()), lacks_values(sensitive)
        sizes = sensitive.sizes
        detail = {
            "largest-finite": largest,
            "share-ruled-out": int(sizes[lacks].sum()) / int(sizes.sum()),
        }
        return float(np.inf) if lacks.any() else largest, {"detail": detail}


@register
@dataclass(frozen=True)
class InformationGain(SensitiveMeasure):
    """How much the groups reveal about the sensitive attribute on average, in natural units.

    Gain = Σ_E |E|/n · Σ_s p(E, s) log(p(E, s) / p(T, s)), over the released records. Without
    suppressed records this is H(S) - H(S | groups), the mutual information; with them that difference
    may be negative or above every quotient, while this form stays at 0 or more and below delta in a
    delta-disclosure private release (the paper's lemma 1). The detail has both entropies.

    References
    ----------
    J. Brickell, V. Shmatikov, "The cost of privacy", 2008, section 4.2.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import SuppressQuasiIdentifiers
    >>> release = sanitize(*datasets.hospital(), SuppressQuasiIdentifiers())
    >>> measure(release, [InformationGain()])[0].value
    0.0
    """

    words: ClassVar[Words] = Words(
        "information gain",
        "How much the groups tell about the sensitive attribute on average (mutual information, natural "
        "logarithm).",
        "0: nothing. The upper end: the groups determine the sensitive value.",
        "0 to the entropy of the attribute",
        details={
            "entropy": Detail("entropy in the whole table"),
            "remaining-entropy": Detail("entropy left within the groups"),
        },
        ends=("nothing is learned", "the value is learned entirely"),
    )

    def of_counts(self, sensitive: SensitiveCounts, release: Release) -> tuple[float, dict[str, Any]]:
        """Return the mean relative entropy, weighted by the sizes of the groups."""
        shares, sizes = sensitive.shares, sensitive.sizes
        n_records = int(sizes.sum())
        known = sensitive.prior[sensitive.prior > 0]
        detail = {
            "entropy": max(-float(known @ np.log(known)), 0.0),
            "remaining-entropy": max(-float(sensitive.contributions @ np.log(shares)) / n_records, 0.0),
        }
        return float(relative_entropy(sensitive) @ sizes / n_records), {"detail": detail}
