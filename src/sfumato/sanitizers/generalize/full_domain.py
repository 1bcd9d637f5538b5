"""Full-domain generalization: one hierarchy level per attribute, the same for every record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.registry.declarations import AtMost, Finer, Recodes, Share
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.released_column import level_cells
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.sanitizers.base import check_feasible, suppress_failing


@register
@dataclass(frozen=True)
class FullDomain:
    """Generalize every attribute to one level and suppress the records that are still too distinct.

    Parameters
    ----------
    levels
        The level of each quasi-identifier; the others stay as low as possible (level 0, or their lowest
        level).
    model
        What must hold. Records in classes where it fails are suppressed.
    suppression
        The largest share of the records that may be suppressed.

    References
    ----------
    P. Samarati, "Protecting respondents' identities in microdata release", 2001.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> from sfumato.models import KAnonymity
    >>> table, schema = datasets.hospital()
    >>> how = FullDomain({"zip": 2, "age": 2, "sex": 1}, KAnonymity(2), suppression=0.25)
    >>> sanitize(table, schema, how).n_suppressed <= 3
    True
    """

    levels: Mapping[str, Annotated[int, AtMost(1_000)]] = field(default_factory=dict)
    model: PrivacyModel = KAnonymity(5)
    suppression: Share = 0.0

    recodes: ClassVar[Recodes] = "values"
    finer: ClassVar[Finer] = "levels"
    ignores_sensitive: ClassVar[bool] = True
    does: ClassVar[str] = (
        "Every attribute is generalised to one level of its hierarchy, the same for all "
        "records; records that are still too distinct are left out."
    )
    times_mondrian: ClassVar[float] = 0.3

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release every quasi-identifier on its level, without the records that fail."""
        names = schema.require("quasi-identifying", "full-domain")
        for name, level in self.levels.items():
            if name not in names:
                hint = suggestion(name, names) or f"; they are {', '.join(names)}"
                raise ParameterError(f"levels: no quasi-identifier {name!r}{hint}")
            height = schema.hierarchy(name).height
            if not 0 <= level <= height:
                raise ParameterError(f"levels: {name!r} has levels 0 to {height}, not {level}")
        check_feasible(table, schema, self.model, suppresses=self.suppression > 0)
        rows = np.arange(table.n_rows)
        cells = {
            name: level_cells(table[name], schema.hierarchy(name), self.levels.get(name, 0), rows)
            for name in names
        }
        return suppress_failing(released(table, schema, cells), self.model, self.suppression)
