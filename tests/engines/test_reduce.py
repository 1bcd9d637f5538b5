"""Whichever engine reads the records, the table is the same."""

from __future__ import annotations

import datetime
import decimal
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table
from sfumato.reading.sources import source_at
from sfumato.runtime.errors import DataError, SfumatoError
from sfumato.runtime.machine import SHARE
from sfumato.workflow.engines import capacity
from sfumato.workflow.engines.base import engine_named

SECRET = "SECRETVALUE"
TEXTS = [
    "",
    " ",
    "a",
    " a",
    "b\u00e4",
    "NA",
    "0171",
    "x,y",
    'say "hi"',
    "two\nlines",
    "\u00a0c\u00a0",
    "d\x1c",
]


def same(one: Table, other: Table) -> bool:
    assert {n: (c.domain, c.kind) for n, c in one.columns.items()} == {
        n: (c.domain, c.kind) for n, c in other.columns.items()
    }
    return one.fingerprint == other.fingerprint


def reduced(path: Path, engine: str, schema: Schema | None = None, **written: str) -> Table:
    return engine_named(engine).reduce(source_at(path, **written), schema, missing_values=["NA"])


def both(path: Path, schema: Schema | None = None, **written: str) -> tuple[Table, Table]:
    return reduced(path, "memory", schema, **written), reduced(path, "duckdb", schema, **written)


def use_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the engine duckdb group numbers of values, however few rows and however many threads there are."""
    monkeypatch.setattr("sfumato.workflow.engines.duckdb._FEW_ROWS", 0)
    monkeypatch.setattr("sfumato.workflow.engines.duckdb._FEW_THREADS", 1 << 20)


def written_csv(path: Path, rows: list[list[str]], quote: str = '"', encoding: str = "utf-8") -> Path:
    import csv

    with path.open("w", encoding=encoding, newline="") as file:
        writer = csv.writer(file, quotechar=quote, quoting=csv.QUOTE_ALL)
        writer.writerows([["one", "two"], *rows])
    return path


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.lists(st.sampled_from(TEXTS), min_size=2, max_size=2), min_size=1, max_size=30),
    quote=st.sampled_from(['"', "'"]),
    encoding=st.sampled_from(["utf-8", "utf-16", "cp1252"]),
)
def test_a_csv_file_gives_the_same_table(
    tmp_path: Path, rows: list[list[str]], quote: str, encoding: str
) -> None:
    path = written_csv(tmp_path / "people.csv", rows, quote, encoding)
    assert same(*both(path, encoding=encoding, quote=quote, separator=","))


VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "text": (pa.string(), ["b", "a", None, " a ", "NA", ""]),
    "large text": (pa.large_string(), ["b", "a", None, " a "]),
    "words": (pa.dictionary(pa.int8(), pa.string()), ["b", "a", None]),
    "small": (pa.int8(), [3, -1, None]),
    "unsigned": (pa.uint64(), [2**64 - 1, 0, 5]),
    "float": (pa.float64(), [2.5, float("nan"), -0.0, 0.0, None, 1e300]),
    "single": (pa.float32(), [0.1, 2.0]),
    "decimal": (pa.decimal128(10, 2), [decimal.Decimal("1.50"), decimal.Decimal("2.00"), None]),
    "truth": (pa.bool_(), [True, False, None]),
    "day": (pa.date32(), [datetime.date(2024, 2, 29), datetime.date(1900, 1, 1), None]),
    "moment": (pa.timestamp("us"), [datetime.datetime(2024, 2, 29, 12, 30), None]),
    "midnight": (pa.timestamp("ns"), [datetime.datetime(2024, 2, 29), datetime.datetime(2023, 1, 1)]),
    "zone": (pa.timestamp("us", tz="Europe/Berlin"), [datetime.datetime(2024, 2, 29, 12, 30)]),
    "bytes": (pa.binary(), [b"a", b"b", None]),
    "nothing": (pa.null(), [None]),
    "half": (pa.float16(), [np.float16(0.1), np.float16(2.5), None]),
    "long decimals": (pa.decimal256(50, 2), [decimal.Decimal("1.10"), decimal.Decimal("2"), None]),
    "clock": (pa.time64("us"), [datetime.time(1, 2, 3), None]),
}


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("n_files", [1, 3])
@pytest.mark.parametrize("numbers", [False, True])
def test_parquet_gives_the_same_table_whatever_the_type(
    tmp_path: Path, kind: str, n_files: int, numbers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if numbers:
        use_numbers(monkeypatch)
    arrow_type, values = VALUES[kind]
    chance = random.Random(kind)
    (tmp_path / "parts").mkdir()
    for place in range(n_files):
        drawn = chance.choices(values, k=400)
        table = pa.table({"what": pa.array(drawn, arrow_type), "n": chance.choices(range(3), k=400)})
        pq.write_table(table, tmp_path / "parts" / f"{place}.parquet", row_group_size=50)
    memory, duckdb = both(tmp_path / "parts")
    assert same(memory, duckdb)
    assert memory.n_records == 400 * n_files


def test_rows_and_domains_are_in_the_order_of_the_records_not_of_the_threads(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    (tmp_path / "parts").mkdir()
    everything = []
    for place in range(5):
        values = [f"v{n}" for n in generator.integers(0, 5_000, 40_000)]
        everything += values
        pq.write_table(pa.table({"v": values}), tmp_path / "parts" / f"{place}.parquet", row_group_size=5_000)
    expected, counts = tuple(dict.fromkeys(everything)), Counter(everything)
    for engine in ("memory", "duckdb"):
        table = reduced(tmp_path / "parts", engine)
        assert table["v"].domain == expected
        assert table["v"].codes.tolist() == list(range(len(expected)))
        assert table.weights.tolist() == [counts[value] for value in expected]


PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "text": st.none() | st.sampled_from(TEXTS),
    "float": st.none() | st.sampled_from([0.0, -0.0, float("nan"), 2.5, 1e300]),
    "whole": st.none() | st.integers(-2, 2),
    "day": st.none() | st.dates(),
    "truth": st.none() | st.booleans(),
}
TYPES = {name: VALUES[name][0] for name in ("text", "float", "day", "truth")} | {"whole": pa.int64()}


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    parts=st.lists(st.lists(st.fixed_dictionaries(PLAIN), max_size=12), min_size=1, max_size=3),
    n_in_group=st.integers(1, 5),
)
def test_rows_that_are_grouped_by_numbers_of_values_are_the_same_table(
    tmp_path: Path, parts: list[list[dict[str, Any]]], n_in_group: int
) -> None:
    for file in tmp_path.iterdir():
        file.unlink()
    for place, rows in enumerate(parts):
        columns = {name: pa.array([row[name] for row in rows], kind) for name, kind in TYPES.items()}
        pq.write_table(pa.table(columns), tmp_path / f"{place}.parquet", row_group_size=n_in_group)
    with pytest.MonkeyPatch.context() as monkeypatch:
        use_numbers(monkeypatch)
        # only numbers are left to answer, so that nothing else can
        monkeypatch.setattr(
            "sfumato.workflow.engines.duckdb._rows", lambda *_: pytest.fail("values were grouped")
        )
        if not any(parts):
            with pytest.raises(DataError, match="no records"):
                reduced(tmp_path, "duckdb")
            return
        by_duckdb = reduced(tmp_path, "duckdb")
        monkeypatch.setattr("sfumato.workflow.engines.memory._OF_ONE_ROW", 0)
        batch_by_batch = reduced(tmp_path, "memory")
        monkeypatch.setattr("sfumato.workflow.engines.memory._numbered", lambda *_: None)
        column_by_column = reduced(tmp_path, "memory")
    assert same(by_duckdb, column_by_column)
    assert same(batch_by_batch, column_by_column)


def test_memory_puts_rows_together_batch_by_batch_where_many_are_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alike, different = tmp_path / "alike.parquet", tmp_path / "different.parquet"
    pq.write_table(pa.table({"v": ["a", "b", "a", "b"], "n": [1, 2, 1, 2]}), alike)
    pq.write_table(pa.table({"v": ["a", "b", "a", "b"], "n": [1, 2, 3, 2]}), different)
    monkeypatch.setattr(
        "sfumato.reading.parquet_files.ParquetFiles.read_encoded", lambda *_: pytest.fail("columns were read")
    )
    assert reduced(alike, "memory").weights.tolist() == [2, 2]
    with pytest.raises(pytest.fail.Exception, match="columns were read"):
        reduced(different, "memory")


@pytest.mark.parametrize("limit", ["_FEW_VALUES", "_MOST_VALUES", "_FEW_ROWS"])
def test_values_are_grouped_where_there_are_too_many_to_number_or_too_few_rows(
    tmp_path: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.workflow.engines import duckdb

    use_numbers(monkeypatch)
    if limit == "_FEW_ROWS":
        monkeypatch.undo()
        monkeypatch.setattr(duckdb, "_FEW_THREADS", 1 << 20)
    else:
        monkeypatch.setattr(f"sfumato.workflow.engines.parquet_codes.{limit}", 3)
    # the second file has a value too many where the first has not
    texts = {"_FEW_VALUES": ["a", "b", "c", "d"], "_MOST_VALUES": ["a", "b"], "_FEW_ROWS": ["a", "b"]}[limit]
    for place, values in enumerate((texts, ["e", "f", "g"])):
        pq.write_table(pa.table({"v": values, "n": [1] * len(values)}), tmp_path / f"{place}.parquet")
    grouped, usual = [], duckdb._rows

    def rows(*given: Any) -> Any:
        grouped.append(given)
        return usual(*given)

    monkeypatch.setattr(duckdb, "_rows", rows)
    assert same(*both(tmp_path))
    assert len(grouped) == 1


def test_with_many_threads_values_are_grouped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"v": ["a", "b", "a"]}), tmp_path / "a.parquet")
    use_numbers(monkeypatch)
    monkeypatch.setattr("sfumato.workflow.engines.duckdb._FEW_THREADS", 0)
    monkeypatch.setattr(
        "sfumato.workflow.engines.duckdb._numbered", lambda *_: pytest.fail("numbers were grouped")
    )
    assert same(*both(tmp_path / "a.parquet"))


def test_columns_are_read_by_their_own_names_whatever_others_are_called(tmp_path: Path) -> None:
    columns = {"A": ["x", "y", "x"], "a": ["p", "p", "q"], "file_row_number": [9, 5, 1]}
    pq.write_table(pa.table(columns), tmp_path / "odd.parquet")
    memory, duckdb = both(tmp_path / "odd.parquet")
    assert same(memory, duckdb)
    assert duckdb["a"].domain == ("p", "q")
    for name in columns:
        pq.write_table(pa.table({name: columns[name], "b": [2, 1, 1]}), tmp_path / f"{name}.parquet")
        assert same(*both(tmp_path / f"{name}.parquet"))


def test_one_of_several_parquet_files_may_have_no_records(tmp_path: Path) -> None:
    records = pa.table({"v": ["b", "a", "b"], "n": [1, 2, 1]})
    (tmp_path / "parts").mkdir()
    for place, part in enumerate((records.slice(0, 0), records, records.slice(0, 0))):
        pq.write_table(part, tmp_path / "parts" / f"{place}.parquet")
    memory, duckdb = both(tmp_path / "parts")
    assert same(memory, duckdb)
    assert memory.weights.tolist() == [2, 1]
    (tmp_path / "parts" / "1.parquet").unlink()
    for engine in ("memory", "duckdb"):
        with pytest.raises(DataError, match="no records"):
            reduced(tmp_path / "parts", engine)


def test_people_weights_and_households_are_the_same(tmp_path: Path) -> None:
    generator = np.random.default_rng(2)
    n = 3_000
    records = pa.table(
        {
            "name": [f"p{k}" for k in range(n)],
            "who": generator.integers(0, 900, n),
            "age": generator.integers(20, 30, n),
            "home": generator.integers(0, 700, n),
            "stands": generator.choice([1.1, 2.3, 7.7], n),
            "ill": generator.choice(["yes", "no"], n),
        }
    )
    pq.write_table(records, tmp_path / "people.parquet")
    schema = Schema(
        (
            Attribute("name", "identifying"),
            Attribute("who", "identifying"),
            Attribute("age", "quasi-identifying"),
            Attribute("ill", "sensitive"),
        ),
        person="who",
        survey_weight="stands",
        household="home",
    )
    memory, duckdb = both(tmp_path / "people.parquet", schema)
    assert "name" not in memory.columns
    whole = reduced(tmp_path / "people.parquet", "memory")
    tables = [schema.bind(table)[0] for table in (memory, duckdb, whole)]
    assert len({table.fingerprint for table in tables}) == 1
    assert tables[0].n_people < tables[0].n_records == n


def test_columns_that_are_not_released_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written_csv(tmp_path / "people.csv", [[SECRET, "1"], ["b", "1"]])
    schema = Schema.of(one="identifying", two="quasi-identifying")
    table = reduced(path, "duckdb", schema)
    assert table.names == ("two",)
    assert table.n_rows == 1


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_column_without_a_role_is_refused_before_records_are_read(tmp_path: Path, engine: str) -> None:
    path = written_csv(tmp_path / "people.csv", [["a", "1"]])
    with pytest.raises(SfumatoError, match="column 'two' of the data has no role"):
        reduced(path, engine, Schema.of(one="quasi-identifying"))


REFUSED: dict[str, tuple[str, bytes]] = {
    "a ragged row": ("a.csv", f"one,two\n1,2\n{SECRET}\n".encode()),
    "an open quote": ("a.csv", f'one,two\n1,2\n1,"{SECRET}\n'.encode() + b"3,4\n" * 2),
    "no record": ("a.csv", b"one,two\n"),
    "no Parquet": ("a.parquet", b"PAR1" + SECRET.encode() * 9 + b"PAR1"),
    "no file": ("missing.csv", b""),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_read_is_refused_in_the_same_words(tmp_path: Path, what: str) -> None:
    name, content = REFUSED[what]
    if content:
        (tmp_path / name).write_bytes(content)
    said = []
    for engine in ("memory", "duckdb"):
        with pytest.raises(DataError) as raised:
            reduced(tmp_path / name, engine)
        said.append(str(raised.value))
        assert SECRET not in said[-1]
        assert raised.value.__context__ is None
    assert said[0] == said[1]


@pytest.mark.parametrize("numbers", [False, True])
def test_damage_that_shows_only_among_the_records_is_told_without_a_value(
    tmp_path: Path, numbers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if numbers:
        use_numbers(monkeypatch)
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"a": [SECRET] * 5_000, "b": list(range(5_000))}), path, compression="none")
    content = bytearray(path.read_bytes())
    content[40:2_000] = b"\xff" * 1_960
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"people.parquet .*damaged") as raised:
        reduced(path, "duckdb")
    assert SECRET not in str(raised.value)
    assert raised.value.__context__ is None


def test_a_type_that_is_no_text_or_number_is_refused_in_the_same_words(tmp_path: Path) -> None:
    pq.write_table(pa.table({"span": pa.array([1, 2], pa.duration("s"))}), tmp_path / "spans.parquet")
    for engine in ("memory", "duckdb"):
        with pytest.raises(DataError, match=r"column 'span' has the type duration"):
            reduced(tmp_path / "spans.parquet", engine)


@pytest.mark.parametrize("numbers", [False, True])
def test_a_file_that_changes_while_it_is_read_is_refused_without_its_values(
    tmp_path: Path, numbers: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if numbers:
        use_numbers(monkeypatch)
    pq.write_table(pa.table({"n": [1, 2]}), tmp_path / "people.parquet")
    source = source_at(tmp_path / "people.parquet")
    assert source.schema.names == ["n"]
    pq.write_table(pa.table({"n": [SECRET]}), tmp_path / "people.parquet")
    with pytest.raises(DataError, match=r"people\.parquet was changed while it was read") as raised:
        engine_named("duckdb").reduce(source)
    assert SECRET not in str(raised.value)
    assert raised.value.__context__ is None


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_that_vanishes_before_its_records_are_read_is_said_to_be_gone(
    tmp_path: Path, engine: str, ending: str
) -> None:
    path = tmp_path / f"people.{ending}"
    if ending == "csv":
        path.write_text("a\n1\n")
    else:
        pq.write_table(pa.table({"a": ["1"]}), path)
    source = source_at(path)
    assert source.schema.names == ["a"]
    path.unlink()
    with pytest.raises(DataError, match=rf"^people\.{ending} does not exist"):
        engine_named(engine).reduce(source)


def test_infinite_numbers_are_counted_as_records(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1.0, float("inf"), float("inf")]}), tmp_path / "a.parquet")
    for engine in ("memory", "duckdb"):
        with pytest.raises(DataError, match="column 'a' has 2 infinite numbers"):
            reduced(tmp_path / "a.parquet", engine)


@pytest.fixture
def visits(tmp_path: Path) -> Callable[[str], Path]:
    def written(name: str) -> Path:
        generator = np.random.default_rng(3)
        table = pa.table(
            {
                "age": generator.integers(0, 1_000, 20_000),
                "sex": generator.choice(["f", "m"], 20_000),
            }
        )
        if name.endswith(".csv"):
            import pyarrow.csv as arrow_csv

            arrow_csv.write_csv(table, tmp_path / name)
        else:
            pq.write_table(table, tmp_path / name)
        return tmp_path / name

    return written


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("name", ["visits.csv", "visits.parquet"])
def test_too_many_distinct_rows_are_told_with_the_level_that_would_fit(
    visits: Callable[[str], Path], name: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.data.hierarchy import Intervals
    from sfumato.workflow.engines import duckdb

    asked = duckdb if engine == "duckdb" else capacity
    path = visits(name)
    schema = Schema(
        (
            Attribute("age", "quasi-identifying", "numeric", Intervals((10, 100))),
            Attribute("sex", "quasi-identifying"),
        )
    )
    monkeypatch.setattr(asked, "rows_that_fit", lambda n_columns: 300)
    with pytest.raises(DataError) as raised:
        reduced(path, engine, schema)
    # 1,000 ages and two sexes are 2,000 rows; decades are 100 and two sexes 200
    said = str(raised.value)
    assert said.startswith(f"{name} has about ")
    assert "this machine has memory for 300: 'age' at level 1 would leave about " in said
    monkeypatch.setattr(asked, "rows_that_fit", lambda n_columns: 15)
    with pytest.raises(DataError, match="withholding 'age' would leave about 2;"):
        reduced(path, engine, schema)


def test_too_many_distinct_rows_of_which_nothing_is_known_are_told_without_advice(
    visits: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capacity, "rows_that_fit", lambda n_columns: 300)
    with pytest.raises(DataError, match=r"has about 2,000 distinct rows and .* for 300: write the column"):
        reduced(visits("visits.csv"), "memory")


@pytest.mark.parametrize("name", ["visits.csv", "visits.parquet"])
def test_what_cannot_be_read_at_once_is_refused_before_a_record_is_read(
    visits: Callable[[str], Path], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = visits(name)
    # 20,000 records of two columns take 48 bytes each; the text has more than 80,000 letters
    needed = 20_000 * (2 * 4 + 40) if name.endswith("parquet") else path.stat().st_size
    monkeypatch.setattr(capacity, "rows_that_fit", lambda n_columns: 20_000)
    monkeypatch.setattr(capacity, "memory", lambda: int(needed / SHARE) + 2)
    assert reduced(path, "memory").n_records == 20_000
    monkeypatch.setattr(capacity, "memory", lambda: int(needed / SHARE) - 2)
    monkeypatch.setattr(
        "sfumato.workflow.engines.memory._count_rows", lambda *_: pytest.fail("a record was read")
    )
    with pytest.raises(DataError, match=rf'^{name} takes about .* GB .* set engine = "duckdb" in \[data\]'):
        reduced(path, "memory")


def test_many_records_are_read_column_by_column_to_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "people"
    folder.mkdir()
    for part, town in enumerate((["a", None, " b "], ["b", "NA", "c"])):
        people = pa.table({"age": [1, 2, 1], "town": town, "__index_level_0__": [7, 8, 9], "id": [part] * 3})
        pq.write_table(people, folder / f"{part}.parquet")
    schema = Schema.of(
        {
            "age": "quasi-identifying",
            "town": "sensitive",
            "id": "identifying",
            "__index_level_0__": "identifying",
        }
    )
    at_once = [reduced(folder, "memory", described) for described in (None, schema)]
    monkeypatch.setattr("sfumato.workflow.engines.memory._MANY", 5)
    for expected, described in zip(at_once, (None, schema), strict=True):
        assert same(reduced(folder, "memory", described), expected)
    assert (at_once[0].names, at_once[1].names) == (("age", "town", "id"), ("age", "town"))


def test_the_rows_that_fit_grow_with_memory_and_shrink_with_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "memory", lambda: 8 << 30)
    assert capacity.rows_that_fit(7) == int(0.8 * (8 << 30)) // 400
    assert capacity.rows_that_fit(15) * 2 in (capacity.rows_that_fit(7), capacity.rows_that_fit(7) - 1)


def test_nothing_is_left_in_the_folder_of_temporary_files(
    tmp_path: Path, visits: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    reduced(visits("visits.csv"), "duckdb")
    assert list(place.iterdir()) == []


def test_temporary_space_that_is_used_up_is_told_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sfumato.workflow.engines import duckdb

    path = tmp_path / "people.csv"
    path.write_text("who\n" + "\n".join(f"{SECRET} {number}" for number in range(600_000)) + "\n")
    usual = duckdb._settings
    narrow = {"memory_limit": "20MB", "max_temp_directory_size": "1MB"}
    monkeypatch.setattr(duckdb, "_settings", lambda folder: {**usual(folder), **narrow})
    with pytest.raises(DataError, match=r"people\.csv takes more temporary space .* TMPDIR") as raised:
        reduced(path, "duckdb")
    assert SECRET not in str(raised.value)
    assert raised.value.__context__ is None


def test_texts_that_parquet_files_hold_once_are_the_same_table_as_plain_ones(tmp_path: Path) -> None:
    parts = [["a", None, " a", "b"], ["c", "b", "NA", "a"], ["b", "b", "", "c"]]
    for number, texts in enumerate(parts):
        records = {"t": pa.array(texts), "n": pa.array([1, 2, 1, None])}
        pq.write_table(pa.table(records), tmp_path / f"{number}.parquet", row_group_size=2)
    plain = pa.concat_tables([pq.read_table(path) for path in sorted(tmp_path.iterdir())])
    assert pa.types.is_string(plain.schema.field("t").type)
    assert same(reduced(tmp_path, "memory"), Table.from_arrow(plain, missing_values=["NA"]))
