"""The page for next month's file: recode its records like an earlier release, and publish them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sfumato.interfaces.workbench.addresses import link, slug
from sfumato.interfaces.workbench.forms.decision_form import decision_errors
from sfumato.interfaces.workbench.pages import back, page, posted
from sfumato.interfaces.workbench.state.published import folder_name, folder_of, free_name
from sfumato.interfaces.workbench.state.releases import chosen_of
from sfumato.interfaces.workbench.state.route_lookup import project_of
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.state.tasks import Key, wait_for
from sfumato.interfaces.workbench.views.candidate_rows import limit_words
from sfumato.results.formatting import sentence
from sfumato.runtime.errors import PolicyNotMet, words_before
from sfumato.workflow.project.project_file import Project

_MOST_LETTERS = 20_000
_FIELDS = ("file", "limit", "why", "by", "folder")


@dataclass(frozen=True)
class NewMonth:
    """The outcome for the new records: the typed values, the messages, and whether it was refused."""

    given: dict[str, str]
    message: str
    is_refused: bool = False


def form(request: Request) -> Response:
    """Show the form for applying the recoding of a candidate or of a published folder."""
    project = project_of(request)
    files, chosen = list(_files(request, project)), request.query_params.get("file", "")
    file = chosen if chosen in files else next(iter(files), "")
    given = {"file": file, "limit": "", "why": "", "by": project.publication.steward, "folder": ""}
    return _form(request, given, {})


def begin(request: Request, typed: FormData) -> Response:
    """Check the form, start writing in a thread, and redirect to the page that waits for it."""
    project = project_of(request)
    given = {key: str(typed.get(key, "")).strip()[:_MOST_LETTERS] for key in _FIELDS}
    files = _files(request, project)
    errors = _errors(project, given, files)
    if errors:
        return _form(request, given, errors)
    name = folder_name(given["folder"])
    key = _key(request, slug(name))
    state_of(request).tasks.begin_again(key, _writing(request, project, files[given["file"]], name, given))
    return RedirectResponse(f"{request.url.path}/{slug(name)}", 303)


def applying(request: Request) -> Response:
    """Wait for a folder that is being written, and redirect to it; show refusals on the form."""
    begun = state_of(request).tasks.find(_key(request, request.path_params["target"]))
    if begun is None:
        return RedirectResponse(_form_address(request), 303)
    message = "The records get the released values, the models are checked, and what was written is verified."
    outcome: NewMonth = wait_for(request, begun, "the new records", doing="Publishing", message=message)
    if outcome.is_refused:
        return _form(request, outcome.given, {"policy": outcome.message})
    return back(request, link(request, "published", folder=outcome.given["folder"]), outcome.message)


def _files(request: Request, project: Project) -> dict[str, Path]:
    """Return the files that may hold new records except the project's own data, the latest first."""
    paths = [path for path in state_of(request).projects.data_files() if path != project.data_path.resolve()]
    return {path.name: path for path in sorted(paths, key=lambda path: -path.stat().st_mtime)}


def _errors(project: Project, given: dict[str, str], files: dict[str, Path]) -> dict[str, str]:
    errors = {}
    if given["file"] not in files:
        errors["file"] = "Choose the file with the new records."
    if given["limit"] and _limit(given["limit"]) is None:
        errors["limit"] = "Write a share such as 5%, or leave it empty."
    return errors | decision_errors(project.path.parent, given, why="Say why: a reviewer will ask.")


def _limit(typed: str) -> float | None:
    """Return the typed share; ``None`` if there is none."""
    try:
        share = float(typed.removesuffix("%")) / (100 if typed.endswith("%") else 1)
    except ValueError:
        return None
    return share if 0 <= share <= 1 else None


def _form(request: Request, given: dict[str, str], errors: dict[str, str]) -> Response:
    project = project_of(request)
    wanted = Path(given["file"]).stem or "next"
    parts = request.path_params
    if "folder" in parts:
        parent, here = folder_of(request, project).name, link(request, "published", **_own_address(request))
    else:
        parent, here = chosen_of(request)[2].id, link(request, "release", id=parts["id"])
    return page(
        request,
        "apply.html.j2",
        status=422 if errors else 200,
        parent=parent,
        back_to=here,
        address=_form_address(request),
        given={**given, "folder": given["folder"] or free_name(project.path.parent, wanted)},
        errors=errors,
        files=list(_files(request, project)),
        publication=project.publication,
        where=project.path.parent.name,
        policy=limit_words(project.policy),
        then=_form_address(request).strip("/"),
    )


def _own_address(request: Request) -> dict[str, str]:
    return {"folder": folder_of(request, project_of(request)).name}


def _form_address(request: Request) -> str:
    if "folder" in request.path_params:
        return link(request, "apply-published", **_own_address(request))
    return link(request, "apply-release", id=request.path_params["id"])


def _key(request: Request, target: str) -> Key:
    """Return the key of a folder that is being written: the parent and the name in the address."""
    parts = request.path_params
    return ("apply", project_of(request).path, parts.get("id"), parts.get("folder"), target)


def _writing(
    request: Request, project: Project, records: Path, name: str, given: dict[str, str]
) -> Callable[[], NewMonth]:
    """Return a function that writes the same folder as `sfumato apply`, by the same code."""
    folder = folder_of(request, project).path if "folder" in request.path_params else None
    identity = request.path_params.get("id")

    def write() -> NewMonth:
        try:
            return NewMonth({**given, "folder": name}, message=published())
        except PolicyNotMet as error:
            return NewMonth(given, message=sentence(str(error)), is_refused=True)

    def published() -> str:
        from sfumato.workflow.apply.parent_publication import (
            publish_applied,
            published_parent,
            stored_parent,
        )
        from sfumato.workflow.apply.stored_publications import known_folders
        from sfumato.workflow.publish.publication_request import PublicationRequest
        from sfumato.workflow.store.store import Store

        target = project.path.parent / name
        with Store(project.store_path, create=False) as store:
            store.require_writable()
            if folder is None:
                parent = stored_parent(project, store, identity or "")
            else:
                parent = published_parent(project, folder)
            before, _ = known_folders(store, project.schema)
            own = None if parent.folder is None else parent.folder.resolve()
            decision, applied = publish_applied(
                project,
                parent,
                records,
                PublicationRequest(target, given["why"], given["by"]),
                [earlier for earlier in before if earlier.resolve() != own],
                limit=_limit(given["limit"]) if given["limit"] else None,
            )
            with words_before(f"{name} was published, but the store does not know of it"):
                store.record(decision, str(target))
        release = applied.release
        reasons = "; ".join(applied.reasons())
        words = f"{release.n_records:,} of {release.n_original:,} records are published."
        return " ".join(filter(None, [words, f"Suppressed: {reasons}." if reasons else "", applied.estimate]))

    return write


routes = [
    Route("/projects/{project}/releases/{id}/apply", form, name="apply-release"),
    Route("/projects/{project}/releases/{id}/apply", posted(begin), methods=["POST"]),
    Route("/projects/{project}/releases/{id}/apply/{target}", applying, name="applying-release"),
    Route("/projects/{project}/published/{folder}/apply", form, name="apply-published"),
    Route("/projects/{project}/published/{folder}/apply", posted(begin), methods=["POST"]),
    Route("/projects/{project}/published/{folder}/apply/{target}", applying, name="applying-published"),
]
