"""How far what is told lies from the truth, worked out by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.unknown_rows import with_unknown_rows

import sfumato as sf
from sfumato.data.kinds import CATEGORICAL, NUMERIC
from sfumato.data.table import Column
from sfumato.measures.scenarios.nearness import (
    closeness,
    is_noisy,
    nearer,
    released_as,
    released_column,
    told_numbers,
    told_sets,
    told_values,
    true_column,
)
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.released_column import Cells

TOWNS = sf.Hierarchy.nested({"Europe": ["Paris", "Rome", "Oslo"], "Asia": ["Tokyo"]})
SCHEMA = sf.Schema(
    (
        sf.Attribute("age", "quasi-identifying", "numeric", sf.Intervals((10,))),
        sf.Attribute("town", "quasi-identifying", hierarchy=TOWNS),
        sf.Attribute("ill", "sensitive"),
    )
)
PEOPLE: dict[str, list[Any]] = {
    "age": [20, 23, 29, 31, None],
    "town": ["Paris", "Rome", "Tokyo", "Paris", "Rome"],
    "ill": ["a", "b", "c", "a", "b"],
}
NAN, INF = math.nan, math.inf


def release(age: int = 0, town: int = 0) -> sf.results.LinkedRelease:
    return sf.sanitize(
        pa.table(PEOPLE),
        SCHEMA,
        sf.sanitizers.FullDomain({"age": age, "town": town}, sf.models.KAnonymity(1)),
    )


def noisy(*numbers: float | None) -> sf.results.LinkedRelease:
    """Return the release with these numbers in the place of the ages."""
    plain = release()
    cells = Cells(np.arange(5, dtype=np.int32), tuple(map(str, numbers)), numbers)
    return replace(plain, cells={**plain.cells, "age": cells})


def values(column: Column) -> list[Any]:
    return [column.domain[code] for code in column.codes]


def test_the_truth_is_known_where_the_rows_are() -> None:
    assert values(true_column(release(), "age")) == PEOPLE["age"]
    with pytest.raises(NotApplicable, match="which record each released row comes from"):
        true_column(with_unknown_rows(release()), "age")
    with pytest.raises(NotApplicable, match="the original is needed"):
        true_column(release().unlinked(), "age")


def test_what_is_neither_sets_nor_numbers_is_not_known() -> None:
    assert is_noisy(release(), "age") is False
    assert is_noisy(noisy(1, 2, 3, 4, 5), "age") is True
    plain = release()
    for name, domain in (("town", plain.cells["town"].domain), ("age", ())):
        cells = replace(plain.cells[name], sets=None, domain=domain)
        with pytest.raises(NotApplicable, match=f"what the released values of '{name}' stand for"):
            is_noisy(replace(plain, cells={**plain.cells, name: cells}), name)


def test_a_noisy_number_is_as_far_as_it_differs() -> None:
    told = released_as(noisy(22, 23.5, None, 30, None), "age")
    assert told.distance.tolist() == [2, 0.5, INF, 1, 0]
    assert values(told.column) == [22, 23.5, None, 30, None]
    some = told.take(np.array([3, 1]))
    assert (some.distance.tolist(), values(some.column)) == ([1, 0.5], [30, 23.5])


def test_a_set_is_as_far_as_it_has_other_values() -> None:
    # Oslo is in Europe, too, although nobody lives there
    assert released_as(release(town=1), "town").distance.tolist() == [2, 2, 0, 2, 2]
    shown = values(released_as(release(town=1), "town").column)
    assert shown == ["Europe", "Europe", "Asia", "Europe", "Europe"]
    ages = released_as(release(age=1), "age")
    assert ages.distance.tolist() == [2, 2, 2, 0, 0]
    assert values(ages.column) == [24.5, 24.5, 24.5, 31, None]


def test_a_set_without_the_truth_is_infinitely_far() -> None:
    known = release(town=1)
    cells, truth = known.cells["town"], true_column(known, "town")
    told = told_sets(cells, np.array([1, 1, 1, 0, 0], dtype=np.int32), truth)
    assert told.distance.tolist() == [INF, INF, 0, 2, 2]
    assert values(told.column) == ["Asia"] * 3 + ["Europe"] * 2


def test_a_group_is_as_far_as_it_has_other_sensitive_values() -> None:
    known = sf.sanitize(pa.table(PEOPLE), SCHEMA, sf.sanitizers.Anatomy(2))
    assert known.group_of is not None
    shown = [known.cells["ill"].labels[code] for code in known.cells["ill"].codes]
    expected = [
        len({ill for ill, of in zip(shown, known.group_of, strict=True) if of == group}) - 1
        for group in known.group_of
    ]
    assert released_as(known, "ill").distance.tolist() == expected
    assert max(expected) > 0
    # what is told for each record is as exact as ever
    assert released_as(known, "town").distance.tolist() == [0] * 5


def test_a_predicted_value_is_right_or_not() -> None:
    truth = Column(np.array([0, 1, 2]), ("x", "y", "z"), CATEGORICAL)
    told = told_values(np.array([0, 2, 2]), truth)
    assert told.distance.tolist() == [0, INF, 0]
    assert values(told.column) == ["x", "z", "z"]


@pytest.mark.parametrize(
    ("ages", "expected", "distance"),
    [((20, 30), [21, 29, 21], [1, 1, 1]), ((20, 30.5), [20.6, 29.4, 20.6], [0.6, 1.1, 0.6])],
)
def test_predictions_of_whole_numbers_are_rounded(
    ages: tuple[float, ...], expected: list[float], distance: list[float]
) -> None:
    truth = Column(np.array([0, 1, 0]), ages, NUMERIC)
    told = told_numbers(np.array([20.6, 29.4, 20.6]), truth)
    assert told.column.kind == NUMERIC
    assert values(told.column) == pytest.approx(expected)
    assert told.distance.tolist() == pytest.approx(distance)


def test_nearer_is_any_bit_so_many_per_cent_or_exact() -> None:
    predicted, released = np.array([0.0, 0.5, 3, 4, INF]), np.array([0.0, 1, 4, 4, INF])
    assert nearer(predicted, released, 0).tolist() == [False, True, True, False, False]
    assert nearer(predicted, released, 25).tolist() == [False, True, True, False, False]
    assert nearer(predicted, released, 26).tolist() == [False, True, False, False, False]
    assert nearer(predicted, released, 1).tolist() == [False, True, True, False, False]
    assert nearer(predicted, released, 99).tolist() == [False] * 5
    assert nearer(predicted, released, 100).tolist() == [False] * 5
    assert nearer(np.array([0.0, 0.0, 1.0]), np.array([1.0, INF, INF]), 100).tolist() == [True, True, False]
    assert nearer(np.array([1.0]), np.array([200.0]), 99).tolist() == [True]
    assert nearer(np.array([1.0]), np.array([200.0]), 100).tolist() == [False]


class TestCloseness:
    def test_numbers_lose_the_share_of_the_width_that_they_are_off(self) -> None:
        ages = (20, 22, 30, None)
        truth = Column(np.array([0, 1, 2, 3, 3]), ages, NUMERIC)
        told = Column(np.array([1, 1, 0, 3, 0]), ages, NUMERIC)
        tree = release().schema.hierarchy("town")
        assert closeness(told, truth, tree).tolist() == pytest.approx([0.8, 1, 0, 1, 0])
        small = Column(np.array([0, 1]), (0.0, 0.25, 0.5), NUMERIC)
        assert closeness(replace(small, codes=np.array([1, 1])), small, tree).tolist() == [0.5, 1]
        # farther than the column is wide is no worse than the farthest
        wide = Column(np.array([0]), (99,), NUMERIC)
        assert closeness(wide, Column(np.array([0]), ages, NUMERIC), tree).tolist() == [0]

    @pytest.mark.parametrize("domain", [(20,), (20, None), (None,)])
    def test_numbers_that_never_differ_are_right_or_not(self, domain: tuple[Any, ...]) -> None:
        truth = Column(np.array([0, 0]), domain, NUMERIC)
        told = Column(np.array([0, 1]), (domain[0], 21), NUMERIC)
        assert closeness(told, truth, release().schema.hierarchy("town")).tolist() == [1, 0]

    def test_categories_lose_the_share_of_the_others_below_the_node_above_both(self) -> None:
        tree = release().schema.hierarchy("town")
        known = release().origin.table
        place = {value: code for code, value in enumerate(known["town"].domain)}
        pairs = [("Paris", "Paris"), ("Paris", "Rome"), ("Rome", "Tokyo"), ("Tokyo", "Tokyo")]
        told, truth = (
            Column(np.array([place[pair[side]] for pair in pairs]), known["town"].domain) for side in (0, 1)
        )
        # of Europe's three towns two are others, of the four of the world three
        assert closeness(told, truth, tree).tolist() == pytest.approx([1, 1 - 2 / 3, 0, 1])

    @pytest.mark.parametrize("towns", [("Paris",), ("Paris", "Rome")])
    def test_of_one_or_two_categories_the_other_is_wrong(self, towns: tuple[str, ...]) -> None:
        schema = sf.Schema((sf.Attribute("town", "quasi-identifying"),))
        bound = sf.sanitize(pa.table({"town": towns}), schema, sf.sanitizers.AsIs()).schema
        truth = Column(np.arange(len(towns)), towns)
        told = replace(truth, codes=np.zeros(len(towns), dtype=np.int32))
        assert closeness(told, truth, bound.hierarchy("town")).tolist() == [1, 0][: len(towns)]


def test_a_set_of_numbers_is_one_value_in_the_middle_of_those_known() -> None:
    star = sf.sanitize(pa.table(PEOPLE), SCHEMA, sf.sanitizers.SuppressQuasiIdentifiers())
    assert set(values(released_column(star.cells["age"], NUMERIC))) == {25.5}
    assert set(values(released_column(star.cells["age"], CATEGORICAL))) == {"*"}
    plain = replace(star.cells["age"], sets=None)
    assert released_column(plain, NUMERIC).kind == CATEGORICAL
