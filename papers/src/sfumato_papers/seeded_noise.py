"""Define Laplace noise from a seed, for repeatable experiments only.

The class is a plug-in of sfumato, so project files and workers find it by its name. It declares that it is
unfit for publication: sfumato does not list it, and refuses to publish a release of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sfumato import PublicValues, Schema, Table, register
from sfumato.results import LinkedRelease
from sfumato.sanitizers import Laplace


@register
@dataclass(frozen=True)
class SeededLaplace(Laplace):
    """`Laplace` with noise from the seed of the recipe, so that two runs give the same figures.

    It protects nobody: anyone who has the seed can subtract the noise, and numbers of limited precision
    reveal more than the formula says. A release of it cannot be published or written to a file. It reads the
    smallest value and wholeness from the records, as the paper does.

    Parameters
    ----------
    epsilon, attributes, rounded
        As in `Laplace`.
    ranges
        The difference between the largest and the smallest possible value, by attribute; by default that of
        the records.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> one, other = (sanitize(*datasets.hospital(), SeededLaplace(0.5), seed=1) for _ in range(2))
    >>> one.cells["age"].labels == other.cells["age"].labels
    True
    """

    ranges: Mapping[str, float] = field(default_factory=dict)

    repeatable: ClassVar[bool] = True
    needs_extra: ClassVar[str | None] = None
    unfit: ClassVar[str] = "its noise comes from a seed and can be taken off; use laplace"

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release the numeric attributes with noise that comes from the seed."""

        def add_noise(values: NDArray[np.float64], scale: float) -> NDArray[np.float64]:
            return values + rng.laplace(scale=scale, size=len(values))

        known = {}
        for name in self.blurred_names(table, schema):
            numbers = table[name].ordered_numbers
            low = float(np.nanmin(numbers))
            width = self.ranges.get(name, float(np.nanmax(numbers)) - low)
            known[name] = PublicValues(whole=table[name].is_whole, bounds=(low, low + width))
        note = f"The noise on {', '.join(known)} comes from a seed: it protects nobody. Do not publish this."
        return self.with_noise(table, schema, known, add_noise, note)
