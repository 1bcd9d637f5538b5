"""Beside: the manifest that lies beside the files of a release which is not published as a folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import sfumato
from sfumato.files import file_beside
from sfumato.publishing.layout import Layout, read_back, tables_of
from sfumato.publishing.manifest import layout_facts, requirements_of
from sfumato.release import Release
from sfumato.verifying.documents import FORMAT, FileFacts, FileManifest, RecipeFacts
from sfumato.verifying.documents import written as as_json
from sfumato.verifying.folder import fingerprint


def write_manifest(release: Release, files: Sequence[Path]) -> Path:
    """Write what the files of a release are, and what they keep, beside the first of them; return where.

    It says how the release was made (without the seed), which attributes it has, which models hold in it and
    at which level, and the checksum of every file: enough to know the files again. Nobody decided for them,
    and nothing is claimed beyond the models; `publish` writes a folder that others can verify.

    Parameters
    ----------
    release
        One that `sanitize` made.
    files
        What was written of it.
    """
    assert release.recipe is not None
    layout = Layout.of(release)
    seen = read_back(tables_of(release, typed=False), layout)
    found = {file.name: fingerprint(file.parent, file.name) for file in files}
    manifest = FileManifest(
        format=FORMAT,
        sfumato=sfumato.__version__,
        layout=layout_facts(layout),
        recipe=RecipeFacts(**json.loads(release.recipe.public_json())),
        requirements=requirements_of(seen, release, release.recipe),
        files={name: FileFacts(sha256=sha256, bytes=length) for name, (sha256, length) in found.items()},
    )
    target = files[0].with_name(f"{files[0].name}.manifest.json")
    with file_beside(target) as place:
        place.write_text(as_json(manifest), encoding="utf-8")
    return target
