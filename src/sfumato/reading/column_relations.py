"""Find columns that repeat another column or follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

import numpy as np

from sfumato.data.table import Table
from sfumato.runtime.arrays import Codes, Floats, Integers
from sfumato.runtime.progress import tell

How = Literal["same", "scaled", "follows"]

_ROWS_LOOKED_AT_FIRST = 1_000
_PAIRS_LOOKED_AT_FIRST = 8
COLUMNS_PER_MESSAGE = 500
"""A message reports progress after this many columns; narrower tables are done before it is due."""
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
        The superfluous column.
    other
        The column that determines it.
    how
        ``same``: one value of each for one of the other. ``scaled``: numbers in the same order, such as
        logarithms. ``follows``: the other column determines it, but not vice versa.
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
        For each numeric column the number behind each code, NaN where it is missing.

    Examples
    --------
    >>> grades = [grade for grade in range(5) for _ in range(10)]
    >>> table = Table.from_arrow({"grade": grades, "word": ["abcde"[g] for g in grades], "n": range(50)})
    >>> [(relation.column, relation.other, relation.how) for relation in relations(table)]
    [('word', 'grade', 'same'), ('grade', 'word', 'same')]
    """
    names, groups = tuple(table.columns), _ColumnGroups.of(table)
    followers: list[list[int]] = []
    for place, group in enumerate(groups.of_column):
        if place and place % COLUMNS_PER_MESSAGE == 0:
            tell(f"{place:,} of {len(names):,} columns compared with the others")
        if group == len(followers):  # groups are numbered as they appear
            followers.append(groups.columns_following(group))
    by_code = [
        Relation(names[column], other, "same" if groups.of_column[column] == group else "follows")
        for place, (other, group) in enumerate(zip(names, groups.of_column, strict=True))
        for column in followers[group]
        if column != place
    ]
    pairs = {(relation.column, relation.other) for relation in by_code}
    ranked = _ranked(table, numbers or {})
    return (*by_code, *(relation for relation in ranked if (relation.column, relation.other) not in pairs))


_RECORDS_FOR_A_PAIR = 10


def revealed_share(table: Table, column: str, other: str) -> float:
    """Return how much of the information in a column another column reveals: 0 nothing, 1 everything.

    The uncertainty coefficient: the information that the two share, less what chance would give, over the
    entropy of the column. With too few records for the number of values it is 0, since nothing is certain.

    Examples
    --------
    >>> table = Table.from_arrow({"died": ["yes", "no"] * 50, "race": ["known", "unknown"] * 50})
    >>> round(revealed_share(table, "died", "race"), 2)
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
class _ColumnGroups:
    """The columns of a table in groups of equivalent columns, whose values map one to one.

    A column follows from another if equal values of the other always come with equal values of it. A table
    of 3,000 columns has nine million pairs, too many to compare one by one. Equivalent columns are found by a
    digest of their codes, and only one of them is compared with the rest. Two rows with the same value in a
    column refute at once all columns in which they differ. A few such pairs of rows leave hardly any column,
    and only those are compared in all rows.
    """

    members: tuple[list[int], ...]
    """The columns of each group, in the order of the table."""
    of_column: tuple[int, ...]
    codes: tuple[Codes, ...]
    """The codes of one column for each group."""
    sampled_codes: Codes
    """The same codes in the rows that are checked first: one line per row, one column per group."""
    n_values: Integers
    bits: Floats
    """How many bits of information each group has per row."""

    @classmethod
    def of(cls, table: Table) -> _ColumnGroups:
        group_of: dict[bytes, int] = {}
        members: list[list[int]] = []
        codes: list[Codes] = []
        of_column = []
        for place, column in enumerate(table.columns.values()):
            renumbered = _renumbered(column.tightened().codes)
            group = group_of.setdefault(blake2b(renumbered.tobytes()).digest(), len(members))
            if group == len(members):
                members.append([])
                codes.append(renumbered)
            members[group].append(place)
            of_column.append(group)
        rows = np.random.default_rng(0).permutation(table.n_rows)[:_ROWS_LOOKED_AT_FIRST]
        return cls(
            tuple(members),
            tuple(of_column),
            tuple(codes),
            np.column_stack([column[rows] for column in codes]),
            np.array([int(column.max()) + 1 for column in codes]),
            np.array([_bits(np.bincount(column) / len(column)) for column in codes]),
        )

    def columns_following(self, group: int) -> list[int]:
        """Return the columns that follow from those of a group, its own included, if this is not chance."""
        codes, n_values = self.codes[group], self.n_values[group]
        is_likely = (self.n_values >= 2) & ((len(codes) - n_values) * self.bits >= _BITS)
        coarser = self._not_refuted(group, np.flatnonzero(is_likely & (self.n_values < n_values))).tolist()
        following = [group] if is_likely[group] else []
        following += [other for other in coarser if _follows(self.codes[other], codes)]
        return sorted(column for other in following for column in self.members[other])

    def _not_refuted(self, group: int, others: Integers) -> Integers:
        """Return those of these groups that follow from one group in the rows that are checked first."""
        codes = self.sampled_codes[:, group]
        one_row = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
        one_row[codes] = np.arange(len(codes))
        again = np.flatnonzero(one_row[codes] != np.arange(len(codes)))
        start, step = 0, _PAIRS_LOOKED_AT_FIRST
        while start < len(again) and len(others):
            rows = again[start : start + step]
            one, same = self.sampled_codes[rows], self.sampled_codes[one_row[codes[rows]]]
            others = others[(one[:, others] == same[:, others]).all(axis=0)]
            start, step = start + step, 2 * step
        return others


def _renumbered(codes: Codes) -> Codes:
    """Renumber the codes by the last row in which each occurs, so that equivalent columns become equal."""
    last = np.empty(int(codes.max()) + 1, dtype=np.int64)
    last[codes] = np.arange(len(codes))
    number = np.empty(len(last), dtype=np.int32)
    number[np.argsort(last)] = np.arange(len(last), dtype=np.int32)
    return number[codes]


def _follows(column: Codes, other: Codes) -> bool:
    """Return whether every value of the other column comes with one value of this one."""
    first = np.empty(int(other.max()) + 1, dtype=np.int32)
    first[other] = column
    return bool((first[other] == column).all())


def _bits(shares: Floats) -> float:
    """Return the entropy of shares in bits."""
    present = shares[shares > 0]
    return float(-(present * np.log2(present)).sum())


def _ranked(table: Table, numbers: Mapping[str, Floats | None]) -> list[Relation]:
    """Return numeric columns that have (nearly) the same order, which comparing codes misses."""
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
    """Return whether two columns have the same order where both have a value, which must be most rows."""
    both = ~(np.isnan(one) | np.isnan(other))
    if 2 * np.count_nonzero(both) < len(one) or not (
        _differ_enough(one[both]) and _differ_enough(other[both])
    ):
        return False
    return bool(abs(np.corrcoef(_ranks(one[both]), _ranks(other[both]))[0, 1]) >= _NEARLY_ONE)


def _ranks(values: Floats) -> Floats:
    """Return the mean rank of each value; missing values get the middle rank."""
    present = ~np.isnan(values)
    _, place, counts = np.unique(values[present], return_inverse=True, return_counts=True)
    ranks = np.full(len(values), 0.0)
    middle = np.cumsum(counts) - (counts + 1) / 2
    ranks[present] = middle[place] - middle[place].mean()
    return ranks
