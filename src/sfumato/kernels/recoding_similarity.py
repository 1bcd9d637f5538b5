"""Put recodings that are like each other together, in groups within groups.

Two recodings are alike when a table that tells apart what either of them does is hardly longer than what
each needs by itself.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Codes, Floats, Integers

# Groups are parted by a border that at least one of so many recodings has, and one of so many has not.
_FEW = 5
# So many borders are tried to part a small group.
_TRIED = 8


@njit(cache=True)
def gather_similar(
    first_unit: Integers, blocks: Codes, order: Integers, begins: Integers, ends: Integers, depths: Integers
) -> None:
    """Part recodings again and again, and write the groups down, each before its parts.

    Parameters
    ----------
    first_unit
        Where the units of each attribute begin, with the end appended.
    blocks
        For each recoding the block of every unit.
    order
        The recodings; put into an order in which every group stands together.
    begins, ends, depths
        Filled with the groups: where each begins and ends in the order, -1 behind the last, and how many
        groups it is part of, with itself.
    """
    borders = _block_borders(first_unit, blocks)
    logarithms = np.log(np.arange(1.0, borders.shape[1] + 2))
    waiting = np.empty((order.size + 1, 3), np.int64)
    waiting[0, 0], waiting[0, 1], waiting[0, 2] = 0, order.size, 1
    n_waiting = min(order.size, 1)
    place = 0
    while n_waiting:
        n_waiting -= 1
        begin, end, depth = waiting[n_waiting, 0], waiting[n_waiting, 1], waiting[n_waiting, 2]
        begins[place], ends[place], depths[place] = begin, end, depth
        place += 1
        if end - begin > 1:
            middle = _part(borders, first_unit, logarithms, order[begin:end])
            waiting[n_waiting, 0], waiting[n_waiting, 1] = begin + middle, end
            waiting[n_waiting + 1, 0], waiting[n_waiting + 1, 1] = begin, begin + middle
            waiting[n_waiting : n_waiting + 2, 2] = depth + 1
            n_waiting += 2
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
def _part(borders: npt.NDArray[np.uint8], first_unit: Integers, logarithms: Floats, members: Integers) -> int:
    """Put the recodings without a certain border first; return how many these are.

    It is the border that leaves the fewest combinations of blocks to both parts. Where every border is nearly
    everybody's or nobody's, those that were named first stay together.
    """
    n_members = members.size
    if n_members == 2:
        return 1
    n_having, having = _who_has(borders, members)
    fewest = max(n_members // _FEW, 1)
    parting = np.flatnonzero((n_having >= fewest) & (n_having <= n_members - fewest))
    best = np.inf
    chosen = -1
    # few recodings part much the same way at any of their borders
    for place in range(0, parting.size, 1 + parting.size // (_TRIED + n_members // 2)):
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
def _who_has(borders: npt.NDArray[np.uint8], members: Integers) -> tuple[Integers, npt.NDArray[np.uint64]]:
    """Return for each border how many of the recodings have it, and which, one bit for each."""
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
    """Return how many combinations of blocks the parts have to tell apart (a logarithm, for all members)."""
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
