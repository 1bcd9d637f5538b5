"""People: who of a newer release is who of an earlier one, where a column tells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.arrays import Codes, Integers
from sfumato.hierarchy import Label
from sfumato.kernels.grouping import number_rows
from sfumato.release import Release
from sfumato.schema import Attribute, Schema
from sfumato.table import Table, text


def people_in_both(
    new: Release, new_table: Table, old: Release, old_table: Table, schema: Schema
) -> tuple[Integers, Integers] | None:
    """Number the people of two releases alike: one number for each released record, row by row.

    ``None`` where no column tells whose a record is, or the earlier release does not know its records.

    Parameters
    ----------
    new, old
        The releases.
    new_table, old_table
        What they were made of, with the column that tells whose a record is.
    schema
        What the attributes are; its person's column.
    """
    if schema.person is None or old.rows is None or new.rows is None:
        return None
    if schema.person not in new_table.columns or schema.person not in old_table.columns:
        return None
    place: dict[Label, int] = {}
    return _numbers(new, new_table, schema, place), _numbers(old, old_table, schema, place)


def _numbers(release: Release, table: Table, schema: Schema, place: dict[Label, int]) -> Integers:
    """Return whose each released record is, row by row, by the numbers that people have or are given now.

    Records that are equal in everything that is released are told apart by their order alone: which of them
    is released in which class then makes no difference.
    """
    assert release.original is not None
    assert release.rows is not None
    assert schema.person is not None
    records, _ = _keeping_person(schema).bind(table)
    codes: list[Codes] = [records[name].codes for name in release.original.names]
    sizes = [len(records[name].domain) for name in release.original.names]
    if release.original.person_of is not None:
        codes.append(records[schema.person].codes)
        sizes.append(len(records[schema.person].domain))
    # binding numbers equal rows in the order in which they first occur, and so does this
    row_of, _ = number_rows(codes, sizes, records.n_rows)
    every = np.repeat(row_of, records.weights)
    person = np.repeat(records[schema.person].codes, records.weights)
    order = np.argsort(every, kind="stable")
    begins = np.searchsorted(every[order], release.rows)
    taken = np.repeat(begins, release.weights) + ranked(release.rows, release.weights)
    names = map(text, records[schema.person].domain)
    number_of = np.array([place.setdefault(name, len(place)) for name in names], dtype=np.int64)
    return number_of[person[order][taken]]


def ranked(rows: Integers, weights: Integers) -> Integers:
    """Return for each released record which record of its original row it is: 0, 1, 2, …."""
    every = np.repeat(rows, weights)
    order = np.argsort(every, kind="stable")
    ordered = every[order]
    begins = np.searchsorted(ordered, ordered)
    ranks = np.empty(len(every), dtype=np.int64)
    ranks[order] = np.arange(len(every)) - begins
    return ranks


def _keeping_person(schema: Schema) -> Schema:
    """Return the schema that keeps the names of people through binding."""
    kept = [
        Attribute(each.name, "insensitive", "categorical") if each.name == schema.person else each
        for each in schema.attributes
    ]
    return replace(schema, attributes=tuple(kept), person=None, pseudonym=False)
