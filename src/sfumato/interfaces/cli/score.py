"""`sfumato score`: score the guesses of outside attackers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from sfumato.interfaces.cli.base import cli, json_option
from sfumato.interfaces.cli.terminal import echo, print_json, print_table
from sfumato.runtime.errors import UserError, VerificationFailed


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
    figures = ["-" if row[name] is None else f"{row[name]:.1%}" for name in ("rate", "control-rate", "risk")]
    ends = row["interval"]
    interval = "-" if ends is None else f"{ends[0]:.1%} to {ends[1]:.1%}"
    counts = [f"{row[name]:,}" for name in ("guesses", "control-guesses")]
    return [row["question"], counts[0], figures[0], counts[1], figures[1], figures[2], interval]
