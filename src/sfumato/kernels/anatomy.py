"""Group records so that the sensitive values of every group differ (anatomy).

Each group takes one record of each of the ``size`` most frequent remaining values, as Xiao and Tao,
"Anatomy: simple and effective privacy preservation", 2006, propose. If no value has more than
``n_records / size`` records, at most one record of each value is left at the end, and it joins a group
without that value. A heap finds the most frequent values, so grouping costs O(n log v) for n records and
v values.

Where people have several records, `separate_people` then exchanges records with equal values between
groups, which changes no group's values, until nobody is twice in a group or no exchange helps.
"""

from __future__ import annotations

import heapq

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.kernels.row_groups import rows_by_group
from sfumato.runtime.arrays import Integers


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
    remaining = counts.copy()
    group_of = np.full(n_records, -1, np.int64)
    # the most frequent value first; ties go to the lowest value
    heap = [(-remaining[value], value) for value in range(counts.size) if remaining[value] > 0]
    heapq.heapify(heap)
    most_frequent = np.empty(size, np.int64)
    n_groups = 0
    while len(heap) >= size:
        for place in range(size):
            most_frequent[place] = heapq.heappop(heap)[1]
        for chosen_value in most_frequent:
            remaining[chosen_value] -= 1
            group_of[starts[chosen_value] + remaining[chosen_value]] = n_groups
            if remaining[chosen_value] > 0:
                heapq.heappush(heap, (-remaining[chosen_value], int(chosen_value)))
        n_groups += 1
    # the remaining records, at most one of each value, go to groups that lack their value
    has_value = np.zeros(n_groups, np.bool_)
    for value in range(counts.size):
        if remaining[value] == 0:
            continue
        has_value[:] = False
        for record in range(starts[value] + remaining[value], starts[value + 1]):
            has_value[group_of[record]] = True
        group = 0
        while remaining[value] > 0 and group < n_groups:
            if not has_value[group]:
                remaining[value] -= 1
                group_of[starts[value] + remaining[value]] = group
            group += 1
    return starts, group_of


@njit(cache=True)
def separate_people(people: Integers, values: Integers, group_of: Integers, n_people: int) -> int:
    """Exchange records with equal values until nobody is twice in a group.

    Parameters
    ----------
    people, values
        The person and the value of each record.
    group_of
        The group of each record; changed in place. The values of every group stay what they are.

    Returns
    -------
    n_together
        How many records still share their group with another one of the same person.
    """
    by_person, person_starts = rows_by_group(people, n_people)
    by_value, value_starts = rows_by_group(values, values.max() + 1)
    n_together = 0
    for record in range(people.size):
        if not _is_twice(by_person, person_starts, group_of, people[record], group_of[record], record):
            continue
        is_separated = False
        for place in range(value_starts[values[record]], value_starts[values[record] + 1]):
            other = by_value[place]
            here, there = group_of[record], group_of[other]
            # an exchange helps only if neither person is in the other group already
            if (
                here != there
                and not _is_twice(by_person, person_starts, group_of, people[record], there, record)
                and not _is_twice(by_person, person_starts, group_of, people[other], here, other)
            ):
                group_of[record], group_of[other] = there, here
                is_separated = True
                break
        if not is_separated:
            n_together += 1
    return n_together


@njit(cache=True)
def _is_twice(
    by_person: Integers, starts: Integers, group_of: Integers, person: int, group: int, record: int
) -> bool:
    """Return whether a person has another record than this one in a group."""
    for place in range(starts[person], starts[person + 1]):
        if by_person[place] != record and group_of[by_person[place]] == group:
            return True
    return False
