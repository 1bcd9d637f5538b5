"""A workbook is read like a CSV file, and what cannot be read is one line without a value."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from sfumato.reading import dialect
from sfumato.reading.base import read_arrow
from sfumato.reading.read_table import read
from sfumato.reading.role_guess import guess
from sfumato.runtime.errors import DataError

SECRET = "SECRETVALUE"


def written(tmp_path: Path, *sheets: Sequence[Sequence[Any]]) -> Path:
    workbook = Workbook()
    workbook.remove(workbook.active)
    for number, rows in enumerate(sheets):
        sheet = workbook.create_sheet(f"sheet {number}")
        for row in rows:
            sheet.append(row)
    path = tmp_path / "people.xlsx"
    workbook.save(path)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(DataError) as caught:
        read_arrow(path)
    assert SECRET not in str(caught.value)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_cells_become_the_text_that_they_mean(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["age", "weight", " town ", "seen", "at", "well", "zip"],
        [31, 71.5, "Köln ", datetime.date(2024, 1, 31), datetime.datetime(2024, 1, 31, 8, 15), True, "01067"],
        [42, None, "Ulm", datetime.date(2024, 2, 1), datetime.datetime(2024, 2, 1, 10, 0), False, "80331"],
    ]
    table = read_arrow(written(tmp_path, rows))
    assert table.to_pydict() == {
        "age": ["31", "42"],
        "weight": ["71.5", None],
        "town": ["Köln", "Ulm"],
        "seen": ["2024-01-31", "2024-02-01"],
        "at": ["2024-01-31 08:15:00", "2024-02-01 10:00:00"],
        "well": ["true", "false"],
        "zip": ["01067", "80331"],
    }


def test_its_columns_are_understood_like_those_of_a_csv_file(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["name", "age", "diagnosis"],
        *([f"person {n}", 20 + n, f"E1{n % 3}.9"] for n in range(12)),
    ]
    table = read(written(tmp_path, rows))
    roles = {each.name: each.role for each in guess(table)}
    assert roles == {"name": "identifying", "age": "quasi-identifying", "diagnosis": "sensitive"}


def test_empty_sheets_and_rows_are_left_out(tmp_path: Path) -> None:
    table = read_arrow(written(tmp_path, [], [[], ["age"], [31], [], [42]], [[]]))
    assert table.to_pydict() == {"age": ["31", "42"]}


@pytest.mark.parametrize(
    ("sheets", "said"),
    [
        ([[]], "is empty"),
        ([[["age"]]], "no records"),
        ([[["age"], [SECRET]], [["age"], [SECRET]]], "2 sheets that are not empty"),
        ([[["age", "age"], [SECRET, SECRET]]], "age"),
        ([[["age", None, "sex"], [SECRET, SECRET, SECRET]]], "column 2 has no name"),
        ([[["age"], [31, SECRET]]], "beyond the columns"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_remedy(
    sheets: list[list[list[Any]]], said: str, tmp_path: Path
) -> None:
    assert said in refusal(written(tmp_path, *sheets))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", SECRET.encode() * 100, b"\xd0\xcf\x11\xe0" * 200])
def test_what_is_no_workbook_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "people.xlsx"
    path.write_bytes(content)
    assert "people.xlsx" in refusal(path)


def test_a_workbook_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, [["age"], [SECRET]])
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        assert "people.xlsx" in refusal(path)


def test_a_workbook_made_to_exhaust_the_machine_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dialect, "_SMALL", 1_000)
    path = written(tmp_path, [["age"], [31]])
    assert read_arrow(path).num_rows == 1
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/worksheets/sheet9.xml", b"0" * dialect._MOST_GROWTH * 20_000)
    assert "exhaust" in refusal(path)


def with_sheet(path: Path, change: Callable[[bytes], bytes]) -> Path:
    """Write a workbook again, its sheet changed."""
    with zipfile.ZipFile(path) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, change(content) if name.endswith("sheet1.xml") else content)
    return path


@pytest.mark.parametrize("far", [b"XFD1048576", b"ZZ99999", b"AAAAAAAAAAA4000000000"])
def test_a_cell_far_from_the_others_is_refused(far: bytes, tmp_path: Path) -> None:
    path = written(tmp_path, [["age"], [31], [42]])
    with_sheet(path, lambda sheet: sheet.replace(b'r="A3"', b'r="' + far + b'"'))
    said = refusal(path)
    assert "nearly all of it empty" in said
    assert "save the sheet as CSV" in said


def test_cells_without_a_place_count_as_well(tmp_path: Path) -> None:
    path = written(tmp_path, [["age"], [31], [42]])
    many = (
        b"</row><row>"
        + b"<c><v>1</v></c>" * 20_000
        + b'</row><row r="1048576"><c><v>1</v></c></row></sheetData>'
    )
    with_sheet(path, lambda sheet: sheet.replace(b"</row></sheetData>", many))
    assert "nearly all of it empty" in refusal(path)


def test_records_far_below_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, [["age"], [31], [42]])
    with_sheet(path, lambda sheet: sheet.replace(b'r="A3"', b'r="A70000"').replace(b'r="3"', b'r="70000"'))
    assert read_arrow(path).column("age").to_pylist() == ["31", "42"]


def test_where_the_library_panics_the_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its panics are no exceptions, and would end the program with their trace."""

    class PanicException(BaseException):
        pass

    class Workbook:
        @staticmethod
        def from_path(path: str) -> None:
            raise PanicException(SECRET)

    path = written(tmp_path, [["age"], [31]])
    monkeypatch.setattr("python_calamine.CalamineWorkbook", Workbook)
    assert "save it again as .xlsx" in refusal(path)
