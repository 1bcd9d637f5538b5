"""Encoding: generalised values lie between the values that they may stand for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Hierarchy, Intervals, Schema, Table, sanitize
from sfumato.data.schema import Attribute
from sfumato.miners import encoding
from sfumato.miners.encoding import encode
from sfumato.models import KAnonymity
from sfumato.results.release import Release
from sfumato.sanitizers import Anatomy, AsIs, FullDomain, Laplace, Mondrian, SuppressQuasiIdentifiers

Bound = tuple[Table, Schema]

LETTERS = Hierarchy.of_levels(("a", "b", "c"), [["ab", "ab", "c"]])


def letters_and_numbers() -> Bound:
    table = Table.from_arrow(
        {"letter": ["a", "b", "c", "a"], "age": [20, 21, 29, 35], "illness": ["x", "y", "y", "z"]}
    )
    schema = Schema(
        (
            Attribute("letter", "quasi-identifying", hierarchy=LETTERS),
            Attribute("age", "quasi-identifying", "numeric", Intervals((10,))),
            Attribute("illness", "sensitive"),
        )
    )
    return schema.with_assumed_public_part(table).bind(table)


def seen(release: Release, name: str, how: Any = "columns", cells: Any = "shares") -> list[list[float]]:
    """Return the columns of each row."""
    pattern_of, columns = encode(release, [name], how, cells)
    return columns[pattern_of].round(9).tolist()


def test_an_exact_category_has_one_column_for_each_value() -> None:
    release = sanitize(*letters_and_numbers(), AsIs())
    assert seen(release, "letter") == [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    assert seen(release, "letter", "codes") == [[0], [1], [2], [0]]


def test_a_generalised_category_is_a_share_of_each_value_that_it_may_be() -> None:
    release = sanitize(*letters_and_numbers(), FullDomain({"letter": 1}, KAnonymity(1)))
    assert seen(release, "letter") == [[0.5, 0.5, 0], [0.5, 0.5, 0], [0, 0, 1], [0.5, 0.5, 0]]


def test_an_exact_number_stays_and_an_interval_is_its_middle_and_its_width() -> None:
    bound = letters_and_numbers()
    assert seen(sanitize(*bound, AsIs()), "age") == [[20], [21], [29], [35]]
    release = sanitize(*bound, FullDomain({"age": 1}, KAnonymity(1)))
    assert seen(release, "age") == [[24.5, 9], [24.5, 9], [24.5, 9], [35, 0]]


def test_a_generalised_category_is_its_label_and_nothing_else() -> None:
    release = sanitize(*letters_and_numbers(), FullDomain({"letter": 1}, KAnonymity(1)))
    assert seen(release, "letter", cells="labels") == [[1, 0], [1, 0], [0, 1], [1, 0]]
    assert seen(release, "letter", "codes", "labels") == [[0], [0], [1], [0]]


@pytest.mark.parametrize("how", ["columns", "bins"])
def test_intervals_by_their_labels_are_categories_too(how: str) -> None:
    release = sanitize(*letters_and_numbers(), FullDomain({"age": 1}, KAnonymity(1)))
    assert seen(release, "age", how, "labels") == [[1, 0], [1, 0], [1, 0], [0, 1]]


@pytest.mark.parametrize("how", ["columns", "bins", "codes"])
def test_what_is_not_generalised_looks_the_same_by_its_labels(how: str) -> None:
    bound = letters_and_numbers()
    for release in (sanitize(*bound, AsIs()), sanitize(*bound, Laplace(1.0)), sanitize(*bound, Anatomy(2))):
        for name in bound[1].released:
            assert seen(release, name, how, "labels") == seen(release, name, how)


@pytest.mark.parametrize("how", ["columns", "bins", "codes"])
def test_how_labels_are_spelled_does_not_matter(how: str) -> None:
    release = sanitize(*letters_and_numbers(), FullDomain({"letter": 1, "age": 1}, KAnonymity(1)))
    for name in ("letter", "age"):
        cells = release.cells[name]
        # numbers, too, are spellings: they must not make numbers of categories
        spelled = replace(cells, labels=tuple(str(7 - place) for place in range(len(cells.labels))))
        other = replace(release, cells={**release.cells, name: spelled})
        assert seen(other, name, how, "labels") == seen(release, name, how, "labels")


def test_what_is_withheld_has_no_columns() -> None:
    release = sanitize(*letters_and_numbers(), SuppressQuasiIdentifiers())
    for how in ("columns", "bins", "codes"):
        assert encode(release, ["letter", "age"], how)[1].shape == (1, 0)


def test_noisy_numbers_are_taken_as_they_are() -> None:
    release = sanitize(*letters_and_numbers(), Laplace(1.0, rounded=False))
    cells = release.cells["age"]
    assert seen(release, "age") == [[round(float(cells.domain[code]), 9)] for code in cells.codes]


def test_a_missing_number_stands_at_the_mean_and_is_marked() -> None:
    table = Table.from_arrow({"age": [10, 30, 30, None], "sex": ["f", "m", "f", "m"]})
    release = sanitize(table, Schema.of(age="insensitive", sex="sensitive"), AsIs())
    assert seen(release, "age") == [[10, 0], [30, 0], [30, 0], [round(70 / 3, 9), 1]]


def test_a_sensitive_value_of_a_group_is_the_group_s_distribution() -> None:
    release = sanitize(*letters_and_numbers(), Anatomy(2))
    assert release.group_of is not None
    codes, expected = release.cells["illness"].codes, []
    for group in release.group_of:
        weights = np.where(release.group_of == group, release.weights, 0)
        expected.append(np.bincount(codes, weights, 3) / weights.sum())
    varies = np.ptp(expected, axis=0) > 0
    assert np.allclose(seen(release, "illness"), np.array(expected)[:, varies])


def test_bins_hold_about_equally_many_records() -> None:
    table = Table.from_arrow({"age": list(range(1000)), "sex": ["f", "m"] * 500})
    release = sanitize(table, Schema.of(age="insensitive", sex="sensitive"), AsIs())
    assert np.array(seen(release, "age", "bins")).sum(axis=0).tolist() == [100] * 10


def test_rare_values_share_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MOST_COLUMNS", 3)
    table = Table.from_arrow({"town": list("aaabbcde"), "sex": ["f", "m"] * 4})
    release = sanitize(table, Schema.of(town="insensitive", sex="sensitive"), AsIs())
    cells = release.cells["town"]
    columns = {
        cells.labels[code]: line for code, line in zip(cells.codes, seen(release, "town"), strict=True)
    }
    assert len({tuple(columns[town]) for town in "cde"}) == 1
    assert len({tuple(column) for column in columns.values()}) == 3


def test_labels_that_were_read_without_an_original_are_categories_or_numbers() -> None:
    release = sanitize(*letters_and_numbers(), AsIs())
    bare = {name: replace(cells, domain=(), sets=None) for name, cells in release.cells.items()}
    unknown = replace(release, cells=bare).unlinked()
    assert seen(unknown, "letter") == seen(release, "letter")
    assert seen(unknown, "age") == seen(release, "age")


@given(data=st.data())
@settings(max_examples=40)
def test_rows_with_the_same_released_values_have_the_same_pattern(
    tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    table, schema = data.draw(tiny_tables)
    release = sanitize(table, schema, Mondrian(KAnonymity(min(2, table.n_records))))
    names = schema.quasi_identifiers
    pattern_of, columns = encode(release, names, data.draw(st.sampled_from(["columns", "bins", "codes"])))
    released = list(zip(*(release.cells[name].codes.tolist() for name in names), strict=True))
    for one, other in zip(pattern_of, released, strict=True):
        assert released[pattern_of.tolist().index(one)] == other
    assert len(set(released)) == len(columns)
    assert np.isfinite(columns).all()
