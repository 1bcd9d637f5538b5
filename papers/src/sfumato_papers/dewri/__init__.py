"""Dewri and others 2011: the publisher's dilemma as four problems and four questions."""

from __future__ import annotations

from sfumato_papers.dewri.rerun import PAPER

__all__ = ["PAPER"]
