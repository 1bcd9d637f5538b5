"""A policy limits a measure for one sensitive attribute, and every stop on the way keeps to it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import sfumato as sf
from sfumato.results.policy import broken_limits
from sfumato.runtime.errors import PolicyNotMet
from sfumato.verification.documents import read_manifest

MEASURES = ["privacy-loss", "t-closeness", "general-loss"]


def released() -> sf.Release:
    """Return a release in which the classes tell much of one sensitive attribute and nothing of another."""
    columns = {
        "age": [1] * 6 + [2] * 6,
        "ill": ["flu"] * 6 + ["cold"] * 6,
        "work": ["smith", "baker", "clerk"] * 4,
    }
    schema = sf.Schema.of(age="quasi-identifying", ill="sensitive", work="sensitive")
    return sf.sanitize(sf.read(columns), schema, sf.sanitizers.Mondrian(sf.models.KAnonymity(6)))


@pytest.mark.parametrize("measure", ["privacy-loss", "t-closeness"])
def test_a_limit_on_one_attribute_is_kept_published_and_verified(measure: str, tmp_path: Path) -> None:
    name, folder = f"{measure} of work", tmp_path / "out"
    sf.publish(released(), folder, MEASURES, policy={name: sf.Limit(at_most=0.1)})
    limit = read_manifest(folder).policy[name]
    assert (limit.measure, limit.attribute, limit.at_most) == (measure, "work", 0.1)
    checked = sf.verify(folder)
    assert checked.holds
    (check,) = [each for each in checked.checks if f"the policy's {name}" in each.what]
    assert check.what == f"the policy's {name} at most 0.1 is met"
    report = (folder / "report.html").read_text("utf-8")
    assert " of work" in report
    assert "not applicable" not in report.partition(" of work")[2][:300]


@pytest.mark.parametrize("measure", ["privacy-loss", "t-closeness"])
def test_a_limit_that_one_attribute_breaks_leaves_nothing_behind(measure: str, tmp_path: Path) -> None:
    with pytest.raises(PolicyNotMet, match=f"{measure} of ill is"):
        sf.publish(
            released(), tmp_path / "out", MEASURES, policy={f"{measure} of ill": sf.Limit(at_most=0.1)}
        )
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("measure", ["privacy-loss", "t-closeness"])
def test_what_does_not_keep_a_limit_on_one_attribute_is_found_by_verify(measure: str, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    sf.publish(released(), folder, MEASURES, policy={f"{measure} of work": sf.Limit(at_most=0.1)})
    manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["policy"][f"{measure} of work"]["attribute"] = "ill"
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    problems = {each.what: each.problem for each in sf.verify(folder).checks if each.problem}
    assert problems[f"the policy's {measure} of work at most 0.1 is met"] == "a claim does not meet it"


def test_a_candidate_is_marked_by_what_it_reaches_for_one_attribute() -> None:
    candidate = sf.Candidate("one", sf.Recipe("mondrian"), tuple(sf.measure(released(), MEASURES)))
    assert broken_limits(candidate, {"t-closeness of work": sf.Limit(at_most=0.1)}) == []
    (said,) = broken_limits(candidate, {"t-closeness of ill": sf.Limit(at_most=0.1)})
    assert said == "t-closeness of ill is 0.5, must be at most 0.1"


@pytest.mark.parametrize("measure", ["privacy-loss", "t-closeness"])
def test_where_people_are_counted_a_limit_on_one_attribute_is_an_unverified_claim(
    measure: str, tmp_path: Path
) -> None:
    columns = {
        "who": [n // 2 for n in range(24)],
        "age": [1] * 12 + [2] * 12,
        "ill": ["flu"] * 12 + ["cold"] * 12,
        "work": ["smith", "baker", "clerk"] * 8,
    }
    schema = sf.Schema.of(who="identifying", age="quasi-identifying", ill="sensitive", work="sensitive")
    people = replace(schema, person="who")
    release = sf.sanitize(sf.read(columns), people, sf.sanitizers.Mondrian(sf.models.KAnonymity(6)))
    assert release.people is not None
    limit = sf.Limit(at_most=0.2)
    with pytest.raises(PolicyNotMet, match=f"{measure} of ill is"):
        sf.publish(release, tmp_path / "not", MEASURES, policy={f"{measure} of ill": limit})
    sf.publish(release, tmp_path / "out", MEASURES, policy={f"{measure} of work": limit})
    checked = sf.verify(tmp_path / "out")
    assert checked.holds
    assert f"the policy's {measure} of work at most 0.2 is met by the owner's figure" in {
        each.what for each in checked.checks
    }
