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
    from sfumato.workflow.inspect.inspected_columns import inspect as look_at

    with words_shown():
        inspection = look_at(file, None, **given)
        document = inspection.to_shape()
    if as_json:
        print_json("inspect", document)
        return
    print_table(
        f"{inspection.n_records:,} records, {inspection.n_rows:,} different",
        [*inspection.attribute_rows[0]],
        [[*row.values()] for row in inspection.attribute_rows],
    )
    echo()
    for sentence in inspection.sentences:
        echo(sentence)
    if inspection.singling_out is not None and inspection.singling_out.columns:
        print_singling_out(inspection.singling_out)
    for warning in inspection.warnings:
        warn(warning)
