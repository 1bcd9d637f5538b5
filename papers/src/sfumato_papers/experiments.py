"""Write the explorations of a paper as ordinary project files, and run them.

The project files and the embedded data are written into one folder. Results are cached and resumable, and
anyone can edit a project file or the data to get other figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from sfumato import Candidate, Project, Release, Schema, Store, Table, datasets, errors, sanitize
from sfumato.results.frontier import one_for_each_recipe
from sfumato.runtime.files import file_beside
from sfumato.workflow.explore.explore_project import Progress, explore
from sfumato.workflow.store.provenance import source_of
from sfumato_papers.settings import FIRST, Change, Setting

_DEALT = 1
"""The seed by which a control deals out values, fixed for repeatability."""


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
    by_chance
        Whether anything in it happens by chance: if not, every seed gives the same.
    dealt
        The attributes that the control deals out to the records at random: what an adversary or a researcher
        wants to learn. Without any there is no control.
    switches
        What each interpretation of the paper that concerns this experiment changes in the project's document.
    """

    name: str
    subset: datasets.Subset
    reduce: Change = field(default=lambda _: None, repr=False)
    by_chance: bool = True
    dealt: tuple[str, ...] = ()
    switches: Mapping[str, Change] = field(default_factory=dict, repr=False, compare=False)

    def under(self, setting: Setting = FIRST, *, quick: bool) -> Variant:
        """Return the experiment as it is done in a setting."""
        touched = setting.touching(self.switches, by_chance=self.by_chance, has_control=bool(self.dealt))
        return Variant(self, touched, quick)


@dataclass(frozen=True)
class Variant:
    """An experiment in a setting, as a project file of its own.

    Parameters
    ----------
    experiment
        The experiment.
    setting
        Its setting, reduced to the parts that change anything.
    quick
        Whether with a reduced grid.
    """

    experiment: Experiment
    setting: Setting = FIRST
    quick: bool = False

    @property
    def name(self) -> str:
        """The name of the project file, without its ending."""
        return f"{self.experiment.name}{'-quick' if self.quick else ''}{self.setting.suffix}"

    @property
    def file_name(self) -> str:
        """The name of the project file."""
        return f"{self.name}.toml"

    def document(self) -> Any:
        """Return the project as this package has it."""
        import tomlkit

        place = files("sfumato_papers") / "projects" / f"{self.experiment.name}.toml"
        document = tomlkit.parse(place.read_text(encoding="utf-8"))
        if self.quick:
            self.experiment.reduce(document)
        self.setting.change(document, self.experiment.switches)
        if self.setting.is_control:
            document["data"]["path"] = _dealt_path(str(document["data"]["path"]), self.experiment.dealt)
        return document

    def is_changed(self, folder: Path) -> bool:
        """Return whether somebody changed the project file in the folder."""
        return (folder / self.file_name).read_bytes() != _text(self.document())

    def written(self, folder: Path) -> Path:
        """Write the project file and what it reads, where they are not there yet."""
        document = self.document()
        place = folder / self.file_name
        folder_made(folder)
        folder_made(folder / "hierarchies")
        _write_once(place, _text(document))
        for hierarchy in sorted((datasets.FOLDER / "hierarchies" / "adult").glob("*.csv")):
            _write_once(folder / "hierarchies" / hierarchy.name, hierarchy.read_bytes())
        self._write_data(folder, tuple(document["attributes"]))
        return place

    def _write_data(self, folder: Path, columns: tuple[str, ...]) -> None:
        """Write the records, where they are not there yet; those of a control follow from the others."""
        first = replace(self, setting=replace(self.setting, is_control=False)).document()
        data = folder / str(first["data"]["path"])
        if not data.exists():
            _write_records(data, datasets.adult_records(self.experiment.subset, columns))
        if self.setting.is_control:
            dealt = folder / _dealt_path(data.name, self.experiment.dealt)
            _write_records(dealt, dealt_out(_records(data), self.experiment.dealt))


@dataclass(frozen=True)
class Exploration:
    """The results of an experiment.

    Parameters
    ----------
    project
        The project file that was explored.
    candidates
        The releases, and what was measured of them.
    seconds
        The time until the last candidate, over all runs.
    """

    project: Project
    candidates: tuple[Candidate, ...]
    seconds: float = 0.0

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
        """The feasible candidates."""
        return tuple(candidate for candidate in self.candidates if candidate.infeasible is None)

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
        parameters = wanted if model is None else {**wanted, "model": model}
        candidates = (c for c in self.made if c.recipe.sanitizer == sanitizer)
        return next((c for c in candidates if _includes(c.recipe.parameters, parameters)), None)

    def release(self, candidate: Candidate) -> Release:
        """Make the release of a candidate again."""
        return sanitize(self.table, self.schema, candidate.recipe)


@dataclass(frozen=True)
class Explorations:
    """The results of all experiments of a paper, by name.

    Parameters
    ----------
    explored
        The experiments that were run.
    quick
        Whether the grids were reduced.
    setting
        The setting of the run.
    """

    explored: Mapping[str, Exploration]
    quick: bool
    setting: Setting = FIRST

    def __getitem__(self, name: str) -> Exploration:
        return self.explored[name]

    def uses(self, switch: str) -> bool:
        """Return whether an interpretation that is not ours is used: ``uses("diversity=distinct")``."""
        return switch in self.setting.interpretations


def run(
    variant: Variant, folder: Path, *, workers: int | None, progress: Callable[[Progress], None]
) -> Exploration:
    """Explore an experiment, or the rest of it."""
    project = Project.load(variant.written(folder))
    with Store(project.store_path) as store:
        explore(project, store, seed=variant.setting.seed, workers=workers, progress=progress)
        source = source_of(*project.read())
        candidates = one_for_each_recipe(store.candidates(source))
        seconds = store.seconds_explored(source)
    return Exploration(project, candidates, seconds)


def folder_made(folder: Path) -> None:
    """Create a folder where there is none."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise errors.UserError(f"cannot create the folder {folder}: {error.strerror}") from None


def _text(document: Any) -> bytes:
    import tomlkit

    return tomlkit.dumps(document).encode()


def _includes(given: Any, wanted: Any) -> bool:
    """Return whether the given parameters include all that are wanted."""
    if isinstance(wanted, Mapping):
        return isinstance(given, Mapping) and all(
            key in given and _includes(given[key], value) for key, value in wanted.items()
        )
    return bool(given == wanted)


def dealt_out(records: pa.Table, names: Iterable[str]) -> pa.Table:
    """Deal out the values of some attributes to the records at random, each on its own."""
    rng = np.random.default_rng(_DEALT)
    for name in names:
        place = records.schema.get_field_index(name)
        records = records.set_column(place, name, records[name].take(rng.permutation(len(records))))
    return records


def _dealt_path(data: str, names: Iterable[str]) -> str:
    """Return where the records of a control lie: papers that deal out other attributes have other files."""
    return f"{data.removesuffix('.csv')}-dealt-{'-'.join(names)}.csv"


def _records(place: Path) -> pa.Table:
    """Read a file of records, every value as it is written."""
    from pyarrow import csv

    with place.open(encoding="utf-8") as file:
        names = file.readline().replace('"', "").strip().split(",")
    types = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False)
    return csv.read_csv(place, convert_options=types)


def _write_records(place: Path, records: pa.Table) -> None:
    from pyarrow import csv

    with file_beside(place) as temporary:
        csv.write_csv(records, temporary)


def _write_once(place: Path, content: bytes) -> None:
    """Write a file where there is none: a file that somebody changed stays as it is."""
    if not place.exists():
        with file_beside(place) as temporary:
            temporary.write_bytes(content)
