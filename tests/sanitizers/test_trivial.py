"""The trivial sanitizers: what they publish, and what they withhold."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato import Schema, Table, sanitize
from sfumato.runtime.errors import SchemaError
from sfumato.sanitizers import AsIs, SuppressQuasiIdentifiers, SuppressSensitive

Bound = tuple[Table, Schema]


def records(arrow: Any) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(record.values()) for record in arrow.to_pylist())


@given(data=st.data())
@settings(max_examples=30)
def test_as_is_publishes_the_very_records(tiny_tables: st.SearchStrategy[Bound], data: st.DataObject) -> None:
    table, schema = data.draw(tiny_tables)
    release = sanitize(table, schema, AsIs())
    assert records(release.to_arrow()) == records(table.to_arrow().select(schema.released))
    assert release.to_arrow().schema == table.to_arrow().select(schema.released).schema
    assert release.n_suppressed == 0


def test_as_is_publishes_numbers_as_numbers_in_another_order(adult: Bound) -> None:
    table, schema = adult
    written = sanitize(table, schema, AsIs()).to_arrow()
    original = table.to_arrow().select(schema.released)
    assert written.schema == original.schema
    assert written["age"].to_pylist() != original["age"].to_pylist()
    assert records(written) == records(original)


@pytest.mark.parametrize(
    ("how", "role"),
    [(SuppressQuasiIdentifiers(), "quasi-identifying"), (SuppressSensitive(), "sensitive")],
    ids=str,
)
@given(data=st.data())
@settings(max_examples=30)
def test_what_is_withheld_is_a_star_and_the_rest_is_as_it_was(
    how: Any, role: str, tiny_tables: st.SearchStrategy[Bound], data: st.DataObject
) -> None:
    table, schema = data.draw(tiny_tables)
    withheld = [attribute.name for attribute in schema.attributes if attribute.role == role]
    others = [name for name in schema.released if name not in withheld]
    written = sanitize(table, schema, how).to_arrow()
    assert {value for name in withheld for value in written[name].to_pylist()} == {"*"}
    assert records(written.select(others)) == records(table.to_arrow().select(others))


@pytest.mark.parametrize("how", [SuppressQuasiIdentifiers(), SuppressSensitive()], ids=str)
def test_a_value_that_everybody_has_is_withheld_too(how: Any) -> None:
    table = Table.from_arrow({"town": ["Rome"] * 3, "ill": ["flu"] * 3})
    written = (
        sanitize(table, Schema.of(town="quasi-identifying", ill="sensitive"), how).to_arrow().to_pylist()
    )
    hidden = "town" if isinstance(how, SuppressQuasiIdentifiers) else "ill"
    assert [record[hidden] for record in written] == ["*"] * 3


def test_withholding_all_quasi_identifiers_leaves_one_class(adult: Bound) -> None:
    classes = sanitize(*adult, SuppressQuasiIdentifiers()).classes
    assert classes.sizes.tolist() == [45_222]


def test_withholding_the_sensitive_values_leaves_the_classes(adult: Bound) -> None:
    as_is, withheld = (sanitize(*adult, how).classes for how in (AsIs(), SuppressSensitive()))
    assert sorted(as_is.sizes.tolist()) == sorted(withheld.sizes.tolist())
    assert withheld.sensitive["occupation"].prior.tolist() == [1.0]


@pytest.mark.parametrize(
    ("how", "roles", "message"),
    [
        (
            SuppressQuasiIdentifiers(),
            {"a": "sensitive"},
            "suppress-quasi-identifiers needs a quasi-identifying",
        ),
        (SuppressSensitive(), {"a": "insensitive"}, "suppress-sensitive needs a sensitive attribute"),
    ],
    ids=["quasi-identifiers", "sensitive"],
)
def test_nothing_to_withhold_is_said(how: Any, roles: Any, message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        sanitize(Table.from_arrow({"a": [1, 2]}), Schema.of(roles), how)


def test_identifying_attributes_are_gone() -> None:
    table = Table.from_arrow({"name": ["Ada", "Bob"], "age": [1, 2]})
    release = sanitize(table, Schema.of(name="identifying", age="quasi-identifying"), AsIs())
    assert release.to_arrow().column_names == ["age"]
    assert "name" not in release.origin.table.columns
