"""Searches: each proposes the recipes to try."""

from __future__ import annotations

from sfumato.runtime.lazy_names import lazy_names

_HOMES = {
    "Evolution": "searches.evolution.evolution",
    "Lattice": "searches.lattice.lattice_search",
    "LatticeFront": "searches.lattice.lattice_search",
    "Search": "searches.base",
    "Suited": "searches.default_plan",
    "Sweep": "searches.sweep",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
