"""Publish from Python: a release and a folder are enough."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.report.marks_reader import without_marks

import sfumato as sf
from sfumato.results.manifest import measurement_of
from sfumato.runtime.errors import ParameterError, PolicyNotMet, UserError
from sfumato.verification.documents import numeral, read_manifest
from sfumato.workflow.publish.publication_request import PublicationRequest
from sfumato.workflow.publish.publish import publish_candidate

MEASURES = ["privacy-loss", "k-anonymity", "utility-loss", "total-loss"]
AXES = ("privacy-loss", "utility-loss")


def made(k: int = 3) -> sf.Release:
    return sf.sanitize(*sf.datasets.hospital(), sf.sanitizers.Mondrian(sf.models.KAnonymity(k)), seed=k)


@pytest.fixture(scope="module")
def frontier() -> sf.Frontier:
    taken = {k: made(k) for k in (2, 3, 6)}
    return sf.Frontier(
        tuple(sf.Candidate(f"k{k}", r.recipe, tuple(sf.measure(r, MEASURES))) for k, r in taken.items()), AXES
    )


def claimed(folder: Path) -> list[str]:
    return [measurement_of(claim).label for claim in read_manifest(folder).claims]


def test_a_release_and_a_folder_are_enough(tmp_path: Path) -> None:
    decision = sf.publish(made(), tmp_path / "out", policy="none", allow_singling_out=True)
    assert sf.verify(tmp_path / "out")
    assert {place.name for place in (tmp_path / "out").iterdir()} == {
        "data.csv",
        "data.parquet",
        "README.md",
        "report.html",
        "datapackage.json",
        "manifest.json",
        "certificate.json",
    }
    manifest = read_manifest(tmp_path / "out")
    assert {**msgspec.to_builtins(manifest.decision), "policy": []} == decision.to_dict()
    assert {claim.measure for claim in manifest.claims} >= {"k-anonymity", "reidentification-risk"}
    assert json.loads((tmp_path / "out" / "datapackage.json").read_text("utf-8"))["name"] == "out"


def test_the_choice_is_known_by_its_recipe_and_measured_as_the_frontier_was(
    frontier: sf.Frontier, tmp_path: Path
) -> None:
    decision = sf.publish(
        made(3),
        tmp_path / "out",
        evidence=frontier,
        why="the knee",
        by="A. Steward",
        policy="none",
        allow_singling_out=True,
    )
    assert (decision.candidate, decision.why, decision.by) == ("k3", "the knee", "A. Steward")
    assert claimed(tmp_path / "out") == ["privacy-loss", "k-anonymity", "reidentification-risk"]
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "the knee" in report
    assert "3 candidates" in without_marks(report)


def test_a_release_that_is_not_in_the_evidence_gets_a_drawn_name(
    frontier: sf.Frontier, tmp_path: Path
) -> None:
    names = {
        sf.publish(
            made(4), tmp_path / f"out{i}", evidence=frontier, policy="none", allow_singling_out=True
        ).candidate
        for i in range(2)
    }
    assert len(names) == 2
    assert not names & {candidate.id for candidate in frontier.candidates}


def test_measures_are_given_by_name_with_parameters_or_as_objects(tmp_path: Path) -> None:
    wanted: list[Any] = [
        sf.measures.PrivacyLoss(threshold=0.05),
        {"t-closeness": {"distance": "js"}},
        "weighted-k",
        sf.measures.TotalLoss(),
    ]
    sf.publish(made(), tmp_path / "out", wanted, policy="none", allow_singling_out=True)
    assert claimed(tmp_path / "out") == [
        "privacy-loss threshold=0.05",
        "t-closeness distance=js",
        "weighted-k",
        "k-anonymity",
        "reidentification-risk",
    ]
    assert sf.verify(tmp_path / "out").holds


def test_a_policy_that_does_not_hold_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(PolicyNotMet, match="k-anonymity is 3, must be at least 5"):
        sf.publish(made(), tmp_path / "out", ["privacy-loss"], policy={"k-anonymity": sf.Limit(at_least=5)})
    assert not list(tmp_path.iterdir())
    kept = sf.publish(made(), tmp_path / "out", policy={"k-anonymity": sf.Limit(at_least=3)})
    assert kept.policy == ("k-anonymity at least 3",)


def test_what_a_reader_computes_must_keep_the_policy_too(tmp_path: Path) -> None:
    """With records left out the reader's prior is another one than the owner's."""
    table = sf.read({"age": [1] * 10 + [2] * 6 + [3] * 4, "ill": list("abbbbbbbbb" + "aaaabb" + "aaaa")})
    schema = sf.Schema.of(age="quasi-identifying", ill="sensitive")
    how = sf.sanitizers.FullDomain({"age": 0}, sf.models.TCloseness(0.45), suppression=0.5)
    release = sf.sanitize(table, schema, how)
    assert release.n_suppressed > 0
    (owner,) = sf.measure(release, ["t-closeness"])
    assert owner.value is not None
    sf.publish(release, tmp_path / "open", ["t-closeness"], policy="none", allow_singling_out=True)
    claim = next(c for c in read_manifest(tmp_path / "open").claims if c.measure == "t-closeness")
    assert claim.value is not None
    reader = numeral(claim.value)
    assert reader != pytest.approx(owner.value)
    between = (owner.value + reader) / 2
    limit = sf.Limit(at_most=between) if reader > owner.value else sf.Limit(at_least=between)
    with pytest.raises(PolicyNotMet, match="what a reader computes"):
        sf.publish(release, tmp_path / "out", ["t-closeness"], policy={"t-closeness": limit})
    assert not (tmp_path / "out").exists()


def test_what_the_publisher_says_stands_in_the_report_as_text(tmp_path: Path) -> None:
    said = sf.Publication(title="Twelve <b>patients</b>", purpose="teaching")
    sf.publish(
        made(), tmp_path / "out", publication=said, why="a <test>", policy="none", allow_singling_out=True
    )
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "Twelve &lt;b&gt;patients&lt;/b&gt;" in report
    assert "a &lt;test&gt;" in report
    assert json.loads((tmp_path / "out" / "datapackage.json").read_text("utf-8"))["description"] == "teaching"


def test_figures_of_the_owner_are_told_in_bands_whose_place_the_secret_decides(
    frontier: sf.Frontier, tmp_path: Path
) -> None:
    (figure,) = sf.measure(made(3), ["utility-loss"])
    told = {}
    given: dict[str, sf.results.Evidence | sf.Frontier] = {
        "drawn": frontier,
        "one": sf.results.Evidence(frontier, (), b"one"),
        "same": sf.results.Evidence(frontier, (), b"one"),
        "other": sf.results.Evidence(frontier, (), b"other"),
    }
    for name, evidence in given.items():
        sf.publish(made(3), tmp_path / name, evidence=evidence, policy="none", allow_singling_out=True)
        report = (tmp_path / name / "report.html").read_text("utf-8")
        assert f"{figure.value:.4g}" not in report
        told[name] = {line for line in report.splitlines() if "between" in line}
    assert told["one"] == told["same"] != told["other"]


def test_the_order_is_drawn_anew_and_the_seed_stays_at_home(tmp_path: Path) -> None:
    release = sf.sanitize(
        *sf.datasets.hospital(), sf.sanitizers.Mondrian(sf.models.KAnonymity(3)), seed=8_877_665_544
    )
    orders = set()
    for name in ("one", "two", "three"):
        sf.publish(release, tmp_path / name, policy="none", allow_singling_out=True)
        orders.add((tmp_path / name / "data.csv").read_text("utf-8"))
        assert not any(b"8877665544" in place.read_bytes() for place in (tmp_path / name).iterdir())
    assert len(orders) > 1
    assert len({tuple(sorted(text.splitlines())) for text in orders}) == 1


def test_a_folder_that_is_there_and_a_release_of_unknown_making_are_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(UserError, match="out exists already"):
        sf.publish(made(), tmp_path / "out", policy="none", allow_singling_out=True)
    table, schema = sf.datasets.hospital()
    foreign = sf.read_release({"zip": ["*"] * 12, "diagnosis": ["Flu"] * 12}, table, schema)
    with pytest.raises(UserError, match="does not say how it was made"):
        sf.publish(foreign, tmp_path / "other", policy="none", allow_singling_out=True)
    with pytest.raises(ParameterError, match="no measure 'privacy-los'"):
        sf.publish(made(), tmp_path / "other", ["privacy-los"], policy="none", allow_singling_out=True)
    assert [place.name for place in tmp_path.iterdir()] == ["out"]


def test_the_command_writes_what_the_library_writes(tmp_path: Path) -> None:
    (tmp_path / "hospital.csv").write_bytes((sf.datasets.FOLDER / "hospital.csv").read_bytes())
    (tmp_path / "hospital.toml").write_text(
        """
        policy.recipient = "none"
        [data]
        path = "hospital.csv"
        [publication]
        title = "Patients"
        [attributes]
        name = { role = "identifying" }
        zip = { role = "quasi-identifying" }
        age = { role = "quasi-identifying", kind = "numeric" }
        sex = { role = "quasi-identifying" }
        diagnosis = { role = "sensitive" }
        """
    )
    project = sf.Project.load(tmp_path / "hospital.toml")
    table, schema = project.read()
    release = sf.sanitize(table, schema, sf.sanitizers.Mondrian(sf.models.KAnonymity(3)), seed=3)
    assert release.recipe is not None
    candidate = sf.Candidate("c0ffee", release.recipe, tuple(sf.measure(release, project.measures)))
    evidence = sf.results.Evidence(sf.Frontier((candidate,), project.axes), (), b"secret")
    request = PublicationRequest(tmp_path / "one", "because", evidence=evidence, allow_singling_out=True)
    publish_candidate(project, table, schema, candidate, request)
    sf.publish(
        release,
        tmp_path / "two",
        project.measures,
        why="because",
        publication=project.publication,
        evidence=evidence,
        policy="none",
        allow_singling_out=True,
    )
    one, two = (json.loads((tmp_path / name / "manifest.json").read_text("utf-8")) for name in ("one", "two"))
    for each in (one, two):
        del each["files"], each["decision"]["when"]
    assert one == two


def test_from_exploring_to_verifying_in_four_lines(tmp_path: Path) -> None:
    table, schema = sf.datasets.hospital()
    candidates: list[sf.sanitizers.Sanitizer] = [
        sf.sanitizers.AsIs(),
        *(sf.sanitizers.Mondrian(sf.models.KAnonymity(k)) for k in (2, 3, 6, 40)),
    ]
    frontier = sf.explore(table, schema, candidates, MEASURES, policy="none")
    chosen = frontier.efficient()[0]
    decision = sf.publish(
        sf.sanitize(table, schema, chosen.recipe),
        tmp_path / "out",
        evidence=frontier,
        policy="none",
        allow_singling_out=True,
    )
    assert sf.verify(tmp_path / "out")
    assert decision.candidate == chosen.id
    # the one that could not be made was tried as well
    assert len(frontier.infeasible) == 1
    report = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "5 candidates" in without_marks(report)


def test_what_is_withheld_is_named_as_such_and_none_of_its_values_is_published(tmp_path: Path) -> None:
    columns = {
        "age": ["31", "32", "41", "42"],
        "batch": [f"BATCHMARK{position}" for position in range(4)],
        "illness": ["flu", "gout", "flu", "gout"],
    }
    schema = sf.Schema.of(age="quasi-identifying", batch="withheld", illness="sensitive")
    release = sf.sanitize(
        *schema.bind(sf.Table.from_arrow(columns)), sf.sanitizers.Mondrian(sf.models.KAnonymity(2))
    )
    sf.publish(release, tmp_path / "out", policy="none", allow_singling_out=True)
    assert sf.verify(tmp_path / "out")
    assert [each.role for each in read_manifest(tmp_path / "out").unverified.attributes][1] == "withheld"
    assert not [p.name for p in (tmp_path / "out").iterdir() if b"BATCHMARK" in p.read_bytes()]
