"""Find the best full-domain recoding by branch and bound.

It computes the node with the lowest cost among all nodes at which a model holds once the failing records
are suppressed. If the budget is spent before that is proven, it returns the best known node and a bound on
all others.

Why it is right: a box holds all nodes between a finest and a coarsest one, and each of them is finer than
the coarsest. Evaluating the coarsest node therefore bounds them all. A record is suppressed at every finer
node if the model's `lost_share` says so. A level loses at least as much as the levels below it (`nested`),
so each attribute loses at least what its finest level in the box does. A box that cannot hold a better node
is dropped; any other is cut in two, so that every node is in exactly one box. When no box is open, the best
node is proven. If levels do not nest, nothing is bounded and every node is evaluated.

Cost: an evaluation groups all distinct rows once. There may be as many evaluations as nodes, which are
exponentially many in the attributes. Evaluated nodes and open boxes are limited to `_MOST_HELD`; the boxes
with the highest bounds are forgotten first, and the lowest of these bounds stays part of the answer.

Papers: R. Bayardo, R. Agrawal, "Data privacy through optimal k-anonymization", 2005, for the search by
lower bounds; F. Kohlmayer et al., "Flash: efficient, stable and optimal k-anonymity", 2012, for walking the
lattice.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.kernels.row_groups import first_row_of_group, sum_by_group
from sfumato.models.base import PrivacyModel
from sfumato.models.bounds import lost_share
from sfumato.registry.declarations import Share, check_bound, own
from sfumato.runtime.arrays import Booleans, Floats, Integers
from sfumato.runtime.errors import Infeasible, ParameterError, suggestion
from sfumato.sanitizers.base import check_feasible
from sfumato.searches.lattice.lattice import GeneralizationLattice, Levels

Objective = Literal[
    "total-loss",
    "general-loss",
    "geometric-loss",
    "discernibility",
    "average-class-size",
    "average-class-size-with-suppressed",
    "precision",
]

# Costs this near to each other are ties.
_TIE = 1e-12
# A number of records that was computed from shares may be this much too high.
_ROUNDING = 1e-6
# At most so many boxes are open, and so many evaluated nodes are remembered.
_MOST_HELD = 200_000
# After so many evaluations the search walks downhill from the best node, so many times, before it goes on: a
# better node closes more boxes.
_FIRST_WALK = 500
_WALKS = 20


@dataclass(frozen=True)
class Optimum:
    """The best node that the search found, and a bound on all others.

    Parameters
    ----------
    levels
        The level of each quasi-identifier.
    score
        The objective at this node.
    n_suppressed, n_classes
        How many records are suppressed there, and how many classes remain.
    n_evaluated, n_nodes
        How many nodes were evaluated, and how many there are.
    bound
        No node of the lattice has a better score than this.
    exact
        Whether this node is proven to be the best.
    """

    levels: Mapping[str, int]
    score: float
    n_suppressed: int
    n_classes: int
    n_evaluated: int
    n_nodes: int
    bound: float
    exact: bool


def optimal_node(
    table: Table,
    schema: Schema,
    model: PrivacyModel,
    *,
    suppression: float = 0.0,
    objective: Objective = "total-loss",
    budget: float | None = None,
    evaluations: int | None = None,
) -> Optimum:
    """Find the node with the best score at which a model holds once the failing records are suppressed.

    Ties are broken by the lexicographically smallest levels.

    Parameters
    ----------
    table, schema
        The original, bound if that has not been done.
    model
        What must hold. Records in classes where it fails are suppressed, as `FullDomain` does.
    suppression
        The largest share of the records that may be suppressed.
    objective
        What to make small; ``precision`` is made large. Two are scores of ARX: ``geometric-loss`` is the
        geometric mean of 1 + the total loss of each attribute, less 1, and
        ``average-class-size-with-suppressed`` counts the suppressed records as one class more.
    budget, evaluations
        How many seconds to search and how many nodes to evaluate; without a limit until the best node is
        proven.

    Examples
    --------
    >>> from sfumato import datasets
    >>> from sfumato.models import KAnonymity
    >>> optimum = optimal_node(*datasets.hospital(), KAnonymity(3), suppression=0.25)
    >>> optimum.levels, optimum.n_suppressed, optimum.exact
    ({'zip': 2, 'age': 3, 'sex': 0}, 2, True)
    """
    if objective not in get_args(Objective):
        hint = (
            suggestion(str(objective), get_args(Objective)) or f"; there are {', '.join(get_args(Objective))}"
        )
        raise ParameterError(f"no objective {objective!r}{hint}")
    check_bound("suppression", Share, suppression)
    deadline = math.inf if budget is None else time.monotonic() + budget
    bound_table, bound_schema = schema.bind(table)
    bound_schema.require("quasi-identifying", "a lattice")
    check_feasible(bound_table, bound_schema, model, suppresses=suppression > 0)
    problem = _NodeProblem.of(bound_table, bound_schema, model, suppression, objective)
    top = problem.evaluate(problem.lattice.heights)
    return _Search(problem, top, deadline, math.inf if evaluations is None else evaluations, best=top).run()


@dataclass(frozen=True)
class _Judged:
    """The classes of one node.

    Parameters
    ----------
    fails
        For each class whether the model fails there.
    lost
        For each class how many of its records are suppressed at every finer node, at least.
    """

    class_of: Integers
    sizes: Integers
    fails: Booleans
    lost: Integers

    @cached_property
    def n_suppressed(self) -> int:
        return int(self.sizes[self.fails].sum())


@dataclass(frozen=True)
class _Node:
    """What is known of one node.

    Parameters
    ----------
    cost
        The objective as something to make small; infinite when too many records would be suppressed.
    base, steps
        A finer node costs at least ``base`` and, for each attribute, the step of its level; an infinite
        base means that too many records would be suppressed at every finer node.
    """

    levels: Levels
    cost: float
    n_suppressed: int
    n_classes: int
    base: float
    steps: Sequence[float] = field(repr=False)

    def is_better_than(self, other: _Node) -> bool:
        """Return whether this node is better, or as good with lexicographically smaller levels."""
        return _is_better(self.cost, self.levels, other)


def _is_better(cost: float, levels: Levels, best: _Node) -> bool:
    """Return whether a cost is below the best one, or a tie with lexicographically smaller levels."""
    if best.cost == math.inf:
        return cost < math.inf
    tie = _TIE * max(1.0, abs(best.cost))
    return cost < best.cost - tie or (cost <= best.cost + tie and levels < best.levels)


@dataclass(frozen=True)
class _NodeProblem:
    """A lattice, a model, a suppression limit and an objective.

    Parameters
    ----------
    smallest
        A size below which no class satisfies the model.
    k
        The size by which average class sizes are divided: that of k-anonymity, else 1.
    sizes_suffice
        Whether the model asks for nothing but the size of a class.
    shares
        For each level of each attribute the attribute's share in general loss.
    """

    lattice: GeneralizationLattice
    model: PrivacyModel
    smallest: int
    k: int
    sizes_suffice: bool
    n_allowed: int
    objective: Objective
    shares: Floats
    fixed_steps: Sequence[float]

    @classmethod
    def of(
        cls, table: Table, schema: Schema, model: PrivacyModel, suppression: float, objective: Objective
    ) -> _NodeProblem:
        sizes = [part.smallest_class for part in model.parts if own(type(part), "asks_only_size")]
        sizes_suffice = len(sizes) == len(model.parts)
        lattice = GeneralizationLattice.of(table, schema, () if sizes_suffice else schema.sensitive)
        n_allowed = _most_suppressed(lattice.n_records, suppression)
        weights = np.array([schema[name].weight for name in lattice.names])
        return cls(
            lattice=lattice,
            model=model,
            smallest=max(part.smallest_class for part in model.parts),
            k=max(sizes, default=1),
            sizes_suffice=sizes_suffice,
            n_allowed=n_allowed,
            objective=objective,
            shares=np.repeat(weights / max(weights.sum(), 1e-300), np.add(lattice.heights, 1)),
            fixed_steps=_fixed_steps(lattice, objective, n_allowed),
        )

    @property
    def separable(self) -> bool:
        """Whether the bound on a node is a sum over its attributes."""
        return not self.objective.startswith(("discernibility", "average-class-size"))

    def score(self, cost: float) -> float:
        """Return the objective that a cost stands for."""
        if self.objective == "precision":
            return 1 - cost
        return math.expm1(cost) if self.objective == "geometric-loss" else cost

    def evaluate(self, levels: Levels) -> _Node:
        """Judge a node, and say what that means for all finer ones."""
        judged = self._judge(levels)
        base, steps = self._bounds(levels, judged)
        cost = self._cost(levels, judged) if judged.n_suppressed <= self.n_allowed else math.inf
        n_classes = len(judged.sizes) - int(judged.fails.sum())
        return _Node(levels, cost, judged.n_suppressed, n_classes, base, steps)

    def _judge(self, levels: Levels) -> _Judged:
        """Find the classes where the model fails; only those that are large enough are looked into."""
        lattice = self.lattice
        class_of, n_classes = lattice.classes(levels)
        sizes = sum_by_group(class_of, n_classes, lattice.weights)
        fails = lattice.count_people(class_of, sizes) < self.smallest
        lost = np.where(fails, sizes, 0)
        if not self.sizes_suffice and lost.sum() <= self.n_allowed:
            number = np.where(fails, -1, np.cumsum(~fails) - 1)
            large = lattice.counted(number[class_of], sizes[~fails])
            shares = np.max([lost_share(part, large) for part in self.model.parts], axis=0)
            lost[~fails] = np.clip(np.ceil(shares * large.sizes - _ROUNDING), 0, large.sizes)
            fails[~fails] = ~self.model.satisfied(large)
        return _Judged(class_of, sizes, fails, lost)

    def _cost(self, levels: Levels, judged: _Judged) -> float:
        n_records, n_suppressed = self.lattice.n_records, judged.n_suppressed
        kept = judged.sizes[~judged.fails]
        if self.objective == "discernibility":
            return float(_product(kept, kept) + n_records * n_suppressed)
        if self.objective == "average-class-size":
            return (n_records - n_suppressed) / len(kept) / self.k
        if self.objective == "average-class-size-with-suppressed":
            return n_records / (len(kept) + (n_suppressed > 0)) / self.k
        if self.objective == "precision":
            return self.total(levels, self.fixed_steps)
        if self.objective == "geometric-loss":
            return self.total(levels, self._logarithms_with(judged, judged.fails))
        general = self.total(levels, self._steps_without(judged, judged.fails))
        return general + n_suppressed / n_records if self.objective == "total-loss" else general

    def _bounds(self, levels: Levels, judged: _Judged) -> tuple[float, Sequence[float]]:
        """Return what every finer node costs at least: a base, and a step for every level.

        Nothing is known where a level does not join nodes of the level below.
        """
        if not all(self.lattice.nested):
            return -math.inf, [0.0] * len(self.lattice.nested)
        n_lost = int(judged.lost.sum())
        # a monotone model that holds in all parts of a class holds in the class
        fails = self.n_allowed == 0 and judged.n_suppressed > 0
        if n_lost > self.n_allowed or (fails and self._is_monotone):
            return math.inf, ()
        if self.objective == "total-loss":
            return self._loss_bounds(levels, judged)
        if self.objective == "geometric-loss":
            return 0.0, self._logarithms_with(judged, judged.lost == judged.sizes)
        if self.objective == "discernibility":
            # a record costs the size of its class, which is not above what it is here, or n if it is lost
            return float(self.lattice.n_records * n_lost - _product(judged.lost, judged.sizes)), ()
        return 0.0, self.fixed_steps

    @property
    def _is_monotone(self) -> bool:
        repeats = self.lattice.people is not None
        return all(
            part.is_monotone and (own(type(part), "of_people") or not repeats) for part in self.model.parts
        )

    def _loss_bounds(self, levels: Levels, judged: _Judged) -> tuple[float, Sequence[float]]:
        """Return the bounds on total loss.

        A suppressed record costs 1. If all of a class is lost, its general loss does not count. Else a lost
        record costs 1 instead of its general loss, which is not above the one here.
        """
        doomed = judged.lost == judged.sizes
        partly = (judged.lost > 0) & ~doomed
        base = float(judged.sizes[doomed].sum())
        if partly.any():
            first = first_row_of_group(judged.class_of, len(judged.sizes))[partly]
            base += float(judged.lost[partly] @ (1 - self.lattice.row_losses(levels, first)))
        return base / self.lattice.n_records, self._steps_without(judged, doomed)

    def _steps_without(self, judged: _Judged, left_out: Booleans) -> Sequence[float]:
        """Return for each level of each attribute its general loss over the classes that are not left out."""
        counts = self.lattice.value_counts
        if left_out.any():
            counts = counts - self.lattice.counted_cells(judged.class_of, left_out)
        steps: list[float] = self.lattice.level_losses(counts).tolist()
        return steps

    def _logarithms_with(self, judged: _Judged, suppressed: Booleans) -> Sequence[float]:
        """Return for each level of each attribute log(1 + total loss), with these classes suppressed.

        Each counts by the attribute's share, so that their sum is the logarithm of a geometric mean.
        """
        general = np.array(self._steps_without(judged, suppressed)) / np.maximum(self.shares, 1e-300)
        lost = judged.sizes[suppressed].sum() / self.lattice.n_records
        steps: list[float] = (self.shares * np.log1p(general + lost)).tolist()
        return steps

    def total(self, levels: Levels, steps: Sequence[float]) -> float:
        """Return the sum over the attributes of the steps of their levels."""
        return sum(steps[number] for number in self.lattice.numbers(levels))

    def least_cost(self, levels: Levels) -> float:
        """Return what a node and all coarser ones cost at least, from the sizes of its classes.

        Discernibility: classes only grow. Average class size: a coarser class that is kept holds a
        class that is large enough, or enough records of smaller ones; and what is suppressed may be one
        class more.
        """
        class_of, n_classes = self.lattice.classes(levels)
        sizes = sum_by_group(class_of, n_classes, self.lattice.weights)
        if self.objective == "discernibility":
            return float(_product(sizes, sizes))
        small = sizes < self.smallest
        most = n_classes - int(small.sum()) + int(sizes[small].sum()) // self.smallest
        if not most:
            return math.inf
        if self.objective == "average-class-size":
            return (self.lattice.n_records - self.n_allowed) / most / self.k
        return self.lattice.n_records / (most + (self.n_allowed > 0)) / self.k


def _product(one: Integers, other: Integers) -> int:
    # n² of a very large table does not fit 64 bits
    if other.sum() < 2**31:
        return int(one @ other)
    return sum(a * b for a, b in zip(one.tolist(), other.tolist(), strict=True))


def _most_suppressed(n_records: int, suppression: float) -> int:
    """Return how many records may be suppressed: at most the share, and never all."""
    near = math.floor(suppression * n_records)
    return max(n for n in range(max(near - 1, 0), min(near + 2, n_records)) if n / n_records <= suppression)


def _fixed_steps(lattice: GeneralizationLattice, objective: Objective, n_allowed: int) -> Sequence[float]:
    """Return for each level of each attribute what it costs at least, whatever is suppressed."""
    if objective == "precision":
        n_names = len(lattice.names)
        return [
            (first + level) / max(first + top, 1) / n_names
            for first, top in zip(lattice.lowest, lattice.heights, strict=True)
            for level in range(top + 1)
        ]
    if objective == "general-loss":
        # at most n_allowed cells of each attribute are left out, at best those that lose most
        return [
            _without_largest(lattice.losses[number], lattice.value_counts[values], n_allowed)
            / lattice.n_records
            for values, numbers in lattice.spans()
            for number in numbers
        ]
    return ()


def _without_largest(losses: Floats, counts: Integers, n_left_out: int) -> float:
    """Return the sum of the losses of so many cells, without those that lose most."""
    order = np.argsort(-losses, kind="stable")
    still = np.maximum(np.cumsum(counts[order]) - n_left_out, 0)
    return float(losses[order] @ np.minimum(counts[order], still))


@dataclass
class _Search:
    """Branch and bound over boxes of the lattice, the box with the lowest bound first.

    A heap entry is the bound of a box, a number that breaks ties, its finest levels and its coarsest node.
    """

    problem: _NodeProblem
    top: _Node
    deadline: float
    most: float
    best: _Node
    n_evaluated: int = 1
    known: dict[Levels, _Node] = field(default_factory=dict)
    least: dict[Levels, float] = field(default_factory=dict)
    boxes: list[tuple[float, int, Levels, _Node]] = field(default_factory=list)
    n_boxes: int = 0
    forgotten: float = math.inf

    def run(self) -> Optimum:
        """Cut boxes until the best node is proven or the budget is spent."""
        self._add((0,) * len(self.top.levels), self.top)
        next_walk = _FIRST_WALK
        while self.boxes and not self._spent():
            bound, _, finest, coarsest = heapq.heappop(self.boxes)
            # the best node may have improved since the box was added
            if self._is_open(bound, finest) and finest != coarsest.levels:
                self._cut(bound, finest, coarsest)
            if self.n_evaluated >= next_walk:
                self._walk_downhill(until=self.n_evaluated + self.n_evaluated // 4)
                next_walk = 2 * self.n_evaluated
        return self._result()

    def _spent(self) -> bool:
        return self.n_evaluated >= self.most or time.monotonic() >= self.deadline

    def _evaluated(self, levels: Levels) -> _Node:
        node = self.known.get(levels)
        if node is None:
            node = self.problem.evaluate(levels)
            self.n_evaluated += 1
            if len(self.known) >= _MOST_HELD:
                self.known.clear()
            self.known[levels] = node
            if node.is_better_than(self.best):
                self.best = node
        return node

    def _least(self, levels: Levels) -> float:
        if levels not in self.least:
            if len(self.least) >= _MOST_HELD:
                self.least.clear()
            self.least[levels] = self.problem.least_cost(levels)
        return self.least[levels]

    def _is_open(self, bound: float, finest: Levels) -> bool:
        """Return whether a node that costs so much, or one coarser than this, could be the best."""
        return _is_better(bound, finest, self.best)

    def _add(self, finest: Levels, coarsest: _Node) -> None:
        """Add a box if it may hold a better node; if there are too many, forget those with high bounds."""
        bound = coarsest.base
        if bound < math.inf and self.problem.separable:
            bound += self.problem.total(finest, coarsest.steps)
        elif bound < math.inf:
            bound += self._least(finest)
        if not self._is_open(bound, finest):
            return
        self.n_boxes += 1
        heapq.heappush(self.boxes, (bound, self.n_boxes, finest, coarsest))
        if len(self.boxes) > _MOST_HELD:
            self.boxes.sort()
            self.forgotten = min(self.forgotten, self.boxes[_MOST_HELD // 2][0])
            del self.boxes[_MOST_HELD // 2 :]

    def _cut(self, bound: float, finest: Levels, coarsest: _Node) -> None:
        """Drop levels that alone cost too much; where there are none, cut the box at one coarsest level."""
        levels = self._affordable(bound, finest, coarsest)
        if levels != coarsest.levels:
            self._add(finest, self._evaluated(levels))
            return
        place = max(range(len(levels)), key=lambda place: self._promise(place, finest, coarsest))
        self._add(finest, self._evaluated(_replaced(levels, place, levels[place] - 1)))
        self._add(_replaced(finest, place, levels[place]), coarsest)

    def _affordable(self, bound: float, finest: Levels, coarsest: _Node) -> Levels:
        levels = list(coarsest.levels)
        if self.problem.separable:
            for place, first in enumerate(self.problem.lattice.first_level[:-1]):
                steps = coarsest.steps[first : first + levels[place] + 1]
                spare = bound - steps[finest[place]]
                while levels[place] > finest[place]:
                    if self._is_open(spare + steps[levels[place]], _replaced(finest, place, levels[place])):
                        break
                    levels[place] -= 1
        return tuple(levels)

    def _promise(self, place: int, finest: Levels, coarsest: _Node) -> float:
        """Rate a cut: the upper part should cost much more, the lower part should group much finer."""
        low, high = finest[place], coarsest.levels[place]
        if low == high:
            return -1.0
        first = self.problem.lattice.first_level[place]
        n_nodes = self.problem.lattice.n_nodes[first : first + high + 1]
        if not self.problem.separable:
            return n_nodes[low] / n_nodes[high]
        dearer = coarsest.steps[first + high] - coarsest.steps[first + low]
        return dearer * math.log(1 + n_nodes[high - 1] / n_nodes[high])

    def _walk_downhill(self, until: int) -> None:
        """Go downhill from the best node and from random changes of it, up to so many evaluations."""
        rng = np.random.default_rng(self.n_evaluated)
        node = self.best
        for _ in range(_WALKS):
            better: _Node | None = node
            while better is not None:
                node = better
                better = next(
                    (other for other in self._around(node, until) if other.is_better_than(node)), None
                )
            if self._spent() or self.n_evaluated >= until:
                break
            levels = np.array(self.best.levels)
            places = rng.choice(len(levels), min(4, len(levels)), replace=False)
            levels[places] = rng.integers(0, np.array(self.top.levels)[places] + 1)
            node = self._evaluated(tuple(levels.tolist()))

    def _around(self, node: _Node, until: int) -> Iterator[_Node]:
        for levels in _neighbours(node.levels, self.top.levels):
            if self._spent() or self.n_evaluated >= until:
                return
            if not self.problem.separable or self.problem.total(levels, self.top.steps) <= node.cost:
                yield self._evaluated(levels)

    def _result(self) -> Optimum:
        best, lattice = self.best, self.problem.lattice
        still_open = [bound for bound, _, finest, _ in self.boxes if self._is_open(bound, finest)]
        if self._is_open(self.forgotten, ()):
            still_open.append(self.forgotten)
        if best.cost == math.inf:
            outcome = "was found in time that keeps" if still_open else "keeps"
            raise Infeasible(
                f"no full-domain recoding {outcome} the model within the suppression limit; allow more or "
                "ask for less"
            )
        bound = min([best.cost, *still_open])
        return Optimum(
            levels=lattice.named(best.levels),
            score=self.problem.score(best.cost),
            n_suppressed=best.n_suppressed,
            n_classes=best.n_classes,
            n_evaluated=self.n_evaluated,
            n_nodes=lattice.size,
            bound=self.problem.score(bound),
            exact=not still_open,
        )


def _neighbours(levels: Levels, top: Levels) -> Iterator[Levels]:
    """Yield the nodes with one level lower, one level higher, or both."""
    lower = [_replaced(levels, place, level - 1) for place, level in enumerate(levels) if level > 0]
    yield from lower
    for node in (levels, *lower):
        yield from (
            _replaced(node, place, level + 1)
            for place, level in enumerate(levels)
            if level < top[place] and node[place] == level
        )


def _replaced(levels: Levels, place: int, level: int) -> Levels:
    return (*levels[:place], level, *levels[place + 1 :])
