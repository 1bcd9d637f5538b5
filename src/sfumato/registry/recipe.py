"""A recipe: the sanitizer, its parameters and the seed that make one release."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from sfumato.registry import methods
from sfumato.registry.declarations import ReleaseType
from sfumato.runtime.errors import ParameterError


@dataclass(frozen=True)
class Recipe:
    """A sanitizer's name, its parameters and the seed of its randomness.

    The same recipe with the same seed on the same table gives the same released cells. A recipe without a
    seed is given one by the system when it is carried out. The seed is the owner's secret: who has it can
    repeat every random choice of the sanitizer. The order of what is written never comes from it.

    Examples
    --------
    >>> recipe = Recipe("mondrian", {"model": {"k-anonymity": {"k": 10}}})
    >>> Recipe.from_json(recipe.to_json()) == recipe
    True
    """

    sanitizer: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = field(default=None, repr=False)

    @classmethod
    def of(cls, sanitizer: object, seed: int | None = None) -> Recipe:
        """Write down a sanitizer with all its parameters."""
        name, parameters = methods.describe(sanitizer)
        return cls(name, parameters, seed)

    def build(self) -> Any:
        """Return the sanitizer, its parameters checked."""
        return methods.build("sanitizer", self.sanitizer, self.parameters)

    def seeded(self) -> Recipe:
        """Return the recipe with a seed: its own, or else one that the system draws."""
        return self if self.seed is not None else replace(self, seed=secrets.randbits(128))

    def generator(self) -> np.random.Generator:
        """Return a fresh source of randomness from the seed, or from the system where there is none."""
        return np.random.default_rng(self.seeded().seed)

    def normalized(self) -> Recipe:
        """Return the same recipe with every parameter written out, defaults included."""
        return replace(Recipe.of(self.build()), seed=self.seed)

    @property
    def release_type(self) -> ReleaseType:
        """What the rows of a release by this recipe stand for."""
        return getattr(methods.find("sanitizer", self.sanitizer), "release_type", "people")

    @property
    def key(self) -> str:
        """A hash of the method and its parameters that are not at their defaults, the seed left out.

        A parameter that a later version of the method adds does not change it.
        """
        changed = _without_defaults("sanitizer", self.sanitizer, self.parameters)
        if isinstance(changed.get("model"), Mapping):
            changed["model"] = {
                name: _without_defaults("model", name, given) for name, given in changed["model"].items()
            }
        facts = {"sanitizer": self.sanitizer, "parameters": changed}
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    def public_json(self) -> str:
        """Return what may be published of the recipe: everything but the seed."""
        return json.dumps({"sanitizer": self.sanitizer, "parameters": self.parameters}, sort_keys=True)

    def to_json(self) -> str:
        """Return the recipe with its seed, for the owner's eyes."""
        facts = {"sanitizer": self.sanitizer, "parameters": self.parameters, "seed": self.seed}
        return json.dumps(facts, sort_keys=True)

    @classmethod
    def from_json(cls, written: str) -> Recipe:
        """Read what `to_json` or `public_json` wrote."""
        try:
            # a seed that is not a number must not pass for none: another seed gives another release
            match {"seed": None, **json.loads(written)}:
                case {"sanitizer": str(name), "parameters": dict(parameters), "seed": int() | None as seed}:
                    return cls(name, parameters, seed)
        except (ValueError, TypeError):
            pass
        raise ParameterError("not a recipe; expected sanitizer, parameters and seed as JSON")

    def __str__(self) -> str:
        return methods.phrase(self.sanitizer, self.parameters)


def _without_defaults(
    kind: Literal["sanitizer", "model"], name: str, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Leave out the parameters at their defaults; those of a method that is not known all stay."""
    method = methods.find(kind, name)
    defaults = {} if method is None else methods.defaults_of(method)
    return {key: value for key, value in given.items() if key not in defaults or value != defaults[key]}
