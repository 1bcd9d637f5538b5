"""Certificate: what was checked of a publication, by whom and with which version, and what was not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from sfumato.errors import VerificationFailed
from sfumato.verifying.check import Check
from sfumato.verifying.documents import Manifest, read_json
from sfumato.verifying.folder import CERTIFICATE, MANIFEST, fingerprint


class Certificate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What stands in ``certificate.json``.

    Parameters
    ----------
    manifest
        The SHA-256 of the manifest that was checked.
    checked_by
        Who ran the checks, as they call themselves.
    version
        The version of sfumato that ran them.
    when
        The time, ISO 8601, UTC.
    checked
        What was computed once more and found to hold.
    not_checked
        The unverified claims: what no reader can check.
    fails
        What does not hold, and what was found instead.
    """

    manifest: str
    checked_by: str
    version: str
    when: str
    checked: list[str]
    not_checked: list[str]
    fails: dict[str, str]


def certified(folder: Path, checks: Sequence[Check], *, by: str, version: str, when: str) -> Certificate:
    """Write down the outcome of all checks."""
    return Certificate(
        manifest=fingerprint(folder, MANIFEST)[0],
        checked_by=by,
        version=version,
        when=when,
        checked=[each.what for each in checks if each.outcome == "checked"],
        not_checked=[each.what for each in checks if each.outcome == "unverified"],
        fails={each.what: each.problem for each in checks if not each.holds},
    )


def publisher_s(folder: Path, manifest: Manifest, checks: Sequence[Check]) -> Certificate:
    """Return the certificate that the publisher puts into the folder."""
    decision = manifest.decision
    return certified(
        folder, checks, by=decision.by or "the publisher", version=manifest.sfumato, when=decision.when
    )


def certificate_check(folder: Path, manifest: Manifest, checks: Sequence[Check]) -> Check:
    """Compare the publisher's certificate with what was found just now."""
    what = f"{CERTIFICATE} names what was checked and what was not"
    try:
        facts = msgspec.convert(read_json(folder, CERTIFICATE), Certificate, strict=True)
    except msgspec.ValidationError:
        return Check(what, "it is damaged")
    except VerificationFailed as error:
        return Check(what, str(error))
    same = facts == publisher_s(folder, manifest, checks)
    return Check(what, "" if same else "it says something else than what was found now")
