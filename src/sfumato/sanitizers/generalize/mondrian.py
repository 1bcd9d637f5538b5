"""Mondrian: split the records recursively as long as every part satisfies the model.

The result is a partition of the records into parts in which the model holds. A part is cut in one attribute,
at a median or where the cut is most informative about a target, and the cut stands if the model holds on both
sides. A part is done when the model refuses the cuts of all attributes, or it has too few records for two.

It is right by construction: it starts from the whole table, in which the model must hold, and only ever
replaces a part by two in which it holds. Parts whose cells read alike are one class for a reader; where that
breaks a model that is not monotone, classes are merged.

The parts of a level of the recursion are cut together, so the model is evaluated once per level and attribute
tried, on all sides at once. A level costs one pass over the records (`kernels.median_splits`), and there are
about log2(records / k) of them. For the papers, see `Mondrian`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts, count_classes
from sfumato.data.schema import Schema
from sfumato.data.table import Column, People, Table
from sfumato.kernels.median_splits import (
    balanced_cuts,
    informative_cuts,
    move_records,
    records_by_side,
    widest_columns,
)
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.registry.declarations import AttributeName, Finer
from sfumato.registry.methods import register
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers, sealed
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.sanitizers.base import check_feasible, merge_records, watched_attributes, whole_table
from sfumato.sanitizers.generalize.from_clusters import (
    PointSpace,
    merged_where_failing,
    released_clusters,
    tightened,
)
from sfumato.sanitizers.generalize.interval_bounds import Borders, bordered_cells

Variant = Literal["strict", "relaxed"]

# Models of identity look at sizes alone: nobody needs to be told which class they are in.
_NO_ROWS = np.empty(0, dtype=np.int64)


@register
@dataclass(frozen=True)
class Mondrian:
    """Split the records at medians recursively, as long as both parts satisfy the model.

    The widest attribute (as a share of its domain) is cut first, or the next one if that is not allowed.
    Numbers, and categories without a hierarchy, are cut anywhere in their order; categories with a hierarchy
    are cut only between siblings, the topmost branches first.

    Parameters
    ----------
    model
        What must hold in every part.
    variant
        ``strict`` keeps equal values together; ``relaxed`` divides the records at a median between both
        sides, so that both have the same size (not for attributes with a hierarchy of several levels).
    target
        An attribute that researchers will want to predict. If given, cuts are placed where they are most
        informative about this attribute instead of at medians (the workload-aware variant).
    free
        Categorical attributes with a hierarchy that may be cut anywhere in their order.
    borders
        Where released intervals and sets end: on a ``grid`` of round values, which does not reveal the
        extreme records of a class, or ``tight`` around these records, so that each end is somebody's value.

    References
    ----------
    K. LeFevre, D. DeWitt, R. Ramakrishnan, "Mondrian multidimensional k-anonymity", 2006, and
    "Workload-aware anonymization", 2006.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> table, schema = datasets.hospital()
    >>> release = sanitize(table, schema, Mondrian(KAnonymity(4)))
    >>> int(release.classes.sizes.min()) >= 4, release.n_suppressed
    (True, 0)
    """

    model: PrivacyModel = KAnonymity(5)
    variant: Variant = "strict"
    target: AttributeName = ""
    free: tuple[AttributeName, ...] = ()
    borders: Borders = "grid"

    # the values of a part are released as a set, also where they fill no node of the hierarchy
    cells: ClassVar[Literal["sets"]] = "sets"
    finer: ClassVar[Finer] = "cuts"
    does: ClassVar[str] = (
        "The records are split again and again at medians of their quasi-identifiers, as long as "
        "both parts keep what was asked; each part is then generalised to what its records have in common."
    )

    def __post_init__(self) -> None:
        if self.target and self.variant == "relaxed":
            raise ParameterError("a target goes with the strict variant only; leave one of them out")

    @property
    def ignores_sensitive(self) -> bool:
        """Whether sensitive values matter only to the model: the relaxed variant shuffles rows."""
        return self.variant == "strict" and not self.target

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release every quasi-identifier as a cover of its part's values."""
        parts = partition(table, schema, self.model, self.variant, rng, target=self.target, free=self.free)
        low, high = parts.low, parts.high
        cells = {
            name: bordered_cells(
                table[name],
                schema.hierarchy(name),
                low[:, i],
                high[:, i],
                self.borders,
                free=name in self.free,
            ).take(parts.part_of)
            for i, name in enumerate(schema.quasi_identifiers)
        }
        release = released(table, schema, cells, parts.rows, parts.weights)
        if self.model.satisfied(release.classes).all():
            return release
        # parts that are released alike are one class, in which a model that is not monotone may fail
        space = PointSpace.of(table, schema, self.model, sets=True, borders=self.borders)
        clusters = tightened(space, parts.part_of, parts.rows, parts.weights)
        return released_clusters(space, schema, merged_where_failing(space, clusters, self.model))


@dataclass(frozen=True)
class Parts:
    """A partition of the records.

    Parameters
    ----------
    rows, weights
        The rows of the table and the number of records of each; a row may be in several parts.
    part_of
        The part of each of these rows.
    low, high
        The range of each part in each quasi-identifier.
    """

    rows: Integers
    weights: Integers
    part_of: Integers
    low: Codes
    high: Codes


def partition(
    table: Table,
    schema: Schema,
    model: PrivacyModel,
    variant: Variant,
    rng: np.random.Generator,
    *,
    target: str = "",
    free: tuple[str, ...] = (),
) -> Parts:
    """Split the records of a bound table as long as both parts satisfy the model."""
    schema.require("quasi-identifying", "mondrian")
    if target and target not in table.columns:
        raise ParameterError(f"target: no attribute {target!r} in the table")
    for name in free:
        if name not in schema.quasi_identifiers:
            hint = suggestion(name, schema.quasi_identifiers)
            hint = hint or f"; they are {', '.join(schema.quasi_identifiers)}"
            raise ParameterError(f"free: no quasi-identifier {name!r}{hint}")
    check_feasible(table, schema, model)
    relaxed = variant == "relaxed"
    rows: Integers = sealed(np.arange(table.n_rows))
    if relaxed:
        # one row number for each record, in random order, so that ties are broken at random
        rows = rng.permutation(np.repeat(rows, table.weights))
    weights = np.ones(len(rows), dtype=np.int64) if relaxed else table.weights
    space = _Space.of(table, schema, model, rows, relaxed, target, free)
    part_of, low, high = _split(space, weights, model)
    if relaxed:
        part_of, rows, weights = merge_records(part_of, rows, weights)
    return Parts(rows, weights, part_of, low, high)


def refused_cuts(table: Table, schema: Schema, model: PrivacyModel) -> tuple[Parts, dict[str, Integers]]:
    """Return the strict partition of a bound table, and for each quasi-identifier its parts cut once more.

    In every part that is large enough, the model refused one cut of each quasi-identifier in which its
    records differ. That cut follows from the quasi-identifiers alone, so anyone who knows them knows it.

    Parameters
    ----------
    table, schema
        The original.
    model
        The model that both sides of a cut must keep.
    """
    parts = partition(table, schema, model, "strict", np.random.default_rng(0))
    space = _Space.of(table, schema, model, parts.rows, False, "", ())
    order = np.argsort(parts.part_of, kind="stable")
    ends = np.cumsum(np.bincount(parts.part_of))
    starts = np.concatenate([[0], ends[:-1]])
    sizes = np.add.reduceat(parts.weights[order], starts)
    cut_parts = {}
    for column, name in enumerate(schema.quasi_identifiers):
        tried = np.flatnonzero(
            (parts.low[:, column] < parts.high[:, column]) & (sizes >= 2 * model.smallest_class)
        )
        where = (space.records[order], parts.weights[order], starts[tried], ends[tried])
        columns = np.full(len(tried), column)
        within = (parts.low[tried], parts.high[tried])
        cuts = np.full(len(starts), -1, dtype=np.int64)
        cuts[tried] = balanced_cuts(*where, columns, *within, space.joins, space.plain, space.shared)[0]
        is_right = space.records[:, column] >= cuts[parts.part_of]
        cut_parts[name] = np.where(cuts[parts.part_of] < 0, 0, is_right) + 2 * parts.part_of
    return parts, cut_parts


@dataclass(frozen=True)
class _Space:
    """The records as points, and the allowed cuts.

    Parameters
    ----------
    records
        One row of codes for each record: quasi-identifiers, sensitive attributes to watch, target.
    last
        The last code of each quasi-identifier.
    importance
        The weight of each quasi-identifier.
    joins, plain, shared
        The depth of the boundary before each code, whether all are equally deep, and whether records at
        a median are shared out.
    watched
        The sensitive attributes that the model looks at.
    n_targets
        The number of values of the target; 0 without one.
    people
        The person of each record, if someone has several.
    """

    records: Codes
    last: Codes
    importance: Floats
    joins: Codes
    plain: Booleans
    shared: Booleans
    watched: Mapping[str, SensitiveCounts]
    n_targets: int
    people: People | None

    @classmethod
    def of(
        cls,
        table: Table,
        schema: Schema,
        model: PrivacyModel,
        rows: Integers,
        relaxed: bool,
        target: str,
        free: tuple[str, ...],
    ) -> _Space:
        names, watched = schema.quasi_identifiers, watched_attributes(schema, model)
        cardinalities = [len(table[name].domain) for name in names]
        joins = np.ones((len(names), max(cardinalities)), dtype=np.int32)
        for column, name in enumerate(names):
            if not table[name].kind.is_ordered and name not in free:
                joins[column, : cardinalities[column]] = schema.hierarchy(name).joins
        plain = np.array([joins[i, 1:n].max(initial=1) == 1 for i, n in enumerate(cardinalities)])
        wanted = (*names, *watched, *([target] if target else []))
        return cls(
            records=_records([table[name] for name in wanted], rows),
            last=np.array(cardinalities, dtype=np.int32) - 1,
            importance=np.array([schema[name].weight for name in names]),
            joins=joins,
            plain=plain,
            shared=plain & relaxed,
            watched=whole_table(table, schema, watched).sensitive,
            n_targets=len(table[target].domain) if target else 0,
            people=table.people(rows),
        )


def _records(columns: list[Column], rows: Integers) -> Codes:
    """Return one row of codes for each record, in as few bytes as the domains allow.

    Rows are padded to whole words of eight bytes, so that they can be moved word by word.
    """
    largest = max(len(column.domain) for column in columns)
    kind = np.dtype(np.uint8 if largest <= 256 else np.uint16 if largest <= 65_536 else np.int32)
    in_word = 8 // kind.itemsize
    records = np.zeros((len(rows), -(-len(columns) // in_word) * in_word), dtype=kind)
    for position, column in enumerate(columns):
        records[:, position] = column.codes[rows]
    return records


@dataclass(frozen=True)
class _Open:
    """Parts that may still be split: offsets, sizes, ranges, and how many cuts were tried."""

    starts: Integers
    ends: Integers
    sizes: Integers
    low: Codes
    high: Codes
    tries: Integers

    def take(self, chosen: Booleans) -> _Open:
        places = np.flatnonzero(chosen)  # ranges are taken much faster so than by what is chosen
        return _Open(*(getattr(self, name).take(places, axis=0) for name in self.__dataclass_fields__))

    def tried(self) -> _Open:
        return replace(self, tries=self.tries + 1)

    def __add__(self, other: _Open) -> _Open:
        pairs = [(getattr(self, name), getattr(other, name)) for name in self.__dataclass_fields__]
        return _Open(*(np.concatenate(pair) for pair in pairs))


@dataclass(frozen=True)
class _Cuts:
    """One cut for each open part."""

    column_of: Integers
    cuts: Codes
    quotas: Integers
    sizes: Integers


def _split(space: _Space, weights: Integers, model: PrivacyModel) -> tuple[Integers, Codes, Codes]:
    """Split breadth-first: in every round each open part tries one cut, and one model call judges all.

    The records of the space are moved.
    """
    records, weights = space.records, weights.astype(_narrowest(int(weights.sum())))
    words = records.view(np.uint64)
    order: Integers = np.arange(len(weights), dtype=_narrowest(len(weights)))
    # the codes that occur, not the whole domain: lowest levels merge values, and one code cannot be cut
    points = records[:, : len(space.last)]
    low, high = (end(axis=0, keepdims=True).astype(np.int32) for end in (points.min, points.max))
    everybody = np.array([weights.sum()], dtype=np.int64)
    parts = _Open(np.array([0]), np.array([len(weights)]), everybody, low, high, np.zeros(1, dtype=np.int64))
    done: list[_Open] = []
    while len(parts.starts):
        large = parts.sizes >= 2 * model.smallest_class
        done.append(parts.take(~large))
        parts = parts.take(large)
        cuts, ended = _next_cuts(space, records, weights, parts)
        done.append(parts.take(ended))
        parts = parts.take(~ended)
        where = (parts.starts, parts.ends, cuts.column_of, cuts.cuts, cuts.quotas)
        good = model.satisfied(_children(space, records, weights, order, where, cuts.sizes))
        allowed = good[0::2] & good[1::2]
        middles, side_low, side_high = move_records(
            records, words, weights, order, *where, allowed, parts.low, parts.high
        )
        both = np.flatnonzero(np.repeat(allowed, 2))
        halves = _Open(
            np.stack([parts.starts, middles], axis=1)[allowed].ravel(),
            np.stack([middles, parts.ends], axis=1)[allowed].ravel(),
            cuts.sizes[both],
            side_low.take(both, axis=0),
            side_high.take(both, axis=0),
            np.zeros(2 * int(allowed.sum()), dtype=np.int64),
        )
        parts = parts.take(~allowed).tried() + halves
    return _collected(done, order)


def _next_cuts(space: _Space, records: Codes, weights: Integers, parts: _Open) -> tuple[_Cuts, Booleans]:
    """Return the next cut of every part that still has one, and which parts have none."""
    if not space.n_targets:
        column_of, ended = widest_columns(parts.low, parts.high, space.last, space.importance, parts.tries)
        column_of, parts = column_of[~ended], parts.take(~ended)
        where = (records, weights, parts.starts, parts.ends, column_of, parts.low, parts.high)
        return _Cuts(column_of, *balanced_cuts(*where, space.joins, space.plain, space.shared)), ended
    target = len(space.last) + len(space.watched)
    stretches = (records, weights, parts.starts, parts.ends, parts.low, parts.high)
    column_of, cuts, sizes, ended = informative_cuts(
        *stretches, space.joins, target, space.n_targets, parts.tries
    )
    has_cut = ~ended
    quotas = np.zeros(np.count_nonzero(has_cut), dtype=np.int64)
    return _Cuts(column_of[has_cut], cuts[has_cut], quotas, sizes[np.repeat(has_cut, 2)]), ended


def _children(
    space: _Space,
    records: Codes,
    weights: Integers,
    order: Integers,
    where: tuple[Integers, Integers, Integers, Codes, Integers],
    sizes: Integers,
) -> EquivalenceClasses:
    """Return both sides of every cut as classes, with sensitive counts if the model looks at them."""
    if not space.watched and space.people is None:
        return EquivalenceClasses(_NO_ROWS, sizes, {})
    places, child_of = records_by_side(records, weights, *where)
    sensitive = {
        name: (records[places, len(space.last) + position].astype(np.int32), everybody.prior)
        for position, (name, everybody) in enumerate(space.watched.items())
    }
    domains = {name: everybody.domain for name, everybody in space.watched.items()}
    people = None if space.people is None else space.people.take(order[places])
    return count_classes(child_of, len(sizes), weights[places].astype(np.int64), sensitive, domains, people)


def _collected(done: list[_Open], order: Integers) -> tuple[Integers, Codes, Codes]:
    """Return the part of each record, and the ranges of the parts."""
    starts, ends, low, high = (
        np.concatenate([getattr(parts, name) for parts in done]) for name in ("starts", "ends", "low", "high")
    )
    by_place = np.argsort(starts)
    part_of = np.empty(len(order), dtype=np.int64)
    part_of[order] = np.repeat(np.arange(len(starts)), (ends - starts)[by_place])
    return part_of, low[by_place], high[by_place]


def _narrowest(largest: int) -> type[np.int32 | np.int64]:
    return np.int32 if largest < 2**31 else np.int64
