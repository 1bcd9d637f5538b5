"""The adversary of this room."""

from __future__ import annotations

from sfumato.facts import Attacker

RECIPE_READER = Attacker(
    "The reader of the recipe",
    "Knows by which method, with which parameters and along which hierarchies the release was made, and asks "
    "what the original must have been like for it to come out so.",
)
"""Whoever knows how the release was made: the recipe is published with it."""
