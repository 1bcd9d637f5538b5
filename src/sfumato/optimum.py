"""The best full-domain recoding: exact where time suffices, else the best found and a bound on all others."""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from sfumato.arrays import Booleans, Floats, Integers
from sfumato.classes import EquivalenceClasses, SensitiveCounts
from sfumato.errors import ParameterError, suggestion
from sfumato.kernels.grouping import first_row_of_group, sum_by_group
from sfumato.kernels.lattice import count_cells
from sfumato.lattice import Lattice, Levels, Rows
from sfumato.models.anonymity import AlphaKAnonymity, KAnonymity
from sfumato.models.base import PrivacyModel, worst_attribute
from sfumato.models.closeness import TCloseness
from sfumato.models.disclosure import BetaLikeness, DeltaDisclosure
from sfumato.models.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    ProbabilisticDiversity,
    RecursiveDiversity,
)
from sfumato.sanitizers.base import check_feasible
from sfumato.schema import Schema
from sfumato.table import Table

Objective = Literal["total-loss", "general-loss", "discernibility", "average-class-size", "precision"]

# Costs this near to each other are ties.
_TIE = 1e-12
# A count that is computed from shares is not an integer to the last digit.
_ROUNDING = 1e-6
_MOST_BOXES = 200_000
_MOST_CELLS = 50_000_000


@dataclass(frozen=True)
class Optimum:
    """The best node that was found, and what is known of all others.

    Parameters
    ----------
    levels
        The level of each quasi-identifier.
    score
        The objective at this node.
    n_suppressed, n_classes
        How many records are suppressed there, and how many classes remain.
    n_evaluated, n_nodes
        How many nodes were looked at, and how many there are.
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

    Of nodes with the same score the one with the lexicographically smallest levels is taken.

    Parameters
    ----------
    table, schema
        The original, bound if that has not been done.
    model
        What must hold. Records in classes where it fails are suppressed, as `FullDomain` does.
    suppression
        The largest share of the records that may be suppressed.
    objective
        What to make small; ``precision`` is made large.
    budget, evaluations
        How many seconds to search and how many nodes to look at; without a limit until the best node is
        proven.

    References
    ----------
    F. Kohlmayer et al., "Flash: efficient, stable and optimal k-anonymity", 2012; R. Bayardo, R.
    Agrawal, "Data privacy through optimal k-anonymization", 2005.

    Examples
    --------
    >>> from sfumato import KAnonymity, datasets
    >>> optimum = optimal_node(*datasets.hospital(), KAnonymity(3), suppression=0.25)
    >>> optimum.levels, optimum.n_suppressed, optimum.exact
    ({'zip': 1, 'age': 1, 'sex': 1}, 3, True)
    """
    if objective not in get_args(Objective):
        hint = suggestion(str(objective), get_args(Objective)) or f"; there are {', '.join(get_args(Objective))}"
        raise ParameterError(f"no objective {objective!r}{hint}")
    if not 0 <= suppression <= 1:
        raise ParameterError(f"suppression must be a share between 0 and 1, not {suppression:g}")
    bound_table, bound_schema = schema.bind(table)
    bound_schema.require("quasi-identifying", "a lattice")
    check_feasible(bound_table, bound_schema, model)
    problem = Problem.of(bound_table, bound_schema, model, suppression, objective)
    return _Search(problem, budget, evaluations).run()


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

    rows: Rows
    class_of: Integers
    sizes: Integers
    fails: Booleans
    lost: Integers

    @cached_property
    def n_suppressed(self) -> int:
        return int(self.sizes[self.fails].sum())

    @cached_property
    def doomed(self) -> Booleans:
        """For each class whether all of it is suppressed at every finer node."""
        return self.lost >= self.sizes


@dataclass(frozen=True)
class Node:
    """What is known of one node.

    Parameters
    ----------
    cost
        The objective as something to make small; infinite when too many records would be suppressed.
    base, steps
        A finer node costs at least ``base`` and, for each attribute, the step of its level.
    """

    levels: Levels
    cost: float
    n_suppressed: int
    n_classes: int
    base: float
    steps: Sequence[float] = field(repr=False)

    @property
    def hopeless(self) -> bool:
        """Whether at every finer node too many records would be suppressed."""
        return self.base == math.inf


@dataclass(frozen=True)
class Problem:
    """A lattice, a model, a suppression limit and an objective."""

    lattice: Lattice
    model: PrivacyModel
    k: int
    n_allowed: int
    objective: Objective
    fixed_steps: Sequence[float]

    @classmethod
    def of(
        cls, table: Table, schema: Schema, model: PrivacyModel, suppression: float, objective: Objective
    ) -> Problem:
        sizes_suffice = all(type(part) is KAnonymity for part in model.parts)
        lattice = Lattice.of(table, schema, () if sizes_suffice else schema.sensitive)
        n_allowed = _most_suppressed(lattice.n_records, suppression)
        return cls(
            lattice=lattice,
            model=model,
            k=max((part.k for part in model.parts if type(part) is KAnonymity), default=1),
            n_allowed=n_allowed,
            objective=objective,
            fixed_steps=_fixed_steps(lattice, objective, n_allowed),
        )

    @property
    def separable(self) -> bool:
        """Whether the bound on a node is a sum over its attributes."""
        return self.objective not in ("discernibility", "average-class-size")

    def evaluate(self, levels: Levels, rows: Rows) -> Node:
        """Judge a node, and say what that means for all finer ones."""
        judged = self._judge(levels, rows)
        base, steps = self._bounds(levels, judged)
        feasible = judged.n_suppressed <= self.n_allowed
        cost = self._cost(levels, judged) if feasible else math.inf
        return Node(levels, cost, judged.n_suppressed, len(judged.sizes) - int(judged.fails.sum()), base, steps)

    def _judge(self, levels: Levels, rows: Rows) -> _Judged:
        """Find the classes where the model fails; only those that are large enough are looked into."""
        class_of, n_classes = self.lattice.classes(rows, levels)
        sizes = sum_by_group(class_of, n_classes, rows.weights)
        fails = sizes < self.k
        lost = np.where(fails, sizes, 0)
        if rows.sensitive and lost.sum() <= self.n_allowed:
            large = self._large(rows, class_of, fails)
            shares = np.max([_lost_share(part, large) for part in self.model.parts], axis=0)
            lost[~fails] = np.clip(np.ceil(shares * large.sizes - _ROUNDING), 0, large.sizes)
            fails[~fails] = ~self.model.satisfied(large)
        return _Judged(rows, class_of, sizes, fails, lost)

    def _large(self, rows: Rows, class_of: Integers, small: Booleans) -> EquivalenceClasses:
        """Count the sensitive values of the classes that are not small."""
        kept = ~small[class_of]
        sensitive = {name: codes[kept] for name, codes in rows.sensitive.items()}
        number = np.cumsum(~small) - 1
        return self.lattice.counted(
            Rows(rows.cells, rows.weights[kept], sensitive, rows.n_values), number[class_of[kept]], len(small) - int(small.sum())
        )

    def _cost(self, levels: Levels, judged: _Judged) -> float:
        n_records, n_suppressed = self.lattice.n_records, judged.n_suppressed
        kept = judged.sizes[~judged.fails]
        if self.objective == "discernibility":
            return float(_squares(kept) + n_records * n_suppressed)
        if self.objective == "average-class-size":
            return (n_records - n_suppressed) / len(kept) / self.k
        if self.objective == "precision":
            return self.total(levels, self.fixed_steps)
        general = self.total(levels, self._steps_without(judged, judged.fails))
        return general + n_suppressed / n_records if self.objective == "total-loss" else general

    def _bounds(self, levels: Levels, judged: _Judged) -> tuple[float, Sequence[float]]:
        """Return what every finer node costs at least: a base, and a step for each level of each attribute.

        Total loss: a suppressed record costs 1. Of a doomed class that is all there is to it; other
        records cost their general loss, which is not above what it is here, or 1 if suppressed.
        Discernibility: a record costs at least the size of its class, which is not above what it is
        here, and n if suppressed.
        """
        n_records, lost = self.lattice.n_records, judged.lost
        # a monotone model that fails somewhere fails somewhere at every finer node
        some_fail = judged.n_suppressed > 0 and all(part.monotone for part in self.model.parts)
        if lost.sum() > self.n_allowed or (self.n_allowed == 0 and some_fail):
            return math.inf, ()
        if self.objective == "total-loss":
            doomed = judged.doomed
            base = float(judged.sizes[doomed].sum())
            partly = ~doomed & (lost > 0)
            if partly.any():
                base += float(lost[partly] @ (1 - self._class_losses(levels, judged)[partly]))
            return base / n_records, self._steps_without(judged, doomed)
        if self.objective == "discernibility":
            return float(sum(n * (n_records - size) for n, size in zip(lost.tolist(), judged.sizes.tolist(), strict=True))), ()
        return 0.0, self.fixed_steps

    def _class_losses(self, levels: Levels, judged: _Judged) -> Floats:
        """Return the general loss of a record of each class."""
        first = first_row_of_group(judged.class_of, len(judged.sizes))
        by_value = self.lattice.losses[self.lattice.numbers(levels)].sum(axis=0)
        losses: Floats = by_value[judged.rows.cells[first]].sum(axis=1)
        return losses

    def _steps_without(self, judged: _Judged, left_out: Booleans) -> Sequence[float]:
        """Return for each level of each attribute its general loss over the classes that are not left out."""
        rows, losses = judged.rows, self.lattice.losses
        counts = rows.value_counts
        if left_out.any():
            counts = counts - count_cells(rows.cells, judged.class_of, left_out, rows.weights, rows.n_values)
        steps: list[float] = (losses @ counts / self.lattice.n_records).tolist()
        return steps

    def total(self, levels: Levels, steps: Sequence[float]) -> float:
        """Return the sum over the attributes of the steps of their levels."""
        return sum(steps[first + level] for first, level in zip(self.lattice.first_level, levels, strict=False))

    def least_cost(self, levels: Levels, rows: Rows) -> float:
        """Return what a node costs at least and all coarser ones too, from the sizes of its classes.

        Discernibility: classes only grow. Average class size: a coarser class that is kept holds a
        class of at least k records, or k records of smaller ones.
        """
        class_of, n_classes = self.lattice.classes(rows, levels)
        sizes = sum_by_group(class_of, n_classes, rows.weights)
        if self.objective == "discernibility":
            return float(_squares(sizes))
        small = sizes < self.k
        most = n_classes - int(small.sum()) + int(sizes[small].sum()) // self.k
        return (self.lattice.n_records - self.n_allowed) / most / self.k if most else math.inf


def _squares(sizes: Integers) -> int:
    # Python integers: n² of a large table does not fit 64 bits for long
    return sum(size * size for size in sizes.tolist())


def _most_suppressed(n_records: int, suppression: float) -> int:
    """Return how many records may be suppressed: at most the share, and never all."""
    near = math.floor(suppression * n_records)
    return max(n for n in range(max(near - 1, 0), min(near + 2, n_records)) if n / n_records <= suppression)


def _fixed_steps(lattice: Lattice, objective: Objective, n_allowed: int) -> Sequence[float]:
    """Return for each level of each attribute what it costs at least, whatever is suppressed."""
    if objective == "precision":
        heights = [max(height, 1) * len(lattice.heights) for height in lattice.heights]
        return [level / height for top, height in zip(lattice.heights, heights, strict=True) for level in range(top + 1)]
    if objective == "general-loss":
        # at most n_allowed cells of each attribute are left out, at best those that lose most
        counts = lattice.rows.value_counts
        return [
            _without_largest(lattice.losses[number, values], counts[values], n_allowed) / lattice.n_records
            for values, numbers in lattice.spans()
            for number in numbers
        ]
    return ()


def _without_largest(losses: Floats, counts: Integers, n_left_out: int) -> float:
    """Return the sum of the losses of so many cells, without those that lose most."""
    order = np.argsort(-losses, kind="stable")
    still = np.maximum(np.cumsum(counts[order]) - n_left_out, 0)
    return float(losses[order] @ np.minimum(counts[order], still))


def _lost_share(part: PrivacyModel, classes: EquivalenceClasses) -> Floats:
    """Return for each class the share of its records that every finer node must suppress, at least.

    At a finer node the class falls into parts, some kept and some suppressed, and its distribution is
    the mean of theirs. Three rules follow; of models that are not named here nothing is known.

    What a class lacks, its parts lack: records, or different values. Then all of it is lost.

    If the score is convex in the distribution, at most ``limit`` in the kept parts and at most ``worst``
    in the others, then the score of the class is at most the mean of the two.

    If a value has at most a share ``cap`` in every kept part, it has at most that share in all kept
    parts together; this is so for several values at once.
    """
    kind = type(part)  # not isinstance: a model derived from one of these may score otherwise
    if kind in (KAnonymity, DistinctDiversity):
        return _all_or_nothing(part, classes)
    if kind is TCloseness and isinstance(part, TCloseness):
        return _convex_share(part.scores(classes), part.t, math.log(2) if part.distance == "js" else 1.0)
    if kind is EntropyDiversity and isinstance(part, EntropyDiversity):
        lacking = _all_or_nothing(_distinct(part.l), classes)
        return np.maximum(lacking, _convex_share(-np.log(part.scores(classes)), -math.log(part.l), 0.0))
    if kind is RecursiveDiversity and isinstance(part, RecursiveDiversity):
        return _all_or_nothing(_distinct(part.l), classes)
    caps = _caps(part)
    if caps is None:
        return np.zeros(classes.n_classes)
    return worst_attribute(classes, "lower", lambda sensitive: _capped_share(sensitive, caps(sensitive)))


def _caps(part: PrivacyModel) -> Callable[[SensitiveCounts], Floats] | None:
    """Return what gives the largest share that each value may have, if the model is one of those that cap shares."""
    kind = type(part)
    if kind is ProbabilisticDiversity and isinstance(part, ProbabilisticDiversity):
        return lambda s: np.full(len(s.values), 1 / part.l)
    if kind is AlphaKAnonymity and isinstance(part, AlphaKAnonymity):
        return lambda s: np.array([part.alphas.get(label or "", part.alpha) for label in s.domain.labels])[s.values]
    if kind is BetaLikeness and isinstance(part, BetaLikeness):
        if part.variant == "basic":
            return lambda s: (1 + part.beta) * s.priors
        return lambda s: (1 + np.minimum(part.beta, -np.log(s.priors))) * s.priors
    if kind is DeltaDisclosure and isinstance(part, DeltaDisclosure):
        return lambda s: part.base**part.delta * s.priors
    return None


def _capped_share(sensitive: SensitiveCounts, caps: Floats) -> Floats:
    over = sensitive.shares > caps
    excess = sensitive.total(np.where(over, sensitive.shares - caps, 0.0))
    return np.asarray(excess / np.maximum(1 - sensitive.total(np.where(over, caps, 0.0)), 1e-300))


def _all_or_nothing(part: PrivacyModel, classes: EquivalenceClasses) -> Floats:
    return (~part.keeps_limit(classes)).astype(np.float64)


def _distinct(n_values: float) -> DistinctDiversity:
    return DistinctDiversity(math.ceil(n_values - 1e-9))


def _convex_share(scores: Floats, limit: float, worst: float) -> Floats:
    return np.maximum(scores - limit, 0.0) / max(worst - limit, 1e-300)


class _Search:
    """Branch and bound over boxes of the lattice.

    A box holds all nodes between a finest and a coarsest one. All of them cost at least what its
    coarsest node says of finer nodes, taken at its finest node. The box with the lowest bound is cut
    in two, until no box can hold a better node than the best that was found.
    """

    def __init__(self, problem: Problem, budget: float | None, evaluations: int | None) -> None:
        self.problem = problem
        self.deadline = math.inf if budget is None else time.monotonic() + budget
        self.most = math.inf if evaluations is None else evaluations
        self.known: dict[Levels, Node] = {}
        self.least: dict[Levels, float] = {}
        self.tables: dict[Levels, Rows] = {}
        self.n_cells = 0
        self.n_evaluated = 0
        self.count = itertools.count()
        self.heap: list[tuple[float, int, Levels, Node, Levels]] = []
        self.dropped = math.inf
        self.finest: Levels = (0,) * len(problem.lattice.names)
        self.best = self.look(problem.lattice.heights, problem.lattice.rows)

    def look(self, levels: Levels, rows: Rows) -> Node:
        node = self.known.get(levels)
        if node is None:
            node = self.problem.evaluate(levels, rows)
            self.n_evaluated += 1
            self.known[levels] = node
            if self.n_evaluated == 1 or self._beats(node):
                self.best = node
        return node

    def _beats(self, node: Node) -> bool:
        tie = _TIE * max(1.0, abs(self.best.cost))
        if abs(node.cost - self.best.cost) <= tie:
            return node.levels < self.best.levels
        return node.cost < self.best.cost

    def _closed(self, bound: float, finest: Levels) -> bool:
        """Whether no node above the finest one, with at least this cost, would be better than the best."""
        tie = _TIE * max(1.0, abs(self.best.cost))
        return bound > self.best.cost + tie or (bound >= self.best.cost - tie and finest >= self.best.levels)

    def bound(self, finest: Levels, coarsest: Node, rows: Rows) -> float:
        if coarsest.hopeless:
            return math.inf
        if self.problem.separable:
            return coarsest.base + self.problem.total(finest, coarsest.steps)
        if finest not in self.least:
            self.least[finest] = self.problem.least_cost(finest, rows)
        return coarsest.base + self.least[finest]

    def add(self, finest: Levels, coarsest: Node, rows: Rows, source: Levels) -> None:
        bound = self.bound(finest, coarsest, rows)
        if not self._closed(bound, finest):
            heapq.heappush(self.heap, (bound, next(self.count), finest, coarsest, source))

    def spent(self) -> bool:
        return self.n_evaluated >= self.most or time.monotonic() > self.deadline

    def run(self) -> Optimum:
        self.add(self.finest, self.best, self.problem.lattice.rows, self.finest)
        while self.heap and not self.spent():
            bound, _, finest, coarsest, source = heapq.heappop(self.heap)
            if self._closed(bound, finest):
                continue
            if finest != coarsest.levels:
                self.cut(bound, finest, coarsest, source)
        return self.result()

    def table(self, finest: Levels, coarsest: Levels, source: Levels) -> Rows:
        if finest in self.tables:
            return self.tables[finest]
        rows = self.tables.get(source, self.problem.lattice.rows)
        size = math.prod(high - low + 1 for low, high in zip(finest, coarsest, strict=True))
        if finest == self.finest or size < 8 or len(rows.weights) < 1000:
            return rows
        rows = self.problem.lattice.rolled_up(rows, finest)
        self.tables[finest] = rows
        self.n_cells += rows.cells.size
        while self.n_cells > _MOST_CELLS:
            old = next(iter(self.tables))
            self.n_cells -= self.tables.pop(old).cells.size
        return rows

    def cut(self, bound: float, finest: Levels, coarsest: Node, source: Levels) -> None:
        rows = self.table(finest, coarsest.levels, source)
        if finest in self.tables:
            source = finest
        tightened = self.tightened(bound, finest, coarsest)
        if tightened != coarsest.levels:
            self.add(finest, self.look(tightened, rows), rows, source)
            return
        place = self.choose(finest, coarsest)
        level = coarsest.levels[place]
        self.add(finest, self.look(_replaced(coarsest.levels, place, level - 1), rows), rows, source)
        self.add(_replaced(finest, place, level), coarsest, rows, source)

    def tightened(self, bound: float, finest: Levels, coarsest: Node) -> Levels:
        """Return the levels of the coarsest node without those that alone would cost too much."""
        if not self.problem.separable:
            return coarsest.levels
        levels = list(coarsest.levels)
        for place, first in enumerate(self.problem.lattice.first_level[:-1]):
            spare = bound - coarsest.steps[first + finest[place]]
            while levels[place] > finest[place] and self._closed(
                spare + coarsest.steps[first + levels[place]], _replaced(finest, place, levels[place])
            ):
                levels[place] -= 1
        return tuple(levels)

    def choose(self, finest: Levels, coarsest: Node) -> int:
        """Return the attribute whose levels differ most."""
        def span(place: int) -> float:
            first = self.problem.lattice.first_level[place]
            low, high = finest[place], coarsest.levels[place]
            if low == high:
                return -1.0
            if self.problem.separable:
                return coarsest.steps[first + high] - coarsest.steps[first + low]
            n_nodes = self.problem.lattice.n_nodes
            return n_nodes[first + low] / n_nodes[first + high]

        return max(range(len(finest)), key=span)

    def result(self) -> Optimum:
        best, lattice = self.best, self.problem.lattice
        open_boxes = [box[0] for box in self.heap if not self._closed(box[0], box[2])]
        bound = min([best.cost, self.dropped, *open_boxes])
        turned = self.problem.objective == "precision"
        return Optimum(
            levels=dict(zip(lattice.names, best.levels, strict=True)),
            score=1 - best.cost if turned else best.cost,
            n_suppressed=best.n_suppressed,
            n_classes=best.n_classes,
            n_evaluated=self.n_evaluated,
            n_nodes=lattice.size,
            bound=1 - bound if turned else bound,
            exact=not open_boxes,
        )


def _replaced(levels: Levels, place: int, level: int) -> Levels:
    return (*levels[:place], level, *levels[place + 1 :])
