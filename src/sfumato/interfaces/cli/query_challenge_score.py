"""The commands for those who receive a release: query, challenge, score."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sfumato.interfaces.cli.base import cli, json_option, project_option
from sfumato.interfaces.cli.command_context import found_project, opened
from sfumato.interfaces.cli.completion import candidates
from sfumato.interfaces.cli.log import beware
from sfumato.interfaces.cli.terminal import echo, print_json, print_table
from sfumato.runtime.errors import UserError, VerificationFailed
from sfumato.workflow.store.provenance import source_of

if TYPE_CHECKING:
    from sfumato.measures.utility.estimation.reconstruction import Reconstruction
    from sfumato.workflow.query.query_answer import QueryAnswer


@cli.command("query")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("question", metavar="QUERY")
@click.option(
    "--reading",
    type=click.Choice(["maximum-entropy", "uniform"]),
    default="maximum-entropy",
    show_default=True,
    help="How sets of values are read: each as the rest of the release suggests, or all values of a set as "
    "equally likely.",
)
@json_option
def query_folder(folder: Path, question: str, reading: Reconstruction, as_json: bool) -> None:
    """Answer a QUERY from the cells of a published FOLDER alone, with what is certain and what is estimated.

    \b
    QUERY is      count|share|sum ATTRIBUTE|mean ATTRIBUTE [where CONDITION] [by ATTRIBUTE [, ATTRIBUTE ...]]
    CONDITION is  ATTRIBUTE =|!=|<|<=|>|>= VALUE      ATTRIBUTE in (VALUE, VALUE ...)
                  ATTRIBUTE in [NUMBER, NUMBER)       ATTRIBUTE is [not] missing
                  joined by `and`, `or`, `not` and brackets

    `least` and `most` are certain: no table that the released records may stand for gives less, or more.
    `deviation` is how far the estimate is off, on average, if the reading is right. Records that were left
    out are in no figure.

    \b
    Example: sfumato query published "count where age >= 40 and sex = Female by occupation"
             sfumato query published "mean age by sex" --reading uniform
    """
    from sfumato.workflow.query.query_answer import query

    found = query(folder, question, reading=reading)
    if as_json:
        print_json("query", found.to_dict())
    else:
        _print(found)


def _print(found: QueryAnswer) -> None:
    """Print the figures as a table, then what a reader should know."""
    by = list(found.rows[0].by) if found.rows else []
    heads = [*by, found.query.split()[0], "deviation", "least", "most"]
    rows = [
        [
            *("missing" if name is None else name for name in row.by.values()),
            *(
                "-" if figure is None else f"{figure:,.6g}"
                for figure in (row.value, row.deviation, row.least, row.most)
            ),
        ]
        for row in found.rows
    ]
    print_table("", heads, rows)
    echo(f"{found.query}, of {found.records:,} released records, read by {found.reading.replace('-', ' ')}")
    for note in found.notes:
        echo(note)


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
@project_option
@json_option
def challenge_outsiders(
    identity: str,
    folder: Path,
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
    from sfumato.workflow.query.challenge import challenge

    project, store = opened(found_project(project_file), create=False)
    with store:
        table, schema = project.read()
        candidate = store.find(identity, source_of(table, schema))
    private = answers or folder.with_name(f"{folder.name}-answers.json")
    beware(
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
    )
    if as_json:
        facts = {
            "folder": str(folder),
            "answers": str(private),
            "records": made.release.n_records,
            "targets": made.targets,
            "control": made.control,
            "known": list(made.known),
            "questions": list(made.questions),
        }
        print_json("challenge", facts)
        return
    echo(f"{made.targets:,} targets, {made.control:,} of them not in the data, written to {folder}")
    echo(f"Keep {private} to yourself: it has the answers and what opens their seals")
    echo(f"To score guesses:  sfumato score {folder} guesses.csv {private}")


@cli.command("score")
@click.argument("folder", type=click.Path(path_type=Path))
@click.argument("guesses", type=click.Path(path_type=Path))
@click.argument("answers", type=click.Path(path_type=Path))
@json_option
def score_guesses(folder: Path, guesses: Path, answers: Path, as_json: bool) -> None:
    """Score GUESSES about the people of a challenge in FOLDER, against those who were not in the data.

    The seals are checked first; if ANSWERS are not those that were sealed, the exit code is 2. The same is
    done by score.py in the folder, which needs nothing but Python.

    \b
    Example: sfumato score challenge guesses.csv challenge-answers.json
    """
    from sfumato.workflow.query.score import Unsealed, scored

    try:
        found = scored(folder, guesses, answers)
    except Unsealed as problem:
        raise VerificationFailed(str(problem)) from None
    except ValueError as problem:
        raise UserError(str(problem)) from None
    if as_json:
        print_json("score", {"scores": found})
        return
    heads = ["question", "guesses", "right", "control guesses", "right", "risk", "95% interval"]
    print_table("", heads, [_scored_row(row) for row in found])
    for row in found:
        if row["undefined"] is not None:
            echo(f"{row['question']}: no risk, because {row['undefined']}")


def _scored_row(row: Mapping[str, Any]) -> list[str]:
    """Return the figures of one question."""
    figures = ["-" if row[name] is None else f"{row[name]:.1%}" for name in ("rate", "control-rate", "risk")]
    ends = row["interval"]
    interval = "-" if ends is None else f"{ends[0]:.1%} to {ends[1]:.1%}"
    counts = [f"{row[name]:,}" for name in ("guesses", "control-guesses")]
    return [row["question"], counts[0], figures[0], counts[1], figures[1], figures[2], interval]
