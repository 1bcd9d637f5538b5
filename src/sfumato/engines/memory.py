"""Memory: the engine that reads all records at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sfumato.reading.sources import ParquetFiles, Source
from sfumato.schema import Schema
from sfumato.table import Table, counted

if TYPE_CHECKING:
    from sfumato.applying.recoding import Recoding


@dataclass(frozen=True)
class MemoryEngine:
    """Read all records at once; what does not fit into memory cannot be read."""

    def reduce(
        self, source: Source, schema: Schema | None = None, *, missing_values: Iterable[str] = ()
    ) -> Table:
        """Return the distinct rows of a source; see `Engine.reduce`."""
        records = ParquetFiles(source.parquet).read_encoded() if source.parquet else source.read()
        names = records.column_names if schema is None else schema.needed(records.column_names)
        return counted(records.select(names), missing_values=missing_values)

    def apply(self, source: Source, recoding: Recoding, *, missing_values: Iterable[str] = ()) -> Table:
        """Return rows in which values that are released alike are one value; see `Engine.apply`."""
        import pyarrow as pa

        from sfumato.applying.learned import released_alike

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


ENGINE = MemoryEngine()
