"""The base class of all attacks, and the search for the worst of several attackers."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from sfumato.measures.attacks.attack_setting import Listed, Setting, setting_of
from sfumato.measures.attacks.success_rates import Rate, Risk, rate, risk
from sfumato.registry.declarations import (
    EVERY_KIND,
    AttributeName,
    Axis,
    Better,
    Detail,
    FileName,
    Guards,
    RecordCount,
    RecordKind,
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
    """How often an attacker succeeds: with people inside the data, outside, and without the release.

    Parameters
    ----------
    attacked, control, guessing
        The three rates; without a control group there is no second.
    n_tries
        How often it was tried inside.
    compare
        What the rates make the risk: by default what succeeds beyond the control group, or without one
        beyond guessing.
    """

    attacked: Rate
    control: Rate | None
    guessing: Rate
    n_tries: int
    compare: Callable[[Rate, Rate], Risk] = risk

    @property
    def risk(self) -> Risk:
        """What succeeds only because people are in the data."""
        return self.compare(self.attacked, self.guessing if self.control is None else self.control)


@dataclass(frozen=True)
class AttackTried:
    """What one attacker got from those by whom the best attacker is chosen, and from those who judge it."""

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
    """Return what an attacker got, given for each person whether the attack succeeded.

    Parameters
    ----------
    attacker
        Who it is.
    setting
        Who was attacked.
    inside, outside
        Whether it succeeded with each person.
    guessing
        For each person inside whether it succeeds without the release, or how likely.
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
    """An attack that is tried, with a control group.

    Parameters
    ----------
    known
        The attributes that the attacker knows; by default the quasi-identifiers.
    control
        A file with people who are not in the data. Without one the release is made anew without a fifth of
        its people (at most 10,000), where its recipe is known, and that release is attacked.
    people
        How many people are attacked at most, in the data and in the control group.
    seed
        Decides who is drawn.
    """

    known: tuple[AttributeName, ...] = ()
    control: FileName | None = None
    people: RecordCount = 1000
    seed: Seed = 0

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "identity"
    is_attack: ClassVar[bool] = True
    judges: ClassVar[tuple[RecordKind, ...]] = EVERY_KIND

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return what the attack gets beyond the control group."""
        setting = setting_of(release, self.control, self.people, self.seed)
        return tuple(self.tried(setting))

    def of_group(self, release: Release, group: Group) -> tuple[Measurement, ...]:
        """Return what the attack gets of the people of a group beyond others like them."""
        setting = setting_of(release, self.control, self.people, self.seed, group)
        return tuple(self.tried(setting))

    @abstractmethod
    def tried(self, setting: Setting) -> Iterable[Measurement]:
        """Return what the attack gets in a setting."""

    def told(
        self, setting: Setting, attempts: Iterable[AttackTried], known: str, attribute: str | None = None
    ) -> Measurement:
        """Return the measurement of the worst attacker."""
        found = worst(attempts)
        outcome = found.judged
        rates = {"attacked": outcome.attacked, "control": outcome.control, "guessing": outcome.guessing}
        detail = {
            "attacker": found.attacker,
            "known": known,
            **{name: each.value for name, each in rates.items() if each is not None},
            "tries": outcome.n_tries,
            "control-group": setting.told,
        }
        interval = (outcome.risk.low, outcome.risk.high)
        return self.taken(outcome.risk.value, attribute=attribute, interval=interval, detail=detail)
