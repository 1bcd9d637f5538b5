"""Build the manifest of a published folder from the release and from what was written of it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

import sfumato
from sfumato.data.kinds import CATEGORICAL, NUMERIC
from sfumato.measures.identity.reidentification import ReidentificationRisk
from sfumato.measures.identity.uniqueness import people_alone
from sfumato.registry import methods
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.decision import Decision
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.manifest import ends_at_values, measurement_of, promised_by
from sfumato.results.measure_label import MeasureLabel
from sfumato.results.measurement import (
    BY_ATTRIBUTE,
    LevelReached,
    Measure,
    Measurement,
    build_measure,
    json_value,
    measure,
    named,
    worst_value,
)
from sfumato.results.pareto import Limit
from sfumato.results.release import Release
from sfumato.verification.check import ALWAYS_CLAIMED
from sfumato.verification.documents import (
    FORMAT,
    Band,
    Claimed,
    DecisionFacts,
    FileFacts,
    FormatFacts,
    GuaranteeFacts,
    InitialRisk,
    LayoutFacts,
    LimitFacts,
    Manifest,
    OwnerFigure,
    PeopleFacts,
    RecipeFacts,
    RequirementFacts,
    UnverifiedAttribute,
    UnverifiedClaims,
)
from sfumato.verification.folder import Profile, StatisticsFormat
from sfumato.verification.signature import fingerprint_of
from sfumato.workflow.project.default_axes_and_measures import Written
from sfumato.workflow.publish.folder_layout import Layout
from sfumato.workflow.publish.output_formats import Sinks
from sfumato.workflow.publish.publication_request import Evidence, PublicationRequest

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey


@dataclass(frozen=True)
class CheckedPublication:
    """A release that may be published as requested, and everything that was decided about it.

    Parameters
    ----------
    request, release
        What was asked, and what is published.
    recipient, limits
        Who gets it, and the limits of the policy on a release of this type.
    measures
        The measures that were taken, as a project file writes them.
    candidate, evidence, decision
        The candidate with its measurements, the candidates that it was chosen from, and the choice.
    profiles, sinks
        The reviewers' pages, and the formats besides CSV and Parquet.
    key
        What signs the manifest, if anything does.
    guarantee
        The claim of differential privacy, if the method makes one.
    """

    request: PublicationRequest
    release: Release
    recipient: str
    limits: Mapping[str, Limit]
    measures: tuple[Written, ...]
    candidate: Candidate
    evidence: Evidence
    decision: Decision
    profiles: tuple[Profile, ...]
    sinks: Sinks
    key: Ed25519PrivateKey | None
    guarantee: GuaranteeFacts | None = None

    @property
    def recipe(self) -> Recipe:
        """How the release was made."""
        assert self.release.recipe is not None
        return self.release.recipe


def manifest_of(
    checked: CheckedPublication,
    written: Release,
    formats: dict[StatisticsFormat, FormatFacts],
    files: dict[str, FileFacts],
) -> Manifest:
    """Build the manifest; it claims only what the written cells give when they are read again.

    Parameters
    ----------
    checked
        What is published.
    written
        The release as a reader sees it in the data files.
    formats, files
        What statistics programs see, and the files that were written so far.
    """
    release, decision = checked.release, checked.decision
    counts_people = release.people is not None
    claims = claims_of(written, _claimable(checked.measures, counts_people=counts_people))
    claimed = {measurement_of(claim).label for claim in claims}
    by_owner = [
        m
        for m in checked.candidate.measurements
        if m.label not in claimed or (counts_people and m.axis == "privacy")
    ]
    in_claims = [claim for claim in claims if not counts_people or claim.axis != "privacy"]
    return Manifest(
        format=FORMAT,
        sfumato=sfumato.__version__,
        layout=layout_facts(Layout.of(release)),
        recipe=RecipeFacts(**json.loads(checked.recipe.public_json())),
        claims=claims,
        requirements=requirements_of(written, release, checked.recipe),
        recipient=checked.recipient,
        policy=_limits_of(_told_limits(checked, [*in_claims, *by_owner]), in_claims, by_owner),
        decision=DecisionFacts(
            candidate=decision.candidate, why=decision.why, by=decision.by, when=decision.when
        ),
        unverified=_unverified_claims(checked, written, by_owner),
        profiles=list(checked.profiles),
        files=files,
        signed_by=None if checked.key is None else fingerprint_of(checked.key.public_key()),
        parent=checked.request.parent,
        partition_by=checked.sinks.partition_by,
        formats=formats,
    )


def _claimable(measures: tuple[Written, ...], *, counts_people: bool) -> tuple[Written, ...]:
    """Return the measures that anyone can recompute from the published cells.

    If people have several records, measures of privacy count people, whom no reader sees; of classes only
    their records are claimed.
    """
    wanted = [*measures, *(name for name in ALWAYS_CLAIMED if name not in measures)]
    built = [(name, build_measure(name)) for name in wanted]
    return tuple(
        name
        for name, asked in built
        if asked.requires == "release"
        and (not counts_people or name in ALWAYS_CLAIMED or asked.axis == "utility")
    )


def _unverified_claims(
    checked: CheckedPublication, written: Release, by_owner: list[Measurement]
) -> UnverifiedClaims:
    """Record what only the publisher knows."""
    from sfumato.workflow.report.bands import Bands

    release, evidence = checked.release, checked.evidence
    publication, frontier = checked.request.publication, evidence.frontier
    bands, is_private = Bands(evidence.secret), checked.guarantee is not None
    comparable = next((c for c in frontier.comparable if c.id == checked.candidate.id), None)
    first_label = {m.axis: m.label for m in reversed(checked.candidate.measurements)}
    return UnverifiedClaims(
        name=publication.title or checked.request.folder.name,
        title=publication.title,
        purpose=publication.purpose,
        recipients=publication.recipients,
        safeguards=publication.safeguards,
        steward=publication.steward,
        review_by=None if publication.review_by is None else publication.review_by.isoformat(),
        missing=release.schema.missing,
        attributes=_unverified_attributes(release, written),
        tried={} if is_private else dict(Counter(candidate.recipe.sanitizer for candidate in evidence.tried)),
        efficient=None if comparable is None or is_private else not frontier.dominated_by(comparable),
        headline=[str(first_label[axis]) for axis in ("privacy", "utility") if axis in first_label],
        figures=_figures_of(by_owner, bands.of, checked.limits),
        initial=_initial_risk(release, bands.of) if checked.profiles else None,
        notes=list(release.notes),
        people=None
        if release.people is None
        else PeopleFacts(
            original=release.n_original_people,
            released=release.n_people,
            alone=people_alone(release),
        ),
        guarantee=checked.guarantee,
    )


def layout_facts(layout: Layout) -> LayoutFacts:
    """Return a layout as the manifest writes it."""
    return msgspec.convert(asdict(layout), LayoutFacts)


def layout_of(manifest: Manifest) -> Layout:
    """Return how to read the data of a published folder."""
    return Layout(**msgspec.to_builtins(manifest.layout))


def claims_of(written: Release, measures: Iterable[Written]) -> list[Claimed]:
    """Measure what a reader sees, and write every parameter down."""
    claims = []
    for asked in map(build_measure, measures):
        parameters = _every_parameter(asked)
        claims += [_claim(found, parameters) for found in measure(written, [asked])]
    return claims


def _figures_of(
    measurements: Sequence[Measurement],
    band_of: Callable[[Measurement], Band | None],
    policy: Mapping[str, Limit],
) -> list[OwnerFigure]:
    """Return the statements about measurements that only the owner can take."""
    return [
        OwnerFigure(
            measure=m.measure,
            parameters=_public_parameters(m),
            attribute=m.attribute,
            axis=m.axis,
            better=m.better,
            band=band_of(m),
            worst=m.value is not None and m.value == worst_value(measurements, m.label),
            met=_met(m, measurements, policy),
        )
        for m in measurements
    ]


def _initial_risk(release: Release, band_of: Callable[[Measurement], Band | None]) -> InitialRisk | None:
    """Return the re-identification risk if the original were published as it is."""
    if not isinstance(release, LinkedRelease):
        return None
    (risk,) = ReidentificationRisk().measure(released(release.origin.table, release.schema, {}))
    average = replace(risk, value=float(risk.detail["average"]))
    bands = [band for band in map(band_of, (risk, average)) if band is not None]
    return InitialRisk(worst=bands[0], average=bands[1])


def _told_limits(checked: CheckedPublication, told: Sequence[Claimed | Measurement]) -> Mapping[str, Limit]:
    """Return the limits of a policy that a folder may name.

    With differential privacy these are limits on what the folder tells: that another one was kept is a figure
    of the original.
    """
    if checked.guarantee is None:
        return checked.limits
    names = {figure.measure for figure in told}
    return {
        name: limit for name, limit in checked.limits.items() if MeasureLabel.parse(name).measure in names
    }


def _limits_of(
    policy: Mapping[str, Limit], claims: Sequence[Claimed], owner: Sequence[Measurement]
) -> dict[str, LimitFacts]:
    """Return a policy by the measures that it limits."""
    figures = [*map(measurement_of, claims), *owner]
    full = [*(claim.parameters for claim in claims), *map(_public_parameters, owner)]
    limits = {}
    known = {text for figure in figures for text in (figure.label, figure.measure)}
    for name, limit in policy.items():
        label = MeasureLabel(name) if name in known else MeasureLabel.parse(name)
        by_label = [place for place, figure in enumerate(figures) if figure.label == label.whole]
        limits[name] = LimitFacts(
            measure=figures[by_label[0]].measure if by_label else str(label.whole),
            parameters=dict(full[by_label[0]]) if by_label else None,
            at_least=_finite(limit.at_least),
            at_most=_finite(limit.at_most),
            attribute=label.attribute,
        )
    return limits


def requirements_of(written: Release, release: Release, recipe: Recipe) -> list[RequirementFacts]:
    """Return each model that a recipe promises, with the level that a reader will compute.

    A model that compares with the whole table may hold by the original's distribution and not by that of
    the released records; it is then said to rest on the original. If people have several records, a model
    counts people, whom no reader sees. Then the manifest says only that it holds.
    """
    if release.people is not None:
        return [
            RequirementFacts(
                model=dict([methods.describe(part)]),
                parameter=part.parameter,
                limit=part.limit,
                reached=json_value(part.limit),
                prior="original",
                counted="people",
            )
            for part in promised_by(recipe)
        ]
    return [
        RequirementFacts(
            model=dict([methods.describe(part)]),
            parameter=part.parameter,
            limit=part.limit,
            reached=json_value(part.level(classes)),
            prior="released" if bool(part.keeps_limit(classes).all()) else "original",
        )
        for part in promised_by(recipe)
        for classes in [written.partition(part)]
    ]


def _unverified_attributes(release: Release, written: Release) -> list[UnverifiedAttribute]:
    """State what only the publisher knows about each attribute, and nothing about a record."""
    schema, noisy = release.schema, _noisy_attributes(release)
    plain = set(schema.released) - set(noisy)
    return [
        UnverifiedAttribute(
            name=attribute.name,
            role=attribute.role,
            # a further kind stands beside the published column as well
            kind=attribute.kind
            if is_released or attribute.kind in (NUMERIC.name, CATEGORICAL.name)
            else None,
            levels=schema.hierarchy(attribute.name).height + 1 if is_released else None,
            lowest=attribute.lowest_level if is_released else None,
            weight=attribute.weight if is_released else None,
            exact=_exact_cells(release, written, attribute.name) if attribute.name in plain else None,
            noisy=attribute.name in noisy,
            ends_at_values=attribute.role == "quasi-identifying" and ends_at_values(release, attribute.name),
        )
        for attribute in schema.attributes
        for is_released in [attribute.is_released]
    ]


def _noisy_attributes(release: Release) -> tuple[str, ...]:
    """Return the attributes whose released values are not sets of original ones."""
    return tuple(name for name in release.schema.released if release.cells[name].sets is None)


def unchanged_attributes(release: Release, written: Release) -> tuple[str, ...]:
    """Return the attributes whose released cells are all original values.

    Parameters
    ----------
    release
        What was published.
    written
        The same as a reader sees it.
    """
    plain = set(release.schema.released) - set(_noisy_attributes(release))
    return tuple(
        name
        for name in release.schema.released
        if name in plain and _exact_cells(release, written, name) == written.n_records
    )


def _exact_cells(release: Release, written: Release, name: str) -> int:
    values = frozenset(release.schema.hierarchy(name).labels[0])
    cells = written.cells[name]
    is_exact = np.array([label in values for label in cells.labels])[cells.codes]
    return int(written.weights[is_exact].sum())


def _claim(measurement: Measurement, parameters: dict[str, Any]) -> Claimed:
    # what is claimed is the worst; a reader computes the rest
    detail = {name: value for name, value in measurement.detail.items() if name != BY_ATTRIBUTE}
    written = replace(measurement, detail=detail).to_dict()
    return msgspec.convert({**written, "parameters": parameters}, Claimed)


def _every_parameter(asked: Measure) -> dict[str, Any]:
    """Return all parameters of a measure, including defaults, because defaults may change.

    The limit of a model has no part in the level that is reached, unless single values have limits of their
    own.
    """
    if not isinstance(asked, LevelReached):
        return methods.describe(asked)[1]
    model = asked.model
    every = methods.describe(model)[1]
    return {name: every[name] for name in every if name != model.parameter or model.named_values}


def _public_parameters(measurement: Measurement) -> dict[str, Any]:
    """Return the parameters of a measurement; a file appears by name, without its folder."""
    cls = methods.find("measure", measurement.measure) or methods.find("model", measurement.measure)
    files = {name for name, what in methods.named_in(cls).items() if what == "file"} if cls else set()
    return {
        name: PurePath(value).name if name in files and value is not None else value
        for name, value in measurement.parameters.items()
    }


def _met(measurement: Measurement, every: Sequence[Measurement], policy: Mapping[str, Limit]) -> bool | None:
    holds = [
        limit.allows(of_policy.value)
        for name, limit in policy.items()
        for of_policy in named(every, name)
        # of a measurement that is the worst of all attributes, a limit may speak of one
        if of_policy == measurement
        or (of_policy.label == measurement.label and measurement.attribute is None)
    ]
    return all(holds) if holds else None


def _finite(end: float) -> float | None:
    return float(end) if np.isfinite(end) else None
