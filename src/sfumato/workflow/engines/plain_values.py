"""Decide which columns other engines read exactly as Arrow does, and convert their rows to Arrow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.reading.base import Source
from sfumato.reading.databases import changed_types

if TYPE_CHECKING:
    import pyarrow as pa

BITS_OF_PLACE = 40
"""So many bits of a position tell the place of a record in its file, those above them the file."""
_PATTERN = ("*", "?", "[", "{")


def codes_of(names: Sequence[str]) -> list[str]:
    """Return internal column names for an engine: the columns' own names never appear in a statement."""
    return [f"c{place}" for place in range(len(names))]


def is_plain(kind: pa.DataType) -> bool:
    """Return whether a type is text, a number, a Boolean or a day."""
    import pyarrow as pa

    types = pa.types
    numbers = (types.is_integer, types.is_float32, types.is_float64)
    return any(is_type(kind) for is_type in (*numbers, types.is_string, types.is_boolean, types.is_date32))


def carried(kind: pa.DataType) -> pa.DataType:
    """Return the type in which values are passed to an engine that does not know their own.

    Examples
    --------
    >>> import pyarrow
    >>> carried(pyarrow.float16()), carried(pyarrow.int64())
    (DataType(float), DataType(int64))
    """
    import pyarrow as pa

    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_decimal256(kind):
        return pa.string()
    return pa.int64() if pa.types.is_duration(kind) else kind


def are_told_apart(names: Sequence[str]) -> bool:
    """Return whether names differ when case is ignored, as engines ignore it."""
    return len({name.casefold() for name in names}) == len(names)


def is_pattern(path: Path) -> bool:
    """Return whether an engine would read the name of a file as a pattern for several."""
    return any(sign in str(path.absolute()) for sign in _PATTERN)


def typed(source: Source, names: Sequence[str], rows: pa.Table) -> pa.Table:
    """Return the first columns of rows with the names and types of the source."""
    import pyarrow as pa

    wanted = pa.schema([source.schema.field(name) for name in names])
    try:
        return rows.select(list(range(len(names)))).rename_columns(list(names)).cast(wanted)
    except pa.ArrowException:
        pass
    # raised out here: what Arrow says shows the value that it stumbled over
    raise changed_types(source.label)
