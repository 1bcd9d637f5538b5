"""Shapes: numbers, dates and codes are recognised in text, and missing values whatever their spelling."""

from __future__ import annotations

import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.hierarchy import Dates, Prefixes
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table
from sfumato.reading.column_shapes import (
    DateFormat,
    as_dates,
    as_numbers,
    decimal_mark,
    likely_missing_values,
)
from sfumato.runtime.numerals import number

# Numbers


@pytest.mark.parametrize(
    ("values", "are_numbers"),
    [
        (["1", "2.5", "-3", "+4", ".5", "1e-05", "1.0E7"], True),
        (["0", "10", "0.5"], True),
        (["0171", "171"], False),
        (["1E5", "2E7"], False),
        (["1_000", "2_000"], False),
        (["12345678901234567890", "1"], False),
        (["12", "a"], False),
        (["1,200", "31,500"], False),
        (["inf", "1", "2"], False),
        ([], False),
    ],
)
def test_numbers_are_told_from_codes(values: list[str], are_numbers: bool) -> None:
    assert (as_numbers(values, ".") is not None) == are_numbers


@given(
    st.lists(st.text("0123456789+-.,eE_ ", min_size=1, max_size=6), min_size=1, max_size=4),
    st.sampled_from([".", ","]),
)
def test_numbers_are_those_that_a_table_reads(values: list[str], mark: str) -> None:
    numbers = as_numbers(values, mark)
    if numbers is not None:
        assert numbers.tolist() == [number(value, mark) for value in values]


@pytest.mark.parametrize(
    ("columns", "mark"),
    [
        ({"a": ["2,5", "3"]}, ","),
        ({"a": ["2,5", "?"]}, ","),
        ({"a": ["0,125", "0,250"]}, ","),
        ({"a": ["1,200", "31,500"]}, "."),
        ({"a": ["2,5", "3"], "b": ["3.200", "4.100"]}, ","),
        ({"a": ["2,5"], "b": ["2.5"], "c": ["3.5"]}, "."),
        ({"a": ["Bonn, Rhein", "2,5"], "b": ["1", "2"]}, "."),
        ({"a": [2.5, 3.0]}, "."),
    ],
)
def test_decimal_commas_are_recognised(columns: dict[str, list[Any]], mark: str) -> None:
    assert decimal_mark(Table.from_arrow(columns)) == mark


# Dates


@pytest.mark.parametrize(
    ("values", "format_"),
    [
        (["2024-01-31", "1961-7-3"], "%Y-%m-%d"),
        (["2024/01/31", "1961/07/03"], "%Y/%m/%d"),
        (["31/01/2024", "03/07/1961"], "%d/%m/%Y"),
        (["01/31/2024", "07/03/1961"], "%m/%d/%Y"),
        (["03.07.1961", "1.2.2003"], "%d.%m.%Y"),
        (["20240131", "19610703"], "%Y%m%d"),
        (["2024-01-31T10:00:59", "2024-01-31T10:01:00"], "%Y-%m-%dT%H:%M:%S"),
        (["2024-01-31 10:00:59.123Z", "2024-01-31 10:01:00.5+01:00"], "%Y-%m-%d %H:%M:%S.%f%z"),
    ],
)
def test_dates_are_recognised_with_their_format(values: list[str], format_: str) -> None:
    assert as_dates(values) == DateFormat(Dates(format=format_))
    schema = Schema((Attribute("seen", "quasi-identifying", "categorical", Dates(format=format_)),))
    schema.bind(Table.from_arrow({"seen": [*values, None]}))


@given(
    st.lists(st.dates(datetime.date(1800, 1, 1), datetime.date(2099, 12, 31)), min_size=1, max_size=6),
    st.sampled_from(["%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y%m%d", "%Y-%m-%d %H:%M"]),
)
def test_the_format_reads_the_dates_that_were_written_unless_it_says_that_it_may_not(
    days: list[datetime.date], format_: str
) -> None:
    written = [day.strftime(format_) for day in days]
    found = as_dates(written)
    assert found is not None
    assert isinstance(found.hierarchy, Dates)
    read = [datetime.datetime.strptime(value, found.hierarchy.format).date() for value in written]
    assert read == days or "check the format" in found.note


def test_dates_that_could_be_read_either_way_are_noted() -> None:
    found = as_dates(["03/07/1961", "04/08/1972"])
    assert found is not None
    assert found.hierarchy == Dates(format="%d/%m/%Y")
    assert "cannot be told apart" in found.note


@pytest.mark.parametrize(
    "values",
    [["31/12/2024", "12/31/2024"], ["2024-02-30", "2024-02-31"], ["99/99/2024"], ["2024-01-31", "x"], []],
)
def test_what_is_no_date_is_not_taken_for_one(values: list[str]) -> None:
    assert as_dates(values) is None


@pytest.mark.parametrize("values", [["2024-01-31", "31.01.2024"], ["2024-01-31", "2024/01/31"]])
def test_dates_in_two_formats_have_no_hierarchy_and_are_noted(values: list[str]) -> None:
    found = as_dates(values)
    assert found is not None
    assert found.hierarchy is None
    assert "more than one format" in found.note


@pytest.mark.parametrize(
    "values", [["2024-01-31 10:00:00.5", "2024-01-31 10:00:00"], ["2024-01-31", "2024-01-31 10:00"]]
)
def test_times_of_uneven_precision_generalize_by_prefix(values: list[str]) -> None:
    found = as_dates(values)
    assert found is not None
    assert found.hierarchy == Prefixes((10, 7, 4))


# Missing values


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        (["?", "Private", "State"], ("?",)),
        (["NULL", "red", "blue"], ("NULL",)),
        (["NA", "12", "13"], ("NA",)),
        (["NA", "DE", "FR"], ()),
        (["None", "asthma"], ()),
        (["None", "none", "yes", "no"], ("None", "none")),
        (["-", "+", "+"], ()),
        (["-", "2024-01-31"], ("-",)),
        (["-", "E11.9"], ("-",)),
        ([".", "#N/A", "nan", "2,5"], ("#N/A", "nan", ".")),
        (["null", "a@b.org"], ("null",)),
        (["NA", "1.250,75", "12,00"], ("NA",)),
        (["NA", "NA"], ()),
        (["Nan", "Ann"], ()),
        ([" ? ", "12"], ("?",)),
    ],
)
def test_spellings_of_missing_are_told_from_values(values: list[str], missing: tuple[str, ...]) -> None:
    assert likely_missing_values(Table.from_arrow({"column": values})) == missing


def test_a_star_is_a_withheld_value_and_so_a_missing_one() -> None:
    assert likely_missing_values(Table.from_arrow({"town": ["a", "*", "b"], "age": [1, 2, 3]})) == ("*",)
