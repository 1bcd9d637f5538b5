"""How a researcher reconstructs the original from a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from sfumato.data.equivalence_classes import SensitiveCounts
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.kernels.row_groups import first_row_of_group, number_rows
from sfumato.kernels.weight_estimates import add_up
from sfumato.measures.utility.estimation.estimate import Estimate, Mixtures, Spread
from sfumato.measures.utility.estimation.maximum_entropy import maximum_entropy_estimate
from sfumato.results.linked_release import origin_of, released
from sfumato.results.release import Release
from sfumato.results.released_column import Cells, ValueSets
from sfumato.runtime.arrays import Codes, Floats

Reconstruction = Literal["uniform", "maximum-entropy"]


class Unreadable(Exception):
    """Raised for a release that has no weights over original values; the message says why."""


def reconstructed(release: Release, sensitive: str | None, how: Reconstruction) -> Estimate:
    """Estimate the original from a release by the method of this name.

    Parameters
    ----------
    release
        What would be published, with its original.
    sensitive
        The sensitive attribute; ``None`` reads the quasi-identifiers alone.
    how
        ``uniform`` or ``maximum-entropy``.
    """
    estimate = uniform_estimate(release, sensitive)
    return estimate if how == "uniform" else maximum_entropy_estimate(estimate)


def uniform_estimate(release: Release, sensitive: str | None) -> Estimate:
    """Estimate the original under the uniform assumption.

    Every value that a released one may stand for, and that occurs in the data, is equally likely; every
    record of a group is equally likely to have any of the group's sensitive values. A noisy number counts
    as the nearest original value. A withheld sensitive value may be any that it stands for. With survey
    weights, each record counts as the people that it stands for.

    Parameters
    ----------
    release
        What would be published, with its original.
    sensitive
        The sensitive attribute; ``None`` reads the quasi-identifiers alone.

    References
    ----------
    N. Li, T. Li, "On the tradeoff between privacy and utility in data publishing", 2009, section 4.2.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import SuppressQuasiIdentifiers
    >>> release = sanitize(*datasets.hospital(), SuppressQuasiIdentifiers())
    >>> uniform_estimate(release, "diagnosis").n_units
    1
    """
    return _estimate(release, sensitive, _tells_values_apart(release, [sensitive] if sensitive else []))


def _tells_values_apart(release: Release, sensitive: Sequence[str]) -> bool:
    """Return whether any sensitive attribute has more than one released value."""
    columns = (release.cells[name].codes for name in sensitive if name in release.cells)
    return any((codes != codes[:1]).any() for codes in columns)


def _estimate(release: Release, sensitive: str | None, by_class: bool) -> Estimate:
    """Estimate from a release; if it does not distinguish sensitive values, all classes form one group."""
    table = origin_of(release).table
    names = release.schema.quasi_identifiers
    group_of = release.groups.class_of if by_class else np.zeros(release.n_rows, dtype=np.int64)
    n_groups = release.groups.n_classes if by_class else 1
    spreads = [_spread(name, release.cells[name], table[name]) for name in names]
    unit_of, n_units = group_of, n_groups
    # those of a class have the same labels anyway
    if not by_class or release.group_of is not None:
        unit_of, n_units = number_rows(
            [group_of, *(spread.label_of for spread in spreads)],
            [n_groups, *(spread.n_labels for spread in spreads)],
            release.n_rows,
        )
    first = first_row_of_group(unit_of, n_units)
    weights = add_up(unit_of, counted_as(release), n_units)
    order = np.argsort(group_of[first], kind="stable")
    units = first[order]
    return Estimate(
        weights[order],
        tuple(spread.take(units) for spread in spreads),
        group_of[units],
        _mixtures(release, table, sensitive, by_class),
    )


def uniform_estimate_of_all(release: Release, sensitive: Sequence[str]) -> Estimate:
    """Estimate the original under the uniform assumption, for several sensitive attributes at once.

    What the release says of the quasi-identifiers is the same for all of them and is read once.
    """
    by_class, table = _tells_values_apart(release, sensitive), origin_of(release).table
    first = _estimate(release, sensitive[0], by_class)
    if len(sensitive) == 1:
        return first
    others = [_mixtures(release, table, name, by_class) for name in sensitive[1:]]
    return replace(first, mixtures=Mixtures.beside([first.mixtures, *others]))


def true_estimate(table: Table, schema: Schema, sensitive: str | None) -> Estimate:
    """Return the bound original itself as an estimate, with every unit exact."""
    return uniform_estimate(released(table, schema, {}), sensitive)


def blind_estimate(truth: Estimate) -> Estimate:
    """Return the estimate with all quasi-identifiers withheld: one unit that may be anything."""
    n_values = truth.mixtures.n_values
    every = [np.arange(spread.n_codes) for spread in truth.spreads]
    spreads = tuple(
        Spread(np.array([0]), np.array([0, len(codes)]), codes, np.ones(len(codes)), len(codes))
        for codes in every
    )
    whole = Mixtures(
        np.array([0, n_values]), np.arange(n_values), truth.overall, n_values, truth.mixtures.firsts
    )
    return Estimate(np.array([truth.weights.sum()]), spreads, np.array([0]), whole)


def counted_as(release: Release) -> Floats:
    """Return for each released row how many people a researcher counts, by survey weights if there are any.

    Records that were made up, or drawn from all, count for as many as there are originals.
    """
    weights = release.weights if release.survey_weights is None else release.survey_weights
    return np.asarray(weights * release.scale)


def _spread(name: str, cells: Cells, column: Column) -> Spread:
    """Spread each released value evenly over the values that it may stand for."""
    n_codes = len(column.domain)
    if cells.sets is not None:
        masses = np.ones(len(cells.sets.members))
        return Spread(cells.codes, cells.sets.starts, cells.sets.members, masses, n_codes)
    nearest = nearest_codes(name, cells, column)
    return Spread.of_codes(nearest[cells.codes], n_codes)


def nearest_codes(name: str, cells: Cells, column: Column) -> Codes:
    """Return for each noisy number the code of the nearest original one, the lower of two."""
    numbers = np.array([value for value in column.domain if value is not None])
    noisy = [value for value in cells.domain if value is not None]
    if not column.kind.is_number or not noisy or any(isinstance(value, str) for value in noisy):
        raise Unreadable(f"the released values of {name!r} are neither sets of original values nor numbers")
    present = np.flatnonzero([value is not None for value in column.domain])
    middles = (numbers[1:] + numbers[:-1]) / 2
    return np.array(
        [
            column.missing_code if value is None else present[np.searchsorted(middles, float(value))]
            for value in cells.domain
        ],
        dtype=np.int32,
    )


def _nearest_sets(name: str, cells: Cells, column: Column) -> ValueSets:
    """Replace each changed number by the nearest original one."""
    nearest = nearest_codes(name, cells, column)
    return ValueSets(np.arange(len(nearest) + 1), nearest, np.ones_like(nearest), len(column.domain))


def _mixtures(release: Release, table: Table, sensitive: str | None, by_class: bool) -> Mixtures:
    """Return the distribution of the sensitive values in each group, over the original's codes."""
    if sensitive is None:
        return Mixtures(np.array([0, 1]), np.array([0]), np.array([float(release.n_records)]), 1)
    if sensitive not in release.cells:
        raise Unreadable(f"{sensitive!r} is not released")
    cells = release.cells[sensitive]
    counted = release.groups.sensitive[sensitive]
    n_values = len(table[sensitive].domain)
    sets = cells.sets or _nearest_sets(sensitive, cells, table[sensitive])
    sizes = np.diff(sets.starts)
    if not by_class and release.n_rows:
        members = sets.members[slice(*sets.starts[release.cells[sensitive].codes[0] :][:2])]
        even = np.full(len(members), counted_as(release).sum() / len(members))
        return Mixtures(np.array([0, len(members)]), members, even, n_values)
    people = _counted_people(release, sensitive, counted)
    if (sizes == 1).all():
        return Mixtures(counted.starts, sets.members[counted.values], people, n_values)
    group = np.repeat(np.arange(release.groups.n_classes), np.diff(counted.starts))
    spread = sizes[counted.values]
    entry = np.repeat(np.arange(len(spread)), spread)
    offset = np.arange(len(entry)) - np.repeat(np.cumsum(spread) - spread, spread)
    members = sets.members[sets.starts[counted.values][entry] + offset]
    key, place = np.unique(group[entry] * n_values + members, return_inverse=True)
    counts = add_up(place, (people / spread)[entry], len(key))
    starts = np.searchsorted(key, np.arange(release.groups.n_classes + 1) * n_values)
    return Mixtures(starts, (key % n_values).astype(np.int32), counts, n_values)


def _counted_people(release: Release, sensitive: str, counted: SensitiveCounts) -> Floats:
    """Return for each sensitive value of each group how many records a researcher counts, by weight."""
    if release.survey_weights is None and release.people is None:
        return counted.counts.astype(np.float64)
    cells, groups = release.cells[sensitive], release.groups
    group = np.repeat(np.arange(groups.n_classes), np.diff(counted.starts))
    entry = group * len(cells.labels) + counted.values
    of_row = np.searchsorted(entry, groups.class_of * len(cells.labels) + release.own_values(sensitive))
    return add_up(of_row, counted_as(release), len(entry))
