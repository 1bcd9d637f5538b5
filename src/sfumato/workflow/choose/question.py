"""Parse a publisher's question, which is written in a small language.

::

    question  =  goal { ("," | "and") goal } [ "where" limit { ("," | "and") limit } ]
    goal      =  ("max" | "min" | "best") measure
    limit     =  measure ("<=" | "<" | ">=" | ">" | "=" | "at most" | "at least") number ["%"]

A measure is written by its name, by its label (``t-closeness distance=js``), in words (``privacy loss``) or
by a short name (``k``). If several attributes are sensitive, it means the worst of them, and
``privacy loss of income`` means one of them. Put a name with characters other than letters in quotation
marks. Upper and lower case are the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from sfumato.registry import methods
from sfumato.registry.declarations import Better
from sfumato.results import formatting
from sfumato.results.measure_label import MeasureLabel
from sfumato.results.measure_lookup import full_name, label_of, measure_exists
from sfumato.results.measurement import Measurement, named
from sfumato.runtime.errors import ParameterError
from sfumato.workflow.choose.tokens import Language, TokenReader, TypedToken

Aim = Literal["max", "min", "best"]
Sign = Literal["<=", "<", ">=", ">", "="]


EXAMPLE = "max k where loss <= 25% and suppression <= 10%"

_LANGUAGE = Language(
    "question",
    EXAMPLE,
    re.compile(
        r"""\s*(?:
    (?P<number>[-\u2212]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])|[-\u2212]?\.\d+(?![\w.])|∞)
    | (?P<sign><=|>=|==|=<|=>|≤|≥|<|>|=|at\s+most\b|at\s+least\b)
    | (?P<percent>%|percent\b|per\s+cent\b)
    | (?P<comma>,)
    | (?P<parameter>[a-z][\w-]*=[^\s<>=,%]+)
    | (?P<word>[^\W\d][\w-]*)
    | "(?P<quoted>[^"]+)"
    )""",
        re.VERBOSE | re.IGNORECASE,
    ),
)
_SIGNS: dict[str, Sign] = {
    **{sign: sign for sign in get_args(Sign)},
    "==": "=",
    "=<": "<=",
    "≤": "<=",
    "at most": "<=",
    "=>": ">=",
    "≥": ">=",
    "at least": ">=",
}
_AIMS: tuple[Aim, ...] = ("max", "min", "best")
_KEYWORDS = frozenset({*_AIMS, "where", "and"})
# A value this near to a limit is a tie, as in a policy: 0.1 + 0.2 must keep a limit of 0.3.
_TIE = 1e-12


@dataclass(frozen=True)
class Goal:
    """A measure to make as large, as small or as good as possible."""

    aim: Aim
    measure: str

    def __str__(self) -> str:
        return f"{self.aim} {self.measure}"


@dataclass(frozen=True)
class Bound:
    """A limit on a measure.

    Parameters
    ----------
    measure
        The measure, as it was written or by its label.
    sign
        How its value must lie to the number.
    number
        The number; a percentage is a share, 25% is 0.25.
    percent
        Whether it was written as a percentage.
    """

    measure: str
    sign: Sign
    number: float
    percent: bool = False

    def allows(self, value: float) -> bool:
        """Return whether a value is within the limit."""
        if self.sign in ("<", ">"):
            beyond = self.number - value if self.sign == "<" else value - self.number
            return beyond > _TIE
        return self.excess(value) <= _TIE

    def excess(self, value: float) -> float:
        """Return how far a value is beyond the limit; 0 if it is within it."""
        if value == self.number:
            return 0.0
        if self.sign == "=":
            return abs(value - self.number)
        return max(value - self.number if self.is_upper else self.number - value, 0.0)

    @property
    def is_upper(self) -> bool:
        """Whether it limits values from above."""
        return self.sign in ("<=", "<")

    def tightness(self, value: float) -> float:
        """Return a number that decreases as a value would meet a tighter limit."""
        return self.excess(value) if self.sign == "=" else value if self.is_upper else -value

    def __str__(self) -> str:
        number = (
            "∞" if math.isinf(self.number) else f"{100 * self.number if self.percent else self.number:.10g}"
        )
        return f"{self.measure} {self.sign} {number}{'%' * self.percent}"


@dataclass(frozen=True)
class Question:
    """The goals, the most important first, and the limits.

    Examples
    --------
    >>> print(parse("max k where information loss at most 25% and suppression <= 10%"))
    max k where information loss <= 25% and suppression <= 10%
    """

    goals: tuple[Goal, ...]
    bounds: tuple[Bound, ...] = ()

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures in it, each once."""
        return tuple(dict.fromkeys([*(g.measure for g in self.goals), *(b.measure for b in self.bounds)]))

    def __str__(self) -> str:
        limits = " and ".join(map(str, self.bounds))
        return ", ".join(map(str, self.goals)) + (f" where {limits}" if limits else "")


def parse(text: str) -> Question:
    """Read a question; the measures stay as they are written.

    Parameters
    ----------
    text
        For example ``max k where loss <= 25% and suppression <= 10%``.
    """
    return _QuestionReader(_LANGUAGE, text).question()


def places_of(question: str, measure: str) -> tuple[int, int] | None:
    """Return the positions in a question at which a measure is written, as far as they are found.

    Examples
    --------
    >>> places_of("max privacy  loss", "privacy loss")
    (4, 17)
    """
    found = re.search(r"\s+".join(map(re.escape, measure.split())), question, re.IGNORECASE)
    return found.span() if found else None


def resolve(question: Question, measurements: Iterable[Measurement]) -> Question:
    """Replace the measures of a question by the labels of measurements, and check the units."""
    every = list(measurements)
    goals = tuple(replace(goal, measure=label_of(goal.measure, every)) for goal in question.goals)
    bounds = tuple(
        _check_unit(replace(bound, measure=label_of(bound.measure, every))) for bound in question.bounds
    )
    return Question(goals, bounds)


def unmeasured(question: Question, measurements: Iterable[Measurement]) -> tuple[str, ...]:
    """Return the measures of a question that exist and were not measured."""
    every = list(measurements)
    labels = {name.casefold() for m in every for name in (m.label, m.measure)}
    wanted = (full_name(name, every) for name in question.measures)
    return tuple(name for name in wanted if name.casefold() not in labels and measure_exists(name))


def guards_attributes(label: str) -> bool:
    """Return whether a measure or model is about disclosure of a sensitive attribute.

    Examples
    --------
    >>> guards_attributes("t-closeness distance=js"), guards_attributes("k-anonymity")
    (True, False)
    """
    name = MeasureLabel.parse(label).measure
    cls = methods.find("measure", name) or methods.find("model", name)
    return getattr(cls, "guards", None) == "attribute"


def better_of(measure: str, measurements: Iterable[Measurement]) -> Better:
    """Return whether lower or higher is better for a label."""
    return next((m.better for m in named(measurements, measure)), "lower")


def _check_unit(bound: Bound) -> Bound:
    """Refuse 25 for a share and 25% for a number: both would answer a different question."""
    is_share = formatting.measure_words(bound.measure).unit == "share"
    if is_share and not bound.percent and 1 < bound.number < math.inf:
        raise ParameterError(
            f"{bound.measure} is a share, and {bound.number:g} is more than all of it; "
            f"write {bound.number:g}%"
        )
    if bound.percent and not is_share:
        raise ParameterError(f"{bound.measure} is not a share; write its limit without %")
    return bound


class _QuestionReader(TokenReader):
    """Reads a question."""

    def question(self) -> Question:
        goals = [self._goal()]
        while self._takes("comma") or self._takes("word", "and"):
            goals.append(self._goal())
        bounds = [self._bound()] if self._takes("word", "where") else []
        while bounds and (self._takes("comma") or self._takes("word", "and")):
            bounds.append(self._bound())
        if self._kind != "end":
            wanted = "`and` and another limit" if bounds else "`where` and limits"
            raise self._unexpected(f"{wanted}, or the end")
        return Question(tuple(goals), tuple(bounds))

    def _goal(self) -> Goal:
        for aim in _AIMS:
            if self._takes("word", aim):
                return Goal(aim, self._measure())
        raise self._unexpected("max, min or best")

    def _bound(self) -> Bound:
        self._part_equation()
        measure = self._measure(bounded=True)
        if self._kind != "sign":
            raise self._unexpected(f"<=, >=, <, >, =, `at most` or `at least` after {measure!r}")
        sign = _SIGNS[" ".join(self._next().casefold().split())]
        if self._kind != "number":
            raise self._unexpected(f"a number after {measure!r} {sign}")
        written = self._next().replace(",", "").replace("\u2212", "-")
        number = math.inf if written == "∞" else float(written)
        percent = self._takes("percent")
        return Bound(measure, sign, number / 100 if percent else number, percent)

    def _measure(self, *, bounded: bool = False) -> str:
        parts: list[str] = []
        while self._kind == "quoted" or (self._kind == "word" and self._text.casefold() not in _KEYWORDS):
            parts.append(self._next())
            if bounded:
                self._part_equation()
        while parts and self._kind == "parameter":
            parts.append(self._next())
        if not parts:
            raise self._unexpected("a measure, such as k or loss")
        return " ".join(parts)

    def _part_equation(self) -> None:
        """Split ``k=5`` into tokens if it is a limit, that is, if no comparison sign follows it."""
        kind, text, start, _ = self._tokens[self._place]
        following = next((t.kind for t in self._tokens[self._place + 1 :] if t.kind != "parameter"), "end")
        if kind == "parameter" and following != "sign":
            name, _, number = text.partition("=")
            sign = start + len(name)
            self._tokens[self._place : self._place + 1] = [
                TypedToken("word", name, start, sign),
                TypedToken("sign", "=", sign, sign + 1),
                *_LANGUAGE.tokens(number, sign + 1),
            ]
