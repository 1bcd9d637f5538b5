"""Mondrian: split the records at medians while every part satisfies the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.arrays import Booleans, Codes, Floats, Integers
from sfumato.cells import range_cells
from sfumato.classes import EquivalenceClasses, SensitiveCounts, count_classes
from sfumato.kernels.grouping import first_row_of_group, number_rows, sum_by_group
from sfumato.kernels.splitting import balanced_cuts, divide, ranges, sides
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.registry import register
from sfumato.release import Release, released
from sfumato.sanitizers.base import check_feasible, whole_table
from sfumato.schema import Schema
from sfumato.table import Table


@register
@dataclass(frozen=True)
class Mondrian:
    """Split the records at medians, again and again, while both parts satisfy the model.

    The widest attribute (as a share of its domain) is cut first, the next when that is not allowed.
    Numbers, and categories without a hierarchy, are cut anywhere in their order; categories with a
    hierarchy only between siblings, the topmost branches first.

    Parameters
    ----------
    model
        What must hold in every part.
    variant
        ``strict`` keeps equal values together; ``relaxed`` shares the records at a median out to both
        sides, so that both have the same size (not for attributes with a hierarchy of several levels).

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006.

    Examples
    --------
    >>> from sfumato import KAnonymity, datasets, sanitize
    >>> table, schema = datasets.hospital()
    >>> release = sanitize(table, schema, Mondrian(KAnonymity(4)))
    >>> release.classes.sizes.min() >= 4, release.n_suppressed
    (np.True_, 0)
    """

    model: PrivacyModel = KAnonymity(5)
    variant: Literal["strict", "relaxed"] = "strict"

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> Release:
        """Release every quasi-identifier as the smallest cover of its part's values."""
        names = schema.require("quasi-identifying", "mondrian")
        check_feasible(table, schema, self.model)
        rows = _shuffled_records(table, rng) if self.variant == "relaxed" else np.arange(table.n_rows)
        weights = np.ones(len(rows), dtype=np.int64) if self.variant == "relaxed" else table.weights
        watched = schema.sensitive if any(part.guards == "attribute" for part in self.model.parts) else ()
        space = _Space.of(table, schema, names, watched, rows, shared=self.variant == "relaxed")
        parts = _split(space, weights, self.model)
        part_of, rows, weights = _compacted(parts.part_of, rows, weights, self.variant == "relaxed")
        cells = {
            name: range_cells(
                table[name], schema.hierarchy(name), parts.low[part_of, i], parts.high[part_of, i], rows
            )
            for i, name in enumerate(names)
        }
        return released(table, schema, cells, rows, weights)


@dataclass(frozen=True)
class _Space:
    """The records as points: quasi-identifiers first, the sensitive attributes to watch behind."""

    records: Codes
    scale: Floats
    joins: Codes
    shared: Booleans
    watched: Mapping[str, SensitiveCounts]

    @classmethod
    def of(
        cls,
        table: Table,
        schema: Schema,
        names: tuple[str, ...],
        watched: tuple[str, ...],
        rows: Integers,
        *,
        shared: bool,
    ) -> _Space:
        cardinalities = [len(table[name].domain) for name in names]
        joins = np.ones((len(names), max(cardinalities)), dtype=np.int32)
        for column, name in enumerate(names):
            if table[name].kind == "categorical":
                joins[column, : cardinalities[column]] = schema.hierarchy(name).joins
        everybody = whole_table(table, schema)
        weights = np.array([schema[name].weight for name in names])
        return cls(
            records=np.stack([table[name].codes[rows] for name in (*names, *watched)], axis=1),
            scale=weights / np.maximum(np.array(cardinalities) - 1, 1),
            joins=joins,
            shared=np.array([shared and joins[i, 1:n].max(initial=1) == 1 for i, n in enumerate(cardinalities)]),
            watched={name: everybody.sensitive[name] for name in watched},
        )


@dataclass(frozen=True)
class _Parts:
    """The part of each record, and the range of each part in each quasi-identifier."""

    part_of: Integers
    low: Codes
    high: Codes


def _split(space: _Space, weights: Integers, model: PrivacyModel) -> _Parts:
    """Split breadth-first: in every round each open part tries one cut, and one model call judges all."""
    n_columns = len(space.scale)
    records, weights = space.records.copy(), weights.copy()
    order = np.arange(len(weights))
    starts, ends = np.array([0]), np.array([len(weights)])
    tries = np.zeros(1, dtype=np.int64)
    low, high = ranges(records, n_columns, starts, ends)
    done: list[tuple[Integers, Integers, Codes, Codes]] = []
    while len(starts):
        widths = (high - low) * space.scale
        column_of = np.argsort(-widths, axis=1, kind="stable")[np.arange(len(starts)), np.minimum(tries, n_columns - 1)]
        ended = (tries >= n_columns) | (high == low)[np.arange(len(starts)), column_of]
        done.append((starts[ended], ends[ended], low[ended], high[ended]))
        starts, ends, low, high, tries, column_of = (
            array[~ended] for array in (starts, ends, low, high, tries, column_of)
        )
        if not len(starts):
            break
        cuts, quotas = balanced_cuts(records, weights, starts, ends, column_of, space.joins, space.shared)
        places, child_of = sides(records, weights, starts, ends, column_of, cuts, quotas)
        children = _children(space, records, weights, places, child_of, 2 * len(starts))
        allowed = model.satisfied(children).reshape(-1, 2).all(axis=1)
        middles = divide(records, weights, order, starts, ends, child_of, allowed)
        new_starts = np.stack([starts, middles], axis=1)[allowed].ravel()
        new_ends = np.stack([middles, ends], axis=1)[allowed].ravel()
        new_low, new_high = ranges(records, n_columns, new_starts, new_ends)
        low, high = np.concatenate([low[~allowed], new_low]), np.concatenate([high[~allowed], new_high])
        tries = np.concatenate([tries[~allowed] + 1, np.zeros(len(new_starts), dtype=np.int64)])
        starts, ends = np.concatenate([starts[~allowed], new_starts]), np.concatenate([ends[~allowed], new_ends])
    return _collected(done, order)


def _children(
    space: _Space, records: Codes, weights: Integers, places: Integers, child_of: Integers, n_children: int
) -> EquivalenceClasses:
    first = len(space.scale)
    sensitive = {
        name: (records[places, first + position], everybody.prior)
        for position, (name, everybody) in enumerate(space.watched.items())
    }
    domains = {name: everybody.domain for name, everybody in space.watched.items()}
    return count_classes(child_of, n_children, weights[places], sensitive, domains)


def _collected(done: list[tuple[Integers, Integers, Codes, Codes]], order: Integers) -> _Parts:
    starts, ends, low, high = (np.concatenate(arrays) for arrays in zip(*done, strict=True))
    by_place = np.argsort(starts)
    part_of = np.empty(len(order), dtype=np.int64)
    part_of[order] = np.repeat(np.arange(len(starts)), (ends - starts)[by_place])
    return _Parts(part_of, low[by_place], high[by_place])


def _shuffled_records(table: Table, rng: np.random.Generator) -> Integers:
    """Return one row number for each record, in random order: chance says who goes to which side."""
    return rng.permutation(np.repeat(np.arange(table.n_rows), table.weights))


def _compacted(
    part_of: Integers, rows: Integers, weights: Integers, divided: bool
) -> tuple[Integers, Integers, Integers]:
    """Put the records of one row that ended in one part together again."""
    if not divided:
        return part_of, rows, weights
    number, n_rows = number_rows(
        [part_of.astype(np.int32), rows.astype(np.int32)], [int(part_of.max()) + 1, int(rows.max()) + 1], len(rows)
    )
    first = first_row_of_group(number, n_rows)
    return part_of[first], rows[first], sum_by_group(number, n_rows, weights)
