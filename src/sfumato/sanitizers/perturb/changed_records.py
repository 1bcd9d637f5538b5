"""Build releases from records with changed values, for all perturbing methods."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.released_column import Cells, exact_cells
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import ParameterError, suggestion


def records_of(table: Table) -> Integers:
    """Return the row of every record."""
    return np.repeat(np.arange(table.n_rows), table.weights)


def with_codes(column: Column, codes: Integers) -> Cells:
    """Return cells that show these values of an attribute's domain, one for each record."""
    return exact_cells(Column(codes, column.domain, column.kind), np.arange(len(codes)))


def changed_release(
    table: Table, schema: Schema, cells: Mapping[str, Cells], rows: Integers, notes: tuple[str, ...]
) -> LinkedRelease:
    """Release records with changed values, merging those of one row that are changed alike.

    Parameters
    ----------
    table, schema
        The bound table and schema.
    cells
        The changed attributes, one cell for each record.
    rows
        The original row of each record.
    notes
        Notes for readers of the release.
    """
    changed = list(cells.values())
    row_of, n_rows = number_rows(
        [rows, *(column.codes for column in changed)],
        [table.n_rows, *(len(column.labels) for column in changed)],
        len(rows),
    )
    first = first_row_of_group(row_of, n_rows)
    weights = sum_by_group(row_of, n_rows, np.ones(len(rows), dtype=np.int64))
    merged = {name: column.take(first) for name, column in cells.items()}
    return released(table, schema, merged, rows[first], weights, notes, release_type="perturbed")


def chosen_attributes(names: tuple[str, ...], schema: Schema, method: str) -> tuple[str, ...]:
    """Return the attributes that a method changes: all quasi-identifiers, unless some are named."""
    for name in names:
        if name not in schema.released:
            raise ParameterError(
                f"attributes: no released attribute {name!r}{suggestion(name, schema.released)}"
            )
    return tuple(dict.fromkeys(names)) or schema.require("quasi-identifying", method)
