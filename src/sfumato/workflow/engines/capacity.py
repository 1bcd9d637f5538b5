"""Estimate how many distinct rows fit into memory, and propose coarser attributes if there are more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Schema, bound
from sfumato.data.table import Column, Table, encode
from sfumato.kernels.row_groups import number_rows
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import DataError
from sfumato.runtime.machine import SHARE, memory

if TYPE_CHECKING:
    import pyarrow as pa

_BYTES_OF_CELL = 50
"""So much memory one cell of a distinct row takes while releases are made, measured and published: 44 of 30
million rows that all differ, of six columns and their counts."""
_PART_FOR_WORK = 4
_GIGABYTE = 1e9


@dataclass(frozen=True)
class Coarser:
    """An attribute at a level of its hierarchy, and an estimate of the distinct rows that would leave.

    Parameters
    ----------
    name
        The attribute.
    level
        The level; the last is that of one value for all.
    is_withheld
        Whether it is the last.
    n_rows
        The distinct rows.
    """

    name: str
    level: int
    is_withheld: bool
    n_rows: int

    def __str__(self) -> str:
        done = f"withholding {self.name!r}" if self.is_withheld else f"{self.name!r} at level {self.level}"
        return f"{done} would leave about {self.n_rows:,}"


def working_memory() -> int:
    """Return how many bytes an engine may use while it works."""
    return max(memory() // _PART_FOR_WORK, 1 << 28)


def rows_that_fit(n_columns: int) -> int:
    """Return the number of distinct rows that this machine can work with."""
    return int(SHARE * memory()) // (_BYTES_OF_CELL * (n_columns + 1))


def require_room(label: str, n_bytes: int) -> None:
    """Refuse a source that does not fit into memory, before reading it.

    Parameters
    ----------
    label
        What the source is called.
    n_bytes
        How much memory reading it takes at least.
    """
    room = SHARE * memory()
    if n_bytes > room:
        raise DataError(
            f"{label} takes about {n_bytes / _GIGABYTE:,.3g} GB of memory to be read at once and there are "
            f'{room / _GIGABYTE:,.3g} for it: set engine = "duckdb" in [data], which reads some at a time, '
            "or take a larger machine"
        )


def require_room_for_rows(label: str, table: Table, schema: Schema | None) -> None:
    """Refuse a table with too many distinct rows, and propose coarser levels that would fit.

    Parameters
    ----------
    label
        What the source is called.
    table
        What was read.
    schema
        What the attributes are.
    """
    limit = rows_that_fit(len(table.columns))
    if table.n_rows > limit:
        tried = () if schema is None else _coarser(table, schema)
        raise too_many(label, table.n_rows, limit, tried)


def _coarser(table: Table, schema: Schema) -> Iterator[Coarser]:
    """Count how many rows each attribute would leave at each level of its hierarchy."""
    for name in (*schema.quasi_identifiers, *schema.insensitive):
        attribute, typed = bound(schema, schema[name], table[name])
        hierarchy = attribute.hierarchy
        assert isinstance(hierarchy, Hierarchy)
        for level in range(1, hierarchy.height + 1):
            nodes = Column(hierarchy.node_of[level][typed.codes], hierarchy.labels[level])
            columns = [nodes if other == name else table[other] for other in table.names]
            n_rows = number_rows(
                [column.codes for column in columns], [len(each.domain) for each in columns], table.n_rows
            )[1]
            yield Coarser(name, level, level == hierarchy.height, n_rows)


def levels_of(
    schema: Schema, name: str, values: pa.ChunkedArray, missing_values: Iterable[str]
) -> list[Integers]:
    """Return the node of each value on every level above the values themselves.

    Parameters
    ----------
    schema, name
        The attribute.
    values
        All its different values, as they are in the source.
    missing_values
        Spellings of a missing value.
    """
    weights = np.ones(len(values), dtype=np.int64)
    column = encode(name, values, frozenset(missing_values), weights)
    attribute, typed = bound(schema, schema[name], column)
    hierarchy = attribute.hierarchy
    assert isinstance(hierarchy, Hierarchy)
    return [hierarchy.node_of[level][typed.codes] for level in range(1, hierarchy.height + 1)]


def too_many(label: str, n_rows: int, limit: int, coarser: Iterable[Coarser]) -> DataError:
    """Refuse a source with too many distinct rows for the memory, and propose coarser levels that would fit.

    Parameters
    ----------
    label
        What the source is called.
    n_rows, limit
        About how many there are, and how many fit.
    coarser
        What was tried.

    Examples
    --------
    >>> str(too_many("visits.parquet", 9_000_000, 1_000_000, [Coarser("zip", 1, False, 800_000)]))
    "visits.parquet has about 9,000,000 distinct rows and this machine has memory for 1,000,000: 'zip' at ..."
    """
    tried = sorted(coarser, key=lambda each: each.n_rows)
    enough = [each for each in tried if each.n_rows <= limit]
    # of what would do, that which loses least
    advice = enough[-1:] or tried[:1]
    alone = "" if enough else ", which alone is not enough"
    told = f"{advice[0]}{alone}; " if advice else ""
    return DataError(
        f"{label} has about {n_rows:,} distinct rows and this machine has memory for {limit:,}: {told}"
        "write the column coarser in the source (a query can), withhold one, or take a larger machine"
    )
