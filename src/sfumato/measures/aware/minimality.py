"""Minimality: what follows from the fact that a release was generalised no further than it had to be."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np

from sfumato.arrays import Integers
from sfumato.cells import level_cells
from sfumato.classes import EquivalenceClasses, SensitiveCounts
from sfumato.errors import ParameterError
from sfumato.facts import Detail, Words
from sfumato.kernels.grouping import sum_by_group
from sfumato.measures.aware.reader import RecipeReaderMeasure
from sfumato.measures.base import Measurement
from sfumato.measures.reasons import NotApplicable
from sfumato.models.base import PrivacyModel
from sfumato.registry import register
from sfumato.release import Release, holds
from sfumato.sanitizers.mondrian import refused_cuts
from sfumato.table import Table

Counts = tuple[int, ...]
"""How many records of a class, or of a part of it, have each of its values."""


@register
@dataclass(frozen=True)
class MinimalityRisk(RecipeReaderMeasure):
    """How sure an adversary is of a person's value who knows that the next finer release would have failed.

    A search takes the finest levels on which a model of the sensitive attribute holds. Whoever knows that,
    and which quasi-identifiers the people have, knows that with one attribute a level finer some class would
    have broken the model, and rules out the ways to deal the sensitive values out in which none would. For
    each such finer release by itself that did fail: W ways to deal the values of a class out to its records,
    all as likely; A of them keep the model in every part of the class; a value has the share p in the class,
    and in a of the ways that keep the model a person of a given part has it (a counted as A times the mean
    share). With R the product of A/W over the other classes, the person has it with the chance
    (p - a/W · R) / (1 - A/W · R). The value is the largest over all people, values and finer releases; the
    baseline the largest share in a class, which is what the model promises. The detail has m of
    m-confidentiality (1 / value), the share of the records about whose commonest value the adversary
    becomes surer, and the share of those in classes that were enumerated; a class with more ways than the
    limit is taken to be where the model failed, so that the figure is then a lower bound.

    `full-domain` without suppressed records has the next finer releases to compare with. `mondrian` (strict,
    without target) refuses a cut in each class by itself: which one it tries follows from the
    quasi-identifiers alone, and that the class is there says that the model failed on one side of it. So the
    failure is in this very class (R is 1), for each quasi-identifier by itself. Cuts that were refused
    before another was taken are not reasoned about, so that the figure is a lower bound.

    Parameters
    ----------
    ways
        How many different counts of values a class may have in its parts at most, to be enumerated.

    References
    ----------
    R. Wong, A. Fu, K. Wang, J. Pei, "Minimality attack in privacy preserving data publishing", 2007:
    credibility and m-confidentiality.

    Examples
    --------
    >>> dealt_out((2, 5), (2, 5), lambda part: part[0] <= sum(part) / 2)
    (20, [[0.25, 0.75], [0.3, 0.7]])
    """

    ways: int = 20_000

    words: ClassVar[Words] = Words(
        "minimality risk",
        "How sure an adversary can be of somebody's sensitive value who knows everybody's quasi-identifiers "
        "and that the release would not have been generalised so far if less had been enough.",
        "At the baseline: knowing that tells nothing. 100%: somebody's value is certain.",
        "0% to 100%",
        "share",
        sentence="who knows that no finer release would do is sure of somebody's sensitive value by {}",
        baseline="largest share of a value in a class",
        details={
            "m-confidentiality": Detail("m of m-confidentiality", "number"),
            "share-surer": Detail("records about which the adversary becomes surer"),
            "share-enumerated": Detail("records in classes that were enumerated"),
            "attribute": Detail("attribute that would be finer"),
        },
    )

    def __post_init__(self) -> None:
        if self.ways < 1:
            raise ParameterError(f"ways must be at least 1, not {self.ways}")

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return one measurement for each sensitive attribute."""
        finer, model, is_local = _finer_failing(release), _model(release), _cuts_classes(release)
        return tuple(
            self._of_attribute(release, name, finer, model, is_local) for name in release.groups.sensitive
        )

    def _of_attribute(
        self,
        release: Release,
        name: str,
        finer: Mapping[str, Integers],
        model: PrivacyModel,
        is_local: bool,
    ) -> Measurement:
        sensitive = release.classes.sensitive[name]
        baseline = float(sensitive.shares.max())
        found = [
            (attribute, _Reasoning.of(release, name, part_of, model, self.ways, is_local))
            for attribute, part_of in finer.items()
        ]
        attribute, worst = max(found, key=lambda pair: pair[1].credibility, default=("", _NOTHING))
        value = max(baseline, worst.credibility)
        detail: dict[str, Any] = {
            "m-confidentiality": 1 / value,
            "share-surer": worst.share_surer,
            "share-enumerated": worst.share_enumerated,
            "attribute": attribute,
        }
        return self.taken(value, attribute=name, baseline=baseline, detail=detail)


def _model(release: Release) -> PrivacyModel:
    assert release.recipe is not None
    model: PrivacyModel = release.recipe.build().model
    return model


def _cuts_classes(release: Release) -> bool:
    """Return whether the method refused a finer division of each class by itself."""
    return release.recipe is not None and release.recipe.sanitizer == "mondrian"


def _finer_failing(release: Release) -> dict[str, Integers]:
    """Return the parts of the rows in each next finer release, or finer class, in which the model fails."""
    recipe, original = release.recipe, release.original
    known = ("full-domain", "mondrian")
    if recipe is None or original is None or release.rows is None or recipe.sanitizer not in known:
        raise NotApplicable("only full-domain and mondrian say which finer releases there were")
    if release.n_suppressed or recipe.parameters.get("suppression"):
        raise NotApplicable("records may be suppressed, so that a finer release need not have failed")
    if release.people is not None:
        raise NotApplicable("somebody has several records, and the enumeration knows one of each person")
    if all(part.guards == "identity" for part in _model(release).parts):
        raise NotApplicable(
            "the model asks nothing of the sensitive attribute, so that its failure tells nothing"
        )
    return _refused(release, original) if _cuts_classes(release) else _finer_levels(release, original)


def _refused(release: Release, original: Table) -> dict[str, Integers]:
    """Return for each quasi-identifier the classes of mondrian, cut as it tried to."""
    recipe = release.recipe
    assert recipe is not None
    if recipe.parameters["variant"] != "strict" or recipe.parameters["target"] or recipe.parameters["free"]:
        raise NotApplicable("only the strict variant without target tries cuts that are known from outside")
    parts, halves = refused_cuts(original, release.schema, _model(release))
    if len(parts.low) != release.classes.n_classes or len(parts.rows) != release.n_rows:
        raise NotApplicable("parts that look alike were put together, so that it is not known what was tried")
    of_row = np.empty(original.n_rows, dtype=np.int64)
    finer: dict[str, Integers] = {}
    for name, half in halves.items():
        of_row[parts.rows] = half
        # numbered anew: a part that was not cut has one half
        finer[name] = np.unique(of_row[release.rows], return_inverse=True)[1]
    return finer


def _finer_levels(release: Release, original: Table) -> dict[str, Integers]:
    """Return the classes with one attribute a level finer, where the model does not hold in them."""
    recipe = release.recipe
    assert recipe is not None
    assert release.rows is not None
    finer = {}
    for name, level in recipe.parameters["levels"].items():
        if level <= release.schema[name].lowest_level:
            continue
        hierarchy = release.schema.hierarchy(name)
        cells = level_cells(original[name], hierarchy, level - 1, release.rows)
        candidate = replace(release, cells={**release.cells, name: cells})
        if not holds(candidate, _model(release)):
            finer[name] = candidate.classes.class_of
    return finer


@dataclass(frozen=True)
class _Reasoning:
    """What follows from the failure of one finer release."""

    credibility: float
    share_surer: float
    share_enumerated: float

    @classmethod
    def of(
        cls,
        release: Release,
        name: str,
        part_of: Integers,
        model: PrivacyModel,
        ways: int,
        is_local: bool,
    ) -> _Reasoning:
        """Enumerate the classes of a release, whose rows fall into parts; locally each has failed itself."""
        classes = _divided(release, name, part_of)
        judge = _Judge(model, release.classes.sensitive[name], name)
        keeping = [each.dealt_out(judge, ways) for each in classes]
        logs = [
            math.log(each.chance) if each is not None and each.chance > 0 else -math.inf for each in keeping
        ]
        n_impossible, total = sum(math.isinf(each) for each in logs), sum(x for x in logs if x > -math.inf)
        best, n_surer, n_counted = 0.0, 0, 0
        for divided, kept, log in zip(classes, keeping, logs, strict=True):
            if kept is None:
                continue
            n_counted += divided.n_records
            others_fail = n_impossible - math.isinf(log)
            others = 0.0 if others_fail else math.exp(total - (0.0 if math.isinf(log) else log))
            others = 1.0 if is_local else others
            for size, chances in zip(divided.sizes, kept.believed(divided, others), strict=True):
                best = max(best, *chances)
                n_surer += size * (max(chances) > divided.commonest + 1e-9)
        n_records = release.n_records
        return cls(best, n_surer / n_records, n_counted / n_records)


_NOTHING = _Reasoning(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class _Divided:
    """A class: the sizes of its parts in the finer release, and its values with how many have them."""

    sizes: Counts
    values: Counts
    counts: Counts

    @property
    def n_records(self) -> int:
        return sum(self.sizes)

    @property
    def commonest(self) -> float:
        return max(self.counts) / self.n_records

    def dealt_out(self, judge: _Judge, limit: int) -> _Kept | None:
        """Count the ways that keep the model in every part; ``None`` where there are too many to look at."""
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
    """How likely a class keeps the model in every part, and what shares each part has then."""

    chance: float
    shares: list[list[float]]

    def believed(self, divided: _Divided, others: float) -> list[list[float]]:
        """Return for each part how likely its people have each value, if some part somewhere failed."""
        none_fails = self.chance * others
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
    """A model that judges parts of classes by the counts of their values, each once."""

    model: PrivacyModel
    whole: SensitiveCounts
    name: str
    known: dict[tuple[Counts, Counts], bool] = field(default_factory=dict)

    def keeps(self, values: Counts, part: Counts) -> bool:
        key = (values, part)
        if key not in self.known:
            self.known[key] = bool(self.model.satisfied(self._one_class(values, part))[0])
        return self.known[key]

    def _one_class(self, values: Counts, part: Counts) -> EquivalenceClasses:
        occurs = [place for place, count in enumerate(part) if count]
        codes, counts = np.array(values)[occurs], np.array(part)[occurs]
        sensitive = SensitiveCounts(
            np.array([0, len(occurs)]), codes, counts, self.whole.prior, self.whole.domain
        )
        sizes = np.array([sum(part)])
        return EquivalenceClasses(np.zeros(1, dtype=np.int64), sizes, {self.name: sensitive})


def _divided(release: Release, name: str, part_of: Integers) -> list[_Divided]:
    """Return the classes of a release with their parts."""
    sensitive, class_of = release.classes.sensitive[name], release.classes.class_of
    n_parts = int(part_of.max()) + 1
    sizes = sum_by_group(part_of, n_parts, release.weights)
    owner = np.zeros(n_parts, dtype=np.int64)
    owner[part_of] = class_of
    found: list[list[int]] = [[] for _ in range(release.classes.n_classes)]
    for size, of_class in zip(sizes.tolist(), owner.tolist(), strict=True):
        found[of_class].append(size)
    stretches = zip(sensitive.starts[:-1], sensitive.starts[1:], found, strict=True)
    return [
        _Divided(
            tuple(sorted(parts)),
            tuple(sensitive.values[start:end].tolist()),
            tuple(sensitive.counts[start:end].tolist()),
        )
        for start, end, parts in stretches
    ]


def multinomial(counts: Counts) -> int:
    """Return in how many ways values with these counts can be dealt out."""
    left, ways = sum(counts), 1
    for count in counts:
        ways *= math.comb(left, count)
        left -= count
    return ways


def dealt_out(
    sizes: Counts, counts: Counts, keeps: Callable[[Counts], bool]
) -> tuple[int, list[list[float]]]:
    """Count the ways to deal values out to the parts of a class in which every part keeps a model.

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
    def ways(left: Counts, of: Counts) -> int:
        if not left:
            return 1
        return sum(
            multinomial(part) * ways(left[1:], _less(of, part)) for part in _parts(left[0], of) if keeps(part)
        )

    total = ways(sizes, counts)
    shares: dict[int, list[float]] = {}
    for place, size in enumerate(sizes):
        if size not in shares:
            others = sizes[:place] + sizes[place + 1 :]
            sums = [0] * len(counts)
            for part in _parts(size, counts):
                if keeps(part):
                    here = multinomial(part) * ways(others, _less(counts, part))
                    sums = [old + here * count for old, count in zip(sums, part, strict=True)]
            shares[size] = [each / (size * total) if total else 0.0 for each in sums]
    return total, [shares[size] for size in sizes]


def _less(counts: Counts, part: Counts) -> Counts:
    return tuple(count - taken for count, taken in zip(counts, part, strict=True))


def _parts(size: int, counts: Counts) -> Iterator[Counts]:
    """Yield the counts that a part of this size can have."""
    if len(counts) == 1:
        if size <= counts[0]:
            yield (size,)
        return
    rest = sum(counts[1:])
    for first in range(max(0, size - rest), min(size, counts[0]) + 1):
        for others in _parts(size - first, counts[1:]):
            yield (first, *others)
