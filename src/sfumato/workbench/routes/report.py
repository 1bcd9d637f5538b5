"""The report page: the report of the exploration, and those of the folders that were published."""

from __future__ import annotations

from concurrent.futures import Future
from datetime import date
from typing import Any

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sfumato.workbench.addresses import link
from sfumato.workbench.pages import back, page, posted
from sfumato.workbench.routes.decide import folder_of
from sfumato.workbench.state.editing import edit
from sfumato.workbench.state.findings import explored_of
from sfumato.workbench.state.opened import Opened, opened_of, project_of, shelf_of, waited
from sfumato.workbench.state.published import folders_of

POLICY = (
    "sandbox allow-popups; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""A report is one page with its style in it; it may load nothing and run nothing."""
_MOST_BYTES = 64 * 2**20
_MOST_LETTERS = 20_000


WORDS = {
    "title": ("Title", "What the table is called.", "line"),
    "purpose": ("Purpose", "What the release is for.", "lines"),
    "recipients": ("Recipients", "Who may have it.", "lines"),
    "safeguards": ("Safeguards", "Contracts, access control and whatever else protects it.", "lines"),
    "steward": ("Data steward", "Who answers for it: name and position.", "line"),
    "review-by": ("Review date", "When the assessment must be repeated.", "date"),
}
"""What a reader of the report should know, by its key in the project file: title, help, kind of field."""


def report(request: Request) -> Response:
    """List the reports, and let what they say of the publication be written."""
    return _page(request, opened_of(request))


def write(request: Request, form: FormData) -> Response:
    """Write what the reports say of the publication into the project file."""
    opened = opened_of(request)
    written = {key: str(form.get(key, "")).replace("\r\n", "\n").strip() for key in WORDS}
    given = {key: text[:_MOST_LETTERS] for key, text in written.items()}
    try:
        reviewed = date.fromisoformat(given["review-by"]) if given["review-by"] else None
    except ValueError:
        return _page(request, opened, given, "Write the date of the review like 2028-01-31.")

    def change(document: Any) -> None:
        section = document.setdefault("publication", {})
        for key, value in {**given, "review-by": reviewed}.items():
            if value:
                section[key] = value
            else:
                section.pop(key, None)

    edit(opened.project.path, str(form.get("version")), change)
    return back(request, link(request, "report"), "The reports say so from now on.")


def _page(request: Request, opened: Opened, given: dict[str, str] | None = None, wrong: str = "") -> Response:
    _, explored = explored_of(request)
    n_made = len(explored.frontier.candidates)
    publication = opened.project.publication
    said = {key: str(getattr(publication, key.replace("-", "_")) or "") for key in WORDS}
    return page(
        request,
        "reports.html.j2",
        status=422 if wrong else 200,
        digest=opened.version,
        fields=[(key, *WORDS[key], (given or said)[key]) for key in WORDS],
        lacking=[WORDS[key][0].lower() for key in WORDS if not said[key]],
        wrong=wrong,
        title=publication.title or opened.project.path.stem,
        n_candidates=n_made,
        n_tried=n_made + len(explored.infeasible),
        folders=folders_of(opened.project),
    )


def exploration(request: Request) -> Response:
    """Write the report of what was explored so far."""
    opened = opened_of(request)
    said = "The charts are drawn and everything that was measured is put in tables."
    name = opened.project.path.stem
    text = waited(request, _written(request, opened), name, doing="Writing the report of", said=said)
    return _served(request, text, f"{name}-report.html")


def of_folder(request: Request) -> Response:
    """Serve the report of a published folder as it is."""
    folder = folder_of(request, project_of(request))
    path = folder.path / "report.html"
    if path.is_symlink() or not path.is_file() or path.stat().st_size > _MOST_BYTES:
        raise HTTPException(404, "This folder has no report.")
    return _served(request, path.read_text(encoding="utf-8", errors="replace"), f"{folder.name}-report.html")


def _served(request: Request, text: str, name: str) -> Response:
    headers = {"Content-Security-Policy": POLICY}
    if "download" in request.query_params:
        plain = "".join(
            sign if sign.isascii() and (sign.isalnum() or sign in "._-") else "_" for sign in name
        )
        headers["Content-Disposition"] = f'attachment; filename="{plain}"'
    return HTMLResponse(text, headers=headers)


def _written(request: Request, opened: Opened) -> Future[str]:
    """Return the report's text, or its promise: written anew when the project or the store changes."""
    _, explored = explored_of(request)
    key = ("report", opened.project.path, opened.version, explored.state)

    def write() -> str:
        from sfumato.report.page import report_html

        facts: dict[str, Any] = {
            "publication": opened.project.publication,
            "schema": opened.schema,
            "n_records": opened.table.n_records,
            "frontier": explored.frontier,
            "table": opened.table,
            "infeasible": explored.infeasible,
            "policy": opened.project.policy,
        }
        return report_html(**facts)

    return shelf_of(request).work(key, write)


routes = [
    Route("/projects/{project}/report", report, name="report"),
    Route("/projects/{project}/report", posted(write), methods=["POST"], name="write-publication"),
    Route("/projects/{project}/report/exploration", exploration, name="exploration-report"),
    Route("/projects/{project}/published/{folder}/report", of_folder, name="published-report"),
]
