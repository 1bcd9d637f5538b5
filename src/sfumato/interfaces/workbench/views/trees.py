"""Cut a hierarchy to as many nested branches, with counts, as one page can hold."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

import numpy as np

from sfumato.data.hierarchy import Hierarchy
from sfumato.interfaces.workbench.state.hierarchy_edits import TreeNode, leaves_of
from sfumato.runtime.arrays import Integers

MOST_CHILDREN = 200
MOST_NODES = 600


@dataclass
class Branch:
    """One node of the tree that a page shows.

    Parameters
    ----------
    node
        Where it is in the hierarchy: where a node stands for itself on several levels, the lowest of them.
    label
        Its name; ``None`` for the missing value.
    n_values, n_records
        How many values lie below it, and how many records have them.
    n_children
        How many nodes lie directly below, shown or not.
    children
        Those that are shown.
    """

    node: TreeNode
    label: str | None
    n_values: int
    n_records: int
    n_children: int
    children: list[Branch] = field(default_factory=list)


@dataclass(frozen=True)
class TreePart:
    """The part of a hierarchy below one node, its ancestors, and which of its children are shown."""

    top: Branch
    above: tuple[Branch, ...]
    first: int


def tree_of(hierarchy: Hierarchy, counts: Integers, top: TreeNode | None = None, first: int = 0) -> TreePart:
    """Return the branches below a node, nearest first, until the page is full.

    Parameters
    ----------
    hierarchy, counts
        The hierarchy, and how many records have each of its values.
    top
        The node to begin with; the root by default.
    first
        How many of its children to pass over.
    """
    shape = _Shape.of(hierarchy, counts)
    node = top or TreeNode(hierarchy.height, 0)
    trunk = shape.branch(node)
    waiting, left = deque([trunk]), MOST_NODES
    while waiting and left > 0:
        branch = waiting.popleft()
        begin = first if branch is trunk else 0
        numbers = shape.children(branch.node)[begin : begin + MOST_CHILDREN]
        branch.children = [shape.branch(TreeNode(branch.node.level - 1, int(number))) for number in numbers]
        left -= len(branch.children)
        waiting.extend(child for child in branch.children if child.node.level > 0)
    return TreePart(trunk, shape.above(node), first)


@dataclass(frozen=True)
class _Shape:
    """For each level: the parent of each node, and the values and records below it."""

    hierarchy: Hierarchy
    parents: tuple[Integers, ...]
    n_values: tuple[Integers, ...]
    n_records: tuple[Integers, ...]

    @classmethod
    def of(cls, hierarchy: Hierarchy, counts: Integers) -> _Shape:
        parents, n_values, n_records = [], [], []
        for level in range(hierarchy.height + 1):
            nodes = hierarchy.node_of[level]
            width = len(hierarchy.labels[level])
            above = np.zeros(width, dtype=np.int64)
            above[nodes] = hierarchy.node_of[min(level + 1, hierarchy.height)]
            parents.append(above)
            n_values.append(np.bincount(nodes, minlength=width))
            n_records.append(np.bincount(nodes, weights=counts, minlength=width).astype(np.int64))
        return cls(hierarchy, tuple(parents), tuple(n_values), tuple(n_records))

    def children(self, node: TreeNode) -> Integers:
        return (
            np.flatnonzero(self.parents[node.level - 1] == node.number) if node.level else np.array([], int)
        )

    def branch(self, node: TreeNode) -> Branch:
        """Return a node, or the lowest one with its name that holds the same values."""
        below = self.children(node)
        while len(below) == 1 and self._label(TreeNode(node.level - 1, int(below[0]))) == self._label(node):
            node = TreeNode(node.level - 1, int(below[0]))
            below = self.children(node)
        return Branch(
            node,
            self._label(node),
            int(self.n_values[node.level][node.number]),
            int(self.n_records[node.level][node.number]),
            len(below),
        )

    def above(self, node: TreeNode) -> tuple[Branch, ...]:
        """Return the ancestors, the root first."""
        leaf = int(leaves_of(self.hierarchy, node)[0])
        path = [
            TreeNode(level, int(self.hierarchy.node_of[level, leaf]))
            for level in range(self.hierarchy.height, node.level, -1)
        ]
        branches = {
            branch.node: branch for branch in map(self.branch, path) if branch.node.level > node.level
        }
        return tuple(branches.values())

    def _label(self, node: TreeNode) -> str | None:
        return self.hierarchy.labels[node.level][node.number]
