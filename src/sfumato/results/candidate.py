"""Candidates: releases that were made and measured, or that could not be made."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from sfumato.registry.display import listed
from sfumato.registry.recipe import Recipe
from sfumato.results.measurement import Measurement, worst_value


@dataclass(frozen=True)
class Alias:
    """Another recipe that makes the same release as a candidate.

    Parameters
    ----------
    id
        Its short name in the store.
    recipe
        How it is made.
    """

    id: str
    recipe: Recipe = field(hash=False)


@dataclass(frozen=True, repr=False)
class Candidate:
    """A release that was made and measured, or that could not be made.

    Parameters
    ----------
    id
        Its short name in the store.
    recipe
        How it is made.
    measurements
        What was measured of it.
    infeasible
        Why it could not be made, if so.
    seconds
        How long making and measuring took.
    failed
        Whether a method at fault is why it could not be made; the next exploration then tries it again.
    also
        The other recipes that make the same release.
    """

    id: str
    recipe: Recipe = field(hash=False)
    measurements: tuple[Measurement, ...] = field(default=(), hash=False)
    infeasible: str | None = None
    seconds: float = 0.0
    failed: bool = False
    also: tuple[Alias, ...] = field(default=(), hash=False)

    @property
    def ways(self) -> tuple[Alias, ...]:
        """Every recipe that makes it, its own first."""
        return (Alias(self.id, self.recipe), *self.also)

    @cached_property
    def _values(self) -> dict[str, float | None]:
        """What was looked up before, by label or name."""
        return {}

    def value(self, measure: str) -> float | None:
        """Return the value of a measure (the worst over the sensitive attributes), if it applies."""
        if measure not in self._values:
            self._values[measure] = worst_value(self.measurements, measure)
        return self._values[measure]

    @property
    def is_original(self) -> bool:
        """Whether it is the original as it is."""
        return any(way.recipe.sanitizer == "as-is" for way in self.ways)

    def __repr__(self) -> str:
        if self.infeasible is not None:
            return f"<Candidate {self.id} {self.recipe}: could not be made, {self.infeasible}>"
        figures = [f"{m.label} {_shown(m)}" for m in self.measurements]
        return f"<Candidate {self.id} {self.recipe}: {listed(figures) or 'not measured'}>"

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import candidate_html

        return candidate_html(self)


def _shown(measurement: Measurement) -> str:
    from sfumato.results import formatting

    return "does not apply" if measurement.value is None else formatting.number(measurement.value)
