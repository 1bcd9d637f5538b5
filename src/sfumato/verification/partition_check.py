"""Check Parquet files in folders that name a column's value, such as ``sex=Female/part-0.parquet``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.documents import Manifest
from sfumato.verification.folder import open_file
from sfumato.verification.published_view import table_names
from sfumato.verification.written_tables import (
    Value,
    WrittenTable,
    differs,
    parquet_batches,
    parquet_types,
    unpacks_too_far,
)

MISSING = "__HIVE_DEFAULT_PARTITION__"
"""The name of a folder's missing value; every reader of such folders knows it."""
_FILE = "part-0.parquet"


def partition_file(table: str, column: str, value: Value) -> str:
    """Return the path of the records with this value of a column.

    Letters and digits of ASCII and ``_.-~`` are written as they are and other characters as in a web address,
    and so is a full stop at the end, which Windows would drop.

    Examples
    --------
    >>> partition_file("data", "age", "[20, 30)")
    'data/age=%5B20%2C%2030%29/part-0.parquet'
    """
    name = MISSING if value is None else quote(value, safe="")
    name = name[:-1] + "%2E" if name.endswith(".") else name
    return f"{table}/{column}={name}/{_FILE}"


def partitioned_table(manifest: Manifest) -> str | None:
    """Return the table whose Parquet files are in such folders, if there is one."""
    if manifest.partition_by is None:
        return None
    facts = manifest.layout.attributes.get(manifest.partition_by)
    if facts is None:
        raise VerificationFailed("the folders are named after a column that is no published attribute")
    return table_names(manifest.layout)[-1 if facts.role == "sensitive" else 0]


def partition_files(manifest: Manifest) -> dict[str, Value]:
    """Return the listed files in such folders, each with the value that its folder names."""
    table, column = partitioned_table(manifest), manifest.partition_by
    if table is None or column is None:
        return {}
    parts = {}
    start, end = f"{table}/{column}=", f"/{_FILE}"
    for file in sorted(manifest.files):
        if file.startswith(start) and file.endswith(end) and len(file) > len(start) + len(end):
            name = file[len(start) : -len(end)]
            value = None if name == MISSING else unquote(name)
            if partition_file(table, column, value) == file:
                parts[file] = value
    return parts


def differs_in_parts(folder: Path, parts: dict[str, Value], column: str, written: WrittenTable) -> str:
    """Return how the files of all folders together differ from their CSV twin; empty if they do not.

    Parameters
    ----------
    folder
        The published folder.
    parts
        The files, each with the value that its folder names.
    column
        The column whose values the folders name.
    written
        What the CSV file has.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not parts:
        return "there is no file in any folder"
    schemas, n_records = [], 0
    try:
        for file in parts:
            with open_file(folder, file) as stream:
                parquet = pq.ParquetFile(stream)
                if unpacks_too_far(parquet, os.fstat(stream.fileno()).st_size):
                    return "a Parquet file would unpack to far more than its size"
                schemas.append(parquet.schema_arrow)
                n_records += parquet.metadata.num_rows
        first = schemas[0]
        if any(schema != first for schema in schemas) or {*first.names} != {*written.names} - {column}:
            return "they have other columns"
        if n_records != written.n_records:
            return "they have another number of records"
        types = {column: pa.string()} | {field.name: field.type for field in first}
        whole = pa.schema([(name, types[name]) for name in written.names])
        return differs(_batches(folder, parts, column, first, whole), whole, written)
    except (pa.ArrowException, OSError, ValueError, IndexError):
        # a damaged dictionary has fewer values than its records name
        return "a Parquet file cannot be read"


def _batches(folder: Path, parts: dict[str, Value], column: str, schema: Any, whole: Any) -> Iterator[Any]:
    """Read the records of every file, with the value that its folder names."""
    import pyarrow as pa

    for file, value in parts.items():
        with open_file(folder, file) as stream:
            for batch in parquet_batches(stream, schema):
                named = pa.repeat(pa.scalar(value, pa.string()), batch.num_rows)
                columns = {**dict(zip(batch.schema.names, batch.columns, strict=True)), column: named}
                yield pa.record_batch([columns[name] for name in whole.names], names=whole.names)


def types_in_parts(
    folder: Path, parts: dict[str, Value], column: str, names: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the columns with a data package's types; folders name whole numbers or texts."""
    types = dict(parquet_types(folder, next(iter(parts))))
    if {*names} != {*types, column}:
        raise VerificationFailed("the CSV file and the Parquet files have other columns")
    digits = [value.removeprefix("-") for value in parts.values() if value is not None]
    are_whole = all(number.isascii() and number.isdecimal() for number in digits)
    types[column] = "integer" if are_whole else "string"
    return [(name, types[name]) for name in names]
