"""The four papers, rerun: every published figure beside ours, with a verdict.

One room per paper says which explorations it needs (project files like anybody's) and how its exhibits
are read from the candidates that were explored.
"""

from __future__ import annotations

from sfumato.reproduce.exhibits import Cell, Chart, Claim, Exhibit, Series
from sfumato.reproduce.run import PAPERS, Extent, Reproduction, reproduce

__all__ = ["PAPERS", "Cell", "Chart", "Claim", "Exhibit", "Extent", "Reproduction", "Series", "reproduce"]
