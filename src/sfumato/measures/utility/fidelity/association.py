"""How well a release preserves associations between attributes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.measures.utility.fidelity.base import FidelityMeasure
from sfumato.measures.utility.fidelity.single_values import SingleValues
from sfumato.registry.declarations import Seed, Words
from sfumato.registry.methods import register
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Codes, Floats


@register
@dataclass(frozen=True)
class CorrelationDifference(FidelityMeasure):
    """The mean difference between the correlations in the release and those in the original.

    The mean over all pairs of attributes of the absolute difference. Two numbers: Pearson's correlation; two
    categories: Cramér's V; one of each: the correlation ratio, the root of the share of the number's variance
    that the category explains. One value is drawn from each released set. The baseline is the figure when
    every attribute is drawn independently, without any association.

    Parameters
    ----------
    seed
        The seed for drawing values from sets.

    References
    ----------
    H. Cramér, "Mathematical methods of statistics", 1946; R. Fisher, "Statistical methods for research
    workers", 1925.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> CorrelationDifference().measure(sanitize(*datasets.hospital(), AsIs()))[0].value
    0.0
    """

    seed: Seed = 0

    words: ClassVar[Words] = Words(
        "correlation difference",
        "How far the correlation of two attributes in the release lies from that in the original, on average "
        "over all pairs.",
        "0: whatever goes together in the original does so in the release, as strongly.",
        "0 to 2",
        sentence="correlations of two attributes are off by {} on average",
        baseline="with every attribute drawn by itself",
        ends=("correlations as in the original", "correlations turned around"),
    )

    def compared(self, release: Release, true: SingleValues, released: SingleValues) -> Iterator[Measurement]:
        """Yield the mean difference, with the worst pair in the detail."""
        pairs = list(itertools.combinations(true.codes, 2))
        in_original = np.array([association(true, *pair) for pair in pairs])
        differences = np.abs(in_original - [association(released, *pair) for pair in pairs])
        worst = int(differences.argmax())
        yield self.measurement(
            float(differences.mean()),
            baseline=float(np.abs(in_original).mean()),
            detail={
                "pairs": len(pairs),
                "worst": float(differences[worst]),
                "worst-pair": ", ".join(pairs[worst]),
            },
        )


def association(records: SingleValues, first: str, second: str) -> float:
    """Return the strength of the association of two attributes: 0 none, 1 (or -1 for numbers) perfect."""
    numbers = [records.numbers.get(name) for name in (first, second)]
    known = np.ones(records.n_records, dtype=np.bool_)
    for values in numbers:
        if values is not None:
            known &= ~np.isnan(values)
    if not known.any():
        return 0.0
    if numbers[0] is not None and numbers[1] is not None:
        return _pearson(numbers[0][known], numbers[1][known])
    if numbers[0] is None and numbers[1] is None:
        return _cramer(records.codes[first], records.codes[second])
    category = first if numbers[0] is None else second
    number = numbers[1] if numbers[0] is None else numbers[0]
    assert number is not None
    return _correlation_ratio(records.codes[category][known], number[known])


def _pearson(first: Floats, second: Floats) -> float:
    spread = float(first.std() * second.std())
    return float(((first - first.mean()) * (second - second.mean())).mean() / spread) if spread else 0.0


def _cramer(first: Codes, second: Codes) -> float:
    rows, row_of = np.unique(first, return_inverse=True)
    columns, column_of = np.unique(second, return_inverse=True)
    fewer = min(len(rows), len(columns)) - 1
    if fewer < 1:
        return 0.0
    counts = np.bincount(row_of * len(columns) + column_of, minlength=len(rows) * len(columns))
    shares = counts.reshape(len(rows), len(columns)) / len(first)
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    return float(np.sqrt(((shares - expected) ** 2 / expected).sum() / fewer))


def _correlation_ratio(categories: Codes, numbers: Floats) -> float:
    total = float(numbers.var())
    if not total:
        return 0.0
    _, group = np.unique(categories, return_inverse=True)
    sizes = np.bincount(group)
    means = np.bincount(group, numbers) / sizes
    between = float(sizes @ (means - numbers.mean()) ** 2 / len(numbers))
    return float(np.sqrt(min(1.0, between / total)))
