"""Write the chosen release with its evidence, all of it or nothing."""

from __future__ import annotations

import json
import os
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
import numpy as np

import sfumato
from sfumato.data.schema import Schema
from sfumato.data.table import (
    Table,
)
from sfumato.reading.codebook import NO_CODEBOOK, Codebook
from sfumato.registry import methods
from sfumato.registry.recipe import Recipe
from sfumato.results.decision import Decision, now
from sfumato.results.frontier import Candidate, Frontier, broken_limits
from sfumato.results.manifest import (
    measurement_of,
)
from sfumato.results.measurement import Measure, Measurement, build_measure, measure
from sfumato.results.pareto import Limit
from sfumato.results.release import LinkedRelease, Release
from sfumato.results.released_column import Cells
from sfumato.results.written_order import drawn_orders
from sfumato.runtime.arrays import Integers
from sfumato.runtime.errors import PolicyNotMet, StoreError, UserError, VerificationFailed, suggestion
from sfumato.runtime.files import files_beside, folder_beside, write_records
from sfumato.runtime.numerals import (
    number,
)
from sfumato.sanitizers.base import sanitize
from sfumato.sanitizers.soundness import broken_promise, unfit_reason
from sfumato.verification.certificate import certificate_check, publisher_certificate
from sfumato.verification.check import ALWAYS_CLAIMED
from sfumato.verification.documents import (
    FORMAT,
    DecisionFacts,
    FileFacts,
    FormatFacts,
    Manifest,
    ParentFacts,
    RecipeFacts,
    UnverifiedClaims,
    json_text,
    read_manifest,
)
from sfumato.verification.folder import (
    CERTIFICATE,
    DATAPACKAGE,
    MANIFEST,
    PROFILES,
    SIGNATURE,
    Format,
    Profile,
    file_names,
    fingerprint,
)
from sfumato.verification.signature import fingerprint_of, read_private_key, sign, signature_checks
from sfumato.verification.written_tables import read_tables
from sfumato.workflow.project.default_measures import Written, default_measures
from sfumato.workflow.project.project_file import Project, Publication, unnamed
from sfumato.workflow.publish.folder_layout import Layout, tables_of
from sfumato.workflow.publish.manifest_record import (
    claims_of,
    figures_of,
    initial_risk,
    layout_facts,
    limits_of,
    people_facts,
    requirements_of,
    unchanged_attributes,
    unverified_attributes,
)
from sfumato.workflow.publish.output_formats import PARQUET, Sinks, resources
from sfumato.workflow.publish.verify import ReadBack, data_checks

if TYPE_CHECKING:
    import pyarrow as pa
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

NOTHING_SAID = Publication()
"""A publication of which nothing is said beside what the release itself tells."""
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Evidence:
    """The evidence in the report about other candidates and the exploration.

    Parameters
    ----------
    frontier
        All candidates that could be made.
    infeasible
        Those that could not; by default what the frontier knows of them.
    secret
        What decides where the bands lie in which the report tells the owner's figures; that of the store,
        so that two publications of one project tell no more than one.
    """

    frontier: Frontier
    infeasible: tuple[Candidate, ...] = ()
    secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    @property
    def tried(self) -> tuple[Candidate, ...]:
        """Everything that was tried, including candidates that could not be made."""
        return (*self.frontier.candidates, *(self.infeasible or self.frontier.infeasible))


def publish(
    release: Release,
    folder: str | Path,
    measures: Iterable[Written | Measure] | None = None,
    *,
    why: str = "",
    by: str = "",
    policy: Mapping[str, Limit] = MappingProxyType({}),
    publication: Publication = NOTHING_SAID,
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
        What must hold, by measure; nothing is written where it does not.
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
    target = Path(folder)
    require_new(target)
    if release.recipe is None:
        raise UserError("the release does not say how it was made; publish one that `sanitize` made")
    wanted = _profiles([*publication.profiles, *profiles])
    files = Sinks.of(
        release, [*publication.formats, *formats], partition_by or publication.partition_by, codebook
    )
    private = None if key is None else read_private_key(Path(key), passphrase)
    _check_promise(release)
    chosen, shown = _published_candidate(release.recipe, evidence, candidate)
    asked = _with_composition(release, _measures_to_take(measures, chosen, release.schema, policy))
    chosen = replace(chosen, measurements=tuple(measure(release, asked)))
    _check_policy(policy, chosen)
    limits = tuple(f"{name} {limit}" for name, limit in policy.items())
    decision = Decision(chosen.id, why, by, now(), limits)
    told = _PublisherRequest(
        asked, policy, publication, publication.title or target.name, wanted, files, parent
    )
    with folder_beside(target) as place:
        shown = shown or Evidence(_frontier_of_one(chosen))
        written = _write_all(place, told, release, chosen, shown, decision, private)
        _certify(place, written)
    return decision


def publish_candidate(
    project: Project,
    table: Table,
    schema: Schema,
    candidate: Candidate,
    evidence: Evidence,
    folder: str | Path,
    *,
    why: str = "",
    by: str = "",
    profiles: Iterable[str] = (),
    key: Path | None = None,
    passphrase: bytes | None = None,
    earlier: Iterable[Release] = (),
    formats: Iterable[str] = (),
    partition_by: str | None = None,
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
    evidence, folder, why, by, profiles, key, passphrase, formats, partition_by
        As in `publish`.
    earlier
        What was published before of the same people, or of some of them.
    """
    if candidate.infeasible is not None:
        raise StoreError(f"candidate {candidate.id} could not be made: {candidate.infeasible}")
    require_new(Path(folder))
    codebook = project.codebook() if (*project.publication.formats, *formats) else NO_CODEBOOK
    made = _recode_all_records(project, sanitize(table, schema, candidate.recipe))
    release = made.with_earlier(*earlier)
    decision = publish(
        release,
        folder,
        project.measures,
        why=why,
        by=by,
        policy=project.policy,
        publication=project.publication,
        evidence=evidence,
        candidate=candidate.id,
        profiles=profiles,
        key=key,
        passphrase=passphrase,
        formats=formats,
        partition_by=partition_by,
        codebook=codebook,
    )
    return decision, release


def _recode_all_records(project: Project, made: LinkedRelease) -> LinkedRelease:
    """Apply the recoding of a release to all records, if it was learned on a sample of them."""
    if project.data.sample is None:
        return made
    from sfumato.results.learned_recoding import enforced
    from sfumato.results.recoding import freeze

    recoding = freeze(made)
    return enforced(recoding, project.all_records(recoding))


def require_new(folder: Path) -> None:
    """Refuse a folder that exists, before anything is computed for it."""
    if os.path.exists(folder):
        raise UserError(f"{folder.name} exists already; choose a new folder (nothing is ever overwritten)")


@dataclass(frozen=True)
class _PublisherRequest:
    """The publisher's requests and statements."""

    measures: tuple[Written, ...]
    policy: Mapping[str, Limit]
    publication: Publication
    title: str
    profiles: tuple[Profile, ...]
    sinks: Sinks
    parent: ParentFacts | None = None


def _profiles(names: Iterable[str]) -> tuple[Profile, ...]:
    """Return the named profiles, each once and in the usual order."""
    asked = set(names)
    for name in sorted(asked - set(PROFILES)):
        hint = suggestion(name, PROFILES) or f"; allowed are {', '.join(PROFILES)}"
        raise UserError(f"profiles: cannot be {name!r}{hint}")
    return tuple(name for name in PROFILES if name in asked)


def _published_candidate(
    recipe: Recipe, evidence: Evidence | Frontier | None, identity: str | None
) -> tuple[Candidate, Evidence | None]:
    """Return the published candidate as the evidence knows it, and the evidence."""
    if evidence is None:
        return Candidate(identity or secrets.token_hex(4), recipe), None
    shown = Evidence(evidence) if isinstance(evidence, Frontier) else evidence
    for candidate in shown.frontier.candidates:
        if candidate.id == identity or (identity is None and candidate.recipe == recipe):
            return replace(candidate, recipe=recipe), shown
    return Candidate(identity or secrets.token_hex(4), recipe), shown


def _measures_to_take(
    measures: Iterable[Written | Measure] | None,
    chosen: Candidate,
    schema: Schema,
    policy: Mapping[str, Limit],
) -> tuple[Written, ...]:
    """Return the measures as a project file writes them, including those in the policy."""
    if measures is not None:
        given = [_written(each) if isinstance(each, Measure) else each for each in measures]
    elif chosen.measurements:
        given = [m.label if not m.parameters else {m.measure: m.parameters} for m in chosen.measurements]
        given = [each for place, each in enumerate(given) if each not in given[:place]]
    else:
        given = [each for side in default_measures(schema) for each in side]
    return (*given, *unnamed(policy, given))


def _with_composition(release: Release, asked: tuple[Written, ...]) -> tuple[Written, ...]:
    """Add the composition measures if there are earlier releases."""
    wanted = ["composition-k", *(["composition-loss"] if release.schema.sensitive else [])]
    wanted += ["m-invariance"] if release.group_of is not None else []
    named = {methods.name_and_parameters(each)[0] for each in asked}
    if not isinstance(release, LinkedRelease) or not release.origin.earlier:
        return asked
    return (*asked, *(name for name in wanted if name not in named))


def _written(measure: Measure) -> Written:
    return {measure.name: measure.parameters} if measure.parameters else measure.name


def _frontier_of_one(chosen: Candidate) -> Frontier:
    """Return a frontier of the chosen candidate only, on one measure of each side if there are both."""
    sides = {m.axis: m.label for m in reversed(chosen.measurements)}
    return Frontier((chosen,), tuple(sides[axis] for axis in ("privacy", "utility") if axis in sides))


def _check_policy(policy: Mapping[str, Limit], candidate: Candidate) -> None:
    broken = broken_limits(candidate, policy)
    if broken:
        raise PolicyNotMet(f"candidate {candidate.id} does not meet the policy: {'; '.join(broken)}")


def _check_promise(release: Release) -> None:
    """Refuse a release that breaks its method's promise, before anything is done with it."""
    assert release.recipe is not None
    _check_fit(release)
    broken = broken_promise(release, getattr(release.recipe.build(), "model", None))
    if broken is not None:
        raise PolicyNotMet(f"{release.recipe.sanitizer} {broken}; nothing was published")


def _check_fit(release: Release) -> None:
    """Refuse a release that its method declares unfit for publishing."""
    reason = None if release.recipe is None else unfit_reason(release.recipe.build())
    if release.recipe is not None and reason is not None:
        raise PolicyNotMet(
            f"{release.recipe.sanitizer} is not fit for publication: {reason}; nothing was written"
        )


def _write_all(
    place: Path,
    told: _PublisherRequest,
    release: Release,
    candidate: Candidate,
    evidence: Evidence,
    decision: Decision,
    key: Ed25519PrivateKey | None,
) -> ReadBack:
    """Write everything but the certificate; return the tables as read from the files."""
    types = _write_tables(release, place)
    layout = Layout.of(release)
    written = ReadBack.of(read_tables(place, layout.tables), layout)
    formats = told.sinks.write(place, types, unchanged_attributes(release, written.release))
    manifest = _manifest(place, told, release, written.release, candidate, evidence, decision, key, formats)
    _check_claims(told.policy, tuple(map(measurement_of, manifest.claims)))
    _write_pages(place, manifest, written.release)
    _write_json(place / DATAPACKAGE, _datapackage(manifest, types))
    manifest = msgspec.structs.replace(manifest, files=_file_facts(place, manifest.files))
    _write_json(place / MANIFEST, manifest)
    if key is not None:
        _write_json(place / SIGNATURE, sign(manifest, key))
    return written


def _write_tables(release: Release, place: Path) -> Mapping[str, pa.Schema]:
    """Write the tables as CSV and Parquet, in chunks of records; return the types of each table."""
    import pyarrow.parquet as pq

    types: dict[str, pa.Schema] = {}
    texts: dict[str, BinaryIO] = {}
    typed: dict[str, pq.ParquetWriter] = {}
    with ExitStack() as open_files:
        for order in drawn_orders(release):
            written = tables_of(release, typed=False, order=order)
            for name, table in written.items():
                is_first = name not in texts
                if is_first:
                    texts[name] = open_files.enter_context((place / f"{name}.csv").open("wb"))
                write_records(texts[name], table, header=is_first)
            is_whole = release.group_of is None
            for name, table in (written if is_whole else tables_of(release, typed=True, order=order)).items():
                if name not in typed:
                    types[name] = _types(release) if is_whole else table.schema
                    parquet = pq.ParquetWriter(place / f"{name}.parquet", types[name], **PARQUET)
                    typed[name] = open_files.enter_context(parquet)
                typed[name].write_table(_with_types(table, types[name]))
    return types


def _types(release: Release) -> pa.Schema:
    """Return the types of the only table, inferred from all of its records together."""
    import pyarrow as pa

    cells = {name: release.cells[name] for name in release.schema.released}
    fields = [(name, own.to_arrow(_rows_of_values(own), encoded=True).type) for name, own in cells.items()]
    has_pseudonyms = release.people is not None and release.schema.pseudonym
    return pa.schema([*fields, (release.person_column, pa.int64())] if has_pseudonyms else fields)


def _rows_of_values(cells: Cells) -> Integers:
    """Return one row for each released value of an attribute."""
    row_of = np.zeros(len(cells.labels), dtype=np.int64)
    row_of[cells.codes] = np.arange(len(cells.codes))
    return row_of[cells.occurring]


def _with_types(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Give a chunk of records the types of the whole table, so that texts become the numbers they spell."""
    import pyarrow as pa

    def cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
        if column.type == kind or not pa.types.is_dictionary(kind):
            return column.cast(kind)
        read = _read_as(kind.value_type)
        return pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(
                    chunk.indices,
                    pa.array([read(each) for each in chunk.dictionary.to_pylist()], kind.value_type),
                )
                for chunk in column.chunks
            ],
            type=kind,
        )

    columns = [cast(column, field.type) for column, field in zip(table.columns, schema, strict=True)]
    return pa.Table.from_arrays(columns, schema=schema)


def _read_as(kind: pa.DataType) -> Callable[[str], int | float | str]:
    import pyarrow as pa

    return int if pa.types.is_integer(kind) else float if pa.types.is_floating(kind) else str


def _write_pages(place: Path, manifest: Manifest, written: Release) -> None:
    """Write the report and the pages of the profiles."""
    from sfumato.workflow.report.reviewer_profiles import published_pages

    for name, page in published_pages(manifest, written).items():
        (place / name).write_text(page, encoding="utf-8")


def _certify(place: Path, written: ReadBack) -> None:
    """Verify the written files alone and write the certificate, or publish nothing."""
    manifest = read_manifest(place)
    (place / CERTIFICATE).touch()
    checks = [*data_checks(place, manifest, written), *signature_checks(place, manifest, None)]
    _write_json(place / CERTIFICATE, publisher_certificate(place, manifest, checks))
    failed = [each for each in (*checks, certificate_check(place, manifest, checks)) if not each.holds]
    if failed:
        raise VerificationFailed(
            f"what was written does not verify ({failed[0].what}: {failed[0].problem}); nothing was published"
        )


def _file_facts(place: Path, known: Mapping[str, FileFacts]) -> dict[str, FileFacts]:
    """Return the checksum and length of every file written so far, reusing known ones."""
    return {name: known.get(name) or _facts_of(place, name) for name in file_names(place)}


def _facts_of(place: Path, name: str) -> FileFacts:
    sha256, length = fingerprint(place, name)
    return FileFacts(sha256=sha256, bytes=length)


def _is_efficient(frontier: Frontier, chosen: Candidate) -> bool | None:
    """Return whether no candidate dominates the chosen one; ``None`` if it cannot be compared."""
    found = next((c for c in frontier.comparable if c.id == chosen.id), None)
    return None if found is None else not frontier.dominated_by(found)


def _check_claims(policy: Mapping[str, Limit], claims: tuple[Measurement, ...]) -> None:
    """Check the policy against what a reader will compute, too: the reader's prior is not the owner's."""
    claimed = {name for claim in claims for name in (claim.label, claim.measure, *_name_in_policy(claim))}
    checked = {name: limit for name, limit in policy.items() if name in claimed}
    broken = broken_limits(Candidate("", Recipe(""), claims), checked)
    if broken:
        raise PolicyNotMet(
            f"what a reader computes from the published cells does not meet the policy: {'; '.join(broken)}"
        )


def _name_in_policy(claim: Measurement) -> tuple[str, ...]:
    """Return the policy's name for the claim about one sensitive attribute."""
    return () if claim.attribute is None else claim.attribute_names


def _manifest(
    place: Path,
    told: _PublisherRequest,
    release: Release,
    written: Release,
    candidate: Candidate,
    evidence: Evidence,
    decision: Decision,
    key: Ed25519PrivateKey | None,
    formats: dict[Format, FormatFacts],
) -> Manifest:
    """Build the manifest; it claims only what the written cells give when they are read again."""
    assert release.recipe is not None
    counts_people = release.people is not None
    claims = claims_of(written, _claimable(told.measures, counts_people=counts_people))
    claimed = {measurement_of(claim).label for claim in claims}
    by_owner = [
        m for m in candidate.measurements if m.label not in claimed or (counts_people and m.axis == "privacy")
    ]
    return Manifest(
        format=FORMAT,
        sfumato=sfumato.__version__,
        layout=layout_facts(Layout.of(release)),
        recipe=RecipeFacts(**json.loads(release.recipe.public_json())),
        claims=claims,
        requirements=requirements_of(written, release, release.recipe),
        policy=limits_of(
            told.policy, [c for c in claims if not counts_people or c.axis != "privacy"], by_owner
        ),
        decision=DecisionFacts(
            candidate=decision.candidate, why=decision.why, by=decision.by, when=decision.when
        ),
        unverified=_unverified_claims(told, release, written, candidate, evidence, by_owner),
        profiles=list(told.profiles),
        files=_file_facts(place, {}),
        signed_by=None if key is None else fingerprint_of(key.public_key()),
        parent=told.parent,
        partition_by=told.sinks.partition_by,
        formats=formats,
    )


def _unverified_claims(
    told: _PublisherRequest,
    release: Release,
    written: Release,
    candidate: Candidate,
    evidence: Evidence,
    by_owner: list[Measurement],
) -> UnverifiedClaims:
    """Record what only the publisher knows."""
    from sfumato.workflow.report.bands import Bands

    said, tried = told.publication, evidence.tried
    bands = Bands(evidence.secret)
    return UnverifiedClaims(
        name=told.title,
        title=said.title,
        purpose=said.purpose,
        recipients=said.recipients,
        safeguards=said.safeguards,
        steward=said.steward,
        review_by=None if said.review_by is None else said.review_by.isoformat(),
        missing=release.schema.missing,
        attributes=unverified_attributes(release, written),
        tried=dict(Counter(each.recipe.sanitizer for each in tried)),
        efficient=_is_efficient(evidence.frontier, candidate),
        headline=_headline(candidate),
        figures=figures_of(by_owner, bands.of, told.policy),
        initial=initial_risk(release, bands.of) if told.profiles else None,
        notes=list(release.notes),
        people=people_facts(release),
    )


def _headline(candidate: Candidate) -> list[str]:
    """Return the first measure of each side, for the beginning of the report."""
    first = {m.axis: m.label for m in reversed(candidate.measurements)}
    return [str(first[axis]) for axis in ("privacy", "utility") if axis in first]


def _claimable(measures: tuple[Written, ...], *, counts_people: bool) -> tuple[Written, ...]:
    """Return the measures that anyone can recompute from the published cells.

    Where somebody has several records, measures of privacy count people, whom no reader sees; of classes only
    their records are claimed.
    """
    wanted = [*measures, *(name for name in ALWAYS_CLAIMED if name not in measures)]
    seen = [written for written in wanted if build_measure(written).requires == "release"]
    if not counts_people:
        return tuple(seen)
    return tuple(each for each in seen if each in ALWAYS_CLAIMED or _is_of_utility(each))


def _is_of_utility(written: Written) -> bool:
    return build_measure(written).axis == "utility"


def write_release(release: Release, path: str | Path) -> tuple[Path, ...]:
    """Write a release as CSV, Parquet or Feather, each file whole or not at all; return the files.

    A release of two tables becomes two files, ``NAME-quasi-identifiers`` and ``NAME-sensitive``.
    """
    files = release_files(release, Path(path))
    with files_beside([*files]) as places:
        for place, write in zip(places, files.values(), strict=True):
            write(place)
    return tuple(files)


def release_files(release: Release, target: Path) -> dict[Path, Callable[[Path], None]]:
    """Return the files of a release, each with the function that writes it."""
    _check_fit(release)
    writers: dict[str, Callable[[pa.Table, Path], None]] = {
        ".csv": _write_csv,
        ".parquet": _write_parquet,
        ".feather": _write_feather,
    }
    if target.suffix not in writers:
        raise UserError(f"cannot write {target.name}; name it .csv, .parquet or .feather")
    tables = tables_of(release, typed=target.suffix != ".csv")
    return {
        target if len(tables) == 1 else target.with_stem(f"{target.stem}-{name}"): partial(
            writers[target.suffix], table
        )
        for name, table in tables.items()
    }


def _write_csv(table: pa.Table, place: Path) -> None:
    """Write CSV: comma, UTF-8, quotes only where needed."""
    with place.open("wb") as file:
        write_records(file, table)


def _write_parquet(table: pa.Table, place: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, place, **PARQUET)


def _write_feather(table: pa.Table, place: Path) -> None:
    import pyarrow.feather as feather

    feather.write_feather(_without_dictionaries(table), str(place))


def _without_dictionaries(table: pa.Table) -> pa.Table:
    """Decode the dictionary columns of a table."""
    import pyarrow as pa

    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def formula_columns(release: Release) -> tuple[str, ...]:
    """Return the columns with texts that a spreadsheet would treat as formulas."""
    return tuple(
        name
        for name in release.schema.released
        if any(_is_formula(label) for label in release.cells[name].labels)
    )


def _is_formula(label: str | None) -> bool:
    return label is not None and label.startswith(_FORMULA_SIGNS) and number(label) is None


def _datapackage(manifest: Manifest, types: Mapping[str, pa.Schema]) -> dict[str, Any]:
    return {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": _slug(manifest.unverified.name),
        "title": manifest.unverified.name,
        "description": manifest.unverified.purpose,
        "resources": resources(manifest, types),
    }


def _slug(title: str) -> str:
    kept = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in title.lower())
    return "-".join(part for part in kept.split("-") if part) or "release"


def _write_json(place: Path, document: msgspec.Struct | dict[str, Any]) -> None:
    place.write_text(json_text(document), encoding="utf-8")
