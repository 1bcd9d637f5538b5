"""The command that gives new records the recoding of an earlier release: apply."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.cli.base import cli, json_option, project_option, share
from sfumato.cli.completing import candidates
from sfumato.cli.earlier import folders_before, with_option
from sfumato.cli.opening import found_project, loaded, opened_store
from sfumato.cli.publishing import by_option, passphrase_of, profile_option, sign_option
from sfumato.cli.terminal import echo, print_json, warn_of_formulas
from sfumato.errors import StoreError, words_before
from sfumato.store.provenance import source_of

if TYPE_CHECKING:
    from sfumato.applying.apply import Applied
    from sfumato.applying.recoding import Recoding
    from sfumato.project.file import Project
    from sfumato.store.base import Store


@cli.command()
@click.argument("parent", metavar="ID|FOLDER", shell_complete=candidates)
@click.argument("records", metavar="NEW", type=click.Path(path_type=Path))
@click.argument("folder", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--limit",
    metavar="SHARE",
    help="How many of the new records may be left out, as 5% or 0.05; by default as many as the recipe may "
    "suppress, or 5% where it names none.",
)
@with_option
@click.option("--why", default="", help="The reason; it goes into the report.")
@by_option
@sign_option
@profile_option
@project_option
@json_option
def apply(
    parent: str,
    records: Path,
    folder: Path,
    limit: str | None,
    others: tuple[Path, ...],
    why: str,
    by: str,
    key: Path | None,
    profiles: tuple[str, ...],
    project_file: Path | None,
    as_json: bool,
) -> None:
    """Give the records of NEW the released values of an earlier release, and publish them in OUT.

    The earlier release is a candidate of the project or a folder that was published from it; the project's
    data is its original. Records that no released value stands for are withheld. The models of the recipe
    must hold in the new release alone and together with what was published before; records of classes where
    they do not are suppressed. If more would have to be left out than the limit, nothing is written and the
    exit code is 2.

    \b
    Example: sfumato apply 3f9a february.csv february --project admissions.toml
             sfumato apply january march.csv march --with february
    """
    from sfumato.applying.apply import applied
    from sfumato.applying.published import earlier_release, parent_facts
    from sfumato.publishing.publish import formula_columns, publish, require_new

    require_new(folder)
    passphrase = passphrase_of(key)
    most = None if limit is None else share(limit)
    project = loaded(found_project(project_file))
    with _store(project, parent) as store:
        recoding, identity, published = _recoding(project, store, parent)
        known = folders_before(store, others, project.schema, published)
        earlier = [earlier_release(each, project.schema) for each in known]
        found = applied(recoding, project.table(records), earlier, most)
        decision = publish(
            found.release,
            folder,
            project.measures,
            why=why,
            by=by,
            policy=project.policy,
            publication=project.publication,
            candidate=identity,
            profiles=profiles,
            key=key,
            passphrase=passphrase,
            parent=parent_facts(identity, published, known),
        )
        if store is not None:
            with words_before(f"{folder.name} was published, but the store does not know of it"):
                store.record(decision, str(folder))
    _tell(found, folder, as_json=as_json)
    if not as_json:
        warn_of_formulas(formula_columns(found.release))
        echo(f"Anybody can check it:  sfumato verify {folder}")


@contextmanager
def _store(project: Project, parent: str) -> Iterator[Store | None]:
    """Open the project's store; where a folder is given, there need not be one."""
    if os.path.isdir(parent) and not os.path.exists(project.store_path):
        yield None
        return
    with opened_store(project, create=False) as store:
        yield store


def _recoding(project: Project, store: Store | None, parent: str) -> tuple[Recoding, str, Path | None]:
    """Return the recoding that is kept, the id of its candidate, and where that was published."""
    from sfumato.applying.known import published_at
    from sfumato.applying.published import parent_release
    from sfumato.applying.recoding import freeze
    from sfumato.sanitizers import sanitize
    from sfumato.verifying.documents import read_manifest

    if os.path.isdir(parent):
        folder = Path(parent)
        release = parent_release(folder, project.table(is_whole=True), project.schema)
        return freeze(release), read_manifest(folder).decision.candidate, folder
    if store is None or os.path.exists(parent):
        raise StoreError(
            f"{Path(parent).name} is neither a candidate nor a published folder; give one of them"
        )
    table = project.table()
    bound, schema = project.schema.bind(table)
    candidate = store.find(parent, source_of(bound, schema))
    if candidate.infeasible is not None:
        raise StoreError(f"candidate {candidate.id} could not be made: {candidate.infeasible}")
    published = published_at(store, candidate.id)
    if project.data.sample is None:
        return freeze(sanitize(bound, schema, candidate.recipe), table), candidate.id, published
    if published is None:
        raise StoreError(
            f"candidate {candidate.id} was learned on a sample, and its release of all records is not to be "
            "found; publish it, or give the folder in which it lies"
        )
    whole = parent_release(published, project.table(is_whole=True), project.schema)
    return freeze(whole), candidate.id, published


def _tell(found: Applied, folder: Path, *, as_json: bool) -> None:
    release = found.release
    if as_json:
        withheld = {name or "no class": count for name, count in found.withheld.items()}
        print_json(
            "apply",
            {
                "folder": str(folder),
                "records": release.n_records,
                "new-records": release.n_original,
                "withheld": withheld,
                "suppressed": found.n_failing,
            },
        )
        return
    echo(
        f"{release.n_records:,} of {release.n_original:,} records published in {folder} with the recoding of "
        "an earlier release; every claim was checked on the written cells"
    )
    for reason in found.reasons():
        echo(f"left out: {reason}")
