"""Guessing: roles, kinds and hierarchies from names and values."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.data.hierarchy import Dates, Intervals, Nested, Prefixes
from sfumato.data.schema import Attribute, Schema
from sfumato.data.table import Table
from sfumato.reading.datasets import FOLDER, adult_records
from sfumato.reading.read_table import read
from sfumato.reading.role_guess import Guess, decimal_mark, guess, likely_missing_values, thousands_mark
from sfumato.runtime.numerals import number

SECRET = "SECRETVALUE"
IDENTIFYING, QUASI = "identifying", "quasi-identifying"

MESSY = """\
Patient ID;Vorname;E-Mail;Geburtsdatum;Aufnahme;PLZ;Gewicht;Größe;Raucher;Diagnose;Stadt.Teil;Land;Kommentar
P-0001;Jürgen;j@example.org;03.07.1961;2024-01-31 08:15;01067;71,5;180;ja;E11.9;Süd;DE;nichts
P-0002;Zoë;z@example.org;24.12.1958;2024-02-01 10:00;01069;?;171;nein;I10;Nord;DE;ruft oft an
P-0003;Ägidius;a@example.org;09.09.1984;2024-02-01 23:59;80331;63,25;NA;ja;E11.9;Süd;DE;
P-0004;李;l@example.org;30.01.1990;2024-03-05 00:00;00199;88,0;165;ja;J45.0;Nord;DE;Bruder von P-0001
P-0005;Ömer;o@example.org;17.05.1975;2024-03-06 12:30;01067;92,75;-;nein;C7A.1;Süd;DE;nichts
P-0006;Chloé;c@example.org;?;2024-03-07 12:30;01097;n/a;177;nein;I10;West;DE;nichts
"""


def messy(tmp_path: Path) -> Table:
    path = tmp_path / "messy.csv"
    path.write_text(MESSY, encoding="utf-8")
    return read(path)


def of(name: str, values: list[Any]) -> Guess:
    """Guess one column; a second one keeps equal values apart."""
    table = Table.from_arrow({name: values, "row key": [f"r{row}" for row in range(len(values))]})
    return guess(table)[0]


def by_name(table: Table) -> dict[str, Guess]:
    return {column.name: column for column in guess(table)}


def bound(table: Table) -> tuple[Table, Schema]:
    attributes = tuple(Attribute(g.name, g.role, g.kind, g.hierarchy) for g in guess(table))
    missing = likely_missing_values(table)
    read = Table.from_arrow(table.to_arrow(), missing_values=missing)
    decimal = decimal_mark(table)
    thousands = thousands_mark(table, decimal, frozenset(missing))
    return Schema(attributes, decimal=decimal, thousands=thousands).bind(read)


# Whole tables


def test_a_messy_german_table_is_understood(tmp_path: Path) -> None:
    table = messy(tmp_path)
    found = by_name(table)
    assert {name: column.role for name, column in found.items()} == {
        "Patient ID": "identifying",
        "Vorname": "identifying",
        "E-Mail": "identifying",
        "Geburtsdatum": "quasi-identifying",
        "Aufnahme": "quasi-identifying",
        "PLZ": "quasi-identifying",
        "Gewicht": "quasi-identifying",
        "Größe": "quasi-identifying",
        "Raucher": "sensitive",
        "Diagnose": "sensitive",
        "Stadt.Teil": "quasi-identifying",
        "Land": "insensitive",
        "Kommentar": "identifying",
    }
    assert {name for name, column in found.items() if column.kind == "numeric"} == {"Gewicht", "Größe"}
    assert found["Geburtsdatum"].hierarchy == Dates(("month", "year"), "%d.%m.%Y")
    assert found["Aufnahme"].hierarchy == Dates(("month", "year"), "%Y-%m-%d %H:%M")
    assert found["PLZ"].hierarchy == Prefixes((4, 3, 2))
    assert found["Diagnose"].hierarchy == Prefixes((3, 1))
    assert decimal_mark(table) == ","
    assert set(likely_missing_values(table)) == {"?", "NA", "n/a", "-"}
    assert (found["Gewicht"].n_distinct, found["Gewicht"].n_missing) == (4, 2)


def test_the_guess_of_a_messy_table_can_be_bound(tmp_path: Path) -> None:
    table, schema = bound(messy(tmp_path))
    assert table["Gewicht"].domain == (63.25, 71.5, 88, 92.75, None)
    assert schema.sensitive == ("Raucher", "Diagnose")


def test_missing_values_that_were_read_as_such_change_no_guess(tmp_path: Path) -> None:
    table = messy(tmp_path)
    read = Table.from_arrow(table.to_arrow(), missing_values=likely_missing_values(table))
    assert guess(read) == guess(table)


def test_hospital_is_understood() -> None:
    table = read(FOLDER / "hospital.csv")
    found = by_name(table)
    assert [found[name].role for name in ("name", "zip", "age", "sex", "diagnosis")] == [
        "identifying",
        *["quasi-identifying"] * 3,
        "sensitive",
    ]
    assert found["zip"].hierarchy == Prefixes((4, 3, 2))
    assert found["age"].hierarchy == Intervals((5, 10, 20, 40))
    bound(table)


def test_adult_is_understood() -> None:
    table = Table.from_arrow(adult_records("all"))
    found = by_name(table)
    roles = {name: column.role for name, column in found.items()}
    assert roles.pop("salary") == "sensitive"
    withheld = {name for name, role in roles.items() if role == "withheld"}
    assert withheld == {"fnlwgt", "education-num", "capital-gain", "capital-loss"}
    assert {role for name, role in roles.items() if name not in withheld} == {QUASI}
    assert found["education-num"].reason == "Says the same as education."
    assert found["age"].hierarchy == Intervals((5, 10, 20, 40))
    assert found["hours-per-week"].hierarchy == Intervals((5, 10, 20, 40))
    assert found["workclass"].n_missing == 2_799
    bound(table)


def test_weights_count_records() -> None:
    table = Table.from_arrow({"smoker": ["yes"] * 5 + [None] * 3 + ["no"]})
    (found,) = guess(table)
    assert (table.n_rows, found.n_distinct, found.n_missing) == (3, 2, 3)


# Roles


@pytest.mark.parametrize(
    ("values", "role"),
    [
        (["a@b.org", "c@d.com", "c@d.com", "e@f.net"], IDENTIFYING),
        (["+49 30 1234567", "(555) 123-4567", "0171/2345678"], IDENTIFYING),
        (["123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174001"], IDENTIFYING),
        (["DE89 3704 0044 0532 0130 00", "DE89370400440532013001"], IDENTIFYING),
        ([f"somebody {i} else" for i in range(30)], IDENTIFYING),
        ([str(i) for i in range(100, 130)], IDENTIFYING),
        ([str(4_930_000_000 + i * i) for i in range(30)], IDENTIFYING),
        ([f"{i * i * 0.37:.3f}" for i in range(1, 40)], QUASI),
        ([f"{i},{i * 7 % 900 + 100}" for i in range(1, 40)], QUASI),
        (["E11.9", "I10", "J45.0", "I10"], "sensitive"),
        (["yes", "no", "yes"], QUASI),
        (["true", "false", "true"], QUASI),
        ([f"group {i // 2}" for i in range(60)], QUASI),
        (["x", "x", "x"], "insensitive"),
        ([None, None], "insensitive"),
        (["x", None, "x"], QUASI),
    ],
)
def test_an_unknown_name_leaves_the_role_to_the_values(values: list[str | None], role: str) -> None:
    assert of("column 7", values).role == role


def test_numbers_named_like_an_identifier_are_identifying_only_where_few_share_them() -> None:
    assert of("record_id", [10 + 3 * row for row in range(30)]).role == IDENTIFYING
    assert of("visit no", [10 + 3 * row for row in range(30)]).role == IDENTIFYING
    assert of("visit no", [row % 3 for row in range(30)]).role == QUASI
    assert of("cohort_id", [row % 3 for row in range(90)]).role == QUASI
    assert of("patient_id", [row % 3 for row in range(90)]).role == IDENTIFYING


def test_a_measurement_that_happens_to_be_unique_is_not_identifying() -> None:
    found = of("ferritin", [3.5 + 1.7 * row for row in range(40)])
    assert (found.role, found.kind) == (QUASI, "numeric")
    assert "treated as knowable" in found.reason


def test_one_record_tells_nothing_about_constancy() -> None:
    assert guess(Table.from_arrow({"colour": ["red"]}))[0].role == QUASI


# Numbers, codes and dates


def test_values_that_are_spelled_as_missing_do_not_make_numbers_texts() -> None:
    assert of("amount", ["nan", "1", "2"]).kind == "numeric"
    assert of("amount", ["inf", "1", "2"]).kind == "categorical"


@settings(deadline=None)
@given(st.lists(st.text("0123456789+-.,eE_ ", min_size=1, max_size=6), min_size=1, max_size=4))
def test_what_is_called_numeric_can_be_read_as_numbers(values: list[str]) -> None:
    table = Table.from_arrow({"amount": values})
    (found,) = guess(table)
    missing = likely_missing_values(table)
    if found.kind == "numeric":
        present = [str(v) for v in table["amount"].domain if v is not None and v not in missing]
        decimal = decimal_mark(table)
        thousands = thousands_mark(table, decimal, frozenset(missing))
        assert all(number(value, decimal, thousands) is not None for value in present)


def test_dates_may_be_known_to_others() -> None:
    found = of("seen", ["2024-01-31", "1961-7-3"])
    assert (found.role, found.kind, found.hierarchy) == (QUASI, "categorical", Dates(format="%Y-%m-%d"))
    assert found.reason == "Dates, which others may know."


def test_dates_that_could_be_read_either_way_are_said_to_be_so() -> None:
    found = of("seen", ["03/07/1961", "04/08/1972"])
    assert found.hierarchy == Dates(format="%d/%m/%Y")
    assert "cannot be told apart" in found.reason


def test_dates_in_two_formats_have_no_hierarchy_and_are_said_to_be_so() -> None:
    found = of("seen", ["2024-01-31", "31.01.2024"])
    assert (found.role, found.hierarchy) == (QUASI, None)
    assert "more than one format" in found.reason


def test_times_in_nanoseconds_generalize_by_prefix() -> None:
    nanoseconds = pa.array([1_700_000_000_123_456_789, 1_700_000_001_000_000_001], pa.timestamp("ns"))
    assert guess(Table.from_arrow({"seen": nanoseconds}))[0].hierarchy == Prefixes((10, 7, 4))


def test_a_date_that_a_sensitive_name_goes_with_stays_a_date() -> None:
    assert of("date of diagnosis", ["2024-01-31", "2024-02-01"]).role == QUASI


@pytest.mark.parametrize(
    ("name", "values", "hierarchy"),
    [
        ("zip", ["02139", "10115", "80331"], Prefixes((4, 3, 2))),
        ("Postleitzahl", ["1010", "8004"], Prefixes((3, 2))),
        ("zip_code", ["02139-1234", "10115"], Prefixes((5, 4, 3, 2))),
        ("residence location", ["10115", "80331"], Prefixes((4, 3, 2))),
        ("site", ["00123", "00456", "00456"], Prefixes((4, 3, 2))),
        ("fee", ["10115", "80331"], None),
        ("diagnosis", ["E11.9", "I10"], Prefixes((3, 1))),
        ("icd", ["E119", "I10"], Prefixes((3, 1))),
        ("icd", ["E11", "I10"], Prefixes((1,))),
        ("blood group", ["A", "B"], None),
    ],
)
def test_codes_generalize_by_prefix(name: str, values: list[str], hierarchy: Prefixes | None) -> None:
    assert of(name, values).hierarchy == hierarchy


def test_postcodes_that_a_file_holds_as_numbers_become_categories() -> None:
    table = Table.from_arrow({"zip": [2139, 10115, 80331], "age": [31, 42, 57]})
    assert bound(table)[0]["zip"].domain == ("10115", "2139", "80331")


@pytest.mark.parametrize(
    ("name", "values", "widths"),
    [
        ("age", range(18, 91), (5, 10, 20, 40)),
        ("age", [31, 42, 57], (5, 10, 20)),
        ("year of birth", range(1930, 2006), (5, 10, 20, 40)),
        ("birth weight", range(2_000, 4_501, 10), (200, 400, 800, 1600)),
        ("ferritin", range(1, 6), None),
        ("ferritin", [0, 1_000_000], None),
        ("ferritin", range(1, 17), (2, 4, 8)),
        ("ferritin", [i / 100 for i in range(100)], (0.05, 0.1, 0.2, 0.4)),
        ("ferritin", [i * 1000 for i in range(100)], (5000, 10000, 20000, 40000)),
        ("ferritin", [*range(100), *range(100), 10**9], (5, 10, 20, 40)),
        ("ferritin", [*[0] * 500, *range(100)], (5, 10, 20, 40)),
        ("ferritin", [-1.5e308 * (-1) ** i / (i + 1) for i in range(30)], None),
        ("ferritin", [i * 5e-324 for i in range(9)], None),
        ("ferritin", [1e12 + i / 1000 for i in range(9)], None),
    ],
)
def test_numbers_generalize_by_round_widths(name: str, values: Any, widths: tuple[float, ...] | None) -> None:
    found = of(name, list(values))
    assert found.kind == "numeric"
    assert found.hierarchy == (Intervals(widths) if widths else None)


def test_thousands_marks_beside_decimal_commas_are_understood() -> None:
    table, schema = bound(Table.from_arrow({"weight": ["71,5", "80"], "fee": ["3.200", "950"]}))
    assert (schema.decimal, schema.thousands) == (",", ".")
    assert (table["weight"].domain, table["fee"].domain) == ((71.5, 80), (950, 3200))


@pytest.mark.parametrize(
    ("values", "thousands", "numbers"),
    [
        (["1.250,50", "80"], ".", {1250.5, 80}),
        (["1,250.50", "80"], ",", {1250.5, 80}),
        (["1,200", "31,500"], ",", {1200, 31500}),
        (["1'200", "950"], "'", {1200, 950}),
        (["1\u202f200,5", "950"], "\u202f", {1200.5, 950}),
        (["12 345", "950"], " ", {12345, 950}),
    ],
)
def test_marks_between_thousands_are_recognised(
    values: list[str], thousands: str, numbers: set[float]
) -> None:
    table, schema = bound(Table.from_arrow({"fee": values}))
    assert schema.thousands == thousands
    assert set(table["fee"].domain) == numbers


def test_digits_in_groups_of_one_length_are_no_numbers() -> None:
    found = of("contact", [f"123 456 {row:03}" for row in range(30)])
    assert (found.role, found.kind) == (IDENTIFYING, "categorical")


def test_ages_that_begin_with_a_zero_are_numbers() -> None:
    assert of("AGE", [f"{age:02}" for age in range(99)]).hierarchy == Intervals((5, 10, 20, 40))


# Codes and ages in words


@pytest.mark.parametrize(
    ("name", "values", "role", "hierarchy"),
    [
        ("drug", ["C09AA05", "N02BE01", "C09AA02"], "sensitive", Prefixes((5, 4, 3, 1))),
        ("x", ["C09AA05", "N02BE01", "C09AA02"], "sensitive", Prefixes((5, 4, 3, 1))),
        ("nace", ["01.11", "47.30", "47.30"], QUASI, Prefixes((4, 3, 2, 1))),
        ("county fips", ["01001", "36061", "36061"], QUASI, Prefixes((2,))),
        (
            "x",
            ["DE", "FR", "JP", "DE"],
            QUASI,
            Nested({"Europe": ["DE", "FR"], "Asia": ["JP"]}),
        ),
        (
            "x",
            ["DEU", "USA", "NGA"],
            QUASI,
            Nested({"Europe": ["DEU"], "Americas": ["USA"], "Africa": ["NGA"]}),
        ),
        (
            "x",
            ["31 years", "38 years", "40 years"],
            QUASI,
            Nested({"30 to 39 years": ["31 years", "38 years"], "40 to 49 years": ["40 years"]}),
        ),
        (
            "age",
            ["65+", "20-29", "30-64", "<20", "20-29"],
            QUASI,
            Nested({"20-29 or <20": ["20-29", "<20"], "30-64 or 65+": ["30-64", "65+"]}),
        ),
    ],
)
def test_official_codes_and_ages_in_words_bring_their_hierarchy(
    name: str, values: list[str], role: str, hierarchy: Any
) -> None:
    found = of(name, values)
    assert (found.role, found.hierarchy) == (role, hierarchy)
    bound(Table.from_arrow({name: values, "other": [str(row) for row in range(len(values))]}))


def test_scores_and_letters_are_no_codes() -> None:
    assert of("score", ["20-29", "30-39", "40-49", "50-59"]).hierarchy is None
    assert of("size", ["XS", "XL", "SM"]).hierarchy is None


# Columns beside each other


def test_a_number_that_repeats_with_the_same_sex_and_birth_numbers_people() -> None:
    people = [person for person in range(100) for _ in range(1 + person % 4)]
    table = Table.from_arrow(
        {
            "zper": [str(125_000 + 7 * person) for person in people],
            "born": [str(1930 + person % 60) for person in people],
            "sex": ["mf"[person % 2] for person in people],
            "visits": [str(row % 9) for row, _ in enumerate(people)],
        }
    )
    found = by_name(table)
    assert found["zper"].role == IDENTIFYING
    assert "repeat" in found["zper"].reason
    assert {found[name].role for name in ("born", "sex", "visits")} == {QUASI}


def test_a_place_of_which_much_follows_is_no_person() -> None:
    clinics = [row % 30 for row in range(600)]
    columns = {"clinic": clinics, **{f"fact {n}": [c % (n + 2) for c in clinics] for n in range(5)}}
    assert by_name(Table.from_arrow(columns))["clinic"].role == QUASI


def test_copies_logarithms_and_groups_of_another_column_are_withheld() -> None:
    incomes = [1_000 + 37 * (row * 7919 % 400) for row in range(500)]
    table = Table.from_arrow(
        {
            "linc": [math.log(income) for income in incomes],
            "income": incomes,
            "rich": [income > 9_000 for income in incomes],
            "age": [20 + row % 60 for row in range(500)],
        }
    )
    found = by_name(table)
    assert found["income"].role == "sensitive"
    assert (found["linc"].role, found["linc"].reason) == ("withheld", "Says the same as income.")
    assert (found["rich"].role, found["rich"].reason) == ("withheld", "Follows from income.")
    assert found["age"].role == QUASI


def test_few_records_agree_by_chance() -> None:
    found = by_name(Table.from_arrow({"red": ["a", "b", "a", "b"], "blue": ["c", "d", "c", "d"]}))
    assert {each.role for each in found.values()} == {QUASI}


def test_of_many_columns_those_are_proposed_that_others_know_most_likely() -> None:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {f"v{n}": rng.integers(0, 50, 400) for n in range(40)}
    columns |= {"age": rng.integers(18, 90, 400), "sex": rng.integers(0, 2, 400), "weight": rng.random(400)}
    found = by_name(Table.from_arrow(columns))
    proposed = {name for name, each in found.items() if each.role == QUASI}
    assert {"age", "sex"} < proposed
    assert len(proposed) == 6
    assert found["weight"].role == "withheld"
    assert "until you give it a role" in found["v39"].reason


def test_what_gives_a_sensitive_column_away_is_withheld() -> None:
    died = ["yes" if row % 3 else "no" for row in range(600)]
    table = Table.from_arrow(
        {
            "death": died,
            "race": [
                ["white", "black"][row % 2] if d == "yes" else "not asked" for row, d in enumerate(died)
            ],
            "sex": ["fm"[row // 7 % 2] for row in range(600)],
        }
    )
    found = by_name(table)
    assert (found["death"].role, found["sex"].role, found["race"].role) == ("sensitive", QUASI, "withheld")
    assert re.fullmatch(r"Tells \d+% of what could be known of death, .*", found["race"].reason)


def test_so_many_matters_of_health_are_not_protected_together() -> None:
    rng = np.random.default_rng(0)
    columns = {f"diagnosis {n}": rng.integers(0, 2 + n, 400).astype(str) for n in range(9)}
    found = guess(Table.from_arrow(columns))
    assert [each.role for each in found] == ["withheld"] * 4 + ["sensitive"] * 5


# Missing values


def test_a_word_that_records_share_among_dates_means_a_missing_one() -> None:
    dates = [f"{day:02}.03.2024" for day in range(1, 25)]
    table = Table.from_arrow({"seen": [*dates, "k.A.", "k.A."], "ward": ["A", "B"] * 13})
    assert likely_missing_values(table) == ("k.A.",)
    assert by_name(table)["seen"].hierarchy == Dates(format="%d.%m.%Y")


@pytest.mark.parametrize(
    ("values", "other"),
    [
        (["own words", "90+", "90+"], "x"),  # 90+ has a digit, and the words are one person's
        (["none told", "none told"], "none told"),  # a value of another column
    ],
)
def test_other_words_among_numbers_are_values(values: list[str], other: str) -> None:
    numbers = [str(number) for number in range(24)]
    table = Table.from_arrow(
        {"amount": [*numbers, *values], "ward": [other, "y"] * 12 + [other] * len(values)}
    )
    assert likely_missing_values(table) == ()


# Any table

NAMES = st.one_of(
    st.text(max_size=8), st.sampled_from(["age", "id", "name", "zip", "date", "salary", "icd", "city"])
)
SPELLED = st.one_of(
    st.none(),
    st.text(max_size=6),
    st.sampled_from(
        ["1", "2.5", "2,5", "007", "?", "NA", "E11.9", "2024-01-31", "01/02/2003", "31.12.1999", "-"]
    ),
    st.integers(0, 10**6).map(str),
    st.dates().map(str),
    st.floats(allow_nan=False).map(repr),
)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    names = draw(
        st.lists(
            NAMES.filter(lambda name: not name.startswith("__index")), unique=True, min_size=1, max_size=4
        )
    )
    n_records = draw(st.integers(1, 12))
    column = st.lists(SPELLED, min_size=n_records, max_size=n_records)
    return Table.from_arrow({name: pa.array(draw(column), pa.string()) for name in names})


@settings(max_examples=200, deadline=None)
@given(tables())
def test_any_guess_can_be_bound_to_its_table(table: Table) -> None:
    if any(column.role not in (IDENTIFYING, "withheld") for column in guess(table)):
        bound(table)


@settings(deadline=None)
@given(tables())
def test_counts_are_those_of_the_records(table: Table) -> None:
    missing = likely_missing_values(table)
    for column in guess(table):
        values = table.to_arrow().column(column.name).to_pylist()
        present = [value for value in values if value is not None and value not in missing]
        assert column.n_missing == len(values) - len(present)
        assert column.n_distinct == len(set(present))


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(NAMES, st.sampled_from(["", " 1", "@b.org", ".5", "-01-31"])),
        unique_by=lambda c: c[0],
        min_size=1,
    )
)
def test_no_value_of_a_record_appears_in_a_reason(columns: list[tuple[str, str]]) -> None:
    values = {name: [f"{SECRET}{ending}", f"X{SECRET}{ending}", SECRET] for name, ending in columns}
    assert not any(SECRET in column.reason for column in guess(Table.from_arrow(values)))


class TestWhoseARecordIs:
    @staticmethod
    def told(**columns: list[Any]) -> list[str]:
        return [each.name for each in guess(Table.from_arrow(columns)) if each.tells == "person"]

    def test_a_number_of_people_that_repeats_is_found_by_its_name(self) -> None:
        people = [n // 2 for n in range(60)]
        ages = [str(20 + n // 2 % 40) for n in range(60)]
        for name in ("patient_id", "Patienten-Nr", "customer no", "subject", "id"):
            assert self.told(**{name: [f"p{n}" for n in people], "age": ages}) == [name]

    def test_numbers_that_much_follows_from_are_found_without_a_name(self) -> None:
        people = [person for person in range(100) for _ in range(1 + person % 4)]
        columns = {
            "zper": [str(125_000 + 7 * person) for person in people],
            "born": [str(1930 + person % 60) for person in people],
            "sex": ["mf"[person % 2] for person in people],
            "visit": [str(n) for n in range(len(people))],
        }
        assert self.told(**columns) == ["zper"]

    def test_where_everybody_has_one_record_nobody_is_told_apart(self) -> None:
        assert (
            self.told(patient_id=[f"p{n}" for n in range(60)], age=[str(20 + n % 40) for n in range(60)])
            == []
        )

    def test_a_name_or_a_household_is_no_person(self) -> None:
        twice = [f"n{n // 2}" for n in range(60)]
        ages = [str(20 + n % 40) for n in range(60)]
        for name in ("Name", "household_id", "Haushalts-ID", "comment"):
            assert self.told(**{name: twice, "age": ages}) == []

    def test_of_several_numbers_the_finest_tells_people_apart(self) -> None:
        columns = {
            "person_id": [f"p{n // 2}" for n in range(80)],
            "member_id": [f"m{n // 4}" for n in range(80)],
            "age": [str(20 + n // 2 % 40) for n in range(80)],
        }
        assert self.told(**columns) == ["person_id"]

    @pytest.mark.parametrize("person", ["userId", "customer_no", "Patienten-ID", "id_cliente"])
    def test_what_is_named_after_people_comes_before_a_finer_number(self, person: str) -> None:
        columns = {
            person: [str(1000 + n // 12) for n in range(480)],
            "entry_id": [str(7000 + n // 2) for n in range(480)],
            "age": [str(20 + n // 12) for n in range(480)],
        }
        assert self.told(**columns) == [person]

    @pytest.mark.parametrize(
        "thing", ["movieId", "product_id", "Artikel-Nr", "item no", "ID_Produkt", "shop_id"]
    )
    def test_a_number_of_things_is_no_persons(self, thing: str) -> None:
        columns = {
            thing: [str(5000 + n * 7 % 120) for n in range(480)],
            "age": [str(20 + n % 40) for n in range(480)],
        }
        assert self.told(**columns) == []
        found = by_name(Table.from_arrow(columns))[thing]
        assert found.role == "withheld"
        assert found.reason.startswith("Named like the number of a thing")

    def test_a_number_of_things_that_every_record_has_for_itself_still_points_at_one_person(self) -> None:
        columns = {
            "product_id": [str(5000 + n) for n in range(80)],
            "age": [str(20 + n % 40) for n in range(80)],
        }
        assert by_name(Table.from_arrow(columns))["product_id"].role == "identifying"
