"""Find the candidate that a URL names, and make its release again from its recipe."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import Request

from sfumato.interfaces.workbench.state.projects import Opened
from sfumato.interfaces.workbench.state.route_lookup import findings_of
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.state.tasks import BackgroundTasks, Key

if TYPE_CHECKING:
    from sfumato.results.candidate import Candidate
    from sfumato.results.frontier import Frontier
    from sfumato.results.release import Release


def candidate_of(candidates: Sequence[Candidate], identity: str) -> Candidate:
    """Return the candidate with this id, also if it is that of an alias, or raise the page that says no."""
    for candidate in candidates:
        if any(way.id == identity for way in candidate.ways):
            return candidate
    raise HTTPException(
        404, "There is no release with this id; the data, the roles or the recipes may have changed."
    )


def chosen_of(request: Request) -> tuple[Opened, Frontier, Candidate]:
    """Return the project, its frontier and the candidate in the address."""
    opened, findings = findings_of(request)
    every = (*findings.frontier.candidates, *findings.infeasible)
    return opened, findings.frontier, candidate_of(every, request.path_params["id"])


def release_key(opened: Opened, candidate: Candidate) -> Key:
    """Return the key of a candidate's release."""
    return ("release", opened.project.path, opened.source, candidate.id, candidate.recipe.seed)


def released(request: Request, opened: Opened, candidate: Candidate) -> Future[Release]:
    """Make the release of a candidate again, in a thread; the last few are kept."""
    from sfumato.workflow.explore.stored_results import remade

    key = release_key(opened, candidate)
    return state_of(request).tasks.begin(key, lambda: remade(candidate, opened.table, opened.schema))


def release_now(tasks: BackgroundTasks, opened: Opened, candidate: Candidate) -> Release:
    """Return the cached release, or make and cache it right now.

    For tasks that need it: one that waited for another thread might wait for one that waits for it.
    """
    from sfumato.workflow.explore.stored_results import remade

    key = release_key(opened, candidate)
    task = tasks.find(key)
    if task is not None and task.done() and task.exception() is None:
        release: Release = task.result()
    else:
        release = remade(candidate, opened.table, opened.schema)
    tasks.begin(key, lambda: release, alone=False)
    return release
