"""Match the people of a newer release with those of earlier ones, by a column or by equal originals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sfumato.data.hierarchy import Label
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Column, Table, text
from sfumato.kernels.row_groups import number_rows
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.origin import PersonNames
from sfumato.results.release import Release
from sfumato.runtime.arrays import Codes, Integers


def person_names(table: Table, bound: Table, schema: Schema) -> PersonNames | None:
    """Return the person of each record of a bound table; ``None`` if no column names people.

    Records that are equal in all released attributes are distinguished by their order alone. It makes no
    difference which of them is released in which class.

    Parameters
    ----------
    table
        The records as they were given, with the column that names people.
    bound
        The same table, bound.
    schema
        The schema before it was bound.
    """
    if schema.person is None or schema.person not in table.columns:
        return None
    column = table[schema.person].tightened()
    records, _ = _keeping_person(schema).bind(_with_person_numbers(table, schema.person, column))
    codes: list[Codes] = [records[name].codes for name in bound.names]
    sizes = [len(records[name].domain) for name in bound.names]
    if bound.person_of is not None:
        codes.append(records[schema.person].codes)
        sizes.append(len(records[schema.person].domain))
    # binding numbers equal rows in the order in which they first occur, and so does this
    row_of, _ = number_rows(codes, sizes, records.n_rows)
    numbers = np.array([int(text(number) or 0) for number in records[schema.person].domain], dtype=np.int64)
    person = np.repeat(numbers[records[schema.person].codes], records.weights)
    order = np.argsort(np.repeat(row_of, records.weights), kind="stable")
    return PersonNames(tuple(map(text, column.domain)), person[order])


def _with_person_numbers(table: Table, name: str, column: Column) -> Table:
    """Write numbers for the names of people: a missing name must not make a record incomplete."""
    numbers = Column(column.codes, tuple(map(str, range(len(column.domain)))))
    return replace(table, columns={**table.columns, name: numbers})


def _keeping_person(schema: Schema) -> Schema:
    """Return the schema that keeps the names of people through binding."""
    attributes = tuple(
        Attribute(attribute.name, "insensitive", "categorical")
        if attribute.name == schema.person
        else attribute
        for attribute in schema.attributes
    )
    return replace(schema, attributes=attributes, person=None, pseudonym=False)


def match_people(releases: Sequence[Release], known: Mapping[int, PersonNames]) -> list[Integers | None]:
    """Number the people of several releases: for each released record its person, equal numbers in all.

    A release whose people cannot be recognized gets ``None``. If a column names the people of the newest
    release, the other release needs one, too: equal records may belong to different people. If no column
    names them, releases of equal originals count as releases of the same people.

    Parameters
    ----------
    releases
        The newest first.
    known
        By the position of a release the names of its people, if the release itself does not know them.
    """
    names = [known.get(place) or _own_names(release) for place, release in enumerate(releases)]
    if names[0] is None:  # without a column, only releases of the very same records have the same people
        own_names = _numbers_as_names(releases[0])
        names = [own_names if _have_equal_originals(releases[0], other) else None for other in releases]
    if not any(names[1:]):
        return [None] * len(releases)
    number_of: dict[Label, int] = {}
    return [
        None if people is None else _person_numbers(release, people, number_of)
        for release, people in zip(releases, names, strict=True)
    ]


def _own_names(release: Release) -> PersonNames | None:
    return release.origin.person_names if isinstance(release, LinkedRelease) else None


def _numbers_as_names(release: Release) -> PersonNames | None:
    """Give the people of an original numbers for names."""
    if not isinstance(release, LinkedRelease):
        return None
    table = release.origin.table
    person_of = np.arange(table.n_records)
    if table.person_of is not None:
        person_of = np.repeat(table.person_of, table.weights)
    return PersonNames(tuple(map(str, range(table.n_people))), person_of)


def _person_numbers(release: Release, people: PersonNames, number_of: dict[Label, int]) -> Integers | None:
    """Return the person of each released record, and give new people the next numbers.

    Equal records are taken to be released in their order.
    """
    if not isinstance(release, LinkedRelease) or release.origin.linked_rows is None:
        return None
    weights, rows = release.origin.table.weights, release.origin.linked_rows
    numbers = np.array([number_of.setdefault(name, len(number_of)) for name in people.names], dtype=np.int64)
    first = np.cumsum(weights) - weights
    records = first[np.repeat(rows, release.weights)] + _rank_within_row(rows, release.weights)
    return numbers[people.person_of[records]]


def _have_equal_originals(one: Release, other: Release) -> bool:
    """Return whether two releases were made of equal tables and know the original row of each record."""
    if not isinstance(one, LinkedRelease) or not isinstance(other, LinkedRelease):
        return False
    if one.origin.linked_rows is None or other.origin.linked_rows is None:
        return False
    mine, theirs = one.origin.table, other.origin.table
    return mine is theirs or mine.fingerprint == theirs.fingerprint


def _rank_within_row(rows: Integers, weights: Integers) -> Integers:
    """Return for each released record which record of its original row it is: 0, 1, 2, …."""
    row_of = np.repeat(rows, weights)
    order = np.argsort(row_of, kind="stable")
    ordered = row_of[order]
    starts = np.searchsorted(ordered, ordered)
    ranks = np.empty(len(row_of), dtype=np.int64)
    ranks[order] = np.arange(len(row_of)) - starts
    return ranks
