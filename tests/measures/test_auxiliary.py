"""The adversary with a list of people, against looking for every person in every released record."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import (
    AccuracyGain,
    Anatomy,
    AsIs,
    AuxiliaryGain,
    FullDomain,
    KAnonymity,
    Laplace,
    Measurement,
    Mondrian,
    Release,
    Schema,
    SuppressQuasiIdentifiers,
    Table,
    measure,
    sanitize,
)
from sfumato.errors import DataError, ParameterError

Bound = tuple[Table, Schema]


def only(release: Release, measured: Any) -> Measurement:
    (taken,) = measure(release, [measured])
    return taken


def values(release: Release, name: str, row: int) -> set[Any]:
    cells = release.cells[name]
    assert cells.sets is not None
    first, end = cells.sets.starts[cells.codes[row]], cells.sets.starts[cells.codes[row] + 1]
    return {cells.domain[code] for code in cells.sets.members[first:end]}


def chances(release: Release, name: str, rows: Iterable[int]) -> dict[Any, float]:
    """Return the expected number of records with each value, among these rows."""
    found: dict[Any, float] = defaultdict(float)
    for row in rows:
        told = values(release, name, row)
        for value in told:
            found[value] += float(release.weights[row]) / len(told)
    return found


@given(data=st.data())
@settings(max_examples=40)
def test_the_guess_is_the_likeliest_value_among_the_records_that_fit(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    table, schema = data.draw(tiny_tables)
    name = data.draw(st.sampled_from(schema.released))
    known = tuple(each for each in schema.quasi_identifiers if each != name)
    release = sanitize(table, schema, Mondrian(KAnonymity(min(2, table.n_records))))
    taken = only(release, AuxiliaryGain(name, known=known))
    least = most = 0.0
    for row in range(table.n_rows):
        person = {each: table[each].domain[table[each].codes[row]] for each in (*known, name)}
        fitting = [
            other
            for other in range(release.n_rows)
            if all(person[each] in values(release, each, other) for each in known)
        ]
        found = chances(release, name, fitting)
        highest = max(found.values())
        best = [value for value, count in found.items() if math.isclose(count, highest)]
        most += int(table.weights[row]) * (person[name] in best)
        least += int(table.weights[row]) * (best == [person[name]])
    assert least / table.n_records - 1e-9 <= taken.detail["right"] <= most / table.n_records + 1e-9
    assert taken.detail["with-fitting-record"] == 1


@pytest.mark.parametrize("levels", [{}, {"age": 1}, {"age": 2, "zip": 2}])
def test_who_knows_all_quasi_identifiers_of_all_people_has_the_accuracy_gain(
    levels: dict[str, int], hospital: Bound
) -> None:
    release = sanitize(*hospital, FullDomain(levels, KAnonymity(1)))
    taken, expected = only(release, AuxiliaryGain()), only(release, AccuracyGain())
    assert taken.value == pytest.approx(expected.value)
    assert taken.baseline == pytest.approx(expected.baseline)


def test_a_bucket_tells_its_distribution_only(hospital: Bound) -> None:
    assert only(sanitize(*hospital, AsIs()), AuxiliaryGain()).detail["right"] == 1
    assert only(sanitize(*hospital, Anatomy(3)), AuxiliaryGain()).detail["right"] <= 0.5


def written(place: Path, columns: dict[str, list[Any]]) -> str:
    pyarrow.csv.write_csv(pa.table(columns), place)
    return str(place)


def test_what_is_true_of_everybody_is_no_breach_of_somebody(tmp_path: Path) -> None:
    columns = {"work": ["mine", "farm"] * 20, "town": ["a", "b", "c", "d"] * 10, "ill": ["lung", "no"] * 20}
    table, schema = Schema.of(work="quasi-identifying", town="quasi-identifying", ill="sensitive").bind(
        Table.from_arrow(columns)
    )
    release = sanitize(table, schema, AsIs())
    strangers = written(tmp_path / "control.csv", {"work": ["mine", "farm"] * 5, "ill": ["lung", "no"] * 5})
    alone = only(release, AuxiliaryGain())
    controlled = only(release, AuxiliaryGain(control=strangers, known=("work",)))
    assert alone.value == pytest.approx(0.5)
    assert controlled.value == 0
    assert controlled.baseline == 1


def test_a_list_is_matched_where_its_values_fit(tmp_path: Path, hospital: Bound) -> None:
    table, schema = hospital
    release = sanitize(table, schema, Mondrian(KAnonymity(3)))
    some = table.to_arrow().slice(0, 4)
    people = {name: some[name].to_pylist() for name in ("zip", "age", "sex", "diagnosis")}
    taken = only(release, AuxiliaryGain(auxiliary=written(tmp_path / "some.csv", people)))
    assert taken.detail["people"] == 4
    assert taken.detail["with-fitting-record"] == 1
    people["age"] = [140] * 4
    taken = only(release, AuxiliaryGain(auxiliary=written(tmp_path / "old.csv", people)))
    assert taken.detail["with-fitting-record"] == 0
    assert taken.value == 0


def test_of_many_people_some_are_drawn(adult: Bound) -> None:
    release = sanitize(*adult, Mondrian(KAnonymity(20)))
    taken = [only(release, AuxiliaryGain(people=500, seed=seed)) for seed in (0, 0, 1)]
    assert taken[0] == taken[1] != taken[2]
    assert taken[0].detail["people"] == 500
    expected = only(release, AccuracyGain()).value
    assert taken[0].interval is not None
    assert taken[0].interval[0] <= expected <= taken[0].interval[1]


def test_withheld_quasi_identifiers_give_nothing_away(example: Bound) -> None:
    release = sanitize(*example, SuppressQuasiIdentifiers())
    assert only(release, AuxiliaryGain()).value == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"people": 0}, "people must be at least 1"),
        ({"attribute": "diagnosi"}, "did you mean 'diagnosis'"),
        ({"auxiliary": True}, "list.csv has no column 'diagnosis'; add it"),
        (
            {"attribute": "zip", "auxiliary": True, "known": ("age",)},
            "list.csv has no column 'age'; did you mean 'agee'",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tmp_path: Path, hospital: Bound, given: dict[str, Any], words: str
) -> None:
    path = written(tmp_path / "list.csv", {"zip": ["1"], "agee": [3]})
    placed = given | ({"auxiliary": path} if "auxiliary" in given else {})
    with pytest.raises((ParameterError, DataError), match=words):
        measure(sanitize(*hospital, AsIs()), [AuxiliaryGain(**placed)])


def test_noise_cannot_be_matched(hospital: Bound) -> None:
    noisy = only(sanitize(*hospital, Laplace(1.0)), AuxiliaryGain())
    assert not noisy.applicable
    assert "`inference` takes the nearest records" in noisy.detail["reason"]
