"""m-invariance: whether recurring people share the same set of sensitive values in every release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.equivalence_classes import SensitiveCounts
from sfumato.data.hierarchy import Label
from sfumato.measures.disclosure.composition import COLLECTOR, classes_of_people, people_of
from sfumato.registry.declarations import Attacker, Axis, Better, Detail, Guards, Needs, Words
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.measurement import Measure, Measurement
from sfumato.results.release import Release
from sfumato.runtime.arrays import Booleans, Integers

_SEVERAL_RECORDS = "somebody has several records, and the definition knows one of each person"


@register
@dataclass(frozen=True)
class MInvariance(Measure):
    """The largest m for which this release and the earlier ones are m-invariant, or 0.

    Releases are m-invariant if every group of each of them has at least m records, all with different
    sensitive values, and if the groups of a person have the same values (the signature) in every release that
    the person is in. Then the chance of inferring a person's value stays at 1/m, however many releases
    follow. Counterfeit records, which the paper adds for values that die out, are not supported. Without an
    earlier release the value is the size of the smallest group, if no group repeats a value. The detail has
    the share of people whose signature has changed, and the share of people in groups of this release that
    repeat a value.

    People must be matched: by releases of the same data, or by a column that identifies them. If someone has
    several records in a release, the definition does not apply.

    References
    ----------
    X. Xiao, Y. Tao, "m-invariance: towards privacy preserving re-publication of dynamic datasets", 2007.

    Examples
    --------
    >>> from sfumato import datasets, measure, sanitize
    >>> from sfumato.sanitizers import Anatomy
    >>> release = sanitize(*datasets.hospital(), Anatomy(2))
    >>> measure(release, ["m-invariance"])[0].value
    2.0
    """

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "higher"
    guards: ClassVar[Guards] = "attribute"
    needs: ClassVar[Needs] = "records"
    against: ClassVar[Attacker] = COLLECTOR
    words: ClassVar[Words] = Words(
        "m-invariance",
        "The number of different sensitive values that a person is always among, the same ones in every "
        "release.",
        "4: whoever has all releases guesses a person's value with a chance of one in four at most. 0: some "
        "group repeats a value, or somebody's group had other values before.",
        "0 to the number of sensitive values",
        sentence="everybody is among the same {} different sensitive values in every release",
        details={
            "share-changed": Detail("people whose signature has changed", "share"),
            "share-repeated": Detail("people in groups that repeat a value", "share"),
        },
        ends=("as many values as there are", "one value in every release"),
    )

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return one measurement for each sensitive attribute."""
        if not release.groups.sensitive:
            raise NotApplicable("the release has no sensitive attribute")
        return tuple(self._measurement_of(release, name) for name in release.groups.sensitive)

    def _measurement_of(self, release: Release, name: str) -> Measurement:
        known: dict[frozenset[Label], int] = {}
        now, repeats = _signatures(release, name, known)
        smallest = [_smallest(release, name)]
        changed = np.zeros(len(now), dtype=np.bool_)
        for earlier in release.origin.earlier if isinstance(release, LinkedRelease) else ():
            people = people_of(release, earlier)
            if people is None:
                raise NotApplicable("it is not known who of an earlier release is who")
            if any(len(np.unique(persons)) < len(persons) for persons in people):
                raise NotApplicable(_SEVERAL_RECORDS)
            then = classes_of_people(*people, _signatures(earlier.release, name, known)[0])
            changed |= (then >= 0) & (then != now)
            smallest.append(_smallest(earlier.release, name))
        detail = {"share-changed": float(changed.mean()), "share-repeated": float(repeats.mean())}
        return self.measurement(0.0 if changed.any() else float(min(smallest)), attribute=name, detail=detail)


def _of(release: Release, name: str) -> SensitiveCounts:
    if release.people is not None:
        raise NotApplicable(_SEVERAL_RECORDS)
    if name not in release.groups.sensitive:
        raise NotApplicable(f"an earlier release does not have {name!r}")
    return release.groups.sensitive[name]


def _signatures(release: Release, name: str, known: dict[frozenset[Label], int]) -> tuple[Integers, Booleans]:
    """Return for each record the number of its group's signature, and whether the group repeats a value."""
    counts = _of(release, name)
    labels = counts.domain.labels
    numbers = [
        known.setdefault(frozenset(labels[value] for value in counts.values[begin:end]), len(known))
        for begin, end in zip(counts.starts[:-1], counts.starts[1:], strict=True)
    ]
    group_of = np.repeat(release.groups.class_of, release.weights)
    return np.array(numbers)[group_of], (np.diff(counts.starts) < counts.sizes)[group_of]


def _smallest(release: Release, name: str) -> int:
    """Return the size of the smallest group, or 0 if a group repeats a value."""
    counts = _of(release, name)
    return 0 if (np.diff(counts.starts) < counts.sizes).any() else int(counts.sizes.min())
