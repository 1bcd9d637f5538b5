"""Experiments: the explorations that a paper needs, each a project file like anybody's.

They are written into a folder beside the embedded data and explored there, so that everything is cached,
resumable and open to be changed: who edits the project file or the data gets other figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from sfumato.datasets import FOLDER, Subset, adult_records
from sfumato.errors import UserError
from sfumato.exploring.run import Progress, explore
from sfumato.files import file_beside
from sfumato.frontier import Candidate, one_for_each_recipe, only_made
from sfumato.project.file import Project
from sfumato.release import Release
from sfumato.sanitizers.base import sanitize
from sfumato.schema import Schema
from sfumato.store.base import Store
from sfumato.store.provenance import source_of
from sfumato.table import Table

_SEED = 2009
"""Papers are rerun with one seed, so that everybody gets the same figures."""


@dataclass(frozen=True)
class Experiment:
    """One exploration.

    Parameters
    ----------
    name
        The name of its project file in this package.
    subset
        Which records of Adult it reads; the attributes are those that the project file mentions.
    reduce
        Changes the project's document to a smaller grid for a quick look.
    """

    name: str
    subset: Subset
    reduce: Callable[[Any], None] = field(default=lambda _: None, repr=False)

    def document(self, *, quick: bool) -> Any:
        """Return the project as this package has it."""
        import tomlkit

        document = tomlkit.parse(
            (files("sfumato.reproduce") / "projects" / f"{self.name}.toml").read_text(encoding="utf-8")
        )
        if quick:
            self.reduce(document)
        return document

    def file_name(self, *, quick: bool) -> str:
        """Return the name of the project file."""
        return f"{self.name}{'-quick' if quick else ''}.toml"

    def is_changed(self, folder: Path, *, quick: bool) -> bool:
        """Return whether somebody changed the project file in the folder."""
        return (folder / self.file_name(quick=quick)).read_bytes() != _text(self.document(quick=quick))

    def written(self, folder: Path, *, quick: bool) -> Path:
        """Write the project file and what it reads, where they are not there yet."""
        document = self.document(quick=quick)
        place = folder / self.file_name(quick=quick)
        folder_made(folder)
        folder_made(folder / "hierarchies")
        _write_once(place, _text(document))
        for hierarchy in sorted((FOLDER / "hierarchies" / "adult").glob("*.csv")):
            _write_once(folder / "hierarchies" / hierarchy.name, hierarchy.read_bytes())
        data = folder / str(document["data"]["path"])
        if not data.exists():
            _write_data(data, self.subset, tuple(document["attributes"]))
        return place


@dataclass(frozen=True)
class Explored:
    """What an experiment found."""

    project: Project
    candidates: tuple[Candidate, ...]

    @cached_property
    def bound(self) -> tuple[Table, Schema]:
        """The data that was read, and its schema."""
        return self.project.read()

    @property
    def table(self) -> Table:
        """The data that was read."""
        return self.bound[0]

    @property
    def schema(self) -> Schema:
        """Its schema."""
        return self.bound[1]

    @property
    def made(self) -> tuple[Candidate, ...]:
        """The candidates that could be made."""
        return only_made(self.candidates)

    def find(self, sanitizer: str, model: Mapping[str, Any] | None = None, **wanted: Any) -> Candidate | None:
        """Return the first candidate of a sanitizer whose parameters include these.

        Parameters
        ----------
        sanitizer
            Its name.
        model
            What the privacy model must say, as ``{"k-anonymity": {"k": 5}}``; more is allowed inside.
        wanted
            Other parameters of the sanitizer.
        """
        asked = wanted if model is None else {**wanted, "model": model}
        found = (c for c in self.made if c.recipe.sanitizer == sanitizer)
        return next((c for c in found if _includes(c.recipe.parameters, asked)), None)

    def release(self, candidate: Candidate) -> Release:
        """Make the release of a candidate once more."""
        return sanitize(self.table, self.schema, candidate.recipe)


@dataclass(frozen=True)
class Found:
    """What all experiments of a paper found, by name.

    Parameters
    ----------
    explored
        The experiments that were run.
    quick
        Whether the grids were reduced.
    """

    explored: Mapping[str, Explored]
    quick: bool

    def __getitem__(self, name: str) -> Explored:
        return self.explored[name]


def run(
    experiment: Experiment,
    folder: Path,
    *,
    quick: bool,
    workers: int | None,
    progress: Callable[[Progress], None],
) -> Explored:
    """Explore an experiment, or what is left of it."""
    project = Project.load(experiment.written(folder, quick=quick))
    with Store(project.store_path) as store:
        explore(project, store, seed=_SEED, workers=workers, progress=progress)
        candidates = one_for_each_recipe(store.candidates(source_of(*project.read())))
    return Explored(project, candidates)


def folder_made(folder: Path) -> None:
    """Create a folder where there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot create the folder {folder}: {error.strerror}") from None


def _text(document: Any) -> bytes:
    import tomlkit

    return tomlkit.dumps(document).encode()


def _includes(given: Any, wanted: Any) -> bool:
    """Return whether everything wanted stands in what is given; parameters that were left out are default."""
    if isinstance(wanted, Mapping):
        return isinstance(given, Mapping) and all(
            key in given and _includes(given[key], value) for key, value in wanted.items()
        )
    return bool(given == wanted)


def _write_data(place: Path, subset: Subset, columns: tuple[str, ...]) -> None:
    import pyarrow.csv

    with file_beside(place) as beside:
        pyarrow.csv.write_csv(adult_records(subset, columns), beside)


def _write_once(place: Path, content: bytes) -> None:
    """Write a file where there is none: a file that somebody changed stays as it is."""
    if not place.exists():
        with file_beside(place) as beside:
            beside.write_bytes(content)
