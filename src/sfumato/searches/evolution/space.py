"""The base of every search space: integer genes, and how to draw, cross, mutate and decode them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sfumato.kernels.shared_grouping import Recodings
from sfumato.models.base import PrivacyModel
from sfumato.registry.recipe import Recipe
from sfumato.runtime.arrays import Integers
from sfumato.searches.evolution.units import UnitRecords

Genes = npt.NDArray[np.integer[Any]]
"""One row for each individual, or a single row."""


class Space(Protocol):
    """Everything that a search may try, each possibility a row of integer genes."""

    @property
    def n_genes(self) -> int:
        """The length of a row."""

    @property
    def highest(self) -> Integers:
        """The largest value of each gene; the smallest is 0."""

    def sample(self, rng: np.random.Generator, n: int) -> Genes:
        """Draw rows for the first generation."""

    def cross(self, rng: np.random.Generator, one: Genes, other: Genes) -> tuple[Genes, Genes]:
        """Return two children of each pair."""

    def mutate(self, rng: np.random.Generator, genes: Genes, rate: float) -> Genes:
        """Return the rows, each gene that may change changed with this probability."""

    def neighbours(self, genes: Genes) -> Genes:
        """Return the rows that are one step away from a single row."""

    def recipe(self, genes: Genes, model: PrivacyModel, suppression: float) -> Recipe:
        """Return the recipe of a single row."""


class RecodingSpace(Space, Protocol):
    """A space of global recodings, whose classes can be counted without making releases."""

    @property
    def rows(self) -> UnitRecords:
        """The records as rows of units."""

    def recodings(self, genes: Genes) -> Recodings:
        """Return the blocks and losses of every row."""
