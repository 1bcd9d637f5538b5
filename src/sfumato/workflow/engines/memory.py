"""The engine that reads all records into memory at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table, counted, counted_by_column
from sfumato.reading.base import Source
from sfumato.reading.parquet_files import ParquetFiles
from sfumato.runtime.arrays import Integers
from sfumato.workflow.engines.capacity import require_room, require_room_for_rows
from sfumato.workflow.engines.parquet_codes import NumberedRows
from sfumato.workflow.engines.plain_values import is_plain

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.results.recoding import Recoding


_MANY = 1 << 22
"""Of so many records in Parquet files each column is read alone; files are then opened once for each."""
_OF_ONE_ROW = 2
"""Where so many records of the first batch share a row, rows are put together batch by batch."""
_BYTES_OF_CODE, _BYTES_OF_RECORD = 4, 40
"""What a cell takes when it was read, and a record while its columns are read and rows are compared."""


@dataclass(frozen=True)
class MemoryEngine:
    """Read all records at once, and refuse a source that does not fit into memory."""

    def reduce(
        self, source: Source, schema: Schema | None = None, *, missing_values: Iterable[str] = ()
    ) -> Table:
        """Return the distinct rows of a source; see `Engine.reduce`."""
        require_room(source.label, _bytes_to_read(source, schema))
        table = _count_rows(source, schema, missing_values)
        require_room_for_rows(source.label, table, schema)
        return table

    def apply(self, source: Source, recoding: Recoding, *, missing_values: Iterable[str] = ()) -> Table:
        """Return the distinct rows after merging values that are released alike; see `Engine.apply`."""
        import pyarrow as pa

        from sfumato.results.learned_recoding import released_alike

        spellings = tuple(missing_values)
        records = source.read()
        records = records.select(recoding.schema.needed(records.column_names))
        for name in recoding.schema.quasi_identifiers:
            encoded = pa.chunked_array([records.column(name).combine_chunks().dictionary_encode("encode")])
            values = encoded.chunk(0).dictionary
            first = released_alike(recoding, name, pa.chunked_array([values]), spellings)
            coarser = values.take(pa.array(first[encoded.chunk(0).indices.to_numpy()]))
            records = records.set_column(records.column_names.index(name), name, coarser)
        return counted(records, missing_values=spellings)


def _bytes_to_read(source: Source, schema: Schema | None) -> int:
    """Return a lower bound of the memory for reading; a text counts its length if nothing more is known."""
    if not source.parquet:
        return sum(path.stat().st_size for path in source.files if path.is_file())
    files = ParquetFiles(source.parquet)
    names = files.schema.names if schema is None else schema.needed(files.schema.names)
    return files.n_records * (_BYTES_OF_CODE * len(names) + _BYTES_OF_RECORD)


def _count_rows(source: Source, schema: Schema | None, missing_values: Iterable[str]) -> Table:
    if source.parquet:
        return _count_parquet_rows(ParquetFiles(source.parquet), schema, missing_values)
    records = source.read()
    names = records.column_names if schema is None else schema.needed(records.column_names)
    return counted(records.select(names), missing_values=missing_values)


def _count_parquet_rows(files: ParquetFiles, schema: Schema | None, missing_values: Iterable[str]) -> Table:
    names = files.schema.names if schema is None else schema.needed(files.schema.names)
    found = _numbered(files, names)
    if found is not None:
        return counted(*found, missing_values=missing_values)
    if files.n_records > _MANY:
        return counted_by_column(
            names, lambda name: files.read_encoded([name]).column(name), missing_values=missing_values
        )
    return counted(files.read_encoded(names), missing_values=missing_values)


def _numbered(files: ParquetFiles, names: Sequence[str]) -> tuple[pa.Table, Integers] | None:
    """Return rows, merged batch by batch, and their counts; ``None`` if few rows are alike."""
    kinds = [files.schema.field(name).type for name in names]
    if not all(map(is_plain, kinds)):
        return None
    numbered = NumberedRows(files, names, kinds, lambda n_rows, n_records: _OF_ONE_ROW * n_rows <= n_records)
    batches = list(numbered.batches())
    if not numbered.is_whole or not batches:
        return None
    *columns, counts, _ = (np.concatenate(parts) for parts in zip(*batches, strict=True))
    return numbered.table(columns), counts


ENGINE = MemoryEngine()
