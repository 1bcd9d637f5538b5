"""Rank swapping: exchange values between records of similar rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.kernels.rank_swaps import draw_swaps
from sfumato.registry.declarations import AttributeName, ReleaseType, Share
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.arrays import Integers
from sfumato.sanitizers.perturb.changed_records import (
    changed_release,
    chosen_attributes,
    records_of,
    with_codes,
)


@register
@dataclass(frozen=True)
class RankSwapping:
    """Swap each value with that of a random record of similar rank, attribute by attribute.

    Every attribute keeps exactly its values, but they move between records with similar ones. Categories are
    ranked in the order of their hierarchy, equal values at random. Attributes are swapped independently, so
    dependences between them fade as the reach grows. There is no formal guarantee.

    Parameters
    ----------
    reach
        The largest difference in rank, as a share of the records.
    attributes
        The attributes to swap; by default all quasi-identifiers.

    References
    ----------
    R. A. Moore, "Controlled data-swapping techniques for masking public use microdata sets", 1996.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> table, schema = datasets.hospital()
    >>> release = sanitize(table, schema, RankSwapping(0.3, ("age",)), seed=0)
    >>> sorted(release.to_arrow()["age"].to_pylist()) == sorted(map(int, table.to_arrow()["age"].to_pylist()))
    True
    """

    reach: Share = 0.05
    attributes: tuple[AttributeName, ...] = ()

    release_type: ClassVar[ReleaseType] = "perturbed"
    plain: ClassVar[str] = "values swapped between similar records"
    does: ClassVar[str] = "Values are exchanged between records whose ranks are near."
    times_mondrian: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release every value swapped with that of a record of nearly the same rank."""
        names, rows = chosen_attributes(self.attributes, schema, "rank-swapping"), records_of(table)
        reach = int(self.reach * table.n_records)
        cells = {
            name: with_codes(table[name], _exchanged(table[name].codes[rows], reach, rng)) for name in names
        }
        note = (
            f"The values of {', '.join(names)} are those of the table, exchanged between records whose ranks "
            f"differ by at most {self.reach:.3g} of all. No formal guarantee is given."
        )
        return changed_release(table, schema, cells, rows, (note,))


def _exchanged(codes: Integers, reach: int, rng: np.random.Generator) -> Integers:
    order = np.lexsort((rng.random(len(codes)), codes))
    partner = draw_swaps(len(codes), reach, rng.random(len(codes)))
    exchanged = np.empty_like(codes)
    exchanged[order] = codes[order[partner]]
    return exchanged
