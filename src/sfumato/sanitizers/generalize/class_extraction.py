"""Extract classes in which a privacy model holds from partitions that get coarser step by step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, count_classes
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Schema
from sfumato.data.table import Column
from sfumato.kernels.greedy_clusters import range_costs
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.models.base import PrivacyModel
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers
from sfumato.sanitizers.generalize.from_clusters import Clusters, PointSpace, tightened

# How many times its expected count a class may keep of each sensitive value: all, then fewer and fewer.
_KEPT_SHARES = np.array([np.inf, 3, 2.5, 2, 1.7, 1.5, 1.3, 1.15, 1, 0.85, 0.7, 0.55, 0.4, 0.3, 0.2, 0.12])
_UNLIMITED = 2**40


def extract_classes(
    space: PointSpace, schema: Schema, model: PrivacyModel, n_partitions: int, rng: np.random.Generator
) -> Clusters:
    """Return classes in which the model holds, and the records that fit nowhere as one more class.

    Each partition groups the remaining records by one level of every quasi-identifier. A class with too many
    records of some sensitive values keeps only a part of these; the others wait for a coarser partition.

    Parameters
    ----------
    n_partitions
        The number of partitions, drawn at random if the hierarchies have more.
    """
    levels = [_levels(space.table[name], schema.hierarchy(name)) for name in schema.quasi_identifiers]
    columns = [space.table[name].codes for name in schema.quasi_identifiers]
    values = _Values.of(space)
    remaining = space.table.weights.copy()
    extracted: list[tuple[Integers, Integers, Integers]] = []
    n_classes = 0
    for chosen in _partitions(space, levels, n_partitions, rng):
        rows = rng.permutation(np.flatnonzero(remaining))
        if not len(rows):
            break
        nodes = [of_attribute[level] for of_attribute, level in zip(levels, chosen, strict=True)]
        group_of, n_groups = number_rows(
            [node[codes[rows]] for node, codes in zip(nodes, columns, strict=True)],
            [int(node[-1]) + 1 for node in nodes],
            len(rows),
        )
        large = sum_by_group(group_of, n_groups, remaining[rows]) >= model.smallest_class
        rows, group_of = rows[large[group_of]], (np.cumsum(large) - 1)[group_of[large[group_of]]]
        if not len(rows):
            continue
        class_of, weights = _keep_records(values, model, rows, group_of, remaining[rows])
        took = weights > 0
        remaining[rows[took]] -= weights[took]
        extracted.append((n_classes + class_of[took], rows[took], weights[took]))
        n_classes += int(class_of.max()) + 1
    rest = np.flatnonzero(remaining)
    extracted.append((np.full(len(rest), n_classes), rest, remaining[rest]))
    class_of, rows, weights = (np.concatenate(parts) for parts in zip(*extracted, strict=True))
    return tightened(space, class_of, rows, weights)


def _levels(column: Column, hierarchy: Hierarchy) -> list[Codes]:
    """Return for each level the node of each code; ordered values without intervals are halved repeatedly."""
    levels = list(hierarchy.node_of)
    n_values = len(column.domain)
    if column.kind.is_ordered and len(levels) <= 2:
        n_halvings = range(max(n_values - 1, 1).bit_length() - 1, 0, -1)
        codes = np.arange(n_values)
        levels[1:1] = [(codes * 2**times // n_values).astype(np.int32) for times in n_halvings]
    return levels


def _partitions(
    space: PointSpace, levels: list[list[Codes]], n_wanted: int, rng: np.random.Generator
) -> list[tuple[int, ...]]:
    """Return some partitions, each as one level per attribute, sorted by loss."""
    sizes = tuple(len(of_attribute) for of_attribute in levels)
    n_all = math.prod(sizes)
    if n_all <= n_wanted:
        chosen = np.stack(np.unravel_index(np.arange(n_all), sizes), axis=1)
    else:
        chosen = np.unique(rng.integers(0, sizes, (n_wanted, len(sizes))), axis=0)
    costs = np.zeros(len(chosen))
    for column, of_attribute in enumerate(levels):
        costs += np.array([_mean_cost(space, column, node_of) for node_of in of_attribute])[chosen[:, column]]
    return [tuple(row) for row in chosen[np.argsort(costs, kind="stable")].tolist()]


def _mean_cost(space: PointSpace, column: int, node_of: Codes) -> float:
    """Return the mean loss of a record when one attribute is released as these nodes."""
    first = np.searchsorted(node_of, np.arange(int(node_of[-1]) + 2)).astype(np.int32)
    low, high = first[:-1, np.newaxis], first[1:, np.newaxis] - 1
    prices, columns, nodes = space.covers
    costs = range_costs(low, high, prices, columns[column : column + 1], nodes)
    codes = space.points[space.point_of, column]
    return float(costs[node_of[codes]] @ space.table.weights / space.table.n_records)


@dataclass(frozen=True)
class _Values:
    """The combinations of sensitive values.

    Parameters
    ----------
    space
        Where they come from.
    of_row
        The combination of each row of the table.
    first
        A row that has each combination.
    due
        The share of each in all records.
    """

    space: PointSpace
    of_row: Integers
    first: Integers
    due: Floats

    @classmethod
    def of(cls, space: PointSpace) -> _Values:
        table = space.table
        columns = [table[name] for name in space.watched]
        sizes = [len(column.domain) for column in columns]
        of_row, n_values = number_rows([column.codes for column in columns], sizes, table.n_rows)
        counts = sum_by_group(of_row, n_values, table.weights)
        return cls(space, of_row, first_row_of_group(of_row, n_values), counts / table.n_records)

    def classes(
        self, class_of: Integers, n_classes: int, values: Integers, counts: Integers
    ) -> EquivalenceClasses:
        """Return classes with these numbers of records of each combination."""
        rows = self.first[values]
        watched = self.space.watched
        sensitive = {
            name: (self.space.table[name].codes[rows], everybody.prior) for name, everybody in watched.items()
        }
        domains = {name: everybody.domain for name, everybody in watched.items()}
        return count_classes(class_of, n_classes, counts, sensitive, domains)


def _keep_records(
    values: _Values, model: PrivacyModel, rows: Integers, group_of: Integers, remaining: Integers
) -> tuple[Integers, Integers]:
    """Return for each row its class, among those that keep records, and how many of its records it keeps."""
    n_groups = int(group_of.max()) + 1
    pair_of, n_pairs = number_rows(
        [group_of.astype(np.int32), values.of_row[rows].astype(np.int32)],
        [n_groups, len(values.first)],
        len(rows),
    )
    first = first_row_of_group(pair_of, n_pairs)
    group, value = group_of[first], values.of_row[rows[first]]
    counts = sum_by_group(pair_of, n_pairs, remaining)
    sizes = sum_by_group(group_of, n_groups, remaining)
    due = np.minimum(np.multiply.outer(_KEPT_SHARES, sizes[group] * values.due[value]), _UNLIMITED)
    kept = np.minimum(counts, np.maximum(due.astype(np.int64), 1))
    n_shares = len(_KEPT_SHARES)
    trial = (np.arange(n_shares)[:, np.newaxis] * n_groups + group).ravel()
    trials = values.classes(trial, n_shares * n_groups, np.tile(value, n_shares), kept.ravel())
    holds = model.satisfied(trials).reshape(n_shares, n_groups)
    largest = np.where(holds, trials.sizes.reshape(n_shares, n_groups), 0)
    best = largest.argmax(axis=0)
    takes: Booleans = largest[best, np.arange(n_groups)] > 0
    quota = np.where(takes[group], kept[best[group], np.arange(n_pairs)], 0)
    return (np.cumsum(takes) - 1)[group_of], _fill_quotas(pair_of, quota, remaining)


def _fill_quotas(pair_of: Integers, quota: Integers, remaining: Integers) -> Integers:
    """Return how many records of each row fill the quota of its pair, the first rows first."""
    order = np.argsort(pair_of, kind="stable")
    sorted_remaining = remaining[order]
    reached = np.cumsum(sorted_remaining)
    starts = np.searchsorted(pair_of[order], np.arange(len(quota)))
    before = reached - sorted_remaining - (reached - sorted_remaining)[starts][pair_of[order]]
    n_filled = np.empty_like(remaining)
    n_filled[order] = np.clip(quota[pair_of[order]] - before, 0, sorted_remaining)
    return n_filled
