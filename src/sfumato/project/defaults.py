"""Defaults: what is measured where a project names no measures. A choice of ours, not a fact of a method."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from sfumato import registry
from sfumato.facts import RecordKind
from sfumato.schema import Schema

Written = str | Mapping[str, Any]

PRIVACY_MEASURES: tuple[Written, ...] = (
    "privacy-loss",
    "knowledge-gain",
    "accuracy-gain",
    "reidentification-risk",
    "weighted-k",
    "k-anonymity",
    "probabilistic-diversity",
    "t-closeness",
)
UTILITY_MEASURES: tuple[Written, ...] = ("general-loss", "suppression-loss", "total-loss", "discernibility")
OF_SAMPLES: tuple[Written, ...] = ("journalist-risk", "population-uniqueness")
OF_HOUSEHOLDS: tuple[Written, ...] = ("household-risk",)
OF_PEOPLE: tuple[Written, ...] = ("trace-risk",)
PEOPLE: tuple[RecordKind, ...] = ("people",)
OF_EVERY_KIND: tuple[Written, ...] = ("attack-risk",)
"""The first axis where releases are tried whose rows do not stand for people one by one."""
AS_NUMBERS: Written = {"t-closeness": {"distance": "natural"}}
"""What takes the place of t-closeness where some sensitive values are numbers."""


def kinds_of(sanitizers: Iterable[str]) -> set[RecordKind]:
    """Return what the rows of releases by these sanitizers stand for.

    Examples
    --------
    >>> sorted(kinds_of(["mondrian", "laplace"]))
    ['people', 'perturbed']
    """
    return {getattr(registry.find("sanitizer", name), "kind", "people") for name in sanitizers}


def default_measures(
    schema: Schema, *, size_is_known: bool = False, kinds: Collection[RecordKind] = PEOPLE
) -> tuple[tuple[Written, ...], tuple[Written, ...]]:
    """Return the privacy and the utility measures of a project that names none, the axes first.

    Where a sensitive attribute is numeric, groups are compared as numbers: by how far the values lie apart,
    not by which of them occur. Where it is known of how large a population the records are a sample, who
    lives together, or whose a record is, the risks that follow are measured as well. Where some
    of the releases are perturbed or synthetic, the first axis of privacy is the attack risk, which judges
    all kinds alike.
    """
    privacy, utility = _of_people(schema, size_is_known)
    return (privacy if set(kinds) <= {*PEOPLE} else (*OF_EVERY_KIND, *privacy)), utility


def _of_people(schema: Schema, size_is_known: bool) -> tuple[tuple[Written, ...], tuple[Written, ...]]:
    more = (
        *(OF_PEOPLE if schema.person is not None else ()),
        *(OF_SAMPLES if size_is_known or schema.survey_weight is not None else ()),
        *(OF_HOUSEHOLDS if schema.household is not None else ()),
    )
    if not schema.sensitive:
        return (*filter(_guards_identity, PRIVACY_MEASURES), *more), UTILITY_MEASURES
    utility = ("utility-loss", *UTILITY_MEASURES) if schema.quasi_identifiers else UTILITY_MEASURES
    if any(schema[name].kind == "numeric" for name in schema.sensitive):
        numbers = (AS_NUMBERS, *(each for each in PRIVACY_MEASURES if each != "t-closeness"))
        return (*numbers, *more), utility
    return (*PRIVACY_MEASURES, *more), utility


def _guards_identity(written: Written) -> bool:
    name, _ = registry.name_and_parameters(written)
    cls = registry.find("measure", name) or registry.look_up("model", name)
    return bool(cls.guards == "identity")
