"""An archive of the nondominated solutions seen so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.runtime.arrays import Booleans, Floats, Integers
from sfumato.searches.evolution.space import Genes

# What differs by rounding does not differ.
_DIGITS = 12


@dataclass(frozen=True, eq=False)
class Archive:
    """The non-dominated solutions, in the order in which they were found.

    The first of several solutions that are equal in all objectives is kept.

    Parameters
    ----------
    genes
        One row for each solution.
    objectives
        What was optimised, one column for each objective, lower better.
    traits
        What else is known of each solution.
    """

    genes: Genes
    objectives: Floats
    traits: Floats

    @classmethod
    def empty(cls, n_genes: int, n_objectives: int, n_traits: int) -> Archive:
        """Return an archive without solutions."""
        return cls(
            np.zeros((0, n_genes), dtype=np.int64), np.zeros((0, n_objectives)), np.zeros((0, n_traits))
        )

    def __len__(self) -> int:
        return len(self.objectives)

    def joined(self, genes: Genes, objectives: Floats, traits: Floats) -> Archive:
        """Return the archive with these solutions, and without those that they dominate."""
        import moocore

        if not len(objectives):
            return self
        every = np.concatenate([self.objectives, objectives.round(_DIGITS)])
        kept = moocore.is_nondominated(every)
        return Archive(
            np.concatenate([self.genes, genes])[kept],
            every[kept],
            np.concatenate([self.traits, traits])[kept],
        )

    def dominates(self, objectives: Floats) -> Booleans:
        """Return for each solution whether it dominates this point."""
        point = objectives.round(_DIGITS)
        no_worse = np.all(self.objectives <= point, axis=1)
        return np.logical_and(no_worse, np.any(self.objectives < point, axis=1))

    def take(self, rows: Any) -> Archive:
        """Return the archive of these solutions."""
        return Archive(self.genes[rows], self.objectives[rows], self.traits[rows])

    def sorted(self) -> Archive:
        """Return the solutions, the best in the first objective first."""
        return self.take(np.lexsort(self.objectives.T[::-1]))

    def spread(self, most: int) -> Integers:
        """Return so many solutions that lie far apart: the ends first, then always the loneliest.

        The distance of two solutions is that of their ranks in each objective, so that neither the unit nor
        a long tail matters.
        """
        if len(self) <= most:
            return np.arange(len(self))
        ranks = np.stack([np.unique(column, return_inverse=True)[1] for column in self.objectives.T], axis=1)
        places = ranks / np.maximum(ranks.max(axis=0), 1)
        chosen: list[int] = []
        for column in ranks.T:
            end = int(column.argmin())
            if end not in chosen and len(chosen) < most:
                chosen.append(end)
        distance = np.min([np.abs(places - places[one]).sum(axis=1) for one in chosen], axis=0)
        while len(chosen) < most:
            chosen.append(int(distance.argmax()))
            distance = np.minimum(distance, np.abs(places - places[chosen[-1]]).sum(axis=1))
        return np.array(sorted(chosen))

    def hypervolume(self, reference: Floats) -> float:
        """Return the volume between the front and a point that is worse in every objective."""
        import moocore

        inside = self.objectives[(self.objectives <= reference).all(axis=1)]
        return float(moocore.hypervolume(inside, ref=reference)) if len(inside) else 0.0
