"""Bin values and bound the records per person for differentially private synthesizers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sfumato.data.hierarchy import Intervals
from sfumato.data.public_part import declared
from sfumato.data.public_values import MOST_LISTED, PublicValues
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
        The key of each value of its domain: its code, or the number of its interval.
    is_public
        For each key whether it is declared, so that it is counted whether it occurs or not.
    public
        What is declared of the values.
    width
        The width of an interval, if values are counted in intervals.
    lows
        The lower end of each interval; NaN for the interval of missing values.
    """

    name: str
    column: Column
    key_of: Integers
    is_public: tuple[bool, ...]
    public: PublicValues
    width: float = 0.0
    lows: Floats | None = None

    @classmethod
    def of(cls, column: Column, schema: Schema, name: str, method: str) -> Coding:
        """Choose how to count: numbers in the narrowest intervals of their hierarchy, if it has any."""
        attribute = declared(schema, name, column, method)
        source, public = attribute.hierarchy, attribute.public
        numbers = column.numbers if column.kind.is_number else None
        if numbers is None or not isinstance(source, Intervals) or attribute.lowest_level:
            listed = set(public.values(column.kind))
            is_public = tuple(value in listed for value in column.domain)
            return cls(name, column, np.arange(len(column.domain)), is_public, public)
        width = source.widths[0]
        if public.bounds is None:
            places, key_of = np.unique(np.floor(numbers / width), return_inverse=True)
            return cls(name, column, key_of, (False,) * len(places), public, width, places * width)
        low, high = np.floor(np.array(public.bounds) / width)
        places = np.append(np.arange(low, high + 1), np.nan)
        inside = np.floor(np.clip(numbers, *public.bounds) / width) - low
        key_of = np.where(np.isnan(inside), len(places) - 1, inside).astype(np.int64)
        is_public = (len(places) <= MOST_LISTED,) * (len(places) - 1) + (False,)
        return cls(name, column, key_of, is_public, public, width, places * width)

    def cells(self, schema: Schema, keys: Integers, rng: np.random.Generator) -> Cells:
        """Return the cells of records with these keys; attributes without a known key are withheld."""
        everyone = np.arange(len(keys))
        if not len(keys) or keys[0] < 0:
            return suppressed_cells(self.column, schema.hierarchy(self.name), np.zeros_like(everyone))
        if self.lows is None:
            return exact_cells(Column(keys, self.column.domain, self.column.kind), everyone)
        return number_cells(self._within(self.lows[keys], rng.random(len(keys))))

    def _within(self, lows: Floats, shares: Floats) -> Floats:
        """Return numbers that are uniform within intervals, whole ones if they are declared so."""
        low, high = self.public.bounds or (-math.inf, math.inf)
        if self.public.whole:
            first = np.maximum(np.ceil(lows), math.ceil(low) if math.isfinite(low) else low)
            last = math.floor(high) + 1 if math.isfinite(high) else high
            end = np.maximum(np.minimum(np.ceil(lows + self.width), last), first + 1)
            return first + np.floor(shares * (end - first))
        digits = math.ceil(math.log10(_STEPS / self.width))
        drawn = np.round(lows + np.floor(shares * _STEPS) * (self.width / _STEPS), digits)
        return np.clip(drawn, low, high)
