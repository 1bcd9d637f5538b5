"""Clustering: gather each record with its nearest ones until the model holds in every cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sfumato.arrays import Booleans, Codes, Floats, Integers
from sfumato.cells import Cells, ValueSets, _merged, range_cells
from sfumato.classes import SensitiveCounts, count_classes
from sfumato.hierarchy import Hierarchy, Label
from sfumato.kernels.clustering import Covers, Stock, grow, join, pair_up, partners, planted
from sfumato.kernels.grouping import first_row_of_group, number_rows, rows_by_group, sum_by_group
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.registry import register
from sfumato.release import Release, released
from sfumato.sanitizers.base import check_feasible, whole_table
from sfumato.schema import Schema
from sfumato.table import Column, Table

# A compiled loop cannot be interrupted; after so many clusters or searches Python looks up.
_AT_ONCE = 200


@register
@dataclass(frozen=True)
class Clustering:
    """Grow clusters of k records, each time by the record that adds least information loss.

    A cluster begins with the record furthest from the one that was taken last. Fewer than k records
    are left over in the end; each joins the cluster that loses least. Numbers are released as the
    smallest interval, categories as the lowest node of their hierarchy that covers the cluster (without
    a hierarchy the value or ``*``). Of records that lose equally much, more of the row taken last
    come first, then the first row of the table.

    Where the model asks for more than k-anonymity, every cluster in which it fails is merged with the
    one that raises the total loss least, until it holds everywhere.

    Parameters
    ----------
    model
        What must hold in every cluster. Its k-anonymity says how many records a cluster grows to.

    References
    ----------
    J.-W. Byun, A. Kamra, E. Bertino, N. Li, "Efficient k-anonymization using clustering techniques",
    2007.

    Examples
    --------
    >>> from sfumato import KAnonymity, datasets, sanitize
    >>> table, schema = datasets.hospital()
    >>> release = sanitize(table, schema, Clustering(KAnonymity(4)))
    >>> release.classes.sizes.min() >= 4, release.n_suppressed
    (np.True_, 0)
    """

    model: PrivacyModel = KAnonymity(5)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> Release:
        """Release every quasi-identifier as the smallest cover of its cluster's values."""
        names = schema.require("quasi-identifying", "clustering")
        check_feasible(table, schema, self.model)
        k = max((part.k for part in self.model.parts if isinstance(part, KAnonymity)), default=1)
        space = _Space.of(table, schema, names)
        clusters = _merged_where_failing(space, _grown(space, k, rng), self.model)
        of_cluster = {
            name: _cells(table[name], schema.hierarchy(name), clusters.low[:, i], clusters.high[:, i])
            for i, name in enumerate(names)
        }
        cluster_of, rows, weights = _compacted(clusters.cluster_of, clusters.rows, clusters.weights)
        cells = {name: each.take(cluster_of) for name, each in of_cluster.items()}
        return released(table, schema, cells, rows, weights)


@dataclass(frozen=True)
class _Space:
    """The records as points: rows with equal quasi-identifiers are one."""

    table: Table
    points: Codes
    point_of: Integers
    covers: Covers
    hierarchies: tuple[Hierarchy | None, ...]
    sensitive: Mapping[str, SensitiveCounts]

    @classmethod
    def of(cls, table: Table, schema: Schema, names: tuple[str, ...]) -> _Space:
        columns = [table[name] for name in names]
        sizes = [len(column.domain) for column in columns]
        point_of, n_points = number_rows([column.codes for column in columns], sizes, table.n_rows)
        first = first_row_of_group(point_of, n_points)
        return cls(
            table=table,
            points=np.stack([column.codes[first] for column in columns], axis=1),
            point_of=point_of,
            covers=_covers(
                columns, [schema.hierarchy(name) for name in names], [schema[name].weight for name in names]
            ),
            hierarchies=tuple(
                None if column.kind == "numeric" else schema.hierarchy(name)
                for name, column in zip(names, columns, strict=True)
            ),
            sensitive=whole_table(table, schema).sensitive,
        )


@dataclass(frozen=True)
class _Clusters:
    """The range of each cluster in each quasi-identifier, and the records that it took from the rows."""

    low: Codes
    high: Codes
    cluster_of: Integers
    rows: Integers
    weights: Integers

    @property
    def sizes(self) -> Integers:
        return sum_by_group(self.cluster_of, len(self.low), self.weights)


def _grown(space: _Space, k: int, rng: np.random.Generator) -> _Clusters:
    """Grow clusters of k records; with k = 1 every point is one."""
    table = space.table
    if k == 1:
        return _Clusters(space.points, space.points, space.point_of, np.arange(table.n_rows), table.weights)
    rows, starts = rows_by_group(space.point_of, len(space.points))
    no_size = np.zeros(len(space.points), dtype=np.int64)
    tree, order = planted(space.covers, space.points, space.points, no_size, rows[starts[:-1]])
    stock = Stock(rows, table.weights[rows], starts[order], starts[order + 1])
    start = np.searchsorted(np.cumsum(table.weights), rng.integers(table.n_records), side="right")
    last = space.points[space.point_of[start]].copy()
    n_clusters, at_once = table.n_records // k, max(_AT_ONCE // k, 1)
    grown = []
    for first in range(0, n_clusters, at_once):
        low, high, cluster_of, *taken = grow(
            space.covers, tree, stock, k, min(at_once, n_clusters - first), last
        )
        grown.append((low, high, first + cluster_of, *taken))
    clusters = _Clusters(*(np.concatenate(arrays) for arrays in zip(*grown, strict=True)))
    left_over = np.repeat(rows, stock.weights)
    return _with_joined(space, clusters, np.sort(left_over))


def _with_joined(space: _Space, clusters: _Clusters, left_over: Integers) -> _Clusters:
    """Let each of these records join the cluster that loses least."""
    numbers = np.arange(len(clusters.low))
    tree, order = planted(space.covers, clusters.low, clusters.high, clusters.sizes, numbers)
    joined = join(space.covers, tree, space.points[space.point_of[left_over]])
    place = np.argsort(order)
    return _Clusters(
        tree.low[place],
        tree.high[place],
        np.concatenate([clusters.cluster_of, joined]),
        np.concatenate([clusters.rows, left_over]),
        np.concatenate([clusters.weights, np.ones_like(left_over)]),
    )


def _merged_where_failing(space: _Space, clusters: _Clusters, model: PrivacyModel) -> _Clusters:
    """Merge clusters in which the model fails with the one that loses least, in rounds of disjoint pairs."""
    while len(failing := np.flatnonzero(_fails(space, clusters, model))):
        n_clusters = len(clusters.low)
        tree, order = planted(
            space.covers, clusters.low, clusters.high, clusters.sizes, np.arange(n_clusters)
        )
        items = np.argsort(order)[failing]
        found = [
            partners(space.covers, tree, items[first : first + _AT_ONCE])
            for first in range(0, len(items), _AT_ONCE)
        ]
        targets, increases, fits = (np.concatenate(arrays) for arrays in zip(*found, strict=True))
        cheapest = np.argsort(increases, kind="stable")
        into = pair_up(n_clusters, failing[cheapest], targets[cheapest], fits[cheapest])
        clusters = _united(clusters, into)
    return clusters


def _united(clusters: _Clusters, into: Integers) -> _Clusters:
    stays = into == np.arange(len(into))
    new_number = (np.cumsum(stays) - 1)[into]
    low, high = clusters.low[stays], clusters.high[stays]
    np.minimum.at(low, new_number, clusters.low)
    np.maximum.at(high, new_number, clusters.high)
    return _Clusters(low, high, new_number[clusters.cluster_of], clusters.rows, clusters.weights)


def _fails(space: _Space, clusters: _Clusters, model: PrivacyModel) -> Booleans:
    """Return for each cluster whether the model fails in the class of all clusters that are released alike."""
    class_of, n_classes = _released_alike(space, clusters)
    sensitive = {
        name: (space.table[name].codes[clusters.rows], everybody.prior)
        for name, everybody in space.sensitive.items()
    }
    domains = {name: everybody.domain for name, everybody in space.sensitive.items()}
    classes = count_classes(class_of[clusters.cluster_of], n_classes, clusters.weights, sensitive, domains)
    return ~model.satisfied(classes)[class_of]


def _released_alike(space: _Space, clusters: _Clusters) -> tuple[Integers, int]:
    """Number the clusters so that those with equal intervals and equally labelled nodes are one."""
    columns, cardinalities = [], []
    for i, hierarchy in enumerate(space.hierarchies):
        low, high = clusters.low[:, i], clusters.high[:, i]
        if hierarchy is None:
            columns += [low, high]
            cardinalities += [int(space.covers.n_codes[i])] * 2
        else:
            place: dict[Label, int] = {}
            label_of = np.array(
                [place.setdefault(label, len(place)) for label in _labels(hierarchy)], dtype=np.int32
            )
            columns.append(label_of[_lowest_nodes(hierarchy, low, high)])
            cardinalities.append(len(place))
    return number_rows(columns, cardinalities, len(clusters.low))


def _covers(columns: list[Column], hierarchies: list[Hierarchy], weights: list[float]) -> Covers:
    first_cost, first_node, nodes, costs = [], [], [], []
    n_costs = n_nodes = 0
    for column, hierarchy, weight in zip(columns, hierarchies, weights, strict=True):
        is_numeric = column.kind == "numeric"
        first_cost.append(n_costs)
        first_node.append(-1 if is_numeric else n_nodes)
        if not is_numeric:
            nodes.append(_numbered_nodes(hierarchy).ravel() + n_costs)
            n_nodes += len(nodes[-1])
        costs.append(
            weight * (_interval_losses(column, hierarchy) if is_numeric else _node_losses(hierarchy))
        )
        n_costs += len(costs[-1])
    return Covers(
        n_codes=np.array([len(column.domain) for column in columns]),
        first_cost=np.array(first_cost),
        first_node=np.array(first_node),
        nodes=np.concatenate([*nodes, np.zeros(0, dtype=np.int64)]),
        costs=np.concatenate(costs),
    )


def _interval_losses(column: Column, hierarchy: Hierarchy) -> Floats:
    """Return the loss of an interval of 1, 2, … neighbours in the domain; all of them are ``*``."""
    sizes = np.arange(1, len(column.domain) + 1)
    if len(sizes) > 1:
        sizes[-1] = hierarchy.n_leaves
    return (sizes - 1) / max(hierarchy.n_leaves - 1, 1)


def _node_losses(hierarchy: Hierarchy) -> Floats:
    return (np.concatenate(hierarchy.sizes) - 1) / max(hierarchy.n_leaves - 1, 1)


def _numbered_nodes(hierarchy: Hierarchy) -> Integers:
    """Return for each level and value its node, numbered through all levels."""
    n_nodes = [len(labels) for labels in hierarchy.labels]
    return hierarchy.node_of + (np.cumsum(n_nodes) - n_nodes)[:, np.newaxis]


def _labels(hierarchy: Hierarchy) -> list[Label]:
    return [label for labels in hierarchy.labels for label in labels]


def _lowest_nodes(hierarchy: Hierarchy, low: Codes, high: Codes) -> Integers:
    """Return for each range of codes the lowest node above it, numbered through all levels."""
    level = (hierarchy.node_of[:, low] == hierarchy.node_of[:, high]).argmax(axis=0)
    return _numbered_nodes(hierarchy)[level, low]


def _cells(column: Column, hierarchy: Hierarchy, low: Codes, high: Codes) -> Cells:
    """Release each range of codes as an interval, or as the lowest node above it."""
    if column.kind == "numeric":
        return range_cells(column, hierarchy, low, high, np.arange(len(low)))
    nodes, codes = np.unique(_lowest_nodes(hierarchy, low, high), return_inverse=True)
    numbered = _numbered_nodes(hierarchy)
    values = np.argsort(numbered, axis=None, kind="stable") % numbered.shape[1]
    ends = np.cumsum(np.bincount(numbered.ravel()))
    sizes = np.bincount(numbered.ravel())
    members = [values[ends[node] - sizes[node] : ends[node]] for node in nodes]
    starts = np.concatenate([[0], np.cumsum(sizes[nodes])])
    sets = ValueSets(
        starts, np.concatenate(members), np.concatenate(hierarchy.sizes)[nodes], hierarchy.n_leaves
    )
    labels = _labels(hierarchy)
    return _merged(codes.astype(np.int32), tuple(labels[node] for node in nodes), column.domain, sets)


def _compacted(
    cluster_of: Integers, rows: Integers, weights: Integers
) -> tuple[Integers, Integers, Integers]:
    """Put the records of one row that ended in one cluster together again."""
    number, n_rows = number_rows(
        [cluster_of.astype(np.int32), rows.astype(np.int32)],
        [int(cluster_of.max()) + 1, int(rows.max()) + 1],
        len(rows),
    )
    first = first_row_of_group(number, n_rows)
    return cluster_of[first], rows[first], sum_by_group(number, n_rows, weights)
