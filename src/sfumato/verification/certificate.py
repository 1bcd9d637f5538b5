"""Write and check certificates: what was checked of a folder, by whom, and what was not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from sfumato.runtime.errors import VerificationFailed
from sfumato.verification.check import Check
from sfumato.verification.documents import Manifest, read_json, release_number
from sfumato.verification.folder import CERTIFICATE, MANIFEST, fingerprint
from sfumato.verification.page_check import compared_words, page_names, stated_words, wording_words
from sfumato.verification.renderings import has_numerals

_DIFFERENT = "it says something else than what was found now"


class Certificate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The contents of ``certificate.json``.

    Parameters
    ----------
    manifest
        The SHA-256 of the manifest that was checked.
    checked_by
        The person who ran the checks, by their own name.
    version
        The version of sfumato that ran them.
    when
        The time, ISO 8601, UTC.
    checked
        The statements that were computed again and hold.
    not_checked
        The unverified claims, which no reader can check, and what only a later version can check.
    fails
        The statements that do not hold, with what was found instead.
    """

    manifest: str
    checked_by: str
    version: str
    when: str
    checked: list[str]
    not_checked: list[str]
    fails: dict[str, str]


def certify(folder: Path, checks: Sequence[Check], *, by: str, version: str, when: str) -> Certificate:
    """Record the outcome of all checks as a certificate."""
    return Certificate(
        manifest=fingerprint(folder, MANIFEST)[0],
        checked_by=by,
        version=version,
        when=when,
        checked=[check.what for check in checks if check.outcome == "checked"],
        not_checked=[check.what for check in checks if check.outcome in ("unverified", "undecided")],
        fails={check.what: check.problem for check in checks if check.outcome == "fails"},
    )


def publisher_certificate(folder: Path, manifest: Manifest, checks: Sequence[Check]) -> Certificate:
    """Return the certificate that the publisher puts into the folder."""
    decision = manifest.decision
    return certify(
        folder, checks, by=decision.by or "the publisher", version=manifest.sfumato, when=decision.when
    )


def certificate_check(
    folder: Path, manifest: Manifest, checks: Sequence[Check], *, version: str = ""
) -> Check:
    """Compare the publisher's certificate with the current results.

    Parameters
    ----------
    version
        The version of sfumato that runs, by default that of the folder. A certificate of another version may
        lack checks that it did not have.
    """
    what = f"{CERTIFICATE} names what was checked and what was not"
    try:
        facts = msgspec.convert(read_json(folder, CERTIFICATE), Certificate, strict=True)
    except msgspec.ValidationError:
        return Check(what, "it is damaged")
    except VerificationFailed as error:
        return Check(what, str(error))
    expected = publisher_certificate(folder, manifest, checks)
    # a reader of another version, or without a plug-in, compares no wording, but the publisher did
    is_compared = wording_words(manifest) not in expected.not_checked
    if version in ("", manifest.sfumato) and is_compared:
        return Check(what, "" if facts == expected else _DIFFERENT)
    lines, expected_lines = _outcomes(facts), _outcomes(_in_other_version(expected, manifest))
    plain = (facts.manifest, facts.checked_by, facts.version, facts.when, facts.fails)
    is_same = plain == (expected.manifest, expected.checked_by, expected.version, expected.when, {})
    is_same = is_same and len(lines) == len(facts.checked) + len(facts.not_checked)
    # the lines of a format do not change, but a later version may have more checks without a numeral
    is_same = is_same and all(
        lines.get(line) == outcome for line, outcome in expected_lines.items() if has_numerals(line)
    )
    is_same = is_same and all(expected_lines.get(line, outcome) == outcome for line, outcome in lines.items())
    if not is_same or expected.fails:
        return Check(what, _DIFFERENT)
    if lines.keys() <= expected_lines.keys():
        return Check(what)
    # an unknown line can be true only of a later version
    is_later = release_number(manifest.sfumato) > release_number(version)
    unknown = f"sfumato {manifest.sfumato} checked what this version does not know"
    return Check(what, unknown if is_later else _DIFFERENT, undecided=is_later)


def _outcomes(certificate: Certificate) -> dict[str, str]:
    outcomes = dict.fromkeys(certificate.checked, "checked")
    return outcomes | dict.fromkeys(certificate.not_checked, "not checked")


def _in_other_version(certificate: Certificate, manifest: Manifest) -> Certificate:
    """Return a certificate in the words of the version that wrote the pages, and so compared every byte."""
    compared = {stated_words(name): compared_words(name) for name in page_names(manifest)}
    not_compared = wording_words(manifest)
    return msgspec.structs.replace(
        certificate,
        checked=[compared.get(line, line) for line in certificate.checked],
        not_checked=[line for line in certificate.not_checked if line != not_compared],
    )
