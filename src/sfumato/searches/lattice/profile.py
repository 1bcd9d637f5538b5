"""Describe every full-domain recoding of a table: all its privacy levels and losses.

What is computed: for every node of the lattice the number of its classes, the fewest people of one, the sum
of their squared sizes, general loss, for each number of people below `LARGEST_K` the classes that have it,
and the `SCORES` of each sensitive attribute. Losses and suppression for any k follow without another look
at the rows.

Why it is right: where the levels nest, the classes of a coarser node are unions of those of a finer one.
Sizes, losses and histograms of sensitive values then add up, and every score is a function of them. If the
levels do not nest, or the groups do not fit the memory, the models count each node from the rows. Tests
compare both ways.

What it costs: rolled up, a node takes time in proportion to the groups of a finer one, and two buffers of
groups for each attribute are held. Counted from the rows, each node takes time in proportion to the rows.

Paper: K. LeFevre, D. DeWitt, R. Ramakrishnan, "Incognito: efficient full-domain k-anonymity", 2005, whose
rollup property this is.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.data.schema import Schema
from sfumato.data.table import People, Table
from sfumato.kernels.lattice_nodes import (
    SCORES,
    DescribedNodes,
    Groups,
    Prior,
    describe_sizes,
    node_keys,
    walk,
)
from sfumato.kernels.lattice_nodes_people import LevelTable, PersonRows, walk_people
from sfumato.kernels.row_groups import first_row_of_group, sum_by_group
from sfumato.measures.disclosure.adversary import AccuracyGain, KnowledgeGain, PrivacyLoss
from sfumato.measures.identity.reidentification import ReidentificationRisk, WeightedK
from sfumato.measures.utility.information_loss import (
    AverageClassSize,
    Discernibility,
    GeneralLoss,
    Precision,
    TotalLoss,
)
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.models.belief_change import BetaLikeness, DeltaDisclosure
from sfumato.models.closeness import TCloseness
from sfumato.models.distances import hierarchical_distance, jensen_shannon, ordered_distance, total_variation
from sfumato.models.diversity import DistinctDiversity, EntropyDiversity, ProbabilisticDiversity
from sfumato.registry.declarations import Better
from sfumato.registry.methods import name_of
from sfumato.registry.recipe import Recipe
from sfumato.results.measurement import Measure
from sfumato.results.pareto import front
from sfumato.runtime.arrays import Booleans, Floats, Integers, frozen, sealed
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.sanitizers.generalize.full_domain import FullDomain
from sfumato.searches.lattice.lattice import GeneralizationLattice, Levels

# Profiles count classes by size up to here: suppression is known for every k up to this one.
LARGEST_K = 64
# Groups are rolled up from node to node when their keys fit so many bits and they fit so many bytes.
_MOST_BITS = 62
_MOST_BYTES = 2**31
# Equal distributions, computed in two ways, may differ in the last digit: they have distance 0.
_ROUNDING = 1e-12
_DIGITS = 12

_OF_NODES: tuple[type[PrivacyModel | Measure], ...] = (
    KAnonymity,
    WeightedK,
    ReidentificationRisk,
    GeneralLoss,
    TotalLoss,
    Discernibility,
    AverageClassSize,
    Precision,
)
# in the order of `SCORES`
_CLASSES_OF_SCORES: tuple[type[PrivacyModel | Measure], ...] = (
    DistinctDiversity,
    ProbabilisticDiversity,
    EntropyDiversity,
    TCloseness,
    TCloseness,
    TCloseness,
    PrivacyLoss,
    KnowledgeGain,
    AccuracyGain,
    DeltaDisclosure,
    BetaLikeness,
    PrivacyLoss,
)
_OF_SENSITIVE = dict(zip(SCORES, _CLASSES_OF_SCORES, strict=True))
_BETTER: dict[str, Better] = {
    **{name_of(cls): cls.better for cls in _OF_NODES},
    **{name: cls.better for name, cls in _OF_SENSITIVE.items()},
}


@dataclass(frozen=True)
class PeopleProfile:
    """What the numbers of people of classes do not say: how many records they have.

    Parameters
    ----------
    weighted_k
        The number of people among whom somebody is on average, of every node.
    small
        For each number of people below `LARGEST_K` the records of the classes that have it, and the sum of
        their squared numbers of records.
    """

    weighted_k: Floats
    small: tuple[Integers, Integers]


@dataclass(frozen=True)
class LatticeProfile:
    """Every node of the lattice with all its privacy levels and losses.

    Each array has one entry for each node; the nodes are in lexicographic order of their levels.

    Parameters
    ----------
    names, heights
        The quasi-identifiers and the highest level of each.
    levels
        The level of each quasi-identifier at each node.
    n_records
        The number of records.
    n_classes, smallest, squares
        How many classes there are, the fewest people of one, and the sum of the squared numbers of records.
    general_loss
        The general loss when nothing is suppressed.
    small_classes, small_losses
        For each number of people below `LARGEST_K` how many classes have it, and what they add to general
        loss.
    sensitive
        For each sensitive attribute its scores, by name: the level reached in each privacy model, and
        ``privacy-loss``, its mean over the people, ``knowledge-gain`` and ``accuracy-gain``;
        ``t-closeness-ordered`` only where the values have an order.
    people
        Where somebody has several records: what does not follow from the sizes.

    Examples
    --------
    >>> from sfumato import datasets
    >>> whole = profile(*datasets.hospital())
    >>> front = whole.pareto(["k-anonymity", "general-loss"])
    >>> whole.smallest[front].tolist()
    [12, 6, 5, 3, 2, 1]
    """

    names: tuple[str, ...]
    heights: Levels
    levels: npt.NDArray[np.int16] = field(repr=False)
    n_records: int
    n_classes: Integers = field(repr=False)
    smallest: Integers = field(repr=False)
    squares: Integers = field(repr=False)
    general_loss: Floats = field(repr=False)
    small_classes: Integers = field(repr=False)
    small_losses: Floats = field(repr=False)
    sensitive: Mapping[str, Mapping[str, Floats]] = field(repr=False)
    people: PeopleProfile | None = field(default=None, repr=False)

    @cached_property
    def scores(self) -> Mapping[str, Floats]:
        """Every score by name, those of sensitive attributes for the least safe one."""
        mean_level = (self.levels / np.maximum(self.heights, 1)).mean(axis=1)
        scores = {
            name_of(KAnonymity): self.smallest.astype(np.float64),
            name_of(WeightedK): (
                self.squares / self.n_records if self.people is None else self.people.weighted_k
            ),
            name_of(ReidentificationRisk): 1 / self.smallest,
            name_of(GeneralLoss): self.general_loss,
            name_of(TotalLoss): self.general_loss,
            name_of(Discernibility): self.squares.astype(np.float64),
            name_of(AverageClassSize): self.n_records / self.n_classes,
            name_of(Precision): 1 - mean_level,
        }
        for name in SCORES:
            if not self.sensitive or not all(name in scores_of for scores_of in self.sensitive.values()):
                continue
            worst = np.min if _BETTER[name] == "higher" else np.max
            scores[name] = worst([scores_of[name] for scores_of in self.sensitive.values()], axis=0)
        return {name: sealed(values) for name, values in scores.items()}

    def score(self, name: str) -> Floats:
        """Return one score of every node."""
        if name not in self.scores:
            hint = suggestion(name, self.scores) or f"; it has {', '.join(self.scores)}"
            raise ParameterError(f"a profile has no score {name!r}{hint}")
        return self.scores[name]

    def n_suppressed(self, k: int) -> Integers:
        """Return how many records must be suppressed at each node for k-anonymity."""
        return self._small(1, k)

    def _small(self, power: int, k: int) -> Integers:
        """Return the records of all classes with fewer than k people, or the squares of their sizes."""
        if self.people is None:
            return self.small_classes[:, : _checked(k)] @ np.arange(k) ** power
        totals: Integers = self.people.small[power - 1][:, : _checked(k)].sum(axis=1)
        return totals

    def total_loss(self, k: int) -> Floats:
        """Return the total loss of each node when it is made k-anonymous by suppression."""
        kept = self.general_loss - self.small_losses[:, : _checked(k)].sum(axis=1)
        return np.maximum(kept, 0.0) + self.n_suppressed(k) / self.n_records

    def discernibility(self, k: int) -> Floats:
        """Return the discernibility of each node when it is made k-anonymous by suppression."""
        kept = self.squares - self._small(2, k)
        return kept + float(self.n_records) * self.n_suppressed(k)

    def average_class_size(self, k: int) -> Floats:
        """Return the average class size of each node when it is made k-anonymous by suppression.

        It is infinite where nothing is left.
        """
        n_classes = self.n_classes - self.small_classes[:, : _checked(k)].sum(axis=1)
        kept = np.where(n_classes > 0, self.n_records - self.n_suppressed(k), np.inf)
        return kept / np.maximum(n_classes, 1)

    def pareto(self, axes: Sequence[str]) -> Integers:
        """Return the nodes that are efficient on these scores, the best on the first axis first.

        Only the first of several nodes that are equal on all axes is returned.
        """
        turned = [self.score(axis) * (1 if _BETTER[axis] == "lower" else -1) for axis in axes]
        return efficient(np.stack(turned, axis=1))

    def front_with_suppression(self, utility: str, suppression: float) -> tuple[Integers, Integers]:
        """Return the efficient pairs of a node and a k up to `LARGEST_K`: the nodes, and the ks.

        At each node the records in classes smaller than k are suppressed, at most a share of all.

        Parameters
        ----------
        utility
            ``total-loss``, ``discernibility`` or ``average-class-size``.
        suppression
            The largest share of the records that may be suppressed.
        """
        losses_of = {
            name_of(TotalLoss): self.total_loss,
            name_of(Discernibility): self.discernibility,
            name_of(AverageClassSize): self.average_class_size,
        }
        if utility not in losses_of:
            hint = suggestion(utility, losses_of) or f"; it knows {', '.join(losses_of)}"
            raise ParameterError(f"with suppression a profile does not know {utility!r}{hint}")
        ks = np.arange(1, min(LARGEST_K, self.n_records) + 1)
        best = np.zeros(len(ks), dtype=np.int64)
        losses = np.zeros(len(ks))
        for place, k in enumerate(ks.tolist()):
            n_suppressed = self.n_suppressed(k)
            allowed = (n_suppressed / self.n_records <= suppression) & (n_suppressed < self.n_records)
            every = np.where(allowed, losses_of[utility](k), np.inf)
            best[place] = np.argmin(every)
            losses[place] = every[best[place]]
        places = efficient(np.stack([-ks, losses], axis=1))
        return best[places], ks[places]

    def recipe(self, node: int, model: PrivacyModel | None = None, suppression: float = 0.0) -> Recipe:
        """Return the recipe of a node; by default with the k-anonymity that it has."""
        levels = dict(zip(self.names, self.levels[node].tolist(), strict=True))
        return Recipe.of(FullDomain(levels, model or KAnonymity(int(self.smallest[node])), suppression))


def _checked(k: int) -> int:
    if not 1 <= k <= LARGEST_K:
        raise ParameterError(f"a profile knows the suppression for k from 1 to {LARGEST_K}, not for {k}")
    return k


def efficient(points: Floats) -> Integers:
    """Return the rows that no other row dominates: none is as low in every column and lower in one.

    The first of several equal rows is returned. They are sorted by the first column, then by the second.
    """
    # what differs by rounding does not differ
    rounded = points.round(_DIGITS)
    rows = front(rounded)
    is_new = (rounded[rows[1:]] != rounded[rows[:-1]]).any(axis=1)
    return np.concatenate([rows[:1], rows[1:][is_new]])


def profile(
    table: Table, schema: Schema, *, sensitive: Sequence[str] | None = None, max_nodes: int = 250_000
) -> LatticeProfile:
    """Describe every node of the lattice of full-domain recodings.

    Parameters
    ----------
    table, schema
        The original, bound if that has not been done.
    sensitive
        The sensitive attributes to describe; all of the schema by default.
    max_nodes
        The largest lattice to describe.

    Examples
    --------
    >>> from sfumato import datasets
    >>> whole = profile(*datasets.hospital())
    >>> int(whole.smallest.max()), float(whole.score("t-closeness").min())
    (12, 0.0)
    """
    bound_table, bound_schema = schema.bind(table)
    watched = bound_schema.sensitive if sensitive is None else tuple(sensitive)
    for name in watched:
        if name not in bound_schema.sensitive:
            raise ParameterError(f"no sensitive attribute {name!r}{suggestion(name, bound_schema.sensitive)}")
    lattice = GeneralizationLattice.of(bound_table, bound_schema, watched)
    if lattice.size > max_nodes:
        raise ParameterError(
            f"the lattice has {lattice.size:,} nodes, more than max_nodes = {max_nodes:,}; "
            "raise that, lower some hierarchies, or search for one optimal node instead"
        )
    described = [_described(lattice, name) for name in watched] or [_described(lattice, None)]
    nodes = described[0]
    node_levels, steps = _all_levels(lattice), lattice.level_losses(lattice.value_counts)
    people = None
    if lattice.people is not None:
        small = sealed(nodes.small_records), sealed(nodes.small_squares)
        people = PeopleProfile(sealed(nodes.weighted_k), small)
    return LatticeProfile(
        names=lattice.names,
        heights=tuple(np.add(lattice.lowest, lattice.heights).tolist()),
        levels=frozen(node_levels + np.array(lattice.lowest), np.int16),
        n_records=lattice.n_records,
        n_classes=sealed(nodes.n_classes),
        smallest=sealed(nodes.smallest),
        squares=sealed(nodes.squares),
        general_loss=sealed(steps[node_levels + np.array(lattice.first_level[:-1])].sum(axis=1)),
        small_classes=sealed(nodes.small_classes),
        small_losses=sealed(nodes.small_losses / lattice.n_records),
        sensitive={
            name: _named(description.scores, has_order=bound_schema.hierarchy(name).has_order)
            for name, description in zip(watched, described, strict=False)
        },
        people=people,
    )


def _all_levels(lattice: GeneralizationLattice) -> Integers:
    return np.indices([height + 1 for height in lattice.heights]).reshape(len(lattice.heights), -1).T


def _named(scores: Floats, *, has_order: bool) -> dict[str, Floats]:
    rounded = np.where(np.abs(scores) < _ROUNDING, 0.0, scores)
    return {
        name: sealed(rounded[:, place].copy())
        for place, name in enumerate(SCORES)
        if has_order or name != "t-closeness-ordered"
    }


def _described(lattice: GeneralizationLattice, name: str | None) -> DescribedNodes:
    """Describe every node, with the scores of one sensitive attribute."""
    n_nodes, n_of_people = lattice.size, 0 if lattice.people is None else lattice.size
    nodes = DescribedNodes(
        n_classes=np.zeros(n_nodes, dtype=np.int64),
        smallest=np.zeros(n_nodes, dtype=np.int64),
        squares=np.zeros(n_nodes, dtype=np.int64),
        small_classes=np.zeros((n_nodes, LARGEST_K), dtype=np.int64),
        small_losses=np.zeros((n_nodes, LARGEST_K)),
        scores=np.zeros((n_nodes, len(SCORES))),
        weighted_k=np.zeros(n_of_people),
        small_records=np.zeros((n_of_people, LARGEST_K), dtype=np.int64),
        small_squares=np.zeros((n_of_people, LARGEST_K), dtype=np.int64),
    )
    if lattice.people is not None:
        walk_people(
            _person_rows(lattice, lattice.people, name), _levels(lattice), _prior(lattice, name), nodes
        )
        return nodes
    path = _Path.of(lattice)
    if path.fits(lattice.n_records, lattice.n_sensitive_values(name)):
        path.walk(lattice, name, nodes)
    else:
        _visit_each(lattice, name, nodes)
    return nodes


def _visit_each(lattice: GeneralizationLattice, name: str | None, nodes: DescribedNodes) -> None:
    """Describe every node from the rows: slow, but in little memory."""
    for node, levels in enumerate(_all_levels(lattice).tolist()):
        class_of, n_classes = lattice.classes(levels)
        sizes = sum_by_group(class_of, n_classes, lattice.weights)
        losses = lattice.row_losses(levels, first_row_of_group(class_of, n_classes))
        nodes.n_classes[node] = n_classes
        nodes.smallest[node], nodes.squares[node] = describe_sizes(
            sizes, losses, nodes.small_classes[node], nodes.small_losses[node]
        )
        if name is not None:
            nodes.scores[node] = _scores(lattice.counted(class_of, sizes), name)


def _person_rows(lattice: GeneralizationLattice, people: People, name: str | None) -> PersonRows:
    order = lattice.by_person
    codes = lattice.cells[order].T - np.array(lattice.first_value[:-1], dtype=np.int32)[:, np.newaxis]
    values = np.zeros(0, dtype=np.int32) if name is None else lattice.sensitive[name][order]
    return PersonRows(np.ascontiguousarray(codes), people.person_of[order], lattice.weights[order], values)


def _levels(lattice: GeneralizationLattice) -> LevelTable:
    lengths = np.array([len(nodes) for nodes in lattice.nodes])
    return LevelTable(
        np.concatenate(lattice.nodes).astype(np.int64),
        np.concatenate(lattice.losses),
        np.cumsum(lengths) - lengths,
        np.array(lattice.n_nodes),
        np.array(lattice.first_level),
    )


def _scores(classes: EquivalenceClasses, name: str) -> list[float]:
    """Return each of `SCORES` for one sensitive attribute, by the models and measures themselves."""
    counts = classes.sensitive[name]
    alone = EquivalenceClasses(classes.class_of, classes.sizes, {name: counts}, classes.persons)
    n_people = counts.sizes.sum()
    return [
        DistinctDiversity().level(alone),
        ProbabilisticDiversity().level(alone),
        EntropyDiversity().level(alone),
        TCloseness(distance="equal").level(alone),
        float(ordered_distance(counts).max()),
        TCloseness(distance="hierarchical").level(alone),
        float(jensen_shannon(counts).max()),
        float(total_variation(counts) @ counts.sizes / n_people),
        float(counts.largest(counts.contributions).sum() / n_people - counts.prior.max()),
        DeltaDisclosure().level(alone),
        BetaLikeness().level(alone),
        float(jensen_shannon(counts) @ counts.sizes / n_people),
    ]


@dataclass(frozen=True)
class _Path:
    """A walk through the lattice: its attributes, outermost first, and the room that their groups need.

    Parameters
    ----------
    order
        The attributes, those that join most groups first.
    bits
        How many bits the codes of each of them take.
    nested
        For each of them and each level whether it joins nodes of the level below; where two nodes are
        released under one label, it may not.
    room
        How many groups there are at most: in the table, and on the even and the odd levels of each.
    """

    order: list[int]
    bits: Integers
    nested: Booleans
    room: list[int]

    @classmethod
    def of(cls, lattice: GeneralizationLattice) -> _Path:
        zero = (0,) * len(lattice.names)

        def n_groups(place: int, level: int) -> int:
            return lattice.classes((*zero[:place], level, *zero[place + 1 :]))[1]

        order = sorted(range(len(zero)), key=lambda place: n_groups(place, lattice.heights[place]))
        spans = list(lattice.spans())
        nested = np.ones((len(zero), max(lattice.heights) + 1), dtype=np.bool_)
        room = [n_groups(0, 0)]
        for index, place in enumerate(order):
            numbers = spans[place][1]
            nested[index, : len(numbers)] = [lattice.nested[number] for number in numbers]
            for level in (2, 1):
                known = level <= lattice.heights[place] and nested[index].all()
                room.append(n_groups(place, level) if known else room[0])
        widest = [max(lattice.n_nodes[number] for number in numbers) for _, numbers in spans]
        return cls(order, np.array([(widest[place] - 1).bit_length() for place in order]), nested, room)

    def fits(self, n_records: int, n_values: int) -> bool:
        """Return whether a key fits a word, a count 32 bits, and all groups the memory."""
        n_bytes = sum(self.room) * (28 + 4 * _padded(n_values))
        return int(self.bits.sum()) <= _MOST_BITS and n_records < 2**31 and n_bytes <= _MOST_BYTES

    def walk(self, lattice: GeneralizationLattice, name: str | None, nodes: DescribedNodes) -> None:
        """Describe all nodes, rolling the groups up from one to the next."""
        shifts = np.cumsum(self.bits) - self.bits
        key_steps, loss_steps = self._steps(lattice, shifts)
        strides = [math.prod(height + 1 for height in lattice.heights[place + 1 :]) for place in self.order]
        walk(
            np.array(lattice.heights)[self.order],
            np.array(strides),
            shifts,
            (1 << self.bits) - 1,
            self.nested,
            key_steps,
            loss_steps,
            np.cumsum([0, *self.room]),
            self._groups(lattice, name, shifts),
            _prior(lattice, name),
            nodes,
        )

    def _steps(self, lattice: GeneralizationLattice, shifts: Integers) -> tuple[Integers, Floats]:
        """Return for each attribute, level and code below it the change of the key and of the loss."""
        key_steps = np.zeros((*self.nested.shape, 1 << int(self.bits.max())), dtype=np.int64)
        loss_steps = np.zeros(key_steps.shape)
        spans = list(lattice.spans())
        for index, place in enumerate(self.order):
            numbers = spans[place][1]
            for level, number in enumerate(numbers[1:], start=1):
                below = number - 1 if self.nested[index, level] else numbers[0]
                old, new = lattice.nodes[below].astype(np.int64), lattice.nodes[number]
                key_steps[index, level, old] = (old ^ new) << shifts[index]
                loss_steps[index, level, old] = lattice.losses[number] - lattice.losses[below]
        return key_steps, loss_steps

    def _groups(self, lattice: GeneralizationLattice, name: str | None, shifts: Integers) -> Groups:
        """Return the groups of the table, with room for those of all levels."""
        zero = (0,) * len(lattice.names)
        class_of, n_classes = lattice.classes(zero)
        first = first_row_of_group(class_of, n_classes)
        room, width = sum(self.room), _padded(lattice.n_sensitive_values(name))
        groups = Groups(
            np.empty(room, dtype=np.int64),
            np.empty(room, dtype=np.int64),
            np.empty(room),
            np.full(room, -1, dtype=np.int32),
            np.empty((room, width), dtype=np.int32),
        )
        spans = list(lattice.spans())
        parts = np.zeros(lattice.first_value[-1], dtype=np.int64)
        for place, shift in zip(self.order, shifts, strict=True):
            values, numbers = spans[place]
            parts[values] = lattice.nodes[numbers[0]].astype(np.int64) << shift
        groups.keys[:n_classes] = node_keys(lattice.cells[first], parts)
        groups.counts[:n_classes] = sum_by_group(class_of, n_classes, lattice.weights)
        groups.losses[:n_classes] = lattice.row_losses(zero, first)
        if name is not None:
            cells = class_of * width + lattice.sensitive[name]
            counts = sum_by_group(cells, n_classes * width, lattice.weights).reshape(n_classes, width)
            is_pure = counts.max(axis=1) == groups.counts[:n_classes]
            groups.pure[:n_classes] = np.where(is_pure, counts.argmax(axis=1), -1)
            groups.histograms[:n_classes] = counts
        return groups


def _padded(n_values: int) -> int:
    return -(-n_values // 8) * 8


def _prior(lattice: GeneralizationLattice, name: str | None) -> Prior:
    nothing, no_levels = np.zeros(0), np.zeros((0, 0), dtype=np.int32)
    if name is None:
        return Prior(0, nothing, nothing, nothing, nothing, no_levels, np.zeros((0, 0)))
    facts = lattice.everybody.sensitive[name]
    n_values = len(facts.prior)
    codes, ones = np.arange(n_values + 1), np.ones(n_values, dtype=np.int64)
    alone = SensitiveCounts(codes, codes[:-1], ones, facts.prior, facts.domain)
    node_of = no_levels if facts.domain.hierarchy is None else facts.domain.hierarchy.node_of[1:-1].copy()
    node_shares = np.zeros((len(node_of), n_values))
    for level, nodes in enumerate(node_of):
        node_shares[level] = np.bincount(nodes, weights=facts.prior, minlength=n_values)
    return Prior(
        n_values=n_values,
        shares=_widened(facts.prior),
        inverse=_widened(1 / facts.prior),
        alone_ordered=_widened(ordered_distance(alone)),
        alone_hierarchical=_widened(hierarchical_distance(alone)),
        node_of=node_of,
        node_shares=node_shares,
    )


def _widened(by_value: Floats) -> Floats:
    return np.pad(by_value, (0, _padded(len(by_value)) - len(by_value)))
