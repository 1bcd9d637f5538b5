"""Risks against a population, against reading the labels of every class for every person."""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Intervals, Release, Schema, Table, measure, sanitize
from sfumato.data.kinds import CATEGORICAL, NUMERIC
from sfumato.data.table import Column
from sfumato.measures import JournalistRisk, MarketerRisk
from sfumato.measures.identity import population_table
from sfumato.models import KAnonymity, ProbabilisticDiversity
from sfumato.runtime.errors import DataError, ParameterError
from sfumato.sanitizers import AsIs, Bucketize, FullDomain, Laplace, Mondrian, SuppressQuasiIdentifiers

ROWS = [
    ["France", "Europe", "*"],
    ["Italy", "Europe", "*"],
    ["Japan", "Asia", "*"],
    ["Korea", "Asia", "*"],
]
SCHEMA = Schema(
    (
        Attribute("age", "quasi-identifying", "numeric", Intervals((5, 10))),
        Attribute("country", "quasi-identifying", hierarchy=Hierarchy.of_rows(ROWS)),
        Attribute("sex", "quasi-identifying"),
        Attribute("ill", "sensitive"),
    )
)
NAMES = SCHEMA.quasi_identifiers
Person = tuple[int | None, str, str]

PEOPLE = st.tuples(
    st.none() | st.integers(0, 25), st.sampled_from([row[0] for row in ROWS]), st.sampled_from("fm")
)
OTHERS = st.tuples(
    st.none() | st.integers(-5, 40),
    st.sampled_from([*(row[0] for row in ROWS), "Peru"]),
    st.sampled_from("fmd"),
)


THREE: list[Person] = [(1, "France", "f"), (2, "Italy", "m"), (2, "Italy", "m")]


def table_of(people: list[Person]) -> Table:
    columns: dict[str, Any] = {name: [p[place] for p in people] for place, name in enumerate(NAMES)}
    return Table.from_arrow({**columns, "ill": ["a", "b"] * (len(people) // 2) + ["a"] * (len(people) % 2)})


def written(people: list[Person], folder: str | Path, suffix: str) -> str:
    """Write the people in a file, with a column that nobody asked for."""
    place = Path(folder) / f"people{suffix}"
    table = pa.table(
        {name: [p[i] for p in people] for i, name in enumerate(NAMES)} | {"shoe": [1] * len(people)}
    )
    pyarrow.csv.write_csv(table, place) if suffix == ".csv" else pyarrow.parquet.write_table(table, place)
    return str(place)


def within(label: str | None, age: int | None) -> bool:
    ends = re.fullmatch(r"\[(\S+), (\S+)([)\]])", label or "")
    if ends is None or age is None:
        return label == (None if age is None else str(age))
    return int(ends[1]) <= age < int(ends[2]) + (ends[3] == "]")


def fits(label: str | None, value: Any, known: set[Any], attribute: str) -> bool:
    """Read a label as a person would. A value that the table lacks fits only an interval or everything."""
    if label == "*":
        return True
    bare = None if label is None else label.removesuffix(" or missing")
    if value is None:
        return label != bare or label is None
    if attribute == "age":
        return within(bare, value)
    nodes = next((row for row in ROWS if row[0] == value), [value])
    named = (bare or "").removeprefix("{").removesuffix("}").split(", ")
    return value in known and any(node in named for node in nodes)


def alike_by_hand(release: Release, people: list[Person], population: list[Person]) -> list[tuple[int, int]]:
    """Return for each class its size and how many people of the population its labels fit."""
    known = [{p[place] for p in people} for place in range(3)]
    records = release.to_arrow(typed=False).to_pylist()
    return [
        (
            size,
            sum(all(fits(labels[i], p[i], known[i], NAMES[i]) for i in range(3)) for p in population),
        )
        for labels, size in Counter(tuple(r[name] for name in NAMES) for r in records).items()
    ]


@given(
    people=st.lists(PEOPLE, min_size=2, max_size=14),
    others=st.lists(OTHERS, max_size=20),
    suffix=st.sampled_from([".csv", ".parquet"]),
    how=st.sampled_from(
        [
            AsIs(),
            SuppressQuasiIdentifiers(),
            Mondrian(KAnonymity(2)),
            Mondrian(KAnonymity(2), "relaxed"),
            FullDomain({"age": 1, "country": 1}, KAnonymity(1)),
            FullDomain({"age": 2, "sex": 1}, KAnonymity(1)),
            FullDomain({"age": 3}, KAnonymity(1)),
        ]
    ),
)
@settings(max_examples=150)
def test_a_person_belongs_to_a_class_that_every_label_fits(
    people: list[Person], others: list[Person], suffix: str, how: Any
) -> None:
    if suffix == ".parquet" and all(age is None for age, _, _ in [*people, *others]):
        return
    release = sanitize(table_of(people), SCHEMA, how)
    sizes = alike_by_hand(release, people, [*people, *others])
    with tempfile.TemporaryDirectory() as folder:
        path = written([*people, *others], folder, suffix)
        journalist, marketer = measure(release, [JournalistRisk(path, threshold=0.3), MarketerRisk(path)])
    assert journalist.value == 1 / min(alike for _, alike in sizes)
    assert journalist.detail["smallest"] == min(alike for _, alike in sizes)
    average = sum(size / alike for size, alike in sizes) / len(people)
    assert marketer.value == journalist.detail["average"] == pytest.approx(average)
    assert journalist.detail["share-at-risk"] == sum(s for s, alike in sizes if 1 / alike > 0.3) / len(people)


def test_the_table_as_its_own_population_gives_the_prosecutor_s_risk(hospital: Any, tmp_path: Path) -> None:
    table, schema = hospital
    pyarrow.csv.write_csv(table.to_arrow(), tmp_path / "all.csv")
    path = str(tmp_path / "all.csv")
    for how in (
        AsIs(),
        Bucketize(ProbabilisticDiversity(2)),
        FullDomain({"zip": 1, "age": 1}, KAnonymity(1)),
    ):
        release = sanitize(table, schema, how)
        prosecutor, journalist = measure(release, ["reidentification-risk", JournalistRisk(path)])
        assert journalist.value == prosecutor.value
        assert journalist.detail["average"] == prosecutor.detail["average"]


class TestPopulationSize:
    def release(self) -> Release:
        table = Table.from_arrow({"age": [1, 1, 2, 2, 2, 3]})
        how = FullDomain({}, KAnonymity(2), suppression=0.5)
        return sanitize(table, Schema.of(age="quasi-identifying"), how)

    def test_every_class_is_the_same_share_of_the_population(self) -> None:
        # kept are classes of 2 and 3 of six records; ten times as many people are 20 and 30
        journalist, marketer = measure(self.release(), [JournalistRisk(None, 60), MarketerRisk(None, 60)])
        assert journalist.value == 1 / 20
        assert marketer.value == pytest.approx((2 / 20 + 3 / 30) / 5)
        assert marketer.detail["matched"] == pytest.approx(0.2)

    def test_without_a_population_the_marketer_has_the_release_alone(self) -> None:
        (marketer,) = measure(self.release(), ["marketer-risk"])
        assert marketer.value == 2 / 5

    def test_without_a_population_there_is_no_journalist(self) -> None:
        (journalist,) = measure(self.release(), ["journalist-risk"])
        assert journalist.value is None
        assert "give population, population-size, or survey weights" in journalist.detail["reason"]

    def test_a_population_below_the_table_is_refused(self) -> None:
        with pytest.raises(ParameterError, match="population-size 5 is below the table's 6 records"):
            measure(self.release(), [{"journalist-risk": {"population-size": 5}}])

    @pytest.mark.parametrize(
        "parameters", [{"population-size": 0}, {"population": "a.csv", "population-size": 9}]
    )
    @pytest.mark.parametrize("name", ["journalist-risk", "marketer-risk"])
    def test_parameters_that_make_no_sense_are_refused(self, name: str, parameters: Any) -> None:
        with pytest.raises(ParameterError, match="population"):
            measure(self.release(), [{name: parameters}])

    def test_only_a_size_can_be_verified_from_the_files_alone(self) -> None:
        assert JournalistRisk(None, 60).requires == MarketerRisk().requires == "release"
        assert JournalistRisk("people.csv").requires == "original"


class TestErrors:
    def measured(self, path: str) -> None:
        measure(sanitize(table_of(THREE), SCHEMA, AsIs()), [JournalistRisk(path)])

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"the population gone\.csv does not exist"):
            self.measured(str(tmp_path / "gone.csv"))

    def test_no_column(self, tmp_path: Path) -> None:
        place = tmp_path / "people.csv"
        place.write_text("age,sexes,country\n" + "1,f,France\n" * 9)
        with pytest.raises(DataError, match="has no column 'sex'; did you mean 'sexes'"):
            self.measured(str(place))

    def test_too_few_people(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="has 2 records, fewer than the table's 3"):
            self.measured(written(THREE[:2], tmp_path, ".csv"))

    def test_too_few_people_in_a_class(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match="fewer people than the table in 1 of 2 classes"):
            self.measured(written([THREE[0]] * 5, tmp_path, ".csv"))

    def test_noise_is_no_set(self, tmp_path: Path) -> None:
        table = table_of(THREE)
        release = sanitize(table, SCHEMA.with_assumed_public_part(table), Laplace())
        (taken,) = measure(release, [JournalistRisk(written(THREE, tmp_path, ".csv"))])
        assert taken.value is None
        assert "values were changed" in taken.detail["reason"]


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    people = list(THREE)
    release = sanitize(table_of(people), SCHEMA, AsIs())
    (before,) = measure(release, [JournalistRisk(written(people, tmp_path, ".csv"))])
    (after,) = measure(release, [JournalistRisk(written(people * 3, tmp_path, ".csv"))])
    assert (before.value, after.value) == (1.0, 1 / 3)


def test_without_quasi_identifiers_everybody_of_the_population_is_alike(tmp_path: Path) -> None:
    release = sanitize(Table.from_arrow({"ill": ["a", "b"]}), Schema.of(ill="sensitive"), AsIs())
    (taken,) = measure(release, [JournalistRisk(written([*THREE, *THREE], tmp_path, ".csv"))])
    assert taken.value == 1 / 6


def test_a_column_that_nothing_resembles_is_asked_for(tmp_path: Path) -> None:
    place = tmp_path / "people.csv"
    place.write_text("a\n" + "1\n" * 9)
    with pytest.raises(DataError, match="has no column 'age'; give every quasi-identifier of the release"):
        measure(sanitize(table_of(THREE), SCHEMA, AsIs()), [JournalistRisk(str(place))])


def test_a_population_as_large_as_the_table_is_large_enough(tmp_path: Path) -> None:
    release = sanitize(table_of(THREE), SCHEMA, AsIs())
    path = written(THREE, tmp_path, ".csv")
    assert measure(release, [JournalistRisk(path)])[0].value == 1
    people = population_table.population_classes(release, path)
    assert sorted(people.tolist()) == [1, 2]
    assert people.dtype == np.int64
    with pytest.raises(DataError, match="fewer people than the table in 2 of 2 classes"):
        measure(release, [JournalistRisk(written([(9, "Peru", "d")] * 3, tmp_path, ".csv"))])


@pytest.mark.parametrize(
    ("label", "places"),
    [
        ("*", [0, 1, 2, 3, 4]),
        ("[2, 5)", [1, 2]),
        ("[2, 5]", [1, 2, 3]),
        ("<5", [0, 1, 2]),
        (">=2", [1, 2, 3]),
        (">2", [2, 3]),
        ("(2, 5]", [2, 3]),
        ("[2, 5) or missing", [1, 2]),
        ("2", []),
        ("Europe", []),
        (None, []),
    ],
)
def test_unknown_values_fit_everything_and_the_intervals_around_them(
    label: str | None, places: list[int]
) -> None:
    """Beyond the table's values are the numbers 1, 2, 3 and 5, and a text."""
    found = population_table._fitting(label, np.array([1.0, 2.0, 3.0, 5.0]), 5, NUMERIC)
    assert found.tolist() == places


def test_numbers_are_compared_as_numbers_and_come_before_texts() -> None:
    read = Schema(SCHEMA.attributes, decimal=",").reader(NUMERIC)
    comparable = population_table._comparable
    assert comparable("1,50", NUMERIC, read) == comparable(1.5, NUMERIC, read) == 1.5
    assert comparable("unknown", NUMERIC, read) == "unknown"
    assert comparable(None, NUMERIC, read) is None
    assert comparable(7, CATEGORICAL, CATEGORICAL.read) == "7"
    assert [population_table._place(value, NUMERIC) for value in ("b", 3, 2.5, None)] == [None, 3, 2.5, None]


@pytest.mark.parametrize(
    ("level", "sets"), [(1, {"[0, 5)": {0, 2}, "[5, 10)": {1}}), (3, {"*": {0, 1, 2, 3, 4}})]
)
def test_a_population_has_the_codes_of_the_table_and_further_ones(level: int, sets: Any) -> None:
    """The table has the ages 1 and 7, the population 1, written otherwise, 12, a text, and 3."""
    release = sanitize(
        table_of([(1, "France", "f"), (7, "Italy", "m")]), SCHEMA, FullDomain({"age": level}, KAnonymity(1))
    )
    people = Column(np.array([0, 1, 2, 3, 1], np.int32), ("1.0", "12", "unknown", 3), NUMERIC)
    found = population_table.fitted("age", release, people)
    # numbers that the table lacks come behind its own, ascending, and texts behind those
    assert (found.codes.tolist(), found.n_codes) == ([0, 3, 4, 2, 3], 5)
    labels = release.cells["age"].labels
    assert {label: set(each.tolist()) for label, each in zip(labels, found.sets, strict=True)} == sets


def test_values_that_are_no_sets_fit_nobody(tmp_path: Path) -> None:
    release = sanitize(table_of(THREE), SCHEMA, AsIs())
    unknown = {**release.cells, "sex": replace(release.cells["sex"], sets=None)}
    path = written(THREE, tmp_path, ".csv")
    (taken,) = measure(replace(release, cells=unknown), [JournalistRisk(path)])
    assert taken.detail["reason"] == "the released values of 'sex' are not sets of original values"


def test_survey_weights_stand_for_people_and_several_records_for_what_one_of_them_does() -> None:
    columns: dict[str, list[Any]] = {"who": [1, 1, 2, 3], "age": [1, 1, 1, 2], "w": [2.0, 4.0, 5.0, 0.5]}
    attributes = Schema.of(who="identifying", age="quasi-identifying").attributes
    given: list[dict[str, Any]] = [{"survey_weight": "w"}, {"survey_weight": "w", "person": "who"}]
    records, people = (
        sanitize(Table.from_arrow(columns), Schema(attributes, **each), AsIs()) for each in given
    )
    # nobody stands for fewer people than there are
    for release, expected in ((records, [11.0, 1.0]), (people, [3.0 + 5.0, 1.0])):
        found = population_table.survey_classes(release)
        assert found is not None
        assert found.tolist() == expected
    unweighted = {name: columns[name] for name in ("who", "age")}
    assert (
        population_table.survey_classes(sanitize(Table.from_arrow(unweighted), Schema(attributes), AsIs()))
        is None
    )
