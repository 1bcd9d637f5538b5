"""What a release is worth to the honest user of a scenario, and what it is worth to the adversary."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sfumato.arrays import Floats, Integers
from sfumato.errors import ParameterError
from sfumato.expressions import Type, type_of
from sfumato.kernels.grouping import sum_by_group
from sfumato.measures.base import Axis, Measure, Measurement, Needs, NotApplicable
from sfumato.measures.mining import (
    Attempt,
    attack,
    common_entries,
    exactly,
    of_user,
    predictions,
    worth_to_adversary,
    worth_to_user,
)
from sfumato.measures.nearness import Told, nearer, released_as, true_column
from sfumato.measures.percentiles import NORMAL_95
from sfumato.models.base import Better
from sfumato.registry import register
from sfumato.release import Release, released
from sfumato.scenario import Scenario, weights_of
from sfumato.table import Table


@dataclass(frozen=True)
class ScenarioMeasure(Measure):
    """A measure in a scenario: a `Scenario`, or the same as plain data."""

    scenario: Any = None

    needs: ClassVar[Needs] = "records"

    def __post_init__(self) -> None:
        if isinstance(self.scenario, Mapping):
            object.__setattr__(self, "scenario", Scenario.of(self.scenario))
        if not isinstance(self.scenario, (Scenario, type(None))):
            raise ParameterError(
                "the scenario is not known; describe it in the project file as [scenarios.NAME]"
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The name of the scenario."""
        return {} if self.scenario is None else {"scenario": self.scenario.name or "unnamed"}

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the measurements, where each released row is known to come from an original one."""
        if release.original is None or release.rows is None:
            raise NotApplicable("which record each released row comes from is not known")
        scenario = self.scenario or Scenario()
        scenario.check(_types(release.original))
        return tuple(self.in_scenario(release, release.original, release.rows, scenario))

    @abstractmethod
    def in_scenario(
        self, release: Release, table: Table, rows: Integers, scenario: Scenario
    ) -> Iterable[Measurement]:
        """Return the measurements, given the original table and the original row of each released one."""


@register
@dataclass(frozen=True)
class GoodUtility(ScenarioMeasure):
    """How much of what the honest user's miners achieve on the original is lost with the release.

    The good utility of a miner is Σ w(x) E(predicted, true) over all records. Its decline is
    1 - U(release) / U(original), at least 0; the value is the largest decline of the miners, so the
    release is (1 - value)-utility-preserving for them. Miners are trained on the release, predict from
    it, and are compared with the true values; a suppressed record has no prediction, and is worth
    nothing. The interval has the decline of that miner with 95% confidence over records like these
    (normal approximation of a ratio). The detail has the sums of every miner.

    Parameters
    ----------
    scenario
        What the user wants: the name of a scenario of the project file, or a `Scenario`. By default
        every sensitive attribute is predicted, and exactly the right predictions count.

    References
    ----------
    M. Sramka et al., "A practice-oriented framework for measuring privacy and utility in data
    sanitization systems", 2010, section 2.3.

    Examples
    --------
    >>> from sfumato import AsIs, Scenario, User, datasets, sanitize
    >>> scenario = Scenario(user=User("diagnosis", miners=("majority",)), folds=3)
    >>> GoodUtility(scenario).measure(sanitize(*datasets.hospital(), AsIs()))[0].value
    0.0
    """

    axis: ClassVar[Axis] = "utility"
    better: ClassVar[Better] = "lower"

    def in_scenario(
        self, release: Release, table: Table, rows: Integers, scenario: Scenario
    ) -> Iterable[Measurement]:
        """Return the largest decline for the target, or for each sensitive attribute."""
        target = scenario.user.target
        names = release.schema.sensitive if target is None else (target,)
        if not names:
            raise NotApplicable("the scenario names no target, and there is no sensitive attribute")
        weights = weights_of(scenario.user.weights, table)
        return [self._declined(release, table, rows, name, scenario, weights) for name in names]

    def _declined(
        self, release: Release, table: Table, rows: Integers, name: str, scenario: Scenario, weights: Floats
    ) -> Measurement:
        original = released(table, release.schema, {})
        before, lacking = _utilities(original, np.arange(table.n_rows), name, scenario, weights)
        after, lacking_after = _utilities(release, rows, name, scenario, weights)
        both = {miner: (before[miner], after[miner]) for miner in before if miner in after}
        declines = {miner: 1 - new.total / old.total for miner, (old, new) in both.items() if old.total > 0}
        if not declines:
            raise NotApplicable(f"no miner has any good utility for {name!r} on the original")
        worst = max(declines, key=lambda miner: declines[miner])
        value = max(declines[worst], 0.0)
        old, new = both[worst]
        radius = NORMAL_95 * _ratio_error(old, new)
        detail: dict[str, Any] = {
            "target": name,
            "miner": worst,
            "original": old.total,
            "released": new.total,
            "miners": {
                miner: {"original": old.total, "released": new.total} for miner, (old, new) in both.items()
            },
        }
        return self.taken(
            value,
            attribute=name if name in release.schema.sensitive else None,
            interval=(max(declines[worst] - radius, 0.0), max(declines[worst] + radius, 0.0)),
            detail=detail | _unfinished((*lacking, *lacking_after)),
        )


@dataclass(frozen=True, eq=False)
class _Utility:
    """A sum over records, with what its variance needs: for each original row the sum and the squares."""

    sums: Floats = field(repr=False)
    squares: Floats = field(repr=False)
    counts: Integers = field(repr=False)

    @property
    def total(self) -> float:
        """The sum over all records."""
        return float(self.sums.sum())


def _utilities(
    release: Release, rows: Integers, name: str, scenario: Scenario, weights: Floats
) -> tuple[dict[str, _Utility], list[str]]:
    """Return w(x) E(predicted, true) of each miner, added up for each original row."""
    found, lacking = predictions(release, name, scenario.user.miners, scenario)
    hierarchy = release.schema.hierarchy(name)
    utilities = {}
    for each in found:
        truth = true_column(release, name).take(each.rows)
        of_row = rows[each.rows]
        worth = weights[of_row] * worth_to_user(scenario.user, of_user(each, truth), truth, hierarchy)
        utilities[each.miner] = _Utility(
            _added(of_row, each.weights * worth, len(weights)),
            _added(of_row, each.weights * worth**2, len(weights)),
            sum_by_group(of_row, len(weights), each.weights),
        )
    return utilities, lacking


def _added(of_row: Integers, values: Floats, n_rows: int) -> Floats:
    return np.bincount(of_row, values, n_rows).astype(np.float64)


def _ratio_error(old: _Utility, new: _Utility) -> float:
    """Return the standard error of new / old as a ratio of sums over records, the same in both.

    Which of the equal records of a row is which is not known: they are paired at random.
    """
    ratio = new.total / old.total
    products = old.sums * new.sums / np.maximum(old.counts, 1)
    spread = float((new.squares - 2 * ratio * products + ratio**2 * old.squares).sum())
    return math.sqrt(max(spread, 0.0)) / old.total


@register
@dataclass(frozen=True)
class AntiUtility(ScenarioMeasure):
    """How much the adversary of a scenario learns about the people by mining the release.

    The anti-utility of a miner is Σ v(x) E*(predicted, released, true) over all records; the value is
    that of the worst miner divided by Σ v(x), so 0.1 is one person in ten. The detail has both sums of
    the paper, ``worst-sum`` and ``average-sum``, which miner is the worst, its shares of exact and of nearer
    predictions, and the share of people whose true value the release tells anyway. The baseline is
    the value for an adversary who says the same of everybody. The interval has the value with 95%
    confidence over records like these (normal approximation).

    Where sets of values are released, a distance is the number of values less one of a set that holds
    the truth, a single value being a set of one; a set without the truth is infinitely far. Where
    numbers are released with noise, it is the difference.

    Parameters
    ----------
    scenario
        What the adversary wants: the name of a scenario of the project file, or a `Scenario`. By
        default every sensitive attribute is attacked, and exact predictions count.

    References
    ----------
    M. Sramka et al., "A practice-oriented framework for measuring privacy and utility in data
    sanitization systems", 2010, section 2.4.

    Examples
    --------
    >>> from sfumato import Adversary, KAnonymity, Mondrian, Scenario, datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> scenario = Scenario(adversary=Adversary(("age",), miners=("majority",), guesses="values"), folds=3)
    >>> AntiUtility(scenario).measure(release)[0].detail["worst-miner"]
    'majority'
    """

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"

    def in_scenario(
        self, release: Release, table: Table, rows: Integers, scenario: Scenario
    ) -> Iterable[Measurement]:
        """Return the anti-utility of the worst miner, over all attacked attributes together."""
        names = scenario.adversary.attributes or release.schema.sensitive
        if not names:
            raise NotApplicable("the scenario names no attacked attribute, and none is sensitive")
        weights = weights_of(scenario.adversary.weights, table)
        total = float(weights @ table.weights)
        if total == 0:
            raise NotApplicable("the weights of the adversary are 0 for every record")
        of_row = weights[rows]
        attacks = [_Attack.of(release, name, scenario) for name in names]
        tried = {
            miner: _joined(attacks, miner) for miner in dict.fromkeys(m for a in attacks for m in a.gains)
        }
        sums = {miner: each.sum(of_row, "worth") for miner, each in tried.items()}
        worst = max(sums, key=lambda miner: sums[miner])
        alone = [sums[miner] for miner in sums if not any(a.is_fused(miner) for a in attacks)]
        value = sums[worst] / total
        radius = NORMAL_95 * _share_error(
            tried[worst], of_row, value, total, float(weights @ (table.weights * weights))
        )
        detail = {
            "attributes": ", ".join(names),
            "worst-sum": sums[worst],
            "average-sum": sum(alone) / len(alone),
            "worst-miner": worst,
            "exact": tried[worst].sum(of_row, "exact") / total,
            "nearer": tried[worst].sum(of_row, "nearer") / total,
            "told-anyway": _told_anyway(release, names, of_row) / total,
            "miners": sums,
        }
        common = (
            _joined([a for a in attacks if a.commonest], None) if any(a.commonest for a in attacks) else None
        )
        return [
            self.taken(
                value,
                attribute=names[0] if len(names) == 1 and names[0] in release.schema.sensitive else None,
                interval=(value - radius, value + radius),
                baseline=None if common is None else common.sum(of_row, "worth") / total,
                detail=detail | _unfinished(miner for a in attacks for miner in a.unfinished),
            )
        ]


@dataclass(frozen=True, eq=False)
class _Gain:
    """What one adversary gains from every released record, entry by entry in the order of the rows."""

    rows: Integers = field(repr=False)
    weights: Integers = field(repr=False)
    worth: Floats = field(repr=False)
    exact: Floats = field(repr=False)
    nearer: Floats = field(repr=False)

    def sum(self, of_row: Floats, what: str) -> float:
        """Add up over all records, each with the weight of its row."""
        return float((self.weights * of_row[self.rows]) @ getattr(self, what))


@dataclass(frozen=True, eq=False)
class _Attack:
    """All gains from the attack on one attribute, by miner."""

    gains: dict[str, _Gain]
    commonest: _Gain | None
    fused: frozenset[str]
    unfinished: tuple[str, ...]

    @classmethod
    def of(cls, release: Release, name: str, scenario: Scenario) -> _Attack:
        attempts = attack(release, name, scenario)
        told, truth = released_as(release, name), true_column(release, name)

        def gain(attempt: Attempt) -> _Gain:
            here = told.take(attempt.rows)
            worth = worth_to_adversary(scenario.adversary, attempt.told, here, truth.take(attempt.rows))
            near = nearer(attempt.told.distance, here.distance, scenario.adversary.c)
            exact = exactly(attempt.told).astype(np.float64)
            return _Gain(attempt.rows, attempt.weights, worth, exact, near.astype(np.float64))

        return cls(
            {attempt.miner: gain(attempt) for attempt in attempts.every},
            None if attempts.commonest is None else gain(attempts.commonest),
            frozenset(attempt.miner for attempt in attempts.every if attempt.is_fused),
            attempts.unfinished,
        )

    def is_fused(self, miner: str) -> bool:
        """Return whether a name stands for several miners together."""
        return miner in self.fused


def _joined(attacks: Sequence[_Attack], miner: str | None) -> _Gain:
    """Take for each record the attribute where this miner (the commonest value, without one) gains most."""
    found = [attack.commonest if miner is None else attack.gains.get(miner) for attack in attacks]
    gains = [gain for gain in found if gain is not None]
    weights, entries = common_entries([gain.weights for gain in gains])

    def most(what: str) -> Floats:
        return np.max(
            [getattr(gain, what)[entry] for gain, entry in zip(gains, entries, strict=True)], axis=0
        )

    return _Gain(gains[0].rows[entries[0]], weights, most("worth"), most("exact"), most("nearer"))


def _told_anyway(release: Release, names: Sequence[str], of_row: Floats) -> float:
    """Add up the weights of the records of which the release tells some attacked value exactly."""
    told: list[Told] = [released_as(release, name) for name in names]
    return float((release.weights * of_row) @ np.logical_or.reduce([exactly(each) for each in told]))


def _share_error(gain: _Gain, of_row: Floats, share: float, total: float, squares: float) -> float:
    """Return the standard error of a weighted share; suppressed records gained nothing."""
    weights = of_row[gain.rows]
    inside = float((gain.weights * weights**2) @ (gain.worth - share) ** 2)
    outside = (squares - float(gain.weights @ weights**2)) * share**2
    return math.sqrt(max(inside + outside, 0.0)) / total


def _types(table: Table) -> dict[str, Type]:
    return {name: type_of(column) for name, column in table.columns.items()}


def _unfinished(miners: Iterable[str]) -> dict[str, str]:
    names = ", ".join(dict.fromkeys(miners))
    return {"unfinished": names} if names else {}
