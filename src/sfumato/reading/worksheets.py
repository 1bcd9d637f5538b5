"""Read the cells of Excel workbooks.

For the zipped formats the unpacked size of a sheet is known in advance, for the old one (.xls) it is not, so
its sheets are read in a process of their own.
"""

from __future__ import annotations

import datetime
from pathlib import Path

LIBRARIES = ("python_calamine",)

Cell = str | int | float | bool | datetime.date | datetime.time | datetime.timedelta
Sheets = list[list[list[Cell]]]


def sheets_of(path: Path) -> Sheets | None:
    """Return the rows of every sheet, or ``None`` if the file is not a workbook or is damaged."""
    from python_calamine import CalamineError, CalamineWorkbook

    try:
        with CalamineWorkbook.from_path(str(path)) as workbook:
            return [workbook.get_sheet_by_name(name).to_python() for name in workbook.sheet_names]
    except (CalamineError, OSError, ValueError, MemoryError):
        return None
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # what a library in Rust raises is no Exception
            raise
        return None
