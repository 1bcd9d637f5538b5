"""Which columns make records unique: of the original before anything is made, and of a release.

Both count the records that no other one resembles in a set of columns. For the original these are the
quasi-identifiers, with or without another column; for a release they are the attributes that no model
protects. An insensitive attribute with a value of its own for many records singles them out whatever k is,
and it links releases that share it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sfumato.data.schema import Role, Schema
from sfumato.data.table import People, Table
from sfumato.kernels.people_counts import people_by_group
from sfumato.kernels.row_groups import number_rows, sum_by_group
from sfumato.results import formatting
from sfumato.results.json_schemas import SinglingOutShape
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Codes, Integers

_MOST_TOGETHER = 3
"""How many columns the smallest sets have at most."""
_MOST_COLUMNS = 12
"""Among how many columns the smallest sets are looked for."""
_MOST_ROWS = 60_000_000
"""So many rows are looked at in all; of a table with more, sets of fewer columns are counted."""

NEAR_UNIQUE = 0.1
"""The share of records that insensitive attributes may leave alone before somebody should be warned."""
MOST = 0.5
"""The same where a sensitive value has to be known, too: most of the records."""


@dataclass(frozen=True)
class ColumnContribution:
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
    columns: tuple[ColumnContribution, ...]
    sets: tuple[SinglingSet, ...]
    most_together: int
    counts_people: bool = False

    @property
    def counted(self) -> str:
        """The noun for what is counted: records or people."""
        return "people" if self.counts_people else "records"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return SinglingOutShape.of(self).to_dict()


@dataclass(frozen=True)
class Alone:
    """How many records are unique in the values of some attributes.

    Parameters
    ----------
    attributes
        The insensitive attributes, whose values are all known.
    sensitive
        A sensitive attribute whose value is known as well, if any.
    n_alone, n_records
        How many records are alone, and of how many.
    """

    attributes: tuple[str, ...]
    sensitive: str | None
    n_alone: int
    n_records: int

    @property
    def share(self) -> float:
        """The share of unique records."""
        return self.n_alone / self.n_records if self.n_records else 0.0

    @property
    def is_much(self) -> bool:
        """Whether the share calls for a warning."""
        return self.share >= NEAR_UNIQUE if self.sensitive is None else self.share > MOST

    @property
    def figure(self) -> str:
        """The number in words."""
        return f"{self.n_alone:,} of {self.n_records:,} records ({formatting.share(self.share)})"


@dataclass(frozen=True)
class _ColumnSets:
    """The records of a table or of a release, for the question whom a set of columns tells apart.

    Parameters
    ----------
    columns
        The codes of each column, and how many different ones there may be.
    weights
        How many records each row stands for.
    people
        Whose the rows are, if people are to be counted and not records.
    """

    columns: Mapping[str, tuple[Codes, int]]
    weights: Integers
    people: People | None = None

    def unique_rows(self, names: Sequence[str]) -> Booleans:
        """Return which rows belong to a record, or a person, that is unique in these columns."""
        codes, cardinalities = zip(*(self.columns[name] for name in names), strict=True)
        numbers, n_classes = number_rows(codes, cardinalities, len(self.weights))
        if self.people is None:
            sizes = sum_by_group(numbers, n_classes, self.weights)
        else:
            sizes = people_by_group(numbers, n_classes, self.people.person_of, self.people.n_people)
        unique: Booleans = sizes[numbers] == 1
        return unique

    def count(self, rows: Booleans) -> int:
        """Return the number of records, or people, among unique rows."""
        return int(rows.sum() if self.people is None else len(np.unique(self.people.person_of[rows])))

    def n_unique(self, names: Sequence[str]) -> int:
        """Return how many records, or people, are unique in these columns."""
        return self.count(self.unique_rows(names)) if names else 0

    @property
    def n(self) -> int:
        """How many records, or people, there are."""
        return int(self.weights.sum()) if self.people is None else self.people.n_people

    def separation(self, name: str) -> float:
        """Return the share of all pairs of records that differ in a column."""
        n_records = int(self.weights.sum())
        counts = np.bincount(self.columns[name][0], weights=self.weights)
        pairs = n_records * (n_records - 1)
        return 1.0 - float((counts * (counts - 1)).sum()) / pairs if pairs else 0.0

    def smallest_sets(self, names: list[str]) -> tuple[list[SinglingSet], int]:
        """Return the minimal sets of columns in which records are unique, and of how many columns at most."""
        chosen = sorted(names, key=self.separation, reverse=True)[:_MOST_COLUMNS]
        columns = [name for name in names if name in chosen]
        most = self._most_together(len(columns))
        unique: dict[tuple[str, ...], Booleans] = {}
        counts: Counter[tuple[str, ...]] = Counter()
        for subset in (subset for size in range(1, most + 1) for subset in combinations(columns, size)):
            unique[subset] = here = self.unique_rows(subset)
            fewer = [unique[part] for part in combinations(subset, len(subset) - 1) if part]
            counts[subset] = self.count(here & ~np.logical_or.reduce(fewer) if fewer else here)
        ordered = sorted(counts, key=lambda subset: (-counts[subset], len(subset), subset))
        return [SinglingSet(subset, counts[subset]) for subset in ordered if counts[subset]], most

    def _most_together(self, n_columns: int) -> int:
        affordable = _MOST_ROWS / max(len(self.weights), 1)
        sizes = range(1, min(_MOST_TOGETHER, n_columns) + 1)
        n_sets = {size: sum(math.comb(n_columns, fewer) for fewer in range(1, size + 1)) for size in sizes}
        return max((size for size in sizes if n_sets[size] <= affordable), default=min(1, n_columns))


def singling_out(table: Table, schema: Schema) -> Distinction:
    """Return how much each column contributes to singling people out.

    The smallest sets are SUDA's minimal sample uniques: a record is unique in them and in no part of them.
    As in SUDA, a set of m of the n quasi-identifiers counts (n - m)(n - m - 1)…(n - M), where M columns
    were looked at together at most, so that those of few columns count more. If the schema names people,
    people are counted: a person is unique if nobody else looks alike, however many records they have.

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
    people = None
    if schema.person is not None and schema.person in table.columns:
        person_of = table[schema.person].tightened().codes
        people = People(person_of, int(person_of.max()) + 1)
    columns = {name: (column.codes, len(column.domain)) for name, column in table.columns.items()}
    records = _ColumnSets(columns, table.weights, people)
    sets, most_together = records.smallest_sets(known)
    shares = _shares_of_columns(sets, len(known), most_together)

    def contribution(name: str) -> ColumnContribution:
        changed = [other for other in known if other != name] if name in known else [*known, name]
        return ColumnContribution(
            name,
            schema[name].role,
            len(np.unique(table[name].codes)) / table.n_records,
            records.separation(name),
            records.n_unique(changed) / records.n,
            shares.get(name, 0.0) if name in known else None,
        )

    return Distinction(
        records.n_unique(known) / records.n,
        tuple(contribution(name) for name in table.names if schema[name].role != "identifying"),
        tuple(sets),
        most_together,
        people is not None,
    )


def _shares_of_columns(sets: list[SinglingSet], n_columns: int, most: int) -> Mapping[str, float]:
    """Return each column's share of the scores of all sets that contain it."""
    scores: Counter[str] = Counter()
    total = 0
    for singled in sets:
        factors = (max(n_columns - size, 1) for size in range(len(singled.columns), most + 1))
        score = singled.n_people * math.prod(factors)
        total += score
        for name in singled.columns:
            scores[name] += score
    return {name: score / total for name, score in scores.items()} if total else {}


def people_alone(release: Release) -> int:
    """Return how many people are alone in a class, each once; records, if nobody is known to have several."""
    is_alone = release.classes.people == 1
    if release.people is None:
        return int(is_alone.sum())
    return len(np.unique(release.people.person_of[is_alone[release.classes.class_of]]))


def alone_by_insensitive(release: Release) -> tuple[Alone, ...]:
    """Count unique records by each insensitive attribute, by all of them, and with a sensitive one.

    If sensitive values are published per group, no record has a value of its own to combine. Synthetic
    records contain nothing unchanged.

    Parameters
    ----------
    release
        A release, or the original.

    Examples
    --------
    >>> from sfumato import Schema, Table
    >>> from sfumato.results.linked_release import released
    >>> table = Table.from_arrow({"age": [1, 1, 2, 2], "visit": [7, 8, 9, 9], "ill": ["a", "a", "a", "b"]})
    >>> schema = Schema.of(age="quasi-identifying", visit="insensitive", ill="sensitive")
    >>> [found.n_alone for found in alone_by_insensitive(released(*schema.bind(table), {}))]
    [2, 4]
    """
    names = tuple(name for name in release.schema.insensitive if name in release.cells)
    if not names or release.type == "synthetic":
        return ()
    records = _ColumnSets(
        {name: (cells.codes, len(cells.labels)) for name, cells in release.cells.items()}, release.weights
    )
    known = [*((name,) for name in names), *([names] if len(names) > 1 else [])]
    has_own_values = release.group_of is None
    sensitive = [name for name in release.schema.sensitive if has_own_values and name in release.cells]
    sets = [*((attributes, None) for attributes in known), *((names, value) for value in sensitive)]
    return tuple(
        Alone(
            attributes,
            value,
            records.n_unique(attributes if value is None else (*attributes, value)),
            release.n_records,
        )
        for attributes, value in sets
    )


def warnings_of(counts: Iterable[Alone]) -> tuple[str, ...]:
    """Return warnings about attributes that make too many records unique."""
    return tuple(map(_warning, notable(counts)))


def notable(counts: Iterable[Alone]) -> list[Alone]:
    """Return the combinations that call for a warning, without those implied by an earlier one."""
    kept: list[Alone] = []
    for alone in counts:
        is_implied = any(
            alone.n_alone == other.n_alone and set(alone.attributes) >= set(other.attributes)
            for other in kept
        )
        if alone.is_much and not is_implied:
            kept.append(alone)
    return kept


def _warning(alone: Alone) -> str:
    one = len(alone.attributes) == 1
    names = formatting.joined(alone.attributes)
    role = (
        f"{names} {'is' if one else 'are'} named insensitive and released as {'it is' if one else 'they are'}"
    )
    if alone.sensitive is not None:
        return (
            f"{role}: with {alone.sensitive}, {alone.figure} are the only ones with their values. Whoever "
            "has another release of the same people, or knows these values of a person, can link them."
        )
    values = "value" if one else "values together"
    return (
        f"{role}: {alone.figure} are the only ones with their {values}, whatever protects the others. "
        "Name what others may know of a person quasi-identifying, and leave out what numbers the records."
    )
