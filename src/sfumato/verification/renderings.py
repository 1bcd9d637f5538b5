"""Decide whether a text shows a value: numbers within their printed precision, everything else exactly.

Each version of sfumato may print a value in its own way: 0.0909 or 9.09%, 45222 or 45,222. The text is
therefore read back instead of being compared with one way to print the value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sfumato.verification.documents import is_number

UNVERIFIED_CLAIM = "unverified claim by the publisher"
"""The label of every statement in a published folder that no reader can check from its files."""
BOUNDS = ("at least", "at most", "above", "below")
"""The words before a limit."""

_NUMBER = re.compile(
    r"(?P<sign>[-\u2212]?)(?P<digits>\d[\d,]*(?:\.\d+)?)(?P<exponent>e[-+\u2212]?\d+)?(?P<share>%?)",
    re.ASCII,
)
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
# A figure has three digits at least: with fewer, 0.5 could stand for 0.54.
_PRECISION = 0.00501
# A share below this is not printed as 100%.
_SMALLEST_WHOLE = 0.9999995
_ROUNDING = 1e-9
_ALMOST_ALL = ">99.9%"
_JOINT = re.compile(r"[\s\u00a0(),;:=.]|with\b|and\b|none\b|true\b|false\b")


def shows(text: str, value: Any) -> bool:
    """Return whether a text shows a number, a truth value, a text, or nothing.

    Examples
    --------
    >>> shows("9.09%", 1 / 11), shows("0.5", 0.54), shows("45,222", 45222), shows("not met", False)
    (True, False, True, True)
    """
    if value is None:
        return text in ("not applicable", "none", "\u2013")
    if isinstance(value, bool):
        return text == ("met" if value else "not met")
    if value in ("Infinity", "-Infinity") and text != value:
        return text.removesuffix("%") == ("\u221e" if value == "Infinity" else "\u2212\u221e")
    if isinstance(value, str):
        return text == value
    if isinstance(value, (Mapping, list)):
        return shows_parts(text, value)
    return _shows_number(text, value)


def _shows_number(text: str, value: float) -> bool:
    if text == _ALMOST_ALL:
        return 0.9995 <= value < 1
    number = _NUMBER.fullmatch(text)
    if number is None or ("," in number["digits"] and not _GROUPED.fullmatch(number["digits"])):
        return False
    digits, exponent = number["digits"].replace(",", ""), (number["exponent"] or "e0").replace("\u2212", "-")
    printed = float(f"{'-' if number['sign'] else ''}{digits}{exponent}")
    expected = 100 * value if number["share"] else float(value)
    if isinstance(value, int) and not number["share"] and not number["exponent"]:
        return printed == value
    if number["share"] and printed == 100 and value < _SMALLEST_WHOLE:
        return False
    last_digit = 10.0 ** (int(exponent[1:]) - len(digits.partition(".")[2]))
    most = min(0.5 * last_digit * (1 + _ROUNDING), _PRECISION * abs(expected))
    return abs(printed - expected) <= most + _ROUNDING * abs(expected)


def shows_limit(text: str, value: float) -> str | None:
    """Return the word of a limit that a text shows, such as ``at least``, or ``None``."""
    for word in BOUNDS:
        if text.startswith(f"{word} ") and _shows_number(text.removeprefix(f"{word} "), value):
            return word
    return None


def shows_time(text: str, value: str) -> bool:
    """Return whether a text shows a time: unchanged, or in UTC to the minute."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return text == value
    short = "" if moment.tzinfo is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return text in (value, short)


def shows_parts(text: str, value: Any) -> bool:
    """Return whether the numerals of a text are parts of a value, in order; parts may be omitted.

    Examples
    --------
    >>> model = {"k-anonymity": {"k": 5}}
    >>> shows_parts("mondrian with k-anonymity (k = 5)", model), shows_parts("k = 50", model)
    (True, False)
    """
    parts = list(leaves(value))
    names = sorted({part for part in parts if isinstance(part, str) and has_numerals(part)}, key=len)
    for name in reversed(names):
        text = text.replace(name, " ")
    plain = [number[0].rstrip(",") for number in _NUMBER.finditer(re.sub(r"[^\x00-\x7f\u2212]", " ", text))]
    # a numeric character other than 0 to 9 is a numeral by itself
    numerals = plain + [sign for sign in text if sign.isnumeric() and not "0" <= sign <= "9"]
    numbers = filter(is_number, parts)
    return all(any(_shows_number(numeral, number) for number in numbers) for numeral in numerals)


def shows_recipe(text: str, value: Mapping[str, Any]) -> bool:
    """Return whether a text has only names and numbers of a recipe or a model, each number by its name.

    Parameters may be omitted, and their order is free.

    Examples
    --------
    >>> recipe = {"sanitizer": "mondrian", "parameters": {"model": {"k-anonymity": {"k": 5}}, "effort": 9}}
    >>> shows_recipe("Mondrian with k-anonymity (k = 5); effort = 9", recipe)
    True
    >>> shows_recipe("Mondrian with k-anonymity (k = 9)", recipe), shows_recipe("k = 5, safe", recipe)
    (False, False)
    """
    numbers = _numbers_by_name(value)
    names = {leaf.casefold() for leaf in leaves(value) if isinstance(leaf, str) and leaf}
    rest, last_name = text.casefold(), ""
    longest_first = sorted(names, key=len, reverse=True)
    while rest:
        name = next((name for name in longest_first if rest.startswith(name)), None)
        joint, number = _JOINT.match(rest), _NUMBER.match(rest)
        numeral = "" if number is None else number[0].rstrip(",")
        if name is not None and not rest[len(name) : len(name) + 1].isalnum():
            rest, last_name = rest[len(name) :], name
        elif joint is not None:
            rest = rest[joint.end() :]
        elif numeral and any(_shows_number(numeral, value) for value in numbers.get(last_name, ())):
            rest = rest[len(numeral) :]
        else:
            return False
    return True


def _numbers_by_name(value: Any) -> dict[str, list[float]]:
    """Return each name with its numbers anywhere in nested objects."""
    numbers: dict[str, list[float]] = {}

    def collect(inner: Any, name: str) -> None:
        if isinstance(inner, Mapping):
            for key, part in inner.items():
                # a missing value is a name without a letter
                collect(part, key.casefold() or name)
        elif isinstance(inner, list):
            for part in inner:
                collect(part, name)
        elif is_number(inner):
            numbers.setdefault(name, []).append(inner)

    collect(value, "")
    return numbers


def leaves(value: Any) -> Iterator[Any]:
    """Yield the names and the single values of nested lists and objects, in order."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield name
            yield from leaves(inner)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value


def has_numerals(text: str) -> bool:
    """Return whether a text has a character that represents a number, in any script."""
    return any(sign.isnumeric() for sign in text)


def same_value(marked: Any, value: Any) -> bool:
    """Return whether the single value next to a text is the value itself, with fractions up to rounding."""
    if isinstance(value, float) and is_number(marked):
        return math.isclose(marked, value, rel_tol=_ROUNDING, abs_tol=1e-15)
    return type(marked) is type(value) and bool(marked == value)
