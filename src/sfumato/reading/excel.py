"""Read the one non-empty sheet of an Excel workbook as text, as a CSV file is read."""

from __future__ import annotations

import datetime
import re
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from sfumato.data.table import text
from sfumato.reading.base import Format
from sfumato.reading.dialect import bomb, most_unpacked
from sfumato.reading.worksheets import Sheets, sheets_of
from sfumato.registry.methods import register
from sfumato.runtime.errors import DataError
from sfumato.runtime.processes import read_in_child

if TYPE_CHECKING:
    import pyarrow as pa

_PACKED = (".xlsx", ".xlsm", ".ods")
"""Suffixes whose sheets are measured before they are read; a file ``.XLSX`` may hold any format."""
_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]*)([0-9]+)["']""")
_ROW, _NEXT = re.compile(rb"<(?:\w+:)?row\b"), re.compile(rb"<(?:\w+:)?c\b")
_CELL = 32  # bytes that an empty cell takes
_CHUNK = 1 << 20


def read_excel(path: Path) -> pa.Table:
    """Read the one sheet that is not empty.

    Numbers become the text that the sheet means (``31``, not ``31.0``), dates ISO dates, truth values
    ``true`` and ``false``; an empty cell is missing. The first row that is not empty must be the header.

    Raises
    ------
    DataError
        When the file cannot be used. The message never shows what a cell holds.
    """
    import pyarrow as pa

    sheets = [rows for rows in _sheets(path) if rows]
    if not sheets:
        raise DataError(f"{path.name} is empty; the first row must name the columns")
    if len(sheets) > 1:
        raise DataError(
            f"{path.name} has {len(sheets)} sheets that are not empty; keep the one with the records, or "
            "save that one as CSV"
        )
    header, *records = sheets[0]
    if not records:
        raise DataError(f"{path.name} has a header and no records")
    width = max(place + 1 for place, cell in enumerate(header) if cell != "")
    if any(cell != "" for row in records for cell in row[width:]):
        raise DataError(f"{path.name} has cells beyond the columns that the first row names; name them there")
    names = [(_written(cell) or "").strip() for cell in header[:width]]
    columns = zip(*(row[:width] for row in records), strict=True)
    arrays = [pa.array([_written(cell) for cell in column], pa.string()) for column in columns]
    return pa.Table.from_arrays(arrays, names)


def _sheets(path: Path) -> Sheets:
    """Return the rows of every sheet, without those that are empty."""
    if path.suffix in _PACKED:
        _refuse_bomb(path)
        sheets = sheets_of(path) if _is_well_formed(path) else None
    else:
        sheets = read_in_child(sheets_of, path, most_unpacked(path))
    if sheets is None:
        raise DataError(
            f"{path.name} is not a workbook that can be read, or has a password; save it again as .xlsx"
        )
    return [[row for row in rows if any(cell != "" for cell in row)] for rows in sheets]


def _refuse_bomb(path: Path) -> None:
    """Raise `DataError` if a workbook would take far more memory than its size suggests."""
    if not zipfile.is_zipfile(path):
        return
    most = most_unpacked(path)
    try:
        with zipfile.ZipFile(path) as packed:
            is_bomb = sum(entry.file_size for entry in packed.infolist()) > most
            extents = [] if is_bomb else [_extent(packed, entry) for entry in packed.infolist()]
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, NotImplementedError, RuntimeError):
        return  # what reads workbooks will refuse it
    if is_bomb:
        raise bomb(path)
    for n_rows, n_columns in extents:
        if _CELL * n_rows * n_columns > most:
            raise DataError(
                f"{path.name} has a sheet of {n_rows} rows and {n_columns} columns, nearly all of it empty; "
                "remove what is outside the records, or save the sheet as CSV"
            )


def _is_well_formed(path: Path) -> bool:
    """Whether the parts of an .ods file are XML; a reader may loop forever on one that is not."""
    if path.suffix.lower() != ".ods" or not zipfile.is_zipfile(path):
        return True
    try:
        with zipfile.ZipFile(path) as packed:
            for entry in packed.infolist():
                if entry.filename.endswith(".xml"):
                    with packed.open(entry) as stream:
                        expat.ParserCreate().ParseFile(stream)
    except (expat.ExpatError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return False
    return True


def _extent(packed: zipfile.ZipFile, entry: zipfile.ZipInfo) -> tuple[int, int]:
    """Return the last row and column that a member mentions: a sheet takes memory up to there."""
    n_rows = n_columns = 0
    for tags in _tags(packed, entry):
        places = set(_PLACE.findall(tags))
        n_rows = max((n_rows, *(int(row[:12]) for row in {row for _, row in places})))
        # a cell that does not say where it is follows the one before it
        following = (len(_NEXT.findall(row)) for row in _ROW.split(tags))
        named = (_column(letters[:12]) for letters in {letters for letters, _ in places})
        n_columns = max((n_columns, *following, *named))
    return n_rows, n_columns


def _tags(packed: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the text of a member in pieces that end where a tag does."""
    rest = b""
    with packed.open(entry) as stream:
        while chunk := stream.read(_CHUNK):
            tags, end, rest = (rest + chunk).rpartition(b">")
            yield tags + end
    yield rest


def _column(letters: bytes) -> int:
    """Return which column A, Z or AA is, counted from one."""
    place = 0
    for letter in letters.upper():
        place = 26 * place + letter - ord("A") + 1
    return place


def _written(cell: Any) -> str | None:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, (int, float)):
        return text(cell)
    if isinstance(cell, datetime.datetime):
        is_day = cell.time() == datetime.time()
        return cell.date().isoformat() if is_day else cell.isoformat(sep=" ", timespec="seconds")
    return str(cell).strip() or None


EXCEL = register(Format("excel", (*_PACKED, ".xls"), read_excel, reads_safely=True))
