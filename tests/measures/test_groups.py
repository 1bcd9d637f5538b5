"""The people with one value of an attribute, and what a release is to them, by hand on eight records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.unknown_rows import with_unknown_rows

from sfumato import Schema, Table, sanitize
from sfumato.models import KAnonymity
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease, synthetic_release
from sfumato.results.people_groups import Group, classes_with_group, groups_of, records_of_group
from sfumato.results.released_column import exact_cells
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers import Anatomy, AsIs, FullDomain

PEOPLE: dict[str, list[Any]] = {
    "age": [1, 1, 1, 2, 2, 3, 3, 3],
    "town": ["a", "a", "b", "b", "c", "b", "c", None],
    "ill": ["x", "x", "y", "y", "x", "y", "y", "x"],
}
SCHEMA = Schema.of(age="quasi-identifying", town="insensitive", ill="sensitive")


def release(how: Any = None) -> LinkedRelease:
    return sanitize(Table.from_arrow(PEOPLE), SCHEMA, how or AsIs(), seed=1)


def group(made: LinkedRelease, name: str, attribute: str = "town") -> Group:
    (found,) = [each for each in groups_of(made, attribute, 1) if each.name == name]
    return found


def records(made: LinkedRelease, *names: str) -> list[tuple[Any, ...]]:
    """Return the released labels of every record, in some order."""
    columns = [made.cells[name] for name in names]
    rows = np.repeat(np.arange(made.n_rows), made.weights)
    labels = [[cells.labels[cells.codes[row]] for cells in columns] for row in rows]
    return sorted(map(tuple, labels))


class TestGroups:
    def test_are_the_values_in_their_order_with_the_records_of_each(self) -> None:
        made = release()
        found = list(groups_of(made, "town", 1))
        assert [(each.name, each.value, each.n_records) for each in found] == [
            ("a", "a", 2),
            ("b", "b", 3),
            ("c", "c", 2),
            ("missing", None, 1),
        ]
        assert {each.attribute for each in found} == {"town"}
        towns = made.origin.table["town"]
        for each in found:
            assert {towns.domain[code] for code in towns.codes[each.members]} == {each.value}
            assert made.origin.table.weights[each.members].sum() == each.n_records

    @pytest.mark.parametrize(("smallest", "names"), [(2, "abc"), (3, "b"), (4, "")])
    def test_have_at_least_the_smallest_number_of_records(self, smallest: int, names: str) -> None:
        assert [each.name for each in groups_of(release(), "town", smallest)] == list(names)

    def test_of_an_attribute_that_is_not_released_there_are_none(self) -> None:
        with pytest.raises(ParameterError, match=r"no attribute 'twon'; did you mean 'town'"):
            list(groups_of(release(), "twon", 1))
        with pytest.raises(ParameterError, match=r"no attribute 'zodiac'; it has age, town, ill"):
            list(groups_of(release(), "zodiac", 1))

    def test_need_the_original(self) -> None:
        with pytest.raises(NotApplicable, match="the original is needed"):
            list(groups_of(release().unlinked(), "town", 1))


class TestOwnRecords:
    def test_are_a_release_of_the_original_ones(self) -> None:
        # of age 1 three records are released, of age 2 none
        made = release(FullDomain({}, KAnonymity(3), suppression=0.5))
        made = made.with_earlier(made)
        own = records_of_group(made, group(made, "b"))
        assert (own.n_original, own.n_records, own.n_suppressed) == (3, 2, 1)
        assert records(own, "age", "town", "ill") == [("1", "b", "y"), ("3", "b", "y")]
        assert own.origin.earlier == ()
        assert own.origin.table.n_records == 3
        # every released row still knows which original row is its own
        for name in ("age", "ill"):
            column, cells = own.origin.table[name], own.cells[name]
            assert column.codes[own.origin.rows].tolist() == cells.codes.tolist()

    def test_are_those_with_the_released_value_where_nobody_knows_which_is_whose(self) -> None:
        made = with_unknown_rows(release())
        own = records_of_group(made, group(made, "c"))
        assert own.origin.linked_rows is None
        assert records(own, "age", "town") == [("2", "c"), ("3", "c")]

    def test_do_not_exist_where_none_is_released(self) -> None:
        made = release(FullDomain({}, KAnonymity(3), suppression=0.5))
        with pytest.raises(NotApplicable, match="no record of the group is released"):
            records_of_group(made, group(made, "2", "age"))

    def test_are_not_told_by_values_that_are_blurred_or_unknown(self) -> None:
        made = with_unknown_rows(release(FullDomain({"age": 1}, KAnonymity(1))))
        unknown = replace(made, cells={**made.cells, "age": replace(made.cells["age"], sets=None)})
        for each in (made, unknown):
            with pytest.raises(NotApplicable, match="'age' do not tell who is in which group"):
                records_of_group(each, group(each, "1", "age"))

    def test_of_made_up_records_are_those_that_say_so(self) -> None:
        table, schema = SCHEMA.bind(Table.from_arrow(PEOPLE))
        twice = np.repeat(np.arange(table.n_rows), 2)
        made = synthetic_release(
            table, schema, {name: exact_cells(table[name], twice) for name in schema.released}
        )
        own = records_of_group(made, group(made, "a"))
        assert (own.n_original, own.origin.linked_rows) == (2, None)
        assert {town for (town,) in records(own, "town")} == {"a"}


class TestOwnClasses:
    def test_are_those_that_hold_one_of_the_group_whole_as_they_are(self) -> None:
        made = release()
        own = classes_with_group(made, group(made, "a"))
        # both live among the three of age 1
        assert records(own, "age", "town") == [("1", "a"), ("1", "a"), ("1", "b")]
        assert own.n_original == 8

    def test_are_groups_where_these_have_the_sensitive_values(self) -> None:
        made = release(Anatomy(2))
        own = classes_with_group(made, group(made, "a"))
        assert made.group_of is not None
        held = {made.group_of[place] for place in range(made.n_rows) if _town(made, place) == "a"}
        expected = [row for place, row in enumerate(made.origin.rows) if made.group_of[place] in held]
        assert sorted(own.origin.rows.tolist()) == sorted(expected)
        assert len(expected) < made.n_rows


def _town(made: LinkedRelease, place: int) -> Any:
    column = made.origin.table["town"]
    return column.domain[column.codes[made.origin.rows[place]]]
