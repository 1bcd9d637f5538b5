"""Noise that comes again: for experiments that are run once more, and for nothing else.

The class is found by its name, so that project files of the reproduction can be explored by anybody, but it
is listed nowhere, no form offers it, and whatever writes a release refuses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats
from sfumato.sanitizers.perturb.noise import Laplace


@dataclass(frozen=True)
class SeededLaplace(Laplace):
    """`Laplace` with noise from the seed of the recipe, so that two runs give the same figures.

    It protects nobody: whoever has the seed can take the noise off again, and numbers of limited precision
    give more away than the formula says. A release of it cannot be published or written to a file.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> one, other = (sanitize(*datasets.hospital(), SeededLaplace(0.5), seed=1) for _ in range(2))
    >>> one.cells["age"].labels == other.cells["age"].labels
    True
    """

    repeatable: ClassVar[bool] = True
    unfit: ClassVar[str] = "its noise comes from a seed and can be taken off; use laplace"

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> Release:
        """Release the numeric attributes with noise that comes from the seed."""

        def add_noise(values: Floats, scale: float) -> Floats:
            return values + rng.laplace(scale=scale, size=len(values))

        names = self.blurred_names(table, schema)
        note = f"The noise on {', '.join(names)} comes from a seed: it protects nobody. Do not publish this."
        return self.with_noise(table, schema, names, add_noise, note)
