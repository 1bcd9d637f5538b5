"""What an adversary with a list of people learns about them, beyond what they learn about others."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from sfumato.data.table import Table
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.measures.identity.population_table import Fitted, fitted
from sfumato.measures.utility.percentiles import NORMAL_95
from sfumato.registry.declarations import (
    EVERY_TYPE,
    Attacker,
    AttributeName,
    Axis,
    Better,
    Detail,
    FileName,
    Guards,
    RecordCount,
    ReleaseType,
    Seed,
    Words,
)
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease, origin_of
from sfumato.results.measurement import Measure, Measurement
from sfumato.results.people_groups import Group
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers
from sfumato.runtime.errors import DataError, ParameterError, suggestion

_CHUNK = 1 << 24
_LIST_HOLDER = Attacker(
    "The holder of a list",
    "Has a list of people with some of their attributes and guesses another one; whoever is on the list but "
    "not in the table shows how well one guesses without the release.",
)


@register
@dataclass(frozen=True)
class AuxiliaryGain(Measure):
    """How much more often an adversary with a list of people guesses right than about others.

    The list has some attributes of each person. The adversary takes the released records that fit a person
    (every released set holds the known value) and guesses the most likely value among them; if none fits, the
    most likely value of all. The value is the share of right guesses less the baseline. The baseline is the
    share for a control group of people outside the table, so that general knowledge from the release does not
    count as a breach; without a control group, it is the share when the most common value is guessed for all.
    The interval has the difference with 95% confidence (normal approximation).

    Parameters
    ----------
    attribute
        The attribute to guess; by default each sensitive attribute.
    auxiliary
        A file with people of the table: what is known of them, and the attribute to guess, which only serves
        to check guesses. By default it is the table itself, with known quasi-identifiers.
    control
        A file with people who are not in the table, with the same columns.
    known
        The attributes that the adversary knows; by default the quasi-identifiers that the file has.
    people
        The largest number of people to attack, in each file; longer files are sampled.
    seed
        The seed for drawing people.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", 2023.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(12)))
    >>> AuxiliaryGain().measure(release)[0].value
    0.0
    """

    attribute: AttributeName | None = None
    auxiliary: FileName | None = None
    control: FileName | None = None
    known: tuple[AttributeName, ...] = ()
    people: RecordCount = 1000
    seed: Seed = 0

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "attribute"
    judges: ClassVar[tuple[ReleaseType, ...]] = EVERY_TYPE
    against: ClassVar[Attacker] = _LIST_HOLDER
    is_attack: ClassVar[bool] = True
    words: ClassVar[Words] = Words(
        "gain with auxiliary information",
        "How much more often an adversary with a list of people guesses an attribute of them right than of "
        "people who are not in the table, or than by the commonest value.",
        "0% or less: that a person is in the table gives nothing away about that person.",
        "-100% to 100%",
        "share",
        baseline="people outside the data, or the commonest value",
        details={
            "with-fitting-record": Detail("people with a fitting record"),
        },
        ends=("knowing more does not help", "every further guess is right"),
    )

    def of_group(self, release: Release, group: Group) -> tuple[Measurement, ...]:
        """Refuse a group: the list determines who is attacked."""
        raise NotApplicable("its list says who is attacked; give one of the people of the group")

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the gain for the attribute, or for each sensitive one."""
        names = release.schema.sensitive if self.attribute is None else (self.attribute,)
        if not names:
            raise NotApplicable("no attribute is sensitive; give the attribute to guess")
        for name in (*names, *self.known):
            if name not in release.cells:
                hint = suggestion(name, release.cells) or f"; it has {', '.join(release.cells)}"
                raise ParameterError(f"the release has no attribute {name!r}{hint}")
        if self.auxiliary is None and not isinstance(release, LinkedRelease):
            raise NotApplicable("the original is not known; give a file with auxiliary information")
        return tuple(self._of_attribute(release, name) for name in names)

    def _of_attribute(self, release: Release, name: str) -> Measurement:
        listed = self._people(release, self.auxiliary, name)
        guessed = _guessed(release, name, listed)
        if self.control is None:
            baseline = guessed.share(guessed.commonest)
            noise = guessed.variance(guessed.right - guessed.commonest)
        else:
            outside = _guessed(release, name, self._people(release, self.control, name))
            baseline = outside.share(outside.right)
            noise = guessed.variance(guessed.right) + outside.variance(outside.right)
        rate = guessed.share(guessed.right)
        value = rate - baseline
        radius = NORMAL_95 * math.sqrt(noise)
        detail = {
            "right": rate,
            "people": guessed.n_people,
            "known": ", ".join(listed.known),
            "with-fitting-record": guessed.share(guessed.fits),
        }
        return self.measurement(
            value,
            attribute=name if name in release.schema.sensitive else None,
            interval=(value - radius, value + radius),
            baseline=baseline,
            detail=detail,
        )

    def _people(self, release: Release, path: str | None, name: str) -> _Listed:
        """Read a list of people, and sample it if it is too long."""
        if path is None:
            table, source = origin_of(release).table, "the table"
        else:
            from sfumato.reading.base import read_arrow

            table, source = Table.from_arrow(read_arrow(Path(path))), Path(path).name
        wanted = self.known or release.schema.quasi_identifiers
        known = tuple(
            attribute
            for attribute in wanted
            if attribute != name and (self.known or attribute in table.columns)
        )
        for column in (name, *known):
            if column not in table.columns:
                hint = suggestion(column, table.columns)
                raise DataError(f"{source} has no column {column!r}{hint or '; add it'}")
            if column in release.cells and release.cells[column].sets is None:
                raise NotApplicable(
                    f"{column!r} has changed values, which fit nobody; `inference` takes the nearest records"
                )
        if table.n_records <= self.people:
            return _Listed(table, np.asarray(table.weights), known)
        rng = np.random.default_rng(self.seed)
        return _Listed(table, rng.multivariate_hypergeometric(table.weights, self.people), known)


@dataclass(frozen=True, eq=False)
class _Listed:
    """People of a table: how many of each row, and what is known of them."""

    table: Table
    counts: Integers
    known: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Guessed:
    """For each kind of people their number, whether the guess is right, and whether a record fits."""

    counts: Integers = field(repr=False)
    right: Floats = field(repr=False)
    commonest: Floats = field(repr=False)
    fits: Floats = field(repr=False)

    @property
    def n_people(self) -> int:
        """How many people they are."""
        return int(self.counts.sum())

    def share(self, of: Floats) -> float:
        """Return the mean over the people."""
        return float(self.counts @ of / self.n_people)

    def variance(self, of: Floats) -> float:
        """Return the variance of the mean over the people."""
        return float(self.counts @ (of - self.share(of)) ** 2 / self.n_people**2)


def _guessed(release: Release, name: str, listed: _Listed) -> _Guessed:
    rows = np.flatnonzero(listed.counts)
    columns = [fitted(attribute, release, listed.table[attribute]) for attribute in listed.known]
    truth = fitted(name, release, listed.table[name]).codes[rows]
    boxes, beliefs = _boxes(release, listed.known, name)
    overall = _likeliest(beliefs.sum(axis=0, keepdims=True)).item()
    guesses, fits = np.empty(len(rows), np.int64), np.empty(len(rows))
    tables = [_holds(column) for column in columns]
    for chunk in np.array_split(np.arange(len(rows)), max(1, len(rows) * len(boxes) // _CHUNK)):
        fitting = np.ones((len(chunk), len(boxes)), dtype=np.bool_)
        for place, (column, holds) in enumerate(zip(columns, tables, strict=True)):
            fitting &= holds[column.codes[rows[chunk]]][:, boxes[:, place]]
        fits[chunk] = fitting.any(axis=1)
        guesses[chunk] = _likeliest(fitting.astype(np.float64) @ beliefs)
    guesses[fits == 0] = overall
    return _Guessed(
        listed.counts[rows],
        np.equal(truth, guesses).astype(np.float64),
        np.equal(truth, overall).astype(np.float64),
        fits,
    )


def _likeliest(beliefs: Floats) -> Integers:
    """Return the most likely value of each row, the first of those that differ only by rounding."""
    return beliefs.round(9).argmax(axis=1)


def _holds(column: Fitted) -> Booleans:
    """Return for each value and each released label whether the label may stand for the value."""
    holds = np.zeros((column.n_codes, len(column.sets)), dtype=np.bool_)
    for label, members in enumerate(column.sets):
        holds[members, label] = True
    return holds


def _boxes(release: Release, known: Iterable[str], name: str) -> tuple[Codes, Floats]:
    """Return the distinct released values of the known attributes, and what their records reveal of another.

    The second is for each of them the expected number of records with each original value.
    """
    from sfumato.miners.labels import labels_of

    labels = labels_of(release, name, "category", "released", 0)
    shares = labels.shares
    n_values = len(release.cells[name].domain)
    cells = [release.cells[attribute] for attribute in known]
    box_of, n_boxes = number_rows([c.codes for c in cells], [len(c.labels) for c in cells], release.n_rows)
    first = first_row_of_group(box_of, n_boxes)
    boxes = np.array([c.codes[first] for c in cells], np.int32).reshape(len(cells), n_boxes).T
    # rows of the same box and kind are counted before they are spread over the values
    pair, n_pairs = number_rows([box_of, labels.kind_of], [n_boxes, len(shares.starts) - 1], release.n_rows)
    one = first_row_of_group(pair, n_pairs)
    counts = sum_by_group(pair, n_pairs, release.weights)
    sizes = np.diff(shares.starts)[labels.kind_of[one]]
    entry = np.repeat(shares.starts[labels.kind_of[one]] - np.cumsum(sizes) + sizes, sizes) + np.arange(
        sizes.sum()
    )
    key = np.repeat(box_of[one], sizes) * n_values + shares.values[entry]
    spread = np.bincount(key, np.repeat(counts, sizes) * shares.shares[entry], n_boxes * n_values)
    return boxes, spread.reshape(n_boxes, n_values).astype(np.float64)
