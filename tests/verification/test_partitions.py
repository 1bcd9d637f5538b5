"""Parquet files in folders that tell a column's value, each written by hand and compared with a CSV file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification import written_tables
from sfumato.verification.documents import Manifest
from sfumato.verification.partition_check import (
    differs_in_parts,
    partition_file,
    partition_files,
    partitioned_table,
    types_in_parts,
)
from sfumato.verification.written_tables import FileColumn, Value, WrittenTable

NOBODY = "__HIVE_DEFAULT_PARTITION__"
Cells = dict[str, list[Any]]


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("Female", "Female"),
        ("a b/c", "a%20b%2Fc"),
        ("Ü~", "%C3%9C~"),
        ("a.b", "a.b"),
        ("a.", "a%2E"),
        ("..", ".%2E"),
        ("", ""),
        (None, NOBODY),
    ],
)
def test_a_folder_is_named_after_a_value(value: Value, told: str) -> None:
    assert partition_file("data", "sex", value) == f"data/sex={told}/part-0.parquet"


def manifest(honest: Path, by: str | None, form: str = "one-table", files: tuple[str, ...] = ()) -> Manifest:
    facts = json.loads((honest / "manifest.json").read_text("utf-8"))
    facts["layout"]["form"] = form
    facts["files"] = {key: {"sha256": "", "bytes": 0} for key in files}
    return msgspec.convert({**facts, "partition_by": by}, Manifest)


@pytest.mark.parametrize(
    ("form", "by", "table"),
    [
        ("one-table", None, None),
        ("one-table", "age", "data"),
        ("one-table", "ill", "data"),
        ("two-tables", "age", "quasi-identifiers"),
        ("two-tables", "ill", "sensitive"),
    ],
)
def test_one_table_lies_in_folders(honest: Path, form: str, by: str | None, table: str | None) -> None:
    assert partitioned_table(manifest(honest, by, form)) == table


def test_folders_are_named_after_a_published_attribute(honest: Path) -> None:
    with pytest.raises(
        VerificationFailed, match=r"^the folders are named after a column that is no published"
    ):
        partitioned_table(manifest(honest, "shoe"))


def test_only_files_that_are_named_as_they_should_be_belong_to_it(honest: Path) -> None:
    right = {"data/ill=%2E/part-0.parquet": ".", "data/ill=b/part-0.parquet": "b"}
    right[f"data/ill={NOBODY}/part-0.parquet"] = None
    wrong = (
        "data/ill=/part-0.parquet",
        "data/ill=a/part-1.parquet",
        "data/ill=%61/part-0.parquet",
        "data/ill=.a/more/part-0.parquet",
        "data/age=1/part-0.parquet",
        "more/ill=a/part-0.parquet",
        "data.csv",
    )
    found = partition_files(manifest(honest, "ill", files=(*wrong, *reversed(right))))
    assert list(found.items()) == sorted(right.items())
    assert partition_files(manifest(honest, None, files=(*right,))) == {}


# Two folders with three records, whose cells lie in another order of columns than in the CSV file.
PARTS: dict[Value, Cells] = {"b": {"n": [7, None], "town": ["x", "y"]}, None: {"n": [8], "town": ["x"]}}
WRITTEN: Cells = {"town": ["x", "x", "y"], "by": [None, "b", "b"], "n": ["8", "7", None]}


def as_written(cells: Cells) -> WrittenTable:
    columns = {name: FileColumn.of(column) for name, column in cells.items()}
    return WrittenTable(columns, np.ones(len(cells["n"]), dtype=np.int64))


def laid(folder: Path, parts: dict[Value, Cells]) -> dict[str, Value]:
    names = {f"data/by={value}/part-0.parquet": value for value in parts}
    for name, cells in zip(names, parts.values(), strict=True):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table(cells), folder / name)
    return names


def difference(folder: Path, parts: dict[Value, Cells], written: Cells = WRITTEN) -> str:
    return differs_in_parts(folder, laid(folder, parts), "by", as_written(written))


class TestRecords:
    def test_the_files_of_all_folders_together_hold_them(self, tmp_path: Path) -> None:
        assert difference(tmp_path, PARTS) == ""

    @pytest.mark.parametrize(
        ("parts", "problem"),
        [
            ({}, "there is no file in any folder"),
            ({**PARTS, None: {"n": [9], "town": ["x"]}}, "they hold other records"),
            ({"a": PARTS["b"], None: PARTS[None]}, "they hold other records"),
            ({"b": PARTS["b"]}, "they have another number of records"),
            ({**PARTS, "c": PARTS[None]}, "they have another number of records"),
            ({**PARTS, None: {"n": [8]}}, "they have other columns"),
            ({**PARTS, None: {"n": ["8"], "town": ["x"]}}, "they have other columns"),
            (
                {value: {**cells, "by": ["b"] * len(cells["n"])} for value, cells in PARTS.items()},
                "they have other columns",
            ),
            ({value: {"n": cells["n"]} for value, cells in PARTS.items()}, "they have other columns"),
        ],
    )
    def test_every_difference_is_found(self, tmp_path: Path, parts: dict[Value, Cells], problem: str) -> None:
        assert difference(tmp_path, parts) == problem

    def test_a_damaged_file_is_told(self, tmp_path: Path) -> None:
        names = laid(tmp_path, PARTS)
        (tmp_path / [*names][1]).write_bytes(b"PAR1 and nothing more")
        assert differs_in_parts(tmp_path, names, "by", as_written(WRITTEN)) == "a Parquet file cannot be read"

    def test_a_file_that_would_unpack_to_far_more_is_not(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(written_tables, "_SMALL_FILE", 0)
        monkeypatch.setattr(written_tables, "_MAX_GROWTH", 0)
        assert difference(tmp_path, PARTS) == "a Parquet file would unpack to far more than its size"


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-20"], "integer"),
        (["007", None], "integer"),
        (["1", "[20, 30)"], "string"),
        (["1", "1.5"], "string"),
        (["1", "--1"], "string"),
        (["1", "-"], "string"),
        (["1", "٣"], "string"),
    ],
)
def test_folders_tell_whole_numbers_or_texts(tmp_path: Path, values: list[Value], kind: str) -> None:
    parts = laid(tmp_path, {value: {"n": [0.5], "town": ["x"]} for value in values})
    found = types_in_parts(tmp_path, parts, "by", ("town", "by", "n"))
    assert found == [("town", "string"), ("by", kind), ("n", "number")]
