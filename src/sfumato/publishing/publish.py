"""Publish: write the chosen release with its evidence, all of it or nothing."""

from __future__ import annotations

import csv
import json
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sfumato
from sfumato import registry
from sfumato.columns import Limit
from sfumato.decision import Decision, now
from sfumato.errors import PolicyNotMet, StoreError, UserError, VerificationFailed
from sfumato.files import file_beside, folder_beside
from sfumato.frontier import Candidate, Frontier, broken_limits
from sfumato.measures.base import Measure, Measurement, measure
from sfumato.project.file import Project, Publication, Written, default_measures, unnamed
from sfumato.publishing.layout import Layout, read_back, tables_of
from sfumato.publishing.manifest import DATAPACKAGE, NAME, REPORT, Manifest, checksum
from sfumato.publishing.verify import read_written, requirements_of, verify
from sfumato.recipe import Recipe
from sfumato.release import Release, drawn_order
from sfumato.sanitizers.base import sanitize
from sfumato.schema import Schema
from sfumato.table import Table, number

if TYPE_CHECKING:
    import pyarrow as pa

ALWAYS_CLAIMED: tuple[Written, ...] = ("k-anonymity", "reidentification-risk")
NOTHING_SAID = Publication()
"""A publication of which nothing is said beside what the release itself tells."""
_ROWS_AT_ONCE = 100_000
_FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class Evidence:
    """What the report tells beside the release itself.

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

    Returns
    -------
    Decision
        What the manifest and the report say of the choice.

    Examples
    --------
    >>> import tempfile
    >>> from sfumato import KAnonymity, Limit, Mondrian, datasets, sanitize
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
    _require_new(target)
    if release.recipe is None:
        raise UserError("the release does not say how it was made; publish one that `sanitize` made")
    chosen, shown = _chosen(release.recipe, evidence, candidate)
    asked = _asked(measures, chosen, release.schema, policy)
    chosen = replace(chosen, measurements=tuple(measure(release, asked)))
    _check_policy(policy, chosen)
    limits = tuple(f"{name} {limit}" for name, limit in policy.items())
    decision = Decision(chosen.id, why, by, now(), limits)
    told = _Told(asked, policy, publication, publication.title or target.name)
    with folder_beside(target) as place:
        _write_all(place, told, release, chosen, shown or Evidence(_alone(chosen)), decision)
        _check_written(place)
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
) -> tuple[Decision, Release]:
    """Make the release of a project's candidate once more and publish it as the project says.

    Parameters
    ----------
    project
        What the measures, the policy and the report are taken from.
    table, schema
        The bound original.
    candidate
        The choice.
    evidence, folder, why, by
        As in `publish`.
    """
    if candidate.infeasible is not None:
        raise StoreError(f"candidate {candidate.id} could not be made: {candidate.infeasible}")
    _require_new(Path(folder))
    release = sanitize(table, schema, candidate.recipe)
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
    )
    return decision, release


def _require_new(folder: Path) -> None:
    """Refuse a folder that is there already, before anything is computed for it."""
    if folder.exists():
        raise UserError(f"{folder.name} exists already; choose a new folder (nothing is ever overwritten)")


@dataclass(frozen=True)
class _Told:
    """What the publisher asks for and says."""

    measures: tuple[Written, ...]
    policy: Mapping[str, Limit]
    publication: Publication
    title: str


def _chosen(
    recipe: Recipe, evidence: Evidence | Frontier | None, identity: str | None
) -> tuple[Candidate, Evidence | None]:
    """Return the candidate that is published, as the evidence knows it, and the evidence."""
    if evidence is None:
        return Candidate(identity or secrets.token_hex(4), recipe), None
    shown = Evidence(evidence) if isinstance(evidence, Frontier) else evidence
    for candidate in shown.frontier.candidates:
        if candidate.id == identity or (identity is None and candidate.recipe == recipe):
            return replace(candidate, recipe=recipe), shown
    return Candidate(identity or secrets.token_hex(4), recipe), shown


def _asked(
    measures: Iterable[Written | Measure] | None,
    chosen: Candidate,
    schema: Schema,
    policy: Mapping[str, Limit],
) -> tuple[Written, ...]:
    """Return what to measure as a project file writes it, with what the policy speaks of."""
    if measures is not None:
        given = [_written(each) if isinstance(each, Measure) else each for each in measures]
    elif chosen.measurements:
        given = [m.label if not m.parameters else {m.measure: m.parameters} for m in chosen.measurements]
        given = [each for place, each in enumerate(given) if each not in given[:place]]
    else:
        given = [each for side in default_measures(schema) for each in side]
    return (*given, *unnamed(policy, given))


def _written(measure: Measure) -> Written:
    return {measure.name: measure.parameters} if measure.parameters else measure.name


def _alone(chosen: Candidate) -> Frontier:
    """Return a frontier of the chosen candidate only, along one measure of each side where there are both."""
    sides = {m.axis: m.label for m in reversed(chosen.measurements)}
    return Frontier((chosen,), tuple(sides[axis] for axis in ("privacy", "utility") if axis in sides))


def _check_policy(policy: Mapping[str, Limit], candidate: Candidate) -> None:
    broken = broken_limits(candidate, policy)
    if broken:
        raise PolicyNotMet(f"candidate {candidate.id} does not meet the policy: {'; '.join(broken)}")


def _check_written(place: Path) -> None:
    failed = [check for check in verify(place) if not check.holds]
    if failed:
        raise VerificationFailed(
            f"what was written does not verify ({failed[0].what}: {failed[0].problem}); nothing was published"
        )


def _write_all(
    place: Path, told: _Told, release: Release, candidate: Candidate, evidence: Evidence, decision: Decision
) -> None:
    from sfumato.report.bands import Bands
    from sfumato.report.page import published_html

    order = drawn_order(release)
    for name, table in tables_of(release, typed=False, order=order).items():
        _write_csv(table, place / f"{name}.csv")
    typed = tables_of(release, typed=True, order=order)
    for name, table in typed.items():
        _write_parquet(table, place / f"{name}.parquet")
    data_files = {each.name: checksum(each) for each in sorted(place.iterdir())}
    layout = Layout.of(release)
    written = read_back(read_written(place, layout), layout)
    manifest = replace(_manifest(written, layout, told.measures, release, decision), files=data_files)
    _check_claims(told.policy, manifest.claims)
    page = published_html(
        publication=told.publication,
        schema=release.schema,
        candidates=(*evidence.frontier.candidates, *(evidence.infeasible or evidence.frontier.infeasible)),
        efficient=_is_efficient(evidence.frontier, candidate),
        policy=told.policy,
        chosen=candidate,
        release=release,
        written=written,
        decision=decision,
        claims=manifest.claims,
        files=data_files,
        bands=Bands(evidence.secret),
    )
    (place / REPORT).write_text(page, encoding="utf-8")
    _write_json(place / DATAPACKAGE, _datapackage(told, typed, data_files))
    files = {each.name: checksum(each) for each in sorted(place.iterdir())}
    (place / NAME).write_text(replace(manifest, files=files).to_json(), encoding="utf-8")


def _is_efficient(frontier: Frontier, chosen: Candidate) -> bool | None:
    """Return whether no candidate beats the chosen one; ``None`` when it cannot be compared."""
    found = next((c for c in frontier.comparable if c.id == chosen.id), None)
    return None if found is None else not frontier.dominated_by(found)


def _check_claims(policy: Mapping[str, Limit], claims: tuple[Measurement, ...]) -> None:
    """Hold what a reader will compute against the policy, too: the reader's prior is not the owner's."""
    claimed = {name for claim in claims for name in (claim.label, claim.measure)}
    checked = {name: limit for name, limit in policy.items() if name in claimed}
    broken = broken_limits(Candidate("", Recipe(""), claims), checked)
    if broken:
        raise PolicyNotMet(
            f"what a reader computes from the published cells does not meet the policy: {'; '.join(broken)}"
        )


def _manifest(
    written: Release, layout: Layout, measures: tuple[Written, ...], release: Release, decision: Decision
) -> Manifest:
    """Claim only what the written cells give when they are read again."""
    assert release.recipe is not None
    empty = Manifest(
        version=sfumato.__version__,
        recipe=replace(release.recipe, seed=None),
        layout=layout,
        missing=release.schema.missing,
        asked=_claimable(measures),
        claims=(),
        requirements=(),
        decision=decision.to_dict(),
    )
    claims = tuple(measure(written, empty.asked))
    return replace(empty, claims=claims, requirements=requirements_of(written, release.recipe))


def _claimable(measures: tuple[Written, ...]) -> tuple[Written, ...]:
    """Return the measures that anybody can recompute from the published cells."""
    wanted = [*measures, *(name for name in ALWAYS_CLAIMED if name not in measures)]
    return tuple(written for written in wanted if registry.build_measure(written).needs == "release")


def write_release(release: Release, path: str | Path) -> tuple[Path, ...]:
    """Write a release as CSV, Parquet or Feather, every file whole or not at all; return the files.

    A release of two tables becomes two files, ``NAME-quasi-identifiers`` and ``NAME-sensitive``.
    """
    target = Path(path)
    writers: dict[str, Callable[[pa.Table, Path], None]] = {
        ".csv": _write_csv,
        ".parquet": _write_parquet,
        ".feather": _write_feather,
    }
    if target.suffix not in writers:
        raise UserError(f"cannot write {target.name}; name it .csv, .parquet or .feather")
    tables = tables_of(release, typed=target.suffix != ".csv")
    places = {
        name: target if len(tables) == 1 else target.with_stem(f"{target.stem}-{name}") for name in tables
    }
    for name, table in tables.items():
        with file_beside(places[name]) as place:
            writers[target.suffix](table, place)
    return tuple(places.values())


def _write_csv(table: pa.Table, place: Path) -> None:
    """Write CSV: comma, UTF-8, quotes only where needed."""
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.column_names)
        for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
            writer.writerows(zip(*(column.to_pylist() for column in batch.columns), strict=True))


def _write_parquet(table: pa.Table, place: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, place, compression="zstd")


def _write_feather(table: pa.Table, place: Path) -> None:
    import pyarrow.feather as feather

    feather.write_feather(table, str(place))


def formula_columns(release: Release) -> tuple[str, ...]:
    """Return the columns with texts that a spreadsheet would take for a formula."""
    return tuple(
        name
        for name in release.schema.released
        if any(_is_formula(label) for label in release.cells[name].labels)
    )


def _is_formula(label: str | None) -> bool:
    return label is not None and label.startswith(_FORMULA_SIGNS) and number(label) is None


def _datapackage(told: _Told, tables: Mapping[str, pa.Table], checksums: Mapping[str, str]) -> dict[str, Any]:
    """Describe the data as a Frictionless Data Package."""
    fields = {
        name: [{"name": field.name, "type": _field_type(field.type)} for field in table.schema]
        for name, table in tables.items()
    }
    return {
        "$schema": "https://datapackage.org/profiles/2.0/datapackage.json",
        "name": _slug(told.title),
        "title": told.title,
        "description": told.publication.purpose,
        "resources": [
            {
                "name": file.replace(".", "-"),
                "path": file,
                "format": Path(file).suffix[1:],
                "hash": f"sha256:{sha256}",
                "schema": {"fields": fields[Path(file).stem], "missingValues": [""]},
            }
            for file, sha256 in checksums.items()
        ],
    }


def _field_type(arrow_type: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_integer(arrow_type):
        return "integer"
    return "number" if pa.types.is_floating(arrow_type) else "string"


def _slug(title: str) -> str:
    kept = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in title.lower())
    return "-".join(part for part in kept.split("-") if part) or "release"


def _write_json(place: Path, facts: dict[str, Any]) -> None:
    place.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
