"""The report pages: for an exploration, for the owner of one release, and for published folders."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sfumato.interfaces.workbench.addresses import link
from sfumato.interfaces.workbench.forms.publication_form import (
    FIELDS,
    REVIEWED,
    plain,
    put_publication,
    stated,
    typed,
)
from sfumato.interfaces.workbench.pages import back, page, posted
from sfumato.interfaces.workbench.state.current_frontier import Findings
from sfumato.interfaces.workbench.state.project_edits import edit
from sfumato.interfaces.workbench.state.projects import Opened
from sfumato.interfaces.workbench.state.published import decisions_of, folder_of, own_folders
from sfumato.interfaces.workbench.state.releases import chosen_of, release_now
from sfumato.interfaces.workbench.state.route_lookup import findings_of, opened_of, project_of
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.state.tasks import wait_for
from sfumato.results.candidate import Candidate
from sfumato.results.formatting import sentence
from sfumato.runtime.errors import ProjectError
from sfumato.verification.folder import PROFILES, REPORT, page_of

POLICY = (
    "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""A report is one page with its style in it; it may load nothing and run nothing."""
_PAGES = (REPORT, *map(page_of, PROFILES))
_MOST_BYTES = 64 * 2**20


def report(request: Request) -> Response:
    """List the reports, with a form for their statements about the publication."""
    return _page(request, opened_of(request))


def write(request: Request, form: FormData) -> Response:
    """Write the reports' statements about the publication into the project file."""
    opened = opened_of(request)
    given = typed(form)
    try:
        values = plain(given)
    except ProjectError as error:
        return _page(request, opened, given, sentence(str(error)))
    edit(
        opened.project.path,
        str(form.get("version")),
        lambda document: put_publication(document, values),
    )
    return back(request, link(request, "report"), "The reports say so from now on.")


def _page(request: Request, opened: Opened, given: dict[str, str] | None = None, wrong: str = "") -> Response:
    _, findings = findings_of(request)
    n_made = len(findings.frontier.candidates)
    publication = opened.project.publication
    values = stated(publication)
    return page(
        request,
        "reports.html.j2",
        status=422 if wrong else 200,
        digest=opened.version,
        fields=[(key, *FIELDS[key], (given or values)[key]) for key in FIELDS],
        lacking=[FIELDS[key].title.lower() for key in REVIEWED if not values[key]],
        wrong=wrong,
        title=publication.title or opened.project.path.stem,
        n_candidates=n_made,
        n_tried=n_made + len(findings.infeasible),
        folders=own_folders(opened.project),
    )


def exploration(request: Request) -> Response:
    """Write the report of the exploration so far."""
    opened = opened_of(request)
    message = "The charts are drawn and everything that was measured is put in tables."
    name = opened.project.path.stem
    text = wait_for(request, _written(request, opened), name, doing="Writing the report of", message=message)
    return _served(request, text, f"{name}-report.html")


def of_release(request: Request) -> Response:
    """Write the owner's report of one release, with figures that a published report omits."""
    opened, _, candidate = chosen_of(request)
    if candidate.infeasible is not None:
        raise HTTPException(404, "This release could not be made, so there is no report of it.")
    message = "The release is made again, and everything known about it is put on one page."
    written = _written_for_owner(request, opened, candidate)
    text = wait_for(request, written, candidate.id, doing="Writing the owner's report of", message=message)
    return _served(request, text, f"{opened.project.path.stem}-{candidate.id}-owner-report.html")


def of_folder(request: Request) -> Response:
    """Serve the report of a published folder as it is, or one of its profiles."""
    folder = folder_of(request, project_of(request))
    name = request.path_params.get("page", REPORT)
    path = folder.path / name
    if name not in _PAGES or path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
        raise HTTPException(404, "This folder has no report.")
    return _served(request, path.read_text(encoding="utf-8", errors="replace"), f"{folder.name}-{name}")


def _served(request: Request, text: str, name: str) -> Response:
    headers = {"Content-Security-Policy": POLICY}
    if "download" in request.query_params:
        plain = "".join(
            sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "_" for sign in name
        )
        headers["Content-Disposition"] = f'attachment; filename="{plain}"'
    return HTMLResponse(text, headers=headers)


def _written(request: Request, opened: Opened) -> Future[str]:
    """Return a future of the report's text, which is rewritten when the project or the store changes."""
    _, findings = findings_of(request)
    key = ("report", opened.project.path, opened.version, findings.state)

    def write() -> str:
        from sfumato.workflow.report.owner_report import report_html

        return report_html(**_facts(opened, findings))

    return state_of(request).tasks.begin(key, write)


def _written_for_owner(request: Request, opened: Opened, candidate: Candidate) -> Future[str]:
    _, findings = findings_of(request)
    tasks = state_of(request).tasks
    decision = next((d for d, _ in decisions_of(opened.project) if d.candidate == candidate.id), None)
    key = ("owner-report", opened.project.path, opened.version, findings.state, candidate.id, decision)

    def write() -> str:
        from sfumato.workflow.report.owner_report import report_html

        release = release_now(tasks, opened, candidate)
        facts = _facts(opened, findings)
        return report_html(**facts, chosen=candidate, release=release, decision=decision)

    return tasks.begin(key, write)


def _facts(opened: Opened, findings: Findings) -> dict[str, Any]:
    return {
        "publication": opened.project.publication,
        "schema": opened.schema,
        "n_records": opened.table.n_records,
        "frontier": findings.frontier,
        "table": opened.table,
        "infeasible": findings.infeasible,
    }


routes = [
    Route("/projects/{project}/report", report, name="report"),
    Route("/projects/{project}/report", posted(write), methods=["POST"], name="write-publication"),
    Route("/projects/{project}/report/exploration", exploration, name="exploration-report"),
    Route("/projects/{project}/releases/{id}/report", of_release, name="owner-report"),
    Route("/projects/{project}/published/{folder}/report", of_folder, name="published-report"),
    Route("/projects/{project}/published/{folder}/{page}", of_folder, name="published-page"),
]
