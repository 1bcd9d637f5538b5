"""The space of cuts: bit strings over the ordered domains, along the hierarchies where these bind."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.kernels.recoding_classes import cut_blocks
from sfumato.kernels.shared_grouping import Recodings
from sfumato.models.base import PrivacyModel
from sfumato.registry.recipe import Recipe
from sfumato.results.released_column import interval_leaves
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.sanitizers.generalize.cut import Cut
from sfumato.searches.evolution.space import Genes
from sfumato.searches.evolution.units import UnitRecords, check_granularity, unit_of_value


@dataclass(frozen=True)
class Node:
    """A node of a hierarchy that has children: its values, and the bits between its children."""

    low: int
    high: int
    between: tuple[int, ...]
    children: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class AttributeCuts:
    """Where one attribute may be cut.

    Parameters
    ----------
    name
        The attribute.
    unit_of
        The unit of each value; there is one bit between any two neighbouring units.
    root
        The hierarchy that binds a constrained attribute; ``None`` where it may be cut anywhere.
    losses
        The loss of the block from one unit to another, as a matrix.
    """

    name: str
    unit_of: Codes
    root: Node | None
    losses: Floats

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return int(self.unit_of[-1]) + 1

    def spelled(self, bits: Genes) -> str:
        """Return the bit string over the values, as a `Cut` takes it."""
        changes = np.diff(self.unit_of) != 0
        every = np.zeros(len(changes), dtype=np.int64)
        every[changes] = bits
        return "".join(map(str, every.tolist()))


class _Steps(NamedTuple):
    """What may be changed at once: a bit of a free attribute, or a node that is opened or closed.

    Parameters
    ----------
    flips
        The bits that change.
    inside
        The bits within the node: all of them 0 when it is opened, those that change 1 when it is closed.
    before, behind
        The bits on both sides of the node, which must be 1; the last place of all stands for a bit that is.
    """

    flips: Genes
    inside: Booleans
    before: Integers
    behind: Integers


@dataclass(frozen=True, eq=False)
class CutSpace:
    """Every partition of the quasi-identifiers' ordered domains into blocks of neighbours.

    A row of genes is the bit strings of all attributes, one after the other. Categories with a hierarchy
    of several levels are constrained: every block is a node.

    Parameters
    ----------
    attributes
        Where each quasi-identifier may be cut.
    rows
        The records as rows of units.
    free
        Categorical attributes with a hierarchy that may be cut anywhere.
    """

    attributes: tuple[AttributeCuts, ...]
    rows: UnitRecords
    free: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        table: Table,
        schema: Schema,
        free: tuple[str, ...] = (),
        granularity: Mapping[str, float] | None = None,
    ) -> CutSpace:
        """Take the space of a bound table."""
        names = schema.require("quasi-identifying", "evolution")
        for name in free:
            if name not in names:
                hint = suggestion(name, names) or f"; they are {', '.join(names)}"
                raise ParameterError(f"free: no quasi-identifier {name!r}{hint}")
        check_granularity(table, schema, granularity or {})
        weights = np.array([schema[name].weight for name in names])
        shares = weights / max(weights.sum(), 1e-300)
        attributes = []
        for name, share in zip(names, shares.tolist(), strict=True):
            column, hierarchy = table[name], schema.hierarchy(name)
            bound = hierarchy.height > 1 and not column.kind.is_ordered and name not in free
            if not column.kind.is_ordered:
                _check_labels(hierarchy, name)
            unit_of = unit_of_value(table, schema, name, granularity or {})
            lowest = schema[name].lowest_level
            root = _tree(hierarchy.above(lowest)) if bound else None
            losses = share * _losses(column, hierarchy, unit_of, lowest)
            attributes.append(AttributeCuts(name, unit_of, root, losses))
        rows = UnitRecords.of(table, schema, [attribute.unit_of for attribute in attributes])
        return cls(tuple(attributes), rows, free)

    @property
    def n_genes(self) -> int:
        """How many bits there are."""
        return sum(attribute.n_units - 1 for attribute in self.attributes)

    @property
    def highest(self) -> Integers:
        """The largest value of each gene."""
        return np.ones(self.n_genes, dtype=np.int64)

    @cached_property
    def _slices(self) -> list[tuple[AttributeCuts, slice]]:
        ends = np.cumsum([attribute.n_units - 1 for attribute in self.attributes]).tolist()
        return [
            (attribute, slice(end - attribute.n_units + 1, end))
            for attribute, end in zip(self.attributes, ends, strict=True)
        ]

    def sample(self, rng: np.random.Generator, n: int) -> Genes:
        """Draw cuts: constrained attributes by a walk down the hierarchy, others with any density of ones.

        The first two are the ends: everything together, and everything apart.
        """
        genes = np.zeros((n, self.n_genes), dtype=np.int8)
        for attribute, place in self._slices:
            if attribute.root is None:
                density = rng.random((n, 1))
                genes[:, place] = rng.random((n, attribute.n_units - 1)) < density
            else:
                for row in genes[:, place]:
                    _open(attribute.root, row, rng)
        genes[:1] = 0
        genes[1:2] = 1
        return genes

    def cross(self, rng: np.random.Generator, one: Genes, other: Genes) -> tuple[Genes, Genes]:
        """Exchange the tails of each attribute's bit strings.

        A constrained attribute is cut where both parents have a 1 (Lunacek et al.), or exchanged whole.
        """
        first, second = one.copy(), other.copy()
        for attribute, place in self._slices:
            allowed = np.ones((len(one), attribute.n_units), dtype=np.bool_)
            if attribute.root is not None:
                allowed[:, 1:] = (one[:, place] == 1) & (other[:, place] == 1)
            point = (rng.random(allowed.shape) * allowed).argmax(axis=1)
            tail = np.arange(attribute.n_units - 1) >= point[:, np.newaxis]
            first[:, place] = np.where(tail, other[:, place], one[:, place])
            second[:, place] = np.where(tail, one[:, place], other[:, place])
        return first, second

    def mutate(self, rng: np.random.Generator, genes: Genes, rate: float) -> Genes:
        """Flip each bit of the unconstrained attributes with this probability."""
        mutated = genes.copy()
        for attribute, place in self._slices:
            if attribute.root is None:
                flips = rng.random(genes[:, place].shape) < rate
                mutated[:, place] ^= flips.astype(np.int8)
        return mutated

    def neighbours(self, genes: Genes) -> Genes:
        """Return everything one step away: a block split or two merged, a node opened or closed."""
        steps = self._steps
        apart = np.append(genes, 1)
        inside = np.where(steps.inside, genes, 0)
        is_block = (apart[steps.before] == 1) & (apart[steps.behind] == 1)
        may_flip = ~inside.any(axis=1) | (inside == steps.flips).all(axis=1)
        return genes ^ steps.flips[is_block & may_flip]

    @cached_property
    def _steps(self) -> _Steps:
        """Every step that there may be, attribute by attribute."""
        rows = [step for attribute, place in self._slices for step in _steps_of(attribute, place.start)]
        steps = _Steps(
            np.zeros((len(rows), self.n_genes), dtype=np.int8),
            np.zeros((len(rows), self.n_genes), dtype=np.bool_),
            np.array([before for *_, before, _ in rows], dtype=np.int64),
            np.array([behind for *_, behind in rows], dtype=np.int64),
        )
        for row, (flipped, inside, *_) in enumerate(rows):
            steps.flips[row, flipped] = 1
            steps.inside[row, inside] = True
        return steps

    @cached_property
    def _losses(self) -> Floats:
        """The losses of all blocks of all attributes, one attribute after the other."""
        return np.concatenate([attribute.losses.ravel() for attribute in self.attributes])

    def is_valid(self, genes: Genes) -> bool:
        """Return whether every block of a constrained attribute is a node."""
        return all(
            attribute.root is None or _is_cover(attribute.root, genes[place])
            for attribute, place in self._slices
        )

    def recodings(self, genes: Genes) -> Recodings:
        """Return the blocks and losses of every row of genes."""
        first_cover = np.cumsum([0, *(attribute.losses.size for attribute in self.attributes)])
        return Recodings(
            *cut_blocks(
                np.ascontiguousarray(genes, dtype=np.uint8),
                self.rows.records.first_unit,
                self._losses,
                first_cover,
            )
        )

    def recipe(self, genes: Genes, model: PrivacyModel, suppression: float) -> Recipe:
        """Return the recipe of a row of genes."""
        cuts = {attribute.name: attribute.spelled(genes[place]) for attribute, place in self._slices}
        return Recipe.of(Cut(cuts, model, suppression, self.free))


def _losses(column: Column, hierarchy: Hierarchy, unit_of: Codes, lowest: int) -> Floats:
    """Return the loss of every block of neighbouring units, as the released cells have it."""
    if column.kind.is_ordered:
        sizes = _interval_sizes(column, hierarchy, unit_of, lowest)
    else:
        sizes = _block_sizes(hierarchy.above(lowest))
    if hierarchy.n_leaves <= 1:
        return np.zeros(sizes.shape)
    return np.triu(sizes - 1) / (hierarchy.n_leaves - 1)


def _interval_sizes(column: Column, hierarchy: Hierarchy, unit_of: Codes, lowest: int) -> Integers:
    """Return how many leaves lie from one unit to another, as the released intervals have them."""
    ends = np.searchsorted(unit_of, np.arange(int(unit_of[-1]) + 2)).tolist()
    sizes = np.ones((len(ends) - 1, len(ends) - 1), dtype=np.int64)
    for low, high in itertools.combinations_with_replacement(range(len(ends) - 1), 2):
        sizes[low, high] = interval_leaves(
            column, hierarchy, ends[low], ends[high + 1] - 1, outer_open=lowest == 0
        )
    unit_of_node = unit_of[hierarchy.first_values(lowest)]
    alone = np.bincount(unit_of_node)[unit_of_node] == 1
    sizes[unit_of_node[alone], unit_of_node[alone]] = hierarchy.sizes[lowest][alone]
    return sizes


def _block_sizes(hierarchy: Hierarchy) -> Integers:
    """Return how many leaves lie from one value to another; a node has those that do not occur, too."""
    counts = hierarchy.sizes[0]
    ends = np.cumsum(counts, dtype=np.int64)
    sizes = ends[np.newaxis, :] - (ends - counts)[:, np.newaxis]
    # the lowest node with the same values counts, so that higher ones are written first
    for level in range(hierarchy.height, -1, -1):
        for low, high, leaves in _ranges(hierarchy, level):
            sizes[low, high] = leaves
    return sizes


def _ranges(hierarchy: Hierarchy, level: int) -> list[tuple[int, int, int]]:
    """Return first value, last value and number of leaves of every node on a level."""
    nodes = hierarchy.node_of[level]
    low = hierarchy.first_values(level)
    high = len(nodes) - 1 - np.unique(nodes[::-1], return_index=True)[1]
    return list(zip(low.tolist(), high.tolist(), hierarchy.sizes[level].tolist(), strict=True))


def _tree(hierarchy: Hierarchy) -> Node:
    """Return the tree of the nodes that differ in their values, from the root down."""

    def node(level: int, low: int, high: int) -> Node:
        while level > 0:
            level -= 1
            below = [(a, b) for a, b, _ in sorted(_ranges(hierarchy, level)) if low <= a and b <= high]
            if len(below) > 1:
                children = tuple(node(level, a, b) for a, b in below)
                return Node(low, high, tuple(b for _, b in below[:-1]), children)
        return Node(low, high, (), ())

    return node(hierarchy.height, 0, len(hierarchy.values) - 1)


def _check_labels(hierarchy: Hierarchy, name: str) -> None:
    """Raise `ParameterError` when two different nodes would be released under one name."""
    ranges: dict[str | None, list[tuple[int, int]]] = {}
    for level in range(hierarchy.height + 1):
        for label, (low, high, _) in zip(hierarchy.labels[level], _ranges(hierarchy, level), strict=True):
            known = ranges.setdefault(label, [])
            if any(high < first or last < low for first, last in known):
                raise ParameterError(
                    f"two nodes of the hierarchy of {name!r} have the same name but different values; "
                    "rename one"
                )
            known.append((low, high))


def _open(node: Node, bits: Genes, rng: np.random.Generator) -> None:
    """Let a node decide whether its children are told apart, and then the children."""
    if node.children and rng.random() < 0.5:
        bits[list(node.between)] = 1
        for child in node.children:
            _open(child, bits, rng)


def _inner(node: Node) -> list[Node]:
    return [node, *(one for child in node.children for one in _inner(child))] if node.children else []


def _pattern(node: Node) -> Booleans:
    pattern = np.zeros(node.high - node.low, dtype=np.bool_)
    pattern[np.array(node.between, dtype=np.int64) - node.low] = True
    return pattern


def _steps_of(attribute: AttributeCuts, start: int) -> list[tuple[list[int], list[int], int, int]]:
    """Return the steps of an attribute whose first bit is given, as the rows of `_Steps`."""
    if attribute.root is None:
        return [([start + bit], [], -1, -1) for bit in range(attribute.n_units - 1)]
    return [
        (
            [start + bit for bit in node.between],
            list(range(start + node.low, start + node.high)),
            start + node.low - 1 if node.low else -1,
            start + node.high if node.high < attribute.n_units - 1 else -1,
        )
        for node in _inner(attribute.root)
    ]


def _is_cover(node: Node, bits: Genes) -> bool:
    inside = bits[node.low : node.high]
    if not inside.any():
        return True
    return bool(inside[_pattern(node)].all()) and all(_is_cover(child, bits) for child in node.children)
