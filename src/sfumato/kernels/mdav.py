"""Gather records into groups of k by maximum distance to the average record (MDAV).

Each round finds the record that is furthest from the average record, then the record furthest from that
one, and groups each of the two with its k - 1 nearest remaining records (Domingo-Ferrer, Torra, "Ordinal,
continuous and heterogeneous k-anonymity through microaggregation", 2005). Fewer than 2k records at the end
make the last group, so every group has at least k. A round looks at all remaining records three times,
about n² / k distances in all; a heap of size k finds the nearest without sorting.
"""

from __future__ import annotations

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Floats, Integers

Origin = tuple[Floats, Integers]
"""The point that distances are measured from: numbers, and the value of each category."""


@njit(cache=True)
def mdav(numbers: Floats, values: Integers, nodes: Integers, heights: Integers, k: int) -> Integers:
    """Return the group of each record; every group has at least k.

    Parameters
    ----------
    numbers
        The numeric attributes of each record, on comparable scales; a missing one is not a number.
    values
        The categorical attributes of each record.
    nodes
        For each categorical attribute, level of its hierarchy and value the node.
    heights
        For each categorical attribute the level of its root.
    k
        The size of all groups but the last, which may have up to 2k - 1.
    """
    n_records = len(numbers)
    remaining = np.arange(n_records)
    n_remaining, n_groups = n_records, 0
    group_of = np.zeros(n_records, dtype=np.int64)
    distances, nearest = np.empty(n_records), np.empty(k)
    counts = _counts(values, nodes.shape[2])
    while n_remaining >= 3 * k:
        average = _average(numbers, counts, remaining[:n_remaining])
        first = _furthest(
            numbers, values, nodes, heights, remaining[:n_remaining], average, distances, nearest[:0]
        )
        far = numbers[first], values[first]
        second = _furthest(numbers, values, nodes, heights, remaining[:n_remaining], far, distances, nearest)
        other = numbers[second], values[second]
        n_remaining = _take_nearest(
            distances, nearest[0], remaining, n_remaining, k, group_of, n_groups, values, counts
        )
        _furthest(numbers, values, nodes, heights, remaining[:n_remaining], other, distances, nearest)
        n_remaining = _take_nearest(
            distances, nearest[0], remaining, n_remaining, k, group_of, n_groups + 1, values, counts
        )
        n_groups += 2
    if n_remaining >= 2 * k:
        average = _average(numbers, counts, remaining[:n_remaining])
        first = _furthest(
            numbers, values, nodes, heights, remaining[:n_remaining], average, distances, nearest[:0]
        )
        far = numbers[first], values[first]
        _furthest(numbers, values, nodes, heights, remaining[:n_remaining], far, distances, nearest)
        n_remaining = _take_nearest(
            distances, nearest[0], remaining, n_remaining, k, group_of, n_groups, values, counts
        )
        n_groups += 1
    group_of[remaining[:n_remaining]] = n_groups
    return group_of


@njit(cache=True)
def _counts(values: Integers, most: int) -> Integers:
    """Return how many records have each value of each categorical attribute."""
    counts = np.zeros((values.shape[1], most), dtype=np.int64)
    for record in range(len(values)):
        for column in range(values.shape[1]):
            counts[column, values[record, column]] += 1
    return counts


@njit(cache=True)
def _average(numbers: Floats, counts: Integers, records: Integers) -> Origin:
    """Return the mean of the numbers and the commonest categories."""
    means = np.full(numbers.shape[1], np.nan)
    for column in range(numbers.shape[1]):
        total, n_known = 0.0, 0
        for record in records:
            if not np.isnan(numbers[record, column]):
                total += numbers[record, column]
                n_known += 1
        if n_known:
            means[column] = total / n_known
    commonest = np.zeros(len(counts), dtype=np.int64)
    for column in range(len(counts)):
        commonest[column] = counts[column].argmax()
    return means, commonest


@njit(cache=True)
def _furthest(
    numbers: Floats,
    values: Integers,
    nodes: Integers,
    heights: Integers,
    records: Integers,
    origin: Origin,
    distances: Floats,
    nearest: Floats,
) -> int:
    """Write the distance of each record to ``distances``, and the lowest into the heap ``nearest``.

    Return the furthest record.
    """
    means, _ = origin
    steps = _steps(nodes, heights, origin)
    furthest, most = records[0], -1.0
    nearest[:] = np.inf
    for place, record in enumerate(records):
        total = 0.0
        for column in range(numbers.shape[1]):
            value, mean = numbers[record, column], means[column]
            if np.isnan(value) or np.isnan(mean):
                total += 0.0 if np.isnan(value) and np.isnan(mean) else 1.0
            else:
                total += (value - mean) ** 2
        for column in range(values.shape[1]):
            total += steps[column, values[record, column]]
        distances[place] = total
        if total > most:
            furthest, most = record, total
        if len(nearest) and total < nearest[0]:
            _replace_largest(nearest, total)
    return int(furthest)


@njit(cache=True)
def _steps(nodes: Integers, heights: Integers, origin: Origin) -> Floats:
    """Return for each value its squared distance from the origin: (levels to a shared node / height)²."""
    _, origin_values = origin
    steps = np.zeros((nodes.shape[0], nodes.shape[2]))
    for column in range(nodes.shape[0]):
        height = heights[column]
        for value in range(nodes.shape[2]):
            level = 0
            while (
                level < height and nodes[column, level, value] != nodes[column, level, origin_values[column]]
            ):
                level += 1
            steps[column, value] = (level / height) ** 2
    return steps


@njit(cache=True)
def _replace_largest(heap: Floats, distance: float) -> None:
    """Replace the largest distance of a heap, which is its first."""
    place = 0
    while 2 * place + 1 < len(heap):
        below = 2 * place + 1
        if below + 1 < len(heap) and heap[below + 1] > heap[below]:
            below += 1
        if heap[below] <= distance:
            break
        heap[place] = heap[below]
        place = below
    heap[place] = distance


@njit(cache=True)
def _take_nearest(
    distances: Floats,
    limit: float,
    remaining: Integers,
    n_remaining: int,
    k: int,
    group_of: Integers,
    group: int,
    values: Integers,
    counts: Integers,
) -> int:
    """Move the k nearest remaining records into a group; return how many remain."""
    n_below = 0
    for place in range(n_remaining):
        if distances[place] < limit:
            n_below += 1
    n_equal, n_kept = k - n_below, 0
    for place in range(n_remaining):
        record = remaining[place]
        if distances[place] < limit or (distances[place] == limit and n_equal > 0):
            if distances[place] == limit:
                n_equal -= 1
            group_of[record] = group
            for column in range(values.shape[1]):
                counts[column, values[record, column]] -= 1
        else:
            remaining[n_kept] = record
            n_kept += 1
    return n_kept
