"""Opened: the project that a request speaks of, read once, and again when one of its files changes.

Reading happens in a thread of its own. A page that asks too early is shown a loading page instead, which
asks again by itself: see :class:`StillReading`.
"""

from __future__ import annotations

import threading
import tomllib
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.requests import Request
from starlette.responses import Response

from sfumato.errors import SfumatoError
from sfumato.workbench.addresses import named
from sfumato.workbench.pages import page

if TYPE_CHECKING:
    from sfumato.frontier import Candidate, Frontier
    from sfumato.project.file import Project
    from sfumato.reading.guess import Guess
    from sfumato.schema import Schema
    from sfumato.table import Table

DATA_SUFFIXES = (".csv", ".tsv", ".txt", ".data", ".dat", ".parquet", ".pq", ".feather", ".arrow", ".ipc")
_PATIENCE = 1.0
_KEPT = 2

Result = TypeVar("Result")


class StillReading(Exception):
    """The data is being read, or something else takes a while; the loading page says so and asks again."""

    def __init__(self, name: str, doing: str = "Reading", said: str = "Large tables take a while.") -> None:
        super().__init__(name)
        self.name = name
        self.doing = doing
        self.said = said


@dataclass(frozen=True)
class Records:
    """The data file as it is written, and what its columns were guessed to be."""

    table: Table
    guesses: tuple[Guess, ...]


@dataclass(frozen=True)
class Opened:
    """A project with its data read and its schema bound.

    Parameters
    ----------
    project
        What the project file says.
    version
        A digest of the project file's text, to notice a change that was made elsewhere.
    table, schema
        The data and the schema, bound to each other.
    """

    project: Project
    version: str
    table: Table
    schema: Schema

    @cached_property
    def source(self) -> str:
        """What tells candidates of this data and schema from others in the store."""
        from sfumato.exploring.run import source_of

        return source_of(self.table, self.schema)

    @cached_property
    def inspection(self) -> dict[str, Any]:
        """The facts of the data, and how risky it is as it stands."""
        from sfumato.exploring.inspection import inspect_table

        return inspect_table(self.table, self.schema)

    def frontier(self, axes: Iterable[str] = ()) -> tuple[Frontier, tuple[Candidate, ...]]:
        """Return the frontier of all stored candidates, and those that could not be made, as of now."""
        from sfumato.exploring.stored import frontier_of
        from sfumato.frontier import Frontier
        from sfumato.store import Store

        if not self.project.store_path.exists():
            return Frontier((), tuple(axes) or self.project.axes), ()
        with Store(self.project.store_path, create=False) as store:
            return frontier_of(self.project, store, self.table, self.schema, axes)


@dataclass(frozen=True)
class Look:
    """What could be read of a project: the records always, the bound schema unless something hinders it."""

    project: Project
    version: str
    records: Records
    opened: Opened | None
    hindrance: SfumatoError | None


class Shelf:
    """The projects of one folder, each read once, and again when one of its files changes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self._works: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._lock = threading.Lock()
        self._one_at_a_time = threading.Lock()

    def projects(self) -> tuple[Path, ...]:
        """Return the project files of the folder."""
        found = sorted(path for path in self.folder.glob("*.toml") if not path.name.startswith("."))
        return tuple(path for path in found if _describes_data(path))

    def data_files(self) -> tuple[Path, ...]:
        """Return the files of the folder that may hold records."""
        found = sorted(path for path in self.folder.iterdir() if not path.name.startswith("."))
        return tuple(
            path
            for path in found
            if path.is_file() and path.name.lower().removesuffix(".gz").endswith(DATA_SUFFIXES)
        )

    def project_file(self, address: str) -> Path:
        """Return the project file at this address; no path is ever made of what an address says."""
        files = {path.stem: path for path in self.projects()}
        return files[named(address, files, "project")]

    def look(self, path: Path) -> Future[Look]:
        """Return what is known of a project, or will be when it is read."""
        text = path.read_bytes()
        key = ("look", path, sha256(text).hexdigest(), _stamps(path, text))
        return self.work(key, lambda: self._look(path))

    def records(self, project: Project) -> Records:
        """Return the data file's records, read once."""
        return self.work(_records_key(project), lambda: _read(project), alone=False).result()

    def bound(self, project: Project) -> tuple[Table, Schema]:
        """Return data and schema bound to each other, once for each schema, or say what hinders it."""
        table = self.records(project).table
        key = ("bound", _records_key(project), project.schema.fingerprint)
        return self.work(key, lambda: project.schema.bind(table), alone=False).result()

    def keep_records(self, project: Project, records: Records) -> None:
        """Remember records that were just read for another reason."""
        self.work(_records_key(project), lambda: records, alone=False).result()

    def work(self, key: Hashable, make: Callable[[], Result], *, alone: bool = True) -> Future[Result]:
        """Do something in a thread once for each key; the last few results are kept."""
        with self._lock:
            if key in self._works:
                self._works.move_to_end(key)
                return self._works[key]
            future: Future[Result] = Future()
            self._works[key] = future
            done = [old for old, work in self._works.items() if work.done() and old[0] == key[0]]  # type: ignore[index]
            for old in done[: max(len(done) - _KEPT, 0)]:
                del self._works[old]
        if alone:
            threading.Thread(target=self._run, args=(future, make), daemon=True).start()
        else:
            _finish(future, make)
        return future

    def known(self, key: Hashable) -> Future[Any] | None:
        """Return the work of this key if it was begun."""
        with self._lock:
            return self._works.get(key)

    def forget(self, key: Hashable) -> None:
        """Forget a result, so that it is made anew."""
        with self._lock:
            self._works.pop(key, None)

    def _run(self, future: Future[Any], make: Callable[[], Any]) -> None:
        with self._one_at_a_time:
            _finish(future, make)

    def _look(self, path: Path) -> Look:
        from sfumato.project.file import Project
        from sfumato.workbench.editing import read_text

        text = read_text(path)
        project = Project.parse(text.written, path)
        records = self.records(project)
        try:
            opened = Opened(project, text.version, *self.bound(project))
            _ = opened.inspection, opened.source
        except SfumatoError as error:
            return Look(project, text.version, records, None, error)
        return Look(project, text.version, records, opened, None)


def shelf_of(request: Request) -> Shelf:
    """Return the folder's shelf."""
    shelf: Shelf = request.app.state.shelf
    return shelf


def project_file_of(request: Request) -> Path:
    """Return the project file that the address speaks of, or raise the page that lacks."""
    return shelf_of(request).project_file(request.path_params["project"])


def project_of(request: Request) -> Project:
    """Return the project that the address speaks of, without its data."""
    from sfumato.project.file import Project

    return Project.load(project_file_of(request))


def look_of(request: Request) -> Look:
    """Return what could be read of the project, for pages that also mend it."""
    path = project_file_of(request)
    return waited(request, shelf_of(request).look(path), path.stem)


def opened_of(request: Request) -> Opened:
    """Return the project that the address speaks of with its data, or show what hinders it."""
    look = look_of(request)
    if look.opened is None:
        raise look.hindrance or RuntimeError("neither opened nor hindered")
    return look.opened


def waited(request: Request, future: Future[Result], name: str, **words: str) -> Result:
    """Wait a moment for a result: a page that is looked at is then told to wait, a change waits on."""
    try:
        return future.result(_PATIENCE if request.method in ("GET", "HEAD") else None)
    except NotYet:
        raise StillReading(name, **words) from None


def on_still_reading(request: Request, error: Exception) -> Response:
    """Show the loading page."""
    if not isinstance(error, StillReading):
        raise error
    facts = {"name": error.name, "doing": error.doing, "said": error.said}
    return page(request, "loading.html.j2", status=202, **facts)


def _finish(future: Future[Result], make: Callable[[], Result]) -> None:
    try:
        future.set_result(make())
    except BaseException as error:
        future.set_exception(error)


def _records_key(project: Project) -> Hashable:
    data = project.data
    return ("records", project.data_path, repr(data), _stamp(project.data_path))


def _read(project: Project) -> Records:
    from sfumato.errors import DataError
    from sfumato.reading.guess import guess

    path = project.data_path
    if path.exists() and not path.is_file() and not path.is_dir():
        # a pipe would be waited for without end, and all other work behind it
        raise DataError(f"{path.name} is not a plain file; write the records to one")
    table = project.table()
    return Records(table, guess(table))


def _stamps(path: Path, text: bytes) -> tuple[Hashable, ...]:
    """Return size and time of every file that the project reads."""
    try:
        written = tomllib.loads(text.decode("utf-8-sig"))
        attributes = written.get("attributes", {}).values()
        named_files = [written.get("data", {}).get("path")]
        named_files += [a["hierarchy"]["csv"] for a in attributes if "csv" in (a.get("hierarchy") or {})]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return ()
    return tuple(_stamp(path.parent / name) for name in named_files if isinstance(name, str))


def _describes_data(path: Path) -> bool:
    """Whether a file looks like a project; a folder, a broken link or an unreadable file does not."""
    try:
        return path.is_file() and "[data]" in path.read_text("utf-8", "replace")
    except OSError:
        return False


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size
