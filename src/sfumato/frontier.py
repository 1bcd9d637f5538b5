"""Frontier: all candidates, and which of them no other beats."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sfumato.arrays import Booleans, Floats
from sfumato.errors import ParameterError, suggestion
from sfumato.measures.base import Measurement, worst_value
from sfumato.models.base import Better
from sfumato.recipe import Recipe
from sfumato.shown import as_pandas, listed

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from sfumato.report.picture import Picture

# A value this near to a limit is a tie, as in a model: 0.1 + 0.2 must keep a limit of 0.3.
_TIE = 1e-12
# A gain this small over a straight line is rounding.
_ROUNDING = 1e-9


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
    """

    id: str
    recipe: Recipe = field(hash=False)
    measurements: tuple[Measurement, ...] = field(default=(), hash=False)
    infeasible: str | None = None
    seconds: float = 0.0

    def value(self, measure: str) -> float | None:
        """Return the value of a measure (the worst over the sensitive attributes), if it applies."""
        return worst_value(self.measurements, measure)

    def __repr__(self) -> str:
        if self.infeasible is not None:
            return f"<Candidate {self.id} {self.recipe}: could not be made, {self.infeasible}>"
        figures = [f"{m.label} {_shown(m)}" for m in self.measurements]
        return f"<Candidate {self.id} {self.recipe}: {listed(figures) or 'not measured'}>"

    def _repr_html_(self) -> str:
        from sfumato.report.notebook import candidate_html

        return candidate_html(self)


@dataclass(frozen=True)
class Limit:
    """What a measure must keep."""

    at_most: float = math.inf
    at_least: float = -math.inf

    def allows(self, value: float | None) -> bool:
        """Return whether a value keeps the limit; a measure that does not apply keeps none."""
        return value is not None and self.at_least - _TIE <= value <= self.at_most + _TIE

    def __str__(self) -> str:
        ends = [f"at least {self.at_least:.15g}"] if self.at_least > -math.inf else []
        ends += [f"at most {self.at_most:.15g}"] if self.at_most < math.inf else []
        return " and ".join(ends)


@dataclass(frozen=True, repr=False)
class Frontier:
    """All candidates, seen along two or more measures.

    A candidate dominates another when it is at least as good on every axis and better on one. The
    efficient ones are those that none dominates.

    Parameters
    ----------
    candidates
        The candidates that could be made.
    axes
        The names of the measures, privacy first.
    """

    candidates: tuple[Candidate, ...]
    axes: tuple[str, ...]

    def __post_init__(self) -> None:
        every = [m for candidate in self.candidates for m in candidate.measurements]
        measured = {m.label for m in every} | {m.measure for m in every}
        for axis in self.axes:
            if measured and axis not in measured:
                hint = suggestion(axis, measured) or f"; measured are {', '.join(sorted(measured))}"
                raise ParameterError(f"{axis!r} was not measured{hint}")

    @cached_property
    def comparable(self) -> tuple[Candidate, ...]:
        """The candidates to which every axis applies."""
        return tuple(c for c, applies in zip(self.candidates, self._applies, strict=True) if applies)

    @cached_property
    def apart(self) -> tuple[Candidate, ...]:
        """The candidates to which some axis does not apply, so that they cannot be compared."""
        return tuple(c for c, applies in zip(self.candidates, self._applies, strict=True) if not applies)

    def better(self, axis: str) -> Better:
        """Return whether lower or higher is better on an axis."""
        for candidate in self.candidates:
            for measurement in candidate.measurements:
                if axis in (measurement.label, measurement.measure):
                    return measurement.better
        return "lower"

    @cached_property
    def _signs(self) -> Floats:
        return np.array([1.0 if self.better(axis) == "lower" else -1.0 for axis in self.axes])

    @cached_property
    def _points(self) -> Floats:
        """One row for each candidate, turned so that lower is better; NaN where an axis does not apply."""
        rows = [[candidate.value(axis) for axis in self.axes] for candidate in self.candidates]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.axes)) * self._signs

    @cached_property
    def _applies(self) -> Booleans:
        return np.logical_not(np.isnan(self._points).any(axis=1))

    @cached_property
    def _efficient(self) -> list[int]:
        """The rows of the efficient candidates, the best on the first axis first."""
        compared = np.flatnonzero(self._applies)
        kept = compared[~dominated(self._points[compared])]
        return sorted(map(int, kept), key=lambda row: (*self._points[row], self.candidates[row].id))

    def efficient(self) -> tuple[Candidate, ...]:
        """Return the candidates that no other dominates, the best on the first axis first."""
        return tuple(self.candidates[row] for row in self._efficient)

    def dominated_by(self, candidate: Candidate) -> tuple[Candidate, ...]:
        """Return the candidates that dominate this one; none does where some axis does not apply."""
        point = self._points[self.candidates.index(candidate)]
        better = (self._points <= point).all(axis=1) & (self._points < point).any(axis=1)
        return tuple(self.candidates[row] for row in np.flatnonzero(better))

    def knee(self) -> Candidate | None:
        """Return the efficient candidate farthest from the line between the two ends of the front.

        Both axes are scaled to the front first. ``None`` when the front has no inner point.
        """
        front = [row for row in self._efficient if np.isfinite(self._points[row]).all()]
        points = self._points[front, :2]
        span = np.ptp(points, axis=0) if front else np.zeros(2)
        if len(front) < 3 or (span == 0).any():
            return None
        # on the unit square the line runs from (0, 1) to (1, 0), and the gain is how far below it lies
        gain = 1 - ((points - points.min(axis=0)) / span).sum(axis=1)
        return self.candidates[front[int(gain.argmax())]] if gain.max() > _ROUNDING else None

    def within(self, limits: Mapping[str, Limit]) -> tuple[Candidate, ...]:
        """Return the candidates that keep all limits."""
        return tuple(
            c for c in self.candidates if all(limit.allows(c.value(name)) for name, limit in limits.items())
        )

    def hypervolume(self, reference: Sequence[float] | None = None) -> tuple[float, tuple[float, ...]]:
        """Return the volume that the front dominates, and the reference point that bounds it.

        Parameters
        ----------
        reference
            One value for each axis, no better than any candidate; by default the worst values seen.
        """
        import moocore

        points = self._points[np.isfinite(self._points).all(axis=1)]
        if reference is not None and len(reference) != len(self.axes):
            raise ParameterError(f"the reference point needs one value for each of {', '.join(self.axes)}")
        if reference is None and not len(points):
            raise ParameterError(
                f"no candidate has a finite value of {' and '.join(self.axes)}; give a reference point"
            )
        worst = points.max(axis=0) if reference is None else np.asarray(reference) * self._signs
        volume = float(moocore.hypervolume(points, ref=worst)) if len(points) else 0.0
        return volume, tuple(float(value) for value in worst * self._signs)

    def reach(self) -> dict[str, float]:
        """Return for each sanitizer which share of the volume it dominates that all candidates dominate.

        The reference point is the same for all: the worst values seen.
        """
        if not np.isfinite(self._points).all(axis=1).any():
            return {}
        whole, reference = self.hypervolume()
        by_method: dict[str, list[Candidate]] = {}
        for candidate in self.comparable:
            by_method.setdefault(candidate.recipe.sanitizer, []).append(candidate)
        return {
            method: Frontier(tuple(own), self.axes).hypervolume(reference)[0] / whole if whole else 1.0
            for method, own in by_method.items()
        }

    def to_arrow(self) -> pa.Table:
        """Return one row for each candidate: id, recipe, every measure, and whether it is efficient."""
        import pyarrow as pa

        names = list(dict.fromkeys(m.label for c in self.candidates for m in c.measurements))
        efficient = set(self.efficient())
        columns: dict[str, list[object]] = {
            "id": [c.id for c in self.candidates],
            "recipe": [str(c.recipe) for c in self.candidates],
            **{name: [c.value(name) for c in self.candidates] for name in names},
            "efficient": [c in efficient for c in self.candidates],
        }
        return pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return what `to_arrow` returns, as a pandas frame."""
        return as_pandas(self.to_arrow())

    def plot(self, *, chosen: Candidate | None = None, policy: Mapping[str, Limit] = {}) -> Picture:
        """Draw the candidates and the line of the efficient ones; three to five axes as a matrix of planes.

        Parameters
        ----------
        chosen
            The candidate to ring.
        policy
            Limits to draw, by measure.
        """
        from sfumato.report.matrix import frontier_picture
        from sfumato.report.picture import Picture

        return Picture(frontier_picture(self, chosen=chosen, limits=policy))

    def __repr__(self) -> str:
        knee = self.knee()
        where = "" if knee is None else f"; the knee is {knee.id}, {knee.recipe}"
        found = f"{len(self.efficient()):,} efficient of {len(self.candidates):,} candidates"
        return f"<Frontier: {found} on {' and '.join(self.axes)}{where}>"

    def _repr_html_(self) -> str:
        from sfumato.report.notebook import frontier_html

        return frontier_html(self)


def dominated(points: Floats) -> Booleans:
    """Return for each row whether another is nowhere worse and somewhere better; lower is better.

    Examples
    --------
    >>> dominated(np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]))
    array([False, False,  True])
    """
    beaten = np.zeros(len(points), dtype=np.bool_)
    columns = np.ascontiguousarray(points.T)
    for row, point in enumerate(points[:, :, np.newaxis]):
        beaten[row] = ((columns <= point).all(axis=0) & (columns < point).any(axis=0)).any()
    return beaten


def broken_limits(candidate: Candidate, limits: Mapping[str, Limit]) -> list[str]:
    """Return in words which limits a candidate breaks."""
    broken = []
    for name, limit in limits.items():
        value = candidate.value(name)
        if not limit.allows(value):
            reached = "does not apply" if value is None else f"is {_rounded(value, limit)}"
            broken.append(f"{name} {reached}, must be {limit}")
    return broken


def _shown(measurement: Measurement) -> str:
    from sfumato import formatting

    return "does not apply" if measurement.value is None else formatting.number(measurement.value)


def _rounded(value: float, limit: Limit) -> str:
    """Return a value that breaks a limit in six digits, or in all of them if it would seem to keep it."""
    return f"{value:.15g}" if limit.allows(float(f"{value:.6g}")) else f"{value:.6g}"


def only_made(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates that could be made."""
    return tuple(candidate for candidate in candidates if candidate.infeasible is None)
