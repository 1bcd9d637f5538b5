"""The commands that publish and check: publish, verify."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.cli.base import cli, json_option, project_option
from sfumato.cli.opening import found_project, opened
from sfumato.cli.terminal import print_json, warn_of_formulas
from sfumato.exploring.stored import frontier_of
from sfumato.store.provenance import source_of

if TYPE_CHECKING:
    pass


@cli.command()
@click.argument("identity", metavar="ID")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--why", default="", help="The reason for the choice; it goes into the report.")
@click.option("--by", default="", help="Who decided; it goes into the report.")
@project_option
@json_option
def publish(identity: str, folder: Path, why: str, by: str, project_file: Path | None, as_json: bool) -> None:
    """Write data, report, metadata and manifest of a candidate to a new FOLDER.

    \b
    Example: sfumato publish 3f9a published --by "A. Steward" --why "the knee of the frontier"
    """
    from sfumato.publishing.publish import Evidence, formula_columns, publish_candidate

    project, store = opened(found_project(project_file), create=False)
    with store:
        table, schema = project.read()
        candidate = store.find(identity, source_of(table, schema))
        evidence = Evidence(*frontier_of(project, store, table, schema), store.secret)
        decision, release = publish_candidate(
            project, table, schema, candidate, evidence, folder, why=why, by=by
        )
        store.record(decision, str(folder))
    if as_json:
        print_json({"folder": str(folder), "decision": decision.to_dict(), "records": release.n_records})
        return
    click.echo(
        f"{release.n_records:,} records published in {folder}; every claim was checked on the written cells"
    )
    warn_of_formulas(formula_columns(release))
    click.echo(f"Anybody can check it:  sfumato verify {folder}")


@cli.command()
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
def verify(folder: Path, as_json: bool) -> None:
    """Check a published FOLDER from its files alone: checksums, cells, every claim.

    \b
    Example: sfumato verify published
    """
    from sfumato.errors import VerificationFailed
    from sfumato.publishing.verify import verify as check

    checks = check(folder)
    failed = [each for each in checks if not each.holds]
    if as_json:
        listed = [{"what": each.what, "holds": each.holds, "problem": each.problem} for each in checks]
        print_json({"verified": not failed, "checks": listed})
    else:
        for each in checks:
            click.echo(
                f"{'ok  ' if each.holds else 'FAIL'}  {each.what}{': ' * bool(each.problem)}{each.problem}"
            )
    if failed:
        raise VerificationFailed(f"{len(failed)} of {len(checks)} checks of {folder.name} fail")
    if not as_json:
        click.echo(f"{folder.name} is what it says: {len(checks)} checks hold")
