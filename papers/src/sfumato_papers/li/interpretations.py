"""Declare the ambiguous passages of Li and Li 2009."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato.registry import methods
from sfumato_papers.interpretations import Ambiguity, Interpretation
from sfumato_papers.settings import Change

STRICT_ABSENCE = "absent=violates"
_CATEGORIES = ["workclass", "education", "marital-status", "race"]

AMBIGUITIES = (
    Ambiguity(
        "cutting",
        "How does mondrian cut categories, and what becomes of the records at a median?",
        "We implemented Mondrian [17] to enforce four requirements",
        "section 5",
        (
            Interpretation("hierarchy", "categories along their hierarchies, equal values stay together"),
            Interpretation("order", "categories anywhere in their order, equal values stay together"),
            Interpretation("shared", "along the hierarchies, the records at a median are shared out"),
            Interpretation("shared-order", "anywhere in the order, the records at a median are shared out"),
        ),
        "Generalized values are those of hierarchies; the paper does not say more.",
    ),
    Ambiguity(
        "absent",
        "Does a value that a class lacks break semantic privacy?",
        "We choose the privacy parameters (i.e., k, l, t, and delta) such that all privacy requirements span "
        "a similar range of privacy loss on the x-axis",
        "section 5.1",
        (
            Interpretation("ignored", "only values that occur in a class are compared"),
            Interpretation("violates", "a class that lacks a value breaks it, as in Brickell and Shmatikov"),
        ),
        "Only then the four requirements span a similar range, as the paper says that they do.",
    ),
    Ambiguity(
        "selectivity",
        "What is the selectivity of a query?",
        "The query selectivity sel indicates the fraction of selected values for each quasi-identifier.",
        "section 5.2; of figure 3(c) it says: when query selectivity is fixed, the number of points in the "
        "retrieved region is larger when qd is larger",
        (
            Interpretation("joint", "the share of all combinations of values, as in the works it refers to"),
            Interpretation("each", "the share of the values of each attribute"),
        ),
        "With a fixed share of each attribute a region shrinks with every further attribute, and the paper "
        "says that it grows.",
    ),
)


def _mondrian(variant: str, *, free: bool) -> Change:
    def change(document: Any) -> None:
        for block in document["candidates"]:
            if block["sanitizer"] in ("mondrian", "bucketize"):
                block["variant"] = variant
                if free:
                    block["free"] = _CATEGORIES

    return change


def _swap_absence(document: Any) -> None:
    """Swap the two meanings of an absent value, so that both are still drawn."""
    for block in document["candidates"]:
        if "delta-disclosure" in block.get("model", {}):
            model = block["model"]["delta-disclosure"]
            model["absent"] = "ignored" if model["absent"] == "violates" else "violates"


def _select_each(document: Any) -> None:
    utility = document["measure"]["utility"]
    for place, measure in enumerate(list(utility)):
        name, parameters = methods.name_and_parameters(measure)
        if name == "query-error":
            utility[place] = {name: {**parameters, "rule": "each"}}


OF_LOSSES: Mapping[str, Change] = {
    "cutting=order": _mondrian("strict", free=True),
    "cutting=shared": _mondrian("relaxed", free=False),
    "cutting=shared-order": _mondrian("relaxed", free=True),
    STRICT_ABSENCE: _swap_absence,
}
"""What each interpretation changes in the half about losses, in which nothing happens by chance."""
OF_QUERIES: Mapping[str, Change] = {**OF_LOSSES, "selectivity=each": _select_each}
"""What each interpretation changes in the half about queries."""
