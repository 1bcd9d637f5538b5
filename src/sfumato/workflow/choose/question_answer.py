"""Answer a question: find the best candidate within its limits, and price each limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from msgspec import UNSET

from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier, only_made
from sfumato.results.json_schemas import AnswerShape, ChosenShape, StepShape, WorthShape
from sfumato.results.measurement import Measurement
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.choose.question import Bound, Question, better_of, parse, resolve

# From this ratio on values are compared by their ratios, as the charts draw them on a logarithmic scale.
_LOGARITHMIC_FROM = 100


@dataclass(frozen=True)
class Step:
    """The best candidate if one limit were different.

    Parameters
    ----------
    at
        Where the limit would have to lie: the candidate's value of the limited measure.
    candidate
        The candidate that would be the answer.
    figures
        Its values of the measures that the question wants.
    """

    at: float
    candidate: Candidate = field(repr=False)
    figures: Mapping[str, float]


@dataclass(frozen=True)
class LimitWorth:
    """What one limit of a question costs while the others stay as they are.

    Parameters
    ----------
    limit
        The limit.
    value
        What the answer has of the limited measure; ``None`` where there is no answer.
    looser
        The least loosening that gives a better answer, or an answer at all.
    best_buy
        The loosening that gains most for what it costs, where it is not the least one.
    tighter
        The best that a tighter limit would leave.
    """

    limit: Bound
    value: float | None = None
    looser: Step | None = None
    best_buy: Step | None = None
    tighter: Step | None = None


@dataclass(frozen=True, repr=False)
class Answer:
    """The candidate that a question asks for, or how far the nearest one is from it.

    Parameters
    ----------
    question
        The question, with every measure by its label.
    candidate
        The best candidate that keeps all limits; ``None`` where none does.
    figures
        The candidate's values of the measures that the question speaks of.
    ties
        Other candidates that keep all limits and are as good.
    trade_offs
        With several goals: candidates that keep all limits and are better on one goal and worse on another.
    runner_up
        The next best candidate that keeps all limits.
    limits
        What each limit costs.
    nearest
        Where no candidate keeps all limits, the one that comes nearest.
    broken
        What the candidate breaks of the policy, in words. There is something only if nothing that keeps
        the policy keeps the limits of the question.
    n_compared, n_keeping
        How many candidates have all the measures, and how many of them keep all limits.
    not_applicable, not_measured
        For each measure the number of candidates to which it does not apply, or that lack it.
    """

    question: Question
    candidate: Candidate | None
    figures: Mapping[str, float]
    ties: tuple[Candidate, ...] = ()
    trade_offs: tuple[Candidate, ...] = ()
    runner_up: Candidate | None = None
    limits: tuple[LimitWorth, ...] = ()
    nearest: Candidate | None = None
    broken: tuple[str, ...] = ()
    n_compared: int = 0
    n_keeping: int = 0
    not_applicable: Mapping[str, int] = field(default_factory=dict)
    not_measured: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON; infinity is the text ``Infinity``."""
        return self.to_shape().to_dict()

    def to_shape(self) -> AnswerShape:
        """Return the document for JSON."""
        measures = self.question.measures
        return AnswerShape.of(
            self,
            question=str(self.question),
            answered=self.candidate is not None,
            candidate=_chosen(self.candidate),
            ties=[candidate.id for candidate in self.ties],
            trade_offs=[_chosen(candidate, self._goals) for candidate in self.trade_offs],
            runner_up=_chosen(self.runner_up, measures),
            limits=[
                WorthShape(
                    limit=str(worth.limit),
                    value=worth.value,
                    looser=_step(worth.looser),
                    best_buy=_step(worth.best_buy),
                    tighter=_step(worth.tighter),
                )
                for worth in self.limits
            ],
            nearest=_chosen(self.nearest, measures),
        )

    @property
    def _goals(self) -> tuple[str, ...]:
        return tuple(goal.measure for goal in self.question.goals)

    def __str__(self) -> str:
        from sfumato.workflow.report.answer_text import answer_words

        return answer_words(self)

    def __repr__(self) -> str:
        compared = f"{self.n_keeping:,} of {self.n_compared:,} candidates keep the limits"
        if self.candidate is None:
            return f"<Answer to {str(self.question)!r}: none; {compared}>"
        return f"<Answer to {str(self.question)!r}: {self.candidate.id} {self.candidate.recipe}; {compared}>"

    def _repr_html_(self) -> str:
        from sfumato.workflow.report.notebook import answer_html

        return answer_html(self)


def ask(candidates: Frontier | Iterable[Candidate], question: str) -> Answer:
    """Answer a publisher's question from the candidates that were made.

    The answer is the original as it is, or a candidate against the policy, only if nothing else keeps the
    limits of the question.

    Parameters
    ----------
    candidates
        A frontier with its policy, or candidates; those that could not be made do not count.
    question
        For example ``max k where loss <= 25% and suppression <= 10%``.

    References
    ----------
    R. Dewri et al., "Exploring privacy versus data quality trade-offs in anonymization techniques using
    multi-objective optimization", 2011,
    sections 1 and 7.

    Examples
    --------
    >>> from sfumato import Candidate, datasets, measure, sanitize
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> made = []
    >>> for k in (2, 3, 4, 6):
    ...     release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(k)))
    ...     taken = measure(release, ["k-anonymity", "total-loss"])
    ...     made.append(Candidate(f"k{k}", release.recipe, tuple(taken)))
    >>> answer = ask(made, "max k where loss <= 50%")
    >>> answer.candidate.id, answer.figures["k-anonymity"], round(answer.limits[0].looser.at, 2)
    ('k3', 3.0, 0.76)
    """
    broken: Mapping[str, tuple[str, ...]] = {}
    if isinstance(candidates, Frontier):
        broken, candidates = candidates.broken, candidates.candidates
    made = only_made(candidates)
    asked = parse(question)
    if not made:
        raise ParameterError("there is no candidate to ask about; explore first")
    every = [m for candidate in made for m in candidate.measurements]
    return _AnswerSearch.of(resolve(asked, every), made, every, broken).answer()


_Values = Mapping[str, float]
_Comparable = tuple[Candidate, _Values]


@dataclass(frozen=True)
class _AnswerSearch:
    """A question and the candidates that have all of its measures."""

    question: Question
    compared: tuple[_Comparable, ...]
    broken: Mapping[str, tuple[str, ...]]
    signs: tuple[float, ...]
    better: Mapping[str, float]
    not_applicable: Mapping[str, int]
    not_measured: Mapping[str, int]

    @classmethod
    def of(
        cls,
        question: Question,
        made: Sequence[Candidate],
        every: list[Measurement],
        broken: Mapping[str, tuple[str, ...]],
    ) -> _AnswerSearch:
        names = question.measures
        better = {name: 1.0 if better_of(name, every) == "lower" else -1.0 for name in names}
        aims = {"min": 1.0, "max": -1.0}
        signs = tuple(aims.get(goal.aim, better[goal.measure]) for goal in question.goals)
        found = [(candidate, {name: candidate.value(name) for name in names}) for candidate in made]
        compared = tuple(
            (candidate, {name: value for name, value in values.items() if value is not None})
            for candidate, values in found
            if None not in values.values()
        )
        lacking = {name: [c for c, values in found if values[name] is None] for name in names}
        judged = {name: sum(_was_measured(c, name) for c in those) for name, those in lacking.items()}
        unjudged = {name: len(those) - judged[name] for name, those in lacking.items()}
        return cls(question, compared, broken, signs, better, _counted(judged), _counted(unjudged))

    @cached_property
    def _offered(self) -> tuple[_Comparable, ...]:
        """What may be recommended: the candidates that keep the policy, but for the original as it is."""
        return tuple(one for one in self.compared if one[0].id not in self.broken and not one[0].is_original)

    def answer(self) -> Answer:
        """Return the best of what may be recommended, or of the rest if nothing else keeps the limits."""
        keeping = [one for one in self._offered if self._is_within_limits(one[1])]
        if not keeping:
            rest = [one for one in self.compared if self._is_within_limits(one[1])]
            keeping = [one for one in rest if one[0].id not in self.broken] or rest
        counted = Answer(
            self.question,
            None,
            {},
            n_compared=len(self.compared),
            n_keeping=len(keeping),
            not_applicable=self.not_applicable,
            not_measured=self.not_measured,
        )
        if not keeping:
            limits = [LimitWorth(bound, None, *self._loosenings(bound, None)) for bound in self._limits]
            return replace(counted, limits=tuple(limits), nearest=self._nearest())
        ranked = sorted(keeping, key=self._rank)
        chosen, values = ranked[0]
        goals = self._goals(values)
        limits = [
            LimitWorth(
                bound,
                values[bound.measure],
                *self._loosenings(bound, values),
                self._tightening(bound, values, keeping),
            )
            for bound in self._limits
        ]
        return replace(
            counted,
            candidate=chosen,
            broken=self.broken.get(chosen.id, ()),
            figures=values,
            ties=tuple(c for c, other in ranked[1:] if self._goals(other) == goals),
            trade_offs=self._trade_offs(ranked),
            runner_up=next((c for c, other in ranked if self._goals(other) > goals), None),
            limits=tuple(limits),
        )

    @property
    def _limits(self) -> tuple[Bound, ...]:
        return self.question.bounds

    def _goals(self, values: _Values) -> tuple[float, ...]:
        """Return the values of the goals in order of preference, negated so that lower is better."""
        pairs = zip(self.signs, self.question.goals, strict=True)
        # computed in another order the same value may differ in its last digits
        return tuple(sign * float(f"{values[goal.measure]:.12g}") for sign, goal in pairs)

    def _rank(self, one: _Comparable) -> tuple[Any, ...]:
        """Sort by the goals, then by the limited measures: of two equally good ones, the more careful one."""
        candidate, values = one
        limited = tuple(self.better[b.measure] * values[b.measure] for b in self._limits)
        return self._goals(values), limited, candidate.id

    def _is_within_limits(self, values: _Values, but: Bound | None = None) -> bool:
        return all(bound.allows(values[bound.measure]) for bound in self._limits if bound is not but)

    def _trade_offs(self, ranked: Sequence[_Comparable]) -> tuple[Candidate, ...]:
        """Return the candidates after the first that no better-ranked one equals or dominates."""
        seen: list[tuple[float, ...]] = []
        found = []
        for candidate, values in ranked:
            goals = self._goals(values)
            if not any(all(a <= b for a, b in zip(other, goals, strict=True)) for other in seen):
                seen.append(goals)
                found.append(candidate)
        return tuple(found[1:])

    def _loosenings(self, bound: Bound, values: _Values | None) -> tuple[Step | None, Step | None]:
        """Return the smallest loosening of a limit that helps, and the one that gains most for its price."""
        others = [
            one
            for one in self._offered
            if self._is_within_limits(one[1], but=bound) and not self._is_within_limits(one[1])
        ]
        if values is not None:
            others = [one for one in others if self._goals(one[1]) < self._goals(values)]
        stairs: list[_Comparable] = []
        for one in sorted(others, key=lambda one: (bound.excess(one[1][bound.measure]), self._rank(one))):
            if not stairs or self._goals(one[1]) < self._goals(stairs[-1][1]):
                stairs.append(one)
        if not stairs:
            return None, None
        first = stairs[0]
        if values is None:
            return self._step(bound, first), None
        best = max(stairs, key=self._gain_for_price(bound, values))
        return self._step(bound, first), None if best is first else self._step(bound, best)

    def _gain_for_price(self, bound: Bound, values: _Values) -> Callable[[_Comparable], float]:
        """Return the gain on the first goal per unit of loosening, both on the scales of a chart."""
        goal = self.question.goals[0].measure
        gained, paid = self._scale_of(goal), self._scale_of(bound.measure, bound.number)

        def rate(one: _Comparable) -> float:
            gain = abs(gained(one[1][goal]) - gained(values[goal]))
            price = abs(paid(one[1][bound.measure]) - paid(bound.number))
            if math.isinf(price) or math.isnan(gain):
                return 0.0
            return gain / price if price else math.inf

        return rate

    def _scale_of(self, measure: str, *more: float) -> Callable[[float], float]:
        """Return the scale for comparing a measure's values: logarithmic if they have a wide range."""
        finite = self._finite(measure, *more)
        wide = min(finite) > 0 and max(finite) / min(finite) >= _LOGARITHMIC_FROM
        return (lambda value: math.log(value) if value > 0 else -math.inf) if wide else float

    def _finite(self, measure: str, *more: float) -> list[float]:
        values = (*(v[measure] for _, v in self.compared), *more)
        return [value for value in values if math.isfinite(value)] or [0.0]

    def _tightening(self, bound: Bound, values: _Values, keeping: Sequence[_Comparable]) -> Step | None:
        """Return the best candidate within a tighter limit than the answer needs."""
        here = bound.tightness(values[bound.measure])
        tighter = [one for one in keeping if bound.tightness(one[1][bound.measure]) < here]
        return self._step(bound, min(tighter, key=self._rank)) if tighter else None

    def _step(self, bound: Bound, one: _Comparable) -> Step:
        candidate, values = one
        return Step(
            values[bound.measure], candidate, {g.measure: values[g.measure] for g in self.question.goals}
        )

    def _nearest(self) -> Candidate | None:
        """Return the candidate nearest to meeting all limits, in parts of each measure's range."""
        scales = []
        for bound in self._limits:
            drawn = self._scale_of(bound.measure, bound.number)
            places = [drawn(value) for value in self._finite(bound.measure)]
            scales.append((bound, drawn, (max(places) - min(places)) or 1.0))

        def distance(one: _Comparable) -> tuple[Any, ...]:
            total = 0.0
            for bound, drawn, span in scales:
                value = one[1][bound.measure]
                if not bound.allows(value) and value != bound.number:
                    total += abs(drawn(value) - drawn(bound.number)) / span
            return total, self._rank(one)

        offered = self._offered or self.compared
        return min(offered, key=distance)[0] if offered else None


def _was_measured(candidate: Candidate, name: str) -> bool:
    return any(m.label == name for m in candidate.measurements)


def _counted(counts: Mapping[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}


def _chosen(candidate: Candidate | None, names: Iterable[str] = ()) -> ChosenShape | None:
    """Return a candidate without its seed, with its values of some measures."""
    if candidate is None:
        return None
    return ChosenShape.of(
        candidate,
        in_words=formatting.recipe_in_words(candidate.recipe),
        also=[formatting.recipe_in_words(way.recipe) for way in candidate.also] or UNSET,
        figures={name: candidate.value(name) for name in names} or UNSET,
    )


def _step(step: Step | None) -> StepShape | None:
    return None if step is None else StepShape.of(step, candidate=step.candidate.id)
