"""A workbook of the old format is read by another process, as this one would, and within limits."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from tools.fuzzed import KEPT

from sfumato.reading.excel import read_excel
from sfumato.reading.worksheets import sheets_of
from sfumato.runtime.errors import DataError
from sfumato.runtime.processes import read_in_child

OLD = KEPT / "seeds" / "xls"
FAR = KEPT / "xls-8890d4d9f113"
"""A few bytes that claim a cell far from the others, and with it more memory than a machine has."""
ROOM = 1 << 28


def copied(kept: Path, place: Path) -> Path:
    return Path(shutil.copy(kept, place))


def test_another_process_reads_what_this_one_would(tmp_path: Path) -> None:
    place = copied(OLD, tmp_path / "people.xls")
    found = read_in_child(sheets_of, place, ROOM)
    assert found == sheets_of(place)
    assert found is not None
    assert [len(rows) for rows in found] == [4]


def test_what_would_take_more_memory_is_no_workbook(tmp_path: Path) -> None:
    assert read_in_child(sheets_of, copied(FAR, tmp_path / "people.xls"), ROOM) is None


@pytest.mark.parametrize("name", ["people.xls", "people.XLS", "people.XLSX"])
def test_only_what_can_be_measured_beforehand_is_read_here(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("python_calamine.CalamineWorkbook", None)
    assert read_excel(copied(OLD, tmp_path / name)).num_rows == 3
    with pytest.raises(DataError, match="is not a workbook that can be read"):
        read_excel(copied(FAR, tmp_path / name))
