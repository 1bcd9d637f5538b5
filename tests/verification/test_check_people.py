"""What a manifest says of people, branches and earlier releases, and what the records say against it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from sfumato.verification import check
from sfumato.verification.check import Check, check_folder
from sfumato.verification.documents import AttributeFacts, Claimed, LimitFacts, Manifest, RequirementFacts
from sfumato.verification.published_view import PublicView, SensitiveValues, public_view
from sfumato.verification.written_tables import FileColumn, WrittenTable, read_tables

Facts = dict[str, Any]
UNVERIFIED = "unverified"


def facts_of(honest: Path) -> Facts:
    return dict(json.loads((honest / "manifest.json").read_text("utf-8")))


def outcomes(folder: Path, facts: Facts) -> dict[str, str]:
    found = check_folder(folder, msgspec.convert(facts, Manifest)).checks
    return {each.what: each.problem or each.outcome for each in found}


def with_people(facts: Facts, original: int = 6, released: int = 5) -> Facts:
    facts["unverified"]["people"] = {"original": original, "released": released, "alone": 0}
    for each in facts["requirements"]:
        each.update(counted="people", prior="original", reached=each["limit"])
    smallest = {
        "measure": "k-anonymity",
        "axis": "privacy",
        "better": "higher",
        "band": {"low": 2.5, "high": 5.0},
    }
    facts["unverified"]["figures"].append({**facts["unverified"]["figures"][0], **smallest})
    return facts


class TestPeople:
    def test_where_people_are_counted_only_records_can_be(self, honest: Path) -> None:
        found = outcomes(honest, with_people(facts_of(honest)))
        assert set(found.values()) == {"checked", UNVERIFIED}
        assert found["k-anonymity is 3, counting records"] == "checked"
        assert found["k-anonymity keeps k = 3, counting people"] == UNVERIFIED
        assert found["t-closeness keeps t = 0.5, counting people"] == UNVERIFIED
        assert found["the records are those of 5 of 6 people"] == UNVERIFIED

    def test_what_is_lost_is_lost_by_records(self, honest: Path) -> None:
        facts = with_people(facts_of(honest))
        loss = {**facts["claims"][1], "measure": "suppression-loss", "value": 1 / 7, "better": "lower"}
        loss |= {"axis": "utility", "detail": {"suppressed": 1, "records": 7}}
        facts["claims"].append(loss)
        assert outcomes(honest, facts)["suppression-loss is 0.142857"] == "checked"

    def test_a_policy_speaks_of_people_whom_only_the_owner_counts(self, honest: Path) -> None:
        facts = with_people(facts_of(honest))
        what = "the policy's k-anonymity at least 3 is met by the owner's figure"
        assert outcomes(honest, facts)[what] == UNVERIFIED
        assert "the policy's k-anonymity at least 3 is met" not in outcomes(honest, facts)
        facts["unverified"]["figures"][-1]["met"] = False
        assert outcomes(honest, facts)[what] == "it is said not to be"
        facts["unverified"]["figures"].pop()
        said = outcomes(honest, facts)["the policy's k-anonymity at least 3"]
        assert said == "nothing is said of what it limits"

    def test_a_policy_on_what_was_lost_is_met_by_records(self, honest: Path) -> None:
        facts = with_people(facts_of(honest))
        loss = {**facts["claims"][1], "measure": "suppression-loss", "value": 1 / 7, "better": "lower"}
        facts["claims"].append({**loss, "axis": "utility", "detail": {"suppressed": 1, "records": 7}})
        limit = {"measure": "suppression-loss", "parameters": None, "at_least": None, "at_most": 0.2}
        facts["policy"]["own"] = limit
        assert outcomes(honest, facts)["the policy's own at most 0.2 is met"] == "checked"

    @pytest.mark.parametrize(
        ("limit", "people", "problem"),
        [
            ({"at_least": 3.0}, None, ""),
            ({"at_least": 3 + 5e-13}, None, ""),
            ({"at_least": 3 + 1e-11}, None, "the smallest class has 3 records"),
            ({"at_least": 2.0}, [2, 4], ""),
            ({"at_least": 3.0}, [2, 4], "the smallest class has 2 people by their pseudonyms"),
            ({"at_most": 5.0}, None, ""),
            ({"measure": "weighted-k", "at_least": 9.0}, None, ""),
        ],
    )
    def test_no_policy_is_met_by_more_people_than_a_class_has_records(
        self, limit: Facts, people: Any, problem: str
    ) -> None:
        facts = {"measure": "k-anonymity", "parameters": None, "at_least": None, "at_most": None, **limit}
        seen = PublicView(9, (), [], np.array([3, 4]), (), False, people=people and np.array(people))
        assert check._class_size_problem(seen, msgspec.convert(facts, LimitFacts)) == problem

    def test_all_of_a_manifest_counts_the_same(self, honest: Path) -> None:
        problem = "it does not count whom the rest of the manifest counts"
        some, others = with_people(facts_of(honest)), facts_of(honest)
        some["requirements"][0]["counted"] = "records"
        others["requirements"][0]["counted"] = "people"
        for facts in (some, others):
            assert outcomes(honest, facts)["k-anonymity reaches k = 3, asked was 3"] == problem

    @pytest.mark.parametrize(
        ("original", "released", "fits"),
        [
            (6, 5, True),
            (6, 6, True),
            (7, 1, True),
            (1, 1, True),
            (6, 0, False),
            (5, 6, False),  # more are left than there were
            (7, 7, False),  # there are 6 records
            (8, 6, False),  # the original has 7
        ],
    )
    def test_everybody_has_a_record(self, honest: Path, original: int, released: int, fits: bool) -> None:
        found = outcomes(honest, with_people(facts_of(honest), original, released))
        said = found[f"the records are those of {released} of {original} people"]
        assert said == (UNVERIFIED if fits else "the published records speak against it")

    def requirement(self, **changed: Any) -> RequirementFacts:
        told = {"parameter": "k", "limit": 3.0, "reached": 3.0, "prior": "original", "counted": "people"}
        return msgspec.convert({"model": {"k-anonymity": {"k": 3}}, **told, **changed}, RequirementFacts)

    def checked(self, requirement: RequirementFacts, *sizes: int, people: Any = None) -> Check:
        seen = PublicView(9, (), [], np.array(sizes), (), False, people=people)
        return check._requirement_check(seen, requirement, counts_people=True)

    def test_a_class_has_no_more_people_than_records(self) -> None:
        assert self.checked(self.requirement(), 4, 3).outcome == UNVERIFIED
        assert self.checked(self.requirement(), 4, 2).problem == "the smallest class has 2 records"

    def test_pseudonyms_can_be_counted(self) -> None:
        assert self.checked(self.requirement(), 5, 4, people=np.array([4, 3])).outcome == "checked"
        found = self.checked(self.requirement(), 5, 4, people=np.array([4, 2]))
        assert found.problem == "the smallest class has 2 people by their pseudonyms"

    @pytest.mark.parametrize("changed", [{"reached": 4.0}, {"prior": "released"}])
    def test_more_than_that_it_is_kept_is_not_said(self, changed: Facts) -> None:
        found = self.checked(self.requirement(**changed), 5, 5)
        assert found == Check("k-anonymity keeps k = 3, counting people", "it says more than that it is kept")

    @pytest.mark.parametrize(("n_people", "fits"), [(5, True), (4, False)])
    def test_pseudonyms_are_as_many_as_people(self, honest: Path, n_people: int, fits: bool) -> None:
        manifest = msgspec.convert(with_people(facts_of(honest)), Manifest)
        tables = read_tables(honest, ["data"])
        seen = replace(public_view(tables, manifest.layout), people=np.array([3, 3]), n_people=n_people)
        said = {each.what: each.holds for each in check._unverified_checks(seen, manifest, tables)}
        assert said["the records are those of 5 of 6 people"] is fits


@pytest.mark.parametrize(
    ("release_type", "whom"),
    [
        ("people", "people one by one, each with true values or sets that hold them"),
        ("perturbed", "people with changed values"),
        ("synthetic", "nobody: they are made up"),
    ],
)
def test_whom_the_rows_stand_for_is_an_unverified_claim(honest: Path, release_type: str, whom: str) -> None:
    facts = facts_of(honest)
    facts["layout"]["type"] = release_type
    assert outcomes(honest, facts)[f"the rows stand for {whom}"] == UNVERIFIED


class TestBranches:
    EXPLAINED = "what is explained of branches are those that the cells have"

    @pytest.mark.parametrize(
        ("branches", "problem"),
        [
            ({"1": ["0", "1"]}, "checked"),
            ({"1": ["0"], "2": ["3"]}, "checked"),
            ({"1": ["0"], "3": ["3"]}, "'age' has others"),
            ({"3": ["3"], "1": ["0"]}, "'age' has others"),
        ],
    )
    def test_a_branch_is_a_cell(self, honest: Path, branches: Facts, problem: str) -> None:
        facts = facts_of(honest)
        facts["layout"]["attributes"]["age"]["branches"] = branches
        found = outcomes(honest, facts)
        assert found[self.EXPLAINED] == problem
        assert found["what the branches stand for"] == UNVERIFIED

    def test_of_an_attribute_without_branches_nothing_is_said(self, honest: Path) -> None:
        facts = facts_of(honest)
        facts["layout"]["attributes"]["age"]["branches"] = {}
        assert self.EXPLAINED not in outcomes(honest, facts)

    def test_a_branch_may_be_a_part_of_a_cell_of_either_table(self) -> None:
        one = WrittenTable({"age": FileColumn.of(["{Europe, Asia}", None])}, np.array([1, 1]))
        other = WrittenTable({"ill": FileColumn.of(["lung"])}, np.array([1]))
        tables = {"quasi-identifiers": one, "sensitive": other}
        assert check._occur(tables, "age", {"Asia": [], "Europe": []})
        assert not check._occur(tables, "age", {"Asia": [], "Africa": []})
        assert check._occur(tables, "ill", {"lung": []})
        assert not check._occur(tables, "nowhere", {"lung": []})

    @pytest.mark.parametrize(("told", "names"), [(["age"], "age"), (["age", "ill"], "age, ill")])
    def test_that_numbers_are_whole_is_an_unverified_claim(
        self, honest: Path, told: list[str], names: str
    ) -> None:
        facts = facts_of(honest)
        assert not [what for what in outcomes(honest, facts) if "whole" in what]
        for name in told:
            facts["layout"]["attributes"][name]["whole"] = True
        assert outcomes(honest, facts)[f"all numbers are whole of {names}"] == UNVERIFIED


class TestEarlierReleases:
    ONE, OTHER = "0123456789abcdef" * 4, "f" * 64

    @pytest.mark.parametrize(
        ("parent", "earlier", "named"),
        [
            (ONE, [OTHER], True),
            (None, [], True),
            (None, [ONE, OTHER], True),
            (ONE, [ONE], False),
            (None, [ONE, ONE], False),
            (ONE[1:], [], False),
            (None, [ONE[1:] + "g"], False),
            (None, [ONE, OTHER.upper()], False),
        ],
    )
    def test_they_are_named_by_checksums(
        self, honest: Path, parent: str | None, earlier: list[str], named: bool
    ) -> None:
        facts = facts_of(honest)
        facts["parent"] = {"candidate": "7", "manifest": parent, "earlier": earlier}
        said = outcomes(honest, facts)["the recoding is that of an earlier release, candidate 7"]
        assert said == (UNVERIFIED if named else "it is not named by checksums")

    def test_a_candidate_may_have_no_name(self, honest: Path) -> None:
        facts = facts_of(honest)
        assert not [what for what in outcomes(honest, facts) if "earlier release" in what]
        facts["parent"] = {"candidate": None, "manifest": None, "earlier": []}
        assert (
            outcomes(honest, facts)["the recoding is that of an earlier release, candidate unnamed"]
            == UNVERIFIED
        )


class TestLimitsOfOneAttribute:
    """Two groups of two records: of ``even`` both have two values, of ``bare`` each has one."""

    SEEN = PublicView(
        4,
        (),
        [],
        np.array([2, 2]),
        tuple(
            SensitiveValues.of(
                name,
                FileColumn(("x", "y"), np.array(codes)),
                np.array([0, 0, 1, 1]),
                AttributeFacts(role="sensitive"),
                np.ones(4, dtype=np.int64),
            )
            for name, codes in {"even": [0, 1, 0, 1], "bare": [0, 0, 1, 1]}.items()
        ),
        False,
    )

    def values(
        self,
        attribute: str | None,
        measure: str = "distinct-diversity",
        *parameters: Facts,
        release_type: str = "people",
    ) -> list[Any]:
        limit = LimitFacts(measure=measure, parameters=None, at_least=2, at_most=None, attribute=attribute)
        claim = {"measure": measure, "parameters": {}, "attribute": None, "value": 7.0, "axis": "privacy"}
        claim |= {"better": "higher", "applicable": True, "interval": None, "baseline": None, "detail": {}}
        claims = [msgspec.convert({**claim, "parameters": each}, Claimed) for each in parameters or ({},)]
        return check._limited_values(replace(self.SEEN, type=release_type), limit, claims)

    def test_the_level_of_that_attribute_is_computed(self) -> None:
        assert (self.values("even"), self.values("bare")) == ([2.0], [1.0])

    def test_it_is_computed_with_the_parameters_of_every_claim(self) -> None:
        distances = ({"distance": "equal"}, {"distance": "js"})
        found = self.values("bare", "t-closeness", *distances)
        # (1, 0) and (0, 1) beside (1/2, 1/2)
        assert found == pytest.approx([1 / 2, jensenshannon([1, 0], [1 / 2, 1 / 2]) ** 2])

    def test_by_a_distance_that_is_none_of_ours_what_is_claimed_is_compared(self) -> None:
        distances = ({"distance": "equal"}, {"distance": "far"})
        assert self.values("even", "t-closeness", *distances) == [0.0, 7.0]

    def test_else_what_is_claimed_is_compared(self) -> None:
        assert self.values(None) == self.values("even", "own") == [7.0]

    @pytest.mark.parametrize("wrong", [{}, {"distance": []}, {"distance": None}])
    def test_what_cannot_be_computed_meets_nothing(self, wrong: Facts) -> None:
        assert self.values("even", "t-closeness", {"distance": "equal"}, wrong) == [0.0, None]

    @pytest.mark.parametrize("release_type", ["perturbed", "synthetic"])
    def test_of_rows_that_are_no_people_nothing_is_met(self, release_type: str) -> None:
        assert self.values("even", release_type=release_type) == [None]
