"""The adversary who knows the recipe, shared by the measures of this room."""

from __future__ import annotations

from typing import ClassVar

from sfumato.registry.declarations import Attacker, Axis, Better, Guards, Needs
from sfumato.results.measurement import Measure

RECIPE_READER = Attacker(
    "The reader of the recipe",
    "Knows by which method, with which parameters and along which hierarchies the release was made, and asks "
    "what the original must have been like for it to come out so.",
)
"""Whoever knows how the release was made: the recipe is published with it."""


class RecipeReaderMeasure(Measure):
    """What an adversary who knows the recipe learns about people's values."""

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "attribute"
    needs: ClassVar[Needs] = "records"
    against: ClassVar[Attacker] = RECIPE_READER
    is_attack: ClassVar[bool] = True
