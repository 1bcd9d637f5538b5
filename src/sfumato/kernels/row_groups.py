"""Number equal rows, and count the contents of each group.

Rows are numbered through one integer key per row. Few possible keys use an array, more keys a hash table
that fits into the processor's cache, and even more keys are first distributed to buckets that each get such
a table. All of it takes linear time, and the numbers follow the order of first occurrence whichever way is
taken.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Codes, Integers

_LARGEST_KEY = 2**62
_CACHED_KEYS = 2**16
"""The number of different keys whose hash table fits into the processor's cache."""
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
    n_numbers = 0
    for row in range(key.size):
        number = number_of[key[row]]
        if number < 0:
            number = n_numbers
            number_of[key[row]] = n_numbers
            n_numbers += 1
        numbers[row] = number
    return numbers, n_numbers


@njit(cache=True)
def _number(key: Integers) -> tuple[Integers, int]:
    """Number keys by a hash table in the processor's cache, or bucket by bucket if there are too many."""
    numbers = np.empty(key.size, np.int64)
    slots = np.full(2 * _CACHED_KEYS, -1, np.int32)
    first = np.empty(_CACHED_KEYS, np.int64)
    n_numbers = 0
    for row in range(key.size):
        slot = _hashed(key[row]) & (slots.size - 1)
        while slots[slot] >= 0 and first[slots[slot]] != key[row]:
            slot = (slot + 1) & (slots.size - 1)
        if slots[slot] < 0:
            if n_numbers == _CACHED_KEYS:
                return _number_by_bucket(key, numbers)
            slots[slot] = n_numbers
            first[n_numbers] = key[row]
            n_numbers += 1
        numbers[row] = slots[slot]
    return numbers, n_numbers


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
            slot = _hashed(own[place]) & (size - 1)
            while slots[slot] >= 0 and own[slots[slot]] != own[place]:
                slot = (slot + 1) & (size - 1)
            if slots[slot] < 0:
                slots[slot] = place
            numbers[row_of[place]] = row_of[slots[slot]]
    n_numbers = 0
    for row in range(key.size):
        if numbers[row] == row:
            numbers[row] = n_numbers
            n_numbers += 1
        else:
            numbers[row] = numbers[numbers[row]]
    return numbers, n_numbers


@njit(cache=True)
def _buckets(key: Integers) -> tuple[Integers, Integers, Integers]:
    """Distribute keys and rows to buckets, in order; return starts (with the end), keys and rows."""
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
def _hashed(key: int) -> np.int64:
    return np.int64((np.uint64(key) * _GOLDEN) >> np.uint64(20))


@njit(cache=True)
def sum_by_group(group: Integers, n_groups: int, weights: Integers) -> Integers:
    """Return the sum of the weights of each group."""
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
    """Sort the first ``n_values`` values in place, by insertion if they are few."""
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
    """Count the values of each group, sparsely; return starts (with the end), values ascending, counts.

    Only values that occur in a group are listed, so the result is never longer than the rows.
    """
    # copy values and weights group by group first, because the rows of a group are far apart in memory
    row_starts = np.zeros(n_groups + 1, np.int64)
    for row in range(group.size):
        row_starts[group[row] + 1] += 1
    for index in range(n_groups):
        row_starts[index + 1] += row_starts[index]
    next_place = row_starts[:-1].copy()
    pairs = np.empty((group.size, 2), np.int64)
    for row in range(group.size):
        place = next_place[group[row]]
        next_place[group[row]] += 1
        pairs[place, 0] = values[row]
        pairs[place, 1] = weights[row]
    starts = np.zeros(n_groups + 1, np.int64)
    values_of_groups = np.empty(group.size, np.int32)
    counts_of_groups = np.empty(group.size, np.int64)
    scratch = np.full(n_values, -1, np.int64)
    group_values = np.empty(n_values, np.int32)
    filled = 0
    for index in range(n_groups):
        n_group_values = 0
        for place in range(row_starts[index], row_starts[index + 1]):
            value = pairs[place, 0]
            if scratch[value] < 0:
                scratch[value] = 0
                group_values[n_group_values] = value
                n_group_values += 1
            scratch[value] += pairs[place, 1]
        _sort(group_values, n_group_values)
        for value in group_values[:n_group_values]:
            values_of_groups[filled] = value
            counts_of_groups[filled] = scratch[value]
            scratch[value] = -1
            filled += 1
        starts[index + 1] = filled
    return starts, values_of_groups[:filled].copy(), counts_of_groups[:filled].copy()
