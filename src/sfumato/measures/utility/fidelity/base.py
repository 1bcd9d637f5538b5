"""The base class of fidelity measures, which compare single released and original values."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from sfumato.measures.utility.fidelity.single_values import (
    SingleValues,
    compared_attributes,
    original_records,
    released_records,
)
from sfumato.registry.declarations import EVERY_TYPE, AttributeName, Axis, Better, ReleaseType, Seed
from sfumato.results.inapplicable import NotApplicable
from sfumato.results.measurement import Measure, Measurement
from sfumato.results.release import Release
from sfumato.runtime.errors import ParameterError, suggestion


class FidelityMeasure(Measure):
    """A comparison of the records of a release with those of the original, fair to every type of release."""

    axis: ClassVar[Axis] = "utility"
    better: ClassVar[Better] = "lower"
    judges: ClassVar[tuple[ReleaseType, ...]] = EVERY_TYPE

    seed: Seed

    @property
    def fewest_attributes(self) -> int:
        """The number of attributes that must vary."""
        return 2

    def measure(self, release: Release) -> tuple[Measurement, ...]:
        """Return the result of the comparison."""
        names = compared_attributes(release, self.fewest_attributes)
        true = original_records(release, names, self.seed)
        released = released_records(release, names, self.seed)
        return tuple(self.compared(release, true, released))

    @abstractmethod
    def compared(self, release: Release, true: SingleValues, released: SingleValues) -> Iterable[Measurement]:
        """Return the measurements, given the records of the original and of the release."""


@dataclass(frozen=True)
class TargetMeasure(FidelityMeasure):
    """A comparison of what can be learned about one attribute from the others."""

    target: AttributeName = ""
    seed: Seed = 0

    def compared(self, release: Release, true: SingleValues, released: SingleValues) -> Iterable[Measurement]:
        """Return the measurement for the target, or for each sensitive attribute."""
        targets = [self.target] if self.target else [n for n in release.schema.sensitive if n in true.codes]
        if not targets:
            raise NotApplicable("no sensitive attribute differs between people; name a target")
        for target in targets:
            if target not in true.codes:
                raise ParameterError(
                    f"target: no attribute {target!r} to learn{suggestion(target, true.codes)}"
                )
            yield self.of_target(release, true, released, target)

    @abstractmethod
    def of_target(
        self, release: Release, true: SingleValues, released: SingleValues, target: str
    ) -> Measurement:
        """Return the measurement of one target."""
