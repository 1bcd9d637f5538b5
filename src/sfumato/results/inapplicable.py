"""Reasons why a measure does not apply to a release."""

from __future__ import annotations


class NotApplicable(Exception):
    """Raised inside a measure that has nothing to say about a release; the message is the reason."""
