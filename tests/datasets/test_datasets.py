"""The embedded examples through the package: the records, their schema, their hierarchies."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from sfumato import Intervals, Schema, Table
from sfumato.data.hierarchy import Hierarchy
from sfumato.data.kinds import CATEGORICAL, NUMERIC
from sfumato.reading import datasets
from sfumato.runtime.errors import ParameterError, UserError

N_RECORDS = {"all": 48_842, "complete": 45_222, "train": 30_162}


@pytest.mark.parametrize("subset", N_RECORDS)
def test_every_subset_of_adult_has_the_records_that_are_published_of_it(subset: Any) -> None:
    table, schema = datasets.adult(subset)
    assert table.n_records == N_RECORDS[subset]
    assert datasets.adult_records(subset).num_rows == N_RECORDS[subset]
    assert schema.quasi_identifiers == datasets.QUASI_IDENTIFIERS
    assert schema.sensitive == ("occupation",)
    assert table.names == (*datasets.QUASI_IDENTIFIERS, "occupation")


def test_a_subset_that_does_not_exist_is_refused() -> None:
    subset: Any = "complet"
    with pytest.raises(ParameterError, match="no subset 'complet' of Adult; there are all, complete, train"):
        datasets.adult(subset)


def test_the_table_holds_the_records_of_the_source() -> None:
    names = (*datasets.QUASI_IDENTIFIERS, "occupation")
    source = datasets.adult_records("train", names)
    table, _ = datasets.adult("train")
    expected = Counter(zip(*(source[name].to_pylist() for name in names), strict=True))
    arrow = table.to_arrow()
    assert Counter(zip(*(arrow[name].to_pylist() for name in names), strict=True)) == expected
    assert table.n_rows == len(expected)


def test_missing_values_are_a_category_of_the_whole_and_absent_from_the_complete_records() -> None:
    assert datasets.adult("all")[0]["workclass"].has_missing
    assert not any(column.has_missing for column in datasets.adult("complete")[0].columns.values())


@pytest.mark.parametrize("subset", N_RECORDS)
def test_the_schema_fits_the_table_with_every_attribute(subset: Any) -> None:
    every = tuple(name for name in datasets.adult_records(subset).column_names if name != "occupation")
    table, schema = datasets.adult(subset, quasi_identifiers=every)
    bound, bound_schema = schema.bind(table)
    assert bound.n_records == N_RECORDS[subset]
    for name in every:
        assert bound_schema.hierarchy(name).height >= 1
        numeric = isinstance(schema[name].hierarchy, Intervals)
        assert bound[name].kind == (NUMERIC if numeric else CATEGORICAL)


def test_other_attributes_can_be_taken() -> None:
    table, schema = datasets.adult(quasi_identifiers=("age", "sex"), sensitive=("salary", "race"))
    assert table.names == ("age", "sex", "salary", "race")
    assert schema.sensitive == ("salary", "race")


def test_an_attribute_that_adult_lacks_is_refused() -> None:
    with pytest.raises(UserError, match="shoe-size"):
        datasets.adult(quasi_identifiers=("shoe-size",))


def test_the_hospital_has_twelve_patients_and_fits_its_schema() -> None:
    table, schema = datasets.hospital()
    bound, bound_schema = schema.bind(table)
    assert (table.n_records, bound.n_records) == (12, 12)
    assert schema.identifying == ("name",)
    assert bound.names == ("zip", "age", "sex", "diagnosis")
    assert bound["age"].kind == NUMERIC
    assert all(isinstance(bound_schema.hierarchy(name), Hierarchy) for name in bound.names)
    assert any(str(value).startswith("0") for value in bound["zip"].domain), "leading zeros survive"


def test_two_calls_give_equal_and_independent_tables() -> None:
    (one, schema), (other, _) = datasets.hospital(), datasets.hospital()
    assert one is not other
    assert one.fingerprint == other.fingerprint
    assert isinstance(one, Table)
    assert isinstance(schema, Schema)
