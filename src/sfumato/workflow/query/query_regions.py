"""Group the pieces of each attribute into regions that a query treats alike, and evaluate its condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from sfumato.data.hierarchy import Label
from sfumato.runtime.arrays import Booleans, Floats, Integers
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.runtime.numerals import (
    number,
)
from sfumato.workflow.choose.tokens import Misread
from sfumato.workflow.query.domain_pieces import UNNAMED, Pieces, cut
from sfumato.workflow.query.published_labels import Wording
from sfumato.workflow.query.query_language import CellTest, Condition, Joined, Not, Query

_MOST_CELLS = 1_000_000
"""More combinations of regions than this are not looked at."""


@dataclass(frozen=True, eq=False)
class Regions:
    """The regions of one attribute.

    Parameters
    ----------
    name
        The attribute.
    pieces
        Its pieces.
    region_of
        The region of each piece.
    values
        What each region is called, where the answer is told apart by this attribute.
    is_summed
        Whether its numbers are added up.
    is_apart
        Whether there are sets of values whose pieces are the values one by one, so that a fit can tell them
        apart.
    """

    name: str
    pieces: Pieces = field(repr=False)
    region_of: Integers = field(repr=False)
    values: tuple[Label, ...] | None = None
    is_summed: bool = False
    is_apart: bool = False

    @property
    def n_regions(self) -> int:
        """How many regions there are."""
        return int(self.region_of.max()) + 1

    @property
    def belongs(self) -> Floats:
        """For each piece and each region whether the piece belongs to it, as 0 or 1."""
        return np.eye(self.n_regions)[self.region_of]

    @property
    def even(self) -> Floats:
        """For each label and each region its share there, if all values are equally likely.

        Of an attribute that is added up also the mean of its numbers and of their squares, times the share.
        """
        shares, pieces = self.pieces.shares, self.pieces
        parts = [shares, shares * pieces.means, shares * pieces.squares] if self.is_summed else [shares]
        return np.stack(parts) @ self.belongs

    @property
    def possible(self) -> Floats:
        """For each label and each region whether the label may be there, as 0 or 1.

        Of an attribute that is added up also the smallest and the largest number there.
        """
        may_be = (self.pieces.possible.astype(np.float64) @ self.belongs > 0).astype(np.float64)
        if not self.is_summed:
            return may_be[np.newaxis]
        least, most = np.full(may_be.shape, np.inf), np.full(may_be.shape, -np.inf)
        for piece, region in enumerate(self.region_of):
            least[:, region] = np.minimum(least[:, region], self.pieces.least[:, piece])
            most[:, region] = np.maximum(most[:, region], self.pieces.most[:, piece])
        return np.stack([may_be, least, most])

    @property
    def first_piece(self) -> Integers:
        """One piece of each region."""
        return np.unique(self.region_of, return_index=True)[1]


def check_names(query: Query, wordings: Mapping[str, Wording]) -> None:
    """Refuse names that the release lacks, and sums of attributes without numbers."""
    for name in query.attributes:
        if name not in wordings:
            near = suggestion(name, wordings) or f"; it has {', '.join(wordings)}"
            raise ParameterError(f"the release has no attribute {name!r}{near}")
        if not wordings[name].is_told:
            raise ParameterError(
                f"{name!r} is * in every record, so that the release says nothing of it; ask without it"
            )
    if query.of is not None and not wordings[query.of].is_numeric:
        raise ParameterError(f"{query.of!r} has no numbers to take the {query.what} of; count it instead")


def regions_of(query: Query, name: str, wording: Wording) -> Regions:
    """Cut one attribute into the regions of a query.

    Parameters
    ----------
    query
        What is asked; its names have been checked.
    name, wording
        The attribute.
    """
    tests = [test for test in query.tests if test.attribute == name]
    is_told_apart = name in query.by
    if is_told_apart and not wording.can_be_told_apart:
        raise ParameterError(
            f"{name!r} has too many different numbers to tell the answer apart by; "
            f"ask with ranges, such as {name} in [0, 100)"
        )
    also = [value for test in tests for value in test.values if not wording.is_numeric]
    for test in tests:
        _check_test(test, wording)
    apart = wording.can_be_told_apart and not wording.is_exact
    pieces = cut(wording, _cuts(tests), apart=apart or is_told_apart, also=also)
    marks: list[Integers] = [_pieces_that_pass(test, pieces).astype(np.int64) for test in tests]
    if name == query.of:
        marks.append(_is_missing(pieces).astype(np.int64))
    if is_told_apart:
        marks.append(np.arange(len(pieces.names)))
    _, first, region_of = np.unique(np.stack(marks), axis=1, return_index=True, return_inverse=True)
    # a missing value that no label names is shown only in what is possible
    names = [UNNAMED if name is None and not wording.has_missing else name for name in pieces.names]
    values = tuple(names[piece] for piece in first) if is_told_apart else None
    return Regions(name, pieces, region_of.ravel(), values, name == query.of, apart)


def truth(query: Query, regions: Sequence[Regions]) -> Booleans:
    """Return whether a query counts each combination of regions, one axis for each attribute."""
    shape = [each.n_regions for each in regions]
    if np.prod(np.array(shape, dtype=np.float64)) > _MOST_CELLS:
        raise ParameterError("the query tells too many values apart at once; ask with fewer attributes")
    axis = {each.name: place for place, each in enumerate(regions)}

    def along(name: str, of_region: Booleans) -> Booleans:
        return of_region.reshape([-1 if place == axis[name] else 1 for place in range(len(shape))])

    def holds(condition: Condition) -> Booleans:
        match condition:
            case CellTest():
                each = regions[axis[condition.attribute]]
                return along(each.name, _pieces_that_pass(condition, each.pieces)[each.first_piece])
            case Not(part):
                return ~holds(part)
            case Joined("and", parts):
                return np.logical_and.reduce(np.broadcast_arrays(*map(holds, parts)))
            case Joined(_, parts):
                return np.logical_or.reduce(np.broadcast_arrays(*map(holds, parts)))

    found = np.ones(shape, dtype=np.bool_)
    if query.where is not None:
        found &= holds(query.where)
    if query.of is not None:
        each = regions[axis[query.of]]
        found &= along(query.of, ~_is_missing(each.pieces)[each.first_piece])
    return found


def _check_test(test: CellTest, wording: Wording) -> None:
    if test.sign == "missing":
        return
    if wording.is_numeric:
        wrong = [value for value in test.values if number(value) is None]
        if wrong:
            _misread(test, f"{test.attribute!r} has numbers, and {wrong[0]!r} is none; write one")
        return
    if test.sign not in ("=", "in"):
        _misread(test, f"{test.attribute!r} has no numbers; ask for it with = or in (…)")
    for value in test.values:
        if not any(meant.may_be(value) for meant in wording.meanings) or _is_only_star(value, wording):
            near = suggestion(value, wording.values) or "; write it as the release does"
            _misread(test, f"the release names no value {value!r} of {test.attribute!r}{near}")


def _is_only_star(value: str, wording: Wording) -> bool:
    """Return whether only ``*`` may represent a value: a typing error is likelier than such a value."""
    telling = [meant for meant in wording.meanings if meant.patterns != ("*",)]
    return not any(meant.may_be(value) for meant in telling)


def _misread(test: CellTest, said: str) -> NoReturn:
    raise Misread(said, test.start, test.end)


def _cuts(tests: Sequence[CellTest]) -> list[float]:
    """Return the numbers at which tests divide an attribute."""
    written = [number(value) for test in tests for value in test.values]
    ends = [end for test in tests if test.span is not None for end in (test.span.low, test.span.high)]
    return [float(value) for value in (*written, *ends) if value is not None]


def _is_missing(pieces: Pieces) -> Booleans:
    return np.array([name is None for name in pieces.names])


def _pieces_that_pass(test: CellTest, pieces: Pieces) -> Booleans:
    """Return which pieces pass a test; a missing value passes only ``is missing``."""
    if test.sign == "missing":
        return _is_missing(pieces)
    found = _is_as_asked(test, pieces)
    return ~found & ~_is_missing(pieces) if test.is_not else found


def _is_as_asked(test: CellTest, pieces: Pieces) -> Booleans:
    if np.isnan(pieces.inside).all():
        return np.array(
            [name is not None and name != UNNAMED and name in test.values for name in pieces.names]
        )
    with np.errstate(invalid="ignore"):
        return _numbers_pass(test, pieces.inside)


def _numbers_pass(test: CellTest, inside: Floats) -> Booleans:
    if test.span is not None:
        low, high = test.span.low, test.span.high
        above = inside >= low if test.span.with_low else inside > low
        return np.asarray(above & (inside <= high if test.span.with_high else inside < high))
    given = [float(number(value) or 0) for value in test.values]
    match test.sign:
        case "<":
            return inside < given[0]
        case "<=":
            return inside <= given[0]
        case ">":
            return inside > given[0]
        case ">=":
            return inside >= given[0]
    return np.isin(inside, given)
