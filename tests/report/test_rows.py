"""The rows: everything beside what it should be compared with, as text and without a value of a record."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from sfumato import Schema, Table
from sfumato.measures import Measurement, measure
from sfumato.measures.utility.information_loss import attribute_losses
from sfumato.models import KAnonymity, TCloseness
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.results.recipients import NOBODY
from sfumato.results.release import Release
from sfumato.sanitizers import AsIs, Mondrian, Sanitizer, SuppressQuasiIdentifiers, sanitize
from sfumato.workflow.report import table_rows

Bound = tuple[Table, Schema]
MEASURES = ["privacy-loss", "reidentification-risk", "k-anonymity", "general-loss"]


def tried(hospital: Bound, identity: str, sanitizer: Sanitizer) -> tuple[Candidate, Release]:
    recipe = Recipe.of(sanitizer, 7)
    release = sanitize(*hospital, recipe)
    return Candidate(identity, recipe, tuple(measure(release, MEASURES))), release


@pytest.fixture
def frontier(hospital: Bound) -> Frontier:
    methods: dict[str, Sanitizer] = {
        "exact": AsIs(),
        "withheld": SuppressQuasiIdentifiers(),
        "pairs": Mondrian(KAnonymity(2)),
        "threes": Mondrian(KAnonymity(3)),
    }
    candidates = tuple(tried(hospital, identity, method)[0] for identity, method in methods.items())
    return Frontier(candidates, ("privacy-loss", "general-loss"))


def limited_to(frontier: Frontier, limits: dict[str, Limit]) -> Frontier:
    return replace(frontier, policy=Policy(NOBODY, limits))


def test_attributes_are_described_by_role_and_counts(hospital: Bound) -> None:
    described = {row["name"]: row for row in table_rows.attribute_rows(hospital[1])}
    assert list(described) == [attribute.name for attribute in hospital[1].attributes]
    assert described["name"] == {"name": "name", "role": "identifying", "kind": hospital[1]["name"].kind}
    assert (described["sex"]["levels"], described["sex"]["distinct"], described["sex"]["weight"]) == (
        2,
        2,
        "1",
    )


def test_candidates_say_what_they_are_marked_as_and_whether_they_keep_the_policy(frontier: Frontier) -> None:
    marked: dict[str, list[Candidate | None]] = {"chosen": [frontier.candidates[2]], "knee": [None]}
    limited = limited_to(frontier, {"k-anonymity": Limit(at_least=2)})
    found = table_rows.candidate_rows(limited.candidates, limited, marked)
    assert [row["id"] for row in found] == ["exact", "withheld", "pairs", "threes"]
    assert [row["marks"] for row in found] == [[], [], ["chosen"], []]
    assert [row["keeps_policy"] for row in found] == [False, True, True, True]
    assert found[0]["values"][1] == "0%"
    assert found[2]["recipe"] == "Classes of at least 2: Mondrian k=2"


def test_methods_are_counted_and_compared_by_what_they_cover(frontier: Frontier) -> None:
    found = table_rows.method_rows(frontier)
    assert [(row["method"], row["candidates"]) for row in found] == [
        ("as-is", 1),
        ("suppress-quasi-identifiers", 1),
        ("mondrian", 2),
    ]
    # both ends lie on the reference point's own lines: by themselves they cover nothing
    assert [row["reach"] for row in found] == ["0%", "0%", "100%"]
    assert sum(row["efficient"] for row in found) == len(frontier.efficient())
    assert all(row["meaning"] for row in found)


def test_a_limit_is_met_only_by_a_value(frontier: Frontier) -> None:
    limited = limited_to(frontier, {"k-anonymity": Limit(at_least=2), "weighted-k": Limit(at_least=3)})
    reached = [
        (row["reached"], row["met"]) for row in table_rows.policy_rows(limited, frontier.candidates[2])
    ]
    assert reached == [("2", True), ("not applicable", False)]
    assert len(table_rows.policy_rows(limited, None)) == 2


def test_requirements_say_what_was_asked_and_what_is_reached(hospital: Bound) -> None:
    chosen, release = tried(hospital, "both", Mondrian(KAnonymity(3) & TCloseness(0.9)))
    size, distance = table_rows.requirement_rows(release, chosen)
    assert size == {"model": "k-anonymity (k = 3)", "asked": "at least 3", "reached": "3"}
    assert distance["asked"] == "at most 0.9"
    assert float(distance["reached"]) <= 0.9


def test_a_recipe_of_an_unknown_method_promises_nothing(frontier: Frontier) -> None:
    unknown = replace(frontier.candidates[0], recipe=Recipe("gone", {"model": {"lost": {}}}))
    assert table_rows.promised_models(unknown) == ()
    assert table_rows.promised_models(frontier.candidates[0]) == ()
    assert table_rows.promised_models(frontier.candidates[2]) == (KAnonymity(2),)


def test_measurements_stand_beside_those_of_the_trivial_releases(frontier: Frontier) -> None:
    exact, withheld, chosen, _ = frontier.candidates
    limited = limited_to(frontier, {"reidentification-risk": Limit(at_most=0.4)})
    found = table_rows.measurement_rows(chosen, "privacy", limited)
    by_title = {row["words"].title: row for row in found}
    assert list(by_title) == ["privacy loss", "re-identification risk", "k-anonymity"]
    loss = by_title["privacy loss"]
    compared = [table_rows.shown("privacy-loss", c.value("privacy-loss")) for c in (chosen, exact, withheld)]
    assert [loss["value"], loss["as_is"], loss["withheld"]] == compared
    risk = by_title["re-identification risk"]
    assert (risk["value"], risk["limit"], risk["met"]) == ("50%", "at most 40%", False)


def test_measurements_without_a_value_give_their_reason_and_others_their_notes(frontier: Frontier) -> None:
    taken = (
        Measurement("disclosure-quotient", math.inf, "privacy", "lower"),
        Measurement("precision", None, "privacy", "higher", detail={"reason": "not a full-domain recoding"}),
        Measurement("query-error", 0.125, "privacy", "lower", interval=(0.11, 0.142), baseline=0.8),
    )
    found = table_rows.measurement_rows(Candidate("odd", Recipe("odd"), taken), "privacy", frontier)
    assert [row["value"] for row in found] == ["\u221e", "not applicable", "12.5%"]
    assert [row["reason"] for row in found] == ["", "not a full-domain recoding", ""]
    assert [row["interval"] for row in found] == ["", "", "11% to 14.2%"]
    assert [row["baseline"] for row in found] == ["", "", "80%"]
    assert [row["as_is"] for row in found] == ["", "", ""]


def test_details_are_printed_in_units_of_their_own(frontier: Frontier, hospital: Bound) -> None:
    release = sanitize(*hospital, Mondrian(KAnonymity(3)))
    asked = ["marketer-risk", "privacy-loss", "quasi-identifier-contribution", "total-loss"]
    taken = measure(release, asked)
    odd = Candidate("odd", Recipe("odd"), tuple(replace(m, axis="privacy") for m in taken))
    marketer, loss, parts, total = (
        dict(row["notes"]) for row in table_rows.measurement_rows(odd, "privacy", frontier)
    )
    assert marketer == {"records matched rightly": "4"}
    assert loss["records above the threshold"].endswith("%")
    assert not loss["mean"].endswith("%")
    assert parts["parts"].count("%") == 3
    assert "%" not in parts["privacy loss if withheld"]
    assert total["each attribute"].count("%") == 3


def test_the_same_measure_with_other_parameters_is_told_apart(frontier: Frontier, hospital: Bound) -> None:
    def with_both(candidate: Candidate, how: Sanitizer) -> Candidate:
        release = sanitize(*hospital, how)
        asked = ["t-closeness", "t-closeness distance=js"]
        return replace(candidate, measurements=tuple(measure(release, asked)))

    exact = with_both(frontier.candidates[0], AsIs())
    chosen = with_both(frontier.candidates[3], Mondrian(KAnonymity(3)))
    policy = {"t-closeness": Limit(at_most=0.9), "t-closeness distance=js": Limit(at_most=0.01)}
    both = limited_to(Frontier((exact, chosen), ("t-closeness distance=js",)), policy)
    equal, js = table_rows.measurement_rows(chosen, "privacy", both)
    assert [row["words"].title for row in (equal, js)] == ["t-closeness", "t-closeness (distance=js)"]
    assert [row["limit"] for row in (equal, js)] == ["at most 0.9", "at most 0.01"]
    assert [row["met"] for row in (equal, js)] == [True, False]
    assert equal["as_is"] != js["as_is"]
    claims = table_rows.claim_rows(chosen.measurements, chosen)
    assert [row["value"] for row in claims] == [row["value"] for row in (equal, js)]


def test_claims_stand_beside_the_limit_of_the_same_model_only(hospital: Bound) -> None:
    chosen, release = tried(hospital, "js", Mondrian(KAnonymity(2) & TCloseness(0.4, distance="js")))
    claims = measure(release, ["k-anonymity", "t-closeness", {"t-closeness": {"distance": "js"}}])
    found = table_rows.claim_rows(claims, chosen)
    assert [row["asked"] for row in found] == ["at least 2", "", "at most 0.4"]


@pytest.mark.parametrize(
    ("sanitizer", "distinct", "shares"),
    [
        (AsIs(), 2, {"exact": "100%", "generalised": "0%", "withheld": "0%", "loss": "0%"}),
        (
            SuppressQuasiIdentifiers(),
            1,
            {"exact": "0%", "generalised": "0%", "withheld": "100%", "loss": "100%"},
        ),
    ],
)
def test_changes_count_exact_generalised_and_withheld_cells(
    hospital: Bound, sanitizer: Sanitizer, distinct: int, shares: dict[str, str]
) -> None:
    _, release = tried(hospital, "example", sanitizer)
    changes = {row["name"]: row for row in table_rows.change_rows(release, attribute_losses(release))}
    about = {"name": "sex", "role": "quasi-identifying", "distinct": distinct, "original": 2}
    assert changes["sex"] == about | shares


@pytest.mark.parametrize(
    ("value", "most", "printed"),
    [(1 / 3, 0.5, "33.3%"), (1 / 11, 0.0909, "9.09091%"), (1 / 11, 1 / 11, "9.09%")],
)
def test_what_is_reached_has_few_digits_unless_they_would_mislead(
    value: float, most: float, printed: str
) -> None:
    measured = (Measurement("reidentification-risk", value, "privacy", "lower"),)
    chosen = Candidate("a", Recipe("as-is"), measured)
    limited = limited_to(Frontier((chosen,), ()), {"reidentification-risk": Limit(at_most=most)})
    (row,) = table_rows.policy_rows(limited, chosen)
    assert row["reached"] == printed
