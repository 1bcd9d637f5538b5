"""Every statement of a manifest against the data: one change at a time, and what is said of it."""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import itertools
import json
import math
import operator
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification import check
from sfumato.verification.check import Check, FolderChecks, check_folder, expected_files, slug
from sfumato.verification.documents import Manifest
from sfumato.verification.figures import OneOf, WithinRange
from sfumato.verification.published_view import PublicView, public_view
from sfumato.verification.written_tables import FileColumn, WrittenTable, read_tables

Facts = dict[str, Any]
Change = Callable[[Facts], None]


def facts_of(folder: Path) -> Facts:
    return dict(json.loads((folder / "manifest.json").read_text("utf-8")))


def checks(folder: Path, change: Change) -> list[Check]:
    facts = facts_of(folder)
    change(facts)
    return check_folder(folder, msgspec.convert(facts, Manifest, strict=True)).checks


def failures(folder: Path, change: Change) -> dict[str, str]:
    return {each.what: each.problem for each in checks(folder, change) if not each.holds}


def unverified(folder: Path, change: Change) -> set[str]:
    return {each.what for each in checks(folder, change) if each.outcome == "unverified"}


def unchanged(_: Facts) -> None:
    pass


def claim(facts: Facts, measure: str) -> Facts:
    return next(each for each in facts["claims"] if each["measure"] == measure)


def test_an_honest_folder_holds(honest: Path) -> None:
    assert failures(honest, unchanged) == {}
    outcomes = {each.what: each.outcome for each in checks(honest, unchanged)}
    assert outcomes["data.csv and data.parquet hold the same records"] == "checked"
    assert outcomes["k-anonymity is 3"] == "checked"
    assert outcomes["privacy-loss of ill is 0.0143626"] == "checked"
    assert outcomes["k-anonymity reaches k = 3, asked was 3"] == "checked"
    assert outcomes["the policy's k-anonymity at least 3 is met"] == "checked"
    assert outcomes["the policy's general-loss at most 0.9 is met by the owner's figure"] == "unverified"
    assert outcomes["the original has 7 records"] == "unverified"
    assert outcomes["the owner's figures, told as bands (general-loss)"] == "unverified"
    assert not [what for what in outcomes if "notes" in what or "in the original" in what]


def test_an_outcome_is_one_of_three() -> None:
    assert (Check("a").outcome, Check("a").holds) == ("checked", True)
    assert (Check("a", "b").outcome, Check("a", "b").holds) == ("fails", False)
    assert (Check("a", unverified=True).outcome, Check("a", unverified=True).holds) == ("unverified", True)
    assert Check("a", "b", unverified=True).outcome == "fails"


def test_a_folder_holds_when_every_check_does() -> None:
    assert FolderChecks([Check("a"), Check("b", unverified=True)]).hold
    assert not FolderChecks([Check("a"), Check("b", "c")]).hold


HOSTILE: list[Any] = [None, True, -1, "", [], {}, ["x"]]


def places_in(document: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return every place of a document."""
    yield here
    if isinstance(document, (dict, list)):
        for key in document if isinstance(document, dict) else range(len(document)):
            yield from places_in(document[key], (*here, key))


def test_no_value_at_any_place_is_more_than_a_failed_check(honest: Path) -> None:
    """Whatever has the right type is checked, or refused in one line."""
    facts = facts_of(honest)
    facts["claims"].append(
        {
            **claim(facts, "k-anonymity"),
            "measure": "quasi-identifier-contribution",
            "parameters": {"permutations": 10},
            "detail": {
                "coarsen-first": "age",
                "average": 1 / 3,
                **{key: {"age": 1 / 6} for key in ("contribution", "average-without")},
                **{key: {"age": 0.0} for key in ("privacy-loss-without", "mean-privacy-loss-without")},
            },
        }
    )
    limit = {"measure": "privacy-loss", "parameters": None, "at_least": None, "at_most": 0.9}
    facts["policy"]["privacy-loss of ill"] = {**limit, "attribute": "ill"}
    tables = read_tables(honest, ["data"])
    n_checked = 0
    for part, value in itertools.product(("layout", "recipe", "claims", "requirements", "policy"), HOSTILE):
        for place in places_in(facts[part]):
            changed = {**facts, part: copy.deepcopy(facts[part])}
            *above, last = (part, *place)
            functools.reduce(operator.getitem, above, changed)[last] = value
            with contextlib.suppress(msgspec.ValidationError, VerificationFailed):
                manifest = msgspec.convert(changed, Manifest, strict=True)
                seen = public_view(tables, manifest.layout)
                assert [
                    *check._claim_checks(seen, manifest),
                    *check._requirement_checks(seen, manifest),
                    *check._policy_checks(seen, manifest),
                ]
                n_checked += 1
    assert n_checked > 100


class TestFiles:
    def test_the_manifest_lists_the_files_of_its_layout(self, honest: Path) -> None:
        manifest = msgspec.convert(facts_of(honest), Manifest)
        assert expected_files(manifest) == {
            "data.csv",
            "data.parquet",
            "README.md",
            "report.html",
            "datapackage.json",
        }
        two = {**facts_of(honest), "profiles": ["nist"]}
        two["layout"] = {**two["layout"], "form": "two-tables", "group": "group"}
        assert expected_files(msgspec.convert(two, Manifest)) == {
            *(
                f"{name}.{suffix}"
                for name in ("quasi-identifiers", "sensitive")
                for suffix in ("csv", "parquet")
            ),
            "README.md",
            "report.html",
            "datapackage.json",
            "report-nist.html",
        }

    def test_a_file_that_is_not_listed(self, honest: Path) -> None:
        found = failures(honest, lambda facts: facts["files"].pop("data.parquet"))
        assert found == {"manifest.json lists every file": "it lists data.parquet wrongly"}

    def test_many_files_are_not_all_named(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            some = facts["files"]["data.csv"]
            facts["files"] |= dict.fromkeys(("a", "b", "c\x1b", "d" * 100, "e"), some)

        (said,) = failures(honest, change).values()
        assert said == "it lists a, b, a file with an odd name and 2 more wrongly"
        assert check._few_names(set("abcd")) == "a, b, c and 1 more"

    def test_three_files_are_all_named(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            facts["files"] |= dict.fromkeys(("z", "y", "d" * 99), facts["files"]["data.csv"])

        assert list(failures(honest, change).values()) == [f"it lists {'d' * 99}, y, z wrongly"]

    def test_a_name_of_a_hundred_characters_is_not_shown(self, honest: Path) -> None:
        some = facts_of(honest)["files"]["data.csv"]
        found = failures(honest, lambda facts: facts["files"].update({"d" * 100: some}))
        assert list(found.values()) == ["it lists a file with an odd name wrongly"]

    def test_a_changed_file_ends_the_checks(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            facts["files"]["data.csv"]["bytes"] += 1

        found = checks(honest, change)
        assert [each.what for each in found if not each.holds] == ["data.csv has its checksum"]
        assert not [each for each in found if "k-anonymity" in each.what]

    def test_a_checksum_and_a_length_must_both_fit(self, honest: Path) -> None:
        for part, value in (("sha256", "0" * 64), ("bytes", 1)):
            found = failures(honest, lambda facts, p=part, v=value: facts["files"]["data.csv"].update({p: v}))  # type: ignore[misc]
            assert found == {"data.csv has its checksum": "the file was changed after it was published"}

    def test_what_lies_beside(self, honest: Path, tmp_path: Path) -> None:
        folder = tmp_path / "out"
        shutil.copytree(honest, folder)
        (folder / "extra").touch()
        assert failures(folder, unchanged) == {"the folder holds no other file": "there is also extra"}
        (folder / "extra").unlink()
        (folder / "signature.json").touch()
        said = {"the folder holds no other file": "there is also signature.json"}
        assert failures(folder, unchanged) == said
        # it belongs to a manifest that is signed
        assert failures(folder, lambda facts: facts.update(signed_by="SHA256:0")) == {}
        (folder / "signature.json").unlink()
        missing = {"signature.json is there": "the file is missing"}
        assert failures(folder, lambda facts: facts.update(signed_by="SHA256:0")) == missing
        (folder / "certificate.json").unlink()
        assert failures(folder, unchanged) == {"certificate.json is there": "the file is missing"}
        (folder / "data.csv").unlink()
        assert failures(folder, unchanged)["data.csv has its checksum"] == "data.csv is missing"

    def test_profiles_are_named_once_in_order(self, honest: Path) -> None:
        def problem(*profiles: str) -> str | None:
            found = failures(honest, lambda facts: facts.update(profiles=list(profiles)))
            return found.get("every profile is named once, in the usual order")

        assert problem("ema", "nist") is None
        assert problem("nist", "ema") == problem("nist", "nist") == "it is not"

    def test_data_that_the_manifest_does_not_describe(self, honest: Path) -> None:
        found = failures(honest, lambda facts: facts["layout"].update(n_original=5))
        what = "the published data is what the manifest describes"
        assert found == {what: "there are more records than the manifest says that the original has"}

    def test_files_are_checked_in_the_order_of_their_names(self, honest: Path) -> None:
        said = [each.what.split()[0] for each in checks(honest, unchanged)][2:8]
        assert len(said) == 6
        assert said == sorted(said)

    @pytest.mark.parametrize("part", ["$schema", "name", "title", "description", "resources"])
    def test_the_data_package_describes_these_files(self, honest: Path, tmp_path: Path, part: str) -> None:
        folder = tmp_path / "out"
        shutil.copytree(honest, folder)
        package = json.loads((folder / "datapackage.json").read_text("utf-8"))
        package[part] = package[part] * 2 or "x"
        (folder / "datapackage.json").write_text(json.dumps(package), "utf-8")

        def change(facts: Facts) -> None:
            content = (folder / "datapackage.json").read_bytes()
            facts["files"]["datapackage.json"] = {
                "sha256": hashlib.sha256(content).hexdigest(),
                "bytes": len(content),
            }

        assert failures(folder, change) == {
            "datapackage.json describes these files": "it says something else"
        }

    def test_a_title_as_a_name(self) -> None:
        assert slug("Ärzte 2024: A&B") == "rzte-2024-a-b"
        assert slug("²") == "release"


class TestClaims:
    def test_the_smallest_class_must_be_claimed(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            facts["claims"] = [each for each in facts["claims"] if each["measure"] != "k-anonymity"]

        assert failures(honest, change) == {
            "the smallest class and its risk are claimed": "no claim of k-anonymity",
            "the policy's k-anonymity at least 3": "nothing is said of what it limits",
        }

    def test_a_claim_that_stands_twice(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            facts["claims"].append(facts["claims"][0])

        assert failures(honest, change) == {"privacy-loss is claimed once": "it is claimed again"}

    def test_two_claims_of_one_attribute(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            facts["claims"].insert(0, facts["claims"][0])

        what = "privacy-loss is claimed of every sensitive attribute"
        assert failures(honest, change) == {what: "2 claims, not 1"}

    def test_the_same_measure_with_other_parameters_is_another_claim(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            other = copy.deepcopy(facts["claims"][0])
            other["parameters"]["threshold"] = 0.2
            facts["claims"].append(other)

        assert failures(honest, change) == {}

    def test_a_measure_that_is_none_of_ours_is_an_unverified_claim(self, honest: Path) -> None:
        said = unverified(honest, lambda facts: claim(facts, "privacy-loss").update(measure="own"))
        assert "own of ill is 0.0143626, by a measure that is no part of sfumato" in said

    @pytest.mark.parametrize(
        "parameters", [{}, {"threshold": 0.1}, {"threshold": 0.1, "distance": "js", "more": 1}]
    )
    def test_parameters_that_it_does_not_take(self, honest: Path, parameters: Facts) -> None:
        found = failures(honest, lambda facts: claim(facts, "privacy-loss").update(parameters=parameters))
        assert found == {"privacy-loss has the parameters that it takes": "it has others"}

    def test_a_distance_that_is_none_of_ours_is_an_unverified_claim(self, honest: Path) -> None:
        said = unverified(
            honest, lambda facts: claim(facts, "privacy-loss")["parameters"].update(distance="far")
        )
        assert "privacy-loss of ill is 0.0143626, by a distance that is no part of sfumato" in said

    @pytest.mark.parametrize("wrong", [{"threshold": "x"}, {"distance": []}])
    def test_parameters_that_nothing_can_be_computed_with(self, honest: Path, wrong: Facts) -> None:
        found = failures(honest, lambda facts: facts["claims"][0]["parameters"].update(wrong))
        assert found == {"privacy-loss has parameters that it can be computed with": "it has not"}

    def test_a_model_may_be_claimed_with_its_limit_or_without(self, honest: Path) -> None:
        assert failures(honest, lambda facts: claim(facts, "k-anonymity").update(parameters={"k": 3})) == {
            "the policy's k-anonymity at least 3": "nothing is said of what it limits"
        }

    def test_another_value(self, honest: Path) -> None:
        found = failures(honest, lambda facts: claim(facts, "k-anonymity").update(value=4))
        assert found == {"k-anonymity is 4": "the published cells give 3"}
        found = failures(honest, lambda facts: claim(facts, "privacy-loss").update(value=None))
        assert found == {"privacy-loss of ill is not applicable": "the published cells give 0.0143626"}

    @pytest.mark.parametrize(
        ("part", "value"),
        [
            ("axis", "utility"),
            ("better", "higher"),
            ("attribute", "age"),
            ("attribute", None),
            ("applicable", False),
            ("baseline", 0.0),
            ("interval", [0.0, 1.0]),
            ("detail", {}),
        ],
    )
    def test_what_stands_beside_the_value(self, honest: Path, part: str, value: Any) -> None:
        found = failures(honest, lambda facts: claim(facts, "privacy-loss").update({part: value}))
        assert list(found.values()) == ["the value is right, but not what is said beside it"]

    @pytest.mark.parametrize(
        ("claimed", "found", "same"),
        [
            (0.5, 0.5, True),
            (0.5 + 4e-10, 0.5, True),
            (0.5 + 3e-9, 0.5, False),
            (4e-10, 0.0, True),
            (3e-9, 0.0, False),
            (1e9 + 0.5, 1e9, True),
            (1e9 + 3, 1e9, False),
            (1, 1.0, True),
            (True, 1, False),
            (1, True, False),
            (True, True, True),
            (False, True, False),
            ("x", "x", True),
            ("x", "y", False),
            ("1", 1, False),
            (1, "1", False),
            (None, None, True),
            (0, None, False),
            (None, 0, False),
            ("Infinity", math.inf, True),
            ("-Infinity", math.inf, False),
            ("-Infinity", -math.inf, True),
            (1e300, math.inf, False),
            ("a", OneOf(frozenset("ab")), True),
            ("c", OneOf(frozenset("ab")), False),
            (["a"], OneOf(frozenset("ab")), False),
            (0.2, WithinRange(0.2, 0.4), True),
            (0.4, WithinRange(0.2, 0.4), True),
            (0.2 - 1e-10, WithinRange(0.2, 0.4), True),
            (0.4 + 1e-10, WithinRange(0.2, 0.4), True),
            (0.2 - 1e-8, WithinRange(0.2, 0.4), False),
            (0.4 + 1e-8, WithinRange(0.2, 0.4), False),
            ("0.3", WithinRange(0.2, 0.4), False),
            (True, WithinRange(0.5, 1.0), False),
            ([1, 2], [1, 2], True),
            ([1, 3], [1, 2], False),
            ([1], [1, 2], False),
            ([1, 2], [1], False),
            ((1, 2), [1, 2], False),
            ({"a": 1}, {"a": 1}, True),
            ({"a": 1, "b": 2}, {"a": 1}, False),
            ({}, {"a": 1}, False),
            ({"a": 2}, {"a": 1}, False),
            ({"a": 1, "b": 3}, {"a": 1, "b": 2}, False),
            ([1], {"a": 1}, False),
        ],
    )
    def test_what_is_the_same(self, claimed: Any, found: Any, same: bool) -> None:
        assert check._agrees(claimed, found) is same


def requirement(facts: Facts, model: str) -> Facts:
    return next(each for each in facts["requirements"] if model in each["model"])


class TestRequirements:
    PROMISES = "the recipe promises what is required, and nothing else"
    LACKING = "a model that the recipe promises is not required"

    def test_every_model_of_the_recipe_is_required(self, honest: Path) -> None:
        found = failures(honest, lambda facts: facts["requirements"].pop())
        assert found == {self.PROMISES: self.LACKING}

    def test_what_the_recipe_does_not_promise_is_not_required(self, honest: Path) -> None:
        found = failures(honest, lambda facts: facts["recipe"]["parameters"].update(model={}))
        assert found == {self.PROMISES: "a model is required that the recipe does not promise"}

    def test_a_method_of_others_may_promise_more(self, honest: Path) -> None:
        assert failures(honest, lambda facts: facts["recipe"].update(sanitizer="own", parameters={})) == {}

    def test_alpha_k_anonymity_promises_k_anonymity_too(self, honest: Path) -> None:
        own = {"alpha-k-anonymity": {"alpha": 0.7, "k": 3, "alphas": {}}}

        def change(facts: Facts, k: int = 3) -> None:
            facts["recipe"]["parameters"]["model"] = {
                "alpha-k-anonymity": {"alpha": 0.7, "k": k, "alphas": {}}
            }
            facts["requirements"][1] = {
                "model": own,
                "parameter": "alpha",
                "limit": 0.7,
                "reached": 2 / 3,
                "prior": "released",
            }

        assert failures(honest, change) == {}
        assert self.PROMISES in failures(honest, lambda facts: change(facts, 4))

        def without_k(facts: Facts) -> None:
            change(facts)
            del facts["requirements"][0]

        assert failures(honest, without_k) == {self.PROMISES: self.LACKING}

        def without_recipe(facts: Facts) -> None:
            without_k(facts)
            facts["recipe"]["parameters"]["model"] = {}

        assert failures(honest, without_recipe) == {self.PROMISES: self.LACKING}

    def test_a_model_that_is_none_of_ours_is_an_unverified_claim(self, honest: Path) -> None:
        said = unverified(
            honest, lambda facts: requirement(facts, "k-anonymity").update(model={"own": {"k": 3}})
        )
        assert "own reaches k = 3, asked was 3, by a model that is no part of sfumato" in said

    @pytest.mark.parametrize(
        "model",
        [
            {},
            {"k-anonymity": {}},
            {"k-anonymity": {"k": 3, "l": 2}},
            {"k-anonymity": {"k": 3}, "own": {}},
            {"own": {}, "k-anonymity": {"k": 3}},
        ],
    )
    def test_a_model_has_its_parameters(self, honest: Path, model: Facts) -> None:
        found = failures(honest, lambda facts: requirement(facts, "k-anonymity").update(model=model))
        assert "the model does not have the parameters that it takes" in found.values()

    @pytest.mark.parametrize("other", [{"parameter": "t"}, {"limit": 2.0}, {"limit": 4.0}])
    def test_the_limit_is_the_one_that_the_model_names(self, honest: Path, other: Facts) -> None:
        found = failures(honest, lambda facts: requirement(facts, "k-anonymity").update(other))
        assert list(found.values()) == ["the limit is not the one that the model names"]

    def test_what_is_reached_is_what_the_cells_reach(self, honest: Path) -> None:
        found = failures(honest, lambda facts: requirement(facts, "k-anonymity").update(reached=4.0))
        assert found == {"k-anonymity reaches k = 4, asked was 3": "the published cells reach 3"}

    def test_a_level_by_a_distance_that_is_none_of_ours_is_an_unverified_claim(self, honest: Path) -> None:
        model = {"t-closeness": {"t": 0.5, "distance": "far"}}
        said = unverified(honest, lambda facts: requirement(facts, "t-closeness").update(model=model))
        assert (
            "t-closeness reaches t = 0.166667, asked was 0.5, by a distance that is no part of sfumato"
            in said
        )

    def test_parameters_that_no_level_can_be_computed_with(self, honest: Path) -> None:
        model = {"t-closeness": {"t": 0.5, "distance": []}}
        found = failures(honest, lambda facts: requirement(facts, "t-closeness").update(model=model))
        assert "the published cells reach not applicable" in found.values()

    def stricter(self, limit: float, prior: str = "released") -> Change:
        def change(facts: Facts) -> None:
            asked = {"t-closeness": {"t": limit, "distance": "equal"}}
            requirement(facts, "t-closeness").update(model=asked, limit=limit, prior=prior)
            facts["recipe"]["parameters"]["model"]["t-closeness"]["t"] = limit

        return change

    def test_what_was_asked_must_be_reached(self, honest: Path) -> None:
        assert failures(honest, self.stricter(0.2)) == {}
        said = "t-closeness reaches t = 0.166667, asked was 0.1"
        assert failures(honest, self.stricter(0.1)) == {said: "what was asked is not reached"}

    def test_with_records_left_out_the_original_prior_may_keep_it(self, honest: Path) -> None:
        change = self.stricter(0.1, "original")
        assert failures(honest, change) == {}
        assert (
            "t-closeness reaches t = 0.166667, asked was 0.1: it is kept by the distribution of all original "
            "records, not by that of the released ones" in unverified(honest, change)
        )

    def test_with_no_record_left_out_there_is_no_other_prior(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            self.stricter(0.1, "original")(facts)
            facts["layout"]["n_original"] = 6

        assert "what was asked is not reached" in failures(honest, change).values()

    def test_a_level_that_needs_no_prior_has_no_such_excuse(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            asked = {"k-anonymity": {"k": 4}}
            requirement(facts, "k-anonymity").update(model=asked, limit=4.0, prior="original")
            facts["recipe"]["parameters"]["model"]["k-anonymity"]["k"] = 4

        assert "what was asked is not reached" in failures(honest, change).values()

    def test_what_is_kept_is_not_called_an_unverified_claim(self, honest: Path) -> None:
        found = failures(honest, lambda facts: requirement(facts, "k-anonymity").update(prior="original"))
        assert list(found.values()) == ["it is called an unverified claim, but the published cells keep it"]


class TestPolicy:
    def found(self, honest: Path, **limit: Any) -> dict[str, str]:
        facts = {"measure": "k-anonymity", "parameters": None, "at_least": None, "at_most": None, **limit}

        def change(manifest: Facts) -> None:
            manifest["policy"] = {"own": facts}
            manifest["unverified"]["figures"][0]["met"] = None

        return failures(honest, change)

    @pytest.mark.parametrize(
        "limit",
        [
            {"at_least": 3.0},
            {"at_most": 3.0},
            {"at_least": 3 + 5e-13},
            {"at_most": 3 - 5e-13},
            {"at_least": 2.0, "at_most": 4.0},
            {"measure": "reidentification-risk", "at_most": 1 / 3},
        ],
    )
    def test_a_limit_that_is_met(self, honest: Path, limit: Facts) -> None:
        assert self.found(honest, **limit) == {}

    @pytest.mark.parametrize(
        "limit",
        [
            {"at_least": 3.1},
            {"at_most": 2.9},
            {"at_least": 3 + 1e-11},
            {"at_most": 3 - 1e-11},
            {"at_least": 4.0, "at_most": 5.0},
            {"at_least": 1.0, "at_most": 2.0},
        ],
    )
    def test_a_limit_that_is_not_met(self, honest: Path, limit: Facts) -> None:
        assert list(self.found(honest, **limit).values()) == ["a claim does not meet it"]

    def test_a_limit_is_told_in_words(self, honest: Path) -> None:
        assert set(self.found(honest, at_least=4.0, at_most=0.5)) == {
            "the policy's own at least 4 and at most 0.5 is met",
            "the decision and what was tried can have been so",
        }

    def test_a_limit_of_nothing(self, honest: Path) -> None:
        assert self.found(honest) == {"the policy's own ": "it limits nothing"}
        assert self.found(honest, at_least=0.0) == {}
        assert self.found(honest, at_most=0.0) != {}

    def test_what_nobody_claims_cannot_be_met(self, honest: Path) -> None:
        for limit in ({"measure": "weighted-k"}, {"measure": "k-anonymity", "parameters": {"k": 3}}):
            found = self.found(honest, at_least=1.0, **limit)
            assert list(found.values()) == ["nothing is said of what it limits"]

    def test_the_owner_s_figure_must_be_said_to_meet_it(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            facts["unverified"]["figures"][0]["met"] = False

        what = "the policy's general-loss at most 0.9 is met by the owner's figure"
        assert failures(honest, change) == {what: "it is said not to be"}

    @pytest.mark.parametrize("values", [(1.0, 5.0), (5.0, 1.0), (5.0, 5.0)])
    def test_every_claim_and_every_figure_must_meet_it(
        self, honest: Path, values: tuple[float, float]
    ) -> None:
        def change(facts: Facts) -> None:
            claims = [{**claim(facts, "k-anonymity"), "measure": "own", "value": value} for value in values]
            facts["claims"] += claims
            limit = {**facts["policy"]["general-loss"], "measure": "own", "at_most": 2.0}
            figure = facts["unverified"]["figures"][0]
            facts["unverified"]["figures"] = [
                {**figure, "met": value < 2, "attribute": name}
                for name, value in zip(("age", "ill"), values, strict=True)
            ]
            facts["policy"]["own"] = limit

        assert failures(honest, change) == {
            "the policy's own at most 2 is met": "a claim does not meet it",
            "the policy's general-loss at most 0.9 is met by the owner's figure": "it is said not to be",
        }

    def test_what_is_met_by_a_measure_of_others_is_an_unverified_claim(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            facts["claims"].append({**claim(facts, "k-anonymity"), "measure": "own"})
            facts["policy"] = {
                name: {**facts["policy"]["k-anonymity"], "measure": name} for name in ("own", "k-anonymity")
            }

        outcomes = {each.what: each.outcome for each in checks(honest, change)}
        assert outcomes["the policy's own at least 3 is met"] == "unverified"
        assert outcomes["the policy's k-anonymity at least 3 is met"] == "checked"

    def test_a_figure_that_does_not_apply_meets_nothing(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            claim(facts, "k-anonymity").update(value=None)

        assert "the policy's k-anonymity at least 3 is met" in failures(honest, change)

    def test_infinity_is_above_every_limit(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            claim(facts, "k-anonymity").update(value="Infinity")

        assert "the policy's k-anonymity at least 3 is met" not in failures(honest, change)

    def test_minus_infinity_is_below_every_limit(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            claim(facts, "k-anonymity").update(value="-Infinity")
            facts["policy"]["k-anonymity"].update(at_least=None, at_most=3.0)

        assert "the policy's k-anonymity at most 3 is met" not in failures(honest, change)


class TestUnverifiedClaims:
    ROLES = "the attributes have the same roles wherever they are named"

    def attribute(self, facts: Facts, name: str) -> Facts:
        return next(each for each in facts["unverified"]["attributes"] if each["name"] == name)

    def test_roles_are_the_same_everywhere(self, honest: Path) -> None:
        found = failures(honest, lambda facts: self.attribute(facts, "ill").update(role="insensitive"))
        assert found == {self.ROLES: "they have not"}
        found = failures(honest, lambda facts: facts["unverified"]["attributes"].pop())
        assert found == {self.ROLES: "they have not"}

    def test_an_identifying_attribute_is_not_released(self, honest: Path) -> None:
        def more(name: str, role: str = "identifying") -> Change:
            return lambda facts: facts["unverified"]["attributes"].append(
                {
                    **self.attribute(facts, "age"),
                    **dict.fromkeys(("levels", "lowest", "weight", "exact")),
                    "name": name,
                    "role": role,
                }
            )

        assert failures(honest, more("name")) == {}
        assert failures(honest, more("name", "withheld")) == {}
        for again in (more("ill", "withheld"), more("ill"), more("age", "quasi-identifying")):
            assert failures(honest, again)[self.ROLES] == "they have not"

        def twice(facts: Facts) -> None:
            more("name")(facts)
            more("name")(facts)

        assert failures(honest, twice) == {self.ROLES: "they have not"}

    def test_no_more_cells_are_exact_than_are_told(self, honest: Path) -> None:
        what = "no more cells are called exact than are told"
        found = failures(honest, lambda facts: self.attribute(facts, "age").update(exact=7))
        assert found[what] == "'age' has fewer"
        for exact in (0, 6, None):
            found = failures(honest, lambda facts, n=exact: self.attribute(facts, "age").update(exact=n))  # type: ignore[misc]
            assert what not in found

    def test_a_withheld_cell_tells_nothing(self) -> None:
        people = WrittenTable({"age": FileColumn.of(["*", "1", None])}, np.array([2, 1, 1]))
        seen = PublicView(9, ("age",), [np.arange(3)], np.array([2, 1, 1]), (), False)
        assert check._released_cells(seen, {"data": people}, "age") == 2
        # of what the second table tells every record has a value
        assert check._released_cells(seen, {"quasi-identifiers": people, "sensitive": people}, "ill") == 4

    def test_of_what_is_withheld_no_cell_is_exact(self, honest: Path) -> None:
        facts = facts_of(honest)
        for name, exact in (("age", 0), ("ill", 6)):
            self.attribute(facts, name)["exact"] = exact
        manifest = msgspec.convert(facts, Manifest)
        cells = {"age": FileColumn.of(["*"] * 6), "ill": FileColumn.of("xyxyyx")}
        tables = {"data": WrittenTable(cells, np.ones(6, dtype=np.int64))}
        seen = public_view(tables, manifest.layout)
        assert all(each.holds for each in check._unverified_checks(seen, manifest, tables))

    def test_what_is_an_unverified_claim_is_said_to_be(self, honest: Path) -> None:
        assert unverified(honest, unchanged) == {
            "the policy's general-loss at most 0.9 is met by the owner's figure",
            "roles, kinds and hierarchies of the attributes, and which cells are exact",
            "the original has 7 records",
            "the rows stand for people one by one, each with true values or sets that hold them",
            "the release was made by full-domain as the recipe says",
            "sfumato 1.0 wrote it",
            "who decided, when and why, and what is said of purpose, recipients and safeguards",
            "how many candidates were tried: 1",
            "the owner's figures, told as bands (general-loss)",
        }

    def test_what_else_is_an_unverified_claim_is_named(self, honest: Path) -> None:
        def change(facts: Facts) -> None:
            facts["unverified"] |= {
                "notes": ["one"],
                "figures": [
                    {**facts["unverified"]["figures"][0], "measure": name} for name in ("a", "b", "a")
                ],
                "initial": {key: {"low": 0.1, "high": 0.2} for key in ("worst", "average")},
                "tried": {"a": 4, "b": 5},
            }

        said = unverified(honest, change)
        assert "the notes of the method" in said
        assert "the owner's figures, told as bands (a, b)" in said
        assert "how well people could be found in the original, told as bands" in said
        assert "how many candidates were tried: 9" in said
        without = unverified(
            honest, lambda facts: facts.update(policy={}, unverified={**facts["unverified"], "figures": []})
        )
        assert not [what for what in without if "owner" in what]
