"""Success rates of attacks, and how far they exceed a baseline that succeeds without the release."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sfumato.measures.utility.percentiles import NORMAL_95


@dataclass(frozen=True)
class Rate:
    """A share of successful attempts with its 95% confidence interval.

    Parameters
    ----------
    value
        The share.
    middle, reach
        The middle of Wilson's score interval, and its half-width.
    """

    value: float
    middle: float
    reach: float


def rate(n_right: float, n_tries: int) -> Rate:
    """Return a success rate; without any attempt its interval covers everything.

    References
    ----------
    E. B. Wilson, "Probable inference, the law of succession, and statistical inference", 1927.

    Examples
    --------
    >>> found = rate(50, 100)
    >>> found.value, found.middle, round(found.reach, 4)
    (0.5, 0.5, 0.0962)
    """
    square = NORMAL_95**2
    total = n_tries + square
    share = n_right / n_tries if n_tries else 0.0
    reach = NORMAL_95 / total * math.sqrt(n_right * (1 - share) + square / 4)
    return Rate(share, (n_right + square / 2) / total, reach)


@dataclass(frozen=True)
class Risk:
    """The share of the possible gain that an attack achieves beyond a baseline, with 95% confidence."""

    value: float
    low: float
    high: float


def risk(attacked: Rate, anyway: Rate) -> Risk:
    """Return (r - c) / (1 - c), at least 0, with an interval that combines those of both rates.

    If the baseline always succeeds, the risk is 0.

    References
    ----------
    M. Giomi et al., "A unified framework for quantifying privacy risk in synthetic data", 2023, equation 3.

    Examples
    --------
    >>> round(risk(rate(60, 100), rate(20, 100)).value, 6)
    0.5
    >>> risk(rate(100, 100), rate(100, 100)).value
    0.0
    """
    gained = attacked.value - anyway.value
    value = gained / (1 - anyway.value) if gained > 0 else 0.0
    room = 1 - anyway.middle
    middle = (attacked.middle - anyway.middle) / room
    reach = math.hypot(attacked.reach / room, anyway.reach * (attacked.middle - 1) / room**2)
    low, high = (min(max(end, 0.0), 1.0) for end in (middle - reach, middle + reach))
    return Risk(value, min(low, value), max(high, value))


def advantage(inside: Rate, outside: Rate) -> Risk:
    """Return how much more often insiders than outsiders are named: r - c.

    It equals (a - 1/2) / (1 - 1/2) for the accuracy a of telling insiders from equally many outsiders.

    Examples
    --------
    >>> round(advantage(rate(100, 100), rate(90, 100)).value, 6)
    0.1
    """
    value = max(inside.value - outside.value, 0.0)
    middle, reach = inside.middle - outside.middle, math.hypot(inside.reach, outside.reach)
    # neither end is above 1: no rate's interval is
    low, high = (max(end, 0.0) for end in (middle - reach, middle + reach))
    return Risk(value, min(low, value), max(high, value))
