"""Releases with a link to the original, for their owner: what sanitizers return and measures compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from sfumato.data.equivalence_classes import contributed
from sfumato.data.schema import Schema
from sfumato.data.table import People, Table
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.registry.declarations import ReleaseType
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.origin import Earlier, Origin
from sfumato.results.release import AnyRelease, Release
from sfumato.results.released_column import Cells, exact_cells
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers, sealed


@dataclass(frozen=True, eq=False, repr=False)
class LinkedRelease(Release):
    """A release with its link to the original, for its owner.

    You measure it like any release; measures that need the original take it from here. A copy or a pickle is
    a `Release` without the link, and `published` returns what readers get.

    Parameters
    ----------
    origin
        The original, the original row of each released one, and earlier releases.
    """

    origin: Origin = field(kw_only=True, repr=False)

    def with_earlier(self, *earlier: Release | Earlier) -> LinkedRelease:
        """Return the release with these earlier releases of the same people, or of some of them."""
        releases = tuple(one if isinstance(one, Earlier) else Earlier(one) for one in earlier)
        return replace(self, origin=replace(self.origin, earlier=releases))

    @cached_property
    def kept(self) -> Integers:
        """For each row of the original, how many of its records are released."""
        return sealed(sum_by_group(self.origin.rows, self.origin.table.n_rows, self.weights))

    @cached_property
    def survey_weights(self) -> Floats | None:
        """For each released row, how many of the population its records stand for; ``None`` if unknown.

        Records that are equal in the original share theirs evenly: where they are released apart, it makes no
        difference which is which.
        """
        original, rows = self.origin.table, self.origin.linked_rows
        if rows is None or original.survey_weights is None:
            return None
        return sealed(self.weights * (original.survey_weights / original.weights)[rows])

    @property
    def people(self) -> People | None:
        """The person of each released row; ``None`` if nobody has several records, or it is not known."""
        return self.origin.people

    @property
    def n_original_people(self) -> int:
        """The number of people of the original: of records, where nobody is known to have several."""
        return self.n_original if self.people is None else self.origin.table.n_people

    def own_values(self, name: str) -> Codes:
        """Return for each row the code of the sensitive value of its own person, from the original."""
        if self.group_of is None or self.origin.linked_rows is None:
            return self.cells[name].codes
        return self.origin.table[name].codes[self.origin.linked_rows]

    def _prior(self, name: str) -> Floats:
        """Return p(T, ·) over the released values, of all original records.

        If a released value is no part of a partition of the original ones, that of the released records.
        """
        sets = self.cells[name].sets
        if sets is None or sets.overlap:
            return super()._prior(name)
        original = self.origin.table
        column = original[name]
        everybody = None if self.people is None else original.people()
        counts, n_people = contributed(column.codes, len(column.domain), original.weights, everybody)
        return np.add.reduceat(counts[sets.members], sets.starts[:-1]) / n_people


def link(release: Release, origin: Origin) -> LinkedRelease:
    """Return a release with a link to the original."""
    return LinkedRelease(*(getattr(release, part.name) for part in fields(Release)), origin=origin)


def linked(release: Release) -> LinkedRelease:
    """Return the release if it is linked to its original; else `NotApplicable` says what is missing."""
    if not isinstance(release, LinkedRelease):
        raise NotApplicable("the original is needed, and the release was read from files alone")
    return release


def origin_of(release: Release) -> Origin:
    """Return the link to the original; `NotApplicable` for a release that was read from files alone."""
    return linked(release).origin


def released(
    table: Table,
    schema: Schema,
    cells: Mapping[str, Cells],
    rows: Integers | None = None,
    weights: Integers | None = None,
    notes: tuple[str, ...] = (),
    *,
    release_type: ReleaseType = "people",
    sampled: bool = False,
) -> LinkedRelease:
    """Make a release from the cells of the attributes that a sanitizer changed; the others stay exact.

    Parameters
    ----------
    table, schema
        The bound table and schema.
    cells
        The changed attributes, one cell for each released row.
    rows
        The original row of each released row; all rows by default.
    weights
        The records of each released row; those of the original rows by default.
    release_type, sampled
        What the rows stand for, and whether they were drawn from all; see `Release`.
    """
    source = sealed(np.arange(table.n_rows)) if rows is None else rows
    all_cells = {name: cells.get(name) or exact_cells(table[name], source) for name in schema.released}
    return LinkedRelease(
        schema=schema,
        cells=all_cells,
        weights=table.weights[source] if weights is None else weights,
        n_original=table.n_records,
        origin=Origin(table, source),
        notes=notes,
        type=release_type,
        sampled=sampled,
    )


def synthetic_release(
    table: Table, schema: Schema, cells: Mapping[str, Cells], notes: tuple[str, ...] = ()
) -> LinkedRelease:
    """Make a release of synthetic records from their cells; equal records become one row.

    Parameters
    ----------
    table, schema
        The bound table and schema.
    cells
        For each released attribute one cell for each record.
    notes
        What a reader should know.
    """
    columns = [cells[name] for name in schema.released]
    n_records = len(columns[0].codes)
    row_of, n_rows = number_rows([c.codes for c in columns], [len(c.labels) for c in columns], n_records)
    first = first_row_of_group(row_of, n_rows)
    return LinkedRelease(
        schema=schema,
        cells={name: cells[name].take(first) for name in schema.released},
        weights=sum_by_group(row_of, n_rows, np.ones(n_records, dtype=np.int64)),
        n_original=table.n_records,
        origin=Origin(table),
        notes=notes,
        type="synthetic",
    )


def without_rows(release: AnyRelease, drop: Booleans) -> AnyRelease:
    """Return the release with these rows suppressed."""
    keep = np.flatnonzero(~drop)
    changes: dict[str, Any] = {
        "cells": {name: cells.take(keep) for name, cells in release.cells.items()},
        "weights": sealed(release.weights[keep]),
        "group_of": None if release.group_of is None else sealed(release.group_of[keep]),
    }
    if isinstance(release, LinkedRelease):
        changes["origin"] = release.origin.keep(keep)
    return replace(release, **changes)
