"""PRAM (post-randomisation): replace values at random and preserve their expected frequencies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.kernels.row_groups import number_rows
from sfumato.registry.declarations import AttributeName, ReleaseType, Share
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.sanitizers.perturb.changed_records import (
    changed_release,
    chosen_attributes,
    records_of,
    with_codes,
)


@register
@dataclass(frozen=True)
class PRAM:
    """Keep each value with a given probability, else draw one by its frequency (post-randomisation).

    The probability that j is released for i is ``retain`` [i = j] + (1 - ``retain``) t_j, with t_j the share
    of j in the table. This is invariant: in expectation every value is as frequent as before, so counts of
    single attributes need no correction. Attributes are changed independently, so dependences between them
    fade. Every record might have any value; there is no formal guarantee.

    The paper has two stages. The first, P, draws the n values with equal probability: p_ij = ``retain``
    [i = j] + (1 - ``retain``) / n. The second, Q, goes back by Bayes' rule: q_ji = p_ij t_i / sum_m p_mj t_m.
    Their product P Q is invariant, too.

    Parameters
    ----------
    retain
        The probability, in each stage, that a value is kept outright.
    attributes
        The attributes to change; by default all quasi-identifiers.
    probabilities
        Probabilities that replace ``retain`` for single attributes, by name.
    within
        Attributes that stay unchanged: values are exchanged only among records that agree in them, so counts
        that involve them stay right in expectation.
    two_stage
        Whether to draw in two stages.

    References
    ----------
    J. M. Gouweleeuw, P. Kooiman, L. C. R. J. Willenborg, P.-P. de Wolf, "Post randomisation for
    statistical disclosure control: theory and implementation", 1998.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), PRAM(0.5), seed=0)
    >>> release.type, release.n_records
    ('perturbed', 12)
    """

    retain: Share = 0.8
    attributes: tuple[AttributeName, ...] = ()
    probabilities: Mapping[str, Share] = field(default_factory=dict)
    within: tuple[AttributeName, ...] = ()
    two_stage: bool = False

    release_type: ClassVar[ReleaseType] = "perturbed"
    plain: ClassVar[str] = "some values changed at random"
    does: ClassVar[str] = "Some values are exchanged at random for others, as often as these occur."
    times_mondrian: ClassVar[float] = 0.5

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release each value or another one, independently for every record."""
        names, rows = self._changed(schema), records_of(table)
        fixed = [table[name].codes[rows] for name in self.within]
        stratum, _ = number_rows(fixed, [len(table[name].domain) for name in self.within], len(rows))
        exchanged = exchanged_twice if self.two_stage else exchanged_once
        cells = {
            name: with_codes(
                table[name], exchanged(table[name].codes[rows], stratum, self._retained(name), rng)
            )
            for name in names
        }
        return changed_release(table, schema, cells, rows, (self._note(names),))

    def _changed(self, schema: Schema) -> tuple[str, ...]:
        """Return the attributes to change; all named attributes must be released."""
        for name in self.within:
            if name not in schema.released:
                raise ParameterError(
                    f"within: no released attribute {name!r}{suggestion(name, schema.released)}"
                )
        chosen = chosen_attributes(self.attributes, schema, "pram")
        changed = tuple(name for name in chosen if name not in self.within)
        if not changed:
            raise ParameterError("within: no attribute is left to change; name fewer")
        for name in self.probabilities:
            if name not in changed:
                raise ParameterError(
                    f"probabilities: {name!r} is not among what is changed{suggestion(name, changed)}"
                )
        return changed

    def _retained(self, name: str) -> float:
        return self.probabilities.get(name, self.retain)

    def _note(self, names: tuple[str, ...]) -> str:
        probabilities = ", ".join(f"{name} ({self._retained(name):g})" for name in names)
        among = f" among records that agree in {', '.join(self.within)}" if self.within else ""
        stages = "; this is done in two stages, the second by Bayes' rule" if self.two_stage else ""
        drawn = "drawn evenly" if self.two_stage else "drawn as often as values occur"
        return (
            f"Each value is the true one with the probability in brackets, and else {drawn}{among}{stages}: "
            f"{probabilities}. Frequencies stay the same in expectation. No formal guarantee is given."
        )


def exchanged_once(codes: Integers, stratum: Integers, retain: float, rng: np.random.Generator) -> Integers:
    """Replace each code, unless it is kept, by that of a random record of its stratum."""
    return np.where(rng.random(len(codes)) < retain, codes, codes[_random_peer(stratum, rng)])


def exchanged_twice(codes: Integers, stratum: Integers, retain: float, rng: np.random.Generator) -> Integers:
    """Replace each code, unless it is kept, by any of its stratum; then go back by Bayes' rule.

    The second stage draws from a mixture: the code itself, weighted by ``retain`` and its share, and the
    codes as they occur, weighted by (1 - ``retain``) / n.
    """
    width = int(codes.max(initial=0)) + 1
    pairs, pair_of, counts = np.unique(stratum * width + codes, return_inverse=True, return_counts=True)
    n_values = np.bincount(pairs // width)
    first = np.cumsum(n_values) - n_values
    evenly = first[stratum] + (rng.random(len(codes)) * n_values[stratum]).astype(np.int64)
    middle = np.where(rng.random(len(codes)) < retain, pair_of, evenly)
    own = retain * counts[middle] / np.bincount(stratum)[stratum]
    kept = own / (own + (1 - retain) / n_values[stratum])
    return np.where(rng.random(len(codes)) < kept, pairs[middle] % width, codes[_random_peer(stratum, rng)])


def _random_peer(stratum: Integers, rng: np.random.Generator) -> Integers:
    """Return for each record a random record of its stratum."""
    sizes = np.bincount(stratum)
    starts = np.cumsum(sizes) - sizes
    order = np.argsort(stratum, kind="stable")
    return order[starts[stratum] + (rng.random(len(stratum)) * sizes[stratum]).astype(np.int64)]
