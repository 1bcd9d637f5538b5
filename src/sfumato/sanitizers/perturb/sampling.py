"""Sampling: release a random sample of the people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry.declarations import PositiveShare
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.sanitizers.perturb.changed_records import records_of


@register
@dataclass(frozen=True)
class Sampling:
    """Release a simple random sample of the people unchanged, so that participation stays unknown.

    The values of the sampled people are released exactly. The composition of the sample must stay secret, and
    so must the seed. If someone has several records, people are drawn with all of them.

    Parameters
    ----------
    share
        The share of the people that is released.

    References
    ----------
    L. Willenborg, T. de Waal, "Elements of statistical disclosure control", 2001, section 1.4.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), Sampling(0.25))
    >>> release.n_records, release.n_suppressed
    (3, 9)
    """

    share: PositiveShare = 0.1

    plain: ClassVar[str] = "a random sample of the people"
    does: ClassVar[str] = "A random sample of the people is released."
    times_mondrian: ClassVar[float] = 0.1

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release the records of the sampled people."""
        rows = records_of(table)
        person_of = np.arange(len(rows)) if table.person_of is None else table.person_of[rows]
        n_drawn = max(round(self.share * table.n_people), 1)
        is_drawn = np.zeros(table.n_people, dtype=np.bool_)
        is_drawn[rng.permutation(table.n_people)[:n_drawn]] = True
        kept, weights = np.unique(rows[is_drawn[person_of]], return_counts=True)
        whom = "records" if table.person_of is None else "people"
        note = f"The release is a random sample: {n_drawn:,} of {table.n_people:,} {whom}, as they are."
        return released(table, schema, {}, kept, weights, (note,), sampled=True)
