"""Any measures as objectives: every individual is made into a release and measured."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.models.base import PrivacyModel
from sfumato.registry.recipe import Recipe
from sfumato.results.measurement import Measure, build_measure, measure, worst_value
from sfumato.results.pareto import Limit
from sfumato.results.release import Release
from sfumato.runtime.arrays import Floats
from sfumato.runtime.errors import Infeasible
from sfumato.sanitizers.base import sanitize
from sfumato.searches.evolution.problems import Evaluation
from sfumato.searches.evolution.space import Genes, Space


@dataclass(frozen=True)
class MeasuredProblem:
    """Releases that are good in some measures, among those that keep some limits.

    Parameters
    ----------
    space
        What may be tried.
    table, schema
        The original, bound.
    objectives
        The measures, by name or label; each is made better.
    model
        What must hold in every class, where the space asks for a model.
    eta
        The largest share of the records that may be suppressed.
    limits
        What other measures must keep.
    """

    space: Space
    table: Table
    schema: Schema
    objectives: tuple[str, ...]
    model: PrivacyModel
    eta: float
    limits: Mapping[str, Limit]

    is_counted: ClassVar[bool] = False

    @cached_property
    def _measures(self) -> list[Measure]:
        return [build_measure(name) for name in (*self.objectives, *self.limits)]

    @property
    def n_objectives(self) -> int:
        """How many measures there are."""
        return len(self.objectives)

    @property
    def traits(self) -> tuple[str, ...]:
        """The measures."""
        return self.objectives

    def evaluate(self, genes: Genes) -> Evaluation:
        """Make and measure a release for each individual."""
        judged = [self._judge(row) for row in genes]
        allowed = np.array([worse == 0 for _, worse in judged])
        owner = np.flatnonzero(allowed)
        values = np.array([traits for (traits, _), kept in zip(judged, allowed, strict=True) if kept])
        traits = values.reshape(len(owner), self.n_objectives)
        main = np.full(len(genes), -1, dtype=np.int64)
        main[owner] = np.arange(len(owner))
        objectives = self._measures[: len(self.objectives)]
        signs = np.array([1.0 if measure.direction == "lower" else -1.0 for measure in objectives])
        return Evaluation(owner, traits * signs, traits, main, np.array([worse for _, worse in judged]))

    def _judge(self, genes: Genes) -> tuple[list[float], float]:
        """Return the traits of an individual, and how far it is from keeping all limits."""
        nothing = [math.inf] * self.n_objectives
        try:
            release = sanitize(self.table, self.schema, self.recipe(genes, np.zeros(0)))
        except Infeasible as reason:
            return nothing, 1 + max(float(reason.reached or 0), 0)
        return self._traits(release)

    def _traits(self, release: Release) -> tuple[list[float], float]:
        measurements = measure(release, self._measures)
        share = release.n_suppressed / release.n_original
        worse = max(share - self.eta, 0.0)
        for name, limit in self.limits.items():
            worse += _excess(worst_value(measurements, name), limit)
        values = [worst_value(measurements, name) for name in self.objectives]
        # a measure that does not apply cannot be compared
        worse += sum(value is None for value in values)
        return [math.inf if value is None else value for value in values], worse

    def recipe(self, genes: Genes, traits: Floats) -> Recipe:
        """Return the recipe of an individual."""
        return self.space.recipe(genes, self.model, self.eta)


def _excess(value: float | None, limit: Limit) -> float:
    if limit.allows(value):
        return 0.0
    if value is None or not math.isfinite(value):
        return 1.0
    return max(limit.at_least - value, value - limit.at_most)
