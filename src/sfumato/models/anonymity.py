"""Models against identity disclosure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.models.base import PrivacyModel, worst_attribute
from sfumato.models.bounds import capped_share, lacking
from sfumato.registry.declarations import Better, PositiveShare, RecordCount, Words
from sfumato.registry.methods import register
from sfumato.runtime.arrays import Floats


@register
@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Everybody shares their quasi-identifiers with at least k - 1 others.

    If a person has several records, different people are counted: a person's own records never protect that
    person.

    Parameters
    ----------
    k
        The smallest number of people in a class.

    References
    ----------
    L. Sweeney, "k-anonymity: a model for protecting privacy", 2002.

    Examples
    --------
    >>> KAnonymity(5) & KAnonymity(10)
    Traceback (most recent call last):
    sfumato.runtime.errors.ParameterError: a model stands twice in one requirement; keep the stricter one
    """

    k: RecordCount = 5

    guards: ClassVar[Literal["identity"]] = "identity"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"
    parameter: ClassVar[str] = "k"
    of_people: ClassVar[bool] = True
    asks_only_size: ClassVar[bool] = True
    plain: ClassVar[str] = "classes of at least {k}"
    words: ClassVar[Words] = Words(
        "k-anonymity",
        "The size of the smallest class of records with equal released quasi-identifiers.",
        "1: somebody is unique. 5: everybody looks like at least 4 others.",
        "1 to the number of released records",
        sentence="every released record looks, in its quasi-identifiers, like at least {} records, itself "
        "included",
        ends=("everybody looks alike", "somebody is unique"),
    )

    @property
    def smallest_class(self) -> int:
        """The required size."""
        return self.k

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return the number of people of each class."""
        return classes.people.astype(np.float64)

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: all of it, if it is too small."""
        return lacking(self, classes)


@register
@dataclass(frozen=True)
class AlphaKAnonymity(PrivacyModel):
    """k-anonymity, and no sensitive value has a share above alpha in any group.

    Parameters
    ----------
    alpha
        The largest share of a value.
    k
        The smallest size of a class.
    alphas
        The largest share of single values, by name; a value in this mapping ignores ``alpha``.

    References
    ----------
    R. Wong et al., "(alpha, k)-anonymity", 2006.

    Examples
    --------
    >>> [type(part).__name__ for part in AlphaKAnonymity(0.5, k=3).parts]
    ['KAnonymity', 'AlphaKAnonymity']
    """

    alpha: PositiveShare = 0.5
    k: RecordCount = 5
    alphas: Mapping[str, PositiveShare] = field(default_factory=dict)

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "lower"
    parameter: ClassVar[str] = "alpha"
    plain: ClassVar[str] = "classes of at least {k} in which no sensitive value is common"
    words: ClassVar[Words] = Words(
        "(alpha, k)-anonymity",
        "The largest share that a sensitive value has in any class, in classes of at least k records.",
        "100%: some class gives its sensitive value away.",
        "0% to 100%",
        "share",
        ends=("no value is common in a class", "everybody in a class has the same value"),
    )

    @property
    def parts(self) -> tuple[PrivacyModel, ...]:
        """k-anonymity of the classes, and the share of the values in the groups."""
        return (KAnonymity(self.k), self)

    @property
    def smallest_class(self) -> int:
        """The required size."""
        return self.k

    @property
    def named_values(self) -> tuple[str, ...]:
        """The values that have a limit of their own."""
        return tuple(self.alphas)

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return the largest share of people who have a value, one with an alpha of its own scaled to it."""

        def score(sensitive: SensitiveCounts) -> Floats:
            scale = self.alpha / self._alphas(sensitive)
            largest: Floats = sensitive.largest(sensitive.having * scale)
            return largest

        return worst_attribute(classes, self.better, score)

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: what is above alpha."""
        return capped_share(classes, self._alphas)

    def _alphas(self, sensitive: SensitiveCounts) -> Floats:
        own = np.array([self.alphas.get(label or "", self.alpha) for label in sensitive.domain.labels])
        return own[sensitive.values] if len(own) else np.full(len(sensitive.values), self.alpha)
