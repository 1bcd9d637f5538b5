"""Predicates: conditions on a few attributes of a person, learned from a release or drawn at random.

A predicate has a range for each attribute: a range of numbers, or of positions in the order of the domain.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from sfumato.data.table import Table
from sfumato.kernels.nearest_records import count_within
from sfumato.kernels.row_groups import number_rows
from sfumato.measures.attacks.record_distances import SeenRelease, people_column
from sfumato.runtime.arrays import Booleans, Floats, Integers

_CANDIDATES = 4096
_MOST_BATCHES = 60
_MAX_FRUITLESS_BATCHES = 3
"""After so many batches that bring less than one in a thousand, no more are drawn."""


@dataclass(frozen=True, eq=False)
class Predicates:
    """For each predicate and attribute the smallest and the largest allowed value; infinite if all are."""

    least: Floats
    most: Floats

    def __len__(self) -> int:
        return len(self.least)

    def take(self, which: Integers | Booleans) -> Predicates:
        """Return some of the predicates."""
        return Predicates(self.least[which], self.most[which])


@dataclass(frozen=True, eq=False)
class Crowd:
    """Released rows or people, as ranges: for each of them and each attribute the position of its value."""

    low: Floats = field(repr=False)
    high: Floats = field(repr=False)
    weights: Integers = field(repr=False)
    person_of: Integers = field(repr=False)

    def count(self, predicates: Predicates, enough: int = 1 << 62) -> Integers:
        """Return for each predicate how many of them satisfy it, counted up to a limit."""
        rows = (self.low, self.high, self.weights, self.person_of, self._orders)
        return count_within(*rows, predicates.least, predicates.most, enough)

    @cached_property
    def _orders(self) -> Integers:
        return np.argsort(self.low.T, axis=1, kind="stable")

    def singled_out(self, predicates: Predicates) -> Booleans:
        """Return for each predicate whether exactly one of them satisfies it."""
        return self.count(predicates, 2) == 1


def released_crowd(seen: SeenRelease) -> Crowd:
    """Return the records of a release; one satisfies a predicate if its whole set does."""
    codes = [attribute.cells.codes[seen.boxes.first] for attribute in seen.attributes]
    low = [attribute.ranges.low[code] for attribute, code in zip(seen.attributes, codes, strict=True)]
    high = [attribute.ranges.high[code] for attribute, code in zip(seen.attributes, codes, strict=True)]
    nobody = np.empty(0, dtype=np.int64)
    return Crowd(np.stack(low, axis=1), np.stack(high, axis=1), seen.boxes.weights, nobody)


def people_crowd(seen: SeenRelease, table: Table) -> Crowd:
    """Return the people of a table, with identical people merged unless they have several records."""
    columns = [people_column(table, attribute.name) for attribute in seen.attributes]
    people = table.person_of if table.person_of is not None else np.zeros(table.n_rows, dtype=np.int64)
    group_of, n_groups = number_rows(
        [people, *(column.codes for column in columns)],
        [int(people.max()) + 1, *(len(column.domain) for column in columns)],
        table.n_rows,
    )
    weights = np.bincount(group_of, table.weights, n_groups).astype(np.int64)
    first = np.unique(group_of, return_index=True)[1]
    first = first[np.argsort(people[first], kind="stable")]
    places = [
        attribute.places(column)[column.codes[first]]
        for attribute, column in zip(seen.attributes, columns, strict=True)
    ]
    at = np.stack(places, axis=1)
    whose = people[first] if table.person_of is not None else np.empty(0, dtype=np.int64)
    return Crowd(at, at, weights[group_of[first]], whose)


def learned(seen: SeenRelease, n_attributes: int, n_wanted: int, rng: np.random.Generator) -> Predicates:
    """Return distinct predicates on this many attributes that exactly one released record satisfies.

    They come from released records. A number must be at least or at most the record's number, whichever is
    rarer; a category or set must be the record's. There may be fewer predicates than wanted.
    """
    crowd = released_crowd(seen)
    medians = _medians(seen, crowd)
    predicates = Predicates(*np.empty((2, 0, len(seen.attributes))))
    chances = crowd.weights / crowd.weights.sum()
    in_vain = 0
    for _ in range(_MOST_BATCHES):
        n_before = len(predicates)
        rows = rng.choice(len(chances), _CANDIDATES, p=chances)
        is_bounded = _some_attributes(_CANDIDATES, len(seen.attributes), n_attributes, rng)
        predicates = _with_more(predicates, crowd, _of_rows(crowd, rows, is_bounded, medians))
        in_vain = 0 if len(predicates) - n_before > _CANDIDATES // 1000 else in_vain + 1
        if len(predicates) >= n_wanted or in_vain == _MAX_FRUITLESS_BATCHES:
            break
    return predicates.take(rng.permutation(len(predicates))[:n_wanted])


def rare_values(seen: SeenRelease, n_wanted: int, rng: np.random.Generator) -> Predicates:
    """Return predicates on one attribute: values of a single released record, minima and maxima."""
    crowd = released_crowd(seen)
    n_attributes = len(seen.attributes)
    predicates = Predicates(*np.empty((2, 0, n_attributes)))
    for place, attribute in enumerate(seen.attributes):
        ends = np.unique(np.stack([attribute.ranges.low, attribute.ranges.high], axis=1), axis=0)
        if attribute.kind.is_ordered and not np.isnan(ends).all():
            extremes = [[np.nanmax(ends[:, 0]), np.inf], [-np.inf, np.nanmin(ends[:, 1])]]
            ends = np.concatenate([ends, extremes])
        least = np.full((len(ends), n_attributes), -np.inf)
        most = np.full((len(ends), n_attributes), np.inf)
        least[:, place], most[:, place] = ends.T
        predicates = _with_more(predicates, crowd, Predicates(least, most))
    return predicates.take(rng.permutation(len(predicates))[:n_wanted])


def at_random(seen: SeenRelease, n_attributes: int, n_wanted: int, rng: np.random.Generator) -> Predicates:
    """Return predicates with values drawn from the whole domain, not from a record."""
    crowd = released_crowd(seen)
    is_bounded = _some_attributes(n_wanted, len(seen.attributes), n_attributes, rng)
    columns = [attribute.ranges for attribute in seen.attributes]
    drawn = [rng.integers(len(ranges.low), size=n_wanted) for ranges in columns]
    low = np.stack([ranges.low[one] for ranges, one in zip(columns, drawn, strict=True)], axis=1)
    high = np.stack([ranges.high[one] for ranges, one in zip(columns, drawn, strict=True)], axis=1)
    return _bounded(low, high, is_bounded, rng.permuted(_medians(seen, crowd) * np.ones_like(low), axis=0))


def _some_attributes(n: int, n_all: int, n_chosen: int, rng: np.random.Generator) -> Booleans:
    """Draw this many of all attributes, n times."""
    return rng.permuted(np.tile(np.arange(n_all) < n_chosen, (n, 1)), axis=1)


def _medians(seen: SeenRelease, crowd: Crowd) -> Floats:
    """Return the median of each attribute with an order, NaN for the others."""
    medians = np.full(len(seen.attributes), np.nan)
    for place, attribute in enumerate(seen.attributes):
        known = ~np.isnan(crowd.low[:, place])
        if attribute.kind.is_ordered and known.any():
            order = np.argsort(crowd.low[known, place])
            reached = np.cumsum(crowd.weights[known][order])
            medians[place] = crowd.low[known, place][order[np.searchsorted(reached, reached[-1] / 2)]]
    return medians


def _of_rows(crowd: Crowd, rows: Integers, is_bounded: Booleans, medians: Floats) -> Predicates:
    return _bounded(crowd.low[rows], crowd.high[rows], is_bounded, medians)


def _bounded(low: Floats, high: Floats, is_bounded: Booleans, medians: Floats) -> Predicates:
    """Turn ranges into conditions, single numbers into one-sided ones; attributes not asked for have none."""
    single = is_bounded & ~np.isnan(medians) & (low == high)
    above = low > medians
    least = np.where(is_bounded & ~(single & ~above), low, -np.inf)
    most = np.where(is_bounded & ~(single & above), high, np.inf)
    return Predicates(least, most)


def _with_more(predicates: Predicates, crowd: Crowd, candidates: Predicates) -> Predicates:
    """Add the candidates that exactly one released record satisfies, each once."""
    good = candidates.take(crowd.singled_out(candidates))
    both = np.concatenate(
        [np.concatenate([some.least, some.most], axis=1) for some in (predicates, good)], axis=0
    )
    first = np.sort(np.unique(both, axis=0, return_index=True)[1])
    return Predicates(*np.split(both[first], 2, axis=1))
