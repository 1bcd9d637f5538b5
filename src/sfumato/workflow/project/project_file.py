"""Read a project from one TOML file that says what to read, try, measure and require."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from sfumato.data.hierarchy import Dates, DateUnit, Hierarchy, HierarchySource, Intervals, Prefixes
from sfumato.data.kinds import find_kind, kind_names
from sfumato.data.public_values import PublicValues
from sfumato.data.schema import Attribute, Role, Schema
from sfumato.data.table import Table
from sfumato.measures.grouped import worst_for_each
from sfumato.reading.base import Codebook, Source
from sfumato.reading.codebook import codebook_of
from sfumato.reading.sources import STANDARD_INPUT, source_at
from sfumato.registry import methods
from sfumato.results.measure_label import MeasureLabel
from sfumato.results.measurement import Measure, build_measure
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.runtime.errors import (
    HierarchyError,
    ParameterError,
    ProjectError,
    SchemaError,
    SfumatoError,
    suggestion,
)
from sfumato.runtime.files import why_unreadable
from sfumato.searches.base import KnowsPolicy, Search
from sfumato.searches.sweep import Sweep
from sfumato.verification.folder import Profile, StatisticsFormat
from sfumato.workflow.engines.base import EngineName, engine_named
from sfumato.workflow.project.budget import seconds_of
from sfumato.workflow.project.chosen_before import recipe_before
from sfumato.workflow.project.default_axes_and_measures import Written, default_measures
from sfumato.workflow.project.scenario_sections import in_scenario, scenario_of
from sfumato.workflow.project.sections import Section, section

if TYPE_CHECKING:
    from sfumato.results.recoding import Recoding


class Data(Section, frozen=True):
    """The section ``[data]``: where the records are and how the file is written."""

    path: str
    table: str | None = None
    query: str | None = None
    engine: EngineName = "memory"
    sample: float | None = None
    separator: str | None = None
    encoding: str | None = None
    quote: str | None = None
    decimal: Literal[".", ","] = "."
    thousands: Literal["", ".", ",", "'", " ", "\u00a0", "\u202f"] = ""
    missing: Literal["category", "drop"] = "category"
    missing_values: list[str] = msgspec.field(default_factory=list)
    person: str | None = None
    pseudonym: bool = False
    weight: str | None = None
    household: str | None = None


class Population(Section, frozen=True):
    """The section ``[population]``: everyone from whom the records were drawn, as a number or a file."""

    size: int | None = None
    path: str | None = None

    def given_to(self, written: Written) -> Written:
        """Pass this population to a measure that needs one and names none."""
        name, parameters = methods.name_and_parameters(written)
        cls = methods.find("measure", name)
        known = () if cls is None else methods.parameters_of(cls)
        given = {"population": self.path, "population-size": self.size}
        wanted = {key: value for key, value in given.items() if value is not None and key in known}
        if not wanted or given.keys() & parameters.keys():
            return written
        return {name: {**wanted, **parameters}}


NO_POPULATION = Population()


class PrivacyLimit(Section, frozen=True):
    """What the releases of a project may spend together."""

    epsilon: float | None = None
    delta: float | None = None
    rho: float | None = None


class Privacy(Section, frozen=True):
    """The section ``[dp]``: what differential privacy needs of the project as a whole."""

    people_at_most: int | None = None
    choose: Literal["before", "after"] = "after"
    error: float | None = None
    limit: PrivacyLimit = PrivacyLimit()


NO_PRIVACY = Privacy()


class _Public(Section, frozen=True):
    whole: bool | None = None
    bounds: tuple[float, float] | None = None
    domain: tuple[str | float, ...] = ()


class _Attribute(Section, frozen=True):
    role: Role
    kind: str | None = None
    hierarchy: dict[str, Any] | None = None
    weight: float = 1.0
    lowest_level: int = 0
    public: dict[str, Any] = msgspec.field(default_factory=dict)


class _Source(Section, frozen=True):
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


class _Measure(Section, frozen=True):
    privacy: list[str | dict[str, Any]] = msgspec.field(default_factory=list)
    utility: list[str | dict[str, Any]] = msgspec.field(default_factory=list)
    by: list[str] = msgspec.field(default_factory=list)


class _Explore(Section, frozen=True):
    budget: str | None = None


class _Limit(Section, frozen=True):
    at_most: float | None = None
    at_least: float | None = None


class Publication(Section, frozen=True):
    """The section ``[publication]``: facts for the readers of the report."""

    title: str = ""
    purpose: str = ""
    recipients: str = ""
    safeguards: str = ""
    steward: str = ""
    review_by: date | None = None
    profiles: list[Profile] = msgspec.field(default_factory=list)
    formats: list[StatisticsFormat] = msgspec.field(default_factory=list)
    partition_by: str | None = None


class _File(Section, frozen=True):
    data: dict[str, Any]
    attributes: dict[str, Any]
    candidates: list[dict[str, Any]] = msgspec.field(default_factory=list)
    measure: dict[str, Any] = msgspec.field(default_factory=dict)
    explore: dict[str, Any] = msgspec.field(default_factory=dict)
    policy: dict[str, Any] = msgspec.field(default_factory=dict)
    publication: dict[str, Any] = msgspec.field(default_factory=dict)
    population: dict[str, Any] = msgspec.field(default_factory=dict)
    dp: dict[str, Any] = msgspec.field(default_factory=dict)
    scenarios: dict[str, Any] = msgspec.field(default_factory=dict)


@dataclass(frozen=True)
class Project:
    """A publication as its project file describes it, with everything checked that needs no data.

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
    budget
        After how many seconds an exploration stops; by default when all is made.
    population
        The section ``[population]``.
    by
        The attributes by which everything is measured for the group that does worst, too.
    dp
        The section ``[dp]``.
    """

    path: Path
    data: Data
    schema: Schema
    searches: tuple[Search, ...]
    privacy: tuple[Written, ...]
    utility: tuple[Written, ...]
    policy: Policy
    publication: Publication
    budget: float | None = None
    population: Population = NO_POPULATION
    by: tuple[str, ...] = ()
    dp: Privacy = NO_PRIVACY

    @classmethod
    def load(cls, path: str | Path) -> Project:
        """Read and check a project file."""
        place = Path(path)
        return cls.parse(_read(place), place)

    @classmethod
    def parse(cls, text: str, path: Path) -> Project:
        """Check the text of a project file that is, or will be, at this place."""
        try:
            written = tomllib.loads(text)
        except (ValueError, RecursionError) as error:
            raise ProjectError(f"{path.name} is not TOML: {error}") from None
        try:
            return _project(path, written)
        except SfumatoError as error:
            raise type(error)(f"{path.name}: {error}") from None

    @property
    def data_path(self) -> Path:
        """The data file; paths are relative to the project file."""
        return self.path.parent / self.data.path

    @property
    def _data_place(self) -> str | Path:
        """Where the records are: a path relative to the project file, or an address as it is."""
        named = self.data.path
        return named if "://" in named or named == STANDARD_INPUT else self.data_path

    @property
    def store_path(self) -> Path:
        """The store of candidates, next to the project file."""
        return self.path.with_suffix(".sqlite")

    @property
    def measures(self) -> tuple[Written, ...]:
        """The measures of every candidate: both sides, the worst-off groups, and those with limits here.

        What the policy needs to know besides depends on how a candidate is judged; see `Policy.measures`.
        """
        listed = (
            *self.privacy,
            *self.utility,
            *_worst_group_measures((*self.privacy, *self.utility), self.by),
        )
        limited = (self.population.given_to(name) for name in unnamed(self.policy.limits, listed))
        return (*listed, *(_with_resolved_files(each, self.path.parent) for each in limited))

    @property
    def axes(self) -> tuple[str, str]:
        """The axes of the frontier: the labels of the first privacy and the first utility measure."""
        privacy, utility = (build_measure(side[0]).label for side in (self.privacy, self.utility))
        return privacy, utility

    def source(self, path: Path | None = None) -> Source:
        """Return where the records are: in the data file, or in another with the same layout."""
        return source_at(
            path or self._data_place,
            table=self.data.table,
            query=self.data.query,
            separator=self.data.separator,
            encoding=self.data.encoding,
            quote=self.data.quote,
        )

    def table(
        self, path: Path | None = None, schema: Schema | None = None, *, is_whole: bool = False
    ) -> Table:
        """Read the records as they are, from the data file or from another with the same layout.

        Columns that a schema neither releases nor needs are left out. A sample is taken of the data file
        alone, unless it is asked for as a whole.
        """
        spellings = self.data.missing_values
        if self.data.sample is not None and path is None and not is_whole:
            from sfumato.workflow.engines.duckdb import ENGINE

            return ENGINE.reduce(self.source(path), schema, missing_values=spellings, share=self.data.sample)
        return engine_named(self.data.engine).reduce(self.source(path), schema, missing_values=spellings)

    def all_records(self, recoding: Recoding) -> Table:
        """Read all records, and merge values that a recoding releases alike."""
        engine = engine_named(self.data.engine)
        return engine.apply(self.source(), recoding, missing_values=self.data.missing_values)

    def codebook(self, path: Path | None = None) -> Codebook:
        """Return the labels of the data file, or of another with the same layout."""
        return codebook_of(self.source(path).files)

    def read(self) -> tuple[Table, Schema]:
        """Read the data and bind the schema to it."""
        return self.schema.bind(self.table(schema=self.schema))


def _worst_group_measures(listed: Iterable[Written], by: Iterable[str]) -> tuple[Written, ...]:
    """Return for each measure the measure of the group that does worst on it."""
    asked = [build_measure(written) for written in listed]
    found = (each for attribute in by for each in worst_for_each(asked, attribute))
    return tuple({each.name: each.parameters} for each in found)


def unnamed(policy: Iterable[str], listed: Iterable[Written | Measure]) -> tuple[str, ...]:
    """Return the measures that a policy limits and a list does not have."""
    asked = [each if isinstance(each, Measure) else build_measure(each) for each in listed]
    named = {name for each in asked for name in (each.name, each.label)}
    wanted = dict.fromkeys(name if name in named else MeasureLabel.parse(name).whole for name in policy)
    return tuple(name for name in wanted if name not in named)


def _read(place: Path) -> str:
    trouble = why_unreadable(place)
    if trouble.startswith("does not exist"):
        raise ProjectError(f"no project file {place.name}; `sfumato new DATA` writes one")
    if trouble:
        raise ProjectError(f"{place.name or place} {trouble}")
    try:
        return place.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ProjectError(f"cannot read {place.name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ProjectError(f"cannot read {place.name}: not UTF-8; save it as UTF-8") from None


def _project(place: Path, written: dict[str, Any]) -> Project:
    file = section(_File, written)
    data = _check_data(section(Data, file.data, "data"))
    privacy_budget = section(Privacy, file.dp, "dp")
    attributes = tuple(_attribute(name, block, place.parent) for name, block in file.attributes.items())
    schema = Schema(
        (*attributes, *_columns_without_role(data, file.attributes)),
        missing=data.missing,
        decimal=data.decimal,
        thousands=data.thousands,
        person=data.person,
        pseudonym=data.pseudonym,
        survey_weight=data.weight,
        household=data.household,
        people_at_most=privacy_budget.people_at_most,
    )
    population = _population(section(Population, file.population, "population"), data)
    measure = section(_Measure, file.measure, "measure")
    scenarios = {name: scenario_of(name, block, schema) for name, block in file.scenarios.items()}
    searches = [search_of(block, position) for position, block in enumerate(file.candidates, start=1)]
    if privacy_budget.choose == "before":
        searches = [_search_before(privacy_budget, schema, file)]
    tried = [name for search in searches for name in getattr(search, "sanitizers", ())]
    defaults = default_measures(schema, size_is_known=population.size is not None, tried=tried)
    privacy, utility = (
        tuple(in_scenario(written, scenarios, where) for written in listed or default)
        for where, listed, default in (
            ("measure.privacy", measure.privacy, defaults[0]),
            ("measure.utility", measure.utility, defaults[1]),
        )
    )
    for where, measures in (("measure.privacy", privacy), ("measure.utility", utility)):
        _check_measures(measures, where)
    privacy, utility = (tuple(map(population.given_to, side)) for side in (privacy, utility))
    _check_by(measure.by, schema)
    listed = (*privacy, *utility)
    labels = {build_measure(each).label for each in (*listed, *_worst_group_measures(listed, measure.by))}
    policy = _policy(file.policy, schema, labels)
    return Project(
        path=place,
        data=data,
        schema=schema,
        searches=tuple(s.within(policy) if isinstance(s, KnowsPolicy) else s for s in searches),
        privacy=tuple(_with_resolved_files(written, place.parent) for written in privacy),
        utility=tuple(_with_resolved_files(written, place.parent) for written in utility),
        policy=policy,
        publication=section(Publication, file.publication, "publication"),
        budget=_budget(section(_Explore, file.explore, "explore")),
        population=population,
        dp=privacy_budget,
        by=tuple(dict.fromkeys(measure.by)),
    )


def _search_before(dp: Privacy, schema: Schema, file: _File) -> Search:
    """Return the one candidate that follows from the declared error, and refuse what needs the original."""
    if file.candidates:
        raise ProjectError('dp.choose: "before" allows no [[candidates]]; leave them out')
    if dp.error is None or not 0 < dp.error < 1:
        raise ProjectError(
            'dp.choose: "before" needs error, a share between 0 and 1, for example error = 0.01'
        )
    for name in file.policy.keys() - {"recipient"}:
        measure = methods.find("measure", MeasureLabel.parse(name).measure)
        if not getattr(measure, "is_promised", False):
            raise ProjectError(
                f'policy.{name}: with dp.choose = "before" no figure of the original may decide; leave it out'
            )
    recipe = recipe_before(schema, dp.error)
    return Sweep(recipe.sanitizer, dict(recipe.parameters))


def _check_data(data: Data) -> Data:
    if data.sample is not None and not 0 < data.sample < 1:
        raise ProjectError("data.sample: must be a share between 0 and 1, for example 0.01")
    if data.sample is not None and data.engine != "duckdb":
        raise ProjectError(
            'data.sample: only engine = "duckdb" learns on a sample; set it, or leave sample out'
        )
    return data


def _columns_without_role(data: Data, described: Mapping[str, Any]) -> tuple[Attribute, ...]:
    """Return the weight and household columns without a role, which are not released."""
    named = [name for name in (data.weight, data.household) if name is not None and name not in described]
    return tuple(Attribute(name, "withheld") for name in dict.fromkeys(named))


def _population(given: Population, data: Data) -> Population:
    if given.size is not None and given.path is not None:
        raise ProjectError("population: give size or path, not both: a file tells its size")
    if given.size is not None and data.weight is not None:
        raise ProjectError("population.size: data.weight tells the size already; give one of them")
    if given.size is not None and given.size < 1:
        raise ProjectError(f"population.size: must be at least 1, not {given.size}")
    return given


def _budget(given: _Explore) -> float | None:
    try:
        seconds = math.inf if given.budget is None else seconds_of(given.budget)
    except ParameterError as error:
        raise ProjectError(f"explore.budget: {error}") from None
    return None if seconds == math.inf else seconds


def _attribute(name: str, block: Any, folder: Path) -> Attribute:
    given = section(_Attribute, block, f"attributes.{name}")
    if given.kind is not None and find_kind(given.kind) is None:
        hint = suggestion(given.kind, kind_names()) or f"; allowed are {', '.join(kind_names())}"
        raise ProjectError(f"attributes.{name}.kind: cannot be {given.kind!r}{hint}")
    hierarchy = None if given.hierarchy is None else _hierarchy(name, given.hierarchy, folder)
    public = _public(given.public, f"attributes.{name}")
    return Attribute(name, given.role, given.kind, hierarchy, given.weight, given.lowest_level, public)


def _public(written: Mapping[str, Any], where: str) -> PublicValues:
    given = section(_Public, written, f"{where}.public")
    try:
        return PublicValues(given.whole, given.bounds, given.domain)
    except SchemaError as error:
        raise ProjectError(f"{where}.{error}") from None


def _hierarchy(name: str, written: Mapping[str, Any], folder: Path) -> HierarchySource:
    """Build the hierarchy that the one key of ``{ csv = … }``, ``{ intervals = … }`` and so on names."""
    where = f"attributes.{name}.hierarchy"
    kinds = [key for key in written if key in _HIERARCHIES]
    if len(kinds) != 1:
        example = "for example { intervals = [5, 10, 20] }"
        hint = suggestion(next(iter(written), ""), _HIERARCHIES) if not kinds else ""
        raise ProjectError(f"{where}: give one of {', '.join(_HIERARCHIES)}, {example}{hint}")
    given = section(_HIERARCHIES[kinds[0]], written, where)
    try:
        return given.source(folder)
    except HierarchyError as error:
        raise HierarchyError(f"{where}: {error}") from None


def _check_measures(measures: Iterable[Written], where: str) -> None:
    for written in measures:
        try:
            build_measure(written)
        except ParameterError as error:
            raise ProjectError(f"{where}: {error}") from None


def _check_by(by: Iterable[str], schema: Schema) -> None:
    """Refuse groups by an attribute that is not released."""
    for name in by:
        if name not in schema.released:
            near = suggestion(name, schema.released) or f"; there are {', '.join(schema.released)}"
            raise ProjectError(f"measure.by: no attribute {name!r} that is released{near}")


def _check_limited(names: Iterable[str], labels: Container[str], schema: Schema) -> None:
    """Refuse limits on unknown measures, or on single attributes that a measure does not distinguish."""
    for name in names:
        label = MeasureLabel.parse(name)
        if label.whole not in labels:
            _check_measures([label.whole], "policy")
        if label.attribute is not None:
            _check_sensitive(label, label.attribute, schema)


def _check_sensitive(label: MeasureLabel, attribute: str, schema: Schema) -> None:
    if attribute not in schema.sensitive:
        hint = suggestion(attribute, schema.sensitive)
        raise ProjectError(f"policy.{label}: no sensitive attribute {attribute!r}{hint}")
    if len(schema.sensitive) == 1:
        raise ProjectError(f"policy.{label}: no other attribute is sensitive; limit {label.whole!r} instead")
    method = methods.find("measure", label.measure) or methods.find("model", label.measure)
    if getattr(method, "guards", None) == "identity":
        raise ProjectError(
            f"policy.{label}: {label.whole} looks at no sensitive attribute; limit it as it is"
        )


def _with_resolved_files(written: Written, folder: Path) -> Written:
    """Resolve the paths of a measure's files, which are relative to the project file."""
    if isinstance(written, str):
        return written
    resolved = {}
    for name, parameters in written.items():
        cls = methods.find("measure", name)
        named = {} if cls is None else methods.named_in(cls)
        resolved[name] = {
            key: str(folder / value) if named.get(key) == "file" else value
            for key, value in parameters.items()
        }
    return resolved


def _policy(written: Mapping[str, Any], schema: Schema, labels: Container[str]) -> Policy:
    limited = {name: block for name, block in written.items() if name != "recipient"}
    _check_limited([name for name in limited if name not in labels], labels, schema)
    limits = {name: _limit(name, block) for name, block in limited.items()}
    recipient = written.get("recipient")
    if recipient is not None and not isinstance(recipient, str):
        raise ProjectError(f"policy.recipient: expected a text, got {type(recipient).__name__}")
    try:
        return Policy.for_schema(schema, recipient, limits)
    except ParameterError as error:
        raise ProjectError(f"policy.{error}") from None


def _limit(name: str, block: Any) -> Limit:
    given = section(_Limit, block, f"policy.{name}")
    bounds = {"at_most": given.at_most, "at_least": given.at_least}
    limit = Limit(**{key: value for key, value in bounds.items() if value is not None})
    if limit == Limit():
        raise ProjectError(f"policy.{name}: give at-most or at-least, for example {{ at-most = 0.09 }}")
    if not limit.at_least <= limit.at_most:
        raise ProjectError(f"policy.{name}: no value keeps it; give numbers, and at-least below at-most")
    return limit


def search_of(block: dict[str, Any], position: int) -> Search:
    """Build one ``[[candidates]]``: a named search, or a sweep over one sanitizer's parameters."""
    given = dict(block)
    kind: Literal["search", "sanitizer"] = "search" if "search" in given else "sanitizer"
    try:
        name = given.pop(kind, None)
        if not isinstance(name, str):
            raise ProjectError("give a sanitizer or a search by its name, one for each [[candidates]] block")
        search: Search = methods.build("search", name, given) if kind == "search" else Sweep(name, given)
        if isinstance(search, Sweep):
            search.recipes()
    except (ParameterError, ProjectError) as error:
        raise ProjectError(f"[[candidates]] number {position}: {error}") from None
    return search
