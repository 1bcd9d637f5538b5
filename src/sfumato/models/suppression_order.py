"""The order in which classes are suppressed, if size comes before diversity or diversity before size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.models.base import PrivacyModel, worst_attribute
from sfumato.registry.declarations import Better, RecordCount, Words
from sfumato.registry.methods import register
from sfumato.runtime.arrays import Floats

DiversityName = Literal["probabilistic", "distinct"]


@register
@dataclass(frozen=True)
class SafetyOrder(PrivacyModel):
    """No class comes before (d1, d2) when classes are ordered by size and diversity. Not (d1, d2)-safety.

    With ``prefer = "l"`` a class of more than d1 records may have any diversity, with ``prefer = "k"`` one
    of more diversity than d2 any size. For a guarantee of both ask for ``k-anonymity`` and
    ``probabilistic-diversity``.

    Parameters
    ----------
    d1
        The size from which classes stay.
    d2
        The diversity from which they stay, in whole numbers: size / the count of the most frequent value, or
        the number of different values.
    prefer
        ``l`` orders the classes by size and those of equal size by diversity (k << l in the paper); ``k``
        the other way round.
    diversity
        The measure of diversity: ``probabilistic``, or ``distinct`` for the number of different values.

    References
    ----------
    R. Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques
    using multi-objective optimization", 2011, equations 8 and 9.

    Examples
    --------
    >>> SafetyOrder(20, 4).guards
    'attribute'
    """

    d1: RecordCount = 5
    d2: RecordCount = 1
    prefer: Literal["k", "l"] = "l"
    diversity: DiversityName = "probabilistic"

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"
    parameter: ClassVar[str] = "d1"
    words: ClassVar[Words] = Words(
        "safety order",
        "The size of the class that comes first when classes are ordered by size and diversity, lowered "
        "where it is not diverse enough.",
        "d1 or more: every class stays. Larger classes may have any diversity, or more diverse ones any size:"
        " it promises neither.",
        "0 to ∞",
        ends=("as safe as possible", "not safe at all"),
    )

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return for each class a number that is at least d1 when it stays.

        With ``prefer = "l"`` its size, half a record less where its diversity is below d2. With ``prefer =
        "k"`` its size where its diversity is d2, infinity where it is above, 0 where it is below.
        """

        def score(sensitive: SensitiveCounts) -> Floats:
            sizes = sensitive.sizes.astype(np.float64)
            diversities = sensitive.n_different
            if self.diversity == "probabilistic":
                diversities = sensitive.sizes // sensitive.largest(sensitive.counts)
            if self.prefer == "l":
                return np.where(diversities < self.d2, sizes - 0.5, sizes)
            return np.select([diversities < self.d2, diversities > self.d2], [0.0, np.inf], sizes)

        return worst_attribute(classes, self.better, score)
