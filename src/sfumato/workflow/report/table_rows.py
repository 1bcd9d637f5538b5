"""Format the rows of the report's tables as text, without a value of a record."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.models.base import PrivacyModel
from sfumato.registry import methods
from sfumato.registry.declarations import Axis, Detail, Unit
from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.manifest import promised_by
from sfumato.results.measurement import BY_ATTRIBUTE, Measurement, named
from sfumato.results.pareto import Limit
from sfumato.results.policy import Verdict
from sfumato.results.recipients import RECIPIENTS
from sfumato.results.release import Release
from sfumato.runtime.errors import ParameterError


def attribute_rows(schema: Schema, table: Table | None = None) -> list[dict[str, Any]]:
    """Describe each attribute for the owner, without a value; with a table, count missing values."""
    rows = []
    for attribute in schema.attributes:
        row: dict[str, Any] = {"name": attribute.name, "role": attribute.role, "kind": attribute.kind}
        if attribute.is_released:
            hierarchy = schema.hierarchy(attribute.name)
            row["levels"] = hierarchy.height + 1
            row["distinct"] = len(hierarchy.values)
            row["weight"] = formatting.number(attribute.weight)
            row["lowest"] = attribute.lowest_level
            if table is not None:
                row["missing"] = table[attribute.name].count_missing(table.weights)
        rows.append(row)
    return rows


def candidate_rows(
    candidates: Iterable[Candidate], frontier: Frontier, marked: Mapping[str, Sequence[Candidate | None]]
) -> list[dict[str, Any]]:
    """Describe candidates by recipe, values on the axes, marks, and whether they keep the policy."""
    marks = {mark: {one.id for one in those if one is not None} for mark, those in marked.items()}
    return [
        {
            "id": candidate.id,
            "recipe": formatting.plain_name(candidate.recipe),
            "values": [shown(axis, candidate.value(axis)) for axis in frontier.axes],
            "marks": [mark for mark, ids in marks.items() if candidate.id in ids],
            "keeps_policy": candidate.id not in frontier.broken,
        }
        for candidate in candidates
    ]


def method_rows(frontier: Frontier) -> list[dict[str, Any]]:
    """Return each tried sanitizer: how often it was tried, how often it succeeded, and what it does."""
    names = [candidate.recipe.sanitizer for candidate in frontier.candidates]
    efficient = [candidate.recipe.sanitizer for candidate in frontier.efficient()]
    reach = frontier.reach()
    return [
        {
            "method": name,
            "candidates": names.count(name),
            "efficient": efficient.count(name),
            "reach": formatting.share(reach[name]) if name in reach else "not applicable",
            "meaning": formatting.sanitizer_words(name),
        }
        for name in dict.fromkeys(names)
    ]


def policy_rows(frontier: Frontier, chosen: Candidate | None) -> list[dict[str, Any]]:
    """Pair each limit of the policy with the value of the chosen candidate.

    Without one, these are the limits on releases of all types.
    """
    policy = frontier.policy
    if chosen is None:
        verdicts = tuple(Verdict(label, limit) for label, limit in policy.limits_by_measure.items())
    else:
        verdicts = policy.verdicts(chosen, frontier.original)
    return [
        {
            "measure": formatting.measure_words(verdict.label).title,
            "limit": formatting.limit_of(verdict.label, verdict.limit),
            "means": limit_means(verdict.label, verdict.limit),
            "reached": _reached_words(verdict.label, value, verdict.limit),
            "met": not verdict.problem,
            "problem": verdict.problem,
            "unverified": False,
        }
        for verdict in verdicts
        for value in [chosen.value(verdict.label) if chosen else None]
    ]


def _reached_words(name: str, value: float | None, limit: Limit) -> str:
    """Print a value, with more digits if rounding would change whether it meets the limit."""
    if value is None:
        return "not applicable"
    is_plain = limit.allows(float(f"{value:.3g}")) == limit.allows(value)
    return formatting.value_of(name, value) if is_plain else formatting.exactly(name, value)


def limit_means(name: str, limit: Limit) -> str:
    """Express a limit on the re-identification risk as the class size that it requires."""
    if name != "reidentification-risk" or not 0 < limit.at_most < 1:
        return ""
    known = [
        f"usual for {each.title}" for each in RECIPIENTS.values() if math.isclose(each.risk, limit.at_most)
    ]
    return "; ".join([*known, f"no class of fewer than {math.ceil(1 / limit.at_most - 1e-9):,} records"])


def requirement_rows(release: Release, chosen: Candidate) -> list[dict[str, str]]:
    """Pair each model in the recipe with the level that the release reaches."""
    return [
        {
            "model": formatting.model_in_words(*methods.describe(part)),
            "asked": asked_words(part, part.limit),
            "reached": formatting.number(part.level(release.partition(part)), 6),
        }
        for part in promised_models(chosen)
    ]


def measurement_rows(chosen: Candidate, axis: Axis, frontier: Frontier) -> list[dict[str, Any]]:
    """Pair each measurement on one axis with its limit and those of the trivial releases."""
    limits = {} if chosen.infeasible else frontier.policy.limits_on(chosen)
    return [
        claimed_row(m)
        | {
            "limit": formatting.limit_of(m.measure, limit) if limit else "",
            "met": limit is not None and limit.allows(m.value),
            "as_is": _same_of_trivial(frontier, "as-is", chosen, m),
            "withheld": _same_of_trivial(frontier, "suppress-quasi-identifiers", chosen, m),
        }
        for m in chosen.measurements
        if m.axis == axis
        for limit in [_limit_on(m, chosen, limits)]
    ]


def claimed_row(measurement: Measurement) -> dict[str, Any]:
    """Describe a measurement with everything next to its value."""
    return {
        "words": formatting.measure_words(measurement.label),
        "attribute": measurement.attribute,
        "direction": formatting.direction(measurement.better),
        "value": shown(measurement.measure, measurement.value),
        "reason": _reason(measurement),
        "interval": " to ".join(shown(measurement.measure, float(end)) for end in measurement.interval or ()),
        "baseline": "" if measurement.baseline is None else shown(measurement.measure, measurement.baseline),
        "notes": detail_words(measurement),
        "by_owner": "",
    }


def _limit_on(measurement: Measurement, chosen: Candidate, limits: Mapping[str, Limit]) -> Limit | None:
    """Return the limit for a measurement, by its label or by the name of its measure."""
    labels = (*measurement.attribute_names, measurement.label, measurement.measure)
    names = [name for name in labels if name in limits]
    return next((limits[name] for name in names if measurement in named(chosen.measurements, name)), None)


def _same_of_trivial(frontier: Frontier, sanitizer: str, chosen: Candidate, wanted: Measurement) -> str:
    """Print the corresponding measurement of a trivial release: the one at the same position."""

    def alike(candidate: Candidate) -> list[Measurement]:
        about = wanted.label, wanted.attribute
        return [m for m in candidate.measurements if (m.label, m.attribute) == about]

    place = next(i for i, m in enumerate(alike(chosen)) if m is wanted)
    trivial = next((alike(c) for c in frontier.candidates if c.recipe.sanitizer == sanitizer), [])
    return shown(wanted.measure, trivial[place].value) if place < len(trivial) else ""


def detail_words(measurement: Measurement) -> list[tuple[str, str]]:
    """Describe the detail of a measurement: the meaning of each number, and the number in its unit."""
    words = formatting.measure_words(measurement.measure)
    detail = {name: value for name, value in measurement.detail.items() if name != "reason"}
    detail |= {f"of {name}": value for name, value in detail.pop(BY_ATTRIBUTE, {}).items()}
    known = {name: words.details.get(name, Detail(name)) for name in detail}
    return [
        (known[name].title, _printed(value, known[name].unit or words.unit)) for name, value in detail.items()
    ]


def _printed(value: Any, unit: Unit) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_printed(inner, unit)}" for key, inner in value.items())
    return (
        formatting.share(value) if isinstance(value, float) and unit == "share" else formatting.plain(value)
    )


def claim_rows(claims: Sequence[Measurement], chosen: Candidate) -> list[dict[str, Any]]:
    """Pair each claim with the recipe's requirement."""
    asked = {
        _identity(*methods.describe(part)): asked_words(part, part.limit) for part in promised_models(chosen)
    }
    return [
        {
            "measure": formatting.measure_words(claim.label).title,
            "attribute": claim.attribute,
            "value": shown(claim.measure, claim.value),
            "reason": _reason(claim),
            "asked": asked.get(_identity(claim.measure, claim.detail), ""),
        }
        for claim in claims
    ]


def _reason(measurement: Measurement) -> str:
    return "" if measurement.value is not None else str(measurement.detail.get("reason", "no reason given"))


def _identity(model: str, parameters: Mapping[str, Any]) -> str:
    """Identify a model by its parameters, except the one that holds the limit."""
    limit = getattr(methods.registered("model").get(model), "parameter", None)
    fixed = {name: value for name, value in parameters.items() if name != limit}
    return json.dumps([model, fixed], sort_keys=True, default=str)


def asked_words(model: type[PrivacyModel] | PrivacyModel | None, limit: float) -> str:
    """Describe a limit of a model; if the model is not installed, only the number."""
    if model is None:
        return f"{limit:g}"
    bounds = ("above", "below") if model.strict else ("at least", "at most")
    return f"{bounds[model.better == 'lower']} {limit:g}"


def promised_models(chosen: Candidate) -> tuple[PrivacyModel, ...]:
    """Return the models that the recipe promises; none if its method is not installed."""
    try:
        return promised_by(chosen.recipe)
    except ParameterError:
        return ()


def change_rows(release: Release, losses: Mapping[str, float]) -> list[dict[str, Any]]:
    """Count for each attribute the cells that stay exact; cells of suppressed records are withheld."""
    rows = []
    for name in release.schema.released:
        cells = release.cells[name]
        row: dict[str, Any] = {
            "name": name,
            "role": release.schema[name].role,
            "distinct": len(cells.occurring),
            "original": len(release.schema.hierarchy(name).values),
            "loss": formatting.share(losses[name]) if name in losses else "",
        }
        if cells.sets is not None:
            sizes = cells.sets.sizes[cells.codes]
            exact = int(release.weights[sizes == 1].sum())
            part = int(release.weights[(sizes > 1) & (sizes < cells.sets.n_leaves)].sum())
            counts = {"exact": exact, "generalised": part, "withheld": release.n_original - exact - part}
            row |= {kind: formatting.share(count / release.n_original) for kind, count in counts.items()}
        rows.append(row)
    return rows


def recipe_words(candidate: Candidate) -> str:
    """Return the recipe in words that do not wrap at an equals sign."""
    return formatting.recipe_in_words(candidate.recipe).replace(" = ", "\u00a0=\u00a0")


def shown(measure: str, value: float | None) -> str:
    """Print a value of a measure, or state that there is none."""
    return "not applicable" if value is None else formatting.value_of(measure, value)
