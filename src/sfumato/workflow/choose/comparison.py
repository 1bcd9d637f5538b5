"""Compare two releases of one table, and count the people for whom one is worse than the other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sfumato.measures.identity.reidentification import WeightedK
from sfumato.measures.utility.percentiles import percentile
from sfumato.models.distances import jensen_shannon
from sfumato.registry.declarations import Better
from sfumato.results.json_schemas import ComparisonShape, PairShape, SizesShape
from sfumato.results.measurement import Measure, Measurement, measure
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.choose.correspondence import Pairs
from sfumato.workflow.project.default_axes_and_measures import PRIVACY_MEASURES, UTILITY_MEASURES, Written

Verdict = Literal["first", "second", "alike"]
Trait = Literal["class size", "privacy loss"]

PERCENTS = (5, 25, 50, 75, 95)
# Two figures this near are the same, computed in another order.
_TIE = 1e-12


@dataclass(frozen=True)
class Figure:
    """One measure of both releases.

    Parameters
    ----------
    label, attribute
        The measure, and the sensitive attribute that it speaks of, if one.
    better
        Whether lower or higher is better.
    first, second
        The two values; ``None`` where the measure does not apply.
    verdict
        Which is better; ``None`` where one of them has no value.
    """

    label: str
    attribute: str | None
    better: Better
    first: float | None
    second: float | None
    verdict: Verdict | None


@dataclass(frozen=True)
class ClassSizes:
    """How the released records are spread over classes of identical records.

    Parameters
    ----------
    n_classes
        How many classes there are.
    smallest, largest
        The smallest and the largest class.
    percentiles
        For each percentage the class size that so many of the records do not exceed.
    weighted_k
        The class size of a record, on average over the records.
    """

    n_classes: int
    smallest: int
    largest: int
    percentiles: Mapping[int, int]
    weighted_k: float


@dataclass(frozen=True)
class WorseOff:
    """How many of the records that both releases hold are worse off in one of them.

    Parameters
    ----------
    by
        What is compared: ``class size``, or ``privacy loss`` of a record's group.
    attribute
        The sensitive attribute, if one.
    first, second, alike
        The records that are worse off in the first, in the second, and in neither.
    """

    by: Trait
    attribute: str | None
    first: float
    second: float
    alike: float


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two releases of one table side by side.

    Parameters
    ----------
    names
        What the two are called.
    figures
        Every measure of both.
    class_sizes
        How both spread the records over classes.
    losses
        For each quasi-identifier the share of its information that each release loses, records that are
        left out included; ``None`` where its released values are not sets of original ones.
    worse_off
        How many records are worse off in which; nothing where it is not known which record is which.
    released
        How many records are released by both, only by the first, only by the second, and by neither.
    expected
        Whether counts of records are expected ones: records with equal values lie in several classes of
        both releases, and nobody can tell which of them is where.
    notes
        What a reader should know, in sentences.
    """

    names: tuple[str, str]
    figures: tuple[Figure, ...]
    class_sizes: tuple[ClassSizes, ClassSizes]
    losses: Mapping[str, tuple[float | None, float | None]]
    worse_off: tuple[WorseOff, ...] = ()
    released: Mapping[str, float] | None = None
    expected: bool = False
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; infinity is the text ``Infinity``."""
        return self.to_shape().to_dict()

    def to_shape(self) -> ComparisonShape:
        """Return the document for JSON."""
        return ComparisonShape.of(
            self,
            releases=list(self.names),
            measures=[
                PairShape.of(figure, measure=figure.label, values=(figure.first, figure.second))
                for figure in self.figures
            ],
            class_sizes=[
                SizesShape.of(sizes, percentiles={str(p): size for p, size in sizes.percentiles.items()})
                for sizes in self.class_sizes
            ],
        )

    def __str__(self) -> str:
        from sfumato.workflow.report.comparison_text import comparison_words

        return "\n".join(comparison_words(self))

    def __repr__(self) -> str:
        verdicts = [each.verdict for each in self.figures]
        first, second = self.names
        return (
            f"<Comparison on {len(self.figures)} measures: {first} is better on {verdicts.count('first')}, "
            f"{second} on {verdicts.count('second')}, they are alike on {verdicts.count('alike')}>"
        )

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import comparison_html

        return comparison_html(self)


def compare(
    first: Release,
    second: Release,
    measures: Iterable[Written | Measure] = (*PRIVACY_MEASURES, *UTILITY_MEASURES),
    *,
    names: tuple[str, str] = ("first", "second"),
) -> Comparison:
    """Compare two releases of one table.

    Parameters
    ----------
    first, second
        The releases.
    measures
        What to measure of both.
    names
        What to call them.

    References
    ----------
    R. Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques using
    multi-objective optimization", 2011,
    section 3: two releases with the same k may protect most people very differently.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> fine, coarse = (sanitize(*datasets.hospital(), Mondrian(KAnonymity(k))) for k in (2, 6))
    >>> found = compare(fine, coarse, ["k-anonymity"])
    >>> found.figures[0].verdict, found.worse_off[0].first, found.worse_off[0].second
    ('second', 12, 0)
    """
    if first.n_original != second.n_original:
        raise ParameterError(
            f"the releases are of tables with {first.n_original:,} and {second.n_original:,} records; "
            "compare releases of one table"
        )
    asked = list(measures)
    facts: dict[str, Any] = {}
    notes = [*_notes(first, second)]
    pairs = Pairs.of(first, second)
    if pairs is None:
        notes.append("It is not known which released record is which, so nobody is counted as worse off.")
    else:
        facts = {
            "worse_off": _worse_off(first, second, pairs),
            "released": pairs.released,
            "expected": pairs.expected,
        }
    return Comparison(
        names,
        figures_of(measure(first, asked), measure(second, asked)),
        (_class_sizes(first), _class_sizes(second)),
        {
            name: (first.information_lost(name), second.information_lost(name))
            for name in first.schema.quasi_identifiers
        },
        notes=tuple(notes),
        **facts,
    )


def figures_of(first: Iterable[Measurement], second: Iterable[Measurement]) -> tuple[Figure, ...]:
    """Pair the measurements of two releases; those of one measure and attribute keep their order."""
    waiting: dict[tuple[str, str | None], list[Measurement]] = {}
    for one in second:
        waiting.setdefault((one.label, one.attribute), []).append(one)
    figures = []
    for one in first:
        others = waiting.get((one.label, one.attribute), [])
        figures.append(_figure(one, others.pop(0).value if others else None))
    left = [one for those in waiting.values() for one in those]
    return (*figures, *(Figure(m.label, m.attribute, m.better, None, m.value, None) for m in left))


def _figure(one: Measurement, other: float | None) -> Figure:
    verdict: Verdict | None = None
    if one.value is not None and other is not None:
        first_is_better = (one.value < other) == (one.better == "lower")
        alike = one.value == other or math.isclose(one.value, other, rel_tol=_TIE, abs_tol=_TIE)
        verdict = "alike" if alike else "first" if first_is_better else "second"
    return Figure(one.label, one.attribute, one.better, one.value, other, verdict)


def _class_sizes(release: Release) -> ClassSizes:
    sizes = release.classes.sizes
    return ClassSizes(
        n_classes=len(sizes),
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
        percentiles={percent: int(percentile(sizes, sizes, percent)) for percent in PERCENTS},
        weighted_k=WeightedK().measure(release)[0].value or 0.0,
    )


def _notes(first: Release, second: Release) -> Iterable[str]:
    noisy = [name for name in first.schema.released if _is_noisy(first, name) or _is_noisy(second, name)]
    if noisy:
        yield f"Noise is drawn anew each time: figures about {', '.join(noisy)} are those of this drawing."


def _is_noisy(release: Release, name: str) -> bool:
    return name in release.cells and release.cells[name].sets is None


def _worse_off(first: Release, second: Release, pairs: Pairs) -> tuple[WorseOff, ...]:
    counted = [
        _count_worse_off("class size", None, pairs, _negated_class_sizes(first), _negated_class_sizes(second))
    ]
    for name in first.groups.sensitive:
        if name in second.groups.sensitive:
            losses = (_privacy_losses(release, name) for release in (first, second))
            counted.append(_count_worse_off("privacy loss", name, pairs, *losses))
    return tuple(counted)


def _count_worse_off(
    by: Trait, attribute: str | None, pairs: Pairs, first: Floats, second: Floats
) -> WorseOff:
    """Count records by a figure of each released row where higher is worse."""
    more = first[pairs.first] - second[pairs.second]
    return WorseOff(
        by,
        attribute,
        first=pairs.count(pairs.in_both & (more > _TIE)),
        second=pairs.count(pairs.in_both & (more < -_TIE)),
        alike=pairs.count(pairs.in_both & (abs(more) <= _TIE)),
    )


def _negated_class_sizes(release: Release) -> Floats:
    """Return the negated class size of each released row: a smaller class is worse."""
    return -release.classes.sizes[release.classes.class_of].astype(np.float64)


def _privacy_losses(release: Release, name: str) -> Floats:
    """Return for each released row the privacy loss of its group."""
    return jensen_shannon(release.groups.sensitive[name])[release.groups.class_of]
