"""Guess the role, kind and hierarchy of every column, for a person to confirm.

Guesses err on the side of caution: a column that is not known to be harmless counts as knowable by others. If
that makes too many quasi-identifiers for one release, the columns least likely to be needed are withheld. A
guess uses only names, shapes and counts, and the reason it gives never contains a value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from sfumato.data.hierarchy import HierarchySource, Intervals, Prefixes
from sfumato.data.kinds import CATEGORICAL, NUMERIC, Kind, kind_named, kind_names
from sfumato.data.public_part import proposed_of_numbers
from sfumato.data.public_values import NOTHING_PUBLIC, PublicValues
from sfumato.data.schema import UNRELEASED, Role
from sfumato.data.table import Column, Table, text
from sfumato.reading import column_shapes, official_codes, vocabulary
from sfumato.reading.column_relations import COLUMNS_PER_MESSAGE, Relation, relations, revealed_share
from sfumato.reading.column_shapes import decimal_mark, likely_missing_values, thousands_mark
from sfumato.runtime.arrays import Floats, Integers
from sfumato.runtime.progress import tell

__all__ = ["Guess", "decimal_mark", "guess", "likely_missing_values", "thousands_mark"]

MOST_QUASI_IDENTIFIERS = 10
"""The most columns proposed as quasi-identifying: with more, a release could say hardly anything."""
_ENOUGH_QUASI_IDENTIFIERS = 6
"""If more columns than this can be known to others, columns with unknown names are not added to them."""
_TOO_TELLING = 0.3
"""The share of a sensitive column's information above which a column is not released beside it."""
_MOST_RECORDS = 200
"""A column with more records per value on average does not number people."""
_MOST_SENSITIVE = 5
"""The most columns proposed as sensitive: groups must protect all of them at once."""


@dataclass(frozen=True)
class Guess:
    """What a column probably is, and why.

    Parameters
    ----------
    name, role, kind, hierarchy
        As in :class:`~sfumato.data.schema.Attribute`.
    reason
        One sentence for the person who confirms it; it shows no record's value.
    n_distinct
        How many distinct values occur, not counting missing ones.
    n_missing
        How many records lack a value.
    kind_in_table
        The column's kind in the table, unless the project file names another.
    public
        What everyone may know of its values: an assumption, proposed from the records.
    tells
        ``person`` if the column identifies the person of a record and some people have several, ``weight`` if
        it is the number of people that a record represents, ``household`` if it identifies households; empty
        otherwise. At most one column has each.
    """

    name: str
    role: Role
    kind: str
    hierarchy: HierarchySource | None
    reason: str
    n_distinct: int
    n_missing: int
    kind_in_table: str = "categorical"
    public: PublicValues = NOTHING_PUBLIC
    tells: Literal["", "person", "weight", "household"] = ""

    @property
    def declared_kind(self) -> str | None:
        """The kind that a project file must name: that of numbers, and of every column that is released."""
        is_told = self.kind != NUMERIC.name and self.kind == self.kind_in_table
        return None if is_told and self.role in UNRELEASED else self.kind


def guess(table: Table) -> tuple[Guess, ...]:
    """Guess what every column is.

    The spellings of `likely_missing_values` count as missing, and numbers use the marks of `decimal_mark` and
    `thousands_mark`. Pass these to `sfumato.workflow.project.new_project.project_text` as well.

    Examples
    --------
    >>> table = Table.from_arrow({"age": ["31", "42", "57"], "diagnosis": ["E11.9", "I10", "E11.9"]})
    >>> [(column.role, column.kind) for column in guess(table)]
    [('quasi-identifying', 'numeric'), ('sensitive', 'categorical')]
    """
    missing = frozenset(likely_missing_values(table))
    decimal = column_shapes.decimal_mark_without(table, missing)
    marks = decimal, thousands_mark(table, decimal, missing)
    evidence = {
        name: _Evidence.of(name, column, table, missing, marks) for name, column in table.columns.items()
    }
    related = relations(
        table, {name: column.number_of_code(table[name]) for name, column in evidence.items()}
    )
    guesses: dict[str, Guess] = {}
    for place, (name, column) in enumerate(evidence.items()):
        if place and place % COLUMNS_PER_MESSAGE == 0:
            tell(f"{place:,} of {len(evidence):,} columns looked at")
        guesses[name] = _guess(column)
    numbers = _person_numbers(guesses, evidence, related)
    guesses = _with_person({**guesses, **numbers}, numbers, evidence)
    guesses |= {**_weights(guesses, evidence), **_households(guesses, evidence)}
    guesses = _without_copies(guesses, evidence, related)
    guesses = _limited(guesses, evidence, "sensitive")
    return tuple(_limited(_without_revealing(guesses, table), evidence, "quasi-identifying").values())


# The evidence about one column


@dataclass(frozen=True)
class _Evidence:
    """The name of one column and its distinct values without missing ones."""

    name: str
    kind_in_table: Kind
    values: tuple[str, ...]
    counts: Integers
    n_missing: int
    marks: tuple[str, str]

    @classmethod
    def of(
        cls, name: str, column: Column, table: Table, missing: frozenset[str], marks: tuple[str, str]
    ) -> _Evidence:
        counts = np.bincount(column.codes, weights=table.weights, minlength=len(column.domain)).astype(int)
        pairs = zip(column.domain, counts.tolist(), strict=True)
        n_records = {
            text(value) or "": n for value, n in pairs if n and value is not None and value not in missing
        }
        n_missing = table.n_records - sum(n_records.values())
        return cls(
            name, column.kind, tuple(n_records), np.array([*n_records.values()], int), n_missing, marks
        )

    @cached_property
    def words(self) -> str:
        return vocabulary.folded(self.name)

    @cached_property
    def topic(self) -> vocabulary.Topic | None:
        """The topic that the name of the column suggests."""
        return vocabulary.topic_of(self.words)

    @cached_property
    def numbers(self) -> Floats | None:
        """The values as numbers, or ``None`` if they are texts or codes."""
        if self.kind_in_table.is_number:
            return np.array([float(value) for value in self.values])
        numbers = column_shapes.as_numbers(self.values, *self.marks)
        if numbers is None and self.topic in _IN_YEARS and self.all_like(column_shapes.TWO_OR_THREE_DIGITS):
            return np.array([float(value) for value in self.values])
        return numbers

    def number_of_code(self, column: Column) -> Floats | None:
        """Return the number behind each code of the column, NaN where there is none."""
        if self.numbers is None:
            return None
        number_of = dict(zip(self.values, self.numbers.tolist(), strict=True))
        return np.array([number_of.get(text(value) or "", math.nan) for value in column.domain])

    @cached_property
    def code(self) -> official_codes.Code | None:
        """The official codes that the values are, if any."""
        return None if self.kind_in_table.is_number else official_codes.code_of(self.words, self.values)

    @cached_property
    def dates(self) -> column_shapes.DateFormat | None:
        """How the values are written as dates, or ``None`` if they are not dates."""
        return column_shapes.as_dates(self.values)

    @cached_property
    def is_icd(self) -> bool:
        """Whether these are ICD codes, recognized by their dots."""
        return self.looks_like(column_shapes.ICD) and any("." in value for value in self.values[:1000])

    @cached_property
    def has_fixed_width(self) -> bool:
        return len({len(value) for value in self.values}) == 1

    @property
    def n_distinct(self) -> int:
        return len(self.values)

    @cached_property
    def n_present(self) -> int:
        return int(self.counts.sum())

    @property
    def is_constant(self) -> bool:
        return self.n_distinct + (self.n_missing > 0) == 1 < self.n_present + self.n_missing

    @cached_property
    def separation(self) -> float:
        """The share of all pairs of records that this column tells apart."""
        total = self.n_present + self.n_missing
        alike = int((self.counts * (self.counts - 1)).sum()) + self.n_missing * (self.n_missing - 1)
        return 1.0 - alike / (total * (total - 1)) if total > 1 else 0.0

    @property
    def is_nearly_unique(self) -> bool:
        return self.n_distinct >= 0.9 * self.n_present

    @property
    def is_widely_shared(self) -> bool:
        return self.n_present >= 20 * self.n_distinct

    def looks_like(self, pattern: re.Pattern[str]) -> bool:
        """Whether most of the first thousand values have this shape."""
        sample = self.values[:1000]
        return bool(sample) and sum(map(bool, map(pattern.fullmatch, sample))) >= 0.8 * len(sample)

    def all_like(self, pattern: re.Pattern[str]) -> bool:
        return bool(self.values) and all(map(pattern.fullmatch, self.values))

    def all_read(self, kind: Kind) -> bool:
        return bool(self.values) and all(kind.read(value) is not None for value in self.values)


# Guesses from the name and the values of one column

_IN_YEARS = (vocabulary.AGE, vocabulary.YEAR)
_POINTS = "so it points at one person"
_UNKNOWN = "unknown to us, so treated as knowable by others"


def _guess(column: _Evidence) -> Guess:
    role, reason = _role(column)
    kind, hierarchy = _kind_and_hierarchy(column)
    generalizes = role in ("quasi-identifying", "sensitive")
    note = column.dates.note if column.dates and generalizes else ""
    return Guess(
        name=column.name,
        role=role,
        kind=kind.name,
        hierarchy=hierarchy if generalizes else None,
        reason=f"{reason}{note}.",
        n_distinct=column.n_distinct,
        n_missing=column.n_missing,
        kind_in_table=column.kind_in_table.name,
        public=NOTHING_PUBLIC
        if role in UNRELEASED or column.numbers is None
        else proposed_of_numbers(column.numbers.tolist()),
    )


def _role(column: _Evidence) -> tuple[Role, str]:
    topic = column.topic
    if topic and topic.role == "identifying":
        return "identifying", f"Named like {topic.what}, {_POINTS}"
    if column.is_constant:
        return "insensitive", "The same in every record, so it tells nobody apart"
    if column.code is not None and not (topic and topic.role == "sensitive"):
        return column.code.role, f"Written like {column.code.what}"
    # several records share a film, a product or a shop
    is_thing = topic is None and vocabulary.THING.search(column.words) is not None
    if is_thing and column.n_distinct > 2 and not column.is_nearly_unique:
        return (
            "withheld",
            "Named like the number of a thing, not of a person: withheld until you give it a role",
        )
    shapes = (f"Written like {what}" for shape, what in column_shapes.PERSONAL if column.looks_like(shape))
    pointing = next(shapes, "") or _points_by_name(column) or _points_by_uniqueness(column)
    if pointing:
        return "identifying", f"{pointing}, {_POINTS}"
    if topic and topic.role == "sensitive" and not column.dates:
        return "sensitive", f"Named like {topic.what}, which others should not learn"
    if topic and topic.role == "quasi-identifying":
        return "quasi-identifying", f"Named like {topic.what}, which others may know"
    if column.dates:
        return "quasi-identifying", "Dates, which others may know"
    if column.is_icd:
        return "sensitive", "Written like ICD codes of diagnoses, which others should not learn"
    if column.numbers is not None:
        return "quasi-identifying", f"Numbers {_UNKNOWN}"
    if column.all_like(column_shapes.THOUSANDS):
        return "quasi-identifying", f"Numbers with marks that cannot be read as they are, {_UNKNOWN}"
    if column.n_distinct <= 20:
        return "quasi-identifying", f"A few categories {_UNKNOWN}"
    return "quasi-identifying", f"Texts or codes that records share, {_UNKNOWN}"


def _points_by_name(column: _Evidence) -> str:
    """Return a reason to take a column for identifying, from words that also occur in other names."""
    if column.dates:
        return ""
    if vocabulary.IDENTIFIER.search(column.words):
        repeats = column.topic is None and column.n_distinct > 2 and not column.is_widely_shared
        return "Named like an identifier" if column.is_nearly_unique or repeats else ""
    if column.topic:
        return ""
    if column.numbers is None and vocabulary.NAME.search(column.words):
        return "Named like a person's name"
    if column.numbers is None and vocabulary.FREE_TEXT.search(column.words):
        return "Named like free text, which may name people"
    if column.n_distinct >= 10 and column.is_nearly_unique and vocabulary.NUMBERED.search(column.words):
        return "Named like a running number or a code, with one of its own for nearly every record"
    return ""


def _points_by_uniqueness(column: _Evidence) -> str:
    """Return a reason to take a column for identifying because its values are (nearly) unique."""
    if column.topic or column.dates or column.is_icd or not column.is_nearly_unique:
        return ""
    if column.numbers is not None:
        # a running number has no gap, or many digits; a measurement has neither
        if column.n_distinct < 20 or column.n_distinct < column.n_present:
            return ""
        span = float(column.numbers.max()) - float(column.numbers.min())
        has_no_gap = bool((column.numbers % 1 == 0).all()) and span + 1 == len(column.numbers)
        is_long = column.has_fixed_width and column.all_like(column_shapes.LONG_NUMBER)
        return "A number of its own for every record" if has_no_gap or is_long else ""
    if column.all_like(column_shapes.THOUSANDS):
        return ""
    if column.looks_like(column_shapes.PHONE):
        return "Written like a phone or account number of its own for nearly every record"
    return "A text of its own for nearly every record" if column.n_distinct >= 10 else ""


# Guesses from several columns together


def _person_numbers(
    guesses: Mapping[str, Guess], evidence: Mapping[str, _Evidence], related: tuple[Relation, ...]
) -> dict[str, Guess]:
    """Return the columns that number people with several records: other columns rarely vary per person."""
    following: dict[str, list[str]] = {}
    for relation in related:
        if relation.how == "follows":
            following.setdefault(relation.other, []).append(relation.column)
    reason = f"Numbers that repeat, each always with the same values in {{}} other columns, {_POINTS}."
    return {
        name: replace(guesses[name], role="identifying", hierarchy=None, reason=reason.format(len(columns)))
        for name, columns in following.items()
        if guesses[name].role == "quasi-identifying"
        and _may_number_people(evidence[name])
        and (len(columns) >= 4 or sum(evidence[name].topic in vocabulary.OF_PEOPLE for name in columns) >= 2)
    }


def _with_person(
    guesses: dict[str, Guess], numbers: Mapping[str, Guess], evidence: Mapping[str, _Evidence]
) -> dict[str, Guess]:
    """Mark the column that identifies people with several records.

    A column that is named after people comes first, and of several the one with the most values.
    """
    best, best_rank = None, (False, 0)
    for name, column in evidence.items():
        is_numbered = name in numbers or vocabulary.PERSON.search(column.words)
        if (
            not is_numbered
            or guesses[name].role != "identifying"
            or vocabulary.HOUSEHOLD.search(column.words)
        ):
            continue
        rank = (vocabulary.NAMED_PERSON.search(column.words) is not None, column.n_distinct)
        repeats = column.n_distinct > 1 and 1 < column.n_present / column.n_distinct <= _MOST_RECORDS
        if repeats and rank > best_rank:
            best, best_rank = name, rank
    if best is None:
        return guesses
    reason = f"{guesses[best].reason} Several records have the same."
    return {**guesses, best: replace(guesses[best], tells="person", reason=reason)}


def _may_number_people(column: _Evidence) -> bool:
    """Whether the values are whole numbers or codes that a few records share each."""
    if column.topic or column.dates or column.code or column.n_distinct < 20:
        return False
    per_value = column.n_present / column.n_distinct
    is_whole = column.numbers is None or bool((column.numbers % 1 == 0).all())
    return 1.2 <= per_value <= 60 and is_whole and all(len(value) <= 40 for value in column.values[:1000])


def _weights(guesses: Mapping[str, Guess], evidence: Mapping[str, _Evidence]) -> dict[str, Guess]:
    """Return the first column of survey weights; further ones are weights for other questions."""
    name = next((name for name, column in evidence.items() if _are_survey_weights(column)), None)
    if name is None:
        return {}
    reason = (
        "Named like survey weights, which say for how many people a record stands; withheld, as they tell "
        "how it was drawn, until you give it a role."
    )
    return {name: replace(guesses[name], role="withheld", hierarchy=None, reason=reason, tells="weight")}


def _are_survey_weights(column: _Evidence) -> bool:
    """Whether every record has a number of people; if it could be body weight, it must be large."""
    numbers = column.numbers
    if numbers is None or column.n_missing or not len(numbers) or float(numbers.min()) <= 0:
        return False
    mean = float(numbers @ column.counts) / column.n_present
    if vocabulary.SURVEY_WEIGHT.search(column.words):
        return mean > 1
    spread = float(numbers.max()) / float(numbers.min())
    return bool(vocabulary.WEIGHT.search(column.words)) and mean > _HEAVIEST and spread > _WIDEST


_HEAVIEST, _WIDEST = 300.0, 20.0
"""No body weighs so much in any common unit but grams, and newborn ones in grams differ less."""


def _households(guesses: Mapping[str, Guess], evidence: Mapping[str, _Evidence]) -> dict[str, Guess]:
    """Return the first column that numbers households: a few records share each value."""
    reason = f"Named like the number of a household, {_POINTS} or a few."
    for name, column in evidence.items():
        is_shared_by_a_few = 1 < column.n_distinct < column.n_present <= _MOST_MEMBERS * column.n_distinct
        if is_shared_by_a_few and vocabulary.HOUSEHOLD_NUMBER.search(column.words):
            household = replace(guesses[name], role="identifying", hierarchy=None, reason=reason)
            return {name: replace(household, tells="household")}
    return {}


_MOST_MEMBERS = 12
"""The most records that a household has on average."""


_COPY_REASONS = {"same": "Says the same as {}", "scaled": "Says the same as {} on another scale"}


def _without_copies(
    guesses: Mapping[str, Guess], evidence: Mapping[str, _Evidence], related: tuple[Relation, ...]
) -> dict[str, Guess]:
    """Withhold columns that repeat another released column."""
    kept = dict(guesses)
    order = {name: place for place, name in enumerate(guesses)}
    for repeat in sorted(related, key=lambda relation: order[relation.column]):
        mine, other = kept[repeat.column], kept[repeat.other]
        if mine.role not in _RELEASED_ROLES or other.role not in _RELEASED_ROLES:
            continue
        is_named = evidence[repeat.column].topic is not None
        if repeat.how == "follows":
            if not is_named:
                kept[repeat.column] = _withheld(mine, f"Follows from {repeat.other}")
        elif (evidence[repeat.other].topic is not None, -order[repeat.other]) > (
            is_named,
            -order[repeat.column],
        ):
            kept[repeat.column] = _withheld(mine, _COPY_REASONS[repeat.how].format(repeat.other))
    return kept


_RELEASED_ROLES = ("quasi-identifying", "sensitive")


def _withheld(column: Guess, reason: str) -> Guess:
    return replace(column, role="withheld", hierarchy=None, reason=f"{reason}.")


def _without_revealing(guesses: dict[str, Guess], table: Table) -> dict[str, Guess]:
    """Withhold columns that reveal a sensitive attribute: no grouping protects it if both are released."""
    sensitive = [name for name, guessed in guesses.items() if guessed.role == "sensitive"]
    for name in [name for name, guessed in guesses.items() if guessed.role == "quasi-identifying"]:
        shares = {other: revealed_share(table, other, name) for other in sensitive}
        most = max(shares, key=shares.__getitem__, default="")
        if most and shares[most] >= _TOO_TELLING:
            guesses[name] = _withheld(
                guesses[name],
                f"Tells {shares[most]:.0%} of what could be known of {most}, which others should not learn: "
                "withheld until you give it a role",
            )
    return guesses


def _limited(guesses: dict[str, Guess], evidence: Mapping[str, _Evidence], role: Role) -> dict[str, Guess]:
    """Withhold columns that are too many for one release, beginning with those least likely to be needed."""
    most, chosen, reason = _LIMITS[role]
    of_role = [name for name, guessed in guesses.items() if guessed.role == role]
    if len(of_role) > most:
        kept = chosen([evidence[name] for name in of_role], most)
        for name in of_role:
            if name not in kept:
                guesses[name] = _withheld(guesses[name], reason.format(len(of_role)))
    return guesses


_TOO_MANY_KNOWN = (
    "Unknown to us, or less likely known to others than the rest of {} such columns: withheld until you "
    "give it a role"
)
_TOO_MANY_SENSITIVE = (
    "One of {} columns that others should not learn, too many to be protected together: withheld until "
    "you give it a role"
)


def _most_knowable(columns: list[_Evidence], most: int) -> set[str]:
    """Return the columns that a neighbour or a register knows; a few others if these are too few."""
    named = [column for column in columns if column.topic or column.dates or column.code]
    # every neighbour knows the first, hardly anyone the last
    named.sort(key=lambda column: (column.topic not in vocabulary.OF_PEOPLE, column.topic is None))
    enough = min(most, max(_ENOUGH_QUASI_IDENTIFIERS, len(named)))
    rest = [column for column in columns if column not in named and not _is_too_fine(column)]
    rest.sort(key=lambda column: -column.separation)
    return {column.name for column in [*named, *rest][:enough]}


def _is_too_fine(column: _Evidence) -> bool:
    """Whether nearly every record has a value of its own, or texts are too many to be grouped."""
    return column.n_distinct > 0.2 * column.n_present or (column.numbers is None and column.n_distinct > 200)


def _most_telling(columns: list[_Evidence], most: int) -> set[str]:
    """Return the columns whose values differ most among people without being nearly unique."""
    ranked = sorted(columns, key=lambda column: (_is_too_fine(column), -min(column.separation, 0.9)))
    return {column.name for column in ranked[:most]}


_LIMITS: Mapping[Role, tuple[int, Callable[[list[_Evidence], int], set[str]], str]] = {
    "quasi-identifying": (MOST_QUASI_IDENTIFIERS, _most_knowable, _TOO_MANY_KNOWN),
    "sensitive": (_MOST_SENSITIVE, _most_telling, _TOO_MANY_SENSITIVE),
}

# Kinds and hierarchies


def _kind_and_hierarchy(column: _Evidence) -> tuple[Kind, HierarchySource | None]:
    for kind in map(kind_named, kind_names()):
        if kind.is_telling and column.kind_in_table == CATEGORICAL and column.all_read(kind):
            return kind, None
    if column.dates:
        return CATEGORICAL, column.dates.hierarchy
    if column.code is not None:
        return CATEGORICAL, column.code.hierarchy
    # four to six digits, which the name or leading zeros show to be no number
    is_code = column.topic is vocabulary.PLACE or (column.topic is None and column.numbers is None)
    is_code_of_place = is_code and column.has_fixed_width and column.all_like(column_shapes.CODE_OF_PLACE)
    if column.topic is vocabulary.POSTCODE or is_code_of_place:
        width = max(map(len, column.values), default=0)
        lengths = tuple(range(min(width - 1, 5), 1, -1))
        return CATEGORICAL, Prefixes(lengths) if lengths else None
    if column.numbers is not None:
        return NUMERIC, _intervals(column, column.numbers)
    if column.all_like(column_shapes.ICD) and (column.is_icd or "icd" in column.words):
        return CATEGORICAL, Prefixes((3, 1) if max(map(len, column.values)) > 3 else (1,))
    return CATEGORICAL, None


def _intervals(column: _Evidence, numbers: Floats) -> Intervals | None:
    """Return widths that double, from about a sixteenth of the range that holds nearly all records."""
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 0.0)
    span, is_whole = high - low, bool((numbers % 1 == 0).all())
    if not 1e-9 * max(1.0, abs(low), abs(high)) < span < 1e15:
        return None  # one value, or a range in which widths could not be written in a few digits
    is_age = column.topic in _IN_YEARS and is_whole and 10 < span < 150
    if column.n_distinct < 8 and not is_age:
        return None
    # two records in a hundred at either end may be outliers
    order = np.argsort(numbers)
    below = np.cumsum(column.counts[order])
    low, high = numbers[order][np.searchsorted(below, (0.02 * below[-1], 0.98 * below[-1]))].tolist()
    narrowest = 5.0 if is_age else _rounded_width((high - low or span) / 16)
    doubled = (max(narrowest, float(is_whole)) * 2**step for step in range(5))
    widths = [width for width in doubled if width < span and (width >= 2 or not is_whole)][:4]
    in_few_digits = (int(width) if width.is_integer() else float(f"{width:.12g}") for width in widths)
    return Intervals(tuple(in_few_digits)) if widths else None


def _rounded_width(width: float) -> float:
    """Return the nearest of 1, 2, 5, 10, 20, 50, … and their fractions.

    Examples
    --------
    >>> [_rounded_width(width) for width in (0.06, 1.2, 3.4, 6.1, 92_000.0)]
    [0.05, 1.0, 5.0, 5.0, 100000.0]
    """
    power = math.floor(math.log10(width))
    candidates = (float(f"{factor}e{power}") for factor in (1, 2, 5, 10))
    return min(candidates, key=lambda candidate: abs(math.log(candidate / width)))
