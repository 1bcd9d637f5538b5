"""How far released values lie from people's, worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sfumato as sf
from sfumato.measures.attacks import record_distances
from sfumato.measures.attacks.attack_setting import Listed
from sfumato.measures.attacks.record_distances import (
    Compared,
    SeenRelease,
    known_attributes,
    people_column,
    places_among,
    sight,
)
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.released_column import Cells
from sfumato.runtime.errors import DataError, ParameterError

TOWNS = sf.Hierarchy.nested({"Europe": ["Paris", "Rome"], "Asia": ["Tokyo"]})
SCHEMA = sf.Schema(
    (
        sf.Attribute("age", "quasi-identifying", "numeric", sf.Intervals((2, 4))),
        sf.Attribute("town", "quasi-identifying", hierarchy=TOWNS),
        sf.Attribute("ill", "sensitive"),
    )
)
PEOPLE: dict[str, list[Any]] = {
    "age": [20, 21, 22, 23, None],
    "town": ["Paris", "Rome", "Tokyo", "Paris", "Rome"],
    "ill": ["a", "b", "c", "a", "b"],
}
OTHERS = sf.Table.from_arrow({"age": [20, 22, 25, None], "town": ["Paris", "Oslo", "Tokyo", None]})


def seen(age: int, town: int) -> SeenRelease:
    how = sf.sanitizers.FullDomain({"age": age, "town": town}, sf.models.KAnonymity(1))
    return sight(sf.sanitize(pa.table(PEOPLE), SCHEMA, how), ("age", "town"))


def far(compared: Compared) -> list[list[float]]:
    """Return how far each label is from each of the others."""
    column = OTHERS[compared.name]
    found: list[list[float]] = compared.far(column, column.codes).tolist()
    return found


def approximately(expected: list[list[float]]) -> list[Any]:
    return [pytest.approx(row, abs=1e-6) for row in expected]


def test_numbers_are_as_far_as_the_gap_to_the_set_as_a_share_of_the_width() -> None:
    age = seen(1, 0).attributes[0]
    assert age.cells.labels == ("[20, 22)", "[22, 24)", None)
    # the column is 3 wide: 20 is 2 from 22, and 25 is 4 from 21, which is more than the width
    assert far(age) == approximately([[0, 2 / 3, 1], [1 / 3, 0, 1], [1, 2 / 3, 1], [1, 1, 0]])


def test_inside_a_set_there_is_no_distance() -> None:
    table = pa.table({"age": [20, 21, 22, 23, 28], "town": ["Paris"] * 5, "ill": ["a"] * 5})
    how = sf.sanitizers.FullDomain({"age": 2, "town": 0}, sf.models.KAnonymity(1))
    compared = sight(sf.sanitize(table, SCHEMA, how), ("age",)).attributes[0]
    assert compared.cells.labels == ("[20, 24)", "[28, 32)")
    column = sf.Table.from_arrow({"age": [21, 22, 27]})["age"]
    # of ages from 20 to 28
    assert compared.far(column, column.codes).tolist() == [[0, 7 / 8], [0, 6 / 8], [4 / 8, 1 / 8]]


def test_a_number_that_stands_for_itself_is_its_own_set() -> None:
    age = seen(0, 0).attributes[0]
    assert age.sizes.tolist() == [1, 1, 1, 1, 1]
    assert far(age)[1] == pytest.approx([2 / 3, 1 / 3, 0, 1 / 3, 1], abs=1e-6)


def test_a_noisy_number_is_compared_as_it_is() -> None:
    noisy = Compared("age", SCHEMA, Cells(np.array([0, 1]), ("19.5", "24.5"), (19.5, 24.5)))
    assert noisy.sizes.tolist() == [1, 1]
    assert (noisy.ranges.low.tolist(), noisy.ranges.high.tolist()) == ([19.5, 24.5], [19.5, 24.5])
    # of a width of 5; nothing is known of who has no age
    assert far(noisy) == approximately([[0.1, 0.9], [0.5, 0.5], [1, 0.1], [1, 1]])


def test_categories_are_in_a_set_or_not() -> None:
    town = seen(0, 1).attributes[1]
    assert town.cells.labels == ("Europe", "Asia")
    # nobody in the table is from Oslo, and nobody's town is missing
    assert far(town) == [[0, 1], [1, 1], [1, 0], [1, 1]]


def test_a_star_may_be_anything_even_what_the_table_lacks() -> None:
    star = seen(0, 2).attributes[1]
    assert star.cells.labels == ("*",)
    assert far(star) == [[0], [0], [0], [0]]
    ages = sight(
        sf.sanitize(pa.table(PEOPLE), SCHEMA, sf.sanitizers.SuppressQuasiIdentifiers()), ("age",)
    ).attributes[0]
    assert far(ages) == [[0], [0], [0], [0]]


def test_a_column_of_one_number_has_no_width() -> None:
    table = pa.table({"age": [20, 20], "town": ["Paris", "Rome"], "ill": ["a", "b"]})
    compared = sight(sf.sanitize(table, SCHEMA, sf.sanitizers.AsIs()), ("age",)).attributes[0]
    assert far(compared) == [[0], [1], [1], [1]]
    # numbers are as far apart as they differ then, up to 1
    near = sf.Table.from_arrow({"age": [20.5]})["age"]
    assert compared.far(near, near.codes).tolist() == [[0.5]]


def test_places_are_numbers_even_where_every_value_is_known() -> None:
    town = seen(0, 1).attributes[1]
    assert town.ranges.low.dtype == town.ranges.high.dtype == np.float64
    assert places_among(("Tokyo", "Paris"), OTHERS["town"]).tolist() == pytest.approx(
        [1 if town == "Paris" else 0 if town == "Tokyo" else np.nan for town in OTHERS["town"].domain],
        nan_ok=True,
    )
    known = sf.Table.from_arrow({"town": ["Paris"]})["town"]
    assert places_among(("Tokyo", "Paris"), known).dtype == np.float64


def test_rows_that_look_alike_are_one_box() -> None:
    found = seen(1, 1)
    # labels of the towns follow those of the ages
    assert found.rows.tolist() == [[0, 3], [0, 3], [1, 4], [1, 3], [2, 3]]
    assert found.volumes.tolist() == [4, 4, 2, 4, 2]
    assert found.boxes.box_of.tolist() == [0, 0, 1, 2, 3]
    assert found.boxes.weights.tolist() == [2, 1, 1, 1]
    assert found.boxes.rows.tolist() == [[0, 3], [1, 4], [1, 3], [2, 3]]
    assert found.boxes.first.tolist() == [0, 2, 3, 4]


@pytest.mark.parametrize("at_once", [1, 6, 10, 15, 1 << 24])
def test_people_are_compared_in_parts_of_any_size(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_distances, "_AT_ONCE", at_once)
    release = seen(1, 1)
    rows = np.array([3, 0, 1, 2])
    parts = list(release.far(Listed(OTHERS, rows)))
    together = np.concatenate([part for _, part in parts])
    expected = np.hstack([np.array(far(each))[rows] for each in release.attributes])
    assert together.tolist() == expected.tolist()
    # there are five labels
    size = max(at_once // 5, 1)
    assert [(some.start, some.stop) for some, _ in parts] == [(n, n + size) for n in range(0, 4, size)]


class TestWhatIsKnown:
    def test_it_is_the_quasi_identifiers_unless_something_is_given(self) -> None:
        release = seen(0, 0).release
        assert known_attributes(release, ()) == ("age", "town")
        assert known_attributes(release, ("ill", "age", "ill")) == ("ill", "age")
        assert known_attributes(release, ("ill", "age"), "ill") == ("age",)

    def test_a_quasi_identifier_that_is_not_released_is_not_known(self) -> None:
        release = seen(0, 0).release
        part = replace(release, cells={name: release.cells[name] for name in ("age", "ill")})
        assert known_attributes(part, ()) == ("age",)

    def test_the_secret_alone_is_nothing_to_attack_by(self) -> None:
        with pytest.raises(NotApplicable, match="give the known ones"):
            known_attributes(seen(0, 0).release, ("ill",), "ill")

    def test_what_the_release_or_the_control_group_lacks_is_named(self) -> None:
        with pytest.raises(ParameterError, match="no attribute 'twon'; did you mean 'town'"):
            known_attributes(seen(0, 0).release, ("twon",))
        with pytest.raises(ParameterError, match="no attribute 'x'; it has age, town, ill"):
            known_attributes(seen(0, 0).release, ("x",))
        with pytest.raises(DataError, match="no column 'twon'; did you mean 'town'"):
            people_column(OTHERS, "twon")
        with pytest.raises(DataError, match="no column 'height'; add it"):
            people_column(OTHERS, "height")
