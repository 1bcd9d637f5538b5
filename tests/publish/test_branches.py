"""A branch is explained by its leaves, and by none that tells of somebody who was left out."""

from __future__ import annotations

import pytest

from sfumato import Attribute, Hierarchy, Release, Schema, sanitize
from sfumato.models import KAnonymity
from sfumato.sanitizers import FullDomain
from sfumato.workflow.publish.branches import published_branches

TREE = {"Europe": ["France", "Italy", "Malta"], "Asia": ["Japan", "China"]}
PEOPLE = ["France", "Italy", "France", "Italy", "Malta", "Japan", "Japan"]


def released(countries: list[str], towns: list[str], tree: dict[str, list[str]]) -> Release:
    schema = Schema(
        (
            Attribute("country", "quasi-identifying", hierarchy=Hierarchy.nested(tree)),
            Attribute("town", "quasi-identifying"),
        )
    )
    how = FullDomain({"country": 1, "town": 0}, KAnonymity(2), suppression=0.5)
    return sanitize({"country": countries, "town": towns}, schema, how)


def test_all_leaves_of_a_hierarchy_that_knows_more_than_the_data() -> None:
    release = released(PEOPLE, list("aaaabcc"), TREE)
    assert release.n_suppressed == 1
    assert published_branches(release, "country") == {
        "Europe": ["France", "Italy", "Malta"],
        "Asia": ["Japan", "China"],
    }


@pytest.mark.parametrize(("towns", "europe"), [("aaaabcc", ["France", "Italy"]), ("aaaaacc", TREE["Europe"])])
def test_a_leaf_of_somebody_left_out_alone_is_not_told(towns: str, europe: list[str]) -> None:
    # every leaf occurs: the hierarchy was written from the data
    of_the_data = {"Europe": TREE["Europe"], "Asia": ["Japan"]}
    told = published_branches(released(PEOPLE, list(towns), of_the_data), "country")
    assert told["Europe"] == europe
