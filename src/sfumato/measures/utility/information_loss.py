"""Information loss: in the cells of a release, and by suppressed records."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.hierarchy import ROOT
from sfumato.registry import methods
from sfumato.registry.declarations import Axis, Better, Detail, Needs, RecordCount, ReleaseType, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measure, Measurement
from sfumato.results.release import Release


class _Loss(Measure):
    axis: ClassVar[Axis] = "utility"
    better: ClassVar[Better] = "lower"


class _QuasiIdentifierLoss(_Loss):
    """A loss of quasi-identifiers only, which does not apply if more is withheld."""

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the measurement, unless the release also withholds or swaps sensitive values."""
        if release.group_of is not None:
            raise NotApplicable(
                "sensitive values are exchanged within groups, and a loss of quasi-identifiers would not "
                "count that"
            )
        for name in release.schema.sensitive:
            cells = release.cells[name]
            # a released value that may stand for several, which files show only by ``*``
            if cells.labels == (ROOT,) or (cells.sets is not None and not cells.sets.exact):
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

    version: ClassVar[int] = 2  # an interval counts its leaves, also those that do not occur
    words: ClassVar[Words] = Words(
        "general loss",
        "The share of their information that the cells of the quasi-identifiers lose by generalisation: an"
        " exact cell loses nothing, a withheld one everything, a generalised one in proportion to the "
        "values that it may stand for. Records that are left out count under suppression loss.",
        "0%: every released cell is exact. 100%: all quasi-identifiers are withheld.",
        "0% to 100%",
        "share",
        sentence="the cells of the quasi-identifiers lose {} of their information",
        ends=("every value exact", "every value withheld"),
    )

    def of_quasi_identifiers(self, release: Release) -> Measurement:
        """Return the mean loss over all cells, attributes weighted as the schema says."""
        losses = attribute_losses(release)
        weights = np.array([release.schema[name].weight for name in losses])
        total = (
            float(np.array(list(losses.values())) @ weights / max(weights.sum(), 1e-300)) if losses else 0.0
        )
        return self.measurement(total, detail=losses)


@register
@dataclass(frozen=True)
class SuppressionLoss(_Loss):
    """The share of suppressed records (SL%).

    Examples
    --------
    >>> SuppressionLoss().needs
    'release'
    """

    judges: ClassVar[tuple[ReleaseType, ...]] = ("people", "perturbed")
    needs: ClassVar[Needs] = "release"
    words: ClassVar[Words] = Words(
        "suppression loss",
        "The share of the records that are left out of the release.",
        "0%: all records are released.",
        "0% to 100%",
        "share",
        sentence="{} of the records are left out",
        ends=("every record is released", "no record is released"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return suppressed records / original records."""
        detail = {"suppressed": release.n_suppressed, "records": release.n_original}
        if release.people is not None:
            n_people = release.n_original_people
            detail |= {"people-left-out": n_people - release.n_people, "people": n_people}
        return (self.measurement(release.n_suppressed / release.n_original, detail=detail),)


@register
@dataclass(frozen=True)
class TotalLoss(_QuasiIdentifierLoss):
    """General loss plus suppression loss: a suppressed record loses all its cells.

    The detail has both, and the total loss of each attribute.

    References
    ----------
    R. Dewri et al., 2011, section 4.

    Examples
    --------
    >>> TotalLoss().better
    'lower'
    """

    version: ClassVar[int] = 2  # an interval counts its leaves, also those that do not occur
    words: ClassVar[Words] = Words(
        "total loss",
        "General loss plus suppression loss: a record that is left out loses all its cells.",
        "0%: nothing is lost. 100%: everything.",
        "0% to 100%",
        "share",
        sentence="{} of the information in the quasi-identifiers is lost, records that are left out included",
        details={
            "by-attribute": Detail("each attribute"),
        },
        ends=("everything exact", "everything withheld"),
    )

    def of_quasi_identifiers(self, release: Release) -> Measurement:
        """Return GL% + SL%."""
        general = GeneralLoss().of_quasi_identifiers(release)
        suppressed = release.n_suppressed / release.n_original
        detail = {
            "general-loss": general.value,
            "suppression-loss": suppressed,
            "by-attribute": {name: loss + suppressed for name, loss in general.detail.items()},
        }
        return self.measurement((general.value or 0.0) + suppressed, detail=detail)


@register
@dataclass(frozen=True)
class Discernibility(_QuasiIdentifierLoss):
    """How many records each record is indistinguishable from: Σ|E|² + n · suppressed.

    References
    ----------
    R. Bayardo, R. Agrawal, "Data privacy through optimal k-anonymization", 2005.

    Examples
    --------
    >>> Discernibility().axis
    'utility'
    """

    needs: ClassVar[Needs] = "release"
    words: ClassVar[Words] = Words(
        "discernibility",
        "How many records each record cannot be told from, added up; a record that is left out counts as "
        "indiscernible from all.",
        "The number of records: all are distinct. Its square: none can be told from any other.",
        "the number of records to its square",
        ends=("every record is distinct", "all records look alike"),
    )

    def of_quasi_identifiers(self, release: Release) -> Measurement:
        """Return the sum of squared class sizes, each suppressed record counting as all records."""
        sizes, counts = np.unique(release.classes.sizes, return_counts=True)
        # Python integers: n² of a large table does not fit 64 bits for long
        squares = sum(size**2 * count for size, count in zip(sizes.tolist(), counts.tolist(), strict=True))
        return self.measurement(float(squares + release.n_original * release.n_suppressed))


@register
@dataclass(frozen=True)
class AverageClassSize(_QuasiIdentifierLoss):
    """The mean size of a class, in units of k: (released records / classes) / k.

    Parameters
    ----------
    k
        The divisor. With the required k it is LeFevre's C_avg, at best 1; the same k for all releases keeps
        them comparable, and 1 gives the mean size itself.

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> [m.value for m in measure(release, [AverageClassSize(), AverageClassSize(k=3)])]
    [3.0, 1.0]
    """

    k: RecordCount = 1

    needs: ClassVar[Needs] = "release"
    words: ClassVar[Words] = Words(
        "average class size",
        "The mean size of a class, divided by k where one is given.",
        "Without k the mean size itself. With the k that was asked for, 1: classes are as small as they may "
        "be.",
        "above 0",
        ends=("classes as small as asked", "everybody in one class"),
    )

    def of_quasi_identifiers(self, release: Release) -> Measurement:
        """Return released records / classes / k."""
        n_classes = release.classes.n_classes
        return self.measurement(release.n_records / n_classes / self.k, detail={"classes": n_classes})


@register
@dataclass(frozen=True)
class Precision(_QuasiIdentifierLoss):
    """How low in their hierarchies the quasi-identifiers stay: 1 - the mean of level / height.

    It applies to full-domain recodings, in which every attribute is on one level; suppressed records do not
    count. The detail has the level of each attribute. If two levels look the same in this table, the recipe
    decides, and without one the lower level counts.

    References
    ----------
    L. Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", 2002.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import FullDomain
    >>> how = FullDomain({"zip": 2, "age": 3, "sex": 0}, KAnonymity(1))
    >>> round(measure(sanitize(*datasets.hospital(), how), [Precision()])[0].value, 3)
    0.444
    """

    better: ClassVar[Better] = "higher"
    words: ClassVar[Words] = Words(
        "precision",
        "One minus the mean level to which the attributes are generalised, as a share of the height of "
        "their hierarchies.",
        "100%: nothing is generalised. 0%: everything is withheld.",
        "0% to 100%",
        "share",
        ends=("every value exact", "every value withheld"),
    )

    def of_quasi_identifiers(self, release: Release) -> Measurement:
        """Return 1 - the mean of level / height."""
        levels = full_domain_levels(release)
        heights = [release.schema.hierarchy(name).height for name in levels]
        shares = [level / max(height, 1) for level, height in zip(levels.values(), heights, strict=True)]
        return self.measurement(1 - sum(shares) / max(len(shares), 1), detail=levels)


def full_domain_levels(release: Release) -> dict[str, int]:
    """Return the level of each quasi-identifier, or raise `NotApplicable` if one is on several."""
    recipe = release.recipe
    method = None if recipe is None else methods.find("sanitizer", recipe.sanitizer)
    if recipe is not None and getattr(method, "finer", None) == "levels":
        given = recipe.parameters.get("levels", {})
        return {
            name: max(int(given.get(name, 0)), release.schema[name].lowest_level)
            for name in release.schema.quasi_identifiers
        }
    return {name: _level(release, name) for name in release.schema.quasi_identifiers}


def _level(release: Release, name: str) -> int:
    """Return the lowest level of the hierarchy whose nodes are the released values of an attribute."""
    cells = release.cells[name]
    if cells.sets is None:
        raise NotApplicable(f"the released values of {name!r} are not sets of original values")
    hierarchy, sets = release.schema.hierarchy(name), cells.sets
    used = np.unique(cells.codes)
    owner = np.repeat(np.arange(len(cells.labels)), np.diff(sets.starts))
    for level in range(hierarchy.height + 1):
        node_of_value = hierarchy.node_of[level]
        node = node_of_value[sets.members[sets.starts[:-1]]]
        one_node = np.isin(owner[node_of_value[sets.members] != node[owner]], used, invert=True).all()
        whole = np.diff(sets.starts) == np.bincount(node_of_value)[node]
        named = all(cells.labels[code] == hierarchy.labels[level][node[code]] for code in used)
        if one_node and whole[used].all() and named:
            return level
    raise NotApplicable(f"{name!r} is not on one level of its hierarchy, as in a full-domain recoding")


def attribute_losses(release: Release) -> dict[str, float]:
    """Return for each quasi-identifier the loss of its cells, as a share of all original records' cells.

    The sum is exact before it is rounded, so that no order of the released values shows in its last digit.
    """
    losses = {}
    for name in release.schema.quasi_identifiers:
        cells = release.cells[name]
        if cells.sets is None:
            raise NotApplicable(f"the released values of {name!r} are not sets of original values")
        label_losses = cells.sets.losses
        counts = np.bincount(cells.codes, release.weights, len(label_losses))
        losses[name] = math.fsum(counts * label_losses) / release.n_original
    return losses
