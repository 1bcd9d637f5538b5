"""The report: one HTML page that a reviewer can read, print, sign and check, with no script in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

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
        "adversaries": _adversaries(schema, [chosen] if chosen else frontier.candidates),
        "infeasible": infeasible,
        "chosen": chosen,
        "decision": decision,
        "release": release,
        "files": files,
        **_frontier_facts(frontier, chosen, policy),
        **_summary(frontier, chosen, release, n_records, len(infeasible)),
        "limits": _limits(schema, frontier, chosen, release),
        "policy": _policy_rows(policy, chosen),
    }
    if chosen is not None:
        facts |= _publication_facts(schema, frontier, policy, chosen, release, claims)
    return _template().render(facts)


def _publication_facts(
    schema: Schema,
    frontier: Frontier,
    policy: Mapping[str, Limit],
    chosen: Candidate,
    release: Release | None,
    claims: Sequence[Measurement],
) -> dict[str, Any]:
    losses = _losses(release)
    return {
        "measured": {
            axis: _measurement_rows(chosen, axis, schema, policy, frontier) for axis in ("privacy", "utility")
        },
        "changes": [] if release is None else _change_rows(release, losses),
        "losses_chart": _picture(charts.attribute_losses_chart(losses)) if losses else None,
        "classes_chart": None if release is None else _picture(charts.class_sizes_chart(release.classes.sizes)),
        "classes": None if release is None else _class_facts(release),
        "claims": _claim_rows(claims, chosen),
        "recipe": json.dumps(json.loads(chosen.recipe.public_json()), indent=2, ensure_ascii=False),
        "recipe_words": words.recipe_in_words(chosen.recipe),
        "sanitizer_words": words.sanitizer_words(chosen.recipe.sanitizer),
    }


# Summary


def _summary(
    frontier: Frontier, chosen: Candidate | None, release: Release | None, n_records: int, n_infeasible: int
) -> dict[str, Any]:
    """Return the two or three numbers that matter, as sentences and as figures."""
    subject = chosen or frontier.knee()
    figures = [_figure(frontier, subject, axis) for axis in frontier.axes[:2]] if subject else []
    if release is not None:
        kept = release.n_records / release.n_original
        figures.append(("records released", words.share(kept), f"{release.n_records:,} of {release.n_original:,}"))
    else:
        n_efficient = len(frontier.efficient())
        n_tried = len(frontier.candidates) + n_infeasible
        figures.append(("efficient candidates", f"{n_efficient:,}", f"of {n_tried:,} that were tried"))
    return {
        "figures": figures,
        "subject": subject,
        "sentences": [] if subject is None else _sentences(subject, frontier.axes[:2]),
        "n_tried": len(frontier.candidates) + n_infeasible,
    }


def _figure(frontier: Frontier, subject: Candidate, axis: str) -> tuple[str, str, str]:
    ends = [
        f"{words.value_of(axis, value)} {phrase}"
        for sanitizer, phrase in (("as-is", "as it is"), ("suppress-quasi-identifiers", "withheld"))
        for value in [_reference(frontier, sanitizer, axis)]
        if value is not None
    ]
    hint = words.direction(frontier.better(axis))
    return words.measure_words(axis).title, _shown(axis, subject.value(axis)), "; ".join([hint, *ends])


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
            row |= {"levels": hierarchy.height + 1, "distinct": len(hierarchy.values), "weight": attribute.weight}
        rows.append(row)
    return rows


def _adversaries(schema: Schema, candidates: Iterable[Candidate]) -> dict[str, str]:
    """Return for both kinds of disclosure the measures that were taken against it."""
    taken = dict.fromkeys(m.measure for c in candidates for m in c.measurements if m.axis == "privacy")
    return {
        kind: words.joined(words.measure_words(name).title for name in taken if words.guards(name) == kind)
        for kind in ("identity", "attribute")
    }


# The frontier


def _frontier_facts(frontier: Frontier, chosen: Candidate | None, policy: Mapping[str, Limit]) -> dict[str, Any]:
    knee = frontier.knee()
    efficient = frontier.efficient()
    ids = {candidate.id for candidate in efficient}
    marked = {"chosen": chosen.id if chosen else None, "knee": knee.id if knee else None}

    def row(candidate: Candidate) -> dict[str, Any]:
        return {
            "id": candidate.id,
            "recipe": words.recipe_in_words(candidate.recipe),
            "values": [_shown(axis, candidate.value(axis)) for axis in frontier.axes],
            "marks": [mark for mark, one in marked.items() if one == candidate.id],
            "keeps_policy": not broken_limits(candidate, policy),
        }

    return {
        "frontier": frontier,
        "frontier_chart": _picture(charts.frontier_chart(frontier, chosen=chosen, limits=policy)),
        "axes": [
            {"name": axis, "words": words.measure_words(axis), "direction": words.direction(frontier.better(axis))}
            for axis in frontier.axes
        ],
        "efficient": [row(candidate) for candidate in efficient],
        "candidates": [
            row(c) | ({"marks": [*row(c)["marks"], "efficient"]} if c.id in ids else {}) for c in frontier.candidates
        ],
        "methods": _methods(frontier.candidates),
        "knee": knee,
        "beaten_by": _beaten_by(frontier, chosen),
        "withheld_is_efficient": any(c.recipe.sanitizer == "suppress-sensitive" for c in efficient),
    }


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
            "reached": _shown(name, chosen.value(name)) if chosen else "",
            "met": chosen is not None and limit.allows(chosen.value(name)),
        }
        for name, limit in policy.items()
    ]


# Measurements


@dataclass(frozen=True)
class _Row:
    """One measurement, ready to print."""

    name: str
    words: words.Words
    attribute: str | None
    better: str
    value: str
    reason: str
    notes: list[tuple[str, str]]
    limit: str
    met: bool
    as_is: str
    withheld: str


def _measurement_rows(
    chosen: Candidate, axis: Axis, schema: Schema, policy: Mapping[str, Limit], frontier: Frontier
) -> list[_Row]:
    return [
        _Row(
            name=m.measure,
            words=words.measure_words(m.measure),
            attribute=m.attribute,
            better=words.direction(m.better),
            value=_shown(m.measure, m.value),
            reason=_reason(m),
            notes=_notes(m),
            limit=words.limit_of(m.measure, policy[m.measure]) if m.measure in policy else "",
            met=m.measure in policy and policy[m.measure].allows(m.value),
            as_is=_same_of(frontier, "as-is", chosen, m),
            withheld=_same_of(frontier, "suppress-quasi-identifiers", chosen, m),
        )
        for m in chosen.measurements
        if m.axis == axis
    ]


def _same_of(frontier: Frontier, sanitizer: str, chosen: Candidate, wanted: Measurement) -> str:
    """Print the same measurement of a trivial release: the one that stands in the same place of its kind."""

    def alike(candidate: Candidate) -> list[Measurement]:
        return [m for m in candidate.measurements if (m.measure, m.attribute) == (wanted.measure, wanted.attribute)]

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
    return notes + [(str(name), shown(value)) for name, value in measurement.detail.items() if name != "reason"]


def _reason(measurement: Measurement) -> str:
    return "" if measurement.value is not None else str(measurement.detail.get("reason", "no reason given"))


def _shown(measure: str, value: float | None) -> str:
    return "not applicable" if value is None else words.value_of(measure, value)


# What is published


def _losses(release: Release | None) -> dict[str, float]:
    try:
        return {} if release is None else attribute_losses(release)
    except NotApplicable:
        return {}


def _change_rows(release: Release, losses: Mapping[str, float]) -> list[dict[str, Any]]:
    """Say for each released attribute how many of its cells stay exact; left-out records count as withheld."""
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
    asked = {registry.name_of(type(part)): part for part in _models(chosen)}
    return [
        {
            "measure": words.measure_words(claim.measure).title,
            "attribute": claim.attribute,
            "value": _shown(claim.measure, claim.value),
            "reason": _reason(claim),
            "owner": next(
                (
                    _shown(m.measure, m.value)
                    for m in chosen.measurements
                    if (m.measure, m.attribute) == (claim.measure, claim.attribute)
                ),
                "",
            ),
            "asked": _asked(asked[claim.measure]) if claim.measure in asked else "",
        }
        for claim in claims
    ]


def _asked(model: PrivacyModel) -> str:
    bound: Literal["at least", "at most"] = "at least" if model.better == "higher" else "at most"
    return f"{'above' if bound == 'at least' else 'below'} {model.limit:g}" if model.strict else f"{bound} {model.limit:g}"


def _models(chosen: Candidate) -> tuple[PrivacyModel, ...]:
    """Return the models that the recipe asks for, as far as they are known here."""
    written = chosen.recipe.parameters.get("model")
    try:
        return registry.build_model(written).parts if written else ()
    except ParameterError:
        return ()


def _limits(
    schema: Schema, frontier: Frontier, chosen: Candidate | None, release: Release | None
) -> dict[str, Any]:
    """Return which of the report's warnings apply."""
    models = _models(chosen) if chosen else ()
    noisy = [] if release is None else [n for n in schema.released if release.cells[n].sets is None]
    return {
        "no_model": chosen is not None and not models,
        "no_attribute_model": bool(schema.sensitive) and not any(m.guards == "attribute" for m in models),
        "noisy": noisy,
        "sampled": any(m.interval is not None for c in frontier.candidates for m in c.measurements),
        "notes": () if release is None else release.notes,
    }


# Rendering


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
    environment.filters["recipe"] = words.recipe_in_words
    environment.globals["roles"] = words.ROLES
    return environment.get_template("report.html.j2")
