"""`sfumato challenge`: write a challenge for outside attackers."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.interfaces.cli.base import cli, json_option, project_option
from sfumato.interfaces.cli.command_context import found_project, opened
from sfumato.interfaces.cli.completers import candidates
from sfumato.interfaces.cli.log import warn
from sfumato.interfaces.cli.publish import singling_out_option
from sfumato.interfaces.cli.terminal import echo, print_json
from sfumato.workflow.store.provenance import source_of


@cli.command("challenge")
@click.argument("identity", metavar="ID", shell_complete=candidates)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--known",
    multiple=True,
    metavar="ATTRIBUTE",
    help="An attribute that the challenge tells of every target, as it is; repeat it for more. By default "
    "the quasi-identifiers.",
)
@click.option(
    "--targets",
    type=click.IntRange(min=10),
    default=100,
    show_default=True,
    help="How many people to attack; half of them are taken out of the data first.",
)
@click.option(
    "--answers",
    type=click.Path(path_type=Path),
    help="Where the answers go, which only the owner may read; by default FOLDER-answers.json.",
)
@singling_out_option
@project_option
@json_option
def challenge_outsiders(
    identity: str,
    folder: Path,
    allow_singling_out: bool,
    known: tuple[str, ...],
    targets: int,
    answers: Path | None,
    project_file: Path | None,
    as_json: bool,
) -> None:
    """Write a challenge to a new FOLDER: a release, what is known of some people, and sealed answers.

    The release is made anew by the candidate's recipe, but without half of the targets: they are the control
    group. Outsiders guess who was in the data, and the sensitive values; score.py in the folder compares
    their success with that on the control group. Beware: FOLDER tells the known attributes of real people as
    they are.

    \b
    Example: sfumato challenge 3f9a challenge --known age --known sex --targets 200
             sfumato score challenge guesses.csv challenge-answers.json
    """
    from sfumato.results.json_schemas import ChallengeShape
    from sfumato.workflow.query.challenge import challenge

    project, store = opened(found_project(project_file), create=False)
    with store:
        table, schema = project.read()
        candidate = store.find(identity, source_of(table, schema))
    private = answers or folder.with_name(f"{folder.name}-answers.json")
    warn(
        f"{folder.name} will tell attributes of {targets:,} real people as they are, to whomever it is given"
    )
    made = challenge(
        table,
        schema,
        candidate.recipe,
        folder,
        private,
        known=known,
        targets=targets,
        measures=project.measures,
        policy=project.policy,
        allow_singling_out=allow_singling_out,
    )
    if as_json:
        document = ChallengeShape.of(
            made, folder=str(folder), answers=str(private), records=made.release.n_records
        )
        print_json("challenge", document)
        return
    echo(f"{made.targets:,} targets, {made.control:,} of them not in the data, written to {folder}")
    echo(f"Keep {private} to yourself: it has the answers and what opens their seals")
    echo(f"To score guesses:  sfumato score {folder} guesses.csv {private}")
