"""Linkability attack: use the release to link two sets of attributes of the same person."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.kernels.nearest_records import draw_nearest
from sfumato.measures.attacks.attack import ATTACK_DETAILS, CUT_OFF, AttackMeasure, AttackTried, attempted
from sfumato.measures.attacks.attack_setting import Listed, Setting
from sfumato.measures.attacks.record_distances import known_attributes, sight
from sfumato.registry.declarations import Attacker, AttributeName, RecordCount, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Integers
from sfumato.runtime.errors import ParameterError


@register
@dataclass(frozen=True)
class Linkability(AttackMeasure):
    """How often a release links two parts of what is known of a person, beyond people outside the data.

    An attacker has some attributes of people from one source and others from a second one, and wants to know
    which belong to the same person. For each part, the attacker takes the nearest released records; if a
    record is near to both, the parts are linked. Ties are broken at random. The value is (r - c) / (1 - c),
    where r is the share of the people in the data who are linked, and c that of people outside.

    Parameters
    ----------
    known, other
        The attributes of the two sources. By default they get the quasi-identifiers in turn.
    neighbours
        How many of the nearest records count as near.
    control, people, seed
        As in `singling-out`.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", 2023; Article 29
    Working Party, "Opinion 05/2014 on anonymisation techniques" (WP216), 2014.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import SuppressQuasiIdentifiers
    >>> release = sanitize(*datasets.hospital(), SuppressQuasiIdentifiers())
    >>> measure(release, ["linkability"])[0].interval[0]
    0.0
    """

    other: tuple[AttributeName, ...] = ()
    neighbours: RecordCount = 1

    against: ClassVar[Attacker] = Attacker(
        "The one with two sources",
        "Has some attributes of people from one source and some from another, and wants to know which belong "
        "to the same person.",
    )
    words: ClassVar[Words] = Words(
        "linkability",
        "How often the release links two parts of what is known of a person, beyond what it links of people "
        "who are not in the data.",
        "0%: it links people in the data no better than people outside the data. 100%: it links everybody in "
        "the data.",
        CUT_OFF,
        "share",
        sentence="two pieces of information about a person are linked through the release with a risk of {}",
        details=ATTACK_DETAILS,
        ends=("nothing is linked better than by chance", "everything is linked"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in self.known:
            if name in self.other:
                raise ParameterError(f"{name!r} is both in known and in other; give it to one of the two")

    def tried(self, setting: Setting) -> Iterable[Measurement]:
        """Return how many people the two sources link."""
        sources = self._sources(setting.release)
        known = " | ".join(", ".join(names) for names in sources)
        return [self.worst_measurement(setting, [self.attempt(setting, sources)], known)]

    def attempt(self, setting: Setting, sources: tuple[tuple[str, ...], tuple[str, ...]]) -> AttackTried:
        """Return the attempt of the only attacker."""
        n_near = min(self.neighbours, setting.release.n_records)
        inside = self._linked(setting, setting.inside, sources, n_near, 1)
        outside = (
            None if setting.outside is None else self._linked(setting, setting.outside, sources, n_near, 2)
        )
        # the probability that two draws of this many records have one in common
        n = setting.release.n_records
        disjoint = np.prod([(n - n_near - i) / (n - i) for i in range(n_near)])
        by_chance = np.full(len(inside), float(1 - disjoint))
        return attempted("nearest records", setting, inside, outside, by_chance)

    def _sources(self, release: Release) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the attributes known from each source."""
        if self.known and self.other:
            return known_attributes(release, self.known), known_attributes(release, self.other)
        names = known_attributes(release, ())
        given = self.known or self.other
        if given:
            rest = tuple(name for name in names if name not in given)
            parts = (known_attributes(release, given), rest)
        else:
            parts = (names[::2], names[1::2])
        if not parts[1]:
            raise NotApplicable("there is one quasi-identifier only; give what the two sources tell")
        return parts if not self.other else parts[::-1]

    def _linked(
        self, setting: Setting, listed: Listed, sources: Iterable[tuple[str, ...]], n_near: int, stream: int
    ) -> Booleans:
        """Return for each person whether some record is among the nearest to both parts."""
        rng = np.random.default_rng([self.seed, stream])
        one, other = (
            _nearest_records(setting.release, names, listed, rng.random((len(listed.rows), n_near)))
            for names in sources
        )
        return (one[:, :, None] == other[:, None, :]).any(axis=(1, 2))


def _nearest_records(release: Release, names: tuple[str, ...], listed: Listed, drawn: np.ndarray) -> Integers:
    """Return the numbers of some of the nearest records to each person."""
    seen = sight(release, names)
    first_record = np.concatenate([[0], np.cumsum(release.weights)])
    nearest = np.empty(drawn.shape, dtype=np.int64)
    for some, far in seen.far(listed):
        nearest[some] = draw_nearest(far, seen.rows, first_record, drawn[some])
    return nearest
