"""Describe one candidate from the store: recipe, policy, measurements, and which candidates dominate it."""

from __future__ import annotations

from typing import Any

from sfumato.interfaces.workbench.state.projects import Opened
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier


def measured_facts(opened: Opened, frontier: Frontier, candidate: Candidate) -> dict[str, Any]:
    """Return the store's facts about a candidate: recipe, policy, measurements, and how it ranks."""
    from sfumato.results import formatting
    from sfumato.workflow.report.attack_rows import attack_rows, attacks_not_tried
    from sfumato.workflow.report.table_rows import measurement_rows, policy_rows, recipe_words, shown

    comparable = candidate in frontier.comparable
    knee = frontier.knee()
    return {
        "title": opened.project.publication.title or opened.project.path.stem,
        "name": formatting.plain_name(candidate.recipe),
        "recipe": recipe_words(candidate),
        "method": formatting.sanitizer_words(candidate.recipe.sanitizer),
        "recipient": opened.project.policy.title,
        "policy": [] if candidate.infeasible else policy_rows(frontier, candidate),
        "broken": frontier.broken.get(candidate.id, ()),
        "sides": {side: measurement_rows(candidate, side, frontier) for side in ("privacy", "utility")},
        "attacks": attack_rows(candidate.measurements),
        "attacks_not_tried": attacks_not_tried(measurement.measure for measurement in candidate.measurements),
        "headline": [
            (
                formatting.measure_words(axis).title,
                shown(axis, candidate.value(axis)),
                formatting.scale_words(axis, frontier.better(axis)),
            )
            for axis in frontier.axes[:2]
        ],
        "comparable": comparable,
        "beaten_by": [
            (c.id, formatting.recipe_name(c.recipe))
            for c in (frontier.dominated_by(candidate) if comparable else ())
        ],
        "is_knee": knee is not None and knee.id == candidate.id,
        "knee": knee.id if knee is not None and knee.id != candidate.id else None,
    }
