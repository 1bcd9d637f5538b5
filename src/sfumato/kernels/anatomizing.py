"""Anatomy's grouping: take one record each of the most frequent values, again and again."""

from __future__ import annotations

import heapq

import numpy as np

from sfumato.arrays import Integers
from sfumato.kernels.compiling import njit


@njit(cache=True)
def diverse_groups(counts: Integers, size: int, n_records: int) -> tuple[Integers, Integers]:
    """Number the records so that no value occurs twice in a group.

    Parameters
    ----------
    counts
        How many records have each value.
    size
        The number of different values that every group must have. No count may exceed
        ``n_records / size``.
    n_records
        The sum of the counts.

    Returns
    -------
    starts, group_of
        The records of value ``v`` are numbered from ``starts[v]``; their groups.
    """
    starts = np.zeros(counts.size + 1, np.int64)
    for value in range(counts.size):
        starts[value + 1] = starts[value] + counts[value]
    left = counts.copy()
    group_of = np.full(n_records, -1, np.int64)
    # the most frequent value first, of equals the first
    waiting = [(-left[value], value) for value in range(counts.size) if left[value] > 0]
    heapq.heapify(waiting)
    taken = np.empty(size, np.int64)
    n_groups = 0
    while len(waiting) >= size:
        for place in range(size):
            taken[place] = heapq.heappop(waiting)[1]
        for chosen in taken:
            left[chosen] -= 1
            group_of[starts[chosen] + left[chosen]] = n_groups
            if left[chosen] > 0:
                heapq.heappush(waiting, (-left[chosen], int(chosen)))
        n_groups += 1
    # the left-over records, at most one of each value, go to groups that lack their value
    holds = np.zeros(n_groups, np.bool_)
    for value in range(counts.size):
        if left[value] == 0:
            continue
        holds[:] = False
        for record in range(starts[value] + left[value], starts[value + 1]):
            holds[group_of[record]] = True
        group = 0
        while left[value] > 0 and group < n_groups:
            if not holds[group]:
                left[value] -= 1
                group_of[starts[value] + left[value]] = group
            group += 1
    return starts, group_of
