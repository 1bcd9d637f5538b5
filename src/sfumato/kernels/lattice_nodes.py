"""Group the rows of a table at every node of a generalization lattice, and describe each node.

A group is one distinct row of generalized values. Its key has one bit field for each attribute, its loss
is the sum of the losses of its cells, and its histogram counts the sensitive values of its records.

The groups of a coarser node are made from those of a finer one, not from the rows (the rollup property:
LeFevre, DeWitt, Ramakrishnan, "Incognito: efficient full-domain k-anonymity", 2005). That is right because
every node of a level lies within a node of the next: keys can be translated field by field, and sizes, losses
and histograms add up. Where a level does not nest, its groups are made from those of level 0.

A node costs time in proportion to the groups of a finer one, and to groups times values for the scores.
`walk` orders the nodes so that two buffers for each attribute suffice. Tables in which people have several
records need a walk of their own (`lattice_nodes_people` says why), but share the scores.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers

SCORES = (
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
    "mean-privacy-loss",
)
"""The scores of the sensitive attribute that `walk` computes, one column for each."""
(
    DISTINCT,
    PROBABILISTIC,
    ENTROPY,
    EQUAL_DISTANCE,
    ORDERED_DISTANCE,
    HIERARCHICAL_DISTANCE,
    PRIVACY_LOSS,
    KNOWLEDGE_GAIN,
    ACCURACY_GAIN,
    DELTA_DISCLOSURE,
    BETA_LIKENESS,
    MEAN_PRIVACY_LOSS,
) = range(len(SCORES))


class Groups(NamedTuple):
    """Groups of records with equal generalized values.

    ``pure`` is the sensitive value of a group whose records all share it, else -1; a group has a histogram
    only if it is -1.
    """

    keys: Integers
    counts: Integers
    losses: Floats
    pure: Codes
    histograms: Codes


class Prior(NamedTuple):
    """The distribution of the sensitive attribute, over its values and the inner levels of its hierarchy.

    ``inverse`` is one divided by the share of each value. The ``alone`` arrays hold the distance between the
    prior and a group with only that value, by order and by hierarchy. These arrays are as wide as a histogram
    and 0 after the last value.
    """

    n_values: int
    shares: Floats
    inverse: Floats
    alone_ordered: Floats
    alone_hierarchical: Floats
    node_of: Codes
    node_shares: Floats


class DescribedNodes(NamedTuple):
    """The description of every node; ``scores`` are those of the sensitive attribute.

    The last three fields are for people with several records, and empty if nobody has several.
    """

    n_classes: Integers
    smallest: Integers
    squares: Integers
    small_classes: Integers
    small_losses: Floats
    scores: Floats
    weighted_k: Floats
    small_records: Integers
    small_squares: Integers


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
        What each of these values adds to the key.
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
def count_values(
    order: Integers, group: Integers, n_groups: int, values: Codes, weights: Integers
) -> tuple[Integers, Codes, Integers]:
    """Count the values of each group: starts (with the end), values ascending, counts.

    Parameters
    ----------
    order
        The rows in the order of their values.
    group
        The group of each row; rows with a negative group do not count.
    """
    starts = np.zeros(n_groups + 1, np.int64)
    latest = np.full(n_groups, -1, np.int32)
    for place in range(order.size):
        row = order[place]
        index = group[row]
        if index >= 0 and latest[index] != values[row]:
            latest[index] = values[row]
            starts[index + 1] += 1
    for index in range(n_groups):
        starts[index + 1] += starts[index]
    group_values = np.empty(starts[n_groups], np.int32)
    group_counts = np.zeros(starts[n_groups], np.int64)
    filled = starts[:-1] - 1
    latest[:] = -1
    for place in range(order.size):
        row = order[place]
        index = group[row]
        if index >= 0:
            if latest[index] != values[row]:
                latest[index] = values[row]
                filled[index] += 1
                group_values[filled[index]] = values[row]
            group_counts[filled[index]] += weights[row]
    return starts, group_values, group_counts


@njit(cache=True)
def roll_up(
    groups: Groups,
    shift: int,
    mask: int,
    key_steps: Integers,
    loss_steps: Floats,
    slots: Codes,
    into: Groups,
) -> int:
    """Generalize one attribute of all groups, merge equal groups, and return their number.

    Keys are looked up in a hash table with open addressing, so a call takes linear time.

    Parameters
    ----------
    shift, mask
        Where the attribute's field lies in a key.
    key_steps, loss_steps
        For each old code of the attribute the bits of the key that change, and what the loss grows by.
    slots
        Room for a hash table with at least 16 slots, and twice as many as there are groups.
    into
        Room for the new groups.
    """
    # taken out of the tuples once: in the loop each would be counted as one more reference
    keys, counts, losses, pure, histograms = groups
    to_keys, to_counts, to_losses, to_pure, to_histograms = into
    size = 16
    shift_down = np.uint64(60)
    while size < 2 * keys.size:
        size *= 2
        shift_down -= np.uint64(1)
    table = slots[:size]
    table[:] = -1
    width = histograms.shape[1]
    n_groups = 0
    for group in range(keys.size):
        code = (keys[group] >> shift) & mask
        key = keys[group] ^ key_steps[code]
        slot = np.int64((np.uint64(key) * _GOLDEN) >> shift_down)
        while table[slot] >= 0 and to_keys[table[slot]] != key:
            slot = (slot + 1) & (size - 1)
        place = table[slot]
        if place < 0:
            table[slot] = n_groups
            to_keys[n_groups] = key
            to_counts[n_groups] = counts[group]
            to_losses[n_groups] = losses[group] + loss_steps[code]
            to_pure[n_groups] = pure[group]
            if pure[group] < 0:
                for value in range(width):
                    to_histograms[n_groups, value] = histograms[group, value]
            n_groups += 1
            continue
        if pure[group] < 0 or pure[group] != to_pure[place]:
            if to_pure[place] >= 0:
                for value in range(width):
                    to_histograms[place, value] = 0
                to_histograms[place, to_pure[place]] = to_counts[place]
                to_pure[place] = -1
            if pure[group] >= 0:
                to_histograms[place, pure[group]] += counts[group]
            else:
                for value in range(width):
                    to_histograms[place, value] += histograms[group, value]
        to_counts[place] += counts[group]
    return n_groups


@njit(cache=True)
def describe_sizes(
    counts: Integers, losses: Floats, small_classes: Integers, small_losses: Floats
) -> tuple[int, int]:
    """Return the smallest size and the sum of squared sizes; count small groups and their losses by size."""
    smallest = counts[0]
    squares = 0
    for group in range(counts.size):
        count = counts[group]
        smallest = min(smallest, count)
        squares += count * count
        if count < small_classes.size:
            small_classes[count] += 1
            small_losses[count] += losses[group] * count
    return smallest, squares


@njit(cache=True)
def describe_people(
    people: Integers,
    counts: Integers,
    losses: Floats,
    small_classes: Integers,
    small_losses: Floats,
    small_records: Integers,
    small_squares: Integers,
) -> tuple[int, int, float]:
    """Describe groups of so many people and records.

    Return the fewest people, the sum of squared numbers of records, and the average number of people in a
    person's group; add up groups, losses, records and squares by the number of people.
    """
    fewest = people[0]
    squares = 0
    n_meetings = 0.0
    for group in range(counts.size):
        count = counts[group]
        n_people = people[group]
        fewest = min(fewest, n_people)
        squares += count * count
        n_meetings += float(n_people) * n_people
        if n_people < small_classes.size:
            small_classes[n_people] += 1
            small_losses[n_people] += losses[group] * count
            small_records[n_people] += count
            small_squares[n_people] += count * count
    return fewest, squares, n_meetings / people.sum()


@njit(cache=True)
def describe_values(groups: Groups, prior: Prior, scores: Floats) -> None:
    """Compute each of `SCORES` over all groups."""
    counts, pure = groups.counts, groups.pure
    n_records = 0
    n_alone = np.zeros(prior.shares.size, np.int64)
    for group in range(counts.size):
        n_records += counts[group]
        if pure[group] >= 0:
            n_alone[pure[group]] += counts[group]
    begin_scores(prior, scores)
    # first, because they are the worst: many expensive scores of the others need not be computed then
    add_pure_groups(n_alone, prior, scores)
    add_mixed_groups(pure, counts, groups.histograms, None, None, prior, scores)
    finish_scores(n_records, prior, scores)


@njit(cache=True)
def begin_scores(prior: Prior, scores: Floats) -> None:
    """Set the scores to those of no groups at all.

    Until `finish_scores`, the column of delta-disclosure holds the lowest ratio of a share to its prior, that
    of beta-likeness the highest, and those of the means hold sums.
    """
    scores[:] = 0.0
    scores[DISTINCT] = prior.n_values
    scores[PROBABILISTIC] = np.inf
    scores[ENTROPY] = np.inf
    scores[DELTA_DISCLOSURE] = 1.0
    scores[BETA_LIKENESS] = 1.0


@njit(cache=True)
def add_pure_groups(n_alone: Integers, prior: Prior, scores: Floats) -> None:
    """Update the scores with all groups that have a single value, given how many members they have by value.

    All such groups of a value have the same distribution, so they are added as one.
    """
    for value in range(prior.n_values):
        size = n_alone[value]
        if size == 0:
            continue
        share = prior.shares[value]
        excess = size - size * share
        middle = (1.0 + share) / 2
        divergence = (share * np.log(share / middle) - np.log(middle) + (1.0 - share) * _LOG_2) / 2
        scores[DISTINCT] = scores[PROBABILISTIC] = scores[ENTROPY] = 1.0
        scores[EQUAL_DISTANCE] = max(scores[EQUAL_DISTANCE], excess / size)
        scores[ORDERED_DISTANCE] = max(scores[ORDERED_DISTANCE], prior.alone_ordered[value])
        scores[HIERARCHICAL_DISTANCE] = max(scores[HIERARCHICAL_DISTANCE], prior.alone_hierarchical[value])
        scores[PRIVACY_LOSS] = max(scores[PRIVACY_LOSS], divergence)
        scores[KNOWLEDGE_GAIN] += excess
        scores[ACCURACY_GAIN] += size
        if prior.n_values > 1:
            scores[DELTA_DISCLOSURE] = 0.0
        scores[BETA_LIKENESS] = max(scores[BETA_LIKENESS], prior.inverse[value])
        scores[MEAN_PRIVACY_LOSS] += divergence * size


@njit(cache=True)
def finish_scores(n_members: int, prior: Prior, scores: Floats) -> None:
    """Turn sums over the members of all groups into means, and ratios into scores."""
    scores[PRIVACY_LOSS] = min(scores[PRIVACY_LOSS], _LOG_2)
    scores[KNOWLEDGE_GAIN] /= n_members
    scores[ACCURACY_GAIN] = scores[ACCURACY_GAIN] / n_members - prior.shares.max()
    scores[DELTA_DISCLOSURE] = (
        max(np.log(scores[BETA_LIKENESS]), -np.log(scores[DELTA_DISCLOSURE]))
        if scores[DELTA_DISCLOSURE] > 0.0
        else np.inf
    )
    scores[BETA_LIKENESS] -= 1.0
    scores[MEAN_PRIVACY_LOSS] /= n_members


@njit(cache=True, fastmath={"reassoc", "nsz", "nnan", "contract"})
def add_mixed_groups(
    pure: Codes,
    counts: Integers,
    histograms: Codes | Floats,
    having: Codes | None,
    different: Integers | None,
    prior: Prior,
    scores: Floats,
) -> None:
    """Update the scores with the groups that are not pure: sums are added to, the others keep the worst.

    Expensive scores are computed only if a cheaper bound does not rule out a new
    worst: exp(entropy) is at least 1 / the largest share, and a distance, being convex, is at most the mean
    distance of its values alone and at most the total variation.

    Parameters
    ----------
    having, different
        Where people share their weight among several values: how many people of each group have each value at
        all, and how many values count as different. Else None, and numba compiles a kernel without them.
    """
    # taken out of the tuple once: in the loop each would be counted as one more reference
    n_values = prior.n_values
    shares = prior.shares
    inverse = prior.inverse
    alone_ordered = prior.alone_ordered
    alone_hierarchical = prior.alone_hierarchical
    node_of = prior.node_of
    node_shares = prior.node_shares
    occurring = np.empty(n_values + 1, np.int32)
    fewest, least_diverse, least_entropy = scores[DISTINCT], scores[PROBABILISTIC], scores[ENTROPY]
    farthest, farthest_js = scores[EQUAL_DISTANCE], scores[PRIVACY_LOSS]
    farthest_ordered, farthest_hierarchical = scores[ORDERED_DISTANCE], scores[HIERARCHICAL_DISTANCE]
    excesses, largest_counts = scores[KNOWLEDGE_GAIN], scores[ACCURACY_GAIN]
    lowest, highest = scores[DELTA_DISCLOSURE], scores[BETA_LIKENESS]
    divergences = scores[MEAN_PRIVACY_LOSS]
    for group in range(counts.size):
        if pure[group] >= 0:
            continue
        size = np.float64(counts[group])
        n_distinct = 0
        largest = histograms[group, 0]
        excess = 0.0
        ratio = 0.0
        most_ordered = 0.0
        most_hierarchical = 0.0
        for value in range(shares.size):
            count = histograms[group, value]
            most_ordered += count * alone_ordered[value]
            most_hierarchical += count * alone_hierarchical[value]
            n_distinct += count > 0
            largest = max(largest, count)
            excess += max(count - size * shares[value], 0.0)
            ratio = max(ratio, count * inverse[value])
        distance = excess / size
        excesses += excess
        largest_counts += largest
        farthest = max(farthest, distance)
        highest = max(highest, ratio / size)
        if having is None or different is None:
            diverse = size / largest
            fewest = min(fewest, n_distinct)
            if diverse < least_entropy:
                least_entropy = min(least_entropy, _exponential_entropy(histograms, group, size))
        else:
            most_having = np.int32(0)
            for value in range(shares.size):
                most_having = max(most_having, having[group, value])
            diverse = size / most_having
            fewest = min(fewest, different[group])
            if min(diverse, different[group]) < least_entropy:
                entropy = _exponential_entropy(having, group, size)
                least_entropy = min(least_entropy, min(entropy, different[group]))
        least_diverse = min(least_diverse, diverse)
        if min(distance, most_ordered / size) > farthest_ordered:
            farthest_ordered = max(
                farthest_ordered, _ordered_distance(histograms, group, size, n_values, shares)
            )
        if min(distance, most_hierarchical / size) > farthest_hierarchical:
            hierarchical = distance + _inner_level_distance(
                histograms, group, size, n_values, node_of, node_shares
            )
            farthest_hierarchical = max(farthest_hierarchical, hierarchical / (1 + node_of.shape[0]))
        divergence = _jensen_shannon(histograms, group, size, n_values, shares, occurring)
        farthest_js = max(farthest_js, divergence)
        divergences += divergence * size
        if n_distinct < n_values:
            lowest = 0.0
        elif lowest > 0.0:
            for value in range(n_values):
                lowest = min(lowest, histograms[group, value] * inverse[value] / size)
    scores[DISTINCT], scores[PROBABILISTIC], scores[ENTROPY] = fewest, least_diverse, least_entropy
    scores[EQUAL_DISTANCE], scores[PRIVACY_LOSS] = farthest, farthest_js
    scores[ORDERED_DISTANCE], scores[HIERARCHICAL_DISTANCE] = farthest_ordered, farthest_hierarchical
    scores[KNOWLEDGE_GAIN], scores[ACCURACY_GAIN] = excesses, largest_counts
    scores[DELTA_DISCLOSURE], scores[BETA_LIKENESS] = lowest, highest
    scores[MEAN_PRIVACY_LOSS] = divergences


@njit(cache=True)
def _exponential_entropy(histograms: Codes | Floats, group: int, size: float) -> float:
    entropy = 0.0
    for value in range(histograms.shape[1]):
        if histograms[group, value] > 0:
            share = histograms[group, value] / size
            entropy -= share * np.log(share)
    return np.exp(max(entropy, 0.0))


@njit(cache=True)
def _ordered_distance(
    histograms: Codes | Floats, group: int, size: float, n_values: int, prior: Floats
) -> float:
    """Return the earth mover's distance of values as far apart as they are in order."""
    cumulated = 0.0
    expected = 0.0
    distance = 0.0
    for value in range(n_values - 1):
        cumulated += histograms[group, value]
        expected += prior[value]
        distance += abs(cumulated / size - expected)
    return distance / max(n_values - 1, 1)


@njit(cache=True)
def _inner_level_distance(
    histograms: Codes | Floats, group: int, size: float, n_values: int, node_of: Codes, node_shares: Floats
) -> float:
    """Return the total variation of the nodes, summed over the levels between values and root."""
    distance = 0.0
    counted = np.empty(node_shares.shape[1], np.float64)
    for level in range(node_of.shape[0]):
        counted[:] = 0.0
        for value in range(n_values):
            counted[node_of[level, value]] += histograms[group, value]
        for node in range(counted.size):
            distance += max(counted[node] / size - node_shares[level, node], 0.0)
    return distance


@njit(cache=True)
def _jensen_shannon(
    histograms: Codes | Floats, group: int, size: float, n_values: int, prior: Floats, occurring: Codes
) -> float:
    # listed first, without a branch: most groups have few of the values, in no order that is predictable
    n_occurring = 0
    for value in range(n_values):
        occurring[n_occurring] = value
        n_occurring += histograms[group, value] > 0
    divergence = 0.0
    absent = 1.0
    for place in range(n_occurring):
        value = occurring[place]
        share = histograms[group, value] / size
        middle = (share + prior[value]) / 2
        divergence += share * np.log(share / middle) + prior[value] * np.log(prior[value] / middle)
        absent -= prior[value]
    return (divergence + max(absent, 0.0) * _LOG_2) / 2


@njit(cache=True)
def walk(
    heights: Integers,
    strides: Integers,
    shifts: Integers,
    masks: Integers,
    nested: Booleans,
    key_steps: Integers,
    loss_steps: Floats,
    starts: Integers,
    groups: Groups,
    prior: Prior,
    nodes: DescribedNodes,
) -> None:
    """Describe every node of the lattice.

    The nodes are visited like the numbers of an odometer, the last attribute turning fastest. When an
    attribute turns from one level to the next, all attributes after it are at level 0. So the groups of the
    new node are those of the node before the turn, rolled up once, and two buffers for each attribute
    suffice.

    Parameters
    ----------
    heights, strides
        The highest level of each attribute, and how far apart its levels lie among the nodes.
    shifts, masks
        Where the field of each attribute lies in a key.
    nested
        For each attribute and level whether it is made from the level below, else from level 0.
    key_steps, loss_steps
        For each attribute, level and code of its source level the change of the key and of the loss.
    starts
        Where each buffer starts in ``groups``, the end appended. Buffer 0 is the table; 2a + 1 and 2a + 2
        are for the even and the odd levels of attribute a.
    groups
        The groups of the table, and room for all buffers.
    """
    n_attributes = heights.size
    level = np.zeros(n_attributes, np.int64)
    # the buffer of the groups after the choice for each attribute, that before all choices first
    buffer = np.zeros(n_attributes + 1, np.int64)
    n_held = np.zeros(2 * n_attributes + 1, np.int64)
    n_held[0] = starts[1]
    slots = np.empty(max(4 * n_held[0], 16), np.int32)
    current = 0
    node = 0
    while True:
        first, last = starts[current], starts[current] + n_held[current]
        nodes.n_classes[node] = n_held[current]
        nodes.smallest[node], nodes.squares[node] = describe_sizes(
            groups.counts[first:last],
            groups.losses[first:last],
            nodes.small_classes[node],
            nodes.small_losses[node],
        )
        if prior.n_values > 0:
            describe_values(_slice_of(groups, first, last), prior, nodes.scores[node])
        turning = n_attributes - 1
        while turning >= 0 and level[turning] == heights[turning]:
            node -= level[turning] * strides[turning]
            level[turning] = 0
            turning -= 1
        if turning < 0:
            break
        level[turning] += 1
        node += strides[turning]
        source = buffer[turning + 1] if nested[turning, level[turning]] else buffer[turning]
        current = 2 * turning + 1 + (level[turning] & 1)
        n_held[current] = roll_up(
            _slice_of(groups, starts[source], starts[source] + n_held[source]),
            shifts[turning],
            masks[turning],
            key_steps[turning, level[turning]],
            loss_steps[turning, level[turning]],
            slots,
            _slice_of(groups, starts[current], starts[current + 1]),
        )
        buffer[turning + 1 :] = current


@njit(cache=True)
def _slice_of(groups: Groups, first: int, last: int) -> Groups:
    return Groups(
        groups.keys[first:last],
        groups.counts[first:last],
        groups.losses[first:last],
        groups.pure[first:last],
        groups.histograms[first:last],
    )
