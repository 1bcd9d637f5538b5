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

UNVERIFIED_CLAIM = "unverified claim by the publisher"
"""The label of every statement in a published folder that no reader can check from its files."""
BOUNDS = ("at least", "at most", "above", "below")
"""The words before a limit."""

_NUMBER = re.compile(
    r"(?P<sign>[-\u2212]?)(?P<digits>\d[\d,]*(?:\.\d+)?)(?P<exponent>e[-+\u2212]?\d+)?(?P<share>%?)",
    re.ASCII,
)
_GROUPED = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?", re.ASCII)
# Shares have three digits at least, other numbers four: fewer could stand for too many values, 0.5 for 0.54.
_SHARE_PRECISION, _PRECISION = 0.00501, 0.000501
_ALL = 0.9999995
_ROUNDING = 1e-9
_ALMOST_ALL = ">99.9%"


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
    found = _NUMBER.fullmatch(text)
    if found is None or ("," in found["digits"] and not _GROUPED.fullmatch(found["digits"])):
        return False
    digits, exponent = found["digits"].replace(",", ""), (found["exponent"] or "e0").replace("\u2212", "-")
    printed = float(f"{'-' if found['sign'] else ''}{digits}{exponent}")
    wanted = 100 * value if found["share"] else float(value)
    if isinstance(value, int) and not found["share"] and not found["exponent"]:
        return printed == value
    if found["share"] and printed == 100 and value < _ALL:
        return False
    precision = _SHARE_PRECISION if found["share"] else _PRECISION
    last = 10.0 ** (int(exponent[1:]) - len(digits.partition(".")[2]))
    off = abs(printed - wanted)
    return off <= min(0.5 * last * (1 + _ROUNDING), precision * abs(wanted)) + _ROUNDING * abs(wanted)


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
    numbers = iter([part for part in parts if isinstance(part, (int, float)) and not isinstance(part, bool)])
    return all(any(_shows_number(found, number) for number in numbers) for found in _numerals(text))


def shows_recipe(text: str, value: Mapping[str, Any]) -> bool:
    """Return whether a text has only names and numbers of a recipe or a model, each number by its name.

    What is left at its default may be left out, and the order is free.

    Examples
    --------
    >>> recipe = {"sanitizer": "mondrian", "parameters": {"model": {"k-anonymity": {"k": 5}}, "effort": 9}}
    >>> shows_recipe("Mondrian with k-anonymity (k = 5); effort = 9", recipe)
    True
    >>> shows_recipe("Mondrian with k-anonymity (k = 9)", recipe), shows_recipe("k = 5, safe", recipe)
    (False, False)
    """
    numbers = _numbers_by_name(value)
    names = {each.casefold() for each in leaves(value) if isinstance(each, str) and each}
    rest, name = text.casefold(), ""
    known = sorted(names, key=len, reverse=True)
    while rest:
        word = next((each for each in known if rest.startswith(each)), None)
        joint = _JOINT.match(rest)
        number = _NUMBER.match(rest)
        if word is not None and not rest[len(word) : len(word) + 1].isalnum():
            rest, name = rest[len(word) :], word
        elif joint is not None:
            rest = rest[joint.end() :]
        elif number is not None and any(
            _shows_number(number[0].rstrip(","), each) for each in numbers.get(name, ())
        ):
            rest = rest[len(number[0].rstrip(",")) :]
        else:
            return False
    return True


_JOINT = re.compile(r"[\s\u00a0(),;:=.]|with\b|and\b|none\b|true\b|false\b")


def _numbers_by_name(value: Any) -> dict[str, list[float]]:
    """Return each name with its numbers anywhere in nested objects."""
    found: dict[str, list[float]] = {}

    def collect(inner: Any, under: str) -> None:
        if isinstance(inner, Mapping):
            for key, each in inner.items():
                # a missing value is a name without a letter
                collect(each, key.casefold() or under)
        elif isinstance(inner, list):
            for each in inner:
                collect(each, under)
        elif isinstance(inner, (int, float)) and not isinstance(inner, bool):
            found.setdefault(under, []).append(inner)

    collect(value, "")
    return found


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


def _numerals(text: str) -> list[str]:
    """Return the numerals of a text; a numeric character other than 0 to 9 is one by itself."""
    plain = [found[0] for found in _NUMBER.finditer(re.sub(r"[^\x00-\x7f\u2212]", " ", text))]
    return [each.rstrip(",") for each in plain] + [s for s in text if s.isnumeric() and not "0" <= s <= "9"]


def same_value(said: Any, value: Any) -> bool:
    """Return whether a value next to a text is the value itself, with fractions equal up to rounding."""
    if isinstance(value, float) and isinstance(said, (int, float)) and not isinstance(said, bool):
        return math.isclose(said, value, rel_tol=_ROUNDING, abs_tol=1e-15)
    if isinstance(value, Mapping):
        return (
            isinstance(said, Mapping)
            and list(said) == list(value)
            and all(same_value(said[name], value[name]) for name in value)
        )
    if isinstance(value, list):
        return isinstance(said, list) and len(said) == len(value) and all(map(same_value, said, value))
    return type(said) is type(value) and bool(said == value)
