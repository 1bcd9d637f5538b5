"""Files of SPSS and Stata, written by pyreadstat and compared with what the CSV file and the manifest say."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from sfumato.runtime.errors import UserError, VerificationFailed
from sfumato.verification.documents import FormatFacts
from sfumato.verification.folder import StatisticsFormat
from sfumato.verification.statistics_files_check import differs_from_statistics
from sfumato.verification.written_tables import FileColumn, WrittenTable

# Codes stand for the labels of sex and of mood; the CSV file has the labels of sex, and the numbers of mood.
FRAME: dict[str, list[Any]] = {
    "sex": [1, 2, None],
    "mood": [1, 5, 2],
    "town": ["Rome", "", "Oslo"],
    "birth_year": [1980, None, 1990.5],
}
WRITTEN: dict[str, list[str | None]] = {
    "sex": ["male", "female", None],
    "mood": ["1", "5", "2"],
    "town": ["Rome", None, "Oslo"],
    "birth year": ["1980", None, "1990.5"],
}
TITLES = {"sex": "Sex of the respondent", "birth_year": "birth year"}
LABELS: dict[str, dict[int | float, str]] = {"sex": {1: "male", 2: "female"}, "mood": {1: "bad", 5: "good"}}
FACTS = FormatFacts(
    renamed={"birth year": "birth_year"},
    labels={"sex": "Sex of the respondent", "birth year": "birth year", "elsewhere": "in another table"},
    codes={"sex": {"male": 1, "female": 2}, "mood": {"bad": 1, "good": 5}, "elsewhere": {"a": 1}},
)


def written(cells: dict[str, list[str | None]]) -> WrittenTable:
    columns = {name: FileColumn.of(column) for name, column in cells.items()}
    return WrittenTable(columns, np.ones(3, dtype=np.int64))


def write(folder: Path, kind: StatisticsFormat = "sav", **changed: Any) -> None:
    told: dict[str, Any] = {"frame": FRAME, "titles": TITLES, "labels": LABELS} | changed
    write = pyreadstat.write_sav if kind == "sav" else pyreadstat.write_dta
    write(
        pd.DataFrame(told["frame"]),
        str(folder / f"data.{kind}"),
        column_labels=told["titles"],
        variable_value_labels=told["labels"],
    )


def difference(
    folder: Path, kind: StatisticsFormat = "sav", cells: Any = WRITTEN, facts: FormatFacts = FACTS
) -> str:
    return differs_from_statistics(folder, "data", kind, written(cells), facts)


@pytest.mark.parametrize("kind", ["sav", "dta"])
def test_a_file_that_holds_the_same_records(tmp_path: Path, kind: StatisticsFormat) -> None:
    write(tmp_path, kind)
    assert difference(tmp_path, kind) == ""


def test_where_the_csv_file_has_the_codes_themselves_one_may_be_missing(tmp_path: Path) -> None:
    write(tmp_path, frame={**FRAME, "mood": [1, 5, None]})
    assert difference(tmp_path, cells={**WRITTEN, "mood": ["1", "5", None]}) == ""


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"frame": {**FRAME, "mood": [1, 5, 3]}}, "they hold other records"),
        ({"frame": {**FRAME, "sex": [1, 1, None]}}, "they hold other records"),
        ({"frame": {**FRAME, "sex": [1, 2, 3]}}, "they hold other records"),
        ({"frame": {**FRAME, "town": ["Rome", "Oslo", "Oslo"]}}, "they hold other records"),
        ({"frame": {**FRAME, "birth_year": [1980, 1980, 1990.5]}}, "they hold other records"),
        (
            {"frame": {name: cells[:2] for name, cells in FRAME.items()}},
            "they have another number of records",
        ),
        ({"frame": {**FRAME, "more": [1, 2, 3]}}, "they have other columns"),
        ({"titles": {"sex": "Religion", "birth_year": "birth year"}}, "data.sav has other labels"),
        ({"titles": {"sex": "Sex of the respondent"}}, "data.sav has other labels"),
        ({"titles": {**TITLES, "town": "Home"}}, "data.sav has other labels"),
        ({"labels": {**LABELS, "sex": {1: "female", 2: "male"}}}, "data.sav has other labels"),
        ({"labels": {"sex": LABELS["sex"]}}, "data.sav has other labels"),
    ],
)
def test_every_difference_is_found(tmp_path: Path, changed: Any, problem: str) -> None:
    write(tmp_path, **changed)
    assert difference(tmp_path).startswith(problem)


@pytest.mark.parametrize("shown_as", ["DATE11", "DATETIME20", "TIME8"])
def test_a_date_is_no_number(tmp_path: Path, shown_as: str) -> None:
    shown = {"birth_year": shown_as}
    pyreadstat.write_sav(
        pd.DataFrame(FRAME),
        str(tmp_path / "data.sav"),
        column_labels=TITLES,
        variable_value_labels=LABELS,
        variable_format=shown,
    )
    assert difference(tmp_path) == "data.sav has values of a type that `publish` does not write"


def test_columns_have_the_names_that_the_manifest_gives_them(tmp_path: Path) -> None:
    write(tmp_path)
    other = FormatFacts(labels=FACTS.labels, codes=FACTS.codes)
    assert difference(tmp_path, facts=other) == "they have other columns"
    in_another_order = dict(reversed(WRITTEN.items()))
    assert difference(tmp_path, cells=in_another_order) == "they have other columns"


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "data.sav").write_bytes(b"$FL2" + b"x" * 300)
    assert difference(tmp_path) == "data.sav cannot be read"


def test_a_file_that_is_not_there_or_no_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(VerificationFailed, match=r"^data\.sav is missing$"):
        difference(tmp_path)
    (tmp_path / "data.sav").mkdir()
    with pytest.raises(VerificationFailed, match=r"^data\.sav is no plain file$"):
        difference(tmp_path)


def test_a_missing_package_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(UserError, match=r"pip install 'sfumato\[statistics\]'"):
        difference(tmp_path)
