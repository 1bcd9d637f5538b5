# Written by tools/public_names.py from the table in __init__.py; do not edit.

from sfumato.searches.base import Search
from sfumato.searches.default_plan import Suited
from sfumato.searches.evolution.evolution import Evolution
from sfumato.searches.lattice.lattice_search import Lattice, LatticeFront
from sfumato.searches.sweep import Sweep

_HOMES: dict[str, str]
__all__ = [
    "Evolution",
    "Lattice",
    "LatticeFront",
    "Search",
    "Suited",
    "Sweep",
]
