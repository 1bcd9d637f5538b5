"""Rerun four papers and compare every published figure with ours.

One folder per paper names its explorations (ordinary project files) and computes its exhibits from the
explored candidates.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sfumato_papers.exhibits import Cell, Chart, Claim, Exhibit, Series
    from sfumato_papers.run import PAPERS, Extent, Reproduction, reproduce

__version__ = "0.2.0"

__all__ = [
    "PAPERS",
    "Cell",
    "Chart",
    "Claim",
    "Exhibit",
    "Extent",
    "Reproduction",
    "Series",
    "__version__",
    "reproduce",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `sfumato --help` imports this package, and must be fast."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "run" if name in ("PAPERS", "Extent", "Reproduction", "reproduce") else "exhibits"
    return getattr(import_module(f"{__name__}.{home}"), name)
