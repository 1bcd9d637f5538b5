"""Hierarchies: trees from every source, ordered, nested, complete; against brute force over the values."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Attribute, Schema, Table
from sfumato.data.hierarchy import Dates, Flat, Hierarchy, Intervals, Prefixes, interval_label, set_label
from sfumato.data.kinds import CATEGORICAL, NUMERIC, Kind
from sfumato.reading.read_table import read
from sfumato.runtime.errors import HierarchyError

SECRET = "SECRETVALUE"
ARX = Path(__file__).parent / "vectors" / "arx-adult"

CONTINENTS = "Italy;South;Europe;*\nJapan;East;Asia;*\nSpain;South;Europe;*\nSweden;North;Europe;*\n"


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write_file(content: str | bytes) -> Path:
        path = tmp_path / "hierarchy.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def refusal(call: Any, *arguments: Any) -> str:
    with pytest.raises(HierarchyError) as caught:
        call(*arguments)
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in str(error)
        error = error.__cause__ or error.__context__
    message = str(caught.value)
    assert "\n" not in message
    return message


def labels_of(hierarchy: Hierarchy, value: Any) -> list[Any]:
    """Return the labels above a value, from itself to the root."""
    place = hierarchy.values.index(value)
    return [labels[node] for labels, node in zip(hierarchy.labels, hierarchy.node_of[:, place], strict=True)]


def check_tree(hierarchy: Hierarchy, kind: Kind) -> None:
    """Check by brute force what every hierarchy promises."""
    levels = hierarchy.node_of.tolist()
    assert len(levels) == hierarchy.height + 1 == len(hierarchy.labels) == len(hierarchy.sizes)
    assert len(set(levels[0])) == len(hierarchy.values), "every value is a leaf of its own"
    assert hierarchy.labels[-1] == ("*",)
    assert set(levels[-1]) <= {0}
    for below, above in pairwise(levels):
        assert len(set(zip(below, above, strict=True))) == len(set(below)), "each level is coarser"
    for nodes, labels, sizes in zip(levels, hierarchy.labels, hierarchy.sizes, strict=True):
        assert set(nodes) == set(range(len(labels)))
        assert len(sizes) == len(labels)
        occurring = Counter(nodes)
        assert all(sizes[node] >= occurring[node] for node in occurring)
    if kind == CATEGORICAL:
        for nodes in levels:
            assert [node for node, _ in groupby(nodes)] == sorted(set(nodes)), (
                "a node's values stand together"
            )
    else:
        numbers = [value for value in hierarchy.values if value is not None]
        assert numbers == sorted(numbers)


# ----------------------------------------------------------------------------------------- ARX's format


def test_a_file_in_the_format_of_arx_is_read_as_it_is(write: Any) -> None:
    hierarchy = Hierarchy.read(write(CONTINENTS))
    check_tree(hierarchy, CATEGORICAL)
    assert hierarchy.height == 3
    assert labels_of(hierarchy, "Spain") == ["Spain", "South", "Europe", "*"]
    assert hierarchy.n_leaves == 4


def test_rows_out_of_order_become_contiguous_in_the_order_of_first_occurrence(write: Any) -> None:
    hierarchy = Hierarchy.read(write(CONTINENTS))
    assert hierarchy.values == ("Italy", "Spain", "Sweden", "Japan")
    assert hierarchy.labels[2] == ("Europe", "Asia")


@pytest.mark.parametrize("name", ["a;x\nb;x\n", "a;x\nb;y\n", "a\nb\n"])
def test_a_root_is_added_where_it_lacks(write: Any, name: str) -> None:
    hierarchy = Hierarchy.read(write(name))
    check_tree(hierarchy, CATEGORICAL)
    assert labels_of(hierarchy, "a")[-1] == "*"
    assert labels_of(hierarchy, "a")[0] == "a"


def test_a_single_value_without_levels_still_has_itself_and_the_root() -> None:
    assert Hierarchy.of_rows([["a"]]).labels == (("a",), ("*",))
    assert Hierarchy.of_levels(["a"], []).labels == (("a",), ("*",))


@pytest.mark.parametrize(
    "written",
    [
        "\ufeff" + CONTINENTS,
        CONTINENTS.replace("\n", "\r\n"),
        CONTINENTS.replace("\n", "\n\n"),
        CONTINENTS.replace(";", " ; "),
        CONTINENTS.replace("Italy", '"Italy"'),
        CONTINENTS.rstrip(),
    ],
    ids=["byte order mark", "CRLF", "empty lines", "blanks", "quotes", "no last line break"],
)
def test_dialects_of_the_file_make_no_difference(write: Any, written: str) -> None:
    expected = Hierarchy.read(write(CONTINENTS)).rows()
    assert Hierarchy.read(write(written)).rows() == expected


def test_another_separator_can_be_given(write: Any) -> None:
    assert Hierarchy.read(write("a,x\nb,x\n"), separator=",").labels[1:] == (("*",),)


def test_a_quoted_field_may_hold_the_separator(write: Any) -> None:
    assert Hierarchy.read(write('"a;b";x;*\nc;y;*\n')).values == ("a;b", "c")


def test_the_rows_of_a_hierarchy_make_the_same_hierarchy_again(write: Any) -> None:
    hierarchy = Hierarchy.read(write(CONTINENTS))
    again = Hierarchy.of_rows(hierarchy.rows())
    assert (again.values, again.labels, again.node_of.tolist()) == (
        hierarchy.values,
        hierarchy.labels,
        hierarchy.node_of.tolist(),
    )


def test_an_empty_first_field_is_the_missing_value_and_has_the_place_that_the_file_gives_it(
    write: Any,
) -> None:
    hierarchy = Hierarchy.read(write("a;x;*\n;x;*\nb;y;*\n"))
    assert hierarchy.values == ("a", None, "b")
    assert labels_of(hierarchy, None) == [None, "x", "*"]
    built = hierarchy.build(("b", "a", None), CATEGORICAL)
    assert built.values == ("a", None, "b")
    check_tree(built, CATEGORICAL)


def test_an_empty_label_reads_like_a_missing_value_and_is_one(write: Any) -> None:
    hierarchy = Hierarchy.read(write("a;x;*\n;;*\n"))
    assert labels_of(hierarchy, None) == [None, None, "*"]


@pytest.mark.parametrize("path", sorted(ARX.glob("*_hierarchy_*.csv")), ids=lambda path: path.stem)
def test_the_hierarchies_of_arx_are_read_as_they_are(path: Path) -> None:
    rows = [line.split(";") for line in path.read_text(encoding="utf-8-sig").splitlines() if line]
    hierarchy = Hierarchy.read(path)
    check_tree(hierarchy, CATEGORICAL)
    assert hierarchy.n_leaves == len(rows)
    # a root is added where the file ends below it
    width = len(rows[0])
    assert hierarchy.height == (width - 1 if len({row[-1] for row in rows}) == 1 else width)
    for row in rows:
        assert labels_of(hierarchy, row[0])[1 : width - 1] == row[1:-1]


def test_the_records_of_arx_fit_its_hierarchies() -> None:
    table = read(ARX / "adult.csv.gz")
    sources = {path.stem.rpartition("_")[2]: Hierarchy.read(path) for path in ARX.glob("*_hierarchy_*.csv")}
    attributes = tuple(Attribute(name, "quasi-identifying", hierarchy=sources[name]) for name in table.names)
    bound, schema = Schema(attributes).bind(table)
    assert bound.n_records == 30_162
    assert {name: schema.hierarchy(name).n_leaves for name in ("age", "education")} == {
        "age": sources["age"].n_leaves,
        "education": 16,
    }


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "hierarchy.csv is empty"),
        ("\n\n", "hierarchy.csv is empty"),
        (f"{SECRET};x;*\nb;*\n", "row 2 of hierarchy.csv has 2 levels where row 1 has 3"),
        (f"{SECRET};x;*\n{SECRET};y;*\n", "a value has two rows in hierarchy.csv"),
        (f"a;{SECRET};X;*\nb;{SECRET};Y;*\n", "1 node(s) of level 1 have more than one parent on level 2"),
        (b"\xff\xfea\x00", "not UTF-8"),
        (f"{SECRET * 20_000};x;*\n", "not a CSV file"),
    ],
    ids=["empty", "only empty lines", "ragged", "twice", "not a tree", "not UTF-8", "not CSV"],
)
def test_a_file_that_is_no_hierarchy_is_refused_in_one_line_without_a_value(
    write: Any, written: str | bytes, message: str
) -> None:
    assert message in refusal(Hierarchy.read, write(written))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    message = refusal(Hierarchy.read, tmp_path / "gone.csv")
    assert "gone.csv" in message
    assert str(tmp_path) not in message
    refusal(Hierarchy.read, tmp_path)


# -------------------------------------------------------------------------------------- nested mappings


def test_a_nested_mapping_of_uneven_depth_is_a_tree_whose_shallow_leaves_stand_for_themselves() -> None:
    hierarchy = Hierarchy.nested(
        {"Europe": {"South": ["Italy", "Spain"], "North": ["Sweden"]}, "Asia": ["Japan"]}
    )
    check_tree(hierarchy, CATEGORICAL)
    assert labels_of(hierarchy, "Italy") == ["Italy", "South", "Europe", "*"]
    assert labels_of(hierarchy, "Japan") == ["Japan", "Japan", "Asia", "*"]


@given(st.lists(st.sampled_from(["a", "b", "*", "1", 1, 1.5, 2, None]), min_size=1, unique=True))
def test_a_flat_hierarchy_is_the_one_whose_only_level_is_the_root(values: list[Any]) -> None:
    flat, built = Hierarchy.flat(values), Hierarchy.of_levels(values, [["*"] * len(values)])
    assert (flat.values, flat.labels, flat.node_of.tolist()) == (
        built.values,
        built.labels,
        built.node_of.tolist(),
    )
    assert [sizes.tolist() for sizes in flat.sizes] == [sizes.tolist() for sizes in built.sizes]


def test_a_list_alone_is_a_flat_hierarchy() -> None:
    assert Hierarchy.nested(["a", "b"]).labels == (("a", "b"), ("*",))


@pytest.mark.parametrize(
    ("mapping", "message"),
    [
        ({}, "no values"),
        ({"Europe": []}, "no values"),
        ({"Europe": ["Italy"], "Asia": ["Italy"]}, "two branches"),
        ({"Europe": "Italy"}, "ends in lists"),
        ({"Europe": [1]}, "ends in lists"),
        ({"Europe": {"Other": ["Malta"]}, "Asia": {"Other": ["Japan"]}}, "not a tree"),
    ],
)
def test_a_mapping_that_is_no_tree_is_refused(mapping: Any, message: str) -> None:
    assert message in refusal(Hierarchy.nested, mapping)


@st.composite
def random_rows(draw: st.DrawFn) -> list[list[str]]:
    """Draw the rows of a random tree in random order."""
    n_leaves = draw(st.integers(1, 12))
    columns = [list(range(n_leaves))]
    for _ in range(draw(st.integers(0, 3))):
        parent = {node: draw(st.integers(0, 4)) for node in set(columns[-1])}
        columns.append([parent[node] for node in columns[-1]])
    rows = [[f"{level}-{node}" for level, node in enumerate(path)] for path in zip(*columns, strict=True)]
    return draw(st.permutations(rows))


@given(random_rows())
def test_any_tree_in_any_order_becomes_a_contiguous_one(rows: list[list[str]]) -> None:
    hierarchy = Hierarchy.of_rows(rows)
    check_tree(hierarchy, CATEGORICAL)
    for row in rows:
        assert labels_of(hierarchy, row[0])[: len(row) - 1] == row[:-1] or len(row) == 1
    for level, sizes in enumerate(hierarchy.sizes[:-1]):
        below = Counter(row[level] for row in rows)
        assert dict(zip(hierarchy.labels[level], sizes.tolist(), strict=True)) == below


@given(random_rows(), st.data())
def test_joins_are_the_lowest_level_that_neighbours_share(rows: list[list[str]], data: st.DataObject) -> None:
    occurring = data.draw(st.lists(st.sampled_from(rows), min_size=1, unique_by=lambda row: row[0]))
    domain = (*(row[0] for row in occurring), *data.draw(st.sampled_from([(), (None,)])))
    hierarchy = Hierarchy.of_rows(rows).build(domain, CATEGORICAL)
    check_tree(hierarchy, CATEGORICAL)
    paths = [labels_of(hierarchy, value) for value in hierarchy.values]
    expected = [0] + [
        next(level for level, (here, there) in enumerate(zip(one, two, strict=True)) if here == there)
        for one, two in pairwise(paths)
    ]
    assert hierarchy.joins.tolist() == expected


# ------------------------------------------------------------------------------------------- building


@given(random_rows(), st.data())
def test_the_part_above_the_values_that_occur_still_counts_the_others(
    rows: list[list[str]], data: st.DataObject
) -> None:
    occurring = data.draw(st.lists(st.sampled_from(rows), min_size=1, unique_by=lambda row: row[0]))
    whole = Hierarchy.of_rows(rows)
    part = whole.build(tuple(row[0] for row in occurring), CATEGORICAL)
    check_tree(part, CATEGORICAL)
    assert part.n_leaves == len(rows)
    assert set(part.values) == {row[0] for row in occurring}
    for value in part.values:
        assert labels_of(part, value) == labels_of(whole, value)
        place, place_in_whole = part.values.index(value), whole.values.index(value)
        for level in range(part.height + 1):
            size = part.sizes[level][part.node_of[level, place]]
            assert size == whole.sizes[level][whole.node_of[level, place_in_whole]]


def test_a_value_that_the_hierarchy_lacks_is_refused_with_attribute_and_count_but_without_the_value() -> None:
    table = Table.from_arrow({"country": ["Italy", SECRET, SECRET, "another"]})
    schema = Schema(
        (Attribute("country", "quasi-identifying", hierarchy=Hierarchy.nested({"E": ["Italy"]})),)
    )
    message = refusal(schema.bind, table)
    assert "'country'" in message
    assert "2 of its 3 values are not in the hierarchy" in message


def test_values_of_the_hierarchy_that_do_not_occur_are_fine() -> None:
    built = Hierarchy.nested({"Europe": ["Italy", "Spain"], "Asia": ["Japan"]}).build(("Japan",), CATEGORICAL)
    assert built.values == ("Japan",)
    assert built.labels == (("Japan",), ("Asia",), ("*",))
    assert [sizes.tolist() for sizes in built.sizes] == [[1], [1], [3]]


SOURCES: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "nested": (Hierarchy.nested({"E": ["a", "b"]}), ("a", "b"), CATEGORICAL),
    "intervals": (Intervals((5, 10)), (1, 7), NUMERIC),
    "prefixes": (Prefixes((2, 1)), ("aa", "ab"), CATEGORICAL),
    "numeric prefixes": (Prefixes((1,)), (11, 20), NUMERIC),
    "dates": (Dates(), ("2026-11-15", "2026-12-01"), CATEGORICAL),
    "flat": (Flat(), ("a", "b"), CATEGORICAL),
}


@pytest.mark.parametrize("source", SOURCES)
def test_missing_values_are_a_branch_of_their_own_below_the_root(source: str) -> None:
    given_source, values, kind = SOURCES[source]
    built, without = given_source.build((*values, None), kind), given_source.build(values, kind)
    check_tree(built, kind)
    assert labels_of(built, None) == [None] * built.height + ["*"]
    assert [list(labels) for labels in built.labels[:-1]] == [
        [*labels, None] for labels in without.labels[:-1]
    ]
    assert built.n_leaves == without.n_leaves + 1


@pytest.mark.parametrize("source", SOURCES)
def test_a_column_of_missing_values_alone_has_a_hierarchy_too(source: str) -> None:
    given_source, values, kind = SOURCES[source]
    built = given_source.build((None,), kind)
    check_tree(built, kind)
    assert built.height == given_source.build(values, kind).height
    assert built.n_leaves >= 1
    assert labels_of(built, None)[-1] == "*"


@pytest.mark.parametrize("source", SOURCES)
def test_building_again_changes_nothing(source: str) -> None:
    given_source, values, kind = SOURCES[source]
    once = given_source.build((*values, None), kind)
    again = once.build(once.values, kind)
    assert (again.values, again.labels, again.node_of.tolist()) == (
        once.values,
        once.labels,
        once.node_of.tolist(),
    )
    assert [sizes.tolist() for sizes in again.sizes] == [sizes.tolist() for sizes in once.sizes]


def test_numbers_keep_their_order_whatever_the_order_of_the_file() -> None:
    hierarchy = Hierarchy.of_rows([["10", "even", "*"], ["9", "odd", "*"], ["2", "even", "*"]])
    built = hierarchy.build((2, 9, 10), NUMERIC)
    check_tree(built, NUMERIC)
    assert built.values == (2, 9, 10)
    assert labels_of(built, 10) == ["10", "even", "*"]


def test_arrays_are_read_only() -> None:
    hierarchy = Hierarchy.nested({"E": ["a", "b"]})
    for array in (hierarchy.node_of, hierarchy.joins, *hierarchy.sizes):
        with pytest.raises(ValueError, match="read-only"):
            array[..., 0] = 5


def test_no_value_is_shown() -> None:
    hierarchy = Hierarchy.nested({"branch": [SECRET]})
    assert SECRET not in repr(hierarchy)
    assert SECRET not in str(hierarchy)


# ------------------------------------------------------------------------------------------- intervals


def ends(label: str) -> tuple[Fraction, Fraction]:
    low, high = label.removeprefix("[").removesuffix(")").split(", ")
    return Fraction(low), Fraction(high)


@given(
    st.lists(st.integers(-(10**15), 10**15) | st.integers(-50, 50), min_size=1, max_size=20, unique=True),
    st.integers(1, 20),
    st.lists(st.integers(2, 4), max_size=3),
)
def test_every_number_lies_in_its_interval_at_a_multiple_of_the_width(
    numbers: list[int], first: int, factors: list[int]
) -> None:
    widths = [first]
    for factor in factors:
        widths.append(widths[-1] * factor)
    built = Intervals(tuple(widths)).build(tuple(sorted(numbers)), NUMERIC)
    check_tree(built, NUMERIC)
    assert built.height == len(widths) + 1
    for value in numbers:
        for width, label in zip(widths, labels_of(built, value)[1:], strict=False):
            low, high = ends(label)
            assert low <= value < high
            assert high - low == width
            assert low % width == 0


@given(
    st.lists(st.integers(-500, 500), min_size=1, max_size=20, unique=True),
    st.sampled_from([(0.1, 0.2), (0.05,), (0.3, 0.6, 1.2), (0.25, 1), (2.5, 5)]),
)
def test_decimal_fractions_lie_in_their_interval_as_they_are_written(
    hundredths: list[int], widths: tuple[float, ...]
) -> None:
    numbers = sorted(value / 100 for value in hundredths)
    built = Intervals(widths).build(tuple(numbers), NUMERIC)
    check_tree(built, NUMERIC)
    for value in numbers:
        for width, label in zip(widths, labels_of(built, value)[1:], strict=False):
            low, high = ends(label)
            assert low <= Fraction(str(value)) < high
            assert high - low == Fraction(str(width))


@pytest.mark.parametrize(
    ("value", "widths", "labels"),
    [
        (25, (10, 20), ["[20, 30)", "[20, 40)"]),
        (-1, (10, 20), ["[-10, 0)", "[-20, 0)"]),
        (0, (10,), ["[0, 10)"]),
        (-10, (10,), ["[-10, 0)"]),
        (0.3, (0.1, 0.2), ["[0.3, 0.4)", "[0.2, 0.4)"]),
        (0.7, (0.1,), ["[0.7, 0.8)"]),
        (25, (10.0,), ["[20, 30)"]),
        (12_345_678_901_234, (10,), ["[12345678901230, 12345678901240)"]),
    ],
)
def test_an_interval_is_printed_like_this(value: float, widths: tuple[float, ...], labels: list[str]) -> None:
    assert labels_of(Intervals(widths).build((value,), NUMERIC), value)[1:-1] == labels


@pytest.mark.parametrize(
    "widths",
    [
        (),
        (0,),
        (-5,),
        (10, 5),
        (5, 5),
        (5, 12),
        (0.1, 0.25),
        (math.nan,),
        (math.inf,),
        (5, math.inf),
        (10**9, 10**9 + 1),
    ],
)
def test_widths_that_do_not_nest_are_refused(widths: tuple[float, ...]) -> None:
    assert ";" in refusal(Intervals, widths)


@pytest.mark.parametrize(("values", "kind"), [(("a", "b"), CATEGORICAL), (("1", "2"), CATEGORICAL)])
def test_intervals_of_text_are_refused_with_the_remedy(values: tuple[Any, ...], kind: Any) -> None:
    assert 'set kind = "numeric"' in refusal(Intervals((5,)).build, values, kind)


# -------------------------------------------------------------------------------------------- prefixes


@given(
    st.lists(st.text("01", min_size=1, max_size=6), min_size=1, max_size=15, unique=True),
    st.sets(st.integers(1, 5), min_size=1).map(lambda lengths: tuple(sorted(lengths, reverse=True))),
)
def test_prefixes_of_values_of_different_length_nest(values: list[str], lengths: tuple[int, ...]) -> None:
    built = Prefixes(lengths).build(tuple(values), CATEGORICAL)
    check_tree(built, CATEGORICAL)
    assert set(built.values) == set(values)
    for value in values:
        for length, label in zip(lengths, labels_of(built, value)[1:], strict=False):
            together = {
                other for other in values if labels_of(built, other)[lengths.index(length) + 1] == label
            }
            # those and only those with the same first characters, a shorter value by itself
            assert together == {other for other in values if other[:length] == value[:length]}
            assert label == (
                value[:length] + "*" if any(len(other) > length for other in together) else value
            )


def test_prefixes_of_zip_codes() -> None:
    built = Prefixes((4, 3)).build(("02139", "02138", "14850", "021"), CATEGORICAL)
    assert labels_of(built, "02139") == ["02139", "0213*", "021*", "*"]
    assert labels_of(built, "021") == ["021", "021", "021*", "*"]


def test_prefixes_of_numbers_leave_the_numbers_in_their_order() -> None:
    built = Prefixes((1,)).build((1, 2, 10, 20), NUMERIC)
    check_tree(built, NUMERIC)
    assert built.values == (1, 2, 10, 20)
    assert [labels_of(built, value)[1] for value in built.values] == ["1*", "2*", "1*", "2*"]


@pytest.mark.parametrize("lengths", [(), (2, 2), (1, 2), (0,), (2, 0), (-1,)])
def test_prefix_lengths_that_do_not_fall_are_refused(lengths: tuple[int, ...]) -> None:
    assert ";" in refusal(Prefixes, lengths)


# ----------------------------------------------------------------------------------------------- dates


def test_dates_have_months_quarters_years_and_decades_in_the_order_of_time() -> None:
    written = ("2026-11-15", "1999-01-31", "2026-10-01", "2020-12-31")
    built = Dates(("month", "quarter", "year", "decade")).build(written, CATEGORICAL)
    check_tree(built, CATEGORICAL)
    assert built.values == ("1999-01-31", "2020-12-31", "2026-10-01", "2026-11-15")
    assert labels_of(built, "2026-11-15") == ["2026-11-15", "2026-11", "2026-Q4", "2026", "2020s", "*"]
    assert labels_of(built, "1999-01-31") == ["1999-01-31", "1999-01", "1999-Q1", "1999", "1990s", "*"]


@given(st.lists(st.dates(), min_size=1, max_size=20, unique=True))
def test_any_dates_nest_in_any_format(dates: list[Any]) -> None:
    written = tuple(date.strftime("%d/%m/") + f"{date.year:04}" for date in dates)
    built = Dates(("month", "quarter", "year", "decade"), "%d/%m/%Y").build(written, CATEGORICAL)
    check_tree(built, CATEGORICAL)
    assert built.values == tuple(spelled for _, spelled in sorted(zip(dates, written, strict=True)))
    for date, spelled in zip(dates, written, strict=True):
        year = f"{date.year:04}"
        expected = [f"{year}-{date.month:02}", f"{year}-Q{-(-date.month // 3)}", year, f"{year[:3]}0s"]
        assert labels_of(built, spelled)[1:-1] == expected


@pytest.mark.parametrize("written", ["%Y%Y", "%c%c", "%", "("])
def test_a_format_that_is_none_is_said(written: str) -> None:
    with pytest.raises(HierarchyError, match="give the right format"):
        Dates(("year",), written).build(("2026-11-15", "2026-12-01"), CATEGORICAL)


def test_dates_that_are_numbers_keep_the_order_of_numbers() -> None:
    built = Dates(("year",), "%d%m%Y").build((15112025, 31122020), NUMERIC)
    check_tree(built, NUMERIC)
    assert labels_of(built, 31122020) == ["31122020", "2020", "*"]


def test_what_is_not_a_date_is_refused_with_its_count() -> None:
    message = refusal(Dates().build, ("2026-11-15", SECRET, "15.11.2026", None), CATEGORICAL)
    assert "2 of its 4 values are not dates of the format %Y-%m-%d" in message


@pytest.mark.parametrize("units", [(), ("year", "month"), ("month", "month"), ("week",), ("month", "week")])
def test_date_units_out_of_order_are_refused(units: Any) -> None:
    assert "month, quarter, year, decade" in refusal(Dates, units)


# ---------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    ("low", "high", "closed", "label"),
    [
        (20, 30, False, "[20, 30)"),
        (20, 30, True, "[20, 30]"),
        (0.5, 2.0, True, "[0.5, 2]"),
        (-5, 0, False, "[-5, 0)"),
    ],
)
def test_intervals_are_labelled_like_this(low: float, high: float, closed: bool, label: str) -> None:
    assert interval_label(low, high, closed=closed) == label


@pytest.mark.parametrize(
    ("members", "label"),
    [
        (["a", "b"], "{a, b}"),
        (["a, b", "c"], '{"a, b", c}'),
        (['say "x"', "c"], '{"say ""x""", c}'),
        (["{a}"], '{"{a}"}'),
        (["a", None], "{a, missing}"),
        (["missing", None], '{"missing", missing}'),
        (["[20, 30)", None], "{[20, 30), missing}"),
    ],
)
def test_sets_are_labelled_so_that_their_members_can_be_told_apart(
    members: list[str | None], label: str
) -> None:
    assert set_label(members) == label
