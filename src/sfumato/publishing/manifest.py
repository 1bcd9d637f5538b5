"""Manifest: what a published folder says of itself."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sfumato.errors import UserError, VerificationFailed
from sfumato.measures.base import Measurement
from sfumato.publishing.layout import Layout
from sfumato.recipe import Recipe

NAME, REPORT, DATAPACKAGE = "manifest.json", "report.html", "datapackage.json"


@dataclass(frozen=True)
class Requirement:
    """One model that the recipe asked for, and what the published cells reach."""

    model: Mapping[str, Any]
    parameter: str
    limit: float
    reached: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; infinity is the text ``Infinity``."""
        return {**vars(self), "reached": self.reached if math.isfinite(self.reached) else "Infinity"}

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Requirement:
        """Read what `to_dict` wrote."""
        return cls(**{**written, "reached": float(written["reached"])})


@dataclass(frozen=True)
class Manifest:
    """Everything that `verify` needs beside the data. It never holds the seed.

    Parameters
    ----------
    version
        The version of sfumato that wrote the folder.
    recipe
        Sanitizer and parameters, the seed left out.
    layout
        What a reader must know to take the data files as a release.
    missing
        How missing values were treated.
    asked
        The measures behind the claims, as a project file writes them.
    claims
        Measurements of the published cells alone, in the order in which they were asked for.
    requirements
        What the recipe's model asks, and what the published cells reach.
    files
        The SHA-256 checksum of every other file of the folder.
    decision
        Who chose this release, why and when.
    """

    version: str
    recipe: Recipe
    layout: Layout
    missing: str
    asked: tuple[str | Mapping[str, Any], ...]
    claims: tuple[Measurement, ...]
    requirements: tuple[Requirement, ...]
    files: Mapping[str, str] = field(default_factory=dict)
    decision: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """Return the text of ``manifest.json``."""
        facts = {
            "sfumato": self.version,
            "recipe": json.loads(self.recipe.public_json()),
            "layout": asdict(self.layout),
            "missing": self.missing,
            "claims": {
                "about": "recomputed from the published cells; priors are those of the released records",
                "asked": list(self.asked),
                "measurements": [claim.to_dict() for claim in self.claims],
            },
            "requirements": [requirement.to_dict() for requirement in self.requirements],
            "decision": self.decision,
            "files": {name: {"sha256": checksum} for name, checksum in self.files.items()},
        }
        return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a published folder."""
        place = folder / NAME
        if not place.is_file():
            raise VerificationFailed(
                f"{folder.name} has no {NAME}; give a folder that `sfumato publish` wrote"
            )
        try:
            facts = json.loads(place.read_text(encoding="utf-8"))
            return cls(
                version=facts["sfumato"],
                recipe=Recipe.from_json(json.dumps(facts["recipe"])),
                layout=Layout(**facts["layout"]),
                missing=facts["missing"],
                asked=tuple(facts["claims"]["asked"]),
                claims=tuple(Measurement.from_dict(claim) for claim in facts["claims"]["measurements"]),
                requirements=tuple(Requirement.from_dict(each) for each in facts["requirements"]),
                files={name: facts["files"][name]["sha256"] for name in facts["files"]},
                decision=facts["decision"],
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, UserError):
            raise VerificationFailed(f"{NAME} is damaged; publish the release again") from None


def checksum(place: Path) -> str:
    """Return the SHA-256 of a file."""
    with place.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
