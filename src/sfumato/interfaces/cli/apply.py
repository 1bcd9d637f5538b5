"""`sfumato apply`: publish new records with the recoding of an earlier release."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.interfaces.cli.base import cli, json_option, project_option, share
from sfumato.interfaces.cli.command_context import found_project, loaded, opened_store
from sfumato.interfaces.cli.completers import candidates
from sfumato.interfaces.cli.earlier_releases import folders_before, with_option
from sfumato.interfaces.cli.publish import publication_options, warn_of_renamings
from sfumato.interfaces.cli.terminal import echo, print_json, warn_of_formulas
from sfumato.runtime.errors import StoreError, words_before

if TYPE_CHECKING:
    from sfumato.workflow.apply.apply import Applied
    from sfumato.workflow.apply.parent_publication import Parent
    from sfumato.workflow.project.project_file import Project
    from sfumato.workflow.publish.publication_request import PublicationRequest
    from sfumato.workflow.store.store import Store


@cli.command()
@click.argument("parent", metavar="ID|FOLDER", shell_complete=candidates)
@click.argument("records", metavar="NEW", type=click.Path(path_type=Path))
@click.argument("folder", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--limit",
    metavar="SHARE",
    help="How many of the new records may be suppressed, as 5% or 0.05; by default as many as the recipe may "
    "suppress, or 5% where it names none.",
)
@with_option
@click.option(
    "--earlier",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file that FOLDER was published from, where the project's data is another by now.",
)
@publication_options
@project_option
@json_option
def apply(
    parent: str,
    records: Path,
    request: PublicationRequest,
    limit: str | None,
    others: tuple[Path, ...],
    earlier: Path | None,
    project_file: Path | None,
    as_json: bool,
) -> None:
    """Publish the records of NEW in OUT, recoded in the same way as an earlier release.

    The earlier release is a candidate of the project or a folder that was published from it; the project's
    data is its original, unless --earlier names another file. Records with a value that no released value
    covers are suppressed. The models of the recipe must hold in the new release alone and together with what
    was published before; records of classes where they do not are suppressed. If more would have to be
    suppressed than the limit allows, nothing is written and the exit code is 2.

    \b
    Example: sfumato apply 3f9a february.csv february --project admissions.toml
             sfumato apply january march.csv march --with february
    """
    from sfumato.workflow.apply.parent_publication import publish_applied
    from sfumato.workflow.publish.data_files import formula_columns

    folder = request.folder
    most = None if limit is None else share(limit)
    project = loaded(found_project(project_file))
    with _store(project, parent) as store:
        kept = _parent_release(project, store, parent, earlier)
        known = folders_before(store, others, project.schema, kept.folder)
        decision, outcome = publish_applied(project, kept, records, request, known, limit=most)
        if store is not None:
            with words_before(f"{folder.name} was published, but the store does not know of it"):
                store.record(decision, str(folder))
    warn_of_renamings(folder)
    _report(outcome, folder, as_json=as_json)
    if not as_json:
        warn_of_formulas(formula_columns(outcome.release))
        echo(f"Anybody can check it:  sfumato verify {folder}")


@contextmanager
def _store(project: Project, parent: str) -> Iterator[Store | None]:
    """Open the project's store; if the parent is a folder, there need not be one."""
    if os.path.isdir(parent) and not os.path.exists(project.store_path):
        yield None
        return
    with opened_store(project, create=False) as store:
        # the new release is recorded at the end
        store.require_writable()
        yield store


def _parent_release(project: Project, store: Store | None, parent: str, original: Path | None) -> Parent:
    from sfumato.workflow.apply.parent_publication import published_parent, stored_parent

    if os.path.isdir(parent):
        return published_parent(project, Path(parent), original)
    if store is None or os.path.exists(parent):
        raise StoreError(
            f"{Path(parent).name} is neither a candidate nor a published folder; give one of them"
        )
    if original is not None:
        raise StoreError(
            "a candidate is made again from the project's data; give --earlier with a folder only"
        )
    return stored_parent(project, store, parent)


def _report(outcome: Applied, folder: Path, *, as_json: bool) -> None:
    release = outcome.release
    if as_json:
        from sfumato.results.json_schemas import ApplyShape

        withheld = {name or "no class": count for name, count in outcome.withheld.items()}
        document = ApplyShape(
            folder=str(folder),
            records=release.n_records,
            new_records=release.n_original,
            withheld=withheld,
            suppressed=outcome.n_failing,
            earlier_releases=outcome.n_earlier,
            unrecognized=outcome.n_unrecognized,
        )
        print_json("apply", document)
        return
    echo(
        f"{release.n_records:,} of {release.n_original:,} records published in {folder} with the recoding of "
        "an earlier release; every claim was checked on the written cells"
    )
    for reason in outcome.reasons():
        echo(f"suppressed: {reason}")
    if outcome.estimate is not None:
        echo(outcome.estimate)
