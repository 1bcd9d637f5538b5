"""Turn clusters of records into a release, merging clusters in which the model fails."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts, count_classes
from sfumato.data.hierarchy import Hierarchy, Label
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.kernels.greedy_clusters import (
    Covers,
    MergePartners,
    build_tree,
    choose_merges,
    find_partners,
    merged_counts,
)
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.models.base import PrivacyModel
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.released_column import Cells, ValueSets, interval_leaves, merged_cells
from sfumato.runtime.arrays import Codes, Floats, Integers
from sfumato.sanitizers.base import merge_records, watched_attributes, whole_table
from sfumato.sanitizers.generalize.interval_bounds import Borders, bordered_cells, bordered_leaves

# A compiled loop cannot be interrupted: after so many searches it comes back to Python.
AT_ONCE = 1_000
# Where the model fails, about so many pairs of clusters are judged in a round, for each cluster some.
_PAIRS = 300_000
_FEWEST, _MOST = 8, 1_000
# Up to so many values of a category the cover of every two is looked up in a table.
_TABLE = 512


Covering = Literal["interval", "set", "node"]
"""How a range of codes is released: as an interval of numbers, a set of sibling nodes, or a node."""


@dataclass(frozen=True)
class PointSpace:
    """The records as points (rows with equal quasi-identifiers are one point), and the cost of covering them.

    Parameters
    ----------
    table
        The bound table.
    points, point_of
        The different combinations of quasi-identifiers, and that of each row.
    coverings, hierarchies
        How each quasi-identifier is covered.
    covers
        What that costs.
    watched
        The sensitive attributes that the model looks at.
    borders
        How the end points of intervals and sets are chosen.
    """

    table: Table
    points: Codes
    point_of: Integers
    coverings: tuple[Covering, ...]
    hierarchies: Mapping[str, Hierarchy]
    covers: Covers
    watched: Mapping[str, SensitiveCounts]
    borders: Borders

    @classmethod
    def of(
        cls,
        table: Table,
        schema: Schema,
        model: PrivacyModel,
        *,
        sets: bool = False,
        borders: Borders = "grid",
    ) -> PointSpace:
        """Return the space of a bound table for a model; categories are covered by sets or by nodes."""
        names, watched = schema.quasi_identifiers, watched_attributes(schema, model)
        columns = [table[name] for name in names]
        sizes = [len(column.domain) for column in columns]
        point_of, n_points = number_rows([column.codes for column in columns], sizes, table.n_rows)
        first = first_row_of_group(point_of, n_points)
        hierarchies = {name: schema.hierarchy(name) for name in names}
        coverings = tuple(_covering(column, sets) for column in columns)
        return cls(
            table=table,
            points=np.stack([column.codes[first] for column in columns], axis=1),
            point_of=point_of,
            coverings=coverings,
            hierarchies=hierarchies,
            covers=_covers(columns, coverings, hierarchies, [schema[name].weight for name in names], borders),
            watched=whole_table(table, schema, watched).sensitive,
            borders=borders,
        )

    def cells(self, low: Codes, high: Codes) -> dict[str, Cells]:
        """Release ranges of codes, one row for each."""
        return {
            name: _node_cells(self.table[name], hierarchy, low[:, i], high[:, i])
            if self.coverings[i] == "node"
            else bordered_cells(self.table[name], hierarchy, low[:, i], high[:, i], self.borders)
            for i, (name, hierarchy) in enumerate(self.hierarchies.items())
        }


def _covering(column: Column, sets: bool) -> Covering:
    if column.kind.is_ordered:
        return "interval"
    return "set" if sets and len(column.domain) <= _TABLE else "node"


@dataclass(frozen=True)
class Clusters:
    """The range of each cluster in each quasi-identifier, and its number of records from each row."""

    low: Codes
    high: Codes
    cluster_of: Integers
    rows: Integers
    weights: Integers

    @property
    def sizes(self) -> Integers:
        """The number of records of each cluster."""
        return sum_by_group(self.cluster_of, len(self.low), self.weights)


def tightened(space: PointSpace, cluster_of: Integers, rows: Integers, weights: Integers) -> Clusters:
    """Return clusters with the smallest ranges that hold their rows."""
    order = np.argsort(cluster_of, kind="stable")
    starts = np.searchsorted(cluster_of[order], np.arange(int(cluster_of.max()) + 1))
    points = space.points[space.point_of[rows[order]]]
    low, high = np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)
    return Clusters(low, high, cluster_of, rows, weights)


def released_clusters(space: PointSpace, schema: Schema, clusters: Clusters) -> LinkedRelease:
    """Release every quasi-identifier as a cover of its cluster's values."""
    cluster_of, rows, weights = merge_records(clusters.cluster_of, clusters.rows, clusters.weights)
    cells = {
        name: of_cluster.take(cluster_of)
        for name, of_cluster in space.cells(clusters.low, clusters.high).items()
    }
    return released(space.table, schema, cells, rows, weights)


def merged_where_failing(space: PointSpace, clusters: Clusters, model: PrivacyModel) -> Clusters:
    """Merge clusters in rounds of disjoint pairs, until the model holds in all of them."""
    while True:
        clusters = _with_equals_united(space, clusters)
        classes = classes_of(space, clusters)
        failing = np.flatnonzero(~model.satisfied(classes))
        if not len(failing):
            return clusters
        clusters = _united(clusters, _pairs(space, clusters, classes, failing, model))


def _pairs(
    space: PointSpace, clusters: Clusters, classes: EquivalenceClasses, failing: Integers, model: PrivacyModel
) -> Integers:
    """Return for each cluster the cluster that it becomes part of."""
    n_clusters = classes.n_classes
    n_each = min(max(_PAIRS // len(failing), _FEWEST), _MOST, n_clusters - 1)
    tree, places = build_tree(
        space.covers, clusters.low, clusters.high, clusters.sizes, np.arange(n_clusters)
    )
    shape, at_once = (len(failing), n_each), max(AT_ONCE // n_each, 1)
    partners = MergePartners(
        np.empty(shape, dtype=np.int64), np.empty(shape), np.empty(shape, dtype=np.bool_)
    )
    for first in range(0, len(failing), at_once):
        find_partners(tree, places[failing], partners, first, min(first + at_once, len(failing)))
    targets, increases, fits = partners
    movers = np.repeat(failing, n_each)
    lacking = _shortfalls(model, classes)
    still_lacking = _shortfalls(model, _unions(classes, movers, targets.ravel()))
    mended = (lacking[movers] + lacking[targets.ravel()] - still_lacking).reshape(increases.shape)
    mends = mended > 1e-9
    price = np.where(mends, increases / np.where(mends, mended, 1.0), np.inf)
    # where no partner mends anything this is the first, which loses least
    best = price.argmin(axis=1, keepdims=True)
    targets, fits, price = (
        np.take_along_axis(values, best, axis=1)[:, 0] for values in (targets, fits, price)
    )
    cheapest = np.argsort(price, kind="stable")
    return choose_merges(n_clusters, failing[cheapest], targets[cheapest], fits[cheapest])


def _shortfalls(model: PrivacyModel, classes: EquivalenceClasses) -> Floats:
    """Return for each class its records times the distance of its scores from their limits, as a share."""
    total = np.zeros(classes.n_classes)
    for part in model.parts:
        scores, fails = part.scores(classes), ~part.keeps_limit(classes)
        reached, wanted = (scores, part.limit) if part.better == "higher" else (part.limit, scores)
        share = np.divide(reached, wanted, out=np.zeros_like(scores), where=fails & (wanted != 0))
        total += np.where(fails, 1 - np.clip(share, 0, 1), 0)
    return total * classes.sizes


def _unions(classes: EquivalenceClasses, first: Integers, second: Integers) -> EquivalenceClasses:
    """Return the unions of pairs of classes, as if nobody had records in both."""
    sensitive = {
        name: SensitiveCounts(
            *merged_counts(counts.starts, counts.values, counts.counts, first, second),
            counts.prior,
            counts.domain,
        )
        for name, counts in classes.sensitive.items()
    }
    sizes, people = (counts[first] + counts[second] for counts in (classes.sizes, classes.people))
    return EquivalenceClasses(np.arange(len(first)), sizes, sensitive, people)


def classes_of(space: PointSpace, clusters: Clusters) -> EquivalenceClasses:
    """Return the clusters as classes, with the sensitive values that the model looks at."""
    sensitive = {
        name: (space.table[name].codes[clusters.rows], everybody.prior)
        for name, everybody in space.watched.items()
    }
    domains = {name: everybody.domain for name, everybody in space.watched.items()}
    people = space.table.people(clusters.rows)
    return count_classes(clusters.cluster_of, len(clusters.low), clusters.weights, sensitive, domains, people)


def _with_equals_united(space: PointSpace, clusters: Clusters) -> Clusters:
    """Merge clusters that are released alike until none are left: a reader sees one class."""
    while True:
        class_of, n_classes = _released_alike(space, clusters)
        if n_classes == len(class_of):
            return clusters
        clusters = _united(clusters, first_row_of_group(class_of, n_classes)[class_of])


def _released_alike(space: PointSpace, clusters: Clusters) -> tuple[Integers, int]:
    """Number the clusters, with one number for those with equal intervals and equal labels."""
    columns, cardinalities = [], []
    for i, (name, hierarchy) in enumerate(space.hierarchies.items()):
        low, high = clusters.low[:, i], clusters.high[:, i]
        if space.coverings[i] == "interval" and space.borders == "tight":
            columns += [low, high]
            cardinalities += [int(high.max()) + 1] * 2
        elif space.coverings[i] != "node":
            cells = bordered_cells(space.table[name], hierarchy, low, high, space.borders)
            columns.append(cells.codes)
            cardinalities.append(len(cells.labels))
        else:
            place: dict[Label, int] = {}
            label_of = [place.setdefault(label, len(place)) for label in _labels(hierarchy)]
            columns.append(np.array(label_of, dtype=np.int32)[_lowest_nodes(hierarchy, low, high)])
            cardinalities.append(len(place))
    return number_rows(columns, cardinalities, len(clusters.low))


def _united(clusters: Clusters, into: Integers) -> Clusters:
    """Make each cluster part of another one, or of itself."""
    stays = into == np.arange(len(into))
    number = (np.cumsum(stays) - 1)[into]
    low, high = clusters.low[stays], clusters.high[stays]
    np.minimum.at(low, number, clusters.low)
    np.maximum.at(high, number, clusters.high)
    return replace(clusters, low=low, high=high, cluster_of=number[clusters.cluster_of])


def _covers(
    columns: list[Column],
    coverings: tuple[Covering, ...],
    hierarchies: Mapping[str, Hierarchy],
    weights: list[float],
    borders: Borders,
) -> Covers:
    """Price every cover by its general loss.

    For attributes with too many numbers for a table, the price counts the values that an interval covers
    instead of the leaves, before its ends are moved to a grid.
    """
    prices: list[Floats] = []
    nodes: list[Integers] = [np.zeros(0, dtype=np.int64)]
    places = []
    for column, covering, hierarchy, weight in zip(
        columns, coverings, hierarchies.values(), weights, strict=True
    ):
        n_codes, n_prices, n_nodes = len(column.domain), sum(map(len, prices)), sum(map(len, nodes))
        # with leaves that do not occur a width in values is no longer a number of leaves
        by_width = (hierarchy.n_leaves == n_codes and borders == "tight") or n_codes > _TABLE
        if covering == "interval" and by_width:
            places.append((n_prices, -1, -1))
            sizes: Integers = np.arange(1, n_codes + 1)
            sizes[1:][-1:] = hierarchy.n_leaves  # all values are *, also those that do not occur
        elif covering == "interval" and borders == "tight":
            places.append((n_prices, n_codes, -1))
            sizes = _intervals_of(column, hierarchy)
        elif covering != "node" and n_codes <= _TABLE and borders == "grid":
            places.append((n_prices, n_codes, -1))
            sizes = _grid_sizes(column, hierarchy)
        elif n_codes <= _TABLE:
            places.append((n_prices, n_codes, -1))
            low, high = np.divmod(np.arange(n_codes**2), n_codes)
            sizes = (_sets_of if covering == "set" else _nodes_of)(hierarchy, low, high)
        else:
            places.append((n_prices, n_codes, n_nodes))
            sizes = np.concatenate(hierarchy.sizes)
            nodes.append(n_prices + _numbered_nodes(hierarchy).ravel())
        prices.append(weight * ((sizes - 1) / max(hierarchy.n_leaves - 1, 1)))
    return Covers(np.concatenate(prices), np.array(places), np.concatenate(nodes))


def _grid_sizes(column: Column, hierarchy: Hierarchy) -> Integers:
    """Return for each range of codes how many leaves its cover on a grid has, never fewer than a subrange."""
    n_codes = len(column.domain)
    low, high = np.triu_indices(n_codes)
    sizes = np.ones((n_codes, n_codes), dtype=np.int64)
    sizes[low, high] = bordered_leaves(column, hierarchy, low, high, "grid")
    wider = np.maximum.accumulate(sizes, axis=1)
    return np.maximum.accumulate(wider[::-1], axis=0)[::-1].ravel()


def _intervals_of(column: Column, hierarchy: Hierarchy) -> Integers:
    """Return for each range of numbers how many leaves lie in it."""
    n_codes = len(column.domain)
    sizes = np.ones((n_codes, n_codes), dtype=np.int64)
    for low, high in itertools.combinations(range(n_codes), 2):
        sizes[low, high] = interval_leaves(column, hierarchy, low, high)
    return sizes.ravel()


def _nodes_of(hierarchy: Hierarchy, low: Integers, high: Integers) -> Integers:
    """Return for each range of codes the number of leaves of the lowest node above it."""
    return np.concatenate(hierarchy.sizes)[_lowest_nodes(hierarchy, low, high)]


def _sets_of(hierarchy: Hierarchy, low: Integers, high: Integers) -> Integers:
    """Return for each range of codes the number of leaves of the sibling nodes that cover it."""
    sizes: Integers = _nodes_of(hierarchy, low, high)
    level = (hierarchy.node_of[:, low] == hierarchy.node_of[:, high]).argmax(axis=0)
    for above in range(1, hierarchy.height + 1):
        on_level = level == above
        child, parent = hierarchy.node_of[above - 1], hierarchy.node_of[above]
        first, last = child[low[on_level]], child[high[on_level]]
        of_parent = np.searchsorted(parent, np.arange(int(parent[-1]) + 2))
        parents = parent[low[on_level]]
        takes_all = (first == child[of_parent[parents]]) & (last == child[of_parent[parents + 1] - 1])
        up_to = np.concatenate([[0], np.cumsum(hierarchy.sizes[above - 1])])
        sizes[on_level] = np.where(takes_all, sizes[on_level], up_to[last + 1] - up_to[first])
    return sizes


def _node_cells(column: Column, hierarchy: Hierarchy, low: Codes, high: Codes) -> Cells:
    """Release each range of codes as the lowest node above it."""
    nodes, codes = np.unique(_lowest_nodes(hierarchy, low, high), return_inverse=True)
    numbered = _numbered_nodes(hierarchy)
    values = np.argsort(numbered, axis=None, kind="stable") % numbered.shape[1]
    n_values = np.bincount(numbered.ravel())
    ends = np.cumsum(n_values)
    members = [values[ends[node] - n_values[node] : ends[node]] for node in nodes]
    starts = np.concatenate([[0], np.cumsum(n_values[nodes])])
    sets = ValueSets(
        starts, np.concatenate(members), np.concatenate(hierarchy.sizes)[nodes], hierarchy.n_leaves
    )
    labels = _labels(hierarchy)
    return merged_cells(codes.astype(np.int32), tuple(labels[node] for node in nodes), column.domain, sets)


def _numbered_nodes(hierarchy: Hierarchy) -> Integers:
    """Return for each level and value its node, numbered through all levels."""
    n_nodes = np.array([len(labels) for labels in hierarchy.labels])
    return hierarchy.node_of + (np.cumsum(n_nodes) - n_nodes)[:, np.newaxis]


def _labels(hierarchy: Hierarchy) -> list[Label]:
    return [label for labels in hierarchy.labels for label in labels]


def _lowest_nodes(hierarchy: Hierarchy, low: Codes, high: Codes) -> Integers:
    """Return for each range of codes the lowest node above it, numbered through all levels."""
    level = (hierarchy.node_of[:, low] == hierarchy.node_of[:, high]).argmax(axis=0)
    return _numbered_nodes(hierarchy)[level, low]
