"""`sfumato publish`: write a candidate to a folder, with its evidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.interfaces.cli.base import cli, json_option, project_option
from sfumato.interfaces.cli.command_context import found_project, opened
from sfumato.interfaces.cli.completers import candidates
from sfumato.interfaces.cli.earlier_releases import folders_before, with_option
from sfumato.interfaces.cli.log import warn
from sfumato.interfaces.cli.publication_options import publication_options, warn_of_renamings
from sfumato.interfaces.cli.terminal import echo, print_json, warn_of_formulas
from sfumato.runtime.errors import words_before
from sfumato.workflow.explore.stored_results import frontier_of
from sfumato.workflow.store.provenance import source_of

if TYPE_CHECKING:
    from sfumato.workflow.publish.publication_request import PublicationRequest


@cli.command()
@click.argument("identity", metavar="ID", shell_complete=candidates)
@click.argument("folder", type=click.Path(path_type=Path))
@publication_options
@with_option
@project_option
@json_option
def publish(
    identity: str,
    request: PublicationRequest,
    others: tuple[Path, ...],
    project_file: Path | None,
    as_json: bool,
) -> None:
    """Write a candidate to a new FOLDER: the data, a report on it, and what others need to check it.

    If releases of the same people were published before, what somebody can learn from all of them together is
    measured too (composition-k, composition-loss), and the policy may limit it.

    \b
    Example: sfumato publish 3f9a published --by "A. Steward" --why "the knee of the frontier"
    """
    from sfumato.measures.identity.uniqueness import alone_by_insensitive, warnings_of
    from sfumato.results.json_schemas import DecidedShape, PublishShape
    from sfumato.results.release import released
    from sfumato.workflow.apply.stored_publications import earlier_releases
    from sfumato.workflow.publish.cautions import cautions
    from sfumato.workflow.publish.data_files import formula_columns
    from sfumato.workflow.publish.publication_request import Evidence
    from sfumato.workflow.publish.publish import publish_candidate

    folder = request.folder
    project, store = opened(found_project(project_file), create=False)
    with store:
        store.require_writable()
        table, schema = project.read()
        candidate = store.find(identity, source_of(table, schema))
        evidence = Evidence(*frontier_of(project, store, table, schema), store.secret)
        unprotected = (
            warnings_of(alone_by_insensitive(released(table, schema, {}))) if schema.insensitive else ()
        )
        for reason in cautions(candidate.recipe, len(store.decisions()), unprotected):
            warn(reason)
        before = folders_before(store, others, project.schema)
        decision, release = publish_candidate(
            project,
            table,
            schema,
            candidate,
            replace(request, evidence=evidence),
            earlier=earlier_releases(store, before, table, schema),
        )
        with words_before(f"{folder.name} was published, but the store does not know of it"):
            store.record(decision, str(folder))
    warn_of_renamings(folder)
    if as_json:
        document = PublishShape(
            folder=str(folder), decision=DecidedShape.of(decision), records=release.n_records
        )
        print_json("publish", document)
        return
    echo(f"{release.n_records:,} records published in {folder}; every claim was checked on the written cells")
    warn_of_formulas(formula_columns(release))
    echo(f"Anybody can check it:  sfumato verify {folder}")
