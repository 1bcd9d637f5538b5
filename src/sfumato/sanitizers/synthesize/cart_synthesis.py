"""CART synthesis: draw synthetic records attribute by attribute from decision trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from sfumato.data.schema import Schema
from sfumato.data.table import Column, Table
from sfumato.registry.declarations import AtLeast, AtMost, AttributeName, ReleaseType
from sfumato.registry.methods import check_bounds, register
from sfumato.results.linked_release import LinkedRelease, synthetic_release
from sfumato.results.released_column import Cells, exact_cells
from sfumato.runtime.arrays import Floats, Integers
from sfumato.runtime.errors import ParameterError, suggestion
from sfumato.sanitizers.base import MOST_RECORDS, MadeRecords
from sfumato.sanitizers.perturb.noise import number_cells

_MOST_CLASSES = 64
"""Attributes with more values than this are divided in the order of their values, as numbers are."""


@register
@dataclass(frozen=True)
class CartSynthesis:
    """Synthesize records attribute by attribute, drawing each value from a tree on the previous attributes.

    The first attribute is drawn from its distribution. For every other one, a tree divides the original
    records by the attributes before it; a synthetic record falls into a leaf and takes the value of an
    original record there, so values and dependences stay near those of the original. There is no formal
    guarantee, and a synthetic record may equal a real one. Use the attack measures to see how much it
    reveals.

    Parameters
    ----------
    order
        The attributes to draw first, in this order; the others follow in the order of the schema.
    min_leaf
        The smallest number of original records in a leaf: more reveals less and preserves less.
    smoothing
        Whether numbers are drawn near those of original records instead of from them, so that unusual
        numbers are not copied exactly.
    n_records
        How many records to draw; 0 draws as many as the original has.

    References
    ----------
    J. P. Reiter, "Using CART to generate partially synthetic public use microdata", 2005; B. Nowok, G. M.
    Raab, C. Dibben, "synthpop: bespoke creation of synthetic data in R", 2016.

    Examples
    --------
    >>> from sfumato import datasets, sanitize
    >>> release = sanitize(*datasets.hospital(), CartSynthesis(min_leaf=3), seed=1)
    >>> release.type, release.n_records
    ('synthetic', 12)
    """

    order: tuple[AttributeName, ...] = ()
    min_leaf: Annotated[int, AtLeast(1), AtMost(MOST_RECORDS)] = 5
    smoothing: bool = False
    n_records: MadeRecords = 0

    release_type: ClassVar[ReleaseType] = "synthetic"
    needs_extra: ClassVar[str | None] = "learning"
    plain: ClassVar[str] = "synthetic records without a guarantee"
    does: ClassVar[str] = (
        "Synthetic records are drawn from decision trees; no formal guarantee comes with them."
    )
    times_mondrian: ClassVar[float] = 10.0

    def __post_init__(self) -> None:
        check_bounds(self)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> LinkedRelease:
        """Release synthetic records."""
        for name in self.order:
            if name not in schema.released:
                raise ParameterError(
                    f"order: no released attribute {name!r}{suggestion(name, schema.released)}"
                )
        names = tuple(dict.fromkeys((*self.order, *schema.released)))
        n_records = self.n_records or table.n_records
        donors = {
            names[0]: draw_rows(table.weights, np.zeros(table.n_rows, int), np.zeros(n_records, int), rng)
        }
        for place, name in enumerate(names[1:], start=1):
            before = names[:place]
            original = np.stack([table[other].codes for other in before], axis=1)
            synthetic = np.stack([table[other].codes[donors[other]] for other in before], axis=1)
            leaf_of, leaf_of_synthetic = self._leaves(table, name, original, synthetic, rng)
            donors[name] = draw_rows(table.weights, leaf_of, leaf_of_synthetic, rng)
        cells = {name: self._cells(table[name], donors[name], schema, name, rng) for name in schema.released}
        note = (
            "The records are synthetic, drawn from trees over the original. No formal guarantee comes with "
            "them: one may be equal to a person's, and rare values are those of people."
        )
        return synthetic_release(table, schema, cells, (note,))

    def _leaves(
        self, table: Table, name: str, original: Integers, synthetic: Integers, rng: np.random.Generator
    ) -> tuple[Integers, Integers]:
        """Return the leaf of each original row and of each synthetic record in a tree for one attribute."""
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

        column = table[name]
        is_ordered = column.kind.is_ordered or len(column.domain) > _MOST_CLASSES
        grower: Any = DecisionTreeRegressor if is_ordered else DecisionTreeClassifier
        tree = grower(
            min_weight_fraction_leaf=min(self.min_leaf / table.n_records, 0.5),
            random_state=int(rng.integers(2**31)),
        )
        wanted = _numbers(column)[column.codes] if is_ordered else column.codes
        tree.fit(original.astype(np.float32), wanted, sample_weight=table.weights)
        return tree.apply(original.astype(np.float32)), tree.apply(synthetic.astype(np.float32))

    def _cells(
        self, column: Column, donors: Integers, schema: Schema, name: str, rng: np.random.Generator
    ) -> Cells:
        if not self.smoothing or not column.kind.is_number or schema[name].lowest_level:
            return exact_cells(column, donors)
        return number_cells(smoothed(column, donors, rng))


def draw_rows(weights: Integers, leaf_of: Integers, wanted: Integers, rng: np.random.Generator) -> Integers:
    """Draw for each wanted leaf one of its rows, with probability proportional to its records."""
    order = np.argsort(leaf_of, kind="stable")
    ends = np.cumsum(weights[order])
    n_leaves = int(leaf_of.max()) + 1
    last = np.searchsorted(leaf_of[order], np.arange(n_leaves), side="right")
    end_of = np.append(0, ends)[last]
    start_of = np.append(0, end_of)[:-1]
    tickets = start_of[wanted] + np.floor(rng.random(len(wanted)) * (end_of - start_of)[wanted])
    return order[np.searchsorted(ends, tickets, side="right")]


def _numbers(column: Column) -> Floats:
    """Return the values of an ordered attribute as numbers; missing ones are beyond the largest."""
    numbers = column.numbers
    if numbers is None:
        return np.arange(len(column.domain), dtype=np.float64)
    present = numbers[~np.isnan(numbers)]
    beyond = 2 * present.max() - present.min() + 1 if len(present) else 0.0
    return np.where(np.isnan(numbers), beyond, numbers)


def smoothed(column: Column, donors: Integers, rng: np.random.Generator) -> Floats:
    """Return numbers near those of the donors, by a normal kernel with the width of Silverman's rule.

    They stay within the smallest and the largest number of the original; whole numbers stay whole.
    """
    numbers = column.ordered_numbers
    drawn = numbers[column.codes[donors]]
    present = drawn[~np.isnan(drawn)]
    if not len(present):
        return drawn
    low, high = np.quantile(present, [0.25, 0.75])
    spread = min(float(present.std()), float(high - low) / 1.34) or float(present.std())
    moved = drawn + rng.normal(0, 0.9 * spread * len(present) ** -0.2, len(drawn))
    within = np.clip(moved, np.nanmin(numbers), np.nanmax(numbers))
    return np.rint(within) if column.is_whole else within
