"""The published report: written from the manifest and the published cells, and from nothing else.

Whoever has the folder can therefore write it again and compare. What only the owner can compute is told in
bands, and neither other candidates' figures nor anything that is counted in the original is told at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from sfumato import formatting, registry
from sfumato.columns import Limit
from sfumato.decision import Decision
from sfumato.facts import Axis, Better, RecordKind
from sfumato.frontier import Candidate
from sfumato.hierarchy import ROOT
from sfumato.measures.base import Measurement, measure, named, of_one, why_not, worst_value
from sfumato.measures.unprotected import alone_by_insensitive
from sfumato.publishing.manifest import measurement_of, policy_of, recipe_of
from sfumato.release import Release
from sfumato.report.adversaries import measures_against, scenario_rows
from sfumato.report.attacks import attacker_of, attacks_left, attacks_tried, is_attack
from sfumato.report.bands import band_words
from sfumato.report.page import (
    SIDES,
    cell_facts,
    frame,
    published_sections,
    recipe_facts,
    released_figure,
    said,
    unprotected_facts,
)
from sfumato.report.rows import asked_words, claim_rows, claimed_row, limit_means
from sfumato.report.terms import TERMS, UNVERIFIED_CLAIM
from sfumato.schema import UNRELEASED, Attribute, Schema
from sfumato.verifying.documents import Manifest, OwnerFigure, RequirementFacts, numeral
from sfumato.verifying.folder import PROGRAMS, Profile, page_of
from sfumato.verifying.levels import MODELS

TITLES: dict[Profile, str] = {
    "ema": "EMA policy 0070 and Health Canada",
    "hipaa": "HIPAA expert determination",
    "iso-27559": "ISO/IEC 27559",
    "nist": "NIST SP 800-188 and SP 800-226",
    "wp216": "Opinion 05/2014 (WP216)",
}
"""What each profile is called."""


def published_facts(manifest: Manifest, written: Release) -> dict[str, Any]:
    """Return what a published report tells.

    Parameters
    ----------
    manifest
        What the folder says of itself.
    written
        The release as a stranger reads it from the published files.
    """
    told = Sayings(manifest, written)
    unverified, chosen = manifest.unverified, told.chosen
    return {
        "owner": False,
        **frame(unverified, told.schema, published_sections()),
        "version": manifest.sfumato,
        "weighted": any(each.weight not in (None, 1) for each in unverified.attributes),
        "n_records": written.n_original,
        "n_people": None if manifest.unverified.people is None else manifest.unverified.people.original,
        "attributes": list(_attribute_rows(manifest)),
        "adversaries": measures_against([chosen]),
        "attacks": list(_attack_rows(told)),
        "attacks_tried": attacks_tried(told.taken),
        "attacks_left": attacks_left(told.taken, written.kind),
        "scenarios": scenario_rows([chosen]),
        "terms": {term: text for term, text in TERMS.items() if term not in ("knee", "hypervolume")},
        "n_tried": sum(unverified.tried.values()),
        "methods": [
            {"method": name, "candidates": count, "meaning": formatting.sanitizer_words(name)}
            for name, count in unverified.tried.items()
        ],
        "efficient": unverified.efficient,
        "chosen": chosen,
        "decision": Decision(**msgspec.to_builtins(manifest.decision)),
        "release": written,
        "files": {
            name: facts.sha256
            for name, facts in manifest.files.items()
            if name.endswith((".csv", ".parquet", *(f".{kind}" for kind in manifest.formats)))
        },
        "renamed": {PROGRAMS[kind]: facts.renamed for kind, facts in manifest.formats.items()},
        "signed_by": manifest.signed_by,
        "parent": manifest.parent,
        **_summary(told, written),
        "limits": _limits(manifest, told),
        **unprotected_facts(alone_by_insensitive(written)),
        "policy": [_policy_row(told, name, limit) for name, limit in told.policy.items()],
        **recipe_facts(chosen),
        "measured": {side: list(measured_rows(told, side)) for side in SIDES},
        "claims": claim_rows(told.claims, chosen),
        "changes": list(_change_rows(manifest, written)),
        "losses_chart": None,
        **cell_facts(written),
        "requirements": [_requirement_row(each) for each in manifest.requirements],
        "profiles": {page_of(profile): TITLES[profile] for profile in manifest.profiles},
    }


@dataclass(frozen=True)
class Sayings:
    """What a manifest says, as the words and rows of a report need it."""

    manifest: Manifest
    written: Release

    @cached_property
    def claims(self) -> tuple[Measurement, ...]:
        """What the published cells give; of every attribute where the policy limits one."""
        limited = {limit.measure for limit in self.manifest.policy.values() if limit.attribute is not None}
        found = map(measurement_of, self.manifest.claims)
        return tuple(_by_attribute(each, self.written) if each.measure in limited else each for each in found)

    @cached_property
    def owner(self) -> dict[str, list[OwnerFigure]]:
        """The owner's figures by their labels."""
        found: dict[str, list[OwnerFigure]] = {}
        for figure in self.manifest.unverified.figures:
            found.setdefault(registry.label(figure.measure, figure.parameters), []).append(figure)
        return found

    @cached_property
    def policy(self) -> dict[str, Limit]:
        """What had to hold, by measure."""
        return policy_of(self.manifest)

    @cached_property
    def schema(self) -> Schema:
        """The attributes with their roles, and nothing that tells of their values."""
        unverified = self.manifest.unverified
        return Schema(
            tuple(Attribute(each.name, each.role) for each in unverified.attributes),
            missing=unverified.missing,
        )

    @cached_property
    def chosen(self) -> Candidate:
        """The choice: claims with their values, the owner's measurements without."""
        figures = [
            Measurement(
                each.measure, None, each.axis, each.better, each.attribute, parameters=each.parameters
            )
            for each in self.manifest.unverified.figures
        ]
        return Candidate(self.manifest.decision.candidate, recipe_of(self.manifest), (*self.claims, *figures))

    @cached_property
    def taken(self) -> frozenset[str]:
        """The measures that were taken, by name."""
        return frozenset(found.measure for found in self.chosen.measurements)

    def claimed_value(self, measure: str) -> float | None:
        """Return the value of a measure that a reader can compute from the published cells, if any."""
        return None if self.by_owner(measure) else worst_value(self.claims, measure)

    def value(self, measure: str) -> str:
        """Return the value of a measure: as the published cells give it, or as the owner's band."""
        claimed = self.claimed_value(measure)
        if claimed is not None:
            return formatting.exactly(measure, claimed)
        is_of_one = of_one(measure)[1] is not None
        bands = (
            (figure.measure, figure.band) for figure in self.of_owner(measure) if figure.worst or is_of_one
        )
        return band_words(*next(bands, (measure, None)))

    def marked_value(self, measure: str) -> str:
        """Return the value of a measure, with a label where no reader can check it."""
        value = self.value(measure)
        is_checked = self.claimed_value(measure) is not None or value == "not applicable"
        return value if is_checked else f"{value} ({UNVERIFIED_CLAIM})"

    def by_owner(self, measure: str) -> bool:
        """Whether the owner's figure counts people, and a claim of the same name only records."""
        return self.manifest.unverified.people is not None and bool(self.of_owner(measure))

    def of_owner(self, measure: str) -> list[OwnerFigure]:
        """Return the owner's figures with this label, or those of the measure of this name."""
        every = [figure for figures in self.owner.values() for figure in figures]
        found = self.owner.get(measure) or [figure for figure in every if figure.measure == measure]
        label, attribute = of_one(measure)
        if found or attribute is None:
            return found
        return [figure for figure in self.of_owner(label) if figure.attribute in (None, attribute)]

    def met(self, measure: str, limit: Limit) -> bool:
        """Return whether a limit is met: by the claims, or by an unverified claim of the owner."""
        if named(self.claims, measure) and not self.by_owner(measure):
            return limit.allows(worst_value(self.claims, measure))
        figures = self.of_owner(measure)
        return bool(figures) and all(figure.met for figure in figures)


def _by_attribute(claim: Measurement, written: Release) -> Measurement:
    """Add the level of each sensitive attribute to a claim that is the worst of all."""
    if claim.attribute is not None:
        return claim
    asked = {claim.measure: claim.parameters} if claim.parameters else claim.measure
    (again,) = measure(written, [asked])
    return replace(again, detail={**claim.detail, **again.detail})


def _summary(told: Sayings, written: Release) -> dict[str, Any]:
    """Return the numbers that matter, as sentences and as figures."""
    axes = tuple(told.manifest.unverified.headline)
    better = {each.label: each.better for each in told.chosen.measurements}
    figures = [
        (formatting.measure_words(axis).title, told.value(axis), _hint(told, axis, better[axis]))
        for axis in axes
        if axis in better
    ]
    label, share, hint = released_figure(written)
    released = [(label, share, f"{hint}; {UNVERIFIED_CLAIM}")]
    people = told.manifest.unverified.people
    if people is not None:
        share = formatting.share(people.released / people.original)
        hint = f"{people.released:,} of {people.original:,}; {UNVERIFIED_CLAIM}"
        released.append(("people released", share, hint))
    return {"figures": [*figures, *released], "sentences": said(axes, told.marked_value)}


def _hint(told: Sayings, axis: str, better: Better) -> str:
    """Return which values of a measure are better, and that its value cannot be checked, if so."""
    direction = formatting.direction(better)
    return direction if told.claimed_value(axis) is not None else f"{direction}; {UNVERIFIED_CLAIM}"


def _attribute_rows(manifest: Manifest) -> Iterator[dict[str, Any]]:
    for each in manifest.unverified.attributes:
        row: dict[str, Any] = {"name": each.name, "role": each.role, "kind": each.kind}
        if each.role not in UNRELEASED:
            row |= {
                "levels": each.levels,
                "lowest": each.lowest,
                "weight": formatting.number(each.weight or 0.0),
            }
        yield row


def _limits(manifest: Manifest, told: Sayings) -> dict[str, Any]:
    """Return which of the report's warnings apply."""
    models = [registry.find("model", name) for each in manifest.requirements for name in each.model]
    unverified = manifest.unverified
    return {
        "no_model": not models,
        "no_attribute_model": not any(getattr(model, "guards", None) == "attribute" for model in models),
        "noisy": [each.name for each in unverified.attributes if each.noisy],
        "kind": manifest.layout.kind,
        "promises": hasattr(registry.find("sanitizer", manifest.recipe.sanitizer), "guarantee"),
        "sampled": any(claim.interval is not None for claim in told.claims),
        "notes": unverified.notes,
        "intervals": [each.name for each in unverified.attributes if each.ends_at_values],
        "people": unverified.people is not None,
        "pseudonym": manifest.layout.person is not None,
    }


def _policy_row(told: Sayings, name: str, limit: Limit) -> dict[str, Any]:
    return {
        "measure": formatting.measure_words(name).title,
        "limit": formatting.limit_of(name, limit),
        "means": limit_means(name, limit),
        "reached": told.value(name),
        "met": told.met(name, limit),
        "unverified": told.claimed_value(name) is None,
    }


def measured_rows(told: Sayings, axis: Axis) -> Iterator[dict[str, Any]]:
    """Return what is told of one axis: claims as they are, the owner's figures as bands."""
    for claim in told.claims:
        if claim.axis == axis and not told.by_owner(claim.label):
            limit = _limit_on(told, claim.label, claim.measure)
            yield claimed_row(claim) | {
                "measure": claim.measure,
                "limit": formatting.limit_of(claim.measure, limit) if limit else "",
                "met": limit is not None and limit.allows(claim.value),
            }
    for label, figures in told.owner.items():
        for figure in figures:
            if figure.axis == axis:
                limit = _limit_on(told, label, figure.measure)
                yield _owner_row(label, figure, told.written.kind) | {
                    "measure": figure.measure,
                    "limit": formatting.limit_of(figure.measure, limit) if limit else "",
                    "met": bool(figure.met),
                }


def _attack_rows(told: Sayings) -> Iterator[dict[str, Any]]:
    """Return what is told of the attacks: the rates that they are computed from are the owner's alone."""
    for row in measured_rows(told, "privacy"):
        if is_attack(row["measure"]):
            asked = registry.look_up("measure", row["measure"])
            reason = row["reason"] or why_not(asked, told.written.kind)
            yield row | {"attacker": attacker_of(row["measure"]), "rates": {}, "reason": reason}


def _limit_on(told: Sayings, label: str, measure: str) -> Limit | None:
    """Return the limit on a measurement: by its label, or by its measure where no label has that name."""
    if label in told.policy:
        return told.policy[label]
    labels = {*(claim.label for claim in told.claims), *told.owner}
    return told.policy.get(measure) if measure not in labels else None


def _owner_row(label: str, figure: OwnerFigure, kind: RecordKind) -> dict[str, Any]:
    asked = registry.find("measure", figure.measure)
    is_told = figure.band is not None
    how = (
        "promised by the method" if getattr(asked, "is_promised", False) else "the owner's figure, as a band"
    )
    return {
        "words": formatting.measure_words(label),
        "attribute": figure.attribute,
        "direction": formatting.direction(figure.better),
        "value": band_words(figure.measure, figure.band),
        "reason": "" if is_told or asked is None else why_not(asked, kind),
        "interval": "",
        "baseline": "",
        "notes": [],
        "by_owner": how if is_told else "",
    }


def _requirement_row(requirement: RequirementFacts) -> dict[str, Any]:
    """Say of a model what was asked, what the published cells reach, and by whose distribution it holds.

    No reader can check a model of a plug-in, nor one that rests on records that are not published.
    """
    ((name, parameters),) = requirement.model.items()
    return {
        "model": formatting.model_in_words(name, parameters),
        "asked": asked_words(registry.find("model", name), requirement.limit),
        "reached": formatting.number(numeral(requirement.reached), 6),
        "prior": requirement.prior,
        "counted": requirement.counted,
        "unverified": requirement.prior == "original" or name not in MODELS,
    }


def _change_rows(manifest: Manifest, written: Release) -> Iterator[dict[str, Any]]:
    """Say for each attribute how many of its cells are exact, an unverified claim, or withheld."""
    for name in written.schema.released:
        row: dict[str, Any] = {
            "name": name,
            "role": written.schema[name].role,
            "distinct": len(written.cells[name].occurring),
        }
        counts = cell_counts(manifest, written, name)
        if counts is not None:
            counts = counts | {"withheld": counts["withheld"] + written.n_suppressed}
            row |= {kind: formatting.share(count / written.n_original) for kind, count in counts.items()}
        yield row


def cell_counts(manifest: Manifest, written: Release, name: str) -> dict[str, int] | None:
    """Count the exact, generalised and withheld cells of an attribute in the released records.

    ``None`` where the cells are no sets of original values.
    """
    exact = next((each.exact for each in manifest.unverified.attributes if each.name == name), None)
    if exact is None:
        return None
    whole = _withheld_cells(written, name)
    return {"exact": exact, "generalised": written.n_records - exact - whole, "withheld": whole}


def _withheld_cells(written: Release, name: str) -> int:
    is_whole = np.array([label == ROOT for label in written.cells[name].labels])
    return int(written.weights[is_whole[written.cells[name].codes]].sum())
