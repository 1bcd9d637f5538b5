"""Count the people of each group, and the people of each group who have each value.

This is for tables in which people have several rows. All counts rely on rows in the order of their people:
a group has met a person before exactly when that person is the last one it met. Ordering is by counting
sort, so everything but `count_candidates` takes linear time, apart from sorting the values of a group.

`count_values_of_people` and `count_different` are the only place where the people who have a value are
counted. They are inlined, so that a caller pays nothing for them (`lattice_nodes_people`, `value_people`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.kernels.compilation import INLINED, njit
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
    """Room to count the values of one group.

    Parameters
    ----------
    holder
        For each value the last person who has it.
    occurring
        The values that occur, in the order in which they do.
    records_by_value, values_of_person
        The current person's records by value, all 0 between people, and the values that they have.
    """

    holder: Integers
    occurring: Codes
    records_by_value: Integers
    values_of_person: Codes


@njit(cache=True)
def tally_room(n_values: int) -> ValueTally:
    """Return empty room to count the values of a group."""
    return ValueTally(
        np.empty(n_values, np.int64),
        np.empty(n_values, np.int32),
        np.zeros(n_values, np.int64),
        np.empty(n_values, np.int32),
    )


@njit(cache=True, **INLINED)
def count_values_of_people(
    first: int,
    end: int,
    people: Integers,
    values: Codes,
    weights: Integers,
    line: int,
    having: Codes,
    contributions: Floats,
    tally: ValueTally,
) -> tuple[int, int]:
    """Count the values of one group, whose rows from first to end are in the order of their people.

    A person contributes 1 in all, shared among the values by the person's records in the group.

    Parameters
    ----------
    people, values, weights
        The person, the value and the records of every row.
    line, having, contributions
        Filled in this line, which must be 0, by value: how many people have it at all, and what they
        contribute.
    tally
        Room; the values that occur are the first of its ``occurring``.

    Returns
    -------
    n_occurring, n_people
        The number of values that occur, and of people.
    """
    holder, occurring, records_by_value, values_of_person = tally
    n_occurring, n_people = 0, 0
    row = first
    while row < end:
        person = people[row]
        n_people += 1
        n_held, n_records = 0, 0
        # most people have a single row in a group: it need not be shared among values
        if row + 1 == end or people[row + 1] != person:
            values_of_person[0], n_held = values[row], 1
            row += 1
        while row < end and people[row] == person:
            value = values[row]
            if records_by_value[value] == 0:
                values_of_person[n_held] = value
                n_held += 1
            records_by_value[value] += weights[row]
            n_records += weights[row]
            row += 1
        for place in range(n_held):
            value = values_of_person[place]
            if having[line, value] == 0:
                occurring[n_occurring] = value
                n_occurring += 1
            having[line, value] += 1
            holder[value] = person
            contributions[line, value] += 1.0 if n_held == 1 else records_by_value[value] / n_records
            records_by_value[value] = 0
    return n_occurring, n_people


@njit(cache=True, **INLINED)
def count_different(
    n_occurring: int, group: int, line: int, having: Codes, tally: ValueTally, counted: Integers
) -> int:
    """Count the different values of a group, where those that only one and the same person has are one.

    ``counted`` holds for each person the last group in which such values were counted for that person.
    """
    holder, occurring = tally.holder, tally.occurring
    n_different = 0
    for place in range(n_occurring):
        value = occurring[place]
        if having[line, value] > 1 or counted[holder[value]] != group:
            n_different += 1
            if having[line, value] == 1:
                counted[holder[value]] = group
    return n_different


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
    # copied group by group, because the rows of a group are far apart in memory
    next_place = row_starts[:-1].copy()
    n_rows = row_starts[n_groups]
    member_people = np.empty(n_rows, np.int64)
    member_values = np.empty(n_rows, np.int32)
    member_weights = np.empty(n_rows, np.int64)
    for row in by_person:
        if group[row] >= 0:
            place = next_place[group[row]]
            next_place[group[row]] += 1
            member_people[place] = person_of[row]
            member_values[place] = values[row]
            member_weights[place] = weights[row]
    starts = np.zeros(n_groups + 1, np.int64)
    group_values = np.empty(n_rows, np.int32)
    having = np.empty(n_rows, np.int64)
    contributions = np.empty(n_rows, np.float64)
    people = np.zeros(n_groups, np.int64)
    different = np.zeros(n_groups, np.int64)
    n_having = np.zeros((1, n_values), np.int32)
    shared = np.zeros((1, n_values), np.float64)
    tally = tally_room(n_values)
    counted = np.full(n_people, -1, np.int64)
    filled = 0
    for index in range(n_groups):
        n_occurring, people[index] = count_values_of_people(
            row_starts[index],
            row_starts[index + 1],
            member_people,
            member_values,
            member_weights,
            0,
            n_having,
            shared,
            tally,
        )
        n_different = count_different(n_occurring, index, 0, n_having, tally, counted)
        different[index] = min(n_different, people[index])
        for value in np.sort(tally.occurring[:n_occurring]):
            group_values[filled] = value
            having[filled] = n_having[0, value]
            contributions[filled] = shared[0, value]
            n_having[0, value] = 0
            shared[0, value] = 0.0
            filled += 1
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
