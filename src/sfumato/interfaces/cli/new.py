"""`sfumato new`: write a project file for a table."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

import click

from sfumato.interfaces.cli.base import cli, dialect_options, json_option, query_option, table_option
from sfumato.interfaces.cli.terminal import (
    chosen_recipient,
    echo,
    is_terminal,
    print_json,
    print_table,
    words_shown,
)
from sfumato.results.recipients import NOBODY, RECIPIENTS
from sfumato.runtime.errors import UserError


@cli.command()
@click.argument("data", type=click.Path())
@click.option(
    "--output",
    "-o",
    type=click.Path(path_type=Path),
    help="The project file; by default DATA's name with .toml.",
)
@click.option(
    "--recipient",
    type=click.Choice([*RECIPIENTS, NOBODY]),
    help="Who will get the release; that sets its limits. In a terminal you are asked; otherwise the "
    "public is assumed.",
)
@dialect_options
@table_option
@query_option
@json_option
def new(data: str, output: Path | None, recipient: str | None, as_json: bool, **dialect: str | None) -> None:
    """Look at DATA, guess the role of each column, and write a project file to read and to correct.

    DATA is a file, a folder of files, a pattern such as 'admissions/2024-*.csv', or a database: its file, or
    the address of a PostgreSQL server.

    \b
    Example: sfumato new admissions.csv
    """
    from sfumato.reading.databases import is_address
    from sfumato.reading.sources import source_at
    from sfumato.results.json_schemas import GuessedShape, NewShape
    from sfumato.workflow.project.new_project import start_project

    source_at(data, **dialect)
    # the project of a database on a server lies here, and is called as the database is
    named = Path(Path(urlsplit(data).path).name or "project") if is_address(data) else Path(data)
    target = output or named.with_suffix(".toml")
    if os.path.exists(target):
        raise UserError(f"{target.name} exists already; edit it, or name another with --output")
    if recipient is None and not as_json and is_terminal():
        recipient = chosen_recipient()
    given = {name: value for name, value in dialect.items() if value is not None}
    with words_shown():
        table, guesses = start_project(data, target, given, recipient)
    if as_json:
        guessed = [GuessedShape.of(column) for column in guesses]
        print_json("new", NewShape(project=str(target), attributes=guessed))
        return
    print_table(
        f"{table.n_records:,} records of {named.name}, first guesses",
        ["attribute", "role", "kind", "distinct", "missing", "why"],
        [[g.name, g.role, g.kind, f"{g.n_distinct:,}", f"{g.n_missing:,}", g.reason] for g in guesses],
    )
    if recipient is None:
        public = RECIPIENTS["public"]
        echo(f"\nThe release is assumed to be for {public.title}: {public.meaning}; see [policy] in {target}")
    echo(f"\nConfirm the roles in {target}, then:  sfumato explore {target}")
