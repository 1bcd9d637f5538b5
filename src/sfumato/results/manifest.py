"""Read the record of a manifest: recipe, policy, measurements and promised models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.ordered_ranges import OR_MISSING
from sfumato.models.base import PrivacyModel
from sfumato.registry.recipe import Recipe
from sfumato.results.label_parsing import interval_ends
from sfumato.results.measurement import (
    Measurement,
    build_measure,
)
from sfumato.results.pareto import Limit
from sfumato.results.release import Release
from sfumato.runtime.errors import ParameterError
from sfumato.verification.documents import (
    Claimed,
    Manifest,
    numeral,
)


def recipe_of(manifest: Manifest) -> Recipe:
    """Return the recipe of a published folder; it has no seed."""
    return Recipe(manifest.recipe.sanitizer, manifest.recipe.parameters)


def measurement_of(claim: Claimed) -> Measurement:
    """Return a claim as the measurement that it was."""
    return Measurement(
        claim.measure,
        None if claim.value is None else numeral(claim.value),
        claim.axis,
        claim.better,
        claim.attribute,
        None if claim.interval is None else (numeral(claim.interval[0]), numeral(claim.interval[1])),
        None if claim.baseline is None else numeral(claim.baseline),
        claim.detail,
        _own_parameters(claim.measure, claim.parameters),
    )


def policy_of(manifest: Manifest) -> dict[str, Limit]:
    """Return the policy of a published folder."""
    return {
        name: Limit(
            at_most=np.inf if limit.at_most is None else limit.at_most,
            at_least=-np.inf if limit.at_least is None else limit.at_least,
        )
        for name, limit in manifest.policy.items()
    }


def promised_by(recipe: Recipe) -> tuple[PrivacyModel, ...]:
    """Return the single models that a recipe promises."""
    model = getattr(recipe.build(), "model", None)
    return () if model is None else model.parts


def intervals_at_values(release: Release) -> tuple[str, ...]:
    """Return the attributes with intervals that end at values of people."""
    return tuple(name for name in release.schema.quasi_identifiers if ends_at_values(release, name))


def ends_at_values(release: Release, name: str) -> bool:
    """Return whether some released intervals end at people's values: no hierarchy and no grid names them."""
    if release.recipe is not None and release.recipe.parameters.get("borders") == "grid":
        return False
    hierarchy = release.schema.hierarchy(name)
    used = {release.cells[name].labels[code] for code in release.cells[name].occurring}
    foreign = [label for label in used if label is not None and label not in hierarchy.nodes_named]
    return any(label.startswith("[") or _ranges_over_values(hierarchy, label) for label in foreign)


def _ranges_over_values(hierarchy: Hierarchy, label: str) -> bool:
    """Return whether a label has a range whose ends are values, not branches."""
    plain = label.removesuffix(OR_MISSING)
    if not hierarchy.line.is_number:
        return interval_ends(plain, hierarchy.line) is not None
    parts = plain.strip("{}").split(", ")
    return any(node is not None and node[0] == 0 for node in map(hierarchy.range_named, parts))


def _own_parameters(measure: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        own: Mapping[str, Any] = build_measure({measure: parameters}).parameters
    except ParameterError:
        return parameters
    return own
