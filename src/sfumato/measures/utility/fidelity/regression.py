"""Whether a regression on the release agrees with a regression on the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.measures.utility.fidelity.base import TargetMeasure
from sfumato.measures.utility.fidelity.single_values import SingleValues
from sfumato.measures.utility.percentiles import NORMAL_95
from sfumato.registry.declarations import Detail, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats

_MOST_CATEGORIES = 12
_SAME = 1e-10
_NO_ERROR = 1e-6
"""Below this a standard error is rounding: the coefficient is exact."""


@register
@dataclass(frozen=True)
class RegressionLoss(TargetMeasure):
    """How little the confidence intervals of regression coefficients of release and original overlap.

    The regression is a linear one of the target on all other attributes, by least squares: numbers in units
    of the original's standard deviation, one indicator for each frequent category. A categorical target is
    the indicator of its most common value. For each coefficient, the overlap of the two 95% intervals is the
    mean of the shares that they have in common, 0 if they are disjoint; the value is one minus the mean
    overlap. The detail has the mean absolute difference of the coefficients. One value is drawn from each
    released set.

    Parameters
    ----------
    target
        The dependent attribute; by default each sensitive attribute.
    seed
        The seed for drawing values from sets.

    References
    ----------
    A. Karr et al., "A framework for evaluating the utility of data altered to protect confidentiality",
    2006.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import AsIs
    >>> RegressionLoss().measure(sanitize(*datasets.hospital(), AsIs()))[0].value
    0.0
    """

    words: ClassVar[Words] = Words(
        "regression loss",
        "How little the confidence intervals of regression coefficients from the release and from the "
        "original overlap.",
        "0%: a regression on the release finds what it finds on the original; 100%: no interval overlaps.",
        "0% to 100%",
        "share",
        sentence="{} of the confidence intervals of a regression are missed",
        baseline="with every attribute drawn by itself",
        details={"difference": Detail("mean difference of coefficients", "number")},
        ends=("all confidence intervals are kept", "all are missed"),
    )

    def of_target(
        self, release: Release, true: SingleValues, released: SingleValues, target: str
    ) -> Measurement:
        """Return the loss for one target."""
        others = [name for name in true.codes if name != target]
        design = _Design.of(true, others, target)
        first, second, mixed = (
            design.fitted(true),
            design.fitted(released),
            design.fitted(_mixed(true, self.seed)),
        )
        is_defined = first.error > _NO_ERROR
        if not is_defined.any():
            raise NotApplicable(f"{target!r} is explained by the others without error")
        return self.measurement(
            1 - _overlap(first, second, is_defined),
            attribute=target if target in release.schema.sensitive else None,
            baseline=1 - _overlap(first, mixed, is_defined),
            detail={
                "coefficients": int(is_defined.sum()),
                "difference": float(np.abs(first.value - second.value)[is_defined].mean()),
            },
        )


@dataclass(frozen=True, eq=False)
class _Coefficients:
    """The coefficients of a regression and their standard errors."""

    value: Floats
    error: Floats


@dataclass(frozen=True, eq=False)
class _Design:
    """The columns of a regression, determined by the original: the same for every release."""

    target: str
    commonest: int | None
    numbers: dict[str, tuple[float, float]]
    categories: dict[str, Sequence[int]]

    @classmethod
    def of(cls, records: SingleValues, names: Sequence[str], target: str) -> _Design:
        numeric = {name: _scale(records.numbers[name]) for name in names if name in records.numbers}
        frequent = {name: _frequent(records, name) for name in names if name not in records.numbers}
        commonest = None if target in records.numbers else int(np.bincount(records.codes[target]).argmax())
        return cls(target, commonest, numeric, frequent)

    def fitted(self, records: SingleValues) -> _Coefficients:
        """Fit the regression by least squares."""
        if self.commonest is None:
            outcome = records.numbers[self.target]
        else:
            outcome = (records.codes[self.target] == self.commonest).astype(np.float64)
        columns = [np.ones(records.n_records)]
        for name, (mean, spread) in self.numbers.items():
            known = np.nan_to_num(records.numbers[name], nan=mean)
            columns.append((known - mean) / spread)
        for name, values in self.categories.items():
            columns += [(records.codes[name] == value).astype(np.float64) for value in values]
        present = ~np.isnan(outcome)
        return _least_squares(np.column_stack(columns)[present], outcome[present])


def _scale(numbers: Floats) -> tuple[float, float]:
    return float(np.nanmean(numbers)), float(np.nanstd(numbers)) or 1.0


def _frequent(records: SingleValues, name: str) -> Sequence[int]:
    """Return the most common categories except the first, which is the reference."""
    counts = np.bincount(records.codes[name])
    order = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
    return [int(value) for value in order[1:] if counts[value]]


def _least_squares(columns: Floats, outcome: Floats) -> _Coefficients:
    squares = columns.T @ columns
    # attributes that say the same share what they explain
    inverse = np.linalg.pinv(squares, rcond=_SAME, hermitian=True)
    value = inverse @ (columns.T @ outcome)
    residuals = outcome - columns @ value
    freedom = max(1, len(outcome) - len(value))
    return _Coefficients(value, np.sqrt((residuals @ residuals) / freedom * np.diag(inverse)))


def _overlap(first: _Coefficients, second: _Coefficients, is_defined: np.ndarray) -> float:
    """Return the mean share that the intervals have in common."""
    radius = [
        np.maximum(NORMAL_95 * coefficients.error, 1e-12)[is_defined] for coefficients in (first, second)
    ]
    low = np.maximum(first.value[is_defined] - radius[0], second.value[is_defined] - radius[1])
    high = np.minimum(first.value[is_defined] + radius[0], second.value[is_defined] + radius[1])
    common = np.maximum(0.0, high - low)
    # two regressions on the same records, in another order, differ in the last digits
    share = np.minimum(1.0, (common / (2 * radius[0]) + common / (2 * radius[1])) / 2).round(9)
    return float(share.mean())


def _mixed(records: SingleValues, seed: int) -> SingleValues:
    """Return records with every attribute drawn independently."""
    rng = np.random.default_rng([seed, 3])
    orders = {name: rng.permutation(records.n_records) for name in records.codes}
    return SingleValues(
        {name: codes[orders[name]] for name, codes in records.codes.items()},
        {name: numbers[orders[name]] for name, numbers in records.numbers.items()},
        records.sizes,
    )
