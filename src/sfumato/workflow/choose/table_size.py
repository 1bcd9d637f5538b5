"""Say of a table that is too small for its quasi-identifiers what would help."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sfumato.results.pareto import Limit

if TYPE_CHECKING:
    from sfumato.results.frontier import Frontier
    from sfumato.workflow.project.project_file import Project

_USUAL_CLASS = 11
"""The smallest class that the public may get, unless the policy asks for another."""
_TIE = 1e-9
_FEWEST_HALVINGS = 0.75
"""A table that can be halved less often for each quasi-identifier loses more than half of its information, in
three of four cases and more: `benchmarks/small_tables.py`."""


def too_small(n_records: int, n_quasi_identifiers: int, k: float) -> str:
    """Return a sentence if classes of k leave too little of a table, else an empty text.

    Parameters
    ----------
    n_records
        How many records there are, or people, where these are counted.
    n_quasi_identifiers
        How many attributes others may know.
    k
        The size of the smallest class.

    Examples
    --------
    >>> too_small(45_222, 6, 11)
    ''
    >>> print(too_small(87, 6, 11))
    87 records are few for 6 quasi-identifiers: with classes of 11, such tables mostly lose more than half \
of their information. It would help to withhold all but 3 of these attributes, or to have about 250 records.
    """
    if k <= 1 or not n_quasi_identifiers or n_records < 1:
        return ""
    halvings = math.log2(n_records / k)
    if halvings >= _FEWEST_HALVINGS * n_quasi_identifiers:
        return ""
    needed = float(f"{k * 2 ** (_FEWEST_HALVINGS * n_quasi_identifiers):.2g}")
    most = math.floor(max(halvings, 0) / _FEWEST_HALVINGS)
    fewer = f"withhold all but {most} of these attributes, or to " if most else ""
    return (
        f"{n_records:,} records are few for {n_quasi_identifiers} quasi-identifiers: with classes of {k:g}, "
        "such tables mostly lose more than half of their information. It would help to "
        f"{fewer}have about {needed:,.0f} records."
    )


def size_warning(project: Project, frontier: Frontier) -> str:
    """Return what `too_small` says of the table of a project whose candidates are known.

    The candidate without quasi-identifiers tells how many records or people there are: all look alike in it.
    """
    withheld = next(
        (c for c in frontier.candidates if c.recipe.sanitizer == "suppress-quasi-identifiers"), None
    )
    n_records = None if withheld is None else withheld.value("k-anonymity")
    if n_records is None:
        return ""
    limits = project.policy.limits_by_measure
    risk = limits.get("reidentification-risk", Limit()).at_most
    k = max(limits.get("k-anonymity", Limit()).at_least, math.ceil(1 / risk - _TIE) if risk > 0 else 1)
    n_names = len(project.schema.quasi_identifiers)
    return too_small(int(n_records), n_names, k if k > 1 else _USUAL_CLASS)
