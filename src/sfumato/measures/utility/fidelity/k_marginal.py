"""How similar the joint counts of a few attributes are in the original and in the release."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.kernels.row_groups import number_rows
from sfumato.measures.utility.fidelity.base import FidelityMeasure
from sfumato.measures.utility.fidelity.single_values import SingleValues
from sfumato.registry.declarations import AtLeast, AtMost, Better, Seed, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats, Integers


@register
@dataclass(frozen=True)
class KMarginal(FidelityMeasure):
    """NIST's k-marginal score: the similarity of the shares of all combinations of a few attributes.

    500 · (2 - mean of Σ|p - q|) over the marginals of so many attributes, p being the shares in the original
    and q those in the release: 1000 where all are equal, 0 where no combination occurs in both. Numbers with
    many values are cut at the original's quantiles. One value is drawn from each released set. If there are
    more marginals than asked for, they are sampled by the seed, the same ones for every release of a table.

    Parameters
    ----------
    attributes
        The number of attributes of a marginal.
    marginals
        The largest number of marginals to compare.
    bins
        The number of bins for numbers.
    seed
        The seed for drawing marginals, and values from sets.

    References
    ----------
    NIST, "Differential privacy synthetic data challenge", 2018; C. Task et al., "SDNist", 2023.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> KMarginal().measure(sanitize(*datasets.hospital(), AsIs()))[0].value
    1000.0
    """

    attributes: Annotated[int, AtLeast(1), AtMost(1_000)] = 3
    marginals: Annotated[int, AtLeast(1), AtMost(100_000)] = 100
    bins: Annotated[int, AtLeast(2), AtMost(100_000)] = 20
    seed: Seed = 0

    better: ClassVar[Better] = "higher"
    words: ClassVar[Words] = Words(
        "k-marginal score",
        "How alike the counts of a few attributes together are in the release and in the original: NIST's "
        "score of synthetic data.",
        "1000: all are equal. Two random halves of the Adult census, 15,081 people each, reach 934.",
        "0 to 1000",
        sentence="counts of a few attributes together reach {} of 1000 points",
        baseline="with every attribute drawn by itself",
        ends=("counts as in the original", "no count is right"),
    )

    @property
    def fewest_attributes(self) -> int:
        """The number of attributes of a marginal."""
        return self.attributes

    def compared(self, release: Release, true: SingleValues, released: SingleValues) -> Iterator[Measurement]:
        """Yield the score, with the worst marginal in the detail."""
        cuts = cut_codes(true, released, self.bins)
        chosen = self._chosen(tuple(true.codes))
        distances = np.array([_distance([cuts[name] for name in marginal]) for marginal in chosen])
        rng = np.random.default_rng([self.seed, 2])
        mixed = {name: (mine, rng.permutation(mine), size) for name, (mine, _, size) in cuts.items()}
        blind = np.mean([_distance([mixed[name] for name in marginal]) for marginal in chosen])
        worst = chosen[int(distances.argmax())]
        yield self.measurement(
            float(500 * (2 - distances.mean())),
            baseline=float(500 * (2 - blind)),
            detail={
                "marginals": len(chosen),
                "worst": float(500 * (2 - distances.max())),
                "worst-marginal": ", ".join(worst),
            },
        )

    def _chosen(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        n_marginals = math.comb(len(names), self.attributes)
        if n_marginals > 1_000_000:
            raise NotApplicable(f"there are {n_marginals:,} marginals; give fewer attributes")
        every = list(itertools.combinations(names, self.attributes))
        if len(every) <= self.marginals:
            return every
        rng = np.random.default_rng(self.seed)
        return [every[place] for place in sorted(rng.choice(len(every), self.marginals, replace=False))]


Cut = tuple[Integers, Integers, int]
"""For one attribute the part of each original record, of each released one, and the number of parts."""


def cut_codes(true: SingleValues, released: SingleValues, bins: int) -> Mapping[str, Cut]:
    """Cut numbers with many values at the original's quantiles; keep other values."""
    return {name: _cut(name, true, released, bins) for name in true.codes}


def _cut(name: str, true: SingleValues, released: SingleValues, bins: int) -> Cut:
    if name not in true.numbers or true.sizes[name] <= bins:
        return true.codes[name].astype(np.int64), released.codes[name].astype(np.int64), true.sizes[name]
    known = true.numbers[name]
    edges = np.unique(np.nanquantile(known, np.linspace(0, 1, bins + 1)[1:-1]))
    return _part(known, edges), _part(released.numbers[name], edges), len(edges) + 2


def _part(numbers: Floats, edges: Floats) -> Integers:
    part = np.searchsorted(edges, numbers, side="right")
    return np.where(np.isnan(numbers), len(edges) + 1, part)


def _distance(cuts: Sequence[Cut]) -> float:
    """Return Σ|p - q| over the combinations that occur."""
    columns = [np.concatenate([true, released]) for true, released, _ in cuts]
    combination, n_different = number_rows(columns, [size for _, _, size in cuts], len(columns[0]))
    n_true = len(cuts[0][0])
    p = np.bincount(combination[:n_true], minlength=n_different) / n_true
    q = np.bincount(combination[n_true:], minlength=n_different) / (len(combination) - n_true)
    return float(np.abs(p - q).sum())
