"""Describe the adversaries that were considered, and the scenarios of users and adversaries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sfumato.registry import methods
from sfumato.registry.declarations import Attacker, Guards
from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.measurement import Measurement

_WORTH = {
    "equal": "a prediction counts when it is right",
    "distance": "a prediction counts by how near it comes",
    "exact": "a prediction counts when it is exactly right",
    "nearer": "a prediction counts when it is nearer to the truth than the released value",
}


@dataclass(frozen=True)
class Against:
    """The measures against one adversary.

    Parameters
    ----------
    attacker
        Who, and what is wanted; ``None`` for the two who are in every report: the prosecutor, who looks for
        a person's record, and the inquirer, who wants to learn a sensitive value.
    guards
        Whether this one is after ``identity`` or ``attribute`` disclosure.
    measures
        The measures, in words.
    scenarios
        The scenarios in which they were taken.
    """

    attacker: Attacker | None
    guards: Guards
    measures: str
    scenarios: tuple[dict[str, Any], ...] = ()


def measures_against(candidates: Iterable[Candidate]) -> tuple[Against, ...]:
    """Return the adversaries with the measures against each, the prosecutor first.

    Those who want to find a record come before those who want to learn a value, and of each kind the one
    who is in every report first.
    """
    taken: dict[tuple[Guards, Attacker | None], list[Measurement]] = {
        ("identity", None): [],
        ("attribute", None): [],
    }
    for measurement in _measurements(candidates):
        if measurement.axis == "privacy":
            taken.setdefault(adversary_of(measurement.measure), []).append(measurement)
    ordered = sorted(taken, key=lambda who: (who[0] != "identity", who[1].title if who[1] else ""))
    adversaries = []
    for guards, attacker in ordered:
        against = taken[guards, attacker]
        names = dict.fromkeys(measurement.measure for measurement in against)
        titles = formatting.joined(formatting.measure_words(name).title for name in names)
        adversaries.append(Against(attacker, guards, titles, tuple(_scenarios(against))))
    return tuple(adversaries)


def scenario_rows(candidates: Iterable[Candidate]) -> list[dict[str, Any]]:
    """Describe each scenario that was measured: what users and adversaries want from the data."""
    return _scenarios(_measurements(candidates))


def _scenarios(measurements: Iterable[Measurement]) -> list[dict[str, Any]]:
    found: dict[str, Mapping[str, Any]] = {}
    for measurement in measurements:
        written = measurement.parameters.get("scenario")
        if isinstance(written, Mapping):
            found.setdefault(str(written.get("name", "")), written)
    return [_scenario(name, written) for name, written in found.items()]


def _measurements(candidates: Iterable[Candidate]) -> Iterable[Measurement]:
    return (measurement for candidate in candidates for measurement in candidate.measurements)


def adversary_of(measure: str) -> tuple[Guards, Attacker | None]:
    """Return the adversary's goal, and the adversary's kind if the measure declares it."""
    cls = methods.find("measure", measure) or methods.find("model", measure)
    return getattr(cls, "guards", "attribute"), getattr(cls, "against", None)


def _scenario(name: str, written: Mapping[str, Any]) -> dict[str, Any]:
    user, adversary = written.get("user", {}), written.get("adversary", {})
    target = user.get("target")
    return {
        "name": name,
        "targets": (target,) if isinstance(target, str) else tuple(target or ()),
        "user": _judged(user.get("error", "equal"), user),
        "attacked": tuple(adversary.get("attributes", ())),
        "known": tuple(adversary.get("knows", ())),
        "adversary": _judged(adversary.get("reduction", "exact"), adversary),
        "folds": written.get("folds"),
    }


def _judged(judgement: str, part: Mapping[str, Any]) -> str:
    """Describe the miners that predict, what a prediction is worth, and whose records weigh more."""
    worth = _WORTH.get(judgement, f"a prediction is worth {judgement}")
    if judgement == "nearer" and part.get("c"):
        worth += f" by at least {formatting.number(float(part['c']))}%"
    weights = part.get("weights", 1.0)
    counted = f"; a record counts {weights}" if isinstance(weights, str) else ""
    return f"by {formatting.joined(map(str, part.get('miners', ())))}; {worth}{counted}"
