"""Parquet in folders and a file of SPSS, in a folder that is written by hand, and what is said of them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pyreadstat
import pytest

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification import check
from sfumato.verification.check import Check, check_folder, expected_files
from sfumato.verification.documents import Manifest
from sfumato.verification.published_view import public_view
from sfumato.verification.written_tables import FileColumn, WrittenTable, read_tables

Facts = dict[str, Any]

# The records of `honest`, in folders by what people have.
PARTS = {"data/ill=x/part-0.parquet": [1, 1, 2], "data/ill=y/part-0.parquet": [1, 2, 2]}
SPSS = {"renamed": {"age": "years"}, "labels": {"ill": "Diagnosis"}, "codes": {"ill": {"x": 1, "y": 2}}}
PLAIN = [{"name": "age", "type": "integer"}, {"name": "ill", "type": "string"}]
FIELDS = {
    "data.csv": PLAIN,
    **dict.fromkeys(PARTS, PLAIN[:1]),
    "data.sav": [
        {"name": "years", "type": "integer"},
        {
            "name": "ill",
            "type": "integer",
            "title": "Diagnosis",
            "categories": [{"value": 1, "label": "x"}, {"value": 2, "label": "y"}],
        },
    ],
}
NAMES = ["data-csv", "data-parquet-0", "data-parquet-1", "data-sav"]


def listed(folder: Path) -> Facts:
    places = {place.relative_to(folder).as_posix(): place for place in folder.rglob("*.*") if place.is_file()}
    return {
        name: {"sha256": hashlib.sha256(place.read_bytes()).hexdigest(), "bytes": place.stat().st_size}
        for name, place in places.items()
        if name not in ("manifest.json", "certificate.json")
    }


def write_package(folder: Path) -> None:
    digests = {name: facts["sha256"] for name, facts in listed(folder).items()}
    package = json.loads((folder / "datapackage.json").read_text("utf-8"))
    package["resources"] = [
        {
            "name": name,
            "path": file,
            "format": file.rpartition(".")[2],
            "hash": f"sha256:{digests[file]}",
            "schema": {"fields": fields, "missingValues": [""]},
        }
        for name, (file, fields) in zip(NAMES, FIELDS.items(), strict=True)
    ]
    (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")


@pytest.fixture(scope="module")
def laid(honest: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the same folder with Parquet files in folders and a file of SPSS."""
    folder = tmp_path_factory.mktemp("laid") / "out"
    shutil.copytree(honest, folder)
    (folder / "data.parquet").unlink()
    for name, ages in PARTS.items():
        (folder / name).parent.mkdir(parents=True)
        pq.write_table(pa.table({"age": ages}), folder / name)
    frame = pd.DataFrame({"years": [1, 1, 2, 1, 2, 2], "ill": [1, 1, 1, 2, 2, 2]})
    labels: dict[str, dict[int | float, str]] = {"ill": {1: "x", 2: "y"}}
    pyreadstat.write_sav(
        frame, str(folder / "data.sav"), column_labels={"ill": "Diagnosis"}, variable_value_labels=labels
    )
    write_package(folder)
    facts = json.loads((folder / "manifest.json").read_text("utf-8"))
    facts |= {"files": listed(folder), "partition_by": "ill", "formats": {"sav": SPSS}}
    (folder / "manifest.json").write_text(json.dumps(facts), "utf-8")
    return folder


def manifest(folder: Path, **changed: Any) -> Manifest:
    facts = json.loads((folder / "manifest.json").read_text("utf-8"))
    return msgspec.convert({**facts, **changed}, Manifest)


def test_an_honest_folder_holds(laid: Path) -> None:
    assert sorted(expected_files(manifest(laid))) == sorted(manifest(laid).files)
    found = check_folder(laid, manifest(laid)).checks
    assert [each.what for each in found if not each.holds] == []
    outcomes = {each.what: each.outcome for each in found}
    assert outcomes["data.csv and the 2 Parquet files in data hold the same records"] == "checked"
    assert outcomes["data.csv and data.sav hold the same records"] == "checked"
    assert "data.csv and data.parquet hold the same records" not in outcomes
    labels = "what the labels of columns and values in the files .sav say"
    assert outcomes[labels] == "unverified"


def failed(folder: Path, changed: Manifest) -> dict[str, str]:
    found: list[Check] = check_folder(folder, changed).checks
    return {each.what: each.problem for each in found if not each.holds}


def test_records_in_the_wrong_folder_are_found(laid: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(laid, folder)
    one, other = (folder / name for name in PARTS)
    one.rename(folder / "swap")
    other.rename(one)
    (folder / "swap").rename(other)
    write_package(folder)
    what = "data.csv and the 2 Parquet files in data hold the same records"
    assert failed(folder, manifest(folder, files=listed(folder))) == {what: "they hold other records"}


def test_a_file_of_spss_that_says_something_else_is_found(laid: Path) -> None:
    other = {"sav": {**SPSS, "labels": {"ill": "Illness"}}}
    found = failed(laid, manifest(laid, formats=other))
    assert found == {
        "data.csv and data.sav hold the same records": "data.sav has other labels than the manifest names",
        "datapackage.json describes these files": "it says something else",
    }


def test_folders_that_no_attribute_names_end_the_checks(laid: Path) -> None:
    (found,) = check_folder(laid, manifest(laid, partition_by="shoe")).checks
    assert found == Check(
        "manifest.json lists every file",
        "the folders are named after a column that is no published attribute",
    )


@pytest.mark.parametrize(
    ("facts", "is_said"),
    [({}, False), ({"labels": {"ill": "x"}}, True), ({"codes": {"ill": {"x": 1}}}, True)],
)
def test_labels_are_an_unverified_claim_where_there_are_some(laid: Path, facts: Facts, is_said: bool) -> None:
    word = manifest(laid, formats={"dta": facts})
    tables = read_tables(laid, ["data"])
    seen = public_view(tables, word.layout)
    what = "what the labels of columns and values in the files .dta say"
    assert (what in {each.what for each in check._unverified_checks(seen, word, tables)}) is is_said


def places(facts: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place in a document where something is said, as the thing that holds it and the key."""
    inside = facts.items() if isinstance(facts, dict) else enumerate(facts) if isinstance(facts, list) else ()
    for key, value in inside:
        yield facts, key
        yield from places(value)


def test_every_word_of_the_data_package_is_compared(laid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = json.loads((laid / "datapackage.json").read_text("utf-8"))
    tables, told = read_tables(laid, ["data"]), manifest(laid)
    monkeypatch.setattr(check, "read_json", lambda *_: package)
    assert check._data_package_check(laid, told, tables).holds
    for holder, key in list(places(package)):
        said, holder[key] = holder[key], "something else"
        assert not check._data_package_check(laid, told, tables).holds
        holder[key] = said


def test_of_two_tables_one_lies_in_folders(laid: Path, tmp_path: Path) -> None:
    facts = manifest(laid).layout
    two = msgspec.structs.replace(facts, form="two-tables", group="group")
    names = [
        "quasi-identifiers.csv",
        "quasi-identifiers.parquet",
        "sensitive.csv",
        *(f"sensitive/ill={value}/part-0.parquet" for value in "xy"),
    ]
    told = msgspec.structs.replace(
        manifest(laid, files={key: {"sha256": "0", "bytes": 1} for key in names}, formats={}), layout=two
    )
    assert expected_files(told) == {*names, "README.md", "datapackage.json", "report.html"}
    pq.write_table(pa.table({"age": [1], "group": [1]}), tmp_path / "quasi-identifiers.parquet")
    for name in names[3:]:
        (tmp_path / name).parent.mkdir(parents=True)
        pq.write_table(pa.table({"group": [1], "count": [2]}), tmp_path / name)
    cells = WrittenTable(
        {name: FileColumn.of(["1"]) for name in ("ill", "group", "count")}, np.ones(1, dtype=np.int64)
    )
    people, values = (
        [
            (each["name"], each["path"], [field["name"] for field in each["schema"]["fields"]])
            for each in check._resources(tmp_path, told, table, cells)
        ]
        for table in ("quasi-identifiers", "sensitive")
    )
    (said,) = check._record_checks(tmp_path, "quasi-identifiers", cells, told)
    assert said.what == "quasi-identifiers.csv and quasi-identifiers.parquet hold the same records"
    assert people == [
        ("quasi-identifiers-csv", names[0], ["age", "group"]),
        ("quasi-identifiers-parquet", names[1], ["age", "group"]),
    ]
    assert values == [
        ("sensitive-csv", names[2], ["ill", "group", "count"]),
        ("sensitive-parquet-0", names[3], ["group", "count"]),
        ("sensitive-parquet-1", names[4], ["group", "count"]),
    ]


def test_a_file_that_cannot_be_looked_at_is_told(laid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(folder: Path, name: str) -> tuple[str, int]:
        raise VerificationFailed(f"{name} cannot be read: no permission")

    monkeypatch.setattr(check, "fingerprint", refused)
    assert (
        failed(laid, manifest(laid))["data.sav has its checksum"] == "data.sav cannot be read: no permission"
    )
