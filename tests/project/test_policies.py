"""The section `[policy]` of a project file: who gets the release, and limits of the publisher's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.results.recipients import NOBODY, RECIPIENTS
from sfumato.runtime.errors import ProjectError
from sfumato.workflow.project.project_file import Project

FILE = """
[data]
path = "people.csv"
[attributes.age]
role = "quasi-identifying"
"""


def policy(written: str) -> Policy:
    return Project.parse(f"{FILE}[policy]\n{written}", Path("people.toml")).policy


@pytest.mark.parametrize(("name", "alike"), [("protected-place", 3), ("contract", 5), ("public", 11)])
def test_a_recipient_asks_for_a_number_of_people_alike(name: str, alike: int) -> None:
    limit = policy(f'recipient = "{name}"').limits_by_measure["reidentification-risk"]
    assert limit.allows(1 / alike)
    assert not limit.allows(1 / (alike - 1))


def test_every_recipient_says_where_its_limits_come_from() -> None:
    assert all(recipient.source and recipient.meaning for recipient in RECIPIENTS.values())


def test_limits_of_the_publisher_hold_besides() -> None:
    both = policy('recipient = "contract"\nreidentification-risk = { at-most = 0.05 }')
    assert both.limits == {"reidentification-risk": Limit(at_most=0.05)}
    assert [r.limit.at_most for r in both.required("classes")] == [0.2, 0.1, 0.05]
    assert policy('recipient = "none"') == Policy(NOBODY)


def test_without_an_answer_the_public_is_assumed() -> None:
    for project in (FILE, f"{FILE}[policy]\n"):
        assumed = Project.parse(project, Path("people.toml")).policy
        assert (assumed.recipient, assumed.is_assumed) == ("public", True)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('recipient = "pulbic"', "policy.recipient: cannot be 'pulbic'; did you mean 'public'"),
        ('recipient = "my friends"', "there are public, public-great-harm, contract"),
        ("recipient = 11", "policy.recipient: expected a text"),
        ('named = "cell-size-11"', "policy.*named"),
    ],
)
def test_what_is_no_recipient_is_refused(written: str, said: str) -> None:
    with pytest.raises(ProjectError, match=said):
        policy(written)
