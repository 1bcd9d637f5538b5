"""Edit a hierarchy: rename, merge, group, move and dissolve nodes. Each edit gives a new hierarchy.

A node is named by its level and its number on that level. Levels are partitions, each coarser than the one
below. A node without a group of its own on a level represents itself there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from sfumato.data.hierarchy import ROOT, Hierarchy, Label
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import HierarchyError

Levels = list[list[Label]]


class TreeNode(NamedTuple):
    """A node of a hierarchy."""

    level: int
    number: int

    @classmethod
    def parse(cls, written: str, hierarchy: Hierarchy) -> TreeNode:
        """Read ``level.number``, which must be a node of the hierarchy."""
        level, _, number = written.partition(".")
        if level.isdecimal() and number.isdecimal() and len(level) < 4 and len(number) < 10:
            node = cls(int(level), int(number))
            if node.level <= hierarchy.height and node.number < len(hierarchy.labels[node.level]):
                return node
        raise HierarchyError("that node is not in the hierarchy any more; load the page again")

    def __str__(self) -> str:
        return f"{self.level}.{self.number}"


def leaves_of(hierarchy: Hierarchy, node: TreeNode) -> Integers:
    """Return the positions of the values below a node."""
    return np.flatnonzero(hierarchy.node_of[node.level] == node.number)


def chain_of(hierarchy: Hierarchy, node: TreeNode) -> list[TreeNode]:
    """Return the node and its ancestors in which it represents itself, without the root."""
    chain, leaves = [node], leaves_of(hierarchy, node)
    label = hierarchy.labels[node.level][node.number]
    for level in range(node.level + 1, hierarchy.height):
        number = int(hierarchy.node_of[level, leaves[0]])
        is_wider = np.count_nonzero(hierarchy.node_of[level] == number) > len(leaves)
        if is_wider or hierarchy.labels[level][number] != label:
            break
        chain.append(TreeNode(level, number))
    return chain


def rename(hierarchy: Hierarchy, node: TreeNode, label: str) -> Hierarchy:
    """Rename a node on every level on which it represents itself."""
    _require_inner(hierarchy, node, "renamed; the root and the data's own values keep their names")
    label = _checked(label)
    levels = _levels(hierarchy)
    for ancestor in chain_of(hierarchy, node):
        _require_free(levels, ancestor.level, label, leaves_of(hierarchy, node))
        _write(levels, ancestor.level, leaves_of(hierarchy, node), label)
    return _rebuilt(hierarchy, levels)


def merge(hierarchy: Hierarchy, nodes: Sequence[TreeNode], label: str) -> Hierarchy:
    """Merge several nodes into one at the place of the first; values get a common node above them."""
    level = _common_level(nodes)
    if level == 0:
        return group(hierarchy, nodes, label)
    for node in nodes:
        _require_inner(hierarchy, node, "merged; the root stays the root")
    levels, leaves = _levels(hierarchy), _all_leaves(hierarchy, nodes)
    label = _checked(label)
    _require_free(levels, level, label, leaves)
    _write(levels, level, leaves, label)
    _follow(levels, hierarchy, leaves, nodes[0], level + 1)
    return _rebuilt(hierarchy, levels)


def group(hierarchy: Hierarchy, nodes: Sequence[TreeNode], label: str) -> Hierarchy:
    """Put nodes under a new one; a level is added unless they represent themselves on the next one."""
    level = _common_level(nodes)
    for node in nodes:
        if node.level == hierarchy.height:
            raise HierarchyError("the root has nothing above it; choose nodes below it")
    levels, leaves = _levels(hierarchy), _all_leaves(hierarchy, nodes)
    label = _checked(label)
    alone = all(len(chain_of(hierarchy, node)) > 1 for node in nodes)
    if alone:
        _require_free(levels, level + 1, label, leaves)
        _follow(levels, hierarchy, leaves, nodes[0], level + 2)
    else:
        _follow(levels, hierarchy, leaves, nodes[0], level + 1)
        levels.insert(level + 1, list(levels[level]))
        _require_free(levels, level + 1, label, leaves)
    _write(levels, level + 1, leaves, label)
    return _rebuilt(hierarchy, levels)


def move(hierarchy: Hierarchy, nodes: Sequence[TreeNode], target: TreeNode) -> Hierarchy:
    """Move nodes under another one on a higher level."""
    for node in nodes:
        if node.level >= target.level:
            raise HierarchyError("a node can be moved only under one of a higher level; choose another place")
    levels = _levels(hierarchy)
    for node in nodes:
        leaves = leaves_of(hierarchy, node)
        for level in range(node.level + 1, target.level):
            label = hierarchy.labels[node.level][node.number]
            _require_free(levels, level, label, leaves)
            _write(levels, level, leaves, label)
        _follow(levels, hierarchy, leaves, target, target.level)
    return _rebuilt(hierarchy, levels)


def dissolve(hierarchy: Hierarchy, nodes: Sequence[TreeNode]) -> Hierarchy:
    """Remove nodes, and attach their children to their parents."""
    levels = _levels(hierarchy)
    for node in sorted(nodes):
        _require_inner(hierarchy, node, "taken away; the root and the data's own values stay")
        below: dict[Label, list[int]] = {}
        for leaf in leaves_of(hierarchy, node).tolist():
            below.setdefault(levels[node.level - 1][leaf], []).append(leaf)
        for ancestor in chain_of(hierarchy, node):
            for label, own in below.items():
                _require_free(levels, ancestor.level, label, np.array(own))
                _write(levels, ancestor.level, np.array(own), label)
    return _rebuilt(hierarchy, levels)


def _levels(hierarchy: Hierarchy) -> Levels:
    """Return the labels of all values on all levels except the root's, the values themselves first."""
    return [
        [hierarchy.labels[level][node] for node in hierarchy.node_of[level].tolist()]
        for level in range(hierarchy.height)
    ]


def _rebuilt(hierarchy: Hierarchy, levels: Levels) -> Hierarchy:
    """Build the hierarchy of these levels; a level equal to the one below is omitted."""
    kept: Levels = []
    for below, level in pairwise(levels):
        if level != below:
            kept.append(level)
    return Hierarchy.of_levels(hierarchy.values, [*kept, [ROOT] * len(hierarchy.values)])


def _write(levels: Levels, level: int, leaves: Integers, label: Label) -> None:
    for leaf in leaves.tolist():
        levels[level][leaf] = label


def _follow(levels: Levels, hierarchy: Hierarchy, leaves: Integers, node: TreeNode, level: int) -> None:
    """Attach values to a node's branch from a level upwards."""
    example = int(leaves_of(hierarchy, node)[0])
    for above in range(level, hierarchy.height):
        _write(levels, above, leaves, hierarchy.labels[above][hierarchy.node_of[above, example]])


def _common_level(nodes: Sequence[TreeNode]) -> int:
    levels = {node.level for node in nodes}
    if len(nodes) < 2:
        raise HierarchyError("at least two nodes are needed; choose them in the tree")
    if len(levels) > 1:
        raise HierarchyError("the nodes lie on different levels; choose nodes of one level")
    return levels.pop()


def _all_leaves(hierarchy: Hierarchy, nodes: Iterable[TreeNode]) -> Integers:
    return np.concatenate([leaves_of(hierarchy, node) for node in nodes])


def _require_inner(hierarchy: Hierarchy, node: TreeNode, what: str) -> None:
    if not 0 < node.level < hierarchy.height:
        raise HierarchyError(f"only nodes between the values and the root can be {what}")


def _require_free(levels: Levels, level: int, label: Label, leaves: Integers) -> None:
    """Raise an error if another node of the level has this name."""
    own = set(leaves.tolist())
    if any(other == label and leaf not in own for leaf, other in enumerate(levels[level])):
        raise HierarchyError(
            "another node of that level has this name already; take another name or merge them"
        )


def _checked(label: str) -> str:
    plain = " ".join(label.split())
    if not plain or plain == ROOT:
        raise HierarchyError(f"a node needs a name other than {ROOT}; give one")
    if len(plain) > 200:
        raise HierarchyError("the name is too long; give one of at most 200 letters")
    return plain
