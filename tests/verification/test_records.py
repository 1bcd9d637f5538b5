"""The published cells as a reader sees them: layouts, groups, hierarchies."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.documents import AttributeFacts, LayoutFacts
from sfumato.verification.published_view import PublicView, SensitiveValues, public_view, table_names
from sfumato.verification.written_tables import FileColumn, WrittenTable

QUASI = AttributeFacts(role="quasi-identifying")
TOLD = AttributeFacts(role="sensitive")
ASIDE = AttributeFacts(role="insensitive")


def table(**columns: str) -> WrittenTable:
    """Return a table with one letter for each cell; a blank is a missing one."""
    cells: dict[str, list[str | None]] = {
        name: [None if cell == " " else cell for cell in column] for name, column in columns.items()
    }
    return written_table(cells)


def written_table(cells: Mapping[str, Sequence[str | None]]) -> WrittenTable:
    columns = {name: FileColumn.of(column) for name, column in cells.items()}
    return WrittenTable(columns, np.ones(len(next(iter(cells.values()))), dtype=np.int64))


def cells(found: WrittenTable) -> dict[str, list[str | None]]:
    return {name: [column.values[code] for code in column.codes] for name, column in found.columns.items()}


def classes(seen: PublicView, people: WrittenTable) -> dict[tuple[str | None, ...], int]:
    """Return the classes by their released values."""
    values = [
        [people.columns[name].values[code] for code in codes]
        for name, codes in zip(seen.names, seen.classes, strict=True)
    ]
    return dict(zip(zip(*values, strict=True), seen.sizes.tolist(), strict=True))


def told_of(name: str, groups: Sequence[Sequence[str | None]], facts: AttributeFacts) -> SensitiveValues:
    group_of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return SensitiveValues.of(
        name, FileColumn.of(itertools.chain(*groups)), group_of, facts, np.ones_like(group_of)
    )


def groups(attribute: SensitiveValues) -> tuple[Counter[str | None], ...]:
    """Return how often each value occurs in each group."""
    found: list[Counter[str | None]] = [Counter() for _ in attribute.sizes]
    for group, value, count in zip(attribute.group_of, attribute.value_of, attribute.counts, strict=True):
        found[group][attribute.values[value]] = int(count)
    return tuple(found)


def layout(
    form: Any = "one-table", group: str | None = None, n_original: int = 9, **attributes: AttributeFacts
) -> LayoutFacts:
    return LayoutFacts(attributes=attributes, n_original=n_original, form=form, group=group)


class TestOneTable:
    def test_classes_and_what_they_tell(self) -> None:
        people = table(age="aab", sex="mmf", ill="xyx", job="uuv", note="123")
        told = layout(age=QUASI, sex=QUASI, ill=TOLD, job=TOLD, note=ASIDE)
        seen = public_view({"data": people}, told)
        assert table_names(told) == ("data",)
        assert seen.names == ("age", "sex")
        assert classes(seen, people) == {("a", "m"): 2, ("b", "f"): 1}
        assert (seen.n_original, seen.n_records, seen.n_suppressed) == (9, 3, 6)
        assert [each.name for each in seen.sensitive] == ["ill", "job"]
        assert [groups(each) for each in seen.sensitive] == [
            (Counter("xy"), Counter("x")),
            (Counter("uu"), Counter("v")),
        ]
        assert not seen.has_groups

    def test_groups_are_counted_by_their_column(self) -> None:
        people = table(age="abc", ill="xyx", group="112")
        seen = public_view({"data": people}, layout(group="group", age=QUASI, ill=TOLD))
        assert seen.has_groups
        assert groups(seen.sensitive[0]) == (Counter("xy"), Counter("x"))
        assert len(seen.sizes) == 3

    def test_columns_must_be_those_of_the_manifest(self) -> None:
        for columns in ({"age": "a"}, {"age": "a", "ill": "x", "more": "y"}, {"age": "a", "job": "x"}):
            with pytest.raises(VerificationFailed, match="not those that the manifest names"):
                public_view({"data": table(**columns)}, layout(age=QUASI, ill=TOLD))
        with pytest.raises(VerificationFailed, match="not those that the manifest names"):
            public_view({"data": table(age="a", ill="x")}, layout(group="group", age=QUASI, ill=TOLD))

    @pytest.mark.parametrize("empty", [{"group": ""}, {"person": ""}])
    def test_a_column_without_a_name_is_not_taken_for_none(self, empty: dict[str, str]) -> None:
        facts = replace(layout(age=QUASI, ill=TOLD), **empty)
        with pytest.raises(VerificationFailed, match="not those that the manifest names"):
            public_view({"data": table(age="a", ill="x")}, facts)

    def test_no_more_records_than_the_original_has(self) -> None:
        people = table(age="aab")
        assert public_view({"data": people}, layout(n_original=3, age=QUASI)).n_suppressed == 0
        with pytest.raises(VerificationFailed, match="more records than"):
            public_view({"data": people}, layout(n_original=2, age=QUASI))


class TestKinds:
    def test_made_up_records_may_be_more_than_the_original_has_and_none_was_left_out(self) -> None:
        facts = replace(layout(n_original=2, age=QUASI), type="synthetic")
        seen = public_view({"data": table(age="aab")}, facts)
        assert (seen.type, seen.n_records, seen.n_original, seen.n_suppressed) == ("synthetic", 3, 2, 0)

    def test_of_perturbed_records_as_many_as_the_original_has_at_most(self) -> None:
        facts = replace(layout(n_original=4, age=QUASI), type="perturbed")
        seen = public_view({"data": table(age="aab")}, facts)
        assert (seen.type, seen.n_suppressed) == ("perturbed", 1)
        with pytest.raises(VerificationFailed, match="more records than"):
            public_view({"data": table(age="aabbb")}, facts)

    def test_rows_stand_for_people_unless_something_else_is_said(self) -> None:
        seen = PublicView(3, ("age",), [np.array([0])], np.array([3]), (), False)
        assert (seen.type, seen.people, seen.n_people) == ("people", None, None)


class TestPseudonyms:
    def test_different_pseudonyms_are_counted_in_each_class(self) -> None:
        people = table(age="aaabb", who="uuvvw")
        seen = public_view({"data": people}, replace(layout(age=QUASI), person="who"))
        assert seen.people is not None
        assert (seen.people.tolist(), seen.n_people) == ([2, 2], 3)

    def test_without_pseudonyms_no_person_is_counted(self) -> None:
        seen = public_view({"data": table(age="ab")}, layout(age=QUASI))
        assert (seen.people, seen.n_people) == (None, None)


class TestTwoTables:
    FORM = layout("two-tables", "group", age=QUASI, ill=TOLD)

    def seen(self, values: WrittenTable, facts: LayoutFacts | None = None) -> Any:
        people = table(age="abc", group="112")
        return public_view({"quasi-identifiers": people, "sensitive": values}, facts or self.FORM)

    def test_the_second_table_tells_the_values_of_each_group(self) -> None:
        assert table_names(self.FORM) == ("quasi-identifiers", "sensitive")
        seen = self.seen(table(group="112", ill="xyx", count="111"))
        assert groups(seen.sensitive[0]) == (Counter("xy"), Counter("x"))
        assert seen.sizes.tolist() == [1, 1, 1]
        seen = self.seen(table(group="12", ill="xx", count="21"))
        assert groups(seen.sensitive[0]) == (Counter("xx"), Counter("x"))
        # lines of one group and value are added
        assert groups(self.seen(table(group="112", ill="xxx", count="111")).sensitive[0])[0] == Counter("xx")

    def test_a_sensitive_attribute_may_be_called_count(self) -> None:
        facts = layout("two-tables", "group", age=QUASI, count=TOLD)
        values = table(group="12", count="xy")
        values = written_table({**cells(values), "count_": ["2", "1"]})
        assert groups(self.seen(values, facts).sensitive[0]) == (Counter("xx"), Counter("y"))

    def test_every_group_has_as_many_values_as_people(self) -> None:
        for values in (
            table(group="12", ill="xy", count="11"),
            table(group="12", ill="xy", count="12"),
            table(group="1", ill="x", count="2"),
            table(group="123", ill="xyx", count="211"),
        ):
            with pytest.raises(VerificationFailed, match="same number of records in every group"):
                self.seen(values)

    def test_the_second_table_has_these_columns(self) -> None:
        for values in (table(group="12", ill="xy"), table(group="12", ill="xy", count="21", more="ab")):
            with pytest.raises(VerificationFailed, match="do not have the columns"):
                self.seen(values)

    @pytest.mark.parametrize(
        "count",
        ["0", "-1", "1.5", "x", "٢", "+2", None, "4", "9" * 30, "²", "0" * 19 + "2" + "9" * 30, "9" * 5000],
    )
    def test_a_count_is_a_number_of_records(self, count: str | None) -> None:
        values = written_table({"group": ["1", "2"], "ill": ["x", "y"], "count": [count, "1"]})
        with pytest.raises(VerificationFailed, match="is not a number of records"):
            self.seen(values)

    def test_one_group_may_hold_everybody(self) -> None:
        people, values = table(age="abc", group="111"), table(group="1", ill="x", count="3")
        seen = public_view({"quasi-identifiers": people, "sensitive": values}, self.FORM)
        assert groups(seen.sensitive[0]) == (Counter("xxx"),)


def told(hierarchy: list[list[str]] | None, kind: Any = None) -> AttributeFacts:
    return AttributeFacts(role="sensitive", kind=kind, hierarchy=hierarchy)


class TestLayout:
    def refused(self, problem: str, facts: LayoutFacts, **columns: str) -> None:
        with pytest.raises(VerificationFailed, match=problem):
            public_view({name: table(**columns) for name in table_names(facts)}, facts)

    def test_two_tables_need_a_group_that_joins_them(self) -> None:
        self.refused("without a group", layout("two-tables", age=QUASI, ill=TOLD), age="a")

    def test_the_group_is_no_attribute(self) -> None:
        self.refused("is named as an attribute", layout(group="age", age=QUASI, ill=TOLD), age="a", ill="x")

    def test_pseudonyms_are_neither_attributes_nor_groups(self) -> None:
        problem = "of pseudonyms is also"
        self.refused(problem, replace(layout(age=QUASI, ill=TOLD), person="ill"), age="a", ill="x")
        self.refused(problem, replace(layout(group="of", age=QUASI), person="of"), age="a", of="1")
        facts = replace(layout(group="of", age=QUASI), person="who")
        assert public_view({"data": table(age="a", of="1", who="u")}, facts).n_people == 1

    @pytest.mark.parametrize("facts", [{"kind": "numeric"}, {"hierarchy": [["a", "*"]]}])
    @pytest.mark.parametrize("role", ["quasi-identifying", "insensitive"])
    def test_only_of_sensitive_attributes_more_is_said(self, role: Any, facts: dict[str, Any]) -> None:
        self.refused("of sensitive attributes only", layout(age=AttributeFacts(role=role, **facts)), age="a")

    @pytest.mark.parametrize(
        ("rows", "problem"),
        [
            ([["x", "*"], ["y"]], "one row for each value"),
            ([["x", "*"], ["x", "*"]], "one row for each value"),
            ([[], []], "one row for each value"),
            ([], "no tree"),
            ([["x", "1"], ["y", "2"]], "no tree"),
            ([["x", "1", "*"], ["y", "1", "+"]], "no tree"),
            ([["x", "1", "p", "*"], ["y", "1", "q", "*"]], "no tree"),
            ([["x", "*"]], "not over the published values"),
            ([["x", "*"], ["y", "*"], ["z", "*"]], "not over the published values"),
        ],
    )
    def test_a_hierarchy_is_a_tree_over_the_published_values(
        self, rows: list[list[str]], problem: str
    ) -> None:
        self.refused(problem, layout(age=QUASI, ill=told(rows)), age="ab", ill="xy")

    @pytest.mark.parametrize(
        "rows",
        [
            [["x"], ["y"]],
            [["x", "*"], ["y", "*"]],
            [["x", "1", "*"], ["y", "2", "*"]],
            [["y", "1", "*"], ["x", "1", "*"]],
            # the same word on two levels is two nodes
            [["x", "y", "*"], ["y", "x", "*"]],
        ],
    )
    def test_a_tree_is_believed(self, rows: list[list[str]]) -> None:
        seen = public_view({"data": table(age="ab", ill="xy")}, layout(age=QUASI, ill=told(rows)))
        assert seen.sensitive[0].facts.hierarchy == rows

    def test_a_missing_value_is_an_empty_leaf(self) -> None:
        rows = [["x", "*"], ["", "*"]]
        seen = public_view({"data": table(age="ab", ill="x ")}, layout(age=QUASI, ill=told(rows)))
        assert seen.sensitive[0].ordered == ["x", None]


class TestSensitiveValues:
    def values(self, *groups: str, facts: AttributeFacts = TOLD) -> SensitiveValues:
        return told_of("ill", [[None if sign == " " else sign for sign in group] for group in groups], facts)

    def test_the_prior_is_that_of_the_released_records(self) -> None:
        values = self.values("xxy", "y")
        assert (values.n_records, values.values, values.prior.tolist()) == (4, ("x", "y"), [0.5, 0.5])

    def test_a_row_counts_as_often_as_records_are_like_it(self) -> None:
        column, group_of = FileColumn.of("xyx"), np.array([0, 0, 1])
        for counts in ([1, 1, 1], [2, 2, 2], [3, 1, 2]):
            values = SensitiveValues.of("ill", column, group_of, TOLD, np.array(counts))
            assert values.counts.tolist() == counts
            assert values.sizes.tolist() == [counts[0] + counts[1], counts[2]]
            assert values.overall.tolist() == [counts[0] + counts[2], counts[1]]

    def test_numbers_are_in_their_order_and_a_missing_one_is_last(self) -> None:
        values = told_of("pay", [["10", "9", "-1", None, "0.5"]], TOLD)
        assert values.ordered == ["-1", "0.5", "9", "10", None]

    def test_the_levels_of_a_tree_below_its_root(self) -> None:
        rows = [["x", "1", "*"], ["y", "1", "*"], ["", "2", "*"]]
        assert self.values("xy ", facts=told(rows)).levels == [
            {"x": "x", "y": "y", None: ""},
            {"x": "1", "y": "1", None: "2"},
        ]
        assert self.values("xy").levels == [{"x": "x", "y": "y"}]
        assert self.values("xy", facts=told([["x"], ["y"]])).levels == [{"x": "x", "y": "y"}]
        assert self.values("x", facts=told([["x", "1", "*"]])).levels == [{"x": "x"}, {"x": "1"}]

    @pytest.mark.parametrize(("cells", "withheld"), [("***", True), ("**x", False), ("xy", False)])
    def test_what_is_withheld_everywhere(self, cells: str, withheld: bool) -> None:
        assert self.values(cells).is_withheld is withheld
