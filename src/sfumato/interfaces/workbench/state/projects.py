"""Read the projects of a folder, each once in a thread, and again when one of its files changes."""

from __future__ import annotations

import tomllib
from collections.abc import Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from sfumato.interfaces.workbench.addresses import named
from sfumato.interfaces.workbench.state.tasks import BackgroundTasks, Key
from sfumato.reading.base import suffix_of
from sfumato.runtime.errors import SfumatoError
from sfumato.runtime.files import why_unreadable

if TYPE_CHECKING:
    from sfumato.data.schema import Attribute, Schema
    from sfumato.data.table import Table
    from sfumato.measures.identity.uniqueness import Distinction
    from sfumato.reading.role_guess import Guess
    from sfumato.workflow.inspect.inspected_columns import Inspection
    from sfumato.workflow.project.project_file import Project


@dataclass(frozen=True)
class Loaded:
    """The data file as it is written, the guesses about its columns, and values with several spellings."""

    table: Table
    guesses: tuple[Guess, ...]
    mixtures: tuple[str, ...] = ()


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
        """A hash that identifies the candidates of this data and schema in the store."""
        from sfumato.workflow.store.provenance import source_of

        return source_of(self.table, self.schema)

    @cached_property
    def inspection(self) -> Inspection:
        """The facts about the data, and how risky it is as it is."""
        from sfumato.workflow.inspect.inspected_columns import inspect_table

        return inspect_table(self.table, self.schema)


@dataclass(frozen=True)
class Look:
    """What could be read of a project: always the records; the bound schema unless an error prevents it."""

    project: Project
    version: str
    records: Loaded
    opened: Opened | None
    problem: SfumatoError | None

    def attribute(self, name: str) -> Attribute | None:
        """Return an attribute as the project file describes it, if it does."""
        described = (attribute for attribute in self.project.schema.attributes if attribute.name == name)
        return next(described, None)

    def guess(self, name: str) -> Guess | None:
        """Return what was guessed about a column of the data file."""
        return next((guess for guess in self.records.guesses if guess.name == name), None)

    @cached_property
    def singling_out(self) -> Distinction | None:
        """How much each column contributes to singling people out, if every column has a role."""
        from sfumato.measures.identity.uniqueness import singling_out

        return None if self.opened is None else singling_out(self.records.table, self.project.schema)


class Projects:
    """The projects of one folder, each read once, and again when one of its files changes."""

    def __init__(self, folder: Path, tasks: BackgroundTasks) -> None:
        self.folder = folder.resolve()
        self._tasks = tasks

    def files(self) -> tuple[Path, ...]:
        """Return the project files of the folder."""
        paths = sorted(path for path in self.folder.glob("*.toml") if not path.name.startswith("."))
        return tuple(path for path in paths if _describes_data(path))

    def data_files(self) -> tuple[Path, ...]:
        """Return the files of the folder that may hold records."""
        paths = sorted(path for path in self.folder.iterdir() if not path.name.startswith("."))
        return tuple(path for path in paths if path.is_file() and suffix_of(path.name))

    def file_at(self, address: str) -> Path:
        """Return the project file at this address; no part of an address becomes a path."""
        files = {path.stem: path for path in self.files()}
        return files[named(address, files, "project")]

    def look(self, path: Path) -> Future[Look]:
        """Return a future of what can be read of a project."""
        text = path.read_bytes()
        key = ("look", path, sha256(text).hexdigest(), _stamps(path, text))
        return self._tasks.begin(key, lambda: self._look(path))

    def records(self, project: Project) -> Loaded:
        """Return the data file's records, read once."""
        return self._tasks.begin(_records_key(project), lambda: _read(project), alone=False).result()

    def bound(self, project: Project) -> tuple[Table, Schema]:
        """Return the data bound to the schema, once for each schema, or raise the error."""
        table = self.records(project).table
        key = ("bound", _records_key(project), project.schema.fingerprint)
        return self._tasks.begin(key, lambda: project.schema.bind(table), alone=False).result()

    def keep_records(self, project: Project, records: Loaded) -> None:
        """Remember records that were read for another reason."""
        self._tasks.begin(_records_key(project), lambda: records, alone=False).result()

    def _look(self, path: Path) -> Look:
        from sfumato.interfaces.workbench.state.project_edits import read_text
        from sfumato.workflow.project.project_file import Project

        text = read_text(path)
        project = Project.parse(text.written, path)
        records = self.records(project)
        try:
            opened = Opened(project, text.version, *self.bound(project))
            _ = opened.inspection, opened.source
        except SfumatoError as error:
            return Look(project, text.version, records, None, error)
        return Look(project, text.version, records, opened, None)


def _records_key(project: Project) -> Key:
    data = project.data
    return ("records", project.data_path, repr(data), _stamp(project.data_path))


def _read(project: Project) -> Loaded:
    from sfumato.reading.mixed_writing import collected
    from sfumato.reading.role_guess import guess
    from sfumato.runtime.errors import DataError

    path = project.data_path
    if path.exists() and not path.is_file() and not path.is_dir():
        # reading a pipe might wait without end, and hold up all other work
        raise DataError(f"{path.name} is not a plain file; write the records to one")
    with collected() as mixtures:
        table = project.table()
    return Loaded(table, guess(table), tuple(mixtures))


def _stamps(path: Path, text: bytes) -> tuple[Hashable, ...]:
    """Return the size and time of every file that the project reads."""
    try:
        written = tomllib.loads(text.decode("utf-8-sig"))
        attributes = written.get("attributes", {}).values()
        named_files = [written.get("data", {}).get("path")]
        named_files += [a["hierarchy"]["csv"] for a in attributes if "csv" in (a.get("hierarchy") or {})]
    except (ValueError, AttributeError, TypeError, RecursionError):
        return ()
    return tuple(_stamp(path.parent / name) for name in named_files if isinstance(name, str))


def _describes_data(path: Path) -> bool:
    """Return whether a file looks like a project; folders, broken links and unreadable files do not."""
    try:
        return not why_unreadable(path) and "[data]" in path.read_text("utf-8", "replace")
    except OSError:
        return False


def _stamp(path: Path) -> Hashable:
    """Return sizes and times of the files behind a path: a file, a folder or a pattern."""
    from sfumato.reading.sources import source_at, state_of
    from sfumato.runtime.errors import DataError

    try:
        return state_of(source_at(path).files)
    except DataError:
        return None
