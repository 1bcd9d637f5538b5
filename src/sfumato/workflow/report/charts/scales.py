"""Map the values of an axis to fractions of its length: linear, logarithmic or by roots; and choose ticks.

Ticks and ends must be the same on every machine, but logarithms and powers may differ in their last digit. So
exponents are read from decimal notation, ticks come from whole numbers, and the ends of an axis are rounded.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

_STEPS = (1, 2, 5, 10)
_SLACK = 1e-9
"""What a tick may lie beyond the end of an axis, in steps: 0.3 / 0.1 is a little less than 3."""
_EQUAL = 1e-9
"""Values that differ by no more of themselves are drawn at one place."""
_STRIP = 0.1
_CROWD = 0.4
"""Values crowd where a strip of the axis holds a larger share of them."""
_FEWEST = 5
"""Fewer values are no crowd."""


@dataclass(frozen=True)
class Scale:
    """The range of an axis, from low to high.

    Parameters
    ----------
    low, high
        Its ends.
    log
        Whether equal ratios have equal lengths.
    root
        1, 2 or 4. With 2, the distance from the origin is drawn as its square root, which magnifies what is
        near the origin. Square roots are rounded correctly everywhere, so 4 is the root of a root.
    origin
        The value that roots magnify.

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
    root: int = 1
    origin: float = 0.0

    @property
    def kind(self) -> str:
        """The name of the scale in the labels of an axis; empty if it is linear."""
        return "log" if self.log else {2: "square-root", 4: "fourth-root"}.get(self.root, "")

    @classmethod
    def around(cls, values: Iterable[float], *, log: bool = False, margin: float = 0.05) -> Scale:
        """Return a scale that contains all values, with ``margin`` as a share of their span on each side."""
        every = [*values]
        low, high = min(every), max(every)
        if high - low <= _EQUAL * max(abs(low), abs(high)):
            low, high = (low - abs(low) / 2, high + abs(high) / 2) if low else (0.0, 1.0)
        return cls(low, high, log).part(-margin, 1 + margin)

    def spread(self, values: Sequence[float]) -> Scale:
        """Return a scale on which these values crowd less, if they crowd near one end of this linear one."""
        if len(values) < _FEWEST or self.crowding(values) <= _CROWD:
            return self
        tried = [Scale(self.low, self.high, root=root, origin=end) for root in (2, 4) for end in self.ends]
        enough = [scale for scale in tried if scale.crowding(values) <= _CROWD]
        return enough[0] if enough else min([self, *tried], key=lambda scale: scale.crowding(values))

    @property
    def ends(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high

    def crowding(self, values: Sequence[float]) -> float:
        """Return the largest share of the values that any tenth of the axis holds."""
        places = sorted(map(self.fraction, values))
        crowds = (bisect_right(places, start + _STRIP) - number for number, start in enumerate(places))
        return max(crowds, default=0) / max(len(places), 1)

    def fraction(self, value: float) -> float:
        """Return the position of a value as a fraction of the axis."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        low, high = map(self._rooted, self.ends)
        return (self._rooted(value) - low) / (high - low)

    def _rooted(self, value: float) -> float:
        if self.root == 1:
            return value
        distance = math.sqrt(abs(value - self.origin))
        return math.copysign(math.sqrt(distance) if self.root == 4 else distance, value - self.origin)

    def at(self, fraction: float) -> float:
        """Return the value at a fraction of the axis."""
        if self.log:
            return float(self.low * (self.high / self.low) ** fraction)
        low, high = map(self._rooted, self.ends)
        place = low + fraction * (high - low)
        if self.root == 1:
            return place
        return self.origin + math.copysign(place * place if self.root == 2 else (place * place) ** 2, place)

    def part(self, start: float, end: float) -> Scale:
        """Return the scale between two fractions of the axis, its ends rounded to a few digits."""
        low, high = self.at(start), self.at(end)
        if self.kind:
            return self.between(float(f"{low:.10g}"), float(f"{high:.10g}"))
        digits = 4 - _exponent(high - low)
        return Scale(round(low, digits), round(high, digits))

    def between(self, low: float, high: float) -> Scale:
        """Return the same scale with other ends."""
        return replace(self, low=low, high=high)

    def contains(self, value: float) -> bool:
        """Return whether a value is on the axis."""
        return self.low <= value <= self.high

    def ticks(self, most: int, *, whole: bool = False) -> list[float]:
        """Return at most ``most`` round values.

        They are multiples of 1, 2 or 5 times a power of ten; on a logarithmic axis, these numbers
        themselves or only powers of ten; with roots, each is rounded as far as its surroundings allow.
        """
        if self.root > 1:
            return self._uneven_ticks(most, whole=whole)
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

    def _uneven_ticks(self, most: int, *, whole: bool) -> list[float]:
        origin = float(f"{self.origin:.1g}")
        has_origin = origin == self.origin and self.contains(origin)
        found = [origin] if has_origin else []
        for number in range(most):
            low, high = (self.at((number + side) / most) for side in (0.0, 1.0))
            if has_origin and low <= origin <= high:
                continue
            for value in Scale(low, high)._even_ticks(2, whole=whole)[-1:]:
                gaps = [abs(self.fraction(value) - self.fraction(other)) for other in found]
                if self.contains(value) and min(gaps, default=1.0) >= 0.6 / most:
                    found.append(value)
        return sorted(found)

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
