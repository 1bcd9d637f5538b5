"""Named policies: what they require, and how a project file names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.results.pareto import Limit
from sfumato.runtime.errors import ProjectError
from sfumato.workflow.project.named_policies import POLICIES
from sfumato.workflow.project.project_file import Project

FILE = """
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifying"
[policy]
"""


def policy(written: str) -> dict[str, Limit]:
    return dict(Project.parse(FILE + written, Path("people.toml")).policy)


@pytest.mark.parametrize(("size", "risk"), [(3, 0.33), (5, 0.20), (11, 0.09), (20, 0.05)])
def test_a_cell_size_is_a_risk(size: int, risk: float) -> None:
    limit = policy(f'named = "cell-size-{size}"')["reidentification-risk"]
    assert limit.at_most == pytest.approx(risk, abs=0.005)
    assert limit.allows(1 / size)
    assert not limit.allows(1 / (size - 1))


def test_the_named_ones_are_those_of_the_precedents() -> None:
    assert [named.cell_size for named in POLICIES.values()] == [3, 5, 11, 20]
    assert all(named.meaning for named in POLICIES.values())


def test_limits_beside_the_name_are_added_and_count_instead_of_it() -> None:
    both = policy('named = "cell-size-5"\nsuppression-loss = { at-most = 0.1 }')
    assert both == {"reidentification-risk": Limit(at_most=0.2), "suppression-loss": Limit(at_most=0.1)}
    instead = policy('named = "cell-size-5"\nreidentification-risk = { at-most = 0.05 }')
    assert instead == {"reidentification-risk": Limit(at_most=0.05)}


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('named = "cell-size-12"', "did you mean 'cell-size-"),
        ('named = "strict"', "allowed are cell-size-3"),
        ("named = 11", "policy.named: cannot be 11"),
    ],
)
def test_an_unknown_name_is_refused(written: str, said: str) -> None:
    with pytest.raises(ProjectError, match=said):
        policy(written)
