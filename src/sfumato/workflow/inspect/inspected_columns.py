"""Inspect a table: what its attributes are, and how risky it would be to publish it as it is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.data.schema import Attribute, Role, Schema
from sfumato.data.table import Records, Table
from sfumato.measures.identity.household_risk import HouseholdRisk
from sfumato.measures.identity.population_risk import IndividualRisk, PopulationUniqueness
from sfumato.measures.identity.reidentification import ReidentificationRisk
from sfumato.measures.identity.uniqueness import (
    Alone,
    Distinction,
    alone_by_insensitive,
    singling_out,
    warnings_of,
)
from sfumato.reading.read_table import read
from sfumato.reading.role_guess import decimal_mark, guess, likely_missing_values, thousands_mark
from sfumato.registry.display import listed
from sfumato.results import formatting
from sfumato.results.json_schemas import AttributeShape, InspectShape, RiskShape
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.measurement import Measurement, measure
from sfumato.results.release import Release
from sfumato.workflow.project.project_file import Project

# From this share of records on that agree with others, somebody should say whether they are one person's.
_MANY_REPEATED = 0.3


@dataclass(frozen=True)
class InspectedAttribute:
    """One attribute of a table.

    Parameters
    ----------
    name, role
        What it is called, and what it is.
    kind
        ``numeric``, ``categorical``, or ``dropped`` where it is identifying or withheld.
    n_distinct, n_missing
        How many different values it has, and how many records lack one.
    n_levels
        How many levels its hierarchy has.
    """

    name: str
    role: Role
    kind: str = "dropped"
    n_distinct: int = 0
    n_missing: int = 0
    n_levels: int = 0


@dataclass(frozen=True)
class RiskAsItStands:
    """How easily people could be found if a table were published as it is.

    Parameters
    ----------
    n_unique
        How many people are alone with the quasi-identifiers of a record of theirs.
    smallest_class, median_class
        The people of the smallest class, and of the one that half of the people do not exceed.
    average, share_at_risk
        The chance to find a person, on average, and the share of people above the threshold of
        `ReidentificationRisk`.
    worst
        The chance to find the person who is found best.
    """

    n_unique: int
    smallest_class: int
    median_class: int
    average: float
    share_at_risk: float
    worst: float


@dataclass(frozen=True, repr=False)
class Inspection:
    """What a table looks like, and how risky it is as it is; it holds no value of a record.

    Parameters
    ----------
    n_records, n_rows
        How many records there are, and how many different ones.
    attributes
        What each attribute is.
    risk
        How well people could be found; ``None`` where no attribute is quasi-identifying.
    insensitive
        How many records the insensitive attributes tell apart, alone, together, and with a sensitive one.
    table, schema
        The table and the schema that belong together: guessed roles are here to be confirmed.
    singling_out
        What each column adds to what tells people apart, where that was asked for.
    survey
        Where the records are a sample, or it is known who lives together: what follows for the risk, in
        sentences.
    repeated
        The share of the records that agree with another one in all quasi-identifiers, where nobody says whose
        they are and it is far more than by chance.
    """

    n_records: int
    n_rows: int
    attributes: tuple[InspectedAttribute, ...]
    risk: RiskAsItStands | None
    insensitive: tuple[Alone, ...]
    table: Table = field(compare=False)
    schema: Schema = field(compare=False)
    singling_out: Distinction | None = None
    survey: tuple[str, ...] = ()
    repeated: float = 0.0

    @property
    def n_people(self) -> int:
        """The number of people; as many as records if nobody is known to have several."""
        return self.table.n_people

    @property
    def sentences(self) -> tuple[str, ...]:
        """The risk in words."""
        if self.risk is None:
            return (
                "No attribute is quasi-identifying, so nobody could be recognised by the attributes named.",
            )
        names, risk = ", ".join(self.schema.quasi_identifiers), self.risk
        whom = "records" if self.schema.person is None else "people"
        sentences = (
            f"Published as it is, {risk.n_unique:,} of {self.n_people:,} {whom} "
            f"({risk.n_unique / self.n_people:.1%}) would be unique in {names}.",
            f"Half of the {whom} would share these with {_others_words(risk.median_class - 1)}; "
            f"somebody who knows these of a person would find that person's record with a chance of "
            f"{risk.average:.1%} on average, {risk.worst:.0%} at worst.",
            *self.survey,
        )
        if self.schema.person is None:
            return sentences
        each = f"{self.n_records:,} records are those of {self.n_people:,} people ({self.schema.person})"
        return (
            f"The {each}; people are counted, since several records of one person protect nobody.",
            *sentences,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on what a person should check before anything is released."""
        return (*warnings_of(self.insensitive), *self._question_of_repeats)

    @property
    def _question_of_repeats(self) -> tuple[str, ...]:
        """Ask for the person's column if far more records agree than chance explains."""
        if self.repeated < _MANY_REPEATED:
            return ()
        return (
            f"{self.repeated:.0%} of the records agree with another one in all quasi-identifiers, far more "
            "than by chance: if one person may have several records, say which column tells whose a record "
            "is (person, in the section [data]). Otherwise records of one person count as protection.",
        )

    @property
    def attribute_rows(self) -> list[dict[str, str]]:
        """What is known of each attribute, in words by the heads of a table; every face shows this table."""
        shapes = [AttributeShape.of(attribute).to_dict() for attribute in self.attributes]
        return [
            {
                "attribute" if key == "name" else key: value if isinstance(value, str) else f"{value:,}"
                for key, value in shape.items()
            }
            for shape in shapes
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return self.to_shape().to_dict()

    def to_shape(self) -> InspectShape:
        """Return the document that `sfumato inspect --json` prints."""
        risk = RiskShape(sentences=list(self.sentences))
        if self.risk is not None:
            risk.unique_records = self.risk.n_unique
            risk.smallest_class = self.risk.smallest_class
            risk.average_risk = self.risk.average
            risk.share_at_risk = self.risk.share_at_risk
        return InspectShape.of(self, distinct_rows=self.n_rows, risk=risk)

    def __repr__(self) -> str:
        records = f"{self.n_records:,} records, {self.n_rows:,} of them different"
        if self.risk is None:
            return f"<Inspection of {records}; no attribute is quasi-identifying>"
        names = listed(self.schema.quasi_identifiers)
        return f"<Inspection of {records}; {self.risk.n_unique:,} unique in {names}>"

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import inspection_html

        return inspection_html(self)


def inspect(
    source: str | Path | Records,
    schema: Schema | None = None,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    quote: str | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Inspection:
    """Look at a table: what its attributes are, and how risky it would be to publish it as it is.

    Parameters
    ----------
    source
        A table or whatever `read` takes, or a project file (``.toml``), whose roles then count.
    schema
        What each attribute is; guessed from names and values by default, for a person to confirm.
    separator, encoding, quote
        How a CSV file is written, where that should not be sniffed.
    table, query
        What to read of a database.

    Examples
    --------
    >>> from sfumato import datasets
    >>> found = inspect(*datasets.hospital())
    >>> found.risk.n_unique, found.attributes[1].n_distinct
    (12, 7)
    """
    if isinstance(source, (str, Path)) and Path(source).suffix == ".toml":
        project = Project.load(source)
        records = project.table()
        return _inspected_with(records, *(schema or project.schema).bind(records))
    found = read(source, separator=separator, encoding=encoding, quote=quote, table=table, query=query)
    return _inspected_with(found, *(schema.bind(found) if schema is not None else with_guessed_roles(found)))


def _inspected_with(records: Table, table: Table, schema: Schema) -> Inspection:
    """Inspect a bound table, and the columns of the records that were read."""
    return replace(inspect_table(table, schema), singling_out=singling_out(records, schema))


def with_guessed_roles(table: Table) -> tuple[Table, Schema]:
    """Guess the roles of a table's columns, and which values are codes for missing ones."""
    missing = likely_missing_values(table)
    known = Table.from_arrow(table, missing_values=missing) if missing else table
    guesses = guess(known)
    attributes = tuple(Attribute(g.name, g.role, g.kind, g.hierarchy) for g in guesses)
    names = {g.tells: g.name for g in guesses}
    decimal = decimal_mark(known)
    thousands = thousands_mark(known, decimal, frozenset())
    return Schema(
        attributes,
        decimal=decimal,
        thousands=thousands,
        person=names.get("person"),
        survey_weight=names.get("weight"),
        household=names.get("household"),
    ).bind(known)


def inspect_table(table: Table, schema: Schema) -> Inspection:
    """Inspect a table with its bound schema, without what each column adds to singling people out."""
    attributes = tuple(_attribute(table, schema, attribute) for attribute in schema.attributes)
    as_it_is = released(table, schema, {})
    return Inspection(
        table.n_records,
        table.n_rows,
        attributes,
        _risk(as_it_is),
        alone_by_insensitive(as_it_is),
        table,
        schema,
        survey=tuple(_survey(as_it_is)),
        repeated=_share_repeated(as_it_is, table),
    )


def _survey(release: LinkedRelease) -> Iterator[str]:
    """Say what survey weights and households mean for the risk."""
    if release.survey_weights is not None:
        individual, uniqueness = measure(release, [IndividualRisk(), PopulationUniqueness()])
        yield (
            f"The records stand for {uniqueness.detail['population']:,} people. Whoever does not know who "
            f"was drawn would find the person behind a record among them with a chance of "
            f"{formatting.share(individual.detail['average'])} on average, {_printed(individual)} at worst; "
            f"an estimated {_printed(uniqueness)} of them are unique."
        )
    if release.origin.table.households is not None:
        (household,) = measure(release, [HouseholdRisk()])
        yield (
            f"The records belong to {household.detail['households']:,} households. Whoever knows a whole "
            f"household would find one of its members with a chance of "
            f"{formatting.share(household.detail['average'])} on average, {_printed(household)} at worst."
        )


def _printed(taken: Measurement) -> str:
    return "unknown share" if taken.value is None else formatting.share(taken.value)


def _attribute(table: Table, schema: Schema, attribute: Attribute) -> InspectedAttribute:
    if not attribute.is_released:
        return InspectedAttribute(attribute.name, attribute.role)
    column = table[attribute.name]
    return InspectedAttribute(
        attribute.name,
        attribute.role,
        column.kind.name,
        len(column.domain) - column.has_missing,
        column.count_missing(table.weights),
        schema.hierarchy(attribute.name).height + 1,
    )


def _risk(release: Release) -> RiskAsItStands | None:
    if not release.schema.quasi_identifiers:
        return None
    (risk,) = ReidentificationRisk().measure(release)
    assert risk.value is not None
    people = np.sort(release.classes.people)
    return RiskAsItStands(
        int(risk.detail["uniques"]),
        int(people[0]),
        int(people[np.searchsorted(np.cumsum(people), people.sum() / 2)]),
        risk.detail["average"],
        risk.detail["share-at-risk"],
        risk.value,
    )


def _share_repeated(release: Release, table: Table) -> float:
    """Return the share of records that agree with another in all quasi-identifiers, unless by chance.

    By chance, if the columns had nothing to do with each other, pairs would agree as often as in each
    column, multiplied; as columns do have to do with each other, so much and ten times that is no sign.
    """
    columns = [table[name] for name in release.schema.quasi_identifiers]
    if len(columns) < 2 or table.person_of is not None:
        return 0.0
    n, sizes = table.n_records, release.classes.sizes
    by_chance = math.prod(
        float((np.bincount(column.codes, table.weights) ** 2).sum()) / n**2 for column in columns
    )
    pairs = float((sizes * (sizes - 1)).sum())
    return float(sizes[sizes > 1].sum()) / n if pairs > 10 * by_chance * n * (n - 1) else 0.0


def _others_words(most: float) -> str:
    """Say how many others share a value."""
    if most < 1:
        return "nobody else"
    return f"at most {most:,.0f} other{'s' if most >= 2 else ''}"
