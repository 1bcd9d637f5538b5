"""Local recoding by simulated annealing: rearrange classes as long as the information loss falls.

The result is a partition of the records into classes in which the model holds. The search lowers the total
loss: the number of records of each class times the price of its cover (general loss), summed over all
classes.

It starts from Mondrian's classes, which satisfy the model. Under a model of sizes, each step keeps every
class at `smallest_class` records or more (see `kernels.partition_improvement`). Other models are too
expensive to judge after each step. They are judged after a wave, in which a class changes at most once, so
that a step that breaks the model can be taken back by itself. In the end, classes in which the model still
fails are merged. The annealed classes are released only if they lose less than the starting ones.

The number of steps is `effort` times the number of rows, with and without waves, so the time is proportional
to both. Waves add one evaluation of the model on the changed classes per wave. For the papers, see
`LocalRecoding`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.kernels.greedy_clusters import Covers, range_costs
from sfumato.kernels.partition_improvement import (
    MoveJournal,
    Partition,
    fill_partition,
    improve,
    note_neighbours,
    note_neighbours_of_neighbours,
    undo_failed_steps,
)
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.registry.declarations import AtLeast, AtMost
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.arrays import Codes, Floats, Integers
from sfumato.sanitizers.base import check_feasible
from sfumato.sanitizers.generalize.class_extraction import extract_classes
from sfumato.sanitizers.generalize.from_clusters import (
    Clusters,
    PointSpace,
    classes_of,
    merged_where_failing,
    released_clusters,
    tightened,
)
from sfumato.sanitizers.generalize.interval_bounds import Borders
from sfumato.sanitizers.generalize.k_member import grown_clusters
from sfumato.sanitizers.generalize.mondrian import partition

# The rows that a row knows: found in so many random orders, within a window, and through so many friends.
_NEIGHBOURS, _ORDERS, _WINDOW, _FRIENDS = 64, 20, 12, 16
# A compiled loop cannot be interrupted, so it returns to Python after this many steps or rows.
_STEPS_AT_ONCE = 4_096
_ROWS_AT_ONCE = 10_000
# The temperature at the start and at the end, relative to the mean loss of one of Mondrian's classes.
_HOT, _COLD = 0.5, 0.005
# A wave tries one step per this many rows.
_ROWS_PER_STEP = 8
# The best of several starting partitions is chosen after one in this many waves.
_TRIAL_SHARE = 10
# Partitions to extract classes from, for each unit of effort.
_N_PARTITIONS = 100


@register
@dataclass(frozen=True)
class LocalRecoding:
    """Improve classes step by step: merge, split and rearrange them while the model holds and loss falls.

    The method starts from Mondrian's classes. Each step founds a class around a record, from nearby records,
    or dissolves one. Classes that become too small are dissolved too, and their records join the classes that
    lose least by it. Steps that raise the loss a little are sometimes accepted, at first more often, later
    less (simulated annealing).

    If the model looks at sensitive values, or people have several records, steps are judged in waves, and
    those that would break the model are taken back. There are then more starting partitions, and the best is
    used: the clusters of `clustering`, and, for a model of sensitive values, classes extracted from
    partitions along the hierarchies, from fine to coarse.

    Numbers are released as an interval, categories as ``cells`` says, and the loss is that of these cells.

    Parameters
    ----------
    model
        What must hold in every class.
    effort
        How many steps are tried for each row: twice the effort takes twice the time. With 0, Mondrian's
        classes stay unchanged.
    cells
        How categories are released: ``sets`` of values or sibling nodes, as in Mondrian, which lose least; or
        only ``nodes`` of the hierarchy (``*`` without one), which read better.
    borders
        Where released intervals and sets end: on a ``grid`` of round values, which does not reveal the
        extreme records of a class, or ``tight`` around these records, so that each end is somebody's value.

    References
    ----------
    J. Xu et al., "Utility-based anonymization using local recoding", 2006, for the problem; S. Kirkpatrick
    et al., "Optimization by simulated annealing", 1983.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> table, schema = datasets.hospital()
    >>> release = sanitize(table, schema, LocalRecoding(KAnonymity(4)))
    >>> int(release.classes.sizes.min()) >= 4, release.n_suppressed
    (True, 0)
    """

    model: PrivacyModel = KAnonymity(5)
    effort: Annotated[int, AtLeast(0), AtMost(1_000)] = 10
    cells: Literal["sets", "nodes"] = "sets"
    borders: Borders = "grid"

    version: ClassVar[int] = 2  # an interval costs its leaves, also those that do not occur
    does: ClassVar[str] = (
        "Classes of similar records are merged, split and rearranged step by step, as long as the model "
        "holds and less is lost; each is generalised to what its records have in common."
    )
    times_mondrian: ClassVar[float] = 20.0

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release every quasi-identifier as a cover of its class's values."""
        schema.require("quasi-identifying", "local-recoding")
        check_feasible(table, schema, self.model)
        as_sets = self.cells == "sets"
        space = PointSpace.of(table, schema, self.model, sets=as_sets, borders=self.borders)
        parts = partition(table, schema, self.model, "strict", rng)
        classes = tightened(space, parts.part_of, parts.rows, parts.weights)
        if self.effort and (space.watched or table.person_of is not None):
            classes = self._improved_in_waves(space, schema, classes, rng)
        elif self.effort:
            classes = self._annealed(space, classes, rng)
        return released_clusters(space, schema, merged_where_failing(space, classes, self.model))

    def _annealed(self, space: PointSpace, start: Clusters, rng: np.random.Generator) -> Clusters:
        """Improve classes under a model of sizes only."""
        work = _Work.of(space, start, rng)
        n_steps = self.effort * len(start.rows)
        mean = _loss(space, start) / len(start.low)
        for step in range(0, n_steps, _STEPS_AT_ONCE):
            temperature = mean * _HOT * (_COLD / _HOT) ** (step / n_steps)
            work.step(self.model, min(_STEPS_AT_ONCE, n_steps - step), temperature, in_waves=False)
        return min(start, work.clusters, key=lambda clusters: _loss(space, clusters))

    def _improved_in_waves(
        self, space: PointSpace, schema: Schema, start: Clusters, rng: np.random.Generator
    ) -> Clusters:
        """Improve classes under a model of sensitive values, from the best of several starting partitions."""
        n_waves = self.effort * _ROWS_PER_STEP
        n_first = -(-n_waves // _TRIAL_SHARE)
        begun = [grown_clusters(space, self.model.smallest_class, rng)]
        if space.watched:
            begun.append(extract_classes(space, schema, self.model, self.effort * _N_PARTITIONS, rng))
        others = (merged_where_failing(space, clusters, self.model) for clusters in begun)
        works = [_Work.of(space, clusters, rng) for clusters in (start, *others)]
        for work in works:
            work.waves(self.model, n_first)
        best = min(works, key=lambda work: _loss(space, work.clusters))
        best.waves(self.model, n_waves - n_first)
        return best.clusters


def _loss(space: PointSpace, clusters: Clusters) -> float:
    return float(clusters.sizes @ range_costs(clusters.low, clusters.high, *space.covers))


@dataclass(frozen=True)
class _Work:
    """A partition that can be changed, with the rows behind its points."""

    space: PointSpace
    start: Clusters
    classes: Partition
    journal: MoveJournal
    rng: np.random.Generator

    @classmethod
    def of(cls, space: PointSpace, start: Clusters, rng: np.random.Generator) -> _Work:
        codes = space.points[space.point_of[start.rows]]
        neighbours = _neighbours(codes, space.covers, rng)
        # rows of a class side by side, so that those that are looked at together are near in memory
        place = np.argsort(start.cluster_of, kind="stable")
        order = np.empty_like(place)
        order[place] = np.arange(len(place))
        n_rows, n_columns = codes.shape
        numbers = np.empty((4, n_rows), dtype=np.int64)
        classes = Partition(
            *space.covers,
            codes=np.hstack([codes, -codes])[place],
            weights=start.weights[place],
            neighbours=np.where(neighbours >= 0, order[neighbours], -1).astype(np.int32)[place],
            class_of=start.cluster_of[place],
            following=numbers[0],
            preceding=numbers[1],
            first=numbers[2],
            sizes=numbers[3],
            lowest=np.empty((n_rows, 2 * n_columns), dtype=np.int32),
            costs=np.empty(n_rows),
            ends=np.empty((n_rows, 2 * n_columns, 3), dtype=np.int32),
            order=order,
        )
        fill_partition(classes)
        # no row moves twice in a wave, nor in a step, but from a class that ends into one that does too
        journal = MoveJournal(*np.empty((4, 2 * len(codes)), dtype=np.int64))
        return cls(space, start, classes, journal, rng)

    @property
    def clusters(self) -> Clusters:
        """The classes as they are now."""
        _, cluster_of = np.unique(self._class_of, return_inverse=True)
        return tightened(self.space, cluster_of, self.start.rows, self.start.weights)

    @property
    def _class_of(self) -> Integers:
        """The class of each row, in the order of the starting partition."""
        return self.classes.class_of[self.classes.order]

    def step(self, model: PrivacyModel, n_steps: int, temperature: float, *, in_waves: bool) -> None:
        """Try some steps; with waves, take back those that break the model."""
        n_rows = len(self.start.rows)
        locked = np.zeros(n_rows, dtype=np.bool_)
        least = model.smallest_class
        n_moves = improve(self.classes, self.journal, locked, in_waves, least, n_steps, temperature, self.rng)
        if in_waves and n_moves:
            changed = np.flatnonzero(locked & (self.classes.first >= 0))
            fails = np.zeros(n_rows, dtype=np.bool_)
            fails[changed] = ~model.satisfied(classes_of(self.space, self._only(changed)))
            undo_failed_steps(self.classes, self.journal, n_moves, fails)

    def waves(self, model: PrivacyModel, n_waves: int) -> None:
        """Try steps that change each class at most once, then judge them all together."""
        for _ in range(n_waves):
            self.step(model, -(-len(self.start.rows) // _ROWS_PER_STEP), 0.0, in_waves=True)

    def _only(self, chosen: Codes) -> Clusters:
        number = np.full(len(self.start.rows), -1)
        number[chosen] = np.arange(len(chosen))
        cluster_of = number[self._class_of]
        rows = np.flatnonzero(cluster_of >= 0)
        low, negated_high = np.hsplit(self.classes.lowest[chosen], 2)
        return Clusters(
            low,
            -negated_high,
            cluster_of[rows],
            self.start.rows[rows],
            self.start.weights[rows],
        )


def _neighbours(codes: Codes, covers: Covers, rng: np.random.Generator) -> Codes:
    """Return for each row the nearest rows among those that are near it in some order of the columns."""
    n_rows, n_columns = codes.shape
    neighbours = np.full((n_rows, _NEIGHBOURS), -1, dtype=np.int32)
    distances: Floats = np.full((n_rows, _NEIGHBOURS), np.inf)
    for _ in range(_ORDERS):
        order = np.lexsort([codes[:, column] for column in rng.permutation(n_columns)])
        note_neighbours(codes, order, _WINDOW, neighbours, distances, *covers)
    known = neighbours[:, :_FRIENDS].copy()
    for first in range(0, n_rows, _ROWS_AT_ONCE):
        end = min(first + _ROWS_AT_ONCE, n_rows)
        note_neighbours_of_neighbours(codes, first, end, known, neighbours, distances, *covers)
    return neighbours
