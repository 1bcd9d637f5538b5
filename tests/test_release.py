"""Release: exactly what would be published, against brute force over the records that are written."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unknown_rows import with_unknown_rows

from sfumato import Attribute, Hierarchy, Intervals, Recipe, Schema, Table, sanitize
from sfumato.data.equivalence_classes import EquivalenceClasses
from sfumato.models import KAnonymity, ProbabilisticDiversity, TCloseness
from sfumato.models.base import PrivacyModel
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease, linked, released, without_rows
from sfumato.results.release import Release, failing_rows, holds
from sfumato.results.released_column import level_cells, suppressed_cells
from sfumato.sanitizers import FullDomain

SECRET = "SECRETVALUE"

COLUMNS: dict[str, list[Any]] = {
    "name": ["Ada", "Bob", "Cem", "Dan", "Eve", "Fay"],
    "age": [21, 24, 36, 38, 36, 52],
    "town": ["Bonn", "Bonn", "Köln", "Köln", "Köln", None],
    "visits": [1, 2, 1, 1, 1, 7],
    "illness": ["flu", "gout", "flu", "gout", "flu", "angina"],
}
SCHEMA = Schema(
    (
        Attribute("name", "identifying"),
        Attribute("age", "quasi-identifying", hierarchy=Intervals((10, 20))),
        Attribute("town", "quasi-identifying"),
        Attribute("visits", "insensitive"),
        Attribute("illness", "sensitive"),
    )
)

AsMade = Callable[[LinkedRelease], pa.Table]


def people() -> tuple[Table, Schema]:
    return SCHEMA.bind(Table.from_arrow(COLUMNS))


def generalized(level: int = 1) -> LinkedRelease:
    table, schema = people()
    rows = np.arange(table.n_rows)
    return released(table, schema, {"age": level_cells(table["age"], schema.hierarchy("age"), level, rows)})


def written(release: LinkedRelease) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = release.to_arrow(typed=False).to_pylist()
    return records


def rows_where(release: LinkedRelease, **values: Any) -> np.ndarray:
    """Return for each released row whether its original has these values."""
    chosen = np.ones(release.n_rows, dtype=bool)
    for name, value in values.items():
        column = release.origin.table[name]
        chosen &= column.codes[release.origin.rows] == column.domain.index(value)
    return chosen


def brute_force_classes(
    records: list[dict[str, Any]], quasi_identifiers: tuple[str, ...], sensitive: str
) -> Counter[tuple[Any, ...]]:
    """Return the multiset of classes, each as its sorted counts of sensitive values."""
    classes: dict[tuple[Any, ...], Counter[Any]] = defaultdict(Counter)
    for record in records:
        classes[tuple(record[name] for name in quasi_identifiers)][record[sensitive]] += 1
    return Counter(tuple(sorted(counts.items(), key=str)) for counts in classes.values())


def counted_classes(
    release: LinkedRelease, classes: EquivalenceClasses, sensitive: str
) -> Counter[tuple[Any, ...]]:
    counts, labels = classes.sensitive[sensitive], release.cells[sensitive].labels
    found = []
    for place in range(classes.n_classes):
        entries = slice(counts.starts[place], counts.starts[place + 1])
        pairs = zip(counts.values[entries], counts.counts[entries], strict=True)
        found.append(tuple(sorted(((labels[value], int(count)) for value, count in pairs), key=str)))
    return Counter(found)


# ------------------------------------------------------------------------------------- classes and groups


@given(data=st.data())
def test_the_classes_are_those_of_the_written_labels(tiny_tables: Any, data: st.DataObject) -> None:
    table, schema = data.draw(tiny_tables)
    rows = np.arange(table.n_rows)
    cells = {}
    for name in schema.quasi_identifiers:
        level = data.draw(st.integers(0, schema.hierarchy(name).height), name)
        cells[name] = level_cells(table[name], schema.hierarchy(name), level, rows)
    release = released(table, schema, cells)
    drop = np.array([data.draw(st.booleans()) for _ in range(release.n_rows)])
    drop[data.draw(st.integers(0, release.n_rows - 1))] = False
    kept = without_rows(release, drop)
    for made in (release, kept):
        records = written(made)
        assert len(records) == made.n_records
        for name in schema.sensitive:
            expected = brute_force_classes(records, schema.quasi_identifiers, name)
            assert counted_classes(made, made.classes, name) == expected
        sizes = Counter(tuple(record[name] for name in schema.quasi_identifiers) for record in records)
        assert sorted(made.classes.sizes.tolist()) == sorted(sizes.values())


def test_records_with_equal_labels_are_one_class_wherever_they_come_from() -> None:
    release = generalized()
    assert sorted(release.classes.sizes.tolist()) == [1, 2, 3]
    assert release.classes.n_records == 6


def test_without_quasi_identifiers_everybody_is_in_one_class() -> None:
    table, schema = Schema.of(illness="sensitive").bind(Table.from_arrow({"illness": ["flu", "gout", "flu"]}))
    assert released(table, schema, {}).classes.sizes.tolist() == [3]


def test_groups_are_the_classes_unless_they_are_given() -> None:
    release = generalized()
    assert release.groups is release.classes
    grouped = replace(release, group_of=np.zeros(release.n_rows, dtype=np.int64))
    assert grouped.groups.sizes.tolist() == [6]
    assert sorted(grouped.classes.sizes.tolist()) == [1, 2, 3]
    assert counted_classes(grouped, grouped.groups, "illness") == Counter(
        [(("angina", 1), ("flu", 3), ("gout", 2))]
    )


@given(data=st.data())
def test_groups_are_counted_by_their_numbers(tiny_tables: Any, data: st.DataObject) -> None:
    table, schema = data.draw(tiny_tables)
    group_of = np.array([data.draw(st.sampled_from([0, 3, 1000])) for _ in range(table.n_rows)])
    release = replace(released(table, schema, {}), group_of=group_of)
    for name in schema.sensitive:
        groups: dict[int, Counter[Any]] = defaultdict(Counter)
        for row, group in enumerate(group_of):
            label = release.cells[name].labels[release.cells[name].codes[row]]
            groups[group][label] += int(table.weights[row])
        expected = Counter(tuple(sorted(counts.items(), key=str)) for counts in groups.values())
        assert counted_classes(release, release.groups, name) == expected


# --------------------------------------------------------------------------------------------- suppression


def test_suppressed_records_leave_entirely_with_their_sensitive_value() -> None:
    release = generalized()
    kept = without_rows(release, rows_where(release, illness="angina"))
    assert (kept.n_records, kept.n_suppressed, kept.n_original) == (5, 1, 6)
    assert len(written(kept)) == 5
    assert all("angina" not in record.values() for record in written(kept))
    assert "angina" not in str(kept.to_arrow().to_pylist())
    assert kept.classes.n_records == 5
    assert sorted(kept.classes.sizes.tolist()) == [2, 3]


def test_suppression_leaves_the_release_that_it_came_from_alone() -> None:
    release = generalized()
    before = sorted(written(release), key=str)
    without_rows(release, np.ones(release.n_rows, dtype=bool))
    assert sorted(written(release), key=str) == before


def test_kept_counts_the_released_records_of_every_original_row() -> None:
    release = generalized()
    assert release.kept.tolist() == release.origin.table.weights.tolist()
    gone = rows_where(release, illness="flu")
    kept = without_rows(release, gone)
    expected = np.where(gone, 0, release.origin.table.weights)
    assert kept.kept.tolist() == expected.tolist()


def test_kept_adds_up_the_parts_of_a_row_that_was_divided() -> None:
    table, schema = Schema.of(age="quasi-identifying").bind(Table.from_arrow({"age": [31] * 5 + [42]}))
    release = released(table, schema, {}, rows=np.array([0, 0, 1]), weights=np.array([3, 1, 1]))
    assert release.kept.tolist() == [4, 1]
    assert release.n_suppressed == 1


def test_a_release_that_was_read_from_files_does_not_know_what_was_kept() -> None:
    with pytest.raises(NotApplicable, match="read from files alone"):
        linked(generalized().unlinked())
    with pytest.raises(NotApplicable, match="which record each released row comes from"):
        _ = with_unknown_rows(generalized()).kept


def test_group_numbers_stay_with_their_rows() -> None:
    release = generalized()
    grouped = replace(release, group_of=np.arange(release.n_rows))
    drop = rows_where(release, town="Köln")
    kept = without_rows(grouped, drop)
    assert kept.group_of is not None
    assert kept.group_of.tolist() == np.flatnonzero(~drop).tolist()


# --------------------------------------------------------------------------------------------------- prior


def prior(release: Release, name: str = "illness") -> dict[str | None, float]:
    found = release.classes.sensitive[name].prior.tolist()
    return dict(zip(release.cells[name].labels, found, strict=True))


def test_the_prior_is_that_of_all_original_records_also_when_some_are_suppressed() -> None:
    release = generalized()
    everybody = {"flu": 3 / 6, "gout": 2 / 6, "angina": 1 / 6}
    assert prior(release) == pytest.approx(everybody)
    assert prior(without_rows(release, rows_where(release, illness="angina"))) == pytest.approx(everybody)
    assert prior(without_rows(release, rows_where(release, town="Köln"))) == pytest.approx(everybody)


def test_the_prior_of_a_release_from_files_is_that_of_its_records() -> None:
    release = generalized()
    kept = without_rows(release, rows_where(release, illness="angina")).unlinked()
    assert prior(kept) == pytest.approx({"flu": 3 / 5, "gout": 2 / 5, "angina": 0})


def test_the_prior_of_generalized_sensitive_values_adds_up_their_members() -> None:
    hierarchy = Hierarchy.nested({"joints": ["gout"], "other": ["flu", "angina"]})
    attributes = tuple(
        replace(attribute, hierarchy=hierarchy) if attribute.name == "illness" else attribute
        for attribute in SCHEMA.attributes
    )
    table, schema = Schema(attributes).bind(Table.from_arrow(COLUMNS))
    rows = np.arange(table.n_rows)
    cells = level_cells(table["illness"], schema.hierarchy("illness"), 1, rows)
    assert prior(released(table, schema, {"illness": cells})) == pytest.approx(
        {"joints": 2 / 6, "other": 4 / 6}
    )
    stars = suppressed_cells(table["illness"], schema.hierarchy("illness"), rows)
    assert prior(released(table, schema, {"illness": stars})) == {"*": 1.0}


@given(data=st.data())
def test_the_prior_of_any_table_is_the_share_of_its_records(tiny_tables: Any, data: st.DataObject) -> None:
    table, schema = data.draw(tiny_tables)
    release = released(table, schema, {})
    for name in schema.sensitive:
        values = [None if v is None else str(v) for v in table.to_arrow()[name].to_pylist()]
        expected = {value: count / len(values) for value, count in Counter(values).items()}
        assert prior(release, name) == pytest.approx(expected)


# ------------------------------------------------------------------------------------------ what is written


def test_no_identifying_attribute_is_written() -> None:
    assert generalized().to_arrow().column_names == ["age", "town", "visits", "illness"]


def test_every_kept_record_is_written_once_with_its_other_values() -> None:
    expected = Counter(
        (f"[{age // 10 * 10}, {age // 10 * 10 + 10})", town, str(visits), illness)
        for age, town, visits, illness in zip(*list(COLUMNS.values())[1:], strict=True)
    )
    assert Counter(tuple(record.values()) for record in written(generalized())) == expected


def test_exact_columns_are_typed_and_generalized_ones_are_text() -> None:
    types = {field.name: str(field.type) for field in generalized().to_arrow().schema}
    assert types == {"age": "string", "town": "string", "visits": "int64", "illness": "string"}
    assert {str(field.type) for field in generalized().to_arrow(typed=False).schema} == {"string"}
    assert str(generalized(level=0).to_arrow().schema.field("age").type) == "int64"


def test_a_release_with_groups_is_written_with_their_numbers() -> None:
    release = generalized()
    grouped = replace(release, group_of=np.where(rows_where(release, town="Köln"), 4, 2))
    numbers = {record["town"]: record["group"] for record in grouped.to_arrow().to_pylist()}
    assert numbers["Bonn"] == numbers[None] != numbers["Köln"]
    assert set(numbers.values()) == {0, 1}
    assert "group" not in release.to_arrow().column_names


def test_the_column_of_the_groups_takes_no_name_that_is_taken() -> None:
    roles: Any = {"group": "quasi-identifying", "group_": "sensitive"}
    table, schema = Schema.of(roles).bind(Table.from_arrow({"group": [7, 8], "group_": ["a", "b"]}))
    release = replace(released(table, schema, {}), group_of=np.array([0, 0]))
    assert release.to_arrow().column_names == ["group", "group_", "group__"]
    assert sorted(release.to_arrow()["group"].to_pylist()) == [7, 8]


def many() -> LinkedRelease:
    table, schema = Schema.of(number="insensitive").bind(Table.from_arrow({"number": list(range(200))}))
    return released(table, schema, {})


def order(release: LinkedRelease) -> list[int]:
    numbers: list[int] = release.to_arrow()["number"].to_pylist()
    return numbers


def test_the_rows_are_in_another_order_than_the_original_s_each_time() -> None:
    release = replace(many(), recipe=Recipe("as-is", seed=1))
    first, again = order(release), order(release)
    assert sorted(first) == sorted(again) == list(range(200))
    # a shuffle of 200 leaves one in its place on average
    assert sum(place == number for place, number in enumerate(first)) < 10
    assert sum(one == other for one, other in zip(first, again, strict=True)) < 10


def test_the_records_of_one_row_do_not_stand_together() -> None:
    table, schema = Schema.of(town="insensitive").bind(Table.from_arrow({"town": ["a"] * 100 + ["b"] * 100}))
    towns = released(table, schema, {}).to_arrow()["town"].to_pylist()
    assert sum(one != other for one, other in pairwise(towns)) > 50


def test_a_release_goes_to_pandas_polars_and_duckdb() -> None:
    release = generalized()
    expected = Counter(tuple(record.values()) for record in release.to_arrow().to_pylist())
    frame = pd.DataFrame.from_arrow(release)
    assert list(frame.columns) == ["age", "town", "visits", "illness"]
    assert len(frame) == 6
    assert Counter(pl.DataFrame(release).rows()) == expected
    assert duckdb.sql("select count(*), sum(visits) from release").fetchall() == [(6, 13)]


def test_no_value_is_shown_by_a_release() -> None:
    columns = {
        **COLUMNS,
        "name": [SECRET] * 6,
        "town": [SECRET + "town"] * 6,
        "illness": [SECRET + "ill"] * 6,
    }
    table, schema = SCHEMA.bind(Table.from_arrow(columns))
    release = sanitize(table, schema, FullDomain({"age": 1}, KAnonymity(1)))
    for thing in (release, release.classes, release.cells, release.schema, release.notes):
        assert SECRET not in repr(thing)
        assert SECRET not in str(thing)


# -------------------------------------------------------------------------------------------- immutability


def test_every_array_is_read_only_and_what_the_caller_holds_is_left_alone(as_made: AsMade) -> None:
    table, schema = people()
    rows, weights = np.arange(table.n_rows), table.weights.copy()
    group_of = np.zeros(table.n_rows, dtype=np.int64)
    cells = {"town": suppressed_cells(table["town"], schema.hierarchy("town"), rows)}
    release = replace(released(table, schema, cells, rows, weights), group_of=group_of)
    for array in (release.weights, release.origin.rows, release.group_of, release.kept):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    before = as_made(release)
    group_of[0] = weights[0] = 9
    rows[:] = 0
    cells.clear()
    assert as_made(release) == before
    assert release.groups.sizes.tolist() == [6]


def test_changing_the_cells_given_does_not_change_the_release(as_made: AsMade) -> None:
    release = generalized()
    cells = dict(release.cells)
    again = replace(release, cells=cells)
    cells.clear()
    assert as_made(again) == as_made(release)


def test_two_releases_of_one_table_are_independent(as_made: AsMade) -> None:
    first = generalized()
    before = as_made(first)
    second = generalized(level=2)
    assert as_made(first) == before
    assert {record["age"] for record in written(second)} == {"[20, 40)", "[40, 60)"}


# -------------------------------------------------------------------------------------------- requirements


def bucketized() -> LinkedRelease:
    """Return exact quasi-identifiers in two groups: flu, gout of the young and flu, gout, flu, angina."""
    table, schema = people()
    release = released(table, schema, {})
    young = np.isin(table["age"].codes, [table["age"].domain.index(age) for age in (21, 24)])
    return replace(release, group_of=np.where(young, 5, 9))


@pytest.mark.parametrize(
    ("model", "n_failing"),
    [
        (KAnonymity(1), 0),
        (KAnonymity(2), 4),  # classes of equal quasi-identifiers: only the two of 36 in Köln are equal
        (ProbabilisticDiversity(2), 0),  # groups: 1/2 and 2/4
        (ProbabilisticDiversity(2.5), 6),
        (TCloseness(0.1), 2),  # groups: 1/6 for the young, 1/12 for the others
        (KAnonymity(1) & ProbabilisticDiversity(2), 0),
        (KAnonymity(2) & ProbabilisticDiversity(2), 4),
        (KAnonymity(1) & TCloseness(0.1), 2),
        (TCloseness(0.1) & KAnonymity(2), 4),
        (KAnonymity(2) & TCloseness(0.08), 6),
    ],
)
def test_identity_models_look_at_classes_and_attribute_models_at_groups(
    model: PrivacyModel, n_failing: int
) -> None:
    release = bucketized()
    fails = failing_rows(release, model)
    assert int(release.weights[fails].sum()) == n_failing
    assert holds(release, model) == (n_failing == 0)


def test_the_partition_of_a_model_is_the_one_that_it_guards() -> None:
    release = bucketized()
    assert release.partition(KAnonymity(2)) is release.classes
    assert release.partition(TCloseness(0.2)) is release.groups


@given(data=st.data())
def test_a_conjunction_fails_where_one_of_its_models_fails(tiny_tables: Any, data: st.DataObject) -> None:
    table, schema = data.draw(tiny_tables)
    group_of = np.array([data.draw(st.integers(0, 2)) for _ in range(table.n_rows)])
    release = replace(released(table, schema, {}), group_of=group_of)
    k, l = data.draw(st.integers(1, 4)), data.draw(st.sampled_from([1, 1.5, 2, 3]))  # noqa: E741
    model = KAnonymity(k) & ProbabilisticDiversity(l)

    def key(row: int) -> tuple[int, ...]:
        return tuple(int(release.cells[name].codes[row]) for name in schema.quasi_identifiers)

    sizes: Counter[tuple[int, ...]] = Counter()
    values: dict[tuple[int, str], Counter[int]] = defaultdict(Counter)
    for row, weight in enumerate(release.weights.tolist()):
        sizes[key(row)] += weight
        for name in schema.sensitive:
            values[int(group_of[row]), name][int(release.cells[name].codes[row])] += weight

    def diverse(group: int) -> bool:
        counts = [values[group, name] for name in schema.sensitive]
        return all(max(count.values()) * l <= sum(count.values()) + 1e-9 for count in counts)

    expected = [sizes[key(row)] < k or not diverse(int(group_of[row])) for row in range(release.n_rows)]
    assert failing_rows(release, model).tolist() == expected
    assert holds(release, model) == (not any(expected))
