"""The lattice of all full-domain recodings: the profile of every node, and the best node of all.

A node is one level of its hierarchy for each quasi-identifier. It is *finer* than another when none
of its levels is higher; then each of its classes lies within one class of the other.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from sfumato.arrays import Booleans, Codes, Floats, Integers, frozen, sealed
from sfumato.cells import level_cells
from sfumato.classes import EquivalenceClasses, SensitiveCounts, count_classes
from sfumato.distances import jensen_shannon, total_variation
from sfumato.errors import ParameterError, suggestion
from sfumato.kernels.grouping import number_rows, sum_by_group
from sfumato.kernels.lattice import FIGURES, count_cells, node_keys, walk
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import Better, PrivacyModel
from sfumato.models.closeness import TCloseness
from sfumato.models.disclosure import BetaLikeness, DeltaDisclosure
from sfumato.models.diversity import (
    DistinctDiversity,
    EntropyDiversity,
    ProbabilisticDiversity,
    RecursiveDiversity,
)
from sfumato.recipe import Recipe
from sfumato.sanitizers.base import check_feasible, whole_table
from sfumato.sanitizers.full_domain import FullDomain
from sfumato.schema import Schema
from sfumato.table import Column, Table

Levels = tuple[int, ...]
"""One level for each quasi-identifier, in the order of the schema."""

Objective = Literal["total-loss", "general-loss", "discernibility", "average-class-size", "precision"]

_LARGEST_KEY = 2**62
# Scores this near to each other are ties.
_TIE = 1e-12


@dataclass(frozen=True)
class _Lattice:
    """The distinct rows of a table, and where every value stands on every level.

    The values of all attributes are numbered through, and so are the levels of all attributes.

    Parameters
    ----------
    cells
        For each row and quasi-identifier the number of its value.
    nodes, n_nodes
        For each level the node of each value of its attribute, and how many nodes there are.
    losses
        For each level and each value the loss of a cell, times the attribute's share in general loss.
    first_level, first_value
        The numbers of each attribute's level 0 and first value, with the end appended.
    sensitive
        For each sensitive attribute the codes of the rows.
    everybody
        All records as one class: the priors, and what the sensitive codes mean.
    """

    names: tuple[str, ...]
    heights: Levels
    cells: Codes
    weights: Integers
    nodes: tuple[Codes, ...]
    n_nodes: tuple[int, ...]
    losses: Floats
    first_level: tuple[int, ...]
    first_value: tuple[int, ...]
    sensitive: Mapping[str, Codes]
    everybody: EquivalenceClasses

    @classmethod
    def of(cls, table: Table, schema: Schema, sensitive: Sequence[str]) -> _Lattice:
        names = schema.quasi_identifiers
        rows = table.select((*names, *sensitive))
        columns = [rows[name] for name in names]
        heights = tuple(schema.hierarchy(name).height for name in names)
        first_value = (0, *itertools.accumulate(len(column.domain) for column in columns))
        first_level = (0, *itertools.accumulate(height + 1 for height in heights))
        weights = np.array([schema[name].weight for name in names])
        shares = weights / max(weights.sum(), 1e-300)
        losses = np.zeros((first_level[-1], first_value[-1]))
        nodes, n_nodes = [], []
        for place, name in enumerate(names):
            domain = columns[place].domain
            every = np.arange(len(domain), dtype=np.int32)
            for level in range(heights[place] + 1):
                # through the cells of a release, so that what is judged here is what would be published
                released = level_cells(
                    Column(every, domain), schema.hierarchy(name), level, every.astype(np.int64)
                )
                assert released.sets is not None
                values = slice(first_value[place], first_value[place + 1])
                losses[len(nodes), values] = shares[place] * released.sets.losses[released.codes]
                nodes.append(released.codes)
                n_nodes.append(len(released.labels))
        return cls(
            names=names,
            heights=heights,
            cells=np.stack(
                [c.codes + np.int32(start) for c, start in zip(columns, first_value, strict=False)], axis=1
            ),
            weights=rows.weights,
            nodes=tuple(nodes),
            n_nodes=tuple(n_nodes),
            losses=losses,
            first_level=first_level,
            first_value=first_value,
            sensitive={name: rows[name].codes for name in sensitive},
            everybody=whole_table(table, schema),
        )

    @property
    def n_attributes(self) -> int:
        return len(self.names)

    @cached_property
    def n_records(self) -> int:
        return int(self.weights.sum())

    @property
    def size(self) -> int:
        """The number of nodes."""
        return math.prod(height + 1 for height in self.heights)

    @cached_property
    def value_counts(self) -> Integers:
        """How many records have each value."""
        return np.bincount(
            self.cells.ravel(), np.repeat(self.weights, self.n_attributes), self.first_value[-1]
        ).astype(np.int64)

    def spans(self) -> Iterator[tuple[slice, range]]:
        """Yield for each attribute the numbers of its values and of its levels."""
        for values, levels in zip(
            itertools.pairwise(self.first_value), itertools.pairwise(self.first_level), strict=True
        ):
            yield slice(*values), range(*levels)

    def classes(self, levels: Sequence[int]) -> tuple[Integers, int]:
        """Return the class of each row at a node, and how many classes there are."""
        keys, spans = [], []
        parts = np.zeros(self.first_value[-1], dtype=np.int64)
        span = 1
        for place, level in enumerate(levels):
            number = self.first_level[place] + level
            if span * self.n_nodes[number] >= _LARGEST_KEY:
                keys.append(node_keys(self.cells, parts))
                spans.append(span)
                parts, span = np.zeros_like(parts), 1
            parts[self.first_value[place] : self.first_value[place + 1]] = (
                self.nodes[number].astype(np.int64) * span
            )
            span *= self.n_nodes[number]
        keys.append(node_keys(self.cells, parts))
        return number_rows(keys, [*spans, span], len(self.weights))

    def counted(
        self, class_of: Integers, n_classes: int, rows: Booleans | slice = slice(None)
    ) -> EquivalenceClasses:
        """Count the sensitive values of classes of rows."""
        facts = self.everybody.sensitive
        return count_classes(
            class_of,
            n_classes,
            self.weights[rows],
            {name: (codes[rows], facts[name].prior) for name, codes in self.sensitive.items()},
            {name: facts[name].domain for name in self.sensitive},
        )


@dataclass(frozen=True)
class Optimum:
    """The best node that was found, and what is known about all others.

    Parameters
    ----------
    levels
        The level of each quasi-identifier.
    score
        What the objective is at this node.
    n_suppressed, n_classes
        How many records are suppressed there, and how many classes remain.
    n_evaluated, n_nodes
        How many nodes were looked at, and how many there are.
    bound
        No node of the lattice has a better score than this.
    exact
        Whether the node is proven to be the best.
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

    Of several nodes with the same score the one with the lexicographically smallest levels is taken.

    Parameters
    ----------
    table, schema
        The original, bound if that has not been done.
    model
        What must hold. Records in classes where it fails are suppressed, as `FullDomain` does.
    suppression
        The largest share of the records that may be suppressed.
    objective
        The loss to make small; ``precision`` is made large.
    budget, evaluations
        How many seconds to search and how many nodes to look at, if not until the best node is proven.

    References
    ----------
    K. El Emam et al., "A globally optimal k-anonymity method for the de-identification of health data",
    2009; F. Kohlmayer et al., "Flash: efficient, stable and optimal k-anonymity", 2012.

    Examples
    --------
    >>> from sfumato import KAnonymity, datasets
    >>> optimum = optimal_node(*datasets.hospital(), KAnonymity(3))
    >>> optimum.levels, round(optimum.score, 3), optimum.exact
    ({'zip': 1, 'age': 2, 'sex': 1}, 0.5, True)
    """
    if objective not in get_args(Objective):
        hint = (
            suggestion(str(objective), get_args(Objective)) or f"; there are {', '.join(get_args(Objective))}"
        )
        raise ParameterError(f"no objective {objective!r}{hint}")
    if not 0 <= suppression <= 1:
        raise ParameterError(f"suppression must be a share between 0 and 1, not {suppression:g}")
    bound_table, bound_schema = schema.bind(table)
    bound_schema.require("quasi-identifying", "a lattice search")
    check_feasible(bound_table, bound_schema, model)
    problem = _Problem.of(bound_table, bound_schema, model, suppression, objective)
    return _Search(problem, budget, evaluations).run()


@dataclass(frozen=True)
class _Judged:
    """The classes of one node.

    Parameters
    ----------
    fails
        For each class whether the model fails there.
    forced
        For each class whether the model must fail in every class of a finer node that lies within it.
    """

    levels: Levels
    class_of: Integers
    sizes: Integers
    fails: Booleans
    forced: Booleans

    @cached_property
    def n_suppressed(self) -> int:
        return int(self.sizes[self.fails].sum())

    @cached_property
    def n_forced(self) -> int:
        return int(self.sizes[self.forced].sum())

    @cached_property
    def n_classes(self) -> int:
        return len(self.fails) - int(self.fails.sum())


@dataclass(frozen=True)
class _Node:
    """What is known of one node.

    Parameters
    ----------
    cost
        The objective as something to make small; infinite when too many records would be suppressed.
    hopeless
        Whether every finer node costs infinitely much too.
    base, steps
        A node that is finer than this one costs at least ``base`` and, for each attribute, the step of
        its level.
    """

    levels: Levels
    cost: float
    n_suppressed: int
    n_classes: int
    hopeless: bool
    base: float
    steps: Sequence[float] = field(repr=False)


@dataclass(frozen=True)
class _Problem:
    """A lattice, a model, a suppression limit and an objective."""

    lattice: _Lattice
    model: PrivacyModel
    inherited: tuple[PrivacyModel, ...]
    k: int
    n_allowed: int
    objective: Objective
    fixed_steps: Sequence[float]

    @classmethod
    def of(
        cls, table: Table, schema: Schema, model: PrivacyModel, suppression: float, objective: Objective
    ) -> _Problem:
        sizes_suffice = all(type(part) is KAnonymity for part in model.parts)
        lattice = _Lattice.of(table, schema, () if sizes_suffice else schema.sensitive)
        n_allowed = _most_suppressed(lattice.n_records, suppression)
        return cls(
            lattice=lattice,
            model=model,
            inherited=tuple(needed for part in model.parts for needed in _inherited(part)),
            k=max((part.k for part in model.parts if type(part) is KAnonymity), default=1),
            n_allowed=n_allowed,
            objective=objective,
            fixed_steps=_fixed_steps(lattice, objective, n_allowed),
        )

    def evaluate(self, levels: Levels) -> _Node:
        """Judge a node, and say what that means for all finer ones."""
        judged = self._judge(levels)
        never = judged.n_forced > self.n_allowed
        # a model that is monotone and fails somewhere fails somewhere at every finer node
        if self.n_allowed == 0 and judged.n_suppressed and all(part.monotone for part in self.model.parts):
            never = True
        if never:
            return _Node(levels, math.inf, judged.n_suppressed, judged.n_classes, True, math.inf, ())
        cost = self._cost(judged) if judged.n_suppressed <= self.n_allowed else math.inf
        base, steps = self._bounds(judged)
        return _Node(levels, cost, judged.n_suppressed, judged.n_classes, False, base, steps)

    def _judge(self, levels: Levels) -> _Judged:
        """Find the classes where the model fails; those that are large enough are looked at more closely."""
        lattice = self.lattice
        class_of, n_classes = lattice.classes(levels)
        sizes = sum_by_group(class_of, n_classes, lattice.weights)
        small = sizes < self.k
        if not lattice.sensitive or sizes[small].sum() > self.n_allowed:
            return _Judged(levels, class_of, sizes, small, small)
        number = np.cumsum(~small) - 1
        rows = ~small[class_of]
        large = lattice.counted(number[class_of[rows]], n_classes - int(small.sum()), rows)
        fails, forced = small.copy(), small.copy()
        fails[~small] = ~self.model.satisfied(large)
        for needed in self.inherited:
            forced[~small] |= ~needed.keeps_limit(large)
        return _Judged(levels, class_of, sizes, fails, forced)

    def _cost(self, judged: _Judged) -> float:
        lattice, kept = self.lattice, judged.sizes[~judged.fails]
        n_records, n_kept = lattice.n_records, lattice.n_records - judged.n_suppressed
        if self.objective == "discernibility":
            return float(sum(size * size for size in kept.tolist()) + n_records * judged.n_suppressed)
        if self.objective == "average-class-size":
            return n_kept / len(kept) / self.k
        if self.objective == "precision":
            return self.sum_of_steps(judged.levels, self.fixed_steps)
        lost = judged.n_suppressed / n_records if self.objective == "total-loss" else 0.0
        return self.sum_of_steps(judged.levels, self._steps_without(judged, judged.fails)) + lost

    def _bounds(self, judged: _Judged) -> tuple[float, Sequence[float]]:
        """Return what every finer node costs at least: a base, and a step for each level of each attribute.

        Records in a forced class are suppressed at every finer node. Total loss: they cost 1 each, and
        the others at least their general loss. Discernibility: a record costs at least the size of
        its class, suppressed or not, and a forced one n instead.
        """
        n_records = self.lattice.n_records
        if self.objective == "total-loss":
            return judged.n_forced / n_records, self._steps_without(judged, judged.forced)
        if self.objective == "discernibility":
            lost = judged.sizes[judged.forced].tolist()
            return float(sum(size * (n_records - size) for size in lost)), ()
        return 0.0, self.fixed_steps

    def _steps_without(self, judged: _Judged, left_out: Booleans) -> Sequence[float]:
        """Return for each level of each attribute its general loss over the records that are not left out."""
        lattice = self.lattice
        counts = lattice.value_counts
        if left_out.any():
            counts = counts - count_cells(
                lattice.cells, judged.class_of, left_out, lattice.weights, len(counts)
            )
        steps: list[float] = (lattice.losses @ counts / lattice.n_records).tolist()
        return steps

    def sum_of_steps(self, levels: Levels, steps: Sequence[float]) -> float:
        """Return the sum over the attributes of the steps of their levels."""
        return sum(
            steps[first + level] for first, level in zip(self.lattice.first_level, levels, strict=False)
        )

    def least_cost(self, levels: Levels) -> float:
        """Return what a node that is at least this coarse costs at least, from its class sizes alone.

        Discernibility: classes only grow. Average class size: a class that is kept holds one of the
        large classes of this node, or k records of the small ones.
        """
        sizes = sum_by_group(*self.lattice.classes(levels), self.lattice.weights)
        if self.objective == "discernibility":
            return float(sum(size * size for size in sizes.tolist()))
        small = sizes < self.k
        most = len(sizes) - int(small.sum()) + int(sizes[small].sum()) // self.k
        return (self.lattice.n_records - self.n_allowed) / most / self.k if most else math.inf

    @property
    def separable(self) -> bool:
        """Whether the bound is a sum over the attributes."""
        return self.objective not in ("discernibility", "average-class-size")


def _most_suppressed(n_records: int, suppression: float) -> int:
    """Return how many records may be suppressed: at most the share, and never all."""
    near = math.floor(suppression * n_records)
    return max(n for n in range(max(near - 1, 0), min(near + 2, n_records)) if n / n_records <= suppression)


def _inherited(part: PrivacyModel) -> tuple[PrivacyModel, ...]:
    """Return what a model needs of a class that, once lacking, also lacks in every part of the class.

    A part of a class has no more records and no more different values. Of the models below, each
    holds only where there are at least so many different values. Nothing is known of other models.
    """
    if type(part) in (KAnonymity, DistinctDiversity):
        return (part,)
    if isinstance(part, (ProbabilisticDiversity, EntropyDiversity, RecursiveDiversity)):
        return (DistinctDiversity(math.ceil(part.l - 1e-9)),)
    return ()


def _fixed_steps(lattice: _Lattice, objective: Objective, n_allowed: int) -> Sequence[float]:
    """Return for each level of each attribute what it costs at least, whatever is suppressed."""
    if objective == "precision":
        return [
            level / max(height, 1) / lattice.n_attributes
            for height in lattice.heights
            for level in range(height + 1)
        ]
    if objective == "general-loss":
        return [
            _without_largest(lattice.losses[number, values], lattice.value_counts[values], n_allowed)
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


class _Search:
    """Branch and bound over boxes of the lattice.

    A box holds all nodes between a finest and a coarsest one. It costs at least what its coarsest node
    says of all finer nodes, taken at its finest node. The box with the lowest bound is cut in two, the
    coarsest level of one attribute against the others, until no box can hold a better node than the
    best one found: every coarsest node is looked at on the way.
    """

    def __init__(self, problem: _Problem, budget: float | None, evaluations: int | None) -> None:
        self.problem = problem
        self.deadline = math.inf if budget is None else time.monotonic() + budget
        self.most = math.inf if evaluations is None else evaluations
        self.known: dict[Levels, _Node] = {}
        self.least: dict[Levels, float] = {}
        self.n_evaluated = 0
        self.count = itertools.count()
        self.heap: list[tuple[float, int, Levels, _Node]] = []
        self.dropped = math.inf
        self.best = self.look(problem.lattice.heights)

    def look(self, levels: Levels) -> _Node:
        node = self.known.get(levels)
        if node is None:
            node = self.problem.evaluate(levels)
            self.n_evaluated += 1
            self.known[levels] = node
            if self.n_evaluated == 1 or self._beats(node):
                self.best = node
        return node

    def _beats(self, node: _Node) -> bool:
        tie = _TIE * max(1.0, abs(self.best.cost))
        if abs(node.cost - self.best.cost) <= tie:
            return node.levels < self.best.levels
        return node.cost < self.best.cost

    def _closed(self, bound: float, finest: Levels) -> bool:
        """Whether no node above the finest one, with at least this cost, would be better than the best."""
        tie = _TIE * max(1.0, abs(self.best.cost))
        return bound > self.best.cost + tie or (bound >= self.best.cost - tie and finest >= self.best.levels)

    def bound(self, finest: Levels, coarsest: _Node) -> float:
        if coarsest.hopeless:
            return math.inf
        if self.problem.separable:
            return coarsest.base + self.problem.sum_of_steps(finest, coarsest.steps)
        if finest not in self.least:
            self.least[finest] = self.problem.least_cost(finest)
        return coarsest.base + self.least[finest]

    def add(self, finest: Levels, coarsest: _Node) -> None:
        bound = self.bound(finest, coarsest)
        if not self._closed(bound, finest):
            heapq.heappush(self.heap, (bound, next(self.count), finest, coarsest))

    def spent(self) -> bool:
        return self.n_evaluated >= self.most or time.monotonic() > self.deadline

    def run(self) -> Optimum:
        self.add((0,) * self.problem.lattice.n_attributes, self.best)
        while self.heap and not self.spent():
            bound, _, finest, coarsest = heapq.heappop(self.heap)
            if self._closed(bound, finest):
                continue
            if finest != coarsest.levels:
                self.cut(bound, finest, coarsest)
        return self.result()

    def cut(self, bound: float, finest: Levels, coarsest: _Node) -> None:
        tightened = self.tightened(bound, finest, coarsest)
        if tightened != coarsest.levels:
            self.add(finest, self.look(tightened))
            return
        place = self.choose(finest, coarsest)
        level = coarsest.levels[place]
        self.add(finest, self.look(_replaced(coarsest.levels, place, level - 1)))
        self.add(_replaced(finest, place, level), coarsest)

    def tightened(self, bound: float, finest: Levels, coarsest: _Node) -> Levels:
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

    def choose(self, finest: Levels, coarsest: _Node) -> int:
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
        bound = min([best.cost, self.dropped, *(box[0] for box in self.heap[:1])])
        exact = not any(not self._closed(box[0], box[2]) for box in self.heap)
        turned = self.problem.objective == "precision"
        return Optimum(
            levels=dict(zip(lattice.names, best.levels, strict=True)),
            score=1 - best.cost if turned else best.cost,
            n_suppressed=best.n_suppressed,
            n_classes=best.n_classes,
            n_evaluated=self.n_evaluated,
            n_nodes=lattice.size,
            bound=1 - bound if turned else bound,
            exact=exact,
        )


def _replaced(levels: Levels, place: int, level: int) -> Levels:
    return (*levels[:place], level, *levels[place + 1 :])
