"""Map the values of an axis to fractions of its length, linearly or logarithmically, and choose ticks.

Ticks and ends must be the same on every machine, but logarithms and powers may differ in their last digit. So
exponents are read from decimal notation, ticks come from whole numbers, and the ends of an axis are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

_STEPS = (1, 2, 5, 10)
_SLACK = 1e-9
"""What a tick may lie beyond the end of an axis, in steps: 0.3 / 0.1 is a little less than 3."""
_EQUAL = 1e-9
"""Values that differ by no more of themselves are drawn at one place."""


@dataclass(frozen=True)
class Scale:
    """The range of an axis, from low to high.

    Examples
    --------
    >>> Scale(0, 50).fraction(10), Scale(1, 10_000, log=True).fraction(100)
    (0.2, 0.5)
    >>> Scale(0, 1.04).ticks(6), Scale(3, 2000, log=True).ticks(5)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [10.0, 100.0, 1000.0])
    """

    low: float
    high: float
    log: bool = False

    @classmethod
    def around(cls, values: Iterable[float], *, log: bool = False, margin: float = 0.05) -> Scale:
        """Return a scale that contains all values, with ``margin`` as a share of their span on each side."""
        every = [*values]
        low, high = min(every), max(every)
        if high - low <= _EQUAL * max(abs(low), abs(high)):
            low, high = (low - abs(low) / 2, high + abs(high) / 2) if low else (0.0, 1.0)
        return cls(low, high, log).part(-margin, 1 + margin)

    def fraction(self, value: float) -> float:
        """Return the position of a value as a fraction of the axis."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def at(self, fraction: float) -> float:
        """Return the value at a fraction of the axis."""
        if self.log:
            return float(self.low * (self.high / self.low) ** fraction)
        return self.low + fraction * (self.high - self.low)

    def part(self, start: float, end: float) -> Scale:
        """Return the scale between two fractions of the axis, its ends rounded to a few digits."""
        low, high = self.at(start), self.at(end)
        if self.log:
            return Scale(float(f"{low:.10g}"), float(f"{high:.10g}"), log=True)
        digits = 4 - _exponent(high - low)
        return Scale(round(low, digits), round(high, digits))

    def contains(self, value: float) -> bool:
        """Return whether a value is on the axis."""
        return self.low <= value <= self.high

    def ticks(self, most: int, *, whole: bool = False) -> list[float]:
        """Return at most ``most`` round values.

        They are multiples of 1, 2 or 5 times a power of ten; on a logarithmic axis, these numbers
        themselves or only powers of ten.
        """
        if self.log:
            powers = self._powers()
            finer = [value for value in self._multiples((1, 2, 5)) if self.contains(value)]
            thinned = powers[:: -(-len(powers) // most)] if powers else []
            found = finer if len(finer) <= most else thinned
            if len(found) > 1:
                return found
        return self._even_ticks(most, whole=whole)

    def small_ticks(self) -> list[float]:
        """Return the values between the powers of ten, which show that an axis is logarithmic."""
        if not self.log or self.high / self.low < 10 or len(self._powers()) > 12:
            return []
        return [value for value in self._multiples(range(2, 10)) if self.contains(value)]

    def _even_ticks(self, most: int, *, whole: bool) -> list[float]:
        exponent = _exponent((self.high - self.low) / most)
        if whole:
            exponent = max(exponent, 0)
        for step in _STEPS:
            width = _decimal(step, exponent)
            # a share of the axis, not of a step, which may be far wider than the axis
            slack = _SLACK * min((self.high - self.low) / width, 1)
            first, last = math.ceil(self.low / width - slack), math.floor(self.high / width + slack)
            if last - first < most:
                break
        return [_decimal(number * step, exponent) for number in range(first, last + 1)]

    def _powers(self) -> list[float]:
        return [value for value in self._multiples((1,)) if self.contains(value)]

    def _multiples(self, factors: Iterable[int]) -> list[float]:
        every = [*factors]
        decades = range(_exponent(self.low), _exponent(self.high) + 1)
        return [_decimal(factor, exponent) for exponent in decades for factor in every]


def _exponent(value: float) -> int:
    """Return the power of ten of a positive number's first digit."""
    return int(f"{value:e}".partition("e")[2])


def _decimal(number: int, exponent: int) -> float:
    """Return a whole number times a power of ten, rounded once."""
    return float(number * 10**exponent) if exponent >= 0 else number / 10**-exponent
