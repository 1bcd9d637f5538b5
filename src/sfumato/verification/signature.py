"""Sign manifests with Ed25519 keys, and verify who vouches for a publication.

The signature covers the manifest in its canonical form (see `documents.canonical`), so that neither blanks
nor the order of keys matter. The manifest has the checksums of the other files, so the signature covers them
all.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sfumato.runtime.errors import UserError, VerificationFailed
from sfumato.runtime.extras import require
from sfumato.verification.check import Check
from sfumato.verification.documents import Manifest, canonical, read_json
from sfumato.verification.folder import MANIFEST, SIGNATURE

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

_ALGORITHM = "Ed25519"
_MAX_KEY_BYTES = 1 << 16


class SignatureFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The contents of ``signature.json``."""

    algorithm: str
    over: str
    public_key: str
    signature: str


def read_private_key(path: Path, passphrase: bytes | None = None) -> Ed25519PrivateKey:
    """Read an Ed25519 private key, PEM or OpenSSH.

    Raises
    ------
    UserError
        When the file is no such key, or it is locked and no passphrase is given.
    """
    require("sign", "signatures need")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        key = _unlocked(path, passphrase)
    except TypeError:
        raise UserError(
            f"the key in {path.name} is locked by a passphrase, or has none; give the right one"
        ) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UserError(
            f"{path.name} holds no Ed25519 key; make one with: openssl genpkey -algorithm ed25519"
        )
    return key


def is_locked(path: Path) -> bool:
    """Return whether a private key needs a passphrase; raise `UserError` for anything but a key."""
    require("sign", "signatures need")
    try:
        _unlocked(path, None)
    except TypeError:
        return True
    return False


def _unlocked(path: Path, passphrase: bytes | None) -> Any:
    """Read a private key; the library raises `TypeError` if it needs a passphrase, or needs none."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    written = _key_bytes(path)
    is_ssh = b"OPENSSH PRIVATE KEY" in written
    read = serialization.load_ssh_private_key if is_ssh else serialization.load_pem_private_key
    try:
        return read(written, passphrase)
    except (ValueError, UnsupportedAlgorithm):
        raise UserError(f"{path.name} holds no private key, or the passphrase is another") from None


def read_public_key(path: Path) -> Ed25519PublicKey:
    """Read an Ed25519 public key, PEM or OpenSSH (``ssh-ed25519 …``)."""
    require("sign", "signatures need")
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    written = _key_bytes(path)
    is_ssh = written.startswith(b"ssh-")
    try:
        key = (serialization.load_ssh_public_key if is_ssh else serialization.load_pem_public_key)(written)
    except (ValueError, UnsupportedAlgorithm):
        raise UserError(f"{path.name} holds no public key in PEM or OpenSSH form") from None
    if not isinstance(key, Ed25519PublicKey):
        raise UserError(f"{path.name} holds no Ed25519 key")
    return key


def fingerprint_of(key: Ed25519PublicKey) -> str:
    """Return the SHA-256 of a key's 32 bytes, by which people compare keys."""
    return "SHA256:" + hashlib.sha256(key.public_bytes_raw()).hexdigest()


def sign(manifest: Manifest, key: Ed25519PrivateKey) -> SignatureFacts:
    """Sign a manifest."""
    return SignatureFacts(
        algorithm=_ALGORITHM,
        over=MANIFEST,
        public_key=base64.b64encode(key.public_key().public_bytes_raw()).decode("ascii"),
        signature=base64.b64encode(key.sign(canonical(msgspec.to_builtins(manifest)))).decode("ascii"),
    )


def signature_checks(folder: Path, manifest: Manifest, key: Ed25519PublicKey | None) -> list[Check]:
    """Check the signature with the reader's key; without one, state what the integrity rests on."""
    if manifest.signed_by is None:
        problem = "the manifest is not signed" if key is not None else ""
        what = "nobody changed the folder on its way: it is not signed, so this rests on the channel"
        return [Check(what, problem, unverified=True)]
    require("sign", "signatures need")
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        facts = msgspec.convert(read_json(folder, SIGNATURE), SignatureFacts, strict=True)
        signer = Ed25519PublicKey.from_public_bytes(base64.b64decode(facts.public_key, validate=True))
    except (msgspec.ValidationError, binascii.Error, ValueError):
        return [Check(f"{SIGNATURE} holds a signature", "it is damaged")]
    except VerificationFailed as error:
        return [Check(f"{SIGNATURE} holds a signature", str(error))]
    is_signed = fingerprint_of(signer) == manifest.signed_by and _is_signed_by(signer, facts, folder)
    what = f"{MANIFEST} is signed by the key {manifest.signed_by}"
    check = Check(what, "" if is_signed else "it is not")
    if key is None:
        return [check, Check("that key is the publisher's: give --key to check it", unverified=True)]
    is_given_key = fingerprint_of(key) == manifest.signed_by
    return [check, Check("that key is the one that was given", "" if is_given_key else "it is another key")]


def _is_signed_by(key: Ed25519PublicKey, facts: SignatureFacts, folder: Path) -> bool:
    from cryptography.exceptions import InvalidSignature

    if (facts.algorithm, facts.over) != (_ALGORITHM, MANIFEST):
        return False
    try:
        key.verify(base64.b64decode(facts.signature, validate=True), canonical(read_json(folder, MANIFEST)))
    except (InvalidSignature, binascii.Error):
        return False
    return True


def _key_bytes(path: Path) -> bytes:
    # files of the system, such as /proc/kmsg, report no size, and reading them waits for ever
    if os.path.exists(path) and not (os.path.isfile(path) and os.path.getsize(path)):
        raise UserError(f"the key {path.name or path} is no plain file; name the file that holds it")
    try:
        with path.open("rb") as file:
            written = file.read(_MAX_KEY_BYTES + 1)
    except OSError as error:
        raise UserError(f"cannot read the key {path.name}: {error.strerror}") from None
    except ValueError:
        raise UserError("cannot read a key with a NUL character in its path; check the path") from None
    if len(written) > _MAX_KEY_BYTES:
        raise UserError(f"{path.name} is too large for a key")
    return written
