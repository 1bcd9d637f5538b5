"""Grow and merge clusters of records by the cost of their covers, always with the exact greedy choice.

The method is k-member clustering (Byun, Kamra, Bertino, Li, "Efficient k-anonymization using clustering
techniques", 2007). Comparing every record with every cluster would take quadratic time. Here the items
(records or clusters) are the leaves of a balanced tree, and each inner node bounds from below the cost of
every item beneath it. A branch-and-bound search skips nodes whose bound is above the best item so far.

The result is the same as that of a full scan: costs are added up in the order of the columns everywhere,
and rounding preserves the order of sums, so a bound is never above what it bounds. Ties go to the lowest
rank. A search usually visits few leaves, at worst all of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from sfumato.kernels.compilation import njit
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers

_Scalar = TypeVar("_Scalar", bound=np.generic)

# Not literals, because numba compiles a kernel again for each literal that it is given.
ZERO: Any = np.int64(0)
ONE: Any = np.int64(1)
NO_ITEM: Any = np.int64(-1)
_REMOVED = np.iinfo(np.int64).max
_LAST_CODE = np.iinfo(np.int32).max
_LEAF_SIZE = 16
_STACK_SIZE = 128
# a cover is abandoned only if it is worse beyond rounding
_SLACK = 1 + 1e-9


class Covers(NamedTuple):
    """What the smallest cover of a range of codes costs in each column.

    Parameters
    ----------
    prices
        The cost of every cover.
    columns
        One row for each column: its first price, its stride, and its first node or -1. Covering the
        codes from low to high costs ``prices[first price + stride * low + high]``: a stride of -1
        looks up the width, a stride of the number of codes a table of all pairs.
    nodes
        For each column that has too many codes for a table the places in ``prices`` of the nodes of
        a tree above the codes, level by level from the bottom, ``stride`` of them on each level. The
        lowest node above both low and high is the cover.
    """

    prices: Floats
    columns: Integers
    nodes: Integers


class Tree(NamedTuple):
    """Items with a range of codes in each column, similar items together, below a binary tree of nodes.

    Row 1 is the root, and row i has the children 2i and 2i + 1. The items come last, leaf by leaf. The values
    of a node are those of an imaginary item at least as near, and at most as large, as every item beneath.

    Parameters
    ----------
    prices, columns, nodes
        What covers cost.
    low, high
        The range of each item; for a node the largest ``low`` and the smallest ``high``.
    sizes
        The number of records of each item; for a node the smallest.
    costs
        What the cover of each item costs; for a node the greatest.
    ranks
        The lowest rank wins a tie. A removed item has the largest integer.
    starts
        The row where the items of each leaf begin, with the end appended.
    """

    prices: Floats
    columns: Integers
    nodes: Integers
    low: Codes
    high: Codes
    sizes: Integers
    costs: Floats
    ranks: Integers
    starts: Integers


class RemainingRecords(NamedTuple):
    """The records that no cluster has taken yet.

    Parameters
    ----------
    rows, weights
        The rows of the table, those of one item together and ascending; and how many records each
        still has.
    first, end
        For each row of the tree the place in ``rows`` of the item's first row, and of its end.
    people
        The person of each of ``rows`` where people have several records; else empty.
    n_rows_of
        How many rows each person still has, and last how many people still have one.
    latest_cluster
        The cluster that last took a row of each person.
    """

    rows: Integers
    weights: Integers
    first: Integers
    end: Integers
    people: Integers
    n_rows_of: Integers
    latest_cluster: Integers


class GrownClusters(NamedTuple):
    """The clusters that have been grown.

    Parameters
    ----------
    low, high
        The range of each cluster.
    cluster_of, rows, weights
        How many records of which row each cluster took.
    last
        The codes of the record taken last.
    """

    low: Codes
    high: Codes
    cluster_of: Integers
    rows: Integers
    weights: Integers
    last: Codes


class MergePartners(NamedTuple):
    """For each of some items the items it could be merged with, the lowest loss first.

    Parameters
    ----------
    ranks
        Their ranks.
    increases
        The losses.
    fits
        Whether the cost of the partner's cover stays as it is.
    """

    ranks: Integers
    increases: Floats
    fits: Booleans


# Long-running kernels fill arrays instead of returning new ones: handing an array to Python runs Python code,
# and a keyboard interrupt pending at that moment would surface as another error.
# A compiled loop counts references to every array that it takes out of a tuple or passes to a function with a
# loop of its own, which would be most of the work. So loops unpack the tree's arrays beforehand, the inner
# functions take the arrays one by one, and a single function looks up costs.


@njit(cache=True)
def joint_cost(
    low: Codes,
    high: Codes,
    row: int,
    lows: Codes,
    highs: Codes,
    limit: float,
    prices: Floats,
    columns: Integers,
    nodes: Integers,
) -> float:
    """Return the cost of covering a range and that of a row together, or infinity above the limit."""
    cost = 0.0
    for column in range(low.size):
        first = min(low[column], lows[row, column])
        last = max(high[column], highs[row, column])
        place = columns[column, 2]
        if place < 0:
            cost += prices[columns[column, 0] + columns[column, 1] * first + last]
        else:
            while nodes[place + first] != nodes[place + last]:
                place += columns[column, 1]
            cost += prices[nodes[place + first]]
        if cost > limit:
            return np.inf
    return cost


@njit(cache=True)
def range_costs(low: Codes, high: Codes, prices: Floats, columns: Integers, nodes: Integers) -> Floats:
    """Return for each row of ranges the cost of its cover over all columns."""
    costs = np.empty(low.shape[0])
    for row in range(low.shape[0]):
        costs[row] = joint_cost(low[row], high[row], row, low, high, np.inf, prices, columns, nodes)
    return costs


def build_tree(
    covers: Covers, low: Codes, high: Codes, sizes: Integers, ranks: Integers
) -> tuple[Tree, Integers]:
    """Return the tree of these items, and the row of each of them."""
    order, starts = _leaf_order(low, high, *covers)
    n_nodes = 2 * (len(starts) - 1)
    tree = Tree(
        *covers,
        low=_with_inner_nodes(n_nodes, low[order]),
        high=_with_inner_nodes(n_nodes, high[order]),
        sizes=_with_inner_nodes(n_nodes, sizes[order]),
        costs=_with_inner_nodes(n_nodes, range_costs(low[order], high[order], *covers)),
        ranks=_with_inner_nodes(n_nodes, ranks[order]),
        starts=n_nodes + starts,
    )
    _bound_all_nodes(tree)
    rows = np.empty(len(order), dtype=np.int64)
    rows[order] = n_nodes + np.arange(len(order))
    return tree, rows


def _with_inner_nodes(n_nodes: int, items: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    return np.concatenate([np.zeros((n_nodes, *items.shape[1:]), dtype=items.dtype), items])


@njit(cache=True)
def _leaf_order(
    low: Codes, high: Codes, prices: Floats, columns: Integers, nodes: Integers
) -> tuple[Integers, Integers]:
    """Return the items in an order that puts similar ones together, and where each leaf begins.

    All items are halved at the median of the column in which they cost most together, then each half again.
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
            column = _widest(low, high, stretch, prices, columns, nodes)
            middle = np.empty(stretch.size, np.int64)
            for place in range(stretch.size):
                middle[place] = np.int64(low[stretch[place], column]) + high[stretch[place], column]
            stretch[:] = stretch[np.argsort(middle, kind="mergesort")]
        width //= 2
    return order, starts


@njit(cache=True)
def _widest(
    low: Codes, high: Codes, items: Integers, prices: Floats, columns: Integers, nodes: Integers
) -> int:
    # one row for each column, so that each column can be priced by itself
    first = np.empty((low.shape[1], 1), np.int32)
    last = np.empty((low.shape[1], 1), np.int32)
    costs = np.empty(low.shape[1])
    for column in range(low.shape[1]):
        first[column] = _LAST_CODE
        last[column] = -1
        for item in items:
            first[column, 0] = min(first[column, 0], low[item, column])
            last[column, 0] = max(last[column, 0], high[item, column])
        alone = columns[column : column + 1]
        costs[column] = joint_cost(
            first[column], last[column], column, first, last, np.inf, prices, alone, nodes
        )
    return int(np.argmax(costs))


@njit(cache=True)
def _bound_all_nodes(tree: Tree) -> None:
    n_leaves = tree.starts.size - 1
    for leaf in range(n_leaves):
        _bound(tree, n_leaves + leaf, tree.starts[leaf], tree.starts[leaf + 1])
    for node in range(n_leaves - 1, 0, -1):
        _bound(tree, node, 2 * node, 2 * node + 2)


@njit(cache=True)
def _bound_above(tree: Tree, item: int) -> None:
    """Update the bounds of all nodes above a changed item."""
    n_leaves = tree.starts.size - 1
    leaf = int(np.searchsorted(tree.starts, item, side="right")) - 1
    _bound(tree, n_leaves + leaf, tree.starts[leaf], tree.starts[leaf + 1])
    node = (n_leaves + leaf) // 2
    while node:
        _bound(tree, node, 2 * node, 2 * node + 2)
        node //= 2


@njit(cache=True)
def _bound(tree: Tree, node: int, first: int, end: int) -> None:
    """Bound a node by the rows below it, from first to end."""
    low, high = tree.low, tree.high
    low[node] = -1
    high[node] = _LAST_CODE
    tree.sizes[node] = _REMOVED
    tree.costs[node] = 0.0
    tree.ranks[node] = _REMOVED
    for row in range(first, end):
        if tree.ranks[row] < _REMOVED:
            for column in range(low.shape[1]):
                low[node, column] = max(low[node, column], low[row, column])
                high[node, column] = min(high[node, column], high[row, column])
            tree.sizes[node] = min(tree.sizes[node], tree.sizes[row])
            tree.costs[node] = max(tree.costs[node], tree.costs[row])
            tree.ranks[node] = min(tree.ranks[node], tree.ranks[row])


@njit(cache=True)
def _increase(
    low: Codes,
    high: Codes,
    size: int,
    cost: float,
    worst: float,
    row: int,
    prices: Floats,
    columns: Integers,
    nodes: Integers,
    lows: Codes,
    highs: Codes,
    sizes: Integers,
    costs: Floats,
    ranks: Integers,
) -> float:
    """Return how much more the records of a range and of a row cost together than apart.

    The result is infinite above ``worst``, and for a removed row.
    """
    if ranks[row] == _REMOVED:
        return np.inf
    limit = (worst + size * cost + sizes[row] * costs[row]) / (size + sizes[row]) * _SLACK
    joint = joint_cost(low, high, row, lows, highs, limit, prices, columns, nodes)
    if joint == np.inf:
        return np.inf
    return size * (joint - cost) + sizes[row] * max(joint - costs[row], 0.0)


@njit(cache=True)
def nearest(
    tree: Tree,
    low: Codes,
    high: Codes,
    size: int,
    cost: float,
    skipped: int,
    items: Integers,
    increases: Floats,
) -> None:
    """Find the items that cost least more when merged with a range, as many as there is room for.

    The search goes down the nearer node first, so the best items are known early. It skips a node whose bound
    is above the worst of the best ones, or equal to it where its lowest rank would lose the tie.

    Parameters
    ----------
    low, high, size, cost
        The range, the number of its records, and what its cover costs.
    skipped
        An item to skip, or -1.
    items, increases
        Filled with the items and what they add, the least first.
    """
    prices, columns, nodes = tree.prices, tree.columns, tree.nodes
    lows, highs, sizes, costs = tree.low, tree.high, tree.sizes, tree.costs
    ranks, starts = tree.ranks, tree.starts
    n_leaves = starts.size - 1
    n_found = ZERO
    worst = np.inf
    worst_rank = _REMOVED
    stack = np.empty(_STACK_SIZE, np.int64)
    bounds = np.empty(_STACK_SIZE)
    stack[0] = 1
    bounds[0] = 0.0
    n_stacked = 1
    while n_stacked:
        n_stacked -= 1
        node = stack[n_stacked]
        bound = bounds[n_stacked]
        if bound > worst or (bound == worst and ranks[node] >= worst_rank):
            continue
        leaf = node - n_leaves
        first, end = 2 * node, 2 * node + 2
        if leaf >= 0:
            first, end = starts[leaf], starts[leaf + 1]
        for row in range(first, end):
            increase = _increase(
                low, high, size, cost, worst, row, prices, columns, nodes, lows, highs, sizes, costs, ranks
            )
            is_better = increase < worst or (increase == worst and ranks[row] < worst_rank)
            if leaf < 0:
                stack[n_stacked] = row
                bounds[n_stacked] = increase
                n_stacked += 1
            elif is_better and row != skipped:
                n_found = _insert(row, increase, n_found, items, increases, ranks)
                if n_found == items.size:
                    worst = increases[n_found - 1]
                    worst_rank = ranks[items[n_found - 1]]
        if leaf < 0:
            left, right = n_stacked - 2, n_stacked - 1
            is_left_nearer = bounds[left] < bounds[right]
            if bounds[left] == bounds[right]:
                is_left_nearer = ranks[first] < ranks[first + 1]
            if is_left_nearer:  # the last on the stack comes first
                stack[left], stack[right] = stack[right], stack[left]
                bounds[left], bounds[right] = bounds[right], bounds[left]


@njit(cache=True)
def _insert(
    item: int, increase: float, n_found: int, items: Integers, increases: Floats, ranks: Integers
) -> int:
    """Insert an item into the sorted best ones, dropping the last if there is no room; return how many."""
    place = min(n_found, items.size - 1)
    while place > 0:
        before = items[place - 1]
        if increases[place - 1] < increase or (
            increases[place - 1] == increase and ranks[before] < ranks[item]
        ):
            break
        items[place] = before
        increases[place] = increases[place - 1]
        place -= 1
    items[place] = item
    increases[place] = increase
    return min(n_found + 1, items.size)


@njit(cache=True)
def furthest(tree: Tree, codes: Codes) -> int:
    """Return the item that costs most together with one record; every item must be a single point."""
    return _furthest(
        codes, tree.prices, tree.columns, tree.nodes, tree.low, tree.high, tree.ranks, tree.starts
    )


@njit(cache=True)
def _furthest(
    codes: Codes,
    prices: Floats,
    columns: Integers,
    nodes: Integers,
    lows: Codes,
    highs: Codes,
    ranks: Integers,
    starts: Integers,
) -> int:
    """Return what `furthest` does, by the search of `nearest` with upper bounds instead of lower ones."""
    n_leaves = starts.size - 1
    best = -1
    most = -1.0
    stack = np.empty(_STACK_SIZE, np.int64)
    bounds = np.empty(_STACK_SIZE)
    stack[0] = 1
    bounds[0] = np.inf
    n_stacked = 1
    while n_stacked:
        n_stacked -= 1
        node = stack[n_stacked]
        if bounds[n_stacked] < most or (bounds[n_stacked] == most and ranks[node] >= ranks[best]):
            continue
        leaf = node - n_leaves
        first, end = 2 * node, 2 * node + 2
        if leaf >= 0:
            first, end = starts[leaf], starts[leaf + 1]
        for row in range(first, end):
            cost = -np.inf
            if ranks[row] < _REMOVED:
                # above points, the smallest high is their first code and the largest low their last
                cost = joint_cost(codes, codes, row, highs, lows, np.inf, prices, columns, nodes)
            if leaf < 0:
                stack[n_stacked] = row
                bounds[n_stacked] = cost
                n_stacked += 1
            elif cost > most or (cost == most and ranks[row] < ranks[best]):
                most = cost
                best = row
        left, right = n_stacked - 2, n_stacked - 1
        if leaf < 0 and bounds[left] > bounds[right]:
            stack[left], stack[right] = stack[right], stack[left]
            bounds[left], bounds[right] = bounds[right], bounds[left]
    return best


@njit(cache=True)
def _take_records(tree: Tree, stock: RemainingRecords, item: int, wanted: int) -> tuple[int, int]:
    """Take up to ``wanted`` records of an item's first row; return the row and how many were taken."""
    place = stock.first[item]
    n_taken = min(wanted, stock.weights[place])
    stock.weights[place] -= n_taken
    if stock.weights[place] == 0:
        stock.first[item] += 1
        is_used_up = stock.first[item] == stock.end[item]
        tree.ranks[item] = _REMOVED if is_used_up else stock.rows[place + 1]
        _bound_above(tree, item)
    return stock.rows[place], n_taken


@njit(cache=True)
def _count_person(stock: RemainingRecords, item: int, cluster: int) -> int:
    """Record that a cluster takes an item's first row; return 1 if the person is new to it, else 0."""
    person = stock.people[stock.first[item]]
    stock.n_rows_of[person] -= 1
    if stock.n_rows_of[person] == 0:
        stock.n_rows_of[-1] -= 1
    is_new = stock.latest_cluster[person] != cluster
    stock.latest_cluster[person] = cluster
    return int(is_new)


@njit(cache=True)
def grow_clusters(
    tree: Tree, stock: RemainingRecords, grown: GrownClusters, k: int, first: int, end: int, n_taken: int
) -> tuple[int, int]:
    """Grow clusters of k records, each from the record that is furthest from the one taken last.

    Where people have several records, clusters grow to k people and take all records of a row.

    Parameters
    ----------
    tree, stock
        The records; taken ones are removed. An item is a point without size, and its rank is its first row.
    grown
        Filled with the clusters from first to end.
    n_taken
        How many entries of ``grown`` are filled already.

    Returns
    -------
    n_taken, n_clusters
        How many are filled now, and how many clusters there are: fewer than end, where too few people are
        left.
    """
    low, high, last = grown.low, grown.high, grown.last
    nearest_item = np.empty(1, np.int64)
    increase = np.empty(1)
    counts_people = stock.people.size > 0
    for cluster in range(first, end):
        if counts_people and stock.n_rows_of[-1] < k:
            return n_taken, cluster
        item = furthest(tree, last)
        low[cluster] = tree.low[item]
        high[cluster] = tree.high[item]
        missing = k
        while True:
            grown.cluster_of[n_taken] = cluster
            new_people = _count_person(stock, item, cluster) if counts_people else 0
            wanted = _REMOVED if counts_people else missing
            grown.rows[n_taken], grown.weights[n_taken] = _take_records(tree, stock, item, wanted)
            missing -= new_people if counts_people else grown.weights[n_taken]
            n_taken += 1
            if missing == 0:
                break
            nearest(tree, low[cluster], high[cluster], ONE, 0.0, NO_ITEM, nearest_item, increase)
            item = nearest_item[0]
            for column in range(last.size):
                low[cluster, column] = min(low[cluster, column], tree.low[item, column])
                high[cluster, column] = max(high[cluster, column], tree.high[item, column])
        last[:] = tree.low[item]
    return n_taken, end


@njit(cache=True)
def join_leftovers(tree: Tree, records: Codes) -> Integers:
    """Add each record in turn to the item that loses least; return the ranks of these items."""
    joined = np.empty(records.shape[0], np.int64)
    nearest_item = np.empty(1, np.int64)
    increase = np.empty(1)
    for row in range(records.shape[0]):
        nearest(tree, records[row], records[row], ONE, 0.0, NO_ITEM, nearest_item, increase)
        item = nearest_item[0]
        for column in range(records.shape[1]):
            tree.low[item, column] = min(tree.low[item, column], records[row, column])
            tree.high[item, column] = max(tree.high[item, column], records[row, column])
        tree.sizes[item] += 1
        tree.costs[item] = range_costs(
            tree.low[item : item + 1], tree.high[item : item + 1], tree.prices, tree.columns, tree.nodes
        )[0]
        _bound_above(tree, item)
        joined[row] = tree.ranks[item]
    return joined


@njit(cache=True)
def find_partners(tree: Tree, items: Integers, partners: MergePartners, first: int, end: int) -> None:
    """Fill in the partners of the items from first to end."""
    ranks, increases, fits = partners.ranks, partners.increases, partners.fits
    nearest_items = np.empty(ranks.shape[1], np.int64)
    for place in range(first, end):
        item = items[place]
        size, cost = tree.sizes[item], tree.costs[item]
        nearest(tree, tree.low[item], tree.high[item], size, cost, item, nearest_items, increases[place])
        for other in range(nearest_items.size):
            ranks[place, other] = tree.ranks[nearest_items[other]]
            # equal only if the item's records bear the whole loss, so the partner's cover costs no more
            fits[place, other] = increases[place, other] == size * (tree.costs[nearest_items[other]] - cost)


@njit(cache=True)
def choose_merges(n_clusters: int, movers: Integers, targets: Integers, fits: Booleans) -> Integers:
    """Return for each cluster the cluster that it becomes part of: itself, or the target of its move.

    Earlier movers go first. A cluster that others move into does not move itself. It accepts one mover, or
    any number of movers whose cover fits into its own, because these do not affect each other.
    """
    free, takes_what_fits, closed = 0, 1, 2
    state = np.zeros(n_clusters, np.int8)
    merged_into = np.arange(n_clusters)
    for place in range(movers.size):
        mover = movers[place]
        target = targets[place]
        is_open = state[target] == free or (state[target] == takes_what_fits and fits[place])
        if state[mover] == free and is_open:
            merged_into[mover] = target
            state[mover] = closed
            state[target] = takes_what_fits if fits[place] else closed
    return merged_into


@njit(cache=True)
def merged_counts(
    starts: Integers, values: Codes, counts: Integers, first: Integers, second: Integers
) -> tuple[Integers, Codes, Integers]:
    """Return the value counts of pairs of groups, given each group's counts in the form of `value_counts`."""
    size = 0
    for pair in range(first.size):
        size += starts[first[pair] + 1] - starts[first[pair]]
        size += starts[second[pair] + 1] - starts[second[pair]]
    new_starts = np.zeros(first.size + 1, np.int64)
    new_values = np.empty(size, np.int32)
    new_counts = np.empty(size, np.int64)
    filled = 0
    for pair in range(first.size):
        left, left_end = starts[first[pair]], starts[first[pair] + 1]
        right, right_end = starts[second[pair]], starts[second[pair] + 1]
        while left < left_end or right < right_end:
            from_left = right == right_end or (left < left_end and values[left] <= values[right])
            from_right = left == left_end or (right < right_end and values[right] <= values[left])
            new_values[filled] = values[left] if from_left else values[right]
            new_counts[filled] = 0
            if from_left:
                new_counts[filled] += counts[left]
                left += 1
            if from_right:
                new_counts[filled] += counts[right]
                right += 1
            filled += 1
        new_starts[pair + 1] = filled
    return new_starts, new_values[:filled].copy(), new_counts[:filled].copy()
