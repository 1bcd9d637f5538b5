"""Split many parts of a table at once: choose columns, balanced or informative cuts, and move the records.

These are the inner loops of Mondrian (LeFevre, DeWitt, Ramakrishnan, "Mondrian multidimensional
k-anonymity" and "Workload-aware anonymization", 2006). The records lie part by part in one matrix, and
part ``p`` is the stretch from ``starts[p]`` to ``ends[p]``.

A part is cut without a look at any other part, so splitting a level of the recursion at a time gives the same
parts as recursion. It keeps the loop compiled and moves every record at most once per level. The kernels only
propose cuts: the caller asks the privacy model, and moves the records of those parts whose cut is allowed.

A level costs O(n) for each column, plus sorting where a part is much smaller than a domain; informative cuts
sort each part by each column.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import INLINED, UNCOUNTED, njit
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers

# Up to this many records are sorted by insertion.
_FEW = 32


@njit(cache=True)
def widest_columns(
    low: Codes, high: Codes, last: Codes, importance: Floats, tries: Integers
) -> tuple[Integers, Booleans]:
    """Return for each part the column to cut next, and whether no column is left.

    Columns are ranked by (range / largest range) * importance, the widest first, ties by their order; a
    column with one code cannot be cut. ``tries`` is the number of columns already tried.
    """
    n_columns = last.size
    column_of = np.zeros(tries.size, np.int64)
    ended = np.ones(tries.size, np.bool_)
    widths = np.empty(n_columns, np.float64)
    for part in range(tries.size):
        for column in range(n_columns):
            difference = high[part, column] - low[part, column]
            # a quotient first, so that equal shares of two domains tie
            widths[column] = difference / last[column] * importance[column] if difference > 0 else -1.0
        for column in range(n_columns):
            if widths[column] < 0:
                continue
            rank = 0
            for other in range(n_columns):
                rank += widths[other] > widths[column] or (widths[other] == widths[column] and other < column)
            if rank == tries[part]:
                column_of[part] = column
                ended[part] = False
                break
    return column_of, ended


@njit(cache=True)
def balanced_cuts(
    records: Codes,
    weights: Integers,
    starts: Integers,
    ends: Integers,
    column_of: Integers,
    low: Codes,
    high: Codes,
    joins: Codes,
    plain: Booleans,
    shared: Booleans,
) -> tuple[Codes, Integers, Integers]:
    """Return for each part the cut of one column that divides its weight most evenly.

    Parameters
    ----------
    column_of
        The column to cut in each part; it must have at least two different codes there.
    low, high
        The range of every column in each part.
    joins
        For each column and code the depth of the boundary before that code. Only the deepest
        boundaries within a part may be cut.
    plain
        For each column whether all its boundaries are equally deep.
    shared
        For each column whether records at the median may go to both sides.

    Returns
    -------
    cuts, quotas, sizes
        Codes below the cut go left, and of those at the cut the first ``quota`` records; the weight
        of the left and the right side, part by part.
    """
    cuts = np.empty(starts.size, np.int32)
    quotas = np.zeros(starts.size, np.int64)
    sizes = np.empty(2 * starts.size, np.int64)
    longest = joins.shape[1]
    histogram = np.zeros(longest, np.int64)
    codes, counts = np.empty(longest, np.int32), np.empty(longest, np.int64)
    for part in range(starts.size):
        column = column_of[part]
        first, last = int(low[part, column]), int(high[part, column])
        begin, end = starts[part], ends[part]
        n_codes = _distinct(records, weights, begin, end, column, first, last, histogram, codes, counts)
        total = 0
        for place in range(n_codes):
            total += counts[place]
        if shared[column]:
            cuts[part], quotas[part] = _median(codes, counts, n_codes, total)
            sizes[2 * part] = total // 2
        else:
            deepest = 1
            if not plain[column]:
                for code in range(first + 1, last + 1):
                    deepest = max(deepest, int(joins[column, code]))
            cuts[part], sizes[2 * part] = _most_even(codes, counts, n_codes, total, joins, column, deepest)
        sizes[2 * part + 1] = total - sizes[2 * part]
    return cuts, quotas, sizes


@njit(cache=True)
def _distinct(
    records: Codes,
    weights: Integers,
    begin: int,
    end: int,
    column: int,
    first: int,
    last: int,
    histogram: Integers,
    codes: Codes,
    counts: Integers,
) -> int:
    """List the distinct codes of a column in a stretch, ascending, with their weights; return how many."""
    if last - first >= 8 * (end - begin):
        # for a few records in a wide domain, sorting is cheaper than scanning the domain
        if end - begin <= _FEW:
            return _distinct_of_few(records, weights, begin, end, column, codes, counts)
        return _distinct_sorted(records, weights, begin, end, column, codes, counts)
    for row in range(begin, end):
        histogram[records[row, column]] += weights[row]
    n_distinct = 0
    for code in range(first, last + 1):
        codes[n_distinct] = code
        counts[n_distinct] = histogram[code]
        n_distinct += histogram[code] > 0
        histogram[code] = 0
    return n_distinct


@njit(cache=True, **UNCOUNTED)
def _distinct_of_few(
    records: Codes, weights: Integers, begin: int, end: int, column: int, codes: Codes, counts: Integers
) -> int:
    """List the distinct codes by insertion sort; see `_distinct`."""
    n_distinct = 0
    for row in range(begin, end):
        code = np.int32(records[row, column])
        place = n_distinct
        while place > 0 and codes[place - 1] > code:
            place -= 1
        if place > 0 and codes[place - 1] == code:
            counts[place - 1] += weights[row]
            continue
        for later in range(n_distinct, place, -1):
            codes[later] = codes[later - 1]
            counts[later] = counts[later - 1]
        codes[place] = code
        counts[place] = weights[row]
        n_distinct += 1
    return n_distinct


@njit(cache=True)
def _distinct_sorted(
    records: Codes, weights: Integers, begin: int, end: int, column: int, codes: Codes, counts: Integers
) -> int:
    """List the distinct codes by sorting; see `_distinct`."""
    keys = np.empty(end - begin, np.int64)
    for row in range(begin, end):
        keys[row - begin] = np.int64(records[row, column]) << 32 | (row - begin)
    keys = np.sort(keys)
    n_distinct = 0
    for key in keys:
        code = key >> 32
        if n_distinct == 0 or codes[n_distinct - 1] != code:
            codes[n_distinct] = code
            counts[n_distinct] = 0
            n_distinct += 1
        counts[n_distinct - 1] += weights[begin + (key & 0xFFFFFFFF)]
    return n_distinct


@njit(cache=True, **INLINED)
def _most_even(
    codes: Codes, counts: Integers, n_codes: int, total: int, joins: Codes, column: int, deepest: int
) -> tuple[int, int]:
    left = 0
    best, best_left = -1, 0
    best_difference = total + 1
    for place in range(1, n_codes):
        left += counts[place - 1]
        difference = abs(2 * left - total)
        if difference < best_difference:
            for boundary in range(codes[place - 1] + 1, codes[place] + 1):
                if joins[column, boundary] == deepest:
                    best, best_left, best_difference = boundary, left, difference
                    break
    return best, best_left


@njit(cache=True, **INLINED)
def _median(codes: Codes, counts: Integers, n_codes: int, total: int) -> tuple[int, int]:
    wanted = total // 2
    below = 0
    for place in range(n_codes):
        if below + counts[place] >= wanted:
            return codes[place], wanted - below
        below += counts[place]
    return codes[n_codes - 1], 0


@njit(cache=True)
def informative_cuts(
    records: Codes,
    weights: Integers,
    starts: Integers,
    ends: Integers,
    low: Codes,
    high: Codes,
    joins: Codes,
    target: int,
    n_targets: int,
    tries: Integers,
) -> tuple[Integers, Codes, Integers, Booleans]:
    """Return for each part the cut that is most informative about a target column.

    The best cut of a column leaves the lowest entropy of the target (the weighted mean over both sides, as in
    "Workload-aware anonymization"); ties go to the most even cut, then to the first. Columns are ranked by
    that entropy, ties by their order; ``tries`` is the number already tried.

    Returns
    -------
    column_of, cuts, sizes, ended
        The column and the cut, the weight of the left and right sides, and whether no column is left.
    """
    n_columns = low.shape[1]
    column_of = np.zeros(starts.size, np.int64)
    cuts = np.zeros(starts.size, np.int32)
    sizes = np.ones(2 * starts.size, np.int64)
    ended = np.ones(starts.size, np.bool_)
    left_counts = np.zeros(n_targets, np.int64)
    right_counts = np.zeros(n_targets, np.int64)
    entropies = np.empty(n_columns, np.float64)
    best_cuts = np.empty(n_columns, np.int32)
    lefts = np.empty(n_columns, np.int64)
    for part in range(starts.size):
        stretch = records[starts[part] : ends[part]]
        held_weights = weights[starts[part] : ends[part]]
        for column in range(n_columns):
            entropies[column] = np.inf
            if high[part, column] > low[part, column]:
                entropies[column], best_cuts[column], lefts[column] = _most_informative(
                    stretch, held_weights, column, target, joins[column], left_counts, right_counts
                )
        for column in range(n_columns):
            if entropies[column] == np.inf:
                continue
            rank = 0
            for other in range(n_columns):
                rank += entropies[other] < entropies[column] or (
                    entropies[other] == entropies[column] and other < column
                )
            if rank == tries[part]:
                column_of[part], cuts[part], ended[part] = column, best_cuts[column], False
                sizes[2 * part], sizes[2 * part + 1] = lefts[column], held_weights.sum() - lefts[column]
                break
    return column_of, cuts, sizes, ended


@njit(cache=True)
def _most_informative(
    stretch: Codes,
    held_weights: Integers,
    column: int,
    target: int,
    joins: Codes,
    left_counts: Integers,
    right_counts: Integers,
) -> tuple[float, int, int]:
    """Return the lowest entropy that a cut leaves, in billionths, the cut, and the weight to its left.

    The part is sorted by the column, and the entropies of both sides are updated record by record.
    """
    n_rows = held_weights.size
    keys = np.empty(n_rows, np.int64)
    left_counts[:] = 0
    right_counts[:] = 0
    total = 0
    for row in range(n_rows):
        keys[row] = np.int64(stretch[row, column]) << 32 | row
        right_counts[stretch[row, target]] += held_weights[row]
        total += held_weights[row]
    keys = np.sort(keys)
    deepest = 1
    for code in range((keys[0] >> 32) + 1, (keys[-1] >> 32) + 1):
        deepest = max(deepest, int(joins[code]))
    # n log n - sum of c log c is the weight of a side times its entropy, kept up to date row by row
    right_sum = 0.0
    for value in range(right_counts.size):
        right_sum += _weighted_log(right_counts[value])
    left_sum = 0.0
    left = 0
    best, best_cut, best_left = np.inf, -1, 0
    for place in range(n_rows):
        code = keys[place] >> 32
        if place > 0 and code != keys[place - 1] >> 32:
            for boundary in range((keys[place - 1] >> 32) + 1, code + 1):
                if joins[boundary] == deepest:
                    entropy = _weighted_log(left) - left_sum + _weighted_log(total - left) - right_sum
                    # whole billionths, so that differences in the order of summing are ties
                    entropy = np.rint(max(entropy, 0.0) / total * 1e9)
                    evener = abs(2 * left - total) < abs(2 * best_left - total)
                    if entropy < best or (entropy == best and evener):
                        best, best_cut, best_left = entropy, boundary, left
                    break
        row = keys[place] & 0xFFFFFFFF
        value = stretch[row, target]
        left_sum += _weighted_log(left_counts[value] + held_weights[row]) - _weighted_log(left_counts[value])
        right_sum += _weighted_log(right_counts[value] - held_weights[row]) - _weighted_log(
            right_counts[value]
        )
        left_counts[value] += held_weights[row]
        right_counts[value] -= held_weights[row]
        left += held_weights[row]
    return best, best_cut, best_left


@njit(cache=True)
def _weighted_log(count: int) -> float:
    return count * np.log(count) if count > 0 else 0.0


@njit(cache=True)
def records_by_side(
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
def move_records(
    records: Codes,
    words: Integers,
    weights: Integers,
    order: Integers,
    starts: Integers,
    ends: Integers,
    column_of: Integers,
    cuts: Codes,
    quotas: Integers,
    allowed: Booleans,
    low: Codes,
    high: Codes,
) -> tuple[Integers, Codes, Codes]:
    """Reorder the records of the allowed parts in place, those of the left side first.

    Both sides keep their order. A part costs one pass over its records, and
    one over each side for its ranges, which stops once a range is known.

    Parameters
    ----------
    words
        The memory of the records, eight bytes at a time.

    Returns
    -------
    middles, low, high
        Where the right side of each part begins, and the ranges of the sides: those of part p in rows
        2p and 2p + 1. A part that is not allowed stays as it is.
    """
    middles = starts.copy()
    side_low = np.empty((2 * starts.size, low.shape[1]), np.int32)
    side_high = np.empty((2 * starts.size, low.shape[1]), np.int32)
    longest = 0
    for part in range(starts.size):
        longest = max(longest, ends[part] - starts[part])
    n_words = words.shape[1]
    kept_words = np.empty((longest, n_words), words.dtype)
    kept_weights = np.empty(longest, weights.dtype)
    kept_order = np.empty(longest, order.dtype)
    for part in range(starts.size):
        if not allowed[part]:
            continue
        column, cut, quota = column_of[part], cuts[part], quotas[part]
        to = starts[part]
        n_right = 0
        for place in range(starts[part], ends[part]):
            code = records[place, column]
            goes_left = code < cut
            if quota > 0 and code == cut:
                goes_left = True
                quota -= weights[place]
            # written to both sides and counted on one: the other copy is overwritten later, and without a
            # branch the processor has nothing to mispredict
            _copy_row(words, place, kept_words, n_right, n_words)
            _copy_row(words, place, words, to, n_words)
            kept_weights[n_right] = weights[place]
            kept_order[n_right] = order[place]
            weights[to] = weights[place]
            order[to] = order[place]
            to += goes_left
            n_right += not goes_left
        middles[part] = to
        # row by row: assigning a whole stretch takes seconds longer to compile and is no faster
        for place in range(n_right):
            _copy_row(kept_words, place, words, to + place, n_words)
            weights[to + place] = kept_weights[place]
            order[to + place] = kept_order[place]
        for side, first, end in ((0, starts[part], to), (1, to, ends[part])):
            for other in range(low.shape[1]):
                outer_low, outer_high = low[part, other], high[part, other]
                if other == column and side == 0:
                    outer_high = np.int32(cut if quotas[part] > 0 else cut - 1)
                elif other == column:
                    outer_low = cut
                child = 2 * part + side
                side_low[child, other], side_high[child, other] = _range_of(
                    records, first, end, other, outer_low, outer_high
                )
    return middles, side_low, side_high


@njit(cache=True, **INLINED)
def _range_of(
    records: Codes, first: int, end: int, column: int, outer_low: int, outer_high: int
) -> tuple[int, int]:
    """Return the range of a column in a stretch; stop as soon as it is as wide as possible."""
    low, high = outer_high, outer_low
    for begin in range(first, end, 128):
        for row in range(begin, min(begin + 128, end)):
            code = int(records[row, column])
            low = min(low, code)
            high = max(high, code)
        if low == outer_low and high == outer_high:
            break
    return low, high


@njit(cache=True, **INLINED)
def _copy_row(words: Integers, place: int, others: Integers, to: int, n_words: int) -> None:
    """Copy a row word by word; most rows have no more than two words."""
    others[to, 0] = words[place, 0]
    if n_words > 1:
        others[to, 1] = words[place, 1]
    for word in range(2, n_words):
        others[to, word] = words[place, word]
