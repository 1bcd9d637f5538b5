"""Searches: each proposes the recipes to try."""

from sfumato.searches.base import Search
from sfumato.searches.default_plan import Suited
from sfumato.searches.evolution.evolution import Evolution
from sfumato.searches.lattice.lattice_search import Lattice, LatticeFront
from sfumato.searches.sweep import Sweep

__all__ = ["Evolution", "Lattice", "LatticeFront", "Search", "Suited", "Sweep"]
