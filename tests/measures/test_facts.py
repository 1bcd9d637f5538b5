"""What the measures declare, which reports, verification and the frontier go by."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato.measures import LevelReached
from sfumato.measures.identity.reidentification import JournalistRisk, KMap, MarketerRisk
from sfumato.models import KAnonymity
from sfumato.registry import methods

EVERY = ("people", "perturbed", "synthetic")
PERTURBED = ("people", "perturbed")

# axis, better, what is guarded against, what is needed
FACTS: dict[str, tuple[str, str, str | None, str]] = {
    "accuracy-gain": ("privacy", "lower", "attribute", "release"),
    "auxiliary-gain": ("privacy", "lower", "attribute", "original"),
    "average-class-size": ("utility", "lower", None, "release"),
    "composition-k": ("privacy", "higher", "identity", "records"),
    "composition-loss": ("privacy", "lower", "attribute", "records"),
    "discernibility": ("utility", "lower", None, "release"),
    "disclosure-quotient": ("privacy", "lower", "attribute", "release"),
    "epsilon": ("privacy", "lower", "identity", "original"),
    "general-loss": ("utility", "lower", None, "original"),
    "household-risk": ("privacy", "lower", "identity", "records"),
    "individual-risk": ("privacy", "lower", "identity", "records"),
    "information-gain": ("privacy", "lower", "attribute", "release"),
    "journalist-risk": ("privacy", "lower", "identity", "release"),
    "k-map": ("privacy", "higher", "identity", "records"),
    "kl-divergence": ("utility", "lower", None, "original"),
    "knowledge-gain": ("privacy", "lower", "attribute", "release"),
    "m-invariance": ("privacy", "higher", "attribute", "records"),
    "marketer-risk": ("privacy", "lower", "identity", "release"),
    "population-uniqueness": ("privacy", "lower", "identity", "records"),
    "precision": ("utility", "higher", None, "original"),
    "privacy-delta": ("privacy", "lower", "identity", "original"),
    "privacy-loss": ("privacy", "lower", "attribute", "release"),
    "quasi-identifier-contribution": ("privacy", "lower", "identity", "release"),
    "query-error": ("utility", "lower", None, "original"),
    "reidentification-risk": ("privacy", "lower", "identity", "release"),
    "suppression-loss": ("utility", "lower", None, "release"),
    "total-loss": ("utility", "lower", None, "original"),
    "trace-risk": ("privacy", "lower", "identity", "records"),
    "utility-loss": ("utility", "lower", None, "original"),
    "weighted-k": ("privacy", "higher", "identity", "release"),
    "workload-utility": ("utility", "higher", None, "original"),
    "worst-group-loss": ("utility", "lower", None, "original"),
    "worst-group-risk": ("privacy", "lower", "attribute", "original"),
}
ATTACKS = {"auxiliary-gain", "composition-k", "composition-loss"}
# who has something to say of records that are not people's own
JUDGES = {
    **dict.fromkeys(("auxiliary-gain", "epsilon", "privacy-delta"), EVERY),
    **dict.fromkeys(("kl-divergence", "query-error", "utility-loss"), EVERY),
    **dict.fromkeys(("worst-group-loss", "worst-group-risk"), EVERY),
    **dict.fromkeys(("suppression-loss", "workload-utility"), PERTURBED),
}
PROMISED = {"epsilon", "privacy-delta"}
# the parameters that are not left open, as they are where nobody says otherwise
DEFAULTS: dict[str, dict[str, object]] = {
    "auxiliary-gain": {"known": [], "people": 1000, "seed": 0},
    "average-class-size": {"k": 1},
    "composition-k": {"k": 5},
    "composition-loss": {"threshold": 0.1},
    "household-risk": {"threshold": 0.2},
    "individual-risk": {"threshold": 0.2},
    "journalist-risk": {"threshold": 0.2},
    "kl-divergence": {"reconstruction": "uniform", "sensitive": True},
    "population-uniqueness": {"method": "dankar"},
    "privacy-loss": {"threshold": 0.1, "distance": "js"},
    "quasi-identifier-contribution": {"permutations": 200},
    "query-error": {
        "queries": 1000,
        "dimensions": 2,
        "selectivity": 0.05,
        "seed": 0,
        "reconstruction": "uniform",
        "rule": "joint",
    },
    "reidentification-risk": {"threshold": 0.2},
    "utility-loss": {"minimum-support": 0.05, "reconstruction": "uniform"},
    "workload-utility": {
        "target": "",
        "miners": ["decision-tree", "naive-bayes"],
        "folds": 10,
        "seed": 0,
        "time-limit": 600.0,
        "cells": "shares",
    },
    "worst-group-loss": {"attribute": "", "of": "utility-loss", "smallest": 100},
    "worst-group-risk": {"attribute": "", "of": "privacy-loss", "smallest": 100},
}


@pytest.mark.parametrize("name", FACTS)
def test_a_measure_declares_its_side_its_direction_and_what_it_needs(name: str) -> None:
    cls: Any = methods.registered("measure")[name]
    assert (cls.axis, cls.better, getattr(cls, "guards", None), cls.needs) == FACTS[name]
    assert cls.is_attack == (name in ATTACKS)
    assert cls.judges == JUDGES.get(name, ("people",))
    assert getattr(cls, "is_promised", False) == (name in PROMISED)


@pytest.mark.parametrize("name", FACTS)
def test_a_measure_is_taken_by_these_parameters_where_nobody_says_otherwise(name: str) -> None:
    _, parameters = methods.describe(methods.registered("measure")[name]())
    told = {each: value for each, value in parameters.items() if value is not None}
    assert told == DEFAULTS.get(name, {})


def test_the_level_of_a_model_is_privacy_and_can_be_seen_in_the_release() -> None:
    level = LevelReached(KAnonymity())
    assert (level.axis, level.needs, level.name) == ("privacy", "release", "k-anonymity")


@pytest.mark.parametrize(
    ("kind", "needs"),
    [
        (JournalistRisk, ("records", "release", "original")),
        (KMap, ("records", "records", "original")),
        (MarketerRisk, ("release", "release", "original")),
    ],
)
def test_a_risk_in_a_population_needs_what_tells_the_population(kind: Any, needs: tuple[str, ...]) -> None:
    """Survey weights belong to records, a size is enough for readers, a file is not published."""
    found = kind(), kind(population_size=10), kind(population="people.csv")
    assert tuple(each.requires for each in found) == needs
