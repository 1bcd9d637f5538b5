"""Publishing writes all or nothing, and verifying notices whatever was changed."""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sfumato import measure
from sfumato.models import KAnonymity, ProbabilisticDiversity, TCloseness
from sfumato.reading import datasets
from sfumato.reading.read_table import read
from sfumato.registry.recipe import Recipe
from sfumato.results.candidate import Candidate
from sfumato.results.frontier import Frontier
from sfumato.results.manifest import measurement_of
from sfumato.results.measurement import build_measure
from sfumato.results.pareto import Limit
from sfumato.results.policy import Policy
from sfumato.results.recipients import NOBODY
from sfumato.runtime.errors import PolicyNotMet, UserError, VerificationFailed
from sfumato.sanitizers import (
    Anatomy,
    AsIs,
    Bucketize,
    Cut,
    FullDomain,
    Laplace,
    Mondrian,
    SuppressQuasiIdentifiers,
    SuppressSensitive,
    sanitize,
)
from sfumato.verification.check import Check
from sfumato.verification.documents import numeral, read_manifest
from sfumato.workflow.project.project_file import Project
from sfumato.workflow.publish.data_files import formula_columns, write_release
from sfumato.workflow.publish.folder_layout import Layout, read_back, tables_of
from sfumato.workflow.publish.publication_request import Evidence, PublicationRequest
from sfumato.workflow.publish.publish import publish, publish_candidate
from sfumato.workflow.publish.verify import verify

WAYS = [
    AsIs(),
    SuppressQuasiIdentifiers(),
    SuppressSensitive(),
    Mondrian(KAnonymity(2)),
    Mondrian(KAnonymity(3), "relaxed"),
    Mondrian(KAnonymity(3) & TCloseness(0.6, "hierarchical")),
    Mondrian(KAnonymity(3) & TCloseness(0.6, "ordered")),
    FullDomain({"zip": 2, "age": 1, "sex": 1}, KAnonymity(3), suppression=0.5),
    FullDomain({"zip": 2, "age": 1, "sex": 1}, KAnonymity(2) & ProbabilisticDiversity(1.5), suppression=0.5),
    Cut({"zip": "000100", "sex": "0"}, KAnonymity(1)),
    Bucketize(ProbabilisticDiversity(2)),
    Bucketize(ProbabilisticDiversity(2), form="two-tables"),
    Anatomy(3),
    Anatomy(2, "one-table"),
    Laplace(1.0),
]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "hospital.csv").write_bytes((datasets.FOLDER / "hospital.csv").read_bytes())
    (tmp_path / "diagnosis.csv").write_bytes(
        (datasets.FOLDER / "hierarchies" / "hospital" / "diagnosis.csv").read_bytes()
    )
    place = tmp_path / "hospital.toml"
    place.write_text(
        """
        policy.recipient = "none"
        [data]
        path = "hospital.csv"
        [publication]
        title = "Twelve <b>patients</b>"
        [attributes]
        name = { role = "identifying" }
        zip = { role = "quasi-identifying", hierarchy = { prefixes = [4, 3] } }
        sex = { role = "quasi-identifying" }
        diagnosis = { role = "sensitive", hierarchy = { csv = "diagnosis.csv" } }
        [attributes.age]
        role = "quasi-identifying"
        kind = "numeric"
        hierarchy = { intervals = [10, 20] }
        public = { whole = true, bounds = [0, 100] }
        """,
        encoding="utf-8",
    )
    return Project.load(place)


def published(project: Project, how: object, folder: Path, **more: Any) -> Path:
    table, schema = project.read()
    recipe = Recipe.of(how, seed=5)
    release = sanitize(table, schema, recipe)
    candidate = Candidate("c0ffee00", recipe, tuple(measure(release, project.measures)))
    evidence = Evidence(Frontier((candidate,), project.axes))
    publish_candidate(
        project,
        table,
        schema,
        candidate,
        PublicationRequest(folder, evidence=evidence, allow_singling_out=True, **more),
    )
    return folder


def read_rows(place: Path) -> list[list[str]]:
    with place.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def problems(folder: Path) -> list[Check]:
    return [check for check in verify(folder) if not check.holds]


@pytest.mark.parametrize("how", WAYS, ids=lambda how: str(Recipe.of(how)))
class TestEveryWay:
    def test_every_measure_of_classes_and_groups_verifies(
        self, project: Project, tmp_path: Path, how: object
    ) -> None:
        asked = (
            {"privacy-loss": {"threshold": 0.05}},
            "privacy-loss",
            "disclosure-quotient",
            "information-gain",
            "weighted-k",
            "marketer-risk",
            {"journalist-risk": {"population-size": 1200}},
            "quasi-identifier-contribution",
            {"t-closeness": {"distance": "js"}},
        )
        utility = ("discernibility", {"average-class-size": {"k": 3}}, "precision")
        folder = published(replace(project, privacy=asked, utility=utility), how, tmp_path / "out")
        claims = [measurement_of(claim).label for claim in read_manifest(folder).claims]
        wanted: list[Any] = [*asked, *utility[:2], "k-anonymity", "reidentification-risk"]
        assert list(dict.fromkeys(claims)) == [build_measure(each).label for each in wanted]
        assert not problems(folder)

    def test_what_was_published_verifies(self, project: Project, tmp_path: Path, how: object) -> None:
        folder = published(project, how, tmp_path / "out")
        checks = verify(folder)
        assert len(checks) > 8
        assert not problems(folder)

    def test_one_changed_cell_fails(self, project: Project, tmp_path: Path, how: object) -> None:
        folder = published(project, how, tmp_path / "out")
        for place in sorted(folder.glob("*.csv")):
            honest = place.read_text("utf-8")
            lines = honest.splitlines()
            lines[-1] = lines[-1] + "x"
            place.write_text("\n".join(lines) + "\n", "utf-8")
            assert problems(folder), place.name
            place.write_text(honest, "utf-8")
        assert not problems(folder)

    def test_a_forger_who_mends_the_checksum_is_caught(
        self, project: Project, tmp_path: Path, how: object
    ) -> None:
        folder = published(project, how, tmp_path / "out")
        place = sorted(folder.glob("*.csv"))[0]
        rows = read_rows(place)
        rows[1][0] = "99999"
        with place.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        mend_checksums(folder)
        assert any("same records" in check.what for check in problems(folder))

    def test_reading_back_gives_the_figures_of_the_release(
        self, project: Project, tmp_path: Path, how: object
    ) -> None:
        table, schema = project.read()
        release = sanitize(table, schema, how)  # type: ignore[arg-type]
        seen = read_back(tables_of(release, typed=False), Layout.of(release))
        names = ["k-anonymity", "reidentification-risk", "weighted-k", "discernibility"]
        if release.n_suppressed == 0:
            names += ["privacy-loss", "knowledge-gain", "accuracy-gain", "probabilistic-diversity"]
            names += [
                "t-closeness",
                "entropy-diversity",
                "distinct-diversity",
                "recursive-diversity",
                "confidence-bound",
                "beta-likeness",
                "delta-disclosure",
            ]
        for ours, theirs in zip(measure(release, names), measure(seen, names), strict=True):
            if ours.applicable:
                assert theirs.value == pytest.approx(ours.value, abs=1e-12), ours.measure


def mend_checksums(folder: Path) -> None:
    place = folder / "manifest.json"
    facts = json.loads(place.read_text("utf-8"))
    for name in facts["files"]:
        written = (folder / name).read_bytes()
        facts["files"][name] = {"sha256": hashlib.sha256(written).hexdigest(), "bytes": len(written)}
    place.write_text(json.dumps(facts), "utf-8")


class TestClaims:
    def test_a_forged_claim_is_caught(self, project: Project, tmp_path: Path) -> None:
        folder = published(project, Mondrian(KAnonymity(3)), tmp_path / "out")
        place = folder / "manifest.json"
        facts = json.loads(place.read_text("utf-8"))
        claim = next(claim for claim in facts["claims"] if claim["measure"] == "k-anonymity")
        claim["value"] = 12.0
        place.write_text(json.dumps(facts), "utf-8")
        found = problems(folder)[0]
        assert found.what == "k-anonymity is 12"
        assert found.problem == "the published cells give 3"

    def test_a_forger_who_changes_both_files_and_the_checksums_is_caught_by_the_claims(
        self, project: Project, tmp_path: Path
    ) -> None:
        folder = published(project, Mondrian(KAnonymity(3)), tmp_path / "out")
        rows = read_rows(folder / "data.csv")
        rows[1][0] = "elsewhere"
        with (folder / "data.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        columns = {head: [row[i] for row in rows[1:]] for i, head in enumerate(rows[0])}
        pq.write_table(pa.table(columns), folder / "data.parquet")
        mend_checksums(folder)
        assert any(check.what.startswith("k-anonymity") for check in problems(folder))

    def test_requirements_say_what_was_asked_and_reached(self, project: Project, tmp_path: Path) -> None:
        folder = published(project, Mondrian(KAnonymity(2) & TCloseness(0.6)), tmp_path / "out")
        asked = {
            next(iter(r.model)): (r.limit, numeral(r.reached)) for r in read_manifest(folder).requirements
        }
        assert asked["k-anonymity"][1] >= asked["k-anonymity"][0] == 2
        assert asked["t-closeness"][1] <= asked["t-closeness"][0] == 0.6

    def test_with_suppressed_records_nothing_tells_their_sensitive_values(
        self, project: Project, tmp_path: Path
    ) -> None:
        how = FullDomain({"zip": 2, "age": 1, "sex": 1}, KAnonymity(3) & ProbabilisticDiversity(1.5), 0.5)
        folder = published(project, how, tmp_path / "out")
        table, schema = project.read()
        release = sanitize(table, schema, how)
        kept = Counter(row["diagnosis"] for row in release.to_arrow().to_pylist())
        gone = set(table["diagnosis"].domain) - set(kept)
        assert release.n_suppressed > 0
        assert gone
        for place in (folder / "manifest.json", folder / "datapackage.json", folder / "data.csv"):
            for value in gone:
                assert str(value) not in place.read_text("utf-8")

    @pytest.mark.parametrize(
        "broken", ["", "{", '{"format": 3}', '{"format": 3, "format": 3}', "[" * 100_000]
    )
    def test_a_damaged_manifest_is_one_line(self, project: Project, tmp_path: Path, broken: str) -> None:
        folder = published(project, AsIs(), tmp_path / "out")
        (folder / "manifest.json").write_text(broken, "utf-8")
        with pytest.raises(VerificationFailed, match=r"manifest\.json is damaged") as caught:
            verify(folder)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("other", "problem"),
        [
            ("[]", "names no format"),
            ('{"sfumato": "0"}', "names no format"),
            ('{"format": 1}', "has format 1, from before"),
        ],
    )
    def test_a_manifest_of_an_earlier_format_is_told_so(
        self, project: Project, tmp_path: Path, other: str, problem: str
    ) -> None:
        folder = published(project, AsIs(), tmp_path / "out")
        (folder / "manifest.json").write_text(other, "utf-8")
        with pytest.raises(VerificationFailed, match=problem):
            verify(folder)

    def test_a_manifest_of_a_later_format_leaves_everything_open(
        self, project: Project, tmp_path: Path
    ) -> None:
        folder = published(project, AsIs(), tmp_path / "out")
        (folder / "manifest.json").write_text('{"format": 99, "sfumato": "9.0.0"}', "utf-8")
        found = verify(folder)
        assert (bool(found), found.failed, found.exit_code) == (False, (), 4)
        assert found.outcome.endswith("verify it with sfumato 9.0.0 or a later version")

    def test_a_missing_file_is_named(self, project: Project, tmp_path: Path) -> None:
        folder = published(project, AsIs(), tmp_path / "out")
        (folder / "data.parquet").unlink()
        assert Check("data.parquet has its checksum", "data.parquet is missing") in verify(folder)

    def test_a_manifest_cannot_point_outside_the_folder(self, project: Project, tmp_path: Path) -> None:
        folder = published(project, AsIs(), tmp_path / "out")
        place = folder / "manifest.json"
        facts = json.loads(place.read_text("utf-8"))
        facts["files"]["../hospital.csv"] = {"sha256": "0", "bytes": 1}
        place.write_text(json.dumps(facts), "utf-8")
        assert any("../hospital.csv" in check.problem for check in problems(folder))

    def test_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(VerificationFailed, match="no folder"):
            verify(tmp_path / "none")


class TestWriting:
    def test_rows_do_not_lie_in_the_order_of_the_original(self, project: Project, tmp_path: Path) -> None:
        folder = published(project, AsIs(), tmp_path / "out")
        original = [row[1] for row in read_rows(project.data_path)]
        released = [row[0] for row in read_rows(folder / "data.csv")]
        assert sorted(original) == sorted(released)
        assert original != released

    def test_nothing_is_left_when_the_policy_forbids(self, project: Project, tmp_path: Path) -> None:
        strict = replace(project, policy=Policy(NOBODY, {"k-anonymity": Limit(at_least=5)}))
        before = sorted(tmp_path.iterdir())
        with pytest.raises(PolicyNotMet, match="k-anonymity is 1, must be at least 5"):
            published(strict, AsIs(), tmp_path / "out")
        assert sorted(tmp_path.iterdir()) == before

    def test_nothing_is_left_when_writing_breaks_off(
        self, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def interrupted(*_: object, **__: object) -> str:
            raise KeyboardInterrupt

        monkeypatch.setattr("sfumato.workflow.report.reviewer_profiles.published_pages", interrupted)
        before = sorted(tmp_path.iterdir())
        with pytest.raises(KeyboardInterrupt):
            published(project, AsIs(), tmp_path / "out")
        assert sorted(tmp_path.iterdir()) == before

    def test_what_does_not_verify_is_not_published(
        self, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        wrong = [Check("something", "is wrong")]
        monkeypatch.setattr("sfumato.workflow.publish.publish.data_checks", lambda *_: wrong)
        with pytest.raises(VerificationFailed, match="nothing was published"):
            published(project, AsIs(), tmp_path / "out")
        assert not (tmp_path / "out").exists()

    def test_the_same_recipe_gives_the_same_records(self, project: Project, tmp_path: Path) -> None:
        first = published(project, Mondrian(KAnonymity(3)), tmp_path / "one")
        second = published(project, Mondrian(KAnonymity(3)), tmp_path / "two")
        assert sorted(read_rows(first / "data.csv")) == sorted(read_rows(second / "data.csv"))
        assert read_manifest(first).claims == read_manifest(second).claims

    def test_the_decision_is_recorded(self, project: Project, tmp_path: Path) -> None:
        folder = published(project, AsIs(), tmp_path / "out", by="A. Steward", why="a <test>")
        assert read_manifest(folder).decision.by == "A. Steward"
        report = (folder / "report.html").read_text("utf-8")
        assert "a &lt;test&gt;" in report
        assert "Twelve &lt;b&gt;patients&lt;/b&gt;" in report

    def test_the_data_package_names_every_file_with_its_hash(self, project: Project, tmp_path: Path) -> None:
        folder = published(project, Anatomy(2), tmp_path / "out")
        package = json.loads((folder / "datapackage.json").read_text("utf-8"))
        assert package["name"] == "twelve-b-patients-b"
        assert {r["path"] for r in package["resources"]} == {
            "quasi-identifiers.csv",
            "quasi-identifiers.parquet",
            "sensitive.csv",
            "sensitive.parquet",
        }
        for resource in package["resources"]:
            digest = hashlib.sha256((folder / resource["path"]).read_bytes()).hexdigest()
            assert resource["hash"] == f"sha256:{digest}"

    @pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather"])
    def test_a_release_is_written_in_every_format(
        self, project: Project, tmp_path: Path, suffix: str
    ) -> None:

        table, schema = project.read()
        release = sanitize(table, schema, Mondrian(KAnonymity(3)))
        (place,) = write_release(release, tmp_path / f"out{suffix}")
        rows = read(place).to_arrow().to_pylist()
        expected = release.to_arrow(typed=False).to_pylist()
        assert Counter(map(str, (sorted(r.items()) for r in rows))) == Counter(
            map(str, (sorted(r.items()) for r in expected))
        )

    def test_an_unknown_format_is_refused(self, project: Project, tmp_path: Path) -> None:
        with pytest.raises(UserError, match=r"name it \.csv"):
            write_release(sanitize(*project.read(), AsIs()), tmp_path / "out.xlsx")

    def test_formulas_are_found_and_negative_numbers_are_not(self) -> None:
        from sfumato import Schema, Table

        table = Table.from_arrow({"a": ["=1+1", "x"], "b": ["-5", "-7.5"], "c": ["@x", "y"]})
        schema = Schema.of(a="insensitive", b="insensitive", c="insensitive")
        assert formula_columns(sanitize(table, schema, AsIs())) == ("a", "c")


def test_nothing_need_be_measured(tmp_path: Path) -> None:
    release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    publish(release, tmp_path / "out", [], policy="none", allow_singling_out=True)
    assert verify(tmp_path / "out").holds
