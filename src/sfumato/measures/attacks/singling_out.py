"""Singling-out attack: find a predicate that holds for exactly one person."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.measures.attacks.attack import ATTACK_DETAILS, CUT_OFF, AttackMeasure, AttackTried, Outcome
from sfumato.measures.attacks.attack_setting import Setting
from sfumato.measures.attacks.predicates import at_random, learned, people_crowd, rare_values
from sfumato.measures.attacks.record_distances import SeenRelease, known_attributes, sight
from sfumato.measures.attacks.success_rates import Rate, rate
from sfumato.registry.declarations import Attacker, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measurement
from sfumato.runtime.arrays import Integers

_SEVERAL = 3
"""As many attributes as Anonymeter combines."""
_GRID = 64
_ROUNDS = 300


@register
@dataclass(frozen=True)
class SinglingOut(AttackMeasure):
    """How often a predicate learned from the release is true of exactly one person, beyond chance.

    An attacker creates predicates (*older than 88 and widowed*) that exactly one released record satisfies:
    on one attribute, from rare and extreme values; on three; or on all. An attempt succeeds if exactly one
    person in the data satisfies the predicate, and fails if there is no predicate. The value is (r - c) / (1
    - c), where r is the share of successful attempts and c the share that would succeed among as many people
    outside the data. If the control group differs in size from the data, c is computed from how many of its
    people satisfy each predicate.

    Parameters
    ----------
    known
        The attributes of predicates; by default the quasi-identifiers.
    control
        A file with people who are not in the data. Without one, and if the recipe is known, the release is
        made again without a fifth of its people (at most 10,000), and that release is attacked.
    people
        The largest number of attempts.
    seed
        The seed for holding people out and for drawing predicates.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", 2023; A. Cohen, K.
    Nissim, "Towards formalizing the GDPR's notion of singling out", 2020.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import SuppressQuasiIdentifiers
    >>> release = sanitize(*datasets.hospital(), SuppressQuasiIdentifiers())
    >>> measure(release, ["singling-out"])[0].interval[0]
    0.0
    """

    against: ClassVar[Attacker] = Attacker(
        "The one who singles out",
        "Knows nobody, and looks in the release for something that is true of exactly one person.",
    )
    words: ClassVar[Words] = Words(
        "singling out",
        "How often something that is true of one released record is true of exactly one person in the data, "
        "beyond how often that happens by chance.",
        "0%: the release singles out nobody, or no more than chance does. 100%: every record that stands "
        "alone stands for a person who does.",
        CUT_OFF,
        "share",
        sentence="somebody is singled out by the release with a risk of {}",
        details=ATTACK_DETAILS,
        ends=("nobody is singled out better than by chance", "everybody is singled out"),
    )

    def tried(self, setting: Setting) -> Iterable[Measurement]:
        """Return how many people the predicates single out."""
        if setting.group is not None:
            raise NotApplicable("it looks for anybody, and not for the people of a group")
        known = known_attributes(setting.release, self.known)
        attempts = self.attempts(setting, sight(setting.release, known))
        return [self.worst_measurement(setting, attempts, ", ".join(known))]

    def attempts(self, setting: Setting, seen: SeenRelease) -> Iterator[AttackTried]:
        """Yield the attempt of each attacker."""
        table = setting.release.origin.table
        rng = np.random.default_rng([self.seed, 4])
        n_tries, n_all = len(setting.inside.rows), len(seen.attributes)
        inside = people_crowd(seen, table)
        outside = None if setting.outside is None else people_crowd(seen, setting.outside.table)
        sizes = (table.n_people, setting.outside.table.n_people if setting.outside else 0)
        for n_used in sorted({1, min(_SEVERAL, n_all), n_all}):
            by_value = n_used == 1
            predicates = rare_values(seen, n_tries, rng) if by_value else learned(seen, n_used, n_tries, rng)
            right = inside.singled_out(predicates)
            counts = None if outside is None else outside.count(predicates)
            by_chance = inside.singled_out(at_random(seen, n_used, n_tries, rng))
            n_trial = len(predicates) * setting.inside.n_trial // n_tries
            outcomes = [
                Outcome(
                    rate(float(right[part].sum()), n),
                    None if counts is None else _control_rate(counts[part], sizes, n),
                    rate(float(by_chance.sum()), n_tries),
                    n,
                )
                for part, n in (
                    (slice(0, n_trial), setting.inside.n_trial),
                    (slice(n_trial, None), n_tries - setting.inside.n_trial),
                )
            ]
            name = "rare and extreme values" if by_value else f"combinations of {n_used} attributes"
            yield AttackTried(name, *outcomes)


def _control_rate(counts: Integers, sizes: tuple[int, int], n_tries: int) -> Rate:
    """Return how often the predicates would single out someone among as many people outside the data."""
    n_inside, n_outside = sizes
    seen = float((counts == 1).sum())
    if n_inside == n_outside or not len(counts):
        return rate(seen, n_tries)
    expected = len(counts) * chance_of_one(counts, n_outside, n_inside)
    plain, scaled = rate(seen, n_tries), rate(expected, n_tries)
    # what is told from few people about many is less sure by as much as it is stretched
    stretch = max(scaled.middle / plain.middle, 1.0)
    return Rate(scaled.value, scaled.middle, max(scaled.reach, plain.reach * stretch))


def chance_of_one(counts: Integers, n_seen: int, n_people: int) -> float:
    """Return the probability that a predicate is true of exactly one of this many people.

    Parameters
    ----------
    counts
        Of how many people each predicate was seen to be true.
    n_seen
        Of how many.
    n_people
        How many people it is asked of.

    Notes
    -----
    A predicate of weight w is true of exactly one of n people with a chance of n w (1 - w)^(n - 1) (Cohen &
    Nissim 2020). The weights are taken to be a mixture, which is fitted to the counts by expectation
    maximisation.

    Examples
    --------
    >>> import numpy as np
    >>> chance_of_one(np.array([0] * 50 + [100] * 50), 100, 1000) < 0.02
    True
    """
    weights = np.append(0.0, np.geomspace(1e-2 / max(n_people, n_seen), 1 - 1e-9, _GRID))
    values, repeats = np.unique(counts, return_counts=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        true = np.where(values[:, None] == 0, 0.0, values[:, None] * np.log(weights))
    logs = true + (n_seen - values[:, None]) * np.log1p(-weights)
    likelihood = np.exp(logs - logs.max(axis=1, keepdims=True))
    shares = np.full(len(weights), 1 / len(weights))
    for _ in range(_ROUNDS):
        belongs = likelihood * shares
        belongs /= belongs.sum(axis=1, keepdims=True)
        shares = repeats @ belongs / repeats.sum()
    singles = n_people * weights * np.exp((n_people - 1) * np.log1p(-weights))
    return float(shares @ singles)
