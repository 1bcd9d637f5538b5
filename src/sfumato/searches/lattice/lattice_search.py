"""Searches through the lattice of full-domain recodings: the best one of all, and the whole front."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.registry.declarations import Above, AtLeast, AtMost, MeasureName, Share
from sfumato.registry.methods import check_bounds, register
from sfumato.registry.recipe import Recipe
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import Infeasible, ParameterError
from sfumato.sanitizers.generalize.full_domain import FullDomain
from sfumato.searches.lattice.optimum import Objective, optimal_node
from sfumato.searches.lattice.profile import LatticeProfile, profile
from sfumato.searches.sweep import MOST_CANDIDATES


@register
@dataclass(frozen=True)
class Lattice:
    """Try the full-domain recoding that loses least of all at which the model holds.

    Parameters
    ----------
    model
        What must hold. Records in classes where it fails are suppressed.
    suppression
        The largest share of the records that may be suppressed.
    objective
        What to make small: ``total-loss``, ``general-loss``, ``discernibility`` or ``average-class-size``;
        ``geometric-loss`` or ``average-class-size-with-suppressed``, as ARX computes them; or
        ``precision``, which is made large.
    budget
        How many seconds to search. If they do not suffice for a proof, the best known recoding is tried.

    References
    ----------
    F. Kohlmayer et al., "Flash: efficient, stable and optimal k-anonymity", 2012; R. Bayardo, R.
    Agrawal, "Data privacy through optimal k-anonymization", 2005.

    Examples
    --------
    >>> from sfumato import datasets
    >>> table, schema = datasets.hospital()
    >>> search = Lattice(KAnonymity(3), suppression=0.25)
    >>> [str(recipe) for recipe in search.propose(table, schema, np.random.default_rng(0))]
    ['full-domain k=3 levels={zip:2,age:3,sex:0} suppression=0.25']
    """

    model: PrivacyModel = KAnonymity(5)
    suppression: Share = 0.0
    objective: Objective = "total-loss"
    budget: Annotated[float, Above(0), AtMost(604_800)] = 60.0

    def __post_init__(self) -> None:
        check_bounds(self)

    def propose(self, table: Table, schema: Schema, rng: np.random.Generator) -> Iterator[Recipe]:
        """Yield the recipe of the best recoding; where there is none, one that will say why."""
        try:
            levels = optimal_node(
                table,
                schema,
                self.model,
                suppression=self.suppression,
                objective=self.objective,
                budget=self.budget,
            ).levels
        except Infeasible:
            _, bound = schema.bind(table)
            levels = {name: bound.hierarchy(name).height for name in bound.quasi_identifiers}
        yield Recipe.of(FullDomain(dict(levels), self.model, self.suppression))


@register
@dataclass(frozen=True)
class LatticeFront:
    """Try the full-domain recodings that are efficient in privacy and utility: the whole exact front.

    Parameters
    ----------
    privacy
        What the releases should be good in: ``k-anonymity``, or another score of the profile such as
        ``t-closeness``, ``privacy-loss`` or ``mean-privacy-loss``.
    utility
        What they should be good in beside: ``total-loss``, ``discernibility``, ``average-class-size`` or
        ``precision``.
    suppression
        The largest share of the records that may be suppressed; above 0 only for ``k-anonymity`` (up to
        64) against ``total-loss``, ``discernibility`` or ``average-class-size``.
    most
        How many recodings to try; of a longer front so many are taken, evenly.

    References
    ----------
    P. Samarati, "Protecting respondents' identities in microdata release", 2001.

    Examples
    --------
    >>> from sfumato import datasets
    >>> table, schema = datasets.hospital()
    >>> recipes = LatticeFront(most=3).propose(table, schema, np.random.default_rng(0))
    >>> [recipe.parameters["model"] for recipe in recipes]
    [{'k-anonymity': {'k': 12}}, {'k-anonymity': {'k': 5}}, {'k-anonymity': {'k': 1}}]
    """

    privacy: MeasureName = "k-anonymity"
    utility: MeasureName = "total-loss"
    suppression: Share = 0.0
    most: Annotated[int, AtLeast(1), AtMost(MOST_CANDIDATES)] = 30

    def __post_init__(self) -> None:
        check_bounds(self)
        if self.suppression > 0 and self.privacy != "k-anonymity":
            raise ParameterError(f"with suppression the front is that of k-anonymity, not of {self.privacy}")

    def propose(self, table: Table, schema: Schema, rng: np.random.Generator) -> Iterator[Recipe]:
        """Yield the recipes of the front, the most private first, each with the k-anonymity it reaches."""
        whole = profile(table, schema)
        nodes, ks = self._front(whole)
        # evenly, the first and the last among them
        places = np.linspace(0, len(nodes) - 1, min(len(nodes), self.most)).round().astype(int)
        for place in dict.fromkeys(places.tolist()):
            yield whole.recipe(int(nodes[place]), KAnonymity(int(ks[place])), self.suppression)

    def _front(self, whole: LatticeProfile) -> tuple[Integers, Integers]:
        if self.suppression > 0:
            return whole.front_with_suppression(self.utility, self.suppression)
        nodes = whole.pareto([self.privacy, self.utility])
        return nodes, whole.smallest[nodes]
