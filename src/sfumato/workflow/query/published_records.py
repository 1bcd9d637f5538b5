"""Read the published records for a query, and count how many fall into which regions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.kernels.row_groups import first_row_of_group, number_rows
from sfumato.kernels.weight_estimates import add_up
from sfumato.measures.utility.estimation.estimate import Estimate, Mixtures, Spread
from sfumato.measures.utility.estimation.maximum_entropy import maximum_entropy_estimate
from sfumato.measures.utility.estimation.reconstruction import Reconstruction
from sfumato.results.release import Release
from sfumato.runtime.arrays import Codes, Floats, Integers
from sfumato.workflow.query.query_regions import Regions


@dataclass(frozen=True, eq=False)
class QueryLines:
    """Records that look alike to a query: their number, and their places in the regions.

    Parameters
    ----------
    amounts
        How many records each line stands for.
    lines
        For each attribute, each of its tables and each line what stands there for each region.
    unit_of, value_of, group_of
        Which quasi-identifiers, sensitive values and group each line has, where values are told for groups.
        The lines of a unit stand together, in the order of the units.
    """

    amounts: Floats = field(repr=False)
    lines: Sequence[Floats] = field(repr=False)
    unit_of: Integers | None = field(default=None, repr=False)
    value_of: Integers | None = field(default=None, repr=False)
    group_of: Integers | None = field(default=None, repr=False)

    def loosened(self) -> QueryLines:
        """Return every record of a group with all of its values, regardless of the other records.

        The tables of each attribute are where it may lie, and the smallest and the largest number there.
        """
        if self.unit_of is None:
            return self
        starts = np.flatnonzero(np.diff(self.unit_of, prepend=-1))
        widest = (np.maximum, np.minimum, np.maximum)
        lines = [
            np.stack([widen.reduceat(part, starts) for widen, part in zip(widest, line, strict=False)])
            for line in self.lines
        ]
        return QueryLines(add_up(self.unit_of, self.amounts, len(starts)), lines)


@dataclass(frozen=True, eq=False)
class AskedRecords:
    """The records of a release, restricted to the attributes of a query.

    Parameters
    ----------
    release
        The release.
    regions
        The regions of each attribute, in the order of their axes.
    """

    release: Release
    regions: Sequence[Regions]

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive attributes of the query."""
        return tuple(each.name for each in self.regions if each.name in self.release.schema.sensitive)

    @property
    def is_of_groups(self) -> bool:
        """Whether group-wise sensitive values matter, because the query asks about both sides."""
        others = len(self.regions) - len(self.sensitive)
        return self.release.group_of is not None and bool(self.sensitive) and others > 0

    def seen(self, tables: Sequence[Floats]) -> QueryLines:
        """Return the records line by line, for each attribute with a table's row for their label.

        Parameters
        ----------
        tables
            For each attribute some tables: one line for each label, one column for each region.
        """
        names = [each.name for each in self.regions]
        if self.is_of_groups:
            return self._seen_in_groups(tables)
        codes = [self.release.cells[name].codes for name in names]
        spans = [len(self.release.cells[name].labels) for name in names]
        line_of, n_lines = number_rows(codes, spans, self.release.n_rows)
        first = first_row_of_group(line_of, n_lines)
        amounts = add_up(line_of, self.release.weights.astype(np.float64), n_lines)
        return QueryLines(amounts, [table[:, code[first]] for table, code in zip(tables, codes, strict=True)])

    def _seen_in_groups(self, tables: Sequence[Floats]) -> QueryLines:
        """Return every record of a group with every sensitive value of it, as if exchanged at random."""
        estimate, labels = _group_mixtures(self.release, [each.name for each in self.regions])
        units, places, amounts = estimate.entries
        values = estimate.mixtures.values[places]
        outside = [each.name for each in self.regions if each.name not in self.sensitive]
        lines = []
        for each, table in zip(self.regions, tables, strict=True):
            of_unit = estimate.spreads[outside.index(each.name)].label_of if each.name in outside else None
            lines.append(table[:, of_unit[units] if of_unit is not None else labels[each.name][values]])
        return QueryLines(amounts, lines, units, places, estimate.mixture_of[units])

    def read(self, how: Reconstruction) -> QueryLines:
        """Return the records line by line, each with its estimated share in each region.

        Parameters
        ----------
        how
            ``uniform`` or ``maximum-entropy``.
        """
        if how == "uniform" or not self.is_open:
            return self.seen([each.even for each in self.regions])
        return _fit(self.release, self.regions)

    @property
    def is_open(self) -> bool:
        """Whether anything is uncertain: which value of a set, or which record of a group."""
        sets = any((each.pieces.masses > 0).sum(axis=1).max(initial=1) > 1 for each in self.regions)
        return sets or self.is_of_groups


def _group_mixtures(release: Release, names: Sequence[str]) -> tuple[Estimate, Mapping[str, Codes]]:
    """Read a release as units with mixtures of labels, and return the labels of each joint value."""
    outside = [name for name in names if name not in release.schema.sensitive]
    spreads = {name: _as_labels(release, name) for name in outside}
    return _merge_units(release, spreads, [name for name in names if name not in outside])


def _as_labels(release: Release, name: str) -> Spread:
    cells = release.cells[name]
    return Spread.of_codes(cells.codes, len(cells.labels))


def _merge_units(
    release: Release, spreads: Mapping[str, Spread], sensitive: Sequence[str]
) -> tuple[Estimate, Mapping[str, Codes]]:
    """Merge records for which the release says the same."""
    labels = [spread.label_of for spread in spreads.values()]
    spans = [spread.n_labels for spread in spreads.values()]
    joint, n_values = number_rows(
        [release.cells[name].codes for name in sensitive],
        [len(release.cells[name].labels) for name in sensitive],
        release.n_rows,
    )
    example = first_row_of_group(joint, n_values)
    own: Integers = np.zeros(release.n_rows, dtype=np.int64) if release.group_of is None else release.group_of
    unit_of, n_units = number_rows([own, *labels], [int(own.max(initial=0)) + 1, *spans], release.n_rows)
    group_of, n_groups = number_rows([own], [int(own.max(initial=0)) + 1], release.n_rows)
    if release.group_of is None:
        group_of, n_groups = unit_of, n_units
    first = first_row_of_group(unit_of, n_units)
    order = np.argsort(group_of[first], kind="stable")
    weights = release.weights.astype(np.float64)
    keys, place = np.unique(group_of * n_values + joint, return_inverse=True)
    starts = np.searchsorted(keys, np.arange(n_groups + 1) * n_values)
    mixtures = Mixtures(starts, keys % n_values, add_up(place, weights, len(keys)), n_values)
    estimate = Estimate(
        add_up(unit_of, weights, n_units)[order],
        tuple(spread.take(first[order]) for spread in spreads.values()),
        group_of[first[order]],
        mixtures,
    )
    return estimate, {name: release.cells[name].codes[example] for name in sensitive}


def _fit(release: Release, regions: Sequence[Regions]) -> QueryLines:
    """Estimate the values by maximum entropy, using every quasi-identifier."""
    asked = {each.name: each for each in regions}
    sensitive = [name for name in asked if name in release.schema.sensitive]
    names = [*release.schema.quasi_identifiers, *(n for n in asked if n in release.schema.insensitive)]
    spreads = {
        name: _as_pieces(release, asked[name])
        if name in asked and asked[name].is_apart
        else _as_labels(release, name)
        for name in names
    }
    uniform, labels = _merge_units(release, spreads, sensitive)
    estimate = maximum_entropy_estimate(uniform)
    units, places, amounts = estimate.entries
    values = estimate.mixtures.values[places]
    lines = []
    for each in regions:
        if each.name in sensitive:
            lines.append(each.even[:, labels[each.name][values]])
            continue
        spread = estimate.spreads[names.index(each.name)]
        table = _shares(spread, each) if each.is_apart else each.even
        lines.append(table[:, spread.label_of[units]])
    return QueryLines(amounts, lines)


def _possible_pieces(regions: Regions) -> Integers:
    """Return the pieces that some label may represent."""
    return np.flatnonzero(regions.pieces.masses.any(axis=0))


def _as_pieces(release: Release, regions: Regions) -> Spread:
    """Spread the labels of an attribute evenly over its pieces."""
    thought_of = _possible_pieces(regions)
    masses = regions.pieces.masses[:, thought_of]
    labels, codes = np.nonzero(masses)
    starts = np.searchsorted(labels, np.arange(len(masses) + 1))
    return Spread(release.cells[regions.name].codes, starts, codes, masses[labels, codes], len(thought_of))


def _shares(spread: Spread, regions: Regions) -> Floats:
    """Return what a fitted distribution has in each region, as `Regions.even` does for an even one."""
    thought_of = _possible_pieces(regions)
    label_of = np.repeat(np.arange(spread.n_labels), np.diff(spread.starts))
    shares = spread.masses / spread.totals[label_of]
    cell_of = label_of * regions.n_regions + regions.region_of[thought_of][spread.codes]
    numbers = np.nan_to_num(regions.pieces.inside[thought_of])[spread.codes]
    parts = [shares, shares * numbers, shares * numbers**2] if regions.is_summed else [shares]
    n_cells = spread.n_labels * regions.n_regions
    return np.stack([add_up(cell_of, part, n_cells).reshape(-1, regions.n_regions) for part in parts])
