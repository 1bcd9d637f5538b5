"""Project: one TOML file that says what to read, try, measure and require."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from sfumato import registry
from sfumato.errors import HierarchyError, ParameterError, ProjectError, SfumatoError, suggestion
from sfumato.frontier import Limit
from sfumato.hierarchy import Dates, Hierarchy, HierarchySource, Intervals, Prefixes
from sfumato.schema import ROLES, Attribute, Role, Schema
from sfumato.search import Search, Sweep
from sfumato.table import Kind, Table

Written = str | Mapping[str, Any]


class _Section(msgspec.Struct, rename="kebab", forbid_unknown_fields=True, frozen=True):
    pass


class Data(_Section):
    """The section ``[data]``: where the records are and how they are written."""

    path: str
    separator: str | None = None
    encoding: str | None = None
    quote: str | None = None
    decimal: Literal[".", ","] = "."
    missing: Literal["category", "drop"] = "category"
    missing_values: list[str] = []


class _Attribute(_Section):
    role: str
    kind: Literal["numeric", "categorical"] | None = None
    hierarchy: dict[str, Any] | None = None
    weight: float = 1.0


class _Measure(_Section):
    privacy: list[str | dict[str, Any]] = []
    utility: list[str | dict[str, Any]] = []


class _Limit(_Section):
    at_most: float | None = None
    at_least: float | None = None


class Publication(_Section):
    """The section ``[publication]``: what a reader of the report should know."""

    title: str = ""
    purpose: str = ""
    recipients: str = ""


class _File(_Section):
    data: Data
    attributes: dict[str, _Attribute]
    try_: list[dict[str, Any]] = msgspec.field(default_factory=list, name="try")
    measure: _Measure = _Measure()
    policy: dict[str, _Limit] = {}
    publication: Publication = Publication()


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
        named = [_name(written) for written in (*self.privacy, *self.utility)]
        return (*self.privacy, *self.utility, *(name for name in self.policy if name not in named))

    @property
    def axes(self) -> tuple[str, str]:
        """The axes of the frontier: the first privacy and the first utility measure."""
        return _name(self.privacy[0]), _name(self.utility[0])

    def read(self) -> tuple[Table, Schema]:
        """Read the data and bind the schema to it."""
        table = Table.read(
            self.data_path,
            missing_values=self.data.missing_values,
            separator=self.data.separator,
            encoding=self.data.encoding,
            quote=self.data.quote,
        )
        return self.schema.bind(table)


def _name(written: Written) -> str:
    return written if isinstance(written, str) else next(iter(written))


def _read(place: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(place.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProjectError(f"no project file {place.name}; `sfumato new DATA` writes one") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ProjectError(f"cannot read {place.name}: {getattr(error, 'strerror', None) or 'not UTF-8'}") from None
    except tomllib.TOMLDecodeError as error:
        raise ProjectError(f"{place.name} is not TOML: {error}") from None


def _project(place: Path, written: dict[str, Any]) -> Project:
    _check_keys(_File, written, "")
    try:
        file = msgspec.convert(written, _File)
    except msgspec.ValidationError as error:
        raise ProjectError(_readable(error)) from None
    attributes = tuple(_attribute(name, section, place.parent) for name, section in file.attributes.items())
    schema = Schema(attributes, missing=file.data.missing, decimal=file.data.decimal)
    privacy = tuple(file.measure.privacy) or (PRIVACY_MEASURES if schema.sensitive else _SENSITIVE_FREE)
    utility = tuple(file.measure.utility) or UTILITY_MEASURES
    _check_measures([*privacy, *utility, *file.policy])
    return Project(
        path=place,
        data=file.data,
        schema=schema,
        searches=tuple(_search(block, position) for position, block in enumerate(file.try_, start=1)),
        privacy=privacy,
        utility=utility,
        policy={name: _limit(name, limit) for name, limit in file.policy.items()},
        publication=file.publication,
    )


def _check_keys(section: type[msgspec.Struct], written: Any, where: str) -> None:
    """Refuse unknown keys with a suggestion; msgspec would refuse them without one."""
    if not isinstance(written, dict):
        return
    fields = {field.encode_name: field for field in msgspec.structs.fields(section)}
    for key, value in written.items():
        if key not in fields:
            hint = suggestion(key, fields) or f"; allowed are {', '.join(fields)}"
            raise ProjectError(f"unknown key {where + key!r}{hint}")
        inner = {"attributes": _Attribute, "policy": _Limit}.get(key) if not where else None
        if inner and isinstance(value, dict):
            for name, block in value.items():
                _check_keys(inner, block, f"{key}.{name}.")
        elif isinstance(fields[key].type, type) and issubclass(fields[key].type, msgspec.Struct):
            _check_keys(fields[key].type, value, f"{key}.")


def _readable(error: msgspec.ValidationError) -> str:
    """Turn ``Expected `str`, got `int` - at `$.data.path``` into ``data.path: expected `str`, got `int```."""
    what, _, where = str(error).partition(" - at `$")
    what = what.replace("Object missing required field", "lacks the key")
    place = where.rstrip("`").lstrip(".") or "the file"
    return f"{place}: {what[0].lower()}{what[1:]}"


def _attribute(name: str, section: _Attribute, folder: Path) -> Attribute:
    if section.role not in ROLES:
        hint = suggestion(section.role, ROLES) or f"; roles are {', '.join(ROLES)}"
        raise ProjectError(f"attributes.{name}.role: no role {section.role!r}{hint}")
    role: Role = section.role  # type: ignore[assignment]
    kind: Kind | None = section.kind
    return Attribute(name, role, kind, _hierarchy(name, section.hierarchy, folder), section.weight)


def _hierarchy(name: str, written: dict[str, Any] | None, folder: Path) -> HierarchySource | None:
    """Build ``{ csv = … }``, ``{ intervals = … }``, ``{ prefixes = … }``, ``{ dates = … }`` or ``{ tree = … }``."""
    if written is None:
        return None
    where = f"attributes.{name}.hierarchy"
    allowed = {"csv": ("separator",), "intervals": (), "prefixes": (), "dates": ("format",), "tree": ()}
    kinds = [key for key in written if key in allowed]
    if len(kinds) != 1:
        raise ProjectError(f"{where}: give one of {', '.join(allowed)}, for example {{ intervals = [5, 10, 20] }}")
    source = kinds[0]
    for key in written:
        if key not in (source, *allowed[source]):
            raise ProjectError(f"{where}: unknown key {key!r}{suggestion(key, (source, *allowed[source]))}")
    try:
        return _hierarchy_source(source, written, folder)
    except HierarchyError as error:
        raise HierarchyError(f"{where}: {error}") from None
    except msgspec.ValidationError as error:
        raise ProjectError(f"{where}: {_readable(error)}") from None


def _hierarchy_source(source: str, written: dict[str, Any], folder: Path) -> HierarchySource:
    given = written[source]
    if source == "csv":
        return Hierarchy.read(folder / msgspec.convert(given, str), separator=str(written.get("separator", ";")))
    if source == "intervals":
        return Intervals(msgspec.convert(given, tuple[float, ...]))
    if source == "prefixes":
        return Prefixes(msgspec.convert(given, tuple[int, ...]))
    if source == "tree":
        return Hierarchy.nested(given)
    units = msgspec.convert(given, tuple[Literal["month", "quarter", "year", "decade"], ...])
    return Dates(units, str(written.get("format", "%Y-%m-%d")))


def _check_measures(measures: Iterable[Written]) -> None:
    for written in measures:
        registry.build_measure(written)


def _limit(name: str, section: _Limit) -> Limit:
    if section.at_most is None and section.at_least is None:
        raise ProjectError(f"policy.{name}: give at-most or at-least, for example {{ at-most = 0.09 }}")
    bounds = {"at_most": section.at_most, "at_least": section.at_least}
    return Limit(**{key: value for key, value in bounds.items() if value is not None})


def _search(block: dict[str, Any], position: int) -> Search:
    """Build one ``[[try]]``: a named search, or a sweep over one sanitizer's parameters."""
    given = dict(block)
    try:
        if "search" in given:
            search: Search = registry.build("search", given.pop("search"), given)
        elif "sanitizer" in given:
            search = Sweep(given.pop("sanitizer"), given)
        else:
            raise ProjectError("give a sanitizer or a search")
        if isinstance(search, Sweep):
            search.recipes()
    except (ParameterError, ProjectError) as error:
        raise ProjectError(f"[[try]] number {position}: {error}") from None
    return search
