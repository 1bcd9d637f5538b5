"""The schema: the role, kind and hierarchy of each attribute, and the table bound to it."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Literal, get_args

import numpy as np

from sfumato.data.hierarchy import ROOT, Flat, Hierarchy, HierarchySource
from sfumato.data.kinds import CATEGORICAL, Kind, Value, find_kind, kind_named, kind_names
from sfumato.data.public_values import NOTHING_PUBLIC, PublicValues
from sfumato.data.survey_columns import no_column, surveyed
from sfumato.data.table import Column, Table, text
from sfumato.registry.display import listed
from sfumato.runtime.errors import HierarchyError, SchemaError, suggestion
from sfumato.runtime.numerals import number

Role = Literal["identifying", "withheld", "quasi-identifying", "sensitive", "insensitive"]
ROLES: tuple[str, ...] = get_args(Role)
THOUSANDS: tuple[str, ...] = (".", ",", "'", " ", "\u00a0", "\u202f")
"""The marks that may stand between the thousands of a number; the last two are blanks that never break."""
UNRELEASED: tuple[Role, ...] = ("identifying", "withheld")
"""The roles of attributes that no release has."""


@dataclass(frozen=True)
class Attribute:
    """One attribute: its role, its kind, how it generalizes, and its weight in losses.

    Parameters
    ----------
    name
        The column.
    role
        ``identifying`` (points at a person by itself, never released), ``withheld`` (not needed by
        anybody, so not released either), ``quasi-identifying``, ``sensitive`` or ``insensitive``.
    kind
        The name of a kind of value: ``numeric``, ``categorical`` or one of a plug-in; ``None`` takes the
        table's.
    hierarchy
        How the values generalize; ``None`` is the value or nothing.
    weight
        How much the loss of this attribute matters beside the others'.
    lowest_level
        The level of its hierarchy below which a quasi-identifier is never released, whatever the method.
    public
        What everyone may know of its values without the records. Methods with differential privacy need it.
    """

    name: str
    role: Role
    kind: str | None = None
    hierarchy: HierarchySource | None = None
    weight: float = 1.0
    lowest_level: int = 0
    public: PublicValues = NOTHING_PUBLIC

    def __post_init__(self) -> None:
        if not 0 <= self.weight < math.inf:
            raise SchemaError(f"attribute {self.name!r}: a weight cannot be {self.weight:g}; give 0 or more")
        if self.lowest_level and self.role != "quasi-identifying":
            raise SchemaError(
                f"attribute {self.name!r}: only a quasi-identifying attribute is generalized; "
                "leave lowest-level out or change the role"
            )
        if self.role not in ROLES:
            raise SchemaError(self._unknown("role", self.role, ROLES))
        if self.kind is not None and find_kind(self.kind) is None:
            raise SchemaError(self._unknown("kind", self.kind, kind_names()))

    def _unknown(self, what: str, given: str, allowed: tuple[str, ...]) -> str:
        hint = suggestion(str(given), allowed)
        return f"attribute {self.name!r}: no {what} {given!r}{hint} ({what}s: {', '.join(allowed)})"

    @property
    def is_released(self) -> bool:
        """Whether a release has this attribute at all."""
        return self.role not in UNRELEASED


@dataclass(frozen=True, repr=False)
class Schema:
    """The attributes of a table.

    Parameters
    ----------
    attributes
        All of them, in the order in which they are released.
    missing
        Whether a missing value is a ``category`` of its own, or records that lack one are left out
        (``drop``).
    decimal, thousands
        How numbers are written that are read as text.
    person
        The attribute that tells whose a record is, where somebody may have several. It is never released
        itself. Records that lack it count as one person's: nobody is protected by not knowing who it is.
    pseudonym
        Whether a release tells which records are one person's, by a number that is drawn anew at each
        writing and has nothing to do with the original one. Someone who knows several records of a person
        then finds all of them: see `trace-risk`.
    survey_weight
        The column with the survey weights, where the records are a sample: how many people of the population
        each stands for. It is released only where it is an attribute with a role that is released.
    household
        The column that tells who lives together. It is released only as the survey weights are.
    people_at_most
        A public upper bound of the number of people in the table. Delta is judged by it.
    given
        Of a bound schema, the one that was bound: its hierarchies know values that did not occur.

    Examples
    --------
    >>> schema = Schema.of(age="quasi-identifying", diagnosis="sensitive")
    >>> schema.quasi_identifiers
    ('age',)
    """

    attributes: tuple[Attribute, ...]
    missing: Literal["category", "drop"] = "category"
    decimal: str = "."
    thousands: str = ""
    person: str | None = None
    pseudonym: bool = False
    survey_weight: str | None = None
    household: str | None = None
    people_at_most: int | None = None
    given: Schema | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.missing not in ("category", "drop"):
            raise SchemaError(f"missing cannot be {self.missing!r}; give 'category' or 'drop'")
        if self.decimal not in (".", ","):
            raise SchemaError(f"decimal cannot be {self.decimal!r}; give '.' or ','")
        if self.thousands not in ("", *THOUSANDS) or self.thousands == self.decimal:
            raise SchemaError(
                f"thousands cannot be {self.thousands!r}; give another mark than the decimal one, or none"
            )
        if self.people_at_most is not None and self.people_at_most < 1:
            raise SchemaError(f"people-at-most cannot be {self.people_at_most}; give 1 or more")
        if self.household is not None and self.household == self.survey_weight:
            raise SchemaError(
                f"column {self.household!r} cannot be both the weight and the household; name two"
            )
        if self.pseudonym and self.person is None:
            raise SchemaError("pseudonym: nothing tells whose a record is; name the column in person")
        if self.person is not None and self[self.person].is_released:
            raise SchemaError(
                f"person: {self.person!r} is {self[self.person].role}, and whose a record is, is never "
                "published; give it role = 'identifying'"
            )

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {attribute.name: attribute for attribute in self.attributes}

    def __getitem__(self, name: str) -> Attribute:
        if name not in self._by_name:
            raise SchemaError(f"no attribute {name!r}{suggestion(name, self._by_name)}")
        return self._by_name[name]

    @classmethod
    def of(cls, roles: Mapping[str, Role] | None = None, /, **more: Role) -> Schema:
        """Build from roles alone, every attribute without a hierarchy."""
        return cls(tuple(Attribute(name, role) for name, role in {**(roles or {}), **more}.items()))

    def __repr__(self) -> str:
        roles = {role: self._named(role) for role in get_args(Role)}
        return f"<Schema {'; '.join(f'{role}: {listed(names)}' for role, names in roles.items() if names)}>"

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import schema_html

        return schema_html(self)

    def _named(self, role: Role) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.attributes if attribute.role == role)

    @property
    def identifying(self) -> tuple[str, ...]:
        """The attributes that never leave the house."""
        return self._named("identifying")

    @property
    def withheld(self) -> tuple[str, ...]:
        """The attributes that nobody needs and that therefore are not released."""
        return self._named("withheld")

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The attributes by which an adversary could recognise a person."""
        return self._named("quasi-identifying")

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The attributes that an adversary would like to learn."""
        return self._named("sensitive")

    @property
    def insensitive(self) -> tuple[str, ...]:
        """The attributes that are released as they are."""
        return self._named("insensitive")

    @property
    def released(self) -> tuple[str, ...]:
        """Everything but the identifying and the withheld attributes, in the order of the schema."""
        return tuple(a.name for a in self.attributes if a.is_released)

    def hierarchy(self, name: str) -> Hierarchy:
        """Return the hierarchy of an attribute of a bound schema."""
        built = self[name].hierarchy
        if not isinstance(built, Hierarchy):
            raise SchemaError(f"attribute {name!r} is not bound to a table; call schema.bind(table) first")
        return built

    def kind(self, name: str) -> Kind:
        """Return the kind of an attribute's values: categories where an unbound schema names none."""
        named = self[name].kind
        return CATEGORICAL if named is None else kind_named(named)

    def reader(self, kind: Kind) -> Callable[[str], Value]:
        """Return how a text is read as a value of a kind: numbers with the marks of this schema."""
        if not kind.is_number:
            return kind.read
        return partial(number, decimal=self.decimal, thousands=self.thousands)

    @property
    def for_parts(self) -> Schema:
        """The schema to bind a part of the bound table to: as it was given, its hierarchies over all values.

        Binding drops whose a record is where everybody has one record. The schema that was given would then
        look for a column that the bound table no longer has; this one does not.
        """
        given = self.given or self
        return replace(given, person=self.person, pseudonym=self.pseudonym, given=given)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of roles, kinds and hierarchies, to recognise the same bound schema again."""

        def shape(source: HierarchySource | None) -> object:
            if not isinstance(source, Hierarchy):
                return source
            return source.labels, source.node_of.tolist(), [sizes.tolist() for sizes in source.sizes]

        facts: list[object] = [self.missing]
        facts += [(a.name, a.role, a.kind, a.weight, shape(a.hierarchy)) for a in self.attributes]
        facts += [(a.name, a.lowest_level) for a in self.attributes if a.lowest_level]
        named = {"person": self.person, "survey weight": self.survey_weight, "household": self.household}
        facts += [(what, name) for what, name in named.items() if name is not None]
        facts += ["pseudonym"] if self.pseudonym else []
        facts += [(a.name, a.public) for a in self.attributes if a.public != NOTHING_PUBLIC]
        facts += [("people at most", self.people_at_most)] if self.people_at_most is not None else []
        return hashlib.sha256(repr(facts).encode()).hexdigest()

    def bind(self, table: Table, *, is_release: bool = False) -> tuple[Table, Schema]:
        """Prepare a table for this schema, and this schema for the table.

        Identifying and withheld attributes are dropped at once, records with missing values if the schema
        says so, text becomes numbers where the schema says numeric, domains are put in the order of the
        hierarchies, and equal rows are put together; survey weights and households stay with the rows. The
        bound table keeps which records have the same person, and nothing if everybody has one record.
        Binding again changes nothing.

        Parameters
        ----------
        table
            The records.
        is_release
            Whether they are a release that was read back, in which ``*`` stands for any value; in an original
            no value may be written so.
        """
        _check_names(self, table.names)
        if self.survey_weight is not None or self.household is not None:
            # how records are added up must not depend on the columns that nobody needs
            table = table.select(self._read_columns(table.names))
        person = self.person if self.person in table.columns else None
        known = surveyed(
            table, self.survey_weight, self.household, self.decimal, self.thousands, person=person
        )
        kept = _with_people(self, known).select(self.released)
        if self.missing == "drop":
            kept = _without_missing(kept)
        if kept.n_people == kept.n_records:
            kept = kept.without_people()
        prepared = [bound(self, self[name], kept[name]) for name in self.released]
        if not is_release:
            for attribute, _ in prepared:
                _check_stars(attribute)
        columns = {attribute.name: column for attribute, column in prepared}
        kept_attributes = {attribute.name: attribute for attribute, _ in prepared}
        attributes = tuple(kept_attributes.get(a.name, a) for a in self.attributes)
        repeats = kept.person_of is not None
        person, pseudonym = self.person if repeats else None, self.pseudonym and repeats
        bound_schema = replace(
            self, attributes=attributes, person=person, pseudonym=pseudonym, given=self.given or self
        )
        return kept.rewritten(columns), bound_schema

    def with_assumed_public_part(self, table: Table) -> Schema:
        """Return the schema with a public part read from the records: an assumption, for trying things out.

        Before you publish, replace it by what everyone may know without the records.

        Examples
        --------
        >>> table = Table.from_arrow({"age": [31, 42, 57]})
        >>> schema = Schema.of(age="quasi-identifying").with_assumed_public_part(table)
        >>> schema["age"].kind, schema["age"].public.bounds, schema.people_at_most
        ('numeric', (0, 100), 10)
        """
        from sfumato.data.public_part import assumed_public

        return assumed_public(table, self)

    def needed(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return which of the columns of a source are released or tell whose a record is; check them all."""
        columns = tuple(names)
        _check_names(self, columns)
        named = {"person": self.person, "weight": self.survey_weight, "household": self.household}
        for what, name in named.items():
            if name is not None and name not in columns:
                raise no_column(name, columns, what)
        return self._read_columns(columns)

    def _read_columns(self, names: tuple[str, ...]) -> tuple[str, ...]:
        read = {*self.released, self.person, self.survey_weight, self.household}
        return tuple(name for name in names if name in read)

    def require(self, role: Role, what_for: str) -> tuple[str, ...]:
        """Return the attributes of a role, or say that there is none."""
        names = self._named(role)
        if not names:
            raise SchemaError(f"{what_for} needs a {role} attribute; give one attribute role = {role!r}")
        return names


def _check_names(schema: Schema, columns: tuple[str, ...]) -> None:
    names = [attribute.name for attribute in schema.attributes]
    if len(set(names)) < len(names):
        raise SchemaError(
            f"attribute {next(n for n in names if names.count(n) > 1)!r} is described twice; keep one"
        )
    unknown = [name for name in schema.released if name not in columns]
    if unknown:
        raise no_column(unknown[0], columns)
    described = {*names, schema.survey_weight, schema.household}
    forgotten = [name for name in columns if name not in described]
    if forgotten:
        more = f", and {len(forgotten) - 1} more" if len(forgotten) > 1 else ""
        raise SchemaError(
            f"column {forgotten[0]!r} of the data has no role; "
            f"describe it (a column silently published is a leak){more}"
        )
    if not schema.released:
        raise SchemaError(
            "every attribute is identifying or withheld, so nothing could be released; give one another role"
        )


def _with_people(schema: Schema, table: Table) -> Table:
    """Return the table with the person of each row, if the schema says which column tells it."""
    name = schema.person
    if name is None or (name not in table.columns and table.person_of is not None):
        return table
    if name not in table.columns:
        raise no_column(name, table.columns, "person")
    return replace(table, person_of=table[name].tightened().codes)


def _without_missing(table: Table) -> Table:
    complete = np.ones(table.n_rows, dtype=np.bool_)
    for column in table.columns.values():
        if column.missing_code is not None:
            complete &= column.codes != column.missing_code
    if not complete.any():
        raise SchemaError('every record lacks some value; set missing = "category" to keep them')
    return table.take(np.flatnonzero(complete))


def bound(schema: Schema, attribute: Attribute, column: Column) -> tuple[Attribute, Column]:
    """Prepare one attribute for its column, and the column for it."""
    kind = column.kind if attribute.kind is None else kind_named(attribute.kind)
    typed = column.tightened()
    if kind != column.kind:
        typed = _as_kind(schema, attribute.name, typed, kind)
    source = attribute.hierarchy or Flat()
    try:
        hierarchy = source.build(typed.domain, kind)
    except HierarchyError as error:
        raise HierarchyError(f"hierarchy of {attribute.name!r}: {error}") from None
    _check_lowest(attribute, hierarchy)
    described = replace(attribute, kind=kind.name, hierarchy=hierarchy)
    return described, typed.reordered(hierarchy.values, kind)


def with_declared_values(table: Table, schema: Schema) -> tuple[Table, Schema]:
    """Extend the domains of a bound table by the values that its schema declares public.

    What a method then knows of a declared domain does not depend on which of its values occur.
    """
    columns, attributes = dict(table.columns), {a.name: a for a in schema.attributes}
    for name in schema.released:
        column, attribute = table[name], schema[name]
        domain = column.kind.sorted([*column.domain, *attribute.public.values(column.kind)])
        if len(domain) > len(column.domain):
            source = (schema.given or schema)[name].hierarchy or Flat()
            try:
                hierarchy = source.build(domain, column.kind)
            except HierarchyError as error:
                raise HierarchyError(f"public domain of {name!r}: {error}") from None
            attributes[name] = replace(attribute, hierarchy=hierarchy)
            columns[name] = column.reordered(hierarchy.values)
    extended = replace(schema, attributes=tuple(attributes.values()), given=schema.given or schema)
    return replace(table, columns=columns), extended


def _check_stars(attribute: Attribute) -> None:
    """Refuse ``*`` for less than all values: in a release it would be read as any value."""
    name, hierarchy = attribute.name, attribute.hierarchy
    assert isinstance(hierarchy, Hierarchy)
    if ROOT in hierarchy.labels[0]:
        raise SchemaError(
            f"attribute {name!r} has a value that is written {ROOT}, which in a release means any value; "
            "list it in missing-values, or write it otherwise"
        )
    for level, labels in enumerate(hierarchy.labels):
        if ROOT in labels and len(labels) > 1:
            raise HierarchyError(
                f"hierarchy of {name!r}: level {level} calls some of the values {ROOT}, which in a release "
                "means any value; give that branch another name"
            )


def _check_lowest(attribute: Attribute, hierarchy: Hierarchy) -> None:
    lowest = attribute.lowest_level
    if not 0 <= lowest <= hierarchy.height:
        raise HierarchyError(
            f"lowest-level of {attribute.name!r}: its hierarchy has levels 0 to {hierarchy.height}, "
            f"not {lowest}; give one of these"
        )
    nodes = hierarchy.node_of[lowest]
    if np.count_nonzero(np.diff(nodes)) != len(hierarchy.labels[lowest]) - 1:
        raise HierarchyError(
            f"lowest-level of {attribute.name!r}: the numbers below a node of level {lowest} are not "
            'neighbours; set kind = "categorical" or take intervals'
        )


def _as_kind(schema: Schema, name: str, column: Column, kind: Kind) -> Column:
    """Read the values of a column anew, as those of another kind."""
    read = schema.reader(kind)
    values = [None if value is None else read(text(value) or "") for value in column.domain]
    wrong = sum(new is None and old is not None for new, old in zip(values, column.domain, strict=True))
    if wrong:
        raise SchemaError(
            f"attribute {name!r} is {kind.name}, but {wrong} of its {len(values)} distinct values are not "
            f'{kind.plural}; set kind = "categorical" or list them in missing-values'
        )
    domain = kind.sorted(values)
    place = {value: position for position, value in enumerate(domain)}
    new_code = np.array([place[value] for value in values], dtype=np.int32)
    return Column(new_code[column.codes], domain, kind)


def roles_of(names: Iterable[str], role: Role) -> dict[str, Role]:
    """Give several attributes one role.

    Examples
    --------
    >>> roles_of(["age", "sex"], "quasi-identifying")
    {'age': 'quasi-identifying', 'sex': 'quasi-identifying'}
    """
    return dict.fromkeys(names, role)
