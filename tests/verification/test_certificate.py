"""What a certificate says, and which one is believed."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import msgspec
import pytest

from sfumato.verification.certificate import certificate_check, certify, publisher_certificate
from sfumato.verification.check import Check
from sfumato.verification.documents import Manifest, json_text, read_manifest

FOUND = [Check("a"), Check("b", unverified=True), Check("c", "not so"), Check("d", "nor so", unverified=True)]


@pytest.fixture
def folder(honest: Path, tmp_path: Path) -> Path:
    shutil.copytree(honest, tmp_path / "out")
    return tmp_path / "out"


def test_it_names_what_was_checked_and_what_was_not(folder: Path) -> None:
    said = certify(folder, FOUND, by="me", version="1", when="now")
    assert (said.checked, said.not_checked) == (["a"], ["b"])
    assert said.fails == {"c": "not so", "d": "nor so"}
    assert (said.checked_by, said.version, said.when) == ("me", "1", "now")
    assert said.manifest == hashlib.sha256((folder / "manifest.json").read_bytes()).hexdigest()


def named(manifest: Manifest, by: str) -> Manifest:
    return msgspec.structs.replace(manifest, decision=msgspec.structs.replace(manifest.decision, by=by))


def test_the_publisher_is_whoever_decided(folder: Path) -> None:
    manifest = read_manifest(folder)
    said = publisher_certificate(folder, manifest, FOUND)
    assert (said.checked_by, said.version, said.when) == ("the publisher", "1.0", manifest.decision.when)
    assert publisher_certificate(folder, named(manifest, "Ada"), FOUND).checked_by == "Ada"


class TestBelief:
    WHAT = "certificate.json names what was checked and what was not"

    def check(self, folder: Path, text: str) -> Check:
        (folder / "certificate.json").write_text(text, "utf-8")
        return certificate_check(folder, read_manifest(folder), FOUND)

    def test_the_right_one_holds(self, folder: Path) -> None:
        right = json_text(publisher_certificate(folder, read_manifest(folder), FOUND))
        assert self.check(folder, right) == Check(self.WHAT)

    def test_another_one_does_not(self, folder: Path) -> None:
        right = json.loads(json_text(publisher_certificate(folder, read_manifest(folder), FOUND)))
        for name in right:
            other = {**right, name: right[name] * 2 if name != "fails" else {}}
            assert self.check(folder, json.dumps(other)) == Check(
                self.WHAT, "it says something else than what was found now"
            )

    def test_one_of_another_shape_is_damaged(self, folder: Path) -> None:
        right = json.loads(json_text(publisher_certificate(folder, read_manifest(folder), FOUND)))
        for other in ({}, {**right, "more": 1}, {**right, "version": 1}, [right]):
            assert self.check(folder, json.dumps(other)) == Check(self.WHAT, "it is damaged")
        assert self.check(folder, "{").problem.startswith("certificate.json is damaged")
        (folder / "certificate.json").unlink()
        missing = certificate_check(folder, read_manifest(folder), FOUND)
        assert missing == Check(self.WHAT, "certificate.json is missing")
