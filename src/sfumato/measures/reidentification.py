"""How well an adversary who knows a person's quasi-identifiers can find that person's record."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.measures.base import Axis, Measure, Measurement
from sfumato.models.base import Better
from sfumato.registry import register
from sfumato.release import Release


@register
@dataclass(frozen=True)
class ReidentificationRisk(Measure):
    """The largest chance that a record is matched with its person: 1 / the smallest class.

    The prosecutor's view: the adversary knows that the person is in the table. The detail has the
    average over the records, the share of records at a risk above the threshold, and how many
    records are alone in their class.

    Parameters
    ----------
    threshold
        The risk above which a record counts as at risk.

    References
    ----------
    K. El Emam, F. Dankar, "Protecting privacy using k-anonymity", 2008.

    Examples
    --------
    >>> ReidentificationRisk().threshold
    0.2
    """

    threshold: float = 0.2

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Literal["release", "original"]] = "release"

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the risk of the record that is easiest to find."""
        sizes = release.classes.sizes
        n_records = release.n_records
        at_risk = int(sizes[1 / sizes > self.threshold].sum())
        detail = {
            "average": len(sizes) / n_records,
            "share-at-risk": at_risk / n_records,
            "uniques": int((sizes == 1).sum()),
        }
        return (self.taken(1 / int(sizes.min()), detail=detail),)


@register
@dataclass(frozen=True)
class WeightedK(Measure):
    """The size of the class in which a record finds itself on average: Σ|E|² / Σ|E|.

    References
    ----------
    R. Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques
    using multi-objective optimization", 2011, equation 6.

    Examples
    --------
    >>> WeightedK().better
    'higher'
    """

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "higher"
    needs: ClassVar[Literal["release", "original"]] = "release"

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the mean class size over the released records."""
        sizes = release.classes.sizes.astype(np.float64)
        detail = {
            "classes": release.classes.n_classes,
            "smallest": float(sizes.min()),
            "largest": float(sizes.max()),
        }
        return (self.taken(float(sizes @ sizes / sizes.sum()), detail=detail),)
