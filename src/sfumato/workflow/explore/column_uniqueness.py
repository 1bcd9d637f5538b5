"""Measure how much each column of a table contributes to singling people out, before anything is made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.data.schema import Role, Schema
from sfumato.data.table import People, Table
from sfumato.kernels.people_counts import people_by_group
from sfumato.kernels.row_groups import number_rows, sum_by_group
from sfumato.runtime.arrays import Booleans

_MOST_TOGETHER = 3
"""How many columns the smallest sets have at most."""
_MOST_COLUMNS = 12
"""Among how many columns the smallest sets are looked for."""
_MOST_ROWS = 60_000_000
"""So many rows are looked at in all; of a table with more, sets of fewer columns are counted."""


@dataclass(frozen=True)
class Telling:
    """How much one column contributes to singling people out.

    Parameters
    ----------
    name, role
        The column.
    distinction
        How many different values there are for each record, from nearly 0 to 1 (each has its own).
    separation
        The share of all pairs of records that the column tells apart.
    unique
        The share of the people who would be unique in the quasi-identifiers if this one changed sides:
        without it where it is quasi-identifying, with it where it is not.
    part
        Of a quasi-identifier, how large a part it has in the smallest sets of columns that single people
        out; those of few columns count more.
    """

    name: str
    role: Role
    distinction: float
    separation: float
    unique: float
    part: float | None = None


@dataclass(frozen=True)
class SinglingSet:
    """A minimal set of columns that single people out together.

    Parameters
    ----------
    columns
        The columns.
    n_people
        How many people they single out; each record is a person's, where nobody is known to have several.
    """

    columns: tuple[str, ...]
    n_people: int


@dataclass(frozen=True)
class Distinction:
    """Which columns single people out.

    Parameters
    ----------
    unique
        The share of the people who are unique in the quasi-identifiers with a record of theirs.
    columns
        Each column that is not identifying.
    sets
        The smallest sets of quasi-identifiers that single people out, those first that do so with most.
    most_together
        How many columns were looked at together at most.
    counts_people
        Whether it is known whose the records are, so that people are counted; else records are.
    """

    unique: float
    columns: tuple[Telling, ...]
    sets: tuple[SinglingSet, ...]
    most_together: int
    counts_people: bool = False

    @property
    def counted(self) -> str:
        """The noun for what is counted: records or people."""
        return "people" if self.counts_people else "records"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return {
            "unique": self.unique,
            "counted": self.counted,
            "columns": [asdict(each) for each in self.columns],
            "sets": [{"columns": list(each.columns), "people": each.n_people} for each in self.sets],
            "most-together": self.most_together,
        }


def singling_out(table: Table, schema: Schema) -> Distinction:
    """Return how much each column contributes to singling people out.

    The smallest sets are SUDA's minimal sample uniques: a record is unique in them and in no part of them. As
    in SUDA, a set of m of the n quasi-identifiers counts (n - m)(n - m - 1)…(n - M), where M columns were
    looked at together at most, so that those of few columns count more. Where the schema tells whose the
    records are, people are counted: somebody is unique whom nobody else looks like, however many records
    they have.

    Parameters
    ----------
    table
        The records as they were read, withheld columns included.
    schema
        The roles.

    References
    ----------
    R. Motwani, Y. Xu, "Efficient algorithms for masking and finding quasi-identifiers", 2007 (distinction and
    separation); A. Manning, D. Haglin, J. Keane, "A recursive search algorithm for statistical disclosure
    assessment", 2008 (SUDA2).

    Examples
    --------
    >>> table = Table.from_arrow({"age": [31, 31, 42, 57], "sex": ["f", "m", "f", "f"], "ill": list("aabb")})
    >>> schema = Schema.of(age="quasi-identifying", sex="quasi-identifying", ill="sensitive")
    >>> found = singling_out(table, schema)
    >>> found.unique, [(each.columns, each.n_people) for each in found.sets]
    (1.0, [(('age',), 2), (('sex',), 1), (('age', 'sex'), 1)])
    >>> {each.name: each.unique for each in found.columns}
    {'age': 0.25, 'sex': 0.5, 'ill': 1.0}
    """
    known = [name for name in schema.quasi_identifiers if name in table.columns]
    together = _ColumnSets.of(table, schema)
    sets, most_together = together.smallest_sets(known)
    parts = _parts(sets, len(known), most_together)
    found = [
        _telling_of(together, known, name, schema[name].role, parts)
        for name in table.names
        if schema[name].role != "identifying"
    ]
    return Distinction(
        together.share_unique(known), tuple(found), tuple(sets), most_together, together.people is not None
    )


@dataclass(frozen=True)
class _ColumnSets:
    table: Table
    people: People | None

    @classmethod
    def of(cls, table: Table, schema: Schema) -> _ColumnSets:
        if schema.person is None or schema.person not in table.columns:
            return cls(table, None)
        person_of = table[schema.person].tightened().codes
        return cls(table, People(person_of, int(person_of.max()) + 1))

    @property
    def n_people(self) -> int:
        return self.table.n_records if self.people is None else self.people.n_people

    def alone(self, columns: list[str]) -> Booleans:
        """Return which rows belong to a person who is unique in these columns."""
        codes = [self.table[name].codes for name in columns]
        cardinalities = [len(self.table[name].domain) for name in columns]
        numbers, n_classes = number_rows(codes, cardinalities, self.table.n_rows)
        if self.people is None:
            sizes = sum_by_group(numbers, n_classes, self.table.weights)
        else:
            sizes = people_by_group(numbers, n_classes, self.people.person_of, self.people.n_people)
        found: Booleans = sizes[numbers] == 1
        return found

    def share_unique(self, columns: list[str]) -> float:
        return self.n_of(self.alone(columns)) / self.n_people if columns else 0.0

    def n_of(self, rows: Booleans) -> int:
        """Return the number of people among these rows."""
        if self.people is None:
            return int(np.count_nonzero(rows))
        return len(np.unique(self.people.person_of[rows]))

    def separation(self, column: str) -> float:
        """Return the share of all pairs of records that differ in a column."""
        codes, n_records = self.table[column].codes, self.table.n_records
        counts = np.bincount(codes, weights=self.table.weights)
        pairs = n_records * (n_records - 1)
        return 1.0 - float((counts * (counts - 1)).sum()) / pairs if pairs else 0.0

    def smallest_sets(self, names: list[str]) -> tuple[list[SinglingSet], int]:
        """Return the minimal sets of columns in which records are unique."""
        chosen = sorted(names, key=self.separation, reverse=True)[:_MOST_COLUMNS]
        columns = [name for name in names if name in chosen]
        alone: dict[tuple[str, ...], Booleans] = {}
        counts: Counter[tuple[str, ...]] = Counter()
        most = self._most_together(len(columns))
        for subset in _subsets(columns, most):
            here = self.alone(list(subset))
            fewer = [alone[part] for part in combinations(subset, len(subset) - 1) if part]
            minimal = here & ~np.logical_or.reduce(fewer) if fewer else here
            alone[subset] = here
            counts[subset] = self.n_of(minimal)
        ordered = sorted(counts, key=lambda subset: (-counts[subset], len(subset), subset))
        return [SinglingSet(subset, counts[subset]) for subset in ordered if counts[subset]], most

    def _most_together(self, n_columns: int) -> int:
        affordable = _MOST_ROWS / max(self.table.n_rows, 1)
        sizes = range(1, min(_MOST_TOGETHER, n_columns) + 1)
        n_sets = {size: sum(math.comb(n_columns, each) for each in range(1, size + 1)) for size in sizes}
        return max((size for size in sizes if n_sets[size] <= affordable), default=min(1, n_columns))


def _subsets(columns: list[str], most: int) -> Iterator[tuple[str, ...]]:
    for size in range(1, most + 1):
        yield from combinations(columns, size)


def _parts(sets: list[SinglingSet], n_columns: int, most: int) -> Mapping[str, float]:
    """Return each column's share of the scores of all sets that contain it."""
    scores: Counter[str] = Counter()
    total = 0
    for each in sets:
        factors = (max(n_columns - size, 1) for size in range(len(each.columns), most + 1))
        score = each.n_people * math.prod(factors)
        total += score
        for name in each.columns:
            scores[name] += score
    return {name: score / total for name, score in scores.items()} if total else {}


def _telling_of(
    together: _ColumnSets, known: list[str], name: str, role: Role, parts: Mapping[str, float]
) -> Telling:
    column = together.table[name]
    changed = [each for each in known if each != name] if name in known else [*known, name]
    n_distinct = len(np.unique(column.codes))
    return Telling(
        name,
        role,
        n_distinct / together.table.n_records,
        together.separation(name),
        together.share_unique(changed),
        parts.get(name, 0.0) if name in known else None,
    )
