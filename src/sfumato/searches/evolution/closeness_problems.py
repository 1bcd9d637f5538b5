"""Problems with t-closeness among the objectives, alone or together with k and l."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, get_args

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.kernels.recoding_closeness import CLOSE_TRAITS, TableDistribution, suppress_far
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.models.closeness import TCloseness
from sfumato.models.diversity import DistinctDiversity, ProbabilisticDiversity
from sfumato.models.suppression_order import DiversityName
from sfumato.registry.declarations import Share, check_bound
from sfumato.registry.recipe import Recipe
from sfumato.runtime.arrays import Floats
from sfumato.runtime.errors import ParameterError
from sfumato.searches.evolution.problems import Evaluation, Preferred, main_rows, most_within
from sfumato.searches.evolution.space import Genes, RecodingSpace

ClosenessName = Literal["t-closeness", "k-t-safety", "k-l-t-safety"]
CLOSENESS: tuple[ClosenessName, ...] = get_args(ClosenessName)
Farness = Literal["equal", "natural"]

_K, _L, _, _LOSS, _, _, _, _T = range(len(CLOSE_TRAITS))


@dataclass(frozen=True, eq=False)
class ClosenessProblem:
    """Large k, large l and small t against general loss, as many of them as the problem names.

    Every class below k, below l or farther than t from the whole table is suppressed, at most a share
    ``eta`` of the records. A recoding stands for every pair (k, t), or triple (k, l, t), that this leaves:
    what is not spent on small classes is spent on those that are farthest.

    Parameters
    ----------
    space
        The recodings.
    whole
        The distribution of the sensitive values in the whole table.
    problem
        ``t-closeness``: small t. ``k-t-safety``: large k as well. ``k-l-t-safety``: and large l.
    eta
        The largest share of the records that may be suppressed.
    prefer
        The solution by which a recoding is selected: with ``l`` the one with the largest k, on whose small
        classes the budget is spent first, with ``k`` the one with the smallest t.
    diversity
        What l is: ``probabilistic`` or ``distinct``.
    distance
        What t is: the earth mover's distance when all values are ``equal``-ly far apart, or ``natural``,
        for numbers as far apart as they are in order.

    References
    ----------
    R. Dewri et al., 2011, section 8, which leaves t-closeness and several properties at once for later.
    """

    space: RecodingSpace
    whole: TableDistribution
    problem: ClosenessName = "k-t-safety"
    eta: float = 0.1
    prefer: Preferred = "l"
    diversity: DiversityName = "probabilistic"
    distance: Farness = "equal"

    is_counted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_bound("eta", Share, self.eta)
        if not self.space.rows.sensitive.n_values:
            raise ParameterError(f"{self.problem} needs a sensitive attribute; give one role = 'sensitive'")
        if self.space.rows.persons.people.size:
            raise ParameterError(
                f"{self.problem} is not counted where people have several records; take k-l-safety, or "
                'objectives = ["t-closeness", "general-loss"]'
            )

    @staticmethod
    def whole_of(table: Table, schema: Schema, distance: Farness) -> TableDistribution:
        """Return the shares of the sensitive values of a bound table, numbered as those of its rows."""
        columns = [table[name] for name in schema.sensitive]
        priors = [
            np.bincount(column.codes, table.weights, len(column.domain)) / table.n_records
            for column in columns
        ]
        on_a_line = np.array([column.kind.is_ordered for column in columns], dtype=np.bool_)
        ordered = on_a_line & (distance == "natural")
        return TableDistribution(np.concatenate([*priors, np.zeros(0)]), ordered)

    @property
    def n_objectives(self) -> int:
        """The properties that the problem names, and the loss."""
        return 2 + CLOSENESS.index(self.problem)

    @property
    def traits(self) -> tuple[str, ...]:
        """The names of the traits."""
        return CLOSE_TRAITS

    @cached_property
    def limit(self) -> int:
        """How many records may be suppressed: never all."""
        return most_within(self.eta, self.space.rows.n_records)

    def evaluate(self, genes: Genes) -> Evaluation:
        """Judge some individuals by the classes that their recodings make."""
        rows = self.space.rows
        traits = suppress_far(
            rows.records,
            rows.persons,
            rows.sensitive._replace(distinct=self.diversity == "distinct"),
            self.whole,
            self.space.recodings(genes),
            self.limit,
            self.problem != "t-closeness",
            self.problem == "k-l-t-safety",
        )
        owner, place = np.nonzero(traits[:, :, _K])
        best = traits[owner, place]
        objectives = np.stack([-best[:, _K], -best[:, _L], best[:, _T], best[:, _LOSS]], axis=1)
        first, second = (best[:, _K], -best[:, _T]) if self.prefer == "l" else (-best[:, _T], best[:, _K])
        chosen = {"t-closeness": [2, 3], "k-t-safety": [0, 2, 3], "k-l-t-safety": [0, 1, 2, 3]}[self.problem]
        return Evaluation(
            owner,
            objectives[:, chosen],
            best,
            main_rows(owner, first, second, len(genes)),
            np.zeros(len(genes)),
        )

    def recipe(self, genes: Genes, traits: Floats) -> Recipe:
        """Return the recipe that makes exactly this solution."""
        return self.space.recipe(genes, self._model(traits), self.eta)

    def _model(self, traits: Floats) -> PrivacyModel:
        model: PrivacyModel = TCloseness(float(traits[_T]), self.distance)
        if self.problem == "k-l-t-safety":
            diverse = DistinctDiversity if self.diversity == "distinct" else ProbabilisticDiversity
            model = diverse(int(traits[_L])) & model
        return model if self.problem == "t-closeness" else KAnonymity(int(traits[_K])) & model
