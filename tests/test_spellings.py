"""Every spelling of a released value is read as the original values that it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sfumato import Dates, Hierarchy, Intervals, Prefixes
from sfumato.data.hierarchy import ROOT, HierarchySource, Label, interval_label, set_label
from sfumato.data.kinds import CATEGORICAL, NUMERIC, Kind, Value
from sfumato.data.table import Column
from sfumato.results.label_parsing import Spellings
from sfumato.results.released_column import block_cells, range_cells


def spellings(
    values: Sequence[Value], source: HierarchySource | None = None, kind: Kind = NUMERIC, decimal: str = "."
) -> Spellings:
    hierarchy = (source or Hierarchy.flat(tuple(values))).build(tuple(values), kind)
    return Spellings(Column(np.arange(len(values)), hierarchy.values, kind), hierarchy, decimal)


def meaning(read: Spellings, label: Label) -> tuple[list[Value], int] | None:
    """Return the values and the number of leaves that one label stands for."""
    (found,) = read.read([read.plain(label)]).meanings
    return None if found is None else ([read.column.domain[code] for code in found.codes], found.leaves)


def values(read: Spellings, label: Label) -> list[Value] | None:
    found = meaning(read, label)
    return found and found[0]


AGES = (-5, -3, -1, 0, 17, 18, 20, 25, 29, 30, 39, 80, 91)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("39", [39]),
        ("39.0", [39]),
        ("+39", [39]),
        ("3.9e1", [39]),
        ("[20, 30)", [20, 25, 29]),
        ("[20,30)", [20, 25, 29]),
        ("[20; 30)", [20, 25, 29]),
        ("[20, 30]", [20, 25, 29, 30]),
        ("[20, 30[", [20, 25, 29]),
        ("]20, 30]", [25, 29, 30]),
        ("]20, 30[", [25, 29]),
        ("(20, 30]", [25, 29, 30]),
        ("(20,30)", [25, 29]),
        ("[20-30)", [20, 25, 29]),
        ("20-29", [20, 25, 29]),
        ("20 - 29", [20, 25, 29]),
        ("20\u201329", [20, 25, 29]),
        ("20 \u2014 29", [20, 25, 29]),
        ("20 to 29", [20, 25, 29]),
        ("19.5-29.5", [20, 25, 29]),
        ("2e1-2.9e1", [20, 25, 29]),
        (">=80", [80, 91]),
        (">= 80", [80, 91]),
        ("\u226580", [80, 91]),
        ("80+", [80, 91]),
        (">80", [91]),
        ("<=18", [-5, -3, -1, 0, 17, 18]),
        ("<18", [-5, -3, -1, 0, 17]),
        ("\u2264-3", [-5, -3]),
        ("[80, Inf)", [80, 91]),
        ("(-Inf,-3]", [-5, -3]),
        ("[80, \u221e[", [80, 91]),
        ("-5--1", [-5, -3, -1]),
        ("-5 - -1", [-5, -3, -1]),
        ("-5-0", [-5, -3, -1, 0]),
        ("\u22125 - \u22121", [-5, -3, -1]),
        ("[-5, -1)", [-5, -3]),
        ("{20, 25}", [20, 25]),
        ("{20,25.0}", [20, 25]),
        ("{[20, 30), 80}", [20, 25, 29, 80]),
        ('{"(20, 30]", 80}', [25, 29, 30, 80]),
        ("20,25", [20, 25]),
        ("3*", [30, 39]),
        ("*", list(AGES)),
        ("***", list(AGES)),
        ("40", None),
        ("[31, 35)", None),
        ("30-20", None),
        ("old", None),
        ("", None),
        ("{}", None),
        ("{20, old}", None),
        ("{20, missing}", None),
        ("[20, 30", None),
        ("20-", None),
        (">=", None),
        ("=1+1", None),
        ("<script>alert(1)</script>", None),
    ],
)
def test_numbers(label: str, expected: list[int] | None) -> None:
    assert values(spellings(AGES), label) == expected


@pytest.mark.parametrize("spelling", ["NA", "NaN", "nan", "<NA>", "null", "?"])
def test_a_missing_value_has_many_spellings(spelling: str) -> None:
    read = spellings((20, 30, None))
    assert read.plain(spelling) is None
    assert values(read, spelling) == [None]
    assert values(read, "{20, missing}") == [20, None]
    assert values(read, "{[20, 31), missing}") == [20, 30, None]


def test_a_spelling_of_missing_that_is_a_value_is_that_value() -> None:
    read = spellings(("NA", "DE", "FR"), kind=CATEGORICAL)
    assert values(read, "NA") == ["NA"]


def test_decimals_are_written_with_a_point_or_as_the_project_says() -> None:
    read = spellings((1.5, 2.5, 3.0), decimal=",")
    for label in ("1.5", "1,5", "[1, 2)", "1,4-1,6", "[1,5; 2,5)"):
        assert values(read, label) == [1.5], label
    assert values(spellings((1.5, 2.5, 15)), "1,5") is None


def test_large_whole_numbers_are_told_apart() -> None:
    large = 2**60
    read = spellings((large, large + 1, large + 2))
    assert values(read, f"[{large + 1}, {large + 2})") == [large + 1]


def test_numbers_that_a_project_calls_categories_have_intervals_too() -> None:
    read = spellings(("10", "9", "30"), kind=CATEGORICAL)
    assert values(read, "9-10") == ["10", "9"]
    assert values(read, "9.0") == ["9"]
    assert values(spellings(("10", "9", "x"), kind=CATEGORICAL), "9-10") is None


ZIPS = ("13053", "13068", "14850", "14853", "1305")


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("130**", ["13053", "13068"]),
        ("1305*", ["1305", "13053"]),
        ("13***", ["13053", "13068"]),
        ("***53", ["13053", "14853"]),
        ("130******", ["1305", "13053", "13068"]),
        ("*****", sorted(ZIPS)),
        ("139**", None),
    ],
)
def test_masks(label: str, expected: list[str] | None) -> None:
    read = spellings(sorted(ZIPS), kind=CATEGORICAL)
    found = values(read, label)
    assert (found and sorted(map(str, found))) == expected


def test_a_label_of_the_hierarchy_comes_before_a_mask() -> None:
    read = spellings(sorted(ZIPS), Prefixes((4, 3)), CATEGORICAL)
    assert meaning(read, "1305*") == (["1305", "13053"], 2)
    assert meaning(read, "130*") == (["1305", "13053", "13068"], 3)
    assert meaning(read, "148**") == (["14850", "14853"], 2)


def test_months_and_years_of_days() -> None:
    days = ("2025-12-31", "2026-01-01", "2026-01-15", "2026-02-01")
    plain = spellings(days, kind=CATEGORICAL)
    assert values(plain, "2026-01") == ["2026-01-01", "2026-01-15"]
    assert values(plain, "2025") == ["2025-12-31"]
    assert values(plain, "2026-01-*") == ["2026-01-01", "2026-01-15"]
    dated = spellings(days, Dates(("month", "quarter", "year")), CATEGORICAL)
    assert values(dated, "2026-Q1") == ["2026-01-01", "2026-01-15", "2026-02-01"]


WORK = Hierarchy.nested(
    {"Public": {"Regional": ["State", "Local"], "Federal": ["Federal"]}, "Private": ["Own", "Other, rest"]}
)


def work() -> Spellings:
    """Read labels of a tree whose value Own does not occur."""
    return spellings(("State", "Local", "Federal", "Other, rest"), WORK, CATEGORICAL)


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("State", (["State"], 1)),
        ("Regional", (["State", "Local"], 2)),
        ("Private", (["Other, rest"], 2)),
        ("Public", (["State", "Local", "Federal"], 3)),
        ("*", (["State", "Local", "Federal", "Other, rest"], 5)),
        ("{State, Local}", (["State", "Local"], 2)),
        ("{Regional, Federal}", (["State", "Local", "Federal"], 3)),
        ('{State, "Other, rest"}', (["State", "Other, rest"], 2)),
        ("{State, Private}", (["State", "Other, rest"], 3)),
        ("{Regional, State}", (["State", "Local"], 2)),
        ("{Public, Private}", (["State", "Local", "Federal", "Other, rest"], 5)),
        ("State,Local", (["State", "Local"], 2)),
        ("Own", None),
        ("{State, Own}", None),
        ("{State Local}", None),
        ('{State, "Other, rest}', None),
    ],
)
def test_labels_of_a_hierarchy_count_the_leaves_that_do_not_occur(label: str, expected: Any) -> None:
    found = meaning(work(), label)
    assert (found and (sorted(map(str, found[0])), found[1])) == (
        expected and (sorted(expected[0]), expected[1])
    )


class TestOneLabelForTwoNodes:
    """Other is a value, and the branch above it."""

    HIERARCHY = Hierarchy.nested({"White": ["White"], "Other": ["Asian", "Black", "Other"]})

    def read(self, *labels: str) -> list[list[Value] | None]:
        read = spellings(("White", "Asian", "Black", "Other"), self.HIERARCHY, CATEGORICAL)
        found = read.read(labels).meanings
        return [None if each is None else [read.column.domain[code] for code in each.codes] for each in found]

    def test_is_a_value_where_all_are_values(self) -> None:
        assert self.read("Other", "Asian") == [["Other"], ["Asian"]]
        assert self.read("Other", "Asian", "*")[:2] == [["Other"], ["Asian"]]

    def test_is_both_where_the_column_has_more_than_one_level(self) -> None:
        assert self.read("Other", "Asian", "{Black, White}")[0] == ["Asian", "Black", "Other"]

    def test_is_counted(self) -> None:
        read = spellings(("White", "Asian", "Black", "Other"), self.HIERARCHY, CATEGORICAL)
        assert read.read(["Other", "White"]).n_doubtful == 1
        assert read.read(["Asian", "White"]).n_doubtful == 0


def test_one_level_for_all_labels_is_found() -> None:
    read = work()
    assert read.read(["State", "Local"]).level == 0
    assert read.read(["Regional", "Federal", "*"]).level == 1
    assert read.read(["Public", "Private"]).level == 2
    assert read.read(["State", "Private"]).level is None
    assert read.read(["*"]).level is None


def test_an_interval_counts_the_leaves_between_its_ends_node_or_not() -> None:
    everything = Intervals((10, 20)).build(tuple(range(20, 60)), NUMERIC)
    read = spellings((20, 25, 30, 47), everything)
    for labels, leaves in (
        (["[20, 30)", "[30, 40)"], [10, 10]),
        (["[20, 30)", "[20, 40)", "47", "*"], [10, 20, 1, 40]),
        (["[20, 30)", "[30, 48)"], [10, 18]),
        (["{[20, 30), 47}", "[20, 30)"], [11, 10]),
        (["<31", ">=31", "2*"], [11, 29, 10]),
    ):
        assert [found and found.leaves for found in read.read(labels).meanings] == leaves


def test_a_long_label_is_refused_quickly() -> None:
    read = spellings(AGES)
    for label in ("{" + " " * 100_000 + "{}", "1" * 100_000, "[" + "1" * 50_000 + ", x)", "9-" * 50_000):
        assert values(read, label) is None


# What sfumato itself writes

numbers = st.integers(-50, 50) | st.floats(-50, 50, allow_nan=False).map(lambda x: round(x, 2))


@given(
    domain=st.sets(numbers, min_size=1, max_size=8),
    low=numbers,
    high=numbers,
    closed=st.booleans(),
)
def test_an_interval_is_read_as_it_is_meant(
    domain: set[float], low: float, high: float, closed: bool
) -> None:
    read = spellings(sorted(domain))
    expected = [value for value in sorted(domain) if low <= value < high or (closed and value == high >= low)]
    assert values(read, interval_label(low, high, closed=closed)) == (expected or None)


odd = st.text(st.sampled_from('ab1,{}"[])(*- .;'), min_size=1, max_size=6).map(str.strip).filter(bool)
names = odd | st.sampled_from(["missing", "[1, 2)", "[1, x)", '"', "{a, b}", "a, b", "NA"])


@given(domain=st.lists(names, min_size=2, max_size=6, unique=True), data=st.data())
def test_a_set_is_read_as_it_is_meant_whatever_its_members_are_called(
    domain: list[str], data: st.DataObject
) -> None:
    assume(ROOT not in domain)
    everything: list[Value] = [*domain, None]
    read = spellings(everything, kind=CATEGORICAL)
    members: list[Any] = data.draw(st.lists(st.sampled_from(everything), min_size=2, unique=True))
    label = set_label(members)
    assume(label not in domain)
    assert set(values(read, label) or []) == set(members)


@pytest.mark.parametrize("kind", [NUMERIC, CATEGORICAL])
@given(data=st.data())
def test_every_cover_is_read_as_it_is_meant(kind: Kind, data: st.DataObject) -> None:
    everything: tuple[Value, ...] = (1, 2, 4, 7, 8, None) if kind == NUMERIC else ("a", "b", "c", "d", None)
    tree = Hierarchy.nested({"P": ["a", "b"], "Q": {"R": ["c"], "S": ["d", "e"]}})
    source = Intervals((2, 4)) if kind == NUMERIC else tree
    read = spellings(everything, source, kind)
    n_values = len(everything)
    ends = data.draw(st.lists(st.tuples(*[st.integers(0, n_values - 1)] * 2).map(sorted), min_size=1))
    low, high = np.array(ends).T
    bits = data.draw(st.lists(st.integers(0, 1), min_size=n_values - 1, max_size=n_values - 1))
    blocks = np.cumsum([0, *bits])
    rows = np.arange(n_values)
    for cells in (
        range_cells(read.column, read.hierarchy, low, high),
        block_cells(read.column, read.hierarchy, blocks, rows),
    ):
        assert cells.sets is not None
        again = read.read(cells.labels)
        assert all(found is not None for found in again.meanings)
        sets = again.sets(read.hierarchy.n_leaves)
        assert sets.starts.tolist() == cells.sets.starts.tolist()
        assert sets.members.tolist() == cells.sets.members.tolist()
        assert sets.sizes.tolist() == cells.sets.sizes.tolist()
