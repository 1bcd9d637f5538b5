"""What everyone may know of the values of an attribute without its records."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sfumato.data.kinds import Kind, Value
from sfumato.runtime.errors import SchemaError

MOST_LISTED = 1_000
"""Of more numbers or intervals than this not every one is counted: nearly all counts would be noise."""


@dataclass(frozen=True)
class PublicValues:
    """What everyone may know of the values of an attribute.

    Parameters
    ----------
    whole
        Whether all its numbers are whole; ``None`` says nothing.
    bounds
        The smallest and the largest number. A number beyond them counts as the nearer one.
    domain
        Values that may occur. Any other value is released only if enough people have it.
    """

    whole: bool | None = None
    bounds: tuple[float, float] | None = None
    domain: tuple[str | float, ...] = ()

    def __post_init__(self) -> None:
        if self.bounds is not None:
            low, high = self.bounds
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise SchemaError(
                    "public: bounds must be two numbers, the smaller one first, for example [0, 120]"
                )
        if len(set(self.domain)) < len(self.domain):
            raise SchemaError("public: a value of the domain is listed twice; list each once")

    def values(self, kind: Kind) -> tuple[Value, ...]:
        """Return the declared values: those of the domain, or all whole numbers within the bounds."""
        if self.domain:
            return tuple(value if kind.is_number else kind.read(str(value)) for value in self.domain)
        if self.bounds is None or not self.whole or self.bounds[1] - self.bounds[0] > MOST_LISTED:
            return ()
        return tuple(range(math.ceil(self.bounds[0]), math.floor(self.bounds[1]) + 1))


NOTHING_PUBLIC = PublicValues()
