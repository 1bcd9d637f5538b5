"""Global recoding by cuts: one partition of each attribute's ordered domain for all records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.registry.declarations import AttributeName, Recodes, Share
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.released_column import block_cells, exact_node
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.sanitizers.base import check_feasible, suppress_failing


@register
@dataclass(frozen=True)
class Cut:
    """Merge neighbours in each attribute's ordered domain, and suppress records that are still too distinct.

    A bit string says for each attribute where its domain is cut. It has one bit between any two neighbours,
    1 for a cut: ``"0001000"`` divides eight values into two blocks.

    Parameters
    ----------
    cuts
        The bit string of each quasi-identifier; the others stay exact.
    model
        What must hold. Records in classes where it fails are suppressed.
    suppression
        The largest share of the records that may be suppressed.
    free
        Categorical attributes with a hierarchy that may be cut anywhere; in the others every block must be
        a node of the hierarchy.

    References
    ----------
    V. Iyengar, "Transforming data to satisfy privacy constraints", 2002; R. Dewri et al., 2011,
    section 6.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> table, schema = datasets.hospital()
    >>> how = Cut({"zip": "000100", "age": "0000000", "sex": "0"}, KAnonymity(5))
    >>> sanitize(table, schema, how).classes.sizes
    array([6, 6])
    """

    cuts: Mapping[str, str] = field(default_factory=dict)
    model: PrivacyModel = KAnonymity(5)
    suppression: Share = 0.0
    free: tuple[AttributeName, ...] = ()

    recodes: ClassVar[Recodes] = "values"
    ignores_sensitive: ClassVar[bool] = True
    does: ClassVar[str] = (
        "The ordered values of every attribute are cut into ranges, the same for all records."
    )

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release every quasi-identifier as its block, without the records that fail."""
        names = schema.require("quasi-identifying", "cut")
        for name in (*self.cuts, *self.free):
            if name not in names:
                hint = suggestion(name, names) or f"; they are {', '.join(names)}"
                raise ParameterError(f"no quasi-identifier {name!r}{hint}")
        check_feasible(table, schema, self.model, suppresses=self.suppression > 0)
        rows = np.arange(table.n_rows)
        cells = {
            name: block_cells(table[name], schema.hierarchy(name), self._blocks(table, schema, name), rows)
            for name in self.cuts
        }
        return suppress_failing(released(table, schema, cells), self.model, self.suppression)

    def _blocks(self, table: Table, schema: Schema, name: str) -> Integers:
        """Return the block of each value of an attribute."""
        bits, n_values = self.cuts[name], len(table[name].domain)
        if len(bits) != n_values - 1 or set(bits) - {"0", "1"}:
            raise ParameterError(
                f"cuts: {name!r} needs {n_values - 1} bits, 0 or 1, one between any two neighbours"
            )
        block_of = np.concatenate([[0], np.cumsum([bit == "1" for bit in bits], dtype=np.int64)])
        has_nodes = schema.hierarchy(name).height > 1
        if has_nodes and not table[name].kind.is_ordered and name not in self.free:
            _check_nodes(schema, name, block_of)
        return block_of


def _check_nodes(schema: Schema, name: str, block_of: Integers) -> None:
    ends = np.flatnonzero(np.diff(block_of, append=block_of[-1] + 1))
    starts = np.concatenate([[0], ends[:-1] + 1])
    hierarchy = schema.hierarchy(name)
    torn = sum(
        exact_node(hierarchy, int(low), int(high)) is None for low, high in zip(starts, ends, strict=True)
    )
    if torn:
        raise ParameterError(
            f"cuts: {torn} block(s) of {name!r} are not nodes of its hierarchy; cut along the hierarchy or "
            "name the attribute in free"
        )
