"""How near an evolution comes to the exact front of full-domain recodings, and what cuts gain over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.runtime.arrays import Floats
from sfumato.searches.evolution.cuts import CutSpace
from sfumato.searches.evolution.evolution_run import Settings, evolve, improve
from sfumato.searches.evolution.grids import LatticeSpace
from sfumato.searches.evolution.nondominated_archive import Archive
from sfumato.searches.evolution.problems import PublisherProblem
from sfumato.searches.evolution.space import RecodingSpace
from sfumato.searches.lattice.profile import profile


@dataclass(frozen=True)
class ThreeFronts:
    """Three fronts of the same table as hypervolumes, each as a share of the largest that is possible.

    The reference point is no privacy at all (a class size of 0) and a general loss of 1.

    Parameters
    ----------
    exact
        The true front of all full-domain recodings.
    lattice
        What the evolution found among them.
    cuts
        What it found among all cuts, which every full-domain recoding is one of.
    """

    exact: float
    lattice: float
    cuts: float

    @property
    def closeness(self) -> float:
        """The share of the true front that the evolution found, 1 when all of it."""
        return self.lattice / self.exact

    @property
    def gain(self) -> float:
        """How much larger the front of cuts is than the true front of full-domain recodings."""
        return self.cuts / self.exact


def compare_with_exact(
    table: Table,
    schema: Schema,
    privacy: Literal["weighted-k", "k-anonymity"] = "weighted-k",
    settings: Settings | None = None,
    *,
    free: tuple[str, ...] = (),
    seed: int = 0,
) -> ThreeFronts:
    """Compare evolutionary fronts of privacy against general loss, nothing suppressed, with the exact one.

    Parameters
    ----------
    table, schema
        The original.
    privacy
        ``weighted-k`` or ``k-anonymity``.
    settings
        How long the evolution searches, and how.
    free
        Attributes that may be cut anywhere.
    seed
        The seed of the evolution.

    Examples
    --------
    >>> from sfumato import datasets
    >>> found = compare_with_exact(*datasets.hospital(), settings=Settings(60, 20))
    >>> round(found.closeness, 3), found.gain >= 1
    (1.0, True)
    """
    bound_table, bound_schema = schema.bind(table)
    whole = profile(bound_table, bound_schema, sensitive=())
    nodes = whole.pareto([privacy, "general-loss"])
    points = np.stack([-whole.score(privacy)[nodes], whole.score("general-loss")[nodes]], axis=1)
    exact = Archive.empty(0, 2, 0).joined(nodes[:, np.newaxis][:, :0], points, points[:, :0])
    numbers = [name for name in bound_schema.quasi_identifiers if bound_table[name].kind.is_number]
    cuts = CutSpace.of(bound_table, bound_schema, free, dict.fromkeys(numbers, 0.0))

    def found(space: RecodingSpace) -> Archive:
        name: Literal["zero-suppression", "suppression"]
        name = "zero-suppression" if privacy == "weighted-k" else "suppression"
        chosen = settings or Settings()
        judge = evolve(space, PublisherProblem(space, name, eta=0.0), chosen, seed=seed)
        improve(judge, 30, budget=chosen.population * chosen.generations // 2)
        return judge.archive

    def volume(front: Archive) -> float:
        reference: Floats = np.array([0.0, 1.0])
        return front.hypervolume(reference) / bound_table.n_records

    lattice = LatticeSpace.of(bound_table, bound_schema)
    return ThreeFronts(volume(exact), volume(found(lattice)), volume(found(cuts)))
