"""Print figures that no reader can compute as bands.

A figure of the original that is printed in full lets a reader test which original it fits. A reader who
lacked one record found its sensitive value, because only one value gives these digits. So a published report
prints figures of the published cells exactly, and of the few others a band whose ends differ by a factor of
two. The position of the bands is drawn for each project and measure and kept secret, so all originals whose
figure is in the band fit it equally well, and two releases of one project share their bands.
"""

from __future__ import annotations

import hashlib
import hmac
import math
from dataclasses import dataclass, field

from sfumato.registry import methods
from sfumato.results import formatting
from sfumato.results.measurement import Measurement, json_value
from sfumato.verification.documents import Band, numeral


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
        """Return the band that contains a value of a measure; zero and infinity have bands of their own."""
        if value == 0 or math.isinf(value):
            return value, value
        # where the bands of this measure begin between two powers of two, from 0 to 1
        digest = hmac.new(self.secret, f"band {label} {attribute}".encode(), hashlib.sha256).digest()
        place = int.from_bytes(digest[:7]) / 2**56
        low = 2.0 ** (math.floor(math.log2(abs(value)) - place) + place)
        return (low, 2 * low) if value > 0 else (-2 * low, -low)

    def of(self, measurement: Measurement) -> Band | None:
        """Return the band of a measurement; a promised figure is independent of the original and is exact."""
        value = measurement.value
        if value is None:
            return None
        if getattr(methods.find("measure", measurement.measure), "is_promised", False):
            return Band(low=json_value(value), high=json_value(value))
        low, high = self.around(measurement.label, measurement.attribute, value)
        if formatting.measure_words(measurement.measure).unit == "share" and value <= 1:
            high = min(high, 1.0)
        return Band(low=json_value(low), high=json_value(high))


def band_words(measure: str, band: Band | None) -> str:
    """Print the band of a figure in the unit of its measure.

    Examples
    --------
    >>> band_words("general-loss", Band(low=0.15, high=0.3)), band_words("general-loss", None)
    ('between 15% and 30%', 'not applicable')
    """
    if band is None:
        return "not applicable"
    low, high = (formatting.value_of(measure, numeral(end)) for end in (band.low, band.high))
    return low if band.low == band.high else f"between {low} and {high}"
