"""Gather records into groups of k by maximum distance to the average record (MDAV)."""

from __future__ import annotations

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.kernels.compiling import njit

Origin = tuple[Floats, Integers]
"""What distances are taken from: numbers, and the nodes of the categories by level."""


@njit(cache=True)
def mdav(numbers: Floats, nodes: Integers, sizes: Integers, k: int) -> Integers:
    """Return the group of each record; every group has at least k.

    Parameters
    ----------
    numbers
        The numeric attributes of each record, on comparable scales; a missing one is not a number.
    nodes
        For each record, categorical attribute and level of its hierarchy the node.
    sizes
        For each categorical attribute the number of its values and the level of its root.
    k
        The size of the groups but the last.
    """
    n_records = len(numbers)
    left = np.arange(n_records)
    n_left, n_groups = n_records, 0
    group_of = np.zeros(n_records, dtype=np.int64)
    distances = np.empty(n_records)
    while n_left >= 3 * k:
        average = _average(numbers, nodes, sizes, left[:n_left])
        first = _furthest(numbers, nodes, sizes, left[:n_left], average, distances)
        far = _record(numbers, nodes, first)
        other = _record(numbers, nodes, _furthest(numbers, nodes, sizes, left[:n_left], far, distances))
        n_left = _take(distances, left, n_left, k, group_of, n_groups)
        _furthest(numbers, nodes, sizes, left[:n_left], other, distances)
        n_left = _take(distances, left, n_left, k, group_of, n_groups + 1)
        n_groups += 2
    if n_left >= 2 * k:
        average = _average(numbers, nodes, sizes, left[:n_left])
        first = _furthest(numbers, nodes, sizes, left[:n_left], average, distances)
        _furthest(numbers, nodes, sizes, left[:n_left], _record(numbers, nodes, first), distances)
        n_left = _take(distances, left, n_left, k, group_of, n_groups)
        n_groups += 1
    group_of[left[:n_left]] = n_groups
    return group_of


@njit(cache=True)
def _record(numbers: Floats, nodes: Integers, record: int) -> Origin:
    return numbers[record].copy(), nodes[record].copy()


@njit(cache=True)
def _average(numbers: Floats, nodes: Integers, sizes: Integers, records: Integers) -> Origin:
    """Return the mean of the numbers and the commonest categories, with the nodes above them."""
    means = np.full(numbers.shape[1], np.nan)
    for column in range(numbers.shape[1]):
        total, n_known = 0.0, 0
        for record in records:
            if not np.isnan(numbers[record, column]):
                total += numbers[record, column]
                n_known += 1
        if n_known:
            means[column] = total / n_known
    commonest = np.zeros(nodes.shape[1:], dtype=nodes.dtype)
    for column in range(nodes.shape[1]):
        counts = np.zeros(sizes[column, 0], dtype=np.int64)
        for record in records:
            counts[nodes[record, column, 0]] += 1
        mode = counts.argmax()
        for record in records:
            if nodes[record, column, 0] == mode:
                commonest[column] = nodes[record, column]
                break
    return means, commonest


@njit(cache=True)
def _furthest(
    numbers: Floats, nodes: Integers, sizes: Integers, records: Integers, origin: Origin, distances: Floats
) -> int:
    """Write how far each record lies from the origin; return the furthest."""
    means, above = origin
    furthest, most = records[0], -1.0
    for place, record in enumerate(records):
        total = 0.0
        for column in range(numbers.shape[1]):
            one, two = numbers[record, column], means[column]
            if np.isnan(one) or np.isnan(two):
                total += 0.0 if np.isnan(one) and np.isnan(two) else 1.0
            else:
                total += (one - two) ** 2
        for column in range(nodes.shape[1]):
            level, height = 0, sizes[column, 1]
            while level < height and nodes[record, column, level] != above[column, level]:
                level += 1
            total += (level / height) ** 2
        distances[place] = total
        if total > most:
            furthest, most = record, total
    return int(furthest)


@njit(cache=True)
def _take(distances: Floats, left: Integers, n_left: int, k: int, group_of: Integers, group: int) -> int:
    """Put the k nearest of those who are left into a group; return how many are left then."""
    limit = np.partition(distances[:n_left], k - 1)[k - 1]
    n_below = 0
    for place in range(n_left):
        if distances[place] < limit:
            n_below += 1
    n_equal, n_kept = k - n_below, 0
    for place in range(n_left):
        record = left[place]
        if distances[place] < limit or (distances[place] == limit and n_equal > 0):
            if distances[place] == limit:
                n_equal -= 1
            group_of[record] = group
        else:
            left[n_kept] = record
            n_kept += 1
    return n_kept
