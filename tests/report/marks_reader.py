"""Reads a published page as people see it: without the marks that programs read."""

from __future__ import annotations

import re


def without_marks(page: str) -> str:
    """Return a page without marks: what is left is the markup that makes it look as it does."""
    plain = re.sub(r' data-(?:claim|value|block)="[^"]*"| data-explains', "", page)
    return re.sub(r"<span>([^<]*)</span>", r"\1", plain)
