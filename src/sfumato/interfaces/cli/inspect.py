"""`sfumato inspect`: describe a table and its risk before anything is released."""

from __future__ import annotations

from pathlib import Path

import click

from sfumato.interfaces.cli.base import cli, dialect_options, json_option, query_option, table_option
from sfumato.interfaces.cli.log import warn
from sfumato.interfaces.cli.terminal import echo, print_json, print_singling_out, print_table, words_shown


@cli.command()
@click.argument("file", type=click.Path(path_type=Path))
@dialect_options
@table_option
@query_option
@json_option
def inspect(file: Path, as_json: bool, **given: str | None) -> None:
    """Show what the data looks like and how risky it is as it stands.

    FILE is a project file, or a data file whose roles are then guessed.

    \b
    Example: sfumato inspect admissions.csv
    """
    from sfumato.workflow.explore.inspection import inspect as look_at

    with words_shown():
        found = look_at(file, None, **given)
        document = found.to_shape()
    if as_json:
        print_json("inspect", document)
        return
    print_table(
        f"{found.n_records:,} records, {found.n_rows:,} different",
        [*found.attribute_rows[0]],
        [[*row.values()] for row in found.attribute_rows],
    )
    echo()
    for sentence in found.sentences:
        echo(sentence)
    if found.singling_out is not None and found.singling_out.columns:
        print_singling_out(found.singling_out)
    for warning in found.warnings:
        warn(warning)
