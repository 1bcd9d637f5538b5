"""Brickell and Shmatikov 2008: compare the adversary's gain from a release with a researcher's."""

from __future__ import annotations

from sfumato_papers.brickell.rerun import PAPER

__all__ = ["PAPER"]
