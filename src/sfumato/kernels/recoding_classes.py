"""Describe the classes of many recodings, and choose which classes are suppressed.

These are the objectives of the four problems of Dewri et al., "Exploring privacy versus data quality
trade-offs in anonymization techniques using multi-objective optimization", 2011, for a whole population of
recodings. `shared_grouping` supplies the classes; a recoding then costs the number of its classes, plus one
pass over the sensitive values or, where people have several records, over the rows.

Privacy and loss of a recoding depend on its classes alone, so each kernel counts them once and then only
chooses among them. Suppressing the smallest classes first is right: to reach k, all classes below k must go.
One kernel serves people and records: where nobody has several, a class has as many people as records, and the
lists of people are empty, which costs one comparison per recoding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.kernels.compilation import njit
from sfumato.kernels.greedy_clusters import ZERO
from sfumato.kernels.row_groups import rows_by_group
from sfumato.kernels.shared_grouping import (
    GroupingRoom,
    Recodings,
    Records,
    add_counts,
    count_values,
    group_rows,
    make_room,
    visit_group,
)
from sfumato.runtime.arrays import Codes, Floats, Integers

TRAITS = ("k", "l", "weighted-k", "general-loss", "suppressed", "d1", "d2")
"""The traits of each solution, one column for each; ``l`` is 0 if no attribute is sensitive."""

_K, _L, _WEIGHTED, _LOSS, _SUPPRESSED, _FIRST, _SECOND = range(7)
# Classes below this size are counted by size, the few above it are sorted.
_SMALL = 512
# Up to this many sensitive values are counted for all recodings together, more for each recoding alone.
_MOST_VALUES = 64


class SensitiveRows(NamedTuple):
    """The sensitive values of each row: row ``i`` owns the entries from ``starts[i]`` to ``starts[i + 1]``.

    The values of several attributes are numbered consecutively, and ``owners`` holds the attribute of each.
    Diversity is the number of ``distinct`` values, or else one over the largest share.
    """

    starts: Integers
    values: Codes
    counts: Integers
    n_values: int
    owners: Integers
    distinct: bool


class PersonLists(NamedTuple):
    """The rows of each person where people have several records; else all arrays are empty.

    Parameters
    ----------
    people, rows
        Every pair of a person and a row of theirs, ordered by person.
    values, holders, held
        Every triple of a sensitive value, a person and a row that has it, ordered by value, then person.
    """

    people: Integers
    rows: Integers
    values: Codes
    holders: Integers
    held: Integers


@njit(cache=True, nogil=True)
def cut_blocks(
    bits: npt.NDArray[np.uint8], first_unit: Integers, covers: Floats, first_cover: Integers
) -> tuple[Codes, Floats, Integers]:
    """Turn bit strings into blocks: one bit between neighbouring units of an attribute, 1 for a cut.

    ``covers[first_cover[a] + low * n + high]`` is the loss of the block of the units ``low`` to ``high`` of
    attribute ``a``, which has ``n`` units.
    """
    n_attributes = first_unit.size - 1
    blocks = np.empty((bits.shape[0], first_unit[-1]), np.int32)
    losses = np.empty((bits.shape[0], first_unit[-1]), np.float64)
    n_blocks = np.empty((bits.shape[0], n_attributes), np.int64)
    for recoding in range(bits.shape[0]):
        for attribute in range(n_attributes):
            start = first_unit[attribute]
            n_units = first_unit[attribute + 1] - start
            low = 0
            block = 0
            for high in range(n_units):
                if high == n_units - 1 or bits[recoding, start - attribute + high]:
                    loss = covers[first_cover[attribute] + low * n_units + high]
                    for unit in range(start + low, start + high + 1):
                        blocks[recoding, unit] = block
                        losses[recoding, unit] = loss
                    block += 1
                    low = high + 1
            n_blocks[recoding, attribute] = block
    return blocks, losses, n_blocks


@njit(cache=True)
def _record_room(records: Records) -> GroupingRoom:
    """Make room to count one recoding after the other from the records; see `_group_records`."""
    n_units, n_attributes = records.first_unit[-1], records.first_unit.size - 1
    nothing = Recodings(
        np.empty((0, n_units), np.int32), np.empty((0, n_units)), np.empty((0, n_attributes), np.int64)
    )
    return make_room(records, nothing, ZERO, False)


@njit(cache=True)
def _group_records(records: Records, blocks: Codes, n_blocks: Integers, room: GroupingRoom) -> int:
    return group_rows(records, room, ZERO, blocks, n_blocks)


@njit(cache=True)
def _room_with_values(
    records: Records, persons: PersonLists, sensitive: SensitiveRows, recodings: Recodings
) -> GroupingRoom:
    """Make room; if there are few sensitive values, they are counted for all recodings together."""
    is_shared = persons.people.size == 0 and sensitive.n_values <= _MOST_VALUES
    is_shared &= records.weights.sum() <= np.iinfo(np.int32).max
    room = make_room(records, recodings, sensitive.n_values, is_shared)
    count_values(sensitive.starts, sensitive.values, sensitive.counts, room)
    return room


@njit(cache=True)
def _people_of_classes(persons: PersonLists, room: GroupingRoom, n_classes: int) -> Integers:
    """Return the number of people of each class: its records if nobody has several."""
    if persons.people.size == 0:
        return room.sizes[:n_classes]
    people = room.people[:n_classes]
    latest = room.latest[:n_classes]
    people[:] = 0
    latest[:] = -1
    for place in range(persons.people.size):
        number = room.class_of[persons.rows[place]]
        if latest[number] != persons.people[place]:
            latest[number] = persons.people[place]
            people[number] += 1
    return people


@njit(cache=True)
def _whole_loss(unit_counts: Integers, losses: Floats) -> float:
    total = 0.0
    for unit in range(losses.size):
        total += unit_counts[unit] * losses[unit]
    return total


@njit(cache=True)
def _class_loss(units: Codes, losses: Floats, row: int) -> float:
    total = 0.0
    for attribute in range(units.shape[1]):
        total += losses[units[row, attribute]]
    return total


@njit(cache=True)
def _diversities(
    sensitive: SensitiveRows, persons: PersonLists, room: GroupingRoom, n_classes: int
) -> Integers:
    """Return for each class size // the count of its most frequent value, over all sensitive attributes.

    If distinct values count, it is their number in the attribute with the fewest.
    """
    if persons.people.size > 0:
        return _diversities_of_people(persons, room, n_classes)
    if room.counts.shape[1]:
        return _diversities_of_table(sensitive, room, room.latest_table[0], n_classes)
    rows, starts = rows_by_group(room.class_of, n_classes)
    scratch = np.zeros(sensitive.n_values, np.int64)
    diversities = np.empty(n_classes, np.int64)
    n_different = np.zeros(sensitive.owners.max() + 1, np.int64)
    for number in range(n_classes):
        largest = 0
        n_different[:] = 0
        for place in range(starts[number], starts[number + 1]):
            row = rows[place]
            for entry in range(sensitive.starts[row], sensitive.starts[row + 1]):
                value = sensitive.values[entry]
                n_different[sensitive.owners[value]] += scratch[value] == 0
                scratch[value] += sensitive.counts[entry]
                largest = max(largest, scratch[value])
        diversities[number] = n_different.min() if sensitive.distinct else room.sizes[number] // largest
        if starts[number + 1] - starts[number] < sensitive.n_values:
            for place in range(starts[number], starts[number + 1]):
                row = rows[place]
                for entry in range(sensitive.starts[row], sensitive.starts[row + 1]):
                    scratch[sensitive.values[entry]] = 0
        else:
            scratch[:] = 0
    return diversities


@njit(cache=True)
def _diversities_of_table(
    sensitive: SensitiveRows, room: GroupingRoom, table: int, n_classes: int
) -> Integers:
    """Return the diversities from the counts of the rows of a table."""
    n_values, owners, sizes = sensitive.n_values, sensitive.owners, room.sizes
    counts = np.zeros((n_classes, room.counts.shape[1]), np.int32)
    add_counts(room.counts[room.starts[table] : room.starts[table + 1]], room.class_of, counts)
    diversities = np.empty(n_classes, np.int64)
    n_different = np.zeros(sensitive.owners.max() + 1, np.int64)
    for number in range(n_classes):
        if sensitive.distinct:
            n_different[:] = 0
            for value in range(n_values):
                n_different[owners[value]] += counts[number, value] > 0
            diversities[number] = n_different.min()
        else:
            largest = np.int32(0)
            for value in range(counts.shape[1]):
                largest = max(largest, counts[number, value])
            diversities[number] = sizes[number] // largest
    return diversities


@njit(cache=True)
def _diversities_of_people(persons: PersonLists, room: GroupingRoom, n_classes: int) -> Integers:
    """Return for each class its people // the people who have its most frequent value."""
    most = np.zeros(n_classes, np.int64)
    n_having = np.zeros(n_classes, np.int64)
    latest_value = np.full(n_classes, -1, np.int64)
    latest = room.latest[:n_classes]
    for place in range(persons.values.size):
        number = room.class_of[persons.held[place]]
        if latest_value[number] != persons.values[place]:
            latest_value[number] = persons.values[place]
            latest[number] = -1
            n_having[number] = 0
        if latest[number] != persons.holders[place]:
            latest[number] = persons.holders[place]
            n_having[number] += 1
            most[number] = max(most[number], n_having[number])
    return room.people[:n_classes] // most


@njit(cache=True)
def _smallest_kept(
    people: Integers, sizes: Integers, marks: Integers, least: int, most: int, limit: int
) -> int:
    """Return the smallest class size, in people, whose suppression would exceed ``limit`` records.

    Classes are suppressed from the smallest up, and only those with ``least <= mark <= most`` count. If all
    of them fit into the limit, the result is one more than their largest number of people.
    """
    small = np.zeros(_SMALL, np.int64)
    n_large = 0
    largest = 0
    for number in range(sizes.size):
        if least <= marks[number] <= most:
            largest = max(largest, people[number])
            if people[number] < _SMALL:
                small[people[number]] += sizes[number]
            else:
                n_large += 1
    n_suppressed = 0
    for size in range(1, _SMALL):
        n_suppressed += small[size]
        if n_suppressed > limit:
            return size
    large = np.empty(n_large, np.int64)
    records = np.empty(n_large, np.int64)
    n_large = 0
    for number in range(sizes.size):
        if least <= marks[number] <= most and people[number] >= _SMALL:
            large[n_large] = people[number]
            records[n_large] = sizes[number]
            n_large += 1
    for place in np.argsort(large, kind="mergesort"):
        n_suppressed += records[place]
        if n_suppressed > limit:
            return large[place]
    return largest + 1


@njit(cache=True)
def _describe(
    records: Records,
    losses: Floats,
    room: GroupingRoom,
    people: Integers,
    diversities: Integers,
    kept: npt.NDArray[np.bool_],
    n_weighted: int,
    traits: Floats,
) -> None:
    """Compute the traits of the kept classes of one recoding."""
    units, sizes, first, founders = records.units, room.sizes, room.first, room.founders
    loss = _whole_loss(records.unit_counts, losses)
    smallest = n_weighted
    diversity = n_weighted
    n_suppressed = 0
    n_members = 0
    squares = 0
    for number in range(kept.size):
        size = sizes[number]
        if kept[number]:
            smallest = min(smallest, people[number])
            diversity = min(diversity, diversities[number])
            n_members += people[number]
            squares += people[number] * people[number]
        else:
            n_suppressed += size
            loss -= size * _class_loss(units, losses, first[founders[number]])
    traits[_K] = smallest
    traits[_L] = diversity
    traits[_WEIGHTED] = squares / n_members
    traits[_LOSS] = max(loss, 0.0) / n_weighted
    traits[_SUPPRESSED] = n_suppressed


@njit(cache=True, nogil=True)
def keep_all(records: Records, persons: PersonLists, recodings: Recodings) -> Floats:
    """Return the traits of every recoding when no record is suppressed; ``d1`` is weighted-k."""
    n_records = records.weights.sum()
    room = make_room(records, recodings, ZERO, persons.people.size == 0)
    traits = np.zeros((recodings.blocks.shape[0], 1, len(TRAITS)))
    for place in range(room.begins.size):
        recoding, n_classes = visit_group(records, recodings, room, place)
        if recoding < 0:
            continue
        people = _people_of_classes(persons, room, n_classes)
        none = np.zeros(n_classes, np.int64)
        kept = np.ones(n_classes, np.bool_)
        _describe(
            records, recodings.losses[recoding], room, people, none, kept, n_records, traits[recoding, 0]
        )
        traits[recoding, 0, _FIRST] = traits[recoding, 0, _WEIGHTED]
    return traits


@njit(cache=True, nogil=True)
def suppress_small(records: Records, persons: PersonLists, recodings: Recodings, limit: int) -> Floats:
    """Return the traits when the smallest classes are suppressed, at most ``limit`` records; ``d1`` is k."""
    n_records = records.weights.sum()
    room = make_room(records, recodings, ZERO, persons.people.size == 0)
    traits = np.zeros((recodings.blocks.shape[0], 1, len(TRAITS)))
    for place in range(room.begins.size):
        recoding, n_classes = visit_group(records, recodings, room, place)
        if recoding < 0:
            continue
        sizes = room.sizes[:n_classes]
        people = _people_of_classes(persons, room, n_classes)
        none = np.zeros(n_classes, np.int64)
        kept = people >= _smallest_kept(people, sizes, none, 0, 0, limit)
        _describe(
            records, recodings.losses[recoding], room, people, none, kept, n_records, traits[recoding, 0]
        )
        traits[recoding, 0, _FIRST] = traits[recoding, 0, _K]
    return traits


@njit(cache=True, nogil=True)
def suppress_below_average(records: Records, persons: PersonLists, recodings: Recodings) -> Floats:
    """Return the traits when classes below weighted-k are suppressed; ``d1`` is weighted-k before that."""
    n_records = records.weights.sum()
    room = make_room(records, recodings, ZERO, persons.people.size == 0)
    traits = np.zeros((recodings.blocks.shape[0], 1, len(TRAITS)))
    for place in range(room.begins.size):
        recoding, n_classes = visit_group(records, recodings, room, place)
        if recoding < 0:
            continue
        people = _people_of_classes(persons, room, n_classes)
        n_members = people.sum()
        squares = (people * people).sum()
        none = np.zeros(n_classes, np.int64)
        kept = people * n_members >= squares
        _describe(
            records, recodings.losses[recoding], room, people, none, kept, n_records, traits[recoding, 0]
        )
        traits[recoding, 0, _FIRST] = squares / n_members
    return traits


@njit(cache=True, nogil=True)
def suppress_unsafe(
    records: Records, persons: PersonLists, sensitive: SensitiveRows, recodings: Recodings, limit: int
) -> Floats:
    """Return the traits of every pair (k, l) that suppressing at most ``limit`` records can reach.

    Each l is paired with the largest possible k. No other pair is better in both: for an l, all classes below
    it must go, and the records that may still be suppressed are best spent on the smallest classes. All
    recodings get as many rows as the longest list needs; unused rows have k = 0. An l costs two passes over
    the classes.
    """
    n_records = records.weights.sum()
    room = _room_with_values(records, persons, sensitive, recodings)
    pairs = np.zeros((recodings.blocks.shape[0], 8, len(TRAITS)))
    longest = 0
    for place in range(room.begins.size):
        recoding, n_classes = visit_group(records, recodings, room, place)
        if recoding < 0:
            continue
        sizes = room.sizes[:n_classes]
        people = _people_of_classes(persons, room, n_classes)
        diversities = _diversities(sensitive, persons, room, n_classes)
        highest = diversities.max()
        by_diversity = np.zeros(highest + 1, np.int64)
        for number in range(n_classes):
            by_diversity[diversities[number]] += sizes[number]
        n_suppressed = 0
        row = 0
        for least in range(1, highest + 1):
            n_suppressed += by_diversity[least - 1]
            if n_suppressed > limit:
                break
            if by_diversity[least] == 0:
                continue
            smallest = _smallest_kept(people, sizes, diversities, least, highest, limit - n_suppressed)
            if row == pairs.shape[1]:
                longer = np.zeros((pairs.shape[0], 2 * row, pairs.shape[2]))
                longer[:, :row] = pairs
                pairs = longer
            kept = (people >= smallest) & (diversities >= least)
            _describe(
                records,
                recodings.losses[recoding],
                room,
                people,
                diversities,
                kept,
                n_records,
                pairs[recoding, row],
            )
            pairs[recoding, row, _FIRST] = pairs[recoding, row, _K]
            pairs[recoding, row, _SECOND] = pairs[recoding, row, _L]
            row += 1
        longest = max(longest, row)
    return pairs[:, :longest].copy()


@njit(cache=True, nogil=True)
def suppress_in_order(
    records: Records,
    persons: PersonLists,
    sensitive: SensitiveRows,
    recodings: Recodings,
    limit: int,
    sizes_first: bool,
) -> Floats:
    """Return the traits when classes are suppressed by size and diversity, at most ``limit`` records.

    ``d1`` and ``d2`` are the size and the diversity of the first class that stays; later classes may be less
    diverse (sizes first) or smaller (diversities first).
    """
    n_records = records.weights.sum()
    room = _room_with_values(records, persons, sensitive, recodings)
    traits = np.zeros((recodings.blocks.shape[0], 1, len(TRAITS)))
    for place in range(room.begins.size):
        recoding, n_classes = visit_group(records, recodings, room, place)
        if recoding < 0:
            continue
        sizes = room.sizes[:n_classes]
        people = _people_of_classes(persons, room, n_classes)
        diversities = _diversities(sensitive, persons, room, n_classes)
        by_diversity = np.zeros(diversities.max() + 1, np.int64)
        n_suppressed = 0
        if sizes_first:
            first = _smallest_kept(people, sizes, diversities, 0, diversities.max(), limit)
            for number in range(n_classes):
                if people[number] == first:
                    by_diversity[diversities[number]] += sizes[number]
                elif people[number] < first:
                    n_suppressed += sizes[number]
        else:
            for number in range(n_classes):
                by_diversity[diversities[number]] += sizes[number]
        second = 0
        while n_suppressed + by_diversity[second] <= limit:
            n_suppressed += by_diversity[second]
            second += 1
        if sizes_first:
            kept = (people > first) | ((people == first) & (diversities >= second))
        else:
            first = _smallest_kept(people, sizes, diversities, second, second, limit - n_suppressed)
            kept = (diversities > second) | ((diversities == second) & (people >= first))
        _describe(
            records,
            recodings.losses[recoding],
            room,
            people,
            diversities,
            kept,
            n_records,
            traits[recoding, 0],
        )
        traits[recoding, 0, _FIRST] = first
        traits[recoding, 0, _SECOND] = second
    return traits
