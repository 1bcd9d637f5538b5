"""Who vouches for a manifest: keys in both forms, and every way in which a signature may not fit."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from cryptography.hazmat.primitives import serialization as forms
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

import sfumato as sf
from sfumato.interfaces.cli import cli
from sfumato.runtime.errors import UserError
from sfumato.verification.documents import read_manifest
from sfumato.verification.signature import (
    fingerprint_of,
    is_locked,
    read_private_key,
    read_public_key,
    sign,
    signature_checks,
)
from sfumato.workflow.publish.verify import verify

PRIVATE = {"pem": forms.PrivateFormat.PKCS8, "ssh": forms.PrivateFormat.OpenSSH}
PUBLIC = {
    "pem": (forms.Encoding.PEM, forms.PublicFormat.SubjectPublicKeyInfo),
    "ssh": (forms.Encoding.OpenSSH, forms.PublicFormat.OpenSSH),
}


def write_keys(place: Path, form: str = "pem", passphrase: bytes | None = None) -> tuple[Path, Path]:
    key = Ed25519PrivateKey.generate()
    lock = forms.BestAvailableEncryption(passphrase) if passphrase else forms.NoEncryption()
    private, public = place / f"{form}.key", place / f"{form}.pub"
    private.write_bytes(key.private_bytes(forms.Encoding.PEM, PRIVATE[form], lock))
    public.write_bytes(key.public_key().public_bytes(*PUBLIC[form]))
    return private, public


def signed(folder: Path, key: Path, passphrase: bytes | None = None) -> Path:
    release = sf.sanitize(*sf.datasets.hospital(), sf.sanitizers.Mondrian(sf.models.KAnonymity(3)))
    sf.publish(
        release,
        folder,
        ["privacy-loss"],
        key=key,
        passphrase=passphrase,
        policy="none",
        allow_singling_out=True,
    )
    return folder


@pytest.mark.parametrize("form", ["pem", "ssh"])
@pytest.mark.parametrize("passphrase", [None, b"four words and more"])
def test_a_signed_folder_verifies_by_its_key_and_by_no_other(
    tmp_path: Path, form: str, passphrase: bytes | None
) -> None:
    private, public = write_keys(tmp_path, form, passphrase)
    (tmp_path / "other").mkdir()
    _, other_key = write_keys(tmp_path / "other", form)
    folder = signed(tmp_path / "out", private, passphrase)
    assert is_locked(private) == (passphrase is not None)
    assert verify(folder, key=public).holds
    assert "that key is the one that was given" in {check.what for check in verify(folder, key=public)}
    (failed,) = verify(folder, key=other_key).failed
    assert failed.problem == "it is another key"
    assert any("give --key" in check.what for check in verify(folder).unverified)


def test_the_report_names_the_key_or_says_that_integrity_rests_on_the_channel(tmp_path: Path) -> None:
    private, public = write_keys(tmp_path)
    folder = signed(tmp_path / "out", private)
    key = forms.load_pem_public_key(public.read_bytes())
    fingerprint = fingerprint_of(key)  # type: ignore[arg-type]
    assert read_manifest(folder).signed_by == fingerprint
    assert fingerprint in (folder / "report.html").read_text("utf-8")
    sf.publish(
        sf.sanitize(*sf.datasets.hospital(), sf.sanitizers.AsIs()),
        tmp_path / "plain",
        ["privacy-loss"],
        policy="none",
        allow_singling_out=True,
    )
    assert "rests on the channel" in (tmp_path / "plain" / "report.html").read_text("utf-8")
    assert any("rests on the channel" in check.what for check in verify(tmp_path / "plain").unverified)
    (failed,) = verify(tmp_path / "plain", key=public).failed
    assert failed.problem == "the manifest is not signed"


def test_blanks_and_the_order_of_keys_do_not_break_a_signature(tmp_path: Path) -> None:
    private, public = write_keys(tmp_path)
    folder = signed(tmp_path / "out", private)
    place = folder / "manifest.json"
    facts = json.loads(place.read_text("utf-8"))
    place.write_text(json.dumps(dict(reversed(facts.items()))), "utf-8")
    failed = {check.what for check in verify(folder, key=public).failed}
    assert not any("is signed" in what for what in failed)


@pytest.mark.parametrize("part", ["decision", "unverified", "recipe", "layout", "files", "signed_by"])
def test_a_changed_manifest_does_not_fit_its_signature(tmp_path: Path, part: str) -> None:
    private, _ = write_keys(tmp_path)
    folder = signed(tmp_path / "out", private)
    place = folder / "manifest.json"
    facts = json.loads(place.read_text("utf-8"))
    if part == "decision":
        facts["decision"]["why"] = "another reason"
    elif part == "unverified":
        facts["unverified"]["purpose"] = "another purpose"
    elif part == "recipe":
        facts["recipe"]["sanitizer"] = "as-is"
    elif part == "layout":
        facts["layout"]["n_original"] += 1
    elif part == "files":
        facts["files"]["data.csv"]["sha256"] = "0" * 64
    else:
        facts["signed_by"] = "SHA256:" + "0" * 64
    place.write_text(json.dumps(facts), "utf-8")
    assert any("is signed by" in check.what for check in verify(folder).failed)


@pytest.mark.parametrize(
    "damage",
    [
        {"algorithm": "none"},
        {"over": "data.csv"},
        {"signature": "AAAA"},
        {"signature": "?"},
        {"public_key": "AAAA"},
        {"public_key": 3},
        {"more": 1},
    ],
)
def test_a_damaged_signature_is_one_line(tmp_path: Path, damage: dict[str, object]) -> None:
    private, public = write_keys(tmp_path)
    folder = signed(tmp_path / "out", private)
    place = folder / "signature.json"
    place.write_text(json.dumps({**json.loads(place.read_text("utf-8")), **damage}), "utf-8")
    assert not verify(folder, key=public)


def test_a_signature_that_was_taken_away_is_missed(tmp_path: Path) -> None:
    private, _ = write_keys(tmp_path)
    folder = signed(tmp_path / "out", private)
    (folder / "signature.json").unlink()
    assert any(check.what == "signature.json is there" for check in verify(folder).failed)


class TestKeys:
    def test_what_is_no_key_is_told_before_anything_is_written(self, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("no key", "utf-8")
        elliptic = generate_private_key(SECP256R1())
        (tmp_path / "ec").write_bytes(
            elliptic.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
        )
        for name, said in (("text", "no private key"), ("ec", "no Ed25519 key"), ("none", "cannot read")):
            with pytest.raises(UserError, match=said):
                signed(tmp_path / "out", tmp_path / name)
        assert not (tmp_path / "out").exists()

    def test_a_wrong_passphrase_is_told(self, tmp_path: Path) -> None:
        private, _ = write_keys(tmp_path, passphrase=b"right")
        for given in (b"wrong", None):
            with pytest.raises(UserError, match="passphrase"):
                signed(tmp_path / "out", private, given)

    def test_a_private_key_is_no_public_one(self, tmp_path: Path) -> None:
        private, _ = write_keys(tmp_path)
        folder = signed(tmp_path / "out", private)
        with pytest.raises(UserError, match="no public key"):
            verify(folder, key=private)


def test_the_commands_sign_check_and_certify(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    private, public = write_keys(tmp_path, passphrase=b"four words")
    shutil.copy(sf.datasets.FOLDER / "hospital.csv", tmp_path / "hospital.csv")
    (tmp_path / "sfumato.toml").write_text(
        'policy.recipient = "none"\n'
        '[data]\npath = "hospital.csv"\n[attributes]\nname = { role = "identifying" }\n'
        'zip = { role = "quasi-identifying" }\nage = { role = "quasi-identifying" }\n'
        'sex = { role = "quasi-identifying" }\ndiagnosis = { role = "sensitive" }\n'
        '[measure]\nprivacy = ["privacy-loss"]\nutility = ["general-loss"]\n'
        '[[candidates]]\nsanitizer = "mondrian"\nmodel = { k-anonymity = { k = 3 } }\n',
        "utf-8",
    )
    monkeypatch.chdir(tmp_path)
    run = CliRunner()
    assert run.invoke(cli, ["explore", "--workers", "1"]).exit_code == 0
    candidates = json.loads(run.invoke(cli, ["frontier", "--json"]).stdout)["candidates"]
    made = next(each["id"] for each in candidates if "mondrian" in str(each))
    published = run.invoke(cli, ["publish", made, "out", "--sign", private.name], input="four words\n")
    assert published.exit_code == 0, published.output
    checked = run.invoke(
        cli, ["verify", "out", "--key", public.name, "--certificate", "mine.json", "--by", "A. Reader"]
    )
    assert checked.exit_code == 0, checked.output
    assert "unverified  the original has 12 records" in checked.output
    assert checked.output.endswith("statements are unverified claims\n")
    assert " checks passed; " in checked.output
    certificate = json.loads((tmp_path / "mine.json").read_text("utf-8"))
    assert certificate["checked_by"] == "A. Reader"
    assert certificate["version"] == sf.__version__
    assert "the original has 12 records" in certificate["not_checked"]
    assert "k-anonymity is 3" in certificate["checked"]
    again = run.invoke(cli, ["verify", "out", "--certificate", "mine.json"])
    assert isinstance(again.exception, UserError)
    assert "exists already" in str(again.exception)


def test_without_the_package_a_signed_folder_is_refused_in_one_line_and_others_verify(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, public = write_keys(tmp_path)
    folder = signed(tmp_path / "out", private)
    sf.publish(
        sf.sanitize(*sf.datasets.hospital(), sf.sanitizers.AsIs()),
        tmp_path / "plain",
        ["privacy-loss"],
        policy="none",
        allow_singling_out=True,
    )
    monkeypatch.setitem(sys.modules, "cryptography", None)
    assert verify(tmp_path / "plain").holds
    for key in (None, public):
        with pytest.raises(UserError, match=r"pip install 'sfumato\[sign\]'"):
            verify(folder, key=key)


class TestByHand:
    """Signatures of a manifest that was written by hand, without the rest of the program."""

    KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))

    def checks(
        self, honest: Path, place: Path, key: Ed25519PrivateKey | None = None, **changes: str
    ) -> list[tuple[str, str]]:
        """Sign a copy of the folder, change the signature, and return the outcome of each check."""
        folder = place / "out"
        shutil.copytree(honest, folder, dirs_exist_ok=True)
        facts = json.loads((honest / "manifest.json").read_text("utf-8"))
        facts["signed_by"] = fingerprint_of(self.KEY.public_key())
        (folder / "manifest.json").write_text(json.dumps(facts, indent=1), "utf-8")
        manifest = read_manifest(folder)
        signature = msgspec.to_builtins(sign(manifest, self.KEY)) | changes
        (folder / "signature.json").write_text(json.dumps(signature), "utf-8")
        given = None if key is None else key.public_key()
        return [(check.outcome, check.problem) for check in signature_checks(folder, manifest, given)]

    def test_a_fingerprint_is_the_hash_of_the_key(self) -> None:
        raw = self.KEY.public_key().public_bytes_raw()
        assert fingerprint_of(self.KEY.public_key()) == "SHA256:" + hashlib.sha256(raw).hexdigest()

    def test_the_signature_is_that_of_the_canonical_manifest(self, honest: Path) -> None:
        facts = json.loads((honest / "manifest.json").read_text("utf-8"))
        text = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        said = sign(read_manifest(honest), self.KEY)
        assert (said.algorithm, said.over) == ("Ed25519", "manifest.json")
        self.KEY.public_key().verify(base64.b64decode(said.signature), text.encode())
        assert base64.b64decode(said.public_key) == self.KEY.public_key().public_bytes_raw()

    def test_a_key_vouches_for_itself_alone(self, honest: Path, tmp_path: Path) -> None:
        assert self.checks(honest, tmp_path) == [("checked", ""), ("unverified", "")]
        assert self.checks(honest, tmp_path, self.KEY) == [("checked", ""), ("checked", "")]
        other = Ed25519PrivateKey.generate()
        assert self.checks(honest, tmp_path, other) == [("checked", ""), ("fails", "it is another key")]

    @pytest.mark.parametrize(
        "changes",
        [
            {"algorithm": "RSA"},
            {"over": "data.csv"},
            {"signature": base64.b64encode(bytes(64)).decode()},
            {"signature": "no base64!"},
            {"public_key": base64.b64encode(bytes(range(32))).decode()},
        ],
    )
    def test_what_does_not_fit_is_not_signed(
        self, honest: Path, tmp_path: Path, changes: dict[str, str]
    ) -> None:
        assert self.checks(honest, tmp_path, self.KEY, **changes)[0] == ("fails", "it is not")

    def test_a_signature_with_a_blank_in_it_is_not_the_one_that_was_written(
        self, honest: Path, tmp_path: Path
    ) -> None:
        self.checks(honest, tmp_path)
        said = json.loads((tmp_path / "out" / "signature.json").read_text("utf-8"))
        spoilt = {name: f" {said[name]}" for name in ("signature", "public_key")}
        (outcome, _) = self.checks(honest, tmp_path, self.KEY, signature=spoilt["signature"])
        assert outcome == ("fails", "it is not")
        (outcome,) = self.checks(honest, tmp_path, self.KEY, public_key=spoilt["public_key"])
        assert outcome == ("fails", "it is damaged")

    def test_without_the_package_nothing_signed_is_checked(
        self, honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "cryptography", None)
        with pytest.raises(UserError, match=r"pip install 'sfumato\[sign\]'"):
            self.checks(honest, tmp_path)

    @pytest.mark.parametrize("changes", [{"public_key": "x!"}, {"public_key": "AAAA"}, {"more": "x"}])
    def test_what_is_no_signature_is_damaged(
        self, honest: Path, tmp_path: Path, changes: dict[str, str]
    ) -> None:
        assert self.checks(honest, tmp_path, self.KEY, **changes) == [("fails", "it is damaged")]

    def test_without_a_signature_it_rests_on_the_channel(self, honest: Path) -> None:
        manifest = read_manifest(honest)
        (check,) = signature_checks(honest, manifest, None)
        assert (check.outcome, check.unverified) == ("unverified", True)
        assert "rests on the channel" in check.what
        (check,) = signature_checks(honest, manifest, self.KEY.public_key())
        assert check.problem == "the manifest is not signed"

    def test_a_signature_that_is_missing_is_told(self, honest: Path) -> None:
        manifest = msgspec.structs.replace(read_manifest(honest), signed_by="SHA256:0")
        (check,) = signature_checks(honest, manifest, None)
        assert check.problem == "signature.json is missing"


class TestReadingKeys:
    @pytest.mark.parametrize("form", ["pem", "ssh"])
    def test_a_key_reads_back(self, tmp_path: Path, form: str) -> None:
        private, public = write_keys(tmp_path, form)
        assert is_locked(private) is False
        key = read_private_key(private)
        assert fingerprint_of(key.public_key()) == fingerprint_of(read_public_key(public))

    @pytest.mark.parametrize("form", ["pem", "ssh"])
    def test_a_locked_key_asks_for_its_passphrase(self, tmp_path: Path, form: str) -> None:
        private, _ = write_keys(tmp_path, form, b"word")
        assert is_locked(private)
        assert read_private_key(private, b"word")
        with pytest.raises(UserError, match="is locked by a passphrase"):
            read_private_key(private)
        with pytest.raises(UserError, match="the passphrase is another"):
            read_private_key(private, b"other")

    def test_a_key_of_another_kind_is_refused(self, tmp_path: Path) -> None:
        key = generate_private_key(SECP256R1())
        other = tmp_path / "other.key"
        other.write_bytes(key.private_bytes(forms.Encoding.PEM, PRIVATE["pem"], forms.NoEncryption()))
        with pytest.raises(UserError, match="holds no Ed25519 key"):
            read_private_key(other)
        other.write_bytes(key.public_key().public_bytes(*PUBLIC["pem"]))
        with pytest.raises(UserError, match="holds no Ed25519 key"):
            read_public_key(other)

    def test_what_is_no_key_is_refused(self, tmp_path: Path) -> None:
        place = tmp_path / "some.key"
        place.write_bytes(b"no key")
        with pytest.raises(UserError, match="holds no private key"):
            read_private_key(place)
        with pytest.raises(UserError, match="holds no private key"):
            is_locked(place)
        with pytest.raises(UserError, match="holds no public key"):
            read_public_key(place)
        with pytest.raises(UserError, match=r"^cannot read the key none\.key: "):
            read_public_key(tmp_path / "none.key")
        with pytest.raises(UserError, match="is no plain file"):
            read_public_key(tmp_path)
        with pytest.raises(UserError, match="a NUL character"):
            read_public_key(tmp_path / "a\0b")

    @pytest.mark.parametrize("read", [read_private_key, read_public_key, is_locked])
    def test_without_the_package_no_key_is_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Callable[[Path], object]
    ) -> None:
        monkeypatch.setitem(sys.modules, "cryptography", None)
        with pytest.raises(UserError, match=r"pip install 'sfumato\[sign\]'"):
            read(tmp_path / "none.key")

    def test_a_key_is_small(self, tmp_path: Path) -> None:
        place = tmp_path / "some.key"
        place.write_bytes(b"x" * (1 << 16))
        with pytest.raises(UserError, match="holds no public key"):
            read_public_key(place)
        place.write_bytes(b"x" * ((1 << 16) + 1))
        with pytest.raises(UserError, match="too large for a key"):
            read_public_key(place)
