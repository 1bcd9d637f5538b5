"""Group the same records by many recodings, sharing the work that these have in common.

A recoding gives every unit (a value, or an interval of values that stay together) of every attribute a
block and a loss. The units of all attributes are numbered consecutively, attribute by attribute.

Rows that no recoding of a group distinguishes are merged once for the whole group, then again for each part
of the group. A recoding is thus counted from a table that is hardly longer than its number of classes.
Merging never changes a count: the rows that a group merges share a block in each of its recodings. Classes
are numbered in the order of their first records, whichever table they are counted from.

Counting a recoding takes one pass over its table and one lookup per joint of attributes. A table is kept only
if it has at most two thirds of the rows of the one before it, so all tables of a branch together have at most
three times the rows of the records.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sfumato.kernels.compilation import njit
from sfumato.kernels.recoding_similarity import nest_similar
from sfumato.runtime.arrays import Codes, Floats, Integers

_MOST_CELLS = 1 << 16
_LARGEST_KEY = 1 << 62
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
# A table is kept if it has at most 2/3 of the rows of the table before it. That is tried only if at most this
# share of the combinations of blocks is left, a smaller one if only two recodings would share the table.
_KEPT_ROWS, _OF_ROWS = 2, 3
_PAYS_FOR_MANY, _PAYS_FOR_TWO = 0.4, 0.2
# This many counts are added at once (one vector instruction).
_COUNTS_AT_ONCE = 8


class Records(NamedTuple):
    """The distinct rows of units.

    Attributes are combined in joints: ``joints[i]`` up to ``joints[i + 1]`` are the places in ``order`` of
    the attributes of joint ``i``, and ``codes[i]`` numbers their combined units.
    """

    codes: Codes
    units: Codes
    weights: Integers
    order: Integers
    joints: Integers
    first_unit: Integers
    unit_counts: Integers


class Recodings(NamedTuple):
    """For each recoding the block and the loss of every unit, and how many blocks each attribute has."""

    blocks: Codes
    losses: Floats
    n_blocks: Integers


class GroupingRoom(NamedTuple):
    """The tables that recodings are counted from, each shorter than the one before; the first is the records.

    Parameters
    ----------
    order, begins, ends, depths
        The recodings, similar ones together, and their groups, each before its parts.
    table_of
        The table that the group at each depth is counted from.
    latest_table
        The table that the latest recoding was counted from; one number.
    starts
        Where each table begins.
    codes, weights, first, counts
        The rows of the tables: the code of each joint, the number of records, the first row among the
        records, and how often each sensitive value occurs.
    segments, n_segments
        For each table the first unit of every run of units that its rows do not distinguish.
    blocks, n_blocks
        The blocks of a group.
    lookups, keys, cells, slots, class_keys
        Room to number rows.
    class_of, sizes, founders
        The class of each row of a table, and the size and the first row of each class.
    people, latest
        Room to count the people of each class.
    """

    order: Integers
    begins: Integers
    ends: Integers
    depths: Integers
    table_of: Integers
    latest_table: Integers
    starts: Integers
    codes: npt.NDArray[np.uint32]
    weights: Integers
    first: Codes
    counts: Codes
    segments: Integers
    n_segments: Integers
    blocks: Codes
    n_blocks: Integers
    lookups: Integers
    keys: Integers
    cells: Codes
    slots: Codes
    class_keys: Integers
    class_of: Integers
    sizes: Integers
    founders: Integers
    people: Integers
    latest: Integers


@njit(cache=True)
def make_room(records: Records, recodings: Recodings, n_values: int, is_shared: bool) -> GroupingRoom:
    """Allocate all arrays, order the recodings, and write the first table.

    Parameters
    ----------
    records, recodings
        The records and the recodings to count.
    n_values
        The number of sensitive values to count in every row; see `count_values`.
    is_shared
        Whether rows may be merged for several recodings. If not, every recoding is counted from the records,
        so the class of each of their rows is known.
    """
    n_rows = records.weights.size
    n_units = records.first_unit[-1]
    n_joints = records.joints.size - 1
    n_members = recodings.blocks.shape[0]
    n_slots = 16
    while n_slots < 2 * n_rows:
        n_slots *= 2
    n_tables = 2
    length = n_rows
    while length > 1 and is_shared:
        length = length * _KEPT_ROWS // _OF_ROWS
        n_tables += 1
    capacity = n_rows * _OF_ROWS // (_OF_ROWS - _KEPT_ROWS) + 1 if is_shared else n_rows
    room = GroupingRoom(
        np.arange(n_members),
        np.empty(2 * n_members, np.int64),
        np.empty(2 * n_members, np.int64),
        np.empty(2 * n_members, np.int64),
        np.zeros(n_members + 1, np.int64),
        np.zeros(1, np.int64),
        np.zeros(n_tables + 1, np.int64),
        np.empty((n_joints, capacity), np.uint32),
        np.empty(capacity, np.int64),
        np.empty(capacity, np.int32),
        np.zeros((capacity, -(-n_values // _COUNTS_AT_ONCE) * _COUNTS_AT_ONCE if is_shared else 0), np.int32),
        np.empty((n_tables, n_units), np.int64),
        np.empty((n_tables, records.first_unit.size - 1), np.int64),
        np.empty(n_units, np.int32),
        np.empty(records.first_unit.size - 1, np.int64),
        np.empty((n_joints, _largest_joint(records)), np.int64),
        np.empty(n_rows, np.int64),
        np.zeros(_MOST_CELLS, np.int32),
        np.empty(n_slots, np.int32),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
    )
    _write_records(records, room)
    if is_shared:
        nest_similar(records.first_unit, recodings.blocks, room.order, room.begins, room.ends, room.depths)
    else:
        _list_one_by_one(room)
    return room


@njit(cache=True)
def _largest_joint(records: Records) -> int:
    largest = 1
    for joint in range(records.joints.size - 1):
        n_codes = 1
        for place in range(records.joints[joint], records.joints[joint + 1]):
            attribute = records.order[place]
            n_codes *= records.first_unit[attribute + 1] - records.first_unit[attribute]
        largest = max(largest, n_codes)
    return largest


@njit(cache=True)
def _write_records(records: Records, room: GroupingRoom) -> None:
    """Write the first table: every row of the records, every unit distinguished."""
    n_rows = records.weights.size
    room.starts[1] = n_rows
    room.weights[:n_rows] = records.weights
    room.first[:n_rows] = np.arange(n_rows)
    for joint in range(records.codes.shape[0]):
        room.codes[joint, :n_rows] = records.codes[joint]
    room.segments[0] = np.arange(room.segments.shape[1])
    room.n_segments[0] = records.first_unit[1:] - records.first_unit[:-1]


@njit(cache=True)
def count_values(starts: Integers, values: Codes, counts: Integers, room: GroupingRoom) -> None:
    """Count the sensitive values of every row of the first table, if rows may be merged."""
    totals = room.counts
    if totals.shape[1]:
        for row in range(room.starts[1]):
            for entry in range(starts[row], starts[row + 1]):
                totals[row, values[entry]] += counts[entry]


@njit(cache=True)
def _list_one_by_one(room: GroupingRoom) -> None:
    room.begins[:] = -1
    for member in range(room.order.size):
        room.begins[member] = member
        room.ends[member] = member + 1
        room.depths[member] = 1


@njit(cache=True)
def visit_group(records: Records, recodings: Recodings, room: GroupingRoom, place: int) -> tuple[int, int]:
    """Go to the next group; if it is a single recoding, return it and the number of its classes.

    For a larger group, merge the rows that none of its recodings distinguishes, if that pays, and return -1.
    """
    begin, end, depth = room.begins[place], room.ends[place], room.depths[place]
    if begin < 0:
        return -1, 0
    table = room.table_of[depth - 1]
    if end - begin == 1:
        member = room.order[begin]
        room.latest_table[0] = table
        return member, group_rows(records, room, table, recodings.blocks[member], recodings.n_blocks[member])
    room.table_of[depth] = table
    left = _common_refinement(
        records.first_unit,
        recodings.blocks,
        room.order[begin:end],
        room.segments[table],
        room.n_segments[table],
        room.blocks,
        room.n_blocks,
    )
    if left < (_PAYS_FOR_MANY if end - begin > 2 else _PAYS_FOR_TWO):
        n_classes = group_rows(records, room, table, room.blocks, room.n_blocks)
        if n_classes * _OF_ROWS <= (room.starts[table + 1] - room.starts[table]) * _KEPT_ROWS:
            _write_table(records, room, table, n_classes)
            room.table_of[depth] = table + 1
    return -1, 0


@njit(cache=True)
def _common_refinement(
    first_unit: Integers,
    blocks: Codes,
    members: Integers,
    segments: Integers,
    n_segments: Integers,
    united: Codes,
    n_united: Integers,
) -> float:
    """Compute the coarsest blocks that refine some recodings; return the share of combinations left."""
    share = 1.0
    for attribute in range(first_unit.size - 1):
        start = first_unit[attribute]
        block = 0
        united[start] = 0
        for segment in range(1, n_segments[attribute]):
            before, unit = segments[start + segment - 1], segments[start + segment]
            for member in members:
                if blocks[member, unit] != blocks[member, before]:
                    block += 1
                    break
            united[unit] = block
        n_united[attribute] = block + 1
        share *= (block + 1) / n_segments[attribute]
    return share


@njit(cache=True)
def _write_table(records: Records, room: GroupingRoom, table: int, n_classes: int) -> None:
    """Write the classes of a table as the next table."""
    start, end = room.starts[table], room.starts[table + 1]
    room.starts[table + 2] = end + n_classes
    first, founders = room.first, room.founders
    room.weights[end : end + n_classes] = room.sizes[:n_classes]
    for number in range(n_classes):
        first[end + number] = first[founders[number]]
    for joint in range(room.codes.shape[0]):
        codes, lookup = room.codes[joint], room.lookups[joint]
        for number in range(n_classes):
            codes[end + number] = lookup[codes[founders[number]]]
    if room.counts.shape[1]:
        room.counts[end : end + n_classes] = 0
        add_counts(room.counts[start:end], room.class_of, room.counts[end : end + n_classes])
    segments, blocks = room.segments, room.blocks
    for attribute in range(records.first_unit.size - 1):
        unit = records.first_unit[attribute]
        room.n_segments[table + 1, attribute] = room.n_blocks[attribute]
        for segment in range(room.n_segments[table, attribute] - 1, -1, -1):
            opening = segments[table, unit + segment]
            segments[table + 1, unit + blocks[opening]] = opening


@njit(cache=True)
def add_counts(counts: Codes, class_of: Integers, totals: Codes) -> None:
    """Add the counts of each row to those of its class."""
    for row in range(counts.shape[0]):
        number = class_of[row]
        for value in range(counts.shape[1]):
            totals[number, value] += counts[row, value]


@njit(cache=True)
def group_rows(records: Records, room: GroupingRoom, table: int, blocks: Codes, n_blocks: Integers) -> int:
    """Group the rows of a table by their blocks; return the number of classes."""
    start, end = room.starts[table], room.starts[table + 1]
    keys = room.keys[: end - start]
    span = 0
    for joint in range(records.joints.size - 1):
        lookup = room.lookups[joint]
        codes = room.codes[joint, start:end]
        joint_span = _look_up(
            records.order[records.joints[joint] : records.joints[joint + 1]],
            records.first_unit,
            room.segments[table],
            room.n_segments[table],
            blocks,
            n_blocks,
            lookup,
        )
        if span == 0:
            for row in range(keys.size):
                keys[row] = lookup[codes[row]]
            span = joint_span
            continue
        if span > _LARGEST_KEY // joint_span:
            span = _number_keys(room, start, keys, span)
            keys[:] = room.class_of[: end - start]
        for row in range(keys.size):
            keys[row] = keys[row] * joint_span + lookup[codes[row]]
        span *= joint_span
    return _number_keys(room, start, keys, span)


@njit(cache=True)
def _look_up(
    attributes: Integers,
    first_unit: Integers,
    segments: Integers,
    n_segments: Integers,
    blocks: Codes,
    n_blocks: Integers,
    lookup: Integers,
) -> int:
    """Encode the blocks of every combination of segments in a joint as a number; return the span of these."""
    lookup[0] = 0
    filled = 1
    span = 1
    for attribute in attributes:
        start = first_unit[attribute]
        for code in range(filled - 1, -1, -1):
            base = lookup[code] * n_blocks[attribute]
            for segment in range(n_segments[attribute] - 1, -1, -1):
                lookup[code * n_segments[attribute] + segment] = base + blocks[segments[start + segment]]
        filled *= n_segments[attribute]
        span *= n_blocks[attribute]
    return span


@njit(cache=True)
def _number_keys(room: GroupingRoom, start: int, keys: Integers, span: int) -> int:
    """Number equal keys, with the size and the first row of each class; return the number of classes.

    Few possible keys use an array, cleared afterwards through the classes; more keys a hash table with open
    addressing, at most half full. Both take linear time.
    """
    class_of, sizes, founders, cells = room.class_of, room.sizes, room.founders, room.cells
    weights = room.weights[start : start + keys.size]
    n_classes = 0
    if span <= _MOST_CELLS:
        for row in range(keys.size):
            # zero means a free cell, so numbers are stored plus one
            number: Any = np.int64(cells[keys[row]]) - 1
            if number < 0:
                number = n_classes
                sizes[n_classes] = 0
                founders[n_classes] = start + row
                n_classes += 1
                cells[keys[row]] = n_classes
            sizes[number] += weights[row]
            class_of[row] = number
        for number in range(n_classes):
            cells[keys[founders[number] - start]] = 0
        return n_classes
    slots, class_keys = room.slots, room.class_keys
    bits = 4
    while 1 << bits < 2 * keys.size:
        bits += 1
    shift, mask = np.uint64(64 - bits), (1 << bits) - 1
    slots[: mask + 1] = 0
    for row in range(keys.size):
        key = keys[row]
        slot = np.int64(np.uint64(key) * _GOLDEN >> shift)
        number = np.int64(slots[slot]) - 1
        while number >= 0 and class_keys[number] != key:
            slot = (slot + 1) & mask
            number = np.int64(slots[slot]) - 1
        if number < 0:
            number = n_classes
            class_keys[n_classes] = key
            sizes[n_classes] = 0
            founders[n_classes] = start + row
            n_classes += 1
            slots[slot] = n_classes
        sizes[number] += weights[row]
        class_of[row] = number
    return n_classes
