"""Number equal rows, and count what is in each group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sfumato.arrays import Codes, Integers
from sfumato.kernels.compiling import njit

_LARGEST_KEY = 2**62


def number_rows(columns: Sequence[Codes], cardinalities: Sequence[int], n_rows: int) -> tuple[Integers, int]:
    """Give equal rows equal numbers, 0, 1, 2, … in the order in which they first occur."""
    key: Integers = np.zeros(n_rows, dtype=np.int64)
    span = 1
    for codes, cardinality in zip(columns, cardinalities, strict=True):
        if span * max(cardinality, 1) >= _LARGEST_KEY:
            key, span = _number(key)
        key = key * cardinality + codes
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
    """Number by an open-addressing hash table of at most half load."""
    size = 16
    while size < 2 * key.size:
        size *= 2
    mask = size - 1
    slots = np.full(size, -1, np.int64)
    first = np.empty(key.size, np.int64)
    numbers = np.empty(key.size, np.int64)
    found = 0
    for row in range(key.size):
        mixed = np.uint64(key[row]) * np.uint64(0x9E3779B97F4A7C15)
        slot = np.int64(mixed >> np.uint64(20)) & mask
        while slots[slot] >= 0 and first[slots[slot]] != key[row]:
            slot = (slot + 1) & mask
        if slots[slot] < 0:
            slots[slot] = found
            first[found] = key[row]
            found += 1
        numbers[row] = slots[slot]
    return numbers, found


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
