"""Verify: re-check a published folder from its files alone.

Every claim is computed by the second implementation in `sfumato.verification`, which shares nothing with the
first. Only the report is written once more by the same writer, from the manifest and the published cells, and
compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import sfumato
from sfumato.reading.arrow_files import read_arrow
from sfumato.results.decision import now
from sfumato.runtime.errors import CannotTell, SfumatoError, UserError
from sfumato.runtime.files import file_beside
from sfumato.verification.certificate import certificate_check, certified
from sfumato.verification.check import Check, check_folder
from sfumato.verification.documents import Manifest, read_manifest, release_number, written
from sfumato.verification.folder import read_bytes
from sfumato.verification.outcome import Verification
from sfumato.verification.page_check import (
    LARGEST_PAGE,
    compared_words,
    page_check,
    page_names,
    wording_words,
)
from sfumato.verification.page_statements import Statements
from sfumato.verification.published_view import published
from sfumato.verification.signature import read_public_key, signature_checks
from sfumato.verification.written_tables import WrittenTable
from sfumato.workflow.publish.folder_layout import Layout, as_release

if TYPE_CHECKING:
    import pyarrow as pa

    from sfumato.results.release import Release


def verify(folder: str | Path, *, key: str | Path | None = None) -> Verification:
    """Check a published folder: files, records, every claim computed anew, report, signature, certificate.

    Parameters
    ----------
    folder
        What `publish` wrote. Nothing outside of it is read.
    key
        The publisher's public key, PEM or OpenSSH: then the manifest must be signed by it.

    Returns
    -------
    Verification
        Everything that was checked; the folder is sound when all of it holds.
    """
    place = Path(folder)
    trusted = None if key is None else read_public_key(Path(key))
    try:
        manifest = read_manifest(place)
    except CannotTell as reason:
        known = Check("the folder has a format that this version reads", str(reason), undecided=True)
        return Verification(place.name, (known,))
    checks = data_checks(place, manifest)
    certificate = certificate_check(
        place,
        manifest,
        [*checks, *signature_checks(place, manifest, None)],
        version=sfumato.__version__,
    )
    return Verification(place.name, (*checks, *signature_checks(place, manifest, trusted), certificate))


def write_certificate(found: Verification, folder: str | Path, path: str | Path, *, by: str) -> None:
    """Write down what was checked of a folder, by whom and with which version, and what was not.

    Parameters
    ----------
    found
        What `verify` found.
    folder
        The published folder.
    path
        The file to write; it must not exist.
    by
        Who checked.
    """
    target = Path(path)
    if os.path.exists(target):
        raise UserError(f"{target.name} exists already; choose a new file (nothing is ever overwritten)")
    certificate = certified(Path(folder), found.checks, by=by, version=sfumato.__version__, when=now())
    with file_beside(target) as place:
        place.write_text(written(certificate), encoding="utf-8")


@dataclass(frozen=True)
class ReadBack:
    """Published tables as they were read from their files, and the release that a stranger sees in them."""

    tables: Mapping[str, WrittenTable]
    release: Release

    @classmethod
    def of(cls, tables: Mapping[str, WrittenTable], layout: Layout) -> ReadBack:
        """Take tables as a release."""
        return cls(tables, as_release(tables, layout))


def data_checks(folder: Path, manifest: Manifest, cells: ReadBack | None = None) -> list[Check]:
    """Check everything but the signature and the certificate.

    Parameters
    ----------
    cells
        What was read from the data files when the manifest was made: the checksums show that they are the
        same. By default they are read now.
    """
    found = check_folder(folder, manifest, None if cells is None else cells.tables)
    if not found.hold or found.tables is None:
        return found.checks
    return [*found.checks, *_page_checks(folder, manifest, cells, found.tables)]


def read_written(folder: Path, names: tuple[str, ...]) -> Mapping[str, pa.Table]:
    """Read the published CSV files, every cell as it is written."""
    return {
        name: read_arrow(folder / f"{name}.csv", separator=",", encoding="utf-8", quote='"') for name in names
    }


def _page_checks(
    folder: Path, manifest: Manifest, cells: ReadBack | None, tables: Mapping[str, WrittenTable]
) -> Iterator[Check]:
    """Compare what the report, its profiles and the README state.

    Pages of this version are written once more from manifest and cells, and every byte is compared as well.
    """
    from sfumato.workflow.publish.manifest_record import (
        layout_of,
    )
    from sfumato.workflow.report.reviewer_profiles import published_pages

    statements = Statements(
        manifest,
        published(tables, manifest.layout),
        tables,
        release_number(manifest.sfumato) > release_number(sfumato.__version__),
    )
    stated = {name: page_check(folder, name, statements) for name in page_names(manifest)}
    if manifest.sfumato != sfumato.__version__:
        yield from stated.values()
        yield Check(wording_words(manifest), unverified=True)
        return
    what = {name: compared_words(name) for name in stated}
    try:
        cells = cells or ReadBack.of(tables, layout_of(manifest))
        pages = published_pages(manifest, cells.release)
    except SfumatoError as error:
        yield from (Check(said, f"it cannot be written again: {error}") for said in what.values())
        return
    for name, again in pages.items():
        same = again.encode() == read_bytes(folder, name, at_most=LARGEST_PAGE)
        # what is stated is checked here, too: another version will check nothing else
        yield Check(what[name], stated[name].problem if same else "it says something else")
