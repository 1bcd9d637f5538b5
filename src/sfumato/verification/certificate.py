"""Certificates: what was checked of a publication, by whom, with which version, and what was not."""

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

_OTHERWISE = "it says something else than what was found now"


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


def certified(folder: Path, checks: Sequence[Check], *, by: str, version: str, when: str) -> Certificate:
    """Record the outcome of all checks as a certificate."""
    return Certificate(
        manifest=fingerprint(folder, MANIFEST)[0],
        checked_by=by,
        version=version,
        when=when,
        checked=[each.what for each in checks if each.outcome == "checked"],
        not_checked=[each.what for each in checks if each.outcome in ("unverified", "undecided")],
        fails={each.what: each.problem for each in checks if each.outcome == "fails"},
    )


def publisher_s(folder: Path, manifest: Manifest, checks: Sequence[Check]) -> Certificate:
    """Return the certificate that the publisher puts into the folder."""
    decision = manifest.decision
    return certified(
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
    wanted = publisher_s(folder, manifest, checks)
    if version not in ("", manifest.sfumato):
        return _differing_check(what, facts, wanted, manifest, version)
    return Check(what, "" if facts == wanted else _OTHERWISE)


def _differing_check(
    what: str, facts: Certificate, wanted: Certificate, manifest: Manifest, version: str
) -> Check:
    """Compare a certificate of another version, line by line.

    The lines of a format do not change. A later version may have more checks without a numeral, which an
    earlier certificate lacks; an unknown line can be true only of a later version.
    """
    of_writer = {stated_words(name): compared_words(name) for name in page_names(manifest)}
    lines = {of_writer.get(line, line): "checked" for line in wanted.checked}
    lines |= {line: "not checked" for line in wanted.not_checked if line != wording_words(manifest)}
    said = dict.fromkeys(facts.checked, "checked") | dict.fromkeys(facts.not_checked, "not checked")
    plain = (facts.manifest, facts.checked_by, facts.version, facts.when, facts.fails)
    same = plain == (wanted.manifest, wanted.checked_by, wanted.version, wanted.when, {})
    same = same and len(said) == len(facts.checked) + len(facts.not_checked)
    same = same and all(said.get(line) == how for line, how in lines.items() if has_numerals(line))
    same = same and all(lines[line] == how for line, how in said.items() if line in lines)
    if not same or wanted.fails:
        return Check(what, _OTHERWISE)
    unknown = [line for line in said if line not in lines]
    if not unknown:
        return Check(what)
    is_later = release_number(manifest.sfumato) > release_number(version)
    problem = (
        f"sfumato {manifest.sfumato} checked what this version does not know" if is_later else _OTHERWISE
    )
    return Check(what, problem, undecided=is_later)
