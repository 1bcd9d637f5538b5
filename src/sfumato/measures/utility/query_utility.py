"""What a researcher loses by querying the release instead of the original."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from sfumato.data.table import Table
from sfumato.kernels.row_groups import sum_by_group, value_counts
from sfumato.kernels.weight_estimates import divergences
from sfumato.measures.utility.estimation.estimate import Estimate, Mixtures, Spread
from sfumato.measures.utility.estimation.random_queries import (
    Queries,
    SelectivityRule,
    TooFewQueries,
    satisfied_queries,
)
from sfumato.measures.utility.estimation.reconstruction import (
    Reconstruction,
    Unreadable,
    blind_estimate,
    reconstructed,
    true_estimate,
    uniform_estimate_of_all,
)
from sfumato.measures.utility.estimation.subpopulations import Populations, alike_in, large_populations
from sfumato.measures.utility.percentiles import NORMAL_95
from sfumato.registry.declarations import (
    EVERY_TYPE,
    AtLeast,
    AtMost,
    Axis,
    Better,
    Detail,
    PositiveShare,
    ReleaseType,
    Seed,
    Words,
)
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import origin_of, released
from sfumato.results.measurement import Measure, Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats
from sfumato.runtime.caching import remembered

# Equal distributions, computed in two ways, may differ in the last digit: they have divergence 0.
_ROUNDING = 1e-13
_KEPT = 2**24
"""True counts of so many populations and values are kept for the next release; more are counted again."""

_EXACT = 2**24
"""Numbers of records up to this one are exact in single precision."""


class _ResearchLoss(Measure):
    """A comparison of estimates from a release with the same estimates from the original."""

    axis: ClassVar[Axis] = "utility"
    better: ClassVar[Better] = "lower"
    judges: ClassVar[tuple[ReleaseType, ...]] = EVERY_TYPE

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return one measurement for each sensitive attribute."""
        if not release.schema.quasi_identifiers:
            raise NotApplicable("the release has no quasi-identifier")
        try:
            table = origin_of(release).table
            if release.survey_weights is None and table.survey_weights is not None:
                # the release cannot link the weights to its records
                table = replace(table, survey_weights=None)
            return self.of_attributes(release, table, tuple(self.attributes(release)))
        except (Unreadable, TooFewQueries) as reason:
            raise NotApplicable(str(reason)) from None

    def attributes(self, release: Release) -> Sequence[str | None]:
        """Return the sensitive attributes to measure."""
        if not release.schema.sensitive:
            raise NotApplicable("the release has no sensitive attribute")
        return release.schema.sensitive

    @abstractmethod
    def of_attributes(
        self, release: Release, table: Table, names: Sequence[str | None]
    ) -> tuple[Measurement, ...]:
        """Return the measurements of the sensitive attributes."""


class _LossByAttribute(_ResearchLoss):
    """A loss that is computed for one sensitive attribute after the other."""

    def of_attributes(
        self, release: Release, table: Table, names: Sequence[str | None]
    ) -> tuple[Measurement, ...]:
        """Return the measurements of the sensitive attributes, one after the other."""
        return tuple(self.of_attribute(release, table, name) for name in names)

    @abstractmethod
    def of_attribute(self, release: Release, table: Table, name: str | None) -> Measurement:
        """Return the measurement of one sensitive attribute."""


@register
@dataclass(frozen=True)
class UtilityLoss(_ResearchLoss):
    """The divergence of estimated from true sensitive distributions in large populations.

    The mean over all large populations y of the Jensen-Shannon divergence between the true
    distribution of the sensitive attribute in y and the one that a researcher estimates from the
    release, in [0, log 2]. A population is a conjunction of hierarchy nodes, at most one for each
    quasi-identifier. If many quasi-identifiers give too many populations, only conjunctions of fewer
    quasi-identifiers count, ``attributes-together`` in the detail. The choice depends on the original alone,
    so all its releases are compared by the same populations. The baseline is the same figure with all
    quasi-identifiers withheld. A population without released records is estimated to be like all released
    records. With survey weights, each record counts as the people that it represents, but a population is
    large by its number of records.

    Parameters
    ----------
    minimum_support
        The smallest share of the records of a large population.
    reconstruction
        How the original is estimated. ``uniform``: every value that a cell may stand for is equally likely,
        and so is every sensitive value of a record's group (as in the papers). ``maximum-entropy``: open
        values of a cell are estimated from the rest of the release. In both, a noisy number counts as the
        nearest original one.

    References
    ----------
    N. Li, T. Li, "On the tradeoff between privacy and utility in data publishing", 2009, section 4.2.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import AsIs, SuppressQuasiIdentifiers
    >>> UtilityLoss().measure(sanitize(*datasets.hospital(), AsIs()))[0].value
    0.0
    >>> (withheld,) = UtilityLoss().measure(sanitize(*datasets.hospital(), SuppressQuasiIdentifiers()))
    >>> withheld.value == withheld.baseline
    True
    """

    minimum_support: PositiveShare = 0.05
    reconstruction: Reconstruction = "uniform"

    words: ClassVar[Words] = Words(
        "utility loss",
        "How far the sensitive distributions that a researcher would estimate for large sub-populations "
        "lie from the true ones, on average (Jensen-Shannon divergence).",
        "0: all of them are estimated exactly.",
        "0 to 0.693 (log 2)",
        sentence="what a researcher estimates for large sub-populations is off by {} on average, on a "
        "scale from 0 to 0.693",
        baseline="with quasi-identifiers withheld",
        details={
            "populations": Detail("large populations"),
            "attributes-together": Detail("quasi-identifiers together, at most"),
            "percentile-95": Detail("95th percentile"),
        },
        ends=("estimates are exact", "estimates are as wrong as possible"),
    )
    version: ClassVar[int] = 2

    def of_attributes(
        self, release: Release, table: Table, names: Sequence[str | None]
    ) -> tuple[Measurement, ...]:
        """Return the mean divergences, with the worst and the 95th percentile in the detail."""
        sensitive = [name for name in names if name is not None]
        populations, losses, baselines = self.by_population(release, table, sensitive)
        counted = {"populations": len(populations)}
        if populations.most_attributes is not None:
            counted["attributes-together"] = populations.most_attributes
        return tuple(
            self.measurement(
                float(of_name.mean()),
                attribute=name,
                baseline=float(baseline),
                detail={
                    **counted,
                    "worst": float(of_name.max()),
                    "percentile-95": float(np.quantile(of_name, 0.95, method="inverted_cdf")),
                },
            )
            for name, of_name, baseline in zip(names, losses, baselines, strict=True)
        )

    def by_population(
        self, release: Release, table: Table, names: Sequence[str]
    ) -> tuple[Populations, Floats, Floats]:
        """Return the large populations and their losses for each sensitive attribute.

        That is the divergence of each population, and the mean with everything withheld. Attributes are
        processed together if their estimates agree.
        """
        populations = large_populations(table, release.schema, self.minimum_support)
        if not len(populations):
            if all(len(np.unique(table[name].codes)) < 2 for name in release.schema.quasi_identifiers):
                raise NotApplicable(
                    "every quasi-identifier is the same for everybody, so that there are no parts of the "
                    "table to compare; give another column that role"
                )
            raise NotApplicable(
                f"no population holds {self.minimum_support:.3g} of the records; lower minimum-support"
            )
        together = [tuple(names)] if self.reconstruction == "uniform" else [(name,) for name in names]
        lost = [self._lost(release, table, attributes, populations) for attributes in together]
        return (
            populations,
            np.concatenate([losses for losses, _ in lost]),
            np.concatenate([b for _, b in lost]),
        )

    def _lost(
        self, release: Release, table: Table, names: tuple[str, ...], populations: Populations
    ) -> tuple[Floats, Floats]:
        key = ("true populations", table.fingerprint, release.schema.fingerprint, names, self.minimum_support)
        truth = remembered(key, lambda: _TruePopulations.of(release, table, names, populations))
        if self.reconstruction == "uniform":
            return truth.losses(uniform_estimate_of_all(release, names)), truth.baselines
        (name,) = names
        return truth.losses(reconstructed(release, name, self.reconstruction)), truth.baselines


@register
@dataclass(frozen=True)
class QueryError(_LossByAttribute):
    """The mean relative error of random count queries that are answered from the release.

    A query asks how many records have one of some accepted values in each of a few quasi-identifiers and in
    the sensitive attribute. Each attribute of A values accepts ⌈A · selectivity^(1/(d+1))⌉ of them, d being
    the number of quasi-identifiers: neighbours if they are numbers, else any. With ``rule = "each"`` it
    accepts ⌈A · selectivity⌉, so that a query accepts fewer combinations the more attributes it asks about.
    Queries that no record satisfies are drawn again. The value is a share: 0.05 is an error of 5%. The
    interval has the true mean over all such queries with 95% confidence (normal approximation); the
    baseline is the error when all quasi-identifiers are withheld. The same seed asks every release the same
    queries. With survey weights, a query asks for the people that the records stand for.

    Parameters
    ----------
    queries
        How many queries.
    dimensions
        How many quasi-identifiers each asks about.
    selectivity
        The share of all combinations of values that a query accepts, roughly.
    rule
        ``joint``, or ``each`` where the selectivity is that of each attribute.
    seed
        The seed for drawing queries.
    reconstruction
        How the release is read, ``uniform`` or ``maximum-entropy``; see `utility-loss`.

    References
    ----------
    N. Li, T. Li, "On the tradeoff between privacy and utility in data publishing", 2009, section 5.2.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> QueryError(queries=20).measure(sanitize(*datasets.hospital(), AsIs()))[0].value
    0.0
    """

    queries: Annotated[int, AtLeast(1), AtMost(1_000_000)] = 1000
    dimensions: Annotated[int, AtLeast(1), AtMost(1_000)] = 2
    selectivity: PositiveShare = 0.05
    seed: Seed = 0
    reconstruction: Reconstruction = "uniform"
    rule: SelectivityRule = "joint"

    words: ClassVar[Words] = Words(
        "query error",
        "The mean relative error of count queries when they are answered from the release.",
        "0%: every query is answered exactly.",
        "0% to ∞",
        "share",
        sentence="count queries are answered with a mean error of {}",
        baseline="with quasi-identifiers withheld",
        details={
            "redrawn": Detail("queries drawn again"),
        },
        ends=("counts are exact", "counts are useless"),
    )

    def of_attribute(self, release: Release, table: Table, name: str | None) -> Measurement:
        """Return the mean error, with the median in the detail."""
        available = len(release.schema.quasi_identifiers)
        if self.dimensions > available:
            raise NotApplicable(
                f"a query about {self.dimensions} quasi-identifiers needs as many, and there are {available}"
            )
        facts = (self.queries, self.dimensions, self.selectivity, self.rule, self.seed)
        key = ("queries", table.fingerprint, release.schema.fingerprint, name, facts)
        queries, true, baseline, redrawn = remembered(key, lambda: self._asked(release, table, name or ""))
        errors = _relative(queries.answers(reconstructed(release, name, self.reconstruction)), true)
        mean = float(errors.mean())
        interval = None
        if len(errors) > 1:
            radius = NORMAL_95 * float(errors.std(ddof=1)) / math.sqrt(len(errors))
            interval = (max(0.0, mean - radius), mean + radius)
        return self.measurement(
            mean,
            attribute=name,
            interval=interval,
            baseline=baseline,
            detail={"median": float(np.median(errors)), "queries": len(errors), "redrawn": redrawn},
        )

    def _asked(self, release: Release, table: Table, name: str) -> tuple[Queries, Floats, float, int]:
        """Draw the queries; also return their true answers, the baseline, how many were drawn again."""
        truth = true_estimate(table, release.schema, name)
        queries, true, redrawn = satisfied_queries(
            table,
            release.schema,
            name,
            truth,
            self.queries,
            self.dimensions,
            self.selectivity,
            self.seed,
            self.rule,
        )
        blind = float(_relative(queries.answers(blind_estimate(truth)), true).mean())
        return queries, true, blind, redrawn


@register
@dataclass(frozen=True)
class KLDivergence(_LossByAttribute):
    """The Kullback-Leibler divergence of the estimated joint distribution from the true one.

    Σ p · log(p / p̂) over the distinct records of the original, natural logarithm: how many nats of
    information a researcher who trusts the estimate lacks about a record. A suppressed record may be
    anything, with the sensitive values of the released ones and of one pseudo-record that is spread evenly
    over all values. Without it, a value that only suppressed records have would be ruled out and the
    divergence infinite. The divergence is infinite if the release rules out an original record, which only
    noise does. The baseline is the figure with all quasi-identifiers withheld. With survey weights, the
    distributions are those of the people that the records represent.

    Parameters
    ----------
    reconstruction
        How the release is read, ``uniform`` or ``maximum-entropy``; see `utility-loss`.
    sensitive
        Whether the sensitive attribute (each by itself) belongs to the joint distribution, or the
        quasi-identifiers alone.

    References
    ----------
    D. Kifer, J. Gehrke, "Injecting utility into anonymized datasets", 2006.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> KLDivergence().measure(sanitize(*datasets.hospital(), AsIs()))[0].value
    0.0
    """

    reconstruction: Reconstruction = "uniform"
    sensitive: bool = True

    words: ClassVar[Words] = Words(
        "KL divergence",
        "How far the joint distribution that a researcher would reconstruct from the release lies from the"
        " original one.",
        "0: it is reconstructed exactly.",
        "0 to ∞",
        ends=("estimates are exact", "estimates rule out what occurs"),
    )

    def attributes(self, release: Release) -> Sequence[str | None]:
        """Return the sensitive attributes, or none for the quasi-identifiers alone."""
        return (release.schema.sensitive if self.sensitive else ()) or (None,)

    def of_attribute(self, release: Release, table: Table, name: str | None) -> Measurement:
        """Return the divergence over the distinct rows of the original."""
        truth = true_estimate(table, release.schema, name)
        estimate = reconstructed(release, name, self.reconstruction)
        if release.sampled or release.type == "synthetic":
            # they count for all, and one more record keeps what was not drawn from being impossible
            estimate = estimate.with_suppressed(1.0)
        elif release.n_suppressed > 0:
            estimate = estimate.with_suppressed(float(truth.weights.sum() - estimate.weights.sum()))
        baseline = _information(truth, blind_estimate(truth))
        return self.measurement(_information(truth, estimate), attribute=name, baseline=baseline)


@dataclass(frozen=True, eq=False)
class _TruePopulations:
    """The true distributions of the large populations.

    Parameters
    ----------
    truth
        The original as an estimate.
    counts
        How often each sensitive value occurs in each population, block by block; ``None`` when that is
        too much to keep.
    baselines
        The loss of each sensitive attribute when all quasi-identifiers are withheld.
    """

    populations: Populations
    truth: Estimate
    counts: tuple[npt.NDArray[Any], ...] | None
    baselines: Floats

    @classmethod
    def of(
        cls, release: Release, table: Table, names: tuple[str, ...], populations: Populations
    ) -> _TruePopulations:
        truth = _truth(release, table, names, populations)
        small = len(populations) * truth.mixtures.n_values <= _KEPT
        whole = table.survey_weights is None and truth.weights.sum() <= _EXACT
        precision = np.float32 if whole else np.float64
        counts = tuple(b.astype(precision) for b in truth.in_populations(populations)) if small else None
        unknowing = cls(populations, truth, counts, np.zeros(0)).losses(blind_estimate(truth))
        return cls(populations, truth, counts, unknowing.mean(axis=1))

    def losses(self, estimate: Estimate) -> Floats:
        """Return for each sensitive attribute the divergence of each population."""
        firsts = np.array(self.truth.mixtures.first_values)
        true_counts: Iterable[Floats] = (
            self.truth.in_populations(self.populations)
            if self.counts is None
            else (block.astype(np.float64) for block in self.counts)
        )
        blocks = zip(true_counts, estimate.in_populations(self.populations), strict=True)
        losses = [divergences(true, guessed, estimate.overall, firsts) for true, guessed in blocks]
        together = np.concatenate(losses, axis=1)
        return np.where(together < _ROUNDING, 0.0, np.minimum(together, math.log(2)))


def _truth(release: Release, table: Table, names: tuple[str, ...], populations: Populations) -> Estimate:
    """Return the original as an estimate for these populations.

    Records that lie in the same nodes are in the same populations and are counted together; with survey
    weights that are no whole numbers the sums would differ in their last digits.
    """
    if table.survey_weights is not None:
        return uniform_estimate_of_all(released(table, release.schema, {}), names)
    columns = [table[name] for name in release.schema.quasi_identifiers]
    row_of, rows = alike_in(populations.nodes, [column.codes for column in columns])
    n_rows = rows.shape[1]
    spreads = [Spread.of_codes(codes, len(of.domain)) for codes, of in zip(rows, columns, strict=True)]
    mixtures = []
    for name in names:
        codes, n_values = table[name].codes, len(table[name].domain)
        starts, values, counts = value_counts(row_of, n_rows, codes, n_values, table.weights)
        mixtures.append(Mixtures(starts, values, counts.astype(np.float64), n_values))
    weights = sum_by_group(row_of, n_rows, table.weights).astype(np.float64)
    return Estimate(weights, tuple(spreads), np.arange(n_rows), Mixtures.beside(mixtures))


def _relative(answers: Floats, true: Floats) -> Floats:
    return np.abs(answers - true) / true


def _information(truth: Estimate, estimate: Estimate) -> float:
    """Return KL(truth, estimate) of the joint distributions."""
    units, places, counts = truth.entries
    estimated = estimate.on_rows(truth.labels[:, units], truth.mixtures.values[places])
    if not estimated.all():
        return math.inf
    scale = estimate.weights.sum() / truth.weights.sum()
    divergence = float(counts @ np.log(counts / estimated * scale) / counts.sum())
    return 0.0 if divergence < _ROUNDING else divergence
