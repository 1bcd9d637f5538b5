"""Find the regions of a query that each published record may be in, and with which share."""

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
    """Records that are equal to a query, merged into lines, and their regions.

    Parameters
    ----------
    amounts
        How many records each line stands for.
    lines
        For each attribute some tables, each with one row per line and one column per region.
    unit_of, value_of, group_of
        The quasi-identifiers, sensitive values and group of each line, if the release has groups. The lines
        are sorted by unit.
    """

    amounts: Floats = field(repr=False)
    lines: Sequence[Floats] = field(repr=False)
    unit_of: Integers | None = field(default=None, repr=False)
    value_of: Integers | None = field(default=None, repr=False)
    group_of: Integers | None = field(default=None, repr=False)

    def loosened(self) -> QueryLines:
        """Let every record of a group have any of the group's values, regardless of the other records.

        The tables of each attribute say where the value may be, and its smallest and largest number there.
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
class QueriedRecords:
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
        return tuple(name for name in self._names if name in self.release.schema.sensitive)

    @property
    def _names(self) -> list[str]:
        return [region.name for region in self.regions]

    @property
    def needs_groups(self) -> bool:
        """Whether sensitive values are published per group and the query also asks about other attributes."""
        others = len(self.regions) - len(self.sensitive)
        return self.release.group_of is not None and bool(self.sensitive) and others > 0

    def lookup(self, tables: Sequence[Floats]) -> QueryLines:
        """Return the records as lines, each with the rows of some tables for its labels.

        If groups matter, there is a line for every record of a group with every sensitive value of it, as if
        the values were exchanged at random.

        Parameters
        ----------
        tables
            For each attribute some tables: one row for each label, one column for each region.
        """
        release, names = self.release, self._names
        if not self.needs_groups:
            codes = [release.cells[name].codes for name in names]
            spans = [len(release.cells[name].labels) for name in names]
            line_of, n_lines = number_rows(codes, spans, release.n_rows)
            first = first_row_of_group(line_of, n_lines)
            amounts = add_up(line_of, release.weights.astype(np.float64), n_lines)
            lines = [table[:, code[first]] for table, code in zip(tables, codes, strict=True)]
            return QueryLines(amounts, lines)
        outside = [name for name in names if name not in self.sensitive]
        spreads = {name: _as_labels(release, name) for name in outside}
        estimate, labels = _merge_units(release, spreads, self.sensitive)
        units, places, amounts = estimate.entries
        values = estimate.mixtures.values[places]
        label_of = {name: codes[values] for name, codes in labels.items()}
        label_of |= {
            name: spread.label_of[units] for name, spread in zip(outside, estimate.spreads, strict=True)
        }
        lines = [table[:, label_of[name]] for name, table in zip(names, tables, strict=True)]
        return QueryLines(amounts, lines, units, places, estimate.mixture_of[units])

    def estimate(self, reading: Reconstruction) -> QueryLines:
        """Return the records as lines, each with its estimated share in each region.

        Parameters
        ----------
        reading
            ``uniform`` or ``maximum-entropy``.
        """
        has_sets = any((region.pieces.masses > 0).sum(axis=1).max(initial=1) > 1 for region in self.regions)
        if reading == "uniform" or not (has_sets or self.needs_groups):
            return self.lookup([region.even for region in self.regions])
        # the fit takes all quasi-identifiers, not only those of the query: they say which values are likely
        release, regions = self.release, {region.name: region for region in self.regions}
        names = [*release.schema.quasi_identifiers, *(n for n in regions if n in release.schema.insensitive)]
        spreads = {
            name: _as_pieces(release, regions[name])
            if name in regions and regions[name].is_split
            else _as_labels(release, name)
            for name in names
        }
        uniform, labels = _merge_units(release, spreads, self.sensitive)
        estimate = maximum_entropy_estimate(uniform)
        units, places, amounts = estimate.entries
        values = estimate.mixtures.values[places]
        lines = []
        for name, region in regions.items():
            if name in labels:
                lines.append(region.even[:, labels[name][values]])
                continue
            spread = estimate.spreads[names.index(name)]
            table = _fitted_shares(spread, region) if region.is_split else region.even
            lines.append(table[:, spread.label_of[units]])
        return QueryLines(amounts, lines)


def _as_labels(release: Release, name: str) -> Spread:
    cells = release.cells[name]
    return Spread.of_codes(cells.codes, len(cells.labels))


def _merge_units(
    release: Release, spreads: Mapping[str, Spread], sensitive: Sequence[str]
) -> tuple[Estimate, Mapping[str, Codes]]:
    """Merge equal records into units, and return the labels of each joint sensitive value."""
    labels = [spread.label_of for spread in spreads.values()]
    spans = [spread.n_labels for spread in spreads.values()]
    joint, n_values = number_rows(
        [release.cells[name].codes for name in sensitive],
        [len(release.cells[name].labels) for name in sensitive],
        release.n_rows,
    )
    example = first_row_of_group(joint, n_values)
    groups: Integers = np.zeros(release.n_rows, dtype=np.int64)
    if release.group_of is not None:
        groups = release.group_of
    n_labels = int(groups.max(initial=0)) + 1
    unit_of, n_units = number_rows([groups, *labels], [n_labels, *spans], release.n_rows)
    group_of, n_groups = number_rows([groups], [n_labels], release.n_rows)
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


def _possible_pieces(regions: Regions) -> Integers:
    return np.flatnonzero(regions.pieces.masses.any(axis=0))


def _as_pieces(release: Release, regions: Regions) -> Spread:
    pieces = _possible_pieces(regions)
    masses = regions.pieces.masses[:, pieces]
    labels, codes = np.nonzero(masses)
    starts = np.searchsorted(labels, np.arange(len(masses) + 1))
    return Spread(release.cells[regions.name].codes, starts, codes, masses[labels, codes], len(pieces))


def _fitted_shares(spread: Spread, regions: Regions) -> Floats:
    """Return what `Regions.even` returns, for a fitted distribution instead of an even one."""
    pieces = _possible_pieces(regions)
    label_of = np.repeat(np.arange(spread.n_labels), np.diff(spread.starts))
    shares = spread.masses / spread.totals[label_of]
    cell_of = label_of * regions.n_regions + regions.region_of[pieces][spread.codes]
    numbers = np.nan_to_num(regions.pieces.inside[pieces])[spread.codes]
    parts = [shares, shares * numbers, shares * numbers**2] if regions.is_summed else [shares]
    n_cells = spread.n_labels * regions.n_regions
    return np.stack([add_up(cell_of, part, n_cells).reshape(-1, regions.n_regions) for part in parts])
