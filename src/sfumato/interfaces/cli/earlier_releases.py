"""Find the folders of earlier releases, in the store and among those named with ``--with``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.interfaces.cli.log import warn

if TYPE_CHECKING:
    from sfumato.data.schema import Schema
    from sfumato.workflow.store.store import Store

with_option = click.option(
    "--with",
    "others",
    multiple=True,
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="The folder of another release of the same people; repeat it for more. Those that were published "
    "from this project count anyway.",
)


def folders_before(
    store: Store | None, given: Iterable[Path], schema: Schema, parent: Path | None = None
) -> list[Path]:
    """Return the folders of earlier releases except the parent's, and warn of unusable ones.

    Parameters
    ----------
    store, given
        The project's store, and folders beside those that it knows.
    schema
        What the project's attributes are.
    parent
        The folder that is not asked for.
    """
    from sfumato.workflow.apply.stored_publications import known_folders

    stored, n_lost = known_folders(store, schema)
    if n_lost:
        warn(
            f"{n_lost:,} of {n_lost + len(stored):,} earlier releases are not where they were published, or "
            "are not comparable any more, and are not looked at; give folders that were moved with --with"
        )
    own = None if parent is None else parent.resolve()
    every = {folder.resolve(): folder for folder in (*given, *stored)}
    return [folder for place, folder in every.items() if place != own]
