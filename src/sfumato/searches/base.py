"""What every search is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry.recipe import Recipe
from sfumato.results.policy import Policy


@runtime_checkable
class Search(Protocol):
    """A frozen dataclass that proposes recipes for a bound table.

    One that is done in seconds may declare ``is_quick = True``: it is then run before anything is made, and
    what it proposes is ordered together with all that is listed. One that takes long calls
    `sfumato.runtime.progress.check_stop` between its rounds, so that a budget can end it. One that tries
    methods whose records are changed or synthetic may name them as ``sanitizers``: what judges these is then
    measured by default.
    """

    def propose(self, table: Table, schema: Schema, rng: np.random.Generator) -> Iterable[Recipe]:
        """Return the recipes to make and measure."""


@runtime_checkable
class KnowsPolicy(Search, Protocol):
    """A search that tries, among others, what the policy of a project requires."""

    def within(self, policy: Policy) -> Search:
        """Return the same search with what the policy requires."""
