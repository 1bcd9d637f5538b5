"""Models that compare the distribution in a group with that of the whole table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from sfumato.data.equivalence_classes import EquivalenceClasses
from sfumato.models.base import PrivacyModel, worst_attribute
from sfumato.models.bounds import convex_share
from sfumato.models.distances import DISTANCES, require_order
from sfumato.registry.declarations import AtLeast, Better, Words
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
        for numbers, equal for everything else; or ``js``, the Jensen-Shannon divergence (natural
        logarithm).

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
    distance: Literal["equal", "ordered", "hierarchical", "natural", "js"] = "equal"

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "lower"
    parameter: ClassVar[str] = "t"
    words: ClassVar[Words] = Words(
        "t-closeness",
        "The distance between the sensitive distribution of the group that differs most and that of the "
        "whole table.",
        "0: every group looks like the whole table.",
        "0 to 1 (to 0.693 with Jensen-Shannon)",
        sentence="in no group does the sensitive distribution lie further than {} from that of the whole "
        "table",
    )

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return D(p(E, ·), prior) for each group."""
        if self.distance == "ordered":
            require_order(classes, "t-closeness")
        return worst_attribute(classes, self.better, DISTANCES[self.distance])

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: by its distance."""
        return convex_share(self.scores(classes), self.t, math.log(2) if self.distance == "js" else 1.0)
