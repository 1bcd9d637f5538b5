"""Parameters: what a number that somebody asks for may be.

A number that is far too large does no harm where it is only compared. Where an array has that length, or a
loop that many rounds, it fills the memory or never ends. So every method says how far its parameters may go.
"""

from __future__ import annotations

from numbers import Real

from sfumato.errors import ParameterError

MOST_RECORDS = 10**12
"""More records than any table has: the largest size of a class or group that can be asked for."""
MOST_PEOPLE = 10**10
"""More people than live: the largest population."""
MOST = 1e300
"""The largest number of all: what is computed with a larger one is infinite."""
MOST_SEED = 2**128 - 1
"""The largest seed, as the system draws them."""


def check_number(
    name: str,
    value: float,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float = MOST,
    whole: bool = False,
) -> None:
    """Raise `ParameterError` when a parameter is not a number that it may be.

    Parameters
    ----------
    name
        What the parameter is called.
    value
        What was given.
    least, above
        The smallest number, or the one that it must be above.
    most
        The largest number; infinity is never allowed.
    whole
        Whether it must be a whole number.

    Examples
    --------
    >>> check_number("k", 5, least=1, whole=True)
    >>> check_number("k", 1e300, least=1, most=10**12, whole=True)
    Traceback (most recent call last):
    sfumato.errors.ParameterError: k must be at most 1,000,000,000,000, not 1e+300
    """
    if not isinstance(value, Real):
        raise ParameterError(f"{name} must be a number, not {shown(value)}")
    if least is not None and not value >= least:
        raise ParameterError(f"{name} must be at least {shown(least)}, not {shown(value)}")
    if above is not None and not value > above:
        raise ParameterError(f"{name} must be above {shown(above)}, not {shown(value)}")
    if not value <= most:
        raise ParameterError(f"{name} must be at most {shown(most)}, not {shown(value)}")
    if whole and value != int(value):
        raise ParameterError(f"{name} must be a whole number, not {shown(value)}")


def shown(value: object) -> str:
    """Print what was given for a number, in few digits.

    Examples
    --------
    >>> shown(2.50), shown(10**30), shown("5")
    ('2.5', '1e+30', 'str')
    """
    is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, (int, float)) and is_whole and abs(value) < 10**15:
        return f"{int(value):,}"
    try:
        return f"{value:g}" if isinstance(value, Real) else type(value).__name__
    except OverflowError:
        return "a number of more than 300 digits"
