"""What a method says of itself: what it looks at, words for a reader, and what its parameters name.

A fact stands on the class that it speaks of, so that a plug-in gets the same words, forms and report as
what comes with sfumato.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

Axis = Literal["privacy", "utility"]
Better = Literal["lower", "higher"]
Guards = Literal["identity", "attribute"]
Needs = Literal["release", "original", "records"]
RecordKind = Literal["people", "perturbed", "synthetic"]
"""What the rows of a release stand for: people one by one, people with changed values, or nobody."""
EVERY_KIND: tuple[RecordKind, ...] = ("people", "perturbed", "synthetic")
Recodes = Literal["values", "classes"]
"""What a released value depends on: the attribute's own ``values`` alone, or the record's whole class."""
Unit = Literal["number", "share"]
"""A ``share`` is printed in percent, a ``number`` as it is."""


@dataclass(frozen=True)
class Detail:
    """One of the further numbers that a measure tells.

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
    details: Mapping[str, Detail] = field(default_factory=dict)


@dataclass(frozen=True)
class Guarantee:
    """What differential privacy promises of a release: a fact of the recipe, which nobody can measure.

    Parameters
    ----------
    epsilon, delta
        Whether one unit is in the table changes the probability of any outcome at most by the factor
        e^epsilon, and by delta beside.
    unit
        Whose presence is hidden: that of one record, or of all records of a person.
    """

    epsilon: float
    delta: float
    unit: Literal["record", "person"]


@dataclass(frozen=True)
class Attacker:
    """An adversary whose eyes a privacy measure looks with.

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

    what: Literal["file", "attribute", "measure", "sanitizer", "miner"]


@dataclass(frozen=True)
class AtMost:
    """Marks a parameter, or every number inside it, by the most that it may be given.

    What takes time or memory in proportion to a parameter is bounded far above any use, so that a slip of the
    finger ends in a line and not in a program that runs for years or takes the whole memory.

    Parameters
    ----------
    most
        The largest number that is allowed; what is no number is not.
    """

    most: float


FileName = Annotated[str, Names("file")]
"""A file, looked for beside the project file."""
AttributeName = Annotated[str, Names("attribute")]
MeasureName = Annotated[str, Names("measure")]
SanitizerName = Annotated[str, Names("sanitizer")]
MinerName = Annotated[str, Names("miner")]


def own(cls: type[Any] | None, fact: str) -> Any:
    """Return what a class declares itself; a class that is derived from it may mean something else."""
    return None if cls is None else vars(cls).get(fact)
