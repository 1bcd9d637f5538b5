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
        facts = look_at(file, None, **given).to_dict()
    if as_json:
        print_json("inspect", facts)
        return
    print_table(
        f"{facts['records']:,} records, {facts['distinct-rows']:,} different",
        ["attribute", "role", "kind", "distinct", "missing", "levels"],
        [
            [a["name"], a["role"], a["kind"], f"{a['distinct']:,}", f"{a['missing']:,}", str(a["levels"])]
            for a in facts["attributes"]
        ],
    )
    echo()
    for sentence in facts["risk"]["sentences"]:
        echo(sentence)
    if facts["singling-out"]["columns"]:
        print_singling_out(facts["singling-out"])
    for warning in facts["warnings"]:
        warn(warning)
