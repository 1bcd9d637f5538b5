"""Read numbers as people write them, with a decimal comma or marks between thousands."""

from __future__ import annotations

import math


def number(written: str, decimal: str = ".", thousands: str = "") -> int | float | None:
    """Return the number that is written, or ``None`` if it is not one.

    Examples
    --------
    >>> number("39"), number("2,5", decimal=","), number("n/a"), number("inf")
    (39, 2.5, None, None)
    >>> number("1.234,5", decimal=",", thousands="."), number("12.34", decimal=",", thousands=".")
    (1234.5, None)
    """
    if thousands and thousands in written:
        if not _in_thousands(written, decimal, thousands):
            return None
        written = written.replace(thousands, "")
    # 1.234 with a decimal comma is one thousand or a slip; 1_000 is a number to Python alone
    if (decimal != "." and "." in written) or "_" in written:
        return None
    plain = written.replace(decimal, ".")
    try:
        value = int(plain) if plain.lstrip("+-").isdecimal() else _whole_or_float(float(plain))
    except (ValueError, OverflowError):
        return None
    return value if isinstance(value, int) or math.isfinite(value) else None


def _in_thousands(written: str, decimal: str, thousands: str) -> bool:
    """Return whether the marks between thousands stand where they should: before every three digits."""
    first, *groups = written.lstrip("+-").partition(decimal)[0].split(thousands)
    return 1 <= len(first) <= 3 and first.isdecimal() and all(len(g) == 3 and g.isdecimal() for g in groups)


def _whole_or_float(value: float) -> int | float:
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
