"""Group the rows of a table at the nodes of a generalization lattice, and describe every node.

A group is one distinct row of generalized values. Its key has one bit field for each attribute, its
loss is the sum of the losses of its cells, its histogram counts the sensitive values of its records.
The groups of a coarser node are made from those of a finer one, not from the rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sfumato.arrays import Booleans, Codes, Floats, Integers

FIGURES = (
    "distinct-diversity",
    "probabilistic-diversity",
    "entropy-diversity",
    "t-closeness",
    "t-closeness-ordered",
    "t-closeness-hierarchical",
    "privacy-loss",
    "knowledge-gain",
    "accuracy-gain",
    "delta-disclosure",
    "beta-likeness",
)
"""What `walk` says of the sensitive attribute, one column for each."""

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_LOG_2 = float(np.log(2.0))


@njit(cache=True)
def node_keys(cells: Codes, parts: Integers) -> Integers:
    """Return for each row the sum of the parts of its cells.

    Parameters
    ----------
    cells
        For each row and attribute the place of its value among the values of all attributes.
    parts
        For each of these values what it adds to the key.
    """
    n_rows, n_columns = cells.shape
    keys = np.empty(n_rows, np.int64)
    for row in range(n_rows):
        key = np.int64(0)
        for column in range(n_columns):
            key += parts[cells[row, column]]
        keys[row] = key
    return keys


@njit(cache=True)
def count_cells(
    cells: Codes, class_of: Integers, wanted: Booleans, weights: Integers, n_values: int
) -> Integers:
    """Count the values of all attributes over the rows whose class is wanted."""
    n_rows, n_columns = cells.shape
    counts = np.zeros(n_values, np.int64)
    for row in range(n_rows):
        if wanted[class_of[row]]:
            for column in range(n_columns):
                counts[cells[row, column]] += weights[row]
    return counts


@njit(cache=True)
def roll_up(
    keys: Integers,
    counts: Integers,
    losses: Floats,
    histograms: Codes,
    shift: int,
    mask: int,
    key_steps: Integers,
    loss_steps: Floats,
    slots: Codes,
    to_keys: Integers,
    to_counts: Integers,
    to_losses: Floats,
    to_histograms: Codes,
) -> int:
    """Generalize one attribute of all groups, put equal ones together, and return how many there are.

    Parameters
    ----------
    shift, mask
        Where the attribute's field lies in a key.
    key_steps, loss_steps
        For each old code of the attribute the bits of the key that change, and what the loss grows by.
    slots
        Room for a hash table of at least twice as many slots as there are groups.
    """
    n_groups = keys.size
    size = 16
    down = np.uint64(60)
    while size < 2 * n_groups:
        size *= 2
        down -= np.uint64(1)
    table = slots[:size]
    table[:] = -1
    width = histograms.shape[1]
    found = 0
    for group in range(n_groups):
        code = (keys[group] >> shift) & mask
        key = keys[group] ^ key_steps[code]
        slot = np.int64((np.uint64(key) * _GOLDEN) >> down)
        while table[slot] >= 0 and to_keys[table[slot]] != key:
            slot = (slot + 1) & (size - 1)
        place = table[slot]
        if place < 0:
            table[slot] = found
            to_keys[found] = key
            to_counts[found] = counts[group]
            to_losses[found] = losses[group] + loss_steps[code]
            for value in range(width):
                to_histograms[found, value] = histograms[group, value]
            found += 1
        else:
            to_counts[place] += counts[group]
            for value in range(width):
                to_histograms[place, value] += histograms[group, value]
    return found


@njit(cache=True)
def describe_sizes(
    counts: Integers, losses: Floats, classes_of_size: Integers, loss_of_size: Floats
) -> tuple[int, int]:
    """Count the small groups and their losses by size; return the smallest size and the sum of squares."""
    largest = classes_of_size.size
    smallest = counts[0]
    squares = np.int64(0)
    for group in range(counts.size):
        count = counts[group]
        smallest = min(smallest, count)
        squares += count * count
        if count < largest:
            classes_of_size[count] += 1
            loss_of_size[count] += losses[group] * count
    return smallest, squares


@njit(cache=True, fastmath={"reassoc", "nsz", "nnan", "contract"})
def describe_values(
    counts: Integers,
    histograms: Codes,
    n_values: int,
    prior: Floats,
    inverse_prior: Floats,
    node_of: Codes,
    node_prior: Floats,
    figures: Floats,
) -> None:
    """Write what each of `FIGURES` is at one node.

    A figure that is the worst over all groups is computed only for the groups that a cheaper figure
    does not already show to be harmless: no distance is above total variation (Jensen-Shannon: log 2
    times that), and exp(entropy) is never below 1 / the largest share.

    Parameters
    ----------
    prior, inverse_prior
        p(T, s) and 1 / p(T, s), both 0 behind the last value: as wide as the histograms.
    node_of, node_prior
        For each level of the sensitive attribute's hierarchy between the values and the root the node
        of each value, and the prior of each node.
    """
    width = prior.size
    fewest = n_values
    least_diverse = np.inf
    least_entropy = np.inf
    farthest = 0.0
    farthest_ordered = 0.0
    farthest_hierarchical = 0.0
    farthest_js = 0.0
    moved = 0.0
    right = np.int64(0)
    highest_ratio = 1.0
    lowest_ratio = 1.0
    for group in range(counts.size):
        row = histograms[group]
        size = np.float64(counts[group])
        n_distinct = 0
        largest = np.int32(0)
        excess = 0.0
        ratio = 0.0
        for value in range(width):
            count = row[value]
            n_distinct += count > 0
            largest = max(largest, count)
            excess += max(count - size * prior[value], 0.0)
            ratio = max(ratio, count * inverse_prior[value])
        fewest = min(fewest, n_distinct)
        right += largest
        moved += excess
        distance = excess / size
        farthest = max(farthest, distance)
        highest_ratio = max(highest_ratio, ratio / size)
        if size / largest < least_diverse:
            least_diverse = size / largest
        if size / largest < least_entropy:
            least_entropy = min(least_entropy, _exponential_entropy(row, size))
        if distance > farthest_ordered:
            farthest_ordered = max(farthest_ordered, _ordered(row, size, n_values, prior))
        if distance > farthest_hierarchical:
            above = _above(row, size, n_values, node_of, node_prior)
            farthest_hierarchical = max(farthest_hierarchical, (distance + above) / (node_of.shape[0] + 1))
        if distance * _LOG_2 > farthest_js:
            farthest_js = max(farthest_js, _jensen_shannon(row, size, n_values, prior))
        if fewest == n_values:
            for value in range(n_values):
                lowest_ratio = min(lowest_ratio, row[value] * inverse_prior[value] / size)
    n_records = counts.sum()
    commonest = prior.max()
    figures[0] = fewest
    figures[1] = least_diverse
    figures[2] = least_entropy
    figures[3] = farthest
    figures[4] = farthest_ordered
    figures[5] = farthest_hierarchical
    figures[6] = min(farthest_js, _LOG_2)
    figures[7] = moved / n_records
    figures[8] = right / n_records - commonest
    figures[9] = max(np.log(highest_ratio), -np.log(lowest_ratio)) if fewest == n_values else np.inf
    figures[10] = highest_ratio - 1.0


@njit(cache=True)
def _exponential_entropy(row: Codes, size: float) -> float:
    entropy = 0.0
    for value in range(row.size):
        if row[value] > 0:
            share = row[value] / size
            entropy -= share * np.log(share)
    return np.exp(max(entropy, 0.0))


@njit(cache=True)
def _ordered(row: Codes, size: float, n_values: int, prior: Floats) -> float:
    """Return the earth mover's distance of values as far apart as they are in order."""
    counted = np.int64(0)
    expected = 0.0
    distance = 0.0
    for value in range(n_values - 1):
        counted += row[value]
        expected += prior[value]
        distance += abs(counted / size - expected)
    return distance / max(n_values - 1, 1)


@njit(cache=True)
def _above(row: Codes, size: float, n_values: int, node_of: Codes, node_prior: Floats) -> float:
    """Return the sum over the levels between values and root of the total variation of the nodes."""
    distance = 0.0
    counted = np.empty(node_prior.shape[1], np.int64)
    for level in range(node_of.shape[0]):
        counted[:] = 0
        for value in range(n_values):
            counted[node_of[level, value]] += row[value]
        for node in range(counted.size):
            distance += max(counted[node] / size - node_prior[level, node], 0.0)
    return distance


@njit(cache=True)
def _jensen_shannon(row: Codes, size: float, n_values: int, prior: Floats) -> float:
    divergence = 0.0
    for value in range(n_values):
        if row[value] == 0:
            divergence += prior[value] * _LOG_2
        else:
            share = row[value] / size
            middle = (share + prior[value]) / 2
            divergence += share * np.log(share / middle) + prior[value] * np.log(prior[value] / middle)
    return divergence / 2


@njit(cache=True)
def walk(
    heights: Integers,
    strides: Integers,
    shifts: Integers,
    masks: Integers,
    nested: Booleans,
    starts: Integers,
    key_steps: Integers,
    loss_steps: Floats,
    step_starts: Integers,
    keys: Integers,
    counts: Integers,
    losses: Floats,
    histograms: Codes,
    n_values: int,
    prior: Floats,
    inverse_prior: Floats,
    node_of: Codes,
    node_prior: Floats,
    n_classes: Integers,
    smallest: Integers,
    squares: Integers,
    classes_of_size: Integers,
    loss_of_size: Floats,
    figures: Floats,
) -> None:
    """Describe every node of the lattice.

    The nodes are visited like the numbers of an odometer, the last attribute turning fastest. When an
    attribute turns from one level to the next, all behind it stand at level 0, so that the groups of
    the new node are those of the node before the turn, rolled up once: two buffers for each attribute
    are enough.

    Parameters
    ----------
    heights, strides
        The highest level of each attribute, and how far apart its levels lie among the nodes.
    shifts, masks
        Where each attribute's field lies in a key.
    nested
        For each attribute and level whether it is made from the level below, else from level 0.
    starts
        Where in ``keys``, ``counts``, ``losses`` and ``histograms`` each buffer starts; buffer 0 is the
        table, 2a + 1 and 2a + 2 are the even and the odd levels of attribute a.
    key_steps, loss_steps, step_starts
        For each attribute and level what changes when a code of the level below is generalized.
    """
    n_attributes = heights.size
    level = np.zeros(n_attributes, np.int64)
    buffer = np.zeros(n_attributes + 1, np.int64)
    held = np.zeros(2 * n_attributes + 1, np.int64)
    held[0] = starts[1]
    size = 16
    while size < 2 * held[0]:
        size *= 2
    slots = np.empty(size, np.int32)
    node = 0
    current = 0
    while True:
        first, last = starts[current], starts[current] + held[current]
        n_classes[node] = held[current]
        smallest[node], squares[node] = describe_sizes(
            counts[first:last], losses[first:last], classes_of_size[node], loss_of_size[node]
        )
        if n_values > 0:
            describe_values(
                counts[first:last],
                histograms[first:last],
                n_values,
                prior,
                inverse_prior,
                node_of,
                node_prior,
                figures[node],
            )
        turning = n_attributes - 1
        while turning >= 0 and level[turning] == heights[turning]:
            node -= level[turning] * strides[turning]
            level[turning] = 0
            turning -= 1
        if turning < 0:
            break
        level[turning] += 1
        node += strides[turning]
        # buffer[a + 1] holds the groups after the choice for attribute a, buffer[a] those before it
        source = buffer[turning + 1] if nested[turning, level[turning]] else buffer[turning]
        current = 2 * turning + 1 + (level[turning] & 1)
        first, last = starts[source], starts[source] + held[source]
        into, end = starts[current], starts[current + 1]
        steps = slice(step_starts[turning, level[turning]], step_starts[turning, level[turning] + 1])
        held[current] = roll_up(
            keys[first:last],
            counts[first:last],
            losses[first:last],
            histograms[first:last],
            shifts[turning],
            masks[turning],
            key_steps[steps],
            loss_steps[steps],
            slots,
            keys[into:end],
            counts[into:end],
            losses[into:end],
            histograms[into:end],
        )
        buffer[turning + 1 :] = current
