"""The first page: the folder's projects, its files without a project, and a place to drop a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sfumato.interfaces.workbench.addresses import data_page, link, named, next_page
from sfumato.interfaces.workbench.forms.csv_dialects import ENCODINGS, SEPARATORS
from sfumato.interfaces.workbench.guards import UPLOAD
from sfumato.interfaces.workbench.pages import page, posted
from sfumato.interfaces.workbench.state.projects import Loaded, Projects
from sfumato.interfaces.workbench.state.state import state_of
from sfumato.interfaces.workbench.state.tasks import wait_for
from sfumato.interfaces.workbench.state.uploads import free_place, received
from sfumato.reading.base import every_suffix
from sfumato.runtime.errors import DataError


def folder(request: Request) -> Response:
    """Show the projects and files of the folder."""
    projects = state_of(request).projects
    described = [_described(path) for path in projects.files()]
    used = {project["data"] for project in described}
    return page(
        request,
        "folder.html.j2",
        name=projects.folder.name or str(projects.folder),
        projects=described,
        files=[path.name for path in projects.data_files() if path.name not in used],
        suffixes=every_suffix(),
        separators=SEPARATORS,
        encodings=ENCODINGS,
    )


async def upload(request: Request) -> Response:
    """Take a file and begin a project with it."""
    uploaded = await received(request, state_of(request).projects.folder)
    then = next_page(uploaded.fields, uploaded.path.name)
    if then is not None:
        return RedirectResponse(then, 303)
    return _begin(request, uploaded.path, uploaded.fields)


def begin(request: Request, form: FormData) -> Response:
    """Start a project with a file in the folder."""
    files = {path.name: path for path in state_of(request).projects.data_files()}
    name = named(str(form.get("file", "")), files, "file")
    return _begin(request, files[name], form)


def example(request: Request, form: FormData) -> Response:
    """Start with the embedded example, for people without a table at hand."""
    from sfumato.reading.datasets.demo_project import write_demo

    return RedirectResponse(data_page(write_demo(state_of(request).projects.folder).stem), 303)


def beginning(request: Request) -> Response:
    """Wait for a project that is being created, and redirect to it."""
    state = state_of(request)
    files = {path.name: path for path in state.projects.data_files()}
    data = files[named(request.path_params["file"], files, "file")]
    begun = state.tasks.find(("begin", data))
    if begun is None:
        return RedirectResponse(link(request, "folder"), 303)
    try:
        project: Path = wait_for(request, begun, data.name)
    except DataError as error:
        facts = {"file": data.name, "separators": SEPARATORS, "encodings": ENCODINGS}
        return page(request, "unreadable.html.j2", status=422, message=str(error), **facts)
    return RedirectResponse(data_page(project.stem), 303)


def _begin(request: Request, data: Path, fields: Mapping[str, object]) -> Response:
    state = state_of(request)
    dialect = {
        "separator": SEPARATORS.get(str(fields.get("separator", ""))),
        "encoding": next((name for name in ENCODINGS if name == fields.get("encoding")), None),
    }
    given = {key: value for key, value in dialect.items() if value is not None}
    state.tasks.forget(("begin", data))
    state.tasks.begin(("begin", data), lambda: _start(state.projects, data, given))
    return RedirectResponse(link(request, "beginning", file=data.name), 303)


def _start(projects: Projects, data: Path, dialect: Mapping[str, str]) -> Path:
    from sfumato.reading.mixed_writing import collected
    from sfumato.workflow.project.new_project import start_project
    from sfumato.workflow.project.project_file import Project

    name = data.name.removesuffix(".gz")
    target = free_place(projects.folder, f"{name.rpartition('.')[0] or name}.toml")
    with collected() as mixtures:
        table, guesses = start_project(data, target, dialect)
    projects.keep_records(Project.load(target), Loaded(table, guesses, tuple(mixtures)))
    return target


def _described(path: Path) -> dict[str, object]:
    """Return the facts of a project for its card, without reading its data."""
    import tomllib

    facts: dict[str, object] = {
        "name": path.stem,
        "page": data_page(path.stem),
        "data": "",
        "attributes": 0,
        "title": "",
        "problem": "",
    }
    try:
        written = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        facts["data"] = str(written["data"].get("path", ""))
        facts["attributes"] = len(written.get("attributes", {}))
        facts["title"] = str(written.get("publication", {}).get("title", ""))
    except (OSError, ValueError, KeyError, AttributeError, TypeError, RecursionError):
        facts["problem"] = "This file cannot be read as it is."
    facts["explored"] = path.with_suffix(".sqlite").is_file()
    return facts


routes = [
    Route("/", folder, name="folder"),
    Route(UPLOAD, upload, methods=["POST"], name="upload"),
    Route("/projects", posted(begin), methods=["POST"], name="begin"),
    Route("/example", posted(example), methods=["POST"], name="example"),
    Route("/beginning/{file}", beginning, name="beginning"),
]
