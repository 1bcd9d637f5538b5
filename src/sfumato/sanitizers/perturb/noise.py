"""Laplace noise: add random noise to numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table, text
from sfumato.registry.declarations import Above, AtMost, AttributeName, ReleaseType
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Floats, Integers
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.sanitizers.base import PrivacyBudget
from sfumato.sanitizers.opendp import opendp

AddNoise = Callable[[Floats, float], Floats]
"""A source of noise: returns numbers with noise of a scale."""


@register
@dataclass(frozen=True)
class Laplace:
    """Add noise from the Laplace distribution to numbers: Lap(0, range / epsilon) for each value.

    OpenDP draws the noise from a cryptographic source, never from the seed, so two runs differ. Each noisy
    value by itself is epsilon-differentially private: for any two true values within the range, the
    probabilities of a noisy value differ at most by the factor e^epsilon. Over several attributes of a person
    the epsilons add up. Attributes without noise, and membership in the table, are not protected at all.

    Parameters
    ----------
    epsilon
        The privacy parameter of each noisy value: smaller is noisier.
    attributes
        The attributes to blur; by default all numeric quasi-identifiers.
    ranges
        The difference between the largest and the smallest possible value, by attribute; by default that of
        the data, rounded up to 1, 2 or 5 with zeros, so that the amount of noise reveals little about the
        oldest or the richest person. Values that exceed the smallest one of the data by more than the range
        are clamped before noise is added.
    rounded
        Whether noise on whole numbers is rounded to whole numbers (this costs no privacy).

    References
    ----------
    C. Dwork et al., "Calibrating noise to sensitivity in private data analysis", 2006; M. Sramka et
    al., "A practice-oriented framework for measuring privacy and utility in data sanitization
    systems", 2010, section 3.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), Laplace(0.5, ("age",)))
    >>> release.cells["age"].sets is None, release.n_records
    (True, 12)
    """

    epsilon: PrivacyBudget = 1.0
    attributes: tuple[AttributeName, ...] = ()
    ranges: Mapping[str, Annotated[float, Above(0), AtMost(1e15)]] = field(default_factory=dict)
    rounded: bool = True

    release_type: ClassVar[ReleaseType] = "perturbed"
    repeatable: ClassVar[bool] = False
    plain: ClassVar[str] = "numbers with random noise"
    does: ClassVar[str] = "Random noise is added to numbers."
    times_mondrian: ClassVar[float] = 0.3

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release the numeric attributes with noise, every record its own."""
        names = self.blurred_names(table, schema)
        return self.with_noise(table, schema, names, _add_opendp_noise, self._promise(names))

    def with_noise(
        self, table: Table, schema: Schema, names: tuple[str, ...], add_noise: AddNoise, note: str
    ) -> LinkedRelease:
        """Release these attributes with noise from a source."""
        rows = np.repeat(np.arange(table.n_rows), table.weights)
        cells = {name: self._blurred(name, table[name], rows, add_noise) for name in names}
        ones = np.ones(len(rows), dtype=np.int64)
        return released(table, schema, cells, rows, ones, (note,), release_type=self.release_type)

    def blurred_names(self, table: Table, schema: Schema) -> tuple[str, ...]:
        """Return the attributes that are blurred."""
        numeric = tuple(name for name in schema.quasi_identifiers if table[name].kind.is_number)
        for name in (*self.attributes, *self.ranges):
            if name not in numeric:
                hint = suggestion(name, numeric) or f"; there are {', '.join(numeric) or 'none'}"
                raise ParameterError(f"no numeric quasi-identifier {name!r}{hint}")
        if not numeric:
            raise ParameterError(
                "laplace needs a numeric quasi-identifier; give one attribute kind = 'numeric'"
            )
        return tuple(dict.fromkeys(self.attributes)) or numeric

    def _blurred(self, name: str, column: Column, rows: Integers, add_noise: AddNoise) -> Cells:
        numbers = column.ordered_numbers
        present = numbers[~np.isnan(numbers)]
        if not len(present):
            raise ParameterError(f"{name!r} has no values; leave it out")
        width = self.ranges.get(name) or _rounded_up(float(present.max() - present.min()))
        if not width > 0:
            raise ParameterError(
                f"{name!r} has one value only, so its range is 0; give a range or leave it out"
            )
        exact = numbers[column.codes[rows]]
        is_present = ~np.isnan(exact)
        noisy = exact.copy()
        noisy[is_present] = add_noise(
            np.clip(exact[is_present], present.min(), present.min() + width), width / self.epsilon
        )
        return number_cells(np.rint(noisy) if self.rounded and column.is_whole else noisy)

    def _promise(self, names: tuple[str, ...]) -> str:
        total = (
            f"; all {len(names)} of a person together {self.epsilon * len(names):g}" if len(names) > 1 else ""
        )
        from_data = [name for name in names if name not in self.ranges]
        given_away = (
            f" The range of {', '.join(from_data)} is that of the data, rounded up, and is given away."
            if from_data
            else ""
        )
        return (
            f"Each value of {', '.join(names)} is {self.epsilon:g}-differentially private by itself{total}. "
            "Nothing is promised for the other attributes, nor for whether a person is in the table."
            f"{given_away}"
        )


def _rounded_up(width: float) -> float:
    """Return the next number of the form 1, 2 or 5 followed by zeros.

    Examples
    --------
    >>> [_rounded_up(width) for width in (73, 100, 0.3, 0)]
    [100.0, 100.0, 0.5, 0.0]
    """
    if width <= 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(width))
    return next(step * unit for step in (1, 2, 5, 10) if step * unit >= width * (1 - 1e-12))


def _add_opendp_noise(values: Floats, scale: float) -> Floats:
    dp = opendp()
    domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
    add_noise = dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=scale)
    return np.array(add_noise(values.tolist()), dtype=np.float64)


def number_cells(noisy: Floats) -> Cells:
    """Turn numbers into released single values; NaN stays a missing value."""
    values, codes = np.unique(noisy, return_inverse=True)
    domain = tuple(
        None if np.isnan(value) else int(value) if value.is_integer() else value for value in values.tolist()
    )
    return Cells(codes.astype(np.int32), tuple(text(value) for value in domain), domain)
