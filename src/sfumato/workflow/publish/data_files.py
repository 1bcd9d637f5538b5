"""Write the records of a release: as CSV and Parquet in a published folder, or as loose files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from sfumato.reading import parquet_files
from sfumato.reading.base import format_to_write
from sfumato.results.release import Release
from sfumato.runtime.errors import PolicyNotMet
from sfumato.runtime.files import files_beside, write_records
from sfumato.runtime.numerals import number
from sfumato.sanitizers.soundness import unfit_reason
from sfumato.workflow.publish.folder_layout import tables_of

if TYPE_CHECKING:
    import pyarrow as pa

_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


def write_release(release: Release, path: str | Path) -> tuple[Path, ...]:
    """Write a release in the format that the path indicates, each file whole or not at all; return the files.

    A release of two tables becomes two files, ``NAME-quasi-identifiers`` and ``NAME-sensitive``.
    """
    files = release_files(release, Path(path))
    with files_beside([*files]) as places:
        for place, write in zip(places, files.values(), strict=True):
            write(place)
    return tuple(files)


def release_files(release: Release, target: Path) -> dict[Path, Callable[[Path], None]]:
    """Return the files of a release, each with the function that writes it."""
    require_fit(release)
    known = format_to_write(target)
    assert known.write is not None
    tables = tables_of(release, typed=not known.has_dialect)
    return {
        target if len(tables) == 1 else target.with_stem(f"{target.stem}-{name}"): partial(known.write, table)
        for name, table in tables.items()
    }


def require_fit(release: Release) -> None:
    """Refuse a release that its method declares unfit for publishing."""
    reason = None if release.recipe is None else unfit_reason(release.recipe.build())
    if release.recipe is not None and reason is not None:
        raise PolicyNotMet(
            f"{release.recipe.sanitizer} is not fit for publication: {reason}; nothing was written"
        )


def formula_columns(release: Release) -> tuple[str, ...]:
    """Return the columns with texts that a spreadsheet would treat as formulas."""

    def is_formula(label: str | None) -> bool:
        return label is not None and label.startswith(_FORMULA_SIGNS) and number(label) is None

    return tuple(name for name in release.schema.released if any(map(is_formula, release.cells[name].labels)))


def write_tables(release: Release, place: Path) -> Mapping[str, pa.Schema]:
    """Write the tables as CSV and Parquet, in chunks of records; return the types of each table."""
    import pyarrow.parquet as pq

    types: dict[str, pa.Schema] = {}
    texts: dict[str, BinaryIO] = {}
    typed: dict[str, pq.ParquetWriter] = {}
    with ExitStack() as open_files:
        for order in release.orders():
            written = tables_of(release, typed=False, order=order)
            for name, table in written.items():
                is_first = name not in texts
                if is_first:
                    texts[name] = open_files.enter_context((place / f"{name}.csv").open("wb"))
                write_records(texts[name], table, header=is_first)
            is_whole = release.group_of is None
            for name, table in (written if is_whole else tables_of(release, typed=True, order=order)).items():
                if name not in typed:
                    types[name] = _types(release) if is_whole else table.schema
                    parquet = pq.ParquetWriter(
                        place / f"{name}.parquet", types[name], **parquet_files.OPTIONS
                    )
                    typed[name] = open_files.enter_context(parquet)
                typed[name].write_table(_with_types(table, types[name]))
    return types


def _types(release: Release) -> pa.Schema:
    """Return the types of the only table, inferred from all of its records together."""
    import pyarrow as pa

    fields = []
    for name in release.schema.released:
        cells = release.cells[name]
        # one row for each released value is enough to infer the type
        row_of = np.zeros(len(cells.labels), dtype=np.int64)
        row_of[cells.codes] = np.arange(len(cells.codes))
        fields.append((name, cells.to_arrow(row_of[cells.occurring], encoded=True).type))
    has_pseudonyms = release.people is not None and release.schema.pseudonym
    return pa.schema([*fields, (release.person_column, pa.int64())] if has_pseudonyms else fields)


def _with_types(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Give a chunk of records the types of the whole table, so that texts become the numbers they spell."""
    import pyarrow as pa

    def parser(kind: pa.DataType) -> Callable[[str], int | float | str]:
        return int if pa.types.is_integer(kind) else float if pa.types.is_floating(kind) else str

    def cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
        if column.type == kind or not pa.types.is_dictionary(kind):
            return column.cast(kind)
        parse = parser(kind.value_type)
        return pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(
                    chunk.indices,
                    pa.array([parse(text) for text in chunk.dictionary.to_pylist()], kind.value_type),
                )
                for chunk in column.chunks
            ],
            type=kind,
        )

    columns = [cast(column, field.type) for column, field in zip(table.columns, schema, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)
