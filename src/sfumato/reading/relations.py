"""Relations: which columns say the same as another, or follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sfumato.arrays import Codes, Floats
from sfumato.table import Table

How = Literal["same", "scaled", "follows"]

_ROWS_LOOKED_AT_FIRST = 1_000
_ROWS_RANKED = 5_000
_BITS = 20.0
"""So many bits must agree before an agreement is taken for more than chance."""
_NEARLY_ONE = 0.9995
_WORTH_A_LOOK = 0.7
_FEWEST_RANKED = 20


@dataclass(frozen=True)
class Relation:
    """One column that another makes superfluous.

    Parameters
    ----------
    column
        The column that tells nothing more.
    other
        The column that tells it all.
    how
        ``same``: one value of each for one of the other. ``scaled``: numbers in the same order, such as
        logarithms. ``follows``: the other determines it, but not the other way round.
    """

    column: str
    other: str
    how: How


def relations(table: Table, numbers: Mapping[str, Floats | None] | None = None) -> tuple[Relation, ...]:
    """Return every relation between two columns of a table that is more than chance.

    Parameters
    ----------
    table
        The records.
    numbers
        For each numeric column the number behind each code, not a number where it is missing.

    Examples
    --------
    >>> grades = [grade for grade in range(5) for _ in range(10)]
    >>> table = Table.from_arrow({"grade": grades, "word": ["abcde"[g] for g in grades], "n": range(50)})
    >>> [(each.column, each.other, each.how) for each in relations(table)]
    [('word', 'grade', 'same'), ('grade', 'word', 'same')]
    """
    looked_at = _Looked.at(table)
    names = list(table.columns)
    found = [
        Relation(column, other, how)
        for other in names
        for column in names
        if column != other and (how := looked_at.how(column, other))
    ]
    known = {(each.column, each.other) for each in found}
    ranked = _ranked(table, numbers or {})
    return (*found, *(each for each in ranked if (each.column, each.other) not in known))


_RECORDS_FOR_A_PAIR = 10


def given_away(table: Table, column: str, other: str) -> float:
    """Return how much of what could be known of a column another one tells: 0 nothing, 1 everything.

    The uncertainty coefficient: the information that the two share, less what chance would give, over the
    entropy of the column. Where there are few records for so many values nothing can be said, so it is 0.

    Examples
    --------
    >>> table = Table.from_arrow({"died": ["yes", "no"] * 50, "race": ["known", "unknown"] * 50})
    >>> round(given_away(table, "died", "race"), 2)
    0.99
    """
    mine, others = table[column], table[other]
    sizes = len(mine.domain), len(others.domain)
    if table.n_records < _RECORDS_FOR_A_PAIR * sizes[0] * sizes[1] or min(sizes) < 2:
        return 0.0
    pairs = mine.codes.astype(np.int64) * sizes[1] + others.codes
    counts = np.bincount(pairs, weights=table.weights, minlength=sizes[0] * sizes[1]).reshape(sizes)
    shares = counts / table.n_records
    entropy = _bits(shares.sum(axis=1))
    shared = entropy + _bits(shares.sum(axis=0)) - _bits(shares.ravel())
    by_chance = (sizes[0] - 1) * (sizes[1] - 1) / (2 * table.n_records * np.log(2))
    return float(max(shared - by_chance, 0.0) / entropy) if entropy > 0 else 0.0


@dataclass(frozen=True)
class _Looked:
    """The codes of every column, of all rows and of a few that are looked at first."""

    codes: Mapping[str, Codes]
    some: Mapping[str, Codes]
    sizes: Mapping[str, int]

    @classmethod
    def at(cls, table: Table) -> _Looked:
        codes = {name: column.tightened().codes for name, column in table.columns.items()}
        rows = np.random.default_rng(0).permutation(table.n_rows)[:_ROWS_LOOKED_AT_FIRST]
        some = {name: column[rows] for name, column in codes.items()}
        return cls(codes, some, {name: int(column.max()) + 1 for name, column in codes.items()})

    @cached_property
    def n_rows(self) -> int:
        return len(next(iter(self.codes.values())))

    @cached_property
    def bits(self) -> Mapping[str, float]:
        """How many bits a row tells by each column."""
        return {name: _entropy(codes) for name, codes in self.codes.items()}

    def how(self, column: str, other: str) -> How | None:
        """Return how a column depends on another, if it does."""
        if self.sizes[column] < 2 or self.sizes[column] > self.sizes[other]:
            return None
        repeated = self.n_rows - self.sizes[other]
        if repeated * self.bits[column] < _BITS:
            return None
        if not self._follows(self.some, column, other) or not self._follows(self.codes, column, other):
            return None
        return "same" if self.sizes[column] == self.sizes[other] else "follows"

    def _follows(self, codes: Mapping[str, Codes], column: str, other: str) -> bool:
        """Return whether every value of the other column comes with one value of this one."""
        first = np.full(self.sizes[other], -1, dtype=np.int32)
        first[codes[other]] = codes[column]
        return bool((first[codes[other]] == codes[column]).all())


def _entropy(codes: Codes) -> float:
    return _bits(np.bincount(codes) / len(codes))


def _bits(shares: Floats) -> float:
    present = shares[shares > 0]
    return float(-(present * np.log2(present)).sum())


def _ranked(table: Table, numbers: Mapping[str, Floats | None]) -> list[Relation]:
    """Return which columns of numbers have (nearly) the same order, which no code is shared for."""
    rows = np.random.default_rng(1).permutation(table.n_rows)[:_ROWS_RANKED]
    of_rows = {
        name: values[table[name].codes[rows]] for name, values in numbers.items() if values is not None
    }
    names = [name for name, values in of_rows.items() if _differ_enough(values)]
    if len(names) < 2:
        return []
    nearly = np.abs(np.corrcoef(np.stack([_ranks(of_rows[name]) for name in names]))) >= _WORTH_A_LOOK
    return [
        Relation(names[column], names[other], "scaled")
        for other, column in np.argwhere(nearly).tolist()
        if other != column and _are_alike(of_rows[names[other]], of_rows[names[column]])
    ]


def _differ_enough(values: Floats) -> bool:
    return len(np.unique(values[~np.isnan(values)])) >= _FEWEST_RANKED


def _are_alike(one: Floats, other: Floats) -> bool:
    """Return whether two columns have the same order where both have a value, as most rows do."""
    both = ~(np.isnan(one) | np.isnan(other))
    if 2 * np.count_nonzero(both) < len(one) or not (
        _differ_enough(one[both]) and _differ_enough(other[both])
    ):
        return False
    return bool(abs(np.corrcoef(_ranks(one[both]), _ranks(other[both]))[0, 1]) >= _NEARLY_ONE)


def _ranks(values: Floats) -> Floats:
    """Return the mean rank of each value, that of a missing one in the middle."""
    present = ~np.isnan(values)
    _, place, counts = np.unique(values[present], return_inverse=True, return_counts=True)
    ranks = np.full(len(values), 0.0)
    middle = np.cumsum(counts) - (counts + 1) / 2
    ranks[present] = middle[place] - middle[place].mean()
    return ranks
