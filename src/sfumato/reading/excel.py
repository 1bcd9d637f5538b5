"""Excel: the one sheet of a workbook that holds records, as text like that of a CSV file."""

from __future__ import annotations

import datetime
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sfumato.errors import DataError
from sfumato.reading.dialect import bomb, most_unpacked
from sfumato.table import text

if TYPE_CHECKING:
    import pyarrow as pa

SUFFIXES = (".xlsx", ".xlsm", ".xls", ".ods")

Cell = str | int | float | bool | datetime.date | datetime.time | datetime.timedelta


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

    header, *records = _rows(path)
    width = max(place + 1 for place, cell in enumerate(header) if cell != "")
    if any(cell != "" for row in records for cell in row[width:]):
        raise DataError(f"{path.name} has cells beyond the columns that the first row names; name them there")
    names = [(_written(cell) or "").strip() for cell in header[:width]]
    columns = zip(*(row[:width] for row in records), strict=True)
    arrays = [pa.array([_written(cell) for cell in column], pa.string()) for column in columns]
    return pa.Table.from_arrays(arrays, names)


def _rows(path: Path) -> list[list[Cell]]:
    """Return the header and the records, without rows that are empty."""
    sheets = [rows for rows in _sheets(path) if rows]
    if not sheets:
        raise DataError(f"{path.name} is empty; the first row must name the columns")
    if len(sheets) > 1:
        raise DataError(
            f"{path.name} has {len(sheets)} sheets that are not empty; keep the one with the records, or "
            "save that one as CSV"
        )
    if len(sheets[0]) == 1:
        raise DataError(f"{path.name} has a header and no records")
    return sheets[0]


def _sheets(path: Path) -> list[list[list[Cell]]]:
    from python_calamine import CalamineError, CalamineWorkbook

    _refuse_bomb(path)
    try:
        with CalamineWorkbook.from_path(str(path)) as workbook:
            sheets = [workbook.get_sheet_by_name(name).to_python() for name in workbook.sheet_names]
    except (CalamineError, OSError, ValueError, MemoryError):
        sheets = None
    if sheets is None:
        raise DataError(
            f"{path.name} is not a workbook that can be read, or has a password; save it again as .xlsx"
        )
    return [[row for row in rows if any(cell != "" for cell in row)] for rows in sheets]


def _refuse_bomb(path: Path) -> None:
    """Raise `DataError` where a workbook would unpack to far more than its size."""
    if not zipfile.is_zipfile(path):
        return
    try:
        with zipfile.ZipFile(path) as packed:
            size = sum(entry.file_size for entry in packed.infolist())
    except (zipfile.BadZipFile, OSError, NotImplementedError):
        return  # what reads workbooks will refuse it
    if size > most_unpacked(path):
        raise bomb(path)


def _written(cell: Any) -> str | None:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, (int, float)):
        return text(cell)
    if isinstance(cell, datetime.datetime):
        is_day = cell.time() == datetime.time()
        return cell.date().isoformat() if is_day else cell.isoformat(sep=" ", timespec="seconds")
    return str(cell).strip() or None
