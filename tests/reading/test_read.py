"""One verb reads files and what is in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sfumato as sf
from sfumato.runtime.errors import DataError

COLUMNS: dict[str, list[Any]] = {"age": [31, 42, 31], "zip": ["0213", "1485", "0213"]}


def records(table: sf.Table) -> list[tuple[Any, ...]]:
    return sorted(tuple(str(value) for value in row.values()) for row in table.to_arrow().to_pylist())


def test_files_and_frames_give_the_same_table(tmp_path: Path) -> None:
    arrow = pa.table(COLUMNS)
    (tmp_path / "people.csv").write_text("age,zip\n31,0213\n42,1485\n31,0213\n")
    pq.write_table(arrow, tmp_path / "people.parquet")
    sources = (
        tmp_path / "people.csv",
        str(tmp_path / "people.parquet"),
        COLUMNS,
        arrow,
        pd.DataFrame(COLUMNS),
        pl.DataFrame(COLUMNS),
        duckdb.sql("select * from arrow"),
    )
    for source in sources:
        table = sf.read(source)
        assert isinstance(table, sf.Table)
        assert records(table) == [("31", "0213"), ("31", "0213"), ("42", "1485")]


def test_a_table_is_taken_as_it_is() -> None:
    table = sf.read(COLUMNS)
    assert sf.read(table) is table


def test_how_a_file_is_written_and_what_is_missing_can_be_said(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age|zip\n31|'?'\n42|''\n")
    table = sf.read(tmp_path / "people.csv", separator="|", quote="'", missing_values=["?"])
    assert table["zip"].domain == (None,)
    assert sf.read({"zip": ["?", "1"]}, missing_values=["?"])["zip"].domain == ("1", None)


def test_what_is_no_table_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.csv does not exist"):
        sf.read(tmp_path / "none.csv")
    nothing: Any = 17
    with pytest.raises(DataError, match="cannot read a table from int"):
        sf.read(nothing)
