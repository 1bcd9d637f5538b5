"""The base class of all attacks, and the search for the worst of several attackers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from sfumato.measures.attacks.attack_setting import Listed, Setting, setting_of
from sfumato.measures.attacks.success_rates import Rate, Risk, rate, risk
from sfumato.registry.declarations import (
    EVERY_TYPE,
    AttributeName,
    Axis,
    Better,
    Detail,
    FileName,
    Guards,
    RecordCount,
    ReleaseType,
    Seed,
)
from sfumato.results.measurement import Measure, Measurement
from sfumato.results.people_groups import Group
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Floats

ATTACK_DETAILS: Mapping[str, Detail] = {
    "attacker": Detail("the best attacker"),
    "known": Detail("what the attacker knows"),
    "attacked": Detail("succeeds with people in the data"),
    "control": Detail("succeeds with people who are not in the data"),
    "guessing": Detail("succeeds without the release"),
    "tries": Detail("tries", "number"),
    "control-group": Detail("the control group"),
}
CUT_OFF: str = "0% to 100%"


@dataclass(frozen=True)
class Outcome:
    """An attacker's success rates: on people in the data, on the control group, and without the release.

    Parameters
    ----------
    attacked, control, guessing
        The three rates; ``control`` is missing without a control group.
    n_tries
        The number of attempts inside.
    compare
        How the rates give the risk: by default the success beyond the control group, or beyond guessing
        without one.
    """

    attacked: Rate
    control: Rate | None
    guessing: Rate
    n_tries: int
    compare: Callable[[Rate, Rate], Risk] = risk

    @property
    def risk(self) -> Risk:
        """The success that is possible only because people are in the data."""
        return self.compare(self.attacked, self.guessing if self.control is None else self.control)


@dataclass(frozen=True)
class AttackTried:
    """The outcomes of one attacker: in the trial that selects the best attacker, and in the evaluation."""

    attacker: str
    trial: Outcome
    judged: Outcome


def worst(attempts: Iterable[AttackTried]) -> AttackTried:
    """Return the attempt of the attacker who did best in the trial, the first of several."""
    return max(attempts, key=lambda attempt: attempt.trial.risk.value)


def attempted(
    attacker: str,
    setting: Setting,
    inside: Booleans,
    outside: Booleans | None,
    guessing: Booleans | Floats,
    compare: Callable[[Rate, Rate], Risk] = risk,
) -> AttackTried:
    """Return the outcomes of an attacker, given for each person whether the attack succeeded.

    Parameters
    ----------
    attacker
        Who it is.
    setting
        The people under attack.
    inside, outside
        Whether it succeeded with each person.
    guessing
        For each person inside whether the attack succeeds without the release, or with what probability.
    compare
        What the rates make the risk.
    """
    own = _parts(setting.inside)
    others = own if setting.outside is None else _parts(setting.outside)
    outcomes = [
        Outcome(
            _rate_of(inside[here]),
            None if outside is None else _rate_of(outside[there]),
            _rate_of(guessing[here]),
            len(inside[here]),
            compare,
        )
        for here, there in zip(own, others, strict=True)
    ]
    return AttackTried(attacker, *outcomes)


def _parts(listed: Listed) -> tuple[slice, slice]:
    return slice(0, listed.n_trial), slice(listed.n_trial, None)


def _rate_of(right: Booleans | Floats) -> Rate:
    return rate(float(right.sum()), len(right))


@dataclass(frozen=True)
class AttackMeasure(Measure):
    """A simulated attack with a control group.

    Parameters
    ----------
    known
        The attributes that the attacker knows; by default the quasi-identifiers.
    control
        A file with people who are not in the data. Without one, and if the recipe is known, the release is
        made again without a fifth of its people (at most 10,000), and that release is attacked.
    people
        The largest number of people to attack, in the data and in the control group each.
    seed
        The seed for drawing people.
    """

    known: tuple[AttributeName, ...] = ()
    control: FileName | None = None
    people: RecordCount = 1000
    seed: Seed = 0

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "identity"
    is_attack: ClassVar[bool] = True
    judges: ClassVar[tuple[ReleaseType, ...]] = EVERY_TYPE

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return what the attack gains beyond the control group."""
        setting = setting_of(release, self.control, self.people, self.seed)
        return tuple(self.tried(setting))

    def of_group(self, release: Release, group: Group) -> tuple[Measurement, ...]:
        """Return what the attack gains on the people of a group, beyond similar people outside the data."""
        setting = setting_of(release, self.control, self.people, self.seed, group)
        return tuple(self.tried(setting))

    @abstractmethod
    def tried(self, setting: Setting) -> Iterable[Measurement]:
        """Return what the attack gains in a setting."""

    def worst_measurement(
        self, setting: Setting, attempts: Iterable[AttackTried], known: str, attribute: str | None = None
    ) -> Measurement:
        """Return the measurement of the worst attacker."""
        best = worst(attempts)
        outcome = best.judged
        rates = {"attacked": outcome.attacked, "control": outcome.control, "guessing": outcome.guessing}
        detail = {
            "attacker": best.attacker,
            "known": known,
            **{name: rate.value for name, rate in rates.items() if rate is not None},
            "tries": outcome.n_tries,
            "control-group": setting.told,
        }
        interval = (outcome.risk.low, outcome.risk.high)
        return self.measurement(outcome.risk.value, attribute=attribute, interval=interval, detail=detail)
