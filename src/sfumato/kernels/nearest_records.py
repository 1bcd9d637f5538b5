"""Compare people with all released rows: find the nearest rows, densities, and rows that fit a predicate.

Distances add up over the columns. ``far`` holds the distance between each person and each label (a released
value; the labels of all columns are numbered consecutively), so the distance to a row is the sum of one
entry per column. Every person is compared with every row, which costs people x rows x columns. Only
`count_within` needs no distances: a binary search in the most selective column narrows the rows first. That
misses nobody, because a row within the bounds begins within them in every column.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Codes, Floats, Integers

Distances = npt.NDArray[np.float32]

_TIE = 1e-5
"""Distances that differ by less count as equal, because they are added up in single precision."""


@njit(cache=True)
def _fill_distances(far: Distances, rows: Codes, distances: Distances) -> float:
    """Compute the distance of each row from one person, and return the lowest."""
    n_rows, n_columns = rows.shape
    least = np.float32(np.inf)
    for row in range(n_rows):
        total = np.float32(0.0)
        for column in range(n_columns):
            total += far[rows[row, column]]
        distances[row] = total
        least = min(least, total)
    return float(least)


@njit(cache=True)
def nearest_rows(far: Distances, rows: Codes) -> tuple[Floats, Integers]:
    """Return for each person the lowest distance, and the first row at that distance.

    Parameters
    ----------
    far
        The distance between each person and each label.
    rows
        For each row and column its label.
    """
    least = np.empty(len(far), np.float64)
    first = np.zeros(len(far), np.int64)
    distances = np.empty(len(rows), np.float32)
    for person in range(len(far)):
        least[person] = _fill_distances(far[person], rows, distances)
        while distances[first[person]] > least[person] + _TIE:
            first[person] += 1
    return least, first


@njit(cache=True)
def nearest_votes(
    far: Distances, rows: Codes, starts: Integers, values: Integers, weights: Floats, n_values: int
) -> Floats:
    """Return for each person the weight that the nearest rows give to each value.

    Parameters
    ----------
    far, rows
        As of `nearest_rows`.
    starts, values, weights
        Row ``i`` gives ``weights[starts[i]:starts[i + 1]]`` to ``values[starts[i]:starts[i + 1]]``.
    n_values
        How many values there are.
    """
    votes = np.zeros((len(far), n_values), np.float64)
    distances = np.empty(len(rows), np.float32)
    for person in range(len(far)):
        limit = _fill_distances(far[person], rows, distances) + _TIE
        for row in range(len(rows)):
            if distances[row] <= limit:
                for entry in range(starts[row], starts[row + 1]):
                    votes[person, values[entry]] += weights[entry]
    return votes


@njit(cache=True)
def draw_nearest(far: Distances, rows: Codes, first_record: Integers, drawn: Floats) -> Integers:
    """Return for each person some of the nearest records; ties are broken at random.

    Parameters
    ----------
    far, rows
        As of `nearest_rows`.
    first_record
        Row ``i`` stands for the records from ``first_record[i]`` up to ``first_record[i + 1]``.
    drawn
        For each person as many numbers in [0, 1) as records are wanted, to break ties.
    """
    n_rows, n_wanted = len(rows), drawn.shape[1]
    drawn_records = np.empty((len(far), n_wanted), np.int64)
    distances = np.empty(n_rows, np.float32)
    remaining = np.empty(n_rows, np.int64)
    for person in range(len(far)):
        least = _fill_distances(far[person], rows, distances)
        remaining[:] = np.diff(first_record)
        for wanted in range(n_wanted):
            if wanted > 0:
                least = np.inf
                for row in range(n_rows):
                    if remaining[row] > 0:
                        least = min(least, float(distances[row]))
            total = 0
            for row in range(n_rows):
                if remaining[row] > 0 and distances[row] <= least + _TIE:
                    total += remaining[row]
            place = int(drawn[person, wanted] * total)
            row = 0
            while True:
                if remaining[row] > 0 and distances[row] <= least + _TIE:
                    if place < remaining[row]:
                        break
                    place -= remaining[row]
                row += 1
            remaining[row] -= 1
            drawn_records[person, wanted] = first_record[row] + place
    return drawn_records


@njit(cache=True)
def densities(far: Distances, rows: Codes, weights: Floats, width: float) -> Floats:
    """Return for each person the weight of the rows nearby, which falls exponentially with distance.

    Parameters
    ----------
    far, rows
        As of `nearest_rows`.
    weights
        The weight of each row.
    width
        At this distance a row counts 1 / e of its weight.
    """
    density = np.zeros(len(far), np.float64)
    distances = np.empty(len(rows), np.float32)
    for person in range(len(far)):
        _fill_distances(far[person], rows, distances)
        for row in range(len(rows)):
            if distances[row] < 30 * width:
                density[person] += weights[row] * math.exp(-distances[row] / width)
    return density


@njit(cache=True)
def count_within(
    low: Floats,
    high: Floats,
    weights: Integers,
    person_of: Integers,
    orders: Integers,
    least: Floats,
    most: Floats,
    enough: int,
) -> Integers:
    """Return for each predicate how many people have a row within its bounds in every column.

    Rows are taken from the column in which the fewest begin within the bounds, then checked in all columns.

    Parameters
    ----------
    low, high
        For each row and column the ends of its range.
    weights
        How many people each row stands for.
    person_of
        The person of each row, ascending, where people have several rows and count once; else empty.
    orders
        For each column its rows by their low ends.
    least, most
        For each predicate and column the bounds; infinite ones bind nothing.
    enough
        The count at which the search stops.
    """
    n_rows, n_columns = low.shape
    counts = np.zeros(len(least), np.int64)
    for predicate in range(len(least)):
        begin, end, column_used = 0, n_rows, -1
        if len(person_of) == 0:
            for column in range(n_columns):
                first = _first_from(low, orders, column, least[predicate, column], False)
                last = _first_from(low, orders, column, most[predicate, column], True)
                if last - first < end - begin:
                    begin, end, column_used = first, last, column
        previous = -1
        for place in range(begin, end):
            row = place if column_used < 0 else orders[column_used, place]
            column = 0
            while (
                column < n_columns
                and (low[row, column] >= least[predicate, column] or least[predicate, column] == -np.inf)
                and (high[row, column] <= most[predicate, column] or most[predicate, column] == np.inf)
            ):
                column += 1
            if column < n_columns:
                continue
            if len(person_of) == 0:
                counts[predicate] += weights[row]
            elif person_of[row] != previous:
                counts[predicate] += 1
                previous = person_of[row]
            if counts[predicate] >= enough:
                break
    return counts


@njit(cache=True)
def _first_from(low: Floats, orders: Integers, column: int, bound: float, beyond: bool) -> int:
    """Return the first place, by low ends, that reaches the bound (or exceeds it); NaN comes last."""
    if bound == -np.inf:
        return 0
    if bound == np.inf:
        return orders.shape[1]
    begin, end = 0, orders.shape[1]
    while begin < end:
        middle = (begin + end) // 2
        value = low[orders[column, middle], column]
        if value < bound or (beyond and value == bound):
            begin = middle + 1
        else:
            end = middle
    return begin
