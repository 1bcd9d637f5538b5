"""Split many parts of a table at once: ranges, balanced cuts, and the move of the records.

The records lie part by part in one matrix. A part is the stretch from ``starts[p]`` to ``ends[p]``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sfumato.arrays import Booleans, Codes, Integers


@njit(cache=True)
def ranges(records: Codes, n_columns: int, starts: Integers, ends: Integers) -> tuple[Codes, Codes]:
    """Return the smallest and the largest code of each of the first columns in each part."""
    low = np.empty((starts.size, n_columns), np.int32)
    high = np.empty((starts.size, n_columns), np.int32)
    for part in range(starts.size):
        stretch = records[starts[part] : ends[part]]
        for column in range(n_columns):
            smallest = stretch[0, column]
            largest = smallest
            for row in range(stretch.shape[0]):
                code = stretch[row, column]
                smallest = min(smallest, code)
                largest = max(largest, code)
            low[part, column] = smallest
            high[part, column] = largest
    return low, high


@njit(cache=True)
def balanced_cuts(
    records: Codes,
    weights: Integers,
    starts: Integers,
    ends: Integers,
    column_of: Integers,
    joins: Codes,
    shared: Booleans,
) -> tuple[Codes, Integers]:
    """Return for each part the cut of one column that divides its weight most evenly.

    Parameters
    ----------
    column_of
        The column to cut in each part; it must have at least two different codes there.
    joins
        For each column and code the depth of the boundary before that code. Only the deepest
        boundaries within a part may be cut.
    shared
        For each column whether records at the median may go to either side.

    Returns
    -------
    cuts, quotas
        Codes below the cut go left, and of those at the cut the first ``quota`` records.
    """
    cuts = np.empty(starts.size, np.int32)
    quotas = np.zeros(starts.size, np.int64)
    for part in range(starts.size):
        column = column_of[part]
        stretch = records[starts[part] : ends[part]]
        held = weights[starts[part] : ends[part]]
        keys = np.empty(held.size, np.int64)
        total = 0
        for row in range(held.size):
            keys[row] = np.int64(stretch[row, column]) << 32 | row
            total += held[row]
        keys = np.sort(keys)
        first = keys[0] >> 32
        last = keys[-1] >> 32
        deepest = 0
        for code in range(first + 1, last + 1):
            deepest = max(deepest, joins[column, code])
        if shared[column]:
            cuts[part], quotas[part] = _median(keys, held, total)
        else:
            cuts[part] = _most_even(keys, held, total, joins[column], deepest)
    return cuts, quotas


@njit(cache=True)
def _most_even(keys: Integers, held: Integers, total: int, joins: Codes, deepest: int) -> int:
    left = 0
    best = -1
    best_difference = total + 1
    before = keys[0] >> 32
    for place in range(keys.size):
        code = keys[place] >> 32
        if code != before:
            for boundary in range(before + 1, code + 1):
                if joins[boundary] == deepest:
                    difference = abs(2 * left - total)
                    if difference < best_difference:
                        best_difference = difference
                        best = boundary
                    break
            before = code
        left += held[keys[place] & 0xFFFFFFFF]
    return best


@njit(cache=True)
def _median(keys: Integers, held: Integers, total: int) -> tuple[int, int]:
    wanted = total // 2
    left = 0
    below = 0
    code = keys[0] >> 32
    for place in range(keys.size):
        if keys[place] >> 32 != code:
            code = keys[place] >> 32
            below = left
        left += held[keys[place] & 0xFFFFFFFF]
        if left >= wanted:
            break
    return code, wanted - below


@njit(cache=True)
def sides(
    records: Codes,
    weights: Integers,
    starts: Integers,
    ends: Integers,
    column_of: Integers,
    cuts: Codes,
    quotas: Integers,
) -> tuple[Integers, Integers]:
    """Return the places of all records of the parts, and 2p or 2p + 1 for left or right in part p."""
    size = 0
    for part in range(starts.size):
        size += ends[part] - starts[part]
    places = np.empty(size, np.int64)
    child_of = np.empty(size, np.int64)
    filled = 0
    for part in range(starts.size):
        column = column_of[part]
        quota = quotas[part]
        for place in range(starts[part], ends[part]):
            code = records[place, column]
            right = 1
            if code < cuts[part]:
                right = 0
            elif code == cuts[part] and quota > 0:
                right = 0
                quota -= weights[place]
            places[filled] = place
            child_of[filled] = 2 * part + right
            filled += 1
    return places, child_of


@njit(cache=True)
def divide(
    records: Codes,
    weights: Integers,
    order: Integers,
    starts: Integers,
    ends: Integers,
    child_of: Integers,
    allowed: Booleans,
) -> Integers:
    """Move the records of the allowed parts, left ones first, and return where the right ones begin."""
    middles = starts.copy()
    longest = 0
    for part in range(starts.size):
        longest = max(longest, ends[part] - starts[part])
    kept_records = np.empty((longest, records.shape[1]), np.int32)
    kept_weights = np.empty(longest, np.int64)
    kept_order = np.empty(longest, np.int64)
    base = 0
    for part in range(starts.size):
        size = ends[part] - starts[part]
        if allowed[part]:
            to = starts[part]
            n_right = 0
            for row in range(size):
                place = starts[part] + row
                if child_of[base + row] & 1:
                    kept_records[n_right] = records[place]
                    kept_weights[n_right] = weights[place]
                    kept_order[n_right] = order[place]
                    n_right += 1
                else:
                    records[to] = records[place]
                    weights[to] = weights[place]
                    order[to] = order[place]
                    to += 1
            middles[part] = to
            for row in range(n_right):
                records[to + row] = kept_records[row]
                weights[to + row] = kept_weights[row]
                order[to + row] = kept_order[row]
        base += size
    return middles
