"""Files of SPSS, Stata and SAS: values, labels, dates, what is missing."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat
import pytest

import sfumato as sf
from sfumato.interfaces.cli import run
from sfumato.runtime.errors import DataError, UserError

FRAME = pd.DataFrame(
    {
        "age": [31.0, 42.0, None, 57.0],
        "sex": [1.0, 2.0, 1.0, 2.0],
        "mood": [1.0, 3.0, 5.0, 1.0],
        "height": [1.5, 1.25, 1.75, None],
        "town": ["Ulm", "Bonn", "", "Koln"],
    }
)
LABELS: dict[str, dict[Any, str]] = {"sex": {1: "male", 2: "female"}, "mood": {1: "never", 5: "always"}}


def write(place: Path) -> Path:
    if place.suffix == ".xpt":
        pyreadstat.write_xport(FRAME, str(place), file_format_version=8)
    elif place.suffix == ".dta":
        pyreadstat.write_dta(FRAME, str(place), variable_value_labels=LABELS)
    elif place.suffix == ".por":
        pyreadstat.write_por(FRAME, str(place))
    else:
        compressed = place.suffix == ".zsav"
        pyreadstat.write_sav(FRAME, str(place), variable_value_labels=LABELS, compress=compressed)
    return place


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta", ".por", ".xpt", ".SAV"])
def test_values_are_read_with_their_labels(tmp_path: Path, suffix: str) -> None:
    place = tmp_path / f"people{suffix.lower()}"
    write(place)
    if suffix != suffix.lower():
        place = place.rename(place.with_suffix(suffix))
    found = {name.lower(): values for name, values in sf.read(place).to_arrow().to_pydict().items()}
    assert found["age"] == [31, 42, None, 57]
    assert found["height"] == [1.5, 1.25, 1.75, None]
    assert found["town"] == ["Ulm", "Bonn", None, "Koln"]
    assert found["mood"] == [1, 3, 5, 1], "a scale whose ends are named stays a number"
    labelled = ["male", "female", "male", "female"]
    # of these two the writer keeps no labels
    assert found["sex"] == ([1, 2, 1, 2] if suffix in (".xpt", ".por") else labelled)


def test_what_the_file_declares_as_missing_is_missing(tmp_path: Path) -> None:
    place = tmp_path / "p.sav"
    frame = pd.DataFrame({"age": [31.0, 99.0, 42.0], "day": [datetime.date(2024, 1, 2), None, None]})
    pyreadstat.write_sav(frame, str(place), missing_ranges={"age": [99]})
    found = sf.read(place).to_arrow().to_pydict()
    assert found == {"age": [31, None, 42], "day": ["2024-01-02", None, None]}


def test_a_project_is_made_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "people.sav")
    monkeypatch.chdir(tmp_path)
    assert run(["new", "people.sav"]) == 0
    assert run(["inspect", "people.toml"]) == 0
    assert "4 records" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", [".sav", ".dta", ".por", ".sas7bdat", ".xpt"])
@pytest.mark.parametrize("content", [b"", b"SECRETVALUE" * 40, b"$FL2@(#) SPSS DATA FILE SECRETVALUE"])
def test_a_broken_file_is_refused_in_one_line(tmp_path: Path, suffix: str, content: bytes) -> None:
    place = tmp_path / f"p{suffix}"
    place.write_bytes(content)
    with pytest.raises(DataError) as caught:
        sf.read(place)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_without_the_package_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = write(tmp_path / "p.sav")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(UserError, match=r"pip install 'sfumato\[statistics\]'"):
        sf.read(place)
