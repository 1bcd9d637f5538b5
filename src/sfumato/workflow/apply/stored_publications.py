"""Find earlier releases in the project's store."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sfumato.data.schema import Schema
from sfumato.data.table import Table
from sfumato.registry.recipe import Recipe
from sfumato.results.release import Release
from sfumato.runtime.errors import SfumatoError, StoreError
from sfumato.sanitizers.base import sanitize
from sfumato.verification.documents import Manifest, read_manifest
from sfumato.workflow.apply.published_folders import check_folder, earlier_release
from sfumato.workflow.store.provenance import source_of
from sfumato.workflow.store.store import Store


def published_at(store: Store, identity: str) -> Path | None:
    """Return the folder of the candidate's own first publication, if it still exists."""
    for decision, folder in zip(store.decisions(), store.folders(), strict=True):
        if decision.candidate == identity:
            with suppress(SfumatoError):
                if read_manifest(Path(folder)).parent is None:
                    return Path(folder)
    return None


def known_folders(store: Store | None, schema: Schema) -> tuple[list[Path], int]:
    """Return the folders of all comparable releases in the store, and the number of others.

    One cannot that is gone, was changed, or has other attributes than the project has by now.
    """
    stored = [Path(folder) for folder in (store.folders() if store is not None else [])]
    comparable = []
    for folder in stored:
        with suppress(SfumatoError):
            check_folder(folder, schema)
            comparable.append(folder)
    return comparable, len(stored) - len(comparable)


def earlier_releases(store: Store, folders: Iterable[Path], table: Table, schema: Schema) -> list[Release]:
    """Return the earlier releases: made again if this data gave them, else as their folders have them.

    Parameters
    ----------
    store
        The project's store.
    folders
        Where the releases lie.
    table, schema
        The bound original.
    """
    source = source_of(table, schema)
    releases: list[Release] = []
    for folder in folders:
        recipe = _recipe(store, read_manifest(folder), source)
        if recipe is None:
            releases.append(earlier_release(folder, schema.given or schema))
        else:
            releases.append(sanitize(table, schema, recipe))
    return releases


def _recipe(store: Store, manifest: Manifest, source: str) -> Recipe | None:
    """Return the recipe that made a release from this data; ``None`` if there is none or it is unknown."""
    if manifest.parent is not None:
        return None
    try:
        return store.find(manifest.decision.candidate, source).recipe
    except StoreError:
        return None
