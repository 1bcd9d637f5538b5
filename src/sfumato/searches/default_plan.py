"""The default plan: every family of methods that suits the table, with thresholds the table can reach."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from sfumato.data.public_part import delta_for, is_declared
from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import build_model
from sfumato.models.closeness import TCloseness
from sfumato.models.diversity import ProbabilisticDiversity
from sfumato.registry.declarations import Above, AtLeast, AtMost
from sfumato.registry.methods import check_bounds, register
from sfumato.registry.recipe import Recipe
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.results.release import Release
from sfumato.runtime.errors import Infeasible
from sfumato.sanitizers.base import MOST_RECORDS, sanitize
from sfumato.sanitizers.generalize.interval_bounds import Borders
from sfumato.sanitizers.generalize.mondrian import Mondrian
from sfumato.searches.lattice.optimum import optimal_node

_K = (2, 3, 5, 10, 20, 50, 100, 200)
_K_BESIDE = (5, 20)
_L = (2, 3, 5)
_SHARES_OF_T = (0.85, 0.7, 0.55, 0.4, 0.28, 0.18, 0.1)
"""Of the distance that a partition for k alone reaches: more would ask nothing of it."""
_SHARES_OF_L = (0.25, 0.5, 0.75)
"""Of the way from the diversity that a partition for k alone reaches to that of the whole table."""
_MOST_NODES = 50_000
_SECONDS = 2.0
_MOST_FOR_LOCAL_RECODING = {50_000: 10, 200_000: 2}
"""How many rows local recoding takes with which effort."""
_MOST_FOR_CLUSTERING = 200_000
_SUPPRESSED = 0.05
_EPSILONS = (0.3, 1.0, 3.0)
_FEWEST_FOR_MST = 500
"""Among fewer people, hardly any value is common enough to be published with noise."""
_LEAVES = (5, 50)
_MOST_FOR_TREES = 200_000
_RETAINED = (0.9, 0.7, 0.5)
_REACHES = (0.02, 0.1)
_K_OF_AVERAGES = (5, 20, 100)
_MOST_COMPARED = 5e8
"""Microaggregation compares about the square of the records, divided by k."""
_SHARES = (0.1, 0.5)
_FEWEST_FOR_SAMPLING = 10_000


@register
@dataclass(frozen=True)
class Suited:
    """Try every family of methods that suits the table, with thresholds that the table can reach.

    The plan follows from the roles and the records alone, so it is made again whenever they change.
    Mondrian for k alone shows first which distances and diversities it reaches; the thresholds that are
    tried lie beyond these, since all others would give the same releases.

    Parameters
    ----------
    k, l, t
        Thresholds to try beside the usual ones. Those that the policy asks for are among them anyway.
    share
        Limits on the share of a class with one sensitive value. Every method is tried with each of them and
        each k that is given.
    epsilon
        Values of epsilon to try beside the usual ones.
    every_type
        Whether methods are tried as well that release changed or made-up records, or a sample. They are
        judged by attacks, which takes several times as long, so one has to ask for them.
    borders
        Where intervals and sets end in all that is planned: on a ``grid`` of round places, or ``tight``
        around the extreme records of a class, so that each end is somebody's value.

    Examples
    --------
    >>> from sfumato import datasets
    >>> table, schema = datasets.hospital()
    >>> proposed = Suited(k=(6,)).propose(table, schema, np.random.default_rng(0))
    >>> [str(recipe) for recipe in proposed][:5]
    ['suppress-quasi-identifiers', 'suppress-sensitive', 'as-is', 'mondrian k=2', 'mondrian k=3']
    """

    k: tuple[Annotated[int, AtLeast(1), AtMost(MOST_RECORDS)], ...] = ()
    l: tuple[Annotated[float, AtLeast(1), AtMost(MOST_RECORDS)], ...] = ()  # noqa: E741 - the papers' letter
    t: tuple[Annotated[float, AtLeast(0)], ...] = ()
    share: tuple[Annotated[float, Above(0), AtMost(1)], ...] = ()
    epsilon: tuple[Annotated[float, Above(0)], ...] = ()
    every_type: bool = False
    borders: Borders = "grid"

    is_quick: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_bounds(self)

    @property
    def sanitizers(self) -> tuple[str, ...]:
        """The methods whose records are changed or synthetic: they decide what is measured."""
        return OF_OTHER_TYPES if self.every_type else ()

    def within(self, policy: Policy) -> Suited:
        """Return the same search with what the policy requires among what it tries."""
        limits = {r.label: r.limit for r in policy.required("classes")}
        risks = [limits.get(name, Limit()).at_most for name in ("reidentification-risk", "marketer-risk")]
        ks = [limits.get("k-anonymity", Limit()).at_least, *(1 / risk for risk in risks if risk > 0)]
        ls = [limits.get("probabilistic-diversity", Limit()).at_least]
        ts = [limits.get("t-closeness", Limit()).at_most]
        shares = [limits.get("confidence-bound", Limit()).at_most]
        epsilons = [r.limit.at_most for r in policy.required("guarantee") if r.label == "epsilon"]
        # a risk of 0.09 is kept by 12 records, one of exactly 1/11 by 11
        return replace(
            self,
            k=(*self.k, *(math.ceil(k - 1e-9) for k in ks if 1 < k < math.inf)),
            l=(*self.l, *(l for l in ls if 1 < l < math.inf)),  # noqa: E741 - the papers' letter
            t=(*self.t, *(t for t in ts if 0 <= t < math.inf)),
            share=(*self.share, *(share for share in shares if 0 < share < 1)),
            epsilon=(*self.epsilon, *epsilons),
        )

    def propose(self, table: Table, schema: Schema, rng: np.random.Generator) -> Iterator[Recipe]:
        """Yield the recipes, those that are soon made first."""
        for recipe in self._recipes(*schema.bind(table)):
            if "borders" in recipe.parameters:
                parameters = {**recipe.parameters, "borders": self.borders}
                yield replace(recipe, parameters=parameters).normalized()
            else:
                yield recipe

    def _recipes(self, bound_table: Table, bound: Schema) -> Iterator[Recipe]:
        # the ends of every frontier: nothing published, and everything
        if bound.quasi_identifiers:
            yield Recipe("suppress-quasi-identifiers").normalized()
            if bound.sensitive:
                yield Recipe("suppress-sensitive").normalized()
        yield Recipe("as-is").normalized()
        ks = self._ks(bound_table.n_records)
        if not bound.quasi_identifiers or not ks:
            return
        shares = self.share if bound.sensitive else ()
        required = [_of_size(k) | {"confidence-bound": {"share": s}} for k in self._asked(ks) for s in shares]
        yield from (_recipe("mondrian", model) for model in (*map(_of_size, ks), *required))
        if bound.sensitive:
            yield from self._of_sensitive(bound_table, bound, ks)
        few = sorted({*_within_reach(ks, _K_BESIDE), *self._asked(ks)})
        yield from _others(bound_table, bound, [*map(_of_size, few), *required])
        if self.every_type:
            yield from _of_other_types(bound_table, bound, (*_EPSILONS, *self.epsilon))

    def _ks(self, n_records: int) -> list[int]:
        """Return the values of k to try; with fewer than four classes there is hardly a choice."""
        most = n_records / 4 if n_records >= 8 else n_records / 2
        return sorted(
            {k for k in (*_K, *self.k) if k <= max(most, 1)} | set(self._asked(range(n_records + 1)))
        )

    def _asked(self, possible: Iterable[int]) -> list[int]:
        return [k for k in self.k if k in possible]

    def _of_sensitive(self, table: Table, schema: Schema, ks: list[int]) -> Iterator[Recipe]:
        distance = natural_distance(schema)
        for k in _within_reach(ks, _K_BESIDE) or ks[-1:]:
            plain = sanitize(table, schema, Mondrian(KAnonymity(k)), seed=0)
            for t in self._ts(plain, distance):
                closeness = {"t": t, "distance": distance}
                yield _recipe("mondrian", {**_of_size(k), "t-closeness": closeness})
            for l in self._ls(plain):  # noqa: E741 - the papers' letter
                yield _recipe("mondrian", {**_of_size(k), "probabilistic-diversity": {"l": l}})
            if k == _K_BESIDE[0]:
                for t in self._ts(plain, distance)[1::2]:
                    yield _recipe("bucketize", {"t-closeness": {"t": t, "distance": distance}})
        most = _most_diverse(table, schema)
        for l in [*_L, *self.l]:  # noqa: E741 - the papers' letter
            if l <= most:
                yield _recipe("bucketize", {"probabilistic-diversity": {"l": l}})
                if len(schema.sensitive) == 1 and float(l).is_integer():
                    yield Recipe("anatomy", {"l": int(l)}).normalized()

    def _ts(self, plain: Release, distance: str) -> list[float]:
        reached = TCloseness(distance=distance).level(plain.groups)
        return _few_digits((share * reached for share in _SHARES_OF_T), self.t)

    def _ls(self, plain: LinkedRelease) -> list[float]:
        reached = ProbabilisticDiversity().level(plain.groups)
        whole = _most_diverse(plain.origin.table, plain.schema)
        between = [reached + share * (whole - reached) for share in _SHARES_OF_L if whole > 1.2 * reached]
        return _few_digits(between, self.l)


def natural_distance(schema: Schema) -> str:
    """Return the distance of t-closeness that suits the sensitive attributes: by order if any has one."""
    return "natural" if any(schema.kind(name).is_ordered for name in schema.sensitive) else "equal"


def _others(table: Table, schema: Schema, models: Sequence[Mapping[str, Any]]) -> Iterator[Recipe]:
    """Yield the families that take longer, for a few models."""
    if table.n_rows <= _MOST_FOR_CLUSTERING:
        yield from (_recipe("clustering", model) for model in models)
        yield from (_recipe("cell-suppression", model) for model in models)
    yield from _full_domain(table, schema, models)
    effort = next((e for most, e in _MOST_FOR_LOCAL_RECODING.items() if table.n_rows <= most), None)
    if effort is not None:
        for model in models:
            yield Recipe("local-recoding", {"model": dict(model), "effort": effort}).normalized()


OF_OTHER_TYPES = ("rank-swapping", "pram", "microaggregation", "mst", "cart-synthesis")
"""The methods tried next to generalization if every type is wanted; samples are of people."""


def _of_other_types(table: Table, schema: Schema, epsilons: Iterable[float] = _EPSILONS) -> Iterator[Recipe]:
    """Yield methods that change records, synthesize them or publish a sample, the quick ones first."""
    n_records = table.n_records
    if n_records >= _FEWEST_FOR_SAMPLING:
        yield from (Recipe("sampling", {"share": share}).normalized() for share in _SHARES)
    yield from (Recipe("rank-swapping", {"reach": reach}).normalized() for reach in _REACHES)
    yield from (Recipe("pram", {"retain": retain}).normalized() for retain in _RETAINED)
    n_people = schema.people_at_most
    if n_people is not None and n_people >= _FEWEST_FOR_MST and is_declared(table, schema):
        delta = delta_for(n_people)
        every = sorted(set(epsilons))
        yield from (Recipe("mst", {"epsilon": each, "delta": delta}).normalized() for each in every)
    if n_records <= _MOST_FOR_TREES:
        leaves = [size for size in _LEAVES if 4 * size <= n_records]
        yield from (Recipe("cart-synthesis", {"min-leaf": size}).normalized() for size in leaves)
    if any(schema.kind(name).is_number for name in schema.quasi_identifiers):
        ks = [k for k in _K_OF_AVERAGES if 4 * k <= n_records and n_records**2 / k <= _MOST_COMPARED]
        yield from (Recipe("microaggregation", {"k": k}).normalized() for k in ks)


def _full_domain(table: Table, schema: Schema, models: Iterable[Mapping[str, Any]]) -> Iterator[Recipe]:
    """Yield the full-domain recodings that lose least, where there are not too many to look for them."""
    heights = [schema.hierarchy(name).height - schema[name].lowest_level for name in schema.quasi_identifiers]
    if math.prod(height + 1 for height in heights) > _MOST_NODES:
        return
    for written in models:
        model = build_model(written)
        try:
            best = optimal_node(
                table, schema, model, suppression=_SUPPRESSED, objective="total-loss", budget=_SECONDS
            )
        except Infeasible:
            continue
        levels = dict(best.levels)
        parameters = {"levels": levels, "model": dict(written), "suppression": _SUPPRESSED}
        yield Recipe("full-domain", parameters).normalized()


def _of_size(k: int) -> dict[str, Any]:
    return {"k-anonymity": {"k": k}}


def _recipe(sanitizer: str, model: Mapping[str, Any]) -> Recipe:
    return Recipe(sanitizer, {"model": dict(model)}).normalized()


def _within_reach(ks: Iterable[int], wanted: Iterable[int]) -> list[int]:
    there = set(ks)
    return [k for k in wanted if k in there]


def _most_diverse(table: Table, schema: Schema) -> float:
    """Return one over the share of the commonest sensitive value, which not all groups can exceed."""
    shares = [
        np.bincount(table[name].codes, weights=table.weights).max() / table.n_records
        for name in schema.sensitive
    ]
    return float(1 / max(shares))


def _few_digits(computed: Iterable[float], requested: Iterable[float]) -> list[float]:
    """Return what was found, to two digits, then what was asked for as it is, without repetitions.

    Hardly any grouping reaches a distance of 0, so it is tried only if the user asks for it.
    """
    rounded = (float(f"{value:.2g}") for value in computed)
    return list(dict.fromkeys([*(value for value in rounded if value > 0), *requested]))
