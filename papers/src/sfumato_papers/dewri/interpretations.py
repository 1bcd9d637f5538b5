"""Declare the ambiguous passages of Dewri and others 2011."""

from __future__ import annotations

from typing import Any

from sfumato_papers.interpretations import Ambiguity, Interpretation

AMBIGUITIES = (
    Ambiguity(
        "diversity",
        "What is the l of a (k, l)-safe release?",
        "uses an instantiation of l-diversity that specifies the minimum number of distinct values of a "
        "sensitive attribute that must appear in a QI-group",
        "section 4.3; section 4.2 says before: we shall use the instantiation given in Def. 4",
        (
            Interpretation("probabilistic", "one over the largest share of a value in a class, definition 4"),
            Interpretation("distinct", "how many different values a class has, section 4.3"),
        ),
        "The paper names definition 4 as the one that it uses. Both sentences cannot be true.",
    ),
    Ambiguity(
        "columns",
        "Is occupation generalized in problems 1 to 3?",
        "The attributes workclass, marital status, occupation and native country are constrained by defining "
        "a hierarchy tree on them. [...] For Problem 4, the occupation attribute is considered sensitive.",
        "section 6.5",
        (
            Interpretation("nine", "all nine attributes are generalized, occupation among them"),
            Interpretation("eight", "occupation is left out of all four problems"),
        ),
        "Only for problem 4 the paper says that it is not.",
    ),
    Ambiguity(
        "ages",
        "Between which ages may be cut?",
        "For example, a granularity level of 5 shall discretize the domain",
        "section 6.1",
        (
            Interpretation("five", "between intervals of five years, the example of the paper"),
            Interpretation("years", "between any two ages"),
        ),
        "No other granularity is named.",
    ),
)


def distinct_diversity(document: Any) -> None:
    """Let l be the number of different values."""
    for block in document["candidates"]:
        if block["problem"] == "k-l-safety":
            block["diversity"] = "distinct"
    document["measure"]["privacy"].append("distinct-diversity")


def eight_columns(document: Any) -> None:
    """Leave occupation out."""
    document["attributes"]["occupation"]["role"] = "withheld"


def any_age(document: Any) -> None:
    """Cut between any two ages."""
    for block in document["candidates"]:
        block["granularity"] = {"age": 0}
