"""The four problems of the publisher's dilemma, for a whole population at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal, NamedTuple, Protocol, get_args

import numpy as np

from sfumato.kernels.recoding_classes import (
    TRAITS,
    keep_all,
    suppress_below_average,
    suppress_in_order,
    suppress_small,
    suppress_unsafe,
)
from sfumato.kernels.shared_grouping import Recodings
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.models.diversity import DistinctDiversity, ProbabilisticDiversity
from sfumato.models.suppression_order import DiversityName, SafetyOrder
from sfumato.registry.declarations import Share, check_bound
from sfumato.registry.recipe import Recipe
from sfumato.runtime.arrays import Floats, Integers
from sfumato.runtime.errors import ParameterError
from sfumato.searches.evolution.space import Genes, RecodingSpace

ProblemName = Literal["zero-suppression", "suppression", "any-suppression", "k-l-safety"]
PROBLEMS: tuple[ProblemName, ...] = get_args(ProblemName)
Preferred = Literal["k", "l"]

_K, _L, _, _LOSS, _SUPPRESSED, _FIRST, _SECOND = range(len(TRAITS))


class Evaluation(NamedTuple):
    """What is known of some individuals.

    An individual may stand for several solutions, each a row of ``objectives`` and ``traits`` with its
    ``owner``; ``main`` is the row by which each individual is selected, -1 where it has none.
    ``violations`` say how far an individual is from what it must keep; 0 is allowed.
    """

    owner: Integers
    objectives: Floats
    traits: Floats
    main: Integers
    violations: Floats


class Problem(Protocol):
    """What is searched for."""

    @property
    def n_objectives(self) -> int:
        """How many objectives there are, all to be made small."""

    @property
    def traits(self) -> tuple[str, ...]:
        """The names of the traits."""

    @property
    def is_counted(self) -> bool:
        """Whether kernels alone judge individuals, so that several processors can do it at once."""

    def evaluate(self, genes: Genes) -> Evaluation:
        """Judge some individuals."""

    def recipe(self, genes: Genes, traits: Floats) -> Recipe:
        """Return the recipe of a solution."""


def most_within(eta: float, n_records: int) -> int:
    """Return how many records are at most a share of all: never all of them.

    Examples
    --------
    >>> most_within(0.1, 55), most_within(1.0, 7)
    (5, 6)
    """
    most = round(eta * n_records)
    # the same division by which a sanitizer judges: eta times n may be rounded up
    while most / n_records > eta:
        most -= 1
    while (most + 1) / n_records <= eta:
        most += 1
    return min(most, n_records - 1)


def main_rows(owner: Integers, first: Floats, second: Floats, n: int) -> Integers:
    """Return for each of n individuals its row that is largest in the first figure, then in the second."""
    order = np.lexsort((second, first, owner))
    main = np.full(n, -1, dtype=np.int64)
    main[owner[order]] = order
    return main


@dataclass(frozen=True)
class PublisherProblem:
    """One of the four problems over a space of global recodings.

    Parameters
    ----------
    space
        The recodings.
    problem
        ``zero-suppression``: large weighted-k, small general loss. ``suppression``: the smallest classes
        are suppressed, at most a share ``eta`` of the records; large k, small general loss.
        ``any-suppression``: classes below weighted-k are suppressed; large weighted-k, small general loss,
        little suppression. ``k-l-safety``: large k, large l, small general loss, suppression up to ``eta``.
    eta
        The largest share of the records that may be suppressed.
    prefer
        The property that is more desired in ``k-l-safety``. With ``l`` (k << l) the budget is spent on
        small classes first, with ``k`` on those of little diversity.
    guarantee
        Whether every class below k or below l is suppressed. If not, classes go in the order of the
        paper's formula, and those that come later may be less safe than its pair (d1, d2).
    diversity
        What l is in ``k-l-safety``: ``probabilistic`` (one over the largest share of a value) or
        ``distinct`` (how many values there are).

    References
    ----------
    R. Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques
    using multi-objective optimization", 2011, section 5.3.
    """

    space: RecodingSpace
    problem: ProblemName = "suppression"
    eta: float = 0.1
    prefer: Preferred = "l"
    guarantee: bool = True
    diversity: DiversityName = "probabilistic"

    is_counted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_bound("eta", Share, self.eta)
        if self.problem not in PROBLEMS:
            raise ParameterError(f"no problem {self.problem!r}; there are {', '.join(PROBLEMS)}")
        if self.problem == "k-l-safety" and not self.space.rows.sensitive.n_values:
            raise ParameterError("k-l-safety needs a sensitive attribute; give one role = 'sensitive'")
        if self.diversity == "distinct" and self.space.rows.persons.people.size:
            raise ParameterError(
                "diversity = 'distinct' is not counted where people have several records; "
                "take 'probabilistic'"
            )

    @property
    def n_objectives(self) -> int:
        """Two, or three where suppression or diversity count by themselves."""
        return 3 if self.problem in ("any-suppression", "k-l-safety") else 2

    @property
    def traits(self) -> tuple[str, ...]:
        """The names of the traits."""
        return TRAITS

    @cached_property
    def limit(self) -> int:
        """How many records may be suppressed: never all."""
        return most_within(self.eta, self.space.rows.n_records)

    def evaluate(self, genes: Genes) -> Evaluation:
        """Judge some individuals by the classes that their recodings make."""
        traits = self._traits(self.space.recodings(genes))
        owner, place = np.nonzero(traits[:, :, _K])
        rows = traits[owner, place]
        objectives = np.stack(self._objectives(rows), axis=1)
        one, other = (_K, _L) if self.prefer == "l" else (_L, _K)
        main = main_rows(owner, rows[:, one], rows[:, other], len(genes))
        return Evaluation(owner, objectives, rows, main, np.zeros(len(genes)))

    def _traits(self, recodings: Recodings) -> Floats:
        records, persons = self.space.rows.records, self.space.rows.persons
        if self.problem == "zero-suppression":
            return keep_all(records, persons, recodings)
        if self.problem == "suppression":
            return suppress_small(records, persons, recodings, self.limit)
        if self.problem == "any-suppression":
            return suppress_below_average(records, persons, recodings)
        sensitive = self.space.rows.sensitive._replace(distinct=self.diversity == "distinct")
        if self.guarantee:
            return suppress_unsafe(records, persons, sensitive, recodings, self.limit)
        return suppress_in_order(records, persons, sensitive, recodings, self.limit, self.prefer == "l")

    def _objectives(self, rows: Floats) -> list[Floats]:
        first, second, loss = -rows[:, _FIRST], -rows[:, _SECOND], rows[:, _LOSS]
        if self.problem == "any-suppression":
            return [first, loss, rows[:, _SUPPRESSED] / self.space.rows.n_records]
        return [first, second, loss] if self.problem == "k-l-safety" else [first, loss]

    def recipe(self, genes: Genes, traits: Floats) -> Recipe:
        """Return the recipe that makes exactly this solution."""
        suppression = {"zero-suppression": 0.0, "any-suppression": 1.0}.get(self.problem, self.eta)
        return self.space.recipe(genes, self._model(traits), suppression)

    def _model(self, traits: Floats) -> PrivacyModel:
        if self.problem != "k-l-safety":
            return KAnonymity(int(traits[_K]))
        if self.guarantee:
            diverse = DistinctDiversity if self.diversity == "distinct" else ProbabilisticDiversity
            return KAnonymity(int(traits[_K])) & diverse(int(traits[_L]))
        return SafetyOrder(int(traits[_FIRST]), int(traits[_SECOND]), self.prefer, self.diversity)
