"""Count the people of a known population who fit each class of a release."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from sfumato.data.hierarchy import ROOT, Label
from sfumato.data.kinds import Kind, Place, Value
from sfumato.data.ordered_ranges import OR_MISSING
from sfumato.data.table import Column, Table, text
from sfumato.kernels.box_counts import count_in_boxes
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.label_parsing import interval_ends
from sfumato.results.release import Release
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Codes, Floats, Integers
from sfumato.runtime.errors import DataError, suggestion
from sfumato.runtime.files import why_unreadable


def population_classes(release: Release, path: str) -> Integers:
    """Return for each class of a release how many people of a population fit all its released values.

    A value that the table does not have fits ``*`` and the intervals around it, and nothing else: a
    population class is never counted too large.

    Parameters
    ----------
    release
        What would be published.
    path
        A CSV, Parquet or Feather file with the quasi-identifiers of the population, the table's people
        among it.
    """
    names = release.schema.quasi_identifiers
    population = _read(path, names)
    if population.n_records < release.n_original:
        raise DataError(
            f"the population in {Path(path).name} has {population.n_records:,} records, fewer than the "
            f"table's {release.n_original:,}; give the population that the table was drawn from"
        )
    classes = release.classes
    if not names:
        return np.array([population.n_records])
    # few sets first: then most of the work is shared by many boxes
    names = tuple(sorted(names, key=lambda name: len(release.cells[name].labels)))
    columns = [fitted(name, release, population[name]) for name in names]
    first_rows = first_row_of_group(classes.class_of, classes.n_classes)
    boxes = np.stack([release.cells[name].codes[first_rows] for name in names], axis=1)
    order = np.lexsort(boxes.T[::-1])
    totals = np.empty(classes.n_classes, dtype=np.int64)
    totals[order] = _counted(columns, population.weights, boxes[order])
    contradicting = int((totals < classes.sizes).sum())
    if contradicting:
        raise DataError(
            f"the population in {Path(path).name} has fewer people than the table in {contradicting:,} of "
            f"{len(totals):,} classes; give one that the table was drawn from, its values written alike"
        )
    return totals


def survey_classes(release: Release) -> Floats | None:
    """Return for each class how many people of the population fit it, by survey weights.

    ``None`` where there are none. The people of the records themselves are there in any case. Several
    records of a person in a class stand for as many people as one of them does on average.
    """
    weights, classes, people = release.survey_weights, release.classes, release.people
    if weights is None:
        return None
    if people is None:
        stood_for = np.bincount(classes.class_of, weights, classes.n_classes)
    else:
        codes, cardinalities = [classes.class_of, people.person_of], [classes.n_classes, people.n_people]
        pair, n_pairs = number_rows(codes, cardinalities, release.n_rows)
        mean_weight = np.bincount(pair, weights, n_pairs) / sum_by_group(pair, n_pairs, release.weights)
        first = first_row_of_group(pair, n_pairs)
        stood_for = np.bincount(classes.class_of[first], mean_weight, classes.n_classes)
    return np.maximum(stood_for, classes.people)


@dataclass(frozen=True)
class Fitted:
    """One column of the population, in codes that the released sets know, and those sets."""

    codes: Codes
    n_codes: int
    sets: list[Codes]


@lru_cache(maxsize=2)
def _read_once(path: Path, names: tuple[str, ...], changed: int, size: int) -> Table:
    from sfumato.reading.base import read_arrow

    records = read_arrow(path)
    for name in names:
        if name not in records.column_names:
            hint = suggestion(name, records.column_names) or "; give every quasi-identifier of the release"
            raise DataError(f"the population in {path.name} has no column {name!r}{hint}")
    return Table.from_arrow(records.select(names)) if names else Table({}, np.array([records.num_rows]))


def _read(path: str, names: tuple[str, ...]) -> Table:
    """Read the population, once for all releases of an exploration."""
    place = Path(path).absolute()
    trouble = why_unreadable(place)
    if trouble:
        raise DataError(f"the population {place.name} {trouble}")
    facts = os.stat(place)
    return _read_once(place, names, facts.st_mtime_ns, facts.st_size)


def fitted(name: str, release: Release, column: Column) -> Fitted:
    """Give the population's values the table's codes, and new codes to values that the table lacks."""
    cells = release.cells[name]
    if cells.sets is None:
        raise NotApplicable(f"the released values of {name!r} are not sets of original values")
    kind = release.schema.kind(name)
    read = release.schema.reader(kind)
    values = [_comparable(value, kind, read) for value in column.domain]
    known = {_comparable(value, kind, read): code for code, value in enumerate(cells.domain)}
    places = {value: _place(value, kind) for value in values if value not in known}
    beyond = sorted(places, key=lambda value: (places[value] is None, places[value] or 0))
    known |= {value: len(cells.domain) + place for place, value in enumerate(beyond)}
    codes = np.array([known[value] for value in values], dtype=np.int32)[column.codes]
    sets = _sets_with(cells, [places[value] for value in beyond], kind)
    return Fitted(codes, len(cells.domain) + len(beyond), sets)


def _comparable(value: Value, kind: Kind, read: Callable[[str], Value]) -> Value:
    """Return a value as its kind has it, or as text where it is none of the kind."""
    if value is None or (kind.is_number and not isinstance(value, str)):
        return value
    known = read(text(value) or "")
    return text(value) if known is None else known


def _place(value: Value, kind: Kind) -> Place | None:
    """Return where a value stands; a text that the schema reads as no number stands nowhere."""
    return None if kind.is_number and isinstance(value, str) else kind.position(value)


def _sets_with(cells: Cells, beyond: list[Place | None], kind: Kind) -> list[Codes]:
    """Return the codes of each released value, with those of fitting values that the table lacks."""
    assert cells.sets is not None
    own = [cells.sets.members[first:end] for first, end in itertools.pairwise(cells.sets.starts)]
    places = np.array([place for place in beyond if place is not None], dtype=np.float64)
    return [
        np.concatenate([members, len(cells.domain) + _fitting(label, places, len(beyond), kind)])
        for members, label in zip(own, cells.labels, strict=True)
    ]


def _fitting(label: Label, places: Floats, n_beyond: int, kind: Kind) -> Integers:
    """Return the positions of the unknown values in a label; those with a place come first, in order."""
    if label == ROOT:
        return np.arange(n_beyond)
    ends = interval_ends((label or "").removesuffix(OR_MISSING), kind)
    if ends is None:
        return np.arange(0)
    (low, with_low), (high, with_high) = ends
    first = np.searchsorted(places, low, "left" if with_low else "right")
    last = np.searchsorted(places, high, "right" if with_high else "left")
    return np.arange(first, last)


def _counted(fitted: list[Fitted], weights: Integers, boxes: Codes) -> Integers:
    """Merge equal rows of the population, then count those in each box."""
    n_codes = [column.n_codes for column in fitted]
    row, n_rows = number_rows([column.codes for column in fitted], n_codes, len(weights))
    first = first_row_of_group(row, n_rows)
    sets = [members for column in fitted for members in column.sets]
    return count_in_boxes(
        np.stack([column.codes[first] for column in fitted]).astype(np.int32),
        sum_by_group(row, n_rows, weights),
        boxes,
        np.cumsum([0, *(len(column.sets) for column in fitted)]),
        np.cumsum([0, *map(len, sets)]),
        np.concatenate(sets).astype(np.int32),
        max(n_codes),
    )
