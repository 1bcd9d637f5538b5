"""Write parameters as the texts of inputs, and read submitted texts as parameters."""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from sfumato.interfaces.workbench.forms.toml_text import toml, toml_lines
from sfumato.runtime.errors import ParameterError
from sfumato.runtime.numerals import (
    number,
)

Sort = Literal["number", "text", "choice", "yes-no", "list", "table", "models", "scenario"]
"""The kinds of inputs."""
YES_NO = ("yes", "no")


class NotShown(Exception):
    """Raised for a value in the project file that no input can show; it is edited as text."""


def texts_of(sort: Sort, swept: bool, value: Any) -> tuple[str, ...]:
    """Return the texts that an input shows for a plain value."""
    if value is None:
        return ("",)
    if sort == "table":
        return (toml_lines(value) if isinstance(value, Mapping) else toml(value),)
    if sort == "list":
        value = value.split(",") if isinstance(value, str) else value
        lists = value if swept and value and isinstance(value[0], list) else [value]
        return ("\n".join(_line(part) for part in lists),)
    several = value if swept and isinstance(value, list) else [value]
    if sort in ("choice", "yes-no"):
        return tuple(_word(part) for part in several)
    if any(isinstance(part, (Mapping, list)) for part in several):
        raise NotShown
    return (_line(several) if swept else _word(value),)


def value_of(sort: Sort, swept: bool, texts: Sequence[str]) -> Any:
    """Return the plain value of what was typed, or ``None`` if the input was left empty."""
    whole = "\n".join(texts) if sort in ("list", "table") else (texts[0] if texts else "")
    if sort in ("choice", "yes-no"):
        words = texts if swept else texts[:1]
        chosen = [(word == "yes") if sort == "yes-no" else word for word in words if word]
        return None if not chosen else chosen[0] if len(chosen) == 1 else chosen
    if not whole.strip():
        return None
    if sort == "table":
        return _table(whole)
    if sort == "list":
        lists = [_words(line) for line in whole.splitlines() if line.strip()]
        return lists if swept and len(lists) > 1 else [word for words in lists for word in words]
    if not swept:
        return _number(whole, "expected a number") if sort == "number" else whole.strip()
    several = "expected a number, or several with commas between them: 2, 5, 10"
    parsed = [_number(word, several) if sort == "number" else word for word in _words(whole)]
    return None if not parsed else parsed[0] if len(parsed) == 1 else parsed


def _table(written: str) -> Any:
    """Read lines of ``name = value``, or a single value."""
    try:
        return tomllib.loads(written)
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
    try:
        return tomllib.loads(f"value = {written}")["value"]
    except tomllib.TOMLDecodeError:
        raise ParameterError(
            f"cannot be read: {reason}; write one line for each name, for example age = 2"
        ) from None


def _number(word: str, wanted: str) -> int | float:
    value = number(word.strip())
    if value is None:
        raise ParameterError(wanted)
    return value


def _words(line: str) -> list[str]:
    """Split a line at commas; a quoted word may contain commas."""
    try:
        parts = next(
            csv.reader([line.replace("\n", " ").replace("\r", " ")], skipinitialspace=True, strict=True)
        )
    except csv.Error:
        raise ParameterError('a quote is not closed; write "a, b" for a name with a comma') from None
    return [part.strip() for part in parts if part.strip()]


def _line(values: Iterable[Any]) -> str:
    return ", ".join(_quoted(_word(value)) for value in values)


def _quoted(word: str) -> str:
    return '"' + word.replace('"', '""') + '"' if re.search(r'[,"\n]|^\s|\s$', word) else word


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
