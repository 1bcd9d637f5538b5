"""Search for the cells to suppress: for each record the cheapest combination of attributes that works.

A pattern is a combination of attributes whose cells are suppressed. Records with the same pattern and the
same values elsewhere form a class, since ``*`` matches only ``*``; the model must hold in every class.

The search is greedy, so its result is valid but need not be optimal: optimal suppression for k-anonymity is
NP-hard (Meyerson and Williams 2004). It first gives every record the cheapest pattern in which the model
holds, then moves records to cheaper patterns round after round, as long as a round saves a noticeable share
of the cost. Every move is checked in the classes that records leave and in those that they join. A round goes
through at most about `_MOST_PATTERNS` patterns and evaluates the model on the classes under each.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from sfumato.data.equivalence_classes import SensitiveCounts, count_classes
from sfumato.data.table import People
from sfumato.kernels.row_groups import number_rows
from sfumato.models.base import PrivacyModel
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers

# Up to this many combinations of attributes are all tried; of more, about this many are selected.
_MOST_PATTERNS = 256

# The search goes on for another round while the last round saved at least this share of the cost.
_MIN_RELATIVE_SAVING = 0.01

OPEN = -1
"""The pattern of a point that has no place in the release (yet)."""


@dataclass(frozen=True)
class PointClasses:
    """Points in classes: the class of each, numbered from 0. A class may have no points."""

    points: Integers
    class_of: Integers
    n_classes: int

    def only(self, chosen: Booleans) -> PointClasses:
        """Return the same classes with only the chosen points."""
        return PointClasses(self.points[chosen], self.class_of[chosen], self.n_classes)

    def these(self, chosen: Booleans) -> PointClasses:
        """Return the chosen classes, renumbered."""
        kept, number = chosen[self.class_of], np.cumsum(chosen) - 1
        return PointClasses(self.points[kept], number[self.class_of[kept]], int(np.count_nonzero(chosen)))

    def count(self, chosen: Booleans) -> Integers:
        """Return how many of the chosen points each class has."""
        return np.bincount(self.class_of[chosen], minlength=self.n_classes).astype(np.int64)

    def total(self, amounts: Floats) -> Floats:
        """Add up these amounts over the points of each class."""
        return np.bincount(self.class_of, weights=amounts, minlength=self.n_classes).astype(np.float64)

    def ranks(self, *keys: Floats | Integers | Booleans) -> Integers:
        """Return the rank of each point in its class, sorted by the first key, then by the second, …."""
        order = np.lexsort((*reversed(keys), self.class_of))
        starts = np.searchsorted(self.class_of[order], np.arange(self.n_classes))
        ranks = np.empty(len(order), dtype=np.int64)
        ranks[order] = np.arange(len(order)) - starts[self.class_of[order]]
        return ranks


@dataclass(frozen=True)
class Points:
    """The distinct combinations of the values that the search uses, each with its number of records.

    A combination with many records is divided into several points, so that a few of the records can move.

    Parameters
    ----------
    names, codes, cardinalities
        The quasi-identifiers with more than one value, and for each the values of the points.
    weights
        The number of records of each point.
    model, watched, sensitive
        What must hold, the sensitive attributes that it looks at, and for each the values of the points.
    people
        Whose the points are, where somebody has several records: then a point is one person's.
    """

    names: tuple[str, ...]
    codes: Codes
    cardinalities: Integers
    weights: Integers
    model: PrivacyModel
    watched: Mapping[str, SensitiveCounts]
    sensitive: Mapping[str, Codes]
    people: People | None

    def hold(self, classes: PointClasses) -> Booleans:
        """Return for each class whether the model holds in it, or it has no points."""
        held = np.ones(classes.n_classes, dtype=np.bool_)
        held[classes.class_of] = False
        if len(classes.points):
            full = classes.these(~held)
            codes = {
                name: (self.sensitive[name][full.points], self.watched[name].prior) for name in self.watched
            }
            domains = {name: counts.domain for name, counts in self.watched.items()}
            people = None if self.people is None else self.people.take(full.points)
            weights = self.weights[full.points]
            counted = count_classes(full.class_of, full.n_classes, weights, codes, domains, people)
            held[~held] = self.model.satisfied(counted)
        return held

    def alike(self, points: Integers, hidden: Booleans) -> PointClasses:
        """Return the classes of these points when all of them lose the same cells."""
        shown = np.flatnonzero(~hidden)
        columns = [self.codes[attribute, points] for attribute in shown]
        return PointClasses(points, *number_rows(columns, self.cardinalities[shown].tolist(), len(points)))

    def by_own_cells(self, points: Integers, hidden: Booleans) -> PointClasses:
        """Return the classes of these points when each of them loses its own cells."""
        columns = np.where(hidden.T, self.cardinalities[:, None], self.codes[:, points])
        return PointClasses(
            points, *number_rows(list(columns), (self.cardinalities + 1).tolist(), len(points))
        )

    def excess(self, classes: PointClasses, settled: Booleans) -> Floats:
        """Return for each point how frequent its sensitive values are in its class, compared with the table.

        The points of a class are counted one after the other, the settled ones first. The points with the
        least excess have together the distribution of the whole table, for which the model holds.
        """
        excess = np.zeros(len(classes.points))
        weights = self.weights[classes.points]
        for name, counts in self.watched.items():
            values = self.sensitive[name][classes.points]
            key = classes.class_of * len(counts.prior) + values
            order = np.lexsort((weights, ~settled, key))
            so_far = np.cumsum(weights[order])
            first = np.flatnonzero(np.diff(key[order], prepend=-1))
            before = np.repeat((so_far - weights[order])[first], np.diff(first, append=len(order)))
            excess[order] = np.maximum(excess[order], (so_far - before) / counts.prior[values[order]])
        return excess


@dataclass(frozen=True)
class Patterns:
    """The combinations of attributes to suppress: the first is the empty one, the last has all attributes.

    Parameters
    ----------
    hidden
        For each pattern and each attribute whether it is suppressed.
    costs
        What each pattern costs for one record, ascending.
    """

    hidden: Booleans
    costs: Floats

    @property
    def prices(self) -> Floats:
        """The costs, followed by the cost of suppressing a record: a little more than all its cells."""
        return np.append(self.costs, self.costs[-1] * (1 + 1e-6))

    @property
    def slight(self) -> float:
        """A difference in cost that counts as zero."""
        return 1e-9 * float(self.costs[-1])


def patterns_of(points: Points, weights: Floats) -> Patterns:
    """Return the combinations of attributes to try, with the cost of hiding them."""
    # a cell of weight 0 is cheaper than any other, but not suppressed for nothing
    cell_costs = np.maximum(weights, 1e-6 * (weights.max(initial=0.0) or 1.0))
    if 2 ** len(weights) <= _MOST_PATTERNS:
        hidden = np.array(list(product([False, True], repeat=len(weights))), dtype=np.bool_)
    else:
        hidden = _promising(points, cell_costs)
    costs = hidden.astype(np.float64) @ cell_costs
    order = np.argsort(costs, kind="stable")
    return Patterns(hidden[order], costs[order])


def _promising(points: Points, cell_costs: Floats) -> Booleans:
    """Return for each size the patterns that help most for their cost, grown from those one smaller."""
    everyone = points.alike(np.arange(len(points.weights)), np.zeros(len(cell_costs), dtype=np.bool_))
    failing = everyone.points[~points.hold(everyone)[everyone.class_of]]

    def promise(hidden: Booleans) -> tuple[float, float]:
        classes = points.alike(failing, hidden)
        helped = classes.points[points.hold(classes)[classes.class_of]]
        cost = float(cell_costs[hidden].sum())
        return -float(points.weights[helped].sum()) / cost, classes.n_classes * cost

    single = np.eye(len(cell_costs), dtype=np.bool_)
    best = [np.zeros(len(cell_costs), dtype=np.bool_)]
    promising = [*best]
    for _ in single:
        grown = np.unique([hidden | one for hidden in best for one in single[~hidden]], axis=0)
        best = sorted(grown, key=promise)[: max(_MOST_PATTERNS // len(single), 1)]
        promising += best
    return np.unique(promising, axis=0)


def search_patterns(points: Points, patterns: Patterns, suppression: float) -> Integers:
    """Return the pattern of each point, or `OPEN` for suppressed ones, at most this share of the records."""
    # no suppressed cells, and the points that fail are open
    start = np.zeros(len(points.weights), dtype=np.int64)
    start = np.where(_fails(points, patterns, start), OPEN, start)
    if not (start == OPEN).any():
        return start
    pattern_of = _improved(points, patterns, _assign_open(points, patterns, start))
    if _share_suppressed(points, pattern_of) > suppression:
        pattern_of = _improved(points, patterns, _pull_in_classes(points, patterns, pattern_of, suppression))
    entirely = np.where(start == OPEN, len(patterns.costs) - 1, start)
    if _fails(points, patterns, entirely).any():
        return pattern_of
    return _better(points, patterns, suppression, pattern_of, entirely)


def _better(
    points: Points, patterns: Patterns, suppression: float, one: Integers, other: Integers
) -> Integers:
    """Return the solution that suppresses few enough records, or else the cheaper one."""

    def loss(pattern_of: Integers) -> tuple[bool, float]:
        return _share_suppressed(points, pattern_of) > suppression, _cost(points, patterns, pattern_of)

    return min(one, other, key=loss)


def _share_suppressed(points: Points, pattern_of: Integers) -> float:
    return float(points.weights[pattern_of == OPEN].sum() / points.weights.sum())


def _cost(points: Points, patterns: Patterns, pattern_of: Integers) -> float:
    return float(patterns.prices[pattern_of] @ points.weights)


def _fails(points: Points, patterns: Patterns, pattern_of: Integers) -> Booleans:
    everyone = points.by_own_cells(np.arange(len(pattern_of)), patterns.hidden[pattern_of])
    return ~points.hold(everyone)[everyone.class_of]


def _assign_open(points: Points, patterns: Patterns, start: Integers) -> Integers:
    """Give open points a pattern, the cheapest first, and among equals the one that helps most records."""
    pattern_of = start.copy()
    queue = [(cost, -np.inf, pattern) for pattern, cost in enumerate(patterns.costs.tolist())]
    while queue and (pattern_of == OPEN).any():
        cost, _, pattern = heapq.heappop(queue)
        helped = _helped_points(points, patterns, pattern_of, pattern)
        promise = (cost, -float(points.weights[helped].sum()), pattern)
        if len(helped) and queue and queue[0] < promise:
            heapq.heappush(queue, promise)
        else:
            pattern_of[helped] = pattern
    return pattern_of


def _helped_points(points: Points, patterns: Patterns, pattern_of: Integers, pattern: int) -> Integers:
    """Return open points for which the model holds under a pattern, together with those that have it.

    If it fails in a whole class, it may hold in a part that resembles the whole table.
    """
    hidden = patterns.hidden[pattern]
    able = (pattern_of == OPEN) | (pattern_of == pattern)
    classes = points.alike(np.flatnonzero(able), hidden)
    settled = pattern_of[classes.points] == pattern
    ranks = classes.ranks(~settled, points.excess(classes, settled))
    sizes = classes.count(np.ones_like(settled))
    n_helped = _bisected(points, classes, ranks, classes.count(settled), sizes)
    return classes.only(~settled & (ranks < n_helped[classes.class_of])).points


def _bisected(
    points: Points, classes: PointClasses, ranks: Integers, safe: Integers, wish: Integers
) -> Integers:
    """Return for each class how many of its points, lowest rank first, it can have while the model holds.

    Parameters
    ----------
    safe, wish
        A number for which it holds, and the best number: the answer is the best number, or one between the
        two, found by bisection.
    """
    unsure, middle = np.ones(classes.n_classes, dtype=np.bool_), wish
    while unsure.any():
        part = classes.only(unsure[classes.class_of] & (ranks < middle[classes.class_of]))
        held = points.hold(part)
        safe = np.where(unsure & held, middle, safe)
        wish = np.where(unsure & ~held, middle, wish)
        unsure, middle = np.abs(wish - safe) > 1, (safe + wish) // 2
    return safe


def _pull_in_classes(
    points: Points, patterns: Patterns, pattern_of: Integers, suppression: float
) -> Integers:
    """Give open points a pattern together with whole classes: all of them at once, or the cheapest first."""
    at_once = _merged(points, patterns, pattern_of, len(patterns.costs) - 1, np.inf)
    price, dearest = patterns.costs[-1], 4 * patterns.costs[-1] * points.weights.sum()
    while _share_suppressed(points, pattern_of) > suppression and price < dearest:
        for pattern in range(len(patterns.costs)):
            pattern_of = _merged(points, patterns, pattern_of, pattern, price)
        price *= 2
    return _better(points, patterns, suppression, pattern_of, at_once)


def _merged(points: Points, patterns: Patterns, pattern_of: Integers, pattern: int, price: float) -> Integers:
    """Move open points to a pattern, with the classes that this takes, where it costs less than the price."""
    hidden = patterns.hidden[pattern]
    is_within = np.append(~(patterns.hidden & ~hidden).any(axis=1), True)
    groups = points.alike(np.flatnonzero(is_within[pattern_of]), hidden)
    groups = groups.these(groups.count(pattern_of[groups.points] == OPEN) > 0)
    groups = groups.these(points.hold(groups))
    if not groups.n_classes:
        return pattern_of
    own = pattern_of[groups.points]
    turns = _turns(points, patterns, pattern_of, groups.only((own != OPEN) & (own != pattern)))
    turn_of, n_turns = turns[groups.points], np.zeros(groups.n_classes, dtype=np.int64)
    np.maximum.at(n_turns, groups.class_of, turn_of + 1)
    n_pulled = _bisected(points, groups, turn_of, n_turns, np.zeros_like(n_turns))
    groups = groups.only(turn_of < n_pulled[groups.class_of])
    gains = np.append(patterns.costs, price)[pattern_of[groups.points]] - patterns.costs[pattern]
    saved = groups.total(gains * points.weights[groups.points])
    moved = pattern_of.copy()
    moved[groups.points[(saved > 0)[groups.class_of]]] = pattern
    return moved


def _turns(points: Points, patterns: Patterns, pattern_of: Integers, groups: PointClasses) -> Integers:
    """Return for each point when its class would be pulled into its group: the dearest first; others -1."""
    homes = points.by_own_cells(groups.points, patterns.hidden[pattern_of[groups.points]])
    group_of = np.empty(homes.n_classes, dtype=np.int64)
    group_of[homes.class_of] = groups.class_of
    costs = np.empty(homes.n_classes)
    costs[homes.class_of] = patterns.costs[pattern_of[homes.points]]
    sizes = homes.total(points.weights[homes.points].astype(np.float64))
    turns = PointClasses(np.arange(homes.n_classes), group_of, groups.n_classes).ranks(-costs, sizes)
    turn_of = np.full(len(pattern_of), -1, dtype=np.int64)
    turn_of[homes.points] = turns[homes.class_of]
    return turn_of


def _improved(points: Points, patterns: Patterns, pattern_of: Integers) -> Integers:
    """Move points to cheaper patterns until that saves next to nothing."""
    before, cost = np.inf, _cost(points, patterns, pattern_of)
    while before - cost > _MIN_RELATIVE_SAVING * cost:
        for pattern in range(len(patterns.costs)):
            pattern_of = _regrouped(points, patterns, pattern_of, pattern)
        before, cost = cost, _cost(points, patterns, pattern_of)
    return pattern_of


def _regrouped(points: Points, patterns: Patterns, pattern_of: Integers, pattern: int) -> Integers:
    """Move points to one pattern where this lowers the cost, with others that the model needs there."""
    hidden = patterns.hidden[pattern]
    gains = patterns.prices[pattern_of] - patterns.costs[pattern]
    gains[np.abs(gains) <= patterns.slight] = 0.0
    groups = points.alike(np.arange(len(gains)), hidden)
    groups = groups.these(groups.count(gains > 0) > 0)
    groups = groups.these(points.hold(groups))
    if not groups.n_classes:
        return pattern_of
    moves = pattern_of != pattern
    homes = _homes(points, patterns, pattern_of, groups.points[moves[groups.points]])
    free = _free_to_leave(points, homes, np.isin(homes.points, groups.points), gains)
    free[pattern_of == OPEN] = True
    groups = _with_fewest(points, groups.only((free | ~moves)[groups.points]), moves, gains)
    movers = _without_conflicts(points, homes, groups.only(moves[groups.points]), gains, patterns.slight)
    regrouped = pattern_of.copy()
    regrouped[movers.points] = pattern
    return regrouped


def _homes(points: Points, patterns: Patterns, pattern_of: Integers, movable: Integers) -> PointClasses:
    """Return the classes that points may leave."""
    kept = np.flatnonzero(pattern_of != OPEN)
    classes = points.by_own_cells(kept, patterns.hidden[pattern_of[kept]])
    return classes.these(classes.count(np.isin(kept, movable)) > 0)


def _free_to_leave(points: Points, homes: PointClasses, movable: Booleans, gains: Floats) -> Booleans:
    """Return which points can leave their class: the model holds for the rest, or no points are left."""
    gain = gains[homes.points]
    sizes = homes.count(np.ones_like(movable))
    everybody_gains = homes.count(movable & (gain > 0)) == sizes
    fewest = np.maximum(sizes - homes.count(movable), np.where(everybody_gains, 0, 1))
    weights = points.weights[homes.points]
    ranks = homes.ranks(movable, gain, np.where(gain > 0, weights, -weights))
    stay = _bisected(points, homes, ranks, sizes, fewest)
    free = np.zeros(len(gains), dtype=np.bool_)
    free[homes.points[ranks >= stay[homes.class_of]]] = True
    return free


def _with_fewest(points: Points, groups: PointClasses, moves: Booleans, gains: Floats) -> PointClasses:
    """Return the groups in which the model holds, with as few losing points as necessary."""
    gain = gains[groups.points]
    loses = moves[groups.points] & (gain <= 0)
    sizes = groups.count(np.ones_like(loses))
    ranks = groups.ranks(loses, -gain, points.weights[groups.points])
    held = points.hold(groups)
    n_kept = np.where(held, _bisected(points, groups, ranks, sizes, sizes - groups.count(loses)), 0)
    return groups.only(ranks < n_kept[groups.class_of])


def _without_conflicts(
    points: Points, homes: PointClasses, movers: PointClasses, gains: Floats, slight: float
) -> PointClasses:
    """Drop groups, those that save least first, until the model holds in every class that points leave."""
    saved = movers.total(gains[movers.points] * points.weights[movers.points])
    while True:
        movers = movers.only(saved[movers.class_of] > slight)
        group_of = np.full(len(gains), -1, dtype=np.int64)
        group_of[movers.points] = movers.class_of
        leaving = group_of[homes.points] >= 0
        held = points.hold(homes.only(~leaving))
        blocked = homes.only(leaving & ~held[homes.class_of])
        if not len(blocked.points):
            return movers
        groups = group_of[blocked.points]
        saved[groups[blocked.ranks(saved[groups]) == 0]] = 0.0
