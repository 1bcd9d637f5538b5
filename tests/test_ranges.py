"""Neighbours in an order that everybody knows are written by their ends, and read back as the same values."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sfumato import Attribute, Dates, Hierarchy, Prefixes, Schema, Table, sanitize
from sfumato.data.hierarchy import ROOT, Flat, HierarchySource
from sfumato.data.kinds import CATEGORICAL, Value
from sfumato.data.ordered_ranges import in_order, scale_of
from sfumato.data.table import Column
from sfumato.models import KAnonymity
from sfumato.results.label_parsing import Spellings
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.released_column import block_cells, named, range_cells
from sfumato.sanitizers import Mondrian


def spellings(values: Sequence[Value], source: HierarchySource | None = None) -> Spellings:
    hierarchy = (source or Flat()).build(tuple(values), CATEGORICAL)
    return Spellings(Column(np.arange(len(values)), hierarchy.values, CATEGORICAL), hierarchy)


def label_of(values: Sequence[Value], members: Sequence[Value], source: HierarchySource | None = None) -> str:
    """Return how some of the values are written."""
    hierarchy = spellings(values, source).hierarchy
    return written(hierarchy, 0, sorted(hierarchy.values.index(value) for value in members))


def written(hierarchy: Hierarchy, level: int, nodes: Sequence[int]) -> str:
    """Return how some nodes of one level are written."""
    label, *_ = named(hierarchy, level, np.array(nodes))
    assert label is not None
    return label


def read_back(read: Spellings, label: str) -> list[Value] | None:
    (found,) = read.read([read.plain(label)]).meanings
    return None if found is None else [read.column.domain[code] for code in found.codes]


YEARS = tuple(str(year) for year in range(1990, 2024))


@pytest.mark.parametrize(
    ("domain", "members", "label"),
    [
        (YEARS, YEARS[:-1], "1990 to 2022"),
        ((*YEARS, None), (*YEARS[3:], None), "1993 to 2023 or missing"),
        ((*YEARS, "k.A."), YEARS, "1990 to 2023"),
        ((*YEARS, "k.A."), (*YEARS[1:], "k.A."), "{1991 to 2023, k.A.}"),
        ((*YEARS, "k.A.", None), (*YEARS[1:], "k.A.", None), "{1991 to 2023, k.A.} or missing"),
        (YEARS, (*YEARS[:4], "2000", *YEARS[30:]), "{1990 to 1993, 2000, 2020 to 2023}"),
        (YEARS, YEARS[:2], "{1990, 1991}"),
        (("9", "10", "11", "100"), ("9", "10", "11"), "9 to 11"),
        (("-5", "-3", "0", "7"), ("-5", "-3", "0"), "{-5 to 0}"),
        (("1,5", "2,25", "10,0", "11"), ("1,5", "2,25", "10,0"), "1,5 to 10,0"),
        (
            ("1,5", "2,25", "10,0", "11", "k.A."),
            ("1,5", "2,25", "10,0", "k.A."),
            '{"1,5", "2,25", "10,0", k.A.}',
        ),
        (("999", "1.003", "12.100", "40.000"), ("999", "1.003", "12.100"), "999 to 12.100"),
        (("0.5", "0.25", "1.125", "7"), ("0.25", "0.5", "1.125"), "0.25 to 1.125"),
        (("01.02.2020", "15.01.2020", "03.12.2019", "01.01.2021"),) * 2 + ("03.12.2019 to 01.01.2021",),
        (("2020-02-01", "2019-12-03", "2020-01-15"),) * 2 + ("2019-12-03 to 2020-02-01",),
        (("12/31/2019", "01/15/2020", "02/01/2020"),) * 2 + ("12/31/2019 to 02/01/2020",),
        (("2020-02-01 10:00", "2020-02-01 09:30", "2020-01-15 23:00"),) * 2
        + ("2020-01-15 23:00 to 2020-02-01 10:00",),
        (("Ward 10", "Ward 9", "Ward 1"),) * 2 + ("Ward 1 to Ward 10",),
        (
            tuple(f"Ward {n}" for n in range(1, 12)),
            tuple(f"Ward {n}" for n in range(2, 11)),
            "Ward 2 to Ward 10",
        ),
        (("5", "5.0", "6", "7"), ("5.0", "6", "7"), "{5.0, 6, 7}"),
        (("1 to 3", "1", "2", "3", "4"), ("1", "2", "3"), "{1, 2, 3}"),
        (("b or missing", "a", None), ("a", "b or missing", None), "{a, b or missing} or missing"),
        (("a or missing", "a", None), ("a", None), "{a, missing}"),
        (("missing", "a", None), ("missing", None), '{"missing"} or missing'),
    ],
)
def test_neighbours_are_written_like_this(
    domain: tuple[Value, ...], members: tuple[Value, ...], label: str
) -> None:
    assert label_of(domain, members) == label
    assert set(read_back(spellings(domain), label) or ()) == set(members)


def test_no_range_is_written_where_somebody_could_take_it_for_more() -> None:
    odd_and_even = Hierarchy.nested({"odd": ["1", "3", "5", "7"], "even": ["2", "4", "6"]})
    assert label_of("1234567", "135", odd_and_even) == "{1, 3, 5}"
    assert label_of(("1/2", "1/3", "1/10", "1/4"), ("1/2", "1/3", "1/4")) == "{1/2, 1/3, 1/4}"
    mixed = ("01.02.2020", "2020-03-01", "02.03.2020", "05.03.2020")
    assert " to " not in label_of(mixed, mixed[:3])


def test_the_order_in_which_somebody_lists_categories_is_none() -> None:
    words = [f"town {letter}" for letter in "zyxwvutsrq"]
    assert " to " not in label_of(words, words[:8], Hierarchy.nested({"all": words}))


def test_the_levels_of_dates_and_codes_are_in_order() -> None:
    days = tuple(str(datetime.date(2020, 1, 1) + datetime.timedelta(days=9 * n)) for n in range(100))
    dated = spellings(days, Dates(("month", "year")))
    assert written(dated.hierarchy, 1, range(2, 9)) == "2020-03 to 2020-09"
    assert read_back(dated, "2020-03 to 2020-09") == [
        day for day in days if "2020-03" <= day[:7] <= "2020-09"
    ]
    codes = tuple(f"{letter}{digit}{digit}.{digit}" for letter in "EIJK" for digit in range(10))
    coded = spellings(codes, Prefixes((2, 1)))
    assert written(coded.hierarchy, 1, range(3, 15)) == "E3* to I4*"
    assert read_back(coded, "E3* to I4*") == [code for code in codes if "E3" <= code[:2] <= "I4"]


def test_a_label_in_two_places_is_no_end_of_a_range() -> None:
    tree = Hierarchy.of_rows([["1", "2", "*"], ["2", "2", "*"], ["3", "3", "*"], ["4", "4", "*"]])
    for label in ("1 to 3", "2 to 4"):
        assert read_back(spellings(("1", "2", "3", "4"), tree), label) != ["2", "3"]
    hierarchy = tree.build(("1", "2", "3", "4"), CATEGORICAL)
    assert hierarchy.range_named("2 to 4") is None
    assert written(hierarchy, 0, [1, 2, 3]) == "{2, 3, 4}"


# Whatever the values are called

whole = st.integers(-200, 3000).map(str)
decimals = st.tuples(st.integers(-50, 50), st.integers(0, 99)).map(lambda parts: f"{parts[0]}.{parts[1]:02}")
commas = decimals.map(lambda written: written.replace(".", ","))
formats = st.sampled_from(["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y", "%d/%m/%Y", "%Y-%m", "%m.%Y"])
odd = st.text(st.sampled_from('ab1,{}"[]*- .to'), min_size=1, max_size=7).map(str.strip).filter(bool)
tricky = odd | st.sampled_from(
    [
        "missing",
        "a to b",
        "a",
        "b",
        "1 to 3",
        "a or missing",
        "1 or missing",
        "{a, b}",
        "{1 to 3}",
        "NA",
        "1-3",
        "to",
    ]
)


@st.composite
def domains(draw: st.DrawFn) -> list[Value]:
    """Draw numbers, dates, words or a mixture of them, a missing value perhaps among them."""
    pattern = draw(formats)
    days = st.dates(datetime.date(1990, 1, 1), datetime.date(1993, 12, 31)).map(
        lambda day: day.strftime(pattern)
    )
    kind = draw(
        st.sampled_from(
            [whole, decimals, commas, days, tricky, whole | tricky, days | tricky, whole | decimals]
        )
    )
    values: list[Value] = [*draw(st.lists(kind, min_size=2, max_size=14, unique=True))]
    assume(ROOT not in values)
    return values + [None] * draw(st.integers(0, 1))


@given(domains(), st.data())
@example(["a", "{a, b}", "b", "c", None], None)
def test_every_set_is_read_as_it_is_meant(domain: list[Value], data: st.DataObject | None) -> None:
    read = spellings(domain)
    places = (
        data.draw(st.sets(st.integers(0, len(domain) - 1), min_size=2))
        if data is not None
        else {0, 1, len(domain) - 1}
    )
    label = written(read.hierarchy, 0, sorted(places))
    assert label not in domain
    (found,) = read.read([read.plain(label)]).meanings
    assert found is not None
    assert (found.codes.tolist(), found.leaves) == (sorted(places), len(places))


@given(domains(), st.data())
def test_every_cover_and_every_block_is_read_as_it_is_meant(domain: list[Value], data: st.DataObject) -> None:
    read = spellings(domain)
    n_values = len(domain)
    ends = data.draw(st.lists(st.tuples(*[st.integers(0, n_values - 1)] * 2).map(sorted), min_size=1))
    low, high = np.array(ends).T
    blocks = np.cumsum(
        [0, *data.draw(st.lists(st.integers(0, 1), min_size=n_values - 1, max_size=n_values - 1))]
    )
    for cells in (
        range_cells(read.column, read.hierarchy, low, high),
        block_cells(read.column, read.hierarchy, blocks, np.arange(n_values)),
    ):
        assert cells.sets is not None
        again = read.read([read.plain(label) for label in cells.labels])
        assert all(found is not None for found in again.meanings)
        sets = again.sets(read.hierarchy.n_leaves)
        assert sets.members.tolist() == cells.sets.members.tolist()
        assert sets.sizes.tolist() == cells.sets.sizes.tolist()


@given(st.lists(whole | decimals, min_size=3, max_size=20, unique=True), st.data())
def test_a_range_of_numbers_holds_what_lies_between(domain: list[str], data: st.DataObject) -> None:
    read = spellings(domain)
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(domain) - 1)] * 2)))
    label = written(read.hierarchy, 0, range(first, last + 1)) if first < last else ""
    low, to, high = label.strip("{}").partition(" to ")
    assume(to and ", " not in label)
    between = {value for value in domain if float(low) <= float(value) <= float(high)}
    assert between == set(read.column.domain[first : last + 1])


@given(st.lists(st.dates(), min_size=3, max_size=20, unique=True), formats, st.data())
def test_a_range_of_days_holds_what_lies_between(
    days: list[datetime.date], pattern: str, data: st.DataObject
) -> None:
    day_of = {day.strftime(pattern): day for day in days if day.year >= 1000}
    assume(len(day_of) > 2 and "%d" in pattern and any(day.day > 12 for day in day_of.values()))
    read = spellings([*day_of])
    first = data.draw(st.integers(0, len(day_of) - 3))
    label = written(read.hierarchy, 0, range(first, first + 3))
    low, to, high = label.partition(" to ")
    assert to
    between = {written for written, day in day_of.items() if day_of[low] <= day <= day_of[high]}
    assert between == set(read.column.domain[first : first + 3])


@given(
    st.lists(whole, min_size=1, max_size=8, unique=True) | st.lists(tricky, min_size=21, unique=True),
    st.randoms(),
)
def test_the_order_of_many_categories_is_not_that_of_the_records(values: list[str], random: Any) -> None:
    again = random.sample(values, len(values))
    assert in_order(again) == in_order(values)
    assert sorted(map(str, in_order(values))) == sorted(values)


def test_few_words_stay_as_they_are_given() -> None:
    assert in_order(["west", "east", None, "north"]) == ["west", "east", "north", None]
    assert label_of(("west", "east", "north"), ("west", "north")) == "{north, west}"


def test_an_order_knows_the_values_between_two_ends() -> None:
    scale = scale_of(["1", "2", "2.0", "3", "unknown"])
    assert [scale.holds(first, last) for first, last in ((0, 1), (0, 2), (2, 3), (3, 4), (2, 1))] == [
        False,
        True,
        False,
        False,
        False,
    ]


def test_a_release_of_years_and_dates_is_short() -> None:
    rng = np.random.default_rng(5)
    columns: dict[str, Any] = {
        "first": [str(year) for year in rng.integers(1990, 2024, 600)],
        "born": [
            (datetime.date(1930, 1, 1) + datetime.timedelta(days=int(day))).strftime("%d.%m.%Y")
            for day in rng.integers(0, 30000, 600)
        ],
        "town": [f"town {number}" for number in rng.integers(0, 300, 600)],
    }
    attributes = tuple(Attribute(name, "quasi-identifying", "categorical") for name in columns)
    release = sanitize(Table.from_arrow(columns), Schema(attributes), Mondrian(KAnonymity(5)))
    written = release.to_arrow(typed=False)
    for name, values in columns.items():
        letters = sum(len(cell) for cell in written[name].to_pylist())
        assert letters <= 3 * sum(map(len, values)), name


# Many categories

FILMS = (
    *("3:10 to Yuma", "10,000 BC", "2 Guns", "'burbs, The", 'Airplane "II"', "How to Marry", "{proof}"),
    *(f"{letter}{other} of {number}" for letter in "ABCDEFGH" for other in "aeiou" for number in (7, 12)),
)


@pytest.mark.parametrize(
    "words", [FILMS, tuple(f"{letter}{other}" for letter in "ABCDEFGH" for other in "aeiou")], ids=len
)
def test_words_are_named_one_by_one_however_many_neighbours_they_are(words: tuple[str, ...]) -> None:
    domain = spellings(words).column.domain
    label = label_of(words, domain[3:30])
    assert label.count(",") >= 26
    assert " to " not in label.replace("How to Marry", "")
    assert read_back(spellings(words), label) == list(domain[3:30])


@pytest.mark.parametrize(
    ("names", "label"),
    [
        (("A00", "A10", "B99", "C50"), "A00 to B99"),
        (("Alien 3", "Apollo 13", "Matrix 2", "Rocky 4"), "{Alien 3, Apollo 13, Matrix 2}"),
        (("Ward 2", "Ward 9", "Ward 10", "Ward 11"), "Ward 2 to Ward 10"),
        (("Alderaan", "Bespin", "Dantooine", "Tatooine"), "{Alderaan, Bespin, Dantooine}"),
    ],
)
def test_numbered_names_are_in_order_where_all_begin_alike_or_are_codes(
    names: tuple[str, ...], label: str
) -> None:
    assert label_of(names, names[:3]) == label


def test_words_most_of_which_begin_like_numbers_are_in_no_order() -> None:
    doses = [f"{number}.5 mg" for number in range(30)]
    assert " to " not in label_of(doses, doses[3:20])


def covered(read: Spellings, first: int, last: int) -> tuple[str | None, list[int], int]:
    """Return label, members and leaves of the cover of one range of codes."""
    cells = range_cells(read.column, read.hierarchy, np.array([first]), np.array([last]))
    assert cells.sets is not None
    return cells.labels[0], cells.sets.members.tolist(), int(cells.sets.sizes[0])


def holds_originals(release: LinkedRelease, name: str) -> bool:
    """Return whether every released value may stand for the original one."""
    cells = release.cells[name]
    assert cells.sets is not None
    return bool(cells.sets.contain(cells.codes, release.origin.table[name].codes[release.origin.rows]).all())


def test_too_many_siblings_in_no_known_order_are_released_as_what_is_above_them() -> None:
    parts = [f"part {number * 7 % 101}" for number in range(101)]
    read = spellings([*parts, "engine"], Hierarchy.nested({"spare": parts, "whole": ["engine"]}))
    few, many = covered(read, 1, 32), covered(read, 1, 33)
    assert (few[0] or "").count(",") == 31
    assert few[1] == list(range(1, 33))
    assert many == ("spare", list(range(101)), 101)
    blocks = np.minimum(np.arange(102), 1) + (np.arange(102) > 100)
    cells = block_cells(read.column, read.hierarchy, blocks, np.arange(102))
    assert cells.sets is not None
    assert cells.labels == ("part 0", "spare", "engine")
    assert np.diff(cells.sets.starts).tolist() == [1, 101, 1]


def test_too_many_categories_on_the_lowest_level_are_released_as_what_is_above_them() -> None:
    towns = [f"town {number * 7 % 101}" for number in range(101)]
    tree = Hierarchy.nested({"all": {town: [f"{town} {side}" for side in "ab"] for town in towns}})
    streets = [f"{town} {side}" for town in towns for side in "ab"]
    table = Table.from_arrow({"street": streets * 2, "n": [*range(202)] * 2})
    schema = Schema(
        (
            Attribute("street", "quasi-identifying", hierarchy=tree, lowest_level=1),
            Attribute("n", "insensitive"),
        )
    )
    for k, label in ((4, "town 0"), (202, "all")):
        release = sanitize(table, schema, Mondrian(KAnonymity(k)))
        cells = release.cells["street"]
        assert label in cells.labels
        assert holds_originals(release, "street")


films = st.builds("{} {}".format, st.sampled_from("ABcdEF"), st.integers(0, 40)) | tricky


@given(st.lists(films, min_size=21, max_size=80, unique=True), st.data())
def test_whatever_many_categories_are_called_a_cover_holds_them_and_is_read_as_it_is_meant(
    domain: list[Value], data: st.DataObject
) -> None:
    assume(ROOT not in domain)
    read = spellings(domain)
    first, last = sorted(data.draw(st.tuples(*[st.integers(0, len(domain) - 1)] * 2)))
    label, members, leaves = covered(read, first, last)
    assert set(range(first, last + 1)) <= set(members)
    (found,) = read.read([read.plain(label)]).meanings
    assert found is not None
    assert (found.codes.tolist(), found.leaves) == (members, leaves)


def test_a_release_of_thousands_of_titles_is_short_and_true() -> None:
    rng = np.random.default_rng(3)
    odd = ["How to", "3:10", "1,000", '"Hi"', "{proof}", "Zoo,"]
    titles = [f"{odd[n % 6] if n % 20 == 0 else chr(65 + n * 7 % 26)} night {n}" for n in range(2000)]
    chosen = [titles[int(n)] for n in 2000 * rng.random(3000) ** 2]
    table = Table.from_arrow({"title": chosen, "year": rng.integers(1950, 2020, 3000).tolist()})
    schema = Schema(
        (Attribute("title", "quasi-identifying"), Attribute("year", "quasi-identifying", "numeric"))
    )
    release = sanitize(table, schema, Mondrian(KAnonymity(5)))
    cells = release.cells["title"]
    assert holds_originals(release, "title")
    assert np.mean([len(label or "") for label in cells.labels]) < 400
    assert max(len(label or "") for label in cells.labels) < 1000
