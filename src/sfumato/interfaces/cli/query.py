"""`sfumato query`: answer a query from the cells of a published folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from sfumato.interfaces.cli.base import cli, json_option
from sfumato.interfaces.cli.terminal import echo, print_json, print_table

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
    help="How to interpret sets of values: as the rest of the release suggests, or with all values of a set "
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

    `least` and `most` are certain: no table that the released records may represent gives less, or more.
    `deviation` is how far the estimate is off, on average, if the interpretation is right. Suppressed records
    are in no figure.

    \b
    Example: sfumato query published "count where age >= 40 and sex = Female by occupation"
             sfumato query published "mean age by sex" --reading uniform
    """
    from sfumato.results.json_schemas import QueryShape
    from sfumato.workflow.query.query_answer import query

    answer = query(folder, question, reading=reading)
    if as_json:
        print_json("query", QueryShape.of(answer))
    else:
        _print(answer)


def _print(answer: QueryAnswer) -> None:
    by = list(answer.rows[0].by) if answer.rows else []
    heads = [*by, answer.query.split()[0], "deviation", "least", "most"]
    rows = [
        [
            *("missing" if name is None else name for name in row.by.values()),
            *(
                "-" if figure is None else f"{figure:,.6g}"
                for figure in (row.value, row.deviation, row.least, row.most)
            ),
        ]
        for row in answer.rows
    ]
    print_table("", heads, rows)
    echo(
        f"{answer.query}, of {answer.records:,} released records, read by {answer.reading.replace('-', ' ')}"
    )
    for note in answer.notes:
        echo(note)
