"""Write the chosen release with its evidence, all of it or nothing."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.measures.identity.uniqueness import people_alone
from sfumato.reading.base import NO_CODEBOOK, Codebook
from sfumato.registry import methods
from sfumato.registry.recipe import Recipe
from sfumato.results import formatting
from sfumato.results.candidate import Candidate
from sfumato.results.decision import Decision, now
from sfumato.results.frontier import Frontier
from sfumato.results.linked_release import LinkedRelease, released
from sfumato.results.manifest import measurement_of
from sfumato.results.measurement import Measure, Measurement, build_measure, measure
from sfumato.results.pareto import Limit
from sfumato.results.policy import (
    Policy,
    PolicyLike,
    broken_limits,
    evidence_of,
    not_yet_among,
    policy_not_met,
)
from sfumato.results.recipients import NOBODY
from sfumato.results.release import Release
from sfumato.runtime.errors import PolicyNotMet, StoreError, UserError, VerificationFailed
from sfumato.runtime.files import folder_beside
from sfumato.sanitizers.base import sanitize
from sfumato.sanitizers.soundness import broken_promise
from sfumato.verification.certificate import certificate_check, publisher_certificate
from sfumato.verification.documents import FileFacts, Manifest, ParentFacts, json_text, read_manifest
from sfumato.verification.folder import (
    CERTIFICATE,
    DATAPACKAGE,
    MANIFEST,
    PROFILES,
    SIGNATURE,
    file_names,
    fingerprint,
)
from sfumato.verification.signature import read_private_key, sign, signature_checks
from sfumato.verification.written_tables import read_tables
from sfumato.workflow.project.default_axes_and_measures import Written, default_measures
from sfumato.workflow.project.project_file import Project, Publication, unnamed
from sfumato.workflow.publish.data_files import require_fit, write_tables
from sfumato.workflow.publish.folder_layout import Layout
from sfumato.workflow.publish.manifest_record import CheckedPublication, manifest_of, unchanged_attributes
from sfumato.workflow.publish.output_formats import Sinks, resources
from sfumato.workflow.publish.privacy_account import entered
from sfumato.workflow.publish.private_publication import guarantee_facts, without_original
from sfumato.workflow.publish.publication_request import (
    NO_STATEMENTS,
    Evidence,
    PublicationRequest,
    allowed_names,
    extended,
    require_new,
)
from sfumato.workflow.publish.verify import ReadBack, data_checks

if TYPE_CHECKING:
    import pyarrow as pa


# what the first sentence of a folder rests on
_SINGLED_OUT_BY: dict[str, list[Written]] = {
    "classes": [],  # the classes themselves, which every folder claims
    "attacks": ["singling-out"],
    "guarantee": ["epsilon"],
}
MOST_SINGLED_OUT = 0.05
"""The share of people who may be singled out without a recipient, unless more is allowed. Ours."""


def publish(
    release: Release,
    folder: str | Path,
    measures: Iterable[Written | Measure] | None = None,
    *,
    why: str = "",
    by: str = "",
    policy: PolicyLike = None,
    allow_singling_out: bool = False,
    publication: Publication = NO_STATEMENTS,
    evidence: Evidence | Frontier | None = None,
    candidate: str | None = None,
    profiles: Iterable[str] = (),
    key: str | Path | None = None,
    passphrase: bytes | None = None,
    parent: ParentFacts | None = None,
    formats: Iterable[str] = (),
    partition_by: str | None = None,
    codebook: Codebook = NO_CODEBOOK,
) -> Decision:
    """Check a release and write it with its evidence: data, report, metadata and manifest.

    Everything is written to a temporary place beside the folder, verified there from the files
    alone, and only then moved. The folder must not exist. The records are written in an order that is drawn
    anew, and figures that no reader can compute are told in bands.

    Parameters
    ----------
    release
        What to publish, as `sanitize` made it.
    folder
        Where to write.
    measures
        What to measure, by name or as a `Measure`; what can be computed from the published cells alone is
        claimed. By default what the evidence has of this release, else the usual.
    why, by
        The reason, and who decided.
    policy
        Who gets the release: ``public``, ``public-great-harm``, ``contract``, ``protected-place`` or
        ``none``; or limits by measure, or a `Policy`. Nothing is written that does not keep it. Without it
        the limits for the public apply, and a warning says so.
    allow_singling_out
        With a policy for no recipient, publish although more than 5% of the people are singled out.
    publication
        Title, purpose and whatever else a reader of the report should know.
    evidence
        The frontier that the release was chosen from; by default it stands alone.
    candidate
        The id that the decision names; by default that of the candidate in the evidence that the same recipe
        made, else one that is drawn.
    profiles
        Reviewers' templates to arrange the report by as well, beside those that the publication names:
        ``ema``, ``hipaa``, ``iso-27559``, ``nist``, ``wp216``. Each is one more page in the folder.
    key
        A file with an Ed25519 private key, PEM or OpenSSH, to sign the manifest with.
    passphrase
        What unlocks the key, if it is locked.
    parent
        Where the recoding is that of an earlier release, which one; see `apply`.
    formats
        Formats of statistics programs to write the data in as well, beside those that the publication names:
        ``sav`` (SPSS) and ``dta`` (Stata). They need ``sfumato[statistics]``.
    partition_by
        A released attribute by whose values the Parquet files are laid into folders, ``sex=Female`` and so
        on; by default the one that the publication names, if any.
    codebook
        The labels of the original, as `read_codebook` gives them: attributes that are released unchanged
        keep them in the files of statistics programs.

    Returns
    -------
    Decision
        What the manifest and the report say of the choice.

    Examples
    --------
    >>> import tempfile
    >>> from sfumato import Limit, datasets, sanitize, verify
    >>> from sfumato.models import KAnonymity
    >>> from sfumato.sanitizers import Mondrian
    >>> release = sanitize(*datasets.hospital(), Mondrian(KAnonymity(3)))
    >>> with tempfile.TemporaryDirectory() as here:
    ...     decision = publish(
    ...         release, f"{here}/out", why="an example", policy={"k-anonymity": Limit(at_least=3)}
    ...     )
    ...     all(check.holds for check in verify(f"{here}/out"))
    True
    >>> decision.why, decision.policy
    ('an example', ('k-anonymity at least 3',))
    """
    options = msgspec.structs.replace(
        NO_STATEMENTS, profiles=[*profiles], formats=[*formats], partition_by=partition_by
    )
    request = PublicationRequest(
        folder=Path(folder),
        why=why,
        by=by,
        candidate=candidate,
        measures=None if measures is None else tuple(measures),
        policy=policy,
        allow_singling_out=allow_singling_out,
        publication=extended(publication, options),
        evidence=Evidence(evidence) if isinstance(evidence, Frontier) else evidence,
        key=None if key is None else Path(key),
        passphrase=passphrase,
        parent=parent,
        codebook=codebook,
    )
    return publish_release(release, request)


def publish_release(release: Release, request: PublicationRequest) -> Decision:
    """Check a release against what is requested, and write it with its evidence; see `publish`."""
    require_new(request.folder)
    checked = _checked(release, request)
    with folder_beside(request.folder) as place:
        written = _write_all(place, checked)
        _certify(place, written)
    return checked.decision


def publish_candidate(
    project: Project,
    table: Table,
    schema: Schema,
    candidate: Candidate,
    request: PublicationRequest,
    *,
    earlier: Iterable[Release] = (),
) -> tuple[Decision, Release]:
    """Make the release of a project's candidate again and publish it with the project's settings.

    Parameters
    ----------
    project
        What the measures, the policy and the report are taken from.
    table, schema
        The bound original.
    candidate
        The choice.
    request
        What is asked besides the project's settings.
    earlier
        What was published before of the same people, or of some of them.
    """
    if candidate.infeasible is not None:
        raise StoreError(f"candidate {candidate.id} could not be made: {candidate.infeasible}")
    require_new(request.folder)
    request = replace(request.with_settings_of(project), candidate=candidate.id)
    release = sanitize(table, schema, candidate.recipe)
    if project.data.sample is not None:
        # the recoding was learned on a sample, and is published of all records
        from sfumato.results.learned_recoding import enforced
        from sfumato.results.recoding import freeze

        recoding = freeze(release)
        release = enforced(recoding, project.all_records(recoding))
    release = release.with_earlier(*earlier)
    with entered(project, release, candidate.id, request.folder):
        return publish_release(release, request), release


def _checked(release: Release, request: PublicationRequest) -> CheckedPublication:
    """Check everything that can be checked before a file is written, cheap checks first."""
    recipe, publication = release.recipe, request.publication
    if recipe is None:
        raise UserError("the release does not say how it was made; publish one that `sanitize` made")
    profiles = allowed_names("profiles", publication.profiles, PROFILES)
    sinks = Sinks.of(release, request)
    key = None if request.key is None else read_private_key(request.key, request.passphrase)
    require_fit(release)
    promise = broken_promise(release, getattr(recipe.build(), "model", None))
    if promise is not None:
        raise PolicyNotMet(f"{recipe.sanitizer} {promise}; nothing was published")
    policy = Policy.of(request.policy, release.schema)
    candidate = _candidate_in_evidence(request, recipe)
    measures = _measures_to_take(request, release, candidate, policy)
    candidate = replace(candidate, measurements=tuple(measure(release, measures)))
    broken = policy.broken(candidate, _original(request, release, policy, recipe))
    if broken:
        raise policy_not_met(f"candidate {candidate.id}", broken)
    if policy.recipient == NOBODY and not request.allow_singling_out:
        _require_few_singled_out(release, candidate)
    limits = policy.limits_on(candidate)
    in_words = tuple(f"{name} {limit}" for name, limit in limits.items())
    evidence = request.evidence or Evidence(_frontier_of_one(candidate))
    guarantee = guarantee_facts(release, "before" if request.chosen_before else "after")
    if guarantee is not None:
        # from here on nothing can reach the original
        release = without_original(release)
        asked = [*(name for name in measures if _is_promised(name)), "epsilon", "privacy-delta"]
        promised = measure(release, [name for place, name in enumerate(asked) if name not in asked[:place]])
        candidate = replace(candidate, measurements=tuple(promised))
        evidence = Evidence(_frontier_of_one(candidate))
        request = replace(request, codebook=NO_CODEBOOK)
        sinks = Sinks.of(release, request)
    return CheckedPublication(
        request=request,
        release=release,
        recipient=policy.recipient,
        limits=limits,
        measures=measures,
        candidate=candidate,
        evidence=evidence,
        guarantee=guarantee,
        decision=Decision(candidate.id, request.why, request.by, now(), in_words),
        profiles=profiles,
        sinks=sinks,
        key=key,
    )


def _candidate_in_evidence(request: PublicationRequest, recipe: Recipe) -> Candidate:
    """Return the published candidate as the evidence knows it; it gets a random id if nobody named it."""
    identity = request.candidate
    for candidate in () if request.evidence is None else request.evidence.frontier.candidates:
        if candidate.id == identity or (identity is None and candidate.recipe == recipe):
            return replace(candidate, recipe=recipe)
    return Candidate(identity or secrets.token_hex(4), recipe)


def _original(
    request: PublicationRequest, release: Release, policy: Policy, recipe: Recipe
) -> Candidate | None:
    """Return the original as it is with what attacks reach there; nothing if no attack judges the release."""
    if evidence_of(recipe) != "attacks" or not policy.requirements:
        return None
    original = None if request.evidence is None else request.evidence.frontier.original
    attacks = policy.measures("attacks")
    tried = set() if original is None else {m.label for m in original.measurements}
    if isinstance(release, LinkedRelease) and not {build_measure(m).label for m in attacks} <= tried:
        as_is = released(release.origin.table, release.schema, {})
        original = Candidate("", Recipe("as-is"), tuple(measure(as_is, attacks)))
    return original


def _require_few_singled_out(release: Release, candidate: Candidate) -> None:
    """Refuse a release that singles out many people, as no recipient's limits forbid it."""
    evidence = evidence_of(candidate.recipe)
    share = 0.0
    if evidence == "classes":
        share = people_alone(release) / max(release.n_people, 1)
    elif evidence == "attacks":
        share = candidate.value("singling-out") or 0.0
    if share > MOST_SINGLED_OUT:
        raise PolicyNotMet(
            f"candidate {candidate.id} singles out {formatting.share(share)} of the people, more than "
            f"{MOST_SINGLED_OUT:.0%}; name a recipient in the policy, or allow it: --allow-singling-out on "
            "the command line, allow_singling_out=True in Python"
        )


def _measures_to_take(
    request: PublicationRequest, release: Release, candidate: Candidate, policy: Policy
) -> tuple[Written, ...]:
    """Return the measures as a project file writes them, with those in the policy and of composition."""
    measures: list[Written]
    if request.measures is not None:
        measures = [_written(name) if isinstance(name, Measure) else name for name in request.measures]
    elif candidate.measurements:
        taken = candidate.measurements
        measures = [m.label if not m.parameters else {m.measure: m.parameters} for m in taken]
        measures = [name for place, name in enumerate(measures) if name not in measures[:place]]
    else:
        measures = [name for side in default_measures(release.schema) for name in side]
    measures += unnamed(policy.limits, measures)
    first = _SINGLED_OUT_BY[evidence_of(candidate.recipe)]
    measures += not_yet_among(measures, [*first, *policy.measures_of(candidate.recipe)])
    if isinstance(release, LinkedRelease) and release.origin.earlier:
        composition = ["composition-k", *(["composition-loss"] if release.schema.sensitive else [])]
        composition += ["m-invariance"] if release.group_of is not None else []
        named = {methods.name_and_parameters(name)[0] for name in measures}
        measures += [name for name in composition if name not in named]
    return tuple(measures)


def _is_promised(written: Written) -> bool:
    """Return whether a measure follows from the recipe alone, so that telling it costs nothing."""
    name, _ = methods.name_and_parameters(written)
    return bool(getattr(methods.find("measure", name), "is_promised", False))


def _written(measure: Measure) -> Written:
    return {measure.name: measure.parameters} if measure.parameters else measure.name


def _frontier_of_one(chosen: Candidate) -> Frontier:
    """Return a frontier of the chosen candidate only, on one measure of each side if there are both."""
    sides = {m.axis: m.label for m in reversed(chosen.measurements)}
    return Frontier((chosen,), tuple(sides[axis] for axis in ("privacy", "utility") if axis in sides))


def _write_all(place: Path, checked: CheckedPublication) -> ReadBack:
    """Write everything but the certificate; return the tables as read from the files."""
    from sfumato.workflow.report.reviewer_profiles import published_pages

    release = checked.release
    types = write_tables(release, place)
    layout = Layout.of(release)
    written = ReadBack.of(read_tables(place, layout.tables), layout)
    formats = checked.sinks.write(place, types, unchanged_attributes(release, written.release))
    manifest = manifest_of(checked, written.release, formats, _file_facts(place, {}))
    _check_claims(checked.limits, tuple(map(measurement_of, manifest.claims)))
    for name, page in published_pages(manifest, written.release).items():
        (place / name).write_text(page, encoding="utf-8")
    _write_json(place / DATAPACKAGE, _datapackage(manifest, types))
    manifest = msgspec.structs.replace(manifest, files=_file_facts(place, manifest.files))
    _write_json(place / MANIFEST, manifest)
    if checked.key is not None:
        _write_json(place / SIGNATURE, sign(manifest, checked.key))
    return written


def _file_facts(place: Path, known: Mapping[str, FileFacts]) -> dict[str, FileFacts]:
    """Return the checksum and length of every file written so far, reusing known ones."""
    facts = dict(known)
    for name in file_names(place):
        if name not in facts:
            sha256, length = fingerprint(place, name)
            facts[name] = FileFacts(sha256=sha256, bytes=length)
    return {name: facts[name] for name in file_names(place)}


def _check_claims(limits: Mapping[str, Limit], claims: tuple[Measurement, ...]) -> None:
    """Check the limits against what a reader will compute, too: the reader's prior is not the owner's."""
    claimed: set[str] = set()
    for claim in claims:
        claimed |= {claim.label, claim.measure}
        if claim.attribute is not None:
            claimed |= {*claim.attribute_names}
    checked = {name: limit for name, limit in limits.items() if name in claimed}
    broken = broken_limits(Candidate("", Recipe(""), claims), checked)
    if broken:
        raise policy_not_met("what a reader computes from the published cells", broken)


def _certify(place: Path, written: ReadBack) -> None:
    """Verify the written files alone and write the certificate, or publish nothing."""
    manifest = read_manifest(place)
    (place / CERTIFICATE).touch()
    checks = [*data_checks(place, manifest, written), *signature_checks(place, manifest, None)]
    _write_json(place / CERTIFICATE, publisher_certificate(place, manifest, checks))
    failed = [check for check in (*checks, certificate_check(place, manifest, checks)) if not check.holds]
    if failed:
        raise VerificationFailed(
            f"what was written does not verify ({failed[0].what}: {failed[0].problem}); nothing was published"
        )


def _datapackage(manifest: Manifest, types: Mapping[str, pa.Schema]) -> dict[str, Any]:
    title = manifest.unverified.name
    slug = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in title.lower())
    return {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": "-".join(part for part in slug.split("-") if part) or "release",
        "title": title,
        "description": manifest.unverified.purpose,
        "resources": resources(manifest, types),
    }


def _write_json(place: Path, document: msgspec.Struct | dict[str, Any]) -> None:
    place.write_text(json_text(document), encoding="utf-8")
