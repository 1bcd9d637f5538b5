"""Spark makes the same table as memory does, on one machine and on a cluster that loses a worker."""

from __future__ import annotations

import datetime
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.models.anonymity import KAnonymity
from sfumato.reading import datasets
from sfumato.reading.sources import source_at
from sfumato.registry import methods
from sfumato.results.recoding import freeze
from sfumato.runtime.errors import DataError
from sfumato.sanitizers.base import sanitize
from sfumato.sanitizers.generalize.full_domain import FullDomain
from sfumato.workflow.engines import spark
from sfumato.workflow.engines.base import engine_named

SECRET = "SECRETVALUE"
SANITIZERS = methods.registered("sanitizer")
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), ["b", "a", None, " a ", "NA", ""]),
    "words": (pa.dictionary(pa.int8(), pa.string()), ["b", "a", None]),
    "small": (pa.int8(), [3, -1, None]),
    "unsigned": (pa.uint64(), [2**64 - 1, 0, 5]),
    "float": (pa.float64(), [2.5, float("nan"), -0.0, 0.0, None, 1e300]),
    "single": (pa.float32(), [0.1, 2.0]),
    "truth": (pa.bool_(), [True, False, None]),
    "day": (pa.date32(), [datetime.date(2024, 2, 29), datetime.date(1900, 1, 1), None]),
}


def reduced(path: Path, engine: str, schema: Schema | None = None) -> Table:
    return engine_named(engine).reduce(source_at(path), schema, missing_values=["NA"])


def test_the_table_is_the_same_whatever_the_type(tmp_path: Path, alone: Any) -> None:
    chance = random.Random(1)
    place = tmp_path / "a folder with `odd` signs %20 ä"
    place.mkdir()
    for part in ("b", "a", "c"):
        columns = {
            name: pa.array(chance.choices(values, k=300), kind) for name, (kind, values) in VALUES.items()
        }
        pq.write_table(pa.table({**columns, "odd `name.x": ["same"] * 300}), place / f"{part}.parquet")
    memory, other = reduced(place, "memory"), reduced(place, "spark")
    assert {n: c.domain for n, c in memory.columns.items()} == {n: c.domain for n, c in other.columns.items()}
    assert memory.fingerprint == other.fingerprint


def test_every_release_has_the_same_cells(tmp_path: Path, alone: Any) -> None:
    names = ("age", "sex", "race", "education")
    records = datasets.adult_records(columns=(*names, "occupation"))
    for part in range(3):
        pq.write_table(records.slice(part * 400, 400), tmp_path / f"{part}.parquet", row_group_size=100)
    _, described = datasets.adult(quasi_identifiers=names)
    schema = Schema(tuple(described[name] for name in (*names, "occupation")))
    bound = [schema.bind(reduced(tmp_path, engine, schema)) for engine in ("memory", "spark")]
    assert bound[0][0].fingerprint == bound[1][0].fingerprint
    for name, how in SANITIZERS.items():
        if vars(how).get("repeatable", True):
            leave = {"suppression": 1.0} if "suppression" in methods.parameters_of(how) else {}
            one, other = (sanitize(*each, how(**leave), seed=7) for each in bound)
            assert one.weights.tolist() == other.weights.tolist(), name
            for attribute, cells in one.cells.items():
                assert cells.labels == other.cells[attribute].labels, name
                assert cells.codes.tolist() == other.cells[attribute].codes.tolist(), name


def test_a_recoding_is_given_to_all_records(tmp_path: Path, alone: Any) -> None:
    names = ("age", "sex", "education")
    records = datasets.adult_records(columns=(*names, "occupation"))
    for part in range(2):
        pq.write_table(records.slice(part * 900, 900), tmp_path / f"{part}.parquet")
    _, described = datasets.adult(quasi_identifiers=names)
    schema = Schema(tuple(described[name] for name in (*names, "occupation")))
    how = FullDomain({"age": 2, "sex": 0, "education": 1}, KAnonymity(3), suppression=1.0)
    recoding = freeze(sanitize(reduced(tmp_path / "0.parquet", "memory", schema), schema, how, seed=1))
    memory, other = (engine_named(name).apply(source_at(tmp_path), recoding) for name in ("memory", "spark"))
    assert memory.fingerprint == other.fingerprint
    assert other.n_records == 1_800


def test_what_spark_would_read_otherwise_is_refused(tmp_path: Path, alone: Any) -> None:
    pq.write_table(pa.table({"a": pa.array([0], pa.timestamp("us"))}), tmp_path / "a.parquet")
    with pytest.raises(
        DataError, match=r"column 'a' has the type timestamp\[us\], which the engine spark does not"
    ):
        reduced(tmp_path / "a.parquet", "spark")
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(DataError, match=r"a\.csv: the engine spark reads Parquet files"):
        reduced(tmp_path / "a.csv", "spark")


def test_damage_is_told_without_a_value(tmp_path: Path, alone: Any) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"a": [SECRET] * 5_000, "b": list(range(5_000))}), path, compression="none")
    content = bytearray(path.read_bytes())
    content[40:2_000] = b"\xff" * 1_960
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"people\.parquet: Spark could not read") as raised:
        reduced(path, "spark")
    assert SECRET not in str(raised.value)
    assert raised.value.__context__ is None


def test_too_many_distinct_rows_are_refused(
    tmp_path: Path, alone: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pq.write_table(pa.table({"a": list(range(5_000))}), tmp_path / "a.parquet")
    monkeypatch.setattr(spark, "rows_that_fit", lambda n_columns: 300)
    with pytest.raises(DataError, match=r"a\.parquet has about [45],\d+ distinct rows and this machine has"):
        reduced(tmp_path / "a.parquet", "spark")
