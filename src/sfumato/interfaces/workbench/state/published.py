"""Find the folders that a project has published, by their manifests."""

from __future__ import annotations

import os
import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.requests import Request

from sfumato.interfaces.workbench.addresses import named
from sfumato.interfaces.workbench.state.hierarchy_files import FOLDER as HIERARCHIES
from sfumato.runtime.errors import SfumatoError, UserError

if TYPE_CHECKING:
    from sfumato.results.decision import Decision
    from sfumato.workflow.project.project_file import Project

_RESERVED = re.compile(rf"(con|prn|aux|nul|com\d|lpt\d|{HIERARCHIES})", re.IGNORECASE)


@dataclass(frozen=True)
class Folder:
    """A published folder: its name, the decision in its manifest, and the chosen candidate.

    Parameters
    ----------
    has_recoding
        Whether new records can be given its values: each row is a person with true values of their own.
    """

    name: str
    path: Path
    decision: dict[str, str]
    release: str = ""
    has_recoding: bool = False


def folder_name(given: str) -> str:
    """Return a folder name without paths, control characters and signs that systems reject.

    Examples
    --------
    >>> folder_name("../../etc/release 1"), folder_name("=cmd|x"), folder_name(" .hidden ")
    ('release 1', '_cmd_x', 'hidden')
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given).strip())[-1]
    plain = "".join(sign if sign.isalnum() or sign in " ._-()+," else "_" for sign in last).strip(" .")
    # a command line would take it for an option
    plain = plain.lstrip(" .-")
    plain = plain.encode()[:120].decode("utf-8", "ignore").strip(" .")
    if not plain or _RESERVED.fullmatch(plain.partition(".")[0]):
        raise UserError("give the folder a name of letters and digits, such as published")
    return plain


def free_name(folder: Path, wanted: str = "published") -> str:
    """Return a name that is free in a folder."""
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, 10_000))
    return next(name for name in names if not os.path.lexists(folder / name))


def folders_of(project: Project) -> tuple[Folder, ...]:
    """Return the published folders next to a project file, the latest decision first."""
    folders = []
    for path in sorted(project.path.parent.iterdir()):
        if path.name.startswith(".") or path.is_symlink() or not path.is_dir():
            continue
        folder = _read(path)
        if folder is not None:
            folders.append(folder)
    return tuple(sorted(folders, key=lambda folder: folder.decision.get("when", ""), reverse=True))


def own_folders(project: Project) -> tuple[Folder, ...]:
    """Return the published folders of this project, which its store remembers; unreadable ones by name."""
    decisions = decisions_of(project)
    chosen = {(decision.candidate, decision.when) for decision, _ in decisions}
    names = {name for _, name in decisions}
    return tuple(
        folder
        for folder in folders_of(project)
        if (
            (folder.decision["candidate"], folder.decision["when"]) in chosen
            if folder.decision
            else folder.name in names
        )
    )


def folder_of(request: Request, project: Project) -> Folder:
    """Return the published folder in the address; no part of an address becomes a path."""
    folders = {folder.name: folder for folder in folders_of(project)}
    return folders[named(request.path_params["folder"], folders, "published folder")]


def decisions_of(project: Project) -> list[tuple[Decision, str]]:
    """Return the decisions in the store, the latest first, each with its folder's name."""
    from sfumato.workflow.store.store import Store

    if not project.store_path.exists():
        return []
    with Store(project.store_path, create=False) as store:
        # another one may be recorded between the two
        pairs = zip(store.decisions(), store.folders(), strict=False)
        return [(decision, Path(folder).name) for decision, folder in pairs][::-1]


def _read(path: Path) -> Folder | None:
    from sfumato.results.formatting import recipe_name
    from sfumato.results.manifest import recipe_of
    from sfumato.verification.documents import read_manifest
    from sfumato.verification.folder import MANIFEST

    if not (path / MANIFEST).is_file():
        return None
    try:
        manifest = read_manifest(path)
        decision, release = manifest.decision, recipe_name(recipe_of(manifest))
        words = {key: str(getattr(decision, key)) for key in ("candidate", "by", "why", "when")}
        has_recoding = manifest.layout.type == "people" and manifest.layout.group is None
        return Folder(path.name, path, words if words["candidate"] else {}, release, has_recoding)
    except (SfumatoError, ValueError, TypeError, AttributeError, RecursionError):
        return Folder(path.name, path, {})
