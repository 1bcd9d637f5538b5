"""The decide page: policy, reason and name; after publishing, the written files and whether they verify."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sfumato.interfaces.workbench.addresses import link, slug
from sfumato.interfaces.workbench.forms.decision_form import decision_errors
from sfumato.interfaces.workbench.pages import page, posted
from sfumato.interfaces.workbench.state.projects import Opened
from sfumato.interfaces.workbench.state.published import (
    decisions_of,
    folder_name,
    folder_of,
    folders_of,
    free_name,
)
from sfumato.interfaces.workbench.state.releases import chosen_of
from sfumato.interfaces.workbench.state.route_lookup import project_of
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.state.tasks import Key, wait_for
from sfumato.interfaces.workbench.views.candidate_measurements import measured_facts
from sfumato.interfaces.workbench.views.candidate_names import names_of
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.recipients import NOBODY
from sfumato.runtime.errors import SfumatoError
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.publish.cautions import cautions

TABLES = {"one-table": ("data",), "two-tables": ("quasi-identifiers", "sensitive")}
_MOST_LETTERS = 20_000
_FIELDS = ("why", "by", "folder", "allow-singling-out")


def decide(request: Request) -> Response:
    """Show the policy, the files to write, and the form of the decision."""
    opened, frontier, candidate = chosen_of(request)
    given = {"why": "", "by": opened.project.publication.steward, "folder": "", "allow-singling-out": ""}
    return _form(request, opened, frontier, candidate, given, {})


def publish(request: Request, form: FormData) -> Response:
    """Check the form, start writing in a thread, and redirect to the page that waits for it."""
    opened, frontier, candidate = chosen_of(request)
    given = {key: str(form.get(key, "")).strip()[:_MOST_LETTERS] for key in _FIELDS}
    errors = decision_errors(
        opened.project.path.parent, given, why="Say why this release: a reviewer will ask."
    )
    if candidate.infeasible is not None or measured_facts(opened, frontier, candidate)["broken"]:
        errors["policy"] = "This release does not meet the policy, so it cannot be published."
    if errors:
        return _form(request, opened, frontier, candidate, given, errors)
    name = folder_name(given["folder"])
    _begin(request, opened, candidate, name, given)
    return RedirectResponse(link(request, "publishing", id=candidate.id, folder=name), 303)


def publishing(request: Request) -> Response:
    """Wait for a folder that is being written, and redirect to it."""
    project = project_of(request)
    begun = state_of(request).tasks.find(
        _key(project, request.path_params["id"], request.path_params["folder"])
    )
    if begun is not None:
        message = "The release is made again, measured, written and verified from the files alone."
        name: str = wait_for(request, begun, "the release", doing="Publishing", message=message)
        return RedirectResponse(link(request, "published", folder=name), 303)
    return RedirectResponse(link(request, "decide", id=request.path_params["id"]), 303)


def published(request: Request) -> Response:
    """Show a published folder and verify it again from its files alone."""
    project = project_of(request)
    folder = folder_of(request, project)
    key = ("verify", folder.path, _stamps(folder.path))
    message = "Every checksum is compared and every claim is computed anew from the files."
    checked = state_of(request).tasks.begin(key, lambda: _verified(folder.path))
    checks, problem = wait_for(request, checked, folder.name, doing="Verifying", message=message)
    files = [path for path in sorted(folder.path.rglob("*")) if path.is_file()]
    return page(
        request,
        "published.html.j2",
        title=project.publication.title or project.path.stem,
        folder=folder,
        files=[(path.relative_to(folder.path).as_posix(), path.stat().st_size) for path in files],
        checks=checks,
        problem=problem,
        where=str(folder.path),
    )


def _form(
    request: Request,
    opened: Opened,
    frontier: Frontier,
    candidate: Candidate,
    given: dict[str, str],
    errors: dict[str, str],
) -> Response:
    given = {**given, "folder": given["folder"] or free_name(opened.project.path.parent)}
    decisions = _decisions(opened.project, frontier)
    return page(
        request,
        "decide.html.j2",
        status=422 if errors else 200,
        candidate=candidate,
        given=given,
        errors=errors,
        data_files=_data_files(opened.project, candidate),
        publication=opened.project.publication,
        where=opened.project.path.parent.name,
        decisions=decisions,
        names_nobody=opened.project.policy.recipient == NOBODY,
        cautions=cautions(
            candidate.recipe,
            len(decisions),
            opened.inspection.warnings,
            chosen_before=opened.project.dp.choose == "before",
        ),
        **measured_facts(opened, frontier, candidate),
    )


def _data_files(project: Project, candidate: Candidate) -> list[str]:
    """Return the data files that would be written; folders of Parquet files as a pattern."""
    publication, schema = project.publication, project.schema
    tables = TABLES.get(str(candidate.recipe.parameters.get("form")), TABLES["one-table"])
    column = publication.partition_by
    partitioned = tables[-1 if column in schema.sensitive else 0] if column else None
    endings = ["csv", "parquet", *sorted(publication.formats)]
    files = [f"{table}.{ending}" for table in tables for ending in endings]
    return [f"{partitioned}/{column}=…" if file == f"{partitioned}.parquet" else file for file in files]


def _decisions(project: Project, frontier: Frontier) -> list[dict[str, Any]]:
    names = names_of(frontier.candidates)
    there = {folder.name for folder in folders_of(project)}
    return [
        {
            "decision": decision,
            "name": names.get(decision.candidate, decision.candidate),
            "folder": folder,
            "is_there": folder in there,
        }
        for decision, folder in decisions_of(project)
    ]


def _key(project: Project, release: str, folder: str) -> Key:
    """Return the key of a folder that is being written: the release and the name in the address."""
    return ("publish", project.path, release, folder)


def _begin(request: Request, opened: Opened, candidate: Candidate, name: str, given: dict[str, str]) -> None:
    """Write the same folder as `sfumato publish`, by the same code, and record the decision."""

    def write() -> str:
        from sfumato.workflow.apply.stored_publications import earlier_releases, known_folders
        from sfumato.workflow.explore.stored_results import frontier_of
        from sfumato.workflow.publish.publication_request import Evidence, PublicationRequest
        from sfumato.workflow.publish.publish import publish_candidate as write_folder
        from sfumato.workflow.store.store import Store

        project, target = opened.project, opened.project.path.parent / name
        with Store(project.store_path, create=False) as store:
            store.require_writable()
            evidence = Evidence(*frontier_of(project, store, opened.table, opened.schema), store.secret)
            before, _ = known_folders(store, project.schema)
            decision, _ = write_folder(
                project,
                opened.table,
                opened.schema,
                candidate,
                PublicationRequest(
                    target,
                    given["why"],
                    given["by"],
                    evidence=evidence,
                    allow_singling_out=bool(given["allow-singling-out"]),
                ),
                earlier=earlier_releases(store, before, opened.table, opened.schema),
            )
            store.record(decision, str(target))
        return name

    state_of(request).tasks.begin_again(_key(opened.project, candidate.id, slug(name)), write)


def _verified(path: Path) -> tuple[list[tuple[str, str, bool]], str]:
    """Return every check with its problem, and the error if the check itself failed."""
    from sfumato.workflow.publish.verify import verify

    try:
        verification = verify(path)
        if verification.undecided and not verification.failed:
            return [], verification.outcome
        return [(check.what, check.problem, check.unverified) for check in verification], ""
    except SfumatoError as error:
        return [], str(error)
    except RecursionError:
        return [], "the manifest is nested too deeply to be one of ours"


def _stamps(path: Path) -> tuple[tuple[str, int, int], ...]:
    stats = [(str(file.relative_to(path)), file.lstat()) for file in sorted(path.rglob("*"))]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in stats)


routes = [
    Route("/projects/{project}/decide/{id}", decide, name="decide"),
    Route("/projects/{project}/decide/{id}", posted(publish), methods=["POST"], name="publish"),
    Route("/projects/{project}/decide/{id}/{folder}", publishing, name="publishing"),
    Route("/projects/{project}/published/{folder}", published, name="published"),
]
