"""The searches against brute force, in which every item is looked at; ties go to the least rank."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from sfumato.kernels.greedy_clusters import (
    Covers,
    GrownClusters,
    MergePartners,
    RemainingRecords,
    Tree,
    build_tree,
    choose_merges,
    find_partners,
    furthest,
    grow_clusters,
    join_leftovers,
    merged_counts,
    nearest,
    range_costs,
)
from sfumato.kernels.row_groups import value_counts

Array = np.ndarray[Any, Any]
Kinds = tuple[str, ...]

GONE = np.iinfo(np.int64).max
N_CODES = 12
SHAPES: list[Kinds] = [
    ("interval",),
    ("table", "climb"),
    ("interval", "table", "climb"),
    ("climb", "interval", "interval", "table", "table"),
]
EVERY_SHAPE = pytest.mark.parametrize("kinds", SHAPES, ids="-".join)
EVERY_SIZE = pytest.mark.parametrize("n_items", [1, 2, 15, 16, 17, 33, 300])


def random_levels(rng: np.random.Generator) -> list[list[int]]:
    """Return for each level the node of each code: the codes themselves, coarser and coarser, one root."""
    apart = rng.integers(0, 4, size=N_CODES - 1)
    return [[0, *np.cumsum(apart >= level).tolist()] for level in range(4)] + [[0] * N_CODES]


def pair_table(kind: str, levels: list[list[int]]) -> Array:
    """Return what every range of codes costs: by its width, or by the lowest node that holds all of it."""
    table = np.zeros((N_CODES, N_CODES))
    for low in range(N_CODES):
        for high in range(low, N_CODES):
            lowest = next(level for level in levels if len(set(level[low : high + 1])) == 1)
            size = high - low + 1 if kind == "interval" else lowest.count(lowest[low])
            table[low, high] = (size - 1) / (N_CODES - 1)
    return table


class Space:
    """Random columns, priced twice: as the kernels want it, and by a table of pairs for each column."""

    def __init__(self, rng: np.random.Generator, kinds: Kinds) -> None:
        self.tables = []
        prices: list[float] = []
        nodes: list[int] = []
        columns = []
        for kind in kinds:
            levels = random_levels(rng)
            self.tables.append(pair_table(kind, levels))
            if kind == "interval":
                columns.append((len(prices), -1, -1))
                prices += self.tables[-1][0].tolist()
            elif kind == "table":
                columns.append((len(prices), N_CODES, -1))
                prices += self.tables[-1].ravel().tolist()
            else:
                columns.append((len(prices), N_CODES, len(nodes)))
                for level in levels:
                    nodes += [len(prices) + node for node in level]
                    prices += [(level.count(node) - 1) / (N_CODES - 1) for node in range(level[-1] + 1)]
        self.covers = Covers(np.array(prices), np.array(columns), np.array(nodes, dtype=np.int64))

    def cost(self, low: Array, high: Array) -> float:
        total = 0.0
        for table, first, last in zip(self.tables, low.tolist(), high.tolist(), strict=True):
            total += float(table[first, last])
        return total

    def increase(self, tree: Tree, item: int, low: Array, high: Array, size: int) -> float:
        """Return what the union of a range and an item costs more, record by record."""
        joint = self.cost(np.minimum(low, tree.low[item]), np.maximum(high, tree.high[item]))
        own = self.cost(tree.low[item], tree.high[item])
        return size * (joint - self.cost(low, high)) + tree.sizes[item] * (joint - own)


def random_tree(
    rng: np.random.Generator, kinds: Kinds, n_items: int, *, points: bool = False
) -> tuple[Space, Tree, list[int]]:
    """Return a tree of ranges (or points) with a third of them gone, and the rows of those that are there."""
    space = Space(rng, kinds)
    ends = np.sort(rng.integers(0, N_CODES, size=(2, n_items, len(kinds)), dtype=np.int32), axis=0)
    low, high = (ends[0], ends[0].copy()) if points else (ends[0], ends[1])
    sizes = np.zeros(n_items, np.int64) if points else rng.integers(1, 9, size=n_items)
    ranks = rng.permutation(n_items)
    ranks[rng.random(n_items) < 1 / 3] = GONE
    ranks[0] = n_items
    tree, rows = build_tree(space.covers, low, high, sizes, ranks)
    np.testing.assert_array_equal(tree.low[rows], low)
    np.testing.assert_array_equal(tree.ranks[rows], ranks)
    return space, tree, [row for row in rows.tolist() if tree.ranks[row] < GONE]


def some_range(rng: np.random.Generator, n_columns: int) -> tuple[Array, Array]:
    ends = np.sort(rng.integers(0, N_CODES, size=(2, n_columns), dtype=np.int32), axis=0)
    return ends[0].copy(), ends[1].copy()


@EVERY_SHAPE
def test_a_range_costs_what_its_smallest_cover_costs(kinds: Kinds) -> None:
    rng = np.random.default_rng(1)
    space = Space(rng, kinds)
    ranges = [some_range(rng, len(kinds)) for _ in range(200)]
    low, high = (np.stack(ends) for ends in zip(*ranges, strict=True))
    expected = [space.cost(*ends) for ends in ranges]
    assert range_costs(low, high, *space.covers).tolist() == expected


@EVERY_SHAPE
@EVERY_SIZE
def test_the_nearest_items_are_those_of_brute_force_in_the_same_order(kinds: Kinds, n_items: int) -> None:
    rng = np.random.default_rng(n_items)
    for _ in range(20):
        space, tree, there = random_tree(rng, kinds, n_items)
        low, high = some_range(rng, len(kinds))
        size, own = int(rng.integers(1, 9)), int(rng.choice([-1, *there]))
        keys = {item: (space.increase(tree, item, low, high, size), tree.ranks[item]) for item in there}
        keys.pop(own, None)
        wanted = min(int(rng.integers(1, 6)), len(keys))
        if not wanted:
            continue
        found, increases = np.empty(wanted, np.int64), np.empty(wanted)
        nearest(tree, low, high, size, space.cost(low, high), own, found, increases)
        assert found.tolist() == sorted(keys, key=keys.__getitem__)[:wanted]
        assert increases.tolist() == [keys[item][0] for item in found.tolist()]


@EVERY_SHAPE
@EVERY_SIZE
def test_the_furthest_point_is_that_of_brute_force(kinds: Kinds, n_items: int) -> None:
    rng = np.random.default_rng(n_items)
    for _ in range(20):
        space, tree, there = random_tree(rng, kinds, n_items, points=True)
        codes, _ = some_range(rng, len(kinds))
        keys = {
            item: (
                -space.cost(np.minimum(codes, tree.low[item]), np.maximum(codes, tree.low[item])),
                tree.ranks[item],
            )
            for item in there
        }
        assert furthest(tree, codes) == min(keys, key=keys.__getitem__)


@EVERY_SHAPE
def test_records_join_one_after_the_other_and_are_counted_at_once(kinds: Kinds) -> None:
    rng = np.random.default_rng(2)
    space, tree, there = random_tree(rng, kinds, 60)
    records = np.stack([some_range(rng, len(kinds))[0] for _ in range(40)])
    low, high, sizes = tree.low.copy(), tree.high.copy(), tree.sizes.copy()
    by_hand = tree._replace(low=low, high=high, sizes=sizes)
    expected = []
    for record in records:
        chosen = min(
            there, key=lambda item: (space.increase(by_hand, item, record, record, 1), tree.ranks[item])
        )
        expected.append(int(tree.ranks[chosen]))
        low[chosen], high[chosen] = np.minimum(low[chosen], record), np.maximum(high[chosen], record)
        sizes[chosen] += 1
    assert join_leftovers(tree, records).tolist() == expected
    np.testing.assert_array_equal(tree.low[there], low[there])
    np.testing.assert_array_equal(tree.high[there], high[there])
    np.testing.assert_array_equal(tree.sizes[there], sizes[there])


@EVERY_SHAPE
def test_partners_come_in_the_order_of_the_loss_and_say_whether_one_fits_into_the_other(kinds: Kinds) -> None:
    rng = np.random.default_rng(3)
    space, tree, there = random_tree(rng, kinds, 50)
    row_of = {int(tree.ranks[row]): row for row in there}
    shape = (len(there), 5)
    partners = MergePartners(np.empty(shape, np.int64), np.empty(shape), np.empty(shape, np.bool_))
    find_partners(tree, np.array(there), partners, 0, 9)
    find_partners(tree, np.array(there), partners, 9, len(there))
    for item, its_ranks, its_increases, its_fits in zip(there, *partners, strict=True):
        low, high = tree.low[item], tree.high[item]
        others = {
            other: space.increase(tree, other, low, high, tree.sizes[item])
            for other in there
            if other != item
        }
        best = sorted(others, key=lambda other: (others[other], tree.ranks[other]))[:5]
        assert [row_of[rank] for rank in its_ranks.tolist()] == best
        assert its_increases.tolist() == [others[other] for other in best]
        for other, does_fit in zip(best, its_fits, strict=True):
            joint = space.cost(np.minimum(low, tree.low[other]), np.maximum(high, tree.high[other]))
            assert does_fit == (joint == tree.costs[other])


def test_growing_takes_every_record_once_and_remembers_where_it_stopped() -> None:
    rng = np.random.default_rng(4)
    space = Space(rng, ("interval", "table"))
    points = np.unique(rng.integers(0, N_CODES, size=(40, 2), dtype=np.int32), axis=0)
    n_points = len(points)
    weights = rng.integers(1, 5, size=2 * n_points)

    def fresh() -> tuple[Tree, RemainingRecords]:
        no_size = np.zeros(n_points, np.int64)
        tree, rows = build_tree(space.covers, points, points, no_size, 2 * np.arange(n_points))
        first, end = np.zeros((2, len(tree.ranks)), np.int64)
        first[rows], end[rows] = 2 * np.arange(n_points), 2 * np.arange(n_points) + 2
        nobody = np.empty(0, np.int64)
        return tree, RemainingRecords(
            np.arange(2 * n_points), weights.copy(), first, end, nobody, nobody, nobody
        )

    n_clusters = int(weights.sum()) // 7

    def grown_in_steps_of(step: int) -> tuple[GrownClusters, RemainingRecords]:
        tree, stock = fresh()
        ranges, taken = np.empty((2, n_clusters, 2), np.int32), np.zeros((3, 7 * n_clusters), np.int64)
        arrays: Any = [*ranges, *taken, points[0].copy()]
        grown = GrownClusters(*arrays)
        n_taken = 0
        for first in range(0, n_clusters, step):
            end = min(first + step, n_clusters)
            n_taken, n_grown = grow_clusters(tree, stock, grown, 7, first, end, n_taken)
            assert n_grown == end
        assert not grown.weights[n_taken:].any()
        return grown, stock

    grown, stock = grown_in_steps_of(n_clusters)
    assert Counter(np.repeat(grown.cluster_of, grown.weights).tolist()) == dict.fromkeys(range(n_clusters), 7)
    assert (np.bincount(grown.rows, grown.weights, minlength=len(weights)) + stock.weights == weights).all()
    for cluster in range(n_clusters):
        inside = points[grown.rows[(grown.cluster_of == cluster) & (grown.weights > 0)] // 2]
        assert (grown.low[cluster] == inside.min(axis=0)).all()
        assert (grown.high[cluster] == inside.max(axis=0)).all()
    for array, in_steps in zip(grown, grown_in_steps_of(3)[0], strict=True):
        np.testing.assert_array_equal(array, in_steps)


@pytest.mark.parametrize(
    ("moves", "expected"),
    [
        ([], [0, 1, 2, 3]),
        ([(0, 1, False)], [1, 1, 2, 3]),
        ([(0, 1, False), (1, 0, False)], [1, 1, 2, 3]),
        ([(0, 1, False), (2, 1, False)], [1, 1, 2, 3]),
        ([(0, 1, True), (2, 1, True), (3, 1, True)], [1, 1, 1, 1]),
        ([(0, 1, True), (2, 1, False)], [1, 1, 2, 3]),
        ([(0, 1, False), (2, 1, True)], [1, 1, 2, 3]),
        ([(0, 1, True), (1, 2, True)], [1, 1, 2, 3]),
        ([(0, 1, False), (2, 0, True), (2, 3, False)], [1, 1, 3, 3]),
    ],
)
def test_who_comes_first_is_served_first(moves: list[tuple[int, int, bool]], expected: list[int]) -> None:
    movers, targets = (np.array([move[i] for move in moves], dtype=np.int64) for i in (0, 1))
    fits = np.array([move[2] for move in moves], dtype=np.bool_)
    assert choose_merges(4, movers, targets, fits).tolist() == expected


def test_the_counts_of_a_union_are_those_of_its_records() -> None:
    rng = np.random.default_rng(5)
    group = np.concatenate([np.arange(9), rng.integers(0, 9, size=60)])
    values = rng.integers(0, 7, size=69, dtype=np.int32)
    weights = rng.integers(1, 4, size=69)
    first, second = (ends.ravel() for ends in np.meshgrid(np.arange(9), np.arange(9)))
    counted = merged_counts(*value_counts(group, 9, values, 7, weights), first, second)
    for pair, (one, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        expected: Counter[int] = Counter()
        for part in (one, other):
            for value, weight in zip(
                values[group == part].tolist(), weights[group == part].tolist(), strict=True
            ):
                expected[value] += weight
        start, end = counted[0][pair : pair + 2]
        assert counted[1][start:end].tolist() == sorted(expected)
        assert counted[2][start:end].tolist() == [expected[value] for value in sorted(expected)]
