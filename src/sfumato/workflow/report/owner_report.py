"""Write the owner's report: one HTML page to read, print, sign and check, with no script in it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

import jinja2
import numpy as np

import sfumato
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.measures.disclosure.dp_guarantee import guarantee_of
from sfumato.measures.identity.uniqueness import Alone, alone_by_insensitive, warnings_of
from sfumato.measures.utility.information_loss import attribute_losses
from sfumato.registry.declarations import Axis
from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.decision import Decision
from sfumato.results.frontier import Frontier
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.manifest import intervals_at_values
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Integers
from sfumato.verification.documents import UnverifiedClaims
from sfumato.verification.renderings import UNVERIFIED_CLAIM
from sfumato.workflow.project.project_file import Publication
from sfumato.workflow.report.adversaries import measures_against, scenario_rows
from sfumato.workflow.report.attack_rows import attack_rows, attacks_not_tried, attacks_tried
from sfumato.workflow.report.charts import class_size_curves, frontier_chart, scatter_matrix
from sfumato.workflow.report.claim_marks import counted
from sfumato.workflow.report.glossary import TERMS
from sfumato.workflow.report.markup import html_templates, inline_picture
from sfumato.workflow.report.plain_summary import plain_sentences
from sfumato.workflow.report.table_rows import (
    attribute_rows,
    candidate_rows,
    change_rows,
    claim_rows,
    measurement_rows,
    method_rows,
    policy_rows,
    promised_models,
    recipe_words,
    requirement_rows,
    shown,
)

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
    "attacks": "Attacks tried",
    "utility": "Utility measurements",
    "changes": "What was changed in each attribute",
    "classes": "Class sizes",
    "claims": "Claims checked on the published cells",
}
_END = {
    "limits": "Limits of the claim",
    "recipe": "Recipe, version and verification",
    "terms": "Words used in this report",
}
_SIGNATURE = {"signature": "Signature and review"}
_APPENDIX = {"candidates": "Appendix: every candidate"}
SIDES: tuple[Axis, Axis] = ("privacy", "utility")


def report_html(
    *,
    publication: Publication,
    schema: Schema,
    n_records: int,
    frontier: Frontier,
    table: Table | None = None,
    infeasible: Sequence[Candidate] = (),
    chosen: Candidate | None = None,
    release: Release | None = None,
    decision: Decision | None = None,
    claims: Sequence[Measurement] = (),
    files: Mapping[str, str] = {},
) -> str:
    """Write the report of an exploration, or of a publication if a candidate is chosen.

    Parameters
    ----------
    publication
        Title, purpose, recipients, safeguards, data steward and date of review.
    schema
        The attributes, bound to the data.
    n_records
        The number of records of the original.
    frontier
        The candidates that could be made, and the policy that a release must keep.
    table
        The original, of which missing values are counted and nothing else is told; by default that of the
        release.
    infeasible
        Those that could not.
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
    sections = (
        _EXPLORATION | (_PUBLICATION if chosen else {}) | _END | (_SIGNATURE if chosen else {}) | _APPENDIX
    )
    original = table or (release.origin.table if isinstance(release, LinkedRelease) else None)
    measured = [chosen] if chosen else frontier.candidates
    taken = {found.measure for candidate in measured for found in candidate.measurements}
    facts: dict[str, Any] = {
        "owner": True,
        "guarantee": None,
        "signed_by": None,
        "parent": None,
        **frame(publication, schema, sections),
        "n_records": n_records,
        "n_people": None if table is None or table.person_of is None else table.n_people,
        "attributes": attribute_rows(schema, original),
        "as_it_stands": _as_it_stands(frontier),
        "adversaries": measures_against(measured),
        "attacks_tried": attacks_tried(taken),
        "attacks_not_tried": attacks_not_tried(taken, None if release is None else release.type),
        "scenarios": scenario_rows(measured),
        "terms": {term: said for term, said in TERMS.items() if term != "knee" or frontier.knee()},
        "infeasible": infeasible,
        "chosen": chosen,
        "decision": decision,
        "release": release,
        "files": files,
        "renamed": {},
        **_frontier_facts(frontier, chosen),
        **_summary(frontier, chosen, release, len(infeasible)),
        "limits": _limits(schema, frontier.candidates, chosen, release),
        **unprotected_facts(_insensitive(schema, table, release)),
        "policy": policy_rows(frontier, chosen),
        "notes": frontier.policy_notes(),
    }
    facts |= {
        "marked_title": publication.title,
        "marked_version": sfumato.__version__,
        "n_attributes": len(schema.attributes),
        "n_identifying": len(schema.identifying),
        "is_policy_met": chosen is not None and frontier.policy.keeps(chosen, frontier.original),
        "is_steward_apart": bool(publication.steward)
        and not (decision and publication.steward == decision.by),
        "n_released_records": release.n_records if release else 0,
        "n_suppressed": release.n_suppressed if release else 0,
        "released_figures": [],
        "marked_id": chosen.id if chosen else "",
    }
    if chosen is not None:
        facts |= _publication_facts(frontier, chosen, release, claims)
    return rendered(facts)


def published_sections() -> dict[str, str]:
    """Return the sections of a published report, each with its title."""
    return {**_EXPLORATION, "frontier": "Candidates tried"} | _PUBLICATION | _END | _SIGNATURE


def frame(
    publication: Publication | UnverifiedClaims, schema: Schema, sections: Mapping[str, str]
) -> dict[str, Any]:
    """Return the frame of every report: its title, its numbered sections, and what is published."""
    return {
        "title": publication.title or "A table about people",
        "publication": publication,
        "sections": {key: (number, title) for number, (key, title) in enumerate(sections.items(), start=1)},
        "version": sfumato.__version__,
        "schema": schema,
        "weighted": any(schema[name].weight != 1 for name in schema.released),
        "is_steward_apart": bool(publication.steward),
    }


def _publication_facts(
    frontier: Frontier,
    chosen: Candidate,
    release: Release | None,
    claims: Sequence[Measurement],
) -> dict[str, Any]:
    facts = {
        **recipe_facts(chosen),
        "measured": {side: measurement_rows(chosen, side, frontier) for side in SIDES},
        "attacks": attack_rows(chosen.measurements),
        "claims": claim_rows(claims, chosen),
    }
    if release is None:
        return facts
    losses = losses_of(release)
    return facts | {
        "changes": change_rows(release, losses),
        "losses_chart": inline_picture(frontier_chart.attribute_losses_chart(losses)) if losses else None,
        "requirements": requirement_rows(release, chosen),
        **cell_facts(release),
    }


def recipe_facts(chosen: Candidate) -> dict[str, Any]:
    """Return the recipe as data and in words."""
    words = recipe_words(chosen)
    return {
        "recipe": json.dumps(json.loads(chosen.recipe.public_json()), indent=2, ensure_ascii=False),
        "recipe_words": words,
        "recipe_sentence": f"{words[:1].upper()}{words[1:]}",
        "sanitizer_words": formatting.sanitizer_words(chosen.recipe.sanitizer),
    }


def cell_facts(release: Release) -> dict[str, Any]:
    """Return the class sizes, which the released cells alone give."""
    return {
        "classes": class_facts(release),
        "classes_chart": inline_picture(class_size_curves.class_sizes_chart(release.classes.sizes)),
    }


# Summary


def _summary(
    frontier: Frontier, chosen: Candidate | None, release: Release | None, n_infeasible: int
) -> dict[str, Any]:
    subject = chosen or frontier.knee()
    n_tried = len(frontier.candidates) + n_infeasible
    figures = [_figure(frontier, subject, axis) for axis in frontier.axes[:2]] if subject else []
    if release is not None:
        figures.append(released_figure(release))
    else:
        n_efficient = len(frontier.efficient())
        figures.append(("efficient candidates", f"{n_efficient:,}", f"of {n_tried:,} that were tried"))
    plain = [] if release is None else plain_sentences(release, class_facts(release))
    axes = frontier.axes[1:2] if len(plain) > 1 else frontier.axes[:2]
    sentences = [] if subject is None else said(axes, lambda name: shown(name, subject.value(name)))
    return {"figures": figures, "plain": plain, "sentences": sentences, "n_tried": n_tried}


def released_figure(release: Release) -> tuple[str, str, str]:
    """Return the number of released records as a figure with its name and a hint."""
    kept, of_all = release.n_records, release.n_original
    if release.type == "synthetic":
        return "synthetic records", f"{kept:,}", "they stand for nobody"
    return "records released", formatting.share(kept / of_all), f"{kept:,} of {of_all:,}"


def _figure(frontier: Frontier, subject: Candidate, axis: str) -> tuple[str, str, str]:
    hints = [
        f"{formatting.value_of(axis, value)} for {words}"
        for words, value in frontier.trivial_values(axis).items()
        if value is not None
    ]
    scale = formatting.scale_words(axis, frontier.better(axis))
    hint = "; ".join(filter(None, [scale, ", ".join(hints)]))
    return formatting.measure_words(axis).title, shown(axis, subject.value(axis)), hint


def _as_it_stands(frontier: Frontier) -> int | None:
    """Return how many records would be alone in their class if the table were published as it is."""
    as_is = (c for c in frontier.candidates if c.recipe.sanitizer == "as-is")
    risks = (m for c in as_is for m in c.measurements if m.measure == "reidentification-risk")
    return next((int(m.detail["uniques"]) for m in risks if "uniques" in m.detail), None)


def said(axes: tuple[str, ...], told: Callable[[str], str]) -> list[str]:
    """Explain what the axes mean for people, if there are words for them."""
    said = []
    for measure in axes:
        value = told(measure)
        if value != "not applicable":
            known = formatting.measure_words(measure)
            sentence = known.sentence or f"{known.title} is {{}}"
            said.append(sentence.replace("{}", value))
    return said


# The frontier


def _frontier_facts(frontier: Frontier, chosen: Candidate | None) -> dict[str, Any]:
    efficient = frontier.efficient()
    comparable = next((c for c in frontier.comparable if chosen is not None and c.id == chosen.id), None)
    marked = {"chosen": [chosen], "knee": [frontier.knee()]}
    shown_axes = frontier.axes if len(frontier.axes) <= scatter_matrix.MOST_AXES else frontier.axes[:2]
    drawn = [c.value(axis) or 0.0 for c in frontier.comparable for axis in shown_axes]
    return {
        "frontier": frontier,
        "frontier_chart": inline_picture(scatter_matrix.frontier_picture(frontier, chosen=chosen)),
        "axes": [
            (formatting.measure_words(axis), formatting.direction(frontier.better(axis)))
            for axis in frontier.axes
        ],
        "efficient": candidate_rows(efficient, frontier, marked),
        "candidates": candidate_rows(frontier.candidates, frontier, marked | {"efficient": [*efficient]}),
        "methods": method_rows(frontier),
        "knee": frontier.knee(),
        "n_axes_drawn": len(shown_axes),
        "beaten_by": None if comparable is None else [c.id for c in frontier.dominated_by(comparable)],
        "n_keeping": len(frontier.allowed),
        "infinite": any(map(math.isinf, drawn)),
        "withheld_is_efficient": any(c.recipe.sanitizer == "suppress-sensitive" for c in efficient),
    }


# What is published


def losses_of(release: Release) -> dict[str, float]:
    """Return the share of information that each quasi-identifier loses, if it is defined."""
    try:
        return attribute_losses(release)
    except NotApplicable:
        return {}


def class_facts(release: Release) -> dict[str, Any]:
    """Return facts about the sizes of the classes."""
    sizes = release.classes.sizes
    order = np.sort(sizes)
    median = order[np.searchsorted(np.cumsum(order), release.n_records / 2)] if len(order) else 0
    below = shares_below(sizes, release.n_records)
    return {
        "n_classes": len(sizes),
        "smallest": int(order[0]) if len(order) else 0,
        "median": int(median),
        "largest": int(order[-1]) if len(order) else 0,
        "below": {size: formatting.share(value) for size, value in below.items()},
        "n_groups": release.groups.n_classes if release.group_of is not None else None,
        "people": None if release.people is None else _people_of_classes(release),
    }


def shares_below(sizes: Integers, n_records: int) -> dict[int, float]:
    """Return the share of records in classes smaller than common thresholds."""
    return {size: int(sizes[sizes < size].sum()) / max(n_records, 1) for size in (3, 5, 11, 20)}


def _people_of_classes(release: Release) -> dict[str, int]:
    """Return the numbers of people in the smallest, the median person's and the largest class."""
    order = np.sort(release.classes.people)
    median = order[np.searchsorted(np.cumsum(order), order.sum() / 2)]
    return {"fewest": int(order[0]), "median": int(median), "most": int(order[-1])}


def _limits(
    schema: Schema, candidates: Sequence[Candidate], chosen: Candidate | None, release: Release | None
) -> dict[str, Any]:
    """Return which of the report's warnings apply."""
    models = promised_models(chosen) if chosen else ()
    return {
        "no_model": not models,
        "no_attribute_model": not any(part.guards == "attribute" for part in models),
        "noisy": [] if release is None else [n for n in schema.released if release.cells[n].sets is None],
        "type": "people" if release is None else release.type,
        "promises": release is not None and guarantee_of(release) is not None,
        "sampled": any(m.interval is not None for c in candidates for m in c.measurements),
        "notes": () if release is None else release.notes,
        "intervals": () if release is None else intervals_at_values(release),
        "people": schema.person is not None,
        "pseudonym": schema.pseudonym,
    }


def _insensitive(schema: Schema, table: Table | None, release: Release | None) -> tuple[Alone, ...]:
    if release is not None:
        return alone_by_insensitive(release)
    return () if table is None else alone_by_insensitive(released(table, schema, {}))


def unprotected_facts(found: Sequence[Alone]) -> dict[str, Any]:
    """Return facts about the attributes that are released as they are."""
    return {
        "insensitive": found,
        "unprotected": warnings_of(found),
    }


# Rendering


def printed_time(written: str) -> str:
    """Print an ISO time in words; anything else as it is."""
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return written
    return written if moment.tzinfo is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")


def rendered(facts: Mapping[str, Any], template: str = "report.html.j2") -> str:
    """Render a template with these facts."""
    return _templates().get_template(template).render(facts)


@cache
def _templates() -> jinja2.Environment:
    environment = html_templates("sfumato.workflow.report")
    environment.filters["count"] = counted
    environment.filters["joined"] = formatting.joined
    environment.filters["recipe"] = recipe_words
    environment.filters["time"] = printed_time
    environment.globals["roles"] = formatting.ROLES
    environment.globals["unverified_claim"] = UNVERIFIED_CLAIM
    return environment
