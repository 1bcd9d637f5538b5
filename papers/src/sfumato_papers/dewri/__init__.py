"""Dewri and others 2011: the publisher's dilemma, four problems and the answers to four questions."""

from __future__ import annotations

from sfumato_papers.dewri.rerun import PAPER

__all__ = ["PAPER"]
