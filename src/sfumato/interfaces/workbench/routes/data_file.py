"""The data file page: describes how the file is written, and shows a few of its rows on request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sfumato.data.schema import UNRELEASED
from sfumato.interfaces.workbench.addresses import link
from sfumato.interfaces.workbench.forms.data_file_form import (
    choices,
    complaints,
    date_fields,
    guess_again,
    put_data,
    put_dates,
    stated,
    typed,
    with_guessed_marks,
)
from sfumato.interfaces.workbench.pages import back, page, posted
from sfumato.interfaces.workbench.state.project_edits import Changed, edit, read_text
from sfumato.interfaces.workbench.state.projects import Look
from sfumato.interfaces.workbench.state.route_lookup import look_of, project_file_of, project_of
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.views.dossiers import original_records
from sfumato.reading.base import find_format
from sfumato.results.formatting import sentence
from sfumato.runtime.errors import DataError, SfumatoError

_SAVED = "The file is read as you said. The roles are as they were."


def data_file(request: Request) -> Response:
    """Show the project file's description of the data file."""
    return _page(request)


def rewrite(request: Request, form: FormData) -> Response:
    """Write the description of the data file into the project file, unless the data contradicts it."""
    look, _ = _look(request)
    before = _before(request, look)
    given = typed(form, before)
    errors = complaints(given)
    if not errors:
        errors = _written(request, str(form.get("version")), look, given)
    if errors:
        return _page(request, given, errors)
    return back(request, link(request, "data"), _SAVED)


def preview(request: Request) -> Response:
    """Say what would be shown before showing any record."""
    look_of(request)
    return page(request, "preview.html.j2", sample=None)


def show_preview(request: Request, form: FormData) -> Response:
    """Show a few records as they were read, once: the answer is not cached."""
    look = look_of(request)
    sample = original_records(look.records.table, _may_be_seen(look)) if form.get("agreed") else None
    return page(request, "preview.html.j2", sample=sample)


def _may_be_seen(look: Look) -> list[str]:
    """Return the columns that neither the project nor the guess treats as identifying."""
    roles = {attribute.name: attribute.role for attribute in look.project.schema.attributes}
    return [
        guess.name
        for guess in look.records.guesses
        if guess.role != "identifying" and roles.get(guess.name, guess.role) not in UNRELEASED
    ]


def _look(request: Request) -> tuple[Look | None, str]:
    """Return what could be read of the project, or the error, because this page can fix it."""
    try:
        return look_of(request), ""
    except DataError as error:
        return None, str(error)


def _before(request: Request, look: Look | None) -> dict[str, str]:
    dates = {key: format_ for key, (_, format_, _) in date_fields(look).items()} if look else {}
    return stated(project_of(request).data) | dates


def _page(
    request: Request, given: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> Response:
    look, trouble = _look(request)
    project = project_of(request)
    # of a folder or a pattern it is not known
    known = find_format(project.data_path)
    before = _before(request, look)
    return page(
        request,
        "data_file.html.j2",
        status=422 if errors else 200,
        name=project.publication.title or project.path.stem,
        file=project.data.path,
        digest=read_text(project.path).version,
        choices=choices(project.data),
        dates=date_fields(look) if look else {},
        given=before | dict(given or {}),
        errors=errors or {},
        trouble=trouble,
        has_dialect=known is None or known.has_dialect,
    )


def _written(request: Request, version: str, look: Look | None, given: Mapping[str, str]) -> dict[str, str]:
    """Change the project file; return the error, by field, if the change is refused."""
    from tomlkit import dumps

    from sfumato.workflow.project.project_file import Project

    path, projects = project_file_of(request), state_of(request).projects
    fields = date_fields(look) if look else {}
    known = {attribute.name: attribute for attribute in project_of(request).schema.attributes}

    def change(document: Any) -> None:
        put_data(document, given)
        records = projects.records(Project.parse(dumps(document), path))
        if look is not None and len(look.records.guesses) != len(records.guesses):
            put_data(document, with_guessed_marks(given, records.table))
        guess_again(document, look, records.guesses)
        put_dates(document, fields, given, known)

    # where something prevents exploring already, each mended part may be saved by itself
    check = projects.bound if look and look.opened else projects.records
    try:
        edit(path, version, change, check)
    except Changed:
        raise
    except SfumatoError as error:
        before = _before(request, look)
        changed = [key for key in given if given[key] != before[key]]
        return {changed[0] if len(changed) == 1 else "": sentence(str(error))}
    return {}


_HERE = "/projects/{project}/file"
routes = [
    Route(_HERE, data_file, name="data-file"),
    Route(_HERE, posted(rewrite), methods=["POST"], name="rewrite"),
    Route(f"{_HERE}/rows", preview, name="preview"),
    Route(f"{_HERE}/rows", posted(show_preview), methods=["POST"], name="show-preview"),
]
