"""Declarations of methods: their needs, attackers, words, parameters and bounds.

A class declares its own facts, so a plug-in gets the same words, forms and report as a method of sfumato.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Annotated, Any, ClassVar, Literal, get_args

from sfumato.runtime.errors import ParameterError

Axis = Literal["privacy", "utility"]
Better = Literal["lower", "higher"]
Guards = Literal["identity", "attribute"]
Needs = Literal["release", "original", "records"]
ReleaseType = Literal["people", "perturbed", "synthetic"]
"""What the rows of a release stand for: people one by one, people with changed values, or nobody."""
EVERY_TYPE: tuple[ReleaseType, ...] = ("people", "perturbed", "synthetic")
Recodes = Literal["values", "classes"]
"""What a released value depends on: the attribute's own ``values`` alone, or the record's whole class."""
Finer = Literal["levels", "cuts"]
"""What is finer for a method: an attribute one level lower (of its ``levels``), or a class cut in two."""
Unit = Literal["number", "share"]
"""A ``share`` is printed in percent, a ``number`` as it is."""
_MOST_SPELLED = 10**15
"""A number above which a message does not spell it."""


@dataclass(frozen=True)
class Detail:
    """One of the further numbers that a measure reports.

    Parameters
    ----------
    title
        What it is, in a few words.
    unit
        How it is printed, if not in the unit of its measure.
    """

    title: str
    unit: Unit | None = None


@dataclass(frozen=True)
class Words:
    """A measure or model for somebody who has never heard of it.

    Parameters
    ----------
    title
        Its name in running text.
    meaning
        What it measures, in a sentence or two.
    reading
        How to read a value.
    range
        The values that it can take.
    unit
        A ``share`` is printed in percent, a ``number`` as it is.
    sentence
        The value in a sentence about a release; ``{}`` stands for the value.
    baseline
        What the number is compared with, if the measure compares.
    ends
        What the best and the worst value mean, in a few words.
    details
        What its further numbers are, by name.
    """

    title: str
    meaning: str
    reading: str = ""
    range: str = ""
    unit: Unit = "number"
    sentence: str = ""
    baseline: str = "baseline"
    ends: tuple[str, str] = ("", "")
    details: Mapping[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True)
class Guarantee:
    """What differential privacy promises of a release: a fact of the recipe, which nobody can measure.

    Parameters
    ----------
    epsilon, delta
        Whether one unit is in the table changes the probability of any outcome at most by the factor
        e^epsilon, plus delta.
    unit
        Whose presence is hidden: that of one record, or of all records of a person.
    """

    epsilon: float
    delta: float
    unit: Literal["record", "person"]


@dataclass(frozen=True)
class Attacker:
    """The adversary that a privacy measure models.

    Parameters
    ----------
    title
        Who it is, for example ``The journalist``.
    wants
        What this adversary knows and wants, in a sentence.
    """

    title: str
    wants: str


@dataclass(frozen=True)
class Names:
    """Marks a parameter whose texts name something: a page can then offer what there is."""

    what: Literal["file", "attribute", "measure", "sanitizer", "miner", "distance"]


class ParameterBound:
    """What a number may be; its text says so in words that follow *must be*."""

    def allows(self, value: float) -> bool:
        """Return whether a number keeps the bound; what is no number keeps none."""
        raise NotImplementedError


@dataclass(frozen=True)
class _OneEnd(ParameterBound):
    """A bound that compares with one number."""

    limit: float

    words: ClassVar[str]
    holds: ClassVar[Callable[[float, float], bool]]

    def allows(self, value: float) -> bool:
        """Return whether a number keeps the bound."""
        return type(self).holds(value, self.limit)

    def __str__(self) -> str:
        return f"{self.words} {shown(self.limit)}"


class AtLeast(_OneEnd):
    """Marks a parameter, or every number inside it, by the smallest number that it may be given."""

    words, holds = "at least", operator.ge


class Above(_OneEnd):
    """Marks a parameter, or every number inside it, by a number that it must exceed."""

    words, holds = "above", operator.gt


class AtMost(_OneEnd):
    """Marks a parameter, or every number inside it, by the largest number that it may be given.

    A parameter that costs time or memory in proportion is bounded far above any use, so that a slip of the
    finger ends in a line and not in a program that runs for years or takes the whole memory.
    """

    words, holds = "at most", operator.le


class Below(_OneEnd):
    """Marks a parameter, or every number inside it, by a number that it must stay under."""

    words, holds = "below", operator.lt


@dataclass(frozen=True)
class Between(ParameterBound):
    """Marks a parameter, or every number inside it, by two ends that a message names together.

    Parameters
    ----------
    least, most
        The smallest and the largest number.
    what
        What such a number is, with its article: ``a share``.
    is_open
        Whether the number must be above the smallest.
    """

    least: float
    most: float
    what: str
    is_open: bool = False

    def allows(self, value: float) -> bool:
        """Return whether a number keeps the bound."""
        return self.least <= value <= self.most and not (self.is_open and value == self.least)

    def __str__(self) -> str:
        if self.is_open:
            return f"{self.what} above {shown(self.least)} and at most {shown(self.most)}"
        return f"{self.what} between {shown(self.least)} and {shown(self.most)}"


_LARGEST = 1e300
"""No bounded number may be larger, on either side of 0: computing with a larger one gives infinity."""

RecordCount = Annotated[int, AtLeast(1), AtMost(10**12)]
"""The size of a class or group; no table has more records."""
PopulationSize = Annotated[int, AtLeast(1), AtMost(10**10)]
"""The size of a population; fewer people live."""
Seed = Annotated[int, AtLeast(0), AtMost(2**128 - 1)]
"""A seed, up to the largest that the system draws."""
Share = Annotated[float, Between(0, 1, "a share")]
PositiveShare = Annotated[float, Between(0, 1, "a share", is_open=True)]
Probability = Annotated[float, Between(0, 1, "a probability")]
RiskThreshold = Annotated[float, Between(0, 1, "a risk")]
FileName = Annotated[str, Names("file")]
"""A file, looked for next to the project file."""
AttributeName = Annotated[str, Names("attribute")]
MeasureName = Annotated[str, Names("measure")]
SanitizerName = Annotated[str, Names("sanitizer")]
MinerName = Annotated[str, Names("miner")]
DistanceName = Annotated[str, Names("distance")]


def own(cls: type[Any] | None, fact: str) -> Any:
    """Return what a class declares itself; a class that is derived from it may mean something else."""
    return None if cls is None else vars(cls).get(fact)


def bounds_in(hint: Any) -> tuple[ParameterBound, ...]:
    """Return the bounds of the numbers of a type.

    Examples
    --------
    >>> [str(bound) for bound in bounds_in(tuple[Annotated[int, AtLeast(1), AtMost(1_000)], ...])]
    ['at least 1', 'at most 1,000']
    """
    marks = tuple(mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, ParameterBound))
    return marks + tuple(bound for inner in get_args(hint) for bound in bounds_in(inner))


def check_bound(name: str, hint: Any, value: Any) -> None:
    """Raise `ParameterError` when a number is not what its type allows: too small, too large or no number.

    If a type bounds the numbers of a list or of a table, each of them is checked.

    Examples
    --------
    >>> check_bound("k", RecordCount, 5)
    >>> check_bound("k", RecordCount, 1e300)
    Traceback (most recent call last):
    sfumato.runtime.errors.ParameterError: k must be at most 1,000,000,000,000, not 1e+300
    """
    marks = getattr(hint, "__metadata__", ())
    inner = () if marks else get_args(hint)
    if marks:
        _check_number(name, value, marks, whole=hint.__origin__ is int)
    elif isinstance(value, Mapping) and len(inner) == 2:
        for key, number in value.items():
            check_bound(f"{name}.{key}", inner[1], number)
    elif isinstance(value, (list, tuple)) and inner:
        for number in value:
            check_bound(name, inner[0], number)
    elif value is not None and type(None) in inner:
        for part in inner:
            check_bound(name, part, value)


def _check_number(name: str, value: Any, marks: tuple[Any, ...], *, whole: bool) -> None:
    bounds = [mark for mark in marks if isinstance(mark, ParameterBound)]
    if not bounds:
        return
    if not _is_number(value):
        raise ParameterError(f"{name} must be a number, not {shown(value)}")
    if not -_LARGEST <= value <= _LARGEST:
        bounds += [AtLeast(-_LARGEST), AtMost(_LARGEST)]
    for bound in bounds:
        if not bound.allows(value):
            raise ParameterError(f"{name} must be {bound}, not {shown(value)}")
    if whole and value != int(value):
        raise ParameterError(f"{name} must be a whole number, not {shown(value)}")


def _is_number(value: Any) -> bool:
    # an abstract class is asked last: that takes longer than all the rest
    return isinstance(value, (int, float, Real))


def shown(value: Any) -> str:
    """Print what was given for a number, in few digits.

    Examples
    --------
    >>> shown(2.50), shown(10**30), shown("5")
    ('2.5', '1e+30', 'str')
    """
    if not _is_number(value):
        return type(value).__name__
    if abs(value) <= _MOST_SPELLED and value == int(value):
        return f"{int(value):,}"
    try:
        return f"{float(value):g}"
    except OverflowError:
        return "a number of more than 300 digits"
