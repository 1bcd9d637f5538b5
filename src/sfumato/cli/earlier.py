"""What was published before: as the store knows it, or as the folders are given."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.cli.log import beware
from sfumato.errors import SfumatoError, StoreError
from sfumato.store.provenance import source_of

if TYPE_CHECKING:
    from sfumato.recipe import Recipe
    from sfumato.release import Release
    from sfumato.schema import Schema
    from sfumato.store.base import Store
    from sfumato.table import Table
    from sfumato.verifying.documents import Manifest

with_option = click.option(
    "--with",
    "others",
    multiple=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Another release that was published before; repeat it for more. Those that the project's store "
    "knows are looked at anyway.",
)


def published_at(store: Store, identity: str) -> Path | None:
    """Return where a candidate itself was published first, if its folder is still there."""
    for decision, folder in zip(store.decisions(), store.folders(), strict=True):
        manifest = _manifest_of(Path(folder)) if decision.candidate == identity else None
        if manifest is not None and manifest.parent is None:
            return Path(folder)
    return None


def known_folders(store: Store | None, given: Iterable[Path], parent: Path | None = None) -> list[Path]:
    """Return the folders of the releases that are known, the parent left out; say which of them are gone."""
    stored = [Path(folder) for folder in (store.folders() if store is not None else [])]
    there = [folder for folder in stored if _manifest_of(folder) is not None]
    if len(there) < len(stored):
        beware(
            f"{len(stored) - len(there):,} of {len(stored):,} earlier releases are not where they "
            "were published, and are not looked at; give their folders with --with"
        )
    own = None if parent is None else parent.resolve()
    every = {folder.resolve(): folder for folder in (*given, *there)}
    return [folder for place, folder in every.items() if place != own]


def earlier_releases(store: Store, given: Iterable[Path], table: Table, schema: Schema) -> list[Release]:
    """Return what was published before: made again where the same data gave it, else as its folder has it.

    Parameters
    ----------
    store, given
        The project's store, and folders beside those that it knows.
    table, schema
        The bound original.
    """
    from sfumato.applying.published import earlier_release
    from sfumato.sanitizers import sanitize

    source = source_of(table, schema)
    found = []
    for folder in known_folders(store, given):
        recipe = _recipe(store, _manifest_of(folder), source)
        if recipe is None:
            found.append(earlier_release(folder, schema.given or schema))
        else:
            found.append(sanitize(table, schema, recipe))
    return found


def _recipe(store: Store, manifest: Manifest | None, source: str) -> Recipe | None:
    """Return how a release was made of this very data; ``None`` if it was not, or nobody knows."""
    if manifest is None or manifest.parent is not None:
        return None
    try:
        return store.find(manifest.decision.candidate, source).recipe
    except StoreError:
        return None


def _manifest_of(folder: Path) -> Manifest | None:
    from sfumato.verifying.documents import read_manifest

    try:
        return read_manifest(folder)
    except SfumatoError:
        return None
