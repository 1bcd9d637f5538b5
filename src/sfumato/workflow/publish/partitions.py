"""Split a table's Parquet file into folders that are named by the values of a column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sfumato.results.release import Release
from sfumato.runtime.errors import UserError, suggestion
from sfumato.runtime.numerals import (
    number,
)
from sfumato.verification.partition_check import MISSING, partition_file

if TYPE_CHECKING:
    import pyarrow as pa

MOST_PARTITIONS = 256
"""More folders than this are refused: each is an open file while it is written, and readers wait for each."""
_LONGEST_NAME = 255
_NOT_IN_NAMES = set('/\\=%:*?"<>|')


def check_partition(release: Release, column: str) -> None:
    """Refuse a column that cannot name the folders of Parquet files, before anything is written.

    Parameters
    ----------
    release
        What is to be written.
    column
        The column that the folders are to tell.
    """
    if column not in release.schema.released:
        hint = suggestion(column, release.schema.released)
        allowed = hint or f"; allowed are {', '.join(release.schema.released)}"
        raise UserError(f"partition-by: no attribute {column!r} is released{allowed}")
    if not column.isprintable() or _NOT_IN_NAMES & {*column}:
        raise UserError(
            f"partition-by: folders cannot be named after {column!r}; rename it in the source or take another"
        )
    cells = release.cells[column]
    _check_values([cells.labels[code] for code in cells.occurring], column)


def _check_values(values: Sequence[str | None], column: str) -> None:
    if len(values) > MOST_PARTITIONS:
        raise UserError(
            f"partition-by: {column!r} has {len(values):,} released values and would need as many folders, "
            f"more than {MOST_PARTITIONS:,}; take a column with fewer, or a coarser release"
        )
    texts = [value for value in values if value is not None]
    if any(len(partition_file("", column, value).split("/")[1]) > _LONGEST_NAME for value in texts):
        raise UserError(
            f"partition-by: a value of {column!r} is too long for the name of a folder; take another column"
        )
    alike = Counter(value.casefold() for value in texts)
    if MISSING in texts or any(count > 1 for count in alike.values()):
        raise UserError(
            f"partition-by: values of {column!r} differ in small and capital letters alone, or stand for a "
            "missing one, which folders cannot tell apart on every system; take another column"
        )


def lay_into_folders(place: Path, table: str, column: str, **options: Any) -> None:
    """Split the Parquet file of a table by a column: one file for each value, records in order.

    The file itself is removed. The records of each file are in the order that was drawn for all of them, so
    neither order nor sizes tell more than the one file did.

    Parameters
    ----------
    place
        The folder.
    table
        The table's name.
    column
        The column that the folders tell.
    **options
        How Parquet is written.
    """
    import pyarrow.parquet as pq

    whole = place / f"{table}.parquet"
    writers: dict[Any, pq.ParquetWriter] = {}
    with pq.ParquetFile(whole) as file, ExitStack() as open_files:
        _check_type(file.schema_arrow.field(column).type, column)
        inside = file.schema_arrow.remove(file.schema_arrow.get_field_index(column))
        for group in range(file.num_row_groups):
            for value, own in _by_value(file.read_row_group(group), column):
                if value not in writers:
                    target = place / partition_file(table, column, None if value is None else str(value))
                    target.parent.mkdir(parents=True)
                    writers[value] = open_files.enter_context(pq.ParquetWriter(target, inside, **options))
                writers[value].write_table(own)
    _check_readable([*writers], column)
    whole.unlink()


def _by_value(records: pa.Table, column: str) -> Iterator[tuple[Any, pa.Table]]:
    """Yield the records with each value of a column, in order and without the column."""
    encoded = records[column].combine_chunks().dictionary_encode(null_encoding="encode")
    codes = encoded.indices.to_numpy()
    ordered = records.drop_columns([column]).take(np.argsort(codes, kind="stable"))
    ends = np.cumsum(np.bincount(codes, minlength=len(encoded.dictionary)))
    for value, first, end in zip(encoded.dictionary.to_pylist(), [0, *ends[:-1]], ends, strict=True):
        yield value, ordered.slice(first, end - first)


def _check_type(kind: pa.DataType, column: str) -> None:
    import pyarrow as pa

    if pa.types.is_floating(kind):
        raise UserError(
            f"partition-by: {column!r} holds fractions, which readers of folders do not take for numbers; "
            "take another column"
        )


def _check_readable(values: Sequence[Any], column: str) -> None:
    """Refuse texts that every reader of such folders would parse as numbers: 02138 becomes 2138."""
    texts = [value for value in values if isinstance(value, str)]
    if texts and all(number(text) is not None for text in texts):
        raise UserError(
            f"partition-by: the texts of {column!r} would be read as numbers from the names of folders "
            "(02138 as 2138); take another column"
        )
