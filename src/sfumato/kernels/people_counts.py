"""Count the people of each group, and the people of each group who have each value.

This is for tables in which people have several rows. All counts rely on rows in the order of their people:
a group has met a person before exactly when that person is the last one it met. Ordering is by counting
sort, so everything but `count_candidates` takes linear time, apart from sorting the values of a group.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.kernels.row_groups import rows_by_group
from sfumato.runtime.arrays import Codes, Floats, Integers


@njit(cache=True)
def people_by_group(group: Integers, n_groups: int, person_of: Integers, n_people: int) -> Integers:
    """Count the different people of each group; rows with a negative group do not count."""
    order, _ = rows_by_group(person_of, n_people)
    return people_in_order(order, group, n_groups, person_of)


@njit(cache=True)
def people_in_order(order: Integers, group: Integers, n_groups: int, person_of: Integers) -> Integers:
    """Count the different people of each group, given the rows in the order of their people."""
    latest = np.full(n_groups, -1, np.int64)
    people = np.zeros(n_groups, np.int64)
    for row in order:
        index = group[row]
        if index >= 0 and latest[index] != person_of[row]:
            latest[index] = person_of[row]
            people[index] += 1
    return people


class ValueTally(NamedTuple):
    """The counts of one group, by value.

    Parameters
    ----------
    n_having, shared, holder
        The number of people who have the value, their contribution to it, and the last of them.
    seen
        The values that occur, in the order in which they do.
    own, mine
        The current person's records by value, and their values.
    """

    n_having: Integers
    shared: Floats
    holder: Integers
    seen: Codes
    own: Integers
    mine: Codes


@njit(cache=True)
def tally_room(n_values: int) -> ValueTally:
    """Return empty room to count the values of a group."""
    return ValueTally(
        np.zeros(n_values, np.int64),
        np.zeros(n_values, np.float64),
        np.empty(n_values, np.int64),
        np.empty(n_values, np.int32),
        np.zeros(n_values, np.int64),
        np.empty(n_values, np.int32),
    )


@njit(cache=True, inline="always")
def count_values_of_people(
    rows: Integers,
    person_of: Integers,
    values: Codes,
    weights: Integers,
    n_having: Integers,
    shared: Floats,
    holder: Integers,
    seen: Codes,
    own: Integers,
    mine: Codes,
) -> tuple[int, int]:
    """Count the values of a group whose rows are in the order of their people, into a `ValueTally`.

    Returns the number of values and of people. The caller must clear ``n_having`` and ``shared`` before the
    next group. A person contributes 1 in all, shared among the values by the person's records.
    """
    n_seen = 0
    n_people = 0
    place = 0
    while place < rows.size:
        person = person_of[rows[place]]
        n_people += 1
        if place + 1 == rows.size or person_of[rows[place + 1]] != person:
            # most people have a single row in a group
            value = values[rows[place]]
            if n_having[value] == 0:
                seen[n_seen] = value
                n_seen += 1
            n_having[value] += 1
            holder[value] = person
            shared[value] += 1.0
            place += 1
            continue
        n_mine = 0
        n_records = 0
        while place < rows.size and person_of[rows[place]] == person:
            value = values[rows[place]]
            if own[value] == 0:
                mine[n_mine] = value
                n_mine += 1
            own[value] += weights[rows[place]]
            n_records += weights[rows[place]]
            place += 1
        for index in range(n_mine):
            value = mine[index]
            if n_having[value] == 0:
                seen[n_seen] = value
                n_seen += 1
            n_having[value] += 1
            holder[value] = person
            shared[value] += 1.0 if n_mine == 1 else own[value] / n_records
            own[value] = 0
    return n_seen, n_people


@njit(cache=True)
def value_people(
    group: Integers,
    n_groups: int,
    person_of: Integers,
    n_people: int,
    values: Codes,
    n_values: int,
    weights: Integers,
) -> tuple[Integers, Codes, Integers, Floats, Integers, Integers]:
    """Count the people of each group who have each value, sparsely; rows with a negative group do not count.

    Returns
    -------
    starts, values
        Where the values of each group start (with the end), and the values that occur, ascending.
    having
        How many people of the group have the value at all.
    contributions
        The contribution of the group's people to the value: each contributes 1, shared among their records in
        the group.
    people
        The number of people of each group.
    different
        The number of different values, where values that only one person has count as one, and at most the
        number of people.
    """
    by_person, _ = rows_by_group(person_of, n_people)
    row_starts = np.zeros(n_groups + 1, np.int64)
    for index in group:
        if index >= 0:
            row_starts[index + 1] += 1
    for index in range(n_groups):
        row_starts[index + 1] += row_starts[index]
    place_of = row_starts[:-1].copy()
    rows = np.empty(row_starts[n_groups], np.int64)
    for row in by_person:
        if group[row] >= 0:
            rows[place_of[group[row]]] = row
            place_of[group[row]] += 1

    starts = np.zeros(n_groups + 1, np.int64)
    group_values = np.empty(rows.size, np.int32)
    having = np.empty(rows.size, np.int64)
    contributions = np.empty(rows.size, np.float64)
    people = np.zeros(n_groups, np.int64)
    different = np.zeros(n_groups, np.int64)
    n_having, shared, holder, seen, own, mine = tally_room(n_values)
    counted = np.full(n_people, -1, np.int64)
    filled = 0
    for index in range(n_groups):
        n_seen, people[index] = count_values_of_people(
            rows[row_starts[index] : row_starts[index + 1]],
            person_of,
            values,
            weights,
            n_having,
            shared,
            holder,
            seen,
            own,
            mine,
        )
        n_different = 0
        for value in np.sort(seen[:n_seen]):
            group_values[filled] = value
            having[filled] = n_having[value]
            contributions[filled] = shared[value]
            filled += 1
            if n_having[value] > 1 or counted[holder[value]] != index:
                n_different += 1
                if n_having[value] == 1:
                    counted[holder[value]] = index
            n_having[value] = 0
            shared[value] = 0.0
        different[index] = min(n_different, people[index])
        starts[index + 1] = filled
    return (
        starts,
        group_values[:filled].copy(),
        having[:filled].copy(),
        contributions[:filled].copy(),
        people,
        different,
    )


@njit(cache=True)
def running_totals(starts: Integers, entries: Floats) -> Floats:
    """Return the running totals of the entries within each group."""
    totals = np.empty(entries.size, np.float64)
    for index in range(starts.size - 1):
        total = 0.0
        for entry in range(starts[index], starts[index + 1]):
            total += entries[entry]
            totals[entry] = total
    return totals


@njit(cache=True)
def count_candidates(
    starts: Integers,
    people: Integers,
    n_records: Integers,
    query_starts: Integers,
    classes: Integers,
    n_known: Integers,
) -> Integers:
    """Count for each query the people with at least the known number of records in each of its classes.

    The candidates come from the smallest class of the query, and a binary search checks each in the others.

    Parameters
    ----------
    starts, people, n_records
        The people of each class, ascending, from ``starts[c]`` to ``starts[c + 1]``, and how many records
        each of them has there.
    query_starts, classes, n_known
        The classes of each query, and how many records are known in each.
    """
    n_candidates = np.zeros(query_starts.size - 1, np.int64)
    for query in range(n_candidates.size):
        first, end = query_starts[query], query_starts[query + 1]
        fewest = first
        for place in range(first + 1, end):
            size = starts[classes[place] + 1] - starts[classes[place]]
            if size < starts[classes[fewest] + 1] - starts[classes[fewest]]:
                fewest = place
        for entry in range(starts[classes[fewest]], starts[classes[fewest] + 1]):
            if n_records[entry] < n_known[fewest]:
                continue
            fits = True
            for place in range(first, end):
                if place == fewest:
                    continue
                low, high = starts[classes[place]], starts[classes[place] + 1]
                at = low + np.searchsorted(people[low:high], people[entry])
                if at == high or people[at] != people[entry] or n_records[at] < n_known[place]:
                    fits = False
                    break
            if fits:
                n_candidates[query] += 1
    return n_candidates
