"""Bands: how a published report tells a figure that no reader can compute.

A figure of the original that is printed with its digits lets a reader try which original it fits: with one
record left out, the one sensitive value was found that gives these digits. So a published report prints
figures of the published cells, and of the few others a band whose ends differ by a factor of two. The place
of the bands is drawn for each project and measure and kept secret, so that all originals whose figure lies in
the band fit it equally well, and two releases of one project share their bands.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from dataclasses import dataclass, field

from sfumato import formatting, registry
from sfumato.measures.base import Measurement


@dataclass(frozen=True)
class Bands:
    """The bands of one project.

    Parameters
    ----------
    secret
        What their place is drawn from; the owner's store keeps it.

    Examples
    --------
    >>> low, high = Bands(b"secret").around("utility-loss", None, 0.0105)
    >>> low <= 0.0105 < high, round(high / low, 9)
    (True, 2.0)
    """

    secret: bytes = field(repr=False)

    def around(self, label: str, attribute: str | None, value: float) -> tuple[float, float]:
        """Return the band that a value of a measure lies in; zero and infinity are bands of their own."""
        if value == 0 or math.isinf(value):
            return value, value
        place = self._place(label, attribute)
        low = 2.0 ** (math.floor(math.log2(abs(value)) - place) + place)
        return (low, 2 * low) if value > 0 else (-2 * low, -low)

    def told(self, measurement: Measurement) -> str:
        """Print the band that a measurement lies in; what a method promises is no figure of the original."""
        if measurement.value is None:
            return "not applicable"
        if getattr(registry.find("measure", measurement.measure), "is_promised", False):
            return formatting.value_of(measurement.measure, measurement.value)
        low, high = self.around(measurement.label, measurement.attribute, measurement.value)
        if formatting.measure_words(measurement.measure).unit == "share" and measurement.value <= 1:
            high = min(high, 1.0)
        ends = [formatting.value_of(measurement.measure, end) for end in (low, high)]
        return ends[0] if low == high else f"between {ends[0]} and {ends[1]}"

    def _place(self, label: str, attribute: str | None) -> float:
        """Return where between two powers of two the bands of a measure begin, from 0 to 1."""
        drawn = hmac.new(self.secret, f"band {label} {attribute}".encode(), hashlib.sha256).digest()
        return int.from_bytes(drawn[:7]) / 2**56
