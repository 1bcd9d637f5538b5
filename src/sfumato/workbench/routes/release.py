"""The release page: one candidate with all that is known of it, and original records behind a press."""

from __future__ import annotations

from concurrent.futures import TimeoutError as NotYet
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.errors import SfumatoError
from sfumato.frontier import Candidate, Frontier, broken_limits
from sfumato.workbench.pages import page, posted
from sfumato.workbench.state.findings import explored_of
from sfumato.workbench.state.opened import Opened, waited
from sfumato.workbench.views.dossiers import Dossier, candidate_of, dossier_of, original_records, released

_PATIENCE = 0.4


def release(request: Request) -> Response:
    """Show what was measured at once, and the rest as soon as the release was made again."""
    opened, frontier, candidate = chosen_of(request)
    dossier, problem = (None, "") if candidate.infeasible else _dossier(request, opened, candidate)
    return page(
        request,
        "release.html.j2",
        candidate=candidate,
        dossier=dossier,
        making=dossier is None and not problem and candidate.infeasible is None,
        problem=problem,
        **measured_facts(opened, frontier, candidate),
    )


def originals(request: Request) -> Response:
    """Say what would be shown before any original record is."""
    _, _, candidate = chosen_of(request)
    return page(request, "originals.html.j2", candidate=candidate, sample=None)


def show_originals(request: Request, form: FormData) -> Response:
    """Show a few original records, once: the answer is kept nowhere."""
    opened, _, candidate = chosen_of(request)
    made = waited(request, released(request, opened, candidate), candidate.id)
    sample = original_records(made, opened.table) if form.get("agreed") else None
    return page(request, "originals.html.j2", candidate=candidate, sample=sample)


def chosen_of(request: Request) -> tuple[Opened, Frontier, Candidate]:
    """Return the project, its frontier and the candidate that the address speaks of."""
    opened, explored = explored_of(request)
    every = (*explored.frontier.candidates, *explored.infeasible)
    return opened, explored.frontier, candidate_of(every, request.path_params["id"])


def measured_facts(opened: Opened, frontier: Frontier, candidate: Candidate) -> dict[str, Any]:
    """Return what the store knows of a candidate: recipe, policy, every measurement, its place."""
    from sfumato import formatting
    from sfumato.report.rows import measurement_rows, policy_rows, recipe_words

    policy = opened.project.policy
    if candidate.infeasible is not None:
        policy = {}
    comparable = candidate in frontier.comparable
    knee = frontier.knee()
    return {
        "title": opened.project.publication.title or opened.project.path.stem,
        "recipe": recipe_words(candidate),
        "method": formatting.sanitizer_words(candidate.recipe.sanitizer),
        "policy": policy_rows(policy, candidate),
        "broken": broken_limits(candidate, policy),
        "sides": {
            side: measurement_rows(candidate, side, policy, frontier) for side in ("privacy", "utility")
        },
        "headline": [_headline(frontier, candidate, axis) for axis in frontier.axes[:2]],
        "comparable": comparable,
        "beaten_by": [c.id for c in frontier.dominated_by(candidate)] if comparable else [],
        "is_knee": knee is not None and knee.id == candidate.id,
        "knee": knee.id if knee is not None and knee.id != candidate.id else None,
    }


def _headline(frontier: Frontier, candidate: Candidate, axis: str) -> tuple[str, str, str]:
    from sfumato import formatting
    from sfumato.report.rows import shown

    known = formatting.measure_words(axis)
    return known.title, shown(axis, candidate.value(axis)), formatting.direction(frontier.better(axis))


def _dossier(request: Request, opened: Opened, candidate: Candidate) -> tuple[Dossier | None, str]:
    """Wait a moment for the dossier; return it, or what hinders it."""
    try:
        return dossier_of(request, opened, candidate).result(_PATIENCE), ""
    except NotYet:
        return None, ""
    except SfumatoError as error:
        return None, str(error)


routes = [
    Route("/projects/{project}/releases/{id}", release, name="release"),
    Route("/projects/{project}/releases/{id}/originals", originals, name="originals"),
    Route(
        "/projects/{project}/releases/{id}/originals",
        posted(show_originals),
        methods=["POST"],
        name="show-originals",
    ),
]
