"""Group the pieces of each attribute into regions that a query treats alike, and evaluate its condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sfumato.data.hierarchy import Label
from sfumato.runtime.arrays import Booleans, Floats, Integers
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.runtime.numerals import number
from sfumato.workflow.choose.tokens import Misread
from sfumato.workflow.query.domain_pieces import UNNAMED, Pieces, cut
from sfumato.workflow.query.published_labels import PublishedLabels
from sfumato.workflow.query.query_language import CellTest, Condition, Joined, Not, Query

_MOST_CELLS = 1_000_000
"""A query with more combinations of regions than this is refused."""
TOO_MANY_VALUES = "the query distinguishes too many values at once; ask with fewer attributes"


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
        The name of each region, if the answer has a figure per value of this attribute.
    is_summed
        Whether the query sums or averages its numbers.
    is_split
        Whether some label is a set of values and the pieces are single values, so that a fit can weigh them.
    """

    name: str
    pieces: Pieces = field(repr=False)
    region_of: Integers = field(repr=False)
    values: tuple[Label, ...] | None = None
    is_summed: bool = False
    is_split: bool = False

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

        For a summed attribute also the mean of its numbers and of their squares, times the share.
        """
        shares, pieces = self.pieces.shares, self.pieces
        parts = [shares, shares * pieces.means, shares * pieces.squares] if self.is_summed else [shares]
        return np.stack(parts) @ self.belongs

    @property
    def possible(self) -> Floats:
        """For each label and each region whether the label may be there, as 0 or 1.

        For a summed attribute also the smallest and the largest number there.
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


def check_names(query: Query, labels: Mapping[str, PublishedLabels]) -> None:
    """Refuse names that the release lacks, and sums of attributes without numbers."""
    for name in query.attributes:
        if name not in labels:
            near = suggestion(name, labels) or f"; it has {', '.join(labels)}"
            raise ParameterError(f"the release has no attribute {name!r}{near}")
        if not labels[name].is_informative:
            raise ParameterError(
                f"{name!r} is * in every record, so the release says nothing about it; ask without it"
            )
    if query.of is not None and not labels[query.of].is_numeric:
        raise ParameterError(f"{query.of!r} has no numbers to take the {query.what} of; count it instead")


def regions_of(query: Query, name: str, labels: PublishedLabels) -> Regions:
    """Cut one attribute into the regions of a query.

    Parameters
    ----------
    query
        The query; its names have been checked.
    name, labels
        The attribute.
    """
    tests = [test for test in query.tests if test.attribute == name]
    in_answer = name in query.by
    if in_answer and not labels.is_separable:
        raise ParameterError(
            f"{name!r} has too many different numbers for one figure each; "
            f"ask with ranges, such as {name} in [0, 100)"
        )
    for test in tests:
        _check_test(test, labels)
    values = [value for test in tests for value in test.values]
    ends = [end for test in tests if test.span is not None for end in (test.span.low, test.span.high)]
    cuts = [float(end) for end in (*map(number, values), *ends) if end is not None]
    is_split = labels.is_separable and not labels.is_exact
    extra_values = () if labels.is_numeric else values
    pieces = cut(labels, cuts, one_by_one=is_split or in_answer, extra_values=extra_values)
    marks: list[Integers] = [_pieces_that_pass(test, pieces).astype(np.int64) for test in tests]
    if name == query.of:
        marks.append(_is_missing(pieces).astype(np.int64))
    if in_answer:
        marks.append(np.arange(len(pieces.names)))
    _, first, region_of = np.unique(np.stack(marks), axis=1, return_index=True, return_inverse=True)
    # a missing value that no label names affects the bounds but has no row of its own
    names = [UNNAMED if name is None and not labels.has_missing else name for name in pieces.names]
    shown = tuple(names[piece] for piece in first) if in_answer else None
    return Regions(name, pieces, region_of.ravel(), shown, name == query.of, is_split)


def truth(query: Query, regions: Sequence[Regions]) -> Booleans:
    """Return whether a query counts each combination of regions, one axis for each attribute."""
    shape = [region.n_regions for region in regions]
    if np.prod(np.array(shape, dtype=np.float64)) > _MOST_CELLS:
        raise ParameterError(TOO_MANY_VALUES)
    axis = {region.name: place for place, region in enumerate(regions)}

    def along(name: str, of_region: Booleans) -> Booleans:
        return of_region.reshape([-1 if place == axis[name] else 1 for place in range(len(shape))])

    def holds(condition: Condition) -> Booleans:
        match condition:
            case CellTest():
                region = regions[axis[condition.attribute]]
                return along(region.name, _pieces_that_pass(condition, region.pieces)[region.first_piece])
            case Not(part):
                return ~holds(part)
            case Joined("and", parts):
                return np.logical_and.reduce(np.broadcast_arrays(*map(holds, parts)))
            case Joined(_, parts):
                return np.logical_or.reduce(np.broadcast_arrays(*map(holds, parts)))

    counts = np.ones(shape, dtype=np.bool_)
    if query.where is not None:
        counts &= holds(query.where)
    if query.of is not None:
        region = regions[axis[query.of]]
        counts &= along(query.of, ~_is_missing(region.pieces)[region.first_piece])
    return counts


def _check_test(test: CellTest, labels: PublishedLabels) -> None:
    if test.sign == "missing":
        return
    name = test.attribute
    if labels.is_numeric:
        wrong = [value for value in test.values if number(value) is None]
        if wrong:
            message = f"{name!r} has numbers, and {wrong[0]!r} is none; write one"
            raise Misread(message, test.start, test.end)
        return
    if test.sign not in ("=", "in"):
        message = f"{name!r} has no numbers; ask for it with = or in (…)"
        raise Misread(message, test.start, test.end)
    # a value that only `*` may represent is more likely a typing error
    informative = [meaning for meaning in labels.meanings if meaning.patterns != ("*",)]
    for value in test.values:
        if not any(meaning.may_be(value) for meaning in informative):
            near = suggestion(value, labels.values) or "; write it as the release does"
            message = f"the release names no value {value!r} of {name!r}{near}"
            raise Misread(message, test.start, test.end)


def _is_missing(pieces: Pieces) -> Booleans:
    return np.array([name is None for name in pieces.names])


def _pieces_that_pass(test: CellTest, pieces: Pieces) -> Booleans:
    """Return which pieces pass a test; a missing value passes only ``is missing``."""
    is_missing = _is_missing(pieces)
    if test.sign == "missing":
        return is_missing
    if np.isnan(pieces.inside).all():
        passes = np.array([name not in (None, UNNAMED) and name in test.values for name in pieces.names])
    else:
        with np.errstate(invalid="ignore"):
            passes = _numbers_that_pass(test, pieces.inside)
    return ~passes & ~is_missing if test.is_not else passes


def _numbers_that_pass(test: CellTest, inside: Floats) -> Booleans:
    if test.span is not None:
        low, high = test.span.low, test.span.high
        above = inside >= low if test.span.with_low else inside > low
        return np.asarray(above & (inside <= high if test.span.with_high else inside < high))
    values = [float(number(value) or 0) for value in test.values]
    match test.sign:
        case "<":
            return inside < values[0]
        case "<=":
            return inside <= values[0]
        case ">":
            return inside > values[0]
        case ">=":
            return inside >= values[0]
    return np.isin(inside, values)
