"""Describe every node of a generalization lattice where some people have several records.

This is the counterpart of `lattice_nodes`. Groups cannot be rolled up here: the number of people in the
union of two groups is not the sum of their numbers. So every node counts from the rows, which costs time in
proportion to rows instead of groups, and tables with one record per person keep the faster kernel.

Classes are numbered attribute by attribute: if only one attribute changes its level, the numbers up to the
attribute before it are reused. The rows stay in the order of their people throughout, so that one
comparison tells whether a class has met a person before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.kernels.lattice_nodes import (
    ACCURACY_GAIN,
    BETA_LIKENESS,
    DELTA_DISCLOSURE,
    DISTINCT,
    ENTROPY,
    EQUAL_DISTANCE,
    HIERARCHICAL_DISTANCE,
    KNOWLEDGE_GAIN,
    MEAN_PRIVACY_LOSS,
    ORDERED_DISTANCE,
    PRIVACY_LOSS,
    PROBABILISTIC,
    DescribedNodes,
    Prior,
    describe_people,
)
from sfumato.kernels.people_counts import tally_room
from sfumato.runtime.arrays import Codes, Floats, Integers

_LOG_2 = float(np.log(2.0))
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
    """Room for the counts of one node's classes."""

    sizes: Integers
    people: Integers
    latest: Integers
    first: Integers
    losses: Floats
    starts: Integers
    rows: Integers


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
    )
    alone = _single_value_divergences(prior.shares, prior.n_values)
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
            _score_classes(rows, class_of, n_here, room, prior, alone, nodes.scores[node])
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
    alone: Floats,
    scores: Floats,
) -> None:
    """Compute each of `SCORES` over all classes; ``alone`` is the divergence of each value by itself.

    The rows are first sorted by class (a counting sort that keeps people together). Expensive scores are
    computed only if a cheaper bound does not rule out a new worst: exp(entropy) is at least 1 / the largest
    share of people, and a distance is at most the total variation and the mean distance of its values alone.
    """
    starts, order = room.starts, room.rows
    starts[: n_classes + 1] = 0
    for row in range(class_of.size):
        starts[class_of[row] + 1] += 1
    for number in range(n_classes):
        starts[number + 1] += starts[number]
        room.latest[number] = starts[number]
    for row in range(class_of.size):
        order[room.latest[class_of[row]]] = row
        room.latest[class_of[row]] += 1
    shares, inverse = prior.shares, prior.inverse
    alone_ordered, alone_hierarchical = prior.alone_ordered, prior.alone_hierarchical
    n_values = prior.n_values
    # taken out of the tuples once: in the loop each would be counted as one more reference
    n_having, shared, holder, seen, own, mine = tally_room(n_values)
    people, values, weights = rows.people, rows.values, rows.weights
    counted = np.full(int(rows.people.max()) + 1, -1, np.int64)
    fewest, least_diverse, least_entropy = float(n_values), np.inf, np.inf
    farthest, farthest_ordered, farthest_hierarchical, farthest_js = 0.0, 0.0, 0.0, 0.0
    moved, right, lowest, highest, surprise = 0.0, 0.0, 1.0, 1.0, 0.0
    lacks = False
    n_met = 0
    # classes of one row have a single value; they come first because they are the worst
    single = np.zeros(n_values, np.int64)
    for number in range(n_classes):
        if starts[number + 1] - starts[number] == 1:
            single[values[order[starts[number]]]] += 1
    for value in range(n_values):
        if single[value] > 0:
            n_met += single[value]
            fewest, least_diverse, least_entropy = 1.0, 1.0, 1.0
            moved += single[value] * (1.0 - shares[value])
            right += single[value]
            farthest = max(farthest, 1.0 - shares[value])
            farthest_ordered = max(farthest_ordered, alone_ordered[value])
            farthest_hierarchical = max(farthest_hierarchical, alone_hierarchical[value])
            farthest_js = max(farthest_js, alone[value])
            surprise += single[value] * alone[value]
            highest = max(highest, inverse[value])
            lacks = lacks or n_values > 1
    for number in range(n_classes):
        first, end = starts[number], starts[number + 1]
        if end - first == 1:
            continue
        # a copy of `count_values_of_people`: calling it would cost a tenth more
        n_seen, n_people, place = 0, 0, first
        while place < end:
            person = people[order[place]]
            n_people += 1
            n_mine, n_records = 0, 0
            if place + 1 == end or people[order[place + 1]] != person:
                mine[0], n_mine = values[order[place]], 1
                place += 1
            while place < end and people[order[place]] == person:
                value = values[order[place]]
                if own[value] == 0:
                    mine[n_mine] = value
                    n_mine += 1
                own[value] += weights[order[place]]
                n_records += weights[order[place]]
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
        size = float(n_people)
        n_met += n_people
        most_having = 0
        most_shared = 0.0
        excess = 0.0
        ratio = 0.0
        most_ordered = 0.0
        most_hierarchical = 0.0
        n_different = 0
        for index in range(n_seen):
            value = seen[index]
            most_ordered += shared[value] * alone_ordered[value]
            most_hierarchical += shared[value] * alone_hierarchical[value]
            most_having = max(most_having, n_having[value])
            most_shared = max(most_shared, shared[value])
            excess += max(shared[value] - size * shares[value], 0.0)
            ratio = max(ratio, shared[value] * inverse[value])
        if least_entropy > 1.0 or fewest > 1.0:
            for index in range(n_seen):
                value = seen[index]
                if n_having[value] > 1 or counted[holder[value]] != number:
                    n_different += 1
                    if n_having[value] == 1:
                        counted[holder[value]] = number
            n_different = min(n_different, n_people)
            fewest = min(fewest, float(n_different))
        distance = excess / size
        diverse = size / most_having
        moved += excess
        right += most_shared
        least_diverse = min(least_diverse, diverse)
        farthest = max(farthest, distance)
        highest = max(highest, ratio / size)
        if least_entropy > 1.0 and min(diverse, float(n_different)) < least_entropy:
            entropy = 0.0
            for index in range(n_seen):
                having = n_having[seen[index]] / size
                entropy -= having * np.log(having)
            least_entropy = min(least_entropy, min(np.exp(max(entropy, 0.0)), float(n_different)))
        if min(distance, most_ordered / size) > farthest_ordered:
            farthest_ordered = max(farthest_ordered, _ordered_distance(shared, size, shares, n_values))
        if min(distance, most_hierarchical / size) > farthest_hierarchical:
            above = distance + _inner_level_distance(shared, size, prior.node_of, prior.node_shares, n_values)
            farthest_hierarchical = max(farthest_hierarchical, above / (1 + prior.node_of.shape[0]))
        divergence = alone[seen[0]] if n_seen == 1 else _jensen_shannon(shared, size, shares, seen, n_seen)
        farthest_js = max(farthest_js, divergence)
        surprise += divergence * size
        if n_seen < n_values:
            lacks = True
        elif not lacks:
            for value in range(n_values):
                lowest = min(lowest, shared[value] * inverse[value] / size)
        for index in range(n_seen):
            n_having[seen[index]] = 0
            shared[seen[index]] = 0.0
    scores[DISTINCT], scores[PROBABILISTIC], scores[ENTROPY] = fewest, least_diverse, least_entropy
    scores[EQUAL_DISTANCE], scores[ORDERED_DISTANCE], scores[HIERARCHICAL_DISTANCE] = (
        farthest,
        farthest_ordered,
        farthest_hierarchical,
    )
    scores[PRIVACY_LOSS] = min(farthest_js, _LOG_2)
    scores[KNOWLEDGE_GAIN] = moved / n_met
    scores[ACCURACY_GAIN] = right / n_met - shares.max()
    scores[DELTA_DISCLOSURE] = np.inf if lacks else max(np.log(highest), -np.log(lowest))
    scores[BETA_LIKENESS] = highest - 1.0
    scores[MEAN_PRIVACY_LOSS] = surprise / n_met


@njit(cache=True)
def _single_value_divergences(prior: Floats, n_values: int) -> Floats:
    """Return the divergence between the prior and a group with only one value, for each value."""
    divergences = np.empty(n_values, np.float64)
    shared = np.ones(n_values, np.float64)
    for value in range(n_values):
        seen = np.array([value], np.int32)
        divergences[value] = _jensen_shannon(shared, 1.0, prior, seen, 1)
    return divergences


@njit(cache=True)
def _ordered_distance(shared: Floats, size: float, prior: Floats, n_values: int) -> float:
    cumulated = 0.0
    expected = 0.0
    distance = 0.0
    for value in range(n_values - 1):
        cumulated += shared[value]
        expected += prior[value]
        distance += abs(cumulated / size - expected)
    return distance / max(n_values - 1, 1)


@njit(cache=True)
def _inner_level_distance(
    shared: Floats, size: float, node_of: Codes, node_shares: Floats, n_values: int
) -> float:
    """Return the total variation of the nodes, summed over the levels between values and root."""
    distance = 0.0
    counted = np.empty(node_shares.shape[1], np.float64)
    for level in range(node_of.shape[0]):
        counted[:] = 0.0
        for value in range(n_values):
            counted[node_of[level, value]] += shared[value]
        for node in range(counted.size):
            distance += max(counted[node] / size - node_shares[level, node], 0.0)
    return distance


@njit(cache=True)
def _jensen_shannon(shared: Floats, size: float, prior: Floats, seen: Codes, n_seen: int) -> float:
    divergence = 0.0
    absent = 1.0
    for index in range(n_seen):
        value = seen[index]
        share = shared[value] / size
        middle = (share + prior[value]) / 2
        divergence += share * np.log(share / middle) + prior[value] * np.log(prior[value] / middle)
        absent -= prior[value]
    return (divergence + max(absent, 0.0) * _LOG_2) / 2
