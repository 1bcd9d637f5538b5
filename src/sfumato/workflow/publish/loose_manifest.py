"""Write a release that is not published as a folder, with a manifest next to its files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path

import sfumato
from sfumato.results.release import Release
from sfumato.runtime.errors import VerificationFailed
from sfumato.runtime.files import files_beside
from sfumato.verification.documents import FORMAT, FileFacts, FileManifest, RecipeFacts, json_text, read_json
from sfumato.verification.folder import fingerprint
from sfumato.workflow.publish.data_files import release_files
from sfumato.workflow.publish.folder_layout import Layout, read_back, tables_of
from sfumato.workflow.publish.manifest_record import (
    layout_facts,
    requirements_of,
)

_ENDING = ".manifest.json"


def write_with_manifest(release: Release, path: Path) -> tuple[tuple[Path, ...], Path]:
    """Write the files of a release with their manifest, all of them or nothing; return the paths.

    The manifest says how the release was made (without the seed), which attributes it has, which models hold
    in it and at which level, and the checksum of every file: enough to know the files again. Nobody decided
    for them, and nothing is claimed beyond the models; `publish` writes a folder that others can verify.

    Parameters
    ----------
    release
        One that `sanitize` made.
    path
        As in `write_release`. The manifest lies beside the first file.
    """
    files = release_files(release, path)
    targets = list(files)
    manifest = targets[0].with_name(f"{targets[0].name}{_ENDING}")
    with files_beside([*targets, manifest]) as (*places, beside):
        for place, write in zip(places, files.values(), strict=True):
            write(place)
        fingerprints = {
            target.name: fingerprint(place.parent, place.name)
            for target, place in zip(targets, places, strict=True)
        }
        beside.write_text(json_text(_manifest(release, fingerprints)), encoding="utf-8")
    return tuple(targets), manifest


def _manifest(release: Release, fingerprints: dict[str, tuple[str, int]]) -> FileManifest:
    assert release.recipe is not None
    layout = Layout.of(release)
    seen = read_back(tables_of(release, typed=False), layout)
    return FileManifest(
        format=FORMAT,
        sfumato=sfumato.__version__,
        layout=layout_facts(layout),
        recipe=RecipeFacts(**json.loads(release.recipe.public_json())),
        requirements=requirements_of(seen, release, release.recipe),
        files={
            name: FileFacts(sha256=sha256, bytes=length) for name, (sha256, length) in fingerprints.items()
        },
    )


def of_other_data(files: Iterable[Path]) -> list[str]:
    """Return the names of files that differ from the description in a manifest next to them."""
    others = set()
    for file in files:
        manifest = f"{file}{_ENDING}"
        if not os.path.isfile(manifest):
            continue
        try:
            for name, stated in read_json(file.parent, os.path.basename(manifest))["files"].items():
                if fingerprint(file.parent, name)[0] != stated["sha256"]:
                    others.add(name)
        except (VerificationFailed, KeyError, TypeError, AttributeError):
            # what cannot be read, or is gone, is not what the manifest says either
            others.add(file.name)
    return sorted(others)
