"""Memory: the engine that reads all records at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sfumato.reading.sources import Source
from sfumato.schema import Schema
from sfumato.table import Table, counted


@dataclass(frozen=True)
class MemoryEngine:
    """Read all records at once; what does not fit into memory cannot be read."""

    def reduce(
        self, source: Source, schema: Schema | None = None, *, missing_values: Iterable[str] = ()
    ) -> Table:
        """Return the distinct rows of a source; see `Engine.reduce`."""
        records = source.read()
        names = records.column_names if schema is None else schema.needed(records.column_names)
        return counted(records.select(names), missing_values=missing_values)


ENGINE = MemoryEngine()
