"""Shapes of JSON documents: how they are built from the objects that they describe, and written."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest
from msgspec import UNSET, UnsetType

from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.json_schemas import Shape, WayShape


class InnerShape(Shape):
    """A part."""

    two_words: int


class OuterShape(Shape):
    """A whole."""

    name: str
    records: int
    parts: list[InnerShape]
    rest: InnerShape | None
    notes: list[str] | UnsetType = UNSET


@dataclass(frozen=True)
class Part:
    """An object whose attribute has the name of a key."""

    two_words: int


@dataclass(frozen=True)
class Whole:
    """An object that counts records and has parts."""

    name: str
    n_records: int
    parts: tuple[Part, ...] = ()
    rest: Part | None = None
    notes: tuple[str, ...] = field(default=())


def test_a_shape_takes_the_attributes_with_the_names_of_its_keys() -> None:
    made = OuterShape.of(Whole("all", 3, (Part(1), Part(2)), Part(3), ("so",)))
    assert made.to_dict() == {
        "name": "all",
        "records": 3,
        "parts": [{"two-words": 1}, {"two-words": 2}],
        "rest": {"two-words": 3},
        "notes": ["so"],
    }


def test_a_key_that_may_be_missing_is_where_there_is_nothing_to_state() -> None:
    assert "notes" not in OuterShape.of(Whole("all", 0)).to_dict()
    assert OuterShape.of(Whole("all", 0)).to_dict()["rest"] is None
    assert OuterShape.of(Whole("all", 0), records=7).to_dict()["records"] == 7


def test_an_attribute_that_is_missing_is_an_error() -> None:
    with pytest.raises(AttributeError, match="n_records"):
        OuterShape.of(Part(1), name="all")


def test_infinity_is_a_word() -> None:
    assert OuterShape("all", math.inf, [], None).to_dict()["records"] == "Infinity"  # type: ignore[arg-type]


def test_a_recipe_is_shown_without_its_seed() -> None:
    candidate = Candidate("c1", Recipe("as-is", {}, seed=987654321))
    assert WayShape.of(candidate).to_dict() == {"id": "c1", "parameters": {}, "sanitizer": "as-is"}
