"""The commands that publish and check: publish, verify."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.interfaces.cli.base import cli, json_option, project_option
from sfumato.interfaces.cli.command_context import found_project, opened
from sfumato.interfaces.cli.completion import candidates
from sfumato.interfaces.cli.earlier_releases import folders_before, with_option
from sfumato.interfaces.cli.log import beware
from sfumato.interfaces.cli.terminal import echo, print_json, warn_of_formulas
from sfumato.runtime.errors import words_before
from sfumato.verification.folder import FORMATS, PROFILES
from sfumato.workflow.explore.stored_results import frontier_of
from sfumato.workflow.store.provenance import source_of

_MARKS = {"checked": "ok", "fails": "FAIL", "unverified": "unverified", "undecided": "cannot tell"}

by_option = click.option("--by", default="", help="Who decided; it goes into the report.")
sign_option = click.option(
    "--sign",
    "key",
    metavar="KEY",
    type=click.Path(path_type=Path),
    help="An Ed25519 private key (PEM or OpenSSH) to sign the manifest with.",
)
profile_option = click.option(
    "--profile",
    "profiles",
    multiple=True,
    type=click.Choice(PROFILES),
    help="Add a page with the same facts in the order of a reviewer's template; repeat it for more.",
)

format_option = click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(FORMATS),
    help="Write the data for Stata (dta) or SPSS (sav), too; may be given several times. Needs "
    "sfumato[statistics].",
)
partition_option = click.option(
    "--partition-by",
    metavar="ATTRIBUTE",
    help="Lay the Parquet files into folders by the released values of an attribute: sex=Female and so on.",
)


@cli.command()
@click.argument("identity", metavar="ID", shell_complete=candidates)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--why", default="", help="The reason for the choice; it goes into the report.")
@by_option
@sign_option
@profile_option
@format_option
@partition_option
@with_option
@project_option
@json_option
def publish(
    identity: str,
    folder: Path,
    why: str,
    by: str,
    key: Path | None,
    profiles: tuple[str, ...],
    formats: tuple[str, ...],
    partition_by: str | None,
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
    from sfumato.measures.identity.unprotected_attributes import alone_by_insensitive, warnings_of
    from sfumato.results.release import released
    from sfumato.workflow.apply.stored_publications import earlier_releases
    from sfumato.workflow.publish.cautions import cautions
    from sfumato.workflow.publish.publish import Evidence, formula_columns, publish_candidate

    passphrase = passphrase_of(key)
    project, store = opened(found_project(project_file), create=False)
    with store:
        store.require_writable()
        table, schema = project.read()
        candidate = store.find(identity, source_of(table, schema))
        evidence = Evidence(*frontier_of(project, store, table, schema), store.secret)
        unprotected = (
            warnings_of(alone_by_insensitive(released(table, schema, {}))) if schema.insensitive else ()
        )
        for caution in cautions(candidate.recipe, len(store.decisions()), unprotected):
            beware(caution)
        before = folders_before(store, others, project.schema)
        decision, release = publish_candidate(
            project,
            table,
            schema,
            candidate,
            evidence,
            folder,
            why=why,
            by=by,
            profiles=profiles,
            key=key,
            passphrase=passphrase,
            earlier=earlier_releases(store, before, table, schema),
            formats=formats,
            partition_by=partition_by,
        )
        with words_before(f"{folder.name} was published, but the store does not know of it"):
            store.record(decision, str(folder))
    tell_renamings(folder)
    if as_json:
        print_json(
            "publish", {"folder": str(folder), "decision": decision.to_dict(), "records": release.n_records}
        )
        return
    echo(f"{release.n_records:,} records published in {folder}; every claim was checked on the written cells")
    warn_of_formulas(formula_columns(release))
    echo(f"Anybody can check it:  sfumato verify {folder}")


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="The publisher's public key (PEM or OpenSSH): the manifest must be signed by it.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path),
    help="Write what was checked, and what was not, to this new file.",
)
@click.option("--by", default="a reader", help="Who checks; it goes into the certificate.", show_default=True)
@json_option
def verify(folder: Path, key: Path | None, certificate: Path | None, by: str, as_json: bool) -> None:
    """Check a published FOLDER from its files alone: that nothing was changed and every figure is right.

    What no reader can check is marked as an unverified claim by the publisher. Exit codes: 0 verified, 2
    something is wrong, 4 cannot tell, because a later version of sfumato wrote the folder.

    \b
    Example: sfumato verify published --key publisher.pem
    """
    from sfumato.runtime.errors import CannotTell, VerificationFailed
    from sfumato.workflow.publish.verify import verify as check
    from sfumato.workflow.publish.verify import write_certificate

    found = check(folder, key=key)
    if certificate is not None:
        write_certificate(found, folder, certificate, by=by)
    if as_json:
        listed = [
            {
                "what": each.what,
                "holds": each.holds,
                "unverified": each.unverified,
                "undecided": each.undecided,
                "problem": each.problem,
            }
            for each in found
        ]
        outcomes = {0: "verified", 2: "wrong", 4: "cannot tell"}
        print_json(
            "verify", {"verified": found.holds, "outcome": outcomes[found.exit_code], "checks": listed}
        )
    else:
        for each in found:
            mark = f"{_MARKS[each.outcome]:<10}"
            echo(f"{mark}  {each.what}{': ' * bool(each.problem)}{each.problem}")
    if found.failed:
        raise VerificationFailed(f"{len(found.failed)} of {len(found)} checks of {folder.name} fail")
    if found.undecided:
        raise CannotTell(found.outcome)
    if not as_json:
        echo(found.outcome)


def tell_renamings(folder: Path) -> None:
    """Warn of columns that a statistics program's file calls otherwise."""
    from sfumato.verification.documents import read_manifest
    from sfumato.workflow.publish.statistics_output import renamings

    for line in renamings(read_manifest(folder)):
        beware(line)


def passphrase_of(key: Path | None) -> bytes | None:
    """Ask for what unlocks a key, if there is one and it is locked."""
    from sfumato.verification.signature import is_locked

    if key is None:
        return None
    return click.prompt(f"Passphrase of {key.name}", hide_input=True).encode() if is_locked(key) else None
