"""Guessing: roles, kinds and hierarchies from names and values, and the project file that says so."""

from __future__ import annotations

import datetime
import time
import tomllib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import registry
from sfumato.datasets import FOLDER, adult_records
from sfumato.guess import Guess, decimal_mark, guess, likely_missing_values, project_text
from sfumato.hierarchy import Dates, Intervals, Prefixes
from sfumato.schema import Attribute, Schema
from sfumato.table import Table, number

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
    return Table.read(path)


def of(name: str, values: list[Any]) -> Guess:
    """Guess one column; a second one keeps equal values apart."""
    table = Table.from_arrow({name: values, "row key": [f"r{row}" for row in range(len(values))]})
    return guess(table)[0]


def by_name(table: Table) -> dict[str, Guess]:
    return {column.name: column for column in guess(table)}


def written(table: Table, **options: Any) -> str:
    options = {"missing_values": likely_missing_values(table), "decimal": decimal_mark(table)} | options
    return project_text("people.csv", guess(table), n_records=table.n_records, **options)


def bound(table: Table) -> tuple[Table, Schema]:
    attributes = tuple(Attribute(g.name, g.role, g.kind, g.hierarchy) for g in guess(table))
    read = Table.from_arrow(table.to_arrow(), missing_values=likely_missing_values(table))
    return Schema(attributes, decimal=decimal_mark(table)).bind(read)


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
    table = Table.read(FOLDER / "hospital.csv")
    found = by_name(table)
    assert [found[name].role for name in ("name", "zip", "age", "sex", "diagnosis")] == [
        "identifying",
        *["quasi-identifying"] * 3,
        "sensitive",
    ]
    assert found["zip"].hierarchy == Prefixes((4, 3, 2))
    assert found["age"].hierarchy == Intervals((5, 10, 20, 40))
    ks = [
        block["model"]["k-anonymity"]["k"]
        for block in tomllib.loads(written(table))["try"]
        if "model" in block
    ]
    assert ks == [[2, 3], [2]]
    bound(table)


def test_adult_is_understood() -> None:
    table = Table.from_arrow(adult_records("all"))
    found = by_name(table)
    roles = {name: column.role for name, column in found.items()}
    assert roles.pop("salary") == "sensitive"
    assert set(roles.values()) == {QUASI}  # fnlwgt, too: numbers that are often unique are not identifying
    assert found["age"].hierarchy == Intervals((5, 10, 20, 40))
    assert found["hours-per-week"].hierarchy == Intervals((5, 10, 20, 40))
    assert found["education-num"].hierarchy == Intervals((2, 4, 8))
    assert found["workclass"].n_missing == 2_799
    bound(table)


def test_weights_count_records() -> None:
    table = Table.from_arrow({"smoker": ["yes"] * 5 + [None] * 3 + ["no"]})
    (found,) = guess(table)
    assert (table.n_rows, found.n_distinct, found.n_missing) == (3, 2, 3)


def test_fifty_thousand_different_values_in_fifteen_columns_take_less_than_a_second() -> None:
    n = 50_000
    columns: dict[str, list[str]] = {
        f"text {i}": [f"{i} {row} and more" for row in range(n)] for i in range(4)
    }
    columns |= {f"measured {i}": [f"{row}.{row % 7}{i + 1}" for row in range(n)] for i in range(5)}
    times = [str(datetime.datetime(2000, 1, 1) + datetime.timedelta(minutes=row)) for row in range(n)]
    columns |= {"taken": times, "sent": times}
    columns |= {f"area {i}": [f"{row:05}" for row in range(n)] for i in range(4)}
    table = Table.from_arrow(columns)
    durations = []
    for _ in range(3):
        start = time.process_time()
        assert len(guess(table)) == 15
        durations.append(time.process_time() - start)
    assert min(durations) < 1


# Roles


@pytest.mark.parametrize(
    "name",
    [
        "name",
        "First Name",
        "last_name",
        "SURNAME",
        "Nachname",
        "prénom",
        "Apellidos",
        "patient_name",
        "e-mail",
        "eMail",
        "Telefonnummer",
        "phone_number",
        "SSN",
        "IBAN",
        "passport no",
        "patientID",
        "patient_id",
        "Patientennummer",
        "numéro_patient",
        "patient_nbr",
        "visit_id",
        "id",
        "uuid",
        "street address",
        "Straße",
        "dirección",
        "Nombre",
        "Comments",
    ],
)
def test_names_of_persons_and_their_numbers_are_identifying(name: str) -> None:
    assert of(name, ["a", "b", "b", "c", "d"]).role == IDENTIFYING


@pytest.mark.parametrize(
    "name",
    [
        "age",
        "Alter",
        "âge",
        "edad",
        "Sex",
        "gender",
        "Geschlecht",
        "date of birth",
        "Geburtsjahr",
        "zip",
        "city_name",
        "Bundesland",
        "país",
        "country_id",
        "race",
        "Staatsangehörigkeit",
        "nationality",
        "marital-status",
        "Familienstand",
        "education",
        "Beruf",
        "profession",
        "hospital_name",
        "age_at_diagnosis",
        "language",
        "nombre d'enfants",
    ],
)
def test_what_others_may_know_is_quasi_identifying(name: str) -> None:
    assert of(name, ["1", "2", "2", "3", "3"]).role == QUASI


@pytest.mark.parametrize(
    "name",
    [
        "diagnosis",
        "Hauptdiagnose",
        "diagnóstico",
        "maladie",
        "ICD-10",
        "condition",
        "treatment",
        "drug_name",
        "salary",
        "Bruttoeinkommen",
        "revenu",
        "Income (USD)",
        "religion",
        "Konfession",
        "sexual orientation",
        "political party",
        "criminal_record",
        "test result",
        "HIV status",
        "HbA1c",
        "Schulden",
        "enfermedad",
    ],
)
def test_what_others_should_not_learn_is_sensitive(name: str) -> None:
    found = of(name, ["a", "b", "b", "c", "c"])
    assert (found.role, found.reason[:10]) == ("sensitive", "Named like")


@pytest.mark.parametrize("name", ["dosage", "capacity", "metropolitan", "experimental", "trace", "pages"])
def test_a_word_inside_another_word_is_not_that_word(name: str) -> None:
    found = of(name, ["a", "b", "b", "c", "c"])
    assert found.role == QUASI
    assert not any(word in found.reason for word in ("an age", "origin", "a place", "politic", "health"))


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


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "2.5", "-3", "+4", ".5", "1e-05", "1.0E7"], "numeric"),
        (["0", "10", "0.5"], "numeric"),
        (["0171", "171"], "categorical"),
        (["1E5", "2E7"], "categorical"),
        (["1_000", "2_000"], "categorical"),
        (["12345678901234567890", "1"], "categorical"),
        (["12", "a"], "categorical"),
        (["1,200", "31,500"], "categorical"),
        (["nan", "1", "2"], "numeric"),
        (["inf", "1", "2"], "categorical"),
    ],
)
def test_numbers_are_told_from_codes(values: list[str], kind: str) -> None:
    assert of("amount", values).kind == kind


@settings(deadline=None)
@given(st.lists(st.text("0123456789+-.,eE_ ", min_size=1, max_size=6), min_size=1, max_size=4))
def test_what_is_called_numeric_can_be_read_as_numbers(values: list[str]) -> None:
    table = Table.from_arrow({"amount": values})
    (found,) = guess(table)
    missing = likely_missing_values(table)
    if found.kind == "numeric":
        present = [str(v) for v in table["amount"].domain if v is not None and v not in missing]
        assert all(number(value, decimal_mark(table)) is not None for value in present)


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
    found = of("seen", values)
    assert (found.role, found.kind, found.hierarchy) == (QUASI, "categorical", Dates(format=format_))
    assert "check" not in found.reason
    bound(Table.from_arrow({"seen": [*values, None]}))


def test_dates_that_could_be_read_either_way_are_said_to_be_so() -> None:
    found = of("seen", ["03/07/1961", "04/08/1972"])
    assert found.hierarchy == Dates(format="%d/%m/%Y")
    assert "cannot be told apart" in found.reason


@pytest.mark.parametrize(
    "values", [["31/12/2024", "12/31/2024"], ["2024-02-30", "2024-02-31"], ["99/99/2024"]]
)
def test_what_is_no_date_is_not_taken_for_one(values: list[str]) -> None:
    assert of("seen", [*values, "01/01/2000"[: len(values[0])]]).hierarchy is None


def test_dates_in_two_formats_have_no_hierarchy_and_are_said_to_be_so() -> None:
    found = of("seen", ["2024-01-31", "31.01.2024"])
    assert (found.role, found.hierarchy) == (QUASI, None)
    assert "more than one format" in found.reason


def test_times_of_uneven_precision_generalize_by_prefix() -> None:
    assert of("seen", ["2024-01-31 10:00:00.5", "2024-01-31 10:00:00"]).hierarchy == Prefixes((10, 7, 4))
    assert of("seen", ["2024-01-31", "2024-01-31 10:00"]).hierarchy == Prefixes((10, 7, 4))
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
    project = tomllib.loads(written(table))
    assert project["attributes"]["zip"]["kind"] == "categorical"
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


# Missing values and decimal marks


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


def test_thousands_marks_beside_decimal_commas_are_not_read_as_numbers() -> None:
    found = by_name(Table.from_arrow({"weight": ["71,5", "80"], "fee": ["3.200", "950"]}))
    assert (found["weight"].kind, found["fee"].kind) == ("numeric", "categorical")
    assert "marks" in found["fee"].reason


# The project file


def test_the_project_file_says_what_to_read() -> None:
    table = Table.from_arrow({"age": ["31,5", "?", "57"], "diagnosis": ["flu", "gout", "flu"]})
    text = project_text(
        'C:\\data "x"\n.csv',
        guess(table),
        n_records=3,
        missing_values=["?"],
        decimal=",",
        dialect={"separator": "\t", "encoding": "cp1252"},
    )
    assert tomllib.loads(text)["data"] == {
        "path": 'C:\\data "x"\n.csv',
        "separator": "\t",
        "encoding": "cp1252",
        "missing": "category",
        "missing-values": ["?"],
        "decimal": ",",
    }
    assert tomllib.loads(project_text("a.csv", guess(table), n_records=3))["data"] == {
        "path": "a.csv",
        "missing": "category",
    }


def test_the_project_file_gives_every_column_its_guess(tmp_path: Path) -> None:
    table = messy(tmp_path)
    attributes = tomllib.loads(written(table))["attributes"]
    assert list(attributes) == list(table.names)
    assert attributes["PLZ"] == {"role": QUASI, "hierarchy": {"prefixes": [4, 3, 2]}}
    assert attributes["Vorname"] == {"role": IDENTIFYING}
    assert attributes["Gewicht"] == {"role": QUASI, "kind": "numeric"}
    assert attributes["Geburtsdatum"]["hierarchy"] == {"dates": ["month", "year"], "format": "%d.%m.%Y"}
    ages = tomllib.loads(written(Table.from_arrow({"age": [20, 50, 80]})))["attributes"]["age"]
    assert ages == {"role": QUASI, "kind": "numeric", "hierarchy": {"intervals": [5, 10, 20, 40]}}


def test_every_reason_stands_above_its_attribute(tmp_path: Path) -> None:
    table = messy(tmp_path)
    text = written(table)
    for column in guess(table):
        assert f"# {column.reason}\n[attributes." in text
        assert column.reason.endswith(".")


def test_the_header_tells_what_to_do_next() -> None:
    text = written(Table.from_arrow({"age": [20, 50]}))
    comments = " ".join(line for line in text.splitlines() if line.startswith("#"))
    for words in ("Confirm the roles", "sfumato explore FILE", "[policy]", "at-most = 0.09"):
        assert words in comments
    assert "policy" not in tomllib.loads(text)


@pytest.mark.parametrize(
    "name",
    [
        "a.b",
        "with space",
        'quo"te',
        "new\nline",
        "",
        "ключ",
        "tab\t",
        "\x7f\x00",
        "back\\slash",
        "#",
        "a-b_1",
    ],
)
def test_any_column_name_survives(name: str) -> None:
    table = Table.from_arrow({name: ["a", "b"], "other": ["c", "d"]})
    assert list(tomllib.loads(written(table))["attributes"]) == [name, "other"]


@pytest.mark.parametrize(
    ("n_records", "expected"),
    [
        (1, None),
        (3, None),
        (4, [2]),
        (12, [2, 3]),
        (100, [2, 3, 5, 10, 20]),
        (10**6, [2, 3, 5, 10, 20, 50, 100, 200]),
    ],
)
def test_the_values_of_k_fit_the_number_of_records(n_records: int, expected: list[int] | None) -> None:
    columns = guess(Table.from_arrow({"age": [20, 50], "diagnosis": ["flu", "gout"]}))
    models = [
        block["model"]
        for block in tomllib.loads(project_text("a.csv", columns, n_records=n_records))["try"]
        if block["sanitizer"] == "mondrian"
    ]
    assert [model["k-anonymity"]["k"] for model in models[:1]] == ([expected] if expected else [])
    assert all(k <= n_records / 2 for model in models for k in model["k-anonymity"]["k"])
    assert all(model["t-closeness"]["t"] == [0.1, 0.2, 0.3, 0.4, 0.5] for model in models[1:])


def test_without_a_sensitive_attribute_only_identity_is_measured_and_the_file_says_so() -> None:
    text = written(Table.from_arrow({"age": list(range(20, 40)) * 2}))
    project = tomllib.loads(text)
    assert project["measure"]["privacy"] == ["reidentification-risk", "k-anonymity", "weighted-k"]
    assert [set(block.get("model", {})) for block in project["try"]] == [set(), set(), {"k-anonymity"}]
    assert "# No sensitive attribute was found." in text
    assert "No sensitive" not in written(Table.from_arrow({"salary": [1, 2]}))


def test_without_a_quasi_identifier_nothing_is_tried_that_needs_one() -> None:
    text = written(Table.from_arrow({"name": ["a", "b"], "salary": [1, 2]}))
    assert tomllib.loads(text)["try"] == [{"sanitizer": "as-is"}]
    assert "# No quasi-identifying attribute was found" in text


def test_everything_that_the_file_names_is_registered() -> None:
    for column in ({"age": [20, 50] * 4}, {"age": [20, 50] * 4, "salary": [1, 2, 3, 4] * 2}):
        project = tomllib.loads(written(Table.from_arrow(column)))
        assert {block["sanitizer"] for block in project["try"]} <= registry.registered("sanitizer").keys()
        models = {name for block in project["try"] for name in block.get("model", {})}
        assert models == registry.registered("model").keys() & models != set()
        for measure in project["measure"]["privacy"] + project["measure"]["utility"]:
            registry.build_measure(measure)


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
def test_any_table_of_text_gives_a_project_file_with_exactly_its_columns(table: Table) -> None:
    project = tomllib.loads(written(table))
    assert list(project["attributes"]) == list(table.names)
    assert project["data"].get("missing-values", []) == list(likely_missing_values(table))
    assert {attribute["role"] for attribute in project["attributes"].values()} == {
        g.role for g in guess(table)
    }


@settings(max_examples=200, deadline=None)
@given(tables())
def test_any_guess_can_be_bound_to_its_table(table: Table) -> None:
    if any(column.role != IDENTIFYING for column in guess(table)):
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
def test_no_value_of_a_record_appears_in_the_file_or_in_a_reason(columns: list[tuple[str, str]]) -> None:
    values = {name: [f"{SECRET}{ending}", f"X{SECRET}{ending}", SECRET] for name, ending in columns}
    table = Table.from_arrow(values)
    assert SECRET not in written(table)
    assert not any(SECRET in column.reason for column in guess(table))
