"""List named policies: the limits that publishers usually require.

A smallest cell of n records is a re-identification risk of at most 1/n. The sizes 3, 5, 11 and 20 are those
that public bodies have set as precedents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sfumato.results.pareto import Limit
from sfumato.runtime.errors import ProjectError, suggestion


@dataclass(frozen=True)
class NamedPolicy:
    """The limits that must hold before anything may be published, under a name.

    Parameters
    ----------
    name
        What a project file calls it: ``[policy]`` with ``named = "cell-size-11"``.
    cell_size
        The smallest number of records that may look alike.
    meaning
        For whom it is usually taken.

    References
    ----------
    K. El Emam, "Guide to the de-identification of personal health information", 2013.

    Examples
    --------
    >>> [(policy.name, f"{policy.risk:.2f}") for policy in POLICIES.values()]
    [('cell-size-3', '0.33'), ('cell-size-5', '0.20'), ('cell-size-11', '0.09'), ('cell-size-20', '0.05')]
    """

    name: str
    cell_size: int
    meaning: str

    @property
    def risk(self) -> float:
        """The largest re-identification risk, exactly one over the cell size."""
        return 1 / self.cell_size

    @property
    def limits(self) -> dict[str, Limit]:
        """The limits on measures."""
        return {"reidentification-risk": Limit(at_most=self.risk)}


POLICIES = {
    f"cell-size-{size}": NamedPolicy(f"cell-size-{size}", size, meaning)
    for size, meaning in (
        (3, "Recipients who are known and bound by a contract, in a protected place."),
        (5, "Recipients who are known and bound by a contract."),
        (11, "The public; the usual threshold for clinical reports and for health statistics."),
        (20, "The public, where the attributes are very sensitive or the harm would be great."),
    )
}
"""The named policies, the mildest first."""


def limits_of(name: object) -> Mapping[str, Limit]:
    """Return the limits of a named policy; if there is none, name similar ones."""
    if not isinstance(name, str) or name not in POLICIES:
        hint = suggestion(str(name), POLICIES) or f"; allowed are {', '.join(POLICIES)}"
        raise ProjectError(f"policy.named: cannot be {name!r}{hint}")
    return POLICIES[name].limits
