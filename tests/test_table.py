"""Table: what goes in comes out, whoever gives it; and nothing of it leaks or changes."""

from __future__ import annotations

import datetime
import decimal
import math
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sfumato.data.kinds import CATEGORICAL, NUMERIC
from sfumato.data.table import (
    Column,
    Table,
    compacted,
    decode,
    text,
)
from sfumato.runtime.errors import DataError
from sfumato.runtime.numerals import (
    number,
)

SECRET = "SECRETVALUE"

# Every kind of value that a source may hold: whole numbers, fractions, text; with gaps and repeated records.
PEOPLE: dict[str, list[Any]] = {
    "age": [31, None, 31, -4, 31, 2**40],
    "weight": [71.5, 60.0, 71.5, None, 71.5, 60.25],
    "town": ["Bonn", "", "Bonn", None, "Bonn", "Köln"],
}
PEOPLE_RECORDS = Counter(
    {
        (31, 71.5, "Bonn"): 3,
        (None, 60.0, None): 1,
        (-4, None, None): 1,
        (2**40, 60.25, "Köln"): 1,
    }
)


def records(source: Any) -> Counter[tuple[Any, ...]]:
    """Return the multiset of the records of anything Arrow can read."""
    table = source if isinstance(source, pa.Table) else pa.table(source)
    return Counter(tuple(record.values()) for record in table.to_pylist())


def domain(values: Any, **options: Any) -> tuple[Any, ...]:
    return Table.from_arrow({"column": values}, **options)["column"].domain


def refusal(source: Any) -> str:
    """Return the message of a refusal, after the checks that every refusal must pass."""
    with pytest.raises(DataError) as caught:
        Table.from_arrow(source)
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in repr(error)
        error = error.__cause__ or error.__context__
    message = str(caught.value)
    assert "\n" not in message
    assert ";" in message, "the remedy follows the semicolon"
    return message


def as_duckdb(columns: dict[str, list[Any]]) -> Any:
    relation = pa.table(columns)
    return duckdb.connect().from_arrow(relation)


SOURCES: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "dict": lambda columns: columns,
    "mapping": types.MappingProxyType,
    "arrow table": pa.table,
    "arrow record batch": pa.record_batch,
    "arrow reader": lambda columns: pa.table(columns).to_reader(),
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas on arrow": lambda columns: pa.table(columns).to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.DataFrame,
    "polars categories": lambda columns: pl.DataFrame(columns).with_columns(
        pl.col("town").cast(pl.Categorical)
    ),
    "duckdb": as_duckdb,
    "table": lambda columns: Table.from_arrow(columns),
}


# ------------------------------------------------------------------------------------- in and out


@pytest.mark.parametrize("source", SOURCES)
def test_the_records_of_every_source_come_out_as_they_went_in(source: str) -> None:
    table = Table.from_arrow(SOURCES[source](PEOPLE))
    assert records(table.to_arrow()) == PEOPLE_RECORDS
    assert table.names == ("age", "weight", "town")
    assert (table.n_records, table.n_rows) == (6, 4)


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_table(source: str) -> None:
    assert Table.from_arrow(SOURCES[source](PEOPLE)).fingerprint == Table.from_arrow(PEOPLE).fingerprint


def test_a_table_goes_back_to_pandas_polars_and_duckdb() -> None:
    people = Table.from_arrow(PEOPLE)
    frame = pd.DataFrame.from_arrow(people)
    assert records(pa.Table.from_pandas(frame, preserve_index=False)) == PEOPLE_RECORDS
    assert records(pl.DataFrame(people)) == PEOPLE_RECORDS
    assert duckdb.sql("select sum(weight), count(*) from people").fetchall() == [(334.75, 6)]


def test_out_come_integers_floats_and_text() -> None:
    assert [str(field.type) for field in Table.from_arrow(PEOPLE).to_arrow().schema] == [
        "int64",
        "double",
        "string",
    ]


values = st.none() | st.sampled_from(["a", "b", "", "x y"])
numbers = st.none() | st.integers(-3, 3) | st.floats(-2, 2) | st.just(math.nan)


@given(
    st.lists(
        st.tuples(values, numbers, st.none() | st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=25
    )
)
def test_any_records_come_out_as_they_went_in_each_distinct_row_once(rows: list[tuple[Any, ...]]) -> None:
    columns = list(zip(*rows, strict=True))
    arrow = pa.table(
        {
            "text": pa.array(columns[0], pa.string()),
            "float": pa.array([None if v is None else float(v) for v in columns[1]], pa.float64()),
            "whole": pa.array(columns[2], pa.int64()),
        }
    )
    expected = Counter((t or None, None if f is None or math.isnan(f) else float(f), w) for t, f, w in rows)
    table = Table.from_arrow(arrow)
    assert records(table.to_arrow()) == expected
    assert sorted(table.weights.tolist()) == sorted(expected.values())
    assert table.n_rows == len(expected)


@given(st.lists(numbers, min_size=1, max_size=25))
def test_numbers_ascend_and_a_missing_value_comes_last(given_numbers: list[float | None]) -> None:
    column = pa.array([None if v is None else float(v) for v in given_numbers], pa.float64())
    table = Table.from_arrow({"column": column})
    present = sorted({v for v in given_numbers if v is not None and not math.isnan(v)})
    lacks = any(v is None or math.isnan(v) for v in given_numbers)
    assert list(table["column"].domain) == present + [None] * lacks
    assert table["column"].kind == NUMERIC
    assert table["column"].has_missing == lacks


@given(st.lists(values, min_size=1, max_size=25))
def test_categories_come_in_the_order_in_which_they_first_occur(given_values: list[str | None]) -> None:
    column = Table.from_arrow({"column": pa.array(given_values, pa.string())})["column"]
    present = list(dict.fromkeys(v for v in given_values if v))
    assert list(column.domain) == present + [None] * (not all(given_values))
    assert column.kind == CATEGORICAL


# --------------------------------------------------------------------------------- kinds of values


def test_whole_numbers_with_gaps_that_pandas_made_floats_are_whole_numbers_again() -> None:
    frame = pd.DataFrame({"column": [3, None, 1]})
    assert frame["column"].dtype == np.float64
    table = Table.from_arrow(frame)
    assert repr(table["column"].domain) == "(1, 3, None)"
    assert table.to_arrow()["column"].to_pylist() == [3, None, 1]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT, ""])
def test_every_spelling_of_nothing_in_a_column_of_text_is_missing(missing: Any) -> None:
    assert Table.from_arrow(pd.DataFrame({"column": ["a", missing]}, dtype=object))["column"].domain == (
        "a",
        None,
    )


def test_blanks_around_a_value_do_not_make_another_value() -> None:
    assert domain(["a", " a", "a\t", "  ", ""]) == ("a", None)


def test_given_spellings_of_missing_count_as_missing_in_text_only() -> None:
    assert domain(["?", "a", " NA "], missing_values=["?", "NA"]) == ("a", None)
    assert domain([7, 8], missing_values=["7"]) == (7, 8)


ONE_DAY = datetime.datetime(2026, 11, 15)
BERLIN = "Europe/Berlin"


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ([True, None, False], ("true", "false", None)),
        ([ONE_DAY.date(), None], ("2026-11-15", None)),
        (pa.array([ONE_DAY, None], pa.timestamp("s")), ("2026-11-15", None)),
        (pa.array([ONE_DAY, None], pa.timestamp("ns")), ("2026-11-15", None)),
        (pa.array([ONE_DAY], pa.date64()), ("2026-11-15",)),
        (
            pa.array(pd.to_datetime(["2026-11-15", "2026-07-15"]).tz_localize(BERLIN)),
            ("2026-11-15", "2026-07-15"),
        ),
        (
            pa.array([ONE_DAY, ONE_DAY + datetime.timedelta(hours=7)], pa.timestamp("s")),
            ("2026-11-15 00:00:00", "2026-11-15 07:00:00"),
        ),
        (pa.array([datetime.time(7, 30)], pa.time32("s")), ("07:30:00",)),
        ([decimal.Decimal("2.50"), decimal.Decimal("-1.00")], (-1, 2.5)),
        ([decimal.Decimal(2**53 + 1), decimal.Decimal(2**53)], (2**53, 2**53 + 1)),
        (np.array([2.5, 1.0], np.float16), (1, 2.5)),
        (np.array([200, 100], np.uint8), (100, 200)),
        (pa.array(["b", "a"]).dictionary_encode(), ("b", "a")),
        (pa.array([7, None, 5]).dictionary_encode(), (5, 7, None)),
        (pa.array(["b", "a"], pa.large_string()), ("b", "a")),
        (pa.array(["b", "a"], pa.string_view()), ("b", "a")),
        (pa.array([b"b", b"a"]), ("b", "a")),
        (pa.nulls(2), (None,)),
        (pd.Categorical(["b", None, "a"], categories=["a", "b", "never"]), ("b", "a", None)),
        (pl.Series(["b", None, "a"], dtype=pl.Enum(["a", "b"])), ("b", "a", None)),
        (np.array(["b", "a"]), ("b", "a")),
        ([-0.0, 0.0], (0,)),
        ([1e300, 2.0], (2, 1e300)),
    ],
)
def test_a_column_of_this_type_has_this_domain(column: Any, expected: tuple[Any, ...]) -> None:
    source = pl.DataFrame({"column": column}) if isinstance(column, pl.Series) else {"column": column}
    assert repr(Table.from_arrow(source)["column"].domain) == repr(expected)


def test_chunks_with_different_dictionaries_are_one_column() -> None:
    chunks = [pa.array(part).dictionary_encode() for part in (["x", "y", None], ["y", "z"], ["x"])]
    table = Table.from_arrow(pa.table({"column": pa.chunked_array(chunks)}))
    assert table["column"].domain == ("x", "y", "z", None)
    assert records(table.to_arrow()) == Counter({("x",): 2, ("y",): 2, ("z",): 1, (None,): 1})


def test_large_neighbouring_numbers_stay_apart_and_in_order() -> None:
    assert domain([2**53 + 1, 2**53, -(2**63)]) == (-(2**63), 2**53, 2**53 + 1)


def test_numbers_beyond_64_bits_survive_as_text() -> None:
    table = Table.from_arrow({"column": pa.array([2**64 - 1, 3], pa.uint64())})
    assert table["column"].domain == (3, 2**64 - 1)
    assert sorted(table.to_arrow()["column"].to_pylist()) == ["18446744073709551615", "3"]


@pytest.mark.parametrize("index", [[5, 5, 7], [2, 0, 1], ["x", "y", "z"]])
def test_the_labels_of_pandas_rows_do_not_matter_and_do_not_get_in(index: list[Any]) -> None:
    frame = pd.DataFrame({"age": [31, 42, 31], "sex": ["f", "m", "f"]})
    labelled = frame.set_axis(index)
    assert Table.from_arrow(labelled).names == ("age", "sex")
    assert Table.from_arrow(labelled).fingerprint == Table.from_arrow(frame).fingerprint
    assert Table.from_arrow(pa.Table.from_pandas(labelled)).fingerprint == Table.from_arrow(frame).fingerprint


def test_an_index_with_a_name_is_a_column() -> None:
    frame = pd.DataFrame({"age": [31, 42]}, index=pd.Index([7, 8], name="patient"))
    assert Table.from_arrow(frame).names == ("age", "patient")


def test_a_filtered_and_shuffled_frame_gives_its_own_records() -> None:
    frame = pd.DataFrame({"age": range(100), "sex": ["f", "m"] * 50})
    some = frame[frame["age"] % 7 == 0].sample(frac=1, random_state=1)
    assert records(Table.from_arrow(some).to_arrow()) == Counter(some.itertuples(index=False, name=None))


# ------------------------------------------------------------------------------------ immutability


def test_a_second_table_in_one_process_has_nothing_of_the_first() -> None:
    first = Table.from_arrow({"age": [1, 2, 3], "town": ["a", "b", "c"]})
    before = first.fingerprint
    second = Table.from_arrow({"age": [9], "town": ["z"]})
    assert records(second.to_arrow()) == Counter({(9, "z"): 1})
    again = Table.from_arrow({"age": [1, 2, 3], "town": ["a", "b", "c"]})
    assert first.fingerprint == before == again.fingerprint


def test_every_array_is_read_only() -> None:
    table = Table.from_arrow(PEOPLE)
    parts = (
        table,
        table.select(["age"]),
        table.take(np.array([0, 2])),
        compacted(table.columns, table.weights),
    )
    for part in parts:
        for array in (part.weights, *(column.codes for column in part.columns.values())):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1


def test_what_the_caller_holds_is_not_changed() -> None:
    frame = pd.DataFrame({"age": np.array([3, 1, 2]), "town": ["b", "a", ""]}, index=[9, 9, 4])
    before = frame.copy(deep=True)
    codes, weights = np.array([0, 1], np.int32), np.array([1, 1])
    Table.from_arrow(frame)
    Table({"column": Column(codes, ("a", "b"))}, weights)
    pd.testing.assert_frame_equal(frame, before)
    assert codes.flags.writeable
    assert weights.flags.writeable


@pytest.mark.parametrize("make", ["array", "view", "read-only view", "pandas"])
def test_what_the_caller_changes_afterwards_does_not_change_the_table(make: str) -> None:
    codes = np.array([0, 1, 1], np.int32)
    held: Any = codes
    if make == "view":
        held = codes[:]
    elif make == "read-only view":
        held = codes.view()
        held.setflags(write=False)
    elif make == "pandas":
        held = pd.Series(codes, copy=False)
    column = Column(held, ("a", "b"))
    codes[:] = 0
    assert column.codes.tolist() == [0, 1, 1]


def test_changing_the_arrays_that_a_table_was_read_from_does_not_change_it() -> None:
    ages = np.array([31, 42, 31])
    frame = pd.DataFrame({"age": ages}, copy=False)
    table, of_frame = Table.from_arrow({"age": ages}), Table.from_arrow(frame)
    ages[:] = 0
    for read in (table, of_frame):
        assert sorted(read.to_arrow()["age"].to_pylist()) == [31, 31, 42]


def test_changing_the_mapping_of_columns_does_not_change_the_table() -> None:
    columns = {"age": Column(np.array([0]), (31,), NUMERIC)}
    table = Table(columns, np.array([1]))
    columns.clear()
    assert table.names == ("age",)


# ---------------------------------------------------------------------------- parts of a table


def test_selecting_columns_puts_equal_rows_together() -> None:
    table = Table.from_arrow({"age": [1, 1, 2, 2], "town": ["a", "b", "a", "a"]}).select(["age"])
    assert table.names == ("age",)
    assert table.weights.tolist() == [2, 2]


def test_taking_rows_leaves_only_the_values_that_still_occur() -> None:
    table = Table.from_arrow({"age": [1, 2, 3], "town": ["a", None, "c"]}).take(np.array([2, 0]))
    assert table["age"].domain == (1, 3)
    assert table["town"].domain == ("a", "c")
    assert table.to_arrow().to_pylist() == [{"age": 3, "town": "c"}, {"age": 1, "town": "a"}]


def test_reordering_a_domain_keeps_every_value() -> None:
    column = Column(np.array([0, 1, 2, 0]), ("a", "b", None))
    turned = column.reordered(("b", None, "a"))
    assert [turned.domain[code] for code in turned.codes] == ["a", "b", None, "a"]
    assert turned.has_missing


def test_a_column_knows_whether_its_numbers_are_whole() -> None:
    assert Column(np.array([0, 1]), (1, None), NUMERIC).is_whole
    assert not Column(np.array([0, 1]), (1, 1.5), NUMERIC).is_whole


def test_one_record_and_one_column_are_a_table() -> None:
    table = Table.from_arrow({"age": [31]})
    assert (table.n_records, table.n_rows, table["age"].domain) == (1, 1, (31,))


def test_the_values_behind_codes_are_written_with_their_type() -> None:
    assert decode((1, 2, None), np.array([2, 0], np.int32)).to_pylist() == [None, 1]
    assert str(decode((1, 2.5), np.array([0], np.int32)).type) == "double"
    assert decode((None,), np.array([0, 0], np.int32)).to_pylist() == [None, None]


# ------------------------------------------------------------------------------------ fingerprint


def test_equal_content_has_an_equal_fingerprint() -> None:
    columns = {"age": [1, 2, 1], "town": ["a", None, "a"]}
    assert Table.from_arrow(columns).fingerprint == Table.from_arrow(pl.DataFrame(columns)).fingerprint


@pytest.mark.parametrize(
    "other",
    [
        {"age": [1, 2, 2], "town": ["a", "b", "b"]},
        {"age": [1, 2, 1], "town": ["a", "b", "c"]},
        {"age": [1, 3, 1], "town": ["a", "b", "a"]},
        {"age": ["1", "2", "1"], "town": ["a", "b", "a"]},
        {"age": [1, 2, 1], "city": ["a", "b", "a"]},
        {"town": ["a", "b", "a"], "age": [1, 2, 1]},
        {"age": [1, 2, 1], "town": ["a", None, "a"]},
        {"age": [1, 2], "town": ["a", "b"]},
        {"age": [1, 2, 1]},
    ],
)
def test_other_content_has_another_fingerprint(other: dict[str, list[Any]]) -> None:
    table = Table.from_arrow({"age": [1, 2, 1], "town": ["a", "b", "a"]})
    assert Table.from_arrow(other).fingerprint != table.fingerprint


# ----------------------------------------------------------------------------------- no value leaks


def test_no_value_is_shown_by_a_table_or_a_column() -> None:
    table = Table.from_arrow({"name": [SECRET, "x"], "age": [1, 2]})
    for thing in (table, table["name"], table.columns):
        assert SECRET not in repr(thing)
        assert SECRET not in str(thing)


REFUSED: dict[str, Callable[[], Any]] = {
    "mixed types": lambda: {"name": [1, SECRET]},
    "mixed types in pandas": lambda: pd.DataFrame({"name": [1, SECRET]}),
    "text that is not text": lambda: {"name": [SECRET + "\ud800"]},
    "unequal lengths": lambda: {"name": [SECRET], "age": [1, 2]},
    "not a column": lambda: {"name": 5},
    "numbers beyond 64 bits": lambda: {"name": [2**70]},
    "a failing query": lambda: duckdb.sql(f"select x::int as name from (values ('1'), ('{SECRET}')) as t(x)"),
    "no records": lambda: {"name": pa.array([], pa.string())},
    "no columns": dict,
    "a list": lambda: [{"name": SECRET}],
    "a path": lambda: SECRET,
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_a_table_is_refused_in_one_line_without_a_value(what: str) -> None:
    refusal(REFUSED[what]())


@pytest.mark.parametrize(
    "column",
    [
        pa.array([[SECRET]]),
        pa.array([{"inner": SECRET}]),
        pa.array([[("key", SECRET)]], pa.map_(pa.string(), pa.string())),
        pa.array([datetime.timedelta(1)]),
        pa.array([b"\xff\xfe" + SECRET.encode()]),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pa.array([b"0123456789abcdef"], pa.uuid()),
        pd.Series(pd.period_range("2026", periods=1, freq="M")),
        pd.Series(pd.interval_range(0, 1)),
    ],
    ids=lambda column: str(getattr(column, "type", getattr(column, "dtype", None))),
)
def test_a_type_that_is_neither_text_nor_number_is_refused_by_the_name_of_its_column(column: Any) -> None:
    message = refusal(
        pd.DataFrame({"visits": column}) if isinstance(column, pd.Series) else {"visits": column}
    )
    assert "column 'visits' has the type" in message


def test_infinite_numbers_are_refused_with_their_count() -> None:
    message = refusal({"age": [1.0, math.inf, -math.inf, math.inf]})
    assert "column 'age' has 3 infinite numbers" in message


def test_a_column_name_that_occurs_twice_is_refused() -> None:
    assert "'age' occurs more than once" in refusal(pa.table([[1], [2]], names=["age", "age"]))


def test_an_unknown_column_suggests_a_near_miss_or_lists_what_there_is() -> None:
    table = Table.from_arrow({"age": [1], "town": ["a"]})
    with pytest.raises(DataError, match="did you mean 'town'"):
        table["twon"]
    with pytest.raises(DataError, match="it has age, town"):
        table["zzz"]


# ------------------------------------------------------------------------- numbers as they are written


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("39", 39),
        ("-39", -39),
        ("+39", 39),
        ("007", 7),
        ("39.0", 39),
        ("2.5", 2.5),
        (" 2.5 ", 2.5),
        ("1e3", 1000),
        (str(2**70), 2**70),
        ("", None),
        ("-", None),
        ("+-5", None),
        ("1_000", None),
        ("1,5", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("0x10", None),
        ("9" * 5000, None),
    ],
)
def test_text_that_is_a_number_is_read_as_one_and_nothing_else_is(written: str, expected: Any) -> None:
    assert repr(number(written)) == repr(expected)


@pytest.mark.parametrize(
    ("written", "expected"), [("2,5", 2.5), ("-39", -39), ("1.234", None), ("1.234,5", None)]
)
def test_with_a_decimal_comma_a_dot_is_no_part_of_a_number(written: str, expected: Any) -> None:
    assert repr(number(written, decimal=",")) == repr(expected)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False))
@example(2**53 + 1)
@example(10**400)
@example(1e22)
def test_a_number_is_written_so_that_it_can_be_read_again(value: float) -> None:
    written = text(value)
    assert written is not None
    assert number(written) == value


def test_more_text_than_a_plain_array_holds_is_given_as_large_text(monkeypatch: pytest.MonkeyPatch) -> None:
    towns = ["a" * 50, "b" * 50, None] * 4
    small = Table.from_arrow({"town": towns}).to_arrow()
    monkeypatch.setattr("sfumato.data.table._MOST_BYTES", 1000)
    large = Table.from_arrow({"town": towns}).to_arrow()
    assert (small["town"].type, large["town"].type) == (pa.string(), pa.large_string())
    assert sorted(map(str, large["town"].to_pylist())) == sorted(map(str, towns))
    assert Table.from_arrow(large).n_records == 12
