"""Single values of a release and of its original, record by record."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from sfumato import Attribute, Hierarchy, Schema, sanitize
from sfumato.measures.utility.fidelity import single_values
from sfumato.measures.utility.fidelity.single_values import (
    compared_attributes,
    original_records,
    released_records,
)
from sfumato.models import KAnonymity
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.sanitizers import Anatomy, AsIs, FullDomain

TOWNS = Hierarchy.nested({"Europe": ["Paris", "Rome"], "Asia": ["Tokyo"]})
SCHEMA = Schema(
    (
        Attribute("age", "quasi-identifying", "numeric"),
        Attribute("town", "quasi-identifying", hierarchy=TOWNS),
        Attribute("ill", "sensitive"),
    )
)
PEOPLE = {
    "age": [20, 20, 30, None],
    "town": ["Paris", "Paris", "Rome", "Tokyo"],
    "ill": ["a", "a", "b", "a"],
}
NAN = float("nan")


def release(level: int = 0) -> LinkedRelease:
    how = FullDomain({"age": 0, "town": level}, KAnonymity(1))
    return sanitize(pa.table(PEOPLE), SCHEMA, how)


def test_the_original_is_read_as_it_is() -> None:
    found = original_records(release(), ("age", "town"), 0)
    table = release().origin.table
    assert table is not None
    assert [table["town"].domain[code] for code in found.codes["town"]] == PEOPLE["town"]
    assert found.numbers.keys() == {"age"}
    assert found.numbers["age"].tolist() == pytest.approx([20, 20, 30, NAN], nan_ok=True)
    assert found.sizes == {"age": 3, "town": 3}
    assert found.n_records == 4


def test_a_released_value_is_read_as_one_that_it_may_stand_for() -> None:
    read = [released_records(release(1), ("town", "age"), seed) for seed in range(20)]
    table = release().origin.table
    assert table is not None
    said = {tuple(table["town"].domain[code] for code in each.codes["town"]) for each in read}
    assert {town for towns in said for town in towns[:3]} == {"Paris", "Rome"}
    assert {towns[3] for towns in said} == {"Tokyo"}
    assert read[0].numbers["age"].tolist() == pytest.approx([20, 20, 30, NAN], nan_ok=True)
    assert read[0].sizes == {"town": 3, "age": 3}


def test_of_a_group_the_sensitive_values_alone_are_dealt_out_anew() -> None:
    people = {"age": list(range(8)), "town": ["Paris"] * 8, "ill": list("abababab")}
    made = sanitize(pa.table(people), SCHEMA, Anatomy(2), seed=1)
    assert made.group_of is not None
    own = made.cells["ill"].codes.tolist()
    read = [released_records(made, ("age", "ill"), seed) for seed in range(8)]
    for each in read:
        assert each.codes["age"].tolist() == made.cells["age"].codes.tolist()
        pairs = zip(made.group_of.tolist(), each.codes["ill"].tolist(), strict=True)
        assert sorted(pairs) == sorted(zip(made.group_of.tolist(), own, strict=True))
    assert any(each.codes["ill"].tolist() != own for each in read)


def test_of_many_records_two_hundred_thousand_are_drawn() -> None:
    rng = np.random.default_rng(0)
    assert single_values._drawn(np.array([0, 3, 1]), rng).tolist() == [1, 1, 1, 2]
    assert len(single_values._drawn(np.array([100_000, 100_000]), rng)) == 200_000
    drawn = np.bincount(single_values._drawn(np.array([300_000, 0, 100_000]), rng))
    assert drawn.sum() == 200_000
    assert drawn[1] == 0
    assert drawn[0] == pytest.approx(150_000, rel=0.01)


def test_attributes_are_compared_that_differ_and_are_released() -> None:
    assert compared_attributes(release(), 3) == ("age", "town", "ill")
    part = replace(release(), cells={name: release().cells[name] for name in ("age", "ill")})
    assert compared_attributes(part, 2) == ("age", "ill")
    with pytest.raises(NotApplicable, match="it compares 3 attributes or more, and 2 differ"):
        compared_attributes(part, 3)
    constant = sanitize(pa.table(PEOPLE | {"age": [1, 1, 1, 1]}), SCHEMA, AsIs())
    assert compared_attributes(constant, 1) == ("town", "ill")


def test_the_original_and_some_records_are_needed() -> None:
    with pytest.raises(NotApplicable, match="the original is needed"):
        original_records(release().unlinked(), ("age",), 0)
    nothing = replace(release(), weights=np.zeros(release().n_rows, dtype=np.int64))
    with pytest.raises(NotApplicable, match="the release has no records"):
        released_records(nothing, ("age",), 0)


def test_words_that_are_no_original_values_cannot_be_compared() -> None:
    changed = release()
    town = changed.cells["town"]
    cells = {**changed.cells, "town": replace(town, sets=None, domain=town.labels)}
    with pytest.raises(NotApplicable, match="released values of 'town' are neither sets"):
        released_records(replace(changed, cells=cells), ("town",), 0)
