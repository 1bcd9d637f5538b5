"""Random counting queries about a table, drawn and answered once per table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.kernels.weight_estimates import CountQueries, query_counts
from sfumato.measures.utility.estimation.estimate import Estimate
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers, freeze_fields, sealed

_ROUNDS = 100
"""How often queries that no record satisfies are drawn again, all of them at once."""


class TooFewQueries(Exception):
    """Raised when hardly any query is satisfied by a record."""


SelectivityRule = Literal["joint", "each"]


@dataclass(frozen=True, eq=False)
class Queries:
    """Queries that count records with accepted values in some quasi-identifiers and a sensitive attribute.

    Parameters
    ----------
    attributes
        For each query the quasi-identifiers that it asks about, by position.
    starts, accepted
        Query ``i`` accepts the code ``c`` of its attribute ``d`` where ``accepted[starts[i, d] + c]``.
    values
        For each query and each sensitive value whether it is accepted.
    """

    attributes: Codes
    starts: Integers
    accepted: Booleans
    values: Booleans

    def __post_init__(self) -> None:
        freeze_fields(self, attributes=np.int32, starts=np.int64, accepted=np.bool_, values=np.bool_)

    def __len__(self) -> int:
        return len(self.attributes)

    def take(self, which: Integers) -> Queries:
        """Return these queries."""
        return Queries(self.attributes[which], self.starts[which], self.accepted, self.values[which])

    def answers(self, estimate: Estimate) -> Floats:
        """Return the estimated number of records that each query accepts."""
        n_codes = np.array([spread.n_codes for spread in estimate.spreads])
        queries = CountQueries(self.attributes, self.starts, self.accepted, self.values, n_codes)
        return query_counts(queries, estimate.all_labels, estimate.units, estimate.mixtures.arrays)


def satisfied_queries(
    table: Table,
    schema: Schema,
    sensitive: str,
    truth: Estimate,
    n_queries: int,
    dimensions: int,
    selectivity: float,
    seed: int,
    rule: SelectivityRule = "joint",
) -> tuple[Queries, Floats, int]:
    """Draw queries that at least one record satisfies.

    Parameters
    ----------
    table, schema
        The bound table and schema.
    sensitive
        The sensitive attribute that every query asks about.
    truth
        The table as an estimate.
    n_queries, dimensions
        How many queries, and how many quasi-identifiers each asks about.
    selectivity
        The share of all combinations of values that a query accepts, roughly.
    seed
        Decides which queries.
    rule
        ``each`` where the selectivity is the share of the values of each attribute.

    Returns
    -------
    The queries, their true answers, and how many queries had to be drawn again.
    """
    rng = np.random.default_rng(seed)
    share = selectivity ** (1 / (dimensions + 1)) if rule == "joint" else selectivity
    columns = [table[name] for name in (*schema.quasi_identifiers, sensitive)]
    kept: list[Queries] = []
    answers: list[Floats] = []
    lacking, redrawn = n_queries, 0
    for _ in range(_ROUNDS):
        drawn = _draw(columns, lacking, dimensions, share, rng)
        n_satisfying = drawn.answers(truth)
        satisfied = np.flatnonzero(n_satisfying > 0)
        kept.append(drawn.take(satisfied))
        answers.append(n_satisfying[satisfied])
        lacking -= len(satisfied)
        if not lacking:
            return _joined(kept), sealed(np.concatenate(answers)), redrawn
        redrawn += lacking
    raise TooFewQueries(
        f"only {n_queries - lacking:,} of {n_queries:,} queries are satisfied by a record after drawing "
        f"{_ROUNDS} times; give a higher selectivity or fewer dimensions"
    )


def _draw(
    columns: Sequence[Column], n_queries: int, dimensions: int, share: float, rng: np.random.Generator
) -> Queries:
    """Draw queries that accept a share of each attribute's values; the last column is the sensitive one."""
    n_attributes = len(columns) - 1
    chosen = rng.permuted(np.tile(np.arange(n_attributes), (n_queries, 1)), axis=1)[:, :dimensions]
    sizes = np.array([len(column.domain) for column in columns])
    ends = np.cumsum(sizes[chosen]).reshape(chosen.shape)
    starts = ends - sizes[chosen]
    accepted = np.zeros(int(ends[-1, -1]), dtype=np.bool_)
    values = np.zeros((n_queries, sizes[-1]), dtype=np.bool_)
    for query in range(n_queries):
        for place, attribute in enumerate(chosen[query]):
            start = starts[query, place]
            accepted[start + _some_codes(columns[attribute], share, rng)] = True
        values[query, _some_codes(columns[-1], share, rng)] = True
    return Queries(chosen, starts, accepted, values)


def _some_codes(column: Column, share: float, rng: np.random.Generator) -> Integers:
    """Draw the accepted values: neighbours if they have an order, else any."""
    n_values = len(column.domain)
    wanted = min(n_values, math.ceil(round(n_values * share, 9)))
    if column.kind.is_ordered:
        return int(rng.integers(n_values - wanted + 1)) + np.arange(wanted)
    return rng.permutation(n_values)[:wanted]


def _joined(parts: Sequence[Queries]) -> Queries:
    before = np.cumsum([0] + [len(part.accepted) for part in parts[:-1]])
    return Queries(
        np.concatenate([part.attributes for part in parts]),
        np.concatenate([part.starts + offset for part, offset in zip(parts, before, strict=True)]),
        np.concatenate([part.accepted for part in parts]),
        np.concatenate([part.values for part in parts]),
    )
