"""Models that compare the distribution in a group with that of the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses
from sfumato.models.base import PrivacyModel, worst_attribute
from sfumato.models.bounds import convex_share
from sfumato.models.distances import distance_named, require_order
from sfumato.registry.declarations import AtLeast, Better, DistanceName, Words
from sfumato.registry.methods import register
from sfumato.runtime.arrays import Floats


@register
@dataclass(frozen=True)
class TCloseness(PrivacyModel):
    """The sensitive distribution of every group is within distance t of the whole table's.

    Parameters
    ----------
    t
        The largest distance.
    distance
        The earth mover's distance when all values are ``equal``-ly far apart (= total variation), as
        far apart as they are ``ordered`` (numbers, or categories with a hierarchy that lists them in
        order), or as their lowest common node is high in the ``hierarchical`` tree; ``natural``: ordered
        for numbers, equal for everything else; ``js``, the Jensen-Shannon divergence (natural
        logarithm); ``kl``, the relative entropy of the group to the whole table; ``hellinger``; or the
        distance of a plug-in.

    References
    ----------
    N. Li, T. Li, S. Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity",
    2007; with Jensen-Shannon: N. Li, T. Li, 2009.

    Examples
    --------
    >>> TCloseness(0.2, distance="js")
    TCloseness(t=0.2, distance='js')
    """

    t: Annotated[float, AtLeast(0)] = 0.2
    distance: DistanceName = "equal"

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "lower"
    parameter: ClassVar[str] = "t"
    plain: ClassVar[str] = "close to the whole table's distribution"
    words: ClassVar[Words] = Words(
        "t-closeness",
        "The distance between the sensitive distribution of the group that differs most and that of the "
        "whole table.",
        "0: every group looks like the whole table.",
        "0 to 1 (to 0.693 with Jensen-Shannon; with kl up to the logarithm of one over the share of the "
        "rarest value)",
        sentence="in no group does the sensitive distribution lie further than {} from that of the whole "
        "table",
        ends=("groups are like the whole table", "a group is nothing like the whole table"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        distance_named(self.distance)

    @property
    def is_monotone(self) -> bool:
        """Whether merging two classes never raises the largest distance."""
        return distance_named(self.distance).is_monotone

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return D(p(E, ·), prior) for each group."""
        distance = distance_named(self.distance)
        if distance.needs_order:
            require_order(classes, "t-closeness")
        return worst_attribute(classes, self.better, distance.of)

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: by its distance."""
        distance = distance_named(self.distance)
        if not distance.convex:
            return np.zeros(classes.n_classes)
        return convex_share(self.scores(classes), self.t, distance.largest)
