"""K-member clustering: group each record with its nearest ones until the model holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.kernels.greedy_clusters import (
    GrownClusters,
    RemainingRecords,
    Tree,
    build_tree,
    grow_clusters,
    join_leftovers,
)
from sfumato.kernels.row_groups import rows_by_group
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.registry.methods import register
from sfumato.results.linked_release import LinkedRelease
from sfumato.runtime.arrays import Integers
from sfumato.sanitizers.base import check_feasible
from sfumato.sanitizers.generalize.from_clusters import (
    AT_ONCE,
    Clusters,
    PointSpace,
    merged_where_failing,
    released_clusters,
)
from sfumato.sanitizers.generalize.interval_bounds import Borders


@register
@dataclass(frozen=True)
class Clustering:
    """Grow clusters of k records, each time by the record that adds least information loss.

    A cluster begins with the record furthest from the one that was added last. In the end fewer than k
    records remain, and each joins the cluster that loses least by it. Numbers are released as an interval,
    categories as the lowest node of their hierarchy that covers the cluster (``*`` without a hierarchy). Ties
    go to further records of the row that was added last, then to the first row of the table.

    If someone has several records, clusters grow to k people. If the model asks for more than a size,
    clusters in which it fails are merged until it holds everywhere, each with the cluster that adds the least
    loss for the improvement.

    Parameters
    ----------
    model
        What must hold in every cluster. Clusters grow to the smallest size at which it can hold: the k
        of k-anonymity.
    borders
        Where released intervals and sets end: on a ``grid`` of round values, which does not reveal the
        extreme records of a class, or ``tight`` around these records, so that each end is somebody's value.

    References
    ----------
    J.-W. Byun, A. Kamra, E. Bertino, N. Li, "Efficient k-anonymization using clustering techniques",
    2007.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> table, schema = datasets.hospital()
    >>> release = sanitize(table, schema, Clustering(KAnonymity(4)))
    >>> int(release.classes.sizes.min()) >= 4, release.n_suppressed
    (True, 0)
    """

    model: PrivacyModel = KAnonymity(5)
    borders: Borders = "grid"

    version: ClassVar[int] = 2  # an interval costs its leaves, also those that do not occur
    does: ClassVar[str] = (
        "Similar records are gathered into clusters; each cluster is generalised to what its "
        "records have in common."
    )

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release every quasi-identifier as a cover of its cluster's values."""
        schema.require("quasi-identifying", "clustering")
        check_feasible(table, schema, self.model)
        space = PointSpace.of(table, schema, self.model, borders=self.borders)
        grown = grown_clusters(space, self.model.smallest_class, rng)
        return released_clusters(space, schema, merged_where_failing(space, grown, self.model))


def grown_clusters(space: PointSpace, k: int, rng: np.random.Generator) -> Clusters:
    """Grow clusters of k records; with k = 1 every point is one."""
    table = space.table
    if k == 1:
        return Clusters(space.points, space.points, space.point_of, np.arange(table.n_rows), table.weights)
    tree, stock = _tree_and_stock(space)
    n_clusters, n_columns = table.n_records // k, space.points.shape[1]
    # whatever a cluster takes, a row is used up or the cluster is full
    n_most = table.n_rows + n_clusters
    if table.person_of is None:
        n_most = min(n_clusters * k, n_most)
    start = np.searchsorted(np.cumsum(table.weights), rng.integers(table.n_records), side="right")
    grown = GrownClusters(
        low=np.empty((n_clusters, n_columns), dtype=np.int32),
        high=np.empty((n_clusters, n_columns), dtype=np.int32),
        cluster_of=np.empty(n_most, dtype=np.int64),
        rows=np.empty(n_most, dtype=np.int64),
        weights=np.empty(n_most, dtype=np.int64),
        last=space.points[space.point_of[start]].copy(),
    )
    n_taken, n_grown, at_once = 0, 0, max(AT_ONCE // k, 1)
    for first in range(0, n_clusters, at_once):
        end = min(first + at_once, n_clusters)
        n_taken, n_grown = grow_clusters(tree, stock, grown, k, first, end, n_taken)
        if n_grown < end:
            break
    clusters = Clusters(
        grown.low[:n_grown],
        grown.high[:n_grown],
        grown.cluster_of[:n_taken],
        grown.rows[:n_taken],
        grown.weights[:n_taken],
    )
    return _with_joined(space, clusters, np.sort(np.repeat(stock.rows, stock.weights)))


def _tree_and_stock(space: PointSpace) -> tuple[Tree, RemainingRecords]:
    """Return the points as a tree, each with its rows and their records."""
    rows, starts = rows_by_group(space.point_of, len(space.points))
    no_size = np.zeros(len(space.points), dtype=np.int64)
    tree, places = build_tree(space.covers, space.points, space.points, no_size, rows[starts[:-1]])
    first, end = np.zeros((2, len(tree.ranks)), dtype=np.int64)
    first[places], end[places] = starts[:-1], starts[1:]
    nobody = np.empty(0, dtype=np.int64)
    people = space.table.people(rows)
    if people is None:
        return tree, RemainingRecords(rows, space.table.weights[rows], first, end, nobody, nobody, nobody)
    n_rows = np.bincount(people.person_of, minlength=people.n_people)
    n_rows = np.append(n_rows, np.count_nonzero(n_rows))
    latest_cluster = np.full(people.n_people, -1, dtype=np.int64)
    return tree, RemainingRecords(
        rows, space.table.weights[rows], first, end, people.person_of, n_rows, latest_cluster
    )


def _with_joined(space: PointSpace, clusters: Clusters, left_over: Integers) -> Clusters:
    """Let each of these records join the cluster that loses least by it."""
    numbers = np.arange(len(clusters.low))
    tree, places = build_tree(space.covers, clusters.low, clusters.high, clusters.sizes, numbers)
    joined = join_leftovers(tree, space.points[space.point_of[left_over]])
    return Clusters(
        low=tree.low[places],
        high=tree.high[places],
        cluster_of=np.concatenate([clusters.cluster_of, joined]),
        rows=np.concatenate([clusters.rows, left_over]),
        weights=np.concatenate([clusters.weights, np.ones_like(left_over)]),
    )
