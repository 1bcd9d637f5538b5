"""The report: one HTML page that a reviewer can read, print, sign and check, with no script in it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

import jinja2
import numpy as np
from markupsafe import Markup

import sfumato
from sfumato import registry
from sfumato.decision import Decision
from sfumato.errors import ParameterError
from sfumato.frontier import Candidate, Frontier, Limit, broken_limits
from sfumato.measures.base import Axis, Measurement, NotApplicable
from sfumato.measures.loss import attribute_losses
from sfumato.models.base import PrivacyModel
from sfumato.project import Publication
from sfumato.release import Release
from sfumato.report import charts, words
from sfumato.schema import Schema

_EXPLORATION = {
    "context": "Purpose, recipients and context",
    "data": "The data",
    "attributes": "Attributes and roles",
    "adversaries": "Adversaries considered",
    "frontier": "Candidates tried and the frontier",
}
_PUBLICATION = {
    "choice": "The choice",
    "privacy": "Privacy measurements",
    "utility": "Utility measurements",
    "changes": "What was changed in each attribute",
    "classes": "Class sizes",
    "claims": "Claims checked on the published cells",
}
_END = {"limits": "Limits of the claim", "recipe": "Recipe, version and verification"}
_SIGNATURE = {"signature": "Signature and review"}


def report_html(
    *,
    publication: Publication,
    schema: Schema,
    n_records: int,
    frontier: Frontier,
    infeasible: Sequence[Candidate] = (),
    policy: Mapping[str, Limit] = {},
    chosen: Candidate | None = None,
    release: Release | None = None,
    decision: Decision | None = None,
    claims: Sequence[Measurement] = (),
    files: Mapping[str, str] = {},
) -> str:
    """Write the report of an exploration, or of a publication when a candidate is chosen.

    Parameters
    ----------
    publication
        Title, purpose and recipients.
    schema
        The attributes, bound to the data.
    n_records
        The number of records of the original.
    frontier
        The candidates that could be made.
    infeasible
        Those that could not.
    policy
        What must hold before anything may be published.
    chosen, release, decision
        The choice: its measurements, what is published, who decided and why.
    claims
        What was measured again on the written files.
    files
        The SHA-256 checksum of each published file.

    Returns
    -------
    str
        One HTML page without scripts, references to other places, values of records, or the seed.
    """
    sections = _EXPLORATION | (_PUBLICATION if chosen else {}) | _END | (_SIGNATURE if chosen else {})
    facts: dict[str, Any] = {
        "title": publication.title or "A table about people",
        "publication": publication,
        "sections": {key: (number, title) for number, (key, title) in enumerate(sections.items(), start=1)},
        "version": sfumato.__version__,
        "n_records": n_records,
        "schema": schema,
        "attributes": _attribute_rows(schema),
        "weighted": any(schema[name].weight != 1 for name in schema.released),
        "adversaries": _adversaries([chosen] if chosen else frontier.candidates),
        "infeasible": infeasible,
        "chosen": chosen,
        "decision": decision,
        "release": release,
        "files": files,
        **_frontier_facts(frontier, chosen, policy),
        **_summary(frontier, chosen, release, len(infeasible)),
        "limits": _limits(schema, frontier, chosen, release),
        "policy": _policy_rows(policy, chosen),
    }
    if chosen is not None:
        facts |= _publication_facts(frontier, policy, chosen, release, claims)
    return _template().render(facts)


def _publication_facts(
    frontier: Frontier,
    policy: Mapping[str, Limit],
    chosen: Candidate,
    release: Release | None,
    claims: Sequence[Measurement],
) -> dict[str, Any]:
    sides: tuple[Axis, Axis] = ("privacy", "utility")
    return {
        "recipe": json.dumps(json.loads(chosen.recipe.public_json()), indent=2, ensure_ascii=False),
        "recipe_words": _recipe(chosen),
        "sanitizer_words": words.sanitizer_words(chosen.recipe.sanitizer),
        "measured": {side: _measurement_rows(chosen, side, policy, frontier) for side in sides},
        "claims": _claim_rows(claims, chosen),
        **({} if release is None else _release_facts(release, chosen)),
    }


def _release_facts(release: Release, chosen: Candidate) -> dict[str, Any]:
    losses = _losses(release)
    return {
        "requirements": _requirement_rows(release, chosen),
        "changes": _change_rows(release, losses),
        "losses_chart": _picture(charts.attribute_losses_chart(losses)) if losses else None,
        "classes": _class_facts(release),
        "classes_chart": _picture(charts.class_sizes_chart(release.classes.sizes)),
    }


# Summary


def _summary(
    frontier: Frontier, chosen: Candidate | None, release: Release | None, n_infeasible: int
) -> dict[str, Any]:
    """Return the two or three numbers that matter, as sentences and as figures."""
    subject = chosen or frontier.knee()
    n_tried = len(frontier.candidates) + n_infeasible
    figures = [_figure(frontier, subject, axis) for axis in frontier.axes[:2]] if subject else []
    if release is not None:
        kept, of_all = release.n_records, release.n_original
        figures.append(("records released", words.share(kept / of_all), f"{kept:,} of {of_all:,}"))
    else:
        n_efficient = len(frontier.efficient())
        figures.append(("efficient candidates", f"{n_efficient:,}", f"of {n_tried:,} that were tried"))
    sentences = [] if subject is None else _sentences(subject, frontier.axes[:2])
    return {"figures": figures, "sentences": sentences, "n_tried": n_tried}


def _figure(frontier: Frontier, subject: Candidate, axis: str) -> tuple[str, str, str]:
    ends = {"as-is": "published as it is", "suppress-quasi-identifiers": "with quasi-identifiers withheld"}
    hints = [
        f"{words.value_of(axis, value)} {phrase}"
        for sanitizer, phrase in ends.items()
        for value in [_reference(frontier, sanitizer, axis)]
        if value is not None
    ]
    hint = "; ".join(filter(None, [words.direction(frontier.better(axis)), ", ".join(hints)]))
    return words.measure_words(axis).title, _shown(axis, subject.value(axis)), hint


def _reference(frontier: Frontier, sanitizer: str, measure: str) -> float | None:
    found = next((c for c in frontier.candidates if c.recipe.sanitizer == sanitizer), None)
    return found.value(measure) if found else None


def _sentences(subject: Candidate, axes: tuple[str, ...]) -> list[str]:
    """Say what the axes and the smallest class mean for people, as far as there are words for it."""
    said = []
    for measure in dict.fromkeys([axes[0], "k-anonymity", *axes[1:]]):
        value = subject.value(measure)
        if value is not None:
            known = words.measure_words(measure)
            sentence = known.sentence or f"{known.title} is {{}}"
            said.append(sentence.replace("{}", words.value_of(measure, value)))
    return said


# Attributes and adversaries


def _attribute_rows(schema: Schema) -> list[dict[str, Any]]:
    """Describe each attribute without showing a value."""
    rows = []
    for attribute in schema.attributes:
        row: dict[str, Any] = {"name": attribute.name, "role": attribute.role, "kind": attribute.kind}
        if attribute.role != "identifying":
            hierarchy = schema.hierarchy(attribute.name)
            row |= {"levels": hierarchy.height + 1, "distinct": len(hierarchy.values)}
            row["weight"] = words.number(attribute.weight)
        rows.append(row)
    return rows


def _adversaries(candidates: Iterable[Candidate]) -> dict[str, str]:
    """Return for both kinds of disclosure the measures that were taken against it."""
    taken = dict.fromkeys(m.measure for c in candidates for m in c.measurements if m.axis == "privacy")
    return {
        kind: words.joined(words.measure_words(name).title for name in taken if words.guards(name) == kind)
        for kind in ("identity", "attribute")
    }


# The frontier


def _frontier_facts(
    frontier: Frontier, chosen: Candidate | None, policy: Mapping[str, Limit]
) -> dict[str, Any]:
    efficient = frontier.efficient()
    marked = {"chosen": [chosen], "knee": [frontier.knee()]}
    drawn = [c.value(axis) or 0.0 for c in frontier.comparable for axis in frontier.axes[:2]]
    return {
        "frontier": frontier,
        "frontier_chart": _picture(charts.frontier_chart(frontier, chosen=chosen, limits=policy)),
        "axes": [
            (words.measure_words(axis), words.direction(frontier.better(axis))) for axis in frontier.axes
        ],
        "efficient": _candidate_rows(efficient, frontier.axes, marked, policy),
        "candidates": _candidate_rows(
            frontier.candidates, frontier.axes, marked | {"efficient": [*efficient]}, policy
        ),
        "methods": _methods(frontier.candidates),
        "knee": frontier.knee(),
        "beaten_by": _beaten_by(frontier, chosen),
        "n_keeping": len(frontier.within(policy)),
        "infinite": any(map(math.isinf, drawn)),
        "withheld_is_efficient": any(c.recipe.sanitizer == "suppress-sensitive" for c in efficient),
    }


def _candidate_rows(
    candidates: Iterable[Candidate],
    axes: Iterable[str],
    marked: Mapping[str, Sequence[Candidate | None]],
    policy: Mapping[str, Limit],
) -> list[dict[str, Any]]:
    marks = {mark: {one.id for one in those if one is not None} for mark, those in marked.items()}
    return [
        {
            "id": candidate.id,
            "recipe": _recipe(candidate),
            "values": [_shown(axis, candidate.value(axis)) for axis in axes],
            "marks": [mark for mark, ids in marks.items() if candidate.id in ids],
            "keeps_policy": not broken_limits(candidate, policy),
        }
        for candidate in candidates
    ]


def _methods(candidates: Iterable[Candidate]) -> list[tuple[str, int, str]]:
    """Return each sanitizer that was tried, how often, and what it does."""
    names = [candidate.recipe.sanitizer for candidate in candidates]
    return [(name, names.count(name), words.sanitizer_words(name)) for name in dict.fromkeys(names)]


def _beaten_by(frontier: Frontier, chosen: Candidate | None) -> list[str] | None:
    """Return the candidates that dominate the chosen one; ``None`` when it cannot be compared."""
    found = next((c for c in frontier.comparable if chosen is not None and c.id == chosen.id), None)
    return None if found is None else [candidate.id for candidate in frontier.dominated_by(found)]


def _policy_rows(policy: Mapping[str, Limit], chosen: Candidate | None) -> list[dict[str, Any]]:
    return [
        {
            "measure": words.measure_words(name).title,
            "limit": words.limit_of(name, limit),
            "reached": "not applicable" if value is None else words.exactly(name, value),
            "met": limit.allows(value),
        }
        for name, limit in policy.items()
        for value in [chosen.value(name) if chosen else None]
    ]


# Measurements


def _measurement_rows(
    chosen: Candidate, axis: Axis, policy: Mapping[str, Limit], frontier: Frontier
) -> list[dict[str, Any]]:
    return [
        {
            "words": words.measure_words(m.measure),
            "attribute": m.attribute,
            "direction": words.direction(m.better),
            "value": _shown(m.measure, m.value),
            "reason": _reason(m),
            "notes": _notes(m),
            "limit": words.limit_of(m.measure, policy[m.measure]) if m.measure in policy else "",
            "met": m.measure in policy and policy[m.measure].allows(m.value),
            "as_is": _same_of(frontier, "as-is", chosen, m),
            "withheld": _same_of(frontier, "suppress-quasi-identifiers", chosen, m),
        }
        for m in chosen.measurements
        if m.axis == axis
    ]


def _same_of(frontier: Frontier, sanitizer: str, chosen: Candidate, wanted: Measurement) -> str:
    """Print the same measurement of a trivial release: the one in the same place among its like."""

    def alike(candidate: Candidate) -> list[Measurement]:
        about = wanted.measure, wanted.attribute
        return [m for m in candidate.measurements if (m.measure, m.attribute) == about]

    place = next(i for i, m in enumerate(alike(chosen)) if m is wanted)
    trivial = next((alike(c) for c in frontier.candidates if c.recipe.sanitizer == sanitizer), [])
    return _shown(wanted.measure, trivial[place].value) if place < len(trivial) else ""


def _notes(measurement: Measurement) -> list[tuple[str, str]]:
    """Return baseline, interval and detail in words."""

    def shown(value: Any) -> str:
        return words.value_of(measurement.measure, value) if isinstance(value, float) else words.plain(value)

    notes = []
    if measurement.interval is not None:
        notes.append(("confidence interval", " to ".join(shown(float(end)) for end in measurement.interval)))
    if measurement.baseline is not None:
        notes.append((words.measure_words(measurement.measure).baseline, shown(float(measurement.baseline))))
    detail = {name: value for name, value in measurement.detail.items() if name != "reason"}
    return notes + [(words.DETAILS.get(name, name), shown(value)) for name, value in detail.items()]


def _reason(measurement: Measurement) -> str:
    return "" if measurement.value is not None else str(measurement.detail.get("reason", "no reason given"))


def _shown(measure: str, value: float | None) -> str:
    return "not applicable" if value is None else words.value_of(measure, value)


# What is published


def _losses(release: Release) -> dict[str, float]:
    try:
        return attribute_losses(release)
    except NotApplicable:
        return {}


def _change_rows(release: Release, losses: Mapping[str, float]) -> list[dict[str, Any]]:
    """Say for each attribute how many of its cells stay exact; those of left-out records are withheld."""
    rows = []
    for name in release.schema.released:
        cells = release.cells[name]
        row: dict[str, Any] = {
            "name": name,
            "role": release.schema[name].role,
            "distinct": len(np.unique(cells.codes)),
            "original": len(release.schema.hierarchy(name).values),
            "loss": words.share(losses[name]) if name in losses else "",
        }
        if cells.sets is not None:
            sizes = cells.sets.sizes[cells.codes]
            exact = int(release.weights[sizes == 1].sum())
            part = int(release.weights[(sizes > 1) & (sizes < cells.sets.n_leaves)].sum())
            counts = {"exact": exact, "generalised": part, "withheld": release.n_original - exact - part}
            row |= {kind: words.share(count / release.n_original) for kind, count in counts.items()}
        rows.append(row)
    return rows


def _class_facts(release: Release) -> dict[str, Any]:
    sizes = release.classes.sizes
    order = np.sort(sizes)
    median = order[np.searchsorted(np.cumsum(order), release.n_records / 2)] if len(order) else 0
    below = {size: int(sizes[sizes < size].sum()) / max(release.n_records, 1) for size in (3, 5, 11, 20)}
    return {
        "n_classes": len(sizes),
        "smallest": int(order[0]) if len(order) else 0,
        "median": int(median),
        "largest": int(order[-1]) if len(order) else 0,
        "below": {size: words.share(value) for size, value in below.items()},
        "n_groups": release.groups.n_classes if release.group_of is not None else None,
    }


def _claim_rows(claims: Sequence[Measurement], chosen: Candidate) -> list[dict[str, Any]]:
    """Set each claim beside the owner's measurement and what the recipe asked for."""
    asked = {_identity(*registry.describe(part)): _asked(part) for part in _models(chosen)}
    owner = {(m.measure, m.attribute): _shown(m.measure, m.value) for m in reversed(chosen.measurements)}
    return [
        {
            "measure": words.measure_words(claim.measure).title,
            "attribute": claim.attribute,
            "value": _shown(claim.measure, claim.value),
            "reason": _reason(claim),
            "owner": owner.get((claim.measure, claim.attribute), ""),
            "asked": asked.get(_identity(claim.measure, claim.detail), ""),
        }
        for claim in claims
    ]


def _requirement_rows(release: Release, chosen: Candidate) -> list[dict[str, str]]:
    """Say of each model that the recipe asks for which level the release reaches."""
    return [
        {
            "model": words.model_in_words(*registry.describe(part)),
            "asked": _asked(part),
            "reached": words.number(part.level(release.partition(part)), 6),
        }
        for part in _models(chosen)
    ]


def _identity(model: str, parameters: Mapping[str, Any]) -> str:
    """Tell a model with its parameters, apart from the one that holds the limit, from others."""
    limit = getattr(registry.registered("model").get(model), "parameter", None)
    fixed = {name: value for name, value in parameters.items() if name != limit}
    return json.dumps([model, fixed], sort_keys=True, default=str)


def _asked(model: PrivacyModel) -> str:
    bounds = ("above", "below") if model.strict else ("at least", "at most")
    return f"{bounds[model.better == 'lower']} {model.limit:g}"


def _models(chosen: Candidate) -> tuple[PrivacyModel, ...]:
    """Return the models that the recipe promises; none when its method is not installed here."""
    try:
        model = getattr(chosen.recipe.build(), "model", None)
    except ParameterError:
        return ()
    return () if model is None else model.parts


def _limits(
    schema: Schema, frontier: Frontier, chosen: Candidate | None, release: Release | None
) -> dict[str, Any]:
    """Return which of the report's warnings apply."""
    models = _models(chosen) if chosen else ()
    return {
        "no_model": not models,
        "no_attribute_model": not any(part.guards == "attribute" for part in models),
        "noisy": [] if release is None else [n for n in schema.released if release.cells[n].sets is None],
        "sampled": any(m.interval is not None for c in frontier.candidates for m in c.measurements),
        "notes": () if release is None else release.notes,
    }


# Rendering


def _recipe(candidate: Candidate) -> str:
    """Return the recipe in words that are not torn apart at an equals sign."""
    return words.recipe_in_words(candidate.recipe).replace(" = ", "\u00a0=\u00a0")


def _time(written: str) -> str:
    """Print an ISO time as people write it; anything else as it is."""
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return written
    return written if moment.tzinfo is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def _picture(svg: str) -> Markup:
    """Take one of our charts into the page, where an element needs no namespace."""
    return Markup(svg.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1))


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("sfumato.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = lambda value: f"{value:,}"
    environment.filters["joined"] = words.joined
    environment.filters["recipe"] = _recipe
    environment.filters["time"] = _time
    environment.globals["roles"] = words.ROLES
    return environment.get_template("report.html.j2")
