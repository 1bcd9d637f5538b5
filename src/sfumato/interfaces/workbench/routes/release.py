"""The release page: everything known about one candidate, and original records on request."""

from __future__ import annotations

from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.interfaces.workbench.pages import page, posted
from sfumato.interfaces.workbench.state.releases import chosen_of, released
from sfumato.interfaces.workbench.state.tasks import wait_for
from sfumato.interfaces.workbench.views.candidate_measurements import measured_facts
from sfumato.interfaces.workbench.views.dossiers import Dossier, dossier_of, rows_before_and_after
from sfumato.runtime.errors import SfumatoError

_PATIENCE = 0.4


def release(request: Request) -> Response:
    """Show the measurements at once, and the rest as soon as the release was made again."""
    opened, frontier, candidate = chosen_of(request)
    dossier: Dossier | None = None
    problem = ""
    if candidate.infeasible is None:
        with suppress(NotYet):
            try:
                dossier = dossier_of(request, opened, candidate).result(_PATIENCE)
            except SfumatoError as error:
                problem = str(error)
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
    """Say what would be shown before showing any original record."""
    _, _, candidate = chosen_of(request)
    return page(request, "originals.html.j2", candidate=candidate, sample=None)


def show_originals(request: Request, form: FormData) -> Response:
    """Show a few original records, once: the answer is not cached."""
    opened, _, candidate = chosen_of(request)
    remade = wait_for(request, released(request, opened, candidate), candidate.id)
    sample = rows_before_and_after(remade, opened.table) if form.get("agreed") else None
    return page(request, "originals.html.j2", candidate=candidate, sample=sample)


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
