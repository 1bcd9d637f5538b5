"""Parse the labels of one column that another program wrote into released cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sfumato.data.hierarchy import ROOT, Hierarchy, Label
from sfumato.data.kinds import Value
from sfumato.data.schema import Role
from sfumato.data.table import Column, text
from sfumato.results.label_parsing import READ, Readings, Spellings
from sfumato.results.released_column import Cells, ValueSets, exact_cells, level_cells, suppressed_cells
from sfumato.runtime.arrays import Booleans, Codes, Integers, sealed
from sfumato.runtime.errors import DataError


@dataclass(frozen=True, eq=False)
class WrittenColumn:
    """The distinct labels of one attribute, normalized.

    Parameters
    ----------
    name
        The attribute.
    codes, labels
        For each row the position of its label.
    spellings
        What labels may mean.
    withheld
        For each label whether it says nothing: ``*``, or missing where that is no value.
    notes
        What was assumed.
    """

    name: str
    codes: Codes = field(repr=False)
    labels: tuple[Label, ...] = field(repr=False)
    spellings: Spellings = field(repr=False)
    withheld: Booleans = field(repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        name: str,
        column: Column,
        weights: Integers,
        spellings: Spellings,
        original_weights: Integers | None,
    ) -> WrittenColumn:
        """Normalize the labels, and decide what a missing cell means.

        It is the missing value where the original has as many of them (or any, where its weights are not
        given), else a suppressed cell: then some of them are, and a reader cannot tell which.
        """
        codes, labels = _merged(column.codes, [spellings.plain(text(value)) for value in column.domain])
        notes = _spelling_notes(name, [text(value) for value in column.domain], spellings)
        n_missing = _n_missing(codes, labels, weights)
        n_original = (
            n_missing
            if original_weights is None
            else _n_missing(spellings.column.codes, spellings.column.domain, original_weights)
        )
        if n_missing <= n_original:
            withheld = np.array([label == ROOT for label in labels])
            return cls(name, codes, labels, spellings, withheld, notes)
        if _numbers(labels, spellings) is None:
            codes, labels = _merged(codes, [ROOT if label is None else label for label in labels])
        note = (
            f"Missing cells of {name!r} count as suppressed: {n_missing:,}; the original has {n_original:,}."
        )
        withheld = np.array([label in (None, ROOT) for label in labels])
        return cls(name, codes, labels, spellings, withheld, (*notes, note))

    def taken(self, rows: Integers) -> WrittenColumn:
        """Return the column restricted to these rows, with the labels that they have."""
        used, codes = np.unique(self.codes[rows], return_inverse=True)
        labels = tuple(self.labels[code] for code in used)
        return replace(self, codes=codes.astype(np.int32), labels=labels, withheld=self.withheld[used])

    def cells(self, weights: Integers, role: Role) -> tuple[Cells, list[str]]:
        """Return the cells, and notes on them."""
        numbers = _numbers(self.labels, self.spellings)
        if numbers is not None:
            return self._perturbed(numbers, weights)
        readings = self.spellings.read(self.labels)
        unread = np.array([meaning is None for meaning in readings.meanings])
        if unread.any():
            return self._unread(weights[unread[self.codes]].sum(), weights.sum(), role)
        notes = []
        if readings.n_doubtful:
            notes.append(
                f"{readings.n_doubtful:,} values of {self.name!r} are called like another node of its "
                "hierarchy; they are read on one level if all values stand there, else as all of these nodes."
            )
        return self._sets(readings, role), notes

    def _sets(self, readings: Readings, role: Role) -> Cells:
        column, hierarchy = self.spellings.column, self.spellings.hierarchy
        meanings = [meaning for meaning in readings.meanings if meaning is not None]
        one_of = np.array([meaning.codes[0] for meaning in meanings], dtype=np.int32)[self.codes]
        representatives, rows = Column(one_of, column.domain, column.kind), np.arange(len(one_of))
        if readings.level is not None and ROOT not in self.labels:
            if readings.level == 0:
                return exact_cells(representatives, rows)
            return level_cells(representatives, hierarchy, readings.level, rows)
        if self.labels == (ROOT,):
            return suppressed_cells(representatives, hierarchy, rows)
        cells = Cells(self.codes, self.labels, column.domain, readings.sets(hierarchy.n_leaves))
        return _with_unreleased_values(cells) if role == "sensitive" else cells

    def _perturbed(self, numbers: Sequence[Value], weights: Integers) -> tuple[Cells, list[str]]:
        """Treat numbers that the original lacks as released values that are not sets."""
        known = {value for value in self.spellings.column.domain if value is not None}
        foreign = np.array([value is not None and value not in known for value in numbers])
        n_foreign = int(weights[foreign[self.codes]].sum())
        present: list[int | float] = [v for v in numbers if v is not None and not isinstance(v, str)]
        domain: tuple[Value, ...] = (*sorted({*present}), *([None] if None in numbers else []))
        place = {value: code for code, value in enumerate(domain)}
        codes = np.array([place[value] for value in numbers], dtype=np.int32)[self.codes]
        note = (
            f"Numbers of {self.name!r} that the original does not have: in {n_foreign:,} of "
            f"{weights.sum():,} records. It is read as perturbed (noise, averages), and what its values lose "
            "cannot be told."
        )
        return Cells(codes, tuple(text(value) for value in domain), domain), [note]

    def _unread(self, n_unread: int, n_records: int, role: Role) -> tuple[Cells, list[str]]:
        what = "has values that stand for no original value"
        where = f"in {n_unread:,} of {n_records:,} records"
        if role != "insensitive":
            raise DataError(f"column {self.name!r} {what}, {where}; what can be read: {READ}")
        return Cells(self.codes, self.labels), [f"{self.name!r} {what}, {where}; they are kept as they are."]


def _spelling_notes(name: str, labels: Sequence[Label], spellings: Spellings) -> tuple[str, ...]:
    """Note that numbers are written differently from the original and read as the same ones."""
    n_others = sum(
        label is not None and plain is not None and plain != label and spellings.number(label) is not None
        for label, plain in ((label, spellings.plain(label)) for label in labels)
    )
    if not n_others:
        return ()
    return (
        f"{n_others:,} of {len(labels):,} values of {name!r} are numbers that the original writes otherwise "
        "(1, 1.0 and 01 are one number), and are read as the same.",
    )


def withheld_cells(column: Column, hierarchy: Hierarchy, n_rows: int) -> Cells:
    """Return the cells of an attribute that the release lacks."""
    return suppressed_cells(column, hierarchy, np.zeros(n_rows, dtype=np.int64))


def _merged(codes: Codes, labels: Sequence[Label]) -> tuple[Codes, tuple[Label, ...]]:
    """Give equal labels one code."""
    place: dict[Label, int] = {}
    new_code = np.array([place.setdefault(label, len(place)) for label in labels], dtype=np.int32)
    return sealed(new_code[codes]), tuple(place)


def _n_missing(codes: Codes, values: Sequence[Value], weights: Integers) -> int:
    return int(weights[codes == values.index(None)].sum()) if None in values else 0


def _numbers(labels: Sequence[Label], spellings: Spellings) -> list[Value] | None:
    """Return the number behind each label, if all are numbers and the original lacks some."""
    if not spellings.column.kind.is_number:
        return None
    numbers: list[Value] = [None if label is None else spellings.number(label) for label in labels]
    if any(value is None and label is not None for value, label in zip(numbers, labels, strict=True)):
        return None
    known = {value for value in spellings.column.domain if value is not None}
    return numbers if any(value is not None and value not in known for value in numbers) else None


def _with_unreleased_values(cells: Cells) -> Cells:
    """Add the original values that no released one represents, so that all shares add up to 1."""
    sets = cells.sets
    assert sets is not None
    rest = np.setdiff1d(np.arange(len(cells.domain)), sets.members)
    if not len(rest):
        return cells
    starts = np.append(sets.starts, sets.starts[-1] + np.arange(1, len(rest) + 1))
    sizes = np.append(sets.sizes, np.ones(len(rest), dtype=np.int64))
    members = np.append(sets.members, rest.astype(np.int32))
    labels = (*cells.labels, *(text(cells.domain[code]) for code in rest))
    return Cells(cells.codes, labels, cells.domain, ValueSets(starts, members, sizes, sets.n_leaves))
