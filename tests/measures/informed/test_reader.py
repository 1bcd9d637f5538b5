"""What all measures of the reader of the recipe declare."""

from __future__ import annotations

import pytest

from sfumato.measures import BorderGain, DeFinettiGain, Downcoding, DowncodingGain, Measure, MinimalityRisk
from sfumato.measures.informed.informed_reader import RECIPE_READER


@pytest.mark.parametrize("kind", [BorderGain, DeFinettiGain, Downcoding, DowncodingGain, MinimalityRisk])
def test_an_attack_on_attributes_that_needs_the_records(kind: type[Measure]) -> None:
    assert (kind.axis, kind.better, kind.guards) == ("privacy", "lower", "attribute")
    assert (kind.needs, kind.is_attack, kind.against) == ("records", True, RECIPE_READER)
