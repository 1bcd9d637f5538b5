"""Declare the ambiguous passages of Brickell and Shmatikov 2008."""

from __future__ import annotations

from sfumato_papers.experiments import Explorations
from sfumato_papers.interpretations import Ambiguity, Interpretation

MARITAL = "marital-status"
_KEPT = {"target=occupation": "occupation", "target=none": ""}

AMBIGUITIES = (
    Ambiguity(
        "target",
        "For which attribute are the releases of table 3 cut?",
        "when choosing quasi-identifiers in Q to generalize, it attempts to maximize information gain for "
        "some target attribute",
        "section 6.1",
        (
            Interpretation("marital", "for the marital status, which the researcher of figure 4 learns"),
            Interpretation("occupation", "for the occupation, which the researcher of figure 2 learns"),
            Interpretation("none", "for none: cuts at medians"),
        ),
        "The other figures of the paper call the attribute that the researcher learns the workload.",
    ),
)


def kept_for(explorations: Explorations) -> str:
    """Return the attribute for which the releases of table 3 are cut."""
    return next((target for switch, target in _KEPT.items() if explorations.uses(switch)), MARITAL)
