"""Build the manifest of a published folder from the release and from what was written of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import PurePath
from typing import Any

import msgspec
import numpy as np

from sfumato.data.kinds import CATEGORICAL, NUMERIC
from sfumato.measures.identity.reidentification import ReidentificationRisk
from sfumato.registry import methods
from sfumato.registry.recipe import Recipe
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
from sfumato.results.release import LinkedRelease, Release, released
from sfumato.verification.documents import (
    Band,
    Claimed,
    InitialRisk,
    LayoutFacts,
    LimitFacts,
    Manifest,
    OwnerFigure,
    PeopleFacts,
    RequirementFacts,
    UnverifiedAttribute,
)
from sfumato.workflow.project.default_measures import Written
from sfumato.workflow.publish.folder_layout import Layout


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


def figures_of(
    measurements: Iterable[Measurement],
    band_of: Callable[[Measurement], Band | None],
    policy: Mapping[str, Limit],
) -> list[OwnerFigure]:
    """Return the statements about measurements that only the owner can take.

    Parameters
    ----------
    measurements
        The measurements.
    band_of
        Returns the band of one.
    policy
        What had to hold.
    """
    every = list(measurements)
    return [
        OwnerFigure(
            measure=each.measure,
            parameters=_public_parameters(each),
            attribute=each.attribute,
            axis=each.axis,
            better=each.better,
            band=band_of(each),
            worst=each.value is not None and each.value == worst_value(every, each.label),
            met=_met(each, every, policy),
        )
        for each in every
    ]


def initial_risk(release: Release, band_of: Callable[[Measurement], Band | None]) -> InitialRisk | None:
    """Return the re-identification risk if the original were published as it is.

    Parameters
    ----------
    release
        A release that knows its original.
    band_of
        Returns the band of a measurement.
    """
    if not isinstance(release, LinkedRelease):
        return None
    (risk,) = ReidentificationRisk().measure(released(release.origin.table, release.schema, {}))
    average = replace(risk, value=float(risk.detail["average"]))
    bands = [band for band in map(band_of, (risk, average)) if band is not None]
    return InitialRisk(worst=bands[0], average=bands[1])


def limits_of(
    policy: Mapping[str, Limit], claims: Sequence[Claimed], owner: Sequence[Measurement]
) -> dict[str, LimitFacts]:
    """Return a policy by the measures that it limits."""
    taken = [*map(measurement_of, claims), *owner]
    full = [*(claim.parameters for claim in claims), *map(_public_parameters, owner)]
    limits = {}
    known = {text for each in taken for text in (each.label, each.measure)}
    for name, limit in policy.items():
        label = MeasureLabel(name) if name in known else MeasureLabel.parse(name)
        by_label = [place for place, each in enumerate(taken) if each.label == label.whole]
        limits[name] = LimitFacts(
            measure=taken[by_label[0]].measure if by_label else str(label.whole),
            parameters=dict(full[by_label[0]]) if by_label else None,
            at_least=_finite(limit.at_least),
            at_most=_finite(limit.at_most),
            attribute=label.attribute,
        )
    return limits


def people_facts(release: Release) -> PeopleFacts | None:
    """Return the number of people behind the records, if someone has several."""
    if release.people is None:
        return None
    return PeopleFacts(original=release.n_original_people, released=release.n_people)


def requirements_of(written: Release, release: Release, recipe: Recipe) -> list[RequirementFacts]:
    """Return each model that a recipe promises, with the level that a reader will compute.

    A model that compares with the whole table may hold by the original's distribution and not by that of the
    released records; it is then said to rest on the original. Where somebody has several records, a model
    counts people, whom no reader sees: then nothing is told but that it holds.
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


def unverified_attributes(release: Release, written: Release) -> list[UnverifiedAttribute]:
    """State what only the publisher knows about each attribute, and nothing about a record."""
    schema, noisy = release.schema, noisy_attributes(release)
    plain = set(schema.released) - set(noisy)
    return [
        UnverifiedAttribute(
            name=each.name,
            role=each.role,
            # a further kind stands beside the published column as well
            kind=each.kind if is_released or each.kind in (NUMERIC.name, CATEGORICAL.name) else None,
            levels=schema.hierarchy(each.name).height + 1 if is_released else None,
            lowest=each.lowest_level if is_released else None,
            weight=each.weight if is_released else None,
            exact=_exact_cells(release, written, each.name) if each.name in plain else None,
            noisy=each.name in noisy,
            ends_at_values=each.role == "quasi-identifying" and ends_at_values(release, each.name),
        )
        for each in schema.attributes
        for is_released in [each.is_released]
    ]


def noisy_attributes(release: Release) -> tuple[str, ...]:
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
    plain = set(release.schema.released) - set(noisy_attributes(release))
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


def _claim(found: Measurement, parameters: dict[str, Any]) -> Claimed:
    # what is claimed is the worst; a reader computes the rest
    detail = {name: value for name, value in found.detail.items() if name != BY_ATTRIBUTE}
    written = replace(found, detail=detail).to_dict()
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
    kept = [
        limit.allows(found.value)
        for name, limit in policy.items()
        for found in named(every, name)
        # of a measurement that is the worst of all attributes, a limit may speak of one
        if found == measurement or (found.label == measurement.label and measurement.attribute is None)
    ]
    return all(kept) if kept else None


def _finite(end: float) -> float | None:
    return float(end) if np.isfinite(end) else None
