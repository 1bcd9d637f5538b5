"""`sfumato publish`: write a candidate to a folder, with its evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sfumato.interfaces.cli.base import cli, json_option, project_option
from sfumato.interfaces.cli.command_context import found_project, opened
from sfumato.interfaces.cli.completers import candidates
from sfumato.interfaces.cli.earlier_releases import folders_before, with_option
from sfumato.interfaces.cli.log import warn
from sfumato.interfaces.cli.terminal import echo, print_json, warn_of_formulas
from sfumato.runtime.errors import words_before
from sfumato.verification.folder import FORMATS, PROFILES
from sfumato.workflow.explore.stored_results import frontier_of
from sfumato.workflow.store.provenance import source_of

if TYPE_CHECKING:
    from sfumato.workflow.project.project_file import Project
    from sfumato.workflow.publish.publication_request import PublicationRequest


_OF_THE_DECISION = (
    click.option("--why", default="", help="The reason for the choice; it goes into the report."),
    click.option("--by", default="", help="Who decided; it goes into the report."),
    click.option(
        "--sign",
        "key",
        metavar="KEY",
        type=click.Path(path_type=Path),
        help="An Ed25519 private key (PEM or OpenSSH) to sign the manifest with.",
    ),
)
# Each of these adds to a key of the section [publication]: it has the name of a field of `Publication`.
_OF_THE_FOLDER = (
    click.option(
        "--profile",
        "profiles",
        multiple=True,
        type=click.Choice(PROFILES),
        help="Add a page with the same facts in the order of a reviewer's template; repeat it for more.",
    ),
    click.option(
        "--format",
        "formats",
        multiple=True,
        type=click.Choice(FORMATS),
        help="Write the data for Stata (dta) or SPSS (sav), too; may be given several times. Needs "
        "sfumato[statistics].",
    ),
    click.option(
        "--partition-by",
        metavar="ATTRIBUTE",
        help="Lay the Parquet files into folders by the released values of an attribute: sex=Female and so "
        "on.",
    ),
)


singling_out_option = click.option(
    "--allow-singling-out",
    is_flag=True,
    help="With no recipient in the policy, publish although more than 5% of the people can be singled out.",
)


def publication_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the shared options to a command with an argument FOLDER, and hand it all of them as one request."""

    @wraps(command)
    def with_request(folder: Path, why: str, by: str, key: Path | None, **given: Any) -> None:
        from sfumato.workflow.project.project_file import Publication
        from sfumato.workflow.publish.publication_request import PublicationRequest, require_new

        require_new(folder)
        of_the_folder = {name: given.pop(name) for name in Publication.__struct_fields__ if name in given}
        request = PublicationRequest(
            folder,
            why,
            by,
            publication=Publication(**of_the_folder),
            key=key,
            passphrase=_passphrase_of(key),
        )
        command(request=request, **given)

    decorated: Callable[..., None] = with_request
    for option in reversed((*_OF_THE_DECISION, *_OF_THE_FOLDER)):
        decorated = option(decorated)
    return decorated


def _passphrase_of(key: Path | None) -> bytes | None:
    from sfumato.verification.signature import is_locked

    if key is None:
        return None
    return click.prompt(f"Passphrase of {key.name}", hide_input=True).encode() if is_locked(key) else None


def warn_of_renamings(folder: Path) -> None:
    """Warn of columns that have another name in the file of a statistics program."""
    from sfumato.verification.documents import read_manifest
    from sfumato.workflow.publish.statistics_output import renamings

    for line in renamings(read_manifest(folder)):
        warn(line)


def print_privacy_account(project: Project) -> None:
    """Print what the releases of a project have spent: before the last one, by it, and in total."""
    from sfumato.workflow.publish.privacy_account import account_lines, account_path

    echo(f"Spent of privacy, by {account_path(project).name}:")
    for line in account_lines(project):
        echo(f"  {line}")


@cli.command()
@click.argument("identity", metavar="ID", shell_complete=candidates)
@click.argument("folder", type=click.Path(path_type=Path))
@publication_options
@singling_out_option
@with_option
@project_option
@json_option
def publish(
    identity: str,
    request: PublicationRequest,
    allow_singling_out: bool,
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
    from sfumato.results.linked_release import released
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
        chosen_before = project.dp.choose == "before"
        for reason in cautions(
            candidate.recipe, len(store.decisions()), unprotected, chosen_before=chosen_before
        ):
            warn(reason)
        before = folders_before(store, others, project.schema)
        decision, release = publish_candidate(
            project,
            table,
            schema,
            candidate,
            replace(request, evidence=evidence, allow_singling_out=allow_singling_out),
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
    if hasattr(candidate.recipe.build(), "guarantee"):
        print_privacy_account(project)
    echo(f"Anybody can check it:  sfumato verify {folder}")
