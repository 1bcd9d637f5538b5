"""The first page: the projects of the folder, a place to drop a file, and files that have no project yet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from starlette.background import BackgroundTask
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from sfumato.errors import DataError
from sfumato.workbench.addresses import data_page, link, named
from sfumato.workbench.guards import UPLOAD
from sfumato.workbench.pages import page, posted
from sfumato.workbench.routes import complete
from sfumato.workbench.state.opened import DATA_SUFFIXES, Records, Shelf, shelf_of, waited
from sfumato.workbench.state.uploads import free_place, received

_SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
_ENCODINGS = ("utf-8", "latin-1", "windows-1252", "utf-16")


def folder(request: Request) -> Response:
    """Show what the folder holds."""
    shelf = shelf_of(request)
    projects = [_described(shelf, path) for path in shelf.projects()]
    taken = {described["data"] for described in projects}
    response = page(
        request,
        "folder.html.j2",
        name=shelf.folder.name or str(shelf.folder),
        projects=projects,
        files=[path.name for path in shelf.data_files() if path.name not in taken],
        suffixes=DATA_SUFFIXES,
        separators=_SEPARATORS,
        encodings=_ENCODINGS,
    )
    response.background = BackgroundTask(complete, request.app)
    return response


async def upload(request: Request) -> Response:
    """Take a file and begin a project with it."""
    shelf = shelf_of(request)
    uploaded = await received(request, shelf.folder)
    return _begin(request, uploaded.path, uploaded.fields)


def begin(request: Request, form: FormData) -> Response:
    """Begin a project with a file that lies in the folder already."""
    files = {path.name: path for path in shelf_of(request).data_files()}
    name = named(str(form.get("file", "")), files, "file")
    return _begin(request, files[name], form)


def example(request: Request, form: FormData) -> Response:
    """Begin with the embedded example, for who has no table at hand."""
    from sfumato.datasets.demo import write_demo

    return RedirectResponse(data_page(write_demo(shelf_of(request).folder).stem), 303)


def beginning(request: Request) -> Response:
    """Wait for a project that is being begun, and lead on to it."""
    shelf = shelf_of(request)
    files = {path.name: path for path in shelf.data_files()}
    data = files[named(request.path_params["file"], files, "file")]
    begun = shelf.known(("begin", data))
    if begun is None:
        return RedirectResponse(link(request, "folder"), 303)
    try:
        project: Path = waited(request, begun, data.name)
    except DataError as error:
        facts = {"file": data.name, "separators": _SEPARATORS, "encodings": _ENCODINGS}
        return page(request, "unreadable.html.j2", status=422, said=str(error), **facts)
    return RedirectResponse(data_page(project.stem), 303)


def _begin(request: Request, data: Path, fields: Mapping[str, object]) -> Response:
    shelf = shelf_of(request)
    dialect = {
        "separator": _SEPARATORS.get(str(fields.get("separator", ""))),
        "encoding": next((name for name in _ENCODINGS if name == fields.get("encoding")), None),
    }
    given = {key: value for key, value in dialect.items() if value is not None}
    shelf.forget(("begin", data))
    shelf.work(("begin", data), lambda: _start(shelf, data, given))
    return RedirectResponse(link(request, "beginning", file=data.name), 303)


def _start(shelf: Shelf, data: Path, dialect: Mapping[str, str]) -> Path:
    from sfumato.project.file import Project
    from sfumato.reading.new_project import start_project

    target = free_place(shelf.folder, f"{_stem(data)}.toml")
    table, guesses = start_project(data, target, dialect)
    shelf.keep_records(Project.load(target), Records(table, guesses))
    return target


def _stem(data: Path) -> str:
    name = data.name.removesuffix(".gz")
    return name.rpartition(".")[0] or name


def _described(shelf: Shelf, path: Path) -> dict[str, object]:
    """Return what a card says of a project, without reading its data."""
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
