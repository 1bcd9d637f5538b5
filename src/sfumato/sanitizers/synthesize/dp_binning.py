"""Bin values and bound the records per person for differentially private synthesizers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sfumato.data.hierarchy import Intervals
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.results.released_column import Cells, exact_cells, suppressed_cells
from sfumato.runtime.arrays import Floats, Integers, secret_order
from sfumato.sanitizers.perturb.noise import number_cells

_STEPS = 1_000
"""About so many different fractions are drawn within an interval."""


def counted_rows(table: Table, most: int) -> Integers:
    """Return the row of every record that counts: at most so many per person, chosen at random in secret."""
    rows = np.repeat(np.arange(table.n_rows), table.weights)
    if table.person_of is None:
        return rows
    rows = rows[secret_order(len(rows))]
    by_person = rows[np.argsort(table.person_of[rows], kind="stable")]
    n_records = np.bincount(table.person_of[rows], minlength=table.n_people)
    place = np.arange(len(rows)) - np.repeat(np.cumsum(n_records) - n_records, n_records)
    return by_person[place < most]


@dataclass(frozen=True, eq=False)
class Coding:
    """How the values of an attribute are counted: by value, or by the intervals of a grid.

    Parameters
    ----------
    name, column
        The attribute.
    key_of
        The key of each value of its domain: its code, or the number of its interval among those that occur.
    width
        The width of an interval, if values are counted in intervals.
    lows
        The lower end of each interval; NaN for the interval of missing values.
    """

    name: str
    column: Column
    key_of: Integers
    width: float = 0.0
    lows: Floats | None = None

    @classmethod
    def of(cls, column: Column, schema: Schema, name: str) -> Coding:
        """Choose how to count: numbers in the narrowest intervals of their hierarchy, if it has any."""
        source = (schema.given or schema)[name].hierarchy
        numbers = column.numbers if column.kind.is_number else None
        if numbers is None or not isinstance(source, Intervals) or schema[name].lowest_level:
            return cls(name, column, np.arange(len(column.domain)))
        places, key_of = np.unique(np.floor(numbers / source.widths[0]), return_inverse=True)
        return cls(name, column, key_of, source.widths[0], places * source.widths[0])

    def cells(self, schema: Schema, keys: Integers, rng: np.random.Generator) -> Cells:
        """Return the cells of records with these keys; attributes without a known key are withheld."""
        everyone = np.arange(len(keys))
        if not len(keys) or keys[0] < 0:
            return suppressed_cells(self.column, schema.hierarchy(self.name), np.zeros_like(everyone))
        if self.lows is None:
            return exact_cells(Column(keys, self.column.domain, self.column.kind), everyone)
        return number_cells(self._within(self.lows[keys], rng.random(len(keys))))

    def _within(self, lows: Floats, shares: Floats) -> Floats:
        """Return numbers that are uniform within intervals, whole ones if all are whole."""
        if self.column.is_whole:
            first, end = np.ceil(lows), np.ceil(lows + self.width)
            return first + np.floor(shares * (end - first))
        digits = math.ceil(math.log10(_STEPS / self.width))
        return np.round(lows + np.floor(shares * _STEPS) * (self.width / _STEPS), digits)
