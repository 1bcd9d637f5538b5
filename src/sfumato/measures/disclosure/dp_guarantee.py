"""Epsilon and delta of differential privacy, as the method of a release declares them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sfumato.registry.declarations import (
    EVERY_TYPE,
    Attacker,
    Axis,
    Better,
    Detail,
    Guarantee,
    Guards,
    Needs,
    ReleaseType,
    Words,
)
from sfumato.registry.methods import register
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measure, Measurement
from sfumato.results.people_groups import Group
from sfumato.results.release import Release

_ANYBODY = Attacker(
    "The one who knows everybody else",
    "Knows all records but one person's and how the release was made, and wants to learn whether that "
    "person is in it.",
)


def guarantee_of(release: Release) -> Guarantee | None:
    """Return the differential privacy guarantee of the method of a release, if it has one."""
    declares = None if release.recipe is None else getattr(release.recipe.build(), "guarantee", None)
    promised: Guarantee | None = None if declares is None else declares(release.schema)
    return promised


class _Promised(Measure):
    """A number that the method declares: it follows from the recipe, not from the records."""

    axis: ClassVar[Axis] = "privacy"
    better: ClassVar[Better] = "lower"
    guards: ClassVar[Guards] = "identity"
    against: ClassVar[Attacker] = _ANYBODY
    needs: ClassVar[Needs] = "original"
    judges: ClassVar[tuple[ReleaseType, ...]] = EVERY_TYPE
    is_promised: ClassVar[bool] = True

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the number as one measurement, with whose presence it protects."""
        promised = guarantee_of(release)
        if promised is None:
            raise NotApplicable("its method promises no differential privacy")
        detail: dict[str, Any] = {"unit": promised.unit}
        if self.name == "epsilon":
            return (self.measurement(promised.epsilon, detail=detail),)
        # of the number of people only the public bound may be used
        if release.schema.people_at_most is not None:
            detail["people-below"] = release.schema.people_at_most
        return (self.measurement(promised.delta, detail=detail),)

    def of_group(self, release: Release, group: Group) -> tuple[Measurement, ...]:
        """Return the number unchanged: the guarantee is the same for everyone."""
        return self.measure(release)


@register
@dataclass(frozen=True)
class Epsilon(_Promised):
    """The epsilon of differential privacy that the method of a release guarantees.

    It follows from the recipe and is an unverified claim: nobody can compute it from the published files. The
    detail says whose presence is hidden: that of a record, or of a person with all their records. It does not
    apply to methods without such a guarantee.

    References
    ----------
    C. Dwork, F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private data
    analysis", 2006; NIST SP 800-226, "Guidelines for evaluating differential privacy guarantees", 2025.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import MST
    >>> (taken,) = Epsilon().measure(sanitize(*datasets.hospital(), MST(epsilon=0.5)))
    >>> taken.value, taken.detail["unit"]
    (0.5, 'record')
    """

    words: ClassVar[Words] = Words(
        "epsilon",
        "How much the presence of one person can change what is released, at most: probabilities change by "
        "the factor e^epsilon. It is promised by the method and cannot be measured.",
        "Around 1 or below is strong protection; above 10 the number alone says little.",
        "above 0",
        sentence="the presence of one person changes the probability of any outcome by a factor of at most "
        "e^{}, but for delta",
        details={"unit": Detail("whose presence is hidden")},
        ends=("one person changes hardly anything", "one person may change everything"),
    )


@register
@dataclass(frozen=True)
class PrivacyDelta(_Promised):
    """The delta of differential privacy that the method of a release guarantees along with epsilon.

    With probability delta the guarantee of epsilon may fail. Delta should be far below one in the number of
    people.

    References
    ----------
    C. Dwork, K. Kenthapadi, F. McSherry, I. Mironov, M. Naor, "Our data, ourselves: privacy via
    distributed noise generation", 2006; NIST SP 800-226, 2025.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.sanitizers import MST
    >>> PrivacyDelta().measure(sanitize(*datasets.hospital(), MST(delta=1e-7)))[0].value
    1e-07
    """

    words: ClassVar[Words] = Words(
        "delta of differential privacy",
        "The probability with which the promise of epsilon may fail. It is promised by the method and cannot "
        "be measured.",
        "It should be far below one in the number of people.",
        "0 to 1",
        sentence="the promise of epsilon may fail with a probability of {}",
        details={
            "unit": Detail("whose presence is hidden"),
            "people-below": Detail("a public upper bound of the number of people", "number"),
        },
        ends=("the promise never fails", "the promise is worth nothing"),
    )
