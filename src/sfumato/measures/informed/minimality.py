"""Minimality attack: what follows if a release is generalized no further than its model requires."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Annotated, Any, ClassVar

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, SensitiveCounts
from sfumato.kernels.row_groups import first_row_of_group, number_rows, sum_by_group, value_counts
from sfumato.measures.informed.informed_reader import RecipeReaderMeasure
from sfumato.models.base import PrivacyModel
from sfumato.registry import methods
from sfumato.registry.declarations import AtLeast, AtMost, Detail, Finer, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import origin_of
from sfumato.results.measurement import Measurement
from sfumato.results.origin import Origin
from sfumato.results.release import Release, holds
from sfumato.results.released_column import level_cells
from sfumato.runtime.arrays import Codes, Integers
from sfumato.sanitizers.generalize.mondrian import refused_cuts

Counts = tuple[int, ...]
"""How many records of a class, or of a part of it, have each of its combinations of sensitive values."""


@register
@dataclass(frozen=True)
class MinimalityRisk(RecipeReaderMeasure):
    """How sure an adversary is of a value, knowing that the next finer release would have failed.

    A search takes the finest levels on which a model of the sensitive attribute holds. An adversary who knows
    that, and the quasi-identifiers of the people, knows that with one attribute a level finer some class
    would have broken the model, and rules out the assignments of sensitive values in which none would. Each
    such finer release that did fail is considered by itself. There are W equally likely ways to assign the
    values of a class to its records, of which A keep the model in every part of the class. A value has the
    share p in the class, and in a of the ways that keep the model a person of a given part has it (a counted
    as A times the mean share). With R the product of A/W over the other classes, the person has it with the
    chance (p - a/W · R) / (1 - A/W · R). Several sensitive values of a record are assigned together, since
    the failure of the model does not say in which of them it is.

    The value is the largest over all people, values and finer releases; the baseline is the largest share in
    a class, which is what the model promises. The detail has m of m-confidentiality (1 / value), the share of
    the records about whose most common value the adversary becomes surer, and the share of those in classes
    that were enumerated. A class with more ways than the limit is assumed to be where the model failed, so
    the figure is then a lower bound.

    `full-domain` without suppressed records can be compared with the next finer releases. `mondrian` (strict,
    without target) refuses a cut in each class by itself: the cut follows from the quasi-identifiers alone,
    and the existence of the class shows that the model failed on one side of the cut. So the failure is in
    this very class (R is 1), for each quasi-identifier by itself. Cuts that were refused before another one
    was accepted are ignored, so the figure is a lower bound.

    If sensitive values do not influence the release, there is nothing to reason from: with a model of sizes
    or none, and a method that ignores sensitive values, every assignment would have given the same classes.
    The value is then exactly the baseline.

    Parameters
    ----------
    ways
        The largest number of different counts of values in the parts of a class that is enumerated.

    References
    ----------
    R. Wong, A. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", 2007:
    credibility and m-confidentiality.

    Examples
    --------
    >>> dealt_out((2, 5), (2, 5), lambda part: part[0] <= sum(part) / 2)
    (20, [[0.25, 0.75], [0.3, 0.7]])
    """

    ways: Annotated[int, AtLeast(1), AtMost(10_000_000)] = 20_000

    words: ClassVar[Words] = Words(
        "minimality risk",
        "How sure an adversary can be of somebody's sensitive value who knows everybody's quasi-identifiers "
        "and that the release would not have been generalised so far if less had been enough.",
        "At the baseline: knowing that tells nothing. 100%: somebody's value is certain.",
        "0% to 100%",
        "share",
        sentence="an informed attacker is sure of somebody's sensitive value by {}",
        baseline="largest share of a value in a class",
        details={
            "m-confidentiality": Detail("m of m-confidentiality", "number"),
            "share-surer": Detail("records about which the adversary becomes surer"),
            "share-enumerated": Detail("records in classes that were enumerated"),
            "attribute": Detail("attribute that would be finer"),
        },
        ends=("the method reveals no value", "the method reveals a value with certainty"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return one measurement for each sensitive attribute."""
        if _decided_without_values(release):
            names = release.classes.sensitive
            return tuple(self._measurement(release, name, "", _CERTAINLY_NOTHING) for name in names)
        finer, dealt = _finer_failing(release), _Combinations.of(release)
        reasonings = [
            (attribute, _reasoned(release, dealt, part_of, self.ways)) for attribute, part_of in finer.items()
        ]
        measurements = []
        for name in dealt.codes:
            of_name = [(attribute, by_name[name]) for attribute, by_name in reasonings]
            attribute, worst = max(of_name, key=lambda pair: pair[1].credibility, default=("", _NOTHING))
            measurements.append(self._measurement(release, name, attribute, worst))
        return tuple(measurements)

    def _measurement(self, release: Release, name: str, attribute: str, worst: _Reasoning) -> Measurement:
        baseline = float(release.classes.sensitive[name].shares.max())
        value = max(baseline, worst.credibility)
        detail: dict[str, Any] = {
            "m-confidentiality": 1 / value,
            "share-surer": worst.share_surer,
            "share-enumerated": worst.share_enumerated,
            "attribute": attribute,
        }
        return self.measurement(value, attribute=name, baseline=baseline, detail=detail)


def _decided_without_values(release: Release) -> bool:
    """Return whether the classes would be the same for any assignment of sensitive values."""
    method = None if release.recipe is None else release.recipe.build()
    model: PrivacyModel | None = getattr(method, "model", None)
    of_sizes = model is None or all(part.guards == "identity" for part in model.parts)
    return of_sizes and getattr(method, "ignores_sensitive", False)


def _model(release: Release) -> PrivacyModel:
    assert release.recipe is not None
    model: PrivacyModel = release.recipe.build().model
    return model


def _finer(release: Release) -> Finer | None:
    """Return what the method of a release could have made finer, if it says so."""
    method = None if release.recipe is None else methods.find("sanitizer", release.recipe.sanitizer)
    return getattr(method, "finer", None)


def _finer_failing(release: Release) -> dict[str, Integers]:
    """Return, for each next finer release or class in which the model fails, the parts of the rows."""
    recipe, origin, refused = release.recipe, origin_of(release), _finer(release)
    if recipe is None or origin.linked_rows is None or refused is None:
        raise NotApplicable("its method does not say which finer releases there were")
    if release.n_suppressed or recipe.parameters.get("suppression"):
        raise NotApplicable("records may be suppressed, so that a finer release need not have failed")
    if release.people is not None:
        raise NotApplicable("somebody has several records, and the enumeration knows one of each person")
    return _refused(release, origin) if refused == "cuts" else _finer_levels(release, origin)


def _refused(release: Release, origin: Origin) -> dict[str, Integers]:
    """Return Mondrian's classes for each quasi-identifier, cut as the method tried to."""
    recipe = release.recipe
    assert recipe is not None
    if recipe.parameters["variant"] != "strict" or recipe.parameters["target"] or recipe.parameters["free"]:
        raise NotApplicable("only the strict variant without target tries cuts that are known from outside")
    parts, halves = refused_cuts(origin.table, release.schema, _model(release))
    if len(parts.low) != release.classes.n_classes:
        raise NotApplicable("the recipe does not lead to these classes: it is not known what was tried")
    of_row = np.empty_like(parts.rows)
    finer: dict[str, Integers] = {}
    for name, half in halves.items():
        of_row[parts.rows] = half
        # numbered anew: a part that was not cut has one half
        finer[name] = np.unique(of_row[origin.rows], return_inverse=True)[1]
    return finer


def _finer_levels(release: Release, origin: Origin) -> dict[str, Integers]:
    """Return the classes with one attribute a level finer, where the model does not hold in them."""
    recipe = release.recipe
    assert recipe is not None
    finer = {}
    for name, level in recipe.parameters["levels"].items():
        if level <= release.schema[name].lowest_level:
            continue
        hierarchy = release.schema.hierarchy(name)
        cells = level_cells(origin.table[name], hierarchy, level - 1, origin.rows)
        candidate = replace(release, cells={**release.cells, name: cells})
        if not holds(candidate, _model(release)):
            finer[name] = candidate.classes.class_of
    return finer


@dataclass(frozen=True, eq=False)
class _Combinations:
    """The combinations of sensitive values of the records, which are assigned together.

    Parameters
    ----------
    of_row
        The combination of each released row.
    codes
        For each sensitive attribute the value in each combination.
    """

    of_row: Integers
    codes: Mapping[str, Codes]

    @classmethod
    def of(cls, release: Release) -> _Combinations:
        values = {name: release.own_values(name) for name in release.classes.sensitive}
        sizes = [len(counts.prior) for counts in release.classes.sensitive.values()]
        of_row, n_different = number_rows(values.values(), sizes, release.n_rows)
        first = first_row_of_group(of_row, n_different)
        return cls(of_row, {name: codes[first] for name, codes in values.items()})


def _reasoned(release: Release, dealt: _Combinations, part_of: Integers, ways: int) -> dict[str, _Reasoning]:
    """Return for each sensitive attribute what follows from the failure of one finer release."""
    classes = _divided(release, dealt, part_of)
    judge = _Judge(_model(release), release.classes.sensitive, dealt.codes)
    keeping = [divided.dealt_out(judge, ways) for divided in classes]
    together = math.prod(0.0 if kept is None else kept.chance for kept in keeping)
    is_local = _finer(release) == "cuts"
    beliefs = [
        (divided, kept.believed(divided, kept.chance if is_local else together))
        for divided, kept in zip(classes, keeping, strict=True)
        if kept is not None
    ]
    return {name: _Reasoning.of(beliefs, codes, release.n_records) for name, codes in dealt.codes.items()}


@dataclass(frozen=True)
class _Reasoning:
    """What follows for one sensitive attribute from the failure of one finer release."""

    credibility: float
    share_surer: float
    share_enumerated: float

    @classmethod
    def of(
        cls, beliefs: Sequence[tuple[_Divided, list[list[float]]]], codes: Codes, n_records: int
    ) -> _Reasoning:
        """Add up the beliefs about the combinations of each part that have the same value."""
        best, n_surer, n_counted = 0.0, 0, 0
        for divided, believed in beliefs:
            place = np.unique(codes[list(divided.values)], return_inverse=True)[1]
            commonest = np.bincount(place, divided.counts).max() / divided.n_records
            n_counted += divided.n_records
            for size, chances in zip(divided.sizes, believed, strict=True):
                surest = float(np.bincount(place, chances).max())
                best = max(best, surest)
                n_surer += size * (surest > commonest + 1e-9)
        return cls(best, n_surer / n_records, n_counted / n_records)


_NOTHING = _Reasoning(0.0, 0.0, 0.0)
_CERTAINLY_NOTHING = _Reasoning(0.0, 0.0, 1.0)


@dataclass(frozen=True)
class _Divided:
    """A class: the sizes of its parts in the finer release, and the count of each combination."""

    sizes: Counts
    values: Counts
    counts: Counts

    @property
    def n_records(self) -> int:
        return sum(self.sizes)

    def dealt_out(self, judge: _Judge, limit: int) -> _Kept | None:
        """Count the assignments that keep the model in every part; ``None`` if there are too many."""
        if len(self.sizes) == 1:
            return _Kept(1.0, [[count / self.n_records for count in self.counts]])
        if math.prod(count + 1 for count in self.counts) * len(set(self.sizes)) > limit:
            return None

        def keeps(part: Counts) -> bool:
            return judge.keeps(self.values, part)

        n_ways = multinomial(self.counts)
        n_keeping, shares = dealt_out(self.sizes, self.counts, keeps)
        return _Kept(n_keeping / n_ways, shares)


@dataclass(frozen=True)
class _Kept:
    """The probability that a class keeps the model in every part, and the shares in each part then."""

    chance: float
    shares: list[list[float]]

    def believed(self, divided: _Divided, none_fails: float) -> list[list[float]]:
        """Return for each part the probabilities of its values, if some part somewhere failed.

        Parameters
        ----------
        divided
            The class.
        none_fails
            How likely no part failed of all those of which one is known to have.
        """
        if none_fails >= 1:
            return [[count / divided.n_records for count in divided.counts] for _ in divided.sizes]
        return [
            [
                (count / divided.n_records - none_fails * share) / (1 - none_fails)
                for count, share in zip(divided.counts, of_part, strict=True)
            ]
            for of_part in self.shares
        ]


@dataclass(frozen=True, eq=False)
class _Judge:
    """A model that judges parts of classes by the counts of their values, with a cache."""

    model: PrivacyModel
    whole: Mapping[str, SensitiveCounts]
    codes: Mapping[str, Codes]
    known: dict[tuple[Counts, Counts], bool] = field(default_factory=dict)

    def keeps(self, values: Counts, part: Counts) -> bool:
        key = (values, part)
        if key not in self.known:
            occurs = [place for place, count in enumerate(part) if count]
            combinations, counts = np.array(values)[occurs], np.array(part)[occurs]
            sensitive = {
                name: _counted(self.codes[name][combinations], counts, whole)
                for name, whole in self.whole.items()
            }
            one = EquivalenceClasses(np.zeros_like(combinations), np.array([sum(part)]), sensitive)
            self.known[key] = bool(self.model.satisfied(one).item())
        return self.known[key]


def _counted(codes: Codes, counts: Integers, whole: SensitiveCounts) -> SensitiveCounts:
    """Count the values of one class, with the prior of the whole table."""
    values, place = np.unique(codes, return_inverse=True)
    starts = np.array([0, len(values)])
    return SensitiveCounts(
        starts, values, sum_by_group(place, len(values), counts), whole.prior, whole.domain
    )


def _divided(release: Release, dealt: _Combinations, part_of: Integers) -> list[_Divided]:
    """Return the classes of a release with their parts."""
    class_of, n_classes = release.classes.class_of, release.classes.n_classes
    n_parts = int(part_of.max()) + 1
    owner = np.zeros(n_parts, dtype=np.int64)
    owner[part_of] = class_of
    part_sizes: list[list[int]] = [[] for _ in range(n_classes)]
    sizes = sum_by_group(part_of, n_parts, release.weights)
    for size, of_class in zip(sizes.tolist(), owner.tolist(), strict=True):
        part_sizes[of_class].append(size)
    n_combinations = int(dealt.of_row.max()) + 1
    starts, values, counts = value_counts(class_of, n_classes, dealt.of_row, n_combinations, release.weights)
    return [
        _Divided(tuple(parts), tuple(values[start:end].tolist()), tuple(counts[start:end].tolist()))
        for start, end, parts in zip(starts[:-1], starts[1:], part_sizes, strict=True)
    ]


def multinomial(counts: Counts) -> int:
    """Return the number of ways to assign values with these counts."""
    remaining, ways = sum(counts), 1
    for count in counts:
        ways *= math.comb(remaining, count)
        remaining -= count
    return ways


def dealt_out(
    sizes: Counts, counts: Counts, keeps: Callable[[Counts], bool]
) -> tuple[int, list[list[float]]]:
    """Count the ways to assign values to the parts of a class so that every part keeps a model.

    Parameters
    ----------
    sizes
        How many records each part has.
    counts
        How many records of the class have each value.
    keeps
        Whether a part keeps the model, given how many of its records have each value.

    Returns
    -------
    tuple
        The number of ways, and for each part the mean share that each value has in it in these ways (0 where
        there is none).
    """

    @cache
    def ways(remaining: Counts, of: Counts) -> int:
        if not remaining:
            return 1
        return sum(
            multinomial(part) * ways(remaining[1:], _less(of, part))
            for part in _parts(remaining[0], of)
            if keeps(part)
        )

    total = ways(sizes, counts)
    shares: dict[int, list[float]] = {}
    for place, size in enumerate(sizes):
        if size not in shares:
            others = sizes[:place] + sizes[place + 1 :]
            sums = [0] * len(counts)
            for part in _parts(size, counts):
                if keeps(part):
                    n_ways = multinomial(part) * ways(others, _less(counts, part))
                    sums = [old + n_ways * count for old, count in zip(sums, part, strict=True)]
            shares[size] = [total_share / (size * total) if total else 0.0 for total_share in sums]
    return total, [shares[size] for size in sizes]


def _less(counts: Counts, part: Counts) -> Counts:
    return tuple(count - used for count, used in zip(counts, part, strict=True))


def _parts(size: int, counts: Counts) -> Iterator[Counts]:
    """Yield the counts that a part of this size can have."""
    if len(counts) == 1:
        yield (size,)
        return
    rest = sum(counts[1:])
    for first in range(max(0, size - rest), min(size, counts[0]) + 1):
        for others in _parts(size - first, counts[1:]):
            yield (first, *others)
