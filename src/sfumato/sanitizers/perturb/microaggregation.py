"""Microaggregation (MDAV): group similar records and release the average of each group."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.kernels.mdav import mdav
from sfumato.registry.declarations import AtLeast, AtMost, ReleaseType
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Floats, Integers
from sfumato.runtime.errors import Infeasible
from sfumato.sanitizers.base import MOST_RECORDS
from sfumato.sanitizers.perturb.changed_records import changed_release, records_of, with_codes
from sfumato.sanitizers.perturb.noise import number_cells


@register
@dataclass(frozen=True)
class Microaggregation:
    """Group records into groups of k similar ones and release the average of each group (MDAV).

    Groups are built from the outside: the record furthest from the average with its k - 1 nearest ones, then
    the record furthest from that one with its own, and so on. Numbers are released as the mean of the group,
    rounded if all are whole, and categories as the most common one of the group. All quasi-identifiers are
    grouped together, so at least k records share each combination of released values; but the values are not
    true. The distance of two numbers is their difference in standard deviations, that of two categories how
    high their lowest common node is in the hierarchy.

    The time grows with the square of the number of records.

    Parameters
    ----------
    k
        The size of the groups; the last may have up to 2k - 1.

    References
    ----------
    J. Domingo-Ferrer, J. M. Mateo-Sanz, "Practical data-oriented microaggregation for statistical
    disclosure control", 2002; J. Domingo-Ferrer, V. Torra, "Ordinal, continuous and heterogeneous
    k-anonymity through microaggregation", 2005.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), Microaggregation(3))
    >>> release.type, int(release.classes.sizes.min())
    ('perturbed', 3)
    """

    k: Annotated[int, AtLeast(1), AtMost(MOST_RECORDS)] = 5

    release_type: ClassVar[ReleaseType] = "perturbed"
    plain: ClassVar[str] = "averages of at least {k} similar records"
    does: ClassVar[str] = "Similar records are gathered in groups; each group shows its average."
    times_mondrian: ClassVar[float] = 20.0

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release the average of each group for every quasi-identifier."""
        names = schema.require("quasi-identifying", "microaggregation")
        if table.n_records < self.k:
            raise Infeasible(
                f"there are {table.n_records:,} records, fewer than k = {self.k}", table.n_records
            )
        rows = records_of(table)
        group_of = mdav(*_points(table, schema, names, rows), self.k)
        cells = {
            name: _averages(table[name], rows, group_of, floored=bool(schema[name].lowest_level))
            for name in names
        }
        release = changed_release(table, schema, cells, rows, ())
        return replace(release, notes=(_note(release, names),))


def _points(
    table: Table, schema: Schema, names: tuple[str, ...], rows: Integers
) -> tuple[Floats, Integers, Integers, Integers]:
    """Return the kernel's input: scaled numbers, values, nodes by level, heights."""
    numeric = [name for name in names if table[name].kind.is_ordered]
    others = [name for name in names if not table[name].kind.is_ordered]
    numbers, values = np.empty((len(rows), len(numeric))), np.empty((len(rows), len(others)), dtype=np.int32)
    for place, name in enumerate(numeric):
        of_records = table[name].ordered_numbers[table[name].codes[rows]]
        present = of_records[~np.isnan(of_records)]
        spread = float(present.std()) if len(present) else 0.0
        numbers[:, place] = of_records / (spread or 1.0)
    hierarchies = [schema.hierarchy(name) for name in others]
    n_levels = max((hierarchy.height + 1 for hierarchy in hierarchies), default=1)
    n_values = max((len(hierarchy.values) for hierarchy in hierarchies), default=1)
    nodes = np.zeros((len(others), n_levels, n_values), dtype=np.int32)
    for place, (name, hierarchy) in enumerate(zip(others, hierarchies, strict=True)):
        values[:, place] = table[name].codes[rows]
        nodes[place, : hierarchy.height + 1, : len(hierarchy.values)] = hierarchy.node_of
    heights = [max(hierarchy.height, 1) for hierarchy in hierarchies]
    return numbers, values, nodes, np.array(heights, dtype=np.int64)


def _averages(column: Column, rows: Integers, group_of: Integers, *, floored: bool) -> Cells:
    """Return for each record the average of its group: the mean, or the commonest value.

    An attribute with a lowest level shows the nearest value of the group instead, which can be generalised.
    """
    codes, n_groups = column.codes[rows], int(group_of.max()) + 1
    commonest = commonest_in(codes, group_of, n_groups, len(column.domain))
    if not column.kind.is_number:
        return with_codes(column, commonest[group_of])
    numbers = column.ordered_numbers
    is_present = ~np.isnan(numbers[codes])
    n_known = np.bincount(group_of[is_present], minlength=n_groups)
    sums = np.bincount(group_of[is_present], numbers[codes[is_present]], n_groups)
    means = np.divide(
        sums, n_known, out=np.full(n_groups, np.nan), where=2 * n_known >= np.bincount(group_of)
    )
    means[n_known == 0] = np.nan
    if floored:
        nearest = [
            (column.missing_code or 0) if np.isnan(mean) else int(np.nanargmin(np.abs(numbers - mean)))
            for mean in means
        ]
        return with_codes(column, np.array(nearest)[group_of])
    return number_cells(_rounded(means, column)[group_of])


def commonest_in(codes: Integers, group_of: Integers, n_groups: int, n_values: int) -> Integers:
    """Return the most common value of each group, the first of several."""
    pairs, counts = np.unique(group_of * n_values + codes, return_counts=True)
    order = np.lexsort((pairs, -counts, pairs // n_values))
    firsts = np.searchsorted((pairs // n_values)[order], np.arange(n_groups))
    return pairs[order][firsts] % n_values


def _rounded(means: Floats, column: Column) -> Floats:
    """Round means to the precision of the numbers: whole, or a thousandth of their spread."""
    if column.is_whole:
        return np.rint(means)
    spread = float(np.nanstd(column.ordered_numbers))
    return np.round(means, 3 - math.floor(math.log10(spread))) if spread > 0 else means


def _note(release: Release, names: tuple[str, ...]) -> str:
    smallest = int(release.classes.people.min())
    whom = "records" if release.people is None else "people"
    return (
        f"Values of {', '.join(names)} are averages of groups and need not be true. At least {smallest:,} "
        f"{whom} share each combination of them, which was checked; sensitive values are not averaged."
    )
