"""List the attacks on a release with their success rates, and the attacks that were not tried."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sfumato.registry import methods
from sfumato.registry.declarations import ReleaseType
from sfumato.results import formatting
from sfumato.results.measurement import Measurement, inapplicable_reason
from sfumato.workflow.report.adversaries import adversary_of
from sfumato.workflow.report.table_rows import claimed_row

_RATES = ("attacked", "control", "guessing")


def is_attack(measure: str) -> bool:
    """Return whether a measure of this name tries an attack."""
    return bool(getattr(methods.find("measure", measure), "is_attack", False))


def attacker_of(measure: str) -> str:
    """Return who attacks, in words."""
    attacker = adversary_of(measure)[1]
    return "" if attacker is None else attacker.title


def attack_rows(measurements: Iterable[Measurement]) -> list[dict[str, Any]]:
    """Describe the success of each attack: on people in the data, on others, and without the release.

    Parameters
    ----------
    measurements
        What was measured of one release; other measures have no row.
    """
    return [
        claimed_row(found) | {"attacker": attacker_of(found.measure), "rates": _rates(found)}
        for found in measurements
        if is_attack(found.measure)
    ]


def _rates(found: Measurement) -> dict[str, str]:
    """Return how often an attack succeeds; the baseline is that of guessing if no rates are given."""
    told = {name: formatting.share(found.detail[name]) if name in found.detail else "" for name in _RATES}
    if found.baseline is None:
        return told
    return {**told, "guessing": formatting.value_of(found.measure, found.baseline)}


def attacks_tried(taken: Iterable[str]) -> frozenset[str]:
    """Return the measures that were taken, and the attacks that some of them include."""
    given = frozenset(taken)
    return given.union(*(getattr(methods.find("measure", name), "includes", ()) for name in given))


def attacks_not_tried(taken: Iterable[str], release_type: ReleaseType | None = None) -> list[dict[str, Any]]:
    """Return the attacks that were not tried, each with the reason where it would not apply.

    Parameters
    ----------
    taken
        The measures that were taken; `attack-risk` tries several attacks at once.
    release_type
        What the rows of the release stand for; ``None`` where releases of several types are spoken of.
    """
    tried = attacks_tried(taken)
    known = {name: cls for name, cls in methods.registered("measure").items() if is_attack(name)}
    # a plug-in that only one side has would make the same report read differently to the other
    return [
        {
            "name": name,
            "words": formatting.measure_words(name),
            "attacker": attacker_of(name),
            "reason": "" if release_type is None else inapplicable_reason(cls, release_type),
        }
        for name, cls in known.items()
        if name not in tried and not methods.is_plugged_in(cls)
    ]
