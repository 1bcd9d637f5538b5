"""Sramka and others 2010: data miners as users and as adversaries, k-anonymity against noise."""

from __future__ import annotations

from sfumato_papers.sramka.rerun import PAPER

__all__ = ["PAPER"]
