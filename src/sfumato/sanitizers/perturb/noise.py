"""Laplace noise: add random noise to numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.public_part import declared, proposed_values
from sfumato.data.public_values import PublicValues
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table, text
from sfumato.registry.declarations import AttributeName, ReleaseType
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.released_column import Cells
from sfumato.runtime.arrays import Floats, Integers
from sfumato.runtime.errors import ParameterError, SchemaError, suggestion
from sfumato.sanitizers.base import PrivacyBudget
from sfumato.sanitizers.opendp import opendp

AddNoise = Callable[[Floats, float], Floats]
"""A source of noise: returns numbers with noise of a scale."""


@register
@dataclass(frozen=True)
class Laplace:
    """Add noise from the Laplace distribution to numbers: Lap(0, range / epsilon) for each value.

    OpenDP draws the noise from a cryptographic source, never from the seed, so two runs differ. Each noisy
    value by itself is epsilon-differentially private: for any two true values, the probabilities of a noisy
    value differ at most by the factor e^epsilon. Over several attributes of a person the epsilons add up.
    Attributes without noise, and membership in the table, are not protected at all. The range is that of the
    bounds that the schema declares public, and values beyond them are clamped before noise is added. Without
    declared bounds the method refuses.

    Parameters
    ----------
    epsilon
        The privacy parameter of each noisy value: smaller is noisier.
    attributes
        The attributes to blur; by default all numeric quasi-identifiers.
    rounded
        Whether noise on numbers that are declared whole is rounded to whole numbers (this costs no privacy).

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
    rounded: bool = True

    release_type: ClassVar[ReleaseType] = "perturbed"
    needs_extra: ClassVar[str | None] = "dp"
    repeatable: ClassVar[bool] = False
    plain: ClassVar[str] = "numbers with random noise"
    does: ClassVar[str] = "Random noise is added to numbers."
    times_mondrian: ClassVar[float] = 0.3

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release the numeric attributes with noise, every record its own."""
        known = {name: _public_values(table, schema, name) for name in self.blurred_names(table, schema)}
        return self.with_noise(table, schema, known, _add_opendp_noise, self._promise(tuple(known)))

    def with_noise(
        self,
        table: Table,
        schema: Schema,
        known: Mapping[str, PublicValues],
        add_noise: AddNoise,
        note: str,
    ) -> LinkedRelease:
        """Release attributes with noise from a source; their bounds and wholeness are given."""
        rows = np.repeat(np.arange(table.n_rows), table.weights)
        cells = {name: self._blurred(table[name], rows, public, add_noise) for name, public in known.items()}
        ones = np.ones(len(rows), dtype=np.int64)
        return released(table, schema, cells, rows, ones, (note,), release_type=self.release_type)

    def blurred_names(self, table: Table, schema: Schema) -> tuple[str, ...]:
        """Return the attributes that are blurred."""
        numeric = tuple(name for name in schema.quasi_identifiers if table[name].kind.is_number)
        for name in self.attributes:
            if name not in numeric:
                hint = suggestion(name, numeric) or f"; there are {', '.join(numeric) or 'none'}"
                raise ParameterError(f"no numeric quasi-identifier {name!r}{hint}")
        if not numeric:
            raise ParameterError(
                "laplace needs a numeric quasi-identifier; give one attribute kind = 'numeric'"
            )
        return tuple(dict.fromkeys(self.attributes)) or numeric

    def _blurred(self, column: Column, rows: Integers, public: PublicValues, add_noise: AddNoise) -> Cells:
        assert public.bounds is not None
        low, high = public.bounds
        noisy = column.ordered_numbers[column.codes[rows]]
        is_present = ~np.isnan(noisy)
        noisy[is_present] = add_noise(np.clip(noisy[is_present], low, high), (high - low) / self.epsilon)
        return number_cells(np.rint(noisy) if self.rounded and public.whole else noisy)

    def _promise(self, names: tuple[str, ...]) -> str:
        total = (
            f"; all {len(names)} of a person together {self.epsilon * len(names):g}" if len(names) > 1 else ""
        )
        return (
            f"Each value of {', '.join(names)} is {self.epsilon:g}-differentially private by itself{total}. "
            "Nothing is promised for the other attributes, nor for whether a person is in the table. Bounds "
            "and wholeness are taken as known to everybody. Figures that compare the release with the "
            "original are not covered."
        )


def _public_values(table: Table, schema: Schema, name: str) -> PublicValues:
    """Return the declared wholeness and bounds of an attribute, or say what to declare."""
    public = declared(schema, name, table[name], "laplace").public
    if public.bounds is None:
        low, high = proposed_values(table[name]).bounds or (0, 1)
        whole = str(public.whole).lower()
        raise SchemaError(
            f"laplace takes nothing from the records for free, and 'bounds' of {name!r} are not declared; if "
            f"everyone may know them, write under [attributes.{name}]: public = {{ whole = {whole}, "
            f"bounds = [{low:g}, {high:g}] }}"
        )
    return public


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
