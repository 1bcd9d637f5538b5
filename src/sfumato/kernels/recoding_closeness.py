"""Describe recodings whose classes are suppressed where they lie far from the whole table."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.kernels.recoding_classes import (
    TRAITS,
    Persons,
    Sensitive,
    _classes,
    _describe,
    _diversities,
    _people,
    _room,
)
from sfumato.kernels.row_groups import rows_by_group
from sfumato.kernels.shared_grouping import Recodings, Records, Room
from sfumato.runtime.arrays import Booleans, Floats, Integers

CLOSE_TRAITS = (*TRAITS, "t")
"""What is known of each solution: ``t`` is the largest distance of a class that stays."""

_K, _L, _FIRST, _SECOND, _T = 0, 1, 5, 6, 7
# Distances that are computed in two ways may differ in their last digits.
_TIE = 1e-12


class Whole(NamedTuple):
    """The share of each sensitive value in the whole table, and which attributes have an order."""

    prior: Floats
    ordered: Booleans


@njit(cache=True)
def _distances(sensitive: Sensitive, whole: Whole, room: Room, n_classes: int) -> Floats:
    """Return the earth mover's distance of each class, of the sensitive attribute that is farthest."""
    rows, starts = rows_by_group(room.class_of, n_classes)
    counts = np.zeros(sensitive.n_values, np.int64)
    distances = np.zeros(n_classes)
    for number in range(n_classes):
        for place in range(starts[number], starts[number + 1]):
            row = rows[place]
            for entry in range(sensitive.starts[row], sensitive.starts[row + 1]):
                counts[sensitive.values[entry]] += sensitive.counts[entry]
        first = 0
        while first < sensitive.n_values:
            end = first
            excess = cumulated = moved = 0.0
            while end < sensitive.n_values and sensitive.owners[end] == sensitive.owners[first]:
                difference = counts[end] / room.sizes[number] - whole.prior[end]
                excess += max(difference, 0.0)
                cumulated += difference
                moved += abs(cumulated)
                end += 1
            if whole.ordered[sensitive.owners[first]]:
                excess = moved / max(end - first - 1, 1)
            distances[number] = max(distances[number], excess)
            first = end
        counts[:] = 0
    return distances


@njit(cache=True)
def _farthest_kept(distances: Floats, order: Integers, sizes: Integers, stays: Booleans, limit: int) -> float:
    """Return the distance at which more than ``limit`` records would have to go, the farthest first."""
    gone = 0
    for number in order:
        if stays[number]:
            gone += sizes[number]
            if gone > limit:
                return distances[number]
    return 0.0


@njit(cache=True, nogil=True)
def suppress_far(
    records: Records,
    persons: Persons,
    sensitive: Sensitive,
    whole: Whole,
    recodings: Recodings,
    limit: int,
    by_size: bool,
    by_diversity: bool,
) -> Floats:
    """Return the traits of what suppressing at most ``limit`` records can reach.

    Classes below k, below l or farther than t are suppressed: for each l, if diversity counts, and each k, if
    sizes count, the smallest t. There are as many rows for each recoding as the longest list needs; a row
    that is not used has k = 0.
    """
    n_records = records.weights.sum()
    room = _room(records)
    found = np.zeros((recodings.blocks.shape[0], 8, len(CLOSE_TRAITS)))
    longest = 0
    for one in range(recodings.blocks.shape[0]):
        n_classes = _classes(records, recodings.blocks[one], recodings.n_blocks[one], room)
        sizes = room.sizes[:n_classes]
        people = _people(persons, room, n_classes)
        diversities = _diversities(sensitive, persons, room, n_classes)
        distances = _distances(sensitive, whole, room, n_classes)
        order = np.argsort(-distances)
        row = 0
        least = 1
        while least <= diversities.max():
            smallest = 1
            while True:
                stays = (sizes >= smallest) & (diversities >= least)
                gone = n_records - sizes[stays].sum()
                if gone > limit:
                    break
                t = _farthest_kept(distances, order, sizes, stays, limit - gone)
                if row == found.shape[1]:
                    longer = np.zeros((found.shape[0], 2 * row, found.shape[2]))
                    longer[:, :row] = found
                    found = longer
                kept = stays & (distances <= t + _TIE)
                traits = found[one, row]
                _describe(records, recodings.losses[one], room, people, diversities, kept, n_records, traits)
                traits[_FIRST], traits[_SECOND], traits[_T] = traits[_K], traits[_L], t
                row += 1
                smallest = int(traits[_K]) + 1
                if not by_size:
                    break
            if not by_diversity or sizes[diversities < least].sum() > limit:
                break
            least += 1
        longest = max(longest, row)
    return found[:, :longest].copy()
