"""Describe recodings whose classes are suppressed if they are far from the whole table (t-closeness).

Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques using
multi-objective optimization", 2011, section 8, leave this problem for later work. Every recoding is counted
from the records: one pass for its classes, and one for their distances and diversities. Each pair (k, l)
that some suppression can reach costs one more pass over the classes.

For a pair (k, l), the classes below it must go. The records that may still be suppressed are best spent on
the farthest of the other classes, which gives the smallest t. Raising k to just above the smallest class that
stays visits every k at which something changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.kernels.recoding_classes import (
    TRAITS,
    PersonLists,
    SensitiveRows,
    _describe,
    _diversities,
    _group_records,
    _people_of_classes,
    _record_room,
)
from sfumato.kernels.row_groups import rows_by_group
from sfumato.kernels.shared_grouping import GroupingRoom, Recodings, Records
from sfumato.runtime.arrays import Booleans, Floats, Integers

CLOSE_TRAITS = (*TRAITS, "t")
"""The traits of each solution; ``t`` is the largest distance of a class that stays."""

_K, _L, _FIRST, _SECOND, _T = 0, 1, 5, 6, 7
# Distances that are computed in two ways may differ in their last digits.
_TIE = 1e-12


class TableDistribution(NamedTuple):
    """The share of each sensitive value in the whole table, and which attributes have an order."""

    prior: Floats
    ordered: Booleans


@njit(cache=True)
def _distances(
    sensitive: SensitiveRows, whole: TableDistribution, room: GroupingRoom, n_classes: int
) -> Floats:
    """Return the earth mover's distance of each class, the largest of its sensitive attributes."""
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
    """Return the distance at which suppressing the farthest classes would exceed ``limit`` records."""
    n_suppressed = 0
    for number in order:
        if stays[number]:
            n_suppressed += sizes[number]
            if n_suppressed > limit:
                return distances[number]
    return 0.0


@njit(cache=True, nogil=True)
def suppress_far(
    records: Records,
    persons: PersonLists,
    sensitive: SensitiveRows,
    whole: TableDistribution,
    recodings: Recodings,
    limit: int,
    by_size: bool,
    by_diversity: bool,
) -> Floats:
    """Return the traits of every solution that suppressing at most ``limit`` records can reach.

    Classes below k, below l or farther than t are suppressed. Each pair of l (if diversity counts) and k (if
    sizes count) gets the smallest possible t. All recodings get as many rows as the longest list needs;
    unused rows have k = 0.
    """
    n_records = records.weights.sum()
    room = _record_room(records)
    pairs = np.zeros((recodings.blocks.shape[0], 8, len(CLOSE_TRAITS)))
    longest = 0
    for recoding in range(recodings.blocks.shape[0]):
        n_classes = _group_records(records, recodings.blocks[recoding], recodings.n_blocks[recoding], room)
        sizes = room.sizes[:n_classes]
        people = _people_of_classes(persons, room, n_classes)
        diversities = _diversities(sensitive, persons, room, n_classes)
        distances = _distances(sensitive, whole, room, n_classes)
        order = np.argsort(-distances)
        row = 0
        least = 1
        while least <= diversities.max():
            smallest = 1
            while True:
                stays = (sizes >= smallest) & (diversities >= least)
                n_suppressed = n_records - sizes[stays].sum()
                if n_suppressed > limit:
                    break
                t = _farthest_kept(distances, order, sizes, stays, limit - n_suppressed)
                if row == pairs.shape[1]:
                    longer = np.zeros((pairs.shape[0], 2 * row, pairs.shape[2]))
                    longer[:, :row] = pairs
                    pairs = longer
                kept = stays & (distances <= t + _TIE)
                traits = pairs[recoding, row]
                _describe(
                    records, recodings.losses[recoding], room, people, diversities, kept, n_records, traits
                )
                traits[_FIRST], traits[_SECOND], traits[_T] = traits[_K], traits[_L], t
                row += 1
                smallest = int(traits[_K]) + 1
                if not by_size:
                    break
            if not by_diversity or sizes[diversities < least].sum() > limit:
                break
            least += 1
        longest = max(longest, row)
    return pairs[:, :longest].copy()
