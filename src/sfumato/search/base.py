"""What every search is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np

from sfumato.recipe import Recipe
from sfumato.schema import Schema
from sfumato.table import Table


@runtime_checkable
class Search(Protocol):
    """A frozen dataclass that proposes recipes for a bound table."""

    def propose(self, table: Table, schema: Schema, rng: np.random.Generator) -> Iterable[Recipe]:
        """Return the recipes to make and measure."""
