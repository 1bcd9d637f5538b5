"""Trees with counts, pictures of distributions, and addresses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.table import Table
from sfumato.interfaces.workbench.addresses import slug
from sfumato.interfaces.workbench.state.hierarchy_edits import TreeNode
from sfumato.interfaces.workbench.views.distribution_bars import distribution
from sfumato.interfaces.workbench.views.trees import MOST_CHILDREN, MOST_NODES, Branch, tree_of

PLACES: Any = {"Europe": {"West": ["France"], "South": ["Italy", "Spain"]}, "Asia": ["Japan"]}


def outline(branch: Branch) -> object:
    if not branch.children:
        return branch.label, branch.n_records
    return branch.label, branch.n_values, branch.n_records, [outline(child) for child in branch.children]


def test_a_tree_has_counts_and_leaves_out_what_stands_for_itself() -> None:
    hierarchy = Hierarchy.nested(PLACES)
    records = {"France": 5, "Italy": 3, "Spain": 2, "Japan": 1}
    counts = np.array([records[str(value)] for value in hierarchy.values])
    assert outline(tree_of(hierarchy, counts).top) == (
        "*",
        4,
        11,
        [
            (
                "Europe",
                3,
                10,
                [("West", 1, 5, [("France", 5)]), ("South", 2, 5, [("Italy", 3), ("Spain", 2)])],
            ),
            ("Asia", 1, 1, [("Japan", 1)]),
        ],
    )


def test_a_part_of_a_tree_knows_what_lies_above() -> None:
    hierarchy = Hierarchy.nested(PLACES)
    south = TreeNode(1, hierarchy.labels[1].index("South"))
    tree = tree_of(hierarchy, np.ones(4, int), south)
    assert [branch.label for branch in tree.above] == ["*", "Europe"]
    assert [branch.label for branch in tree.top.children] == ["Italy", "Spain"]


@given(st.integers(1, 3000), st.integers(1, 60))
def test_a_page_never_holds_more_than_it_can(n_values: int, n_groups: int) -> None:
    values = [f"v{number}" for number in range(n_values)]
    groups = [f"g{number % n_groups}" for number in range(n_values)]
    tree = tree_of(Hierarchy.of_levels(values, [groups]), np.ones(n_values, int))

    def shown(branch: Branch) -> int:
        assert len(branch.children) <= MOST_CHILDREN
        return len(branch.children) + sum(map(shown, branch.children))

    assert shown(tree.top) <= MOST_NODES + MOST_CHILDREN
    assert tree.top.n_records == n_values


@given(st.lists(st.integers(-50, 500) | st.none(), min_size=1, max_size=200))
def test_every_record_stands_in_one_bar(values: list[int | None]) -> None:
    table = Table.from_arrow({"x": pa.array(values, pa.int64())})
    picture = distribution(table, table["x"])
    assert sum(bar.count for bar in picture.bars) == sum(value is not None for value in values)
    assert all(0 <= bar.height <= 1 for bar in picture.bars)
    assert len(picture.bars) <= 24


def test_rare_categories_are_drawn_together() -> None:
    values = [f"c{number}" for number in range(40)] + ["often"] * 30
    table = Table.from_arrow({"x": values})
    picture = distribution(table, table["x"])
    assert (picture.bars[0].label, picture.bars[0].count) == ("often", 30)
    assert picture.bars[-1].is_rest
    assert sum(bar.count for bar in picture.bars) == 70


def test_bars_of_whole_numbers_have_whole_borders() -> None:
    table = Table.from_arrow({"age": list(range(17, 91))})
    labels = [bar.label for bar in distribution(table, table["age"]).bars]
    assert labels[0] == "[17, 21)"
    assert all("." not in label for label in labels)


@given(st.text(max_size=8), st.text(max_size=8))
def test_two_names_never_share_an_address(one: str, other: str) -> None:
    assert (slug(one) == slug(other)) == (one == other)
