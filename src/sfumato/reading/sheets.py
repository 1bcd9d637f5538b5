"""Sheets: the cells of a workbook, which a process of its own reads where a few bytes may claim all memory.

Of the packed formats it can be told beforehand how large a sheet is held; of the old one (.xls) it cannot.
"""

from __future__ import annotations

import datetime
import os
import pickle
import subprocess
import sys
from pathlib import Path

Cell = str | int | float | bool | datetime.date | datetime.time | datetime.timedelta
Sheets = list[list[list[Cell]]]

_COMMAND = "from sfumato.reading.sheets import main; main()"
_PATIENCE = 60
"""Seconds of a processor that may pass; the largest sheet of the old format takes a few."""


def sheets_of(path: Path) -> Sheets | None:
    """Return the rows of every sheet; nothing where the file is no workbook, or a damaged one."""
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


def sheets_apart(path: Path, most_memory: int) -> Sheets | None:
    """Return the same, read by a process that ends where it would take more memory.

    Parameters
    ----------
    path
        The workbook.
    most_memory
        How many bytes the process may take beside what it takes to start.
    """
    places = os.pathsep.join(place for place in sys.path if place)
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND, str(path), str(most_memory)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": places},
        check=False,
    )
    return None if done.returncode else pickle.loads(done.stdout)


def main() -> None:
    """Write the sheets of the workbook that is named, within the memory that is named."""
    path, most_memory = sys.argv[1:]
    _limit(int(most_memory))
    sheets = sheets_of(Path(path))
    pickle.dump(sheets, sys.stdout.buffer, protocol=pickle.HIGHEST_PROTOCOL)


def _limit(most_memory: int) -> None:
    try:
        import resource
    except ImportError:  # there is none on Windows
        return
    held = 0
    if (told := Path("/proc/self/statm")).exists():
        held = int(told.read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    for kind, most in ((resource.RLIMIT_AS, held + most_memory), (resource.RLIMIT_CPU, _PATIENCE)):
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
