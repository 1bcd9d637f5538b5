"""Top-coding: merge all numbers from a bound on into one value, for example ages of 90 and over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sfumato.data.hierarchy import Hierarchy
from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table, text
from sfumato.registry.declarations import Recodes
from sfumato.registry.methods import register
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.released_column import Cells, ValueSets, merged_cells
from sfumato.runtime.errors import ParameterError, suggestion

_SHARE = 0.005
"""The largest share of the records that lies at a bound or above it, where none is given."""


@register
@dataclass(frozen=True)
class TopCoding:
    """Release numbers from a bound on as that bound and over: ages of 90 and more become ``>=90``.

    Smaller numbers are released unchanged. The HIPAA safe harbor rule for ages over 89 is
    ``bounds = { age = 90 }``.

    Parameters
    ----------
    bounds
        The bound of each attribute. By default every numeric quasi-identifier has one that no more than 0.5%
        of the records reach, as the United States Census Bureau chooses it.

    References
    ----------
    45 CFR 164.514(b)(2)(i)(C) (HIPAA); L. Willenborg, T. de Waal, "Elements of statistical disclosure
    control", 2001, section 1.4.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), TopCoding({"age": 60}))
    >>> release.cells["age"].labels[-1]
    '>=60'
    """

    bounds: Mapping[str, float] = field(default_factory=dict)

    recodes: ClassVar[Recodes] = "values"
    ignores_sensitive: ClassVar[bool] = True
    plain: ClassVar[str] = "extreme numbers cut off"
    does: ClassVar[str] = "Numbers from a bound on are released as one."
    times_mondrian: ClassVar[float] = 0.1

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release numbers below the bound unchanged and all others as one value."""
        numeric = tuple(name for name in schema.released if table[name].kind.is_number)
        for name in self.bounds:
            if name not in numeric:
                hint = suggestion(name, numeric) or f"; there are {', '.join(numeric) or 'none'}"
                raise ParameterError(f"bounds: no numeric attribute {name!r}{hint}")
        quasi = [name for name in numeric if name in schema.quasi_identifiers]
        bounds: Mapping[str, float | None] = self.bounds or {
            name: _usual_bound(table[name], table) for name in quasi
        }
        if not bounds:
            raise ParameterError("top-coding needs a numeric quasi-identifier; give one kind = 'numeric'")
        cells = {
            name: top_coded(table[name], schema.hierarchy(name), bound)
            for name, bound in bounds.items()
            if bound is not None
        }
        return released(table, schema, cells)


def _usual_bound(column: Column, table: Table) -> float | None:
    """Return the smallest number that no more than a small share of the records reach, if there is one."""
    counts = np.bincount(column.codes, weights=table.weights, minlength=len(column.domain))
    present = [place for place, value in enumerate(column.domain) if value is not None]
    reaching = np.cumsum(counts[present][::-1])[::-1]
    few = np.flatnonzero(reaching <= _SHARE * table.n_records)
    return float(column.domain[present[few[0]]]) if len(few) else None


def top_coded(column: Column, hierarchy: Hierarchy, bound: float) -> Cells:
    """Return the cells of an attribute whose numbers from a bound on become one value."""
    is_high = np.array([value is not None and float(value) >= bound for value in column.domain])
    labels = [f">={text(bound)}" if high else text(v) for v, high in zip(column.domain, is_high, strict=True)]
    n_high = sum(float(leaf) >= bound for leaf in hierarchy.leaf_numbers)
    sizes = np.where(is_high, max(n_high, 1), 1)
    every = np.arange(len(column.domain) + 1)
    sets = ValueSets(every, every[:-1], sizes, hierarchy.n_leaves)
    return merged_cells(column.codes, tuple(labels), column.domain, sets)
