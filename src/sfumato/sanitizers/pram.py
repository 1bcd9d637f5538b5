"""PRAM: some values are exchanged at random for others, as often as these occur."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.arrays import Integers
from sfumato.facts import AttributeName, RecordKind
from sfumato.registry import register
from sfumato.release import Release
from sfumato.sanitizers.base import check_share
from sfumato.sanitizers.changed_records import changed_release, chosen_attributes, records_of, with_codes
from sfumato.schema import Schema
from sfumato.table import Table


@register
@dataclass(frozen=True)
class PRAM:
    """Keep each value with a certain probability; else draw one as often as it occurs (post-randomisation).

    The probability that j is released for i is ``retain`` [i = j] + (1 - ``retain``) t_j, with t_j the
    share of j in the table. It is invariant: in expectation every value is as frequent as before, so
    that counts of single attributes need no correction. Attributes are changed independently, so that
    their dependences fade. Every record might have any value; no formal guarantee is given.

    Parameters
    ----------
    retain
        The probability that a value is kept for certain.
    attributes
        The attributes to change; by default all quasi-identifiers.

    References
    ----------
    J. M. Gouweleeuw, P. Kooiman, L. C. R. J. Willenborg, P.-P. de Wolf, "Post randomisation for
    statistical disclosure control: theory and implementation", 1998.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), PRAM(0.5), seed=0)
    >>> release.kind, release.n_records
    ('perturbed', 12)
    """

    retain: float = 0.8
    attributes: tuple[AttributeName, ...] = ()

    kind: ClassVar[RecordKind] = "perturbed"
    does: ClassVar[str] = "Some values are exchanged at random for others, as often as these occur."
    times_mondrian: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        check_share("retain", self.retain)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> Release:
        """Release each value or another, every record by itself."""
        names, rows = chosen_attributes(self.attributes, schema, "pram"), records_of(table)
        cells = {
            name: with_codes(table[name], randomised(table[name].codes[rows], self.retain, rng))
            for name in names
        }
        return changed_release(table, schema, cells, rows, (self._note(names),))

    def _note(self, names: tuple[str, ...]) -> str:
        return (
            f"Each value of {', '.join(names)} is the true one with probability {self.retain:g}, and else "
            "drawn as often as values occur; frequencies stay the same in expectation. No formal "
            "guarantee is given."
        )


def randomised(codes: Integers, retain: float, rng: np.random.Generator) -> Integers:
    """Exchange each code, unless it is kept, for that of some record."""
    drawn = codes[rng.integers(len(codes), size=len(codes))]
    return np.where(rng.random(len(codes)) < retain, codes, drawn)
