"""The adversary with a list of people, against looking for every person in every released record."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from sfumato import Schema, Table, measure, measure_by, sanitize
from sfumato.measures import AccuracyGain, AuxiliaryGain, Measurement
from sfumato.measures.disclosure import auxiliary
from sfumato.models import KAnonymity
from sfumato.results.linked_release import LinkedRelease, link
from sfumato.results.origin import Origin
from sfumato.results.release import Release
from sfumato.runtime.errors import DataError, ParameterError
from sfumato.sanitizers import Anatomy, AsIs, FullDomain, Laplace, Mondrian, SuppressQuasiIdentifiers

Bound = tuple[Table, Schema]


def only(release: Release, measured: Any) -> Measurement:
    (taken,) = measure(release, [measured])
    return taken


def values(release: LinkedRelease, name: str, row: int) -> set[Any]:
    cells = release.cells[name]
    assert cells.sets is not None
    first, end = cells.sets.starts[cells.codes[row]], cells.sets.starts[cells.codes[row] + 1]
    return {cells.domain[code] for code in cells.sets.members[first:end]}


def chances(release: LinkedRelease, name: str, rows: Iterable[int]) -> dict[Any, float]:
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
    outsiders = written(tmp_path / "control.csv", {"work": ["mine", "farm"] * 5, "ill": ["lung", "no"] * 5})
    alone = only(release, AuxiliaryGain())
    controlled = only(release, AuxiliaryGain(control=outsiders, known=("work",)))
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


# three miners, of whom two have a bad lung, and two farmers
FIVE: dict[str, list[Any]] = {
    "work": ["mine", "mine", "mine", "farm", "farm"],
    "town": ["a", "b", "a", "b", "a"],
    "ill": ["lung", "lung", "no", "no", "no"],
}


def five(**roles: Any) -> LinkedRelease:
    given = {"work": "quasi-identifying", "town": "insensitive", "ill": "sensitive", **roles}
    return sanitize(Table.from_arrow(FIVE), Schema.of(given), AsIs())


def test_guesses_about_five_people_by_hand() -> None:
    taken = only(five(), AuxiliaryGain())
    assert taken.detail == {"right": 4 / 5, "people": 5, "known": "work", "with-fitting-record": 1.0}
    assert taken.value == pytest.approx(1 / 5)
    assert (taken.baseline, taken.attribute) == (3 / 5, "ill")
    # two are guessed better than by the commonest value, one worse, two as well
    radius = norm.ppf(0.975) * math.sqrt((2 * 0.8**2 + 1.2**2 + 2 * 0.2**2) / 25)
    assert taken.interval == pytest.approx((0.2 - radius, 0.2 + radius))


def test_outsiders_are_guessed_by_the_same_records(tmp_path: Path) -> None:
    outsiders = {"work": ["mine", "mine", "farm", "farm"], "ill": ["lung", "no", "lung", "no"]}
    control = written(tmp_path / "control.csv", outsiders)
    taken = only(five(), AuxiliaryGain(control=control))
    assert taken.value == pytest.approx(0.3)
    assert taken.baseline == 0.5
    radius = norm.ppf(0.975) * math.sqrt(0.8 * 0.2 / 5 + 0.5 * 0.5 / 4)
    assert taken.interval == pytest.approx((0.3 - radius, 0.3 + radius))


def test_what_is_not_sensitive_can_be_guessed_from_what_is_known() -> None:
    taken = only(five(), AuxiliaryGain("work", known=("ill", "town")))
    assert (taken.attribute, taken.detail["known"]) == (None, "ill, town")
    # everybody is alone with both, but two who have no lung illness in a: one of them a miner
    assert taken.detail["right"] == 4 / 5
    taken = only(five(town="quasi-identifying"), AuxiliaryGain("work"))
    assert (taken.detail["known"], taken.detail["right"]) == ("town", 3 / 5)


def test_a_list_is_known_by_those_quasi_identifiers_that_it_has(tmp_path: Path) -> None:
    path = written(tmp_path / "list.csv", {"work": ["mine", "sea"], "ill": ["no", "no"]})
    taken = only(five(town="quasi-identifying"), AuxiliaryGain(auxiliary=path))
    # whoever no record fits is taken to have what most have
    assert taken.detail == {"right": 0.5, "people": 2, "known": "work", "with-fitting-record": 0.5}


def test_people_are_looked_at_in_parts_as_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    release = five(town="quasi-identifying")
    whole = only(release, AuxiliaryGain())
    for chunk in (1, 3, 7):
        monkeypatch.setattr(auxiliary, "_CHUNK", chunk)
        assert only(release, AuxiliaryGain()) == whole


def test_as_many_as_there_are_are_all_attacked() -> None:
    for people in (5, 6):
        assert only(five(), AuxiliaryGain(people=people)).detail["people"] == 5
    drawn = [only(five(), AuxiliaryGain(people=4, seed=seed)) for seed in range(6)]
    assert {taken.detail["people"] for taken in drawn} == {4}
    assert len({taken.value for taken in drawn}) > 1


def test_where_nobody_says_what_to_guess_or_about_whom_there_is_a_reason() -> None:
    assert only(five(ill="insensitive"), AuxiliaryGain()).detail["reason"].startswith("no attribute is sens")
    unknown = five().unlinked()
    assert (
        only(unknown, AuxiliaryGain()).detail["reason"].startswith("the original is not known; give a file")
    )
    with pytest.raises(ParameterError, match="no attribute 'shoe'; it has work, town, ill"):
        only(five(), AuxiliaryGain(known=("shoe",)))
    with pytest.raises(ParameterError, match="seed must be at least 0, not -1"):
        AuxiliaryGain(seed=-1)
    fewer = Table.from_arrow({name: FIVE[name] for name in ("work", "ill")})
    with pytest.raises(DataError, match=r"^the table has no column 'town'; add it"):
        only(link(five().unlinked(), Origin(fewer)), AuxiliaryGain(known=("town",)))


def test_of_a_group_the_list_says_who_is_attacked() -> None:
    found = measure_by(five(), ["auxiliary-gain"], "town", smallest=1)
    assert found.values("auxiliary-gain") == {"a": None, "b": None}
    for (taken,) in found.groups.values():
        assert taken.detail["reason"].startswith("its list says who is attacked")


def test_the_mean_over_people_and_its_variance() -> None:
    right = np.array([1.0, 0.0])
    found = auxiliary._Guessed(np.array([1, 3]), right, right, right)
    assert (found.n_people, found.share(right)) == (4, 0.25)
    assert found.variance(right) == pytest.approx(0.25 * 0.75 / 4)


def test_of_values_that_only_rounding_tells_apart_the_first_is_guessed() -> None:
    assert auxiliary._likeliest(np.array([[0.3, 0.1 + 0.2], [0.1, 0.2]])).tolist() == [0, 1]
