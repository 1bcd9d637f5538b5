"""Cells: every released value is a set of original values, and its label tells which."""

from __future__ import annotations

import itertools
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Attribute, Dates, Hierarchy, Intervals, Prefixes, Schema, Table, sanitize
from sfumato.data.table import Column, text
from sfumato.models import KAnonymity
from sfumato.results.released_column import (
    Cells,
    RangeSets,
    ValueSets,
    block_cells,
    exact_cells,
    level_cells,
    range_cells,
    suppressed_cells,
)
from sfumato.sanitizers import Cut, Mondrian

SECRET = "SECRETVALUE"


def bound(values: list[Any], hierarchy: Any = None, kind: Any = None) -> tuple[Column, Hierarchy]:
    """Return the column, one row for each value, and its hierarchy."""
    columns = {"column": values, "row": list(range(len(values)))}
    attributes = (Attribute("column", "quasi-identifying", kind, hierarchy), Attribute("row", "insensitive"))
    table, schema = Schema(attributes).bind(Table.from_arrow(columns))
    return table["column"], schema.hierarchy("column")


def members(cells: Cells) -> list[set[Any]]:
    """Return for each released value the original values that it stands for."""
    assert cells.sets is not None
    return [{cells.domain[code] for code in cells.sets.members[a:b]} for a, b in pairwise(cells.sets.starts)]


def released(cells: Cells) -> list[str | None]:
    """Return the label of each row."""
    return [cells.labels[code] for code in cells.codes]


def check_cells(cells: Cells, column: Column, rows: np.ndarray) -> None:
    """Check by brute force what all cells promise."""
    assert cells.sets is not None
    sets = members(cells)
    assert len(set(cells.labels)) == len(cells.labels) == len(sets) == len(cells.sets.sizes)
    for row, code in zip(rows, cells.codes, strict=True):
        assert column.domain[column.codes[row]] in sets[code]
    contained = cells.sets.contain(cells.codes, column.codes[rows])
    assert contained.all()
    every = [(released, original) for released in range(len(sets)) for original in range(len(column.domain))]
    pairs = np.array(every, dtype=np.int32)
    expected = [column.domain[original] in sets[released] for released, original in every]
    assert cells.sets.contain(pairs[:, 0], pairs[:, 1]).tolist() == expected
    assert all(size >= len(values) for size, values in zip(cells.sets.sizes, sets, strict=True))
    assert cells.sets.sizes.max() <= cells.sets.n_leaves
    n = cells.sets.n_leaves
    assert cells.sets.losses.tolist() == pytest.approx(
        [(s - 1) / (n - 1) if n > 1 else 0 for s in cells.sets.sizes]
    )


def all_rows(column: Column) -> np.ndarray:
    return np.arange(len(column.codes))


def ranges(*bounds: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    low, high = zip(*bounds, strict=True)
    return np.array(low, dtype=np.int32), np.array(high, dtype=np.int32)


# --------------------------------------------------------------------------- exact, level, suppressed


def test_exact_cells_are_the_values_themselves_with_their_type() -> None:
    column, _ = bound([31, None, 42, 31])
    cells = exact_cells(column, all_rows(column))
    check_cells(cells, column, all_rows(column))
    assert released(cells) == ["31", None, "42", "31"]
    assert cells.sets is not None
    assert cells.sets.exact
    assert cells.sets.losses.tolist() == [0, 0, 0]
    assert cells.to_arrow(np.array([3, 1])).to_pylist() == [31, None]
    assert cells.to_arrow(np.array([3, 1]), typed=False).to_pylist() == ["31", None]


def test_cells_of_some_rows_are_those_rows() -> None:
    column, hierarchy = bound(["a", "b", "c"])
    cells = exact_cells(column, np.array([2, 0]))
    assert released(cells) == ["c", "a"]
    assert released(cells.take(np.array([1]))) == ["a"]
    assert released(level_cells(column, hierarchy, 0, np.array([1]))) == ["b"]


def test_suppressed_cells_are_one_star_that_stands_for_everything() -> None:
    hierarchy = Hierarchy.nested({"x": ["a", "b", "never"], "y": ["c"]})
    column, built = bound(["a", "c", None], hierarchy)
    cells = suppressed_cells(column, built, all_rows(column))
    check_cells(cells, column, all_rows(column))
    assert released(cells) == ["*", "*", "*"]
    assert members(cells) == [{"a", "c", None}]
    assert cells.sets is not None
    assert (cells.sets.sizes.tolist(), cells.sets.n_leaves) == ([5], 5)
    assert cells.sets.losses.tolist() == [1]


def test_level_cells_are_the_nodes_of_the_level() -> None:
    hierarchy = Hierarchy.nested({"x": ["a", "b", "never"], "y": ["c"]})
    column, built = bound(["a", "c", "b", None], hierarchy)
    cells = level_cells(column, built, 1, all_rows(column))
    check_cells(cells, column, all_rows(column))
    assert released(cells) == ["x", "y", "x", None]
    assert dict(zip(cells.labels, members(cells), strict=True)) == {"x": {"a", "b"}, "y": {"c"}, None: {None}}
    assert cells.sets is not None
    assert dict(zip(cells.labels, cells.sets.sizes.tolist(), strict=True)) == {"x": 3, "y": 1, None: 1}
    assert cells.sets.losses.tolist() == pytest.approx([2 / 4, 0, 0])


@pytest.mark.parametrize(
    ("values", "hierarchy", "expected"),
    [
        ([25, 35], Intervals((10,)), ["[20, 30)", "[30, 40)"]),
        (["02139", "14850"], Prefixes((3,)), ["021*", "148*"]),
        (["2026-11-15", "2025-01-01"], Dates(("year",)), ["2026", "2025"]),
        (["Italy", "Japan"], Hierarchy.nested({"Europe": ["Italy"], "Asia": ["Japan"]}), ["Europe", "Asia"]),
    ],
)
@pytest.mark.parametrize("typed", [True, False])
def test_a_node_above_one_single_value_is_written_as_the_node(
    values: list[Any], hierarchy: Any, expected: list[str], typed: bool
) -> None:
    column, built = bound(values, hierarchy)
    written = level_cells(column, built, 1, all_rows(column)).to_arrow(all_rows(column), typed=typed)
    assert written.to_pylist() == expected


def test_generalized_cells_are_written_as_text_and_the_lowest_level_typed() -> None:
    column, built = bound([25, 27, None], Intervals((10,)))
    lowest = level_cells(column, built, 0, all_rows(column)).to_arrow(all_rows(column))
    above = level_cells(column, built, 1, all_rows(column)).to_arrow(all_rows(column))
    assert (str(lowest.type), lowest.to_pylist()) == ("int64", [25, 27, None])
    assert (str(above.type), above.to_pylist()) == ("string", ["[20, 30)", "[20, 30)", None])


def test_numbers_without_a_hierarchy_of_their_own_are_never_written_wider_than_asked() -> None:
    column, built = bound([5, 1, 3])
    cells = range_cells(column, built, column.codes, column.codes)
    assert cells.to_arrow(all_rows(column)).to_pylist() == [5, 1, 3]


# --------------------------------------------------------------------------------- ranges of numbers


def denoted(label: str | None, domain: tuple[Any, ...]) -> set[Any]:
    """Return the values that a reader of a label would take it for."""
    if label is None:
        return {None}
    if label == "*":
        return set(domain)
    if label.endswith(" or missing"):
        return denoted(label.removesuffix(" or missing"), domain) | {None}
    present = [value for value in domain if value is not None]
    if label.startswith((">=", "<")):
        end = float(label.lstrip("<>="))
        is_in = end.__le__ if label.startswith(">=") else end.__ge__ if label.startswith("<=") else end.__gt__
        return {value for value in present if is_in(value)}
    if not label.startswith("["):
        return {value for value in present if float(label) == value}
    low, high = map(float, label[1:-1].split(", "))
    return {value for value in present if low <= value < high or (label.endswith("]") and value == high)}


number_lists = st.lists(st.integers(-20, 20), min_size=1, max_size=12) | st.lists(
    st.integers(-8, 8).map(lambda quarters: quarters / 4), min_size=1, max_size=12
)


@given(number_lists, st.booleans(), st.data())
def test_an_interval_of_numbers_tells_exactly_its_set(
    numbers: list[Any], gaps: bool, data: st.DataObject
) -> None:
    column, hierarchy = bound([*numbers, None] if gaps else numbers)
    codes = column.codes.astype(np.int64)
    last = len(column.domain) - 1
    low = np.array([data.draw(st.integers(0, code)) for code in codes], dtype=np.int32)
    high = np.array([data.draw(st.integers(code, last)) for code in codes], dtype=np.int32)
    cells = range_cells(column, hierarchy, low, high)
    check_cells(cells, column, all_rows(column))
    assert cells.sets is not None
    for label, values, size in zip(cells.labels, members(cells), cells.sets.sizes, strict=True):
        assert denoted(label, column.domain) == values
        assert size == len(values)
    for row, code in enumerate(cells.codes):
        assert members(cells)[code] == set(column.domain[low[row] : high[row] + 1])


@pytest.mark.parametrize(
    ("values", "low", "high", "label"),
    [
        ([20, 25, 29, 40], 0, 2, "[20, 30)"),
        ([20, 25, 29, 40], 1, 1, "25"),
        ([20, 25, 29, 40], 0, 3, "*"),
        ([-7, -5, 0], 0, 1, "[-7, -4)"),
        ([0.5, 1.25, 2.0], 0, 1, "[0.5, 1.25]"),
        ([1, 1.5, 2, 2.5], 0, 2, "[1, 2]"),
        ([1, 2, 3, None], 1, 3, "[2, 4) or missing"),
        ([1, 2, 3, None], 2, 3, "3 or missing"),
        ([1, 2, 3, None], 3, 3, None),
        ([1, 2, 3, None], 0, 3, "*"),
        ([1, None], 0, 1, "*"),
        ([7], 0, 0, "7"),
    ],
)
def test_a_range_of_numbers_is_labelled_like_this(
    values: list[Any], low: int, high: int, label: str | None
) -> None:
    column, hierarchy = bound(values)
    cells = range_cells(column, hierarchy, *ranges((low, high)))
    assert released(cells) == [label]


def test_the_whole_domain_of_numbers_covers_all_leaves_of_a_given_hierarchy() -> None:
    hierarchy = Hierarchy.of_rows([[str(age), "young" if age < 30 else "old", "*"] for age in range(20, 40)])
    column, built = bound([25, 27, 38], hierarchy)
    cells = range_cells(column, built, *ranges((0, 2)))
    assert cells.sets is not None
    assert (released(cells), cells.sets.sizes.tolist(), cells.sets.losses.tolist()) == (["*"], [20], [1])


# ------------------------------------------------------------------------------ ranges of categories


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[list[str]], list[str | None]]:
    """Draw the rows of a random tree and the values that occur, a missing one perhaps among them."""
    n_leaves = draw(st.integers(1, 10))
    columns = [list(range(n_leaves))]
    for _ in range(draw(st.integers(0, 3))):
        parent = {node: draw(st.integers(0, 3)) for node in set(columns[-1])}
        columns.append([parent[node] for node in columns[-1]])
    rows = [
        [f"{level}-{node}" for level, node in enumerate(path)] + ["*"] for path in zip(*columns, strict=True)
    ]
    values: list[str | None] = [draw(st.sampled_from(rows))[0] for _ in range(draw(st.integers(1, 10)))]
    return draw(st.permutations(rows)), values + [None] * draw(st.integers(0, 1))


def path_of(value: str | None, rows: list[list[str]]) -> tuple[tuple[int, Any], ...]:
    """Return the nodes above a value as (level, label), from itself to the root."""
    height = len(rows[0]) - 1
    row: list[Any] = (
        [None] * height + ["*"] if value is None else next(row for row in rows if row[0] == value)
    )
    return tuple(enumerate(row))


def smallest_cover(values: set[Any], every: set[Any], rows: list[list[str]]) -> tuple[set[Any], set[Any]]:
    """Return the leaves of the smallest branch or set of sibling branches over some values, and their nodes.

    ``every`` are the values that occur, ``values`` a range of them.
    """
    if len(values) == 1:
        return values, {path_of(next(iter(values)), rows)[0]}
    leaves = [row[0] for row in rows] + [None] * (None in every)
    paths = {leaf: path_of(leaf, rows) for leaf in leaves}
    common = min(set.intersection(*(set(paths[value]) for value in values)))
    children = {paths[value][common[0] - 1] for value in values}
    below_node = {value for value in every if common in paths[value]}
    below_children = {value for value in every if paths[value][common[0] - 1] in children}
    nodes = {common} if below_node == below_children else children
    return {leaf for leaf in leaves if nodes & set(paths[leaf])}, nodes


def spelled(label: str | None, names: list[str]) -> set[str]:
    """Return the names in a label, as a person reads it who has the list of all names of the level."""
    assert label is not None
    bare = label.removesuffix(" or missing")
    found = {"missing"} if bare != label else set()
    among = sorted(names, key=lambda name: [int(number) for number in name.split("-")])
    for part in bare.removeprefix("{").removesuffix("}").split(", "):
        first, _, last = part.partition(" to ")
        found |= set(among[among.index(first) : among.index(last or first) + 1])
    return found


@given(trees(), st.data())
def test_a_range_of_categories_is_covered_by_the_smallest_branch_or_siblings(
    tree: tuple[list[list[str]], list[str | None]], data: st.DataObject
) -> None:
    rows, values = tree
    column, hierarchy = bound(values, Hierarchy.of_rows(rows), "categorical")
    last = len(column.domain) - 1
    codes = column.codes.astype(np.int64)
    low = np.array([data.draw(st.integers(0, code)) for code in codes], dtype=np.int32)
    high = np.array([data.draw(st.integers(code, last)) for code in codes], dtype=np.int32)
    cells = range_cells(column, hierarchy, low, high)
    check_cells(cells, column, all_rows(column))
    assert cells.sets is not None
    assert cells.sets.n_leaves == len(rows) + (None in values)
    for row, code in enumerate(cells.codes):
        in_range = set(column.domain[low[row] : high[row] + 1])
        leaves, nodes = smallest_cover(in_range, set(values), rows)
        assert members(cells)[code] == leaves & set(values)
        assert cells.sets.sizes[code] == len(leaves)
        label = cells.labels[code]
        if len(nodes) == 1:
            assert label == next(iter(nodes))[1]
        else:
            level = next(iter(nodes))[0]
            names = [name for name in hierarchy.labels[level] if name is not None]
            assert spelled(label, names) == {name or "missing" for _, name in nodes}


@given(trees(), st.data())
def test_the_cells_of_every_level_are_its_nodes_with_all_their_leaves(
    tree: tuple[list[list[str]], list[str | None]], data: st.DataObject
) -> None:
    rows, values = tree
    column, hierarchy = bound(values, Hierarchy.of_rows(rows), "categorical")
    level = data.draw(st.integers(0, hierarchy.height))
    cells = level_cells(column, hierarchy, level, all_rows(column))
    check_cells(cells, column, all_rows(column))
    assert cells.sets is not None
    leaves = [row[0] for row in rows] + [None] * (None in values)
    for row, code in enumerate(cells.codes):
        node = path_of(column.domain[column.codes[row]], rows)[level]
        assert cells.labels[code] == node[1]
        assert cells.sets.sizes[code] == sum(path_of(leaf, rows)[level] == node for leaf in leaves)


CONTINENTS = Hierarchy.nested(
    {
        "Europe": {"South": ["Italy", "Spain"], "North": ["Sweden"], "Isles": ["Malta, Gozo"]},
        "Asia": ["Japan"],
    }
)
COUNTRIES = ["Italy", "Spain", "Sweden", "Malta, Gozo", "Japan"]


@pytest.mark.parametrize(
    ("low", "high", "label"),
    [
        (0, 0, "Italy"),
        (0, 1, "South"),
        (0, 2, "{South, North}"),
        (1, 2, "{South, North}"),
        (2, 3, "{North, Isles}"),
        (0, 3, "Europe"),
        (3, 4, "*"),
        (0, 4, "*"),
        (3, 3, "Malta, Gozo"),
    ],
)
def test_a_range_of_categories_is_labelled_like_this(low: int, high: int, label: str) -> None:
    column, hierarchy = bound(COUNTRIES, CONTINENTS)
    assert released(range_cells(column, hierarchy, *ranges((low, high)))) == [label]


@pytest.mark.parametrize(
    ("values", "low", "high", "label"),
    [
        (["a", "b", "c"], 0, 1, "{a, b}"),
        (["b", "a", "c"], 0, 1, "{a, b}"),
        (["a", "b", None], 1, 2, "b or missing"),
        (["a", "missing", None], 1, 2, '{"missing"} or missing'),
        (["a, b", "c", "d"], 0, 1, '{"a, b", c}'),
        (['"', "c", "d"], 0, 1, '{"""", c}'),
    ],
)
def test_categories_without_a_hierarchy_are_covered_by_sets(
    values: list[Any], low: int, high: int, label: str
) -> None:
    column, hierarchy = bound(values)
    cells = range_cells(column, hierarchy, *ranges((low, high)))
    assert released(cells) == [label]


@pytest.mark.parametrize("order", list(itertools.permutations("abcd")))
def test_a_set_does_not_tell_in_which_order_the_values_were_first_seen(order: tuple[str, ...]) -> None:
    table = Table.from_arrow({"town": [town for town in order for _ in range(2)]})
    release = sanitize(table, Schema.of(town="quasi-identifying"), Mondrian(KAnonymity(4)))
    cut = sanitize(table, Schema.of(town="quasi-identifying"), Cut({"town": "010"}, KAnonymity(1)))
    for label in (*release.cells["town"].labels, *cut.cells["town"].labels):
        assert label in ("{" + ", ".join(pair) + "}" for pair in itertools.combinations("abcd", 2))


# ----------------------------------------------------------------------------------------------- blocks


@given(trees(), st.data())
def test_a_block_stands_for_its_values_and_for_no_others(
    tree: tuple[list[list[str]], list[str | None]], data: st.DataObject
) -> None:
    rows, values = tree
    column, hierarchy = bound(values, Hierarchy.of_rows(rows), "categorical")
    apart = [data.draw(st.integers(0, 1)) for _ in column.domain[1:]]
    block_of = np.cumsum([0, *apart])
    cells = block_cells(column, hierarchy, block_of, all_rows(column))
    check_cells(cells, column, all_rows(column))
    for row, code in enumerate(cells.codes):
        block = block_of[column.codes[row]]
        together = {value for value, place in zip(column.domain, block_of, strict=True) if place == block}
        assert members(cells)[code] == together
        nodes = [
            node
            for value in together
            for node in path_of(text(value), rows)
            if {other for other in column.domain if node in path_of(text(other), rows)} == together
        ]
        names = {name or "missing" for name in together}
        assert (
            cells.labels[code] in {label for _, label in nodes}
            or spelled(cells.labels[code], [row[0] for row in rows]) == names
        )


@given(number_lists, st.booleans(), st.data())
def test_a_block_of_numbers_is_an_interval(numbers: list[Any], gaps: bool, data: st.DataObject) -> None:
    column, hierarchy = bound([*numbers, None] if gaps else numbers)
    block_of = np.cumsum([0, *(data.draw(st.integers(0, 1)) for _ in column.domain[1:])])
    cells = block_cells(column, hierarchy, block_of, all_rows(column))
    check_cells(cells, column, all_rows(column))
    for label, values in zip(cells.labels, members(cells), strict=True):
        assert denoted(label, column.domain) == values


# -------------------------------------------------------------------------------------- equal labels


def test_different_ranges_with_one_label_are_one_released_value() -> None:
    column, hierarchy = bound(COUNTRIES, CONTINENTS)
    low, high = ranges((0, 3), (0, 3), (1, 3))
    cells = range_cells(column, hierarchy, low, high)
    assert cells.labels == ("Europe",)
    assert cells.codes.tolist() == [0, 0, 0]
    assert members(cells) == [{"Italy", "Spain", "Sweden", "Malta, Gozo"}]


def test_a_branch_that_is_called_like_a_value_elsewhere_may_stand_for_both() -> None:
    # a reader who sees "a" cannot know whether it is the value or the branch
    hierarchy = Hierarchy.of_rows([["a", "x", "*"], ["b", "x", "*"], ["c", "a", "*"], ["d", "a", "*"]])
    column, built = bound(["a", "b", "c", "d"], hierarchy)
    low, high = ranges((0, 0), (1, 1), (2, 3), (2, 3))
    cells = range_cells(column, built, low, high)
    check_cells(cells, column, all_rows(column))
    assert released(cells) == ["a", "b", "a", "a"]
    assert dict(zip(cells.labels, members(cells), strict=True)) == {"a": {"a", "c", "d"}, "b": {"b"}}


# ------------------------------------------------------------------------------- losses and leaks


def test_a_domain_of_one_value_loses_nothing() -> None:
    column, hierarchy = bound(["a", "a"])
    cells = suppressed_cells(column, hierarchy, all_rows(column))
    assert cells.sets is not None
    assert cells.sets.losses.tolist() == [0]


def test_arrays_are_read_only() -> None:
    column, hierarchy = bound(COUNTRIES, CONTINENTS)
    cells = level_cells(column, hierarchy, 1, all_rows(column))
    assert cells.sets is not None
    for array in (cells.codes, cells.sets.starts, cells.sets.members, cells.sets.sizes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)).map(sorted), min_size=1, max_size=6))
def test_ranges_say_the_same_as_the_sets_that_list_all_their_members(ends: list[list[int]]) -> None:
    listed = [list(range(first, last + 1)) for first, last in ends]
    starts = np.cumsum([0, *map(len, listed)])
    sizes = np.array([len(each) for each in listed])
    plain = ValueSets(starts, np.concatenate(listed), sizes, 10)
    ranges = RangeSets(np.array(ends)[:, 0], np.array(ends)[:, 1], sizes, 10)
    assert (ranges.overlap, ranges.exact) == (plain.overlap, plain.exact)
    assert [ranges.of(i).tolist() for i in range(len(ends))] == listed
    assert [plain.of(i).tolist() for i in range(len(ends))] == listed
    for n_values in (9, 10):
        assert ranges.within(n_values) == plain.within(n_values) == (max(map(max, ends)) < n_values)
    pairs = np.array(list(itertools.product(range(len(ends)), range(10))), dtype=np.int32)
    held = [code in listed[label] for label, code in pairs.tolist()]
    assert ranges.contain(*pairs.T).tolist() == plain.contain(*pairs.T).tolist() == held
    assert "members" not in vars(ranges)
    assert (ranges.starts.tolist(), ranges.members.tolist()) == (starts.tolist(), plain.members.tolist())
    assert not ranges.members.flags.writeable


def test_intervals_of_many_numbers_do_not_list_their_members() -> None:
    table, schema = Schema.of(when="quasi-identifying").bind(Table.from_arrow({"when": list(range(2000))}))
    cells = sanitize(table, schema, Mondrian(KAnonymity(500))).cells["when"]
    assert isinstance(cells.sets, RangeSets)
    assert "members" not in vars(cells.sets)
    assert [len(each) for each in members(cells)] == [500] * 4


def test_no_value_is_shown() -> None:
    column, _ = bound([SECRET, "x"])
    cells = exact_cells(column, all_rows(column))
    for thing in (cells, cells.sets):
        assert SECRET not in repr(thing)
        assert SECRET not in str(thing)
