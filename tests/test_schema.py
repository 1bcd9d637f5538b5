"""Schema: roles, and a table prepared accordingly; nothing is guessed, nothing forgotten."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Intervals, Schema, Table
from sfumato.data.kinds import CATEGORICAL, NUMERIC
from sfumato.data.schema import roles_of
from sfumato.runtime.errors import HierarchyError, SchemaError, UserError

SECRET = "SECRETVALUE"

COLUMNS: dict[str, list[Any]] = {
    "name": ["Ada", "Bob", "Cem", "Dan"],
    "age": ["31", "42", "31", None],
    "town": ["Bonn", "Köln", "Bonn", "Bonn"],
    "illness": ["flu", None, "flu", "gout"],
}
ROLES: dict[str, Any] = {
    "name": "identifying",
    "age": "quasi-identifying",
    "town": "quasi-identifying",
    "illness": "sensitive",
}


def bind(columns: dict[str, Any], *attributes: Attribute, **options: Any) -> tuple[Table, Schema]:
    return Schema(attributes, **options).bind(Table.from_arrow(columns))


def records(table: Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(record.values()) for record in table.to_arrow().to_pylist())


def refusal(schema: Schema, columns: dict[str, Any], expected: type[UserError] = SchemaError) -> str:
    with pytest.raises(expected) as caught:
        schema.bind(Table.from_arrow(columns))
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ----------------------------------------------------------------------------------------------- roles


def test_attributes_are_found_by_role() -> None:
    schema = Schema.of(ROLES, more="insensitive", disease="sensitive")
    assert schema.identifying == ("name",)
    assert schema.quasi_identifiers == ("age", "town")
    assert schema.sensitive == ("illness", "disease")
    assert schema.insensitive == ("more",)
    assert schema.released == ("age", "town", "illness", "more", "disease")


def test_what_is_withheld_is_dropped_like_what_identifies_but_not_said_to_name_people() -> None:
    schema = Schema.of({**ROLES, "town": "withheld"})
    table, bound = schema.bind(Table.from_arrow(COLUMNS))
    assert set(table.columns) == set(bound.released) == {"age", "illness"}
    assert (bound.withheld, bound.identifying) == (("town",), ("name",))
    assert "withheld: town" in repr(bound)


def test_a_table_of_which_everything_is_withheld_is_refused() -> None:
    schema = Schema.of(dict.fromkeys(COLUMNS, "withheld"))
    assert "identifying or withheld" in refusal(schema, COLUMNS)


def test_several_attributes_can_be_given_one_role() -> None:
    assert Schema.of(roles_of(["age", "sex"], "quasi-identifying")).quasi_identifiers == ("age", "sex")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"role": "sensitve"}, "did you mean 'sensitive'"),
        ({"role": "quasi"}, "roles: identifying, withheld, quasi-identifying, sensitive, insensitive"),
        ({"role": "sensitive", "kind": "numerical"}, "did you mean 'numeric'"),
        ({"role": "sensitive", "weight": -1}, "a weight cannot be -1"),
        ({"role": "sensitive", "weight": math.nan}, "a weight cannot be nan"),
        ({"role": "sensitive", "weight": math.inf}, "a weight cannot be inf"),
    ],
)
def test_an_attribute_that_cannot_be_is_refused_with_what_can(facts: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError) as caught:
        Attribute("illness", **facts)
    assert message in str(caught.value)
    assert "'illness'" in str(caught.value)


@pytest.mark.parametrize("options", [{"missing": "dropp"}, {"decimal": ""}, {"decimal": ";"}])
def test_options_that_do_not_exist_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(SchemaError, match="; give '"):
        Schema((), **options)


def test_an_unknown_attribute_suggests_a_near_miss() -> None:
    with pytest.raises(SchemaError, match="no attribute 'twon'; did you mean 'town'"):
        Schema.of(ROLES)["twon"]


def test_a_needed_role_that_nobody_has_is_said() -> None:
    assert Schema.of(ROLES).require("sensitive", "t-closeness") == ("illness",)
    with pytest.raises(SchemaError, match="t-closeness needs a sensitive attribute"):
        Schema.of(age="insensitive").require("sensitive", "t-closeness")


# --------------------------------------------------------------------------------------------- binding


def test_identifying_columns_are_dropped_and_rows_that_become_equal_put_together() -> None:
    table, schema = Schema.of(ROLES).bind(Table.from_arrow(COLUMNS))
    assert table.names == ("age", "town", "illness")
    assert (table.n_records, table.n_rows) == (4, 3)
    assert schema.identifying == ("name",)
    assert records(table)["31", "Bonn", "flu"] == 2


def test_an_identifying_attribute_need_not_be_in_the_table() -> None:
    without_name = {name: column for name, column in COLUMNS.items() if name != "name"}
    table, _ = Schema.of(ROLES).bind(Table.from_arrow(without_name))
    assert table.n_records == 4


def test_columns_come_in_the_order_of_the_schema() -> None:
    table, _ = Schema.of(dict(reversed(ROLES.items()))).bind(Table.from_arrow(COLUMNS))
    assert table.names == ("illness", "town", "age")


def test_an_attribute_that_the_data_lacks_suggests_a_near_miss() -> None:
    roles = {**ROLES, "twon": ROLES["town"]}
    assert "no column 'twon' in the data; did you mean 'town'?" in refusal(Schema.of(roles), COLUMNS)
    assert "it has name, age, town, illness" in refusal(Schema.of({**ROLES, "zzz": "sensitive"}), COLUMNS)


def test_a_forgotten_column_is_refused() -> None:
    forgotten = {name: role for name, role in ROLES.items() if name in ("age", "illness")}
    message = refusal(Schema.of(forgotten), COLUMNS)
    assert "column 'name' of the data has no role" in message
    assert "1 more" in message


def test_an_attribute_that_is_described_twice_is_refused() -> None:
    twice = Schema((Attribute("age", "sensitive"), Attribute("age", "quasi-identifying")))
    assert "'age' is described twice" in refusal(twice, {"age": [1]})


def test_a_table_of_identifying_attributes_alone_is_refused() -> None:
    assert "nothing could be released" in refusal(Schema.of(name="identifying"), {"name": ["Ada"]})


def test_binding_does_not_change_the_table_or_the_schema_given() -> None:
    table, schema = Table.from_arrow(COLUMNS), Schema.of(ROLES)
    before = table.fingerprint, schema.fingerprint, repr(schema)
    schema.bind(table)
    untouched = Table(table.columns, table.weights)
    assert (untouched.fingerprint, Schema.of(ROLES).fingerprint, repr(schema)) == before
    assert table.names == tuple(COLUMNS)


def test_binding_again_changes_nothing(hospital: tuple[Table, Schema]) -> None:
    table, schema = hospital
    again, schema_again = schema.bind(table)
    assert again.fingerprint == table.fingerprint
    assert schema_again.fingerprint == schema.fingerprint


@given(data=st.data())
def test_binding_any_table_again_changes_nothing(tiny_tables: Any, data: st.DataObject) -> None:
    table, schema = data.draw(tiny_tables)
    again, schema_again = schema.bind(table)
    assert again.fingerprint == table.fingerprint
    assert schema_again.fingerprint == schema.fingerprint
    for name in schema.released:
        assert table[name].domain == schema.hierarchy(name).values


def test_domains_come_in_the_order_of_the_hierarchy() -> None:
    hierarchy = Hierarchy.nested({"Asia": ["Japan"], "Europe": ["Italy", "Spain"]})
    table, schema = bind(
        {"country": ["Spain", None, "Japan", "Spain"]},
        Attribute("country", "quasi-identifying", hierarchy=hierarchy),
    )
    assert table["country"].domain == ("Japan", "Spain", None)
    assert schema.hierarchy("country").values == ("Japan", "Spain", None)
    assert records(table) == Counter({("Spain",): 2, (None,): 1, ("Japan",): 1})


def test_a_missing_value_that_the_hierarchy_places_is_still_known_as_missing() -> None:
    hierarchy = Hierarchy.of_rows([["a", "x", "*"], ["", "x", "*"], ["b", "y", "*"]])
    attribute = Attribute("column", "quasi-identifying", hierarchy=hierarchy)
    columns = {"column": ["b", None, "a"]}
    table, schema = bind(columns, attribute)
    assert table["column"].domain == ("a", None, "b")
    assert table["column"].has_missing
    dropped, _ = Schema(schema.attributes, missing="drop").bind(table)
    assert records(dropped) == Counter({("a",): 1, ("b",): 1})


def test_several_sensitive_attributes_are_bound() -> None:
    table, schema = Schema.of(a="sensitive", b="sensitive").bind(Table.from_arrow({"a": ["x"], "b": [1]}))
    assert schema.sensitive == ("a", "b")
    assert schema.hierarchy("a").labels == (("x",), ("*",))
    assert table["b"].kind == NUMERIC


def test_an_unbound_schema_has_no_hierarchies_to_give() -> None:
    with pytest.raises(SchemaError, match=r"call schema\.bind"):
        Schema.of(ROLES).hierarchy("age")


def test_a_hierarchy_that_does_not_fit_is_refused_with_the_attribute() -> None:
    schema = Schema((Attribute("town", "quasi-identifying", hierarchy=Intervals((5,))),))
    assert "hierarchy of 'town'" in refusal(schema, {"town": [SECRET]}, HierarchyError)


# ----------------------------------------------------------------------------------- numbers and text


@pytest.mark.parametrize("role", ["quasi-identifying", "sensitive", "insensitive"])
@pytest.mark.parametrize("values", [["*", "x", "x"], ["*", "*", "*"], ["*", None, "x"]])
def test_a_value_that_a_reader_would_take_for_any_value_is_refused(role: Any, values: list[Any]) -> None:
    columns = {"a": values, "b": [1, 2, 3]}
    with pytest.raises(SchemaError, match=r"'a' has a value that is written \*.*missing-values"):
        bind(columns, Attribute("a", role), Attribute("b", "quasi-identifying"))


@pytest.mark.parametrize("role", ["identifying", "withheld"])
def test_a_star_that_is_not_released_is_no_trouble(role: Any) -> None:
    table, _ = bind({"a": ["*", "x"], "b": [1, 2]}, Attribute("a", role), Attribute("b", "quasi-identifying"))
    assert table.names == ("b",)


def test_a_branch_of_some_values_that_is_called_as_all_of_them_are_is_refused() -> None:
    tree = Hierarchy.of_rows([["a", "*", "*"], ["b", "*", "*"], ["c", "rare", "*"]])
    with pytest.raises(HierarchyError, match=r"'x'.*level 1 calls some of the values \*.*another name"):
        bind({"x": ["a", "b", "c"]}, Attribute("x", "quasi-identifying", hierarchy=tree))
    _, schema = bind({"x": ["a", "b"]}, Attribute("x", "quasi-identifying", hierarchy=tree))
    assert schema.hierarchy("x").labels == (("a", "b"), ("*",), ("*",))


def test_text_becomes_numbers_where_the_schema_says_numeric() -> None:
    table, schema = bind({"age": ["42", "007", None, "31.0", "7"]}, Attribute("age", "sensitive", "numeric"))
    assert repr(table["age"].domain) == "(7, 31, 42, None)"
    assert schema["age"].kind == "numeric"
    assert records(table) == Counter({(42,): 1, (7,): 2, (None,): 1, (31,): 1})


@pytest.mark.parametrize("order", [["5", "5.0"], ["5.0", "5"], ["5.00", "05"]])
def test_two_spellings_of_one_number_are_one_value(order: list[str]) -> None:
    table, _ = bind({"age": order}, Attribute("age", "sensitive", "numeric"))
    assert repr(table["age"].domain) == "(5,)"
    assert table.weights.tolist() == [2]


def test_large_numbers_in_text_stay_apart_and_in_order() -> None:
    written = [str(2**53 + 1), str(2**53), str(2**80)]
    table, _ = bind({"age": written}, Attribute("age", "sensitive", "numeric"))
    assert table["age"].domain == (2**53, 2**53 + 1, 2**80)


def test_a_decimal_comma_is_read_where_the_schema_says_so() -> None:
    attribute = Attribute("weight", "sensitive", "numeric")
    table, _ = bind({"weight": ["71,5", "60", "-0,25"]}, attribute, decimal=",")
    assert table["weight"].domain == (-0.25, 60, 71.5)
    message = refusal(Schema((attribute,)), {"weight": ["71,5", "60"]})
    assert "1 of its 2 distinct values are not numbers" in message


def test_a_dot_beside_a_decimal_comma_is_refused_rather_than_guessed() -> None:
    schema = Schema((Attribute("price", "sensitive", "numeric"),), decimal=",")
    assert "1 of its 2 distinct values" in refusal(schema, {"price": ["1.234", "7,5"]})


def test_what_is_not_a_number_is_refused_with_its_count_and_without_the_value() -> None:
    schema = Schema((Attribute("age", "sensitive", "numeric"),))
    message = refusal(schema, {"age": ["31", SECRET, SECRET, "inf", "nan", None]})
    assert "attribute 'age' is numeric, but 3 of its 5 distinct values are not numbers" in message


def test_numbers_become_text_where_the_schema_says_categorical() -> None:
    table, schema = bind({"code": [20, 3.5, None, 20]}, Attribute("code", "sensitive", "categorical"))
    assert set(table["code"].domain) == {"20", "3.5", None}
    assert table["code"].kind == schema.kind("code") == CATEGORICAL
    assert records(table) == Counter({("20",): 2, ("3.5",): 1, (None,): 1})


# --------------------------------------------------------------------------------------- missing values


def test_records_with_missing_values_are_kept_as_a_category_unless_the_schema_drops_them() -> None:
    table = Table.from_arrow({**COLUMNS, "name": ["Ada", None, "Cem", "Dan"]})
    attributes = tuple(Attribute(name, role) for name, role in ROLES.items())
    kept, _ = Schema(attributes).bind(table)
    dropped, _ = Schema(attributes, missing="drop").bind(table)
    assert kept.n_records == 4
    assert kept["age"].domain == ("31", "42", None)
    assert records(dropped) == Counter({("31", "Bonn", "flu"): 2})
    assert dropped["illness"].domain == ("flu",)


def test_a_missing_identifying_value_drops_nothing() -> None:
    table = Table.from_arrow({"name": [None, "Ada"], "age": [1, 2]})
    attributes = (Attribute("name", "identifying"), Attribute("age", "sensitive"))
    assert Schema(attributes, missing="drop").bind(table)[0].n_records == 2


def test_dropping_every_record_is_refused() -> None:
    schema = Schema((Attribute("a", "sensitive"), Attribute("b", "sensitive")), missing="drop")
    message = refusal(schema, {"a": [1, None], "b": [None, 2]})
    assert 'set missing = "category"' in message


@pytest.mark.parametrize("kind", [None, "numeric", "categorical"])
def test_a_column_of_missing_values_alone_is_bound(kind: Any) -> None:
    columns = {"age": pa.nulls(3, pa.float64()), "town": ["a", "b", "b"]}
    table, schema = bind(columns, Attribute("age", "quasi-identifying", kind), Attribute("town", "sensitive"))
    assert table["age"].domain == (None,)
    assert schema.hierarchy("age").n_leaves == 1


# ------------------------------------------------------------------------------- fingerprint and leaks


def test_the_fingerprint_tells_schemas_apart() -> None:
    table = Table.from_arrow({"age": [1, 7, 12], "town": ["a", "b", "a"]})

    def fingerprint(*attributes: Attribute, **options: Any) -> str:
        return Schema(attributes, **options).bind(table)[1].fingerprint

    town = Attribute("town", "sensitive")
    plain = fingerprint(Attribute("age", "quasi-identifying"), town)
    assert plain == fingerprint(Attribute("age", "quasi-identifying"), town)
    others = [
        fingerprint(Attribute("age", "insensitive"), town),
        fingerprint(Attribute("age", "quasi-identifying", "categorical"), town),
        fingerprint(Attribute("age", "quasi-identifying", hierarchy=Intervals((5,))), town),
        fingerprint(Attribute("age", "quasi-identifying", hierarchy=Intervals((10,))), town),
        fingerprint(Attribute("age", "quasi-identifying", weight=2.0), town),
        fingerprint(Attribute("age", "quasi-identifying"), town, missing="drop"),
    ]
    assert len({plain, *others}) == len(others) + 1


def test_no_value_is_shown_by_a_bound_schema() -> None:
    hierarchy = Hierarchy.nested({"branch": [SECRET, "x"]})
    _, schema = bind(
        {"name": [SECRET, "x"], "town": [SECRET, "x"]},
        Attribute("name", "sensitive", hierarchy=hierarchy),
        Attribute("town", "quasi-identifying"),
    )
    assert SECRET not in repr(schema)
    assert SECRET not in str(schema)
    assert SECRET not in repr(schema["name"])


class TestPerson:
    SCHEMA = Schema(
        Schema.of(patient="identifying", age="quasi-identifying", illness="sensitive").attributes,
        person="patient",
    )
    VISITS: ClassVar[dict[str, list[Any]]] = {
        "patient": ["a", "a", "b", None, None],
        "age": [31, 31, 31, 40, 41],
        "illness": list("xxxyz"),
    }

    def test_equal_rows_of_two_people_stay_apart(self) -> None:
        table, _ = self.SCHEMA.bind(Table.from_arrow(self.VISITS))
        assert table.n_records == 5
        assert sorted(table.weights.tolist()) == [1, 1, 1, 2]
        assert table.n_people == 3

    def test_nothing_of_the_numbers_themselves_is_kept(self) -> None:
        table, schema = self.SCHEMA.bind(Table.from_arrow(self.VISITS))
        renamed = {**self.VISITS, "patient": ["q", "q", "r", None, None]}
        assert "patient" not in table.columns
        assert self.SCHEMA.bind(Table.from_arrow(renamed))[0].fingerprint == table.fingerprint
        assert schema.person == "patient"

    def test_records_that_lack_the_number_count_as_one_persons(self) -> None:
        table, _ = self.SCHEMA.bind(Table.from_arrow(self.VISITS))
        assert table.person_of is not None
        ages = np.array(table["age"].domain)[table["age"].codes]
        assert len(set(table.person_of[ages >= 40].tolist())) == 1

    def test_binding_again_changes_nothing(self) -> None:
        table, schema = self.SCHEMA.bind(Table.from_arrow(self.VISITS))
        again, same = schema.bind(table)
        assert again.fingerprint == table.fingerprint
        assert same.fingerprint == schema.fingerprint

    def test_whose_a_record_is_makes_another_table(self) -> None:
        plain = Schema(self.SCHEMA.attributes)
        people, rows = (each.bind(Table.from_arrow(self.VISITS)) for each in (self.SCHEMA, plain))
        assert people[0].fingerprint != rows[0].fingerprint
        assert people[1].fingerprint != rows[1].fingerprint

    def test_a_person_column_that_is_not_there_is_an_error(self) -> None:
        with pytest.raises(SchemaError, match="person: no column 'patient'"):
            self.SCHEMA.bind(Table.from_arrow({"age": [1, 2], "illness": ["x", "y"]}))

    def test_a_person_column_is_never_released(self) -> None:
        with pytest.raises(SchemaError, match="give it role = 'identifying'"):
            Schema(Schema.of(age="quasi-identifying").attributes, person="age")

    def test_a_person_column_that_nobody_described_is_an_error(self) -> None:
        with pytest.raises(SchemaError, match="no attribute 'pateint'; did you mean 'patient'"):
            Schema(self.SCHEMA.attributes, person="pateint")
