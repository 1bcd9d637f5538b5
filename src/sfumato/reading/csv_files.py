"""Read a CSV file as text, so that leading zeros survive, or refuse it in one line that says why.

The parser's own messages repeat record contents, so they are never passed on: a message of ours is raised
outside the ``except`` block, which keeps the parser's message out of the traceback as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from sfumato.reading.base import Format, NoRecords, check_names, no_records, too_large
from sfumato.reading.dialect import (
    UNSTATED,
    Dialect,
    Scan,
    StatedDialect,
    dialect_of,
    is_gzip,
    require_file,
    scanned,
)
from sfumato.reading.mixed_writing import mixed_numbers, report
from sfumato.reading.sources import concatenated, label_of, require_same_names
from sfumato.registry.methods import register
from sfumato.runtime.errors import DataError
from sfumato.runtime.files import write_records

if TYPE_CHECKING:
    import pyarrow as pa

_SUFFIXES = (".csv", ".tsv", ".txt", ".data", ".dat")
_BLOCK = 1 << 22  # the longest record that can be read
_ROW_NAMES = "row"

T = TypeVar("T")


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
    def opened(cls, path: Path, stated: StatedDialect) -> CsvFile:
        """Inspect a file, and refuse one whose header lacks distinct names."""
        require_file(path)
        scan = scanned(path, stated.encoding)
        dialect = dialect_of(path, scan, stated.separator, stated.quote)
        file = cls(path, scan, dialect, _header(path, scan, dialect))
        check_names(path, file.names)
        return file

    @property
    def names(self) -> list[str]:
        """The names of the columns, without blanks around them."""
        first, *rest = [name.strip() for name in self.header]
        # R and pandas write the names or numbers of the rows into an unnamed first column
        has_row_names = not first and rest and _ROW_NAMES not in rest
        return [_ROW_NAMES if has_row_names else first, *rest]

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
            problem = too_large(self.path)
        except (pa.ArrowException, OSError):
            problem = _unreadable_record(self.path, self.dialect, self.header)
        if problem is not None:
            raise problem
        if last is None:
            raise no_records(self.path)
        if _swallows_the_rest(last, self.scan, self.dialect):
            raise _open_quote(self.path)


def read_csv(path: Path, stated: StatedDialect = UNSTATED) -> pa.Table:
    """Read a CSV file as encoded texts without the blanks around them."""
    from pyarrow import ArrowCapacityError, ArrowException
    from pyarrow import csv as arrow_csv

    file = CsvFile.opened(path, stated)
    problem = None
    try:
        options = _options(file.dialect, file.header, _skip_blank, use_threads=True)
        table = arrow_csv.read_csv(_input(path), **options)
    except (MemoryError, ArrowCapacityError):
        problem = too_large(path)
    except (ArrowException, OSError):
        problem = _unreadable_record(path, file.dialect, file.header)
    if problem is not None:
        raise problem
    if table.num_rows == 0:
        raise no_records(path)
    last = table.column(table.num_columns - 1)[-1].as_py()
    if _swallows_the_rest(last, file.scan, file.dialect):
        raise _open_quote(path)
    stripped = without_blanks(path, table.rename_columns(file.names))
    # each column that `without_blanks` makes has one chunk
    for words in mixed_numbers({name: stripped.column(name).chunk(0) for name in file.names}):
        report(f"{path.name}: {words}")
    return stripped


def without_blanks(path: Path, table: pa.Table) -> pa.Table:
    """Return encoded texts without the blanks around them; an empty one is missing."""
    import pyarrow as pa

    columns = zip(table.column_names, table.columns, strict=True)
    return pa.table([_stripped(path, name, column) for name, column in columns], names=table.column_names)


def _header(path: Path, scan: Scan, dialect: Dialect) -> tuple[str, ...]:
    """Return the column names as the parser sees them, since types are given by these names."""
    from pyarrow import ArrowException, BufferReader
    from pyarrow import csv as arrow_csv

    try:
        with _input(path) as file:
            # two blocks are enough to parse the header without reading ahead
            head = BufferReader(file.read(2 * _BLOCK))
        with arrow_csv.open_csv(head, **_options(dialect, [], lambda row: "skip")) as reader:
            return tuple(reader.schema.names)
    except MemoryError:
        raise too_large(path) from None
    except ArrowException:
        pass
    except OSError:
        # Python's own reader forgives what may follow the end of a compressed file, and Arrow's does not
        raise DataError(f"{path.name} is not a whole gzip file; compress it again") from None
    # the parser refuses a header that no line break follows
    raise no_records(path) if len(scan.sample.strip().splitlines()) == 1 else _open_quote(path)


def _input(path: Path) -> Any:
    from pyarrow import input_stream

    return input_stream(str(path), compression="gzip" if is_gzip(path) else None)


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


def _open_quote(path: Path) -> DataError:
    return DataError(
        f"{path.name} has a quote that is opened and never closed, or a record longer than 4 MiB; "
        "close the quote or give the right quote character"
    )


def _swallows_the_rest(last: str, scan: Scan, dialect: Dialect) -> bool:
    """Whether the last field is quoted to the end of the file because its quote is never closed.

    The parser ends the field at the end of the file, and the records inside would be lost.
    """
    return scan.last != dialect.quote and ("\n" in last or "\r" in last)


def _stripped(path: Path, name: str, column: pa.ChunkedArray) -> pa.DictionaryArray:
    import pyarrow as pa

    try:
        encoded = column.combine_chunks()
    except (MemoryError, pa.ArrowInvalid, pa.ArrowCapacityError):
        encoded = None
    if encoded is None:
        raise DataError(
            f"{path.name}: column {name!r} holds more than 2 GiB of different texts; leave the column out"
        )
    texts = _trimmed(encoded.dictionary)
    if texts.equals(encoded.dictionary):
        return encoded
    # texts that differed only in blanks are now equal, so they need one code
    merged = texts.dictionary_encode()
    return pa.DictionaryArray.from_arrays(merged.indices.take(encoded.indices), merged.dictionary)


def _trimmed(texts: pa.Array) -> pa.Array:
    """Return texts without the blanks around them; an empty one is missing."""
    import pyarrow as pa
    from pyarrow import compute

    trimmed = compute.utf8_trim_whitespace(texts)
    return compute.if_else(compute.equal(trimmed, ""), pa.scalar(None, pa.string()), trimmed)


@dataclass(frozen=True)
class CsvFiles:
    """CSV files with the same columns, read as text; if there are several, some may have no records."""

    files: tuple[Path, ...]
    stated: StatedDialect = UNSTATED

    parquet: ClassVar[tuple[Path, ...]] = ()

    @property
    def label(self) -> str:
        """The name of the source in messages."""
        return label_of(self.files)

    @cached_property
    def _opened(self) -> tuple[CsvFile, ...]:
        opened = _with_records(lambda path: CsvFile.opened(path, self.stated), self.files)
        for file in opened[1:]:
            require_same_names(opened[0].path, opened[0].names, file.path, file.names)
        return tuple(opened)

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns, all of them text."""
        import pyarrow as pa

        return pa.schema([(name, pa.string()) for name in self._opened[0].names])

    def read(self) -> pa.Table:
        """Return all records."""
        if len(self.files) > 1:
            _ = self._opened
        return concatenated(_with_records(lambda path: read_csv(path, self.stated), self.files))

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the records with these columns, without blanks around texts."""
        import pyarrow as pa

        some, empty = False, None
        for file in self._opened:
            try:
                for batch in file.batches(names):
                    some = True
                    yield pa.record_batch([_trimmed(texts) for texts in batch.columns], names=list(names))
            except NoRecords as error:
                empty = error
        if not some and empty is not None:
            raise empty


def _with_records(read: Callable[[Path], T], files: Sequence[Path]) -> list[T]:
    """Read the files that have records; if none has, raise the error of the last one."""
    contents, empty = [], None
    for path in files:
        try:
            contents.append(read(path))
        except NoRecords as error:
            empty = error
    if not contents and empty is not None:
        raise empty
    return contents


def write_csv(table: pa.Table, place: Path) -> None:
    """Write CSV: comma, UTF-8, quotes only where needed."""
    with place.open("wb") as file:
        write_records(file, table)


CSV = register(
    Format(
        "csv",
        (*_SUFFIXES, *(f"{suffix}.gz" for suffix in _SUFFIXES)),
        read_csv,
        write_csv,
        has_dialect=True,
        source=CsvFiles,
        reads_safely=True,
    )
)
