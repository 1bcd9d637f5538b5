"""What an adversary learns who combines a release with those that were published before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from sfumato.data.equivalence_classes import EquivalenceClasses, count_classes
from sfumato.kernels.row_groups import first_row_of_group, number_rows
from sfumato.models.distances import jensen_shannon
from sfumato.registry.declarations import (
    AtLeast,
    Attacker,
    Axis,
    Better,
    Detail,
    Guards,
    Needs,
    RecordCount,
    Words,
)
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import origin_of
from sfumato.results.measurement import IdentityMeasure, Measure, Measurement
from sfumato.results.origin import Earlier
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Integers

COLLECTOR = Attacker(
    "The collector of releases",
    "Has everything that was published of the same people before, and knows who is in which release.",
)
"""Whoever lays several releases side by side."""
_IN_EARLIER = Detail("people who are in an earlier release, too", "share")
_ESTIMATED = Detail("people whose earlier class is estimated", "share")


@register
@dataclass(frozen=True)
class CompositionK(IdentityMeasure):
    """The smallest number of people that an adversary with all releases cannot tell apart.

    People in the same class of this release may have been in different classes of earlier ones. A person's
    company are the people who share their class in this release and in every earlier one that the person is
    in; the value is the smallest company of all people. Without an earlier release it is the k of
    k-anonymity. People are matched if the releases are of the same records or a column identifies them.
    Otherwise the match is estimated: a person counts as a member of the class of the earlier release that
    would accept their record, and as absent if there is none. The detail has the share of people with less
    company than k, the share of people in an earlier release, and the share whose match is estimated.

    Parameters
    ----------
    k
        The company below which a person counts as exposed.

    References
    ----------
    S. Ganta, S. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy",
    2008.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> measure(release, ["composition-k"])[0].value
    3.0
    """

    k: RecordCount = 5

    better: ClassVar[Better] = "higher"
    needs: ClassVar[Needs] = "records"
    against: ClassVar[Attacker] = COLLECTOR
    is_attack: ClassVar[bool] = True
    words: ClassVar[Words] = Words(
        "k of all releases together",
        "The number of people who share their class in this release and in every earlier one, for the person "
        "who shares it with fewest.",
        "1: somebody is alone once all releases are laid side by side. Without an earlier release it is the "
        "size of the smallest class.",
        "1 to the number of records",
        sentence="whoever has all releases cannot tell a person from fewer than {} people",
        details={
            "share-below-k": Detail("people with less company than k", "share"),
            "share-in-earlier": _IN_EARLIER,
            "share-estimated": _ESTIMATED,
        },
        ends=(
            "everybody looks like everybody in all releases together",
            "a person is unique in all releases together",
        ),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the size of the smallest group."""
        met = _Meeting.of(release, "identity")
        parts = list(met.parts())
        sizes = np.concatenate([part.classes.people[part.of_record] for part in parts])
        detail = {"share-below-k": float((sizes < self.k).mean()), **met.shares}
        return (self.measurement(float(sizes.min()), detail=detail),)


@register
@dataclass(frozen=True)
class CompositionLoss(Measure):
    """How far all releases together move an adversary's belief about a person, in the worst case.

    The privacy loss (Jensen-Shannon divergence between the prior and a distribution of the sensitive values,
    in [0, log 2]) of the people who share a person's class in this release and in every earlier one that the
    person is in; the largest over all people. Without an earlier release it is `privacy-loss`. People are
    matched as in `composition-k`. The detail has the mean, the share of people above the threshold, the
    smallest company, and the matching shares of `composition-k`.

    Parameters
    ----------
    threshold
        The loss above which a person counts as at risk.

    References
    ----------
    S. Ganta, S. Kasiviswanathan, A. Smith, "Composition attacks and auxiliary information in data privacy",
    2008; N. Li, T. Li, "On the tradeoff between privacy and utility in data publishing", 2009, section 4.1.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> together, alone = measure(release, ["composition-loss", "privacy-loss"])
    >>> together.value == alone.value
    True
    """

    threshold: Annotated[float, AtLeast(0)] = 0.1

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "attribute"
    needs: ClassVar[Needs] = "records"
    against: ClassVar[Attacker] = COLLECTOR
    is_attack: ClassVar[bool] = True
    words: ClassVar[Words] = Words(
        "privacy loss of all releases together",
        "How far this release and the earlier ones, laid side by side, move what an adversary believes about "
        "a person's sensitive value, for the person for whom it moves most.",
        "0: they tell nothing about anybody that the whole table does not tell. 0.693: a rare value is given "
        "away. Without an earlier release it is the privacy loss.",
        "0 to 0.693 (log 2)",
        sentence="with all releases, what an adversary believes about a person's sensitive value moves by at "
        "most {} on a scale from 0 to 0.693",
        details={
            "share-at-risk": Detail("people above the threshold", "share"),
            "smallest": Detail("smallest company"),
            "share-in-earlier": _IN_EARLIER,
            "share-estimated": _ESTIMATED,
        },
        ends=("all releases together reveal nothing", "a rare value is certain"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return one measurement for each sensitive attribute."""
        if not release.groups.sensitive:
            raise NotApplicable("the release has no sensitive attribute")
        met = _Meeting.of(release, "attribute")
        parts = list(met.parts())
        sizes = np.concatenate([part.classes.people[part.of_record] for part in parts])
        measurements = []
        for name in release.groups.sensitive:
            losses = np.concatenate(
                [jensen_shannon(part.classes.sensitive[name])[part.of_record] for part in parts]
            )
            detail = {
                "mean": float(losses.mean()),
                "share-at-risk": float((losses > self.threshold).mean()),
                "smallest": int(sizes.min()),
                **met.shares,
            }
            measurements.append(self.measurement(float(losses.max()), attribute=name, detail=detail))
        return tuple(measurements)


@dataclass(frozen=True, eq=False)
class _Crossing:
    """Intersected classes of the people who are in the same releases.

    Parameters
    ----------
    classes
        The people who shared all their classes.
    of_record
        The class of each record of those who are in just these releases.
    """

    classes: EquivalenceClasses
    of_record: Integers


@dataclass(frozen=True, eq=False)
class _Meeting:
    """Every released record with its class now and its classes in earlier releases.

    Parameters
    ----------
    release
        The release.
    row_of
        The released row of each record.
    now
        Its class.
    then
        For each earlier release its class there, -1 if its person is not in that release.
    n_estimated
        The number of records with an estimated class.
    """

    release: Release
    row_of: Integers
    now: Integers
    then: tuple[Integers, ...]
    n_estimated: int

    @classmethod
    def of(cls, release: Release, guards: Guards) -> _Meeting:
        """Match people between the releases."""
        if origin_of(release).linked_rows is None:
            raise NotApplicable("it is not known which released record is which")
        row_of = np.repeat(np.arange(release.n_rows), release.weights)
        now = _partition(release, guards).class_of[row_of]
        matches = [_then(release, earlier, guards, row_of) for earlier in origin_of(release).earlier]
        guessed = np.zeros(len(row_of), dtype=np.bool_)
        for classes, estimated in matches:
            guessed |= estimated & (classes >= 0)
        return cls(release, row_of, now, tuple(classes for classes, _ in matches), int(guessed.sum()))

    @property
    def shares(self) -> dict[str, float]:
        """The share of people in an earlier release, and the share whose match is estimated."""
        known = np.zeros(len(self.now), dtype=np.bool_)
        for classes in self.then:
            known |= classes >= 0
        return {
            "share-in-earlier": float(known.mean()),
            "share-estimated": self.n_estimated / len(self.now),
        }

    def parts(self) -> Iterator[_Crossing]:
        """Group people who share their classes, separately for people in different releases.

        Someone in more releases than another person still counts as company in the releases that they share.
        """
        present = [classes >= 0 for classes in self.then]
        pattern_of, n_patterns = number_rows(
            [is_present.astype(np.int32) for is_present in present], [2] * len(present), len(self.now)
        )
        for pattern, someone in enumerate(first_row_of_group(pattern_of, n_patterns)):
            shared = [
                classes for classes, is_present in zip(self.then, present, strict=True) if is_present[someone]
            ]
            everybody = np.ones(len(self.now), dtype=np.bool_)
            inside = np.flatnonzero(np.logical_and.reduce([everybody, *(classes >= 0 for classes in shared)]))
            columns = [self.now[inside], *(classes[inside] for classes in shared)]
            spans = [int(column.max()) + 1 for column in columns]
            class_of, n_classes = number_rows(columns, spans, len(inside))
            own = class_of[pattern_of[inside] == pattern]
            yield _Crossing(self._counted(inside, class_of, n_classes), own)

    def _counted(self, inside: Integers, class_of: Integers, n_classes: int) -> EquivalenceClasses:
        release, rows = self.release, self.row_of[inside]
        grouped = release.groups.sensitive
        people = None if release.people is None else release.people.take(rows)
        return count_classes(
            class_of,
            n_classes,
            np.ones(len(inside), dtype=np.int64),
            {name: (release.own_values(name)[rows], counts.prior) for name, counts in grouped.items()},
            {name: counts.domain for name, counts in grouped.items()},
            people,
        )


def _partition(release: Release, guards: Guards) -> EquivalenceClasses:
    return release.classes if guards == "identity" else release.groups


def _then(release: Release, earlier: Earlier, guards: Guards, row_of: Integers) -> tuple[Integers, Booleans]:
    """Return for each record its class in an earlier release, and whether that is estimated."""
    from sfumato.results.recode_records import classes_taking

    before, people = earlier.release, people_of(release, earlier)
    if people is None:
        # the class that would accept the record now
        origin = origin_of(release)
        accepting = classes_taking(before, origin.table, release.schema)[origin.rows]
        return accepting[row_of], np.ones(len(row_of), dtype=np.bool_)
    classes = _partition(before, guards).class_of[np.repeat(np.arange(before.n_rows), before.weights)]
    return classes_of_people(*people, classes), np.zeros(len(row_of), dtype=np.bool_)


def people_of(release: Release, earlier: Earlier) -> tuple[Integers, Integers] | None:
    """Return the person of each record now and then, with equal numbers; ``None`` if they are unknown."""
    from sfumato.results.linked_people import match_people

    if earlier.people is not None:
        return earlier.people
    now, then = match_people([release, earlier.release], {})
    return None if now is None or then is None else (now, then)


def classes_of_people(now: Integers, then: Integers, classes: Integers) -> Integers:
    """Return for each record of now its person's class then; several classes of a person are merged."""
    if not len(then):
        return np.full(len(now), -1)
    order = np.lexsort((classes, then))
    person, where = then[order], classes[order]
    is_new = np.append(True, (np.diff(person) != 0) | (np.diff(where) != 0))
    person, where = person[is_new], where[is_new]
    someone, first = np.unique(person, return_index=True)
    label = where[first].copy()
    n_classes = int(classes.max()) + 1
    sets: dict[bytes, int] = {}
    ends = np.append(first[1:], len(person))
    for place in np.flatnonzero(ends - first > 1):
        own = where[first[place] : ends[place]].tobytes()
        label[place] = sets.setdefault(own, n_classes + len(sets))
    position = np.searchsorted(someone, now)
    position[position == len(someone)] = 0
    return np.where(someone[position] == now, label[position], -1)
