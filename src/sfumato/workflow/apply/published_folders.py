"""Read earlier releases from their published folders."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.results.linked_release import LinkedRelease
from sfumato.results.release import Release
from sfumato.runtime.errors import UserError
from sfumato.verification.documents import Manifest, ParentFacts, read_manifest
from sfumato.verification.folder import MANIFEST, fingerprint
from sfumato.verification.published_view import table_names
from sfumato.verification.written_tables import read_tables
from sfumato.workflow.external.external_release import read_release
from sfumato.workflow.publish.folder_layout import as_release
from sfumato.workflow.publish.manifest_record import (
    layout_of,
)


def parent_release(folder: Path, table: Table, schema: Schema) -> LinkedRelease:
    """Read a published folder as the release of its original, to keep its recoding.

    Parameters
    ----------
    folder
        What `publish` wrote.
    table, schema
        The original that it was made from, and what its attributes are.
    """
    check_folder(folder, schema)
    return read_release(folder, table, schema)


def earlier_release(folder: Path, schema: Schema) -> Release:
    """Read a published folder as any reader does: its labels, and no original."""
    manifest = check_folder(folder, schema)
    return as_release(read_tables(folder, table_names(manifest.layout)), layout_of(manifest))


def parent_facts(
    candidate: str | None, folder: Path | None = None, earlier: Iterable[Path] = ()
) -> ParentFacts:
    """Name the release whose recoding is kept, and the other earlier releases.

    Parameters
    ----------
    candidate
        The id of its candidate; by default what its folder says.
    folder
        Where it was published, if it was.
    earlier
        The folders of the others.
    """
    if folder is not None and candidate is None:
        candidate = read_manifest(folder).decision.candidate
    own = None if folder is None else fingerprint(folder, MANIFEST)[0]
    others = dict.fromkeys(fingerprint(each, MANIFEST)[0] for each in earlier)
    return ParentFacts(candidate=candidate, manifest=own, earlier=[each for each in others if each != own])


def check_folder(folder: Path, schema: Schema) -> Manifest:
    """Return the manifest of a published folder that has these attributes and unchanged data."""
    manifest = read_manifest(folder)
    roles = {name: facts.role for name, facts in manifest.layout.attributes.items()}
    wanted = {name: schema[name].role for name in schema.released}
    different = sorted(name for name in {*roles, *wanted} if roles.get(name) != wanted.get(name))
    if different:
        raise UserError(
            f"{folder.name} was not published from this project: {different[0]!r} is not the same attribute "
            "in both; give a folder with the same columns and roles"
        )
    for name in table_names(manifest.layout):
        facts = manifest.files.get(f"{name}.csv")
        if facts is None or fingerprint(folder, f"{name}.csv") != (facts.sha256, facts.bytes):
            raise UserError(
                f"{name}.csv of {folder.name} was changed after it was published; `sfumato verify` says more"
            )
    return manifest
