"""Records: a release as a table of single values, the form in which all types of release can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.data.table import Column
from sfumato.measures.utility.estimation.reconstruction import Unreadable, nearest_codes
from sfumato.miners.knowledge import as_numbers
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import origin_of
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Codes, Floats, Integers

MOST_RECORDS = 200_000
"""Of larger tables so many records are drawn: enough for three digits of every figure here."""


@dataclass(frozen=True, eq=False)
class SingleValues:
    """One value of every attribute for each record.

    Parameters
    ----------
    codes
        For each attribute the codes of the values in the original's domain.
    numbers
        For each numeric attribute the values as numbers, changed ones as they are; a missing one is not a
        number.
    sizes
        How many values each attribute has.
    """

    codes: Mapping[str, Codes] = field(repr=False)
    numbers: Mapping[str, Floats] = field(repr=False)
    sizes: Mapping[str, int]

    @property
    def n_records(self) -> int:
        """How many records there are."""
        return len(next(iter(self.codes.values())))


def original_records(release: Release, names: Sequence[str], seed: int) -> SingleValues:
    """Return the records of the original."""
    table, rng = origin_of(release).table, np.random.default_rng([seed, 0])
    rows = _drawn(table.weights, rng)
    codes = {name: table[name].codes[rows] for name in names}
    return SingleValues(
        codes,
        {name: known[codes[name]] for name in names if (known := table[name].numbers) is not None},
        {name: len(table[name].domain) for name in names},
    )


def released_records(release: Release, names: Sequence[str], seed: int) -> SingleValues:
    """Return the released records, with one value drawn from every released set.

    The values of a set that occur in the original are equally likely. A sensitive value that is published for
    a group is that of some record of the group. A changed number counts unchanged, or, where a category is
    needed, as the nearest original one.
    """
    table, rng = origin_of(release).table, np.random.default_rng([seed, 1])
    if not release.n_records:
        raise NotApplicable("the release has no records")
    rows = _drawn(release.weights, rng)
    givers = _givers(release, rows, rng)
    codes, numbers = {}, {}
    for name in names:
        cells, column = release.cells[name], table[name]
        from_rows = givers if name in release.schema.sensitive else rows
        codes[name] = _one_of(name, cells, column, cells.codes[from_rows], rng)
        known = column.numbers
        if known is not None:
            changed = None if cells.sets is not None else as_numbers(cells.domain)
            numbers[name] = known[codes[name]] if changed is None else changed[cells.codes[from_rows]]
    return SingleValues(codes, numbers, {name: len(table[name].domain) for name in names})


def compared_attributes(release: Release, least: int) -> tuple[str, ...]:
    """Return the attributes to compare: quasi-identifiers and sensitive ones that vary at all."""
    table = origin_of(release).table
    names = (*release.schema.quasi_identifiers, *release.schema.sensitive)
    varying = tuple(name for name in names if name in release.cells and len(np.unique(table[name].codes)) > 1)
    if len(varying) < least:
        raise NotApplicable(
            f"it compares {least} attributes or more, and {len(varying)} differ between people"
        )
    return varying


def _drawn(weights: Integers, rng: np.random.Generator) -> Integers:
    """Return the row of each record, or of a sample if there are too many."""
    if weights.sum() > MOST_RECORDS:
        weights = rng.multivariate_hypergeometric(weights, MOST_RECORDS, method="marginals")
    return np.repeat(np.arange(len(weights)), weights)


def _givers(release: Release, rows: Integers, rng: np.random.Generator) -> Integers:
    """Return for each record the row that its sensitive values are taken from."""
    if release.group_of is None:
        return rows
    group_of = release.group_of[rows]
    shuffled = rng.permutation(len(rows))
    givers = np.empty_like(rows)
    givers[np.argsort(group_of, kind="stable")] = rows[
        shuffled[np.argsort(group_of[shuffled], kind="stable")]
    ]
    return givers


def _one_of(name: str, cells: Cells, column: Column, labels: Codes, rng: np.random.Generator) -> Codes:
    """Draw an original value for each released one."""
    if cells.sets is None:
        try:
            return nearest_codes(name, cells, column)[labels]
        except Unreadable as reason:
            raise NotApplicable(str(reason)) from None
    sizes = np.diff(cells.sets.starts)[labels]
    place = (rng.random(len(labels)) * sizes).astype(np.int64)
    return cells.sets.members[cells.sets.starts[labels] + place]
