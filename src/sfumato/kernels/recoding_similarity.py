"""Arrange similar recodings in nested groups.

Two recodings are similar if a table that distinguishes what either of them distinguishes is hardly longer
than the table that each needs by itself. A group is divided by the block border that leaves the fewest
combinations of blocks to both halves. `shared_grouping` counts the groups; the arrangement affects its speed
and never its result.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Codes, Floats, Integers

# A group is divided by a border that at least one in this many recodings has, and one in this many lacks.
_SMALLEST_PART = 5
# About this many borders are tried to divide a small group.
_MAX_BORDERS = 8


@njit(cache=True)
def nest_similar(
    first_unit: Integers, blocks: Codes, order: Integers, begins: Integers, ends: Integers, depths: Integers
) -> None:
    """Divide recodings again and again, and list the groups, each before its parts.

    Parameters
    ----------
    first_unit
        Where the units of each attribute begin, with the end appended.
    blocks
        For each recoding the block of every unit.
    order
        The recodings; reordered so that every group is contiguous.
    begins, ends, depths
        Filled with the groups: where each begins and ends in the order, -1 after the last, and the number of
        groups that contain it, itself included.
    """
    borders = _block_borders(first_unit, blocks)
    logarithms = np.log(np.arange(1.0, borders.shape[1] + 2))
    stack = np.empty((order.size + 1, 3), np.int64)
    stack[0, 0], stack[0, 1], stack[0, 2] = 0, order.size, 1
    n_stacked = min(order.size, 1)
    place = 0
    while n_stacked:
        n_stacked -= 1
        begin, end, depth = stack[n_stacked, 0], stack[n_stacked, 1], stack[n_stacked, 2]
        begins[place], ends[place], depths[place] = begin, end, depth
        place += 1
        if end - begin > 1:
            middle = _part_members(borders, first_unit, logarithms, order[begin:end])
            stack[n_stacked, 0], stack[n_stacked, 1] = begin + middle, end
            stack[n_stacked + 1, 0], stack[n_stacked + 1, 1] = begin, begin + middle
            stack[n_stacked : n_stacked + 2, 2] = depth + 1
            n_stacked += 2
    begins[place:] = -1


@njit(cache=True)
def _block_borders(first_unit: Integers, blocks: Codes) -> npt.NDArray[np.uint8]:
    """Return for each recoding and unit whether it lies in another block than the unit before it."""
    borders = np.zeros(blocks.shape, np.uint8)
    for member in range(blocks.shape[0]):
        for unit in range(1, blocks.shape[1]):
            borders[member, unit] = blocks[member, unit] != blocks[member, unit - 1]
    borders[:, first_unit[:-1]] = 0
    return borders


@njit(cache=True)
def _part_members(
    borders: npt.NDArray[np.uint8], first_unit: Integers, logarithms: Floats, members: Integers
) -> int:
    """Choose a border and put the recodings without it first; return how many these are.

    The border is the one that leaves the fewest combinations of blocks to both parts. If nearly all or nearly
    no recodings have each border, the group is divided in the middle of its present order.
    """
    n_members = members.size
    if n_members == 2:
        return 1
    n_having, having = _border_members(borders, members)
    fewest = max(n_members // _SMALLEST_PART, 1)
    parting = np.flatnonzero((n_having >= fewest) & (n_having <= n_members - fewest))
    best = np.inf
    chosen = -1
    # few recodings divide in much the same way at any of their borders
    for place in range(0, parting.size, 1 + parting.size // (_MAX_BORDERS + n_members // 2)):
        unit = parting[place]
        score = _combinations(having, unit, first_unit, logarithms, n_having[unit], n_members)
        if score < best:
            best, chosen = score, unit
    if chosen < 0:
        return n_members // 2
    kept = 0
    moved = np.empty(n_having[chosen], np.int64)
    for place in range(n_members):
        member = members[place]
        if borders[member, chosen]:
            moved[place - kept] = member
        else:
            members[kept] = member
            kept += 1
    members[kept:] = moved
    return kept


@njit(cache=True)
def _border_members(
    borders: npt.NDArray[np.uint8], members: Integers
) -> tuple[Integers, npt.NDArray[np.uint64]]:
    """Return for each border how many recodings have it, and which, one bit for each."""
    n_having = np.zeros(borders.shape[1], np.int64)
    having = np.zeros((borders.shape[1], (members.size + 63) // 64), np.uint64)
    for place in range(members.size):
        word, bit = place // 64, np.uint64(place % 64)
        member = members[place]
        for unit in range(borders.shape[1]):
            has = np.uint64(borders[member, unit])
            n_having[unit] += np.int64(has)
            having[unit, word] |= has << bit
    return n_having, having


@njit(cache=True)
def _combinations(
    having: npt.NDArray[np.uint64],
    chosen: int,
    first_unit: Integers,
    logarithms: Floats,
    n_with: int,
    n_members: int,
) -> float:
    """Return the log of the combinations of blocks that the parts must distinguish, over all members."""
    score = 0.0
    for attribute in range(first_unit.size - 1):
        n_left, n_right = 0, 0
        for unit in range(first_unit[attribute], first_unit[attribute + 1]):
            both = np.uint64(0)
            only = np.uint64(0)
            for word in range(having.shape[1]):
                both |= having[unit, word] & having[chosen, word]
                only |= having[unit, word] & ~having[chosen, word]
            n_right += both != 0
            n_left += only != 0
        score += n_with * logarithms[n_right] + (n_members - n_with) * logarithms[n_left]
    return score
