"""Membership attack: decide from the release whether a person is in the data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.table import Table
from sfumato.kernels.nearest_records import densities, nearest_rows
from sfumato.measures.attacks.attack import ATTACK_DETAILS, CUT_OFF, AttackMeasure, AttackTried, attempted
from sfumato.measures.attacks.attack_setting import Listed, Setting
from sfumato.measures.attacks.record_distances import SeenRelease, known_attributes, people_column, sight
from sfumato.measures.attacks.success_rates import advantage
from sfumato.registry.declarations import Attacker, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measurement
from sfumato.results.release import Release
from sfumato.results.released_column import exact_cells
from sfumato.runtime.arrays import Booleans, Floats

_WIDTH = 0.1
"""A record at this distance counts 1 / e: another category counts almost nothing, a number near by a lot."""
_FITS = 1e-5


@register
@dataclass(frozen=True)
class Membership(AttackMeasure):
    """How well the release reveals who is in the data, to someone who knows some attributes of people.

    There are two attackers. One claims that everyone who fits a released record is in the data. The other
    compares the density of released records around a person with the density of people outside the data, and
    claims membership if the ratio exceeds a threshold. The threshold and the better attacker are selected on
    other people than those used for evaluation. The value is the attacker's advantage r - c, where r is the
    share of people in the data who are claimed to be members, and c that of people outside. It equals
    (a - 1/2) / (1 - 1/2) for the accuracy a on equally many members and others.

    Parameters
    ----------
    known, control, people, seed
        As in `singling-out`.

    References
    ----------
    B. van Breugel et al., "Membership inference attacks against synthetic data through overfitting
    detection" (DOMIAS), 2023; M. Nergiz et al., "Hiding the presence of individuals from shared databases",
    2007.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import SuppressQuasiIdentifiers
    >>> release = sanitize(*datasets.hospital(), SuppressQuasiIdentifiers())
    >>> measure(release, ["membership"])[0].interval[0]
    0.0
    """

    against: ClassVar[Attacker] = Attacker(
        "The one who looks for a name",
        "Knows some attributes of a person and what people are like in general, and wants to know whether "
        "that person is in the data.",
    )
    words: ClassVar[Words] = Words(
        "membership",
        "How much more often the release makes an attacker say that a person is in the data when that is "
        "true than when it is not.",
        "0%: it is said as often of people outside the data. 100%: it is said of everybody in the data and"
        " of nobody else.",
        CUT_OFF,
        "share",
        sentence="whether a person is in the data is told by the release with a risk of {}",
        details=ATTACK_DETAILS,
        ends=("presence is not told better than by chance", "presence is told for everybody"),
    )

    def tried(self, setting: Setting) -> Iterable[Measurement]:
        """Return how well the attackers recognize members."""
        if setting.outside is None:
            raise NotApplicable(f"nobody is known who is not in the data ({setting.told}); give control")
        known = known_attributes(setting.release, self.known)
        attempts = _attempts(setting, setting.outside, sight(setting.release, known))
        return [self.worst_measurement(setting, attempts, ", ".join(known))]


def _attempts(setting: Setting, outside: Listed, seen: SeenRelease) -> Iterator[AttackTried]:
    fits = [_fits(seen, listed) for listed in (setting.inside, outside)]
    yield _attempt("some record fits", setting, *fits)
    ratios = _ratios(setting, outside, seen)
    trials = [
        ratio[: listed.n_trial] for ratio, listed in zip(ratios, (setting.inside, outside), strict=True)
    ]
    threshold = best_threshold(*trials)
    yield _attempt("density of records", setting, *(ratio > threshold for ratio in ratios))


def _attempt(attacker: str, setting: Setting, inside: Booleans, outside: Booleans) -> AttackTried:
    """Return what was said; without the release it is said as often of everybody as of the control group."""
    anyway = np.full(len(inside), outside.mean())
    return attempted(attacker, setting, inside, outside, anyway, advantage)


def _fits(seen: SeenRelease, listed: Listed) -> Booleans:
    fits = np.empty(len(listed.rows), dtype=np.bool_)
    for some, far in seen.far(listed):
        fits[some] = nearest_rows(far, seen.boxes.rows)[0] <= _FITS
    return fits


def _ratios(setting: Setting, outside: Listed, seen: SeenRelease) -> tuple[Floats, Floats]:
    """Return for each person the density of released records around them, relative to people outside."""
    others = setting.reference or _as_table(outside)
    names = [attribute.name for attribute in seen.attributes]
    plain = sight(_exact(setting.release, others, names), names)
    of_members, of_others = (
        _density(seen, people) / (_density(plain, people) + 1e-12) for people in (setting.inside, outside)
    )
    return of_members, of_others


def _exact(release: Release, people: Table, names: Iterable[str]) -> Release:
    """Return people as a release without any change."""
    rows = np.arange(people.n_rows)
    cells = {name: exact_cells(people_column(people, name), rows) for name in names}
    return Release(release.schema, cells, people.weights, people.n_records)


def _as_table(listed: Listed) -> Table:
    """Return the people of the trial, for an attacker with nobody else to learn from."""
    chosen = listed.rows[: listed.n_trial] if listed.n_trial else listed.rows
    rows, weights = np.unique(chosen, return_counts=True)
    return listed.table.part(rows, weights)


def _density(seen: SeenRelease, listed: Listed) -> Floats:
    """Return for each person the density of records around them; a set is spread over all its values."""
    boxes = seen.boxes
    weights = boxes.weights / seen.volumes[boxes.first] / boxes.weights.sum()
    density = np.empty(len(listed.rows))
    for some, far in seen.far(listed):
        density[some] = densities(far, boxes.rows, weights, _WIDTH)
    return density


def best_threshold(inside: Floats, outside: Floats) -> float:
    """Return the threshold that best separates people inside from people outside.

    Examples
    --------
    >>> import numpy as np
    >>> best_threshold(np.array([2.0, 3.0, 4.0]), np.array([1.0, 2.0]))
    2.0
    """
    candidates = np.unique(np.concatenate([inside, outside]))
    if not len(candidates):
        return 1.0
    own, others = np.sort(inside), np.sort(outside)
    said = [len(ratios) - np.searchsorted(ratios, candidates, side="right") for ratios in (own, others)]
    # shares of both, times both numbers: whole numbers, of which equal ones are equal
    gain = said[0] * max(len(others), 1) - said[1] * len(own)
    # of equally good ones the largest says it of the fewest
    return float(candidates[len(gain) - 1 - int(np.argmax(gain[::-1]))])
