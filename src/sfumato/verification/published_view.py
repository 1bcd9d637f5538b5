"""Count the published cells as a reader sees them: classes, groups and their sensitive values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.documents import OUR_KINDS, AttributeFacts, LayoutFacts
from sfumato.verification.written_tables import (
    FileColumn,
    Integers,
    Tables,
    Value,
    WrittenTable,
    first_rows,
    number_rows,
    sum_counts,
)

Floats = npt.NDArray[np.float64]

WHOLE, PEOPLE, VALUES = "data", "quasi-identifiers", "sensitive"


@dataclass(frozen=True)
class SensitiveValues:
    """The counts of the values of one sensitive attribute in each group.

    Parameters
    ----------
    name
        The attribute.
    values
        The values that occur.
    group_of, value_of, counts
        So many records of a group have a value, by its place; group after group, no group without a record.
    facts
        What the manifest says of its values.
    """

    name: str
    values: tuple[Value, ...]
    group_of: Integers = field(repr=False)
    value_of: Integers = field(repr=False)
    counts: Integers = field(repr=False)
    facts: AttributeFacts

    @classmethod
    def of(
        cls,
        name: str,
        column: FileColumn,
        group_of: Integers,
        facts: AttributeFacts,
        counts: Integers,
    ) -> SensitiveValues:
        """Count the values of a column in each group; each row represents a number of records."""
        cells = count_cells(group_of, column.codes, len(column.values), counts)
        return cls(name, column.values, *cells, facts)

    @cached_property
    def starts(self) -> Integers:
        """The offset of the values of each group."""
        return np.searchsorted(self.group_of, np.arange(int(self.group_of[-1]) + 1))

    @cached_property
    def sizes(self) -> Integers:
        """The number of records of each group."""
        return self.total(self.counts)

    @cached_property
    def n_different(self) -> Integers:
        """How many values occur in each group."""
        return np.diff(np.append(self.starts, len(self.counts)))

    @cached_property
    def shares(self) -> Floats:
        """For each value of each group its share of the records there."""
        return self.counts / self.sizes[self.group_of]

    @cached_property
    def priors(self) -> Floats:
        """For each value of each group its share of all released records."""
        return self.prior[self.value_of]

    def total(self, amounts: Any) -> Any:
        """Add up an amount over the values of each group."""
        return np.add.reduceat(amounts, self.starts)

    def largest(self, amounts: Any) -> Any:
        """Return the largest amount over the values of each group."""
        return np.maximum.reduceat(amounts, self.starts)

    @cached_property
    def overall(self) -> Integers:
        """How often each value occurs among all released records."""
        return np.bincount(self.value_of, self.counts, len(self.values)).astype(np.int64)

    @cached_property
    def n_records(self) -> int:
        """The number of released records."""
        return int(self.counts.sum())

    @cached_property
    def prior(self) -> Floats:
        """The share of each value among the released records, the only prior that a reader can compute."""
        return self.overall / self.n_records

    @cached_property
    def ordered(self) -> list[Value]:
        """The values in the order of the hierarchy, else as numbers, a missing one last."""
        if self.facts.hierarchy is not None:
            return [_leaf(row) for row in self.facts.hierarchy]
        return sorted(self.values, key=lambda value: (value is None, float(value or 0)))

    @cached_property
    def levels(self) -> list[dict[Value, Value]]:
        """For each level below the root, the node above each value; of a flat attribute the values."""
        if self.facts.hierarchy is None:
            return [{value: value for value in self.values}]
        return [
            {_leaf(row): row[level] for row in self.facts.hierarchy}
            for level in range(max(len(self.facts.hierarchy[0]) - 1, 1))
        ]

    @property
    def is_withheld(self) -> bool:
        """Whether every released value is ``*``."""
        return self.values == ("*",)

    def counted_by(self, group_of: Integers, node_of: Integers, nodes: tuple[Value, ...]) -> SensitiveValues:
        """Merge groups and values: the new group of each group, and the node of each value."""
        cells = count_cells(group_of[self.group_of], node_of[self.value_of], len(nodes), self.counts)
        return SensitiveValues(self.name, nodes, *cells, self.facts)


@dataclass(frozen=True)
class PublicView:
    """A release as an adversary sees it.

    Parameters
    ----------
    n_original
        How many records the original has: an unverified claim.
    names
        The quasi-identifiers.
    classes
        For each quasi-identifier the number of the released value of each class.
    sizes
        How many records each class has.
    sensitive
        The sensitive attributes over the groups: the classes, unless the release has groups of its own.
    has_groups
        Whether sensitive values are published for groups rather than for classes.
    people, n_people
        How many pseudonyms each class has, and how many there are, where they are published.
    type
        What the rows stand for, an unverified claim: ``people``, ``perturbed`` or ``synthetic``.
    """

    n_original: int
    names: tuple[str, ...]
    classes: Sequence[Integers] = field(repr=False)
    sizes: Integers = field(repr=False)
    sensitive: tuple[SensitiveValues, ...]
    has_groups: bool
    people: Integers | None = field(default=None, repr=False)
    n_people: int | None = None
    type: str = "people"

    @cached_property
    def n_records(self) -> int:
        """The number of released records."""
        return int(self.sizes.sum())

    @property
    def n_suppressed(self) -> int:
        """The number of suppressed records; a synthetic release suppresses none."""
        return 0 if self.type == "synthetic" else self.n_original - self.n_records

    @property
    def fewest(self) -> int:
        """The number of people of the smallest class, or of its records if there are no pseudonyms."""
        return int((self.sizes if self.people is None else self.people).min())


def count_cells(
    group_of: Integers, codes: Integers, n_values: int, counts: Integers
) -> tuple[Integers, Integers, Integers]:
    """Count the values of each group: group, value and number of records of each that occurs."""
    keys = group_of * n_values + codes
    # sorting the keys alone is faster than sorting their positions
    order = None if (counts == 1).all() else np.argsort(keys)
    ordered = np.sort(keys) if order is None else keys[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    if order is None:
        totals = np.diff(np.append(starts, len(ordered)))
    else:
        totals = np.add.reduceat(counts[order], starts)
    return ordered[starts] // n_values, ordered[starts] % n_values, totals


def _leaf(row: Sequence[str]) -> Value:
    """Return the leaf of a row of a hierarchy; an empty one is missing."""
    return row[0] or None


def table_names(layout: LayoutFacts) -> tuple[str, ...]:
    """Return the names of the published tables."""
    return (WHOLE,) if layout.form == "one-table" else (PEOPLE, VALUES)


def public_view(tables: Tables, layout: LayoutFacts) -> PublicView:
    """Return the published tables as an adversary sees them."""
    _check_layout(layout)
    people = tables[table_names(layout)[0]]
    roles = {name: facts.role for name, facts in layout.attributes.items()}
    names = tuple(name for name, role in roles.items() if role == "quasi-identifying")
    sensitive = tuple(name for name, role in roles.items() if role == "sensitive")
    others = {column for column in (layout.group, layout.person) if column is not None}
    elsewhere = set(sensitive) if layout.form == "two-tables" else set()
    if set(people.names) != (set(roles) - elsewhere) | others:
        raise VerificationFailed("the published columns are not those that the manifest names")
    if people.n_records > layout.n_original and layout.type != "synthetic":
        raise VerificationFailed("there are more records than the manifest says that the original has")
    columns = [people.columns[name].codes for name in names]
    class_of, n_classes = number_rows(columns, people.n_rows)
    first = first_rows(class_of, n_classes)
    if layout.group is None:
        groups = _Groups(people, class_of, people.counts)
    elif layout.form == "one-table":
        groups = _Groups(people, people.columns[layout.group].codes, people.counts)
    else:
        groups = _groups_of_second_table(people, tables[VALUES], layout.group, sensitive)
    people_of_class, n_people = None, None
    if layout.person is not None:
        pseudonyms = people.columns[layout.person]
        n_people = len(pseudonyms.values)
        # each class once for every different pseudonym that it has
        classes, _, _ = count_cells(class_of, pseudonyms.codes, n_people, np.ones_like(class_of))
        people_of_class = np.bincount(classes)
    return PublicView(
        n_original=layout.n_original,
        names=names,
        classes=[codes[first] for codes in columns],
        sizes=sum_counts(class_of, people.counts, n_classes),
        sensitive=tuple(_sensitive_values(groups, name, layout) for name in sensitive),
        has_groups=layout.group is not None,
        people=people_of_class,
        n_people=n_people,
        type=layout.type,
    )


@dataclass(frozen=True)
class _Groups:
    """The table with the values of groups, the group of each of its rows, and its number of records."""

    table: WrittenTable
    group_of: Integers
    counts: Integers


def _sensitive_values(groups: _Groups, name: str, layout: LayoutFacts) -> SensitiveValues:
    column, facts = groups.table.columns[name], layout.attributes[name]
    if facts.hierarchy is not None and {_leaf(row) for row in facts.hierarchy} != set(column.values):
        raise VerificationFailed(
            f"the hierarchy of {name!r} in the manifest is not over the published values"
        )
    return SensitiveValues.of(name, column, groups.group_of, facts, groups.counts)


def _groups_of_second_table(
    people: WrittenTable, values: WrittenTable, group: str, sensitive: Sequence[str]
) -> _Groups:
    """Read the second table, which has the number of records of each group with each sensitive value."""
    count = "count"
    while count in sensitive:
        count += "_"
    if sorted(values.names) != sorted([group, *sensitive, count]):
        raise VerificationFailed("the two tables do not have the columns that the manifest names")
    counts, groups = values.columns[count], values.columns[group]
    numbers = [_number_of_records(cell, people.n_records) for cell in counts.values]
    n_records = values.counts * np.array(numbers, dtype=np.int64)[counts.codes]
    sizes = sum_counts(groups.codes, n_records, len(groups.values)).tolist()
    if dict(zip(groups.values, sizes, strict=True)) != people.occurrences(group):
        raise VerificationFailed("the two tables do not have the same number of records in every group")
    return _Groups(values, groups.codes, n_records)


def _number_of_records(cell: Value, most: int) -> int:
    digits = cell if cell is not None and cell.isascii() and cell.isdecimal() else "0"
    # thousands of digits cannot be read as a number, and none of them is needed
    if len(digits) > len(str(most)) or not 0 < int(digits) <= most:
        raise VerificationFailed("a count in the table of sensitive values is not a number of records")
    return int(digits)


def _check_layout(layout: LayoutFacts) -> None:
    if layout.form == "two-tables" and layout.group is None:
        raise VerificationFailed("two tables without a group that joins them")
    if layout.person in layout.attributes or (layout.person is not None and layout.person == layout.group):
        raise VerificationFailed("the column of pseudonyms is also an attribute")
    if layout.group in layout.attributes:
        raise VerificationFailed("the column of the groups is named as an attribute, too")
    for name, facts in layout.attributes.items():
        rows = facts.hierarchy or []
        if facts.role != "sensitive" and (facts.kind in OUR_KINDS or facts.hierarchy is not None):
            raise VerificationFailed(
                f"the manifest says of {name!r} what `publish` says of sensitive attributes only"
            )
        if len({len(row) for row in rows}) > 1 or len({row[0] for row in rows if row}) < len(rows):
            raise VerificationFailed(
                f"the hierarchy of {name!r} in the manifest is not one row for each value"
            )
        if facts.hierarchy is not None and (not rows or not _is_tree(rows)):
            raise VerificationFailed(f"the hierarchy of {name!r} in the manifest is no tree")


def _is_tree(rows: Sequence[Sequence[Value]]) -> bool:
    """Return whether equal nodes of a level have equal parents, up to one root."""
    above: dict[tuple[int, Value], Value] = {}
    for row in rows:
        for level in range(len(row) - 1):
            if above.setdefault((level, row[level]), row[level + 1]) != row[level + 1]:
                return False
    return len({row[-1] for row in rows}) == 1 or len(rows[0]) == 1
