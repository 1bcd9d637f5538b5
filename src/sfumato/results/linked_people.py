"""Match the people of a newer release with those of earlier ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sfumato.data.hierarchy import Label
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Column, Table, text
from sfumato.kernels.row_groups import number_rows
from sfumato.results.release import PersonNames, Release
from sfumato.runtime.arrays import Codes, Integers


def person_names(table: Table, bound: Table, schema: Schema) -> PersonNames | None:
    """Return whose each record of a bound table is; ``None`` where no column tells.

    Records that are equal in everything that is released are told apart by their order alone: which of them
    is released in which class then makes no difference.

    Parameters
    ----------
    table
        The records as they were given, with the column that tells whose each is.
    bound
        The same, bound.
    schema
        What the attributes are, not yet bound.
    """
    if schema.person is None or schema.person not in table.columns:
        return None
    column = table[schema.person].tightened()
    records, _ = _keeping_person(schema).bind(_numbered(table, schema.person, column))
    codes: list[Codes] = [records[name].codes for name in bound.names]
    sizes = [len(records[name].domain) for name in bound.names]
    if bound.person_of is not None:
        codes.append(records[schema.person].codes)
        sizes.append(len(records[schema.person].domain))
    # binding numbers equal rows in the order in which they first occur, and so does this
    row_of, _ = number_rows(codes, sizes, records.n_rows)
    own = np.array([int(text(number) or 0) for number in records[schema.person].domain], dtype=np.int64)
    person = np.repeat(own[records[schema.person].codes], records.weights)
    order = np.argsort(np.repeat(row_of, records.weights), kind="stable")
    return PersonNames(tuple(map(text, column.domain)), person[order])


def _numbered(table: Table, name: str, column: Column) -> Table:
    """Write numbers for the names of people, so that no record counts as one with a missing value."""
    numbers = Column(column.codes, tuple(map(str, range(len(column.domain)))), "categorical")
    return replace(table, columns={**table.columns, name: numbers})


def _keeping_person(schema: Schema) -> Schema:
    """Return the schema that keeps the names of people through binding."""
    kept = [
        Attribute(each.name, "insensitive", "categorical") if each.name == schema.person else each
        for each in schema.attributes
    ]
    return replace(schema, attributes=tuple(kept), person=None, pseudonym=False)


def people_alike(releases: Sequence[Release], known: Mapping[int, PersonNames]) -> list[Integers | None]:
    """Number the people of several releases alike: one number for each released record, row by row.

    A release whose people cannot be recognized has ``None``. Where a column tells who the people of the
    newest are, it must tell so of the other, too: equal records may be those of other people. Where none
    does, releases of equal originals are taken to be of the same people.

    Parameters
    ----------
    releases
        The newest first.
    known
        By the place of a release the names of its people, where the release itself does not know them.
    """
    names = [known.get(place) or each.person_names for place, each in enumerate(releases)]
    if names[0] is None:  # without a column, only releases of the very same records have the same people
        everybody = _everybody(releases[0])
        names = [everybody if are_of_same_records(releases[0], each) else None for each in releases]
    if not any(names[1:]):
        return [None] * len(releases)
    number_of: dict[Label, int] = {}
    return [
        None if own is None else _numbers(release, own, number_of)
        for release, own in zip(releases, names, strict=True)
    ]


def _everybody(release: Release) -> PersonNames | None:
    """Give the people of an original numbers for names."""
    table = release.original
    if table is None:
        return None
    person_of = np.arange(table.n_records)
    if table.person_of is not None:
        person_of = np.repeat(table.person_of, table.weights)
    return PersonNames(tuple(map(str, range(table.n_people))), person_of)


def _numbers(release: Release, people: PersonNames, number_of: dict[Label, int]) -> Integers | None:
    """Return whose each released record is, by the numbers that people have or are given now.

    Of equal records the first ones are taken to be released first.
    """
    if release.original is None or release.rows is None:
        return None
    numbers = np.array([number_of.setdefault(name, len(number_of)) for name in people.names], dtype=np.int64)
    first = np.cumsum(release.original.weights) - release.original.weights
    records = first[np.repeat(release.rows, release.weights)] + _ranked(release.rows, release.weights)
    return numbers[people.person_of[records]]


def are_of_same_records(one: Release, other: Release) -> bool:
    """Return whether two releases were made of the same table, and know of each record which it is."""
    mine, theirs = one.original, other.original
    if mine is None or theirs is None or one.rows is None or other.rows is None:
        return False
    return mine is theirs or mine.fingerprint == theirs.fingerprint


def _ranked(rows: Integers, weights: Integers) -> Integers:
    """Return for each released record which record of its original row it is: 0, 1, 2, …."""
    every = np.repeat(rows, weights)
    order = np.argsort(every, kind="stable")
    ordered = every[order]
    begins = np.searchsorted(ordered, ordered)
    ranks = np.empty(len(every), dtype=np.int64)
    ranks[order] = np.arange(len(every)) - begins
    return ranks
