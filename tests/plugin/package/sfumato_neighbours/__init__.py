"""A plug-in for sfumato: one of each sort of method, each with its own words, and two kinds of value."""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pyarrow as pa

from sfumato import Recipe, Release, Schema, Table, register
from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.data.kinds import Kind, register_kind
from sfumato.miners.estimator_spec import Classifier, EstimatorSpec
from sfumato.models import KAnonymity, PrivacyModel
from sfumato.models.base import worst_attribute
from sfumato.models.bounds import capped_share
from sfumato.models.distances import Distance
from sfumato.reading.base import Format
from sfumato.registry.declarations import (
    Attacker,
    AttributeName,
    Axis,
    Better,
    Detail,
    FileName,
    Guards,
    Needs,
    Words,
)
from sfumato.results import LinkedRelease
from sfumato.results.measurement import Measure, Measurement
from sfumato.runtime.arrays import Floats
from sfumato.runtime.errors import DataError
from sfumato.sanitizers import FullDomain


@register
@dataclass(frozen=True)
class EvenLevels:
    """Generalise all quasi-identifiers alike.

    Parameters
    ----------
    level
        The level of all of them, or the highest that an attribute has.
    free
        The attributes that stay as they are.
    """

    level: int = 1
    free: tuple[AttributeName, ...] = ()

    does: ClassVar[str] = "All quasi-identifiers climb to the same storey of their hierarchies."

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release every quasi-identifier on the level."""
        levels = {
            name: min(self.level, schema.hierarchy(name).height)
            for name in schema.quasi_identifiers
            if name not in self.free
        }
        return FullDomain(levels, KAnonymity(1)).sanitize(table, schema, rng)


@register
@dataclass(frozen=True)
class OddsLimit(PrivacyModel):
    """Nobody can bet on a sensitive value of a group at better odds than these.

    Parameters
    ----------
    odds
        The largest odds of any value: its share in a group, divided by that of all others.
    """

    odds: float = 3.0

    guards: ClassVar[Guards] = "attribute"
    monotone: ClassVar[bool] = True
    better: ClassVar[Better] = "lower"
    parameter: ClassVar[str] = "odds"
    words: ClassVar[Words] = Words(
        "betting odds",
        "The odds at which a bookmaker would take a bet on the commonest sensitive value of a group.",
        "1: it is as likely as all others together.",
        "0 to ∞",
    )

    def scores(self, classes: EquivalenceClasses) -> Floats:
        """Return the odds of the commonest value of each group."""

        def score(sensitive: SensitiveCounts) -> Floats:
            largest = sensitive.largest(sensitive.counts).astype(np.float64)
            others = sensitive.sizes - largest
            return np.divide(largest, others, out=np.full(len(largest), np.inf), where=others > 0)

        return worst_attribute(classes, self.better, score)

    def lost_share(self, classes: EquivalenceClasses) -> Floats:
        """Return what every finer node must suppress of each class: what is above the odds."""
        highest = self.odds / (1 + self.odds)
        return capped_share(classes, lambda sensitive: np.full(len(sensitive.values), highest))


@register
@dataclass(frozen=True)
class NeighbourRisk(Measure):
    """The share of the records that look like few others.

    Parameters
    ----------
    few
        The largest class that is small.
    street
        A file that nobody reads; it shows where files are looked for.
    """

    few: int = 3
    street: FileName | None = None

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    needs: ClassVar[Needs] = "release"
    guards: ClassVar[Guards] = "identity"
    against: ClassVar[Attacker] = Attacker(
        "The neighbour", "Lives next door, sees who comes and goes, and can tell a few people apart."
    )
    words: ClassVar[Words] = Words(
        "over-the-fence risk",
        "The share of the records whose class is so small that a neighbour would know them all.",
        "0%: everybody is one of many.",
        "0% to 100%",
        "share",
        sentence="a neighbour knows everybody in the classes of {} of the records",
        details={"loneliest": Detail("size of the loneliest class", "number")},
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the share of the records in small classes."""
        sizes = release.classes.sizes
        value = int(sizes[sizes <= self.few].sum()) / release.n_records
        return (self.measurement(value, detail={"loneliest": float(sizes.min())}),)


@register
@dataclass(frozen=True)
class NearestGossip(Classifier):
    """Says of everybody what is said of those who live nearest.

    Parameters
    ----------
    ears
        How many are listened to.
    """

    ears: int = 3

    spec: ClassVar = EstimatorSpec("sklearn.neighbors.KNeighborsClassifier", {"n_neighbors": "ears"})


@register
@dataclass(frozen=True)
class UpTheStairs:
    """Try one storey after the other, from the ground floor up.

    Parameters
    ----------
    storeys
        How many are tried.
    """

    storeys: int = 2

    def propose(self, table: Table, schema: Schema, rng: np.random.Generator) -> Iterable[Recipe]:
        """Return a recipe for each storey."""
        return [Recipe.of(EvenLevels(level)) for level in range(self.storeys)]


def read_lines(path: Path) -> dict[str, list[object]]:
    """Read JSON Lines: a record in each line, all with the same keys."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    names = list(records[0]) if records else []
    for number, record in enumerate(records, start=1):
        if list(record) != names:
            raise DataError(f"{path.name}: line {number} has other keys than the first; write all alike")
    return {name: [record[name] for record in records] for name in names}


def write_lines(table: pa.Table, place: Path) -> None:
    """Write JSON Lines."""
    lines = (json.dumps(record, ensure_ascii=False) for record in table.to_pylist())
    place.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


register(Format("json-lines", (".jsonl", ".ndjson"), read_lines, write_lines))


def triangular(sensitive: SensitiveCounts) -> Floats:
    """Return Σ_s (p(E, s) - p(T, s))² / (p(E, s) + p(T, s)) / 2, an f-divergence from 0 to 1."""
    share, prior = sensitive.shares, sensitive.priors
    present: Floats = sensitive.total((share - prior) ** 2 / (share + prior))
    # each value that a group lacks adds its prior
    lacking = np.maximum(1.0 - sensitive.total(prior), 0.0)
    return (present + lacking) / 2


register(Distance("triangular", triangular, convex=True, largest=1.0))


# ------------------------------------------------------------------------------------- kinds of value

_WEEK = re.compile(r"([0-9]{4})-?W([0-9]{1,2})")
_SIZES = ("XS", "S", "M", "L", "XL")


def read_week(written: str) -> str | None:
    """Return an ISO week as ``2026-W07``, however it is written."""
    match = _WEEK.fullmatch(written)
    try:
        return (
            None
            if match is None
            else _week_of(datetime.date.fromisocalendar(int(match[1]), int(match[2]), 1))
        )
    except ValueError:
        return None


def _week_of(day: datetime.date) -> str:
    year, week, _ = day.isocalendar()
    return f"{year:04}-W{week:02}"


def _monday(week: str) -> datetime.date:
    return datetime.date.fromisocalendar(int(week[:4]), int(week[6:]), 1)


def week_number(week: str) -> int:
    """Return how many weeks lie before a week."""
    return _monday(week).toordinal() // 7


def week_at(place: int) -> str:
    """Return the week at a place."""
    return _week_of(datetime.date.fromordinal(min(max(7 * place + 1, 1), datetime.date.max.toordinal())))


def mondays(weeks: Sequence[str]) -> pa.Array:
    """Return the first day of each week."""
    return pa.array(map(_monday, weeks), pa.date32())


def read_size(written: str) -> str | None:
    """Return a size of clothes in capital letters."""
    return written.upper() if written.upper() in _SIZES else None


WEEK = register_kind(
    Kind(
        "iso-week",
        read_week,
        week_number,
        week_at,
        plural="ISO weeks such as 2026-W07",
        is_telling=True,
        to_arrow=mondays,
    )
)
# sizes stand in a row, and have no distances that a width could count: nothing lies between S and M
SIZE = register_kind(Kind("size", read_size, _SIZES.index, plural="sizes from XS to XL"))
