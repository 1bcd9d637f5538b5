"""Convert one section of the project file to a typed value, and report errors with their place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar, get_args

import msgspec

from sfumato.runtime.errors import ProjectError, suggestion


class Section(msgspec.Struct, rename="kebab", frozen=True):
    """The keys of one table and their types."""


SomeSection = TypeVar("SomeSection", bound=Section)


def section(kind: type[SomeSection], written: Any, where: str = "") -> SomeSection:
    """Convert one section; an error names its place in the file and the allowed values."""
    if not isinstance(written, Mapping):
        raise ProjectError(f"{where}: expected `table`, got `{type(written).__name__}`")
    fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
    for key, value in written.items():
        place = f"{where}.{key}".lstrip(".")
        if key not in fields:
            raise ProjectError(f"unknown key {place!r}{_near(key, fields)}")
        words = _choices(fields[key].type)
        for word in value if isinstance(value, list) else [value]:
            if words and isinstance(word, str) and word not in words:
                raise ProjectError(f"{place}: cannot be {word!r}{_near(word, words)}")
    try:
        return msgspec.convert(written, kind)
    except msgspec.ValidationError as error:
        raise ProjectError(_readable(error, where)) from None


def _near(given: str, allowed: Iterable[str]) -> str:
    return suggestion(given, allowed) or f"; allowed are {', '.join(allowed)}"


def _choices(hint: Any) -> list[str]:
    """Return the words that a `Literal` type allows."""
    return [hint] if isinstance(hint, str) else [word for part in get_args(hint) for word in _choices(part)]


def _readable(error: msgspec.ValidationError, where: str) -> str:
    """Turn ``Expected `str`, got `int` - at `$.path``` into ``data.path: expected `str`, got `int```."""
    what, _, inner = str(error).partition(" - at `$")
    place = (where + inner.rstrip("`")).lstrip(".") or "the file"
    said = what.replace("Object missing required field", "lacks the key")
    said = said.replace(" | null", "").replace("object", "table").replace("array", "list")
    return f"{place}: {said[0].lower()}{said[1:]}"
