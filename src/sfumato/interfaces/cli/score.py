"""`sfumato score`: score the guesses of outside attackers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.interfaces.cli.base import cli, json_option
from sfumato.interfaces.cli.terminal import echo, print_json, print_table
from sfumato.runtime.errors import UserError, VerificationFailed

if TYPE_CHECKING:
    from sfumato.results.json_schemas import ScoredShape


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
    import msgspec

    from sfumato.results.json_schemas import ScoredShape, ScoreShape
    from sfumato.workflow.query.score import Unsealed, scored

    try:
        scores = msgspec.convert(scored(folder, guesses, answers), list[ScoredShape])
    except Unsealed as problem:
        raise VerificationFailed(str(problem)) from None
    except ValueError as problem:
        raise UserError(str(problem)) from None
    if as_json:
        print_json("score", ScoreShape(scores=scores))
        return
    heads = ["question", "guesses", "right", "control guesses", "right", "risk", "95% interval"]
    print_table("", heads, [_scored_row(row) for row in scores])
    for row in scores:
        if row.undefined is not None:
            echo(f"{row.question}: no risk, because {row.undefined}")


def _scored_row(row: ScoredShape) -> list[str]:
    def share(figure: float | None) -> str:
        return "-" if figure is None else f"{figure:.1%}"

    return [
        row.question,
        f"{row.guesses:,}",
        share(row.rate),
        f"{row.control_guesses:,}",
        share(row.control_rate),
        share(row.risk),
        "-" if row.interval is None else " to ".join(map(share, row.interval)),
    ]
