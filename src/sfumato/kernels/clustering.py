"""Grow and merge clusters of records by what their covers cost, with the exact greedy choice.

The items (records or clusters) lie in the leaves of a balanced tree. Each node bounds from below what
any of its items could cost, so that a search leaves out most of them and still finds the very best.
Costs are added up in the order of the columns everywhere, and rounding keeps the order of sums: a
bound is never above what it bounds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from sfumato.arrays import Booleans, Codes, Floats, Integers

_GONE = np.iinfo(np.int64).max
_LEAF_SIZE = 16
# what is broken off must be worse for certain, rounding or not
_SLACK = 1 + 1e-9


class Covers(NamedTuple):
    """What the smallest cover of a range of codes costs, column by column.

    Parameters
    ----------
    n_codes
        The number of codes of each column.
    first_cost
        Where a column that is covered by intervals has its costs, by width.
    first_node
        Where a column that is covered by the nodes of a tree has them, level by level from the
        bottom, one for each code; -1 for a column that is covered by intervals.
    nodes
        The place of each node in ``costs``.
    costs
        The costs of intervals and nodes.
    """

    n_codes: Integers
    first_cost: Integers
    first_node: Integers
    nodes: Integers
    costs: Floats


class Tree(NamedTuple):
    """Items with a range of codes in each column, near ones together.

    Parameters
    ----------
    low, high
        The range of each item.
    sizes, costs
        The number of records of each item, and what the cover of its range costs.
    ranks
        The least rank wins a tie; an item that is gone has the largest integer.
    starts
        Where the items of each leaf begin, with the end appended.
    last_low, first_high, first_rank
        For each node the largest ``low``, the smallest ``high`` and the least rank of its items.
        Node 1 is the root, node i has the children 2i and 2i + 1.
    """

    low: Codes
    high: Codes
    sizes: Integers
    costs: Floats
    ranks: Integers
    starts: Integers
    last_low: Codes
    first_high: Codes
    first_rank: Integers


class Stock(NamedTuple):
    """The records that are still there: item i has the rows from ``next_row[i]`` to ``end_row[i]``.

    Parameters
    ----------
    rows, weights
        The rows of all items, item by item, ascending; and their records.
    next_row, end_row
        Places in ``rows``.
    """

    rows: Integers
    weights: Integers
    next_row: Integers
    end_row: Integers


@njit(cache=True)
def range_cost(covers: Covers, column: int, low: int, high: int) -> float:
    """Return what the smallest cover of the codes from low to high costs."""
    place = covers.first_node[column]
    if place < 0:
        return covers.costs[covers.first_cost[column] + high - low]
    while covers.nodes[place + low] != covers.nodes[place + high]:
        place += covers.n_codes[column]
    return covers.costs[covers.nodes[place + low]]


@njit(cache=True)
def range_costs(covers: Covers, low: Codes, high: Codes) -> Floats:
    """Return for each row of ranges what its cover costs in all columns."""
    costs = np.zeros(low.shape[0])
    for row in range(low.shape[0]):
        for column in range(low.shape[1]):
            costs[row] += range_cost(covers, column, low[row, column], high[row, column])
    return costs


@njit(cache=True)
def near_together(covers: Covers, low: Codes, high: Codes) -> tuple[Integers, Integers]:
    """Return the items in an order that puts near ones together, and where each leaf begins.

    All items are halved at the median of the column in which they cost most together, then each half.
    """
    n_items = low.shape[0]
    n_leaves = 1
    while n_leaves * _LEAF_SIZE < n_items:
        n_leaves *= 2
    starts = np.arange(n_leaves + 1) * n_items // n_leaves
    order = np.arange(n_items)
    width = n_leaves
    while width > 1:
        for leaf in range(0, n_leaves, width):
            stretch = order[starts[leaf] : starts[leaf + width]]
            column = _widest(covers, low, high, stretch)
            if column >= 0:
                middle = np.empty(stretch.size, np.int64)
                for place in range(stretch.size):
                    middle[place] = np.int64(low[stretch[place], column]) + high[stretch[place], column]
                stretch[:] = stretch[np.argsort(middle, kind="mergesort")]
        width //= 2
    return order, starts


@njit(cache=True)
def _widest(covers: Covers, low: Codes, high: Codes, items: Integers) -> int:
    widest = -1
    most = 0.0
    for column in range(low.shape[1]):
        first = low[items[0], column]
        last = high[items[0], column]
        for item in items:
            first = min(first, low[item, column])
            last = max(last, high[item, column])
        cost = range_cost(covers, column, first, last)
        if cost > most:
            most = cost
            widest = column
    return widest


def planted(
    covers: Covers, low: Codes, high: Codes, sizes: Integers, ranks: Integers
) -> tuple[Tree, Integers]:
    """Return the tree of these items, and the item at each of its places."""
    order, starts = near_together(covers, low, high)
    n_nodes, n_columns = 2 * (len(starts) - 1), low.shape[1]
    tree = Tree(
        low=low[order],
        high=high[order],
        sizes=sizes[order],
        costs=range_costs(covers, low[order], high[order]),
        ranks=ranks[order],
        starts=starts,
        last_low=np.zeros((n_nodes, n_columns), dtype=np.int32),
        first_high=np.zeros((n_nodes, n_columns), dtype=np.int32),
        first_rank=np.full(n_nodes, _GONE),
    )
    _bound_all(tree)
    return tree, order


@njit(cache=True)
def _bound_all(tree: Tree) -> None:
    n_leaves = tree.starts.size - 1
    for leaf in range(n_leaves):
        _bound_leaf(tree, leaf)
    for node in range(n_leaves - 1, 0, -1):
        _bound_node(tree, node)


@njit(cache=True)
def _bound_again(tree: Tree, leaf: int) -> None:
    """Bring the bounds up to date after a change in one leaf."""
    _bound_leaf(tree, leaf)
    node = (tree.starts.size - 1 + leaf) // 2
    while node:
        _bound_node(tree, node)
        node //= 2


@njit(cache=True)
def _bound_leaf(tree: Tree, leaf: int) -> None:
    node = tree.starts.size - 1 + leaf
    tree.first_rank[node] = _GONE
    for item in range(tree.starts[leaf], tree.starts[leaf + 1]):
        if tree.ranks[item] == _GONE:
            continue
        for column in range(tree.low.shape[1]):
            if tree.first_rank[node] == _GONE:
                tree.last_low[node, column] = tree.low[item, column]
                tree.first_high[node, column] = tree.high[item, column]
            else:
                tree.last_low[node, column] = max(tree.last_low[node, column], tree.low[item, column])
                tree.first_high[node, column] = min(tree.first_high[node, column], tree.high[item, column])
        tree.first_rank[node] = min(tree.first_rank[node], tree.ranks[item])


@njit(cache=True)
def _bound_node(tree: Tree, node: int) -> None:
    left = 2 * node
    right = 2 * node + 1
    if tree.first_rank[left] == _GONE:
        left = right
    elif tree.first_rank[right] == _GONE:
        right = left
    for column in range(tree.low.shape[1]):
        tree.last_low[node, column] = max(tree.last_low[left, column], tree.last_low[right, column])
        tree.first_high[node, column] = min(tree.first_high[left, column], tree.first_high[right, column])
    tree.first_rank[node] = min(tree.first_rank[left], tree.first_rank[right])


@njit(cache=True)
def _leaf_of(tree: Tree, item: int) -> int:
    return np.searchsorted(tree.starts, item, side="right") - 1


@njit(cache=True)
def _joint_cost(
    covers: Covers, low: Codes, high: Codes, other_low: Codes, other_high: Codes, limit: float
) -> float:
    """Return what covering both ranges costs; a sum that passes the limit is broken off."""
    total = 0.0
    for column in range(low.size):
        total += range_cost(
            covers, column, min(low[column], other_low[column]), max(high[column], other_high[column])
        )
        if total > limit:
            break
    return total


@njit(cache=True)
def nearest(
    covers: Covers,
    tree: Tree,
    low: Codes,
    high: Codes,
    size: int,
    cost: float,
    own_rank: int,
    found: Integers,
    increases: Floats,
) -> int:
    """Find the items whose union with a range adds least loss, as many as there is room for.

    Parameters
    ----------
    low, high, size, cost
        The range, the number of its records, and what its cover costs.
    own_rank
        The item of this rank is left out.
    found, increases
        Filled with the items and what they add, the least first.

    Returns
    -------
    n_found
        How many there are.
    """
    n_leaves = tree.starts.size - 1
    n_found = 0
    worst = np.inf
    worst_rank = _GONE
    limit = np.inf
    waiting = np.empty(128, np.int64)
    bounds = np.empty(128)
    waiting[0] = 1
    bounds[0] = 0.0
    n_waiting = 1
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        bound = bounds[n_waiting]
        first_rank = tree.first_rank[node]
        if first_rank == _GONE or bound > worst or (bound == worst and first_rank >= worst_rank):
            continue
        if node >= n_leaves:
            leaf = node - n_leaves
            for item in range(tree.starts[leaf], tree.starts[leaf + 1]):
                rank = tree.ranks[item]
                if rank == _GONE or rank == own_rank:
                    continue
                joint = _joint_cost(covers, low, high, tree.low[item], tree.high[item], limit)
                if joint > limit:
                    continue
                increase = size * (joint - cost) + tree.sizes[item] * (joint - tree.costs[item])
                if increase > worst or (increase == worst and rank > worst_rank):
                    continue
                n_found = _insert(tree, found, increases, n_found, item, increase)
                if n_found == found.size:
                    worst = increases[n_found - 1]
                    worst_rank = tree.ranks[found[n_found - 1]]
                    limit = (cost + worst / size) * _SLACK
            continue
        left = 2 * node
        right = left + 1
        left_bound = size * (
            _joint_cost(covers, low, high, tree.last_low[left], tree.first_high[left], limit) - cost
        )
        right_bound = size * (
            _joint_cost(covers, low, high, tree.last_low[right], tree.first_high[right], limit) - cost
        )
        if right_bound < left_bound or (
            right_bound == left_bound and tree.first_rank[right] < tree.first_rank[left]
        ):
            left, right = right, left
            left_bound, right_bound = right_bound, left_bound
        waiting[n_waiting] = right
        bounds[n_waiting] = right_bound
        waiting[n_waiting + 1] = left
        bounds[n_waiting + 1] = left_bound
        n_waiting += 2
    return n_found


@njit(cache=True)
def _insert(tree: Tree, found: Integers, increases: Floats, n_found: int, item: int, increase: float) -> int:
    """Put an item in its place among the best; the last falls out where there is no room."""
    n_after = min(n_found + 1, found.size)
    place = n_after - 1
    while place > 0 and (
        increases[place - 1] > increase
        or (increases[place - 1] == increase and tree.ranks[found[place - 1]] > tree.ranks[item])
    ):
        found[place] = found[place - 1]
        increases[place] = increases[place - 1]
        place -= 1
    found[place] = item
    increases[place] = increase
    return n_after


@njit(cache=True)
def furthest(covers: Covers, tree: Tree, codes: Codes) -> int:
    """Return the item whose union with one record costs most. Every item must be a single point."""
    n_leaves = tree.starts.size - 1
    best = -1
    most = -1.0
    best_rank = _GONE
    waiting = np.empty(128, np.int64)
    bounds = np.empty(128)
    waiting[0] = 1
    bounds[0] = np.inf
    n_waiting = 1
    while n_waiting:
        n_waiting -= 1
        node = waiting[n_waiting]
        first_rank = tree.first_rank[node]
        if bounds[n_waiting] < most or (bounds[n_waiting] == most and first_rank >= best_rank):
            continue
        if node >= n_leaves:
            leaf = node - n_leaves
            for item in range(tree.starts[leaf], tree.starts[leaf + 1]):
                rank = tree.ranks[item]
                if rank == _GONE:
                    continue
                cost = _joint_cost(covers, codes, codes, tree.low[item], tree.high[item], np.inf)
                if cost > most or (cost == most and rank < best_rank):
                    best = item
                    most = cost
                    best_rank = rank
            continue
        for child in (2 * node, 2 * node + 1):
            if tree.first_rank[child] < _GONE:
                # of points, the smallest high is the smallest code and the largest low the largest
                waiting[n_waiting] = child
                bounds[n_waiting] = _joint_cost(
                    covers, codes, codes, tree.first_high[child], tree.last_low[child], np.inf
                )
                n_waiting += 1
        if (
            n_waiting > 1
            and waiting[n_waiting - 2] // 2 == node
            and bounds[n_waiting - 2] > bounds[n_waiting - 1]
        ):
            waiting[n_waiting - 2], waiting[n_waiting - 1] = waiting[n_waiting - 1], waiting[n_waiting - 2]
            bounds[n_waiting - 2], bounds[n_waiting - 1] = bounds[n_waiting - 1], bounds[n_waiting - 2]
    return best


@njit(cache=True)
def _take(tree: Tree, stock: Stock, item: int, wanted: int) -> tuple[int, int]:
    """Take records of an item's first row, as many as wanted and there; return the row and how many."""
    place = stock.next_row[item]
    row = stock.rows[place]
    taken = min(wanted, stock.weights[place])
    stock.weights[place] -= taken
    if stock.weights[place] == 0:
        stock.next_row[item] += 1
        is_gone = stock.next_row[item] == stock.end_row[item]
        tree.ranks[item] = _GONE if is_gone else stock.rows[place + 1]
        _bound_again(tree, _leaf_of(tree, item))
    return row, taken


@njit(cache=True)
def grow(
    covers: Covers, tree: Tree, stock: Stock, k: int, n_clusters: int, last: Codes
) -> tuple[Codes, Codes, Integers, Integers, Integers]:
    """Grow clusters of k records, each from the record that is furthest from the last one taken.

    Parameters
    ----------
    tree, stock
        The records: what is taken is no longer there afterwards.
    last
        The codes of the record taken last, before and after.

    Returns
    -------
    low, high
        The range of each cluster.
    cluster_of, rows, weights
        What each cluster took.
    """
    n_columns = last.size
    low = np.empty((n_clusters, n_columns), np.int32)
    high = np.empty((n_clusters, n_columns), np.int32)
    # a row that is taken is used up, or the cluster is full
    most = min(n_clusters * k, stock.rows.size + n_clusters)
    cluster_of = np.empty(most, np.int64)
    rows = np.empty(most, np.int64)
    weights = np.empty(most, np.int64)
    found = np.empty(1, np.int64)
    increase = np.empty(1)
    filled = 0
    for cluster in range(n_clusters):
        item = furthest(covers, tree, last)
        low[cluster] = tree.low[item]
        high[cluster] = tree.high[item]
        size = 0
        while True:
            rows[filled], weights[filled] = _take(tree, stock, item, k - size)
            cluster_of[filled] = cluster
            size += weights[filled]
            filled += 1
            if size == k:
                break
            nearest(covers, tree, low[cluster], high[cluster], 1, 0.0, -1, found, increase)
            item = found[0]
            for column in range(n_columns):
                low[cluster, column] = min(low[cluster, column], tree.low[item, column])
                high[cluster, column] = max(high[cluster, column], tree.high[item, column])
        last[:] = tree.low[item]
    return low, high, cluster_of[:filled], rows[:filled], weights[:filled]


@njit(cache=True)
def join(covers: Covers, tree: Tree, records: Codes) -> Integers:
    """Let each record in turn join the item that loses least; return the items' ranks."""
    joined = np.empty(records.shape[0], np.int64)
    found = np.empty(1, np.int64)
    increase = np.empty(1)
    for row in range(records.shape[0]):
        nearest(covers, tree, records[row], records[row], 1, 0.0, -1, found, increase)
        item = found[0]
        for column in range(records.shape[1]):
            tree.low[item, column] = min(tree.low[item, column], records[row, column])
            tree.high[item, column] = max(tree.high[item, column], records[row, column])
        tree.sizes[item] += 1
        tree.costs[item] = _joint_cost(
            covers, tree.low[item], tree.high[item], tree.low[item], tree.high[item], np.inf
        )
        _bound_again(tree, _leaf_of(tree, item))
        joined[row] = tree.ranks[item]
    return joined


@njit(cache=True)
def partners(covers: Covers, tree: Tree, items: Integers, n_wanted: int) -> tuple[Integers, Floats, Booleans]:
    """Return for each item those to merge with at the least loss, as many as wanted.

    Returns
    -------
    ranks, increases, fits
        The ranks of the partners, the least loss first, the loss, and whether the partner's cover
        stays what it is.
    """
    ranks = np.empty((items.size, n_wanted), np.int64)
    increases = np.empty((items.size, n_wanted))
    fits = np.empty((items.size, n_wanted), np.bool_)
    found = np.empty(n_wanted, np.int64)
    for place in range(items.size):
        item = items[place]
        low = tree.low[item]
        high = tree.high[item]
        nearest(
            covers, tree, low, high, tree.sizes[item], tree.costs[item], tree.ranks[item], found, increases[place]
        )
        for other in range(n_wanted):
            ranks[place, other] = tree.ranks[found[other]]
            joint = _joint_cost(covers, low, high, tree.low[found[other]], tree.high[found[other]], np.inf)
            fits[place, other] = joint == tree.costs[found[other]]
    return ranks, increases, fits


@njit(cache=True)
def pair_up(n_clusters: int, movers: Integers, targets: Integers, fits: Booleans) -> Integers:
    """Return for each cluster the one that it becomes part of: itself, or a mover's target.

    Movers come first served. A cluster that others move into stays where it is. It takes one mover,
    or any number of them whose cover fits into its own: these change nothing for each other.
    """
    free, takes_what_fits, taken = 0, 1, 2
    state = np.zeros(n_clusters, np.int8)
    into = np.arange(n_clusters)
    for place in range(movers.size):
        mover = movers[place]
        target = targets[place]
        allowed = state[target] == free or (state[target] == takes_what_fits and fits[place])
        if state[mover] == free and allowed:
            into[mover] = target
            state[mover] = taken
            state[target] = takes_what_fits if fits[place] else taken
    return into


@njit(cache=True)
def united_counts(
    starts: Integers, values: Codes, counts: Integers, first: Integers, second: Integers
) -> tuple[Integers, Codes, Integers]:
    """Return the value counts of the unions of pairs of groups, as `value_counts` gives them of groups."""
    size = 0
    for pair in range(first.size):
        for group in (first[pair], second[pair]):
            size += starts[group + 1] - starts[group]
    new_starts = np.zeros(first.size + 1, np.int64)
    new_values = np.empty(size, np.int32)
    new_counts = np.empty(size, np.int64)
    filled = 0
    for pair in range(first.size):
        left = starts[first[pair]]
        right = starts[second[pair]]
        end_left = starts[first[pair] + 1]
        end_right = starts[second[pair] + 1]
        while left < end_left or right < end_right:
            from_left = left < end_left and (right == end_right or values[left] <= values[right])
            from_right = right < end_right and (left == end_left or values[right] <= values[left])
            new_values[filled] = values[left] if from_left else values[right]
            new_counts[filled] = (counts[left] if from_left else 0) + (counts[right] if from_right else 0)
            left += from_left
            right += from_right
            filled += 1
        new_starts[pair + 1] = filled
    return new_starts, new_values[:filled], new_counts[:filled]
