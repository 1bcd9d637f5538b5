"""Hold the candidates of a store as columns of numbers, and read only new rows when the store grows."""

from __future__ import annotations

import math
import operator
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.registry.declarations import Axis, Better
from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.measure_label import MeasureLabel
from sfumato.results.measurement import by_attribute, worst_value
from sfumato.results.pareto import Columns
from sfumato.results.policy import NO_LIMITS, Policy
from sfumato.runtime.arrays import Booleans, Floats, Integers
from sfumato.workflow.report.charts.plane import Family, families, family
from sfumato.workflow.store.store import Mark, Store


@dataclass(frozen=True)
class MeasureColumn:
    """One measure over all candidates."""

    label: MeasureLabel
    axis: Axis
    better: Better

    @property
    def title(self) -> str:
        """The measure's name in running text."""
        return formatting.measure_words(self.label).title


@dataclass(frozen=True)
class CandidateMatrix:
    """The candidates that could be made, one row each, and those that could not.

    Parameters
    ----------
    candidates
        The candidates that could be made.
    infeasible
        Those that could not.
    columns
        What was measured, in the order of the project.
    rows
        For each candidate the values by label: the worst over the sensitive attributes, then each of them
        where there are several.
    recipes
        For each candidate its name, by its recipe.
    changed_rows
        The stored figures that were changed outside of sfumato; they are left out.
    broken
        For each candidate against the policy its id, and the limits that it misses. None is efficient.
    """

    candidates: tuple[Candidate, ...]
    infeasible: tuple[Candidate, ...]
    columns: tuple[MeasureColumn, ...]
    rows: tuple[Mapping[str, float], ...]
    recipes: tuple[str, ...]
    changed_rows: str = ""
    broken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def labels(self) -> tuple[MeasureLabel, ...]:
        """The labels of the columns."""
        return tuple(column.label for column in self.columns)

    def values(self, label: str) -> Floats:
        """Return one column; NaN where the measure does not apply."""
        return np.array([row.get(label, math.nan) for row in self.rows], dtype=np.float64)

    @cached_property
    def _core(self) -> Columns:
        return Columns(
            {label: self.values(label) for label in self.labels},
            {column.label: column.better for column in self.columns},
            [candidate.id for candidate in self.candidates],
        )

    @cached_property
    def _rivals(self) -> Columns:
        """The candidates that keep the policy; the others have no value, so they beat nobody."""
        is_against = np.array([candidate.id in self.broken for candidate in self.candidates], dtype=np.bool_)
        values = {label: np.where(is_against, np.nan, own) for label, own in self._core.values.items()}
        return replace(self._core, values=values)

    def _with_axes(self, core: Columns, axes: Iterable[str]) -> tuple[Columns, tuple[str, ...]]:
        """Return columns including these axes; a measure never taken applies to no candidate."""
        wanted = tuple(axes)
        nobody = {axis: self.values(axis) for axis in wanted if axis not in core.values}
        return replace(core, values={**core.values, **nobody}) if nobody else core, wanted

    def points(self, axes: Iterable[str]) -> Floats:
        """Return the rows on some axes, negated where needed so that lower is better."""
        core, wanted = self._with_axes(self._core, axes)
        return core.points(wanted)

    def comparable(self, axes: Iterable[str]) -> Booleans:
        """Return which candidates have a value on every axis."""
        core, wanted = self._with_axes(self._core, axes)
        return core.comparable(wanted)

    def efficient(self, axes: Iterable[str]) -> Booleans:
        """Return which candidates keep the policy and are not dominated."""
        rivals, wanted = self._with_axes(self._rivals, axes)
        return rivals.efficient(wanted)

    def front(self, axes: Iterable[str]) -> Integers:
        """Return the rows of the efficient candidates, the best on the first axis first."""
        rivals, wanted = self._with_axes(self._rivals, axes)
        return rivals.front(wanted)

    def dominating(self, row: int, axes: Iterable[str]) -> Integers:
        """Return the rows of the candidates that keep the policy and dominate one."""
        core, wanted = self._with_axes(self._core, axes)
        is_rival = np.array([candidate.id not in self.broken for candidate in self.candidates])
        dominating = core.dominating(row, wanted)
        return dominating[is_rival[dominating]]

    def knee(self, axes: Iterable[str]) -> Candidate | None:
        """Return the efficient candidate farthest from the line between the two ends."""
        rivals, wanted = self._with_axes(self._rivals, axes)
        row = rivals.knee(wanted)
        return None if row is None else self.candidates[row]

    @cached_property
    def families(self) -> dict[str, Family]:
        """Each method with its colour and shape, as in the report's charts."""
        return families(self.candidates)

    @cached_property
    def family_names(self) -> tuple[str, ...]:
        """The family of each candidate."""
        return tuple(family(candidate) for candidate in self.candidates)

    def find(self, identity: str) -> Candidate | None:
        """Return a candidate by its id, or by that of another recipe for the same release."""
        every = (*self.candidates, *self.infeasible)
        return next((c for c in every if any(way.id == identity for way in c.ways)), None)


_Key = tuple[Path, int, str]
"""A store's file, which of the files that lay there in turn, and the source."""


def _key(store: Path, source: str) -> _Key:
    return store, store.stat().st_ino if store.exists() else 0, source


@dataclass
class _StoreColumns:
    """What was read of one store."""

    mark: Mark | None = None
    candidates: dict[str, Candidate] = field(default_factory=dict)
    rows: dict[str, dict[str, float]] = field(default_factory=dict)
    recipes: dict[str, str] = field(default_factory=dict)
    columns: dict[str, MeasureColumn] = field(default_factory=dict)
    broken: dict[str, tuple[str, ...]] = field(default_factory=dict)
    policy: Policy = NO_LIMITS
    original: Candidate | None = None
    changed_rows: str = ""
    sheet: CandidateMatrix | None = None


class CandidateMatrices:
    """The sheets of all projects that were viewed."""

    def __init__(self) -> None:
        self._known: dict[_Key, _StoreColumns] = {}
        self._lock = threading.Lock()

    def of(self, store: Path, source: str, first: Iterable[str] = ()) -> tuple[CandidateMatrix, str]:
        """Return the current sheet of a store, and a stamp that changes with it.

        Parameters
        ----------
        store
            The store's file, which need not exist.
        source
            What tells the candidates of this data and schema from others.
        first
            The labels to put first, in this order.
        """
        with self._lock:
            key = _key(store, source)
            known = self._known.setdefault(key, _StoreColumns())
            if store.exists():
                known = self._up_to_date(key, known)
            if known.sheet is None:
                known.sheet = _sheet(known)
            place = {label: i for i, label in enumerate(first)}
            columns = tuple(
                sorted(
                    known.sheet.columns, key=lambda c: (c.axis == "utility", place.get(c.label, len(place)))
                )
            )
            # an equal sheet keeps its identity, and with it what was computed of it
            sheet = known.sheet if columns == known.sheet.columns else replace(known.sheet, columns=columns)
            return sheet, "0" if known.mark is None else "-".join(map(str, known.mark))

    def broken(
        self, store: Path, source: str, sheet: CandidateMatrix, policy: Policy
    ) -> dict[str, tuple[str, ...]]:
        """Describe what each candidate against the policy breaks.

        One is judged anew only if the policy or the original changed.
        """
        original = next((candidate for candidate in sheet.candidates if candidate.is_original), None)
        with self._lock:
            known = self._known.setdefault(_key(store, source), _StoreColumns())
            if (known.policy, known.original) != (policy, original):
                known.policy, known.original, known.broken = policy, original, {}
            for candidate in sheet.candidates:
                if candidate.id not in known.broken:
                    known.broken[candidate.id] = policy.broken(candidate, original)
            return {name: words for name, words in known.broken.items() if words}

    def _up_to_date(self, key: _Key, known: _StoreColumns) -> _StoreColumns:
        store, _, source = key
        with Store(store, create=False) as opened:
            mark = opened.mark()
            if mark == known.mark:
                return known
            # a shorter store is another one; in a longer one, changed figures may be measured again
            is_shorter = known.mark is not None and any(map(operator.gt, known.mark, mark))
            if is_shorter or known.changed_rows:
                known = self._known[key] = _StoreColumns()
            for candidate in opened.candidates(source, since=known.mark):
                _append(known, candidate)
            known.mark, known.changed_rows, known.sheet = mark, opened.changed_rows, None
        return known


def _append(known: _StoreColumns, candidate: Candidate) -> None:
    known.candidates[candidate.id] = candidate
    known.broken.pop(candidate.id, None)
    by_label: dict[MeasureLabel, list[Any]] = {}
    for m in candidate.measurements:
        by_label.setdefault(m.label, []).append(m)
    for label, measurements in by_label.items():
        known.columns.setdefault(label, MeasureColumn(label, measurements[0].axis, measurements[0].better))
    values = {label: worst_value(measurements, label) for label, measurements in by_label.items()}
    for m in by_attribute(candidate.measurements):
        known.columns.setdefault(m.attribute_label, MeasureColumn(m.attribute_label, m.axis, m.better))
        values[m.attribute_label] = m.value
    known.recipes[candidate.id] = formatting.recipe_name(candidate.recipe)
    known.rows[candidate.id] = {label: value for label, value in values.items() if value is not None}


def _sheet(known: _StoreColumns) -> CandidateMatrix:
    feasible = tuple(c for c in known.candidates.values() if c.infeasible is None)
    return CandidateMatrix(
        feasible,
        tuple(c for c in known.candidates.values() if c.infeasible is not None),
        tuple(known.columns.values()),
        tuple(known.rows[c.id] for c in feasible),
        tuple(known.recipes[c.id] for c in feasible),
        known.changed_rows,
    )
