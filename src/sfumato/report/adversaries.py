"""Adversaries: who was considered, and the scenarios in which users and adversaries mine the release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sfumato import formatting
from sfumato.frontier import Candidate
from sfumato.measures.base import Measurement

_OF_THEIR_OWN = {
    "journalist-risk": "journalist",
    "marketer-risk": "marketer",
    "auxiliary-gain": "list-holder",
    "anti-utility": "miner",
    "nearer-knowledge-gain": "miner",
    "nearer-accuracy-gain": "miner",
}
ADVERSARIES = ("prosecutor", "journalist", "marketer", "inquirer", "list-holder", "miner")
_BY_WHAT_THEY_SEEK = {"identity": "prosecutor", "attribute": "inquirer"}
_WORTH = {
    "equal": "a prediction counts when it is right",
    "distance": "a prediction counts by how near it comes",
    "exact": "a prediction counts when it is exactly right",
    "nearer": "a prediction counts when it is nearer to the truth than the released value",
}


def measures_against(candidates: Iterable[Candidate]) -> dict[str, str]:
    """Return for each adversary, by name, the measures that were taken against that one, in words."""
    taken: dict[str, dict[str, None]] = {who: {} for who in ADVERSARIES}
    for measurement in _measurements(candidates):
        if measurement.axis == "privacy":
            taken[_adversary(measurement.measure)][measurement.measure] = None
    return {
        who: formatting.joined(formatting.measure_words(name).title for name in names)
        for who, names in taken.items()
    }


def scenario_rows(candidates: Iterable[Candidate]) -> list[dict[str, Any]]:
    """Describe each scenario that something was measured in: what users and adversaries want of the data."""
    found: dict[str, Mapping[str, Any]] = {}
    for measurement in _measurements(candidates):
        written = measurement.parameters.get("scenario")
        if isinstance(written, Mapping):
            found.setdefault(str(written.get("name", "")), written)
    return [_scenario(name, written) for name, written in found.items()]


def _measurements(candidates: Iterable[Candidate]) -> Iterable[Measurement]:
    return (measurement for candidate in candidates for measurement in candidate.measurements)


def _adversary(measure: str) -> str:
    return _OF_THEIR_OWN.get(measure) or _BY_WHAT_THEY_SEEK[formatting.guards(measure)]


def _scenario(name: str, written: Mapping[str, Any]) -> dict[str, Any]:
    user, adversary = written.get("user", {}), written.get("adversary", {})
    return {
        "name": name,
        "target": user.get("target"),
        "user": _judged(user.get("error", "equal"), user),
        "attacked": tuple(adversary.get("attributes", ())),
        "adversary": _judged(adversary.get("reduction", "exact"), adversary),
        "folds": written.get("folds"),
    }


def _judged(judgement: str, part: Mapping[str, Any]) -> str:
    """Say by which miners somebody predicts, what a prediction is worth, and whose records count more."""
    worth = _WORTH.get(judgement, f"a prediction is worth {judgement}")
    if judgement == "nearer" and part.get("c"):
        worth += f" by at least {formatting.number(float(part['c']))}%"
    weights = part.get("weights", 1.0)
    counted = f"; a record counts {weights}" if isinstance(weights, str) else ""
    return f"by {formatting.joined(map(str, part.get('miners', ())))}; {worth}{counted}"
