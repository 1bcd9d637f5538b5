"""Read Feather and Arrow files, and an Arrow stream on standard input; write Feather files."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sfumato.reading.base import Format, check_columns, damaged, too_large
from sfumato.reading.dialect import bomb, most_unpacked
from sfumato.reading.sources import plain_batches, plain_types, validated
from sfumato.registry.methods import register
from sfumato.runtime.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa


def read_ipc(path: Path) -> pa.Table:
    """Read a file of Arrow's IPC format, of either of its two layouts."""
    import pyarrow as pa

    try:
        with pa.OSFile(str(path)) as source:
            is_file_format = source.read(6) == b"ARROW1"
            source.seek(0)
            reader = (pa.ipc.open_file if is_file_format else pa.ipc.open_stream)(source)
            stream = map(reader.get_batch, range(reader.num_record_batches)) if is_file_format else reader
            n_left, batches = most_unpacked(path), []
            # one by one, so that a file that grows too much is noticed early
            for batch in stream:
                # what is damaged must not be counted: Arrow would look beyond its end
                batch.validate(full=True)
                n_left -= batch.nbytes
                if n_left < 0:
                    raise bomb(path)
                batches.append(batch)
            return validated(pa.Table.from_batches(batches, reader.schema))
    except (MemoryError, pa.ArrowCapacityError):
        refusal = too_large(path)
    except (pa.ArrowException, OSError, UnicodeError):
        refusal = damaged(path)
    # raised out here: what Arrow says may show a value
    raise refusal


@dataclass(frozen=True)
class ArrowOnInput:
    """An Arrow stream on standard input, read once and kept until the program ends."""

    label = "standard input"
    files: ClassVar[tuple[Path, ...]] = ()
    parquet: ClassVar[tuple[Path, ...]] = ()

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return plain_types(_on_input().schema)

    def read(self) -> pa.Table:
        """Return all records."""
        return _on_input()

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns."""
        return plain_batches(_on_input(), names)


@cache
def _on_input() -> pa.Table:
    import pyarrow as pa

    if sys.stdin.isatty():
        raise DataError("standard input is a terminal; pipe an Arrow stream into it")
    try:
        with pa.ipc.open_stream(sys.stdin.buffer) as reader:
            table = reader.read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, UnicodeError):
        table = None
    if table is None:
        raise DataError(
            "standard input is no Arrow stream, or ends too early; write one with Arrow's IPC format"
        )
    check_columns(Path("standard input"), table.schema)
    if table.num_rows == 0:
        raise DataError("standard input has no records; write some into the stream")
    return table


def write_feather(table: pa.Table, place: Path) -> None:
    """Write a Feather file, without dictionaries."""
    import pyarrow as pa
    import pyarrow.feather as feather

    # readers of Feather expect plain columns, not dictionaries
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    feather.write_feather(table.cast(pa.schema(fields)), str(place))


ARROW = register(Format("arrow", (".feather", ".arrow", ".ipc"), read_ipc, write_feather, reads_safely=True))
