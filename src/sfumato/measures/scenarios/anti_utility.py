"""Anti-utility: what a release is worth to the adversary, and how much of that is about its people."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from sfumato.data.table import Table
from sfumato.measures.scenarios.control import Control, control_group
from sfumato.measures.scenarios.good_utility import ScenarioMeasure, unfinished
from sfumato.measures.scenarios.nearness import Told, nearer, released_as, true_column
from sfumato.measures.scenarios.predictions import (
    DATA_MINER,
    Attempt,
    Mine,
    attempts_at,
    common_entries,
    commonest,
    exactly,
    suited,
    suits,
    sums_key,
    worth_to_adversary,
)
from sfumato.measures.scenarios.scenario import Scenario, weights_of
from sfumato.measures.utility.percentiles import NORMAL_95
from sfumato.registry import methods
from sfumato.registry.declarations import Attacker, Axis, Better, Detail, Guards, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats, Integers
from sfumato.runtime.caching import kept
from sfumato.runtime.progress import speaking_of


@register
@dataclass(frozen=True)
class AntiUtility(ScenarioMeasure):
    """How much the adversary of a scenario learns about people by mining the release.

    The anti-utility of a miner is Σ v(x) E*(predicted, released, true) over all records; the value is
    that of the worst miner divided by Σ v(x), so 0.1 is one person in ten. The detail has both sums of
    the paper, ``worst-sum`` and ``average-sum``, which miner is the worst, its shares of exact and of nearer
    predictions, and the share of people whose true value the release reveals anyway. The baseline is the
    value for an adversary who predicts the same for everyone. The interval has the value with 95% confidence
    over records like these (normal approximation).

    General knowledge is not a breach. So some people are held out, the release is made again without them,
    and the miners are trained on all of it and predict its people (``members``) as well as the held-out
    people (``control``). The detail has both shares for the miner with the largest difference, and the
    difference, ``beyond-control``, with its own 95% interval from ``beyond-control-low`` to
    ``beyond-control-high``; or else ``no-control``, the reason why there is none.

    If sets of values are released, the distance of a set that holds the truth is its number of values less
    one (a single value is a set of one); a set without the truth is infinitely far. If numbers are released
    with noise, it is the difference.

    Parameters
    ----------
    scenario
        What the adversary wants: the name of a scenario of the project file, or a `Scenario`. By
        default every sensitive attribute is attacked, and exact predictions count.

    References
    ----------
    M. Sramka et al., "A practice-oriented framework for measuring privacy and utility in data
    sanitization systems", 2010, section 2.4; for the control group M. Giomi et al., "A unified framework
    for quantifying privacy risk in synthetic data", 2023.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.measures import Adversary, Scenario
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> scenario = Scenario(adversary=Adversary(("age",), miners=("majority",), guesses="values"), folds=3)
    >>> AntiUtility(scenario).measure(release)[0].detail["worst-miner"]
    'majority'
    """

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "attribute"
    against: ClassVar[Attacker] = DATA_MINER
    version: ClassVar[int] = 2  # nobody comes nearer to a value that is shown as it is
    words: ClassVar[Words] = Words(
        "anti-utility",
        "The share of the people, weighted as the scenario says, about whom the best data miner of an "
        "adversary learns what the adversary wants.",
        "At or below the baseline: mining the release tells no more than saying the same of everybody.",
        "0% to 100% for the named functions",
        "share",
        baseline="the same said of everybody",
        details={
            "worst-sum": Detail("worst miner's sum"),
            "average-sum": Detail("average of the miners' sums"),
            "worst-miner": Detail("worst miner"),
            "told-anyway": Detail("told by the release anyway"),
            "members": Detail("gained of people in a second release"),
            "control": Detail("gained of people left out of it"),
            "control-miner": Detail("miner with the largest difference"),
            "beyond-control": Detail("gained beyond the control group"),
            "beyond-control-low": Detail("beyond the control group at least"),
            "beyond-control-high": Detail("beyond the control group at most"),
            "no-control": Detail("why there is no control group"),
            "unfinished": Detail("miners that did not come to an end"),
        },
        ends=("the harmful use gains nothing", "the harmful use works as with the original"),
    )

    def in_scenario(
        self, release: Release, table: Table, rows: Integers, scenario: Scenario
    ) -> Iterable[Measurement]:
        """Return the anti-utility of the worst miner, over all attacked attributes together."""
        names = scenario.adversary.attributes or release.schema.sensitive
        if not names:
            raise NotApplicable("the scenario names no attacked attribute, and none is sensitive")
        weights = weights_of(scenario.adversary.weights, table)
        everybody = _People.of(weights, table.weights)
        if everybody.total == 0:
            raise NotApplicable("the weights of the adversary are 0 for every record")
        of_row = weights[rows]
        attack = _Attack(release, names, scenario, (_Counted(of_row),))
        alone, lacking = attack.alone()
        gained = {miner: gain for miner, (gain,) in (alone | attack.together(lacking)).items()}
        worst = max(gained, key=lambda miner: gained[miner].worth)
        value = everybody.share(gained[worst])
        radius = NORMAL_95 * everybody.error(gained[worst])
        common = _same_of_everybody(release, names, scenario, of_row)
        detail = {
            "attributes": ", ".join(names),
            "worst-sum": gained[worst].worth,
            "average-sum": sum(gained[miner].worth for miner in alone) / len(alone),
            "worst-miner": worst,
            "exact": gained[worst].exact / everybody.total,
            "nearer": gained[worst].nearer / everybody.total,
            "told-anyway": _told_anyway(release, names, of_row) / everybody.total,
            "miners": {miner: gain.worth for miner, gain in gained.items()},
            **_beyond_control(release, names, scenario, weights),
        }
        return [
            self.measurement(
                value,
                attribute=names[0] if len(names) == 1 and names[0] in release.schema.sensitive else None,
                interval=(value - radius, value + radius),
                baseline=None if common is None else everybody.share(common),
                detail=detail | unfinished(lacking),
            )
        ]


@dataclass(frozen=True)
class _Gained:
    """The total gain of one adversary about some people.

    Parameters
    ----------
    worth, exact, nearer
        Σ v E*, and Σ v of the people whose value is predicted exactly, or nearer than it is released.
    products, squares
        Σ v² E* and Σ v² E*², for the interval.
    """

    worth: float
    exact: float
    nearer: float
    products: float
    squares: float


@dataclass(frozen=True)
class _People:
    """Σ v and Σ v² of the people that an adversary is evaluated on, including suppressed ones."""

    total: float
    squares: float

    @classmethod
    def of(cls, weights: Floats, counts: Integers) -> _People:
        return cls(float(weights @ counts), float(weights**2 @ counts))

    def share(self, gained: _Gained) -> float:
        """Return the gained share."""
        return gained.worth / self.total

    def error(self, gained: _Gained) -> float:
        """Return the standard error of that share; suppressed people contribute no gain."""
        share = self.share(gained)
        spread = gained.squares - 2 * share * gained.products + share**2 * self.squares
        return math.sqrt(max(spread, 0.0)) / self.total


@dataclass(frozen=True, eq=False)
class _Counted:
    """The people to add up: v of each released row, and the number of its records, unless all count."""

    weights: Floats
    records: Integers | None = None


@dataclass(frozen=True, eq=False)
class _Gain:
    """The gain of one adversary from every released record, entry by entry in the order of the rows."""

    rows: Integers = field(repr=False)
    weights: Integers = field(repr=False)
    worth: Floats = field(repr=False)
    exact: Floats = field(repr=False)
    nearer: Floats = field(repr=False)

    @classmethod
    def of(cls, release: Release, name: str, attempt: Attempt, scenario: Scenario) -> _Gain:
        here = released_as(release, name).take(attempt.rows)
        truth = true_column(release, name).take(attempt.rows)
        return cls(
            attempt.rows,
            attempt.weights,
            worth_to_adversary(scenario.adversary, attempt.told, here, truth),
            exactly(attempt.told).astype(np.float64),
            nearer(attempt.told.distance, here.distance, scenario.adversary.c).astype(np.float64),
        )

    def added(self, people: _Counted) -> _Gained:
        """Add up over all records, each with the weight of its row."""
        counts = self.weights if people.records is None else people.records[self.rows]
        v = people.weights[self.rows]
        once, twice = counts * v, counts * v**2
        return _Gained(
            worth=float(once @ self.worth),
            exact=float(once @ self.exact),
            nearer=float(once @ self.nearer),
            products=float(twice @ self.worth),
            squares=float(twice @ self.worth**2),
        )


_Gains = dict[str, list[_Gained]]
"""For each adversary what is gained about each kind of people."""


@dataclass(frozen=True, eq=False)
class _Attack:
    """The miners of a scenario against some attributes of a release.

    Parameters
    ----------
    release, names, scenario
        What is attacked, and how.
    people
        About whom gains are added up.
    mine
        How miners predict; by default as the scenario says.
    """

    release: Release
    names: Sequence[str]
    scenario: Scenario
    people: tuple[_Counted, ...]
    mine: Mine | None = None

    def alone(self) -> tuple[_Gains, list[str]]:
        """Return the gain of each single miner, and the miners that did not finish."""
        miners = [suited(self.release, name, self.scenario.adversary.miners) for name in self.names]
        gains: _Gains = {}
        lacking = []
        for miner in dict.fromkeys(itertools.chain(*miners)):
            gained = self._with_miners((miner,))._gains(fused=False)
            gains |= gained
            lacking += [] if gained else [miner]
        if not gains:
            raise NotApplicable(f"no miner finished for {', '.join(map(repr, self.names))}; raise time-limit")
        return gains, lacking

    def together(self, lacking: Sequence[str]) -> _Gains:
        """Return the gain of the finished miners by voting, where several predict the same."""
        ended = tuple(miner for miner in self.scenario.adversary.miners if miner not in lacking)
        return self._with_miners(ended)._gains(fused=True) if self.scenario.adversary.fusion else {}

    def _with_miners(self, miners: tuple[str, ...]) -> _Attack:
        adversary = replace(self.scenario.adversary, miners=miners)
        names = [name for name in self.names if any(suits(self.release, name, miner) for miner in miners)]
        return replace(self, names=names, scenario=replace(self.scenario, adversary=adversary))

    def _gains(self, *, fused: bool) -> _Gains:
        """Return the gains of single miners or of their votes, from the cache if they are there."""
        adversary = self.scenario.adversary
        key = sums_key(
            f"gains {'fused' if fused else 'alone'} {'out of fold' if self.mine is None else 'of all'}",
            self.release,
            self.names,
            adversary.miners,
            self.scenario,
            *(adversary.reduction, adversary.c, adversary.guesses, adversary.trained_on, adversary.knows),
            AntiUtility.version,
            *(part for some in self.people for part in (some.weights, some.records)),
        )
        sums = kept(key, lambda: self._computed(fused))
        return {
            miner: [_Gained(*sums_of_group) for sums_of_group in gained]
            for miner, gained in (sums or {}).items()
        }

    def _computed(self, fused: bool) -> dict[str, list[tuple[float, ...]]] | None:
        """Return the gains as plain data, or ``None`` if some miner did not finish."""
        gains: dict[str, list[_Gain]] = {}
        for name in self.names:
            attempts = attempts_at(self.release, name, self.scenario, self.mine)
            if attempts.unfinished:
                return None
            for attempt in attempts.every:
                if attempt.is_fused == fused:
                    gain = _Gain.of(self.release, name, attempt, self.scenario)
                    gains.setdefault(attempt.miner, []).append(gain)
        return {
            miner: [astuple(_most(by_attribute).added(some)) for some in self.people]
            for miner, by_attribute in gains.items()
        }


def _most(gains: Sequence[_Gain]) -> _Gain:
    """Take for each record the attribute in which the adversary gains most."""
    weights, entries = common_entries([gain.weights for gain in gains])

    def most(what: str) -> Floats:
        return np.max(
            [getattr(gain, what)[entry] for gain, entry in zip(gains, entries, strict=True)], axis=0
        )

    return _Gain(gains[0].rows[entries[0]], weights, most("worth"), most("exact"), most("nearer"))


def _same_of_everybody(
    release: Release, names: Sequence[str], scenario: Scenario, of_row: Floats
) -> _Gained | None:
    """Return the gain of an adversary who predicts the same for everyone."""
    attempts = [(name, commonest(release, name, scenario)) for name in names]
    gains = [_Gain.of(release, name, attempt, scenario) for name, attempt in attempts if attempt is not None]
    return _most(gains).added(_Counted(of_row)) if gains else None


def _told_anyway(release: Release, names: Sequence[str], of_row: Floats) -> float:
    """Add up the weights of the records for which the release reveals some attacked value exactly."""
    statements: list[Told] = [released_as(release, name) for name in names]
    return float(
        (release.weights * of_row) @ np.logical_or.reduce([exactly(statement) for statement in statements])
    )


def _beyond_control(
    release: Release, names: Sequence[str], scenario: Scenario, weights: Floats
) -> dict[str, Any]:
    """Return how much more is gained about the people of a release than about people held out of it."""
    if scenario.control == 0:
        return {}
    try:
        with speaking_of("control group"):
            return _compared(control_group(release, scenario), names, scenario, weights)
    except NotApplicable as reason:
        return {"no-control": str(reason)}


def _compared(control: Control, names: Sequence[str], scenario: Scenario, weights: Floats) -> dict[str, Any]:
    groups = [_People.of(weights, counts) for counts in (control.staying, control.leaving)]
    if not all(group.total for group in groups):
        raise NotApplicable("nobody in the control group matters to the adversary")
    of_row = weights[control.both.origin.rows]
    people = (_Counted(of_row, control.members), _Counted(of_row, control.outsiders))
    miners = tuple(miner for miner in scenario.adversary.miners if _knows_meanings(miner))
    if not miners or scenario.cells == "labels":
        raise NotApplicable("no miner knows what released values stand for, only how they are written")
    able = replace(scenario, adversary=replace(scenario.adversary, miners=miners))
    attack = _Attack(control.both, names, able, people, control.mine)
    alone, lacking = attack.alone()
    gained = alone | attack.together(lacking)
    shares = {
        miner: [group.share(gain) for group, gain in zip(groups, both, strict=True)]
        for miner, both in gained.items()
    }
    worst = max(shares, key=lambda miner: shares[miner][0] - shares[miner][1])
    members, outsiders = shares[worst]
    errors = [
        group.error(errors_of_group) for group, errors_of_group in zip(groups, gained[worst], strict=True)
    ]
    beyond, radius = members - outsiders, NORMAL_95 * math.hypot(*errors)
    return {
        "members": members,
        "control": outsiders,
        "control-miner": worst,
        "beyond-control": beyond,
        "beyond-control-low": beyond - radius,
        "beyond-control-high": beyond + radius,
    }


def _knows_meanings(miner: str) -> bool:
    """Return whether a miner sees the meaning of released values: the second release has other labels."""
    return getattr(methods.build_miner(miner), "encoding", "columns") != "codes"
