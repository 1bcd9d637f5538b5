"""Models against identity disclosure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sfumato.arrays import Floats
from sfumato.classes import EquivalenceClasses
from sfumato.errors import ParameterError
from sfumato.models.base import Better, PrivacyModel
from sfumato.registry import register


@register
@dataclass(frozen=True)
class KAnonymity(PrivacyModel):
    """Every record shares its quasi-identifiers with at least k - 1 others.

    Parameters
    ----------
    k
        The smallest size of a class.

    References
    ----------
    L. Sweeney, "k-anonymity: a model for protecting privacy", 2002.

    Examples
    --------
    >>> KAnonymity(5) & KAnonymity(10)
    Traceback (most recent call last):
    sfumato.errors.ParameterError: a model stands twice in one requirement; keep the stricter one
    """

    k: int = 5

    guards: ClassVar[Literal["identity"]] = "identity"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "higher"
    parameter: ClassVar[str] = "k"

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ParameterError(f"k must be at least 1, not {self.k}")

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return the size of each class."""
        return classes.sizes.astype(np.float64)
