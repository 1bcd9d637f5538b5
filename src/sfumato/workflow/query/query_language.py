"""Parse a query on a release, which is written in a small language.

::

    query      =  what [ "where" condition ] [ "by" attribute { "," attribute } ]
    what       =  "count" | "share" | ("sum" | "mean") attribute
    condition  =  both { "or" both }
    both       =  part { "and" part }
    part       =  [ "not" ] ( "(" condition ")" | attribute test )
    test       =  ("=" | "!=" | "<" | "<=" | ">" | ">=") value
               |  [ "not" ] "in" "(" value { "," value } ")"
               |  [ "not" ] "in" ("[" | "(") number "," number (")" | "]")
               |  "is" [ "not" ] "missing"

Put a name or value with blanks or signs of the language in quotation marks, single or double. A missing
value passes no test except ``is missing``: neither ``age = 40`` nor ``age != 40`` holds for it. ``not``
before a test negates it, so ``not age >= 40`` holds for a missing value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

from sfumato.runtime.numerals import number
from sfumato.workflow.choose.tokens import Language, TokenReader

Statistic = Literal["count", "share", "sum", "mean"]
TestSign = Literal["=", "<", "<=", ">", ">=", "in", "range", "missing"]

QUERY_EXAMPLE = "count where age >= 40 and sex = Female by occupation"
_STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
_MAX_DEPTH = 20
_LANGUAGE = Language(
    "query",
    QUERY_EXAMPLE,
    re.compile(
        r"""\s*(?:
    '(?P<single>[^']*)' | "(?P<double>[^"]*)"
    | (?P<sign><=|>=|!=|<>|==|≤|≥|≠|<|>|=)
    | (?P<mark>[(),\[\]])
    | (?P<word>[^\s(),\[\]<>=!≤≥≠'"]+)
    )""",
        re.VERBOSE,
    ),
)
_SIGNS = {"==": "=", "≤": "<=", "≥": ">=", "≠": "!=", "<>": "!="}
_NAME_OR_VALUE = ("word", "single", "double")
_KEYWORDS = frozenset({"where", "by", "and", "or", "not", "in", "is", "of"})


@dataclass(frozen=True)
class Span:
    """The numbers between two ends, each with whether it belongs to them."""

    low: float
    high: float
    with_low: bool = True
    with_high: bool = True

    def __str__(self) -> str:
        left, right = "[" if self.with_low else "(", "]" if self.with_high else ")"
        return f"{left}{_plain_number(self.low)}, {_plain_number(self.high)}{right}"


@dataclass(frozen=True)
class CellTest:
    """A test on one attribute.

    Parameters
    ----------
    attribute
        The attribute.
    sign
        How the attribute is compared.
    values
        The values as they are written; none for a range and for ``missing``.
    span
        The range, if there is one.
    start, end
        The position of the test in the query.
    is_not
        Whether the test is ``!=`` or ``not in``; a missing value passes neither.
    """

    attribute: str
    sign: TestSign
    values: tuple[str, ...] = ()
    span: Span | None = None
    start: int = 0
    end: int = 0
    is_not: bool = False

    def __str__(self) -> str:
        name, be_in = _quoted(self.attribute), "not in" if self.is_not else "in"
        if self.sign == "missing":
            return f"{name} is missing"
        if self.sign == "range":
            return f"{name} {be_in} {self.span}"
        if self.sign == "in":
            return f"{name} {be_in} ({', '.join(map(_quoted, self.values))})"
        return f"{name} {'!=' if self.is_not else self.sign} {_quoted(self.values[0])}"


@dataclass(frozen=True)
class Not:
    """The negation of a condition."""

    part: Condition

    def __str__(self) -> str:
        return f"not {_inside(self.part)}"


@dataclass(frozen=True)
class Joined:
    """A conjunction or disjunction of conditions."""

    how: Literal["and", "or"]
    parts: tuple[Condition, ...]

    def __str__(self) -> str:
        return f" {self.how} ".join(map(_inside, self.parts))


Condition = CellTest | Not | Joined


@dataclass(frozen=True)
class Query:
    """A parsed query.

    Parameters
    ----------
    what
        ``count``, ``share``, ``sum`` or ``mean``.
    of
        The attribute that is summed or averaged.
    where
        The condition on a record; ``None`` includes all records.
    by
        The attributes whose values the answer has a figure for each.

    Examples
    --------
    >>> print(parse_query("count by occupation where age >= 40 and not sex = 'Female'"))
    count where age >= 40 and not sex = Female by occupation
    """

    what: Statistic
    of: str | None = None
    where: Condition | None = None
    by: tuple[str, ...] = ()

    @property
    def tests(self) -> tuple[CellTest, ...]:
        """The tests of its condition, from left to right."""
        return () if self.where is None else tuple(_tests(self.where))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of the query, without duplicates."""
        of = () if self.of is None else (self.of,)
        return tuple(dict.fromkeys([*of, *(test.attribute for test in self.tests), *self.by]))

    def __str__(self) -> str:
        of = "" if self.of is None else f" {_quoted(self.of)}"
        where = "" if self.where is None else f" where {self.where}"
        by = f" by {', '.join(map(_quoted, self.by))}" if self.by else ""
        return f"{self.what}{of}{where}{by}"


def parse_query(text: str) -> Query:
    """Read a query; names and values stay as they are written.

    Parameters
    ----------
    text
        For example ``count where age >= 40 and sex = Female by occupation``.
    """
    return _QueryReader(_LANGUAGE, text).query()


def _tests(condition: Condition) -> Iterator[CellTest]:
    match condition:
        case CellTest():
            yield condition
        case Not(part):
            yield from _tests(part)
        case Joined(_, parts):
            for part in parts:
                yield from _tests(part)


def _inside(condition: Condition) -> str:
    return f"({condition})" if isinstance(condition, Joined) else str(condition)


def _quoted(written: str) -> str:
    is_plain = re.fullmatch(r"""[^\s(),\[\]<>=!≤≥≠'"]+""", written) and written.casefold() not in _KEYWORDS
    quote = '"' if "'" in written else "'"
    return written if is_plain else f"{quote}{written}{quote}"


def _plain_number(end: float) -> str:
    return f"{end:.15g}" if math.isfinite(end) else "∞" if end > 0 else "-∞"


class _QueryReader(TokenReader):
    _depth = 0

    def query(self) -> Query:
        what = next((what for what in _STATISTICS if self._takes("word", what)), None)
        if what is None:
            raise self._unexpected("count, share, sum or mean")
        of = None
        if what in ("sum", "mean"):
            self._takes("word", "of")
            of = self._name(f"the attribute to {'add up' if what == 'sum' else 'average'}, such as age")
        where: Condition | None = None
        by: tuple[str, ...] = ()
        while self._kind != "end":
            if where is None and self._takes("word", "where"):
                where = self._condition()
            elif not by and self._takes("word", "by"):
                names = [self._name("an attribute after `by`")]
                while self._takes("mark", ","):
                    names.append(self._name("an attribute"))
                by = tuple(dict.fromkeys(names))
            else:
                raise self._unexpected(self._continuations(where, by))
        return Query(what, of, where, by)

    def _continuations(self, where: Condition | None, by: tuple[str, ...]) -> str:
        before = self._tokens[self._place - 1]
        if before.kind == "word" and self._kind == "word" and (where is not None or by):
            return "`and`, `or`, `by` or the end (put a value of several words in quotation marks)"
        names = [*(["`and`, `or`"] if where is not None else ["`where`"]), *([] if by else ["`by`"])]
        return f"{', '.join(names)} or the end"

    def _condition(self) -> Condition:
        return self._joined("or", lambda: self._joined("and", self._part))

    def _joined(self, how: Literal["and", "or"], read: Callable[[], Condition]) -> Condition:
        parts = [read()]
        while self._takes("word", how):
            parts.append(read())
        return parts[0] if len(parts) == 1 else Joined(how, tuple(parts))

    def _part(self) -> Condition:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise self._unexpected(f"at most {_MAX_DEPTH} brackets and `not` within each other")
        try:
            if self._takes("word", "not"):
                return Not(self._part())
            if self._takes("mark", "("):
                condition = self._condition()
                if not self._takes("mark", ")"):
                    raise self._unexpected("`and`, `or` or `)`")
                return condition
            return self._test()
        finally:
            self._depth -= 1

    def _test(self) -> Condition:
        start = self._tokens[self._place].start
        name = self._name("an attribute, `not` or `(`")
        if self._kind == "sign":
            sign = _SIGNS.get(self._text, self._text)
            self._place += 1
            value = self._value(f"a value after {name} {sign}")
            compared: TestSign = "=" if sign == "!=" else sign  # type: ignore[assignment]
            return CellTest(name, compared, (value,), None, start, self._last_end, sign == "!=")
        if self._takes("word", "is"):
            is_not = self._takes("word", "not")
            if not self._takes("word", "missing"):
                raise self._unexpected("`missing` or `not missing` after `is`")
            test = CellTest(name, "missing", (), None, start, self._last_end)
            return Not(test) if is_not else test
        is_not = self._takes("word", "not")
        if not self._takes("word", "in"):
            raise self._unexpected(f"=, !=, <, <=, >, >=, `in` or `is missing` after {name!r}")
        return replace(self._set_or_range(name, start), is_not=is_not)

    def _set_or_range(self, name: str, start: int) -> CellTest:
        """Read a list of values or a range; two values in round brackets alone are a list."""
        if self._takes("mark", "["):
            return self._range(name, start, with_low=True)
        if not self._takes("mark", "("):
            raise self._unexpected("`(` and values, or `[` and the ends of a range, after `in`")
        ahead = [token.text for token in self._tokens[self._place : self._place + 4]]
        if len(ahead) == 4 and ahead[1] == "," and ahead[3] == "]":
            return self._range(name, start, with_low=False)
        values = [self._value("a value")]
        while self._takes("mark", ","):
            values.append(self._value("a value"))
        if not self._takes("mark", ")"):
            raise self._unexpected("`,` and another value, or `)`")
        return CellTest(name, "in", tuple(dict.fromkeys(values)), None, start, self._last_end)

    def _range(self, name: str, start: int, *, with_low: bool) -> CellTest:
        low = self._number()
        if not self._takes("mark", ","):
            raise self._unexpected("`,` between the ends of a range")
        high = self._number()
        with_high = self._text == "]"
        if self._kind != "mark" or self._text not in ")]":
            raise self._unexpected("`)` or `]` at the end of a range")
        self._place += 1
        return CellTest(name, "range", (), Span(low, high, with_low, with_high), start, self._last_end)

    def _number(self) -> float:
        value = number(self._text.replace("\u2212", "-")) if self._kind == "word" else None
        if value is None:
            raise self._unexpected("a number")
        self._place += 1
        return float(value)

    def _value(self, wanted: str) -> str:
        if self._kind not in _NAME_OR_VALUE:
            raise self._unexpected(f"{wanted} (put one with signs of the language in quotation marks)")
        return self._next()

    def _name(self, wanted: str) -> str:
        is_keyword = self._kind == "word" and self._text.casefold() in _KEYWORDS
        if self._kind not in _NAME_OR_VALUE or is_keyword:
            raise self._unexpected(wanted)
        return self._next()

    @property
    def _last_end(self) -> int:
        return self._tokens[self._place - 1].end
