"""Defaults: what is measured where a project names no measures. A choice of ours, not a fact of a method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sfumato import registry
from sfumato.schema import Schema

Written = str | Mapping[str, Any]

PRIVACY_MEASURES: tuple[Written, ...] = (
    "privacy-loss",
    "knowledge-gain",
    "accuracy-gain",
    "reidentification-risk",
    "weighted-k",
    "k-anonymity",
)
UTILITY_MEASURES: tuple[Written, ...] = ("general-loss", "suppression-loss", "total-loss", "discernibility")


def default_measures(schema: Schema) -> tuple[tuple[Written, ...], tuple[Written, ...]]:
    """Return the privacy and the utility measures of a project that names none."""
    privacy = PRIVACY_MEASURES if schema.sensitive else tuple(filter(_guards_identity, PRIVACY_MEASURES))
    return privacy, UTILITY_MEASURES


def _guards_identity(written: Written) -> bool:
    name, _ = registry.name_and_parameters(written)
    cls = registry.find("measure", name) or registry.look_up("model", name)
    return bool(cls.guards == "identity")
