"""Describe every node of a generalization lattice where some people have several records.

This is the counterpart of `lattice_nodes`. Only the walk differs: the counts of a class (`people_counts`) and
its scores (`lattice_nodes.add_mixed_groups`) are the same kernels for both.

Why there are two walks: groups of records are rolled up from node to node, because their counts add up. The
number of people in the union of two groups is not the sum of their numbers, so here every node counts from
the rows. One walk for both was measured, either way:

- Counting tables with one record per person from the rows takes 3.0 to 3.3 times the CPU on Adult.
- Rolling up pairs of a group and a person takes 1.1 to 1.3 times the CPU on 8,000 and 80,000 visits, before
  the pairs of a group are added up. A pair seldom joins another one.

Why it is right: the rows stay in the order of their people throughout, so a class has met a person before
exactly when that person is the last one it met. A counting sort by class keeps that order.

What it costs: a node takes time in proportion to the rows, and to classes times values for the scores.
Classes are numbered attribute by attribute. If only one attribute changes its level, the numbers up to the
attribute before it are reused.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.kernels.lattice_nodes import (
    DescribedNodes,
    Prior,
    add_mixed_groups,
    add_pure_groups,
    begin_scores,
    describe_people,
    finish_scores,
)
from sfumato.kernels.people_counts import ValueTally, count_different, count_values_of_people, tally_room
from sfumato.runtime.arrays import Codes, Floats, Integers

# Few enough classes that their counts stay in the cache of the processor, enough to vectorize the scores.
_BATCH_SIZE = 64
_MOST_CELLS = 1 << 20


class PersonRows(NamedTuple):
    """The rows in the order of their people.

    Parameters
    ----------
    codes
        For each attribute the value of each row.
    people, weights, values
        The person, the records and the sensitive value of each row; ``values`` is empty if none is needed.
    """

    codes: Codes
    people: Integers
    weights: Integers
    values: Codes


class LevelTable(NamedTuple):
    """What every value becomes on every level; the levels of all attributes are numbered consecutively.

    ``nodes`` and ``losses`` of a level begin at its ``starts``; ``n_nodes`` says how many nodes it has.
    ``first`` is the first level of each attribute, the end appended.
    """

    nodes: Integers
    losses: Floats
    starts: Integers
    n_nodes: Integers
    first: Integers


class _PairTable(NamedTuple):
    """Room to number pairs.

    Nothing is ever cleared: the numbers in ``cells`` increase from use to use, and its last entry is where
    the next use begins. A smaller number is left over from an earlier use.
    """

    cells: Integers
    keys: Integers
    numbers: Integers
    stamps: Integers


class _ClassRoom(NamedTuple):
    """Room for the counts of one node's classes, and for its rows sorted by class.

    Parameters
    ----------
    sizes, people
        The records and the people of each class.
    latest
        The last person that each class met.
    first, losses
        The first row of each class, and the loss of a record.
    starts
        Where the rows of each class begin among the sorted ones, with the end appended.
    persons, values, weights
        The person, the value and the records of the sorted rows.
    """

    sizes: Integers
    people: Integers
    latest: Integers
    first: Integers
    losses: Floats
    starts: Integers
    persons: Integers
    values: Codes
    weights: Integers


class _Batch(NamedTuple):
    """The counts of some classes with several values, which are scored together.

    Parameters
    ----------
    counts, having, contributions, different
        The people of each class; by value the people who have it and what they contribute; and the number of
        different values.
    pure
        Says that none of them has a single value; see `Groups`.
    tally
        Room to count one class.
    counted
        Room for one number for each person; see `count_different`.
    """

    counts: Integers
    having: Codes
    contributions: Floats
    different: Integers
    pure: Codes
    tally: ValueTally
    counted: Integers


@njit(cache=True)
def walk_people(rows: PersonRows, levels: LevelTable, prior: Prior, nodes: DescribedNodes) -> None:
    """Describe every node, the last attribute turning fastest."""
    n_attributes, n_rows = rows.codes.shape
    numbers = np.zeros((n_attributes + 1, n_rows), np.int64)
    n_classes = np.ones(n_attributes + 1, np.int64)
    n_slots = 16
    while n_slots < 2 * n_rows:
        n_slots *= 2
    slots = _PairTable(
        np.full(_MOST_CELLS + 1, -1, np.int64),
        np.empty(n_slots, np.int64),
        np.empty(n_slots, np.int64),
        np.zeros(n_slots + 1, np.int64),
    )
    room = _ClassRoom(
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.float64),
        np.empty(n_rows + 1, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int32),
        np.empty(n_rows, np.int64),
    )
    width = prior.shares.size
    batch = _Batch(
        np.empty(_BATCH_SIZE, np.int64),
        np.zeros((_BATCH_SIZE, width), np.int32),
        np.zeros((_BATCH_SIZE, width), np.float64),
        np.empty(_BATCH_SIZE, np.int64),
        np.full(_BATCH_SIZE, -1, np.int32),
        tally_room(width),
        np.empty(int(rows.people.max()) + 1, np.int64),
    )
    level = levels.first[:-1].copy()
    turning = 0
    node = 0
    while True:
        for attribute in range(turning, n_attributes):
            n_classes[attribute + 1] = _number_pairs(
                numbers[attribute],
                n_classes[attribute],
                rows.codes[attribute],
                levels.nodes[levels.starts[level[attribute]] :],
                levels.n_nodes[level[attribute]],
                slots,
                numbers[attribute + 1],
            )
        n_here = int(n_classes[n_attributes])
        class_of = numbers[n_attributes]
        _count_classes(rows, class_of, n_here, room)
        _sum_losses(rows, levels, level, n_here, room)
        nodes.n_classes[node] = n_here
        nodes.smallest[node], nodes.squares[node], nodes.weighted_k[node] = describe_people(
            room.people[:n_here],
            room.sizes[:n_here],
            room.losses[:n_here],
            nodes.small_classes[node],
            nodes.small_losses[node],
            nodes.small_records[node],
            nodes.small_squares[node],
        )
        if prior.n_values > 0:
            _score_classes(rows, class_of, n_here, room, prior, batch, nodes.scores[node])
        turning = n_attributes - 1
        while turning >= 0 and level[turning] == levels.first[turning + 1] - 1:
            level[turning] = levels.first[turning]
            turning -= 1
        if turning < 0:
            return
        level[turning] += 1
        node += 1


@njit(cache=True)
def _number_pairs(
    before: Integers,
    n_before: int,
    codes: Codes,
    nodes: Integers,
    n_nodes: int,
    slots: _PairTable,
    into: Integers,
) -> int:
    """Number the pairs of a row's previous number and its node, in the order in which they first occur."""
    n_pairs = 0
    if n_before * n_nodes <= _MOST_CELLS:
        cells = slots.cells
        base = cells[-1] + 1
        for row in range(codes.size):
            key = before[row] * n_nodes + nodes[codes[row]]
            if cells[key] < base:
                cells[key] = base + n_pairs
                n_pairs += 1
            into[row] = cells[key] - base
        cells[-1] = base + n_pairs
        return n_pairs
    slot_keys, slot_numbers, stamps = slots.keys, slots.numbers, slots.stamps
    mask = slot_keys.size - 1
    stamps[-1] += 1
    use = stamps[-1]
    for row in range(codes.size):
        key = before[row] * n_nodes + nodes[codes[row]]
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
        while stamps[slot] == use and slot_keys[slot] != key:
            slot = (slot + 1) & mask
        if stamps[slot] != use:
            stamps[slot] = use
            slot_keys[slot] = key
            slot_numbers[slot] = n_pairs
            n_pairs += 1
        into[row] = slot_numbers[slot]
    return n_pairs


@njit(cache=True)
def _count_classes(rows: PersonRows, class_of: Integers, n_classes: int, room: _ClassRoom) -> None:
    """Count the records and the people of each class, and note its first row."""
    sizes, people, latest, first = room.sizes, room.people, room.latest, room.first
    sizes[:n_classes] = 0
    people[:n_classes] = 0
    latest[:n_classes] = -1
    persons, weights = rows.people, rows.weights
    for row in range(class_of.size):
        number = class_of[row]
        if latest[number] != persons[row]:
            if latest[number] < 0:
                first[number] = row
            latest[number] = persons[row]
            people[number] += 1
        sizes[number] += weights[row]


@njit(cache=True)
def _sum_losses(
    rows: PersonRows, levels: LevelTable, level: Integers, n_classes: int, room: _ClassRoom
) -> None:
    """Add up the loss of a record of each class."""
    room.losses[:n_classes] = 0.0
    for attribute in range(level.size):
        losses = levels.losses[levels.starts[level[attribute]] :]
        codes = rows.codes[attribute]
        for number in range(n_classes):
            room.losses[number] += losses[codes[room.first[number]]]


@njit(cache=True)
def _score_classes(
    rows: PersonRows,
    class_of: Integers,
    n_classes: int,
    room: _ClassRoom,
    prior: Prior,
    batch: _Batch,
    scores: Floats,
) -> None:
    """Compute each of `SCORES` over all classes.

    The rows are sorted by class. Classes of one row are only counted by value; the others are counted one by
    one and scored a batch at a time, because the kernel that scores them is vectorized over their values.
    """
    starts, persons, values, weights = room.starts, room.persons, room.values, room.weights
    starts[: n_classes + 1] = 0
    for row in range(class_of.size):
        starts[class_of[row] + 1] += 1
    next_place = room.latest
    for number in range(n_classes):
        starts[number + 1] += starts[number]
        next_place[number] = starts[number]
    for row in range(class_of.size):
        place = next_place[class_of[row]]
        next_place[class_of[row]] += 1
        persons[place], values[place], weights[place] = rows.people[row], rows.values[row], rows.weights[row]
    # unpacked once: in the loop every array taken out of a tuple would cost a count of references
    counts, having, contributions, different, pure, tally, counted = batch
    occurring = tally.occurring
    counted[:] = -1
    n_alone = np.zeros(prior.shares.size, np.int64)
    n_single_rows = 0
    for number in range(n_classes):
        if starts[number + 1] - starts[number] == 1:
            n_alone[values[starts[number]]] += 1
            n_single_rows += 1
    begin_scores(prior, scores)
    add_pure_groups(n_alone, prior, scores)
    n_alone[:] = 0
    n_members = n_single_rows
    n_counted = 0
    for number in range(n_classes):
        if starts[number + 1] - starts[number] == 1:
            continue
        n_occurring, n_people = count_values_of_people(
            starts[number],
            starts[number + 1],
            persons,
            values,
            weights,
            n_counted,
            having,
            contributions,
            tally,
        )
        n_members += n_people
        if n_occurring == 1:
            value = occurring[0]
            n_alone[value] += n_people
            having[n_counted, value] = 0
            contributions[n_counted, value] = 0.0
            continue
        # no class is less diverse than one of a single row
        n_different = 1
        if n_single_rows == 0:
            n_different = count_different(n_occurring, number, n_counted, having, tally, counted)
        counts[n_counted] = n_people
        different[n_counted] = min(n_different, n_people)
        n_counted += 1
        if n_counted == counts.size:
            add_mixed_groups(pure, counts, contributions, having, different, prior, scores)
            having[:] = 0
            contributions[:] = 0.0
            n_counted = 0
    add_mixed_groups(pure[:n_counted], counts[:n_counted], contributions, having, different, prior, scores)
    having[:n_counted] = 0
    contributions[:n_counted] = 0.0
    add_pure_groups(n_alone, prior, scores)
    finish_scores(n_members, prior, scores)
