"""What an adversary learns about the sensitive attribute beyond what the whole table tells anyway."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.classes import SensitiveCounts
from sfumato.distances import jensen_shannon, total_variation
from sfumato.measures.base import SensitiveMeasure
from sfumato.registry import register
from sfumato.release import Release


@register
@dataclass(frozen=True)
class PrivacyLoss(SensitiveMeasure):
    """How far knowing the release moves the adversary's belief about a person, in the worst case.

    The Jensen-Shannon divergence between the prior and the distribution in a person's group, in
    [0, log 2]; the largest over all persons, with mean and 95th percentile in the detail.

    References
    ----------
    N. Li, T. Li, "On the tradeoff between privacy and utility in data publishing", 2009, section 4.1.

    Examples
    --------
    >>> PrivacyLoss().name
    'privacy-loss'
    """

    def of_counts(self, sensitive: SensitiveCounts, release: Release) -> tuple[float, dict[str, Any]]:
        """Return the largest divergence of a group."""
        losses = jensen_shannon(sensitive)
        order = np.argsort(losses)
        reached = np.cumsum(sensitive.sizes[order])
        place = int(np.searchsorted(reached, 0.95 * reached[-1]))
        mean = float(losses @ sensitive.sizes / reached[-1])
        return float(losses.max()), {"detail": {"mean": mean, "percentile-95": float(losses[order[place]])}}


@register
@dataclass(frozen=True)
class KnowledgeGain(SensitiveMeasure):
    """The adversary's gain in knowledge: the mean distance between a person's group and the prior.

    A_know = Σ_E |E|/n · ½ Σ_s |p(T, s) - p(E, s)|, in [0, 1], over the released records.

    References
    ----------
    J. Brickell, V. Shmatikov, "The cost of privacy", 2008, definition 3.

    Examples
    --------
    >>> KnowledgeGain().better
    'lower'
    """

    def of_counts(self, sensitive: SensitiveCounts, release: Release) -> tuple[float, dict[str, Any]]:
        """Return the mean total variation distance, weighted by the sizes of the groups."""
        distances = total_variation(sensitive)
        gain = float(distances @ sensitive.sizes / sensitive.sizes.sum())
        return gain, {"detail": {"worst": float(distances.max())}}


@register
@dataclass(frozen=True)
class AccuracyGain(SensitiveMeasure):
    """How much more often an adversary guesses right with the release than without it.

    A_acc = Σ_E |E|/n · max_s p(E, s) - max_s p(T, s), over the released records; the baseline is
    the share of right guesses from the prior alone. Below 0 only when the suppressed records held
    more of the commonest value than the others.

    References
    ----------
    J. Brickell, V. Shmatikov, "The cost of privacy", 2008, section 4.

    Examples
    --------
    >>> AccuracyGain().needs
    'release'
    """

    def of_counts(self, sensitive: SensitiveCounts, release: Release) -> tuple[float, dict[str, Any]]:
        """Return the share of right guesses in the groups beyond that from the prior."""
        right = int(sensitive.largest(sensitive.counts).sum())
        accuracy = right / int(sensitive.sizes.sum())
        baseline = float(sensitive.prior.max())
        return accuracy - baseline, {"baseline": baseline, "detail": {"accuracy": accuracy}}
