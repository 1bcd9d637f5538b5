"""Parse a formula into a list of steps for a stack machine.

::

    formula    = and-part {"or" and-part}
    and-part   = not-part {"and" not-part}
    not-part   = "not" not-part | comparison
    comparison = sum [sign sum | ["not"] "in" "(" constant {"," constant} ")"]
    sign       = "=" | "!=" | "<" | "<=" | ">" | ">="
    sum        = product {("+" | "-") product}
    product    = factor {("*" | "/") factor}
    factor     = "-" factor | number | "text" | name | `name` | function "(" formula {"," formula} ")"
               | "(" formula ")"
    function   = "abs" | "min" | "max" | "if"
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from sfumato.runtime.errors import ParameterError

LONGEST = 2_000
DEEPEST = 40
_LARGEST = 1e15
_TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?(?![\w.]))
    |(?P<text>"(?:[^"]|"")*"|'(?:[^']|'')*')
    |(?P<quoted>`[^`]+`)
    |(?P<name>[^\W\d]\w*)
    |(?P<sign><=|>=|!=|==|[-+*/=<>(),]))""",
    re.VERBOSE,
)
_FUNCTIONS = {"abs": (1, 1), "min": (2, 20), "max": (2, 20), "if": (3, 3)}
_WORDS = frozenset({"and", "or", "not", "in", *_FUNCTIONS})
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")


class _FormulaToken(NamedTuple):
    kind: str
    text: str
    place: int


class FormulaStep(NamedTuple):
    """One step of the stack machine: its operation, number of operands, and constant."""

    operation: str
    operands: int = 0
    given: Any = None


def steps_of(text: str) -> tuple[FormulaStep, ...]:
    """Return the steps of a formula, operands before operations, or report where it is invalid.

    Examples
    --------
    >>> [step.operation for step in steps_of("age + 2 > 55")]
    ['column', 'constant', '+', 'constant', '>']
    """
    return _Parser(text).steps()


class _Parser:
    """Turn a text into steps, operands before operations."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._next = 0
        self._depth = 0
        self._steps: list[FormulaStep] = []

    def steps(self) -> tuple[FormulaStep, ...]:
        self._formula()
        if self._token.kind != "end":
            raise self._trouble("an operator or the end")
        return tuple(self._steps)

    @property
    def _token(self) -> _FormulaToken:
        return self._tokens[self._next]

    def _trouble(self, wanted: str) -> ParameterError:
        position = "the end" if self._token.kind == "end" else f"character {self._token.place + 1}"
        return ParameterError(f"the formula cannot be read at {position}; expected {wanted}")

    def _take(self, *texts: str) -> str | None:
        """Take the next token if it is one of these signs or words."""
        token = self._token
        if token.kind in ("sign", "name") and token.text in texts:
            self._next += 1
            return token.text
        return None

    def _require(self, sign: str) -> None:
        if self._take(sign) is None:
            raise self._trouble(f"'{sign}'")

    def _deeper(self, part: Callable[[], None]) -> None:
        self._depth += 1
        if self._depth > DEEPEST:
            raise ParameterError(f"the formula is nested more than {DEEPEST} deep; write it flatter")
        part()
        self._depth -= 1

    def _chain(self, part: Callable[[], None], *operators: str) -> None:
        part()
        while operator := self._take(*operators):
            part()
            self._steps.append(FormulaStep(operator, 2))

    def _formula(self) -> None:
        self._chain(self._and_part, "or")

    def _and_part(self) -> None:
        self._chain(self._not_part, "and")

    def _not_part(self) -> None:
        if self._take("not"):
            self._deeper(self._not_part)
            self._steps.append(FormulaStep("not", 1))
        else:
            self._comparison()

    def _comparison(self) -> None:
        self._sum()
        if operator := self._take("==", *COMPARISONS):
            self._sum()
            self._steps.append(FormulaStep("=" if operator == "==" else operator, 2))
            if self._token.text in ("==", *COMPARISONS) and self._token.kind == "sign":
                raise self._trouble("'and' between two comparisons")
            return
        negated = self._take("not")
        if self._take("in"):
            self._require("(")
            constants = [self._constant()]
            while self._take(","):
                constants.append(self._constant())
            self._require(")")
            self._steps.append(FormulaStep("in", 1, tuple(constants)))
            if negated:
                self._steps.append(FormulaStep("not", 1))
        elif negated:
            raise self._trouble("'in' after 'not'")

    def _constant(self) -> float | str:
        negative = self._take("-") is not None
        token = self._token
        if token.kind not in (("number",) if negative else ("number", "text")):
            raise self._trouble("a number or a quoted text")
        self._next += 1
        if token.kind == "text":
            return _unquoted(token.text)
        return -_number(token.text) if negative else _number(token.text)

    def _sum(self) -> None:
        self._chain(self._product, "+", "-")

    def _product(self) -> None:
        self._chain(self._factor, "*", "/")

    def _factor(self) -> None:
        token = self._token
        if self._take("-"):
            self._deeper(self._factor)
            self._steps.append(FormulaStep("negative", 1))
        elif self._take("("):
            self._deeper(self._formula)
            self._require(")")
        elif token.kind == "name" and token.text in _FUNCTIONS:
            self._next += 1
            self._deeper(lambda: self._call(token.text))
        elif token.kind in ("number", "text"):
            self._steps.append(FormulaStep("constant", given=self._constant()))
        elif token.kind == "quoted" or (token.kind == "name" and token.text not in _WORDS):
            self._next += 1
            self._steps.append(FormulaStep("column", given=token.text.strip("`")))
        else:
            raise self._trouble("a number, a quoted text, an attribute or '('")

    def _call(self, name: str) -> None:
        self._require("(")
        self._formula()
        count = 1
        while self._take(","):
            self._formula()
            count += 1
        self._require(")")
        least, most = _FUNCTIONS[name]
        if not least <= count <= most:
            wanted = f"{least}" if least == most else f"{least} to {most}"
            raise ParameterError(f"{name}() takes {wanted} operands, not {count}")
        self._steps.append(FormulaStep(name, count))


def _tokens(text: str) -> list[_FormulaToken]:
    if len(text) > LONGEST:
        raise ParameterError(f"the formula has {len(text):,} characters; at most {LONGEST:,} are allowed")
    tokens, place, end = [], 0, len(text.rstrip())
    while place < end:
        match = _TOKEN.match(text, place)
        if match is None:
            raise ParameterError(
                f"the formula cannot be read at character {end - len(text[place:end].lstrip()) + 1}; "
                "names with other signs than letters, digits and _ stand in backquotes"
            )
        kind = match.lastgroup or ""
        tokens.append(_FormulaToken(kind, match[kind], match.start(kind)))
        place = match.end()
    return [*tokens, _FormulaToken("end", "", end)]


def _number(text: str) -> float:
    value = float(text)
    if not value <= _LARGEST:
        raise ParameterError(f"a number of the formula is too large; at most {_LARGEST:g} is allowed")
    return value


def _unquoted(text: str) -> str:
    return text[1:-1].replace(text[0] * 2, text[0])
