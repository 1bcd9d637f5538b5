"""Columns that hold survey weights, persons and households.

Both are read when a schema is bound and then belong to the rows; neither is an attribute of a release unless
somebody gives it a role.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from sfumato.data.table import HouseholdMembers, Table
from sfumato.runtime.arrays import Floats, sealed
from sfumato.runtime.errors import SchemaError, suggestion
from sfumato.runtime.numerals import number


def surveyed(
    table: Table,
    weight: str | None,
    household: str | None,
    decimal: str = ".",
    thousands: str = "",
    person: str | None = None,
) -> Table:
    """Return a table that knows its survey weights and households.

    Parameters
    ----------
    table
        The records; one that has these already and no such column any more is left as it is.
    weight, household
        The columns, where there are any.
    decimal, thousands
        The marks in numbers that are written as text.
    person
        The column that tells whose a record is, where there is one.

    Examples
    --------
    >>> table = Table.from_arrow({"age": [31, 42, 42], "perwt": [120.5, 80, 80]})
    >>> surveyed(table, "perwt", None).survey_weights.tolist()
    [120.5, 160.0]
    """
    if weight is not None and _is_to_read(table, weight, "weight", table.survey_weights is not None):
        table = replace(table, survey_weights=_weights(table, weight, decimal, thousands))
    if household is not None and _is_to_read(table, household, "household", table.households is not None):
        table = replace(table, households=_membership(table, household, person))
    return table


def _is_to_read(table: Table, name: str, what: str, known: bool) -> bool:
    if name not in table.columns and not known:
        raise no_column(name, table.columns, what)
    return name in table.columns


def no_column(name: str, columns: Collection[str], what: str | None = None) -> SchemaError:
    """Refuse a column that the data lack, named for a purpose such as ``weight``."""
    hint = suggestion(name, columns) or f"; it has {', '.join(columns)}"
    return SchemaError(f"{what + ': ' if what else ''}no column {name!r} in the data{hint}")


def _weights(table: Table, name: str, decimal: str, thousands: str) -> Floats:
    """Return how many people the records of each row stand for."""
    column = table[name]
    read = [number(value, decimal, thousands) if isinstance(value, str) else value for value in column.domain]
    of_row = np.array([np.nan if value is None else float(value) for value in read])[column.codes]
    wrong = int(table.weights[~(of_row > 0)].sum())
    if wrong:
        raise SchemaError(
            f"weight {name!r}: {wrong:,} of {table.n_records:,} records have none above 0; give every record "
            "the number of people that it stands for, or leave these records out"
        )
    total = float(of_row @ table.weights)
    # weights that were made to add up to the records may miss them by rounding
    if total < table.n_records * (1 - 1e-6):
        raise SchemaError(
            f"weight {name!r}: the weights add up to {total:,.6g} people, fewer than the {table.n_records:,} "
            "records; multiply them so that they add up to the population"
        )
    return sealed(of_row * table.weights)


def _membership(table: Table, name: str, person: str | None) -> HouseholdMembers:
    """Return the household of each record; a person without one is taken to live alone.

    A record that lacks it belongs to the household that another record of the same person names, the first in
    the order of the values if there are several.
    """
    column = table[name]
    row_of = np.repeat(np.arange(table.n_rows), table.weights)
    household_of = column.codes[row_of].astype(np.int64)
    if column.missing_code is not None:
        lacks = household_of == column.missing_code
        own = np.arange(len(row_of)) if person is None else table[person].codes[row_of].astype(np.int64)
        home_of = len(column.domain) + np.arange(int(own.max(initial=-1)) + 1)
        np.minimum.at(home_of, own[~lacks], household_of[~lacks])
        household_of[lacks] = home_of[own[lacks]]
    return HouseholdMembers(sealed(row_of), sealed(np.unique(household_of, return_inverse=True)[1]))
