"""Provenance: what made a result, so that an upgrade computes again what it changes and nothing else.

A method, model, measure or search that computes something else than before, or has another default, declares
``version: ClassVar[int] = 2``; one that declares none is in its first version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sfumato import registry
from sfumato.errors import SfumatoError

if TYPE_CHECKING:
    from sfumato.measures.base import Measure
    from sfumato.recipe import Recipe
    from sfumato.schema import Schema
    from sfumato.table import Table


def source_of(table: Table, schema: Schema) -> str:
    """Return a hash of a bound table and schema, to know which candidates belong to them."""
    return hashlib.sha256(f"{table.fingerprint} {schema.fingerprint}".encode()).hexdigest()


def version_of(cls: type[Any] | None) -> int:
    """Return the version that a class declares, 1 if it declares none."""
    return getattr(cls, "version", 1)


def all_versions() -> dict[str, int]:
    """Return the versions of everything that a measure may use, first versions left out."""
    kinds: tuple[registry.Kind, ...] = ("measure", "model", "miner")
    known = {f"{kind} {name}": cls for kind in kinds for name, cls in registry.registered(kind).items()}
    return {name: version_of(cls) for name, cls in known.items() if version_of(cls) != 1}


def method_versions(recipe: Recipe) -> dict[str, int]:
    """Return the versions of the sanitizer and the models of a recipe, first versions left out.

    Examples
    --------
    >>> from sfumato.recipe import Recipe
    >>> method_versions(Recipe("mondrian", {"model": {"k-anonymity": {"k": 5}}}))
    {}
    """
    models = recipe.parameters.get("model")
    known = registry.registered("model")
    used = {name: known.get(name) for name in models} if isinstance(models, Mapping) else {}
    used[recipe.sanitizer] = registry.registered("sanitizer").get(recipe.sanitizer)
    return {name: version_of(cls) for name, cls in sorted(used.items()) if version_of(cls) != 1}


def asked_key(measure: str | Mapping[str, Any] | Measure) -> str:
    """Return under which key the store keeps what a measure took: parameters at their defaults left out.

    Examples
    --------
    >>> asked_key("t-closeness distance=js"), asked_key({"privacy-loss": {}})
    ('{"t-closeness": {"distance": "js"}}', '"privacy-loss"')
    """
    from sfumato.measures.base import LevelReached, Measure

    asked = measure if isinstance(measure, Measure) else registry.build_measure(measure)
    changed = registry.changed_parameters(asked.model if isinstance(asked, LevelReached) else asked)
    return json.dumps({asked.name: changed} if changed else asked.name, sort_keys=True)


def measure_version(key: str) -> int:
    """Return the version of the measure, or of the model, that a key names."""
    try:
        name, _ = registry.name_and_parameters(json.loads(key))
    except (ValueError, SfumatoError):
        return 1
    known = {**registry.registered("measure"), **registry.registered("model")}
    return version_of(known.get(name))
