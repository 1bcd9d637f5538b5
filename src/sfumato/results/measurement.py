"""Measurement, what every measure is, and the one function that takes measurements."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.models.base import PrivacyModel
from sfumato.registry import methods
from sfumato.registry.declarations import Attacker, Axis, Better, Guards, Needs, ReleaseType, Words
from sfumato.registry.method_extras import require_extras
from sfumato.registry.plugin_errors import blamed_on, failed
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measure_label import MeasureLabel
from sfumato.results.people_groups import Group, classes_with_group, records_of_group
from sfumato.results.release import Release
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.runtime.progress import speaking_of

BY_ATTRIBUTE = "attributes"
"""The detail of a level that holds it for each sensitive attribute by itself, where there are several."""


@dataclass(frozen=True, repr=False)
class Measurement:
    """One number about one release.

    Parameters
    ----------
    measure
        The name of the measure.
    value
        The number; ``None`` when the measure does not apply to this release.
    axis
        The side: ``privacy`` or ``utility``.
    better
        Whether ``lower`` or ``higher`` is better.
    attribute
        The sensitive attribute that it speaks of, if one.
    interval
        The confidence interval, if the measure samples.
    baseline
        What the number is to be compared with, if the measure compares.
    detail
        More numbers, by name.
    parameters
        The measure's parameters that are not at their defaults.
    """

    measure: str
    value: float | None
    axis: Axis
    better: Better
    attribute: str | None = None
    interval: tuple[float, float] | None = None
    baseline: float | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def label(self) -> MeasureLabel:
        """The name with what tells it from the same measure with other parameters."""
        return MeasureLabel.of(self.measure, self.parameters)

    @property
    def attribute_label(self) -> MeasureLabel:
        """The label that tells the measurement of one sensitive attribute from the worst of all."""
        return self.label.of_attribute(self.attribute)

    @property
    def attribute_names(self) -> tuple[MeasureLabel, MeasureLabel]:
        """What the measurement of one sensitive attribute is called, with its parameters and without."""
        return self.attribute_label, MeasureLabel(self.measure, attribute=self.attribute)

    def __repr__(self) -> str:
        from sfumato.results import formatting

        value = "does not apply" if self.value is None else formatting.number(self.value)
        return f"<Measurement {self.attribute_label}: {value} ({self.axis}, {self.better} is better)>"

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import measurements_html

        return measurements_html([self])

    @property
    def applicable(self) -> bool:
        """Whether the measure applies to the release."""
        return self.value is not None

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; infinity is the text ``Infinity``."""
        return {
            "measure": self.measure,
            "attribute": self.attribute,
            "value": json_value(self.value),
            "axis": self.axis,
            "better": self.better,
            "applicable": self.applicable,
            "interval": None if self.interval is None else [json_value(end) for end in self.interval],
            "baseline": json_value(self.baseline),
            "detail": {name: json_value(value) for name, value in self.detail.items()},
            **({"parameters": dict(self.parameters)} if self.parameters else {}),
        }

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Measurement:
        """Read what `to_dict` wrote."""
        facts = {name: value for name, value in written.items() if name != "applicable"}
        facts["value"] = _number(facts["value"])
        facts["baseline"] = _number(facts["baseline"])
        facts["interval"] = tuple(map(_number, facts["interval"])) if facts["interval"] else None
        facts["detail"] = {name: _number(value) for name, value in facts["detail"].items()}
        return cls(**facts)


class Measure(ABC):
    """A way to judge a release: a frozen dataclass that declares its facts.

    Attributes
    ----------
    axis
        The side: ``privacy`` or ``utility``.
    better
        Whether ``lower`` or ``higher`` is better.
    needs
        ``release`` when the published cells alone suffice (such a measure can be verified by anyone),
        ``original`` when the original is needed, ``records`` when it must also be known which released
        record is which original one.
    guards
        Of a privacy measure, whether it looks at ``identity`` or at ``attribute`` disclosure.
    against
        The adversary with whose eyes it looks, if that is neither the one who wants to find a known
        person's record nor the one who wants to learn a sensitive value.
    words
        What it means to a reader; without them the docstring speaks.
    is_attack
        Whether it tries an attack, so that a report says of it what it got, or that it was not tried.
    judges
        The types of release that it has something to say about; of others it says that it does not apply.
        By default only rows that stand for people one by one: a class of made-up records hides nobody, and
        a small one gives nobody away.
    """

    axis: ClassVar[Axis]
    better: ClassVar[Better]
    guards: ClassVar[Guards]
    against: ClassVar[Attacker]
    words: ClassVar[Words]
    is_attack: ClassVar[bool] = False
    needs: ClassVar[Needs] = "original"
    judges: ClassVar[tuple[ReleaseType, ...]] = ("people",)

    def __post_init__(self) -> None:
        methods.check_bounds(self)

    @property
    def direction(self) -> Better:
        """Whether lower or higher is better: as the class says, or as the measure or model inside says."""
        return self.better

    @property
    def requires(self) -> Needs:
        """What it needs with these parameters: as the class says, if they change nothing about it."""
        return self.needs

    @abstractmethod
    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the measurements, one for each sensitive attribute where the measure speaks of one."""

    def of_group(self, release: Release, group: Group) -> tuple[Measurement, ...]:
        """Return the measurements for one group of people.

        Of utility what is lost in their own records, of privacy what the classes tell that hold one of them,
        whole as they are. A measure that looks at people otherwise says how itself.
        """
        return self.measure(
            (records_of_group if self.axis == "utility" else classes_with_group)(release, group)
        )

    @property
    def name(self) -> str:
        """The registered name."""
        return methods.name_of(type(self))

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that are not at their defaults."""
        return methods.changed_parameters(self)

    @property
    def label(self) -> MeasureLabel:
        """The name with what tells it from the same measure with other parameters."""
        return MeasureLabel.of(self.name, self.parameters)

    def measurement(self, value: float | None, **facts: Any) -> Measurement:
        """Return a measurement of this measure."""
        return Measurement(self.name, value, self.axis, self.direction, **facts)


class IdentityMeasure(Measure):
    """A measure of how well people are found."""

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "identity"
    needs: ClassVar[Needs] = "release"


class SensitiveMeasure(Measure):
    """A measure of each sensitive attribute by itself."""

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "attribute"
    needs: ClassVar[Needs] = "release"

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return one measurement for each sensitive attribute."""
        if not release.groups.sensitive:
            raise NotApplicable("the release has no sensitive attribute")
        return tuple(
            self.measurement(value, attribute=name, **facts)
            for name, counts in release.groups.sensitive.items()
            for value, facts in [self.of_counts(counts, release)]
        )

    @abstractmethod
    def of_counts(self, sensitive: SensitiveCounts, release: Release) -> tuple[float, dict[str, Any]]:
        """Return the value, and baseline or detail, for one sensitive attribute."""


@dataclass(frozen=True)
class LevelReached(Measure):
    """The level that a release reached in a privacy model: the worst score of its classes.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import AsIs
    >>> release = sanitize(*datasets.hospital(), AsIs())
    >>> LevelReached(KAnonymity()).measure(release)[0].value
    1.0
    """

    model: PrivacyModel

    axis: ClassVar[Axis] = "privacy"
    needs: ClassVar[Needs] = "release"

    @property
    def name(self) -> str:
        """The model's name."""
        return methods.name_of(type(self.model))

    @property
    def parameters(self) -> dict[str, Any]:
        """The model's parameters that are not at their defaults; the limit has no part in the level."""
        changed = methods.changed_parameters(self.model)
        return {name: value for name, value in changed.items() if name != self.model.parameter}

    @property
    def direction(self) -> Better:
        """Whether lower or higher is better, as the model says."""
        return self.model.better

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the level as one measurement."""
        classes = release.partition(self.model)
        if self.model.guards == "attribute" and not classes.sensitive:
            raise NotApplicable("the release has no sensitive attribute")
        fixed = {
            name: value
            for name, value in methods.describe(self.model)[1].items()
            if name != self.model.parameter
        }
        level = self.model.level(classes)
        return (self.measurement(level, detail={**fixed, **self._by_attribute(classes)}),)

    def _by_attribute(self, classes: EquivalenceClasses) -> dict[str, dict[str, float]]:
        """Return the level of each sensitive attribute by itself, where there are several."""
        if self.model.guards != "attribute" or len(classes.sensitive) < 2:
            return {}
        alone = {name: replace(classes, sensitive={name: c}) for name, c in classes.sensitive.items()}
        return {BY_ATTRIBUTE: {name: self.model.level(own) for name, own in alone.items()}}


def measure(release: Release, measures: Iterable[str | Mapping[str, Any] | Measure]) -> list[Measurement]:
    """Measure a release.

    Parameters
    ----------
    release
        What would be published.
    measures
        Measures, or their names; a privacy model's name gives the level that the release reached.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import SuppressQuasiIdentifiers
    >>> release = sanitize(*datasets.hospital(), SuppressQuasiIdentifiers())
    >>> [m.value for m in measure(release, ["privacy-loss", "general-loss", "k-anonymity"])]
    [0.0, 1.0, 12.0]
    """
    return _all_measured(release, measures, lambda wanted: wanted.measure(release))


def measure_group(
    release: Release, group: Group, measures: Iterable[str | Mapping[str, Any] | Measure]
) -> list[Measurement]:
    """Measure what a release is to one group of people."""
    return _all_measured(release, measures, lambda wanted: wanted.of_group(release, group))


def _all_measured(
    release: Release,
    measures: Iterable[str | Mapping[str, Any] | Measure],
    apply: Callable[[Measure], tuple[Measurement, ...]],
) -> list[Measurement]:
    measurements: list[Measurement] = []
    for written in measures:
        wanted = written if isinstance(written, Measure) else build_measure(written)
        require_extras(wanted)
        try:
            with speaking_of(wanted.name), blamed_on(wanted, NotApplicable):
                reason = inapplicable_reason(wanted, release.type)
                if reason:
                    raise NotApplicable(reason)
                checked = _sound(apply(wanted), wanted)
        except NotApplicable as error:
            checked = (wanted.measurement(None, detail={"reason": str(error)}),)
        measurements += [replace(m, parameters=wanted.parameters) for m in checked]
    return measurements


_REASONS: Mapping[ReleaseType, str] = {
    "people": "it judges no records that stand for people",
    "perturbed": "it takes released values for true ones, and values were changed",
    "synthetic": "it takes each record for a person's, and the records are made up",
}


def inapplicable_reason(measure: Measure | type[Measure], release_type: ReleaseType) -> str:
    """Return why a measure does not apply to releases of a type; an empty text if it does."""
    return "" if release_type in measure.judges else _REASONS[release_type]


def _sound(returned: object, by: Measure) -> tuple[Measurement, ...]:
    """Return what a measure returned, if it is measurements that can be written down."""
    measurements = tuple(returned) if isinstance(returned, (tuple, list)) else (returned,)
    if not all(isinstance(m, Measurement) for m in measurements):
        raise failed(type(by), f"returns {type(returned).__name__} and no tuple of measurements")
    for m in measurements:
        try:
            json.dumps(m.to_dict())
        except (TypeError, ValueError):
            raise failed(type(by), "returns a measurement that is no plain number") from None
    return measurements


def named(measurements: Iterable[Measurement], name: str) -> list[Measurement]:
    """Return the measurements with this label; where there is none, those of the measure of this name.

    ``privacy-loss of income`` is the measurement of one of several sensitive attributes.
    """
    every = list(measurements)
    return (
        [m for m in every if m.label == name]
        or [m for m in every if m.measure == name]
        or [m for m in by_attribute(every) if name in m.attribute_names]
    )


def by_attribute(measurements: Iterable[Measurement]) -> list[Measurement]:
    """Return what was measured of single sensitive attributes, where there are several of them.

    Examples
    --------
    >>> levels = {"income": 0.3, "disease": 0.1}
    >>> level = Measurement("t-closeness", 0.3, "privacy", "lower", detail={"attributes": levels})
    >>> [(m.attribute_label, m.value) for m in by_attribute([level])]
    [('t-closeness of income', 0.3), ('t-closeness of disease', 0.1)]
    """
    by_label: dict[str, list[Measurement]] = {}
    for m in measurements:
        levels = m.detail.get(BY_ATTRIBUTE, {})
        single = [replace(m, value=value, attribute=name, detail={}) for name, value in levels.items()]
        by_label.setdefault(m.label, []).extend(single or ([m] if m.attribute is not None else []))
    return [m for alike in by_label.values() if len(alike) > 1 for m in alike]


def worst_value(measurements: Iterable[Measurement], name: str) -> float | None:
    """Return the value of a measure, the worst over the sensitive attributes; ``None`` if there is none."""
    alike = named(measurements, name)
    values = [m.value for m in alike if m.value is not None]
    if not values:
        return None
    return max(values) if alike[0].better == "lower" else min(values)


def json_value(value: Any) -> Any:
    """Return a figure, or a mapping of figures, as JSON can hold it: infinity is the text ``Infinity``."""
    if isinstance(value, Mapping):
        return {name: json_value(inner) for name, inner in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _number(value: Any) -> Any:
    """Read what `json_value` wrote."""
    if isinstance(value, Mapping):
        return {name: _number(inner) for name, inner in value.items()}
    return float(value) if value in ("Infinity", "-Infinity", "NaN") else value


def build_measure(written: str | Mapping[str, Any]) -> Any:
    """Make a measure from name, label or ``{name: parameters}``; a model's name gives the level reached."""
    name, parameters = methods.name_and_parameters(written)
    kind = methods.first_kind(name, ("model", "measure"))
    if kind is None:
        known = {**methods.registered("measure"), **methods.registered("model")}
        raise ParameterError(f"no measure {name!r}{suggestion(name, known)} (sfumato methods lists them all)")
    built = methods.build(kind, name, parameters)
    return LevelReached(built) if kind == "model" else built


def compares(measurement: Measurement) -> tuple[str, str] | None:
    """Return by which attribute a measurement compares groups, and on which measure; ``None`` of others."""
    cls = methods.find("measure", measurement.measure)
    if not getattr(cls, "compares_groups", False):
        return None
    return measurement.parameters.get("attribute", ""), measurement.parameters.get(
        "of", getattr(cls, "of", "")
    )
