"""Models that ask for different sensitive values in every group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sfumato.arrays import Floats
from sfumato.classes import EquivalenceClasses, SensitiveCounts
from sfumato.errors import ParameterError
from sfumato.models.base import Better, PrivacyModel, worst_attribute
from sfumato.registry import register


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

    l: float = 3.0  # noqa: E741 - the papers' letter

    guards: ClassVar[Literal["attribute"]] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"
    parameter: ClassVar[str] = "l"

    def __post_init__(self) -> None:
        if not self.l >= 1:
            raise ParameterError(f"l must be at least 1, not {self.l:g}")

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return 1 / max p(E, s) for each group."""

        def score(sensitive: SensitiveCounts) -> Floats:
            # one division of integers: a group with exactly 1/l must score exactly l
            largest: Floats = sensitive.sizes / sensitive.largest(sensitive.counts)
            return largest

        return worst_attribute(classes, self.better, score)
