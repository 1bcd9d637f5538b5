"""Parse the time budget of an exploration, as project files and the command line write it."""

from __future__ import annotations

import math
import re

from sfumato.runtime.errors import ParameterError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}
_NONE = "none"


def seconds_of(written: str) -> float:
    """Read a time in seconds; ``none`` is unlimited.

    Examples
    --------
    >>> seconds_of("90s"), seconds_of("2m"), seconds_of("1.5h"), seconds_of("none")
    (90.0, 120.0, 5400.0, inf)
    """
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([smh])", written.strip())
    if written.strip() == _NONE:
        return math.inf
    if found is None or not float(found[1]):
        raise ParameterError(f"{written!r} is no time; write for example 90s, 5m or 1h, or none")
    return float(found[1]) * _UNITS[found[2]]
