"""Li and Li 2009: privacy loss against utility loss, for four requirements and two kinds of release."""

from __future__ import annotations

from sfumato_papers.li.rerun import PAPER

__all__ = ["PAPER"]
