"""Brickell and Shmatikov 2008: what an adversary gains from a release beside what a researcher gains."""

from __future__ import annotations

from sfumato_papers.brickell.rerun import PAPER

__all__ = ["PAPER"]
