"""Write values as TOML in the style of a person: ``{ k-anonymity = { k = [2, 5] } }``."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_WIDTH = 100


def toml(value: Any) -> str:
    """Write a plain value in one line.

    Examples
    --------
    >>> toml({"k-anonymity": {"k": [2, 5]}})
    '{ k-anonymity = { k = [2, 5] } }'
    """
    if isinstance(value, Mapping):
        return (
            "{ " + ", ".join(f"{_key(key)} = {toml(inner)}" for key, inner in value.items()) + " }"
            if value
            else "{}"
        )
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    # TOML shares its escapes with JSON but for one
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_lines(values: Mapping[str, Any]) -> str:
    """Write each key of a mapping on a line of its own."""
    return "\n".join(f"{_key(key)} = {toml(inner)}" for key, inner in values.items())


def toml_item(value: Any) -> Any:
    """Return a value as a `tomlkit` item, written like `toml`; a long list has a line for each element."""
    import tomlkit

    written = toml(value)
    if isinstance(value, list) and len(written) > _WIDTH:
        written = "[\n" + "".join(f"  {toml(part)},\n" for part in value) + "]"
    return tomlkit.value(written)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml(name)
