"""All methods on one frontier: shares of what the better trivial release and the table as it is give."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato import Candidate, Recipe
from sfumato.results import Measurement
from sfumato_papers.conclusions import Viewpoint, claims_under
from sfumato_papers.experiments import Exploration

VIEW = Viewpoint("gains", "Gains", "by gains", "accuracy-gain", "workload-utility")


def release(sanitizer: str, gain: float, utility: float, **parameters: Any) -> Candidate:
    taken = (
        Measurement("accuracy-gain", gain, "privacy", "lower"),
        Measurement("workload-utility", utility, "utility", "higher"),
    )
    return Candidate(f"{sanitizer} {gain}", Recipe(sanitizer, parameters), taken)


def explored(without_sensitive: float, *others: Candidate) -> Exploration:
    made = (
        release("as-is", 0.4, 0.2),
        release("suppress-quasi-identifiers", 0.0, 0.0),
        release("suppress-sensitive", 0.0, without_sensitive),
        *others,
    )
    return Exploration(None, made)


def test_the_researcher_is_measured_against_the_better_trivial_release() -> None:
    one = release("mondrian", 0.2, 0.19, model={"k-anonymity": {"k": 5}})
    assert VIEW.kept(one, explored(0.0, one)) == pytest.approx(0.95)
    assert VIEW.kept(one, explored(0.18, one)) == pytest.approx(0.5)
    assert VIEW.learned(one, explored(0.18, one)) == pytest.approx(0.5)


def test_losses_are_better_when_they_are_lower() -> None:
    view = Viewpoint("losses", "", "", "accuracy-gain", "utility-loss")
    values = {"as-is": 0.0, "suppress-quasi-identifiers": 0.05, "suppress-sensitive": 0.02, "mondrian": 0.01}
    made = tuple(
        Candidate(name, Recipe(name, {}), (Measurement("utility-loss", loss, "utility", "lower"),))
        for name, loss in values.items()
    )
    assert view.kept(made[-1], Exploration(None, made)) == pytest.approx(0.5)


def test_where_the_table_as_it_is_serves_no_better_there_is_nothing_to_destroy() -> None:
    one = release("mondrian", 0.1, 0.19, model={"k-anonymity": {"k": 5}})
    found = explored(0.2, one)
    assert VIEW.kept(one, found) is None
    claims = {claim.text: claim for claim in claims_under(VIEW, found)}
    modest = claims["Even modest privacy costs almost all of the utility. (by gains)"]
    assert (modest.holds, modest.conclusion) == (None, "nothing to destroy")


def test_modest_privacy_is_judged_by_the_release_that_keeps_most() -> None:
    cheap = release("mondrian", 0.2, 0.15, model={"k-anonymity": {"k": 5}})
    dear = release("mondrian", 0.1, 0.01, model={"k-anonymity": {"k": 9}})
    (modest, *_) = claims_under(VIEW, explored(0.0, cheap, dear))
    assert modest.holds is False
    assert "75%" in modest.evidence
    (modest, *_) = claims_under(VIEW, explored(0.0, dear))
    assert modest.holds is True


def test_what_chance_may_do_alone_is_nothing_to_destroy() -> None:
    one = release("mondrian", 0.2, 0.19, model={"k-anonymity": {"k": 5}})

    def within(*ends: float) -> Exploration:
        taken = Measurement("workload-utility", 0.2, "utility", "higher", interval=(ends[0], ends[1]))
        intact = Candidate("as-is", Recipe("as-is", {}), (taken,))
        return Exploration(None, (intact, *explored(0.18, one).candidates[1:]))

    assert VIEW.kept(one, within(0.17, 0.23)) is None
    assert VIEW.is_moot(within(0.18, 0.22))
    assert VIEW.kept(one, within(0.185, 0.215)) == pytest.approx(0.5)
