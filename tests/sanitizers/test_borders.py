"""Borders on a grid: they hold the records, do not follow them, and cost what the search was told."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato import Attribute, Hierarchy, Schema, Table, freeze, measure, sanitize
from sfumato.data.kinds import NUMERIC
from sfumato.data.table import Column
from sfumato.models import KAnonymity, ProbabilisticDiversity
from sfumato.reading import datasets
from sfumato.results.recode_records import take
from sfumato.sanitizers import Clustering, LocalRecoding, Mondrian
from sfumato.sanitizers.generalize.interval_bounds import (
    bordered_cells,
    bordered_leaves,
    doubled_steps,
    grid_ranges,
    round_steps,
    rounded,
)

METHODS = [Mondrian, LocalRecoding, Clustering]
Range = tuple[int, int]


def around(first: int, last: int, steps: Any) -> Range:
    start, end, _ = rounded(np.array([first]), np.array([last]), steps())
    return int(start[0]), int(end[0])


def narrow_by_hand(values: Sequence[int], first: int, last: int) -> Range:
    """Try one step after another, with up to four of them where both outer steps hold three values."""
    wide = around(first, last, round_steps)
    for step in round_steps():
        cells = range(first // step, last // step + 1)
        if len(cells) > (4 if step > 1 else 2):
            continue
        outer = ([value for value in values if value // step == cell] for cell in (cells[0], cells[-1]))
        narrow = cells[0] * step, (cells[-1] + 1) * step
        is_hidden = all(len(known) >= 3 for known in outer)
        return narrow if is_hidden and narrow[1] - narrow[0] < wide[1] - wide[0] else wide
    raise AssertionError


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("borders", ["tight", "grid"])
def test_a_number_that_is_missing_throughout_is_released_as_missing(method: Any, borders: Any) -> None:
    kinds = (Attribute("age", "quasi-identifying", "numeric"), Attribute("sex", "quasi-identifying"))
    table = Table.from_arrow({"age": pa.nulls(6, pa.int64()), "sex": list("ffmmmm")})
    release = sanitize(table, Schema(kinds), method(KAnonymity(2), borders=borders))
    assert release.to_arrow(typed=False)["age"].to_pylist() == [None] * 6


@given(st.integers(-300, 300), st.integers(0, 200), st.sampled_from([round_steps, doubled_steps]))
def test_a_round_interval_is_one_or_two_of_the_smallest_steps_that_hold_the_range(
    first: int, extent: int, steps: Any
) -> None:
    last = first + extent
    start, end = around(first, last, steps)
    assert start <= first <= last < end
    if extent == 0:
        return
    for step in steps():
        covered = {number // step for number in range(first, last + 1)}
        if len(covered) <= 2:
            assert (start, end) == (min(covered) * step, (max(covered) + 1) * step)
            return


@pytest.mark.parametrize("steps", [round_steps, doubled_steps])
def test_an_interval_of_three_values_or_more_has_no_end_that_must_occur(steps: Any) -> None:
    ranges = itertools.combinations(range(-60, 60), 2)
    released: dict[Range, list[Range]] = {}
    for first, last in ranges:
        released.setdefault(around(first, last, steps), []).append((first, last))
    inner = {cell: made for cell, made in released.items() if cell[0] > -60 and cell[1] < 60}
    assert len(inner) > 20
    for (start, end), made in inner.items():
        if end - start > 2:
            assert len({first for first, _ in made}) > 1
            assert len({last for _, last in made}) > 1


@pytest.mark.parametrize("steps", [round_steps, doubled_steps])
def test_larger_ranges_never_get_smaller_intervals(steps: Any) -> None:
    for first, last in itertools.combinations(range(40), 2):
        start, end = around(first, last, steps)
        for part in ((first + 1, last), (first, last - 1)):
            inner = around(*part, steps)
            assert inner[1] - inner[0] <= end - start


def numbers(*values: float | None) -> tuple[Column, Hierarchy]:
    column = Column(np.arange(len(values)), values, NUMERIC)
    return column, Hierarchy.flat(values)


def labels(column: Column, hierarchy: Hierarchy, *ranges: Range) -> list[str | None]:
    low, high = np.array(ranges).T
    cells = bordered_cells(column, hierarchy, low, high, "grid")
    return [cells.labels[code] for code in cells.codes]


def test_numbers_are_released_between_round_ones_that_need_not_occur() -> None:
    column, hierarchy = numbers(17, 18, 21, 23, 44, 90)
    assert labels(column, hierarchy, (0, 0), (0, 1), (2, 3), (0, 3), (0, 4), (0, 5)) == [
        "17",
        "[17, 19)",
        "[20, 25)",
        "[15, 25)",
        "[0, 50)",
        "*",
    ]


def test_a_round_interval_holds_all_numbers_that_it_spans_and_unused_leaves_count() -> None:
    leaves = Hierarchy.nested({"low": ["10", "20", "30", "40"], "high": ["50", "60", "70"]})
    schema = Schema((Attribute("age", "quasi-identifying", "numeric", leaves),))
    table, bound = schema.bind(Table.from_arrow({"age": [10, 30, 40, 60]}))
    column, hierarchy = table["age"], bound.hierarchy("age")
    expected = {
        (0, 0): ("10", [0], 1),
        (0, 1): ("[0, 40)", [0, 1], 3),
        (0, 2): ("[0, 50)", [0, 1, 2], 4),
        (0, 3): ("*", [0, 1, 2, 3], 7),
        (1, 2): ("[30, 50)", [1, 2], 2),
        # two steps of 50 hold everything
        (1, 3): ("*", [0, 1, 2, 3], 7),
        (2, 3): ("[40, 80)", [2, 3], 4),
        (3, 3): ("60", [3], 1),
    }
    low, high = np.array(list(expected)).T
    cells = bordered_cells(column, hierarchy, low, high, "grid")
    sets = cells.sets
    assert sets is not None
    for code, found in zip(cells.codes.tolist(), expected.values(), strict=True):
        members = sets.members[sets.starts[code] : sets.starts[code + 1]].tolist()
        assert (cells.labels[code], members, sets.sizes[code]) == found
    assert bordered_leaves(column, hierarchy, low, high, "grid").tolist() == [
        n for *_, n in expected.values()
    ]


@pytest.mark.parametrize(
    "values",
    [
        (17, 18, 21, 23, 44, 90),
        (17, 18, 21, 23, 44, 90, None),
        (-7, -2, 3, None),
        (*range(20, 50), 71, 72, 88, 93),
    ],
)
def test_grid_cells_are_those_of_a_loop_over_all_ranges(values: tuple[int | None, ...]) -> None:
    column, hierarchy = numbers(*values)
    for low, high in itertools.combinations_with_replacement(range(len(values)), 2):
        with_missing = values[high] is None
        known = [value for value in values[low : high + 1] if value is not None]
        members = {low, high}
        if low < high:
            present = [value for value in values if value is not None]
            start, end = narrow_by_hand(present, known[0], known[-1])
            members |= {n for n, value in enumerate(values) if value is not None and start <= value < end}
        assert with_missing == (None in {values[n] for n in members})
        cells = bordered_cells(column, hierarchy, np.array([low]), np.array([high]), "grid")
        assert cells.sets is not None
        assert cells.sets.members.tolist() == sorted(members)
        assert cells.sets.sizes.tolist() == [len(members)]


@given(st.sets(st.integers(-40, 90), min_size=2), st.data())
def test_an_interval_of_more_than_two_steps_leaves_three_values_for_either_extreme(
    present: set[int], data: st.DataObject
) -> None:
    values = sorted(present)
    low, high = sorted(data.draw(st.lists(st.integers(0, len(values) - 1), min_size=2, max_size=2)))
    (label,) = labels(*numbers(*values), (low, high))
    if low < high and label != "*":
        start, end = narrow_by_hand(values, values[low], values[high])
        assert label == f"[{start}, {end})"


def test_an_interval_is_narrow_where_many_values_lie_and_wide_where_few_do() -> None:
    dense, sparse = numbers(*range(120)), numbers(1, *range(11, 120, 19))
    assert labels(*dense, (30, 68)) == ["[30, 70)"]
    # each step of 20 from 20 to 80 has one value or two: a reader who knows these could name the extremes
    assert labels(*sparse, (2, 4)) == ["[0, 100)"]


def test_the_default_publishes_no_exact_value_at_the_end_of_an_interval() -> None:
    ages = [18, 21, 22, 33, 37, 41, 58, 59, 63, 64, 77, 89]
    table = Table.from_arrow({"age": ages})
    for method in METHODS:
        release = sanitize(table, Schema.of(age="quasi-identifying"), method(KAnonymity(4)), seed=1)
        cells = set(release.to_arrow()["age"].to_pylist())
        ends = {int(end) for cell in cells for end in re.findall(r"[0-9]+", cell)}
        assert cells != {"*"}
        assert all(end % 5 == 0 for end in ends)


def test_numbers_beyond_64_bits_are_released_between_round_ones() -> None:
    column, hierarchy = numbers(10**19 + 1, 10**19 + 3, 10**20)
    assert labels(column, hierarchy, (0, 1)) == ["[10000000000000000000, 10000000000000000005)"]


def test_along_their_order_categories_are_in_blocks_whatever_is_above_them() -> None:
    hierarchy = Hierarchy.nested({"x": ["a", "b", "c", "d", "e"], "y": ["f", "g"]})
    low, high = grid_ranges(hierarchy, np.array([1, 1, 2, 0, 4, 5]), np.array([1, 2, 4, 3, 5, 6]), free=True)
    # 2 to 4 are two blocks of two; the last block has one that there is not
    expected = [(1, 1), (1, 2), (2, 5), (0, 3), (4, 5), (5, 6)]
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == expected
    assert [each.tolist() for each in grid_ranges(hierarchy, np.array([3]), np.array([6]), free=True)] == [
        [0],
        [6],
    ]


def test_decimals_are_counted_exactly() -> None:
    column, hierarchy = numbers(0.1, 0.3, 0.7, 1.25, 8.0)
    assert labels(column, hierarchy, (0, 1), (1, 2), (2, 3)) == ["[0, 0.4)", "[0, 1)", "[0.5, 1.5)"]


def test_a_missing_number_is_told_beside_the_interval() -> None:
    column, hierarchy = numbers(20, 310, 320, 350, None)
    assert labels(column, hierarchy, (3, 4), (0, 4), (4, 4)) == ["350 or missing", "*", None]
    cells = bordered_cells(column, hierarchy, np.array([1]), np.array([4]), "grid")
    assert cells.labels == ("[300, 400) or missing",)
    assert cells.sets is not None
    assert cells.sets.members.tolist() == [1, 2, 3, 4]
    assert cells.sets.sizes.tolist() == [4]


def test_sets_are_blocks_that_are_counted_off_among_siblings() -> None:
    hierarchy = Hierarchy.nested({"x": ["a", "b", "c", "d", "e"], "y": ["f", "g"]})
    low, high = grid_ranges(hierarchy, np.array([1, 1, 2, 0, 4]), np.array([1, 2, 4, 3, 5]))
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [(1, 1), (1, 2), (2, 4), (0, 3), (0, 6)]


@pytest.mark.parametrize("name", datasets.QUASI_IDENTIFIERS)
def test_a_grid_cell_holds_what_it_covers_and_counts_its_leaves(name: str) -> None:
    table, schema = datasets.adult("train")
    bound, known = schema.bind(table)
    column, hierarchy = bound[name], known.hierarchy(name)
    low, high = np.triu_indices(min(len(column.domain), 40))
    cells = bordered_cells(column, hierarchy, low, high, "grid")
    assert cells.sets is not None
    assert cells.sets.contain(cells.codes, low).all()
    assert cells.sets.contain(cells.codes, high).all()
    tight = bordered_leaves(column, hierarchy, low, high, "tight")
    assert (bordered_leaves(column, hierarchy, low, high, "grid") >= tight).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("model", [KAnonymity(4), KAnonymity(3) & ProbabilisticDiversity(1.5)])
def test_the_model_holds_on_the_cells_that_are_released(method: Any, model: Any) -> None:
    table, schema = datasets.hospital()
    release = sanitize(table, schema, method(model, borders="grid"), seed=3)
    assert model.satisfied(release.classes).all()
    assert release.n_suppressed == 0


@pytest.fixture(scope="module")
def some_people() -> tuple[Table, Schema]:
    rng = np.random.default_rng(5)
    columns = {
        "score": rng.integers(0, 500, 2000).tolist(),
        "town": [f"town {place}" for place in rng.integers(0, 12, 2000)],
        "illness": [f"illness {kind}" for kind in rng.integers(0, 5, 2000)],
    }
    roles = {"score": "quasi-identifying", "town": "quasi-identifying", "illness": "sensitive"}
    attributes = tuple(Attribute(name, role) for name, role in roles.items())  # type: ignore[arg-type]
    return Table.from_arrow(columns), Schema(attributes)


@pytest.mark.thorough("its first method", but=1)
@pytest.mark.parametrize("method", [LocalRecoding, Clustering])
def test_ends_tell_nothing_on_a_grid_and_much_where_borders_are_tight(
    some_people: tuple[Table, Schema], method: Any
) -> None:
    gains = {}
    for borders in ("tight", "grid"):
        release = sanitize(*some_people, method(KAnonymity(5), borders=borders), seed=1)
        (taken,) = measure(release, ["border-gain"])
        gains[borders] = taken.detail["gain"]["score"]
    assert gains["tight"] > 0.15
    assert abs(gains["grid"]) < 0.05


@pytest.mark.thorough("its first method", but=1)
@pytest.mark.parametrize("method", METHODS)
def test_a_recoding_on_a_grid_takes_the_next_records(some_people: tuple[Table, Schema], method: Any) -> None:
    table, schema = some_people
    release = sanitize(table, schema, method(KAnonymity(20), borders="grid"), seed=1)
    again = take(freeze(release), table)
    assert again.n_withheld == 0
    assert again.release.n_records == table.n_records
