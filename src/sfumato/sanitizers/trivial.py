"""The trivial methods at both ends of a frontier: publish unchanged, or suppress everything that matters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry.declarations import Recodes
from sfumato.registry.methods import register
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.released_column import suppressed_cells


@register
@dataclass(frozen=True)
class AsIs:
    """Remove the identifying attributes and nothing else: no utility is lost.

    Examples
    --------
    >>> AsIs()
    AsIs()
    """

    recodes: ClassVar[Recodes] = "values"
    ignores_sensitive: ClassVar[bool] = True
    plain: ClassVar[str] = "the table as it is"
    does: ClassVar[str] = "Identifying attributes are removed and nothing else."

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release every record unchanged."""
        return released(table, schema, {})


@register
@dataclass(frozen=True)
class SuppressQuasiIdentifiers:
    """Withhold all quasi-identifiers: the release says the same about everyone.

    References
    ----------
    J. Brickell, V. Shmatikov, "The cost of privacy", 2008 (trivial sanitization).

    Examples
    --------
    >>> SuppressQuasiIdentifiers()
    SuppressQuasiIdentifiers()
    """

    recodes: ClassVar[Recodes] = "values"
    ignores_sensitive: ClassVar[bool] = True
    plain: ClassVar[str] = "everything that others may know withheld"
    does: ClassVar[str] = "All quasi-identifiers are withheld."

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release ``*`` for every quasi-identifier."""
        return _suppressed(table, schema, schema.require("quasi-identifying", "suppress-quasi-identifiers"))


@register
@dataclass(frozen=True)
class SuppressSensitive:
    """Withhold all sensitive attributes.

    References
    ----------
    J. Brickell, V. Shmatikov, "The cost of privacy", 2008 (trivial sanitization).

    Examples
    --------
    >>> SuppressSensitive()
    SuppressSensitive()
    """

    recodes: ClassVar[Recodes] = "values"
    plain: ClassVar[str] = "sensitive values withheld"
    does: ClassVar[str] = "All sensitive attributes are withheld."

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release ``*`` for every sensitive attribute."""
        return _suppressed(table, schema, schema.require("sensitive", "suppress-sensitive"))


def _suppressed(table: Table, schema: Schema, names: tuple[str, ...]) -> LinkedRelease:
    rows = np.arange(table.n_rows)
    cells = {name: suppressed_cells(table[name], schema.hierarchy(name), rows) for name in names}
    return released(table, schema, cells)
