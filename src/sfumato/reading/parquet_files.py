"""Read and write Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.reading.base import Format, check_columns, damaged, too_large, with_records
from sfumato.reading.dialect import StatedDialect, bomb, most_unpacked, require_file
from sfumato.reading.sources import (
    ROWS_AT_ONCE,
    concatenated,
    label_of,
    plain_types,
    require_same_columns,
    validated,
)
from sfumato.registry.methods import register

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

OPTIONS: Mapping[str, Any] = {"compression": "zstd", "store_schema": False}
"""How Parquet is written: without Arrow's own schema a dictionary is read as what it holds."""
_MOST_TEXT = 1 << 30
_ENCODED_AT_ONCE, _BYTES_AT_ONCE = 1 << 19, 1 << 28
"""Of records with texts as dictionaries so many are read at once, and fewer where they are long."""


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files with the same columns and types.

    Names of folders such as ``year=2024`` do not become columns.
    """

    files: tuple[Path, ...]

    @property
    def label(self) -> str:
        """The name of the source in messages."""
        return label_of(self.files)

    @property
    def parquet(self) -> tuple[Path, ...]:
        """The files."""
        return self.files

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns and their types; dictionary-encoded text counts as plain text."""
        first = _parquet_schema(self.files[0])
        for path in self.files[1:]:
            require_same_columns(self.files[0], first, path, _parquet_schema(path))
        return first

    def read(self) -> pa.Table:
        """Return all records; if there are several files, as a cluster writes them, some may be empty."""
        return self._read(PARQUET.records)

    def read_encoded(self, names: Sequence[str] | None = None) -> pa.Table:
        """Return all records with these columns, texts as dictionaries, ready to be numbered."""
        return self._read(lambda path: read_encoded(path, names))

    @cached_property
    def n_records(self) -> int:
        """How many records the files declare."""
        _ = self.schema
        return sum(map(_n_parquet, self.files))

    def _read(self, read_one: Callable[[Path], pa.Table]) -> pa.Table:
        if len(self.files) == 1:
            return read_one(self.files[0])
        _ = self.schema
        files = [path for path in self.files if _n_parquet(path)] or self.files[:1]
        return concatenated([read_one(path) for path in files])

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns."""
        import pyarrow as pa

        return self._batches(names, pa.schema([self.schema.field(name) for name in names]))

    def encoded_batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns, texts as dictionaries; each batch has its own."""
        return self._batches(names, None)

    def _batches(self, names: Sequence[str], wanted: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns, cast to a schema; without one, texts as dictionaries."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns, n_at_once = list(names), ROWS_AT_ONCE
        for path in self.files:
            try:
                with pq.ParquetFile(path, read_dictionary=columns if wanted is None else None) as file:
                    if wanted is None:
                        n_bytes = max(_declared_bytes(file.metadata), 1)
                        n_fitting = _BYTES_AT_ONCE * file.metadata.num_rows // n_bytes
                        n_at_once = max(1, min(_ENCODED_AT_ONCE, n_fitting))
                    for batch in file.iter_batches(n_at_once, columns=columns):
                        if wanted is None:
                            batch.validate(full=True)
                            yield batch.select(columns)
                        else:
                            yield from (
                                pa.Table.from_batches([batch]).select(columns).cast(wanted).to_batches()
                            )
                is_whole = True
            except (pa.ArrowException, OSError, UnicodeError, KeyError):
                is_whole = False
            # raised out here: what Arrow says may show a value
            if not is_whole:
                raise damaged(path)


def _declared_bytes(metadata: pq.FileMetaData) -> int:
    """Return the unpacked size that a file declares."""
    return sum(metadata.row_group(place).total_byte_size for place in range(metadata.num_row_groups))


def _parquet_schema(path: Path) -> pa.Schema:
    import pyarrow as pa
    import pyarrow.parquet as pq

    require_file(path)
    try:
        schema = plain_types(pq.read_schema(path))
        "".join(schema.names)
    except (pa.ArrowException, OSError, UnicodeError):
        schema = None
    if schema is None:
        raise damaged(path)
    check_columns(path, schema)
    return schema


def _n_parquet(path: Path) -> int:
    """Return the number of records of a file whose columns are readable."""
    import pyarrow.parquet as pq

    return int(pq.read_metadata(path).num_rows)


def read_encoded(path: Path, names: Sequence[str] | None = None) -> pa.Table:
    """Read a file with dictionary-encoded texts, which save memory.

    Parameters
    ----------
    path
        The file.
    names
        The columns; by default all.
    """
    require_file(path)
    return with_records(path, _read(path, encoded=True, names=names))


def _read(path: Path, *, encoded: bool = False, names: Sequence[str] | None = None) -> pa.Table:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # read_table would take folder names such as "year=2024" for further columns
        with parquet.ParquetFile(path) as file:
            # each cell takes at least a code, whatever the file declares
            n_cells = file.metadata.num_rows * file.metadata.num_columns
            is_bomb = max(4 * n_cells, _declared_bytes(file.metadata)) > most_unpacked(path)
            texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
        if not is_bomb:
            # a long text that many records share is then held once
            with parquet.ParquetFile(path, read_dictionary=texts) as file:
                table = validated(file.read(columns=None if names is None else list(names)))
            return table if encoded else _written_out(table, texts)
        refusal = bomb(path)
    except (MemoryError, pa.ArrowCapacityError):
        refusal = too_large(path)
    except (pa.ArrowException, OSError, UnicodeError):
        refusal = damaged(path)
    # raised out here: what Arrow says may show a value
    raise refusal


def _written_out(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Give text columns the type that they have in the file, unless Arrow cannot hold them that way."""
    from pyarrow import string

    for name in names:
        place = table.schema.get_field_index(name)
        if place >= 0 and sum(map(_n_bytes, table.column(place).chunks)) < _MOST_TEXT:
            field = table.schema.field(place)
            table = table.set_column(place, field.with_type(string()), table.column(place).cast(string()))
    return table


def _n_bytes(texts: pa.DictionaryArray) -> int:
    from pyarrow import compute

    lengths = compute.cast(compute.binary_length(texts.dictionary), "int64")
    return compute.sum(lengths.take(texts.indices)).as_py() or 0


def write_parquet(table: pa.Table, place: Path) -> None:
    """Write a table as one file."""
    import pyarrow.parquet as pq

    pq.write_table(table, place, **OPTIONS)


def _source(files: tuple[Path, ...], _: StatedDialect) -> ParquetFiles:
    return ParquetFiles(files)


PARQUET = register(
    Format("parquet", (".parquet", ".pq"), _read, write_parquet, source=_source, reads_safely=True)
)
