"""Good utility: what a release is worth to the honest user of a scenario."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, ClassVar

import numpy as np

from sfumato.data.table import Table
from sfumato.measures.scenarios.expressions import type_of
from sfumato.measures.scenarios.nearness import true_column
from sfumato.measures.scenarios.predictions import of_user, predictions, sums_key, worth_to_user
from sfumato.measures.scenarios.scenario import Scenario, weights_of
from sfumato.measures.utility.percentiles import NORMAL_95
from sfumato.registry.declarations import Axis, Better, Detail, Needs, ReleaseType, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import origin_of, released
from sfumato.results.measurement import Measure, Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats, Integers
from sfumato.runtime.caching import kept
from sfumato.runtime.errors import ParameterError

_ROWS_OF_A_SUM = 20
_FEWEST_SUMS, _MOST_SUMS = 100, 1000


@dataclass(frozen=True)
class ScenarioMeasure(Measure):
    """A measure in a scenario, given as a `Scenario` or as plain data."""

    scenario: Any = None

    needs: ClassVar[Needs] = "records"
    needs_extra: ClassVar[str | None] = "learning"
    judges: ClassVar[tuple[ReleaseType, ...]] = ("people", "perturbed")

    def __post_init__(self) -> None:
        if isinstance(self.scenario, Mapping):  # as a project file holds it
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
        """Return the measurements, if the original row of each released row is known."""
        origin = origin_of(release)
        scenario = self.scenario or Scenario()
        scenario.check({name: type_of(column) for name, column in origin.table.columns.items()})
        return tuple(self.in_scenario(release, origin.table, origin.rows, scenario))

    @abstractmethod
    def in_scenario(
        self, release: Release, table: Table, rows: Integers, scenario: Scenario
    ) -> Iterable[Measurement]:
        """Return the measurements, given the original table and the original row of each released one."""


@register
@dataclass(frozen=True)
class GoodUtility(ScenarioMeasure):
    """How much of the performance of the honest user's miners is lost with the release.

    The good utility of a miner is Σ w(x) E(predicted, true) over all records. Its decline is
    1 - U(release) / U(original), at least 0; the value is the largest decline of the miners, so the
    release is (1 - value)-utility-preserving for them. Miners are trained on the release, predict from
    it, and are compared with the true values; a suppressed record has no prediction, and is worth
    nothing. The interval has the decline of that miner with 95% confidence over records like these
    (normal approximation of a ratio). The detail has the sums of every miner.

    Parameters
    ----------
    scenario
        The user's aim: the name of a scenario of the project file, or a `Scenario`. By default every
        sensitive attribute is predicted by itself, and only exact predictions count. If the scenario names
        several targets, a miner's good utility is the sum over all of them.

    References
    ----------
    M. Sramka et al., "A practice-oriented framework for measuring privacy and utility in data
    sanitization systems", 2010, section 2.3.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.measures import Scenario, User
    >>> from sfumato.sanitizers import AsIs
    >>> scenario = Scenario(user=User("diagnosis", miners=("majority",)), folds=3)
    >>> GoodUtility(scenario).measure(sanitize(*datasets.hospital(), AsIs()))[0].value
    0.0
    """

    axis: ClassVar[Axis] = "utility"
    better: ClassVar[Better] = "lower"
    words: ClassVar[Words] = Words(
        "decline of good utility",
        "The largest part of what the data miners of an honest user achieve on the original, weighted as the "
        "scenario says, that is lost with the release.",
        "0%: no miner does worse than on the original.",
        "0% and more",
        "share",
        details={
            "unfinished": Detail("miners that did not come to an end"),
        },
        ends=("the good use works as with the original", "nothing is left of the good use"),
    )

    def in_scenario(
        self, release: Release, table: Table, rows: Integers, scenario: Scenario
    ) -> Iterable[Measurement]:
        """Return the largest decline for the targets together, or for each sensitive attribute."""
        together = scenario.user.targets
        wanted = [together] if together else [(name,) for name in release.schema.sensitive]
        if not wanted:
            raise NotApplicable("the scenario names no target, and there is no sensitive attribute")
        weights = weights_of(scenario.user.weights, table)
        return [self._declined(release, table, rows, names, scenario, weights) for names in wanted]

    def _declined(
        self,
        release: Release,
        table: Table,
        rows: Integers,
        names: tuple[str, ...],
        scenario: Scenario,
        weights: Floats,
    ) -> Measurement:
        by_miner = {
            miner: _decline(release, table, rows, names, miner, scenario, weights)
            for miner in scenario.user.miners
        }
        both = {miner: decline for miner, decline in by_miner.items() if decline is not None}
        declines = {miner: decline for miner, decline in both.items() if decline.original > 0}
        if not declines:
            raise NotApplicable(
                f"no miner has any good utility for {', '.join(map(repr, names))} on the original"
            )
        worst = max(declines, key=lambda miner: declines[miner].value)
        decline = declines[worst]
        radius = NORMAL_95 * decline.error
        detail: dict[str, Any] = {
            "target": ", ".join(names),
            "miner": worst,
            "original": decline.original,
            "released": decline.released,
            "miners": {
                miner: {"original": decline.original, "released": decline.released}
                for miner, decline in both.items()
            },
        }
        return self.measurement(
            max(decline.value, 0.0),
            attribute=names[0] if len(names) == 1 and names[0] in release.schema.sensitive else None,
            interval=(max(decline.value - radius, 0.0), max(decline.value + radius, 0.0)),
            detail=detail | unfinished(miner for miner, decline in by_miner.items() if decline is None),
        )


@dataclass(frozen=True)
class _Decline:
    """A miner's performance on the original and on the release, and the standard error of their ratio."""

    original: float
    released: float
    error: float

    @property
    def value(self) -> float:
        """The lost share of the good utility; negative if the release serves better."""
        return 1 - self.released / self.original


@dataclass(frozen=True, eq=False)
class _Utility:
    """A sum over records, with the terms of its variance.

    Parameters
    ----------
    total
        The sum over all records.
    within
        How far equal records lie from the mean of their row: the squares, added up.
    mixed
        The sums of the rows, each divided by the root of its number of records; in a large table, where
        it is kept from one run to the next, sums of many rows with random signs instead.
    """

    total: float
    within: float
    mixed: Floats = field(repr=False)

    def plus(self, other: _Utility) -> _Utility:
        """Return the sum of both; equal records may be correlated, so their spreads add at most."""
        within = (math.sqrt(max(self.within, 0.0)) + math.sqrt(max(other.within, 0.0))) ** 2
        return _Utility(self.total + other.total, within, self.mixed + other.mixed)


def _decline(
    release: Release,
    table: Table,
    rows: Integers,
    names: tuple[str, ...],
    miner: str,
    scenario: Scenario,
    weights: Floats,
) -> _Decline | None:
    """Return the decline of a miner's good utility, or ``None`` if the miner did not finish."""
    judged = (scenario, weights, scenario.user.error)
    original = released(table, release.schema, {})

    def computed() -> list[float] | None:
        old = _together(_utility_of_original(original, name, miner, scenario, weights) for name in names)
        if old is None:
            return None
        new = _together(_utility(release, rows, name, miner, scenario, weights) for name in names)
        return None if new is None else [old.total, new.total, _ratio_error(old, new)]

    sums = kept(sums_key("decline", release, names, [miner], *judged), computed)
    return None if sums is None else _Decline(*sums)


def _together(utilities: Iterable[_Utility | None]) -> _Utility | None:
    """Add up the utilities of several targets, or return ``None`` if a miner did not finish for one."""
    known: list[_Utility] = []
    for utility in utilities:
        if utility is None:
            return None
        known.append(utility)
    return reduce(_Utility.plus, known)


def _utility_of_original(
    original: Release, name: str, miner: str, scenario: Scenario, weights: Floats
) -> _Utility | None:
    """Return the good utility of the original, from the cache if the table is large."""
    every_row = np.arange(original.n_rows)

    def computed() -> list[Any] | None:
        utility = _utility(original, every_row, name, miner, scenario, weights)
        return None if utility is None else [utility.total, utility.within, utility.mixed.tolist()]

    key = sums_key("utility", original, [name], [miner], scenario, weights, scenario.user.error)
    sums = kept(key if _mixes(original.n_rows) else None, computed)
    return None if sums is None else _Utility(sums[0], sums[1], np.array(sums[2]))


def _utility(
    release: Release, rows: Integers, name: str, miner: str, scenario: Scenario, weights: Floats
) -> _Utility | None:
    """Return the sum of w(x) E(predicted, true) over all records."""
    finished, _ = predictions(release, name, [miner], scenario)
    if not finished:
        return None
    prediction, table = finished[0], origin_of(release).table
    truth = true_column(release, name).take(prediction.rows)
    of_row = rows[prediction.rows]
    hierarchy = release.schema.hierarchy(name)
    worth = weights[of_row] * worth_to_user(scenario.user, of_user(prediction, truth), truth, hierarchy)
    sums = _added(of_row, prediction.weights * worth, table.n_rows)
    squares = float(prediction.weights @ worth**2)
    of_records = sums / np.sqrt(table.weights)
    return _Utility(float(sums.sum()), squares - float(of_records @ of_records), _mixed(of_records))


def _added(of_row: Integers, values: Floats, n_rows: int) -> Floats:
    return np.bincount(of_row, values, n_rows).astype(np.float64)


def _mixes(n_rows: int) -> bool:
    """Return whether there are enough rows to hide each one in a sum of many."""
    return n_rows >= _FEWEST_SUMS * _ROWS_OF_A_SUM


def _mixed(values: Floats) -> Floats:
    """Add up many rows with random signs, which preserves the expected length of every combination.

    M. Charikar, K. Chen, M. Farach-Colton, "Finding frequent items in data streams", 2002.
    """
    if not _mixes(len(values)):
        return values
    n_sums = min(len(values) // _ROWS_OF_A_SUM, _MOST_SUMS)
    rng = np.random.default_rng(0)
    signs = rng.choice([-1.0, 1.0], len(values))
    return _added(rng.integers(0, n_sums, len(values)), signs * values, n_sums)


def _ratio_error(old: _Utility, new: _Utility) -> float:
    """Return the standard error of new / old as a ratio of sums over records, the same in both.

    Which of the equal records of a row is which is not known: they are paired at random.
    """
    if old.total <= 0:
        return 0.0
    ratio = new.total / old.total
    difference = new.mixed - ratio * old.mixed
    spread = float(difference @ difference) + new.within + ratio**2 * old.within
    return math.sqrt(max(spread, 0.0)) / old.total


def unfinished(miners: Iterable[str]) -> dict[str, str]:
    """Name in the detail the miners that did not finish."""
    names = ", ".join(dict.fromkeys(miners))
    return {"unfinished": names} if names else {}
