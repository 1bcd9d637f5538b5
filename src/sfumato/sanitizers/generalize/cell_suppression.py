"""Cell suppression: replace single cells by ``*`` and keep all other values exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.hierarchy import ROOT, Hierarchy
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table, text
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.registry.declarations import Share
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.release import failing_rows
from sfumato.results.released_column import Cells, ValueSets, exact_cells
from sfumato.runtime.arrays import Booleans, Integers
from sfumato.runtime.errors import Infeasible
from sfumato.sanitizers.base import check_feasible, merge_records, watched_attributes, whole_table
from sfumato.sanitizers.generalize.hidden_cells import OPEN, Points, patterns_of, search_patterns


@register
@dataclass(frozen=True)
class CellSuppression:
    """Release every cell unchanged or as ``*``, with as few ``*`` as a greedy search finds.

    A suppressed cell matches only other suppressed cells of its attribute, so the model holds in the
    classes that a reader of the release sees. Each ``*`` costs the weight that the schema gives its
    attribute: important attributes are suppressed last.

    The search goes through the combinations of attributes from the cheapest to the dearest. For each, it
    groups the records that still fail with those that have lost the same cells; where the model holds, they
    stay. Then records move to cheaper combinations, together with others if that pays, as long as the model
    holds in the classes that they leave and in those that they join.

    Parameters
    ----------
    model
        What must hold in every class.
    suppression
        The largest share of whole records that may be suppressed: those for which the model fails even
        with all their cells suppressed. If there are more, cells of further records are suppressed instead.

    References
    ----------
    A. Meyerson, R. Williams, "On the complexity of optimal k-anonymity", 2004; M. Templ, A. Kowarik,
    B. Meindl, "Statistical disclosure control for micro-data using the R package sdcMicro", 2015.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> table, schema = datasets.hospital()
    >>> release = sanitize(table, schema, CellSuppression(KAnonymity(2)))
    >>> release.classes.sizes.min() >= 2, release.n_suppressed
    (np.True_, 0)
    """

    model: PrivacyModel = KAnonymity(5)
    suppression: Share = 0.0

    ignores_sensitive: ClassVar[bool] = True
    plain: ClassVar[str] = "single cells withheld"
    does: ClassVar[str] = "Only those cells are withheld that would make a record too distinct."
    times_mondrian: ClassVar[float] = 5.0

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release ``*`` for the suppressed cells, and all others unchanged."""
        schema.require("quasi-identifying", "cell-suppression")
        check_feasible(table, schema, self.model, suppresses=self.suppression > 0)
        points, shares = _points(table, schema, self.model, rng)
        patterns = patterns_of(points, np.array([schema[name].weight for name in points.names]))
        rows, pattern_of, weights = _published(shares, search_patterns(points, patterns, self.suppression))
        self._check_suppression(table.n_records - int(weights.sum()), table.n_records)
        cells = {
            name: _cells(table[name], schema.hierarchy(name), rows, hidden[pattern_of])
            for name, hidden in zip(points.names, patterns.hidden.T, strict=True)
        }
        release = released(table, schema, cells, rows, weights)
        if failing_rows(release, self.model).any():
            raise Infeasible("no classes were found in which the model holds; choose a weaker model")
        return release

    def _check_suppression(self, n_suppressed: int, n_records: int) -> None:
        share = n_suppressed / n_records
        if share > self.suppression:
            raise Infeasible(
                f"no class in which the model holds was found for {n_suppressed:,} of {n_records:,} records "
                f"({share:.1%}), more than the suppression limit of {self.suppression:.1%}; choose a weaker "
                "model or a higher limit",
                share,
            )
        if n_suppressed == n_records:
            raise Infeasible("every record would be left out; choose a weaker model", share)


def _cells(column: Column, hierarchy: Hierarchy, rows: Integers, hidden: Booleans) -> Cells:
    """Release ``*`` where a cell is hidden."""
    if not hidden.any():
        return exact_cells(column, rows)
    n_values = len(column.domain)
    every = np.arange(n_values, dtype=np.int32)
    sizes = np.append(np.ones(n_values, dtype=np.int64), hierarchy.n_leaves)
    sets = ValueSets(
        np.append(np.arange(n_values + 1), 2 * n_values), np.tile(every, 2), sizes, hierarchy.n_leaves
    )
    labels = (*(text(value) for value in column.domain), ROOT)
    codes = np.where(hidden, np.int32(n_values), column.codes[rows])
    return Cells(codes, labels, column.domain, sets)


_Shares = tuple[Integers, Integers, Integers]
"""Of which rows how many records are in which points: rows, points (later patterns), numbers of records."""


def _points(
    table: Table, schema: Schema, model: PrivacyModel, rng: np.random.Generator
) -> tuple[Points, _Shares]:
    """Return the points of a table, and the share of each row in them."""
    names = tuple(name for name in schema.quasi_identifiers if len(table[name].domain) > 1)
    watched = whole_table(table, schema, watched_attributes(schema, model)).sensitive
    columns = [table[name] for name in (*names, *watched)]
    everybody = table.people()
    looked_at: list[Integers] = [column.codes for column in columns]
    sizes = [len(column.domain) for column in columns]
    if everybody is not None:
        looked_at.append(everybody.person_of)
        sizes.append(everybody.n_people)
    kind_of, n_kinds = number_rows(looked_at, sizes, table.n_rows)
    weights = sum_by_group(kind_of, n_kinds, table.weights)
    # a person's records of one kind stay together: apart they would protect nobody
    kinds, weights = _divided(weights) if everybody is None else (np.arange(n_kinds), weights)
    first = first_row_of_group(kind_of, n_kinds)[kinds]
    codes = np.array([column.codes[first] for column in columns], dtype=np.int32).reshape(-1, len(kinds))
    points = Points(
        names=names,
        codes=codes[: len(names)],
        cardinalities=np.array([len(table[name].domain) for name in names], dtype=np.int64),
        weights=weights,
        model=model,
        watched=watched,
        sensitive=dict(zip(watched, codes[len(names) :], strict=True)),
        people=table.people(first),
    )
    # chance says which records of equal points lose cells
    shuffled = rng.permutation(table.n_rows)
    return points, _distributed(table, shuffled[np.argsort(kind_of[shuffled], kind="stable")], weights)


def _divided(weights: Integers) -> tuple[Integers, Integers]:
    """Divide each weight into 1, 2, 4, … and a remainder: return the owner of each part, and the parts."""
    owners, parts = [], []
    remaining, size = weights.copy(), 1
    while remaining.any():
        owner = np.flatnonzero(remaining)
        part = np.minimum(remaining[owner], size)
        owners.append(owner)
        parts.append(part)
        remaining[owner] -= part
        size *= 2
    order = np.argsort(np.concatenate(owners), kind="stable")
    return np.concatenate(owners)[order], np.concatenate(parts)[order]


def _distributed(table: Table, rows: Integers, weights: Integers) -> _Shares:
    """Distribute the records of the rows, in this order, to points of these weights."""
    row_ends, point_ends = np.cumsum(table.weights[rows]), np.cumsum(weights)
    ends = np.union1d(row_ends, point_ends)
    return rows[np.searchsorted(row_ends, ends)], np.searchsorted(point_ends, ends), np.diff(ends, prepend=0)


def _published(shares: _Shares, pattern_of: Integers) -> _Shares:
    """Merge the records of a row with the same pattern, and drop those without one."""
    kept = pattern_of[shares[1]] != OPEN
    rows, patterns, weights = shares[0][kept], pattern_of[shares[1][kept]], shares[2][kept]
    patterns, rows, weights = merge_records(patterns, rows, weights)
    return rows, patterns, weights
