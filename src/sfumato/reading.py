"""Read a file about people as an Arrow table, or say in one line why it cannot be used.

A CSV file is read as text, so that leading zeros survive; Parquet and Arrow files keep their types.
The parser's own messages repeat what a record holds. They are therefore never passed on, and what they
mean is raised outside the ``except`` block, so that no traceback carries them either.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, cast

from sfumato.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

_CSV = (".csv", ".tsv", ".txt", ".data", ".dat")
_PARQUET = (".parquet", ".pq")
_IPC = (".feather", ".arrow", ".ipc")
_SEPARATORS = (",", ";", "\t", "|")
_QUOTES = ('"', "'")
_CHUNK = 1 << 20
_SAMPLE = 1 << 16  # below the longest field that the csv module takes, so that sniffing cannot fail
_BLOCK = 1 << 22  # the longest record that can be read
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ENCODING_REMEDY = 'give its encoding, as encoding = "..." in [data] or as --encoding'


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written.

    Parameters
    ----------
    separator
        The character between two fields.
    encoding
        Python's name of the character encoding.
    quote
        The character around a field that holds a separator or a line break: ``"`` or ``'``.
    """

    separator: str
    encoding: str
    quote: str


@dataclass(frozen=True)
class _Scan:
    """What one pass over the whole text of a file tells: that it decodes, its head and its end."""

    encoding: str
    sample: str
    last: str

    @property
    def truncated(self) -> bool:
        return len(self.sample) == _SAMPLE


def read_arrow(
    path: Path | str,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
) -> pa.Table:
    r"""Read a CSV, Parquet, Feather or Arrow file, chosen by its suffix.

    The columns of a CSV file hold text without surrounding blanks; an empty field is missing. Its
    first line must be the header.

    Parameters
    ----------
    path
        The file. A CSV file may be compressed (``.csv.gz``).
    separator, encoding, quote
        How a CSV file is written, where :func:`sniff` would not find it.

    Returns
    -------
    pyarrow.Table
        At least one column and one record; every column has a name of its own.

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
    _require_file(path)
    file_format = _format(path)
    if file_format == "csv":
        return _read_csv(path, separator, encoding, quote)
    return _checked(path, _read_parquet(path) if file_format == "parquet" else _read_ipc(path))


def sniff(
    path: Path, *, separator: str | None = None, encoding: str | None = None, quote: str | None = None
) -> Dialect:
    r"""Find out how a CSV file is written; what is given is taken as it is.

    Parameters
    ----------
    path
        The file, which may be compressed (``.csv.gz``).
    separator, encoding, quote
        What is known already.

    Returns
    -------
    Dialect
        The separator, among comma, semicolon, tab and bar, that splits the most records into as many
        fields as the header; the encoding that the byte order mark tells, else UTF-8 or Windows-1252,
        whichever decodes the whole file; and the quote.

    Raises
    ------
    DataError
        When the file is empty, is not text, or does not decode.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("name|town\n'Ada'|'Bonn'\n")
    ...     sniff(path)
    Dialect(separator='|', encoding='utf-8', quote="'")
    """
    _require_file(path)
    return _dialect(path, _scan(path, encoding), separator, quote)


def _format(path: Path) -> Literal["csv", "parquet", "ipc"]:
    name = path.name.lower()
    if name.removesuffix(".gz").endswith(_CSV):
        return "csv"
    if name.endswith(_PARQUET):
        return "parquet"
    if name.endswith(_IPC):
        return "ipc"
    supported = " ".join((*_CSV, *_PARQUET, *_IPC))
    raise DataError(
        f"{path.name} has no suffix that tells its format; use {supported}, or .gz after a CSV one"
    )


def _require_file(path: Path) -> None:
    try:
        if path.is_dir():
            raise DataError(f"{path.name or path} is a folder; give a file inside it")
        path.open("rb").close()
    except FileNotFoundError:
        raise DataError(f"{path.name} does not exist; check the path") from None
    except PermissionError:
        raise DataError(f"{path.name} may not be read; ask for permission to read it") from None
    except OSError as error:
        raise DataError(f"{path.name} cannot be opened: {error.strerror}; check the path") from None


# What a text file tells about itself


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with cast(BinaryIO, gzip.open(path, "rb") if _is_gzip(path) else path.open("rb")) as stream:
        try:
            yield stream
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise DataError(f"{path.name} is not a whole gzip file; compress it again") from None


def _is_gzip(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _scan(path: Path, encoding: str | None) -> _Scan:
    if encoding is not None:
        scan = _scan_as(path, _known_encoding(path, encoding))
        trouble = f"{path.name} is not written in {encoding!r}; {_ENCODING_REMEDY}"
    else:
        scans = (_scan_as(path, guess, is_guess=True) for guess in _guesses(path))
        scan = next((scan for scan in scans if scan is not None), None)
        trouble = f"{path.name} is written in an encoding that cannot be told; {_ENCODING_REMEDY}"
    if scan is None:
        raise DataError(trouble)
    if not scan.last:
        raise DataError(f"{path.name} is empty; give a file with a header and records")
    return scan


def _known_encoding(path: Path, encoding: str) -> str:
    try:
        "a".encode(encoding)  # unlike codecs.lookup, refuses codecs that are not for text
        return codecs.lookup(encoding).name
    except (LookupError, ValueError):
        raise DataError(
            f"{path.name}: no encoding is called {encoding!r}; give one that Python knows, such as cp1252"
        ) from None


def _guesses(path: Path) -> tuple[str, ...]:
    with _opened(path) as stream:
        head = stream.read(3)
    if head.startswith(codecs.BOM_UTF8):
        return ("utf-8",)
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ("utf-16",)
    return ("utf-8", "cp1252")


def _scan_as(path: Path, encoding: str, *, is_guess: bool = False) -> _Scan | None:
    """Return the scan, or ``None`` when this is not the encoding of the file."""
    sample = last = ""
    try:
        for text in _texts(path, encoding):
            # nearly all bytes decode as Windows-1252: only text without control characters is it
            if is_guess and encoding == "cp1252" and _CONTROL.search(text):
                return None
            if "\0" in text:
                raise DataError(f"{path.name} holds NUL characters; remove them or {_ENCODING_REMEDY}")
            sample = sample or text[:_SAMPLE]
            last = text.rstrip()[-1:] or last
    except UnicodeError:
        return None
    return _Scan(encoding, sample, last)


def _texts(path: Path, encoding: str) -> Iterator[str]:
    with _opened(path) as stream:
        for text in codecs.iterdecode(iter(partial(stream.read, _CHUNK), b""), encoding):
            yield text.removeprefix("\ufeff")  # the byte order mark is no part of the text


# The dialect


def _dialect(path: Path, scan: _Scan, separator: str | None, quote: str | None) -> Dialect:
    if quote is not None and quote not in _QUOTES:
        raise DataError(f"{path.name}: {quote!r} cannot be the quote; give \" or '")
    if separator is not None and not _can_separate(separator):
        raise DataError(f"{path.name}: {separator!r} cannot be the separator; give one ASCII character")
    pairs = [
        (some_separator, some_quote)
        for some_quote in ((quote,) if quote else _likely_quotes(scan.sample))
        for some_separator in ((separator,) if separator else _SEPARATORS)
    ]
    best = max(pairs, key=lambda pair: _consistency(scan, *pair))
    return Dialect(separator=best[0], encoding=scan.encoding, quote=best[1])


def _can_separate(separator: str) -> bool:
    return len(separator) == 1 and separator.isascii() and separator not in "\0\r\n\"'"


def _likely_quotes(sample: str) -> tuple[str, ...]:
    """Return the quotes that are possible, the likelier one first."""
    double, single = (_n_wrapped(sample, quote) for quote in _QUOTES)
    if single <= double:
        return ('"',)
    # a lone 'word' is rather a value in inverted commas than a quoted field
    return ("'", '"') if 2 * single >= sample.strip().count("\n") + 1 else ('"', "'")


def _n_wrapped(sample: str, quote: str) -> int:
    inside = rf"[^{quote}\r\n]*(?:{quote}{quote}[^{quote}\r\n]*)*"
    return len(re.findall(rf"(?:^|[,;\t|]){quote}{inside}{quote}(?=[,;\t|\r]|$)", sample, re.MULTILINE))


def _consistency(scan: _Scan, separator: str, quote: str) -> tuple[float, int]:
    """Return the share of records that are as wide as the header, and that width."""
    records = csv.reader(io.StringIO(scan.sample, newline=""), delimiter=separator, quotechar=quote)
    widths = [len(record) for record in records if any(field.strip() for field in record)]
    if scan.truncated and len(widths) > 1:
        widths.pop()  # the sample may end inside this record
    if not widths or widths[0] == 1:
        return 0.0, 1
    return widths.count(widths[0]) / len(widths), widths[0]


# CSV


def _read_csv(path: Path, separator: str | None, encoding: str | None, quote: str | None) -> pa.Table:
    import pyarrow as pa

    scan = _scan(path, encoding)
    dialect = _dialect(path, scan, separator, quote)
    names = _header(path, scan, dialect)
    stripped = [name.strip() for name in names]
    _check_names(path, stripped)
    table = _parsed(path, dialect, names)
    if table is None:
        raise _unreadable_record(path, dialect, names)
    if table.num_rows == 0:
        raise _no_records(path)
    if _swallows_the_rest(table, scan, dialect):
        raise _open_quote(path)
    return pa.table([_stripped(column) for column in table.columns], names=stripped)


def _header(path: Path, scan: _Scan, dialect: Dialect) -> list[str]:
    """Return the column names as the parser sees them, since types are given by these names."""
    from pyarrow import ArrowException
    from pyarrow import csv as arrow_csv

    try:
        with arrow_csv.open_csv(_input(path), **_options(dialect, [], lambda row: "skip")) as reader:
            return list(reader.schema.names)
    except ArrowException:
        pass
    # the parser refuses a header that no line break follows
    raise _no_records(path) if len(scan.sample.strip().splitlines()) == 1 else _open_quote(path)


def _parsed(path: Path, dialect: Dialect, names: Sequence[str]) -> pa.Table | None:
    """Return the table of raw texts, or ``None`` when some record cannot be read."""
    from pyarrow import ArrowException
    from pyarrow import csv as arrow_csv

    try:
        return arrow_csv.read_csv(_input(path), **_options(dialect, names, _skip_blank, use_threads=True))
    except ArrowException:
        return None


def _input(path: Path) -> Any:
    from pyarrow import input_stream

    return input_stream(str(path), compression="gzip" if _is_gzip(path) else None)


def _options(
    dialect: Dialect,
    names: Sequence[str],
    on_invalid_row: Callable[[Any], str],
    *,
    use_threads: bool = False,
) -> dict[str, Any]:
    from pyarrow import csv as arrow_csv
    from pyarrow import dictionary, int32, string

    text = dictionary(int32(), string())
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
    """Read once more, slowly, as only a single thread knows the number of a row."""
    from pyarrow import ArrowException
    from pyarrow import csv as arrow_csv

    ragged: list[tuple[int, int, int]] = []

    def note(row: Any) -> str:
        verdict = _skip_blank(row)
        if verdict == "error":
            ragged.append((row.number, row.actual_columns, row.expected_columns))
        return verdict

    try:
        with arrow_csv.open_csv(_input(path), **_options(dialect, names, note)) as reader:
            for _ in reader:
                pass
    except ArrowException:
        pass
    if not ragged:
        return _open_quote(path)
    number, width, expected = ragged[0]
    return DataError(
        f"{path.name}: row {number} has {width} {'field' if width == 1 else 'fields'} "
        f"where the header has {expected}; mend the row or give the right separator"
    )


def _swallows_the_rest(table: pa.Table, scan: _Scan, dialect: Dialect) -> bool:
    """Whether the last field is quoted to the end of the file because its quote is never closed.

    The parser takes the end of the file for the end of the field, and the records inside would be lost.
    """
    last = table.column(table.num_columns - 1)[-1].as_py()
    return scan.last != dialect.quote and ("\n" in last or "\r" in last)


def _stripped(column: pa.ChunkedArray) -> pa.DictionaryArray:
    import pyarrow as pa
    from pyarrow import compute

    encoded = column.combine_chunks()
    texts = compute.utf8_trim_whitespace(encoded.dictionary)
    texts = compute.if_else(compute.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    if texts.equals(encoded.dictionary):
        return encoded
    # texts that differed only in blanks are now equal, so they need one code
    merged = texts.dictionary_encode()
    return pa.DictionaryArray.from_arrays(merged.indices.take(encoded.indices), merged.dictionary)


# Parquet, Feather and Arrow


def _read_parquet(path: Path) -> pa.Table | None:
    import pyarrow as pa
    from pyarrow import parquet

    try:
        # read_table would take folder names such as "year=2024" for further columns
        with parquet.ParquetFile(path) as file:
            return _validated(file.read())
    except (pa.ArrowException, OSError, UnicodeError):
        return None


def _read_ipc(path: Path) -> pa.Table | None:
    import pyarrow as pa

    try:
        with pa.OSFile(str(path)) as source:
            is_file_format = source.read(6) == b"ARROW1"
            source.seek(0)
            return _validated((pa.ipc.open_file if is_file_format else pa.ipc.open_stream)(source).read_all())
    except (pa.ArrowException, OSError, UnicodeError):
        return None


def _validated(table: pa.Table) -> pa.Table:
    table.validate(full=True)
    "".join(table.column_names)  # the names are decoded only when they are asked for
    return table


def _checked(path: Path, table: pa.Table | None) -> pa.Table:
    from pyarrow.types import is_nested

    if table is None:
        raise DataError(f"{path.name} is damaged or not what its suffix says; write the file again")
    if table.num_columns == 0:
        raise DataError(f"{path.name} has no columns; give a file with columns and records")
    _check_names(path, table.column_names)
    nested = [field.name for field in table.schema if is_nested(field.type)]
    if nested:
        listed = ", ".join(map(repr, nested))
        raise DataError(f"{path.name} has nested values in column {listed}; flatten them into plain columns")
    if table.num_rows == 0:
        raise _no_records(path)
    return table


# Refusals that CSV and the other formats share


def _check_names(path: Path, names: Sequence[str]) -> None:
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"{path.name}: column {position} has no name; name it or remove the column")
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        listed = ", ".join(map(repr, repeated))
        raise DataError(f"{path.name} has more than one column named {listed}; give each column its own name")


def _no_records(path: Path) -> DataError:
    return DataError(f"{path.name} has a header but no records; give a file with records")


def _open_quote(path: Path) -> DataError:
    return DataError(
        f"{path.name} has a quote that is opened and never closed, or a record longer than 4 MiB; "
        "close the quote or give the right quote character"
    )
