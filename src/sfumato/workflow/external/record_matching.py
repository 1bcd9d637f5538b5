"""Match released records to original ones by a column that both files have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table, text
from sfumato.kernels.row_groups import number_rows
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import DataError


def matched_rows(released: Table, original: Table, bound: Table, schema: Schema, match: str) -> Integers:
    """Return for each released record its row in the bound original.

    Parameters
    ----------
    released
        The records of the release, with the column.
    original, schema
        The original as it was given, with the column.
    bound
        The bound original.
    match
        The column.
    """
    if match not in original.columns:
        raise DataError(f"no column {match!r} in the original; match by a column that both files have")
    _check_unique(original, match, "original")
    _check_unique(released, match, "release")
    records, _ = _keeping(match, schema).bind(original)
    # binding numbers equal rows in the order in which they first occur, and so does this
    codes: list[Integers] = [records[name].codes for name in bound.names]
    sizes = [len(records[name].domain) for name in bound.names]
    if records.person_of is not None:
        codes.append(records.person_of)
        sizes.append(records.n_people)
    row_of, _ = number_rows(codes, sizes, records.n_rows)
    by_value = {text(value): code for code, value in enumerate(records[match].domain)}
    row_of_code = np.empty(len(by_value), dtype=np.int64)
    row_of_code[records[match].codes] = row_of
    found = np.array([by_value.get(text(value), -1) for value in released[match].domain])
    unmatched = int((found < 0).sum())
    if unmatched:
        raise DataError(
            f"column {match!r}: {unmatched:,} of {released.n_records:,} released records are not in the "
            "original; give the original that the release was made from"
        )
    return row_of_code[found[released[match].codes]]


def _keeping(match: str, schema: Schema) -> Schema:
    """Return a schema under which binding keeps the column."""
    kept = [
        Attribute(a.name, "insensitive", "categorical") if a.name == match and not a.is_released else a
        for a in schema.attributes
    ]
    return replace(schema, attributes=tuple(kept))


def _check_unique(records: Table, match: str, where: str) -> None:
    column = records[match]
    counts = np.bincount(column.codes, weights=records.weights)
    n_alike = int(counts[counts > 1].sum())
    if n_alike:
        raise DataError(
            f"column {match!r}: {n_alike:,} of {records.n_records:,} records of the {where} share their "
            "value with another; match by a column that has a value of its own for every record"
        )
    if column.has_missing:
        raise DataError(f"column {match!r}: a record of the {where} has no value; give every record one")
