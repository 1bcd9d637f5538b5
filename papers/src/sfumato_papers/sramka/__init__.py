"""Sramka and others 2010: data miners as users and as adversaries of k-anonymity and noise."""

from __future__ import annotations

from sfumato_papers.sramka.rerun import PAPER

__all__ = ["PAPER"]
