"""What a release loses: information in the cells, and records."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.measures.base import Axis, Measure, Measurement, NotApplicable
from sfumato.models.base import Better
from sfumato.registry import register
from sfumato.release import Release


class _Loss(Measure):
    axis: ClassVar[Axis] = "utility"
    better: ClassVar[Better] = "lower"


class _QuasiIdentifierLoss(_Loss):
    """A loss that looks at quasi-identifiers only: it has nothing to say where more is withheld."""

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the measurement, unless the release also withholds or exchanges sensitive values."""
        if release.group_of is not None:
            raise NotApplicable(
                "sensitive values are exchanged within groups, and a loss of quasi-identifiers would not "
                "count that"
            )
        for name in release.schema.sensitive:
            sets = release.cells[name].sets
            if sets is not None and not sets.exact:
                raise NotApplicable(
                    f"{name!r} is withheld, and a loss of quasi-identifiers would not count that"
                )
        return (self.of_quasi_identifiers(release),)

    @abstractmethod
    def of_quasi_identifiers(self, release: Release) -> Measurement:
        """Return the measurement of the quasi-identifiers."""


@register
@dataclass(frozen=True)
class GeneralLoss(_QuasiIdentifierLoss):
    """The mean loss of a quasi-identifying cell: (values it may stand for - 1) / (values in all - 1).

    GL% sums over the released records and divides by all original ones; suppressed records are
    counted by `suppression-loss`. The detail has the loss of each attribute.

    References
    ----------
    V. Iyengar, "Transforming data to satisfy privacy constraints", 2002; R. Dewri et al., 2011,
    equations 3 and 4.

    Examples
    --------
    >>> GeneralLoss().axis
    'utility'
    """

    def of_quasi_identifiers(self, release: Release) -> Measurement:
        """Return the mean loss over all cells, attributes weighted as the schema says."""
        losses = attribute_losses(release)
        weights = np.array([release.schema[name].weight for name in losses])
        total = (
            float(np.array(list(losses.values())) @ weights / max(weights.sum(), 1e-300)) if losses else 0.0
        )
        return self.taken(total, detail=losses)


@register
@dataclass(frozen=True)
class SuppressionLoss(_Loss):
    """The share of the records that are left out (SL%).

    Examples
    --------
    >>> SuppressionLoss().needs
    'release'
    """

    needs: ClassVar[Literal["release", "original"]] = "release"

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return suppressed records / original records."""
        detail = {"suppressed": release.n_suppressed, "records": release.n_original}
        return (self.taken(release.n_suppressed / release.n_original, detail=detail),)


@register
@dataclass(frozen=True)
class TotalLoss(_QuasiIdentifierLoss):
    """General loss plus suppression loss: a suppressed record loses all its cells.

    References
    ----------
    R. Dewri et al., 2011, section 4.

    Examples
    --------
    >>> TotalLoss().better
    'lower'
    """

    def of_quasi_identifiers(self, release: Release) -> Measurement:
        """Return GL% + SL%."""
        general = GeneralLoss().of_quasi_identifiers(release)
        (suppression,) = SuppressionLoss().measure(release)
        parts = {"general-loss": general.value, "suppression-loss": suppression.value}
        return self.taken(sum(value or 0.0 for value in parts.values()), detail=parts)


@register
@dataclass(frozen=True)
class Discernibility(_QuasiIdentifierLoss):
    """How many records each record cannot be told from: Σ|E|² + n · suppressed.

    References
    ----------
    R. Bayardo, R. Agrawal, "Data privacy through optimal k-anonymization", 2005.

    Examples
    --------
    >>> Discernibility().axis
    'utility'
    """

    needs: ClassVar[Literal["release", "original"]] = "release"

    def of_quasi_identifiers(self, release: Release) -> Measurement:
        """Return the sum of squared class sizes, each suppressed record counting as all records."""
        # Python integers: n² of a large table does not fit 64 bits for long
        squares = sum(int(size) ** 2 for size in release.classes.sizes)
        return self.taken(float(squares + release.n_original * release.n_suppressed))


def attribute_losses(release: Release) -> dict[str, float]:
    """Return for each quasi-identifier the loss of its cells, as a share of all original records' cells."""
    losses = {}
    for name in release.schema.quasi_identifiers:
        cells = release.cells[name]
        if cells.sets is None:
            raise NotApplicable(f"the released values of {name!r} are not sets of original values")
        losses[name] = float(cells.sets.losses[cells.codes] @ release.weights / release.n_original)
    return losses
