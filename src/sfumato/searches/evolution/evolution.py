"""The evolutionary search: for the four problems of Dewri and others, or for any measures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.models.suppression_order import DiversityName
from sfumato.registry.declarations import (
    AtLeast,
    AtMost,
    AttributeName,
    MeasureName,
    Probability,
    SanitizerName,
    Share,
)
from sfumato.registry.methods import check_bounds, register
from sfumato.registry.recipe import Recipe
from sfumato.results.measurement import build_measure
from sfumato.results.pareto import Limit
from sfumato.runtime.errors import ParameterError
from sfumato.runtime.progress import tell
from sfumato.searches.evolution.closeness_problems import ClosenessName, ClosenessProblem, Farness
from sfumato.searches.evolution.cuts import CutSpace
from sfumato.searches.evolution.evolution_run import Settings, evolve, improve
from sfumato.searches.evolution.grids import LatticeSpace, ParameterSpace
from sfumato.searches.evolution.measured_objectives import MeasuredProblem
from sfumato.searches.evolution.problems import Preferred, Problem, ProblemName, PublisherProblem
from sfumato.searches.evolution.space import Space
from sfumato.searches.sweep import MOST_CANDIDATES

SpaceName = Literal["cuts", "lattice", "parameters"]
_LARGE = ("any-suppression", "k-l-safety", "k-t-safety", "k-l-t-safety")


@register
@dataclass(frozen=True)
class Evolution:
    """Try the non-dominated releases that an evolution finds, improved until no single step helps.

    Without objectives it solves one of the four problems of the publisher's dilemma, or one of three with
    t-closeness among the objectives; with objectives it makes any measures better.

    Parameters
    ----------
    problem
        ``zero-suppression``: large weighted-k against general loss. ``suppression``: large k against
        general loss, the smallest classes suppressed up to ``eta``. ``any-suppression``: large weighted-k
        against general loss and suppression, classes below weighted-k suppressed. ``k-l-safety``: large k
        and l against general loss, suppression up to ``eta``. ``t-closeness``: small t against general loss;
        ``k-t-safety``: large k as well; ``k-l-t-safety``: and large l; every class below k or l or farther
        than t suppressed, up to ``eta``.
    eta
        The largest share of the records that may be suppressed.
    prefer
        What ``k-l-safety`` desires more: with ``l`` (k << l in the paper) suppression is spent on small
        classes first, with ``k`` on those of little diversity; where t is an objective, on those far away.
    guarantee
        Whether ``k-l-safety`` suppresses every class below k or l; if not, it follows the paper's formula,
        whose pair (d1, d2) the release need not have.
    diversity
        What l is in ``k-l-safety`` and ``k-l-t-safety``: ``probabilistic`` (one over the largest share of a
        value) or ``distinct`` (how many values there are).
    distance
        What t is: the earth mover's distance when all values are ``equal``-ly far apart, or ``natural``, for
        numbers as far apart as they are in order.
    objectives
        Measures to make better instead of a problem, for example ``["t-closeness", "utility-loss"]``.
    limits
        What measures must keep, for example ``{ reidentification-risk = { at-most = 0.09 } }``; only with
        objectives.
    model
        What must hold in every class; only with objectives.
    space
        ``cuts`` (every partition of the ordered domains), ``lattice`` (one level for each attribute) or,
        with objectives, ``parameters`` of a sanitizer.
    sanitizer, ranges
        Whose parameters to search, and where: ``{ model = { k-anonymity = { k = [2, 50] } } }``. Two
        numbers are a range, any other list is a choice.
    free
        Categorical attributes with a hierarchy that may be cut anywhere.
    granularity
        The width between whose multiples a number may be cut; 0 is between any two values. By default the
        intervals of the first level of its hierarchy.
    population
        How many individuals a generation has; 0 is 200, or 500 for three objectives and more, or 40
        where measures are the objectives and every individual must be made.
    generations
        How many generations there are; 0 is 250, or 50 where measures are the objectives.
    crossover
        The probability that two parents are crossed.
    mutation
        The probability that a bit of an attribute that may be cut anywhere flips.
    most
        How many releases to try; of a longer front those that lie far apart.

    References
    ----------
    R. Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques
    using multi-objective optimization", 2011; M. Lunacek et al., "A crossover operator for the
    k-anonymity problem", 2006; K. Deb et al., "A fast and elitist multiobjective genetic algorithm:
    NSGA-II", 2002.

    Examples
    --------
    >>> from sfumato import datasets
    >>> table, schema = datasets.hospital()
    >>> search = Evolution("suppression", eta=0.25, population=20, generations=10)
    >>> recipes = search.propose(table, schema, np.random.default_rng(0))
    >>> [recipe.parameters["model"]["k-anonymity"]["k"] for recipe in recipes][:2]
    [12, 9]
    """

    problem: Literal[ProblemName, ClosenessName] = "suppression"
    eta: Share = 0.1
    prefer: Preferred = "l"
    guarantee: bool = True
    objectives: tuple[MeasureName, ...] = ()
    limits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    model: PrivacyModel = KAnonymity(2)
    space: SpaceName = "cuts"
    sanitizer: SanitizerName = ""
    ranges: Mapping[str, Any] = field(default_factory=dict)
    free: tuple[AttributeName, ...] = ()
    granularity: Mapping[str, Annotated[float, AtMost(1e15)]] = field(default_factory=dict)
    population: Annotated[int, AtMost(10_000)] = 0
    generations: Annotated[int, AtMost(10_000)] = 0
    crossover: Probability = 0.9
    mutation: Probability = 0.1
    most: Annotated[int, AtLeast(1), AtMost(MOST_CANDIDATES)] = 30
    diversity: DiversityName = "probabilistic"
    distance: Farness = "equal"

    def __post_init__(self) -> None:
        check_bounds(self)
        self._settings()
        self._limits()
        for name in (*self.objectives, *self.limits):
            build_measure(name)
        if len(self.objectives) == 1:
            raise ParameterError("objectives: give at least two measures, of privacy and of utility")
        if not self.objectives and (self.limits or self.space == "parameters"):
            raise ParameterError(
                "limits and the space of parameters need objectives, for example "
                'objectives = ["k-anonymity", "general-loss"]'
            )
        if (self.space == "parameters") != bool(self.sanitizer):
            raise ParameterError('a sanitizer and its ranges are for space = "parameters"; give both or none')
        if self.sanitizer:
            ParameterSpace.of(self.sanitizer, self.ranges)

    def propose(self, table: Table, schema: Schema, rng: np.random.Generator) -> Iterator[Recipe]:
        """Yield the recipes of the front, the best in the first objective first."""
        settings = self._settings()
        space, problem = self._task(*schema.bind(table))

        def say(words: str) -> None:
            tell(f"evolution: {words}")

        judge = evolve(space, problem, settings, seed=int(rng.integers(2**31)), tell=say)
        # single steps are cheap where classes are only counted, and dear where releases are made
        budget = 0 if self.objectives else settings.population * settings.generations // 2
        front = improve(judge, self.most, budget=budget, tell=say)
        for genes, traits in zip(front.genes, front.traits, strict=True):
            yield problem.recipe(genes, traits)

    def _task(self, table: Table, schema: Schema) -> tuple[Space, Problem]:
        """Return the space and the problem for a bound table."""
        space: CutSpace | LatticeSpace | ParameterSpace
        if self.space == "parameters":
            space = ParameterSpace.of(self.sanitizer, self.ranges)
        elif self.space == "lattice":
            space = LatticeSpace.of(table, schema)
        else:
            space = CutSpace.of(table, schema, self.free, self.granularity)
        if self.objectives or isinstance(space, ParameterSpace):
            return space, MeasuredProblem(
                space, table, schema, self.objectives, self.model, self.eta, self._limits()
            )
        match self.problem:
            case "t-closeness" | "k-t-safety" | "k-l-t-safety":
                whole = ClosenessProblem.whole_of(table, schema, self.distance)
                return space, ClosenessProblem(
                    space, whole, self.problem, self.eta, self.prefer, self.diversity, self.distance
                )
            case _:
                return space, PublisherProblem(
                    space, self.problem, self.eta, self.prefer, self.guarantee, self.diversity
                )

    def _settings(self) -> Settings:
        population, generations = (500 if self.problem in _LARGE else 200, 250)
        if self.objectives:
            population, generations = 40, 50
        return Settings(
            self.population or population, self.generations or generations, self.crossover, self.mutation
        )

    def _limits(self) -> dict[str, Limit]:
        limits = {}
        for name, given in self.limits.items():
            unknown = set(given) - {"at-most", "at-least"}
            if unknown or not given:
                raise ParameterError(
                    f"limits.{name}: give at-most or at-least, for example {{ at-most = 0.09 }}"
                )
            limits[name] = Limit(given.get("at-most", np.inf), given.get("at-least", -np.inf))
        return limits
