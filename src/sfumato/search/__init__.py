"""Searches: each proposes the recipes to try."""

from sfumato.search.base import Search
from sfumato.search.lattice import Lattice, LatticeFront
from sfumato.search.sweep import Sweep

__all__ = ["Lattice", "LatticeFront", "Search", "Sweep"]
