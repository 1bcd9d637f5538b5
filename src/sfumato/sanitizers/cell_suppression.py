"""Cell suppression: values stay exact, and only the cells that give a person away become ``*``."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from sfumato.arrays import Booleans, Codes, Floats, Integers
from sfumato.cells import Cells, ValueSets
from sfumato.classes import SensitiveCounts, count_classes
from sfumato.errors import Infeasible
from sfumato.hierarchy import ROOT, Hierarchy
from sfumato.kernels.grouping import first_row_of_group, number_rows, sum_by_group
from sfumato.models.anonymity import KAnonymity
from sfumato.models.base import PrivacyModel
from sfumato.registry import register
from sfumato.release import Release, failing_rows, released, without_rows
from sfumato.sanitizers.base import check_feasible, check_share, whole_table
from sfumato.schema import Schema
from sfumato.table import Column, Table, text

# Up to so many attributes every combination of them is tried, beyond that the most promising ones.
_MOST_ATTRIBUTES_IN_FULL = 9
_PROMISING = 32

_OPEN = -1
"""The pattern of a point that has no place yet."""


@register
@dataclass(frozen=True)
class CellSuppression:
    """Release every cell exact or as ``*``, with as few ``*`` as a greedy search finds.

    A suppressed cell matches only other suppressed cells of its attribute, so the model holds in the
    classes that a reader of the release sees. Each ``*`` costs the weight that the schema gives its
    attribute: an important attribute is suppressed last.

    The search takes the combinations of attributes from the cheapest to the dearest. Under each, the
    records that still fail are put together with those that lost the same cells; where the model holds,
    they have found their place. Then records move to cheaper places, alone or with others that do not
    mind, as long as the model holds where they come from and where they go.

    Parameters
    ----------
    model
        What must hold in every class.
    suppression
        The largest share of whole records that may be left out. It is used only for records that
        would need records from elsewhere even with all their cells suppressed.

    References
    ----------
    A. Meyerson, R. Williams, "On the complexity of optimal k-anonymity", 2004; M. Templ, A. Kowarik,
    B. Meindl, "Statistical disclosure control for micro-data using the R package sdcMicro", 2015.

    Examples
    --------
    >>> from sfumato import KAnonymity, datasets, sanitize
    >>> table, schema = datasets.hospital()
    >>> release = sanitize(table, schema, CellSuppression(KAnonymity(2)))
    >>> release.classes.sizes.min() >= 2, release.n_suppressed
    (np.True_, 0)
    """

    model: PrivacyModel = KAnonymity(5)
    suppression: float = 0.0

    def __post_init__(self) -> None:
        check_share("suppression", self.suppression)

    def sanitize(self, table: Table, schema: Schema, rng: np.random.Generator) -> Release:
        """Release the cells that may stay exact, and ``*`` for the others."""
        schema.require("quasi-identifying", "cell-suppression")
        check_feasible(table, schema, self.model)
        points, point_of = _points(table, schema, self.model)
        pattern = _search(points, self.suppression)[point_of]
        release = _release(table, schema, points, pattern)
        if failing_rows(release, self.model).any():
            raise Infeasible(
                "no cells were found whose suppression makes the model hold; choose a weaker model"
            )
        return release


@dataclass(frozen=True)
class _Points:
    """The distinct combinations of what the search looks at, and the patterns of cells to suppress.

    Parameters
    ----------
    names, codes, cardinalities
        The quasi-identifiers with more than one value, and the values of the points.
    stars
        For each attribute and point whether the original value is written ``*``.
    weights
        The number of records of each point.
    model, watched
        What must hold, and the sensitive attributes that it looks at.
    sensitive
        The sensitive values of the points.
    patterns, costs
        For each pattern the attributes that it suppresses, and what that costs for one record; the
        cheapest, which suppresses nothing, is first, the dearest, which suppresses all, last.
    """

    names: tuple[str, ...]
    codes: Codes
    cardinalities: Integers
    stars: Booleans
    weights: Integers
    model: PrivacyModel
    watched: Mapping[str, SensitiveCounts]
    sensitive: Mapping[str, Codes]
    patterns: Booleans
    costs: Floats

    def holds(self, points: Integers, class_of: Integers, n_classes: int) -> Booleans:
        """Return for each class whether the model holds in it, or nobody is in it."""
        inhabited = np.zeros(n_classes, dtype=np.bool_)
        inhabited[class_of] = True
        number = np.cumsum(inhabited) - 1
        sensitive = {
            name: (self.sensitive[name][points], counts.prior) for name, counts in self.watched.items()
        }
        domains = {name: counts.domain for name, counts in self.watched.items()}
        result = np.ones(n_classes, dtype=np.bool_)
        if len(points):
            classes = count_classes(
                number[class_of], int(number[-1]) + 1, self.weights[points], sensitive, domains
            )
            result[inhabited] = self.model.satisfied(classes)
        return result

    def grouped(self, points: Integers, pattern: int) -> tuple[Integers, int]:
        """Number the classes that these points would form under one pattern."""
        shown = np.flatnonzero(~self.patterns[pattern])
        return number_rows(
            [self.codes[place, points] for place in shown], self.cardinalities[shown].tolist(), len(points)
        )

    def classes(self, points: Integers, pattern: Integers) -> tuple[Integers, int]:
        """Number the classes of these points, each under its own pattern."""
        hidden = self.patterns[pattern].T
        columns = np.where(hidden, self.cardinalities[:, None], self.codes[:, points])
        return number_rows(list(columns), (self.cardinalities + 1).tolist(), len(points))

    def fitting(self, pattern: int) -> Booleans:
        """Return the points that can have this pattern: what reads ``*`` by itself is suppressed there."""
        return ~(self.stars & ~self.patterns[pattern][:, None]).any(axis=0)
