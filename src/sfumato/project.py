"""Project: one TOML file that says what to read, try, measure and require."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

import msgspec

from sfumato import registry
from sfumato.errors import HierarchyError, ParameterError, ProjectError, SfumatoError, suggestion
from sfumato.expressions import Type
from sfumato.frontier import Limit
from sfumato.hierarchy import Dates, DateUnit, Hierarchy, HierarchySource, Intervals, Prefixes
from sfumato.scenario import Adversary, Guesses, Scenario, User
from sfumato.schema import Attribute, Role, Schema
from sfumato.search import Search, Sweep
from sfumato.table import Kind, Table

Written = str | Mapping[str, Any]


class _Section(msgspec.Struct, rename="kebab", frozen=True):
    pass


_SomeSection = TypeVar("_SomeSection", bound=_Section)


class Data(_Section, frozen=True):
    """The section ``[data]``: where the records are and how they are written."""

    path: str
    separator: str | None = None
    encoding: str | None = None
    quote: str | None = None
    decimal: Literal[".", ","] = "."
    missing: Literal["category", "drop"] = "category"
    missing_values: list[str] = []


class _Attribute(_Section, frozen=True):
    role: Role
    kind: Kind | None = None
    hierarchy: dict[str, Any] | None = None
    weight: float = 1.0


class _Source(_Section, frozen=True):
    def source(self, folder: Path) -> HierarchySource:
        raise NotImplementedError


class _Csv(_Source, frozen=True):
    csv: str
    separator: Annotated[str, msgspec.Meta(min_length=1, max_length=1)] = ";"

    def source(self, folder: Path) -> HierarchySource:
        return Hierarchy.read(folder / self.csv, separator=self.separator)


class _Intervals(_Source, frozen=True):
    intervals: tuple[float, ...]

    def source(self, folder: Path) -> HierarchySource:
        return Intervals(self.intervals)


class _Prefixes(_Source, frozen=True):
    prefixes: tuple[int, ...]

    def source(self, folder: Path) -> HierarchySource:
        return Prefixes(self.prefixes)


class _Dates(_Source, frozen=True):
    dates: tuple[DateUnit, ...]
    format: str = "%Y-%m-%d"

    def source(self, folder: Path) -> HierarchySource:
        return Dates(self.dates, self.format)


class _Tree(_Source, frozen=True):
    tree: dict[str, Any] | list[str]

    def source(self, folder: Path) -> HierarchySource:
        return Hierarchy.nested(self.tree)


_HIERARCHIES: dict[str, type[_Source]] = {
    "csv": _Csv,
    "intervals": _Intervals,
    "prefixes": _Prefixes,
    "dates": _Dates,
    "tree": _Tree,
}


class _Measure(_Section, frozen=True):
    privacy: list[str | dict[str, Any]] = []
    utility: list[str | dict[str, Any]] = []


class _User(_Section, frozen=True):
    target: str | None = None
    weights: str | float = 1.0
    error: str = "equal"
    miners: list[str] | None = None


class _Adversary(_Section, frozen=True):
    attributes: list[str] = []
    weights: str | float = 1.0
    reduction: str = "exact"
    c: float = 0.0
    miners: list[str] | None = None
    guesses: Guesses = "both"
    fusion: bool = True


class _Scenario(_Section, frozen=True):
    user: dict[str, Any] = {}
    adversary: dict[str, Any] = {}
    folds: int = 10
    seed: int = 0
    time_limit: float = 600.0


class _Limit(_Section, frozen=True):
    at_most: float | None = None
    at_least: float | None = None


class Publication(_Section, frozen=True):
    """The section ``[publication]``: what a reader of the report should know."""

    title: str = ""
    purpose: str = ""
    recipients: str = ""


class _File(_Section, frozen=True):
    data: dict[str, Any]
    attributes: dict[str, Any]
    try_: list[dict[str, Any]] = msgspec.field(default_factory=list, name="try")
    measure: dict[str, Any] = {}
    policy: dict[str, Any] = {}
    publication: dict[str, Any] = {}
    scenarios: dict[str, Any] = {}


_FILES = frozenset({"population", "auxiliary", "control"})
_TYPES: dict[Kind | None, Type] = {"numeric": "number", "categorical": "text", None: "any"}

PRIVACY_MEASURES: tuple[Written, ...] = (
    "privacy-loss",
    "knowledge-gain",
    "accuracy-gain",
    "reidentification-risk",
    "weighted-k",
    "k-anonymity",
)
UTILITY_MEASURES: tuple[Written, ...] = ("general-loss", "suppression-loss", "total-loss", "discernibility")
_SENSITIVE_FREE: tuple[Written, ...] = ("reidentification-risk", "weighted-k", "k-anonymity")


@dataclass(frozen=True)
class Project:
    """A publication as its project file describes it, everything checked that needs no data.

    Parameters
    ----------
    path
        The project file.
    data
        The section ``[data]``.
    schema
        The attributes, not yet bound to the data.
    searches
        What to try.
    privacy, utility
        The measures of both sides, the frontier's axes first.
    policy
        What must hold before anything may be published.
    publication
        What a reader of the report should know.
    """

    path: Path
    data: Data
    schema: Schema
    searches: tuple[Search, ...]
    privacy: tuple[Written, ...]
    utility: tuple[Written, ...]
    policy: Mapping[str, Limit]
    publication: Publication

    @classmethod
    def load(cls, path: str | Path) -> Project:
        """Read and check a project file."""
        place = Path(path)
        written = _read(place)
        try:
            return _project(place, written)
        except SfumatoError as error:
            raise type(error)(f"{place.name}: {error}") from None

    @property
    def data_path(self) -> Path:
        """The data file; paths are relative to the project file."""
        return self.path.parent / self.data.path

    @property
    def store_path(self) -> Path:
        """The store of candidates, beside the project file."""
        return self.path.with_suffix(".sqlite")

    @property
    def measures(self) -> tuple[Written, ...]:
        """Everything to measure: both sides and what the policy speaks of."""
        asked = [registry.build_measure(written) for written in (*self.privacy, *self.utility)]
        named = {name for each in asked for name in (each.name, each.label)}
        return (*self.privacy, *self.utility, *(name for name in self.policy if name not in named))

    @property
    def axes(self) -> tuple[str, str]:
        """The axes of the frontier: the labels of the first privacy and the first utility measure."""
        privacy, utility = (registry.build_measure(side[0]).label for side in (self.privacy, self.utility))
        return privacy, utility

    def table(self, path: Path | None = None) -> Table:
        """Read the records as they are, from the data file or from another that is written alike."""
        return Table.read(
            path or self.data_path,
            missing_values=self.data.missing_values,
            separator=self.data.separator,
            encoding=self.data.encoding,
            quote=self.data.quote,
        )

    def read(self) -> tuple[Table, Schema]:
        """Read the data and bind the schema to it."""
        return self.schema.bind(self.table())


def _read(place: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(place.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise ProjectError(f"no project file {place.name}; `sfumato new DATA` writes one") from None
    except OSError as error:
        raise ProjectError(f"cannot read {place.name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ProjectError(f"cannot read {place.name}: not UTF-8; save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise ProjectError(f"{place.name} is not TOML: {error}") from None


def _project(place: Path, written: dict[str, Any]) -> Project:
    file = _section(_File, written)
    data = _section(Data, file.data, "data")
    attributes = tuple(_attribute(name, block, place.parent) for name, block in file.attributes.items())
    schema = Schema(attributes, missing=data.missing, decimal=data.decimal)
    measure = _section(_Measure, file.measure, "measure")
    scenarios = {name: _scenario(name, block, schema) for name, block in file.scenarios.items()}
    privacy, utility = (
        tuple(_in_scenario(written, scenarios, where) for written in listed or default)
        for where, listed, default in (
            ("measure.privacy", measure.privacy, PRIVACY_MEASURES if schema.sensitive else _SENSITIVE_FREE),
            ("measure.utility", measure.utility, UTILITY_MEASURES),
        )
    )
    for where, measures in (("measure.privacy", privacy), ("measure.utility", utility)):
        _check_measures(measures, where)
    labels = {registry.build_measure(written).label for written in (*privacy, *utility)}
    _check_measures([name for name in file.policy if name not in labels], "policy")
    return Project(
        path=place,
        data=data,
        schema=schema,
        searches=tuple(_search(block, position) for position, block in enumerate(file.try_, start=1)),
        privacy=tuple(_placed(written, place.parent) for written in privacy),
        utility=tuple(_placed(written, place.parent) for written in utility),
        policy={name: _limit(name, block) for name, block in file.policy.items()},
        publication=_section(Publication, file.publication, "publication"),
    )


def _section(kind: type[_SomeSection], written: Any, where: str = "") -> _SomeSection:
    """Convert one section; what is wrong in it is said with its place in the file and what is allowed."""
    if not isinstance(written, Mapping):
        raise ProjectError(f"{where}: expected `table`, got `{type(written).__name__}`")
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    for key, value in written.items():
        place = f"{where}.{key}".lstrip(".")
        if key not in fields:
            raise ProjectError(f"unknown key {place!r}{_near(key, fields)}")
        words = _choices(fields[key].type)
        for word in value if isinstance(value, list) else [value]:
            if words and isinstance(word, str) and word not in words:
                raise ProjectError(f"{place}: cannot be {word!r}{_near(word, words)}")
    try:
        return msgspec.convert(written, kind)
    except msgspec.ValidationError as error:
        raise ProjectError(_readable(error, where)) from None


def _near(given: str, allowed: Iterable[str]) -> str:
    return suggestion(given, allowed) or f"; allowed are {', '.join(allowed)}"


def _choices(hint: Any) -> list[str]:
    """Return the words that a type made of literals allows."""
    return [hint] if isinstance(hint, str) else [word for part in get_args(hint) for word in _choices(part)]


def _readable(error: msgspec.ValidationError, where: str) -> str:
    """Turn ``Expected `str`, got `int` - at `$.path``` into ``data.path: expected `str`, got `int```."""
    what, _, inner = str(error).partition(" - at `$")
    place = (where + inner.rstrip("`")).lstrip(".") or "the file"
    said = what.replace("Object missing required field", "lacks the key")
    said = said.replace(" | null", "").replace("object", "table").replace("array", "list")
    return f"{place}: {said[0].lower()}{said[1:]}"


def _attribute(name: str, block: Any, folder: Path) -> Attribute:
    section = _section(_Attribute, block, f"attributes.{name}")
    hierarchy = None if section.hierarchy is None else _hierarchy(name, section.hierarchy, folder)
    return Attribute(name, section.role, section.kind, hierarchy, section.weight)


def _hierarchy(name: str, written: Mapping[str, Any], folder: Path) -> HierarchySource:
    """Build what the one key of ``{ csv = … }``, ``{ intervals = … }`` and so on says."""
    where = f"attributes.{name}.hierarchy"
    kinds = [key for key in written if key in _HIERARCHIES]
    if len(kinds) != 1:
        example = "for example { intervals = [5, 10, 20] }"
        hint = suggestion(next(iter(written), ""), _HIERARCHIES) if not kinds else ""
        raise ProjectError(f"{where}: give one of {', '.join(_HIERARCHIES)}, {example}{hint}")
    section = _section(_HIERARCHIES[kinds[0]], written, where)
    try:
        return section.source(folder)
    except HierarchyError as error:
        raise HierarchyError(f"{where}: {error}") from None


def _scenario(name: str, block: Any, schema: Schema) -> Scenario:
    """Build one ``[scenarios.NAME]``, and check it as far as that is possible without the data."""
    where = f"scenarios.{name}"
    section = _section(_Scenario, block, where)
    parts: dict[str, _Section] = {
        "user": _section(_User, section.user, f"{where}.user"),
        "adversary": _section(_Adversary, section.adversary, f"{where}.adversary"),
    }
    given = {
        part: {key: value for key, value in msgspec.structs.asdict(written).items() if value is not None}
        for part, written in parts.items()
    }
    types: dict[str, Type] = {each: _TYPES[schema[each].kind] for each in schema.released}
    try:
        scenario = Scenario(
            name,
            User(**given["user"]),
            Adversary(**given["adversary"]),
            section.folds,
            section.seed,
            section.time_limit,
        )
        scenario.check(types)
        for miner in (*scenario.user.miners, *scenario.adversary.miners):
            registry.look_up("miner", miner)
    except ParameterError as error:
        raise ProjectError(f"{where}: {error}") from None
    return scenario


def _in_scenario(written: Written, scenarios: Mapping[str, Scenario], where: str) -> Written:
    """Put the scenario itself in the place of its name, so that a measure knows all that it depends on."""
    if isinstance(written, str):
        name, sign, scenario = written.partition(" scenario=")
        if not sign:
            return written
        written = {name: {"scenario": scenario}}
    return {
        name: {
            key: _named(value, scenarios, where) if key == "scenario" else value
            for key, value in given.items()
        }
        if isinstance(given, Mapping)
        else given
        for name, given in written.items()
    }


def _named(scenario: Any, scenarios: Mapping[str, Scenario], where: str) -> Any:
    if not isinstance(scenario, str) or scenario not in scenarios:
        hint = suggestion(str(scenario), scenarios) or "; describe it as [scenarios.NAME]"
        raise ProjectError(f"{where}: no scenario {scenario!r}{hint}")
    return scenarios[scenario].to_dict()


def _check_measures(measures: Iterable[Written], where: str) -> None:
    for written in measures:
        try:
            registry.build_measure(written)
        except ParameterError as error:
            raise ProjectError(f"{where}: {error}") from None


def _placed(written: Written, folder: Path) -> Written:
    """Take the files that a measure reads from beside the project file; paths are relative to it."""
    if isinstance(written, str):
        return written
    return {
        name: {key: str(folder / value) if key in _FILES else value for key, value in parameters.items()}
        for name, parameters in written.items()
    }


def _limit(name: str, block: Any) -> Limit:
    section = _section(_Limit, block, f"policy.{name}")
    bounds = {"at_most": section.at_most, "at_least": section.at_least}
    limit = Limit(**{key: value for key, value in bounds.items() if value is not None})
    if limit == Limit():
        raise ProjectError(f"policy.{name}: give at-most or at-least, for example {{ at-most = 0.09 }}")
    if not limit.at_least <= limit.at_most:
        raise ProjectError(f"policy.{name}: no value keeps it; give numbers, and at-least below at-most")
    return limit


def _search(block: dict[str, Any], position: int) -> Search:
    """Build one ``[[try]]``: a named search, or a sweep over one sanitizer's parameters."""
    given = dict(block)
    kind: Literal["search", "sanitizer"] = "search" if "search" in given else "sanitizer"
    try:
        name = given.pop(kind, None)
        if not isinstance(name, str):
            raise ProjectError("give a sanitizer or a search by its name, one for each [[try]]")
        search: Search = registry.build("search", name, given) if kind == "search" else Sweep(name, given)
        if isinstance(search, Sweep):
            search.recipes()
    except (ParameterError, ProjectError) as error:
        raise ProjectError(f"[[try]] number {position}: {error}") from None
    return search
