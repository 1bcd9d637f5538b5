"""Spaces whose genes are steps on a scale: the levels of a lattice, the parameters of a sanitizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.kernels.shared_grouping import Recodings
from sfumato.models.base import PrivacyModel
from sfumato.registry.methods import list_parameters, look_up
from sfumato.registry.recipe import Recipe
from sfumato.results.released_column import level_cells
from sfumato.runtime.arrays import Codes, Floats, Integers
from sfumato.runtime.errors import ParameterError
from sfumato.sanitizers.generalize.full_domain import FullDomain
from sfumato.searches.evolution.space import Genes
from sfumato.searches.evolution.units import UnitRecords

_STEPS = 100


class _Grid:
    """Genes from 0 to a highest step, each next to the steps before and after it."""

    highest: Integers

    @property
    def n_genes(self) -> int:
        """How many scales there are."""
        return len(self.highest)

    def sample(self, rng: np.random.Generator, n: int) -> Genes:
        """Draw every gene evenly; the first two rows are the ends of all scales."""
        genes = rng.integers(0, self.highest + 1, (n, self.n_genes))
        genes[:1] = self.highest
        genes[1:2] = 0
        return genes

    def cross(self, rng: np.random.Generator, one: Genes, other: Genes) -> tuple[Genes, Genes]:
        """Exchange the genes behind a random point."""
        point = rng.integers(0, self.n_genes + 1, (len(one), 1))
        tail = np.arange(self.n_genes) >= point
        return np.where(tail, other, one), np.where(tail, one, other)

    def mutate(self, rng: np.random.Generator, genes: Genes, rate: float) -> Genes:
        """Draw each gene anew with this probability."""
        drawn = rng.integers(0, self.highest + 1, genes.shape)
        return np.where(rng.random(genes.shape) < rate, drawn, genes)

    def neighbours(self, genes: Genes) -> Genes:
        """Return the rows with one gene a step lower or higher."""
        steps = np.eye(self.n_genes, dtype=np.int64)
        every = np.concatenate([genes - steps, genes + steps])
        return every[((every >= 0) & (every <= self.highest)).all(axis=1)]


@dataclass(frozen=True, eq=False)
class LatticeSpace(_Grid):
    """Every full-domain recoding: one level for each quasi-identifier.

    Parameters
    ----------
    names
        The quasi-identifiers.
    highest, lowest
        How many levels each has above its lowest, and that.
    rows
        The records as rows of values.
    blocks, losses
        For each quasi-identifier and level the block and the loss of each value.
    """

    names: tuple[str, ...]
    highest: Integers
    lowest: Integers
    rows: UnitRecords
    blocks: tuple[Codes, ...]
    losses: tuple[Floats, ...]

    @classmethod
    def of(cls, table: Table, schema: Schema) -> LatticeSpace:
        """Take the lattice of a bound table."""
        names = schema.require("quasi-identifying", "evolution")
        weights = np.array([schema[name].weight for name in names])
        shares = weights / max(weights.sum(), 1e-300)
        blocks, losses = [], []
        for name, share in zip(names, shares.tolist(), strict=True):
            hierarchy, n_values = schema.hierarchy(name), len(table[name].domain)
            every = Column(np.arange(n_values, dtype=np.int32), table[name].domain, table[name].kind)
            rows = np.arange(n_values)
            above = range(schema[name].lowest_level, hierarchy.height + 1)
            levels = [level_cells(every, hierarchy, level, rows) for level in above]
            blocks.append(np.stack([cells.codes for cells in levels]))
            losses.append(
                share
                * np.stack([cells.sets.losses[cells.codes] for cells in levels if cells.sets is not None])
            )
        units = [np.arange(len(table[name].domain), dtype=np.int32) for name in names]
        lowest = np.array([schema[name].lowest_level for name in names], dtype=np.int64)
        highest = np.array([schema.hierarchy(name).height for name in names], dtype=np.int64) - lowest
        return cls(names, highest, lowest, UnitRecords.of(table, schema, units), tuple(blocks), tuple(losses))

    def recodings(self, genes: Genes) -> Recodings:
        """Return the blocks and losses of every row of levels."""
        blocks = [every[genes[:, place]] for place, every in enumerate(self.blocks)]
        losses = [every[genes[:, place]] for place, every in enumerate(self.losses)]
        n_blocks = np.stack([every.max(axis=1) + 1 for every in blocks], axis=1).astype(np.int64)
        return Recodings(
            np.ascontiguousarray(np.concatenate(blocks, axis=1), dtype=np.int32),
            np.ascontiguousarray(np.concatenate(losses, axis=1)),
            n_blocks,
        )

    def recipe(self, genes: Genes, model: PrivacyModel, suppression: float) -> Recipe:
        """Return the recipe of a row of levels."""
        levels = dict(zip(self.names, (genes + self.lowest).tolist(), strict=True))
        return Recipe.of(FullDomain(levels, model, suppression))


@dataclass(frozen=True, eq=False)
class ParameterSpace(_Grid):
    """The parameters of a sanitizer, each within its range.

    Parameters
    ----------
    sanitizer
        The sanitizer's name.
    ranges
        Its parameters. A list of two numbers is a range: every whole number in it, or a hundred equal
        steps where an end is a fraction. Any other list is a choice, anything else is fixed.
    highest
        The largest step of each range.
    """

    sanitizer: str
    ranges: Mapping[str, Any]
    highest: Integers

    @classmethod
    def of(cls, sanitizer: str, ranges: Mapping[str, Any]) -> ParameterSpace:
        """Take the ranges as a project file writes them."""
        highest: list[int] = []

        def note(scale: list[Any]) -> Any:
            highest.append(_highest(sanitizer, scale))
            return scale

        whole = list_parameters(look_up("sanitizer", sanitizer))
        for name, value in ranges.items():
            if name not in whole:
                _walk(value, note)
        if not highest:
            raise ParameterError(f"ranges: nothing of {sanitizer!r} varies; give a range such as k = [2, 50]")
        space = cls(sanitizer, ranges, np.array(highest, dtype=np.int64))
        for end in (np.zeros(len(highest), dtype=np.int64), space.highest):
            space.written(end).normalized()
        return space

    def written(self, genes: Genes) -> Recipe:
        """Return the recipe with the value at each step."""
        steps = iter(genes.tolist())
        whole = list_parameters(look_up("sanitizer", self.sanitizer))
        return Recipe(
            self.sanitizer,
            {
                name: value if name in whole else _walk(value, lambda scale: _at(scale, next(steps)))
                for name, value in self.ranges.items()
            },
        )

    def recipe(self, genes: Genes, model: PrivacyModel, suppression: float) -> Recipe:
        """Return the recipe of a row of steps; the model is among the parameters."""
        return self.written(genes).normalized()


def _walk(value: Any, replace: Callable[[list[Any]], Any]) -> Any:
    """Return a value with every list inside replaced."""
    if isinstance(value, Mapping):
        return {name: _walk(inner, replace) for name, inner in value.items()}
    return replace(value) if isinstance(value, list) else value


def _is_range(scale: list[Any]) -> bool:
    return len(scale) == 2 and all(
        isinstance(end, (int, float)) and not isinstance(end, bool) for end in scale
    )


def _highest(sanitizer: str, scale: list[Any]) -> int:
    if _is_range(scale) and not scale[0] < scale[1]:
        raise ParameterError(f"ranges: a range of {sanitizer!r} must begin below its end")
    if not scale:
        raise ParameterError(f"ranges: an empty list of {sanitizer!r} leaves nothing to try")
    if not _is_range(scale):
        return len(scale) - 1
    is_whole = all(isinstance(end, int) for end in scale)
    return int(scale[1] - scale[0]) if is_whole else _STEPS


def _at(scale: list[Any], step: int) -> Any:
    if not _is_range(scale):
        return scale[step]
    if all(isinstance(end, int) for end in scale):
        return scale[0] + step
    return round(scale[0] + (scale[1] - scale[0]) * step / _STEPS, 12)
