"""Room: how many distinct rows a machine can work on, and what to do where there are more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Integers
from sfumato.errors import DataError
from sfumato.exploring.memory import SHARE, of_machine
from sfumato.hierarchy import Hierarchy
from sfumato.schema import Schema, bound
from sfumato.table import encode

if TYPE_CHECKING:
    import pyarrow as pa

_BYTES_OF_CELL = 100
"""So much memory one cell of a distinct row takes while releases are made, measured and published."""
_PART_FOR_WORK = 4


@dataclass(frozen=True)
class Coarser:
    """An attribute at a level of its hierarchy, and about how many distinct rows that would leave.

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
    return max(of_machine() // _PART_FOR_WORK, 1 << 28)


def rows_that_fit(n_columns: int) -> int:
    """Return with how many distinct rows this machine can work."""
    return int(SHARE * of_machine()) // (_BYTES_OF_CELL * (n_columns + 1))


def levels_of(
    schema: Schema, name: str, values: pa.ChunkedArray, missing_values: Iterable[str]
) -> list[Integers]:
    """Return for each level above the values themselves the node of each value.

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
    """Refuse a source with more distinct rows than fit into memory, and say what would make it fit.

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
