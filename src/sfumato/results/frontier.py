"""The frontier: all candidates, and which of them are efficient."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from sfumato.registry.declarations import Better
from sfumato.registry.display import Picture, as_pandas
from sfumato.results.candidate import Candidate
from sfumato.results.measurement import named
from sfumato.results.pareto import Columns, Limit
from sfumato.results.policy import NO_LIMITS, Policy
from sfumato.runtime.arrays import Floats
from sfumato.runtime.errors import ParameterError, suggestion

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


@dataclass(frozen=True, repr=False)
class Frontier:
    """All candidates, seen along two or more measures.

    A candidate dominates another when it is at least as good on every axis and better on one. Efficient are
    those that keep the policy and that no other of these dominates.

    Parameters
    ----------
    candidates
        The candidates that could be made.
    axes
        The names of the measures, privacy first.
    infeasible
        The candidates that could not be made, each with the reason.
    policy
        What a release must keep. Only candidates that keep it are compared and can be efficient.
    """

    candidates: tuple[Candidate, ...]
    axes: tuple[str, ...]
    infeasible: tuple[Candidate, ...] = ()
    policy: Policy = NO_LIMITS

    def __post_init__(self) -> None:
        every = [m for candidate in self.candidates for m in candidate.measurements]
        measured = {m.label for m in every} | {m.measure for m in every}
        for axis in self.axes:
            if measured and axis not in measured and not named(every, axis):
                hint = suggestion(axis, measured) or f"; measured are {', '.join(sorted(measured))}"
                raise ParameterError(f"{axis!r} was not measured{hint}")

    @cached_property
    def comparable(self) -> tuple[Candidate, ...]:
        """The candidates to which every axis applies, those against the policy included."""
        return self._picked(np.flatnonzero(self._columns.comparable(self.axes)))

    @cached_property
    def apart(self) -> tuple[Candidate, ...]:
        """The candidates to which some axis does not apply, so that they cannot be compared."""
        return self._picked(np.flatnonzero(~self._columns.comparable(self.axes)))

    @property
    def original(self) -> Candidate | None:
        """The candidate that is the original as it is, if it was tried."""
        return next((c for c in self.candidates if c.is_original), None)

    @cached_property
    def broken(self) -> Mapping[str, tuple[str, ...]]:
        """What each candidate against the policy breaks, in words, by its id."""
        if not self.policy:
            return {}
        broken = {c.id: self.policy.broken(c, self.original) for c in self.candidates}
        return {name: words for name, words in broken.items() if words}

    @cached_property
    def allowed(self) -> tuple[Candidate, ...]:
        """The candidates that keep the policy."""
        return tuple(c for c in self.candidates if c.id not in self.broken)

    def nearest_to_policy(self) -> Candidate | None:
        """Return the candidate that misses the policy least: the fewest limits, then the least excess."""

        def missed(candidate: Candidate) -> tuple[int, float, str]:
            excess = [v.excess for v in self.policy.verdicts(candidate, self.original) if v.problem]
            return len(excess), max(excess, default=0.0), candidate.id

        return min(self.candidates, key=missed, default=None)

    def policy_notes(self) -> tuple[str, ...]:
        """Return what to know of the policy before any result: who is assumed, and whether any keeps it."""
        from sfumato.results import formatting

        notes = []
        if self.policy.is_assumed:
            notes.append(
                f"Nobody said who gets the release, so the limits for {self.policy.title} apply: "
                f"{self.policy.meaning}. Say who gets it: recipient under [policy] in the project file, "
                "policy= in Python."
            )
        nearest = None if self.allowed else self.nearest_to_policy()
        if nearest is not None:
            notes.append(
                f"No candidate keeps the policy. The nearest is {formatting.recipe_name(nearest.recipe)} "
                f"({nearest.id}), which misses: {'; '.join(self.broken[nearest.id])}."
            )
        return tuple(notes)

    @cached_property
    def _rivals(self) -> Columns:
        """The candidates along the axes; those against the policy have no value, so they beat nobody."""
        against = np.array([c.id in self.broken for c in self.candidates], dtype=np.bool_)
        return self._columns.without(against)

    def trivial_values(self, measure: str) -> dict[str, float | None]:
        """Return the value of a measure for the table as it is, and with all quasi-identifiers withheld."""
        recipes = {"as-is": "the table as it is", "suppress-quasi-identifiers": "everything withheld"}
        return {
            words: next((c.value(measure) for c in self.candidates if c.recipe.sanitizer == name), None)
            for name, words in recipes.items()
        }

    def better(self, axis: str) -> Better:
        """Return whether lower or higher is better on an axis."""
        return next((m.better for c in self.candidates for m in named(c.measurements, axis)), "lower")

    def _picked(self, rows: Iterable[int]) -> tuple[Candidate, ...]:
        return tuple(self.candidates[row] for row in rows)

    def _column(self, name: str) -> Floats:
        """Return the values of a measure; NaN where it does not apply."""
        return np.array([candidate.value(name) for candidate in self.candidates], dtype=np.float64)

    @cached_property
    def _columns(self) -> Columns:
        """The candidates along the axes."""
        return Columns(
            {axis: self._column(axis) for axis in self.axes},
            {axis: self.better(axis) for axis in self.axes},
            [candidate.id for candidate in self.candidates],
        )

    @cached_property
    def _points(self) -> Floats:
        """One row for each candidate, turned so that lower is better; NaN where an axis does not apply."""
        return self._columns.points(self.axes)

    @cached_property
    def _signs(self) -> Floats:
        return self._columns.signs(self.axes)

    @cached_property
    def _efficient(self) -> tuple[Candidate, ...]:
        return self._picked(self._rivals.front(self.axes))

    def efficient(self) -> tuple[Candidate, ...]:
        """Return the candidates that keep the policy and are not dominated, best on the first axis first."""
        return self._efficient

    def dominated_by(self, candidate: Candidate) -> tuple[Candidate, ...]:
        """Return the candidates that keep the policy and dominate this one.

        There are none if some axis does not apply to it.
        """
        row = self.candidates.index(candidate)
        against = np.array(
            [c.id in self.broken and c is not candidate for c in self.candidates], dtype=np.bool_
        )
        return self._picked(self._columns.without(against).dominating(row, self.axes))

    def knee(self) -> Candidate | None:
        """Return the efficient candidate farthest from the line between the two ends of the front.

        Both axes are scaled to the front first. ``None`` when the front has no inner point.
        """
        return self._knee

    @cached_property
    def _knee(self) -> Candidate | None:
        row = self._rivals.knee(self.axes)
        return None if row is None else self.candidates[row]

    def worst_of(self, attribute: str) -> Frontier:
        """Return the same candidates along the same measures, each for the group that does worst on it.

        Parameters
        ----------
        attribute
            The attribute whose values make the groups. Each axis must have been measured by it, as
            ``by = ["race"]`` in a project file asks for, or `worst-group-loss` and `worst-group-risk`.
        """
        from sfumato.results.measurement import (
            compares,
        )

        labels = {compares(m): m.label for c in self.candidates for m in c.measurements}
        for axis in self.axes:
            if (attribute, axis) not in labels:
                known = sorted({pair[0] for pair in labels if pair and pair[1] == axis})
                near = suggestion(attribute, known)
                raise ParameterError(
                    f"{axis!r} was not measured by {attribute!r}{near}; under [measure] write "
                    f"by = [{attribute!r}] and explore again"
                )
        return replace(self, axes=tuple(labels[attribute, axis] for axis in self.axes))

    def within(self, limits: Mapping[str, Limit]) -> tuple[Candidate, ...]:
        """Return the candidates that keep all limits."""
        if not limits:
            return self.candidates
        limited = Columns({name: self._column(name) for name in limits}, {})
        return self._picked(np.flatnonzero(limited.within(limits)))

    def hypervolume(self, reference: Sequence[float] | None = None) -> tuple[float, tuple[float, ...]]:
        """Return the volume that the front dominates, and the reference point that bounds it.

        Parameters
        ----------
        reference
            One value for each axis, no better than any candidate; by default the worst values seen.
        """
        import moocore

        if not self.axes:
            raise ParameterError("the frontier has no axis, and so no volume; name the measures in axes")
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
        if not self.axes or not np.isfinite(self._points).all(axis=1).any():
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
        """Return a row for each candidate: id, recipe, measures, whether efficient, what it breaks."""
        import pyarrow as pa

        names = list(dict.fromkeys(m.label for c in self.candidates for m in c.measurements))
        efficient = set(self.efficient())
        columns: dict[str, list[object]] = {
            "id": [c.id for c in self.candidates],
            "recipe": [str(c.recipe) for c in self.candidates],
            **{name: [c.value(name) for c in self.candidates] for name in names},
            "efficient": [c in efficient for c in self.candidates],
            "against the policy": ["; ".join(self.broken.get(c.id, ())) for c in self.candidates],
        }
        return pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return what `to_arrow` returns, as a pandas frame."""
        return as_pandas(self.to_arrow())

    def plot(self, *, chosen: Candidate | None = None) -> Picture:
        """Draw the candidates and the line of the efficient ones; three to five axes as a matrix of planes.

        Parameters
        ----------
        chosen
            The candidate to ring.
        """
        from sfumato.workflow.report.charts.scatter_matrix import frontier_picture

        if len(self.axes) < 2:
            raise ParameterError("a frontier is drawn along two axes or more; name the measures in axes")
        return Picture(frontier_picture(self, chosen=chosen))

    def __repr__(self) -> str:
        knee = self.knee()
        where = "" if knee is None else f"; the knee is {knee.id}, {knee.recipe}"
        found = f"{len(self.efficient()):,} efficient of {len(self.candidates):,} candidates"
        if self.policy:
            found += f", {len(self.allowed):,} of which keep the policy ({self.policy.recipient}),"
        return f"<Frontier: {found} on {' and '.join(self.axes) or 'no axis'}{where}>"

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import frontier_html

        # a notebook shows the text where there is no picture
        return frontier_html(self) if len(self.axes) > 1 else escape(repr(self))


def only_made(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates that could be made."""
    return tuple(candidate for candidate in candidates if candidate.infeasible is None)


def one_for_each_recipe(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Return a candidate for every recipe, also for those that make the same release as another."""
    return tuple(
        replace(candidate, id=way.id, recipe=way.recipe, also=())
        for candidate in candidates
        for way in candidate.ways
    )
