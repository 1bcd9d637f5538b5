"""Number equal rows, and count what is in each group."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Codes, Integers

_LARGEST_KEY = 2**62
_NEAR = 2**16
"""So many different keys fit into a hash table that stays near the processor."""
_BUCKETS = 2**7
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def number_rows(columns: Iterable[Codes], cardinalities: Iterable[int], n_rows: int) -> tuple[Integers, int]:
    """Give equal rows equal numbers, 0, 1, 2, … in the order in which they first occur."""
    key: Integers = np.zeros(n_rows, dtype=np.int64)
    span = 1
    for codes, cardinality in zip(columns, cardinalities, strict=True):
        if span * max(cardinality, 1) >= _LARGEST_KEY:
            key, span = _number(key)
        key *= cardinality
        key += codes
        span *= max(cardinality, 1)
    if span <= max(4 * n_rows, 1024):
        return _number_dense(key, span)
    return _number(key)


@njit(cache=True)
def _number_dense(key: Integers, span: int) -> tuple[Integers, int]:
    number_of = np.full(span, -1, np.int64)
    numbers = np.empty(key.size, np.int64)
    found = 0
    for row in range(key.size):
        number = number_of[key[row]]
        if number < 0:
            number = found
            number_of[key[row]] = found
            found += 1
        numbers[row] = number
    return numbers, found


@njit(cache=True)
def _number(key: Integers) -> tuple[Integers, int]:
    """Number by a hash table near the processor; where there are too many keys for it, bucket by bucket."""
    numbers = np.empty(key.size, np.int64)
    slots = np.full(2 * _NEAR, -1, np.int32)
    first = np.empty(_NEAR, np.int64)
    found = 0
    for row in range(key.size):
        slot = _mixed(key[row]) & (slots.size - 1)
        while slots[slot] >= 0 and first[slots[slot]] != key[row]:
            slot = (slot + 1) & (slots.size - 1)
        if slots[slot] < 0:
            if found == _NEAR:
                return _number_by_bucket(key, numbers)
            slots[slot] = found
            first[found] = key[row]
            found += 1
        numbers[row] = slots[slot]
    return numbers, found


@njit(cache=True)
def _number_by_bucket(key: Integers, numbers: Integers) -> tuple[Integers, int]:
    """Number many keys: each bucket has a small hash table, which finds the first row with each key."""
    starts, keys, rows = _buckets(key)
    size = 16
    while size < 2 * np.max(np.diff(starts)):
        size *= 2
    slots = np.empty(size, np.int32)
    for bucket in range(starts.size - 1):
        slots[:] = -1
        own, row_of = keys[starts[bucket] : starts[bucket + 1]], rows[starts[bucket] : starts[bucket + 1]]
        for place in range(own.size):
            slot = _mixed(own[place]) & (size - 1)
            while slots[slot] >= 0 and own[slots[slot]] != own[place]:
                slot = (slot + 1) & (size - 1)
            if slots[slot] < 0:
                slots[slot] = place
            numbers[row_of[place]] = row_of[slots[slot]]
    found = 0
    for row in range(key.size):
        if numbers[row] == row:
            numbers[row] = found
            found += 1
        else:
            numbers[row] = numbers[numbers[row]]
    return numbers, found


@njit(cache=True)
def _buckets(key: Integers) -> tuple[Integers, Integers, Integers]:
    """Put the keys and their rows into buckets, in order: where each starts (with the end), keys, rows."""
    starts = np.zeros(_BUCKETS + 1, np.int64)
    for row in range(key.size):
        starts[_bucket(key[row]) + 1] += 1
    for bucket in range(_BUCKETS):
        starts[bucket + 1] += starts[bucket]
    next_place = starts[:-1].copy()
    keys = np.empty(key.size, np.int64)
    rows = np.empty(key.size, np.uint32)
    for row in range(key.size):
        own = _bucket(key[row])
        keys[next_place[own]] = key[row]
        rows[next_place[own]] = row
        next_place[own] += 1
    return starts, keys, rows


@njit(cache=True)
def _bucket(key: int) -> np.int64:
    return np.int64((np.uint64(key) * _GOLDEN) >> np.uint64(57))


@njit(cache=True)
def _mixed(key: int) -> np.int64:
    return np.int64((np.uint64(key) * _GOLDEN) >> np.uint64(20))


@njit(cache=True)
def sum_by_group(group: Integers, n_groups: int, weights: Integers) -> Integers:
    """Add up the weights of each group."""
    totals = np.zeros(n_groups, np.int64)
    for row in range(group.size):
        totals[group[row]] += weights[row]
    return totals


@njit(cache=True)
def first_row_of_group(group: Integers, n_groups: int) -> Integers:
    """Return the first row of each group."""
    first = np.full(n_groups, -1, np.int64)
    for row in range(group.size):
        if first[group[row]] < 0:
            first[group[row]] = row
    return first


@njit(cache=True)
def rows_by_group(group: Integers, n_groups: int) -> tuple[Integers, Integers]:
    """Return the rows sorted by group (stable), and where each group starts, with the end appended."""
    starts = np.zeros(n_groups + 1, np.int64)
    for row in range(group.size):
        starts[group[row] + 1] += 1
    for index in range(n_groups):
        starts[index + 1] += starts[index]
    place = starts[:-1].copy()
    rows = np.empty(group.size, np.int64)
    for row in range(group.size):
        rows[place[group[row]]] = row
        place[group[row]] += 1
    return rows, starts


@njit(cache=True)
def _sort(values: Codes, n_values: int) -> None:
    """Sort the first so many values in place; few of them by inserting each."""
    if n_values > 32:
        values[:n_values] = np.sort(values[:n_values])
        return
    for place in range(1, n_values):
        value = values[place]
        before = place - 1
        while before >= 0 and values[before] > value:
            values[before + 1] = values[before]
            before -= 1
        values[before + 1] = value


@njit(cache=True)
def value_counts(
    group: Integers, n_groups: int, values: Codes, n_values: int, weights: Integers
) -> tuple[Integers, Codes, Integers]:
    """Count the values of each group, sparsely: starts (with the end), values ascending, counts.

    Only values that occur in a group are listed, so the result is never longer than the rows.
    """
    # values and weights side by side, group after group: rows of a group lie far apart
    row_starts = np.zeros(n_groups + 1, np.int64)
    for row in range(group.size):
        row_starts[group[row] + 1] += 1
    for index in range(n_groups):
        row_starts[index + 1] += row_starts[index]
    next_place = row_starts[:-1].copy()
    told = np.empty((group.size, 2), np.int64)
    for row in range(group.size):
        place = next_place[group[row]]
        next_place[group[row]] += 1
        told[place, 0] = values[row]
        told[place, 1] = weights[row]
    starts = np.zeros(n_groups + 1, np.int64)
    found_values = np.empty(group.size, np.int32)
    found_counts = np.empty(group.size, np.int64)
    scratch = np.full(n_values, -1, np.int64)
    seen = np.empty(n_values, np.int32)
    filled = 0
    for index in range(n_groups):
        n_seen = 0
        for place in range(row_starts[index], row_starts[index + 1]):
            value = told[place, 0]
            if scratch[value] < 0:
                scratch[value] = 0
                seen[n_seen] = value
                n_seen += 1
            scratch[value] += told[place, 1]
        _sort(seen, n_seen)
        for value in seen[:n_seen]:
            found_values[filled] = value
            found_counts[filled] = scratch[value]
            scratch[value] = -1
            filled += 1
        starts[index + 1] = filled
    return starts, found_values[:filled].copy(), found_counts[:filled].copy()
