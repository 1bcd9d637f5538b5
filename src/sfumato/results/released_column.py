"""A released column: cells that each stand for a set of original values and carry a label."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sfumato.data.hierarchy import ROOT, Hierarchy, Label, interval_label, range_label, set_label
from sfumato.data.kinds import CATEGORICAL, Kind, Value
from sfumato.data.ordered_ranges import FEWEST, OR_MISSING, TO, by_letters
from sfumato.data.table import Column, as_dictionary, as_text_dictionary, text
from sfumato.kernels.row_groups import first_row_of_group, number_rows
from sfumato.runtime.arrays import Booleans, Codes, Floats, Integers, freeze_fields, frozen, sealed

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class ValueSets:
    """For each released value the original values that it may stand for.

    Parameters
    ----------
    starts, members
        Released value ``i`` stands for the domain codes ``members[starts[i]:starts[i + 1]]``.
    sizes
        How many leaves of the hierarchy each released value covers, those that do not occur included.
    n_leaves
        How many leaves there are.
    """

    starts: Integers
    members: Codes
    sizes: Integers
    n_leaves: int

    def __post_init__(self) -> None:
        freeze_fields(self, starts=np.int64, members=np.int32, sizes=np.int64)

    @property
    def losses(self) -> Floats:
        """For each released value (|set| - 1) / (|domain| - 1); a one-value domain costs nothing."""
        if self.n_leaves <= 1:
            return np.zeros(len(self.sizes))
        return (self.sizes - 1) / (self.n_leaves - 1)

    @property
    def exact(self) -> bool:
        """Whether every released value stands for one original value."""
        return bool((np.diff(self.starts) == 1).all() and (self.sizes == 1).all())

    @property
    def overlap(self) -> bool:
        """Whether two released values may stand for the same original one."""
        return len(np.unique(self.members)) < len(self.members)

    def within(self, n_values: int) -> bool:
        """Return whether all sets are listed, of codes of a domain that has so many values."""
        if self.starts[-1] != len(self.members):
            return False
        return not self.members.size or (int(self.members.min()) >= 0 and int(self.members.max()) < n_values)

    def of(self, code: int) -> Codes:
        """Return what one released value stands for."""
        return self.members[self.starts[code] : self.starts[code + 1]]

    def contain(self, released: Codes, original: Codes) -> Booleans:
        """Return for each pair whether the released value may stand for the original one."""
        member_keys = np.repeat(np.arange(len(self.sizes)), np.diff(self.starts)) * (1 << 32) + self.members
        return np.isin(released.astype(np.int64) * (1 << 32) + original, member_keys)


class RangeSets(ValueSets):
    """Sets of neighbours in the domain: their members are listed when somebody asks for them.

    Ten thousand intervals of eighty thousand numbers have nearly a hundred million members.

    Parameters
    ----------
    first, last
        Released value ``i`` stands for the domain codes from ``first[i]`` to ``last[i]``.
    sizes, n_leaves
        As of all sets.
    """

    first: Codes
    last: Codes

    def __init__(self, first: Integers, last: Integers, sizes: Integers, n_leaves: int) -> None:
        facts = {
            "first": frozen(first, np.int32),
            "last": frozen(last, np.int32),
            "starts": sealed(np.concatenate([[0], np.cumsum(last - first + 1, dtype=np.int64)])),
            "sizes": frozen(sizes, np.int64),
            "n_leaves": n_leaves,
        }
        self.__dict__.update(facts)

    @cached_property
    def members(self) -> Codes:
        """All codes, set after set."""
        members = np.ones(self.starts[-1], dtype=np.int32)
        members[self.starts[:-1]] = self.first - np.concatenate([[0], self.last[:-1]])
        return sealed(np.cumsum(members, dtype=np.int32, out=members))

    @property
    def overlap(self) -> bool:
        """Whether two released values may stand for the same original one."""
        order = np.argsort(self.first)
        return bool((self.first[order][1:] <= self.last[order][:-1]).any())

    def within(self, n_values: int) -> bool:
        """Return whether all sets are listed, of codes of a domain that has so many values."""
        return bool(
            (self.first >= 0).all() and (self.first <= self.last).all() and (self.last < n_values).all()
        )

    def of(self, code: int) -> Codes:
        """Return what one released value stands for."""
        return np.arange(self.first[code], self.last[code] + 1, dtype=np.int32)

    def contain(self, released: Codes, original: Codes) -> Booleans:
        """Return for each pair whether the released value may stand for the original one."""
        return (self.first[released] <= original) & (original <= self.last[released])


@dataclass(frozen=True, eq=False)
class Cells:
    """The released cells of one attribute.

    Parameters
    ----------
    codes
        For each released row the position of its value in ``labels``.
    labels
        The released values as they are printed, each once; ``None`` is a released missing value.
    domain
        The original values that the sets speak of, or the noisy numbers behind the labels; empty when
        the cells were read from a file.
    sets
        What each released value stands for; ``None`` when that is unknown or when a value is not a
        set (a noisy number).
    """

    codes: Codes = field(repr=False)
    labels: tuple[Label, ...] = field(repr=False)
    domain: tuple[Value, ...] = field(default=(), repr=False)
    sets: ValueSets | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        freeze_fields(self, codes=np.int32)

    @cached_property
    def occurring(self) -> Integers:
        """The codes that some row has, in ascending order."""
        return np.flatnonzero(np.bincount(self.codes, minlength=len(self.labels)))

    def take(self, rows: Integers) -> Cells:
        """Return the cells of these rows."""
        return Cells(sealed(self.codes[rows]), self.labels, self.domain, self.sets)

    def only_labels(self) -> Cells:
        """Return the cells as a reader has them: the labels that occur, without the values behind them."""
        present, codes = np.unique(self.codes, return_inverse=True)
        return Cells(codes.ravel().astype(np.int32), tuple(self.labels[code] for code in present))

    def to_arrow(
        self, rows: Integers, *, typed: bool = True, encoded: bool = False, kind: Kind = CATEGORICAL
    ) -> pa.Array:
        """Return the cells of these rows: numbers as numbers where all cells are numbers, else as text.

        An encoded array has every value once.
        """
        # only what is written decides the type: a value that nobody is released with must not show in it
        chosen = self.codes[rows]
        occurs = np.zeros(len(self.labels), dtype=np.bool_)
        occurs[chosen] = True
        codes = chosen if occurs.all() else (np.cumsum(occurs, dtype=np.int32) - np.int32(1))[chosen]
        values = self._values() if typed else ()
        present = np.flatnonzero(occurs).tolist() if values else []
        written = tuple(values[code] for code in present)
        # a node above a single value is written as the node: what was generalized stays so
        if written and all(text(values[code]) == self.labels[code] for code in present):
            encoded_texts = as_dictionary(written, codes, kind)
        else:
            encoded_texts = as_text_dictionary(self._texts.filter(occurs), codes)
        return encoded_texts if encoded else encoded_texts.dictionary.take(encoded_texts.indices)

    @cached_property
    def _texts(self) -> pa.Array:
        """The labels as Arrow has them."""
        import pyarrow as pa

        return pa.array(self.labels, pa.large_string())

    def _values(self) -> tuple[Value, ...]:
        """Return the value behind each label, where every released value is one value."""
        if self.sets is None:
            return self.domain
        return tuple(self.domain[member] for member in self.sets.members) if self.sets.exact else ()


def exact_cells(column: Column, rows: Integers) -> Cells:
    """Release every value as it is."""
    n_values = len(column.domain)
    sets = ValueSets(
        np.arange(n_values + 1),
        np.arange(n_values, dtype=np.int32),
        np.ones(n_values, dtype=np.int64),
        n_values,
    )
    labels = tuple(text(value) for value in column.domain)
    return Cells(sealed(column.codes[rows]), labels, column.domain, sets)


def suppressed_cells(column: Column, hierarchy: Hierarchy, rows: Integers) -> Cells:
    """Release ``*`` for every value."""
    return level_cells(column, hierarchy, hierarchy.height, rows)


def level_cells(column: Column, hierarchy: Hierarchy, level: int, rows: Integers) -> Cells:
    """Release every value as its node on one level of the hierarchy."""
    nodes = hierarchy.node_of[level]
    order = np.argsort(nodes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(nodes))])
    sets = ValueSets(starts, order, hierarchy.sizes[level], hierarchy.n_leaves)
    return merged_cells(nodes[column.codes[rows]], hierarchy.labels[level], column.domain, sets)


def range_cells(
    column: Column, hierarchy: Hierarchy, low: Codes, high: Codes, *, free: bool = False
) -> Cells:
    """Release the smallest cover of each range of domain codes, from ``low`` to ``high``: a cell for each.

    Values in an order are covered by an interval. Categories are covered along the hierarchy: by a value, a
    node, or a set of sibling nodes; free ones by exactly these values.
    """
    pairs, codes = np.unique(low.astype(np.int64) << 32 | high, return_inverse=True)
    covering = _interval_covers if column.kind.is_ordered else _free_covers if free else _branch_covers
    covers, cover_of = covering(column, hierarchy, pairs >> 32, pairs & 0xFFFFFFFF)
    return _covered_cells(cover_of[codes].astype(np.int32), covers, column, hierarchy)


def _covered_cells(codes: Codes, covers: _Covers, column: Column, hierarchy: Hierarchy) -> Cells:
    sets = RangeSets(covers.first, covers.last, covers.sizes, hierarchy.n_leaves)
    return merged_cells(codes, covers.labels, column.domain, sets)


def block_cells(column: Column, hierarchy: Hierarchy, block_of: Integers, rows: Integers) -> Cells:
    """Release every value as its block of neighbours in the ordered domain.

    The first and the last block of numbers are open (``<25``, ``>=80``): they must not tell the smallest and
    the largest value, which may be those of a record that is suppressed.

    Parameters
    ----------
    block_of
        The block of each domain code: 0, 1, 2, … in the order of the domain.
    """
    starts = np.searchsorted(block_of, np.arange(int(block_of[-1]) + 2))
    covers = [
        _block_cover(column, hierarchy, int(first), int(end) - 1, outer_open=True)
        for first, end in itertools.pairwise(starts)
    ]
    codes = block_of.astype(np.int32)[column.codes[rows]]
    return _covered_cells(codes, _Covers.of(covers), column, hierarchy)


def _block_cover(
    column: Column, hierarchy: Hierarchy, low: int, high: int, *, outer_open: bool = False
) -> _Cover:
    """Cover a block by a value, a node, an interval or a set."""
    if column.kind.is_ordered:
        return interval_cover(column, hierarchy, low, high, outer_open=outer_open)
    node = exact_node(hierarchy, low, high)
    if node is not None:
        level, number = node
        return hierarchy.labels[level][number], low, high, int(hierarchy.sizes[level][number])
    covers = _node_covers(hierarchy, np.array([0]), np.array([low]), np.array([high]))
    return covers.labels[0], int(covers.first[0]), int(covers.last[0]), int(covers.sizes[0])


def exact_node(hierarchy: Hierarchy, low: int, high: int) -> tuple[int, int] | None:
    """Return the lowest node (level, number) whose values are exactly the codes ``low`` to ``high``."""
    for level in range(hierarchy.height + 1):
        nodes = hierarchy.node_of[level]
        if nodes[low] == nodes[high] and np.count_nonzero(nodes == nodes[low]) == high - low + 1:
            return level, int(nodes[low])
    return None


_Cover = tuple[Label, int, int, int]
"""Label, first code, last code, number of leaves."""


def interval_cover(
    column: Column, hierarchy: Hierarchy, low: int, high: int, *, outer_open: bool = False
) -> _Cover:
    """Cover neighbours in order by the value itself, an interval, or ``*`` where they are all that there are.

    Parameters
    ----------
    outer_open
        Whether an interval that reaches to the smallest or the largest number has no end there.
    """
    if low == high:
        return text(column.domain[low]), low, high, 1
    if high - low + 1 == len(column.domain):
        return ROOT, low, high, hierarchy.n_leaves
    size = interval_leaves(column, hierarchy, low, high, outer_open=outer_open)
    if column.domain[high] is not None:
        return _interval_label(column, low, high, outer_open), low, high, size
    label = _interval_label(column, low, high - 1, outer_open)
    return _or_missing(hierarchy, label, [label]), low, high, size


def interval_leaves(
    column: Column, hierarchy: Hierarchy, low: int, high: int, *, outer_open: bool = False
) -> int:
    """Return how many leaves the cover of neighbours has, those that do not occur in the data included."""
    if low == high:
        return 1
    if high - low + 1 == len(column.domain):
        return hierarchy.n_leaves
    if column.domain[high] is None:
        return interval_leaves(column, hierarchy, low, high - 1, outer_open=outer_open) + 1
    first, last = hierarchy.leaf_places[low], hierarchy.leaf_places[high]
    if outer_open and low == 0:
        return last + 1
    if outer_open and high == len(column.domain) - 1 - column.has_missing:
        return len(hierarchy.leaf_numbers) - first
    return last - first + 1


def _interval_label(column: Column, low: int, high: int, outer_open: bool) -> str:
    """Print whole numbers half open and other values closed, so that the set is told exactly."""
    first, last = column.domain[low], column.domain[high]
    if low == high or first is None or last is None:
        return text(first) or ""
    if outer_open and low == 0:
        return f"<{text(last + 1)}" if isinstance(last, int) and column.is_whole else f"<={text(last)}"
    if outer_open and high == len(column.domain) - 1 - column.has_missing:
        return f">={text(first)}"
    if isinstance(first, str) or isinstance(last, str):
        return range_label(first, last) or ""
    return interval_label(first, last + column.is_whole, closed=not column.is_whole)


@dataclass(frozen=True)
class _Covers:
    """Some covers: how each is printed, its first and last code, and how many leaves it has."""

    labels: tuple[Label, ...]
    first: Integers
    last: Integers
    sizes: Integers

    @classmethod
    def of(cls, covers: Sequence[_Cover]) -> _Covers:
        labels, first, last, sizes = zip(*covers, strict=True)
        return cls(labels, np.array(first), np.array(last), np.array(sizes))


def _interval_covers(
    column: Column, hierarchy: Hierarchy, low: Integers, high: Integers
) -> tuple[_Covers, Integers]:
    """Cover ranges as `interval_cover` does, every value printed once; and that of each range."""
    places = np.array(hierarchy.leaf_places)
    or_missing = np.array([value is None for value in column.domain])[high]
    sizes = places[high - or_missing] - places[low] + 1 + or_missing
    sizes[high - low + 1 == len(column.domain)] = hierarchy.n_leaves
    sizes[low == high] = 1
    labels = _interval_labels(column, hierarchy, low.tolist(), high.tolist())
    return _Covers(labels, low, high, sizes), np.arange(len(low))


def _interval_labels(
    column: Column, hierarchy: Hierarchy, low: list[int], high: list[int]
) -> tuple[Label, ...]:
    firsts = lasts = [text(value) for value in column.domain]
    before, between, after = ("[", ", ", "]") if column.kind.is_number else ("", TO, "")
    if column.is_whole:
        lasts = [text(value + 1) if isinstance(value, int) else None for value in column.domain]
        after = ")"
    widest = len(firsts) - 1
    return tuple(
        f"{before}{firsts[first]}{between}{lasts[last]}{after}"
        if 0 < last - first < widest and lasts[last] is not None
        else interval_cover(column, hierarchy, first, last)[0]
        for first, last in zip(low, high, strict=True)
    )


def _branch_covers(
    _: Column, hierarchy: Hierarchy, low: Integers, high: Integers
) -> tuple[_Covers, Integers]:
    """Cover by the children of the lowest node above both ends; by the node itself if that takes all.

    Many ranges have the same cover, which is printed once; returned is also that of each range.
    """
    level, first, last = _spanned(hierarchy, low, high)
    widest = max(map(len, hierarchy.labels))
    number, n_covers = number_rows([level, first, last], [hierarchy.height + 1, widest, widest], len(level))
    chosen = first_row_of_group(number, n_covers)
    return _node_covers(hierarchy, level[chosen], first[chosen], last[chosen]), number


def _spanned(hierarchy: Hierarchy, low: Integers, high: Integers) -> tuple[Integers, Integers, Integers]:
    """Return for each range a level and the first and the last of the nodes there that cover it."""
    level = (hierarchy.node_of[:, low] == hierarchy.node_of[:, high]).argmax(axis=0)
    node, below = hierarchy.node_of[level, low], np.maximum(level - 1, 0)
    first, last = hierarchy.node_of[below, low], hierarchy.node_of[below, high]
    starts = _node_starts(hierarchy)
    is_all = (starts[below, first] == starts[level, node]) & (
        starts[below, last + 1] == starts[level, node + 1]
    )
    return np.where(is_all, level, below), np.where(is_all, node, first), np.where(is_all, node, last)


def _node_starts(hierarchy: Hierarchy) -> Integers:
    """Return for each level the first code of each node, and the end; nodes lie one after another."""
    starts = np.full((hierarchy.height + 1, len(hierarchy.values) + 1), len(hierarchy.values))
    for level, nodes in enumerate(hierarchy.node_of):
        starts[level, : len(hierarchy.labels[level])] = np.searchsorted(
            nodes, np.arange(len(hierarchy.labels[level]))
        )
    return starts


def _node_covers(hierarchy: Hierarchy, level: Integers, first: Integers, last: Integers) -> _Covers:
    """Cover by some neighbouring nodes of a level each, or by the one above where they are too many."""
    starts, leaves = _node_starts(hierarchy), [np.cumsum([0, *sizes]) for sizes in hierarchy.sizes]
    covers: list[_Cover] = []
    for ends in zip(level.tolist(), first.tolist(), last.tolist(), strict=True):
        label, on, nodes = named(hierarchy, ends[0], np.arange(ends[1], ends[2] + 1))
        one, end = int(nodes[0]), int(nodes[-1])
        size = 1 if on == 0 and one == end else int(leaves[on][end + 1] - leaves[on][one])
        covers.append((label, int(starts[on, one]), int(starts[on, end + 1]) - 1, size))
    return _Covers.of(covers)


# what a spreadsheet would take for a formula is put in braces
_FORMULA_SIGNS = ("=", "+", "-", "@")


MOST_NAMED = 32
"""So many categories, or ranges of them, a released set names at most: two blocks of 16 on a grid."""


def named(hierarchy: Hierarchy, level: int, nodes: Integers) -> tuple[Label, int, Integers]:
    """Write some nodes of one level: neighbours by their ends where these tell them, missing at the end.

    Where they are too many to name, the lowest node above all of them is written. It stands for more values,
    so that what is released is still true.

    Parameters
    ----------
    hierarchy, level
        Where they are.
    nodes
        Their numbers, ascending.

    Returns
    -------
    label, level, nodes
        What is written, and the nodes that it stands for.
    """
    if len(nodes) == 1:
        return hierarchy.labels[level][nodes[0]], level, nodes
    scale = hierarchy.scales[level]
    parts = _parts(hierarchy, level, nodes) if scale.known or len(nodes) <= MOST_NAMED else []
    if 0 < len(parts) <= MOST_NAMED:
        return _joined(hierarchy, level, nodes, parts), level, nodes
    above = hierarchy.node_of[:, hierarchy.first_values(level)[nodes]]
    lowest = int((above == above[:, :1]).all(axis=1).argmax())
    return hierarchy.labels[lowest][above[lowest, 0]], lowest, above[lowest, :1]


def _parts(hierarchy: Hierarchy, level: int, nodes: Integers) -> list[str]:
    """Write nodes that are not missing one by one, or as ranges."""
    present = nodes[nodes != _missing_node(hierarchy, level)]
    runs = hierarchy.scales[level].runs(present)
    is_plain = len(runs) == 1 and _starts_plain(hierarchy.labels[level][present[0]] or "")
    # in braces a comma would part what belongs together
    odd = '{}"' if is_plain else ',{}"'
    return [part for run in runs for part in _run_parts(hierarchy, level, run, odd)]


def _joined(hierarchy: Hierarchy, level: int, nodes: Integers, parts: list[str]) -> str:
    """Write some nodes of which the parts are known."""
    if not (hierarchy.is_ordered or hierarchy.scales[level].known):
        parts.sort(key=lambda part: (by_letters(part), part))  # the order of the records is not told
    is_bare = len(parts) == 1 and _starts_plain(parts[0]) and parts[0] != "missing"
    label = parts[0] if is_bare else _set_label(hierarchy, parts)
    has_missing = bool((nodes == _missing_node(hierarchy, level)).any())
    return _or_missing(hierarchy, label, parts) if has_missing else label


def _starts_plain(label: str) -> bool:
    return not label.startswith(_FORMULA_SIGNS)


def _missing_node(hierarchy: Hierarchy, level: int) -> int:
    """Return the node of a level that is the missing value, or -1."""
    return dict(hierarchy.nodes_named.get(None, ())).get(level, -1)


def _run_parts(hierarchy: Hierarchy, level: int, run: range, odd: str) -> list[str]:
    """Write neighbours as one range, if that is read as exactly these, else one by one.

    Those that cannot be the end of a range are named beside it.
    """
    labels = hierarchy.labels[level]
    first, last = _ends(hierarchy, level, run, odd)
    label = f"{labels[first]}{TO}{labels[last]}"
    is_range = last - first + 1 >= FEWEST
    if not is_range or hierarchy.range_named(label) != (level, first, last):
        return [label or "" for label in labels[run[0] : run[-1] + 1]]
    beside = (*labels[run[0] : first], label, *labels[last + 1 : run[-1] + 1])
    return [label or "" for label in beside]


def _ends(hierarchy: Hierarchy, level: int, run: range, odd: str) -> tuple[int, int]:
    """Return the first and the last of some neighbours that can be ends: plain, with a place of their own."""
    labels, keys = hierarchy.labels[level], hierarchy.scales[level].keys
    plain = (n for n in run if not _is_odd(labels[n], odd))
    first = next((n for n in plain if n == 0 or keys[n] != keys[n - 1]), run[-1])
    plain = (n for n in reversed(run) if not _is_odd(labels[n], odd))
    return first, next((n for n in plain if keys[n : n + 1] != keys[n + 1 : n + 2]), run[0])


def _is_odd(label: Label, odd: str) -> bool:
    return any(sign in (label or "") for sign in (*odd, TO, OR_MISSING))


def _or_missing(hierarchy: Hierarchy, label: str, parts: Sequence[str]) -> str:
    """Add that the value may be missing, apart from the others unless some node is called so."""
    together = label + OR_MISSING
    return _set_label(hierarchy, [*parts, None]) if together in hierarchy.nodes_named else together


def _set_label(hierarchy: Hierarchy, parts: Sequence[Label]) -> str:
    """Write a set so that it is not taken for a node whose label looks like one."""
    label = set_label(parts)
    while label in hierarchy.nodes_named:
        label = label[0] + " " + label[1:]
    return label


def _free_covers(
    column: Column, hierarchy: Hierarchy, low: Integers, high: Integers
) -> tuple[_Covers, Integers]:
    """Cover by exactly the values of each range."""
    covers = [
        _block_cover(column, hierarchy, *ends) for ends in zip(low.tolist(), high.tolist(), strict=True)
    ]
    return _Covers.of(covers), np.arange(len(low))


def merged_cells(
    codes: Codes, labels: tuple[Label, ...], domain: tuple[Value, ...], sets: ValueSets
) -> Cells:
    """Give values with the same label one code: a reader cannot tell them apart, so neither may we."""
    place: dict[Label, int] = {}
    new_code = np.array([place.setdefault(label, len(place)) for label in labels], dtype=np.int32)
    if len(place) == len(labels):
        return Cells(codes, labels, domain, sets)
    pairs = np.repeat(new_code.astype(np.int64) << 32, np.diff(sets.starts)) | sets.members
    pairs.sort()  # much faster than finding what is unique in other ways
    pairs = pairs[np.concatenate([[True], pairs[1:] != pairs[:-1]])]
    starts = np.concatenate([[0], np.cumsum(np.bincount(pairs >> 32))])
    sizes = np.zeros(len(place), dtype=np.int64)
    np.maximum.at(sizes, new_code, sets.sizes)
    sizes = np.maximum(sizes, np.diff(starts))
    union = ValueSets(starts, (pairs & 0xFFFFFFFF).astype(np.int32), sizes, sets.n_leaves)
    return Cells(new_code[codes], tuple(place), domain, union)
