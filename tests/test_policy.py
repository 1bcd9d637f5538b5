"""A policy judges each type of release by what can be known of it."""

from __future__ import annotations

from typing import Any

import pytest

from sfumato import Schema, datasets
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.measurement import Measurement, build_measure
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy, evidence_of
from sfumato.results.recipients import RECIPIENTS
from sfumato.runtime.errors import ParameterError

_, HOSPITAL = datasets.hospital()
MEMBERSHIP = next(r for r in Policy.for_schema(HOSPITAL).requirements["attacks"] if "membership" in r.label)
ATTACKS = ("singling-out", MEMBERSHIP.label, "inference")


def measured(sanitizer: str, name: str = "one", **figures: Any) -> Candidate:
    """Return a candidate with these figures; a pair is the ends of an interval around its middle."""
    measurements = []
    for written, figure in figures.items():
        label = written.replace("_", "-")
        measure = build_measure(MEMBERSHIP.measure if label == "membership" else label)
        low, high = figure if isinstance(figure, tuple) else (figure, figure)
        detail = {"people-below": 1000} if label == "privacy-delta" else {}
        measurements.append(
            Measurement(
                measure.name,
                (low + high) / 2,
                "privacy",
                "lower",
                interval=(low, high) if isinstance(figure, tuple) else None,
                detail=detail,
                parameters=measure.parameters,
            )
        )
    return Candidate(name, Recipe(sanitizer), tuple(measurements))


def attacked(sanitizer: str, name: str = "one", *, most: float, least: float = 0.0) -> Candidate:
    return measured(
        sanitizer, name, singling_out=(least, most), membership=(least, most), inference=(least, most)
    )


RAW = attacked("as-is", "raw", least=0.8, most=0.9)


@pytest.mark.parametrize("name", RECIPIENTS)
def test_classes_must_have_the_size_that_the_recipient_asks_for(name: str) -> None:
    recipient, policy = RECIPIENTS[name], Policy.for_schema(HOSPITAL, name)

    def release(size: int) -> Candidate:
        figures: dict[str, Any] = {
            "reidentification_risk": 1 / size,
            "marketer_risk": 0.01,
            "confidence_bound": 0.5,
        }
        return measured("mondrian", **figures)

    assert policy.keeps(release(recipient.alike))
    assert policy.broken(release(recipient.alike - 1))


def test_a_contract_also_limits_the_average_risk() -> None:
    figures: dict[str, Any] = {"reidentification_risk": 0.1, "confidence_bound": 0.5}
    policy = Policy.for_schema(HOSPITAL, "contract")
    assert policy.keeps(measured("mondrian", **figures, marketer_risk=0.1))
    (words,) = policy.broken(measured("mondrian", **figures, marketer_risk=0.11))
    assert words == "marketer-risk is 0.11, must be at most 0.1"


def test_a_class_that_gives_its_value_away_breaks_the_policy() -> None:
    (words,) = Policy.for_schema(HOSPITAL).broken(
        measured("mondrian", reidentification_risk=0.05, confidence_bound=0.95)
    )
    assert words.startswith("confidence-bound is 0.95")


def test_without_a_sensitive_attribute_only_being_found_counts() -> None:
    schema = Schema.of(age="quasi-identifying", sex="quasi-identifying")
    policy = Policy.for_schema(schema)
    assert [r.label for r in policy.requirements["classes"]] == ["reidentification-risk"]
    assert [r.label for r in policy.requirements["attacks"]] == ["singling-out", "membership"]


@pytest.mark.parametrize("sanitizer", ["pram", "rank-swapping", "cart-synthesis", "laplace"])
def test_attacks_judge_rows_that_stand_for_nobody(sanitizer: str) -> None:
    policy = Policy.for_schema(HOSPITAL)
    assert policy.keeps(attacked(sanitizer, most=0.09), RAW)
    assert len(policy.broken(attacked(sanitizer, most=0.1), RAW)) == 3
    # the middle of an interval that reaches above the limit is no proof
    assert policy.broken(attacked(sanitizer, least=0.0, most=0.11), RAW)


def test_an_attack_that_fails_on_the_original_proves_nothing() -> None:
    policy, release = Policy.for_schema(HOSPITAL), attacked("pram", most=0.01)
    weak = attacked("as-is", "raw", least=0.05, most=0.9)
    assert all("too weak to tell" in words for words in policy.broken(release, weak))
    assert all("not tried on the original" in words for words in policy.broken(release))


def test_what_keeps_a_stricter_limit_for_sure_keeps_a_milder_one() -> None:
    weak = attacked("as-is", "raw", least=0.15, most=0.9)
    release = attacked("pram", most=0.09)
    for name in ("public", "contract", "protected-place"):
        assert Policy.for_schema(HOSPITAL, name).keeps(release, weak)
    # between what the attack can show and the limit, nothing is known
    assert Policy.for_schema(HOSPITAL, "contract").broken(attacked("pram", most=0.16), weak)


def test_an_attack_that_was_not_tried_breaks_the_policy() -> None:
    broken = Policy.for_schema(HOSPITAL).broken(measured("pram", singling_out=(0.0, 0.01)), RAW)
    assert len(broken) == 2
    assert all("was not tried" in words for words in broken)


def test_a_guarantee_is_judged_by_its_epsilon_and_delta_alone() -> None:
    policy = Policy.for_schema(HOSPITAL)
    assert evidence_of(Recipe("mst")) == "guarantee"
    assert policy.keeps(measured("mst", epsilon=1.0, privacy_delta=1e-4))
    assert policy.broken(measured("mst", epsilon=1.001, privacy_delta=1e-4))
    assert policy.broken(measured("mst", epsilon=1.0, privacy_delta=1.1e-4))


@pytest.mark.parametrize(
    ("recipient", "epsilon"),
    [("public", 1), ("public-great-harm", 0.25), ("contract", 3), ("protected-place", 8)],
)
def test_the_largest_epsilon_depends_on_the_recipient(recipient: str, epsilon: float) -> None:
    policy = Policy.for_schema(HOSPITAL, recipient)
    assert policy.keeps(measured("mst", epsilon=epsilon, privacy_delta=0.0))
    assert policy.broken(measured("mst", epsilon=epsilon * 1.01, privacy_delta=0.0))


def test_exact_quasi_identifiers_are_never_allowed_to_the_public() -> None:
    bucketized = measured("bucketize", reidentification_risk=1.0, confidence_bound=0.3)
    assert all(Policy.for_schema(HOSPITAL, name).broken(bucketized) for name in RECIPIENTS)
    assert Policy.for_schema(HOSPITAL, "none").keeps(bucketized)


def test_own_limits_hold_for_every_type() -> None:
    policy = Policy.for_schema(HOSPITAL, "none", {"general-loss": Limit(at_most=0.5)})
    assert policy.keeps(measured("mondrian", general_loss=0.5))
    assert policy.broken(measured("mst", general_loss=0.6))
    assert policy.broken(measured("mst"))


def test_without_an_answer_the_public_is_assumed() -> None:
    policy = Policy.for_schema(HOSPITAL)
    assert (policy.recipient, policy.is_assumed) == ("public", True)
    assert not Policy.for_schema(HOSPITAL, "public").is_assumed


def test_an_unknown_recipient_is_refused_with_those_there_are() -> None:
    with pytest.raises(ParameterError, match="cannot be 'pubic'; did you mean 'public'"):
        Policy.for_schema(HOSPITAL, "pubic")


class TestFrontier:
    AXES = "reidentification-risk", "general-loss"

    def frontier(self, recipient: str) -> Frontier:
        points = {"raw": (1.0, 0.0), "fine": (0.2, 0.1), "coarse": (0.05, 0.4), "none": (0.01, 0.9)}
        made = [
            measured("mondrian", name, reidentification_risk=risk, general_loss=loss, confidence_bound=0.5)
            for name, (risk, loss) in points.items()
        ]
        worse = measured(
            "mondrian", "worse", reidentification_risk=0.06, general_loss=0.5, confidence_bound=0.5
        )
        policy = Policy.for_schema(HOSPITAL, recipient)
        return Frontier((*made, worse), self.AXES, policy=policy)

    def test_only_candidates_that_keep_the_policy_are_efficient(self) -> None:
        frontier = self.frontier("public")
        assert [c.id for c in frontier.efficient()] == ["none", "coarse"]
        assert set(frontier.broken) == {"raw", "fine"}
        assert [c.id for c in frontier.allowed] == ["coarse", "none", "worse"]

    def test_without_limits_all_are_compared(self) -> None:
        frontier = self.frontier("none")
        assert [c.id for c in frontier.efficient()] == ["none", "coarse", "fine", "raw"]
        assert frontier.broken == {}

    def test_the_knee_keeps_the_policy(self) -> None:
        # of two efficient releases none lies between the ends
        assert self.frontier("public").knee() is None
        knee = self.frontier("none").knee()
        assert knee is not None
        assert knee.id == "fine"

    def test_what_breaks_the_policy_dominates_nothing(self) -> None:
        by_id = {c.id: c for c in self.frontier("public").candidates}
        frontier = self.frontier("public")
        assert [c.id for c in frontier.dominated_by(by_id["worse"])] == ["coarse"]
        rejected = measured(
            "mondrian", "fine", reidentification_risk=0.2, general_loss=0.1, confidence_bound=0.5
        )
        assert frontier.dominated_by(frontier.candidates[frontier.candidates.index(rejected)]) == ()
