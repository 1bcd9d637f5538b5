"""Detect the separator, encoding and quote character of a CSV file from its contents."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from sfumato.reading.mixed_writing import mixed_lines, report
from sfumato.runtime.errors import DataError
from sfumato.runtime.files import why_unreadable

_SEPARATORS = (",", ";", "\t", "|")
_QUOTES = ('"', "'")
_CHUNK = 1 << 20
_SAMPLE = 1 << 16  # below the longest field that the csv module takes, so that sniffing cannot fail
_MOST_GROWTH, _SMALL = 200, 1 << 28
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LAST_GUESS = "cp1252"
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


class StatedDialect(NamedTuple):
    """How somebody says that a CSV file is written; ``None`` for what is to be detected."""

    separator: str | None = None
    encoding: str | None = None
    quote: str | None = None


UNSTATED = StatedDialect()


def sniff(
    path: Path, *, separator: str | None = None, encoding: str | None = None, quote: str | None = None
) -> Dialect:
    r"""Detect how a CSV file is written; settings that are given are not questioned.

    Parameters
    ----------
    path
        The file, which may be compressed (``.csv.gz``).
    separator, encoding, quote
        Settings that are known already.

    Returns
    -------
    Dialect
        The separator, among comma, semicolon, tab and bar, that splits the most records into as many
        fields as the header; the encoding of the byte order mark, else UTF-8 or Windows-1252, whichever
        decodes the whole file; and the quote.

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
    require_file(path)
    return dialect_of(path, scanned(path, encoding), separator, quote)


# Encoding


@dataclass(frozen=True)
class Scan:
    """What one pass over the whole text of a file shows: that it decodes, its head and its end."""

    encoding: str
    sample: str
    last: str

    @property
    def truncated(self) -> bool:
        """Whether the sample is only the head of the text."""
        return len(self.sample) == _SAMPLE


def scanned(path: Path, encoding: str | None) -> Scan:
    """Read the whole file as text in the given encoding, else in the first candidate that decodes it."""
    if encoding is not None:
        scan = _scan_as(path, _known_encoding(path, encoding))
        trouble = f"{path.name} is not written in {encoding!r}; {_ENCODING_REMEDY}"
    else:
        scans = (_scan_as(path, guess, is_guess=True) for guess in _guesses(path))
        scan = next((scan for scan in scans if scan is not None), None)
        mixed = None
        if scan is None or scan.encoding == _LAST_GUESS:
            with _opened(path) as stream:
                mixed = mixed_lines(stream)
        detail = "" if mixed is None else f": {mixed}"
        trouble = f"{path.name} is written in an encoding that cannot be told{detail}; {_ENCODING_REMEDY}"
        if mixed is not None and scan is not None:
            report(
                f"{path.name} is written in more than one encoding: {mixed}; all was read as "
                f"{_LAST_GUESS}, so that letters in the lines in UTF-8 are wrong; write it in one encoding"
            )
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
    return ("utf-8", _LAST_GUESS)


def _scan_as(path: Path, encoding: str, *, is_guess: bool = False) -> Scan | None:
    """Return the scan, or ``None`` when this is not the encoding of the file."""
    sample = last = ""
    decoder = codecs.getincrementaldecoder(encoding)()
    n_left, chunk = most_unpacked(path), b"\n"
    try:
        with _opened(path) as stream:
            while chunk:
                chunk = stream.read(_CHUNK)
                n_left -= len(chunk)
                if n_left < 0:
                    raise bomb(path)
                # the byte order mark is no part of the text
                text = decoder.decode(chunk, final=not chunk).removeprefix("\ufeff")
                # nearly all bytes decode as Windows-1252: only text without control characters is it
                if is_guess and encoding == _LAST_GUESS and _CONTROL.search(text):
                    return None
                if "\0" in text:
                    raise DataError(f"{path.name} holds NUL characters; remove them or {_ENCODING_REMEDY}")
                sample = sample or text[:_SAMPLE]
                last = text.rstrip()[-1:] or last
    except UnicodeError:
        return None
    return Scan(encoding, sample, last)


def most_unpacked(path: Path) -> int:
    """Return the size up to which a compressed file may grow before it counts as a decompression bomb."""
    return _MOST_GROWTH * path.stat().st_size + _SMALL


def bomb(path: Path) -> DataError:
    """Refuse a file that grows too much."""
    return DataError(
        f"{path.name} would unpack to more than {_MOST_GROWTH} times its size, as files made to exhaust a "
        "machine do; if you trust it, unpack it and give what comes out"
    )


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with cast(BinaryIO, gzip.open(path, "rb") if is_gzip(path) else path.open("rb")) as stream:
        try:
            yield stream
        except (EOFError, zlib.error, gzip.BadGzipFile):
            raise DataError(f"{path.name} is not a whole gzip file; compress it again") from None
        except OSError as error:
            raise DataError(f"{path.name} cannot be read: {error.strerror}; copy it again") from None


def is_gzip(path: Path) -> bool:
    """Whether the name says that the file is compressed."""
    return path.suffix.lower() == ".gz"


def require_file(path: Path) -> None:
    """Refuse anything that is not a readable plain file."""
    trouble = why_unreadable(path)
    if trouble:
        raise DataError(f"{path.name or path} {trouble}")


# Separator and quote


def dialect_of(path: Path, scan: Scan, separator: str | None, quote: str | None) -> Dialect:
    """Choose the separator and the quote that suit the scanned text best, unless they are given."""
    if quote is not None and quote not in _QUOTES:
        raise DataError(f"{path.name}: {quote!r} cannot be the quote; give \" or '")
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in "\0\r\n\"'"):
        raise DataError(f"{path.name}: {separator!r} cannot be the separator; give one ASCII character")
    pairs = [
        (some_separator, some_quote)
        for some_quote in ((quote,) if quote else _likely_quotes(scan.sample))
        for some_separator in ((separator,) if separator else _SEPARATORS)
    ]
    best = max(pairs, key=lambda pair: _consistency(scan, *pair))
    return Dialect(separator=best[0], encoding=scan.encoding, quote=best[1])


def _likely_quotes(sample: str) -> tuple[str, ...]:
    """Return the possible quotes, the likelier one first."""
    double, single = (
        len(re.findall(_WRAPPED.replace("Q", quote), sample, re.MULTILINE)) for quote in _QUOTES
    )
    if single <= double:
        return ('"',)
    # a lone 'word' is rather a value in inverted commas than a quoted field
    return ("'", '"') if 2 * single >= sample.strip().count("\n") + 1 else ('"', "'")


_WRAPPED = r"(?:^|[,;\t|])Q[^Q\r\n]*(?:QQ[^Q\r\n]*)*Q(?=[,;\t|\r]|$)"
"""A field wrapped in the quote Q."""


def _consistency(scan: Scan, separator: str, quote: str) -> tuple[float, int]:
    """Return the share of records that are as wide as the header, and the header's width."""
    records = csv.reader(io.StringIO(scan.sample, newline=""), delimiter=separator, quotechar=quote)
    widths = [len(record) for record in records if any(field.strip() for field in record)]
    if scan.truncated and len(widths) > 1:
        widths.pop()  # the sample may end inside this record
    if not widths or widths[0] == 1:
        return 0.0, 1
    return widths.count(widths[0]) / len(widths), widths[0]
