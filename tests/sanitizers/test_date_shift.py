"""Tests of date shift: what stays between dates, whose shift is whose, and that nobody can draw it again."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from sfumato import Attribute, Dates, Schema, Table, sanitize
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers import DateShift
from sfumato.sanitizers.perturb.date_shift import secret_shifts

SCHEMA = Schema(
    (
        Attribute("who", "identifying"),
        Attribute("came", "quasi-identifying"),
        Attribute("left", "insensitive"),
        Attribute("ill", "sensitive"),
    ),
    person="who",
)
VISITS = {
    "who": [1, 1, 2, 2],
    "came": ["2026-01-05", "2026-03-01", "2026-01-05", "2025-12-31"],
    "left": ["2026-01-09", None, "2026-01-06", "2026-01-02"],
    "ill": list("abcd"),
}


def shifts(schema: Schema, days: int = 30) -> dict[str, set[int]]:
    """Return by how many days the dates of each record were moved."""
    released = sanitize(Table.from_arrow(VISITS), schema, DateShift(days)).to_arrow().to_pylist()
    true = {record["ill"]: record for record in Table.from_arrow(VISITS).to_arrow().to_pylist()}
    found = {}
    for record in released:
        pairs = [(record[name], true[record["ill"]][name]) for name in ("came", "left")]
        assert all((one is None) == (other is None) for one, other in pairs)
        found[record["ill"]] = {(day(one) - day(other)).days for one, other in pairs if one is not None}
    return found


def day(written: str) -> datetime.date:
    return datetime.date.fromisoformat(written)


def test_all_dates_of_a_person_are_moved_alike_and_those_of_others_by_other_days() -> None:
    seen = set()
    for _ in range(10):
        found = shifts(SCHEMA)
        (first,) = found["a"] | found["b"]
        (second,) = found["c"] | found["d"]
        assert {abs(first), abs(second)} <= set(range(1, 31))
        seen.add((first, second))
    assert any(first != second for first, second in seen)
    assert len(seen) > 1


def test_where_nobody_is_known_each_record_is_moved_by_itself() -> None:
    schema = Schema(SCHEMA.attributes)
    drawn = [shifts(schema) for _ in range(10)]
    assert all(len(moved) == 1 for found in drawn for moved in found.values())
    assert any(found["a"] != found["b"] for found in drawn)


def test_every_shift_but_none_is_as_likely() -> None:
    drawn = secret_shifts(12_000, 3)
    values, counts = np.unique(drawn, return_counts=True)
    assert values.tolist() == [-3, -2, -1, 1, 2, 3]
    assert counts == pytest.approx([2_000] * 6, abs=250)


def test_dates_are_written_as_their_hierarchy_says() -> None:
    table = Table.from_arrow({"came": ["16.11.2026", "01.02.2026"], "ill": ["x", "y"]})
    came = Attribute("came", "quasi-identifying", hierarchy=Dates(("month", "year"), "%d.%m.%Y"))
    schema = Schema((came, Attribute("ill", "sensitive")))
    for record in sanitize(table, schema, DateShift(5)).to_arrow().to_pylist():
        datetime.datetime.strptime(record["came"], "%d.%m.%Y")
    floored = Schema((Attribute("came", "quasi-identifying", None, came.hierarchy, 1.0, 1), schema["ill"]))
    with pytest.raises(Infeasible, match="lowest-level = 1"):
        sanitize(table, floored, DateShift(5))


def test_a_table_without_dates_is_refused() -> None:
    table = Table.from_arrow({"age": [1, 2], "ill": ["x", "y"]})
    with pytest.raises(ParameterError, match="needs an attribute of dates"):
        sanitize(table, Schema.of(age="quasi-identifying", ill="sensitive"), DateShift())
    with pytest.raises(ParameterError, match="no dates 'ill'; there are came, left"):
        sanitize(Table.from_arrow(VISITS), SCHEMA, DateShift(attributes=("ill",)))
    with pytest.raises(ParameterError, match="days"):
        DateShift(0)
