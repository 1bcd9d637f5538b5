"""Distances between released values and the true values of people.

A set that contains the value is at distance 0. For numbers, the distance is the gap as a share of the width
of the column; for categories it is 1 (Gower 1971). The same distance therefore works for sets, noisy numbers
and synthetic records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.data.hierarchy import ROOT
from sfumato.data.kinds import Kind, Value
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table, text
from sfumato.kernels.nearest_records import Distances
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.measures.attacks.attack_setting import Listed
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers
from sfumato.runtime.errors import DataError, ParameterError, suggestion

_AT_ONCE = 1 << 24
"""So many distances of people from labels are held at once."""


@dataclass(frozen=True, eq=False)
class Ranges:
    """The range of some values of an attribute, as numbers or as positions in its domain.

    Positions outside the domain and missing numbers are NaN.
    """

    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Compared:
    """The released values of one attribute, ready to be compared with people's values.

    Parameters
    ----------
    name, schema
        The attribute.
    cells
        The released cells.
    """

    name: str
    schema: Schema = field(repr=False)
    cells: Cells = field(repr=False)

    @property
    def kind(self) -> Kind:
        """What sort of values they are."""
        return self.schema.kind(self.name)

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """The values that sets consist of: those of the original, or the released ones themselves."""
        return self.cells.domain or self.cells.labels

    @cached_property
    def _sets(self) -> tuple[Integers, Integers]:
        """The offset of each label, and the members of all labels; a single value is its own member."""
        if self.cells.sets is not None:
            return self.cells.sets.starts, self.cells.sets.members
        return np.arange(len(self.values) + 1), np.arange(len(self.values))

    @cached_property
    def sizes(self) -> Integers:
        """How many values each label may stand for."""
        return np.diff(self._sets[0])

    @cached_property
    def ranges(self) -> Ranges:
        """The range of each label."""
        starts, members = self._sets
        is_ordered = self.kind.is_ordered
        places = self.numbers(self.values) if is_ordered else np.arange(len(self.values), dtype=float)
        return Ranges(
            np.fmin.reduceat(places[members], starts[:-1]), np.fmax.reduceat(places[members], starts[:-1])
        )

    def places(self, column: Column) -> Floats:
        """Return the position of each value of a column of people, NaN if it has none."""
        if self.kind.is_ordered:
            return self.numbers(column.domain)
        return places_among(self.values, column)

    def far(self, column: Column, codes: Codes) -> Distances:
        """Return the distance of each label from each of these values of a column of people."""
        different, which = np.unique(codes, return_inverse=True)
        values = self.places(column)[different]
        missing = np.array([column.domain[code] is None for code in different])
        distances = self._gaps(values, missing) if self.kind.is_ordered else self._misses(values)
        return distances.astype(np.float32)[which]

    def _gaps(self, values: Floats, missing: Booleans) -> Floats:
        low, high = self.ranges.low, self.ranges.high
        known = ~np.isnan(low)
        width = high[known].max() - low[known].min() if known.any() else 0.0
        gap = np.fmax(low - values[:, None], values[:, None] - high).clip(0) / (width or 1.0)
        gap[np.isnan(gap)] = 1.0
        gap[np.ix_(missing, self._may_miss)] = 0.0
        gap[:, self._are_any] = 0.0
        return gap.clip(max=1.0)

    def _misses(self, places: Floats) -> Floats:
        """Return 0 where a label holds the value, else 1; values that the table lacks are only in ``*``."""
        _, members = self._sets
        missed = np.ones((len(places), len(self.sizes)))
        missed[:, self._are_any] = 0.0
        line_of = np.full(len(self.values), -1)
        known = np.flatnonzero(~np.isnan(places))
        line_of[places[known].astype(np.int64)] = known
        lines, labels = line_of[members], np.repeat(np.arange(len(self.sizes)), self.sizes)
        missed[lines[lines >= 0], labels[lines >= 0]] = 0.0
        return missed

    @cached_property
    def _are_any(self) -> Booleans:
        """For each label whether it may stand for any value, including those that the table lacks."""
        return np.array([label == ROOT for label in self.cells.labels])

    @cached_property
    def _may_miss(self) -> Booleans:
        """For each label whether it may stand for a missing value."""
        starts, members = self._sets
        missing = np.array([value is None for value in self.values])
        return np.logical_or.reduceat(missing[members], starts[:-1])

    def numbers(self, values: Sequence[Value]) -> Floats:
        """Return where values stand, NaN for missing ones and those that are none of the kind."""
        read = self.schema.reader(self.kind)
        known = [read(value) if isinstance(value, str) else value for value in values]
        places = [self.kind.position(value) for value in known]
        return np.array([np.nan if place is None else float(place) for place in places])


@dataclass(frozen=True, eq=False)
class SeenRelease:
    """A release as seen by an attacker who compares some attributes with what they know of people.

    Parameters
    ----------
    release
        The release under attack.
    attributes
        The attributes to compare.
    """

    release: Release = field(repr=False)
    attributes: tuple[Compared, ...]

    @cached_property
    def rows(self) -> Codes:
        """For each released row and attribute its label; labels of all attributes share one numbering."""
        columns = [
            attribute.cells.codes + first
            for attribute, first in zip(self.attributes, self._first_labels, strict=False)
        ]
        return np.stack(columns, axis=1).astype(np.int32)

    @cached_property
    def _first_labels(self) -> list[int]:
        return [0, *np.cumsum([len(attribute.cells.labels) for attribute in self.attributes]).tolist()]

    @cached_property
    def volumes(self) -> Floats:
        """For each released row how many combinations of values it may stand for."""
        sizes = [attribute.sizes[attribute.cells.codes].astype(np.float64) for attribute in self.attributes]
        return np.prod(sizes, axis=0)

    @cached_property
    def boxes(self) -> Boxes:
        """The distinct rows."""
        cells = [attribute.cells for attribute in self.attributes]
        box_of, n_boxes = number_rows(
            [column.codes for column in cells], [len(column.labels) for column in cells], self.release.n_rows
        )
        first = first_row_of_group(box_of, n_boxes)
        return Boxes(box_of, first, self.rows[first], sum_by_group(box_of, n_boxes, self.release.weights))

    def far(self, listed: Listed) -> Iterator[tuple[slice, Distances]]:
        """Yield, for batches of people, the distance of each label from what is known of them."""
        columns = [people_column(listed.table, attribute.name) for attribute in self.attributes]
        n_at_once = max(_AT_ONCE // max(self._first_labels[-1], 1), 1)
        for begin in range(0, len(listed.rows), n_at_once):
            some = slice(begin, begin + n_at_once)
            pieces = [
                attribute.far(column, column.codes[listed.rows[some]])
                for attribute, column in zip(self.attributes, columns, strict=True)
            ]
            yield some, np.concatenate(pieces, axis=1)


@dataclass(frozen=True, eq=False)
class Boxes:
    """Released rows that look alike to an attacker, merged.

    Parameters
    ----------
    box_of
        The box of each released row.
    first
        A released row of each box.
    rows
        The labels of each box.
    weights
        The number of records of each box.
    """

    box_of: Integers
    first: Integers
    rows: Codes
    weights: Integers


def sight(release: Release, names: Sequence[str]) -> SeenRelease:
    """Return the release as seen by an attacker who knows these attributes of people."""
    return SeenRelease(release, tuple(Compared(name, release.schema, release.cells[name]) for name in names))


def known_attributes(release: Release, given: Sequence[str], secret: str | None = None) -> tuple[str, ...]:
    """Return the attributes that an attacker knows: those given, or else the released quasi-identifiers."""
    for name in given:
        if name not in release.cells:
            hint = suggestion(name, release.cells) or f"; it has {', '.join(release.cells)}"
            raise ParameterError(f"known: the release has no attribute {name!r}{hint}")
    names = given or [name for name in release.schema.quasi_identifiers if name in release.cells]
    known = tuple(name for name in dict.fromkeys(names) if name != secret)
    if not known:
        raise NotApplicable("no attribute is quasi-identifying; give the known ones")
    return known


def people_column(table: Table, name: str) -> Column:
    """Return a column of people that an attacker knows."""
    if name not in table.columns:
        hint = suggestion(name, table.columns) or "; add it"
        raise DataError(f"the control group has no column {name!r}{hint}")
    return table[name]


def places_among(values: Sequence[Value], column: Column) -> Floats:
    """Return the position of each value of a column among these values, compared as text."""
    place = {text(value): at for at, value in enumerate(values)}
    return np.array([place.get(text(value), np.nan) for value in column.domain], dtype=np.float64)
