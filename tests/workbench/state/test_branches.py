"""Edits of a tree by hand, against what a person would draw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfumato.data.hierarchy import Hierarchy
from sfumato.interfaces.workbench.state import hierarchy_edits
from sfumato.interfaces.workbench.state.hierarchy_edits import TreeNode
from sfumato.runtime.errors import HierarchyError

PLACES = {"Europe": ["France", "Italy"], "Asia": ["Japan", "China"], "Africa": ["Kenya"]}


def node(hierarchy: Hierarchy, level: int, label: str | None) -> TreeNode:
    return TreeNode(level, hierarchy.labels[level].index(label))


def paths(hierarchy: Hierarchy) -> dict[str, list[str]]:
    """Return for each value what it becomes, level by level."""
    return {row[0]: row[1:] for row in hierarchy.rows()}


def test_a_node_is_renamed_and_its_values_stay() -> None:
    hierarchy = Hierarchy.nested(PLACES)
    renamed = hierarchy_edits.rename(hierarchy, node(hierarchy, 1, "Asia"), "  The  East ")
    assert paths(renamed) == {
        "France": ["Europe", "*"],
        "Italy": ["Europe", "*"],
        "Japan": ["The East", "*"],
        "China": ["The East", "*"],
        "Kenya": ["Africa", "*"],
    }


def test_nodes_are_merged_where_the_first_lies() -> None:
    hierarchy = Hierarchy.nested(PLACES)
    both = [node(hierarchy, 1, "Europe"), node(hierarchy, 1, "Africa")]
    merged = paths(hierarchy_edits.merge(hierarchy, both, "West"))
    assert merged["Kenya"] == merged["France"] == ["West", "*"]
    assert merged["Japan"] == ["Asia", "*"]


def test_merging_below_different_nodes_takes_the_place_of_the_first() -> None:
    deep = Hierarchy.nested({"Old": {"Europe": ["France"], "Asia": ["Japan"]}, "New": {"America": ["Peru"]}})
    merged = hierarchy_edits.merge(deep, [node(deep, 1, "Asia"), node(deep, 1, "America")], "Pacific")
    assert paths(merged)["Peru"] == ["Pacific", "Old", "*"]


def test_values_that_are_merged_get_a_common_node() -> None:
    flat = Hierarchy.flat(["a", "b", "c", "d"])
    once = hierarchy_edits.merge(flat, [TreeNode(0, 0), TreeNode(0, 2)], "vowel")
    assert paths(once) == {"a": ["vowel", "*"], "c": ["vowel", "*"], "b": ["b", "*"], "d": ["d", "*"]}
    twice = hierarchy_edits.merge(once, [node(once, 0, "b"), node(once, 0, "d")], "other")
    assert paths(twice)["b"] == ["other", "*"]
    assert twice.height == 2


def test_nodes_are_put_under_a_new_one() -> None:
    hierarchy = Hierarchy.nested(PLACES)
    both = [node(hierarchy, 1, "Europe"), node(hierarchy, 1, "Asia")]
    grouped = hierarchy_edits.group(hierarchy, both, "Eurasia")
    assert paths(grouped)["Italy"] == ["Europe", "Eurasia", "*"]
    assert paths(grouped)["Kenya"] == ["Africa", "Africa", "*"]


def test_a_value_is_moved_to_another_node() -> None:
    hierarchy = Hierarchy.nested(PLACES)
    moved = hierarchy_edits.move(hierarchy, [node(hierarchy, 0, "Kenya")], node(hierarchy, 1, "Asia"))
    assert paths(moved)["Kenya"] == ["Asia", "*"]
    assert "Africa" not in moved.labels[1]


def test_a_value_moved_high_stands_for_itself_between() -> None:
    deep = Hierarchy.nested({"Old": {"Europe": ["France", "Italy"]}, "New": {"America": ["Peru"]}})
    moved = hierarchy_edits.move(deep, [node(deep, 0, "Italy")], node(deep, 2, "New"))
    assert paths(moved)["Italy"] == ["Italy", "New", "*"]


def test_dissolving_gives_what_was_below_to_what_was_above() -> None:
    deep = Hierarchy.nested({"Old": {"Europe": ["France", "Italy"], "Asia": ["Japan"]}})
    gone = hierarchy_edits.dissolve(deep, [node(deep, 1, "Europe")])
    assert paths(gone)["France"] == ["France", "Old", "*"]
    assert paths(gone)["Japan"] == ["Asia", "Old", "*"]


def test_dissolving_undoes_grouping() -> None:
    hierarchy = Hierarchy.nested(PLACES)
    both = [node(hierarchy, 1, "Europe"), node(hierarchy, 1, "Asia")]
    grouped = hierarchy_edits.group(hierarchy, both, "Eurasia")
    assert paths(hierarchy_edits.dissolve(grouped, [node(grouped, 2, "Eurasia")])) == paths(hierarchy)


def test_dissolving_everything_leaves_values_and_root() -> None:
    deep = Hierarchy.nested({"Old": {"Europe": ["France", "Italy"], "Asia": ["Japan"]}})
    every = [TreeNode(level, number) for level in (1, 2) for number in range(len(deep.labels[level]))]
    assert hierarchy_edits.dissolve(deep, every).height == 1


def test_missing_is_a_value_like_others() -> None:
    flat = Hierarchy.flat(["a", None])
    merged = hierarchy_edits.merge(flat, [TreeNode(0, 0), TreeNode(0, 1)], "both")
    assert merged.labels[1] == ("both",)


@pytest.mark.parametrize("label", ["", "   ", "*", "x" * 201])
def test_a_node_needs_a_name(label: str) -> None:
    hierarchy = Hierarchy.nested(PLACES)
    with pytest.raises(HierarchyError, match="name"):
        hierarchy_edits.rename(hierarchy, node(hierarchy, 1, "Asia"), label)


def test_refusals_say_what_to_do() -> None:
    hierarchy = Hierarchy.nested(PLACES)
    europe, asia = node(hierarchy, 1, "Europe"), node(hierarchy, 1, "Asia")
    france, root = node(hierarchy, 0, "France"), TreeNode(2, 0)
    for wrong in (
        lambda: hierarchy_edits.rename(hierarchy, asia, "Europe"),
        lambda: hierarchy_edits.rename(hierarchy, france, "Gaul"),
        lambda: hierarchy_edits.rename(hierarchy, root, "World"),
        lambda: hierarchy_edits.merge(hierarchy, [asia], "one"),
        lambda: hierarchy_edits.merge(hierarchy, [asia, france], "mixed"),
        lambda: hierarchy_edits.merge(hierarchy, [europe, asia], "Africa"),
        lambda: hierarchy_edits.group(hierarchy, [root, root], "x"),
        lambda: hierarchy_edits.move(hierarchy, [asia], europe),
        lambda: hierarchy_edits.dissolve(hierarchy, [root]),
        lambda: hierarchy_edits.dissolve(hierarchy, [france]),
    ):
        with pytest.raises(HierarchyError):
            wrong()


@pytest.mark.parametrize(
    "written", ["", "1", "1.", ".1", "9.0", "1.99", "-1.0", "0.0.0", "a.b", "1.9999999999"]
)
def test_a_node_that_is_not_there_is_refused(written: str) -> None:
    with pytest.raises(HierarchyError, match="load the page again"):
        TreeNode.parse(written, Hierarchy.nested(PLACES))


@given(st.data())
def test_whatever_is_done_the_values_and_the_tree_stay(data: st.DataObject) -> None:
    hierarchy = Hierarchy.nested(PLACES)
    for step in range(4):
        nodes = data.draw(
            st.lists(
                st.integers(0, hierarchy.height).flatmap(
                    lambda level, tree=hierarchy: st.builds(  # type: ignore[misc]
                        TreeNode, st.just(level), st.integers(0, len(tree.labels[level]) - 1)
                    )
                ),
                min_size=1,
                max_size=3,
                unique=True,
            )
        )
        name = f"new {step}"
        done: Any = data.draw(st.sampled_from(["rename", "merge", "group", "move", "dissolve"]))
        try:
            if done == "rename":
                hierarchy = hierarchy_edits.rename(hierarchy, nodes[0], name)
            elif done == "move":
                hierarchy = hierarchy_edits.move(hierarchy, nodes[1:], nodes[0])
            elif done == "dissolve":
                hierarchy = hierarchy_edits.dissolve(hierarchy, nodes)
            else:
                hierarchy = getattr(hierarchy_edits, done)(hierarchy, nodes, name)
        except HierarchyError:
            continue
        assert set(hierarchy.values) == {value for values in PLACES.values() for value in values}
        assert hierarchy.labels[-1] == ("*",)
        assert Hierarchy.of_rows(hierarchy.rows()).rows() == hierarchy.rows()
        for below, above in zip(hierarchy.node_of, hierarchy.node_of[1:], strict=False):
            assert len(np.unique(np.stack([below, above]), axis=1).T) == len(np.unique(below))
