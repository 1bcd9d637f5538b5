"""Read a CSV, Parquet, Arrow or Excel file as an Arrow table, or refuse it in one line that says why.

A CSV file is read as text, so that leading zeros survive; Parquet and Arrow files keep their types. The
parser's own messages repeat record contents, so they are never passed on: a message of ours is raised outside
the ``except`` block, which keeps the parser's message out of the traceback as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from sfumato.reading import excel, statistics_files
from sfumato.reading.dialect import (
    Dialect,
    Scan,
    bomb,
    dialect_of,
    is_gzip,
    most_unpacked,
    require_file,
    scanned,
    sniff,
)
from sfumato.reading.mixed_writing import mixed_numbers, report
from sfumato.runtime.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Dialect", "read_arrow", "sniff"]

Format = Literal["csv", "parquet", "ipc", "excel", "statistics"]

_CSV = (".csv", ".tsv", ".txt", ".data", ".dat")
_PARQUET = (".parquet", ".pq")
_IPC = (".feather", ".arrow", ".ipc")
_OTHER_SUFFIXES = (*_PARQUET, *_IPC, *excel.SUFFIXES, *statistics_files.SUFFIXES)
SUFFIXES = (*_CSV, *(f"{suffix}.gz" for suffix in _CSV), *_OTHER_SUFFIXES)
"""How the names of files end that can be read."""
_MOST_TEXT = 1 << 30
_BLOCK = 1 << 22  # the longest record that can be read
_ROW_NAMES = "row"


def read_arrow(
    path: Path | str,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
) -> pa.Table:
    r"""Read a CSV, Parquet, Feather, Arrow or Excel file, chosen by its suffix.

    The columns of a CSV file hold text without surrounding blanks; an empty field is missing. Its
    first line must be the header. A workbook may have one non-empty sheet, which is likewise read as text.

    Parameters
    ----------
    path
        The file. A CSV file may be compressed (``.csv.gz``).
    separator, encoding, quote
        How a CSV file is written, if :func:`sniff` would not detect it.

    Returns
    -------
    pyarrow.Table
        At least one column and one record; every column has a distinct name.

    Raises
    ------
    DataError
        When the file cannot be used. The message never shows what a field holds.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("postcode;age\n01307; 31\n")
    ...     table = read_arrow(path)
    >>> table.column("postcode").to_pylist(), table.column("age").to_pylist()
    (['01307'], ['31'])
    """
    path = Path(path)
    require_file(path)
    file_format = format_of(path)
    if file_format == "csv":
        return _read_csv(path, separator, encoding, quote)
    return _checked(path, _READERS[file_format](path))


def read_encoded(path: Path, names: Sequence[str] | None = None) -> pa.Table:
    """Read a Parquet file as `read_arrow` does, but with dictionary-encoded texts, which save memory.

    Parameters
    ----------
    path
        The file.
    names
        The columns; by default all.
    """
    require_file(path)
    return _checked(path, _read_parquet(path, encoded=True, names=names))


def format_of(path: Path) -> Format:
    """Return the format that the suffix of a file indicates."""
    name = path.name.lower()
    if name.removesuffix(".gz").endswith(_CSV):
        return "csv"
    if name.endswith(_PARQUET):
        return "parquet"
    if name.endswith(_IPC):
        return "ipc"
    if name.endswith(excel.SUFFIXES):
        return "excel"
    if name.endswith(statistics_files.SUFFIXES):
        return "statistics"
    supported = " ".join((*_CSV, *_OTHER_SUFFIXES))
    raise DataError(
        f"{path.name} has no suffix that tells its format; use {supported}, or .gz after a CSV one"
    )


# CSV


@dataclass(frozen=True)
class CsvFile:
    """A CSV file whose dialect and header are known, and whose records are not read yet.

    Parameters
    ----------
    path
        The file.
    scan, dialect
        The result of scanning its text, and its dialect.
    header
        The names of its columns as the parser sees them.
    """

    path: Path
    scan: Scan
    dialect: Dialect
    header: tuple[str, ...]

    @classmethod
    def opened(cls, path: Path, separator: str | None, encoding: str | None, quote: str | None) -> CsvFile:
        """Inspect a file, and refuse one whose header lacks distinct names."""
        require_file(path)
        scan = scanned(path, encoding)
        dialect = dialect_of(path, scan, separator, quote)
        file = cls(path, scan, dialect, tuple(_header(path, scan, dialect)))
        _check_names(path, file.names)
        return file

    @property
    def names(self) -> list[str]:
        """The names of the columns, without blanks around them."""
        return _with_row_names([name.strip() for name in self.header])

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the raw texts of these columns in batches, in the order of the file."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        places = [self.names.index(name) for name in names]
        last = None
        try:
            options = _options(self.dialect, self.header, _skip_blank, use_threads=True, is_encoded=False)
            with arrow_csv.open_csv(_input(self.path), **options) as reader:
                for batch in reader:
                    last = batch.column(batch.num_columns - 1)[-1].as_py() if batch.num_rows else last
                    yield pa.record_batch([batch.column(place) for place in places], names=list(names))
            problem = None
        except (MemoryError, pa.ArrowCapacityError):
            problem = _too_large(self.path)
        except (pa.ArrowException, OSError):
            problem = _unreadable_record(self.path, self.dialect, self.header)
        if problem is not None:
            raise problem
        if last is None:
            raise _no_records(self.path)
        if _swallows_the_rest(last, self.scan, self.dialect):
            raise _open_quote(self.path)


def _read_csv(path: Path, separator: str | None, encoding: str | None, quote: str | None) -> pa.Table:
    file = CsvFile.opened(path, separator, encoding, quote)
    table = _parsed(path, file.dialect, file.header)
    if table is None:
        raise _unreadable_record(path, file.dialect, file.header)
    if table.num_rows == 0:
        raise _no_records(path)
    last = table.column(table.num_columns - 1)[-1].as_py()
    if _swallows_the_rest(last, file.scan, file.dialect):
        raise _open_quote(path)
    stripped = without_blanks(path, table.rename_columns(file.names))
    for words in mixed_numbers(
        dict(zip(stripped.column_names, map(_single_chunk, stripped.columns), strict=True))
    ):
        report(f"{path.name}: {words}")
    return stripped


def _single_chunk(column: pa.ChunkedArray) -> pa.DictionaryArray:
    """Return the single chunk of a column that `without_blanks` made."""
    return column.chunk(0)


def without_blanks(path: Path, table: pa.Table) -> pa.Table:
    """Return encoded texts without the blanks around them; an empty one is missing."""
    import pyarrow as pa

    columns = zip(table.column_names, table.columns, strict=True)
    return pa.table([_stripped(path, name, column) for name, column in columns], names=table.column_names)


def _with_row_names(names: list[str]) -> list[str]:
    """Name an unnamed first column, in which R and pandas write the names or numbers of the rows."""
    first, *rest = names
    return [_ROW_NAMES, *rest] if not first and rest and _ROW_NAMES not in rest else names


def _header(path: Path, scan: Scan, dialect: Dialect) -> list[str]:
    """Return the column names as the parser sees them, since types are given by these names."""
    from pyarrow import ArrowException
    from pyarrow import csv as arrow_csv

    try:
        with arrow_csv.open_csv(_head(path), **_options(dialect, [], lambda row: "skip")) as reader:
            return list(reader.schema.names)
    except MemoryError:
        raise _too_large(path) from None
    except ArrowException:
        pass
    except OSError:
        # Python's own reader forgives what may follow the end of a compressed file, and Arrow's does not
        raise DataError(f"{path.name} is not a whole gzip file; compress it again") from None
    # the parser refuses a header that no line break follows
    raise _no_records(path) if len(scan.sample.strip().splitlines()) == 1 else _open_quote(path)


def _parsed(path: Path, dialect: Dialect, names: Sequence[str]) -> pa.Table | None:
    """Return the table of raw texts, or ``None`` when some record cannot be read."""
    from pyarrow import ArrowCapacityError, ArrowException
    from pyarrow import csv as arrow_csv

    try:
        return arrow_csv.read_csv(_input(path), **_options(dialect, names, _skip_blank, use_threads=True))
    except (MemoryError, ArrowCapacityError):
        pass
    except (ArrowException, OSError):
        return None
    raise _too_large(path)


def _input(path: Path) -> Any:
    from pyarrow import input_stream

    return input_stream(str(path), compression="gzip" if is_gzip(path) else None)


def _head(path: Path) -> Any:
    """Return the first two blocks, which are enough to parse the header without reading ahead."""
    from pyarrow import BufferReader

    with _input(path) as file:
        return BufferReader(file.read(2 * _BLOCK))


def _options(
    dialect: Dialect,
    names: Sequence[str],
    on_invalid_row: Callable[[Any], str],
    *,
    use_threads: bool = False,
    is_encoded: bool = True,
) -> dict[str, Any]:
    from pyarrow import csv as arrow_csv
    from pyarrow import dictionary, int32, string

    text = dictionary(int32(), string()) if is_encoded else string()
    return {
        "read_options": arrow_csv.ReadOptions(
            use_threads=use_threads, block_size=_BLOCK, encoding=dialect.encoding
        ),
        "parse_options": arrow_csv.ParseOptions(
            delimiter=dialect.separator,
            quote_char=dialect.quote,
            newlines_in_values=True,
            invalid_row_handler=on_invalid_row,
        ),
        "convert_options": arrow_csv.ConvertOptions(
            column_types=dict.fromkeys(names, text), strings_can_be_null=False
        ),
    }


def _skip_blank(row: Any) -> str:
    return "error" if row.text.strip() else "skip"


def _unreadable_record(path: Path, dialect: Dialect, names: Sequence[str]) -> DataError:
    """Read again in a single thread, which alone knows row numbers, to name the first bad record."""
    require_file(path)
    from pyarrow import ArrowException
    from pyarrow import csv as arrow_csv

    ragged: list[tuple[int, int, int]] = []

    def note(row: Any) -> str:
        verdict = _skip_blank(row)
        if verdict == "error":
            ragged.append((row.number, row.actual_columns, row.expected_columns))
        return verdict

    with suppress(ArrowException, OSError):
        # as a whole: a reader in parts, left in the middle, reads ahead in a thread that would still hold
        # our function when Python ends, and end it by a crash
        arrow_csv.read_csv(_input(path), **_options(dialect, names, note))
    if not ragged:
        return _open_quote(path)
    number, width, expected = ragged[0]
    return DataError(
        f"{path.name}: row {number} has {width} {'field' if width == 1 else 'fields'} "
        f"where the header has {expected}; mend the row or give the right separator"
    )


def _swallows_the_rest(last: str, scan: Scan, dialect: Dialect) -> bool:
    """Whether the last field is quoted to the end of the file because its quote is never closed.

    The parser ends the field at the end of the file, and the records inside would be lost.
    """
    return scan.last != dialect.quote and ("\n" in last or "\r" in last)


def _stripped(path: Path, name: str, column: pa.ChunkedArray) -> pa.DictionaryArray:
    import pyarrow as pa
    from pyarrow import compute

    try:
        encoded = column.combine_chunks()
    except (MemoryError, pa.ArrowInvalid, pa.ArrowCapacityError):
        encoded = None
    if encoded is None:
        raise DataError(
            f"{path.name}: column {name!r} holds more than 2 GiB of different texts; leave the column out"
        )
    texts = compute.utf8_trim_whitespace(encoded.dictionary)
    texts = compute.if_else(compute.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    if texts.equals(encoded.dictionary):
        return encoded
    # texts that differed only in blanks are now equal, so they need one code
    merged = texts.dictionary_encode()
    return pa.DictionaryArray.from_arrays(merged.indices.take(encoded.indices), merged.dictionary)


# Parquet, Feather and Arrow


def _read_parquet(
    path: Path, *, encoded: bool = False, names: Sequence[str] | None = None
) -> pa.Table | None:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # read_table would take folder names such as "year=2024" for further columns
        with parquet.ParquetFile(path) as file:
            is_bomb = _unpacked(file.metadata) > most_unpacked(path)
            texts = [field.name for field in file.schema_arrow if pa.types.is_string(field.type)]
        if not is_bomb:
            # a long text that many records share is then held once
            with parquet.ParquetFile(path, read_dictionary=texts) as file:
                table = _validated(file.read(columns=None if names is None else list(names)))
            return table if encoded else _written_out(table, texts)
    except (MemoryError, pa.ArrowCapacityError):
        pass
    except (pa.ArrowException, OSError, UnicodeError):
        return None
    raise bomb(path) if is_bomb else _too_large(path)


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


def _unpacked(metadata: Any) -> int:
    """Return the size that a Parquet file declares, at least the size of one code for each cell."""
    groups = (metadata.row_group(place) for place in range(metadata.num_row_groups))
    return max(4 * metadata.num_rows * metadata.num_columns, sum(group.total_byte_size for group in groups))


def _read_ipc(path: Path) -> pa.Table | None:
    import pyarrow as pa

    try:
        with pa.OSFile(str(path)) as source:
            is_file_format = source.read(6) == b"ARROW1"
            source.seek(0)
            batches = _batches(path, source, is_file_format=is_file_format)
            return _validated(pa.Table.from_batches(*batches))
    except (MemoryError, pa.ArrowCapacityError):
        pass
    except (pa.ArrowException, OSError, UnicodeError):
        return None
    raise _too_large(path)


def _batches(path: Path, source: Any, *, is_file_format: bool) -> tuple[list[Any], Any]:
    """Return the batches of a file, read one by one so that a file that grows too much is noticed early."""
    import pyarrow as pa

    left = most_unpacked(path)
    reader = (pa.ipc.open_file if is_file_format else pa.ipc.open_stream)(source)
    batches = []
    for batch in map(reader.get_batch, range(reader.num_record_batches)) if is_file_format else reader:
        batch.validate(full=True)  # what is damaged must not be counted: Arrow would look beyond its end
        left -= batch.nbytes
        if left < 0:
            raise bomb(path)
        batches.append(batch)
    return batches, reader.schema


def _validated(table: pa.Table) -> pa.Table:
    table.validate(full=True)
    "".join(table.column_names)  # the names are decoded only when they are asked for
    return table


def _checked(path: Path, table: pa.Table | None) -> pa.Table:
    if table is None:
        raise damaged(path)
    check_columns(path, table.schema)
    if table.num_rows == 0:
        raise _no_records(path)
    return table


def damaged(path: Path) -> DataError:
    """Refuse a file that cannot be read."""
    return DataError(f"{path.name} is damaged or not what its suffix says; write the file again")


def check_columns(path: Path, schema: pa.Schema) -> None:
    """Refuse columns that have no name, share one, or hold lists and the like."""
    from pyarrow.types import is_nested

    if not schema.names:
        raise DataError(f"{path.name} has no columns; give a file with columns and records")
    _check_names(path, schema.names)
    nested = [field.name for field in schema if is_nested(field.type)]
    if nested:
        listed = ", ".join(map(repr, nested))
        raise DataError(f"{path.name} has nested values in column {listed}; flatten them into plain columns")


_READERS: Mapping[str, Callable[[Path], pa.Table | None]] = {
    "parquet": _read_parquet,
    "ipc": _read_ipc,
    "excel": excel.read_excel,
    "statistics": statistics_files.read_statistics,
}

# Refusals that CSV and the other formats share


def _check_names(path: Path, names: Sequence[str]) -> None:
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"{path.name}: column {position} has no name; name it or remove the column")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        listed = ", ".join(map(repr, repeated))
        raise DataError(f"{path.name} has more than one column named {listed}; give each column its own name")


def _too_large(path: Path) -> DataError:
    return DataError(
        f"{path.name} does not fit into the memory of this machine; give fewer records or columns"
    )


class NoRecords(DataError):
    """Raised for a file that has only a header."""


def _no_records(path: Path) -> NoRecords:
    return NoRecords(f"{path.name} has a header but no records; give a file with records")


def _open_quote(path: Path) -> DataError:
    return DataError(
        f"{path.name} has a quote that is opened and never closed, or a record longer than 4 MiB; "
        "close the quote or give the right quote character"
    )
