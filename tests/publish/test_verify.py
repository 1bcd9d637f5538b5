"""What verifying a folder returns, and the certificate that a reader writes down."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import msgspec
import pytest

import sfumato as sf
from sfumato.results.verification_outcome import (
    Verification,
)
from sfumato.runtime.errors import UserError
from sfumato.verification.check import Check
from sfumato.verification.documents import read_manifest
from sfumato.workflow.publish.verify import (
    data_checks,
    read_written,
    verify,
    write_certificate,
)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published") / "people"
    table = sf.Table.from_arrow({"age": [1, 1, 2, 2], "ill": ["x", "y", "x", "y"]})
    schema = sf.Schema.of(age="quasi-identifying", ill="sensitive")
    sf.publish(
        sf.sanitize(table, schema, sf.sanitizers.AsIs()),
        folder,
        profiles=["nist"],
        policy="none",
        allow_singling_out=True,
    )
    return folder


def test_a_verification_is_true_when_every_check_holds() -> None:
    checked, claim, failed = Check("a"), Check("b", unverified=True), Check("c", "not so", unverified=True)
    good, bad = Verification("out", (checked, claim)), Verification("out", (checked, claim, failed))
    assert (bool(good), good.holds, good.failed) == (True, True, ())
    assert (bool(bad), bad.holds, bad.failed) == (False, False, (failed,))
    assert good.unverified == bad.unverified == (claim,)
    assert list(bad) == [checked, claim, failed]
    assert (len(good), len(bad)) == (2, 3)


def test_a_folder_is_checked_from_its_files_to_its_certificate(honest: Path) -> None:
    found = verify(str(honest))
    assert found.holds
    assert found.folder == "people"
    said = [check.what.split()[0] for check in found]
    assert {"report.html", "report-nist.html", "certificate.json", "data.csv"} <= set(said)
    assert said[-1] == "certificate.json"
    assert any("rests on the channel" in check.what for check in found.unverified)


def test_a_page_that_says_something_else_is_told_apart(honest: Path, tmp_path: Path) -> None:
    folder = tmp_path / "people"
    shutil.copytree(honest, folder)
    manifest = read_manifest(folder)
    (folder / "report-nist.html").write_text("<p>", "utf-8")
    # the file is not the one that is listed: nothing else is looked at
    problems = {check.what: check.problem for check in data_checks(folder, manifest)}
    assert problems["report-nist.html has its checksum"]
    assert not [what for what in problems if " says " in what]
    facts = json.loads((folder / "manifest.json").read_text("utf-8"))
    content = (folder / "report-nist.html").read_bytes()
    facts["files"]["report-nist.html"] = {
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
    }
    (folder / "manifest.json").write_text(json.dumps(facts), "utf-8")
    found = [check for check in data_checks(folder, read_manifest(folder)) if " says " in check.what]
    assert [(check.what.split()[0], check.problem) for check in found] == [
        ("report.html", ""),
        ("README.md", ""),
        ("report-nist.html", "it says something else"),
    ]


def test_no_page_is_written_of_claims_that_fail(honest: Path) -> None:
    manifest = read_manifest(honest)
    claims = [msgspec.structs.replace(each, value=1) for each in manifest.claims]
    found = data_checks(honest, msgspec.structs.replace(manifest, claims=claims))
    assert "the published cells give 2" in {check.problem for check in found}
    assert not [check for check in found if " says " in check.what]


def test_of_pages_of_another_version_the_figures_are_compared_and_the_wording_is_not(honest: Path) -> None:
    other = msgspec.structs.replace(read_manifest(honest), sfumato="0.0.1")
    checks = data_checks(honest, other)
    stated = {check.what.partition(" ")[0]: check.problem for check in checks if " states " in check.what}
    # these pages say that another version wrote them than this manifest does
    assert set(stated) == {"report.html", "README.md", "report-nist.html"}
    assert stated["report.html"] == "it is not of the version that the manifest names"
    assert stated["README.md"] == ""
    (wording,) = [check for check in checks if "wording" in check.what]
    assert (wording.holds, wording.unverified) == (True, True)


def test_a_key_asks_for_a_signature(honest: Path, tmp_path: Path) -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.generate().public_key()
    form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    (tmp_path / "key.pub").write_bytes(key.public_bytes(*form))
    (failed,) = verify(honest, key=tmp_path / "key.pub").failed
    assert failed.problem == "the manifest is not signed"


def test_a_reader_writes_a_certificate_of_their_own(honest: Path, tmp_path: Path) -> None:
    found = verify(honest)
    place = tmp_path / "certificate.json"
    write_certificate(found, honest, place, by="a reader")
    said = json.loads(place.read_text("utf-8"))
    assert (said["checked_by"], said["version"], said["fails"]) == ("a reader", sf.__version__, {})
    assert said["not_checked"] == [check.what for check in found.unverified]
    assert len(said["checked"]) + len(said["not_checked"]) == len(found)
    with pytest.raises(UserError, match=r"^certificate\.json exists already"):
        write_certificate(found, honest, place, by="a reader")


def test_a_report_that_cannot_be_written_again_fails_with_the_reason(
    honest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> dict[str, str]:
        raise UserError("no room for a page")

    monkeypatch.setattr("sfumato.workflow.report.reviewer_profiles.published_pages", broken)
    failed = verify(honest).failed
    assert [(check.what.split()[0], check.problem) for check in failed if " says " in check.what] == [
        ("report.html", "it cannot be written again: no room for a page"),
        ("README.md", "it cannot be written again: no room for a page"),
        ("report-nist.html", "it cannot be written again: no room for a page"),
    ]


@pytest.mark.parametrize("text", ["1;2", "'a'"])
def test_published_cells_are_read_as_they_are_written_and_nothing_is_guessed(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "data.csv").write_text(f"{text}\n{text}\n{text}\n", "utf-8")
    (read,) = read_written(tmp_path, ("data",)).values()
    assert read.to_pydict() == {text: [text, text]}
