"""Searches: each proposes the recipes to try."""

from sfumato.search.base import Search
from sfumato.search.evolution.search import Evolution
from sfumato.search.lattice.search import Lattice, LatticeFront
from sfumato.search.suited import Suited
from sfumato.search.sweep import Sweep

__all__ = ["Evolution", "Lattice", "LatticeFront", "Search", "Suited", "Sweep"]
