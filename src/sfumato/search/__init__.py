"""Searches: each proposes the recipes to try."""

from sfumato.search.base import Search
from sfumato.search.evolution import Evolution
from sfumato.search.lattice import Lattice, LatticeFront
from sfumato.search.sweep import Sweep

__all__ = ["Evolution", "Lattice", "LatticeFront", "Search", "Sweep"]
